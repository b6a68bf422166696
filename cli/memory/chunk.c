/* SPDX-License-Identifier: MIT */
#include "memory/chunk.h"

#include "memory/memory.h"

#include <string.h>

void chunk_append(pfb_bytes *capture, const pfb_chunk *chunk, const void *body, size_t size)
{
    size_t needed = pfb_capture_write(chunk, body, size, NULL, 0);
    if (needed == 0 || needed > SIZE_MAX - capture->size_bytes ||
        !pfb_bytes_reserve(capture, capture->size_bytes + needed))
        memory_exhausted();
    pfb_capture_write(chunk, body, size, capture->data + capture->size_bytes, needed);
    capture->size_bytes += needed;
}

pfb_name chunk_file_label(const char *path)
{
    for (const char *c = path; *c; c++) {
        if (*c == '/' || *c == '\\')
            path = c + 1;
    }
    return pfb_utf8_name(path, strlen(path));
}
