/* SPDX-License-Identifier: MIT */
#include "linux/counterset.h"

#include <stdlib.h>
#include <string.h>

/* The live source of a Linux machine: the operations of a source over its countersets. */

/* Order of listing and sampling. The earlier a set is sampled, the closer its values are to the clocks. */
static const pfb_counterset *const all_sets[] = {
    &pfb_processor_set,         &pfb_system_set, &pfb_memory_set, &pfb_physical_disk_set,
    &pfb_network_interface_set, &pfb_process_set};

enum { SET_COUNT = sizeof all_sets / sizeof all_sets[0] };

typedef struct linux_source {
    pfb_kernel_reader reader;
    pfb_open_set sets[SET_COUNT]; /* the sets that this machine has */
    size_t set_count;
} linux_source;

static void close_context(void *context)
{
    linux_source *source = context;
    for (size_t i = 0; i < source->set_count; i++)
        pfb_open_set_close(&source->sets[i]);
    pfb_kernel_reader_close(&source->reader);
    free(source);
}

/* Returns the position of a counterset, or set_count if there is none. */
static size_t position_of(const linux_source *source, const pfb_guid *counterset)
{
    size_t i = 0;
    while (i < source->set_count && !pfb_guid_equal(counterset, &source->sets[i].set->guid))
        i++;
    return i;
}

/* Returns the counterset, or NULL with a failure. */
static pfb_open_set *find_set(linux_source *source, const pfb_guid *counterset, pfb_source_failure *failure)
{
    size_t position = position_of(source, counterset);
    if (position < source->set_count)
        return &source->sets[position];
    char text[PFB_GUID_TEXT_BYTES];
    pfb_guid_format(counterset, text);
    pfb_source_fail(failure, PFB_WIN32_COUNTERSET_NOT_FOUND, "this machine has no counterset %s", text);
    return NULL;
}

/* ---- Enumerating and registration ------------------------------------------------------------------------- */

static void write_countersets(const void *context, pfb_writer *builder)
{
    const linux_source *source = context;
    for (size_t i = 0; i < source->set_count; i++)
        pfb_write_guid(builder, &source->sets[i].set->guid);
}

static bool countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_build(bytes, write_countersets, context, failure);
}

typedef struct registration_request {
    const pfb_open_set *open;
    uint32_t code;
    uint32_t position;
} registration_request;

static void write_registration(const void *context, pfb_writer *builder)
{
    const registration_request *request = context;
    pfb_open_set_register(request->open, request->code, request->position, builder);
}

/* Texts are English in every language. */
static bool registration(void *context, const pfb_guid *counterset, uint32_t request, uint32_t language,
                         pfb_bytes *bytes, pfb_source_failure *failure)
{
    registration_request wanted = {.open = find_set(context, counterset, failure), .code = request};
    if (!wanted.open)
        return false;
    if (request < PFB_REQUEST_COUNTERSET || request > PFB_REQUEST_COUNTER_ENGLISH_NAMES)
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "there is no registration request code %u",
                               (unsigned)request);
    if (request == PFB_REQUEST_COUNTER && !pfb_open_set_find(wanted.open, language, &wanted.position))
        return pfb_source_fail(failure, PFB_WIN32_COUNTER_NOT_FOUND, "%s has no counter %u on this machine",
                               wanted.open->name, (unsigned)language);
    return pfb_source_build(bytes, write_registration, &wanted, failure);
}

static void write_instances(const void *context, pfb_writer *builder)
{
    pfb_open_set_list(context, builder);
}

static bool instances(void *context, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure)
{
    linux_source *source = context;
    pfb_open_set *open = find_set(source, counterset, failure);
    if (!open)
        return false;
    if (open->instance_type == 0) /* the same code as on Windows for single-instance sets */
        return pfb_source_fail(failure, PFB_WIN32_INSTANCE_NOT_FOUND, "%s has no instances", open->name);
    pfb_kernel_new_sample(&source->reader);
    return pfb_open_set_sample(open, 0, failure) && pfb_source_build(bytes, write_instances, open, failure);
}

/* ---- The identifier blocks of a query -------------------------------------------------------------------- */

/* A query handle. The blocks are in the order of adding, which is also the order of results. */
typedef struct linux_query {
    linux_source *source;
    pfb_bytes blocks;
} linux_query;

static void *query_open(void *context, pfb_source_failure *failure)
{
    linux_query *query = malloc(sizeof *query);
    if (!query) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *query = (linux_query){.source = context};
    return query;
}

static void query_close(void *context)
{
    linux_query *query = context;
    pfb_bytes_free(&query->blocks);
    free(query);
}

/* Converts an identifier block to a query. The name points into `blocks`. */
static pfb_query query_of(const uint8_t *blocks, const pfb_identifier *identifier)
{
    return (pfb_query){.counterset = identifier->counterset,
                       .counter_id = identifier->counter_id,
                       .instance_id = identifier->instance_id,
                       .name = identifier->has_name ? blocks + identifier->name.offset : NULL,
                       .name_units = identifier->has_name ? identifier->name.units : 0};
}

/* Compares names by code unit: without patterns, and case-sensitive. */
static bool is_same(const pfb_query *a, const pfb_query *b)
{
    return pfb_guid_equal(&a->counterset, &b->counterset) && a->counter_id == b->counter_id &&
           a->instance_id == b->instance_id && !a->name == !b->name && a->name_units == b->name_units &&
           (!a->name || memcmp(a->name, b->name, 2 * a->name_units) == 0);
}

/* Finds the handle's block for the same query. */
static bool find_block(const linux_query *query, const pfb_query *wanted, pfb_identifier *found)
{
    pfb_list list;
    pfb_list_open(&list, query->blocks.data, query->blocks.size_bytes, 0);
    while (pfb_list_next_identifier(&list, found)) {
        pfb_query candidate = query_of(query->blocks.data, found);
        if (is_same(&candidate, wanted))
            return true;
    }
    return false;
}

/* Adds one block, for which memory is reserved. Returns its Status. */
static uint32_t add_block(linux_query *query, const pfb_query *wanted)
{
    pfb_identifier known;
    uint32_t position;
    const pfb_open_set *open = find_set(query->source, &wanted->counterset, NULL);
    if (!open)
        return PFB_WIN32_COUNTERSET_NOT_FOUND;
    bool needs_name = open->instance_type != 0;
    if ((needs_name && !wanted->name) || pfb_query_size(wanted) == 0) /* a name has at most 1024 units */
        return PFB_WIN32_INVALID_PARAMETER;
    if (wanted->counter_id != PFB_NO_ID && !pfb_open_set_find(open, wanted->counter_id, &position))
        return PFB_WIN32_COUNTER_NOT_FOUND;
    if (find_block(query, wanted, &known))
        return PFB_WIN32_ALREADY_EXISTS;
    pfb_bytes *blocks = &query->blocks;
    blocks->size_bytes +=
        pfb_query_write(wanted, blocks->data + blocks->size_bytes, blocks->capacity_bytes - blocks->size_bytes);
    return PFB_WIN32_SUCCESS;
}

static bool query_add(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    linux_query *query = context;
    if (!pfb_source_check_blocks(blocks, size, failure))
        return false;
    /* The stored form of a block is never larger than the block, so adding cannot fail halfway. */
    if (size > SIZE_MAX - query->blocks.size_bytes ||
        !pfb_bytes_reserve(&query->blocks, query->blocks.size_bytes + size))
        return pfb_source_fail_memory(failure);
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, blocks, size, 0);
    while (pfb_list_next_identifier(&list, &identifier)) {
        pfb_query wanted = query_of(blocks, &identifier);
        pfb_source_set_status(blocks, &identifier, add_block(query, &wanted));
    }
    return true;
}

static uint32_t remove_block(linux_query *query, const pfb_query *unwanted)
{
    pfb_identifier found;
    if (!find_block(query, unwanted, &found))
        return PFB_WIN32_INVALID_PARAMETER;
    pfb_bytes *blocks = &query->blocks;
    size_t end = found.offset + found.size_bytes;
    memmove(blocks->data + found.offset, blocks->data + end, blocks->size_bytes - end);
    blocks->size_bytes -= found.size_bytes;
    return PFB_WIN32_SUCCESS;
}

static bool query_remove(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    if (!pfb_source_check_blocks(blocks, size, failure))
        return false;
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, blocks, size, 0);
    while (pfb_list_next_identifier(&list, &identifier)) {
        pfb_query unwanted = query_of(blocks, &identifier);
        pfb_source_set_status(blocks, &identifier, remove_block(context, &unwanted));
    }
    return true;
}

static void write_info(const void *context, pfb_writer *builder)
{
    const linux_query *query = context;
    pfb_list list;
    pfb_identifier identifier;
    uint32_t index = 0;
    pfb_list_open(&list, query->blocks.data, query->blocks.size_bytes, 0);
    while (pfb_list_next_identifier(&list, &identifier)) {
        pfb_query block = query_of(query->blocks.data, &identifier);
        block.index = index++;
        pfb_write_identifier(builder, &block);
    }
}

static bool query_info(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_build(bytes, write_info, context, failure);
}

/* ---- Collecting ------------------------------------------------------------------------------------------- */

/* Every added block has a counterset, which exists as long as the source. */
static void write_data(const void *context, pfb_writer *builder)
{
    const linux_query *query = context;
    const linux_source *source = query->source;
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, query->blocks.data, query->blocks.size_bytes, 0);
    pfb_write_begin_v2(builder, &source->reader.times);
    while (pfb_list_next_identifier(&list, &identifier)) {
        pfb_query block = query_of(query->blocks.data, &identifier);
        size_t position = position_of(source, &block.counterset);
        pfb_selection chosen = pfb_open_set_select(&source->sets[position], &block);
        pfb_selection_write(&chosen, builder);
    }
    pfb_write_end_v2(builder);
}

/* The needs of a query's blocks, by counterset. */
typedef struct demand {
    bool is_asked[SET_COUNT];
    uint32_t needs[SET_COUNT];
} demand;

static demand demand_of(const linux_query *query)
{
    demand all = {0};
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, query->blocks.data, query->blocks.size_bytes, 0);
    while (pfb_list_next_identifier(&list, &identifier)) {
        pfb_query block = query_of(query->blocks.data, &identifier);
        size_t position = position_of(query->source, &block.counterset);
        all.is_asked[position] = true;
        all.needs[position] |= pfb_open_set_select(&query->source->sets[position], &block).needs;
    }
    return all;
}

/* Takes one sample of each queried counterset, reading only the files that a block needs. The results of a set without
 * a sample are errors. If all sets fail, the call fails with the reason of the first one. */
static bool query_collect(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    linux_query *query = context;
    linux_source *source = query->source;
    const demand all = demand_of(query);
    pfb_source_failure first = {0};
    size_t failed = 0;
    size_t sampled = 0;
    pfb_kernel_new_sample(&source->reader);
    for (size_t i = 0; i < source->set_count; i++) {
        if (!all.is_asked[i])
            continue;
        if (pfb_open_set_sample(&source->sets[i], all.needs[i], failed == 0 ? &first : NULL))
            sampled++;
        else
            failed++;
    }
    if (failed > 0 && sampled == 0)
        return pfb_source_fail(failure, first.code, "%s", first.sentence);
    pfb_kernel_clock(&source->reader); /* needed for a query without blocks */
    return pfb_source_build(bytes, write_data, query, failure);
}

/* ---- V1 ------------------------------------------------------------------------------------------------------ */

static bool v1(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    (void)context;
    (void)query;
    (void)bytes;
    return pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "Linux has no V1 data");
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

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
                                                 .v1 = v1};

/* Returns true if the code means that the machine has no such data. */
static bool is_absence(uint32_t code)
{
    return code == PFB_WIN32_FILE_NOT_FOUND || code == PFB_WIN32_ACCESS_DENIED || code == PFB_WIN32_NOT_SUPPORTED;
}

/* Opens the countersets that this machine has. Fails if there are none, with the reason of the first one. Also fails if
 * a set cannot be opened for another reason, such as running out of file handles or memory: otherwise the set would be
 * missing for the lifetime of the source. */
static bool open_sets(linux_source *source, pfb_source_failure *failure)
{
    pfb_source_failure first = {0};
    for (size_t i = 0; i < SET_COUNT; i++) {
        pfb_source_failure reason = {0};
        if (pfb_open_set_open(&source->sets[source->set_count], all_sets[i], &source->reader, &reason))
            source->set_count++;
        else if (!is_absence(reason.code))
            return pfb_source_fail(failure, reason.code, "%s", reason.sentence);
        else if (i == 0)
            first = reason;
    }
    return source->set_count > 0 || pfb_source_fail(failure, first.code, "%s", first.sentence);
}

pfb_source *pfb_source_open_linux(const char *root, pfb_source_failure *failure)
{
    linux_source *source = calloc(1, sizeof *source);
    if (!source) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    if (!pfb_kernel_reader_open(&source->reader, root, failure)) {
        free(source);
        return NULL;
    }
    if (!open_sets(source, failure)) {
        close_context(source);
        return NULL;
    }
    return pfb_source_make(&operations, source, failure);
}

pfb_source *pfb_source_open_live(pfb_source_failure *failure)
{
    return pfb_source_open_linux("", failure);
}

pfb_source *pfb_source_open_remote(const char *machine, pfb_source_failure *failure)
{
    (void)machine;
    pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "other machines are read from Windows only");
    return NULL;
}
