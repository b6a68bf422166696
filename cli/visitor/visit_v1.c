/* SPDX-License-Identifier: MIT */
/* V1 blocks and name tables. */
#include "memory/memory.h"
#include "names/names.h"
#include "names/v1.h"
#include "perfblock/sample.h"
#include "perfblock/v1.h"
#include "visitor/visits.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct v1_visit {
    visitor *v;
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    bool has_instances; /* of the object */
    uint32_t *counters; /* title indexes of the object's counters, by position */
    size_t counter_count, counter_capacity;
    pfb_sample table; /* the block as a table, which has parents and occurrences; empty if nothing is written */
    void *memory;     /* of the table */
} v1_visit;

/* Returns the row of the current instance in the table, or null if the table does not have it. */
static const pfb_sample_row *find_row(const v1_visit *b)
{
    if (b->object.position >= b->table.counts.results)
        return NULL;
    const pfb_sample_result *result = &b->table.results[b->object.position];
    return b->instance.position < result->row_count ? &b->table.rows[result->first_row + b->instance.position] : NULL;
}

static void visit_value(const v1_visit *b, const pfb_v1_value *value)
{
    enum { MAX_CHARACTERS = 200 };
    visitor *v = b->v;
    uint32_t title = value->position < b->counter_count ? b->counters[value->position] : 0;
    buffer name = {0};
    buffer_clear(&name);
    if (v->page)
        name_cut(&name, title_names_find(v->titles, title), MAX_CHARACTERS);
    visit_record(v, value->offset, "value", b->has_instances ? 3 : 2);
    visit_number(v, "+object", true, b->object.title_index);
    visit_number(v, "+instance", b->has_instances, b->instance.position);
    visit_number(v, "counter", true, title);
    visit_number(v, "position", true, value->position);
    visit_number(v, "bytes", true, value->size_bytes);
    visit_raw(v, value->is_number, value->raw, value->offset, value->size_bytes, "value of counter %" PRIu32 "%s%s",
              title, name.size > 0 ? ": " : "", name.data);
    visit_number(v, "base", value->has_base, value->base);
    visit_number(v, "items", value->has_multi_count, value->multi_count);
    buffer_free(&name);
}

static void begin_instance(const v1_visit *b)
{
    visitor *v = b->v;
    const pfb_sample_row *row = find_row(b);
    uint32_t occurrence = row ? row->occurrence : 0;
    visit_begin(v, STRUCTURE_INSTANCE_DEFINITION, b->instance.offset, "instance", 2);
    visit_number(v, "+object", true, b->object.title_index);
    visit_number(v, "instance", true, b->instance.position);
    visit_name(v, "name", b->instance.name, 0, "name");
    visit_fields(v, b->instance.unique_id != PFB_V1_NO_UNIQUE_ID ? "UniqueID" : "+UniqueID");
    visit_number(v, occurrence > 0 ? "occurrence" : "+occurrence", true, occurrence);
    output_name(v->out, "parent", row ? row->parent : (pfb_name){0}); /* null if the parent is not in the block */
    visit_fields_if(v, b->instance.parent_title != 0, "ParentObjectTitleIndex, ParentObjectInstance");
    visit_rest(v, b->instance.values_offset, "padding");
}

static void visit_instance(v1_visit *b)
{
    visitor *v = b->v;
    pfb_v1_value value;
    v->counts.instances += b->has_instances;
    if (b->has_instances && visit_writes(v))
        begin_instance(b);
    visit_begin(v, STRUCTURE_COUNTER_BLOCK, b->instance.values_offset, NULL, 0);
    while (!output_failed(v->out) && pfb_v1_next_value(&b->block, &value)) {
        v->counts.values++;
        if (visit_writes(v))
            visit_value(b, &value);
    }
    visit_end(v, VISIT_FINE, b->instance.values_offset + b->instance.values_size_bytes);
    if (b->has_instances)
        visit_end(v, VISIT_FINE, 0);
}

static void visit_counter(v1_visit *b, const pfb_v1_counter *counter)
{
    visitor *v = b->v;
    char type[NAMES_TYPE_BYTES];
    b->counters = memory_grow(b->counters, &b->counter_capacity, b->counter_count + 1, sizeof *b->counters);
    b->counters[b->counter_count++] = counter->title_index;
    visit_begin(v, STRUCTURE_COUNTER_DEFINITION, counter->offset, "counter", 2);
    visit_number(v, "+object", true, b->object.title_index);
    visit_fields(v, "CounterNameTitleIndex");
    visit_number(v, "position", true, counter->position);
    output_word(v->out, "type", names_of_type(counter->type, type));
    visit_fields(v, "CounterSize, CounterOffset");
    output_name(v->out, "name", title_names_find(v->titles, counter->title_index));
    visit_fields(v, "+CounterType, +CounterHelpTitleIndex, +DetailLevel, +DefaultScale");
    visit_end(v, VISIT_FINE, 0);
}

static void visit_object(v1_visit *b)
{
    visitor *v = b->v;
    pfb_v1_counter counter;
    v->counts.objects++;
    visit_begin(v, STRUCTURE_OBJECT_TYPE, b->object.offset, "object", 1);
    visit_fields(v, "ObjectNameTitleIndex");
    output_name(v->out, "name", title_names_find(v->titles, b->object.title_index));
    visit_fields(v, "NumInstances, CodePage, TotalByteLength, NumCounters, +ObjectHelpTitleIndex, +DetailLevel, "
                    "+DefaultCounter, +PerfTime, +PerfFreq");
    b->counter_count = 0;
    b->has_instances = b->object.instance_count != PFB_V1_NO_INSTANCES;
    while (!output_failed(v->out) && pfb_v1_next_counter(&b->block, &counter))
        visit_counter(b, &counter);
    while (!output_failed(v->out) && pfb_v1_next_instance(&b->block, &b->instance))
        visit_instance(b);
    visit_error(v, b->block.object_error);
    visit_end(v, b->block.object_error, b->object.offset + b->object.size_bytes);
}

/* Loads the table of a block with a valid header. */
static void load_table(v1_visit *b)
{
    pfb_sample_input sample_input = {
        .data = b->v->bytes.data, .data_size_bytes = b->block.total_size_bytes, .options = b->v->options};
    pfb_sample_counts counts;
    pfb_sample_measure(&sample_input, &counts);
    size_t size = pfb_sample_size(&counts);
    b->memory = memory_get(size, 1);
    pfb_sample_load(&b->table, &sample_input, &counts, b->memory, size);
    pfb_sample_number_rows(&b->table);
}

static void visit_objects(v1_visit *b)
{
    visitor *v = b->v;
    v->counts.blocks++;
    if (visit_writes(v))
        load_table(b);
    visit_fields(v, "Version");
    visit_number(v, "size", true, b->block.total_size_bytes); /* the reader may have corrected TotalByteLength */
    visit_fields(v, "NumObjectTypes, PerfTime, PerfTime100nSec, PerfFreq, SystemTime, +Revision");
    if (!visit_is_text(v))
        output_bool(v->out, "big_endian", b->block.is_big_endian);
    visit_fields(v, "+DefaultObject");
    visit_name(v, "system_name", b->block.system_name, 0, "name of the machine");
    visit_error(v, b->block.error); /* no error yet: the header is valid */
    while (!output_failed(v->out) && pfb_v1_next_object(&b->block, &b->object))
        visit_object(b);
    visit_notes(v, b->block.notes);
    visit_error(v, b->block.end_error);
    free(b->counters);
    free(b->memory);
}

size_t visit_v1(visitor *v)
{
    v1_visit b = {.v = v};
    pfb_v1_open(&b.block, v->bytes.data, v->bytes.size, v->options);
    size_t size = b.block.total_size_bytes;
    v->is_v1 = true;
    v->is_big_endian = b.block.is_big_endian;
    visit_begin(v, STRUCTURE_DATA_BLOCK, 0, size > 0 ? "data" : NULL, 0);
    if (size > 0)
        visit_objects(&b);
    else
        visit_error(v, b.block.error);
    visit_end(v, size > 0 ? b.block.end_error : b.block.error, size > 0 ? size : v->bytes.size);
    v->is_v1 = v->is_big_endian = false;
    return size;
}

/* ---- Name tables ----------------------------------------------------------------------------------------- */

void visit_names(visitor *v)
{
    pfb_name_table table;
    pfb_name_entry entry;
    pfb_name_table_open(&table, v->bytes.data, v->bytes.size, v->options);
    visit_begin(v, STRUCTURE_NAME_TABLE, 0, NULL, 0);
    while (!output_failed(v->out) && pfb_name_table_next_entry(&table, &entry)) {
        size_t offset = (size_t)(entry.name.bytes - v->bytes.data);
        v->counts.items++;
        visit_rest(v, offset, "index and separators");
        visit_record(v, offset, "name", 0);
        visit_number(v, "index", true, entry.index);
        visit_name(v, "name", entry.name, 0, "name of %" PRIu32, entry.index);
    }
    pfb_name_table_count(&table); /* reads the rest; sets table.error */
    pfb_error error = table.error;
    visit_notes(v, table.notes);
    visit_error(v, error);
    visit_rest(v, v->bytes.size, error.code == PFB_OK ? "end" : "not read");
    visit_end(v, VISIT_FINE, 0);
}
