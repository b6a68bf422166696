/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_CAPTURE_H
#define PFB_TEST_SUPPORT_CAPTURE_H

/* Captures in growing memory, for tests of the platform layer. */
#include <criterion/criterion.h>

#include "perfblock/capture.h"
#include "perfblock/source.h"

/* Appends a chunk with this body. */
static inline void append_chunk(pfb_bytes *capture, const pfb_chunk *chunk, const void *body, size_t size)
{
    size_t at = capture->size_bytes;
    size_t needed = pfb_capture_write(chunk, body, size, NULL, 0);
    cr_assert(pfb_bytes_reserve(capture, at + needed));
    cr_assert_eq(pfb_capture_write(chunk, body, size, capture->data + at, needed), needed);
    capture->size_bytes += needed;
}

/* The code with which a source of this capture fails after the last sample. */
static inline uint32_t code_at_end(const uint8_t *data, size_t size)
{
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_capture_open(&capture, data, size, true, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk))
        continue;
    return capture.error.code == PFB_OK ? PFB_WIN32_NO_MORE_ITEMS : PFB_WIN32_FILE_CORRUPT;
}

#endif
