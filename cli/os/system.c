/* SPDX-License-Identifier: MIT */
#include "os/system.h"

#include "os/system_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MIN_COLUMNS = 20, MAX_COLUMNS = 10000, DEFAULT_COLUMNS = 100, MIN_ROWS = 2, DEFAULT_ROWS = 24 };

/* Returns the value of COLUMNS; 0 if it is not set or not a number from MIN_COLUMNS to MAX_COLUMNS. */
static size_t columns_from_environment(void)
{
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    unsigned long columns = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    return end && *end == '\0' && columns >= MIN_COLUMNS && columns <= MAX_COLUMNS ? columns : 0;
}

void system_subtract_elapsed(uint64_t *remaining, uint64_t begin)
{
    uint64_t elapsed = system_now() - begin;
    *remaining -= elapsed < *remaining ? elapsed : *remaining;
}

const char *system_file_name(const char *path, const char *separators)
{
    const char *name = path;
    for (const char *c = path; *c != '\0'; c++) {
        if (strchr(separators, *c))
            name = c + 1;
    }
    return name;
}

void system_raise_number(const char *entry, const char *name, uint64_t *number)
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

long long system_read(int file, void *bytes, size_t size)
{
    long long read_size = 0;
    do
        read_size = system_read_some(file, bytes, size);
    while (read_size < 0 && errno == EINTR);
    return read_size;
}

long long system_read_at(int file, uint64_t offset, void *bytes, size_t size)
{
    size_t done = 0;
    long long read_size = system_seek(file, offset) ? 1 : -1;
    while (read_size > 0 && done < size) {
        read_size = system_read(file, (char *)bytes + done, size - done);
        done += read_size > 0 ? (size_t)read_size : 0;
    }
    return read_size < 0 ? -1 : (long long)done;
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
    size_t unit = system_unit(file);
    bool is_read = size <= unit || system_wait_empty(file);
    bool is_ok = is_read;
    while (is_ok && size > 0) {
        long long written = -1;
        is_ok = is_read = system_wait_writable(file);
        if (is_ok) {
            written = system_write_some(file, at, size < unit ? size : unit);
            is_ok = written >= 0 || errno == EINTR;
        }
        if (written > 0) {
            at += written;
            size -= (size_t)written;
        }
    }
    if (!is_read && at != bytes)
        errno = ETIMEDOUT;
    return is_ok;
}

size_t system_columns(void)
{
    size_t columns = columns_from_environment();
    if (columns == 0 && system_is_terminal(SYSTEM_OUTPUT))
        columns = system_columns_of_terminal();
    if (columns == 0)
        return DEFAULT_COLUMNS;
    return columns < MIN_COLUMNS ? MIN_COLUMNS : columns;
}

size_t system_rows(void)
{
    size_t rows = system_rows_of_terminal();
    if (rows == 0)
        return DEFAULT_ROWS;
    return rows < MIN_ROWS ? MIN_ROWS : rows;
}

bool system_is_replaced(int file, const char *path, uint64_t offset)
{
    bool is_named = strcmp(path, "-") != 0 && system_names_regular(path);
    int named = is_named ? system_read_open(path) : -1;
    bool is_other = named >= 0 && !system_is_same_file(named, file);
    if (named >= 0)
        system_read_close(named);
    return is_other || system_file_size(file) < offset;
}

bool system_names_same(const char *input, const char *output)
{
    bool is_standard = strcmp(input, "-") == 0;
    bool is_regular = is_standard ? system_is_regular(SYSTEM_INPUT) : system_names_regular(input);
    if (!is_regular || !system_names_regular(output))
        return false;
    int a = is_standard ? SYSTEM_INPUT : system_read_open(input);
    int b = system_read_open(output);
    bool is_same = a >= 0 && b >= 0 && system_is_same_file(a, b);
    if (a >= 0 && !is_standard)
        system_read_close(a);
    if (b >= 0)
        system_read_close(b);
    return is_same;
}
