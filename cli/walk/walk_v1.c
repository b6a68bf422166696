/* SPDX-License-Identifier: MIT */
/* The part of the walk that reads V1 blocks and name tables. */
#include "memory/memory.h"
#include "names/names.h"
#include "names/v1.h"
#include "perfblock/sample.h"
#include "perfblock/v1.h"
#include "walk/walk_parts.h"

#include <inttypes.h>
#include <stdlib.h>

/* State of the walk of a V1 block. */
typedef struct v1_walk {
    walk *w;
    const file_bytes *bytes;
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    uint32_t *counters; /* title indexes of the object's counters, by position */
    size_t counter_count, counter_capacity;
    pfb_sample table; /* the block as a table, which has parents and occurrences; empty if no records are written */
    void *memory;     /* of the table */
} v1_walk;

/* ---- Blocks and objects ---------------------------------------------------------------------------------- */

static void print_block(const v1_walk *v)
{
    output *out = v->w->out;
    walk_structure s = walk_begin(v->w, v->bytes, "data", 0, STRUCTURE_DATA_BLOCK, 0);
    walk_print_fields(&s, "Version");
    output_unsigned(out, "size", v->block.total_size_bytes); /* the reader may have corrected TotalByteLength */
    walk_print_fields(&s, "NumObjectTypes, PerfTime, PerfTime100nSec, PerfFreq, SystemTime");
    if (!walk_is_text(v->w)) {
        walk_print_fields(&s, "Revision");
        output_bool(out, "big_endian", v->block.is_big_endian);
        walk_print_fields(&s, "DefaultObject");
    }
    output_name(out, "system_name", v->block.system_name);
    output_end(out);
}

static void print_object(const v1_walk *v)
{
    output *out = v->w->out;
    const pfb_v1_object *object = &v->object;
    walk_structure s = walk_begin(v->w, v->bytes, "object", 1, STRUCTURE_OBJECT_TYPE, object->offset);
    walk_print_fields(&s, "ObjectNameTitleIndex");
    output_name(out, "name", title_names_find(v->w->titles, object->title_index));
    walk_print_fields(&s, "NumInstances, CodePage, TotalByteLength, NumCounters");
    if (!walk_is_text(v->w))
        walk_print_fields(&s, "ObjectHelpTitleIndex, DetailLevel, DefaultCounter, PerfTime, PerfFreq");
    output_end(out);
}

static void print_counter(const v1_walk *v, const pfb_v1_counter *counter)
{
    output *out = v->w->out;
    char type[NAMES_TYPE_BYTES];
    walk_structure s = walk_begin(v->w, v->bytes, "counter", 2, STRUCTURE_COUNTER_DEFINITION, counter->offset);
    if (!walk_is_text(v->w))
        output_unsigned(out, "object", v->object.title_index);
    walk_print_fields(&s, "CounterNameTitleIndex");
    output_unsigned(out, "position", counter->position);
    output_word(out, "type", names_of_type(counter->type, type));
    walk_print_fields(&s, "CounterSize, CounterOffset");
    output_name(out, "name", title_names_find(v->w->titles, counter->title_index));
    if (!walk_is_text(v->w))
        walk_print_fields(&s, "CounterType, CounterHelpTitleIndex, DetailLevel, DefaultScale");
    output_end(out);
}

/* ---- Instances and values -------------------------------------------------------------------------------- */

/* Returns the row of the current instance in the table, or null if the table does not have it. */
static const pfb_sample_row *find_row(const v1_walk *v)
{
    if (v->object.position >= v->table.counts.results)
        return NULL;
    const pfb_sample_result *result = &v->table.results[v->object.position];
    return v->instance.position < result->row_count ? &v->table.rows[result->first_row + v->instance.position] : NULL;
}

static void print_instance(const v1_walk *v)
{
    output *out = v->w->out;
    const pfb_sample_row *row = find_row(v);
    walk_structure s = walk_begin(v->w, v->bytes, "instance", 2, STRUCTURE_INSTANCE_DEFINITION, v->instance.offset);
    if (!walk_is_text(v->w))
        output_unsigned(out, "object", v->object.title_index);
    output_unsigned(out, "instance", v->instance.position);
    output_name(out, "name", v->instance.name);
    if (!walk_is_text(v->w) || v->instance.unique_id != PFB_V1_NO_UNIQUE_ID)
        walk_print_fields(&s, "UniqueID");
    if (!walk_is_text(v->w) || (row && row->occurrence > 0))
        output_unsigned(out, "occurrence", row ? row->occurrence : 0);
    output_name(out, "parent", row ? row->parent : (pfb_name){0}); /* null if the parent is not in the block */
    walk_print_fields_if(&s, v->instance.parent_title != 0, "ParentObjectTitleIndex, ParentObjectInstance");
    output_end(out);
}

static void print_value(const v1_walk *v, bool has_instances, const pfb_v1_value *value)
{
    output *out = v->w->out;
    output_begin(out, "value", v->bytes->depth + (has_instances ? 3 : 2));
    output_offset(out, v->bytes->base + value->offset);
    if (!walk_is_text(v->w)) {
        output_unsigned(out, "object", v->object.title_index);
        walk_print_number(v->w, "instance", has_instances, v->instance.position);
    }
    output_unsigned(out, "counter", value->position < v->counter_count ? v->counters[value->position] : 0);
    output_unsigned(out, "position", value->position);
    output_unsigned(out, "bytes", value->size_bytes);
    walk_print_raw(v->w, value->is_number, value->raw, v->bytes->data + value->offset, value->size_bytes);
    walk_print_number(v->w, "base", value->has_base, value->base);
    walk_print_number(v->w, "items", value->has_multi_count, value->multi_count);
    output_end(out);
}

/* ---- The bytes, for explain ------------------------------------------------------------------------------ */

/* Returns the name of a title index. Without a page the name is not needed, so it is not searched for. */
static pfb_name title_of(const v1_walk *v, uint32_t index)
{
    return v->w->page ? title_names_find(v->w->titles, index) : (pfb_name){0};
}

static void explain_object(const v1_walk *v)
{
    pfb_name name = title_of(v, v->object.title_index);
    explain_begin(v->w->page, v->bytes, STRUCTURE_OBJECT_TYPE, v->object.offset,
                  v->block.object_count > EXPLAIN_MAX_OPEN, &name, "object %" PRIu32, v->object.title_index);
}

static void explain_counter(const v1_walk *v, const pfb_v1_counter *counter)
{
    pfb_name name = title_of(v, counter->title_index);
    explain_begin(v->w->page, v->bytes, STRUCTURE_COUNTER_DEFINITION, counter->offset,
                  v->object.counter_count > EXPLAIN_MAX_OPEN, &name, "counter %" PRIu32, counter->title_index);
    explain_end(v->w->page, v->bytes, 0);
}

static void explain_instance(const v1_walk *v, bool has_instances)
{
    explainer *page = v->w->page;
    if (has_instances) {
        explain_begin(page, v->bytes, STRUCTURE_INSTANCE_DEFINITION, v->instance.offset,
                      v->object.instance_count > EXPLAIN_MAX_OPEN, &v->instance.name, "%s", "");
        explain_name(page, v->bytes, &v->instance.name, 0, "name");
        explain_rest(page, v->bytes, v->instance.values_offset, "padding");
    }
    explain_begin(page, v->bytes, STRUCTURE_COUNTER_BLOCK, v->instance.values_offset, false, NULL, "%s", "");
}

static void explain_instance_end(const v1_walk *v, bool has_instances)
{
    explain_end(v->w->page, v->bytes, v->instance.values_offset + v->instance.values_size_bytes);
    if (has_instances)
        explain_end(v->w->page, v->bytes, 0);
}

static void explain_value(const v1_walk *v, const pfb_v1_value *value)
{
    enum { MAX_CHARACTERS = 200 };
    uint32_t title = value->position < v->counter_count ? v->counters[value->position] : 0;
    buffer name = {0};
    buffer_clear(&name);
    name_cut(&name, title_of(v, title), MAX_CHARACTERS);
    explain_row(v->w->page, v->bytes, value->offset, value->size_bytes, value->is_number ? FIELD_UNSIGNED : FIELD_BYTES,
                "value of counter %" PRIu32 "%s%s", title, name.size > 0 ? ": " : "", name.data);
    buffer_free(&name);
}

/* Prints the name of the machine and returns true if the name begins before `offset`. The page has rows in the order of
 * their offsets, and the name may be anywhere in the block. */
static bool explain_machine(const v1_walk *v, size_t offset)
{
    const pfb_name *name = &v->block.system_name;
    bool is_before = name->bytes && (size_t)(name->bytes - v->bytes->data) < offset;
    if (is_before)
        explain_name(v->w->page, v->bytes, name, 0, "name of the machine");
    return is_before;
}

/* ---- Walking --------------------------------------------------------------------------------------------- */

static void walk_object(v1_walk *v)
{
    walk *w = v->w;
    pfb_v1_counter counter;
    pfb_v1_value value;
    bool has_instances = v->object.instance_count != PFB_V1_NO_INSTANCES;
    w->counts.objects++;
    print_object(v);
    explain_object(v);
    v->counter_count = 0;
    while (!output_failed(w->out) && pfb_v1_next_counter(&v->block, &counter)) {
        v->counters = memory_grow(v->counters, &v->counter_capacity, v->counter_count + 1, sizeof *v->counters);
        v->counters[v->counter_count++] = counter.title_index;
        print_counter(v, &counter);
        explain_counter(v, &counter);
    }
    while (!output_failed(w->out) && pfb_v1_next_instance(&v->block, &v->instance)) {
        w->counts.instances += has_instances;
        if (has_instances && walk_has_records(w))
            print_instance(v);
        explain_instance(v, has_instances);
        while (!output_failed(w->out) && pfb_v1_next_value(&v->block, &value)) {
            w->counts.values++;
            if (walk_has_records(w))
                print_value(v, has_instances, &value);
            if (v->w->page)
                explain_value(v, &value);
        }
        explain_instance_end(v, has_instances);
    }
    walk_fail(w, v->bytes, v->block.object_error);
    explain_part_end(w->page, v->bytes, v->block.object_error, v->object.offset + v->object.size_bytes);
    explain_end(w->page, v->bytes, 0);
}

/* Loads the table of a block with a valid header. */
static void load_table(v1_walk *v)
{
    pfb_sample_input sample_input = {
        .data = v->bytes->data, .data_size_bytes = v->block.total_size_bytes, .options = v->w->options};
    pfb_sample_counts counts;
    pfb_sample_measure(&sample_input, &counts);
    size_t size = pfb_sample_size(&counts);
    v->memory = memory_get(size, 1);
    pfb_sample_load(&v->table, &sample_input, &counts, v->memory, size);
    pfb_sample_number_rows(&v->table);
}

static void walk_objects(v1_walk *v)
{
    walk *w = v->w;
    bool has_machine = false;
    w->counts.blocks++;
    if (walk_has_records(w))
        load_table(v);
    print_block(v);
    walk_fail(w, v->bytes, v->block.error); /* no error yet: the header is valid */
    while (!output_failed(w->out) && pfb_v1_next_object(&v->block, &v->object)) {
        has_machine = has_machine || explain_machine(v, v->object.offset);
        walk_object(v);
    }
    if (!has_machine)
        explain_machine(v, SIZE_MAX);
    walk_note(w, v->bytes, v->block.notes);
    walk_fail(w, v->bytes, v->block.end_error);
    free(v->counters);
    free(v->memory);
}

void walk_v1(walk *w, const file_bytes *bytes, size_t *size)
{
    v1_walk v = {.w = w, .bytes = bytes};
    pfb_v1_open(&v.block, bytes->data, bytes->size, w->options);
    *size = v.block.total_size_bytes;
    w->is_big_endian = v.block.is_big_endian;
    explain_order(w->page, true, v.block.is_big_endian);
    explain_begin(w->page, bytes, STRUCTURE_DATA_BLOCK, 0, false, NULL, "V1 block");
    if (*size > 0)
        walk_objects(&v);
    else
        walk_fail(w, bytes, v.block.error);
    explain_part_end(w->page, bytes, *size > 0 ? v.block.end_error : v.block.error, *size > 0 ? *size : bytes->size);
    explain_end(w->page, bytes, 0);
    explain_order(w->page, false, false);
    w->is_big_endian = false;
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
