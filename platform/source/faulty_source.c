/* SPDX-License-Identifier: MIT */
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* The source of pfb_source_open_faulty, which passes operations on to another source and applies faults to them. */
typedef struct faulty {
    pfb_source *inner;        /* owned */
    pfb_source_fault *faults; /* valid: each kind applies to its operation */
    size_t fault_count;
    uint64_t calls[PFB_SOURCE_OPERATION_COUNT]; /* numbers of calls so far, including the current one */
} faulty;

typedef struct faulty_query {
    faulty *source;
    pfb_source_query *inner;
} faulty_query;

/* ---- Faults --------------------------------------------------------------------------------------------- */

enum { FILL = 0xEE }; /* the byte that PFB_SOURCE_FAULT_PAD appends */

/* Sets of operations, as bits: all, those with identifier blocks, and those with a reply. */
enum {
    ALL = (1 << PFB_SOURCE_OPERATION_COUNT) - 1,
    BLOCKS = 1 << PFB_SOURCE_QUERY_ADD | 1 << PFB_SOURCE_QUERY_REMOVE,
    REPLIES = ALL & ~BLOCKS & ~(1 << PFB_SOURCE_QUERY_OPEN)
};

/* The operations that each kind applies to. */
static const unsigned fault_operations[PFB_SOURCE_FAULT_COUNT] = {
    [PFB_SOURCE_FAULT_FAIL] = ALL,         [PFB_SOURCE_FAULT_CUT] = REPLIES,   [PFB_SOURCE_FAULT_PAD] = REPLIES,
    [PFB_SOURCE_FAULT_WRITE] = REPLIES,    [PFB_SOURCE_FAULT_STATUS] = BLOCKS, [PFB_SOURCE_FAULT_NO_NAME] = BLOCKS,
    [PFB_SOURCE_FAULT_EMPTY_NAME] = BLOCKS};

static const char *const operation_names[PFB_SOURCE_OPERATION_COUNT] = {
    [PFB_SOURCE_COUNTERSETS] = "countersets",
    [PFB_SOURCE_REGISTRATION] = "registration",
    [PFB_SOURCE_INSTANCES] = "instances",
    [PFB_SOURCE_QUERY_OPEN] = "query_open",
    [PFB_SOURCE_QUERY_ADD] = "query_add",
    [PFB_SOURCE_QUERY_REMOVE] = "query_remove",
    [PFB_SOURCE_QUERY_INFO] = "query_info",
    [PFB_SOURCE_QUERY_COLLECT] = "query_collect",
    [PFB_SOURCE_V1] = "v1",
};

static bool is_valid_fault(const pfb_source_fault *fault)
{
    unsigned operation = (unsigned)fault->operation;
    unsigned kind = (unsigned)fault->kind;
    return operation < PFB_SOURCE_OPERATION_COUNT && kind < PFB_SOURCE_FAULT_COUNT &&
           (fault_operations[kind] >> operation & 1) != 0;
}

/* Returns the first fault at or after *at that applies to the current call of the operation, and moves *at past it.
 * Returns NULL if there is none. */
static const pfb_source_fault *next_fault(const faulty *source, pfb_source_operation operation, size_t *at)
{
    while (*at < source->fault_count) {
        const pfb_source_fault *fault = &source->faults[(*at)++];
        if (fault->operation == operation && (fault->call == 0 || fault->call == source->calls[operation]))
            return fault;
    }
    return NULL;
}

/* Starts an operation: counts the call. Fails if a fault requests a failure. */
static bool begin_call(faulty *source, pfb_source_operation operation, pfb_source_failure *failure)
{
    size_t at = 0;
    const pfb_source_fault *fault;
    source->calls[operation]++;
    while ((fault = next_fault(source, operation, &at))) {
        if (fault->kind == PFB_SOURCE_FAULT_FAIL)
            return pfb_source_fail(failure, fault->value, "call %llu of %s fails as its fault requests",
                                   (unsigned long long)source->calls[operation], operation_names[operation]);
    }
    return true;
}

static bool pad(pfb_bytes *bytes, size_t count)
{
    if (count > SIZE_MAX - bytes->size_bytes || !pfb_bytes_reserve(bytes, bytes->size_bytes + count))
        return false;
    if (count > 0)
        memset(bytes->data + bytes->size_bytes, FILL, count);
    bytes->size_bytes += count;
    return true;
}

static void write_field(pfb_bytes *bytes, size_t at, uint32_t value)
{
    for (size_t i = 0; i < 4 && at < bytes->size_bytes && i < bytes->size_bytes - at; i++)
        bytes->data[at + i] = (uint8_t)(value >> 8 * i);
}

/* Ends an operation that has a reply: applies the faults to the reply. */
static bool end_call(const faulty *source, pfb_source_operation operation, pfb_bytes *bytes,
                     pfb_source_failure *failure)
{
    size_t at = 0;
    const pfb_source_fault *fault;
    while ((fault = next_fault(source, operation, &at))) {
        if (fault->kind == PFB_SOURCE_FAULT_CUT && fault->value < bytes->size_bytes)
            bytes->size_bytes = fault->value;
        if (fault->kind == PFB_SOURCE_FAULT_PAD && !pad(bytes, fault->value))
            return pfb_source_fail_memory(failure);
        if (fault->kind == PFB_SOURCE_FAULT_WRITE)
            write_field(bytes, fault->at, fault->value);
    }
    return true;
}

/* ---- Enumerating and registration ------------------------------------------------------------------------- */

static void close_context(void *context)
{
    faulty *source = context;
    pfb_source_close(source->inner);
    free(source->faults);
    free(source);
}

static bool countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    faulty *source = context;
    return begin_call(source, PFB_SOURCE_COUNTERSETS, failure) &&
           pfb_source_countersets(source->inner, bytes, failure) &&
           end_call(source, PFB_SOURCE_COUNTERSETS, bytes, failure);
}

static bool registration(void *context, const pfb_guid *counterset, uint32_t request, uint32_t language,
                         pfb_bytes *bytes, pfb_source_failure *failure)
{
    faulty *source = context;
    return begin_call(source, PFB_SOURCE_REGISTRATION, failure) &&
           pfb_source_registration(source->inner, counterset, request, language, bytes, failure) &&
           end_call(source, PFB_SOURCE_REGISTRATION, bytes, failure);
}

static bool instances(void *context, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure)
{
    faulty *source = context;
    return begin_call(source, PFB_SOURCE_INSTANCES, failure) &&
           pfb_source_instances(source->inner, counterset, bytes, failure) &&
           end_call(source, PFB_SOURCE_INSTANCES, bytes, failure);
}

static bool v1(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    faulty *source = context;
    return begin_call(source, PFB_SOURCE_V1, failure) && pfb_source_v1(source->inner, query, bytes, failure) &&
           end_call(source, PFB_SOURCE_V1, bytes, failure);
}

/* ---- Queries ---------------------------------------------------------------------------------------------- */

static void *query_open(void *context, pfb_source_failure *failure)
{
    faulty *source = context;
    if (!begin_call(source, PFB_SOURCE_QUERY_OPEN, failure))
        return NULL;
    faulty_query *query = malloc(sizeof *query);
    if (!query) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *query = (faulty_query){.source = source, .inner = pfb_source_query_open(source->inner, failure)};
    if (!query->inner) {
        free(query);
        return NULL;
    }
    return query;
}

static void query_close(void *context)
{
    faulty_query *query = context;
    pfb_source_query_close(query->inner);
    free(query);
}

/* Returns true if the fault applies to this block. Requires a fault of an operation with blocks. */
static bool is_block_fault(const pfb_source_fault *fault, const pfb_identifier *block, size_t position)
{
    if (fault->kind == PFB_SOURCE_FAULT_NO_NAME)
        return !block->name.bytes;
    if (fault->kind == PFB_SOURCE_FAULT_EMPTY_NAME)
        return block->name.bytes && block->name.size_bytes == 0;
    return fault->at == position;
}

/* Returns the last fault for this block, or NULL. */
static const pfb_source_fault *find_block_fault(const faulty *source, pfb_source_operation operation,
                                                const pfb_identifier *block, size_t position)
{
    size_t at = 0;
    const pfb_source_fault *found = NULL;
    const pfb_source_fault *fault;
    while ((fault = next_fault(source, operation, &at))) {
        if (is_block_fault(fault, block, position))
            found = fault;
    }
    return found;
}

typedef bool block_function(pfb_source_query *query, uint8_t *blocks, size_t size, pfb_source_failure *failure);

/* Passes the blocks to the inner source in one call. If the call has faults, passes them one by one, except for those
 * that a fault applies to. */
static bool pass_blocks(faulty_query *query, pfb_source_operation operation, block_function *pass, uint8_t *blocks,
                        size_t size, pfb_source_failure *failure)
{
    size_t first = 0;
    if (!begin_call(query->source, operation, failure))
        return false;
    if (!next_fault(query->source, operation, &first))
        return pass(query->inner, blocks, size, failure);
    if (!pfb_source_check_blocks(blocks, size, failure))
        return false;
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, blocks, size, NULL);
    for (size_t position = 0; pfb_list_next_identifier(&list, &identifier); position++) {
        const pfb_source_fault *fault = find_block_fault(query->source, operation, &identifier, position);
        if (fault)
            pfb_source_set_status(blocks, &identifier, fault->value);
        else if (!pass(query->inner, blocks + identifier.offset, identifier.size_bytes, failure))
            return false;
    }
    return true;
}

static bool query_add(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return pass_blocks(context, PFB_SOURCE_QUERY_ADD, pfb_source_query_add, blocks, size, failure);
}

static bool query_remove(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return pass_blocks(context, PFB_SOURCE_QUERY_REMOVE, pfb_source_query_remove, blocks, size, failure);
}

static bool query_info(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    faulty_query *query = context;
    return begin_call(query->source, PFB_SOURCE_QUERY_INFO, failure) &&
           pfb_source_query_info(query->inner, bytes, failure) &&
           end_call(query->source, PFB_SOURCE_QUERY_INFO, bytes, failure);
}

static bool query_collect(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    faulty_query *query = context;
    return begin_call(query->source, PFB_SOURCE_QUERY_COLLECT, failure) &&
           pfb_source_query_collect(query->inner, bytes, failure) &&
           end_call(query->source, PFB_SOURCE_QUERY_COLLECT, bytes, failure);
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

static bool is_recorded(void *context)
{
    return pfb_source_is_recorded(((faulty *)context)->inner);
}

static uint64_t file(void *context)
{
    return pfb_source_file(((faulty *)context)->inner);
}

static const pfb_source_operations operations = {.close = close_context,
                                                 .countersets = countersets,
                                                 .registration = registration,
                                                 .instances = instances,
                                                 .query_open = query_open,
                                                 .query_close = query_close,
                                                 .query_add = query_add,
                                                 .query_remove = query_remove,
                                                 .query_info = query_info,
                                                 .query_collect = query_collect,
                                                 .v1 = v1,
                                                 .is_recorded = is_recorded,
                                                 .file = file};

static bool check_faults(const pfb_source_fault *faults, size_t count, pfb_source_failure *failure)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_valid_fault(&faults[i]))
            return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER,
                                   "fault %zu has an unknown operation or kind, or the kind is not for the operation",
                                   i);
    }
    return true;
}

/* Makes the context, which owns `inner`. Returns NULL when memory is exhausted; the caller then keeps `inner`. */
static faulty *make_context(pfb_source *inner, const pfb_source_fault *faults, size_t count)
{
    size_t capacity = 0;
    faulty *source = malloc(sizeof *source);
    pfb_source_fault *copy = pfb_source_grow(NULL, &capacity, count, sizeof *copy);
    if (!source || !copy) {
        free(source);
        free(copy);
        return NULL;
    }
    if (count > 0)
        memcpy(copy, faults, count * sizeof *copy);
    *source = (faulty){.inner = inner, .faults = copy, .fault_count = count};
    return source;
}

pfb_source *pfb_source_open_faulty(pfb_source *inner, const pfb_source_fault *faults, size_t count,
                                   pfb_source_failure *failure)
{
    if (!inner)
        return NULL;
    faulty *source = NULL;
    if (check_faults(faults, count, failure)) {
        source = make_context(inner, faults, count);
        if (!source)
            pfb_source_fail_memory(failure);
    }
    if (!source) {
        pfb_source_close(inner);
        return NULL;
    }
    return pfb_source_make(&operations, source, failure);
}
