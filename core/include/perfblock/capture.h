/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CAPTURE_H
#define PERFBLOCK_CAPTURE_H

#include "perfblock/metadata.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The capture format (.pfb): chunks that hold replies byte for byte as the Windows functions returned them.
 * docs/capture.md has the layout.
 *
 * A chunk is 16 bytes { tag, version u32, size u64, little-endian } followed by `size` payload bytes, zero-padded to a
 * multiple of 8. The first chunk is PFBC and empty. A file grows by whole chunks at its end. */

#define PFB_TAG(a, b, c, d)                                                                                            \
    ((uint32_t)(uint8_t)(a) | (uint32_t)(uint8_t)(b) << 8 | (uint32_t)(uint8_t)(c) << 16 | (uint32_t)(uint8_t)(d) << 24)

#define PFB_TAG_CAPTURE PFB_TAG('P', 'F', 'B', 'C')      /* start of a capture */
#define PFB_TAG_DATA PFB_TAG('D', 'A', 'T', 'A')         /* a V2 reply */
#define PFB_TAG_REGISTRATION PFB_TAG('R', 'G', 'S', 'T') /* GUID, u32 request code, u32 language, reply */
#define PFB_TAG_QUERY_INFO PFB_TAG('Q', 'I', 'N', 'F')   /* the reply of PerfQueryCounterInfo */
#define PFB_TAG_INSTANCES PFB_TAG('I', 'N', 'S', 'T')    /* GUID, instance list */
#define PFB_TAG_V1 PFB_TAG('V', '1', 'D', 'T')           /* a V1 block (PERF_DATA_BLOCK) */
#define PFB_TAG_NAMES PFB_TAG('N', 'A', 'M', 'E')        /* u32 language, V1 name table */
#define PFB_TAG_LWP PFB_TAG('L', 'W', 'P', 'C')          /* an LWP snapshot (lwp/lwp.h): leaf, control block, ring */
#define PFB_TAG_HOOKS PFB_TAG('C', 'P', 'I', 'H')        /* a stream of CPI hooks */
#define PFB_TAG_SNAPSHOTS PFB_TAG('C', 'P', 'I', 'S')    /* snapshots of CPI counters, as text (cpi/text.h) */
#define PFB_TAG_NOTE PFB_TAG('N', 'O', 'T', 'E')         /* a comment in UTF-8 */

/* Version written with every chunk. A chunk of a higher version is treated like one with an unknown tag. */
enum { PFB_CAPTURE_VERSION = 1, PFB_CHUNK_HEADER_BYTES = 16 };

/* Reads a capture in memory, or window by window: a window is the part of the capture that is in memory. Same
 * conventions as v2.h. The fields below the line are private. */
typedef struct pfb_capture {
    pfb_error error;        /* its offset counts from the start of the window */
    uint64_t window_offset; /* of the window in the capture */
    bool needs_more;        /* pfb_capture_next_chunk returned false because the next chunk ends past the window */
    size_t resume_offset;   /* if needs_more: offset in this window at which the next window must begin */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
    bool is_last;
} pfb_capture;

/* A chunk of a capture. Offsets count from the start of the window. */
typedef struct pfb_chunk {
    size_t offset; /* of the chunk's header */
    uint32_t tag;  /* PFB_TAG_, or any other value: skip the chunk */
    uint32_t version;
    size_t body_offset; /* the body is the payload after GUID, request code and language */
    size_t body_size_bytes;
    bool is_known; /* this version of the library knows the tag and reads the chunk's version */
    bool has_guid; /* RGST, INST */
    pfb_guid guid;
    uint32_t request;  /* RGST: request code; otherwise 0 */
    uint32_t language; /* RGST, NAME; otherwise 0 */
} pfb_chunk;

/* Returns true if the bytes begin with the tag of a capture; nothing else is checked. */
PFB_API bool pfb_capture_recognise(const void *data, size_t size);

/* Opens a capture and reads its first chunk. Returns false with PFB_UNKNOWN_FORMAT if that chunk is not PFBC, with
 * PFB_TRUNCATED_CHUNK if it is cut, and with PFB_UNREAD_FORMAT if its version is higher than PFB_CAPTURE_VERSION.
 * `options` may be null; strict mode makes no difference for captures. */
PFB_API bool pfb_capture_open(pfb_capture *capture, const void *data, size_t size, const pfb_read_options *options);

/* Opens a capture of which `data` is the first window. Returns false with PFB_CALLER_TOO_SMALL if the window does not
 * hold the whole first chunk and is not the last one. `is_last`: the capture ends with this window. */
PFB_API bool pfb_capture_open_window(pfb_capture *capture, const void *data, size_t size, bool is_last,
                                     const pfb_read_options *options);

/* Continues with the next window after needs_more: `data` is the capture from resume_offset of the previous window on.
 * Unless `is_last` is true, it must be longer than the rest of the previous window from there; double it until
 * needs_more is false. A capture that another process is writing may be continued each time it has grown. Returns false
 * after an error, and with PFB_CALLER_ORDER if needs_more is false. */
PFB_API bool pfb_capture_continue(pfb_capture *capture, const void *data, size_t size, bool is_last);

/* Returns the next whole chunk in *chunk, also if its tag is unknown. Returns false at the end, if more is needed
 * (needs_more), and on error: the capture ends inside a chunk, or a chunk is too small for its tag. The contents of
 * bodies are not checked. */
PFB_API bool pfb_capture_next_chunk(pfb_capture *capture, pfb_chunk *chunk);

/* Reads the rest of the capture, or of the window if it is not the last one, and returns `error`. */
PFB_API pfb_error pfb_capture_finish(pfb_capture *capture);

/* Writes a whole chunk at `out`: the header; GUID, request code and language if chunks of this tag have them; the body;
 * padding. Only tag, guid, request and language of `chunk` are used. Returns the size in bytes, a multiple of 8; writes
 * nothing if `capacity` is smaller. Returns 0 if the size exceeds SIZE_MAX. `body` may be null if its size is 0. */
PFB_API size_t pfb_capture_write(const pfb_chunk *chunk, const void *body, size_t body_size_bytes, uint8_t *out,
                                 size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
