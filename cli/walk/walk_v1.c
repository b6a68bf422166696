/* SPDX-License-Identifier: MIT */
/* The part of the walk that reads V1 blocks and name tables. */
#include "memory/memory.h"
#include "names/names.h"
#include "names/v1.h"
#include "perfblock/sample.h"
#include "perfblock/v1.h"
#include "walk/walk.h"

#include <inttypes.h>
#include <stdlib.h>

/* State of the records of a block. */
typedef struct v1_walk {
    walk *w;
    const file_bytes *bytes;
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    uint32_t *counters; /* title indexes of the object's counters, by position */
    size_t counter_count, counter_capacity;
    pfb_sample table; /* the block as a table, which has parents and occurrences; empty if nothing is printed */
    void *memory;     /* of the table */
} v1_walk;

static bool is_text(const v1_walk *l)
{
    return l->w->out->format == OUTPUT_TEXT;
}

/* ---- Blocks and objects ---------------------------------------------------------------------------------- */

static void print_block(const v1_walk *l)
{
    output *out = l->w->out;
    const pfb_v1_reader *block = &l->block;
    char time[NAMES_TIME_BYTES];
    output_begin(out, "data", l->bytes->depth);
    output_offset(out, l->bytes->base);
    output_unsigned(out, "version", block->version);
    output_unsigned(out, "size", block->total_size_bytes);
    output_unsigned(out, "objects", block->object_count);
    output_signed(out, "perf_time", block->perf_time);
    output_signed(out, "perf_time_100ns", block->perf_time_100ns);
    output_signed(out, "perf_freq", block->perf_freq);
    output_word(out, "system_time", names_of_time(&block->system_time, time));
    if (!is_text(l)) {
        output_unsigned(out, "revision", block->revision);
        output_bool(out, "big_endian", block->is_big_endian);
        output_signed(out, "default_object", block->default_object);
    }
    output_name(out, "system_name", block->system_name);
    output_end(out);
}

static void print_object(const v1_walk *l)
{
    output *out = l->w->out;
    const pfb_v1_object *object = &l->object;
    output_begin(out, "object", l->bytes->depth + 1);
    output_offset(out, l->bytes->base + object->offset);
    output_unsigned(out, "object", object->title_index);
    output_name(out, "name", title_names_find(l->w->titles, object->title_index));
    output_signed(out, "instances", object->instance_count);
    output_unsigned(out, "code_page", object->code_page);
    output_unsigned(out, "size", object->size_bytes);
    output_unsigned(out, "counters", object->counter_count);
    if (!is_text(l)) {
        output_unsigned(out, "help", object->help_index);
        output_unsigned(out, "detail_level", object->detail_level);
        output_signed(out, "default_counter", object->default_counter);
        output_signed(out, "perf_time", object->perf_time);
        output_signed(out, "perf_freq", object->perf_freq);
    }
    output_end(out);
}

static void print_counter(const v1_walk *l, const pfb_v1_counter *counter)
{
    output *out = l->w->out;
    char type[NAMES_TYPE_BYTES];
    output_begin(out, "counter", l->bytes->depth + 2);
    output_offset(out, l->bytes->base + counter->offset);
    if (!is_text(l))
        output_unsigned(out, "object", l->object.title_index);
    output_unsigned(out, "counter", counter->title_index);
    output_unsigned(out, "position", counter->position);
    output_word(out, "type", names_of_type(counter->type, type));
    output_unsigned(out, "bytes", counter->size_bytes);
    output_unsigned(out, "value_offset", counter->value_offset);
    output_name(out, "name", title_names_find(l->w->titles, counter->title_index));
    if (!is_text(l)) {
        output_unsigned(out, "type_value", counter->type);
        output_unsigned(out, "help", counter->help_index);
        output_unsigned(out, "detail_level", counter->detail_level);
        output_signed(out, "default_scale", counter->default_scale);
    }
    output_end(out);
}

/* ---- Instances and values -------------------------------------------------------------------------------- */

/* The instance as a row of the table; null if nothing is printed. */
static const pfb_sample_row *find_row(const v1_walk *l)
{
    if (l->object.position >= l->table.counts.results)
        return NULL;
    const pfb_sample_result *result = &l->table.results[l->object.position];
    return l->instance.position < result->row_count ? &l->table.rows[result->first_row + l->instance.position] : NULL;
}

/* The parent: its name if it was found, and its title index and position as the block has them. */
static void print_parent(const v1_walk *l, const pfb_sample_row *row)
{
    output *out = l->w->out;
    output_name(out, "parent", row ? row->parent : (pfb_name){0});
    if (l->instance.parent_title != 0) {
        output_unsigned(out, "parent_object", l->instance.parent_title);
        output_unsigned(out, "parent_instance", l->instance.parent_position);
    } else {
        output_null(out, "parent_object");
        output_null(out, "parent_instance");
    }
}

static void print_instance(const v1_walk *l)
{
    output *out = l->w->out;
    const pfb_sample_row *row = find_row(l);
    output_begin(out, "instance", l->bytes->depth + 2);
    output_offset(out, l->bytes->base + l->instance.offset);
    if (!is_text(l))
        output_unsigned(out, "object", l->object.title_index);
    output_unsigned(out, "instance", l->instance.position);
    output_name(out, "name", l->instance.name);
    if (!is_text(l) || l->instance.unique_id != PFB_V1_NO_UNIQUE_ID)
        output_signed(out, "unique_id", l->instance.unique_id);
    if (!is_text(l) || (row && row->occurrence > 0))
        output_unsigned(out, "occurrence", row ? row->occurrence : 0);
    print_parent(l, row);
    output_end(out);
}

static void print_number(output *out, const char *key, bool exists, uint64_t number)
{
    if (exists)
        output_unsigned(out, key, number);
    else
        output_null(out, key);
}

static void print_value(const v1_walk *l, bool has_instances, const pfb_v1_value *value)
{
    output *out = l->w->out;
    output_begin(out, "value", l->bytes->depth + (has_instances ? 3 : 2));
    output_offset(out, l->bytes->base + value->offset);
    if (!is_text(l)) {
        output_unsigned(out, "object", l->object.title_index);
        print_number(out, "instance", has_instances, l->instance.position);
    }
    output_unsigned(out, "counter", value->position < l->counter_count ? l->counters[value->position] : 0);
    output_unsigned(out, "position", value->position);
    output_unsigned(out, "bytes", value->size_bytes);
    walk_print_raw(l->w, value->is_number, value->raw, l->bytes->data + value->offset, value->size_bytes);
    print_number(out, "base", value->has_base, value->base);
    print_number(out, "items", value->has_multi_count, value->multi_count);
    output_end(out);
}

/* ---- The bytes, for explain ------------------------------------------------------------------------------ */

/* The name of a title index; none without a page, which saves the search. */
static pfb_name title_of(const v1_walk *l, uint32_t index)
{
    return l->w->page ? title_names_find(l->w->titles, index) : (pfb_name){0};
}

static void explain_object(const v1_walk *l)
{
    pfb_name name = title_of(l, l->object.title_index);
    explain_begin(l->w->page, l->bytes, STRUCTURE_OBJECT_TYPE, l->object.offset,
                  l->block.object_count > EXPLAIN_MAX_OPEN, &name, "object %" PRIu32, l->object.title_index);
}

static void explain_counter(const v1_walk *l, const pfb_v1_counter *counter)
{
    pfb_name name = title_of(l, counter->title_index);
    explain_begin(l->w->page, l->bytes, STRUCTURE_COUNTER_DEFINITION, counter->offset,
                  l->object.counter_count > EXPLAIN_MAX_OPEN, &name, "counter %" PRIu32, counter->title_index);
    explain_end(l->w->page, l->bytes, 0);
}

static void explain_instance(const v1_walk *l, bool has_instances)
{
    explainer *page = l->w->page;
    if (has_instances) {
        explain_begin(page, l->bytes, STRUCTURE_INSTANCE_DEFINITION, l->instance.offset,
                      l->object.instance_count > EXPLAIN_MAX_OPEN, &l->instance.name, "%s", "");
        explain_name(page, l->bytes, &l->instance.name, 0, "name");
        explain_rest(page, l->bytes, l->instance.values_offset, "padding");
    }
    explain_begin(page, l->bytes, STRUCTURE_COUNTER_BLOCK, l->instance.values_offset, false, NULL, "%s", "");
}

static void explain_instance_end(const v1_walk *l, bool has_instances)
{
    explain_end(l->w->page, l->bytes, l->instance.values_offset + l->instance.values_size_bytes);
    if (has_instances)
        explain_end(l->w->page, l->bytes, 0);
}

static void explain_value(const v1_walk *l, const pfb_v1_value *value)
{
    uint32_t title = value->position < l->counter_count ? l->counters[value->position] : 0;
    buffer name = {0};
    buffer_clear(&name);
    name_cut(&name, title_of(l, title), 200);
    explain_row(l->w->page, l->bytes, value->offset, value->size_bytes, value->is_number ? FIELD_UNSIGNED : FIELD_BYTES,
                "value of counter %" PRIu32 "%s%s", title, name.size > 0 ? ": " : "", name.data);
    buffer_free(&name);
}

/* Prints the name of the machine if it begins before an offset, and returns whether it did. The name may be anywhere in
 * the block, and rows are printed in the order of their offsets. */
static bool explain_machine(const v1_walk *l, size_t offset)
{
    const pfb_name *name = &l->block.system_name;
    bool is_before = name->bytes && (size_t)(name->bytes - l->bytes->data) < offset;
    if (is_before)
        explain_name(l->w->page, l->bytes, name, 0, "name of the machine");
    return is_before;
}

/* ---- Walking --------------------------------------------------------------------------------------------- */

static void walk_object(v1_walk *l)
{
    walk *w = l->w;
    pfb_v1_counter counter;
    pfb_v1_value value;
    bool has_instances = l->object.instance_count != PFB_V1_NO_INSTANCES;
    w->counts.objects++;
    print_object(l);
    explain_object(l);
    l->counter_count = 0;
    while (!output_failed(w->out) && pfb_v1_next_counter(&l->block, &counter)) {
        l->counters = memory_grow(l->counters, &l->counter_capacity, l->counter_count + 1, sizeof *l->counters);
        l->counters[l->counter_count++] = counter.title_index;
        print_counter(l, &counter);
        explain_counter(l, &counter);
    }
    while (!output_failed(w->out) && pfb_v1_next_instance(&l->block, &l->instance)) {
        w->counts.instances += has_instances;
        if (has_instances && walk_has_records(w))
            print_instance(l);
        explain_instance(l, has_instances);
        while (!output_failed(w->out) && pfb_v1_next_value(&l->block, &value)) {
            w->counts.values++;
            if (walk_has_records(w))
                print_value(l, has_instances, &value);
            if (l->w->page)
                explain_value(l, &value);
        }
        explain_instance_end(l, has_instances);
    }
    walk_fail(w, l->bytes, l->block.object_error);
    explain_part_end(w->page, l->bytes, l->block.object_error, l->object.offset + l->object.size_bytes);
    explain_end(w->page, l->bytes, 0);
}

/* Loads the table of a block with a valid header. */
static void load_table(v1_walk *l)
{
    pfb_sample_input sample_input = {
        .data = l->bytes->data, .data_size_bytes = l->block.total_size_bytes, .options = l->w->options};
    pfb_sample_counts counts;
    pfb_sample_measure(&sample_input, &counts);
    size_t size = pfb_sample_size(&counts);
    l->memory = memory_get(size, 1);
    pfb_sample_load(&l->table, &sample_input, &counts, l->memory, size);
    pfb_sample_number_rows(&l->table);
}

static void walk_objects(v1_walk *l)
{
    walk *w = l->w;
    bool has_machine = false;
    w->counts.blocks++;
    if (walk_has_records(w))
        load_table(l);
    print_block(l);
    walk_fail(w, l->bytes, l->block.error); /* an invalid system name: the objects can be read */
    while (!output_failed(w->out) && pfb_v1_next_object(&l->block, &l->object)) {
        has_machine = has_machine || explain_machine(l, l->object.offset);
        walk_object(l);
    }
    if (!has_machine)
        explain_machine(l, SIZE_MAX);
    walk_note(w, l->bytes, l->block.notes);
    walk_fail(w, l->bytes, l->block.end_error);
    free(l->counters);
    free(l->memory);
}

void walk_v1(walk *w, const file_bytes *bytes, size_t *size)
{
    v1_walk l = {.w = w, .bytes = bytes};
    pfb_v1_open(&l.block, bytes->data, bytes->size, w->options);
    *size = l.block.total_size_bytes;
    explain_order(w->page, true, l.block.is_big_endian);
    explain_begin(w->page, bytes, STRUCTURE_DATA_BLOCK, 0, false, NULL, "V1 block");
    if (*size > 0)
        walk_objects(&l);
    else
        walk_fail(w, bytes, l.block.error);
    explain_part_end(w->page, bytes, *size > 0 ? l.block.end_error : l.block.error, *size > 0 ? *size : bytes->size);
    explain_end(w->page, bytes, 0);
    explain_order(w->page, false, false);
}

/* ---- Name tables ----------------------------------------------------------------------------------------- */

void walk_names(walk *w, const file_bytes *bytes)
{
    output *out = w->out;
    pfb_name_table table;
    pfb_name_entry entry;
    pfb_name_table_open(&table, bytes->data, bytes->size, w->options);
    explain_begin(w->page, bytes, STRUCTURE_NAME_TABLE, 0, false, NULL, "%s", "");
    while (!output_failed(out) && pfb_name_table_next_entry(&table, &entry)) {
        w->counts.items++;
        output_begin(out, "name", bytes->depth);
        output_offset(out, bytes->base + (size_t)(entry.name.bytes - bytes->data));
        output_unsigned(out, "index", entry.index);
        output_name(out, "name", entry.name);
        output_end(out);
        explain_rest(w->page, bytes, (size_t)(entry.name.bytes - bytes->data), "index and separators");
        explain_name(w->page, bytes, &entry.name, 0, "name of %" PRIu32, entry.index);
    }
    pfb_error error = pfb_name_table_finish(&table);
    walk_note(w, bytes, table.notes);
    walk_fail(w, bytes, error);
    explain_rest(w->page, bytes, bytes->size, error.code == PFB_OK ? "end" : "not read");
    explain_end(w->page, bytes, 0);
}
