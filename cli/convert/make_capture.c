/* SPDX-License-Identifier: MIT */
#include "convert/make_capture.h"

#include "memory/memory.h"

void make_capture_put(pfb_bytes *capture, const pfb_chunk *chunk, const void *body, size_t size)
{
    size_t needed = pfb_capture_write(chunk, body, size, NULL, 0);
    if (needed == 0 || needed > SIZE_MAX - capture->size_bytes ||
        !pfb_bytes_reserve(capture, capture->size_bytes + needed))
        memory_exhausted();
    pfb_capture_write(chunk, body, size, capture->data + capture->size_bytes, needed);
    capture->size_bytes += needed;
}

pfb_chunk make_capture_chunk_of(const metadata_file *file)
{
    return (pfb_chunk){.tag = file->request > 0 ? PFB_TAG_REGISTRATION : PFB_TAG_QUERY_INFO,
                       .guid = file->set,
                       .request = file->request};
}
