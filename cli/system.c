/* SPDX-License-Identifier: MIT */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#ifdef _WIN32
#include <io.h>
#include <windows.h>
#else
#include <sys/ioctl.h>
#include <unistd.h>
#endif

enum { LEAST_COLUMNS = 20, MOST_COLUMNS = 10000, USUAL_COLUMNS = 100 };

#define NANOSECONDS UINT64_C(1000000000)
#define LONGEST_SLEEP (NANOSECONDS / 5) /* how late an interrupt may be noticed */

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

#ifdef _WIN32

void system_prepare(void)
{
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
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

int system_read_open(const char *path)
{
    return _open(path, _O_RDONLY | _O_BINARY);
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

int system_append_open(const char *path)
{
    return _open(path, _O_WRONLY | _O_CREAT | _O_APPEND | _O_BINARY, _S_IREAD | _S_IWRITE);
}

static long write_some(int file, const char *bytes, size_t size)
{
    const size_t most = 1u << 30;
    return _write(file, bytes, (unsigned)(size < most ? size : most));
}

bool system_append_close(int file)
{
    return _close(file) == 0;
}

#else

void system_prepare(void)
{
    signal(SIGPIPE, SIG_IGN);
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

int system_append_open(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

static ssize_t write_some(int file, const char *bytes, size_t size)
{
    return write(file, bytes, size);
}

bool system_append_close(int file)
{
    return close(file) == 0;
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
