/* SPDX-License-Identifier: MIT */
#include "kernel_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- Reading ------------------------------------------------------------------------------------------ */

enum {
    LEAST_READ_BYTES = 16 * 1024,
    LARGEST_FILE_BYTES = 512 * 1024 * 1024 /* /proc/interrupts of 4096 CPUs with some thousand rows is half of it */
};

static int read_all(int file, pfb_bytes *text)
{
    for (;;) {
        if (text->size_bytes > LARGEST_FILE_BYTES)
            return EFBIG;
        if (text->capacity_bytes - text->size_bytes < LEAST_READ_BYTES &&
            !pfb_bytes_reserve(text, text->size_bytes + LEAST_READ_BYTES))
            return ENOMEM;
        ssize_t got = read(file, text->data + text->size_bytes, text->capacity_bytes - text->size_bytes);
        if (got == 0)
            return 0;
        if (got > 0)
            text->size_bytes += (size_t)got;
        else if (errno != EINTR)
            return errno;
    }
}

/* openat, and all there is in the file. Returns 0 or errno. */
static int read_at(int folder, const char *path, pfb_bytes *text)
{
    text->size_bytes = 0;
    int file;
    do
        file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    while (file < 0 && errno == EINTR);
    if (file < 0)
        return errno;
    int error = read_all(file, text);
    close(file);
    return error;
}

int pfb_kernel_read(const char *path, pfb_bytes *text)
{
    return read_at(AT_FDCWD, path, text);
}

/* ---- Files below the root -------------------------------------------------------------------------------- */

enum { PATH_TAIL_BYTES = 128 }; /* longer than anything that is put behind the root */

static void set_path(pfb_kernel_reader *reader, const char *format, va_list arguments)
{
    vsnprintf(reader->path + reader->root_size, PATH_TAIL_BYTES, format, arguments);
}

static pfb_kernel_text text_of(const pfb_bytes *bytes)
{
    return (pfb_kernel_text){.text = (const char *)bytes->data, .size = bytes->size_bytes};
}

static pfb_kernel_text read_text(pfb_kernel_reader *reader, int folder, const char *path)
{
    return read_at(folder, path, &reader->text) == 0 ? text_of(&reader->text) : (pfb_kernel_text){.text = ""};
}

const char *pfb_kernel_path(pfb_kernel_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_path(reader, format, arguments);
    va_end(arguments);
    return reader->path;
}

pfb_kernel_text pfb_kernel_file(pfb_kernel_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_path(reader, format, arguments);
    va_end(arguments);
    return read_text(reader, AT_FDCWD, reader->path);
}

pfb_kernel_text pfb_kernel_file_at(pfb_kernel_reader *reader, int folder, const char *name)
{
    return read_text(reader, folder, name);
}

bool pfb_kernel_file_number(pfb_kernel_reader *reader, uint64_t *number, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_path(reader, format, arguments);
    va_end(arguments);
    pfb_kernel_text text = read_text(reader, AT_FDCWD, reader->path);
    return pfb_kernel_number(text.text, text.size, number);
}

static bool fail_file(const pfb_kernel_reader *reader, int error, pfb_source_failure *failure)
{
    static const struct {
        int error;
        uint32_t code;
    } codes[] = {{ENOENT, PFB_WIN32_FILE_NOT_FOUND},
                 {EACCES, PFB_WIN32_ACCESS_DENIED},
                 {EPERM, PFB_WIN32_ACCESS_DENIED},
                 {ENOMEM, PFB_WIN32_NOT_ENOUGH_MEMORY}};
    uint32_t code = 0;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        code = codes[i].error == error ? codes[i].code : code;
    char reason[80];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", error);
    return pfb_source_fail(failure, code, "%.120s cannot be read: %s", reader->path, reason);
}

bool pfb_kernel_need_file(pfb_kernel_reader *reader, const char *name, pfb_kernel_text *text,
                          pfb_source_failure *failure)
{
    int error = read_at(AT_FDCWD, pfb_kernel_path(reader, "%s", name), &reader->text);
    if (error != 0)
        return fail_file(reader, error, failure);
    *text = text_of(&reader->text);
    return true;
}

bool pfb_kernel_stat(pfb_kernel_reader *reader, pfb_kernel_text *text, pfb_source_failure *failure)
{
    if (!reader->has_stat) {
        int error = read_at(AT_FDCWD, pfb_kernel_path(reader, "/proc/stat"), &reader->stat);
        if (error != 0)
            return fail_file(reader, error, failure);
        reader->has_stat = true;
    }
    *text = text_of(&reader->stat);
    return true;
}

/* ---- Clocks ---------------------------------------------------------------------------------------------- */

/* What is asked of the wall clock: 100 ns since 1601, and as SYSTEMTIME. */
static void set_wall_clock(pfb_data_times *times, const struct timespec *wall)
{
    const int64_t seconds_1601_to_1970 = INT64_C(11644473600);
    times->perf_time_100ns = (wall->tv_sec + seconds_1601_to_1970) * 10000000 + wall->tv_nsec / 100;
    struct tm utc;
    if (!gmtime_r(&wall->tv_sec, &utc))
        return;
    times->system_time = (pfb_system_time){.year = (uint16_t)(utc.tm_year + 1900),
                                           .month = (uint16_t)(utc.tm_mon + 1),
                                           .day_of_week = (uint16_t)utc.tm_wday,
                                           .day = (uint16_t)utc.tm_mday,
                                           .hour = (uint16_t)utc.tm_hour,
                                           .minute = (uint16_t)utc.tm_min,
                                           .second = (uint16_t)utc.tm_sec,
                                           .millisecond = (uint16_t)(wall->tv_nsec / 1000000)};
}

static void read_clocks(pfb_data_times *times)
{
    const int64_t frequency = 10000000; /* as on Windows: 4 bytes of ticks, as average times have, last 429 s */
    struct timespec steady = {0};
    struct timespec wall = {0};
    clock_gettime(CLOCK_MONOTONIC, &steady);
    clock_gettime(CLOCK_REALTIME, &wall);
    *times = (pfb_data_times){.perf_time = steady.tv_sec * frequency + steady.tv_nsec / 100, .perf_freq = frequency};
    set_wall_clock(times, &wall);
}

void pfb_kernel_new_sample(pfb_kernel_reader *reader)
{
    reader->has_times = false;
    reader->has_stat = false;
}

void pfb_kernel_clock(pfb_kernel_reader *reader)
{
    if (!reader->has_times)
        read_clocks(&reader->times);
    reader->has_times = true;
}

uint64_t pfb_kernel_ticks_to_100ns(const pfb_kernel_reader *reader, uint64_t ticks)
{
    return pfb_kernel_scale(ticks, 10000000, reader->ticks_per_second);
}

/* ---- Opening ------------------------------------------------------------------------------------------------- */

bool pfb_kernel_reader_open(pfb_kernel_reader *reader, const char *root, pfb_source_failure *failure)
{
    size_t root_size = strlen(root);
    long ticks = sysconf(_SC_CLK_TCK);
    *reader = (pfb_kernel_reader){.ticks_per_second = ticks > 0 ? (uint64_t)ticks : 100,
                                  .path = malloc(root_size + PATH_TAIL_BYTES),
                                  .root_size = root_size};
    if (!reader->path)
        return pfb_source_fail_memory(failure);
    memcpy(reader->path, root, root_size);
    return true;
}

void pfb_kernel_reader_close(pfb_kernel_reader *reader)
{
    free(reader->path);
    pfb_bytes_free(&reader->stat);
    pfb_bytes_free(&reader->text);
    *reader = (pfb_kernel_reader){0};
}
