/* SPDX-License-Identifier: MIT */
#include "stream/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool pfb_file_open(system_file *file, const char *path, int *error)
{
    struct stat status;
    *file = (system_file){.number = STDIN_FILENO, .is_standard = strcmp(path, "-") == 0};
    if (!file->is_standard)
        file->number = open(path, O_RDONLY | O_CLOEXEC);
    if (file->number < 0) {
        *error = errno;
        return false;
    }
    file->is_regular = fstat(file->number, &status) == 0 && S_ISREG(status.st_mode);
    off_t at = file->is_standard && file->is_regular ? lseek(file->number, 0, SEEK_CUR) : 0;
    file->base = at > 0 ? (uint64_t)at : 0;
    return true;
}

void pfb_file_close(system_file *file)
{
    if (file->number >= 0 && !file->is_standard)
        close(file->number);
    file->number = -1;
}

int64_t pfb_file_read_at(const system_file *file, uint64_t offset, void *to, size_t size, int *error)
{
    ssize_t count = 0;
    if (offset > INT64_MAX - file->base)
        return 0;
    do
        count = pread(file->number, to, size, (off_t)(file->base + offset));
    while (count < 0 && errno == EINTR);
    *error = errno;
    return count;
}

int64_t pfb_file_read_next(const system_file *file, void *to, size_t size, uint32_t milliseconds, int *error)
{
    struct pollfd wanted = {.fd = file->number, .events = POLLIN};
    int ready = poll(&wanted, 1, (int)milliseconds);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return PFB_FILE_LATER;
    ssize_t count = read(file->number, to, size); /* also where poll does not know the kind of file */
    *error = errno;
    return count < 0 && (*error == EINTR || *error == EAGAIN) ? PFB_FILE_LATER : count;
}

uint64_t pfb_file_size(const system_file *file)
{
    struct stat status;
    uint64_t size = fstat(file->number, &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
    return size > file->base ? size - file->base : 0;
}

bool pfb_file_is_replaced(const system_file *file, const char *path, uint64_t offset)
{
    struct stat own;
    struct stat named;
    if (fstat(file->number, &own) != 0)
        return false;
    bool is_other = !file->is_standard && stat(path, &named) == 0 && S_ISREG(named.st_mode) &&
                    (named.st_dev != own.st_dev || named.st_ino != own.st_ino);
    return is_other || pfb_file_size(file) < offset;
}

bool pfb_file_is_locked(const system_file *file)
{
    if (flock(file->number, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    flock(file->number, LOCK_UN);
    return false;
}

bool pfb_file_names_regular(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

uint64_t pfb_file_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 10000000 + (uint64_t)now.tv_nsec / 100;
}

void pfb_file_sleep(uint32_t milliseconds)
{
    const struct timespec duration = {.tv_sec = (time_t)(milliseconds / 1000),
                                      .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    nanosleep(&duration, NULL);
}

void pfb_file_reason(int error, char *text, size_t capacity)
{
#ifdef __USE_GNU /* an application that this file is part of has defined _GNU_SOURCE: returns the text */
    const char *reason = strerror_r(error, text, capacity);
    if (reason != text) {
        strncpy(text, reason, capacity - 1);
        text[capacity - 1] = '\0';
    }
#else
    if (strerror_r(error, text, capacity) != 0)
        text[0] = '\0';
#endif
}
