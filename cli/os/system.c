/* SPDX-License-Identifier: MIT */
#include "os/system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#ifdef _WIN32
#include "memory/buffer.h"
#include "memory/memory.h"
#include "perfblock/name.h"

#include <io.h>
#include <string.h>
#include <windows.h>

#include <shellapi.h>
#define FOLDER_MARKS "/\\"
#else
#include <dirent.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#define FOLDER_MARKS "/"
#endif

enum { LEAST_COLUMNS = 20, MOST_COLUMNS = 10000, USUAL_COLUMNS = 100, LEAST_ROWS = 2, USUAL_ROWS = 24 };

#define NANOSECONDS UINT64_C(1000000000)
#define LONGEST_SLEEP (NANOSECONDS / 5) /* how late an interrupt may be noticed */
#define LONGEST_WAIT (5 * NANOSECONDS)  /* for another process in system_folder_enter() */

static volatile sig_atomic_t interrupted;

bool system_interrupted(void)
{
    return interrupted != 0;
}

/* 0 when the environment does not say. */
static size_t columns_wanted(void)
{
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    unsigned long columns = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    return end && *end == '\0' && columns >= LEAST_COLUMNS && columns <= MOST_COLUMNS ? columns : 0;
}

/* What stands behind the folders. */
static const char *name_of(const char *path)
{
    const char *name = path;
    for (const char *c = path; *c != '\0'; c++) {
        if (strchr(FOLDER_MARKS, *c))
            name = c + 1;
    }
    return name;
}

/* Raises the number to N if the entry of a folder is "NAME.N". */
static void take_number(const char *entry, const char *name, uint64_t *number)
{
    size_t size = strlen(name);
    if (strncmp(entry, name, size) != 0 || entry[size] != '.' || entry[size + 1] == '\0')
        return;
    uint64_t read = 0;
    for (const char *c = entry + size + 1; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || read > UINT64_MAX / 100)
            return;
        read = read * 10 + (uint64_t)(*c - '0');
    }
    if (read > *number)
        *number = read;
}

#ifdef _WIN32

void system_prepare(void)
{
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    setvbuf(stderr, NULL, _IONBF, 0); /* not every C library there does it */
    SetConsoleOutputCP(CP_UTF8);
}

/* An unpaired surrogate becomes U+FFFD: a file with one in its name cannot be opened. */
static char *narrow(const WCHAR *wide)
{
    size_t units = wcslen(wide);
    size_t size = 3 * units + 1;
    char *utf8 = memory_get(size, 1);
    pfb_utf16_to_utf8((const uint8_t *)wide, units, utf8, size);
    return utf8;
}

/* To be freed. At most one unit per byte, and a NUL. */
static WCHAR *widen(const char *utf8)
{
    size_t size = strlen(utf8);
    WCHAR *wide = memory_get(size + 1, sizeof *wide);
    pfb_utf16_from_utf8(utf8, size, (uint8_t *)wide, size);
    return wide;
}

char **system_arguments(int argc, char **argv, int *count)
{
    *count = argc;
    WCHAR **wide = CommandLineToArgvW(GetCommandLineW(), count);
    if (!wide)
        return argv;
    char **arguments = memory_get((size_t)*count + 1, sizeof *arguments);
    for (int i = 0; i < *count; i++)
        arguments[i] = narrow(wide[i]);
    LocalFree(wide);
    return arguments;
}

int system_write_error(void)
{
    bool has_no_reader = _doserrno == ERROR_NO_DATA || _doserrno == ERROR_PIPE_NOT_CONNECTED;
    return has_no_reader ? EPIPE : errno;
}

bool system_is_terminal(system_stream stream)
{
    return _isatty((int)stream) != 0;
}

static size_t columns_of_terminal(void)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info))
        return 0;
    return (size_t)(info.srWindow.Right - info.srWindow.Left) + 1;
}

static size_t rows_of_terminal(void)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info))
        return 0;
    return (size_t)(info.srWindow.Bottom - info.srWindow.Top) + 1;
}

bool system_can_paint(void)
{
    const DWORD virtual_terminal = 4; /* ENABLE_VIRTUAL_TERMINAL_PROCESSING, which older headers lack */
    HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD mode = 0;
    return GetConsoleMode(console, &mode) && SetConsoleMode(console, mode | virtual_terminal);
}

uint64_t system_now(void)
{
    LARGE_INTEGER frequency;
    LARGE_INTEGER now;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&now);
    uint64_t ticks = (uint64_t)now.QuadPart;
    uint64_t per_second = (uint64_t)frequency.QuadPart;
    return ticks / per_second * NANOSECONDS + ticks % per_second * NANOSECONDS / per_second;
}

bool system_sleep_until(uint64_t moment)
{
    for (uint64_t now = system_now(); now < moment && !interrupted; now = system_now()) {
        uint64_t left = moment - now < LONGEST_SLEEP ? moment - now : LONGEST_SLEEP;
        Sleep((DWORD)(left / 1000000 + 1));
    }
    return !interrupted;
}

static BOOL WINAPI on_interrupt(DWORD kind)
{
    (void)kind;
    interrupted = 1;
    return TRUE;
}

void system_catch_interrupts(void)
{
    SetConsoleCtrlHandler(on_interrupt, TRUE);
}

/* Appends an argument so that it arrives as it is: quotation status_bytes are escaped, and so are the backslashes in
 * front of them and at the end, which otherwise stand for themselves. */
static void put_argument(buffer *line, const char *argument)
{
    bool is_plain = *argument != '\0' && !strpbrk(argument, " \t\n\v\"");
    size_t backslashes = 0;
    buffer_string(line, line->size == 0 ? "" : " ");
    buffer_string(line, is_plain ? "" : "\"");
    for (const char *c = argument; *c != '\0'; c++) {
        for (; *c == '"' && backslashes > 0; backslashes--)
            buffer_string(line, "\\");
        buffer_string(line, *c == '"' ? "\\" : "");
        buffer_bytes(line, c, 1);
        backslashes = *c == '\\' ? backslashes + 1 : 0;
    }
    for (; !is_plain && backslashes > 0; backslashes--)
        buffer_string(line, "\\");
    buffer_string(line, is_plain ? "" : "\"");
}

/* As errno. */
static void keep_last_error(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
        errno = ENOENT;
        break;
    case ERROR_ACCESS_DENIED:
        errno = EACCES;
        break;
    case ERROR_BAD_EXE_FORMAT:
        errno = ENOEXEC;
        break;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
        errno = ENOMEM;
        break;
    default:
        errno = EINVAL;
    }
}

/* Every process of the console gets the interrupt; ours does nothing about it. */
static BOOL WINAPI pass_over(DWORD kind)
{
    return kind == CTRL_C_EVENT || kind == CTRL_BREAK_EVENT;
}

bool system_is_batch(const char *name)
{
    enum { ENDING = 4 };
    size_t size = strlen(name);
    while (size > 0 && (name[size - 1] == '.' || name[size - 1] == ' ')) /* which the system passes over */
        size--;
    const char *ending = name + size - (size < ENDING ? size : ENDING);
    return _strnicmp(ending, ".bat", ENDING) == 0 || _strnicmp(ending, ".cmd", ENDING) == 0;
}

static bool start(WCHAR *line, bool is_output_aside, HANDLE *process)
{
    STARTUPINFOW setup = {.cb = sizeof setup, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION started;
    setup.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    setup.hStdOutput = GetStdHandle(is_output_aside ? STD_ERROR_HANDLE : STD_OUTPUT_HANDLE);
    setup.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &setup, &started)) {
        keep_last_error();
        return false;
    }
    CloseHandle(started.hThread);
    *process = started.hProcess;
    return true;
}

/* False and errno when that is not to be learnt. */
static bool wait_for(HANDLE process, system_ending *ending)
{
    DWORD status = 0;
    bool is_fine = WaitForSingleObject(process, INFINITE) != WAIT_FAILED && GetExitCodeProcess(process, &status);
    if (!is_fine)
        keep_last_error();
    *ending = (system_ending){.number = status};
    return is_fine;
}

bool system_run(char *const *arguments, bool is_output_aside, system_ending *ending)
{
    buffer line = {0};
    HANDLE process = NULL;
    buffer_clear(&line);
    for (size_t i = 0; arguments[i]; i++)
        put_argument(&line, arguments[i]);
    WCHAR *wide = widen(line.data);
    buffer_free(&line);
    SetConsoleCtrlHandler(pass_over, TRUE);
    bool is_fine = start(wide, is_output_aside, &process);
    if (is_fine) {
        is_fine = wait_for(process, ending);
        CloseHandle(process);
    }
    int reason = errno;
    SetConsoleCtrlHandler(pass_over, FALSE);
    free(wide);
    errno = reason;
    return is_fine;
}

static int open_file(const char *path, int flags)
{
    WCHAR *wide = widen(path);
    int file = _wopen(wide, flags | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
    free(wide);
    return file;
}

bool system_names_regular(const char *path)
{
    struct _stat64 status;
    WCHAR *wide = widen(path);
    bool is_regular = _wstat64(wide, &status) == 0 && (status.st_mode & _S_IFMT) == _S_IFREG;
    free(wide);
    return is_regular;
}

int system_read_open(const char *path)
{
    return open_file(path, _O_RDONLY);
}

static long long read_some(int file, void *bytes, size_t size)
{
    const size_t most = 1u << 30;
    return _read(file, bytes, (unsigned)(size < most ? size : most));
}

void system_read_close(int file)
{
    _close(file);
}

/* A byte far beyond the data: nobody reads it. False when another process has locked it; systems of files that have no
 * locks are written without one. */
static bool lock_file(int file)
{
    OVERLAPPED place = {.OffsetHigh = 0x40000000};
    return LockFileEx((HANDLE)_get_osfhandle(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                      &place) ||
           GetLastError() != ERROR_LOCK_VIOLATION;
}

int system_append_open(const char *path, bool *is_made)
{
    const int flags = _O_WRONLY | _O_CREAT | _O_APPEND;
    int file = open_file(path, flags | _O_EXCL);
    *is_made = file >= 0;
    if (file < 0)
        file = open_file(path, flags);
    if (file >= 0 && system_is_regular(file) && !lock_file(file)) {
        _close(file);
        file = -1;
        errno = EAGAIN;
    }
    return file;
}

/* One mutex for all folders: the sections are short. */
intptr_t system_folder_enter(const char *path)
{
    (void)path;
    HANDLE mutex = CreateMutexW(NULL, FALSE, L"perfblock-files");
    DWORD outcome = mutex ? WaitForSingleObject(mutex, (DWORD)(LONGEST_WAIT / 1000000)) : WAIT_FAILED;
    if (outcome == WAIT_OBJECT_0 || outcome == WAIT_ABANDONED)
        return (intptr_t)mutex;
    if (mutex)
        CloseHandle(mutex);
    return 0;
}

void system_folder_leave(intptr_t section)
{
    if (section == 0)
        return;
    ReleaseMutex((HANDLE)section);
    CloseHandle((HANDLE)section);
}

bool system_is_same_file(int left, int right)
{
    BY_HANDLE_FILE_INFORMATION a;
    BY_HANDLE_FILE_INFORMATION b;
    return GetFileInformationByHandle((HANDLE)_get_osfhandle(left), &a) &&
           GetFileInformationByHandle((HANDLE)_get_osfhandle(right), &b) &&
           a.dwVolumeSerialNumber == b.dwVolumeSerialNumber && a.nFileIndexHigh == b.nFileIndexHigh &&
           a.nFileIndexLow == b.nFileIndexLow;
}

static long write_some(int file, const char *bytes, size_t size)
{
    const size_t most = 1u << 30;
    return _write(file, bytes, (unsigned)(size < most ? size : most));
}

bool system_append_close(int file)
{
    bool is_kept = !system_is_regular(file) || _commit(file) == 0;
    return _close(file) == 0 && is_kept;
}

/* A file that is open keeps its name there. */
void system_append_discard(int file, const char *path)
{
    bool is_empty = system_file_size(file) == 0;
    _close(file);
    if (is_empty) {
        WCHAR *wide = widen(path);
        _wunlink(wide);
        free(wide);
    }
}

bool system_last_number(const char *path, uint64_t *number)
{
    struct _wfinddata_t found;
    buffer pattern = {0};
    *number = 0;
    buffer_format(&pattern, "%s.*", path);
    WCHAR *wide = widen(pattern.data);
    buffer_free(&pattern);
    intptr_t search = _wfindfirst(wide, &found);
    free(wide);
    if (search < 0)
        return errno == ENOENT;
    do {
        char *name = narrow(found.name);
        take_number(name, name_of(path), number);
        free(name);
    } while (_wfindnext(search, &found) == 0);
    _findclose(search);
    return true;
}

bool system_rename(const char *from, const char *to)
{
    WCHAR *wide_from = widen(from);
    WCHAR *wide_to = widen(to);
    bool is_renamed = _wrename(wide_from, wide_to) == 0; /* never replaces here */
    free(wide_from);
    free(wide_to);
    return is_renamed;
}

#else

/* Signals whose errors write returns instead, and their actions at the start: commands that are run get these again. */
static const int write_signals[] = {SIGPIPE, SIGXFSZ};
static struct sigaction write_actions[2];

static void fill_closed_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* gets the lowest number that is free */
    }
}

void system_prepare(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    fill_closed_streams();
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < 2; i++)
        sigaction(write_signals[i], &action, &write_actions[i]);
}

char **system_arguments(int argc, char **argv, int *count)
{
    *count = argc;
    return argv;
}

int system_write_error(void)
{
    return errno;
}

bool system_is_terminal(system_stream stream)
{
    return isatty((int)stream) != 0;
}

static size_t columns_of_terminal(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static size_t rows_of_terminal(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool system_can_paint(void)
{
    const char *kind = getenv("TERM");
    return system_is_terminal(SYSTEM_OUTPUT) && kind && *kind != '\0' && strcmp(kind, "dumb") != 0;
}

uint64_t system_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

bool system_sleep_until(uint64_t moment)
{
    /* In steps: an interrupt that comes between the question and the sleep is noticed at the next one. */
    for (uint64_t now = system_now(); now < moment && !interrupted; now = system_now()) {
        uint64_t next = moment - now < LONGEST_SLEEP ? moment : now + LONGEST_SLEEP;
        struct timespec until = {.tv_sec = (time_t)(next / NANOSECONDS), .tv_nsec = (long)(next % NANOSECONDS)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    return !interrupted;
}

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void system_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- Commands: signals ----------------------------------------------------------------------------------- */

enum { SIGNALS = 5, FIRST_PASSED = 3 };

/* The keyboard's are the command's alone. Where children are ignored, as whoever started us may have it, nobody learns
 * how they end. The others are passed on. */
static const int command_signals[SIGNALS] = {SIGINT, SIGQUIT, SIGCHLD, SIGTERM, SIGHUP};

/* As they were before. */
typedef struct kept_signals {
    struct sigaction actions[SIGNALS];
    sigset_t mask;
} kept_signals;

static volatile sig_atomic_t command; /* the process that runs; 0: none */

static void pass_on(int number)
{
    int reason = errno;
    if (command > 0)
        kill((pid_t)command, number);
    errno = reason;
}

/* Those that are passed on wait until there is a command. What is ignored stays so, as nohup wants it. */
static void take_signals(kept_signals *before)
{
    sigset_t passed;
    sigemptyset(&passed);
    for (size_t i = FIRST_PASSED; i < SIGNALS; i++)
        sigaddset(&passed, command_signals[i]);
    sigprocmask(SIG_BLOCK, &passed, &before->mask);
    for (size_t i = 0; i < SIGNALS; i++) {
        int number = command_signals[i];
        struct sigaction action = {.sa_handler = SIG_IGN, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        sigaction(number, NULL, &before->actions[i]);
        if (number == SIGCHLD)
            action.sa_handler = SIG_DFL;
        else if (i >= FIRST_PASSED && before->actions[i].sa_handler != SIG_IGN)
            action.sa_handler = pass_on;
        sigaction(number, &action, NULL);
    }
}

static void give_signals_back(const kept_signals *before)
{
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(command_signals[i], &before->actions[i], NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* ---- Commands -------------------------------------------------------------------------------------------- */

bool system_is_batch(const char *name)
{
    (void)name;
    return false;
}

/* Whether a folder of PATH just lacks the file. */
static bool is_absent(int reason)
{
    return reason == ENOENT || reason == ENOTDIR || reason == ESTALE || reason == ENODEV || reason == ETIMEDOUT;
}

/* Puts the first file of that name that can be run into our place; returns why there is none. The C library's search
 * is not asked, as it has a shell run what the system cannot. */
static int execute(char *const *arguments)
{
    const char *name = arguments[0];
    const char *folders = getenv("PATH");
    if (strchr(name, '/') || *name == '\0') {
        execv(name, arguments);
        return errno;
    }
    if (!folders)
        folders = "/bin:/usr/bin";
    size_t room = strlen(folders) + strlen(name) + 2;
    char *file = malloc(room);
    int reason = file ? ENOENT : ENOMEM;
    for (const char *at = folders; file && at;) { /* an empty name is the folder we are in */
        size_t size = strcspn(at, ":");
        snprintf(file, room, "%.*s%s%s", (int)size, at, size > 0 ? "/" : "", name);
        execv(file, arguments);
        if (!is_absent(errno))
            reason = errno;
        bool goes_on = at[size] == ':' && (is_absent(errno) || errno == EACCES);
        at = goes_on ? at + size + 1 : NULL;
    }
    free(file);
    return reason;
}

/* In the process of the command: never returns. Why it was not started goes to `report`. */
static void become(char *const *arguments, bool is_output_aside, const kept_signals *before, int report)
{
    if (is_output_aside)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    give_signals_back(before);
    for (size_t i = 0; i < 2; i++)
        sigaction(write_signals[i], &write_actions[i], NULL);
    int reason = execute(arguments);
    _exit(write(report, &reason, sizeof reason) < 0 ? 126 : 127);
}

/* The process of the command, or -1 and errno. A pipe tells: what starts closes it, and else the reason comes. */
static pid_t start(char *const *arguments, bool is_output_aside, const kept_signals *before)
{
    int ends[2];
    int reason = 0;
    if (pipe(ends) != 0)
        return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t process = fork();
    if (process == 0)
        become(arguments, is_output_aside, before, ends[1]);
    if (process < 0)
        reason = errno;
    close(ends[1]);
    if (process > 0 && system_read(ends[0], &reason, sizeof reason) == (long long)sizeof reason) {
        waitpid(process, NULL, 0);
        process = -1;
    }
    close(ends[0]);
    errno = reason;
    return process;
}

/* False and errno when that is not to be learnt. No signal is passed on to a process that is no more: its number lives
 * until it is reaped, which the last call does. */
static bool wait_for(pid_t process, system_ending *ending)
{
    siginfo_t info;
    int status = 0;
    while (waitid(P_PID, (id_t)process, &info, WEXITED | WNOWAIT) != 0) {
        if (errno != EINTR)
            return false;
    }
    command = 0;
    if (waitpid(process, &status, 0) < 0)
        return false;
    bool is_signal = WIFSIGNALED(status);
    *ending = (system_ending){.is_signal = is_signal,
                              .number = (uint32_t)(is_signal ? WTERMSIG(status) : WEXITSTATUS(status))};
    return true;
}

bool system_run(char *const *arguments, bool is_output_aside, system_ending *ending)
{
    kept_signals before;
    take_signals(&before);
    pid_t process = start(arguments, is_output_aside, &before);
    int reason = errno;
    command = process > 0 ? (sig_atomic_t)process : 0;
    sigprocmask(SIG_SETMASK, &before.mask, NULL);
    bool is_fine = process > 0 && wait_for(process, ending);
    if (process > 0)
        reason = errno;
    command = 0;
    give_signals_back(&before);
    errno = reason;
    return is_fine;
}

bool system_names_regular(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && (status.st_mode & S_IFMT) == S_IFREG;
}

int system_read_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

static ssize_t read_some(int file, void *bytes, size_t size)
{
    return read(file, bytes, size);
}

void system_read_close(int file)
{
    close(file);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Tries for a lock that another process may hold: false and errno EAGAIN then. Where there are no locks, which some
 * systems of files lack, nothing is locked. */
static bool lock_file(int file)
{
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return false;
        if (errno != EINTR)
            return true;
    }
    return true;
}

static int open_and_lock(const char *path, bool *is_made)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    int file = open(path, flags | O_EXCL, 0666);
    *is_made = file >= 0;
    if (file < 0)
        file = open(path, flags, 0666);
    if (file >= 0 && system_is_regular(file) && !lock_file(file)) {
        close(file);
        file = -1;
        errno = EAGAIN;
    }
    return file;
}

/* Whether the path is still the file's: it may have been renamed before it was locked. */
static bool is_at(int file, const char *path)
{
    struct stat own;
    struct stat there;
    return fstat(file, &own) == 0 && stat(path, &there) == 0 && is_same(&own, &there);
}

int system_append_open(const char *path, bool *is_made)
{
    enum { MOST_TRIES = 10 };
    int file = open_and_lock(path, is_made);
    for (int i = 1; i < MOST_TRIES && file >= 0 && !is_at(file, path); i++) {
        close(file);
        file = open_and_lock(path, is_made);
    }
    return file;
}

/* To be freed; null without memory. */
static char *folder_of(const char *path)
{
    size_t size = (size_t)(name_of(path) - path);
    return size > 0 ? strndup(path, size) : strdup(".");
}

/* A lock on the folder itself. */
intptr_t system_folder_enter(const char *path)
{
    const uint64_t step = NANOSECONDS / 1000;
    char *name = folder_of(path);
    int folder = name ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    uint64_t end = system_now() + LONGEST_WAIT;
    free(name);
    while (folder >= 0 && !lock_file(folder)) {
        struct timespec pause = {.tv_nsec = (long)step};
        if (system_now() >= end) {
            close(folder);
            folder = -1;
        } else {
            nanosleep(&pause, NULL);
        }
    }
    return folder;
}

void system_folder_leave(intptr_t section)
{
    if (section >= 0)
        close((int)section);
}

bool system_is_same_file(int left, int right)
{
    struct stat a;
    struct stat b;
    return fstat(left, &a) == 0 && fstat(right, &b) == 0 && is_same(&a, &b);
}

static ssize_t write_some(int file, const char *bytes, size_t size)
{
    return write(file, bytes, size);
}

bool system_append_close(int file)
{
    bool is_kept = !system_is_regular(file) || fsync(file) == 0;
    return close(file) == 0 && is_kept;
}

void system_append_discard(int file, const char *path)
{
    struct stat own;
    struct stat there;
    bool is_there = fstat(file, &own) == 0 && lstat(path, &there) == 0 && is_same(&own, &there);
    if (is_there && own.st_size == 0)
        unlink(path);
    close(file);
}

bool system_last_number(const char *path, uint64_t *number)
{
    const char *name = name_of(path);
    char *folder = folder_of(path);
    DIR *entries = folder ? opendir(folder) : NULL;
    struct dirent *entry = NULL;
    free(folder);
    *number = 0;
    if (!entries)
        return false;
    while ((entry = readdir(entries)) != NULL)
        take_number(entry->d_name, name, number);
    closedir(entries);
    return true;
}

bool system_rename(const char *from, const char *to)
{
    int place = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (place < 0)
        return false;
    close(place);
    if (rename(from, to) == 0) /* replaces the empty file, which is ours */
        return true;
    int reason = errno;
    unlink(to);
    errno = reason;
    return false;
}

#endif

long long system_read(int file, void *bytes, size_t size)
{
    long long got = 0;
    do
        got = read_some(file, bytes, size);
    while (got < 0 && errno == EINTR);
    return got;
}

bool system_is_regular(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 && (status.st_mode & S_IFMT) == S_IFREG;
}

uint64_t system_file_size(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
}

bool system_append(int file, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        long long written = write_some(file, at, size);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            at += written;
            size -= (size_t)written;
        }
    }
    return true;
}

size_t system_columns(void)
{
    size_t columns = columns_wanted();
    if (columns == 0 && system_is_terminal(SYSTEM_OUTPUT))
        columns = columns_of_terminal();
    if (columns == 0)
        return USUAL_COLUMNS;
    return columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns;
}

size_t system_rows(void)
{
    size_t rows = rows_of_terminal();
    if (rows == 0)
        return USUAL_ROWS;
    return rows < LEAST_ROWS ? LEAST_ROWS : rows;
}

system_rhythm system_rhythm_begin(uint64_t interval)
{
    return (system_rhythm){.next = system_now(), .interval = interval};
}

bool system_rhythm_wait(system_rhythm *rhythm)
{
    uint64_t now = system_now();
    rhythm->next += rhythm->interval;
    if (rhythm->next < now)
        rhythm->next += ((now - rhythm->next) / rhythm->interval + 1) * rhythm->interval;
    return system_sleep_until(rhythm->next);
}
