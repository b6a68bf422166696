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

#define PFB_TAG_CAPTURE 0x43424650u      /* start of a capture */
#define PFB_TAG_DATA 0x41544144u         /* a V2 reply */
#define PFB_TAG_REGISTRATION 0x54534752u /* GUID, u32 request code, u32 language, reply */
#define PFB_TAG_QUERY_INFO 0x464E4951u   /* the reply of PerfQueryCounterInfo */
#define PFB_TAG_INSTANCES 0x54534E49u    /* GUID, instance list */
#define PFB_TAG_V1 0x54443156u           /* a V1 block (PERF_DATA_BLOCK) */
#define PFB_TAG_NAMES 0x454D414Eu        /* u32 language, V1 name table */
#define PFB_TAG_LWP 0x4350574Cu          /* an LWP snapshot (lwp/lwp.h): leaf, control block, ring */
#define PFB_TAG_HOOKS 0x48495043u        /* a stream of CPI hooks */
#define PFB_TAG_SNAPSHOTS 0x53495043u    /* snapshots of CPI counters, as text (cpi/text.h) */
#define PFB_TAG_NOTE 0x45544F4Eu         /* a comment in UTF-8 */
#define PFB_TAG_FILE 0x454C4946u         /* u32 number of a file, pfb_capture_read_file */

/* PFB_CHUNK_PREFIX_BYTES: the most bytes that precede the body of a chunk, including the header.
 * Version written with every chunk. A chunk of a higher version is treated like one with an unknown tag. */
enum { PFB_CAPTURE_VERSION = 1, PFB_CHUNK_HEADER_BYTES = 16, PFB_CHUNK_PREFIX_BYTES = 40 };

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
    uint32_t file;     /* FILE: the number; otherwise 0 */
} pfb_chunk;

/* Returns true if the bytes begin with the tag of a capture; nothing else is checked. */
PFB_API bool pfb_capture_recognise(const void *data, size_t size);

/* Opens a capture of which `data` is the first window, and reads its first chunk. `is_last`: the capture ends with this
 * window. Returns false with PFB_UNKNOWN_FORMAT if the chunk is not PFBC, with PFB_TRUNCATED_CHUNK if it is cut, with
 * PFB_UNREAD_FORMAT if its version is higher than PFB_CAPTURE_VERSION, and with PFB_CALLER_TOO_SMALL if the window does
 * not hold the whole chunk and is not the last one. `options` may be null; strict mode makes no difference for
 * captures. */
PFB_API bool pfb_capture_open(pfb_capture *capture, const void *data, size_t size, bool is_last,
                              const pfb_read_options *options);

/* Continues with the next window after needs_more: `data` is the capture from resume_offset of the previous window on.
 * Unless `is_last` is true, it must be longer than the rest of the previous window from there; double it until
 * needs_more is false. A capture that another process is writing may be continued each time it has grown. Returns false
 * after an error, and with PFB_CALLER_ORDER if needs_more is false. */
PFB_API bool pfb_capture_continue(pfb_capture *capture, const void *data, size_t size, bool is_last);

/* Like pfb_capture_continue, but the next window begins `skipped` bytes later. If they are the size of the next chunk
 * (pfb_capture_read_header), reading continues after it. */
PFB_API bool pfb_capture_continue_after(pfb_capture *capture, uint64_t skipped, const void *data, size_t size,
                                        bool is_last);

/* Returns the next whole chunk in *chunk, also if its tag is unknown. Returns false at the end, if more is needed
 * (needs_more), and on error: the capture ends inside a chunk, or a chunk is too small for its tag. The contents of
 * bodies are not checked. */
PFB_API bool pfb_capture_next_chunk(pfb_capture *capture, pfb_chunk *chunk);

/* For programs that read only some chunks of a file and seek over the bodies of others. Reads the header of a chunk at
 * `data`, of which at least PFB_CHUNK_HEADER_BYTES bytes are needed; GUID, request code, language and file number are
 * read only if `size` includes them: PFB_CHUNK_PREFIX_BYTES always suffice. Sets *size_bytes to the size of the whole
 * chunk with its padding. Offsets count from `data`; body_size_bytes is at most SIZE_MAX. Returns false if there are
 * fewer bytes, if the chunk is too small for its tag, and if its size exceeds UINT64_MAX - 7. */
PFB_API bool pfb_capture_read_header(const void *data, size_t size, pfb_chunk *chunk, uint64_t *size_bytes);

/* Reads the whole chunk at `data`. Its offsets count from `data`. Returns false if it is cut, or too small for its tag.
 */
PFB_API bool pfb_capture_read_chunk(const void *data, size_t size, pfb_chunk *chunk);

/* Writes a whole chunk at `out`: the header; GUID, request code, language and file number if chunks of this tag have
 * them; the body; padding. Only tag, guid, request, language and file of `chunk` are used. Returns the size in bytes, a
 * multiple of 8; writes nothing if `capacity` is smaller. Returns 0 if the size exceeds SIZE_MAX. `body` may be null if
 * its size is 0. */
PFB_API size_t pfb_capture_write(const pfb_chunk *chunk, const void *body, size_t body_size_bytes, uint8_t *out,
                                 size_t capacity);

/* ---- Files in a capture ---------------------------------------------------------------------------------- */

/* A capture may have the contents of several files, such as recordings that were merged, or parts that were recorded
 * one after the other. A FILE chunk says that the chunks after it belong to the file of its number. The first FILE
 * chunk of a number begins the file; later ones return to it, so that the chunks of several files may alternate. A FILE
 * chunk with an empty body ends the file: a later one with the same number begins another file. What precedes the first
 * FILE chunk belongs to file 0. If PFBC occurs again after FILE chunks, all files end and another file 0 begins.
 *
 * Each file has its own registrations, query information and names. Its samples are compared with those of the other
 * files by the rules for files that are read together (docs/perfblock.md). */

/* The body of a FILE chunk that does not end its file: two texts in UTF-8, without their NULs. Empty: unknown. */
typedef struct pfb_capture_file {
    pfb_name label; /* for messages, such as the name of the file that the chunks come from */
    pfb_name machine;
} pfb_capture_file;

/* Reads the body of a FILE chunk. Both texts are empty if the body is empty. Returns PFB_TRUNCATED_STRING where a text
 * without its NUL begins; the offset counts from `body`. Bytes after the second NUL are ignored. The texts refer to
 * `body`. */
PFB_API pfb_error pfb_capture_read_file(const void *body, size_t size, pfb_capture_file *file);

/* Writes the body of a FILE chunk: both texts, each up to its first NUL, and their NULs. Returns the size in bytes;
 * writes nothing if `capacity` is smaller. Returns 0 if the size exceeds SIZE_MAX. */
PFB_API size_t pfb_capture_write_file(const pfb_capture_file *file, uint8_t *out, size_t capacity);

/* Number of files of a capture that may be open at a time. If one more begins, the one that began first ends. */
enum { PFB_CAPTURE_MAX_FILES = 256 };

/* Which file of a capture each chunk belongs to. The fields below the line are private. */
typedef struct pfb_capture_files {
    uint64_t file;     /* serial number of a file, from 1 in the order in which the files begin; never used again */
    uint64_t number;   /* of the file in FILE chunks; above UINT32_MAX: none, no FILE chunk can return to it */
    size_t slot;       /* of the file: a number below PFB_CAPTURE_MAX_FILES that no other open file has */
    size_t open_count; /* of open files */
    /* ------------------------------------------------------------------------------------------ */
    size_t current;                          /* slot; PFB_CAPTURE_MAX_FILES: the current file has ended */
    uint64_t last;                           /* serial number */
    bool has_numbers;                        /* FILE chunks were read since the last PFBC */
    size_t slot_count;                       /* all open files have lower slots */
    uint64_t serials[PFB_CAPTURE_MAX_FILES]; /* by slot; 0: it is free */
    uint64_t numbers[PFB_CAPTURE_MAX_FILES];
} pfb_capture_files;

/* What a chunk does to the files of its capture. */
typedef enum pfb_capture_step {
    PFB_CAPTURE_CHUNK, /* the chunk belongs to `file`: read it. For a FILE chunk that ends the current file, `file` is 0
                        * and the other members have no meaning */
    PFB_CAPTURE_BEGIN, /* `file` begins */
    PFB_CAPTURE_END    /* `file` has ended */
} pfb_capture_step;

/* Begins a capture: file 0, whose serial number is 1 and whose slot is 0, is open and current. */
PFB_API void pfb_capture_files_open(pfb_capture_files *files);

/* Returns what a chunk does, one step at a time: call it for each chunk that pfb_capture_next_chunk returns, until it
 * returns PFB_CAPTURE_CHUNK. */
PFB_API pfb_capture_step pfb_capture_files_next(pfb_capture_files *files, const pfb_chunk *chunk);

/* Call it repeatedly at the end of a capture: ends an open file and returns true with its serial number in `file`.
 * Returns false if no file is open. */
PFB_API bool pfb_capture_files_end(pfb_capture_files *files);

#ifdef __cplusplus
}
#endif

#endif
