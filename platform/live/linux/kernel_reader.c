/* SPDX-License-Identifier: MIT */
#include "live/linux/kernel_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Reading ------------------------------------------------------------------------------------------ */

enum {
    MIN_READ_BYTES = 16 * 1024,
    MAX_FILE_BYTES = 512 * 1024 * 1024 /* twice the size of /proc/interrupts with 4096 CPUs and thousands of rows */
};

static int read_all(int file, pfb_bytes *text)
{
    for (;;) {
        if (text->size_bytes > MAX_FILE_BYTES)
            return EFBIG;
        if (text->capacity_bytes - text->size_bytes < MIN_READ_BYTES &&
            !pfb_bytes_reserve(text, text->size_bytes + MIN_READ_BYTES))
            return ENOMEM;
        ssize_t length = read(file, text->data + text->size_bytes, text->capacity_bytes - text->size_bytes);
        if (length == 0)
            return 0;
        if (length > 0)
            text->size_bytes += (size_t)length;
        else if (errno != EINTR)
            return errno;
    }
}

int pfb_kernel_read(const char *path, pfb_bytes *text)
{
    text->size_bytes = 0;
    int file;
    do
        file = open(path, O_RDONLY | O_CLOEXEC);
    while (file < 0 && errno == EINTR);
    if (file < 0)
        return errno;
    int error = read_all(file, text);
    close(file);
    return error;
}

/* ---- Errors ------------------------------------------------------------------------------------------------- */

/* What an errno value means for the data of a file. */
typedef enum verdict {
    BROKEN,   /* the file cannot be read */
    ABSENT,   /* the file does not exist, has disappeared, or may not be read */
    EXHAUSTED /* this process or the system lacks memory or file handles */
} verdict;

typedef struct known_error {
    int error;
    uint32_t code;
    verdict verdict;
} known_error;

static known_error find_error(int error)
{
    static const known_error known[] = {
        {ENOENT, PFB_WIN32_FILE_NOT_FOUND, ABSENT},         {ESRCH, PFB_WIN32_FILE_NOT_FOUND, ABSENT},
        {ENODEV, PFB_WIN32_FILE_NOT_FOUND, ABSENT},         {EACCES, PFB_WIN32_ACCESS_DENIED, ABSENT},
        {EPERM, PFB_WIN32_ACCESS_DENIED, ABSENT},           {ENOMEM, PFB_WIN32_NOT_ENOUGH_MEMORY, EXHAUSTED},
        {EMFILE, PFB_WIN32_TOO_MANY_OPEN_FILES, EXHAUSTED}, {ENFILE, PFB_WIN32_TOO_MANY_OPEN_FILES, EXHAUSTED}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].error == error)
            return known[i];
    }
    return (known_error){error, PFB_WIN32_READ_FAULT, BROKEN};
}

/* Reports an error of the current file. */
static bool fail_file(const pfb_kernel_reader *reader, int error, pfb_source_failure *failure)
{
    char reason[80];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", error);
    return pfb_source_fail(failure, find_error(error).code, "%.120s cannot be read: %s", reader->path, reason);
}

/* Stores an error of the current file unless an error is stored already. Ignores errors that mean that there is no
 * data: the file is absent, or a driver's file cannot be read. */
static void store_error(pfb_kernel_reader *reader, int error, bool is_driver_file)
{
    verdict meaning = find_error(error).verdict;
    if (meaning == ABSENT || (meaning == BROKEN && is_driver_file) || reader->has_failed)
        return;
    reader->has_failed = true;
    fail_file(reader, error, &reader->failure);
}

void pfb_kernel_begin(pfb_kernel_reader *reader)
{
    reader->has_failed = false;
}

bool pfb_kernel_has_no_error(const pfb_kernel_reader *reader, pfb_source_failure *failure)
{
    return !reader->has_failed || pfb_source_fail(failure, reader->failure.code, "%s", reader->failure.sentence);
}

/* ---- Files below the root -------------------------------------------------------------------------------- */

enum { PATH_TAIL_BYTES = 288 }; /* space for the part of a path after the root, with NUL */

static void set_path(pfb_kernel_reader *reader, const char *format, va_list arguments)
{
    vsnprintf(reader->path + reader->root_size, PATH_TAIL_BYTES, format, arguments);
}

static pfb_kernel_text make_text(const pfb_bytes *bytes)
{
    return (pfb_kernel_text){.text = (const char *)bytes->data, .size = bytes->size_bytes};
}

static pfb_kernel_text read_text(pfb_kernel_reader *reader, bool is_driver_file)
{
    int error = pfb_kernel_read(reader->path, &reader->text);
    if (error == 0)
        return make_text(&reader->text);
    store_error(reader, error, is_driver_file);
    return (pfb_kernel_text){.text = ""};
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
    return read_text(reader, false);
}

bool pfb_kernel_file_number(pfb_kernel_reader *reader, uint64_t *number, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_path(reader, format, arguments);
    va_end(arguments);
    pfb_kernel_text text = read_text(reader, true);
    return pfb_kernel_number(text.text, text.size, number);
}

bool pfb_kernel_exists(pfb_kernel_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_path(reader, format, arguments);
    va_end(arguments);
    if (access(reader->path, F_OK) == 0)
        return true;
    store_error(reader, errno, false);
    return false;
}

bool pfb_kernel_need_file(pfb_kernel_reader *reader, const char *name, pfb_kernel_text *text,
                          pfb_source_failure *failure)
{
    int error = pfb_kernel_read(pfb_kernel_path(reader, "%s", name), &reader->text);
    if (error != 0)
        return fail_file(reader, error, failure);
    *text = make_text(&reader->text);
    return true;
}

/* Unlike pfb_kernel_need_file, also stores the error: callers that can do without the file pass NULL for `failure`. */
bool pfb_kernel_stat(pfb_kernel_reader *reader, pfb_kernel_text *text, pfb_source_failure *failure)
{
    if (!reader->has_stat) {
        int error = pfb_kernel_read(pfb_kernel_path(reader, "/proc/stat"), &reader->stat);
        if (error != 0) {
            store_error(reader, error, false);
            return fail_file(reader, error, failure);
        }
        reader->has_stat = true;
    }
    *text = make_text(&reader->stat);
    return true;
}

/* ---- Numbered directories --------------------------------------------------------------------------------------- */

const pfb_kernel_folders pfb_kernel_processes = {.parent = "/proc", .prefix = "", .min = 1, .max = 0x7FFFFFFF};

DIR *pfb_kernel_open_folders(pfb_kernel_reader *reader, const pfb_kernel_folders *folders)
{
    DIR *parent = opendir(pfb_kernel_path(reader, "%s", folders->parent));
    if (!parent)
        store_error(reader, errno, false);
    return parent;
}

bool pfb_kernel_next_folder(pfb_kernel_reader *reader, DIR *parent, const pfb_kernel_folders *folders, uint32_t *number)
{
    const struct dirent *entry;
    errno = 0;
    while ((entry = readdir(parent))) {
        if (pfb_kernel_folder_number(entry->d_name, folders->prefix, folders->max, number) && *number >= folders->min)
            return true;
    }
    int error = errno;
    if (error == 0)
        return false;
    pfb_kernel_path(reader, "%s", folders->parent);
    store_error(reader, error, false);
    return false;
}

/* ---- Clocks ---------------------------------------------------------------------------------------------- */

static uint64_t to_100ns(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * PFB_KERNEL_100NS + (uint64_t)time->tv_nsec / 100;
}

uint64_t pfb_kernel_now(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return to_100ns(&now);
}

/* Sets the wall-clock times: units of 100 ns since 1601, and SYSTEMTIME. */
static void set_wall_clock(pfb_write_times *times, const struct timespec *wall)
{
    const uint64_t seconds_1601_to_1970 = UINT64_C(11644473600);
    times->perf_time_100ns = (int64_t)(to_100ns(wall) + seconds_1601_to_1970 * PFB_KERNEL_100NS);
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

/* Counts units of 100 ns, as Windows does, instead of nanoseconds: the 32-bit times of PERF_AVERAGE_TIMER then wrap
 * after 429 s instead of 4 s. */
static void read_clocks(pfb_write_times *times)
{
    struct timespec wall = {0};
    *times = (pfb_write_times){.perf_time = (int64_t)pfb_kernel_now(CLOCK_MONOTONIC), .perf_freq = PFB_KERNEL_100NS};
    clock_gettime(CLOCK_REALTIME, &wall);
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
    return pfb_kernel_scale(ticks, PFB_KERNEL_100NS, reader->ticks_per_second);
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
