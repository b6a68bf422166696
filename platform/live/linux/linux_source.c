/* SPDX-License-Identifier: MIT */
#include "live/linux/counterset.h"
#include "perfblock/live.h"
#include "source/added.h"

#include <stdlib.h>

/* The live source of a Linux machine: implements the operations of a source with the countersets of counterset.h. */

/* In the order in which they are listed and sampled. The first set that is sampled reads the clocks for all of them. */
static const pfb_counterset *const all_sets[] = {&pfb_processor_information_set,
                                                 &pfb_processor_set,
                                                 &pfb_system_set,
                                                 &pfb_memory_set,
                                                 &pfb_physical_disk_set,
                                                 &pfb_logical_disk_set,
                                                 &pfb_network_interface_set,
                                                 &pfb_tcp4_set,
                                                 &pfb_udp4_set,
                                                 &pfb_udp6_set,
                                                 &pfb_paging_file_set,
                                                 &pfb_process_set,
                                                 &pfb_thread_set};

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
static size_t find_position(const linux_source *source, const pfb_guid *counterset)
{
    size_t i = 0;
    while (i < source->set_count && !pfb_guid_equal(counterset, &source->sets[i].set->guid))
        i++;
    return i;
}

/* Returns the counterset, or NULL with a failure. */
static pfb_open_set *find_set(linux_source *source, const pfb_guid *counterset, pfb_source_failure *failure)
{
    size_t position = find_position(source, counterset);
    if (position < source->set_count)
        return &source->sets[position];
    char text[PFB_GUID_TEXT_BYTES];
    pfb_guid_format(counterset, text);
    pfb_source_fail(failure, PFB_WIN32_COUNTERSET_NOT_FOUND, "this machine has no counterset %s", text);
    return NULL;
}

/* ---- Enumerating and registration ------------------------------------------------------------------------- */

static void write_countersets(const void *context, pfb_writer *writer)
{
    const linux_source *source = context;
    for (size_t i = 0; i < source->set_count; i++)
        pfb_write_guid(writer, &source->sets[i].set->guid);
}

static bool countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_build(bytes, write_countersets, context, failure);
}

/* Arguments of pfb_open_set_register. */
typedef struct registration_request {
    const pfb_open_set *open;
    uint32_t code;
    uint32_t position;
} registration_request;

static void write_registration(const void *context, pfb_writer *writer)
{
    const registration_request *request = context;
    pfb_open_set_register(request->open, request->code, request->position, writer);
}

/* Texts are English whatever the language of the request is. */
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
                               wanted.open->set->name, (unsigned)language);
    return pfb_source_build(bytes, write_registration, &wanted, failure);
}

static void write_instances(const void *context, pfb_writer *writer)
{
    pfb_open_set_list(context, writer);
}

static bool instances(void *context, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure)
{
    linux_source *source = context;
    pfb_open_set *open = find_set(source, counterset, failure);
    if (!open)
        return false;
    if (open->set->instance_type == 0) /* the same code as on Windows for single-instance sets */
        return pfb_source_fail(failure, PFB_WIN32_INSTANCE_NOT_FOUND, "%s has no instances", open->set->name);
    pfb_kernel_new_sample(&source->reader);
    return pfb_open_set_sample(open, 0, failure) && pfb_source_build(bytes, write_instances, open, failure);
}

/* ---- The identifier blocks of a query -------------------------------------------------------------------- */

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

/* A pfb_added_check: checks the counterset, the instance name and the counter of a block. */
static uint32_t check_block(const void *context, const pfb_query *wanted)
{
    const linux_source *source = context;
    uint32_t position;
    size_t set = find_position(source, &wanted->counterset);
    if (set == source->set_count)
        return PFB_WIN32_COUNTERSET_NOT_FOUND;
    const pfb_open_set *open = &source->sets[set];
    if (!pfb_added_has_valid_name(wanted, open->set->instance_type))
        return PFB_WIN32_INVALID_PARAMETER;
    if (wanted->counter_id != PFB_NO_ID && !pfb_open_set_find(open, wanted->counter_id, &position))
        return PFB_WIN32_COUNTER_NOT_FOUND;
    return PFB_WIN32_SUCCESS;
}

static bool query_add(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    linux_query *query = context;
    return pfb_added_add(&query->blocks, blocks, size, check_block, query->source, failure);
}

static bool query_remove(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    linux_query *query = context;
    return pfb_added_remove(&query->blocks, blocks, size, failure);
}

static bool query_info(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const linux_query *query = context;
    return pfb_added_info(&query->blocks, bytes, failure);
}

/* ---- Collecting ------------------------------------------------------------------------------------------- */

/* Writes the reply. The counterset of every block exists: check_block accepts no other, and sets stay open. */
static void write_data(const void *context, pfb_writer *writer)
{
    const linux_query *query = context;
    const linux_source *source = query->source;
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, query->blocks.data, query->blocks.size_bytes, NULL);
    pfb_write_begin_v2(writer, &source->reader.times);
    while (pfb_list_next_identifier(&list, &identifier)) {
        pfb_query block = pfb_added_query(&identifier);
        size_t position = find_position(source, &block.counterset);
        pfb_selection chosen = pfb_open_set_select(&source->sets[position], &block);
        pfb_selection_write(&chosen, writer);
    }
    pfb_write_end_v2(writer);
}

/* What the blocks of a query need, by position of the counterset. */
typedef struct demand {
    bool is_queried[SET_COUNT];
    uint32_t needs[SET_COUNT];
} demand;

static demand collect_needs(const linux_query *query)
{
    demand demanded = {0};
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, query->blocks.data, query->blocks.size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        pfb_query block = pfb_added_query(&identifier);
        size_t position = find_position(query->source, &block.counterset);
        demanded.is_queried[position] = true;
        demanded.needs[position] |= pfb_open_set_select(&query->source->sets[position], &block).needs;
    }
    return demanded;
}

/* Takes one sample of each queried counterset, reading only the files that the blocks need. If the sample of a set
 * fails, its results are error results. If the samples of all sets fail, the call fails with the reason of the first
 * set. */
static bool query_collect(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    linux_query *query = context;
    linux_source *source = query->source;
    const demand demanded = collect_needs(query);
    pfb_source_failure first = {0};
    size_t failed = 0;
    size_t sampled = 0;
    pfb_kernel_new_sample(&source->reader);
    for (size_t i = 0; i < source->set_count; i++) {
        if (!demanded.is_queried[i])
            continue;
        if (pfb_open_set_sample(&source->sets[i], demanded.needs[i], failed == 0 ? &first : NULL))
            sampled++;
        else
            failed++;
    }
    if (failed > 0 && sampled == 0)
        return pfb_source_fail(failure, first.code, "%s", first.sentence);
    pfb_kernel_clock(&source->reader); /* a query without blocks has sampled no set, so nothing has read the clocks */
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

/* Returns true if the code, with which a set failed to open, means that the machine does not have its data. */
static bool is_absence(uint32_t code)
{
    return code == PFB_WIN32_FILE_NOT_FOUND || code == PFB_WIN32_ACCESS_DENIED || code == PFB_WIN32_NOT_SUPPORTED;
}

/* Opens the countersets that this machine has. Fails if there are none, with the reason of the first set. Also fails if
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
