/* SPDX-License-Identifier: MIT */
#include "processor.h"
#include "source_private.h"

#include <stdlib.h>
#include <string.h>

/* The live source of a Linux machine: the operations of a source over the one counterset there is. The context is a
 * pfb_processor. */

static bool is_processor(const pfb_guid *counterset, pfb_source_failure *failure)
{
    char text[PFB_GUID_TEXT_BYTES];
    if (pfb_guid_equal(counterset, &pfb_processor_guid))
        return true;
    pfb_guid_format(counterset, text);
    return pfb_source_fail(failure, PFB_WIN32_COUNTERSET_NOT_FOUND, "there is no counterset %s on Linux", text);
}

static void close_context(void *context)
{
    pfb_processor_close(context);
    free(context);
}

/* ---- What there is -------------------------------------------------------------------------------------- */

static void write_countersets(const void *context, pfb_builder *builder)
{
    (void)context;
    pfb_builder_guid(builder, &pfb_processor_guid);
}

static bool countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_build(bytes, write_countersets, context, failure);
}

typedef struct registration_request {
    const pfb_processor *processor;
    uint32_t code;
    uint32_t position;
} registration_request;

static void write_registration(const void *context, pfb_builder *builder)
{
    const registration_request *request = context;
    pfb_processor_register(request->processor, request->code, request->position, builder);
}

/* Texts are English whatever the language. */
static bool registration(void *context, const pfb_guid *counterset, uint32_t request, uint32_t language,
                         pfb_bytes *bytes, pfb_source_failure *failure)
{
    registration_request wanted = {.processor = context, .code = request};
    if (!is_processor(counterset, failure))
        return false;
    if (request < PFB_REQUEST_COUNTERSET || request > PFB_REQUEST_COUNTER_ENGLISH_NAMES)
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "there is no registration request code %u",
                               (unsigned)request);
    if (request == PFB_REQUEST_COUNTER && !pfb_processor_find(context, language, &wanted.position))
        return pfb_source_fail(failure, PFB_WIN32_COUNTER_NOT_FOUND, "Linux does not know the counter %u",
                               (unsigned)language);
    return pfb_source_build(bytes, write_registration, &wanted, failure);
}

static void write_instances(const void *context, pfb_builder *builder)
{
    const pfb_processor *processor = context;
    for (size_t i = 0; i < processor->instance_count; i++) {
        const pfb_processor_instance *instance = &processor->instances[i];
        pfb_builder_listed_instance(builder, instance->id, instance->name, instance->name_units);
    }
}

static bool instances(void *context, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return is_processor(counterset, failure) && pfb_processor_sample(context, PFB_KERNEL_TIMES, failure) &&
           pfb_source_build(bytes, write_instances, context, failure);
}

/* ---- The identifier blocks of a query -------------------------------------------------------------------- */

/* A query handle. The blocks stand in the order of adding, which is also that of their results. */
typedef struct linux_query {
    pfb_processor *processor;
    pfb_bytes blocks;
} linux_query;

static void *query_open(void *context, pfb_source_failure *failure)
{
    linux_query *query = malloc(sizeof *query);
    if (!query) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *query = (linux_query){.processor = context};
    return query;
}

static void query_close(void *context)
{
    linux_query *query = context;
    pfb_bytes_free(&query->blocks);
    free(query);
}

/* What an identifier block asks for; its name stays where it lies. */
static pfb_query query_of(const uint8_t *blocks, const pfb_identifier *identifier)
{
    return (pfb_query){.counterset = identifier->counterset,
                       .counter_id = identifier->counter_id,
                       .instance_id = identifier->instance_id,
                       .name = identifier->has_name ? blocks + identifier->name.offset : NULL,
                       .name_units = identifier->has_name ? identifier->name.units : 0};
}

/* Names are the same when their units are: patterns are not interpreted, letters keep their case. */
static bool is_same(const pfb_query *a, const pfb_query *b)
{
    return pfb_guid_equal(&a->counterset, &b->counterset) && a->counter_id == b->counter_id &&
           a->instance_id == b->instance_id && !a->name == !b->name && a->name_units == b->name_units &&
           (!a->name || memcmp(a->name, b->name, 2 * a->name_units) == 0);
}

/* The block of the handle that asks for the same. */
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

/* Adds one block; its memory is there already. Returns its Status. */
static uint32_t add_block(linux_query *query, const pfb_query *wanted)
{
    pfb_identifier known;
    uint32_t position;
    if (!pfb_guid_equal(&wanted->counterset, &pfb_processor_guid))
        return PFB_WIN32_COUNTERSET_NOT_FOUND;
    if (!wanted->name || pfb_query_size(wanted) == 0) /* sets of several instances take a name, at most 1024 units */
        return PFB_WIN32_INVALID_PARAMETER;
    if (wanted->counter_id != PFB_NO_ID && !pfb_processor_find(query->processor, wanted->counter_id, &position))
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
    /* What is kept of a block is never larger than the block, so nothing can fail half way. */
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

static void write_info(const void *context, pfb_builder *builder)
{
    const linux_query *query = context;
    pfb_list list;
    pfb_identifier identifier;
    uint32_t index = 0;
    pfb_list_open(&list, query->blocks.data, query->blocks.size_bytes, 0);
    while (pfb_list_next_identifier(&list, &identifier)) {
        pfb_query block = query_of(query->blocks.data, &identifier);
        block.index = index++;
        pfb_builder_identifier(builder, &block);
    }
}

static bool query_info(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_build(bytes, write_info, context, failure);
}

/* ---- Collecting ------------------------------------------------------------------------------------------- */

/* What one block asks for, in terms of the counterset. */
typedef struct selection {
    const pfb_processor *processor;
    pfb_query query;
    uint32_t position; /* the counters, by their positions */
    uint32_t count;
    uint32_t needs;
} selection;

static selection select_counters(const pfb_processor *processor, const uint8_t *blocks,
                                 const pfb_identifier *identifier)
{
    selection chosen = {.processor = processor, .query = query_of(blocks, identifier)};
    if (identifier->counter_id == PFB_NO_ID)
        chosen.count = processor->counter_count;
    else if (pfb_processor_find(processor, identifier->counter_id, &chosen.position))
        chosen.count = 1;
    chosen.needs = pfb_processor_needs(processor, chosen.position, chosen.count);
    return chosen;
}

/* The next instance from *at on that the filters let through and the sample has all values of; null at the end. */
static const pfb_processor_instance *next_match(const selection *chosen, size_t *at)
{
    const pfb_processor *processor = chosen->processor;
    const pfb_query *query = &chosen->query;
    while (*at < processor->instance_count) {
        const pfb_processor_instance *instance = &processor->instances[(*at)++];
        if ((query->instance_id == PFB_NO_ID || query->instance_id == instance->id) &&
            pfb_query_match(query->name, query->name_units, instance->name, instance->name_units,
                            PFB_MATCH_IGNORE_CASE) &&
            pfb_processor_has(processor, instance, chosen->needs))
            return instance;
    }
    return NULL;
}

static void write_values(const selection *chosen, const pfb_processor_instance *instance, pfb_builder *builder)
{
    for (uint32_t i = chosen->position; i < chosen->position + chosen->count; i++)
        pfb_processor_write(chosen->processor, instance, chosen->needs, i, builder);
}

/* The filters decide the kind of result, as on Windows: a name gives one instance and an error when there is none, a
 * pattern gives any number of them. */
static void write_result(const selection *chosen, pfb_builder *builder)
{
    const uint32_t *ids = chosen->processor->ids + chosen->position;
    bool is_single = chosen->query.counter_id != PFB_NO_ID;
    size_t at = 0;
    const pfb_processor_instance *instance = next_match(chosen, &at);
    if (pfb_query_is_pattern(chosen->query.name, chosen->query.name_units)) {
        uint32_t kind = is_single ? PFB_KIND_MULTIPLE_INSTANCES : PFB_KIND_COUNTERSET;
        pfb_builder_begin_result(builder, kind, PFB_WIN32_SUCCESS, ids, chosen->count);
        for (; instance; instance = next_match(chosen, &at)) {
            pfb_builder_instance(builder, instance->id, instance->name, instance->name_units);
            write_values(chosen, instance, builder);
        }
    } else if (instance) {
        uint32_t kind = is_single ? PFB_KIND_SINGLE_COUNTER : PFB_KIND_MULTIPLE_COUNTERS;
        pfb_builder_begin_result(builder, kind, PFB_WIN32_SUCCESS, ids, chosen->count);
        write_values(chosen, instance, builder);
    } else {
        pfb_builder_begin_result(builder, PFB_KIND_ERROR, PFB_WIN32_INSTANCE_NOT_FOUND, NULL, 0);
    }
    pfb_builder_end_result(builder);
}

static void write_data(const void *context, pfb_builder *builder)
{
    const linux_query *query = context;
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, query->blocks.data, query->blocks.size_bytes, 0);
    pfb_builder_begin_data(builder, &query->processor->kernel.times);
    while (pfb_list_next_identifier(&list, &identifier)) {
        selection chosen = select_counters(query->processor, query->blocks.data, &identifier);
        write_result(&chosen, builder);
    }
    pfb_builder_end_data(builder);
}

/* One sample serves all blocks, and only files that a block needs are read. */
static bool query_collect(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    linux_query *query = context;
    pfb_list list;
    pfb_identifier identifier;
    uint32_t needs = 0;
    pfb_list_open(&list, query->blocks.data, query->blocks.size_bytes, 0);
    while (pfb_list_next_identifier(&list, &identifier))
        needs |= select_counters(query->processor, query->blocks.data, &identifier).needs;
    return pfb_processor_sample(query->processor, needs, failure) &&
           pfb_source_build(bytes, write_data, query, failure);
}

/* ---- V1 ------------------------------------------------------------------------------------------------------ */

static bool legacy(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
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
                                                 .legacy = legacy};

pfb_source *pfb_source_open_linux(const char *root, pfb_source_failure *failure)
{
    pfb_processor *processor = malloc(sizeof *processor);
    if (!processor) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    if (!pfb_processor_open(processor, root, failure)) {
        free(processor);
        return NULL;
    }
    return pfb_source_make(&operations, processor, failure);
}
