/* SPDX-License-Identifier: MIT */
#include "os/system.h"

#include "os/system_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
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

#define PATH_SEPARATORS "/"

static volatile sig_atomic_t interrupted;

bool system_interrupted(void)
{
    return interrupted != 0;
}

/* Signals of failed writes. They are ignored, because write() also returns an error. A command that system_run() starts
 * gets the actions that were in force when this process started. */
static const int write_signals[] = {SIGPIPE, SIGXFSZ};
static struct sigaction initial_actions[2];

/* Opens a file for each standard stream that is closed. open() returns the lowest free descriptor, which is that of the
 * stream. Standard input is opened for writing and the others for reading, so that using the stream fails. */
static void fill_closed_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

void system_prepare(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    fill_closed_streams();
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < 2; i++)
        sigaction(write_signals[i], &action, &initial_actions[i]);
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

bool system_enable_control_sequences(void)
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
    /* Sleeps in steps: an interrupt between the check and the sleep does not end the sleep. */
    for (uint64_t now = system_now(); now < moment && !interrupted; now = system_now()) {
        uint64_t next = moment - now < MAX_SLEEP ? moment : now + MAX_SLEEP;
        struct timespec until = {.tv_sec = (time_t)(next / NANOSECONDS), .tv_nsec = (long)(next % NANOSECONDS)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    return !interrupted;
}

static volatile sig_atomic_t is_caught; /* SIGINT and SIGTERM do not end the program */
static const char *volatile removed;    /* path of the file that is removed if they do; null: none */

static void on_interrupt(int number)
{
    interrupted = 1;
    if (is_caught)
        return;
    if (removed)
        unlink(removed);
    signal(number, SIG_DFL);
    raise(number); /* after this function has returned: until then the signal is blocked */
}

void system_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    is_caught = 1;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void system_remove_at_signal(const char *path)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    removed = path;
    for (size_t i = 0; path && i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) != 0 || action.sa_handler != SIG_DFL)
            continue;
        action = (struct sigaction){.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        sigaction(numbers[i], &action, NULL);
    }
}

/* ---- Commands: signals ----------------------------------------------------------------------------------- */

enum { SIGNAL_COUNT = 5, FIRST_FORWARDED = 3 };

/* While a command runs, SIGINT and SIGQUIT are ignored, and the signals from FIRST_FORWARDED on are forwarded to it.
 * SIGCHLD gets its default action: a process inherits it as ignored from some parents, and then the exit status of the
 * command would be lost. */
static const int command_signals[SIGNAL_COUNT] = {SIGINT, SIGQUIT, SIGCHLD, SIGTERM, SIGHUP};

typedef struct saved_actions {
    struct sigaction actions[SIGNAL_COUNT];
    sigset_t mask;
} saved_actions;

static volatile sig_atomic_t command_process; /* the process id of the running command; 0: no command is running */

static void forward_signal(int number)
{
    int reason = errno;
    if (command_process > 0)
        kill((pid_t)command_process, number);
    errno = reason;
}

/* Installs the actions described at command_signals. Blocks the forwarded signals: the caller unblocks them when the
 * process id of the command is known. A forwarded signal that was ignored stays ignored, as nohup requires. */
static void install_actions(saved_actions *saved)
{
    sigset_t forwarded;
    sigemptyset(&forwarded);
    for (size_t i = FIRST_FORWARDED; i < SIGNAL_COUNT; i++)
        sigaddset(&forwarded, command_signals[i]);
    sigprocmask(SIG_BLOCK, &forwarded, &saved->mask);
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        int number = command_signals[i];
        struct sigaction action = {.sa_handler = SIG_IGN, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        sigaction(number, NULL, &saved->actions[i]);
        if (number == SIGCHLD)
            action.sa_handler = SIG_DFL;
        else if (i >= FIRST_FORWARDED && saved->actions[i].sa_handler != SIG_IGN)
            action.sa_handler = forward_signal;
        sigaction(number, &action, NULL);
    }
}

static void restore_actions(const saved_actions *saved)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaction(command_signals[i], &saved->actions[i], NULL);
    sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

/* ---- Commands -------------------------------------------------------------------------------------------- */

bool system_is_batch(const char *name)
{
    (void)name;
    return false;
}

/* Returns true if this errno of execv() means that the folder does not have the file. */
static bool is_absent(int reason)
{
    return reason == ENOENT || reason == ENOTDIR || reason == ESTALE || reason == ENODEV || reason == ETIMEDOUT;
}

/* Replaces this process by the first file in PATH that has the name of the command and may be executed; a name with a
 * slash is the path of the file. Returns an errno if there is none, or if the system cannot execute that file. execvp()
 * is not used, because it would pass that file to a shell. */
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
    for (const char *at = folders; file && at;) { /* an empty entry means the current folder */
        size_t size = strcspn(at, ":");
        snprintf(file, capacity, "%.*s%s%s", (int)size, at, size > 0 ? "/" : "", name);
        execv(file, arguments);
        if (!is_absent(errno))
            reason = errno;
        bool has_next = at[size] == ':' && (is_absent(errno) || errno == EACCES);
        at = has_next ? at + size + 1 : NULL;
    }
    free(file);
    return reason;
}

/* Runs in the child process and never returns. If the command cannot be executed, writes the errno to `error_pipe`; the
 * parent process then ignores the exit status. If the write fails too, the exit status is that of a shell for a command
 * that cannot be executed (126). */
static void execute_in_child(char *const *arguments, bool stdout_to_stderr, const saved_actions *saved, int error_pipe)
{
    if (stdout_to_stderr)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    restore_actions(saved);
    for (size_t i = 0; i < 2; i++)
        sigaction(write_signals[i], &initial_actions[i], NULL);
    int reason = execute(arguments);
    _exit(write(error_pipe, &reason, sizeof reason) < 0 ? 126 : 127);
}

/* Returns the process id of the command, or -1 and errno. The child reports a failure through a pipe, which a
 * successful exec closes. */
static pid_t start_process(char *const *arguments, bool stdout_to_stderr, const saved_actions *saved)
{
    int pipe_ends[2];
    int reason = 0;
    if (pipe(pipe_ends) != 0)
        return -1;
    fcntl(pipe_ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(pipe_ends[1], F_SETFD, FD_CLOEXEC);
    pid_t process = fork();
    if (process == 0)
        execute_in_child(arguments, stdout_to_stderr, saved, pipe_ends[1]);
    if (process < 0)
        reason = errno;
    close(pipe_ends[1]);
    if (process > 0 && system_read(pipe_ends[0], &reason, sizeof reason) == (long long)sizeof reason) {
        waitpid(process, NULL, 0);
        process = -1;
    }
    close(pipe_ends[0]);
    errno = reason;
    return process;
}

/* Waits for the end of the command. Returns false and sets errno on failure. waitid() leaves the process a zombie until
 * command_process is cleared. Until then the system does not reuse the process id, so no signal is forwarded to an
 * unrelated process. */
static bool wait_for(pid_t process, system_ending *ending)
{
    siginfo_t info;
    int status = 0;
    while (waitid(P_PID, (id_t)process, &info, WEXITED | WNOWAIT) != 0) {
        if (errno != EINTR)
            return false;
    }
    command_process = 0;
    if (waitpid(process, &status, 0) < 0)
        return false;
    bool is_signal = WIFSIGNALED(status);
    *ending = (system_ending){.is_signal = is_signal,
                              .number = (uint32_t)(is_signal ? WTERMSIG(status) : WEXITSTATUS(status))};
    return true;
}

bool system_run(char *const *arguments, bool stdout_to_stderr, system_ending *ending)
{
    saved_actions saved;
    install_actions(&saved);
    pid_t process = start_process(arguments, stdout_to_stderr, &saved);
    int reason = errno;
    command_process = process > 0 ? (sig_atomic_t)process : 0;
    sigprocmask(SIG_SETMASK, &saved.mask, NULL);
    bool is_ok = process > 0 && wait_for(process, ending);
    if (process > 0)
        reason = errno;
    command_process = 0;
    restore_actions(&saved);
    errno = reason;
    return is_ok;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
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

bool system_seek(int file, uint64_t offset)
{
    return lseek(file, (off_t)offset, SEEK_SET) >= 0;
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

bool system_find_target(const char *path, buffer *target)
{
    enum { MAX_LINKS = 40, LINK_BYTES = 4096 };
    static const char *const descriptors[] = {"/dev/fd/", "/dev/std", "/proc/"};
    buffer_clear(target);
    buffer_string(target, path);
    for (int i = 0; i < MAX_LINKS; i++) {
        char link[LINK_BYTES];
        for (size_t j = 0; j < sizeof descriptors / sizeof descriptors[0]; j++) {
            if (strncmp(target->data, descriptors[j], strlen(descriptors[j])) == 0)
                return false;
        }
        ssize_t size = readlink(target->data, link, sizeof link);
        if (size < 0)
            return !system_names_special(target->data);
        if (size == LINK_BYTES)
            return false;
        target->size = *link == '/' ? 0 : (size_t)(system_file_name(target->data, PATH_SEPARATORS) - target->data);
        buffer_bytes(target, link, (size_t)size);
    }
    return false;
}

bool system_names_output(const char *path)
{
    struct stat named;
    struct stat output;
    return stat(path, &named) == 0 && fstat(STDOUT_FILENO, &output) == 0 && is_same(&named, &output);
}

/* Gives a file the mode and the owner of another one. If the group cannot be set, that of this user gets the rights of
 * others. */
static void take_mode(int file, const struct stat *other)
{
    mode_t mode = other->st_mode & 0777;
    if (fchown(file, other->st_uid, other->st_gid) != 0 && fchown(file, (uid_t)-1, other->st_gid) != 0)
        mode = (mode & 0707) | (mode & 07) << 3;
    fchmod(file, mode);
}

int system_create(const char *path, const char *target)
{
    struct stat status = {.st_mode = 0666};
    int old = open(target, O_WRONLY | O_CLOEXEC);
    if (old < 0 && errno != ENOENT)
        return -1;
    bool has_old = old >= 0 && fstat(old, &status) == 0;
    if (old >= 0)
        close(old);
    sigset_t all;
    sigset_t mask;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask); /* so that no signal leaves the file */
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, status.st_mode & 0666);
    int reason = errno;
    if (file >= 0)
        system_remove_at_signal(path);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    errno = reason;
    if (file >= 0 && has_old)
        take_mode(file, &status);
    return file;
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

/* The program that opens a file in its default application. */
#if defined(__APPLE__)
#define OPENER "open"
#else
#define OPENER "xdg-open"
#endif

bool system_open_page(const char *path)
{
    char opener[] = OPENER;
    const char *folder = *path == '/' ? "" : "./"; /* so that a name that begins with "-" is not taken for an option */
    size_t size = strlen(folder) + strlen(path) + 1;
    char *name = malloc(size);
    system_ending ending = {.number = 1};
    if (!name)
        return false;
    snprintf(name, size, "%s%s", folder, path);
    char *const arguments[] = {opener, name, NULL};
    bool is_ok = system_run(arguments, true, &ending) && !ending.is_signal && ending.number == 0;
    free(name);
    return is_ok;
}

static const struct timespec lock_pause = {.tv_nsec = NANOSECONDS / 1000};

/* Locks a file without waiting. False if another process holds the lock. On file systems without locks, returns true
 * although nothing is locked. */
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

/* Locks a file for a recorder. Waits for readers, which hold a shared lock for a moment in system_is_locked(), but not
 * for another recorder: the caller may be in the critical section of the folder, which the other one has to enter
 * before it can rotate and release its file. */
static bool lock_file(int file)
{
    bool is_locked = try_lock(file);
    for (int tries = 1; tries < LOCK_TRIES && !is_locked && !system_is_locked(file); tries++) {
        nanosleep(&lock_pause, NULL);
        is_locked = try_lock(file);
    }
    return is_locked;
}

static int open_and_lock(const char *path, uint32_t mode, bool *is_created)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    int file = open(path, flags | O_EXCL, SYSTEM_PRIVATE);
    *is_created = file >= 0;
    if (file < 0)
        file = open(path, flags, SYSTEM_PRIVATE);
    else
        fchmod(file, (mode_t)mode); /* the umask does not apply */
    if (file >= 0 && system_is_regular(file) && !lock_file(file)) {
        close(file);
        file = -1;
        errno = EAGAIN;
    }
    return file;
}

/* Whether the path still names the open file, which another process may have renamed before it was locked. */
static bool is_still_at(int file, const char *path)
{
    struct stat own;
    struct stat there;
    return fstat(file, &own) == 0 && stat(path, &there) == 0 && is_same(&own, &there);
}

int system_append_open(const char *path, uint32_t mode, bool *is_created)
{
    enum { MAX_TRIES = 10 };
    int file = open_and_lock(path, mode, is_created);
    for (int i = 1; i < MAX_TRIES && file >= 0 && !is_still_at(file, path); i++) {
        close(file);
        file = open_and_lock(path, mode, is_created);
    }
    return file;
}

uint32_t system_mode(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 ? (uint32_t)status.st_mode & 0666 : SYSTEM_PRIVATE;
}

/* The part of a path before the file name, or "." if there is none. Null if memory runs out; free with free(). */
static char *folder_of(const char *path)
{
    size_t size = (size_t)(system_file_name(path, PATH_SEPARATORS) - path);
    return size > 0 ? strndup(path, size) : strdup(".");
}

/* The critical section is a lock on the folder itself. */
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
            system_subtract_elapsed(wait, begin);
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

size_t system_unit(int file)
{
    struct stat status;
    bool is_pipe = is_caught && fstat(file, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
    return is_pipe ? PIPE_BUF : SIZE_MAX;
}

/* Whether an interrupted program has waited long enough for the reader of its output. */
static bool is_unread(void)
{
    static uint64_t end; /* 0: no interrupt was noticed */
    if (interrupted && end == 0)
        end = system_now() + MAX_UNREAD;
    bool is_over = interrupted && system_now() >= end;
    if (is_over)
        errno = EPIPE;
    return is_over;
}

bool system_wait_writable(int file)
{
    enum { PAUSE = 50 }; /* milliseconds, after which an interrupt is noticed */
    struct pollfd wanted = {.fd = file, .events = POLLOUT};
    while (is_caught) {
        int ready = poll(&wanted, 1, PAUSE);
        if (ready > 0 || (ready < 0 && errno != EINTR)) /* where poll() fails, write() may wait */
            return true;
        if (is_unread())
            return false;
    }
    return true;
}

bool system_wait_empty(int file)
{
    int unread = 0;
    while (ioctl(file, FIONREAD, &unread) == 0 && unread > 0) {
        struct pollfd wanted = {.fd = file, .events = 0};
        bool has_reader = poll(&wanted, 1, 1) <= 0; /* POLLERR: write() returns the error */
        if (!has_reader)
            return true;
        if (is_unread())
            return false;
    }
    return true;
}

long long system_write_some(int file, const char *bytes, size_t size)
{
    return write(file, bytes, size);
}

bool system_append_cut(int file, uint64_t size)
{
    return ftruncate(file, (off_t)size) == 0;
}

bool system_append_close(int file)
{
    bool is_synced = !system_is_regular(file) || fsync(file) == 0;
    return close(file) == 0 && is_synced;
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
    const char *name = system_file_name(path, PATH_SEPARATORS);
    char *folder = folder_of(path);
    DIR *entries = folder ? opendir(folder) : NULL;
    struct dirent *entry = NULL;
    free(folder);
    *number = 0;
    if (!entries)
        return false;
    while ((entry = readdir(entries)) != NULL)
        system_raise_number(entry->d_name, name, number);
    closedir(entries);
    return true;
}

/* First creates an empty file of the new name, which fails if the name exists. rename() then replaces that file. */
bool system_rename(const char *from, const char *to)
{
    int placeholder = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, SYSTEM_PRIVATE);
    if (placeholder < 0)
        return false;
    close(placeholder);
    if (rename(from, to) == 0)
        return true;
    int reason = errno;
    unlink(to);
    errno = reason;
    return false;
}
