/* SPDX-License-Identifier: MIT */
/* A library that makes calls of the C library fail, for LD_PRELOAD. PERFBLOCK_FAULT is "EVENT:N": the N-th call of that
 * kind fails, counted from 1, or with "disk" each write to a regular file after N bytes. Without a number nothing
 * fails. PERFBLOCK_FAULT_COUNTS names a file that receives the number of calls of each kind when the program ends.
 *
 * Only calls through the program's symbol table are seen: stdio, which the program uses for messages, is not disturbed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum event {
    FAIL_ALLOCATION, /* ENOMEM */
    FAIL_READ,       /* EIO */
    FAIL_WRITE,      /* ENOSPC */
    FAIL_OPEN,       /* EACCES */
    FAIL_RENAME,     /* EACCES */
    FAIL_FLUSH,      /* fsync, fdatasync, close of a written file: EIO */
    SHORTEN_READ,    /* the read returns one byte */
    SHORTEN_WRITE,   /* one byte is written */
    INTERRUPT_READ,  /* EINTR */
    INTERRUPT_WRITE, /* EINTR */
    FILL_DISK,       /* ENOSPC after N bytes; a write that does not fit is shortened */
    EVENTS
} event;

static const char *const names[EVENTS] = {"alloc",      "read",        "write",     "open",       "rename", "flush",
                                          "short_read", "short_write", "intr_read", "intr_write", "disk"};

static event chosen = EVENTS;
static uint64_t number;
static uint64_t counts[EVENTS];
static bool is_ready; /* calls of the dynamic linker and of other constructors are not counted */

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("PERFBLOCK_FAULT");
    const char *colon = text ? strchr(text, ':') : NULL;
    for (int i = 0; colon && i < EVENTS; i++) {
        if (strlen(names[i]) == (size_t)(colon - text) && strncmp(names[i], text, strlen(names[i])) == 0)
            chosen = (event)i;
    }
    number = colon ? strtoull(colon + 1, NULL, 10) : 0;
    is_ready = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("PERFBLOCK_FAULT_COUNTS");
    is_ready = false;
    FILE *out = path ? fopen(path, "w") : NULL;
    for (int i = 0; out && i < EVENTS; i++)
        fprintf(out, "%s %llu\n", names[i], (unsigned long long)counts[i]);
    if (out)
        fclose(out);
}

/* Counts a call. Returns true if it is the one that fails. */
static bool is_due(event e)
{
    return is_ready && ++counts[e] == number && chosen == e;
}

/* The next definition of a function, which is that of the C library. */
static void *next_of(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

#define NEXT(type, name)                                                                                               \
    static type *next_function;                                                                                        \
    if (!next_function) {                                                                                              \
        void *found = next_of(name);                                                                                   \
        memcpy(&next_function, &found, sizeof found);                                                                  \
    }

/* ---- Memory ---------------------------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static bool is_out_of_memory(void)
{
    bool is_out = is_due(FAIL_ALLOCATION);
    if (is_out)
        errno = ENOMEM;
    return is_out;
}

void *malloc(size_t size)
{
    return is_out_of_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return is_out_of_memory() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return is_out_of_memory() ? NULL : __libc_realloc(memory, size);
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

/* Returns false if the call fails; may change its size. */
static bool may_read(size_t *size)
{
    bool is_failed = is_due(FAIL_READ);
    bool is_interrupted = is_due(INTERRUPT_READ);
    if (is_due(SHORTEN_READ) && *size > 1)
        *size = 1;
    if (is_failed || is_interrupted)
        errno = is_failed ? EIO : EINTR;
    return !is_failed && !is_interrupted;
}

ssize_t read(int file, void *to, size_t size)
{
    typedef ssize_t function(int, void *, size_t);
    NEXT(function, "read")
    return may_read(&size) ? next_function(file, to, size) : -1;
}

ssize_t pread(int file, void *to, size_t size, off_t offset)
{
    typedef ssize_t function(int, void *, size_t, off_t);
    NEXT(function, "pread")
    return may_read(&size) ? next_function(file, to, size, offset) : -1;
}

ssize_t pread64(int file, void *to, size_t size, off64_t offset)
{
    typedef ssize_t function(int, void *, size_t, off64_t);
    NEXT(function, "pread64")
    return may_read(&size) ? next_function(file, to, size, offset) : -1;
}

/* ---- Writing --------------------------------------------------------------------------------------------- */

static bool has_written[1024]; /* by descriptor: closing the file may fail */

/* Returns false if the call fails; may change its size. */
static bool may_write(int file, size_t *size)
{
    struct stat status;
    bool is_failed = is_due(FAIL_WRITE);
    bool is_interrupted = is_due(INTERRUPT_WRITE);
    if (file >= 0 && file < (int)(sizeof has_written / sizeof *has_written))
        has_written[file] = true;
    if (is_due(SHORTEN_WRITE) && *size > 1)
        *size = 1;
    if (is_ready && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        if (chosen == FILL_DISK && *size > number - counts[FILL_DISK])
            *size = (size_t)(number - counts[FILL_DISK]);
        is_failed = is_failed || (chosen == FILL_DISK && *size == 0);
        counts[FILL_DISK] += is_failed || is_interrupted ? 0 : *size;
    }
    if (is_failed || is_interrupted)
        errno = is_failed ? ENOSPC : EINTR;
    return !is_failed && !is_interrupted;
}

ssize_t write(int file, const void *bytes, size_t size)
{
    typedef ssize_t function(int, const void *, size_t);
    NEXT(function, "write")
    return may_write(file, &size) ? next_function(file, bytes, size) : -1;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    typedef ssize_t function(int, const void *, size_t, off_t);
    NEXT(function, "pwrite")
    return may_write(file, &size) ? next_function(file, bytes, size, offset) : -1;
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset)
{
    typedef ssize_t function(int, const void *, size_t, off64_t);
    NEXT(function, "pwrite64")
    return may_write(file, &size) ? next_function(file, bytes, size, offset) : -1;
}

int fsync(int file)
{
    typedef int function(int);
    NEXT(function, "fsync")
    if (!is_due(FAIL_FLUSH))
        return next_function(file);
    errno = EIO;
    return -1;
}

int fdatasync(int file)
{
    typedef int function(int);
    NEXT(function, "fdatasync")
    if (!is_due(FAIL_FLUSH))
        return next_function(file);
    errno = EIO;
    return -1;
}

int close(int file)
{
    typedef int function(int);
    NEXT(function, "close")
    bool is_written = file >= 0 && file < (int)(sizeof has_written / sizeof *has_written) && has_written[file];
    int result = next_function(file);
    if (is_written)
        has_written[file] = false;
    if (!is_written || !is_due(FAIL_FLUSH))
        return result;
    errno = EIO;
    return -1;
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

int open(const char *path, int flags, ...)
{
    typedef int function(const char *, int, ...);
    NEXT(function, "open")
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (!is_due(FAIL_OPEN))
        return next_function(path, flags, mode);
    errno = EACCES;
    return -1;
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open(path, flags | O_LARGEFILE, mode);
}

int rename(const char *from, const char *to)
{
    typedef int function(const char *, const char *);
    NEXT(function, "rename")
    if (!is_due(FAIL_RENAME))
        return next_function(from, to);
    errno = EACCES;
    return -1;
}
