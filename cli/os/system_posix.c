/* SPDX-License-Identifier: MIT */
#include "os/system.h"

#include "os/system_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FOLDER_MARKS "/"

static volatile sig_atomic_t interrupted;

bool system_interrupted(void)
{
    return interrupted != 0;
}

/* Signals that are ignored because write() returns an error too, and their initial actions, which commands get back. */
static const int write_signals[] = {SIGPIPE, SIGXFSZ};
static struct sigaction write_actions[2];

static void fill_closed_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* takes the lowest free number */
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

size_t system_columns_of_terminal(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t system_rows_of_terminal(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool system_can_paint(void)
{
    const char *kind = getenv("TERM");
    return system_is_terminal(SYSTEM_OUTPUT) && kind && *kind != '\0' && strcmp(kind, "dumb") != 0;
}

bool system_repeats_values(void)
{
    return false;
}

uint64_t system_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

bool system_local_offset(int64_t moment, int32_t *minutes)
{
    struct tm local;
    time_t time = (time_t)moment;
    tzset(); /* localtime_r() need not read TZ */
    if ((int64_t)time != moment || !localtime_r(&time, &local))
        return false;
    *minutes = (int32_t)(local.tm_gmtoff / 60);
    return true;
}

bool system_zone_name(int64_t moment, buffer *name)
{
    struct tm local;
    time_t time = (time_t)moment;
    tzset();
    if ((int64_t)time != moment || !localtime_r(&time, &local) || !local.tm_zone || local.tm_zone[0] == '\0')
        return false;
    buffer_string(name, local.tm_zone);
    return true;
}

bool system_sleep_until(uint64_t moment)
{
    /* In steps, as an interrupt may come between the check and the sleep. */
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

/* SIGINT and SIGQUIT are left to the command. SIGCHLD must not be ignored, as it may be at the start: the status of the
 * command would be lost. The others are passed on. */
static const int command_signals[SIGNALS] = {SIGINT, SIGQUIT, SIGCHLD, SIGTERM, SIGHUP};

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

/* Blocks the signals that are passed on until the command runs. Ignored ones stay ignored, as nohup requires. */
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

/* Whether the error means that a folder of PATH does not have the file. */
static bool is_absent(int reason)
{
    return reason == ENOENT || reason == ENOTDIR || reason == ESTALE || reason == ENODEV || reason == ETIMEDOUT;
}

/* Replaces this process by the first file of that name that can be executed; returns an errno. execvp() is not used
 * because it has a shell run files that the system cannot execute. */
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
    size_t capacity = strlen(folders) + strlen(name) + 2;
    char *file = malloc(capacity);
    int reason = file ? ENOENT : ENOMEM;
    for (const char *at = folders; file && at;) { /* an empty name is the current folder */
        size_t size = strcspn(at, ":");
        snprintf(file, capacity, "%.*s%s%s", (int)size, at, size > 0 ? "/" : "", name);
        execv(file, arguments);
        if (!is_absent(errno))
            reason = errno;
        bool goes_on = at[size] == ':' && (is_absent(errno) || errno == EACCES);
        at = goes_on ? at + size + 1 : NULL;
    }
    free(file);
    return reason;
}

/* Runs in the command's process and never returns. Writes the errno to `report` if the command cannot be executed. */
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

/* Returns the command's process, or -1 and errno. A pipe reports failure: a successful exec closes it. */
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

/* False and errno on failure. The process is reaped last, so that no signal is sent to a number that is free again. */
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

bool system_names_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && (status.st_mode & S_IFMT) != S_IFREG;
}

int system_read_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

long long system_read_some(int file, void *bytes, size_t size)
{
    return read(file, bytes, size);
}

void system_read_close(int file)
{
    close(file);
}

int system_write_open(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

bool system_write_close(int file)
{
    return close(file) == 0;
}

int system_create(const char *path)
{
    unlink(path);
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

bool system_replace(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

void system_remove(const char *path)
{
    unlink(path);
}

uint32_t system_process(void)
{
    return (uint32_t)getpid();
}

/* The program that opens a file as the desktop does. */
#if defined(__APPLE__)
#define OPENER "open"
#else
#define OPENER "xdg-open"
#endif

bool system_open_page(const char *path)
{
    char opener[] = OPENER;
    const char *folder = *path == '/' ? "" : "./"; /* a name that begins with "-" is no option */
    size_t size = strlen(folder) + strlen(path) + 1;
    char *name = malloc(size);
    system_ending ending = {.number = 1};
    if (!name)
        return false;
    snprintf(name, size, "%s%s", folder, path);
    char *const arguments[] = {opener, name, NULL};
    bool is_fine = system_run(arguments, true, &ending) && !ending.is_signal && ending.number == 0;
    free(name);
    return is_fine;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const struct timespec lock_pause = {.tv_nsec = NANOSECONDS / 1000};

/* Locks a file. False if another process holds the lock. On file systems without locks nothing is locked. */
static bool try_lock(int file)
{
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return false;
        if (errno != EINTR)
            return true;
    }
    return true;
}

bool system_is_locked(int file)
{
    if (flock(file, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    flock(file, LOCK_UN);
    return false;
}

/* Locks a file as try_lock() does, but waits for readers, which hold a shared lock for a moment in system_is_locked().
 * It does not wait for a recorder: that would keep it from entering the folder when it rotates. */
static bool lock_file(int file)
{
    bool is_locked = try_lock(file);
    for (int tries = 1; tries < LOCK_TRIES && !is_locked && !system_is_locked(file); tries++) {
        nanosleep(&lock_pause, NULL);
        is_locked = try_lock(file);
    }
    return is_locked;
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

/* Whether the path still leads to the file, which may have been renamed before it was locked. */
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

/* Null if memory runs out; free with free(). */
static char *folder_of(const char *path)
{
    size_t size = (size_t)(system_name_of(path, FOLDER_MARKS) - path);
    return size > 0 ? strndup(path, size) : strdup(".");
}

/* The folder itself is locked. */
intptr_t system_folder_enter(const char *path, uint64_t *wait)
{
    char *name = folder_of(path);
    int folder = name ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    uint64_t begin = system_now();
    free(name);
    while (folder >= 0 && !try_lock(folder)) {
        if (*wait == 0) {
            close(folder);
            folder = -1;
        } else {
            nanosleep(&lock_pause, NULL);
            system_take_time(wait, begin);
            begin = system_now();
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

long long system_write_some(int file, const char *bytes, size_t size)
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
    const char *name = system_name_of(path, FOLDER_MARKS);
    char *folder = folder_of(path);
    DIR *entries = folder ? opendir(folder) : NULL;
    struct dirent *entry = NULL;
    free(folder);
    *number = 0;
    if (!entries)
        return false;
    while ((entry = readdir(entries)) != NULL)
        system_take_number(entry->d_name, name, number);
    closedir(entries);
    return true;
}

bool system_rename(const char *from, const char *to)
{
    int place = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (place < 0)
        return false;
    close(place);
    if (rename(from, to) == 0) /* replaces the empty file made above */
        return true;
    int reason = errno;
    unlink(to);
    errno = reason;
    return false;
}
