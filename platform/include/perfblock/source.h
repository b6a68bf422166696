/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_SOURCE_H
#define PERFBLOCK_SOURCE_H

#include "perfblock/metadata.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where bytes come from. A source hands out the same bytes whatever it stands on: PerfLib V2 replies, and V1 replies
 * where there are any, to be understood by the core. Live sources read this machine or, on Windows, another one; a
 * fixture replays a capture.
 * Unlike the core this layer allocates.
 * A source and its queries are used by one thread at a time; different sources are independent. */

typedef struct pfb_source pfb_source;             /* opaque */
typedef struct pfb_source_query pfb_source_query; /* opaque: a query handle */

/* Bytes a source filled in. Start with all zero; reuse for the next call (its memory is kept and grown); free at last.
 */
typedef struct pfb_bytes {
    uint8_t *data;
    size_t size_bytes;
    size_t capacity_bytes;
} pfb_bytes;

PFB_API void pfb_bytes_free(pfb_bytes *bytes);

/* Makes room for `capacity` bytes, keeping what is there. False when memory is exhausted; then nothing changed. */
PFB_API bool pfb_bytes_reserve(pfb_bytes *bytes, size_t capacity);

/* Appends a copy of `size` bytes, which lie elsewhere; false when memory is exhausted, then nothing changed. */
PFB_API bool pfb_bytes_append(pfb_bytes *bytes, const void *data, size_t size);

/* Why an operation failed. */
typedef struct pfb_source_failure {
    uint32_t code;      /* Win32 code (PFB_WIN32_) on every platform; 0 when it has no fitting one */
    char sentence[240]; /* for people: what failed, on which file or call, and the system's reason. No final dot */
} pfb_source_failure;

/* Win32 codes the interfaces use: results of calls and the Status of identifier blocks. Named as winerror.h names them,
 * but for the four that WMI lends. */
#define PFB_WIN32_SUCCESS UINT32_C(0)
#define PFB_WIN32_FILE_NOT_FOUND UINT32_C(2)
#define PFB_WIN32_PATH_NOT_FOUND UINT32_C(3) /* adding: no active instance has the name */
#define PFB_WIN32_TOO_MANY_OPEN_FILES UINT32_C(4)
#define PFB_WIN32_ACCESS_DENIED UINT32_C(5)
#define PFB_WIN32_INVALID_HANDLE UINT32_C(6)
#define PFB_WIN32_NOT_ENOUGH_MEMORY UINT32_C(8)
#define PFB_WIN32_OUTOFMEMORY UINT32_C(0xE)
#define PFB_WIN32_NOT_READY UINT32_C(21) /* transient, V1 only; so are LOCK_FAILED, BUSY and WAIT_TIMEOUT */
#define PFB_WIN32_READ_FAULT UINT32_C(30)
#define PFB_WIN32_NOT_SUPPORTED UINT32_C(50)
#define PFB_WIN32_INVALID_PARAMETER UINT32_C(0x57)
#define PFB_WIN32_LOCK_FAILED UINT32_C(0xA7)
#define PFB_WIN32_BUSY UINT32_C(0xAA)
#define PFB_WIN32_ALREADY_EXISTS UINT32_C(0xB7)
#define PFB_WIN32_MORE_DATA UINT32_C(0xEA) /* V1 only: the reply is larger than the source takes */
#define PFB_WIN32_WAIT_TIMEOUT UINT32_C(0x102)
#define PFB_WIN32_NO_MORE_ITEMS UINT32_C(0x103)
#define PFB_WIN32_NOT_FOUND UINT32_C(0x490)
#define PFB_WIN32_NO_SYSTEM_RESOURCES UINT32_C(0x5AA)
#define PFB_WIN32_COUNTERSET_NOT_FOUND UINT32_C(0x1068)  /* ERROR_WMI_GUID_NOT_FOUND */
#define PFB_WIN32_INSTANCE_NOT_FOUND UINT32_C(0x1069)    /* ERROR_WMI_INSTANCE_NOT_FOUND */
#define PFB_WIN32_COUNTER_NOT_FOUND UINT32_C(0x106A)     /* ERROR_WMI_ITEMID_NOT_FOUND */
#define PFB_WIN32_REGISTRATION_MISMATCH UINT32_C(0x1073) /* ERROR_WMI_INVALID_REGINFO */

/* A code above, but success, in words. */
typedef struct pfb_win32_code {
    uint32_t code;
    const char *name; /* as winerror.h has it: "ERROR_ACCESS_DENIED" */
    const char *text; /* what it means to these interfaces: "access denied" */
} pfb_win32_code;

/* Null for a code that is not above. */
PFB_API const pfb_win32_code *pfb_win32_find(uint32_t code);

/* ---- Opening ------------------------------------------------------------------------------------------- */

/* The live source of this machine. Null where there is none: `failure` says why (PFB_WIN32_NOT_SUPPORTED). */
PFB_API pfb_source *pfb_source_open_live(pfb_source_failure *failure);

/* Windows: the live source of another machine, by its name in UTF-8, with or without two leading backslashes. Opening
 * it asks that machine nothing; what an account may read there is docs/source.md's. Null for what names no machine
 * (PFB_WIN32_INVALID_PARAMETER), and on other systems. */
PFB_API pfb_source *pfb_source_open_remote(const char *machine, pfb_source_failure *failure);

/* Linux: a live source that reads proc and sys below `root` ("" for the machine itself); tests give trees of files.
 * Null on other systems. */
PFB_API pfb_source *pfb_source_open_linux(const char *root, pfb_source_failure *failure);

/* A fixture that replays the capture in `data` (copied). Null when it is not a capture, or not a whole chunk of it is
 * readable; a capture cut short later is replayed up to the cut. */
PFB_API pfb_source *pfb_source_open_capture(const void *data, size_t size, pfb_source_failure *failure);

/* What a faulty source can be told to get wrong. */
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

/* How. CUT, PAD and WRITE are for operations with a reply: all but query_open, query_add and query_remove. STATUS is
 * for query_add and query_remove. */
typedef enum pfb_source_fault_kind {
    PFB_SOURCE_FAULT_FAIL = 0, /* the call fails with the code `value`, and the inner source is not asked */
    PFB_SOURCE_FAULT_CUT,      /* the first `value` bytes are left */
    PFB_SOURCE_FAULT_PAD,      /* `value` bytes 0xEE follow */
    PFB_SOURCE_FAULT_WRITE,    /* the 32 bits at offset `at` become `value`, as far as they are inside */
    PFB_SOURCE_FAULT_STATUS,   /* the block at position `at`, from 0, is held back, and its Status becomes `value` */
    PFB_SOURCE_FAULT_COUNT     /* number of kinds */
} pfb_source_fault_kind;

typedef struct pfb_source_fault {
    pfb_source_operation operation;
    uint32_t call; /* which call of this operation, from 1, counted over all query handles; 0: every one */
    pfb_source_fault_kind kind;
    uint32_t value;
    size_t at;
} pfb_source_fault;

/* A source that answers as `inner` does, but for these faults (copied), so that programs can test how they bear them.
 * Several on one call take effect in their order; with a FAIL among them there is nothing else. Here the third sample
 * of a capture is cut after 60 bytes:
 *
 *     static const pfb_source_fault faults[] = {{PFB_SOURCE_QUERY_COLLECT, 3, PFB_SOURCE_FAULT_CUT, 60, 0}};
 *     source = pfb_source_open_faulty(pfb_source_open_capture(data, size, &failure), faults, 1, &failure);
 *
 * Takes over `inner`, also when it returns null: memory is exhausted, a kind is not for its operation, or `inner` is
 * null (then `failure` stays as it is). */
PFB_API pfb_source *pfb_source_open_faulty(pfb_source *inner, const pfb_source_fault *faults, size_t count,
                                           pfb_source_failure *failure);

PFB_API void pfb_source_close(pfb_source *source); /* null is fine; close its queries first */

/* ---- What there is --------------------------------------------------------------------------------------- */

/* Every function below: true, and `bytes` holds the whole reply, or false and `failure` (may be null) says why. */

/* GUIDs of the countersets, 16 bytes each. */
PFB_API bool pfb_source_countersets(pfb_source *source, pfb_bytes *bytes, pfb_source_failure *failure);

/* The reply to a request code (PFB_REQUEST_; for PFB_REQUEST_COUNTER the counter id takes the place of `language`).
 * Language 0 is the default. */
PFB_API bool pfb_source_registration(pfb_source *source, const pfb_guid *counterset, uint32_t request,
                                     uint32_t language, pfb_bytes *bytes, pfb_source_failure *failure);

/* The instance list of a counterset as it is now. */
PFB_API bool pfb_source_instances(pfb_source *source, const pfb_guid *counterset, pfb_bytes *bytes,
                                  pfb_source_failure *failure);

/* ---- Queries ---------------------------------------------------------------------------------------------- */

/* Null when memory is exhausted or the source cannot collect. */
PFB_API pfb_source_query *pfb_source_query_open(pfb_source *source, pfb_source_failure *failure);
PFB_API void pfb_source_query_close(pfb_source_query *query); /* null is fine */

/* Adds or removes the identifier blocks in `blocks` (core's pfb_query_write makes them). True when the call as such
 * went through; what became of each block stands in its Status field, which is written back. */
PFB_API bool pfb_source_query_add(pfb_source_query *query, uint8_t *blocks, size_t size, pfb_source_failure *failure);
PFB_API bool pfb_source_query_remove(pfb_source_query *query, uint8_t *blocks, size_t size,
                                     pfb_source_failure *failure);

/* The query's identifier blocks with their Index, the position of each one's result in the data. Valid until blocks are
 * added or removed; a fixture's, for the last sample (before the first one, for that one). */
PFB_API bool pfb_source_query_info(pfb_source_query *query, pfb_bytes *bytes, pfb_source_failure *failure);

/* One sample: a V2 data block. A fixture fails with PFB_WIN32_NO_MORE_ITEMS after its last one. */
PFB_API bool pfb_source_query_collect(pfb_source_query *query, pfb_bytes *bytes, pfb_source_failure *failure);

/* ---- V1 ----------------------------------------------------------------------------------------------------- */

/* The reply to a V1 query, as HKEY_PERFORMANCE_DATA takes it for a value name: printable ASCII, words separated by one
 * blank, case ignored. "Global", "Costly" and title indexes ("238 2") give a V1 block; "Counter LANG" and "Help LANG",
 * the language in hexadecimal ("Counter 009"), give a name table. PFB_WIN32_NOT_SUPPORTED where there is none.
 * A fixture gives its blocks one after the other, whatever a query for data asks for, and fails with
 * PFB_WIN32_NO_MORE_ITEMS after the last one; of name tables it has those of names only. */
PFB_API bool pfb_source_v1(pfb_source *source, const char *query, pfb_bytes *bytes, pfb_source_failure *failure);

/* ---- Making a source ----------------------------------------------------------------------------------------- */

/* What an implementation provides; contexts are its own. Every member is set, except that one whose query_open always
 * fails needs no other query_ member. */
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
} pfb_source_operations;

/* A source over an implementation. Takes over `context`, also when it returns null (memory exhausted): then it closes
 * it. `operations` must stay valid. */
PFB_API pfb_source *pfb_source_make(const pfb_source_operations *operations, void *context,
                                    pfb_source_failure *failure);

#ifdef __cplusplus
}
#endif

#endif
