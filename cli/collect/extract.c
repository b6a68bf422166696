/* SPDX-License-Identifier: MIT */
#include "collect/extract.h"

#include "memory/memory.h"
#include "perfblock/write.h"

#include <stdlib.h>
#include <string.h>

enum { DATA_HEADER_BYTES = 48 }; /* PERF_DATA_HEADER */

/* ---- Bytes ----------------------------------------------------------------------------------------------- */

static void append(pfb_bytes *bytes, const void *data, size_t size)
{
    if (size > 0 && !pfb_bytes_append(bytes, data, size))
        memory_exhausted();
}

static void put_le32(uint8_t *at, size_t value)
{
    for (size_t i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* Writes one block or list; `context` has its contents. */
typedef void write_block(pfb_writer *writer, const void *context);

/* Appends the output of `write` without its first `skipped_bytes` bytes. Calls it twice: to measure the output, and to
 * write it. Appends nothing if that fails. */
static pfb_error append_written(pfb_bytes *bytes, write_block *write, const void *context, size_t skipped_bytes)
{
    pfb_writer writer;
    pfb_write_init(&writer, NULL, 0);
    write(&writer, context);
    size_t size = writer.size_bytes;
    uint8_t *block = memory_get(size, 1);
    pfb_write_init(&writer, block, size);
    write(&writer, context);
    if (writer.error.code == PFB_OK)
        append(bytes, block + skipped_bytes, size - skipped_bytes);
    free(block);
    return writer.error;
}

/* ---- Query information ----------------------------------------------------------------------------------- */

static int compare_queries(const void *left, const void *right)
{
    const pfb_identifier *a = &((const extract_query *)left)->identifier;
    const pfb_identifier *b = &((const extract_query *)right)->identifier;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Returns true if the result of the query may contain chosen values: its counterset must be chosen. If it names a
 * counter or an instance, these must be chosen as well. */
static bool is_query_chosen(const extract *e, const pfb_identifier *identifier)
{
    const pfb_name *name = &identifier->name;
    bool has_instance_name = name->size_bytes > 0 && !pfb_query_is_pattern(name);
    return selection_has_set(e->choice, &identifier->counterset) &&
           (identifier->counter_id == PFB_NO_ID ||
            selection_has_counter(e->choice, &identifier->counterset, identifier->counter_id)) &&
           (!has_instance_name ||
            selection_has_instance(e->choice, &identifier->counterset, identifier->counter_id, name));
}

/* Returns the position of the first query whose recorded index is at least `index`. */
static size_t find_query(const extract *e, uint32_t index)
{
    size_t low = 0;
    size_t high = e->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->queries[middle].identifier.index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sorts the queries by recorded index and gives the chosen ones ascending indexes without gaps. If several have the
 * same recorded index, the first is used. */
static void sort_queries(extract *e)
{
    size_t count = 0;
    uint32_t chosen = 0;
    if (e->count > 0)
        qsort(e->queries, e->count, sizeof *e->queries, compare_queries);
    for (size_t i = 0; i < e->count; i++) {
        extract_query query = e->queries[i];
        if (count > 0 && e->queries[count - 1].identifier.index == query.identifier.index)
            continue;
        query.is_chosen = is_query_chosen(e, &query.identifier);
        query.index = chosen;
        chosen += query.is_chosen;
        e->queries[count++] = query;
    }
    e->count = count;
    bool has_gaps = count > 0 && e->queries[count - 1].identifier.index != count - 1;
    e->is_whole = !e->choice->has_counters && !e->choice->has_patterns && chosen == count && !has_gaps;
}

/* Appends a chosen query. If its recorded instance name is a pattern, the chosen pattern, if there is one, replaces it:
 * the recorded one may match instances that are not chosen. */
static void append_query(const extract *e, const extract_query *query, pfb_bytes *info)
{
    enum { INDEX_OFFSET = 32 };
    const pfb_identifier *identifier = &query->identifier;
    const uint8_t *bytes = e->recorded.data + identifier->offset;
    size_t at = info->size_bytes;
    pfb_name pattern = selection_pattern(e->choice, &identifier->counterset, identifier->counter_id);
    if (pattern.bytes && pfb_query_is_pattern(&identifier->name)) {
        pfb_query changed = {.counterset = identifier->counterset,
                             .counter_id = identifier->counter_id,
                             .instance_id = identifier->instance_id,
                             .name = pattern,
                             .status = identifier->status};
        size_t size = pfb_query_size(&changed);
        if (!pfb_bytes_reserve(info, at + size))
            memory_exhausted();
        info->size_bytes += pfb_query_write(&changed, info->data + at, size);
    } else {
        append(info, bytes, identifier->size_bytes);
    }
    put_le32(info->data + at + INDEX_OFFSET, query->index);
}

pfb_error extract_set_info(extract *e, pfb_bytes *info, pfb_bytes *reduced)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_bytes previous = e->recorded;
    e->recorded = *info;
    *info = previous;
    e->count = 0;
    pfb_list_open(&list, e->recorded.data, e->recorded.size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        e->queries = memory_grow(e->queries, &e->capacity, e->count + 1, sizeof *e->queries);
        e->queries[e->count++] = (extract_query){.identifier = identifier};
    }
    pfb_error error = list.error;
    sort_queries(e);
    reduced->size_bytes = 0;
    pfb_list_open(&list, e->recorded.data, e->recorded.size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) { /* in the recorded order */
        const extract_query *query = &e->queries[find_query(e, identifier.index)];
        if (query->is_chosen && query->identifier.offset == identifier.offset)
            append_query(e, query, reduced);
    }
    return error;
}

/* ---- Results --------------------------------------------------------------------------------------------- */

/* A V2 result of which only chosen counters or instances are copied. */
typedef struct partial_result {
    const extract *e;
    const pfb_identifier *identifier;
    const uint8_t *data;
    const pfb_v2_reader *block; /* positioned after the header of the result */
    const pfb_v2_result *result;
    const uint32_t *ids; /* of the chosen counters */
    uint32_t id_count;
} partial_result;

static bool has_instances(uint32_t kind)
{
    return kind == PFB_V2_MULTIPLE_INSTANCES || kind == PFB_V2_COUNTERSET;
}

/* Writes the values of the chosen counters for one instance. `instance` is null in results without instance names. A
 * value is written without data if its counter is chosen for other instances only. */
static void write_values(pfb_writer *writer, const partial_result *p, pfb_v2_reader *block, const pfb_name *instance)
{
    pfb_v2_value value;
    const selection *choice = p->e->choice;
    const pfb_guid *set = &p->identifier->counterset;
    const pfb_name *queried = &p->identifier->name;
    bool is_reduced = choice->has_counters && p->result->has_counter_ids;
    if (!instance && queried->size_bytes > 0 && !pfb_query_is_pattern(queried))
        instance = queried;
    while (pfb_v2_next_value(block, &value)) {
        if (is_reduced && !selection_has_counter(choice, set, value.counter_id))
            continue;
        bool is_empty = is_reduced && instance && !selection_has_instance(choice, set, value.counter_id, instance);
        pfb_write_datum(writer, p->data + value.offset + PFB_V2_VALUE_HEADER_BYTES,
                        is_empty ? 0 : value.data_size_bytes);
    }
}

/* Writes a V2 block that has only this result. */
static void write_partial_result(pfb_writer *writer, const void *context)
{
    const partial_result *p = context;
    pfb_v2_reader block = *p->block;
    pfb_v2_instance instance;
    pfb_write_begin_v2(writer, &(pfb_write_times){0});
    pfb_write_begin_result(writer, p->result->kind, p->result->status, p->ids, p->id_count);
    while (pfb_v2_next_instance(&block, &instance)) {
        if (instance.name.bytes) {
            if (!selection_has_instance(p->e->choice, &p->identifier->counterset, p->identifier->counter_id,
                                        &instance.name))
                continue;
            pfb_write_instance(writer, instance.id, &instance.name);
        }
        write_values(writer, p, &block, instance.name.bytes ? &instance.name : NULL);
    }
    pfb_write_end_result(writer);
    pfb_write_end_v2(writer);
}

/* Returns the chosen counter ids of a result, and stores their number in *count. Free with free(). */
static uint32_t *choose_ids(const extract *e, const pfb_guid *set, const pfb_v2_reader *block,
                            const pfb_v2_result *result, uint32_t *count)
{
    uint32_t *ids = memory_get(result->counter_count, sizeof *ids);
    uint32_t id = 0;
    *count = 0;
    for (uint32_t i = 0; pfb_v2_counter_id(block, result, i, &id); i++) {
        if (!e->choice->has_counters || selection_has_counter(e->choice, set, id))
            ids[(*count)++] = id;
    }
    return ids;
}

/* Returns true if the result of a chosen query may be copied, completely or in part. A result without counter ids has
 * the counter of its identifier block, which must be chosen. The contents of a result of an unknown kind are not known,
 * so it is copied only if all counters and instances are chosen. */
static bool is_result_chosen(const extract *e, const pfb_identifier *identifier, const pfb_v2_result *result)
{
    uint32_t kind = result->kind;
    if (kind == PFB_V2_ERROR || result->has_counter_ids)
        return true;
    bool has_known_kind = kind == PFB_V2_SINGLE_COUNTER || has_instances(kind);
    bool is_identified = selection_has_counter(e->choice, &identifier->counterset, identifier->counter_id);
    return has_known_kind ? is_identified : !e->choice->has_counters && !e->choice->has_patterns;
}

/* Appends an error result in place of one that may not be copied, so that the results after it keep their indexes. */
static void append_error(pfb_bytes *reduced)
{
    enum { RESULT_HEADER_BYTES = 16 };
    uint8_t header[RESULT_HEADER_BYTES] = {0};
    put_le32(header, PFB_WIN32_COUNTER_NOT_FOUND);
    put_le32(header + 4, PFB_V2_ERROR);
    put_le32(header + 8, sizeof header);
    append(reduced, header, sizeof header);
}

/* Appends the chosen part of a result. */
static pfb_error append_result(const extract *e, const pfb_identifier *identifier, const pfb_bytes *sample,
                               const pfb_v2_reader *block, const pfb_v2_result *result, pfb_bytes *reduced)
{
    pfb_error error = {PFB_OK, 0};
    bool is_partial = (e->choice->has_counters && result->has_counter_ids) ||
                      (e->choice->has_patterns && has_instances(result->kind));
    if (!is_result_chosen(e, identifier, result)) {
        append_error(reduced);
    } else if (is_partial) {
        partial_result p = {.e = e, .identifier = identifier, .data = sample->data, .block = block, .result = result};
        uint32_t *ids = choose_ids(e, &identifier->counterset, block, result, &p.id_count);
        p.ids = ids;
        error = append_written(reduced, write_partial_result, &p, DATA_HEADER_BYTES);
        free(ids);
    } else {
        append(reduced, sample->data + result->offset, result->size_bytes);
    }
    return error;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

bool extract_sample(const extract *e, const pfb_bytes *sample, pfb_bytes *reduced, pfb_error *error)
{
    pfb_v2_reader block;
    pfb_v2_result result;
    pfb_v2_instance instance;
    uint32_t count = 0;
    bool is_open = pfb_v2_open(&block, sample->data, sample->size_bytes, NULL);
    *error = block.error;
    reduced->size_bytes = 0;
    if (!is_open)
        return false;
    pfb_v2_reader rest = block;
    bool is_whole = e->is_whole && block.result_count <= e->count && block.total_size_bytes == sample->size_bytes;
    if (is_whole && pfb_v2_finish(&rest).code == PFB_OK) {
        append(reduced, sample->data, sample->size_bytes);
        return true;
    }
    append(reduced, sample->data, DATA_HEADER_BYTES);
    for (size_t at = 0; pfb_v2_next_result(&block, &result);) {
        size_t size = reduced->size_bytes;
        while (at < e->count && e->queries[at].identifier.index < result.index)
            at++;
        const extract_query *query = at < e->count ? &e->queries[at] : NULL;
        if (!query || query->identifier.index != result.index || !query->is_chosen)
            continue;
        *error = append_result(e, &query->identifier, sample, &block, &result, reduced);
        while (pfb_v2_next_instance(&block, &instance)) /* reads the whole result, to find its errors */
            continue;
        if (block.error.code != PFB_OK)
            *error = block.error;
        if (error->code != PFB_OK) {
            reduced->size_bytes = size;
            break;
        }
        count++;
    }
    put_le32(reduced->data, reduced->size_bytes);
    put_le32(reduced->data + 4, count);
    if (error->code == PFB_OK)
        *error = block.error;
    return true;
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

/* A registration reply of which the chosen counters are written, or an instance list of which the chosen names are. */
typedef struct partial_reply {
    const extract *e;
    const pfb_guid *set;
    const pfb_bytes *reply;
} partial_reply;

static void write_counters(pfb_writer *writer, const void *context)
{
    const partial_reply *p = context;
    pfb_registration registration;
    pfb_counter counter;
    uint32_t count = 0;
    if (!pfb_registration_open(&registration, p->reply->data, p->reply->size_bytes, NULL))
        return;
    for (uint32_t i = 0; pfb_registration_counter_at(&registration, i, &counter); i++)
        count += selection_has_counter(p->e->choice, p->set, counter.id);
    pfb_write_counterset(writer, &registration.guid, registration.detail_level, registration.instance_type, count);
    for (uint32_t i = 0; pfb_registration_counter_at(&registration, i, &counter); i++) {
        if (selection_has_counter(p->e->choice, p->set, counter.id))
            pfb_write_counter(writer, &counter);
    }
}

static int compare_by_counter(const void *left, const void *right)
{
    const pfb_registration_string_entry *a = left;
    const pfb_registration_string_entry *b = right;
    if (a->counter_id != b->counter_id)
        return a->counter_id < b->counter_id ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Orders entries by the address of their string (null: first), then by their position in the reply. */
static int compare_by_text(const void *left, const void *right)
{
    const pfb_registration_string_entry *a = left;
    const pfb_registration_string_entry *b = right;
    uintptr_t left_at = (uintptr_t)a->text.bytes;
    uintptr_t right_at = (uintptr_t)b->text.bytes;
    if (left_at != right_at)
        return left_at < right_at ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The entries of chosen counters. */
typedef struct string_list {
    pfb_registration_string_entry *entries;
    size_t count, capacity;
} string_list;

/* Lists the first entry of each chosen counter, in the order of compare_by_text(). */
static void list_strings(string_list *list, const partial_reply *p)
{
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    size_t count = 0;
    pfb_registration_strings_open(&strings, p->reply->data, p->reply->size_bytes, NULL);
    while (pfb_registration_strings_next_string(&strings, &entry)) {
        if (!selection_has_counter(p->e->choice, p->set, entry.counter_id))
            continue;
        list->entries = memory_grow(list->entries, &list->capacity, list->count + 1, sizeof *list->entries);
        list->entries[list->count++] = entry;
    }
    if (list->count == 0)
        return;
    qsort(list->entries, list->count, sizeof *list->entries, compare_by_counter);
    for (size_t i = 0; i < list->count; i++) {
        if (count == 0 || list->entries[count - 1].counter_id != list->entries[i].counter_id)
            list->entries[count++] = list->entries[i];
    }
    list->count = count;
    qsort(list->entries, count, sizeof *list->entries, compare_by_text);
}

static bool has_same_text(const pfb_registration_string_entry *a, const pfb_registration_string_entry *b)
{
    return a->text.bytes && a->text.bytes == b->text.bytes;
}

/* The size of a string in bytes, with its NUL. */
static size_t text_size(const pfb_registration_string_entry *entry)
{
    return entry->text.bytes ? entry->text.size_bytes + 2 : 0;
}

/* Appends the strings of the chosen counters (PERF_STRING_BUFFER_HEADER). Entries that share a string are adjacent, and
 * the string is stored once. */
static pfb_error append_strings(const partial_reply *p, pfb_bytes *reduced)
{
    enum { HEADER_BYTES = 8, ENTRY_BYTES = 8 };
    static const uint8_t padding[8];
    string_list list = {0};
    uint8_t numbers[ENTRY_BYTES];
    list_strings(&list, p);
    uint64_t start = HEADER_BYTES + (uint64_t)ENTRY_BYTES * list.count;
    uint64_t end = start;
    for (size_t i = 0; i < list.count; i++)
        end += i > 0 && has_same_text(&list.entries[i - 1], &list.entries[i]) ? 0 : text_size(&list.entries[i]);
    uint64_t size = end + (8 - end % 8) % 8;
    if (size > UINT32_MAX) {
        free(list.entries);
        return (pfb_error){PFB_CALLER_ARGUMENT, 0};
    }
    put_le32(numbers, (size_t)size);
    put_le32(numbers + 4, list.count);
    append(reduced, numbers, HEADER_BYTES);
    for (size_t i = 0; i < list.count; i++) {
        const pfb_registration_string_entry *entry = &list.entries[i];
        bool is_new_string = i > 0 && !has_same_text(entry - 1, entry);
        start += is_new_string ? text_size(entry - 1) : 0;
        put_le32(numbers, entry->counter_id);
        put_le32(numbers + 4, entry->text.bytes ? (size_t)start : PFB_NO_ID);
        append(reduced, numbers, ENTRY_BYTES);
    }
    for (size_t i = 0; i < list.count; i++) {
        const pfb_registration_string_entry *entry = &list.entries[i];
        if (i == 0 || !has_same_text(entry - 1, entry))
            append(reduced, entry->text.bytes, text_size(entry));
    }
    append(reduced, padding, (size_t)(size - end));
    free(list.entries);
    return (pfb_error){PFB_OK, 0};
}

pfb_error extract_registration(const extract *e, const pfb_guid *set, uint32_t request, const pfb_bytes *reply,
                               pfb_bytes *reduced)
{
    pfb_error error = {PFB_OK, 0};
    const partial_reply p = {.e = e, .set = set, .reply = reply};
    bool has_strings = request == PFB_REQUEST_COUNTER_NAMES || request == PFB_REQUEST_COUNTER_HELPS ||
                       request == PFB_REQUEST_COUNTER_ENGLISH_NAMES;
    reduced->size_bytes = 0;
    if (e->choice->has_counters && request == PFB_REQUEST_COUNTERSET)
        error = append_written(reduced, write_counters, &p, 0);
    else if (e->choice->has_counters && has_strings)
        error = append_strings(&p, reduced);
    else
        append(reduced, reply->data, reply->size_bytes);
    return error;
}

static void write_instances(pfb_writer *writer, const void *context)
{
    const partial_reply *p = context;
    pfb_list list;
    pfb_listed_instance instance;
    pfb_list_open(&list, p->reply->data, p->reply->size_bytes, NULL);
    while (pfb_list_next_instance(&list, &instance)) {
        if (selection_has_instance(p->e->choice, p->set, PFB_NO_ID, &instance.name))
            pfb_write_listed_instance(writer, instance.id, &instance.name);
    }
}

pfb_error extract_instances(const extract *e, const pfb_guid *set, const pfb_bytes *list, pfb_bytes *reduced)
{
    pfb_error error = {PFB_OK, 0};
    const partial_reply p = {.e = e, .set = set, .reply = list};
    reduced->size_bytes = 0;
    if (e->choice->has_patterns)
        error = append_written(reduced, write_instances, &p, 0);
    else
        append(reduced, list->data, list->size_bytes);
    return error;
}

void extract_free(extract *e)
{
    pfb_bytes_free(&e->recorded);
    free(e->queries);
    *e = (extract){0};
}
