/* SPDX-License-Identifier: MIT */
/* Calls the readers and the functions of samples in any order, with any capacities, on two inputs.
 *
 * Input: { sizes u16[2] little-endian }, then two blocks of these sizes as far as the input goes, then calls up to the
 * end, at most MAX_CALLS: { function u8: index in `calls` below, modulo its length; argument u8 }. Samples read either
 * block, all other readers the first one. Options are strict where the first size is odd. */
#include "checks.h"
#include "perfblock/capture.h"
#include "perfblock/log.h"
#include "perfblock/pdh_text.h"
#include "perfblock/query.h"
#include "perfblock/sample.h"
#include "perfblock/v2.h"
#include "strict.h"
#include "v1_readers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER_BYTES = 4, MAX_CALLS = 2000 };

typedef struct table {
    pfb_sample_input input;
    pfb_sample_counts counts;
    pfb_sample sample;
    void *memory;
    bool is_loaded;
} table;

typedef struct state {
    uint8_t *data[2];
    size_t size[2];
    const pfb_read_options *options;
    pfb_v2_reader v2;
    pfb_v2_result result;
    pfb_v1_reader v1;
    pfb_capture capture;
    pfb_name_table names;
    pfb_registration registration;
    uint32_t *order; /* of the registration, or null */
    pfb_registration_strings strings;
    pfb_list list;
    pfb_pdh_text_reader text;
    pfb_log_reader log;
    pfb_log_record record;
    bool has_record;
    table older, newer;
    bool is_matched;
} state;

/* Allocates exactly `size` bytes (at least 1), so that a sanitizer detects an access past them. Ends the process on
 * failure. */
static void *allocate(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    if (!memory)
        abort();
    return memory;
}

/* Checks a call of a reader: after an error it returns false and keeps the error. */
static void check(bool is_returned, pfb_error before, pfb_error after)
{
    require(before.code == PFB_OK || (!is_returned && before.code == after.code && before.offset == after.offset),
            "the first error stays");
}

static void check_name(const state *s, const pfb_name *name)
{
    const uint8_t *data = s->data[0];
    require(!name->bytes || (name->bytes >= data && name->bytes <= data + s->size[0] &&
                             name->size_bytes <= (size_t)(data + s->size[0] - name->bytes)),
            "a name lies in the input");
}

/* ---- V2 ------------------------------------------------------------------------------------------------------ */

static void v2_open(state *s, uint8_t argument)
{
    (void)argument;
    pfb_v2_open(&s->v2, s->data[0], s->size[0], s->options);
    s->result = (pfb_v2_result){.offset = 0};
}

static void v2_result(state *s, uint8_t argument)
{
    (void)argument;
    pfb_error before = s->v2.error;
    check(pfb_v2_next_result(&s->v2, &s->result), before, s->v2.error);
}

static void v2_instance(state *s, uint8_t argument)
{
    (void)argument;
    pfb_error before = s->v2.error;
    pfb_v2_instance instance;
    bool is_found = pfb_v2_next_instance(&s->v2, &instance);
    check(is_found, before, s->v2.error);
    if (is_found)
        check_name(s, &instance.name);
}

static void v2_value(state *s, uint8_t argument)
{
    pfb_v2_value value;
    for (unsigned i = 0; i <= argument; i++) {
        pfb_error before = s->v2.error;
        bool is_found = pfb_v2_next_value(&s->v2, &value);
        check(is_found, before, s->v2.error);
        require(!is_found || (value.offset <= s->size[0] &&
                              (uint64_t)PFB_V2_VALUE_HEADER_BYTES + value.data_size_bytes <= s->size[0] - value.offset),
                "a value lies in the input");
    }
}

static void v2_counter_id(state *s, uint8_t argument)
{
    uint32_t id;
    bool is_found = pfb_v2_counter_id(&s->v2, &s->result, argument, &id);
    require(!is_found || argument < s->result.counter_count, "a counter id has a position");
}

static void v2_values(state *s, uint8_t argument)
{
    size_t capacity = argument % 16U;
    uint32_t positions[2] = {argument / 16U, argument / 8U + 1};
    bool is_chosen = argument & 1;
    size_t columns = is_chosen ? 2 : s->result.counter_count;
    pfb_v2_values bulk = {.instance_capacity = capacity,
                          .instance_step = columns,
                          .position_step = 1,
                          .positions = is_chosen ? positions : NULL,
                          .position_count = 2};
    bulk.values = allocate(capacity * columns * sizeof *bulk.values);
    bulk.instances = allocate(capacity * sizeof *bulk.instances);
    pfb_error before = s->v2.error;
    bool is_found = pfb_v2_read_values(&s->v2, &bulk);
    check(is_found, before, s->v2.error);
    require(bulk.instance_count <= capacity, "there is space for the instances");
    for (size_t i = 0; i < bulk.instance_count; i++)
        check_name(s, &bulk.instances[i].name);
    free(bulk.values);
    free(bulk.instances);
}

static void v2_finish(state *s, uint8_t argument)
{
    (void)argument;
    pfb_error before = s->v2.error;
    check(false, before, pfb_v2_finish(&s->v2));
}

/* ---- V1 ------------------------------------------------------------------------------------------------------ */

static void v1_open(state *s, uint8_t argument)
{
    (void)argument;
    pfb_v1_open(&s->v1, s->data[0], s->size[0], s->options);
}

static void v1_object(state *s, uint8_t argument)
{
    (void)argument;
    pfb_error before = s->v1.error;
    pfb_v1_object object;
    pfb_v1_next_object(&s->v1, &object); /* malformed objects are returned, too */
    check(false, before, s->v1.error);
}

static void v1_counter(state *s, uint8_t argument)
{
    pfb_v1_counter counter;
    for (unsigned i = 0; i <= argument; i++) {
        pfb_error before = s->v1.object_error;
        check(pfb_v1_next_counter(&s->v1, &counter), before, s->v1.object_error);
    }
}

static void v1_instance(state *s, uint8_t argument)
{
    (void)argument;
    pfb_error before = s->v1.object_error;
    pfb_v1_instance instance;
    bool is_found = pfb_v1_next_instance(&s->v1, &instance);
    check(is_found, before, s->v1.object_error);
    if (is_found)
        check_name(s, &instance.name);
}

static void v1_value(state *s, uint8_t argument)
{
    pfb_v1_value value;
    for (unsigned i = 0; i <= argument; i++) {
        pfb_error before = s->v1.object_error;
        bool is_found = pfb_v1_next_value(&s->v1, &value);
        check(is_found, before, s->v1.object_error);
        require(!is_found || (value.offset <= s->size[0] && value.size_bytes <= s->size[0] - value.offset),
                "a value lies in the input");
    }
}

static void v1_finish(state *s, uint8_t argument)
{
    (void)argument;
    pfb_error before = s->v1.error;
    check(false, before, read_rest_of_v1(&s->v1));
}

/* ---- Name tables ---------------------------------------------------------------------------------------------- */

static void names_open(state *s, uint8_t argument)
{
    (void)argument;
    pfb_name_table_open(&s->names, s->data[0], s->size[0], s->options);
}

static void names_entry(state *s, uint8_t argument)
{
    (void)argument;
    pfb_error before = s->names.error;
    pfb_name_entry entry;
    bool is_found = pfb_name_table_next_entry(&s->names, &entry);
    check(is_found, before, s->names.error);
    if (is_found)
        check_name(s, &entry.name);
}

static void names_index(state *s, uint8_t argument)
{
    pfb_name_index index;
    pfb_name_entry *entries = allocate(argument * sizeof *entries);
    uint32_t *by_index = allocate(argument * sizeof *by_index);
    uint32_t *by_name = allocate(argument * sizeof *by_name);
    pfb_error error = pfb_name_index_build(&index, &s->names, entries, by_index, by_name, argument);
    pfb_name_table copy = s->names;
    uint32_t count = pfb_name_table_count(&copy);
    require(index.count == (count < argument ? count : argument), "an index has the pairs that fit");
    require((error.code == PFB_CALLER_TOO_SMALL) == (count > argument), "a lack of space is reported");
    for (uint32_t i = 0; i < index.count; i++) {
        const pfb_name_entry *found = pfb_name_index_find(&index, entries[i].index);
        require(found && found->index == entries[i].index && found <= &entries[i], "each pair is found by its index");
    }
    free(entries);
    free(by_index);
    free(by_name);
}

static void names_finish(state *s, uint8_t argument)
{
    (void)argument;
    pfb_error before = s->names.error;
    pfb_name_table_count(&s->names);
    check(false, before, s->names.error);
}

/* ---- Metadata ------------------------------------------------------------------------------------------------- */

static void registration_open(state *s, uint8_t argument)
{
    (void)argument;
    free(s->order);
    s->order = NULL;
    pfb_registration_open(&s->registration, s->data[0], s->size[0], s->options);
}

static void registration_counter(state *s, uint8_t argument)
{
    pfb_counter counter;
    pfb_error before = s->registration.error;
    check(pfb_registration_counter_at(&s->registration, argument, &counter), before, s->registration.error);
}

static void registration_find(state *s, uint8_t argument)
{
    pfb_counter at, found;
    if (pfb_registration_counter_at(&s->registration, argument, &at))
        require(pfb_registration_find(&s->registration, at.id, &found) && found.id == at.id &&
                    found.offset <= at.offset,
                "the first counter of an id is found");
}

static void registration_sort(state *s, uint8_t argument)
{
    (void)argument;
    if (s->order || s->registration.error.code != PFB_OK)
        return;
    s->order = allocate(s->registration.counter_count * sizeof *s->order);
    pfb_registration_sort(&s->registration, s->order);
}

static void strings_open(state *s, uint8_t argument)
{
    (void)argument;
    pfb_registration_strings_open(&s->strings, s->data[0], s->size[0], s->options);
}

static void strings_string(state *s, uint8_t argument)
{
    (void)argument;
    pfb_error before = s->strings.error;
    pfb_registration_string_entry entry;
    bool is_found = pfb_registration_strings_next_string(&s->strings, &entry);
    check(is_found, before, s->strings.error);
    if (is_found)
        check_name(s, &entry.text);
}

static void list_open(state *s, uint8_t argument)
{
    (void)argument;
    pfb_list_open(&s->list, s->data[0], s->size[0], s->options);
}

static void list_item(state *s, uint8_t argument)
{
    pfb_error before = s->list.error;
    pfb_guid guid;
    pfb_identifier identifier;
    pfb_listed_instance instance;
    bool is_found = argument % 3 == 0   ? pfb_list_next_guid(&s->list, &guid)
                    : argument % 3 == 1 ? pfb_list_next_identifier(&s->list, &identifier)
                                        : pfb_list_next_instance(&s->list, &instance);
    check(is_found, before, s->list.error);
}

/* ---- Recordings and logs ---------------------------------------------------------------------------------------- */

static void capture_open(state *s, uint8_t argument)
{
    size_t size = argument == 0 ? s->size[0] : s->size[0] * argument / 255;
    pfb_capture_open(&s->capture, s->data[0], size, argument == 0, s->options);
}

static void capture_chunk(state *s, uint8_t argument)
{
    pfb_chunk chunk;
    pfb_error before = s->capture.error;
    bool is_found = pfb_capture_next_chunk(&s->capture, &chunk);
    check(is_found, before, s->capture.error);
    if (is_found || !s->capture.needs_more)
        return;
    size_t start = (size_t)s->capture.window_offset + s->capture.resume_offset;
    require(start <= s->size[0], "the next window begins in the input");
    pfb_capture_continue(&s->capture, s->data[0] + start, s->size[0] - start, argument & 1);
}

static void text_open(state *s, uint8_t argument)
{
    (void)argument;
    pfb_pdh_text_open(&s->text, s->data[0], s->size[0], true, s->options);
}

static void text_item(state *s, uint8_t argument)
{
    pfb_error before = s->text.error;
    pfb_pdh_text_path path;
    pfb_pdh_text_row row;
    pfb_pdh_text_value value;
    bool is_found = argument % 4 == 0   ? pfb_pdh_text_next_path(&s->text, &path)
                    : argument % 4 == 1 ? pfb_pdh_text_next_row(&s->text, &row)
                                        : pfb_pdh_text_next_value(&s->text, &value);
    check(is_found, before, s->text.error);
}

static void log_open(state *s, uint8_t argument)
{
    (void)argument;
    s->has_record = false;
    pfb_log_open(&s->log, s->data[0], s->size[0], true, s->options);
}

static void log_record(state *s, uint8_t argument)
{
    (void)argument;
    pfb_error before = s->log.error;
    s->has_record = pfb_log_next_record(&s->log, &s->record);
    check(s->has_record, before, s->log.error);
}

static void log_copy(state *s, uint8_t argument)
{
    if (!s->has_record)
        return;
    size_t size = s->record.size_bytes;
    size_t capacity = argument == 255 ? size : argument;
    uint8_t *bytes = allocate(capacity);
    size_t copied = pfb_log_copy_record(&s->log, &s->record, bytes, capacity);
    require(copied == (size < capacity ? size : capacity), "a record is copied as far as there is space");
    require(pfb_log_record_offset(&s->log, &s->record, argument) <= s->size[0], "an offset lies in the log");
    pfb_log_sample_reader reader;
    pfb_log_item item;
    pfb_log_instance instance;
    if (s->record.type == PFB_LOG_SAMPLE && pfb_log_open_sample(&reader, bytes, copied, s->options)) {
        pfb_log_next_instance(&reader, &instance);
        while (pfb_log_next_item(&reader, &item) && item.offset % 3 != argument % 3U)
            pfb_log_next_instance(&reader, &instance);
        while (pfb_log_next_item(&reader, &item))
            continue;
    }
    free(bytes);
}

/* ---- Samples ---------------------------------------------------------------------------------------------------- */

static table *choose_table(state *s, uint8_t argument)
{
    return argument & 1 ? &s->newer : &s->older;
}

static void sample_measure(state *s, uint8_t argument)
{
    table *t = choose_table(s, argument);
    size_t which = argument >> 1 & 1;
    if (t->is_loaded) /* a loaded sample keeps its input until sample_unload */
        return;
    t->input = (pfb_sample_input){.data = s->data[which], .data_size_bytes = s->size[which], .options = s->options};
    t->input.identity = argument >> 2 & 1;
    pfb_sample_measure(&t->input, &t->counts);
}

static void sample_load(state *s, uint8_t argument)
{
    table *t = choose_table(s, argument);
    size_t needed = pfb_sample_size(&t->counts);
    size_t capacity = argument & 2 ? needed * (argument >> 2) / 63 : needed;
    if (needed > (size_t)16 << 20)
        return;
    free(t->memory);
    t->memory = allocate(capacity);
    t->is_loaded = true;
    s->is_matched = false;
    pfb_error error = pfb_sample_load(&t->sample, &t->input, &t->counts, t->memory, capacity);
    require(capacity >= needed || error.code == PFB_CALLER_TOO_SMALL, "a lack of space is reported");
}

static void sample_unload(state *s, uint8_t argument)
{
    table *t = choose_table(s, argument);
    t->is_loaded = false;
    s->is_matched = false;
    t->counts = (pfb_sample_counts){.results = 0};
}

static void sample_number(state *s, uint8_t argument)
{
    if (choose_table(s, argument)->is_loaded)
        pfb_sample_number_rows(&choose_table(s, argument)->sample);
}

static void sample_match(state *s, uint8_t argument)
{
    uint32_t results[2] = {argument >> 1 & 7, argument >> 4};
    if (!s->older.is_loaded || !s->newer.is_loaded)
        return;
    if (argument & 1 || !s->is_matched)
        pfb_sample_match(&s->older.sample, &s->newer.sample, NULL, 0);
    else
        pfb_sample_match(&s->older.sample, &s->newer.sample, results, 2);
    s->is_matched = true;
    for (uint32_t row = 0; row < s->newer.sample.counts.rows; row++) {
        uint32_t older = s->newer.sample.rows[row].older_row;
        require(older == PFB_NONE || older < s->older.sample.counts.rows, "a row is matched with a row");
    }
}

static void sample_cook(state *s, uint8_t argument)
{
    const pfb_sample *newer = &s->newer.sample;
    const pfb_sample *older = s->is_matched && (argument & 1) ? &s->older.sample : NULL;
    uint32_t results[2] = {argument >> 2 & 3, argument >> 4};
    if (!s->newer.is_loaded)
        return;
    size_t count = (size_t)newer->counts.values;
    size_t capacity = argument & 2 && count > 0 ? count - 1 : count;
    double *values = allocate(capacity * sizeof *values);
    uint8_t *statuses = allocate(capacity);
    bool is_cooked = argument & 64 ? pfb_sample_cook(older, newer, results, 2, NULL, values, statuses, capacity)
                                   : pfb_sample_cook(older, newer, NULL, 0, NULL, values, statuses, capacity);
    require(is_cooked == (capacity == count), "a lack of space is reported");
    free(values);
    free(statuses);
}

static void sample_value(state *s, uint8_t argument)
{
    const pfb_sample *newer = &s->newer.sample;
    if (!s->newer.is_loaded)
        return;
    uint32_t row = argument % 16U, column = argument / 16U;
    pfb_sample_value value = pfb_sample_value_at(newer, row, column);
    bool is_inside = row < newer->counts.rows && column < newer->counts.columns;
    require(is_inside || !value.exists, "there is no value outside the table");
    pfb_raw_value raw = pfb_sample_raw_value(newer, row, column);
    require(is_inside || raw.has == 0, "there is no raw value outside the table");
    if (is_inside && newer->columns[column].result == newer->rows[row].result)
        pfb_sample_cook_value(s->is_matched ? &s->older.sample : NULL, newer, row, column, NULL, NULL);
}

static void (*const calls[])(state *s, uint8_t argument) = {
    v2_open,
    v2_result,
    v2_instance,
    v2_value,
    v2_counter_id,
    v2_values,
    v2_finish,
    v1_open,
    v1_object,
    v1_counter,
    v1_instance,
    v1_value,
    v1_finish,
    names_open,
    names_entry,
    names_index,
    names_finish,
    registration_open,
    registration_counter,
    registration_find,
    registration_sort,
    strings_open,
    strings_string,
    list_open,
    list_item,
    capture_open,
    capture_chunk,
    text_open,
    text_item,
    log_open,
    log_record,
    log_copy,
    sample_measure,
    sample_load,
    sample_unload,
    sample_number,
    sample_match,
    sample_cook,
    sample_value,
};

enum { CALL_COUNT = sizeof calls / sizeof calls[0] };

static void take_block(state *s, size_t which, size_t size, const uint8_t **data, size_t *left)
{
    s->size[which] = size < *left ? size : *left;
    s->data[which] = allocate(s->size[which]);
    memcpy(s->data[which], *data, s->size[which]);
    *data += s->size[which];
    *left -= s->size[which];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    state s = {.has_record = false};
    if (size < HEADER_BYTES)
        return 0;
    size_t sizes[2] = {data[0] | (size_t)data[1] << 8, data[2] | (size_t)data[3] << 8};
    s.options = sizes[0] & 1 ? STRICT : NULL;
    data += HEADER_BYTES;
    size -= HEADER_BYTES;
    take_block(&s, 0, sizes[0], &data, &size);
    take_block(&s, 1, sizes[1], &data, &size);

    static void (*const open[])(state * s, uint8_t argument) = {
        v2_open, v1_open, names_open, registration_open, strings_open, list_open, capture_open, text_open, log_open};
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        open[i](&s, 0);
    for (size_t i = 0; i + 1 < size && i < (size_t)2 * MAX_CALLS; i += 2)
        calls[data[i] % CALL_COUNT](&s, data[i + 1]);

    free(s.order);
    free(s.older.memory);
    free(s.newer.memory);
    free(s.data[0]);
    free(s.data[1]);
    return 0;
}
