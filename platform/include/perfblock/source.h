/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_SOURCE_H
#define PERFBLOCK_SOURCE_H

#include "perfblock/metadata.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A source returns performance data as bytes, which the core decodes: PerfLib V2 replies and, where they are available,
 * V1 replies. Live sources (live.h) read this machine or, on Windows, another machine. What a stream reads can be
 * replayed (pfb_source_open_stream).
 * The interface is the same for all of them.
 *
 * Unlike the core, this layer allocates memory. A source and its queries may be used by one thread at a time; different
 * sources are independent. */

typedef struct pfb_source pfb_source;             /* opaque */
typedef struct pfb_source_query pfb_source_query; /* opaque: a query handle */

/* A buffer that a source fills. Initialise it to all zero, reuse it for any number of calls (its memory is kept and
 * grown), and free it with pfb_bytes_free. */
typedef struct pfb_bytes {
    uint8_t *data;
    size_t size_bytes;
    size_t capacity_bytes;
} pfb_bytes;

PFB_API void pfb_bytes_free(pfb_bytes *bytes);

/* Grows the buffer to at least `capacity` bytes and keeps its contents. Returns false and changes nothing when memory
 * is exhausted. */
PFB_API bool pfb_bytes_reserve(pfb_bytes *bytes, size_t capacity);

/* Appends a copy of `size` bytes, which must not be part of the buffer. Returns false and changes nothing when memory
 * is exhausted. */
PFB_API bool pfb_bytes_append(pfb_bytes *bytes, const void *data, size_t size);

/* Why an operation failed. */
typedef struct pfb_source_failure {
    uint32_t code;      /* Win32 code on every platform, not always one of PFB_WIN32_*; 0 if none fits */
    char sentence[240]; /* message for users: what failed, the file or call, and the system's reason; no final period */
} pfb_source_failure;

/* Win32 codes used by these interfaces, as results of calls and in the Status field of identifier blocks. Names are
 * those of winerror.h, except for the last four, which winerror.h calls ERROR_WMI_*. */
#define PFB_WIN32_SUCCESS 0u
#define PFB_WIN32_FILE_NOT_FOUND 2u
#define PFB_WIN32_PATH_NOT_FOUND 3u /* query_add: no active instance has this name */
#define PFB_WIN32_TOO_MANY_OPEN_FILES 4u
#define PFB_WIN32_ACCESS_DENIED 5u
#define PFB_WIN32_INVALID_HANDLE 6u
#define PFB_WIN32_NOT_ENOUGH_MEMORY 8u
#define PFB_WIN32_INVALID_DATA 13u /* recordings: a sample that must be reduced to the query is malformed */
#define PFB_WIN32_OUTOFMEMORY 0xEu
#define PFB_WIN32_NOT_READY 21u /* V1 only; like LOCK_FAILED, BUSY and WAIT_TIMEOUT: try again later */
#define PFB_WIN32_READ_FAULT 30u
#define PFB_WIN32_NOT_SUPPORTED 50u
#define PFB_WIN32_BAD_NETPATH 53u
#define PFB_WIN32_INVALID_PARAMETER 0x57u
#define PFB_WIN32_LOCK_FAILED 0xA7u
#define PFB_WIN32_BUSY 0xAAu
#define PFB_WIN32_ALREADY_EXISTS 0xB7u
#define PFB_WIN32_MORE_DATA 0xEAu /* V1 only: the reply exceeds the limit of the source */
#define PFB_WIN32_WAIT_TIMEOUT 0x102u
#define PFB_WIN32_NO_MORE_ITEMS 0x103u
#define PFB_WIN32_NOT_FOUND 0x490u
#define PFB_WIN32_FILE_CORRUPT 0x570u /* recordings: the rest is damaged or missing; nothing more is read */
#define PFB_WIN32_NO_SYSTEM_RESOURCES 0x5AAu
#define PFB_WIN32_COUNTERSET_NOT_FOUND 0x1068u  /* ERROR_WMI_GUID_NOT_FOUND */
#define PFB_WIN32_INSTANCE_NOT_FOUND 0x1069u    /* ERROR_WMI_INSTANCE_NOT_FOUND */
#define PFB_WIN32_COUNTER_NOT_FOUND 0x106Au     /* ERROR_WMI_ITEMID_NOT_FOUND */
#define PFB_WIN32_REGISTRATION_MISMATCH 0x1073u /* ERROR_WMI_INVALID_REGINFO */

/* Name and description of one of the codes above, except PFB_WIN32_SUCCESS. */
typedef struct pfb_win32_code {
    uint32_t code;
    const char *name; /* name in winerror.h: "ERROR_ACCESS_DENIED" */
    const char *text; /* meaning in these interfaces: "access denied" */
} pfb_win32_code;

/* Returns NULL for PFB_WIN32_SUCCESS and for codes not listed above. */
PFB_API const pfb_win32_code *pfb_win32_find(uint32_t code);

/* ---- Opening ------------------------------------------------------------------------------------------- */

/* The operations that a faulty source can alter. */
typedef enum pfb_source_operation {
    PFB_SOURCE_COUNTERSETS = 0,
    PFB_SOURCE_REGISTRATION,
    PFB_SOURCE_INSTANCES,
    PFB_SOURCE_QUERY_OPEN,
    PFB_SOURCE_QUERY_ADD,
    PFB_SOURCE_QUERY_REMOVE,
    PFB_SOURCE_QUERY_INFO,
    PFB_SOURCE_QUERY_COLLECT,
    PFB_SOURCE_V1,
    PFB_SOURCE_OPERATION_COUNT /* number of operations */
} pfb_source_operation;

/* What a fault does to a call. CUT, PAD and WRITE apply to operations with a reply: all except query_open, query_add
 * and query_remove. STATUS, NO_NAME and EMPTY_NAME apply to query_add and query_remove, FAIL to every operation. */
typedef enum pfb_source_fault_kind {
    PFB_SOURCE_FAULT_FAIL = 0, /* the call fails with code `value`; the inner source is not called */
    PFB_SOURCE_FAULT_CUT,      /* the reply is truncated to `value` bytes */
    PFB_SOURCE_FAULT_PAD,      /* `value` bytes of 0xEE are appended */
    PFB_SOURCE_FAULT_WRITE, /* the 4 bytes at offset `at` become `value`, little-endian; those past the end of the reply
                             * are ignored */
    PFB_SOURCE_FAULT_STATUS,  /* block number `at` (from 0) is not passed to the inner source; its Status is `value` */
    PFB_SOURCE_FAULT_NO_NAME, /* like STATUS, for every block without a name (40 bytes) */
    PFB_SOURCE_FAULT_EMPTY_NAME, /* like STATUS, for every block with an empty name (48 bytes) */
    PFB_SOURCE_FAULT_COUNT       /* number of kinds */
} pfb_source_fault_kind;

typedef struct pfb_source_fault {
    pfb_source_operation operation;
    uint32_t call; /* number of the call, from 1, counted over all query handles; 0: every call */
    pfb_source_fault_kind kind;
    uint32_t value; /* its meaning and that of `at` depend on the kind */
    size_t at;
} pfb_source_fault;

/* Opens a source that behaves like `inner` except for the given faults (copied), for testing how a program handles
 * errors. Several faults on one call are applied in their order; if one of them is FAIL, the others have no effect.
 * This example truncates the third sample of a recording to 60 bytes:
 *
 *     static const pfb_source_fault faults[] = {{PFB_SOURCE_QUERY_COLLECT, 3, PFB_SOURCE_FAULT_CUT, 60, 0}};
 *     source = pfb_source_open_faulty(pfb_source_open_stream(stream, &failure), faults, 1, &failure);
 *
 * Takes ownership of `inner`, even on failure. Returns NULL if memory is exhausted, if a kind does not apply to its
 * operation, or if `inner` is NULL; in the last case `failure` is not changed. */
PFB_API pfb_source *pfb_source_open_faulty(pfb_source *inner, const pfb_source_fault *faults, size_t count,
                                           pfb_source_failure *failure);

PFB_API void pfb_source_close(pfb_source *source); /* may be NULL; close its queries first */

/* Returns true if samples come from a recording: there is no need to wait between them, and there is a last one. */
PFB_API bool pfb_source_is_recorded(const pfb_source *source);

/* Returns the number of the file in a recording (PFB_TAG_FILE) that has the sample that was returned last, from 1 in
 * the order in which the files begin. Before the first sample it is 1, or 0 if the recording has several files. Other
 * sources always return 1. Samples of different files are compared as docs/perfblock.md says. Registrations and
 * names are those of this file; before the first sample, those of all files. */
PFB_API uint64_t pfb_source_file(const pfb_source *source);

/* ---- Enumerating and registration ------------------------------------------------------------------------ */

/* Each function below returns true with the whole reply in `bytes`, or false with the reason in `failure`, which may be
 * NULL. */

/* GUIDs of the countersets, 16 bytes each (PerfEnumerateCounterSet). */
PFB_API bool pfb_source_countersets(pfb_source *source, pfb_bytes *bytes, pfb_source_failure *failure);

/* The reply to a request code, PFB_REQUEST_* (PerfQueryCounterSetRegistrationInfo). Language 0 is the default language.
 * For PFB_REQUEST_COUNTER, `language` is the counter id. */
PFB_API bool pfb_source_registration(pfb_source *source, const pfb_guid *counterset, uint32_t request,
                                     uint32_t language, pfb_bytes *bytes, pfb_source_failure *failure);

/* The current instance list of a counterset (PerfEnumerateCounterSetInstances). */
PFB_API bool pfb_source_instances(pfb_source *source, const pfb_guid *counterset, pfb_bytes *bytes,
                                  pfb_source_failure *failure);

/* ---- Queries ---------------------------------------------------------------------------------------------- */

/* Opens a query handle without identifier blocks. Returns NULL if memory is exhausted or the source cannot collect. */
PFB_API pfb_source_query *pfb_source_query_open(pfb_source *source, pfb_source_failure *failure);
PFB_API void pfb_source_query_close(pfb_source_query *query); /* may be NULL */

/* Adds or removes the identifier blocks (PERF_COUNTER_IDENTIFIER) in `blocks`, as written by pfb_query_write. True
 * means that the call succeeded; the result for each block is written to its Status field. */
PFB_API bool pfb_source_query_add(pfb_source_query *query, uint8_t *blocks, size_t size, pfb_source_failure *failure);
PFB_API bool pfb_source_query_remove(pfb_source_query *query, uint8_t *blocks, size_t size,
                                     pfb_source_failure *failure);

/* The identifier blocks of the query. The Index of each block is the position of its result in the data
 * (PerfQueryCounterInfo). Adding or removing blocks may change these positions. */
PFB_API bool pfb_source_query_info(pfb_source_query *query, pfb_bytes *bytes, pfb_source_failure *failure);

/* Collects one sample: a V2 reply (PerfQueryCounterData). A recording fails after its last sample: with
 * PFB_WIN32_NO_MORE_ITEMS, or with PFB_WIN32_FILE_CORRUPT if it is damaged there. */
PFB_API bool pfb_source_query_collect(pfb_source_query *query, pfb_bytes *bytes, pfb_source_failure *failure);

/* ---- V1 ----------------------------------------------------------------------------------------------------- */

/* The reply to a V1 query. `query` is a value name of HKEY_PERFORMANCE_DATA: printable ASCII, words separated by one
 * space, case ignored. "Global", "Costly" and title indexes ("238 2") return a V1 block. "Counter LANG" and "Help
 * LANG", with the language in hexadecimal ("Counter 009"), return a name table. A live source without V1 data, such as
 * that of Linux, fails with PFB_WIN32_NOT_SUPPORTED.
 *
 * A recording ignores which objects are asked for: it returns its V1 blocks in order, and fails after the last
 * one as pfb_source_query_collect does. It has name tables for "Counter" only. */
PFB_API bool pfb_source_v1(pfb_source *source, const char *query, pfb_bytes *bytes, pfb_source_failure *failure);

/* ---- Making a source ----------------------------------------------------------------------------------------- */

/* The functions of a source implementation. Every member must be set, except is_recorded and file; an implementation
 * whose query_open always fails may also leave the other query_ members NULL. The meaning of `context` is up to the
 * implementation. */
typedef struct pfb_source_operations {
    void (*close)(void *context);
    bool (*countersets)(void *context, pfb_bytes *bytes, pfb_source_failure *failure);
    bool (*registration)(void *context, const pfb_guid *counterset, uint32_t request, uint32_t language,
                         pfb_bytes *bytes, pfb_source_failure *failure);
    bool (*instances)(void *context, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure);
    void *(*query_open)(void *context, pfb_source_failure *failure);
    void (*query_close)(void *query);
    bool (*query_add)(void *query, uint8_t *blocks, size_t size, pfb_source_failure *failure);
    bool (*query_remove)(void *query, uint8_t *blocks, size_t size, pfb_source_failure *failure);
    bool (*query_info)(void *query, pfb_bytes *bytes, pfb_source_failure *failure);
    bool (*query_collect)(void *query, pfb_bytes *bytes, pfb_source_failure *failure);
    bool (*v1)(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure);
    bool (*is_recorded)(void *context); /* may be NULL, which means false */
    uint64_t (*file)(void *context);    /* pfb_source_file; may be NULL, which means 1 */
} pfb_source_operations;

/* Makes a source from an implementation. Takes ownership of `context`: if memory is exhausted, closes it and returns
 * NULL. `operations` must stay valid as long as the source. */
PFB_API pfb_source *pfb_source_make(const pfb_source_operations *operations, void *context,
                                    pfb_source_failure *failure);

#ifdef __cplusplus
}
#endif

#endif
