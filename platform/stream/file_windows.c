/* SPDX-License-Identifier: MIT */
#include "stream/file.h"

#include "perfblock/name.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

/* Converts UTF-8 to UTF-16. Free with free(). Null and ENOMEM if memory is exhausted. */
static WCHAR *widen_path(const char *utf8)
{
    size_t size = strlen(utf8);
    WCHAR *wide = calloc(size + 1, sizeof *wide);
    pfb_name name = pfb_utf8_name(utf8, size);
    if (wide)
        pfb_name_to_utf16(&name, (uint8_t *)wide, size);
    else
        errno = ENOMEM;
    return wide;
}

static HANDLE system_handle(const system_file *file)
{
    return (HANDLE)_get_osfhandle(file->number); /* NOLINT(performance-no-int-to-ptr): a handle as an integer */
}

bool pfb_file_open(system_file *file, const char *path, int *error)
{
    struct _stat64 status;
    *file = (system_file){.number = 0, .is_standard = strcmp(path, "-") == 0};
    if (file->is_standard) {
        _setmode(file->number, _O_BINARY);
    } else {
        WCHAR *wide = widen_path(path);
        file->number = wide ? _wopen(wide, _O_RDONLY | _O_BINARY | _O_NOINHERIT) : -1;
        *error = errno;
        free(wide);
    }
    if (file->number < 0)
        return false;
    file->is_regular = _fstat64(file->number, &status) == 0 && (status.st_mode & _S_IFMT) == _S_IFREG;
    int64_t at = file->is_standard && file->is_regular ? _lseeki64(file->number, 0, SEEK_CUR) : 0;
    file->base = at > 0 ? (uint64_t)at : 0;
    return true;
}

void pfb_file_close(system_file *file)
{
    if (file->number >= 0 && !file->is_standard)
        _close(file->number);
    file->number = -1;
}

static int64_t read_bytes(const system_file *file, void *to, size_t size, int *error)
{
    const size_t limit = 1u << 30; /* _read() returns the number of bytes as an int */
    int count = _read(file->number, to, (unsigned)(size < limit ? size : limit));
    *error = errno;
    return count;
}

int64_t pfb_file_read_at(const system_file *file, uint64_t offset, void *to, size_t size, int *error)
{
    if (offset > INT64_MAX - file->base)
        return 0;
    if (_lseeki64(file->number, (int64_t)(file->base + offset), SEEK_SET) < 0) {
        *error = errno;
        return -1;
    }
    return read_bytes(file, to, size, error);
}

/* Only pipes tell how many bytes they have; reading from a console waits. */
int64_t pfb_file_read_next(const system_file *file, void *to, size_t size, uint32_t milliseconds, int *error)
{
    enum { STEP = 10 }; /* milliseconds */
    HANDLE handle = system_handle(file);
    DWORD available = 0;
    while (GetFileType(handle) == FILE_TYPE_PIPE && PeekNamedPipe(handle, NULL, 0, NULL, &available, NULL) &&
           available == 0) {
        if (milliseconds == 0)
            return PFB_FILE_LATER;
        Sleep(milliseconds < STEP ? milliseconds : STEP);
        milliseconds -= milliseconds < STEP ? milliseconds : STEP;
    }
    return read_bytes(file, to, size, error);
}

uint64_t pfb_file_size(const system_file *file)
{
    struct _stat64 status;
    uint64_t size = _fstat64(file->number, &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
    return size > file->base ? size - file->base : 0;
}

bool pfb_file_is_replaced(const system_file *file, const char *path, uint64_t offset)
{
    (void)path;
    return pfb_file_size(file) < offset;
}

/* The offset of the byte that recorders lock. It is far past the data, since Windows lets no other process read a
 * locked byte. */
static const OVERLAPPED locked_place = {.OffsetHigh = 0x40000000};

bool pfb_file_is_locked(const system_file *file)
{
    OVERLAPPED place = locked_place;
    if (!LockFileEx(system_handle(file), LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place))
        return GetLastError() == ERROR_LOCK_VIOLATION;
    UnlockFileEx(system_handle(file), 0, 1, 0, &place);
    return false;
}

bool pfb_file_names_regular(const char *path)
{
    struct _stat64 status;
    WCHAR *wide = widen_path(path);
    bool is_regular = wide && _wstat64(wide, &status) == 0 && (status.st_mode & _S_IFMT) == _S_IFREG;
    free(wide);
    return is_regular;
}

uint64_t pfb_file_clock(void)
{
    return GetTickCount64() * 10000;
}

void pfb_file_sleep(uint32_t milliseconds)
{
    Sleep(milliseconds);
}

void pfb_file_reason(int error, char *text, size_t capacity)
{
    if (strerror_s(text, capacity, error) != 0)
        text[0] = '\0';
}
