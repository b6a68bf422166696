/* SPDX-License-Identifier: MIT */
/* For environments without files: none can be opened. */
#include "stream/file.h"

#include <stdio.h>

bool pfb_file_open(system_file *file, const char *path, int *error)
{
    (void)path;
    *file = (system_file){.number = -1};
    *error = 0;
    return false;
}

void pfb_file_close(system_file *file)
{
    (void)file;
}

int64_t pfb_file_read_at(const system_file *file, uint64_t offset, void *to, size_t size, int *error)
{
    (void)offset;
    return pfb_file_read_next(file, to, size, 0, error);
}

int64_t pfb_file_read_next(const system_file *file, void *to, size_t size, uint32_t milliseconds, int *error)
{
    (void)file;
    (void)to;
    (void)size;
    (void)milliseconds;
    *error = 0;
    return -1;
}

uint64_t pfb_file_size(const system_file *file)
{
    (void)file;
    return 0;
}

bool pfb_file_is_replaced(const system_file *file, const char *path, uint64_t offset)
{
    (void)file;
    (void)path;
    (void)offset;
    return false;
}

bool pfb_file_is_locked(const system_file *file)
{
    (void)file;
    return false;
}

bool pfb_file_names_regular(const char *path)
{
    (void)path;
    return false;
}

uint64_t pfb_file_clock(void)
{
    return 0;
}

void pfb_file_sleep(uint32_t milliseconds)
{
    (void)milliseconds;
}

void pfb_file_reason(int error, char *text, size_t capacity)
{
    (void)error;
    snprintf(text, capacity, "there are no files: perfblock was compiled without a system");
}
