/* SPDX-License-Identifier: MIT */
#include "select/reduce_v2.h"

#include "perfblock/query.h"
#include "perfblock/v2.h"
#include "perfblock/write.h"
#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

enum { DATA_HEADER_BYTES = 48 }; /* PERF_DATA_HEADER */

/* ---- Bytes ----------------------------------------------------------------------------------------------- */

static void put_le32(uint8_t *at, size_t value)
{
    for (size_t i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* Replaces the contents of `bytes`. */
static bool copy(pfb_bytes *bytes, const void *data, size_t size)
{
    bytes->size_bytes = 0;
    return pfb_bytes_append(bytes, data, size);
}

/* Writes one block or list; `context` has its contents. */
typedef void write_block(pfb_writer *writer, const void *context);

/* Appends the output of `write` without its first `skipped_bytes` bytes. Calls it twice: to measure the output, and to
 * write it. Appends nothing if that fails. */
static bool append_written(pfb_bytes *bytes, write_block *write, const void *context, size_t skipped_bytes,
                           pfb_error *error)
{
    pfb_writer writer;
    pfb_write_init(&writer, NULL, 0);
    write(&writer, context);
    size_t size = writer.size_bytes;
    uint8_t *block = malloc(size + 1);
    if (!block)
        return false;
    pfb_write_init(&writer, block, size);
    write(&writer, context);
    *error = writer.error;
    bool has_memory = error->code != PFB_OK || pfb_bytes_append(bytes, block + skipped_bytes, size - skipped_bytes);
    free(block);
    return has_memory;
}

/* ---- Query information ----------------------------------------------------------------------------------- */

static int compare_queries(const void *left, const void *right)
{
    const pfb_identifier *a = &((const v2_query *)left)->identifier;
    const pfb_identifier *b = &((const v2_query *)right)->identifier;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Returns true if the result of the query may contain chosen values. If it names a counter or an instance, these must
 * be chosen. */
static bool is_query_chosen(const v2_query *query)
{
    const pfb_identifier *identifier = &query->identifier;
    const pfb_name *name = &identifier->name;
    bool has_instance_name = name->size_bytes > 0 && !pfb_query_is_pattern(name);
    return query->choice &&
           (identifier->counter_id == PFB_NO_ID || pfb_set_choice_has_counter(query->choice, identifier->counter_id)) &&
           (!has_instance_name || pfb_set_choice_has_instance(query->choice, identifier->counter_id, name));
}

/* Returns the position of the first query whose recorded index is at least `index`. */
static size_t find_query(const v2_reduction *r, uint32_t index)
{
    size_t low = 0;
    size_t high = r->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->queries[middle].identifier.index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sorts the queries by recorded index and gives the chosen ones ascending indexes without gaps. If several have the
 * same recorded index, the first is used. */
static bool sort_queries(v2_reduction *r, set_choice_finder *find, void *context)
{
    size_t count = 0;
    uint32_t chosen = 0;
    bool is_whole = true;
    if (r->count > 0)
        qsort(r->queries, r->count, sizeof *r->queries, compare_queries);
    for (size_t i = 0; i < r->count; i++) {
        v2_query query = r->queries[i];
        if (count > 0 && r->queries[count - 1].identifier.index == query.identifier.index)
            continue;
        if (!find(context, &query.identifier.counterset, &query.choice))
            return false;
        if (!is_query_chosen(&query))
            query.choice = NULL;
        query.index = chosen;
        chosen += query.choice != NULL;
        is_whole = is_whole && query.choice && !query.choice->has_counters && query.choice->pattern_count == 0;
        r->queries[count++] = query;
    }
    r->count = count;
    bool has_gaps = count > 0 && r->queries[count - 1].identifier.index != count - 1;
    r->is_whole = is_whole && !has_gaps;
    return true;
}

/* Appends a chosen query. If its recorded instance name is a pattern, the chosen pattern, if there is one, replaces it:
 * the recorded one may match instances that are not chosen. */
static bool append_query(const v2_reduction *r, const v2_query *query, pfb_bytes *info)
{
    enum { INDEX_OFFSET = 32 };
    const pfb_identifier *identifier = &query->identifier;
    size_t at = info->size_bytes;
    pfb_name pattern = pfb_set_choice_pattern(query->choice);
    if (pattern.bytes && pfb_query_is_pattern(&identifier->name)) {
        pfb_query changed = {.counterset = identifier->counterset,
                             .counter_id = identifier->counter_id,
                             .instance_id = identifier->instance_id,
                             .name = pattern,
                             .status = identifier->status};
        size_t size = pfb_query_size(&changed);
        if (!pfb_bytes_reserve(info, at + size))
            return false;
        info->size_bytes += pfb_query_write(&changed, info->data + at, size);
    } else if (!pfb_bytes_append(info, r->recorded.data + identifier->offset, identifier->size_bytes)) {
        return false;
    }
    if (info->size_bytes > at)
        put_le32(info->data + at + INDEX_OFFSET, query->index);
    return true;
}

bool pfb_reduce_info(v2_reduction *r, const void *info, size_t size, set_choice_finder *find, void *context,
                     pfb_bytes *reduced, pfb_error *error)
{
    pfb_list list;
    pfb_identifier identifier;
    r->count = 0;
    reduced->size_bytes = 0;
    if (!copy(&r->recorded, info, size))
        return false;
    pfb_list_open(&list, r->recorded.data, size, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        if (!PFB_COLLECT_GROW(r->queries, r->capacity, r->count + 1)) {
            r->count = 0; /* they are not sorted */
            return false;
        }
        r->queries[r->count++] = (v2_query){.identifier = identifier};
    }
    *error = list.error;
    if (!sort_queries(r, find, context)) {
        r->count = 0;
        return false;
    }
    bool has_memory = true;
    pfb_list_open(&list, r->recorded.data, size, NULL);
    while (has_memory && pfb_list_next_identifier(&list, &identifier)) { /* in the recorded order */
        const v2_query *query = &r->queries[find_query(r, identifier.index)];
        if (query->choice && query->identifier.offset == identifier.offset)
            has_memory = append_query(r, query, reduced);
    }
    return has_memory;
}

/* ---- Results --------------------------------------------------------------------------------------------- */

/* A V2 result of which only chosen counters or instances are copied. */
typedef struct partial_result {
    const set_choice *choice;
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
    const pfb_name *queried = &p->identifier->name;
    bool is_reduced = p->choice->has_counters && p->result->has_counter_ids;
    if (!instance && queried->size_bytes > 0 && !pfb_query_is_pattern(queried))
        instance = queried;
    while (pfb_v2_next_value(block, &value)) {
        if (is_reduced && !pfb_set_choice_has_counter(p->choice, value.counter_id))
            continue;
        bool is_empty = is_reduced && instance && !pfb_set_choice_has_instance(p->choice, value.counter_id, instance);
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
            if (!pfb_set_choice_has_instance(p->choice, p->identifier->counter_id, &instance.name))
                continue;
            pfb_write_instance(writer, instance.id, &instance.name);
        }
        write_values(writer, p, &block, instance.name.bytes ? &instance.name : NULL);
    }
    pfb_write_end_result(writer);
    pfb_write_end_v2(writer);
}

/* Returns the chosen counter ids of a result, and stores their number in *count. Free with free(). Null when memory is
 * exhausted. */
static uint32_t *choose_ids(const set_choice *choice, const pfb_v2_reader *block, const pfb_v2_result *result,
                            uint32_t *count)
{
    uint32_t *ids = calloc((size_t)result->counter_count + 1, sizeof *ids);
    uint32_t id = 0;
    *count = 0;
    for (uint32_t i = 0; ids && pfb_v2_counter_id(block, result, i, &id); i++) {
        if (!choice->has_counters || pfb_set_choice_has_counter(choice, id))
            ids[(*count)++] = id;
    }
    return ids;
}

/* Returns true if the result of a chosen query may be copied, completely or in part. A result without counter ids has
 * the counter of its identifier block, which must be chosen. The contents of a result of an unknown kind are not known,
 * so it is copied only if all counters and instances are chosen. */
static bool is_result_chosen(const v2_query *query, const pfb_v2_result *result)
{
    uint32_t kind = result->kind;
    if (kind == PFB_V2_ERROR || result->has_counter_ids)
        return true;
    bool has_known_kind = kind == PFB_V2_SINGLE_COUNTER || has_instances(kind);
    bool is_identified = pfb_set_choice_has_counter(query->choice, query->identifier.counter_id);
    return has_known_kind ? is_identified : !query->choice->has_counters && query->choice->pattern_count == 0;
}

/* Appends an error result in place of one that may not be copied, so that the results after it keep their indexes. */
static bool append_error(pfb_bytes *reduced)
{
    enum { RESULT_HEADER_BYTES = 16 };
    uint8_t header[RESULT_HEADER_BYTES] = {0};
    put_le32(header, PFB_WIN32_COUNTER_NOT_FOUND);
    put_le32(header + 4, PFB_V2_ERROR);
    put_le32(header + 8, sizeof header);
    return pfb_bytes_append(reduced, header, sizeof header);
}

/* Appends the chosen part of a result. */
static bool append_result(const v2_query *query, const uint8_t *data, const pfb_v2_reader *block,
                          const pfb_v2_result *result, pfb_bytes *reduced, pfb_error *error)
{
    const set_choice *choice = query->choice;
    bool is_partial =
        (choice->has_counters && result->has_counter_ids) || (choice->pattern_count > 0 && has_instances(result->kind));
    if (!is_result_chosen(query, result))
        return append_error(reduced);
    if (!is_partial)
        return pfb_bytes_append(reduced, data + result->offset, result->size_bytes);
    partial_result p = {
        .choice = choice, .identifier = &query->identifier, .data = data, .block = block, .result = result};
    uint32_t *ids = choose_ids(choice, block, result, &p.id_count);
    p.ids = ids;
    bool has_memory = ids && append_written(reduced, write_partial_result, &p, DATA_HEADER_BYTES, error);
    free(ids);
    return has_memory;
}

/* ---- Replies --------------------------------------------------------------------------------------------- */

bool pfb_reduce_reply(const v2_reduction *r, const void *reply, size_t reply_size, pfb_bytes *reduced, pfb_error *error)
{
    pfb_v2_reader block;
    pfb_v2_result result;
    pfb_v2_instance instance;
    uint32_t count = 0;
    bool has_memory = true;
    bool is_open = pfb_v2_open(&block, reply, reply_size, NULL);
    *error = block.error;
    reduced->size_bytes = 0;
    if (!is_open)
        return true;
    pfb_v2_reader rest = block;
    bool is_whole = r->is_whole && block.result_count <= r->count && block.total_size_bytes == reply_size;
    if (is_whole && pfb_v2_finish(&rest).code == PFB_OK)
        return pfb_bytes_append(reduced, reply, reply_size);
    if (!pfb_bytes_append(reduced, reply, DATA_HEADER_BYTES))
        return false;
    for (size_t at = 0; has_memory && error->code == PFB_OK && pfb_v2_next_result(&block, &result);) {
        size_t size = reduced->size_bytes;
        while (at < r->count && r->queries[at].identifier.index < result.index)
            at++;
        const v2_query *query = at < r->count ? &r->queries[at] : NULL;
        if (!query || query->identifier.index != result.index || !query->choice)
            continue;
        has_memory = append_result(query, reply, &block, &result, reduced, error);
        while (pfb_v2_next_instance(&block, &instance)) /* reads the whole result, to find its errors */
            continue;
        if (block.error.code != PFB_OK)
            *error = block.error;
        if (error->code != PFB_OK)
            reduced->size_bytes = size;
        else
            count++;
    }
    put_le32(reduced->data, reduced->size_bytes);
    put_le32(reduced->data + 4, count);
    if (error->code == PFB_OK)
        *error = block.error;
    return has_memory;
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

/* A registration reply of which the chosen counters are written, or an instance list of which the chosen names are. */
typedef struct partial_reply {
    const set_choice *choice;
    const void *reply;
    size_t size;
} partial_reply;

static void write_counters(pfb_writer *writer, const void *context)
{
    const partial_reply *p = context;
    pfb_registration registration;
    pfb_counter counter;
    uint32_t count = 0;
    if (!pfb_registration_open(&registration, p->reply, p->size, NULL))
        return;
    for (uint32_t i = 0; pfb_registration_counter_at(&registration, i, &counter); i++)
        count += pfb_set_choice_has_counter(p->choice, counter.id);
    pfb_write_counterset(writer, &registration.guid, registration.detail_level, registration.instance_type, count);
    for (uint32_t i = 0; pfb_registration_counter_at(&registration, i, &counter); i++) {
        if (pfb_set_choice_has_counter(p->choice, counter.id))
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

/* Lists the first entry of each chosen counter, in the order of compare_by_text(). Returns false when memory is
 * exhausted. */
static bool list_strings(string_list *list, const partial_reply *p)
{
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    size_t count = 0;
    pfb_registration_strings_open(&strings, p->reply, p->size, NULL);
    while (pfb_registration_strings_next_string(&strings, &entry)) {
        if (!pfb_set_choice_has_counter(p->choice, entry.counter_id))
            continue;
        if (!PFB_COLLECT_GROW(list->entries, list->capacity, list->count + 1))
            return false;
        list->entries[list->count++] = entry;
    }
    if (list->count == 0)
        return true;
    qsort(list->entries, list->count, sizeof *list->entries, compare_by_counter);
    for (size_t i = 0; i < list->count; i++) {
        if (count == 0 || list->entries[count - 1].counter_id != list->entries[i].counter_id)
            list->entries[count++] = list->entries[i];
    }
    list->count = count;
    qsort(list->entries, count, sizeof *list->entries, compare_by_text);
    return true;
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

/* Appends the strings of a list (PERF_STRING_BUFFER_HEADER). Entries that share a string are adjacent, and the string
 * is stored once. */
static bool append_list(const string_list *list, pfb_bytes *reduced, pfb_error *error)
{
    enum { HEADER_BYTES = 8, ENTRY_BYTES = 8 };
    static const uint8_t padding[8];
    uint8_t numbers[ENTRY_BYTES];
    uint64_t start = HEADER_BYTES + (uint64_t)ENTRY_BYTES * list->count;
    uint64_t end = start;
    for (size_t i = 0; i < list->count; i++)
        end += i > 0 && has_same_text(&list->entries[i - 1], &list->entries[i]) ? 0 : text_size(&list->entries[i]);
    uint64_t size = end + (8 - end % 8) % 8;
    if (size > UINT32_MAX) {
        *error = (pfb_error){PFB_CALLER_ARGUMENT, 0};
        return true;
    }
    put_le32(numbers, (size_t)size);
    put_le32(numbers + 4, list->count);
    bool has_memory = pfb_bytes_append(reduced, numbers, HEADER_BYTES);
    for (size_t i = 0; i < list->count && has_memory; i++) {
        const pfb_registration_string_entry *entry = &list->entries[i];
        bool is_new_string = i > 0 && !has_same_text(entry - 1, entry);
        start += is_new_string ? text_size(entry - 1) : 0;
        put_le32(numbers, entry->counter_id);
        put_le32(numbers + 4, entry->text.bytes ? (size_t)start : PFB_NO_ID);
        has_memory = pfb_bytes_append(reduced, numbers, ENTRY_BYTES);
    }
    for (size_t i = 0; i < list->count && has_memory; i++) {
        const pfb_registration_string_entry *entry = &list->entries[i];
        if (i == 0 || !has_same_text(entry - 1, entry))
            has_memory = pfb_bytes_append(reduced, entry->text.bytes, text_size(entry));
    }
    return has_memory && pfb_bytes_append(reduced, padding, (size_t)(size - end));
}

bool pfb_reduce_registration(const set_choice *choice, uint32_t request, const void *reply, size_t size,
                             pfb_bytes *reduced, pfb_error *error)
{
    const partial_reply p = {.choice = choice, .reply = reply, .size = size};
    string_list list = {.entries = NULL};
    bool has_strings = request == PFB_REQUEST_COUNTER_NAMES || request == PFB_REQUEST_COUNTER_HELPS ||
                       request == PFB_REQUEST_COUNTER_ENGLISH_NAMES;
    *error = (pfb_error){PFB_OK, 0};
    reduced->size_bytes = 0;
    if (choice->has_counters && request == PFB_REQUEST_COUNTERSET)
        return append_written(reduced, write_counters, &p, 0, error);
    if (!choice->has_counters || !has_strings)
        return pfb_bytes_append(reduced, reply, size);
    bool has_memory = list_strings(&list, &p) && append_list(&list, reduced, error);
    free(list.entries);
    return has_memory;
}

static void write_instances(pfb_writer *writer, const void *context)
{
    const partial_reply *p = context;
    pfb_list list;
    pfb_listed_instance instance;
    pfb_list_open(&list, p->reply, p->size, NULL);
    while (pfb_list_next_instance(&list, &instance)) {
        if (pfb_set_choice_has_instance(p->choice, PFB_NO_ID, &instance.name))
            pfb_write_listed_instance(writer, instance.id, &instance.name);
    }
}

bool pfb_reduce_instances(const set_choice *choice, const void *list, size_t size, pfb_bytes *reduced, pfb_error *error)
{
    const partial_reply p = {.choice = choice, .reply = list, .size = size};
    *error = (pfb_error){PFB_OK, 0};
    reduced->size_bytes = 0;
    if (choice->pattern_count > 0)
        return append_written(reduced, write_instances, &p, 0, error);
    return pfb_bytes_append(reduced, list, size);
}

void pfb_reduce_v2_free(v2_reduction *r)
{
    pfb_bytes_free(&r->recorded);
    free(r->queries);
    *r = (v2_reduction){.count = 0};
}
