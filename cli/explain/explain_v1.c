/* SPDX-License-Identifier: MIT */
/* The part of explain that reads V1 blocks and name tables. */
#include "explain/explain.h"
#include "memory/memory.h"
#include "names/v1.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_OPEN = 8, TITLE_CHARACTERS = 200 };

/* Data that the parts of an object share. */
typedef struct v1_walk {
    explainer *e;
    const explain_bytes *bytes;
    pfb_v1_reader block;
    uint32_t *counters; /* title indexes by position */
    size_t counter_count, counter_capacity;
    pfb_v1_value *values; /* of an instance, by offset */
    size_t value_count, value_capacity;
} v1_walk;

/* Returns the name of a title index as escaped text; empty if there is none. Replaces the contents of the buffer. */
static const char *title_text(const explainer *e, uint32_t index, buffer *out)
{
    buffer name = {0};
    buffer_clear(&name);
    buffer_clear(out);
    name_cut(&name, title_names_find(e->titles, index), TITLE_CHARACTERS);
    html_text(out, name.data, name.size);
    buffer_free(&name);
    return out->data;
}

/* Appends a name of the block as escaped text. */
static const char *escape_name(const pfb_name *name, buffer *out)
{
    buffer text = {0};
    buffer_clear(&text);
    buffer_clear(out);
    name_cut(&text, *name, TITLE_CHARACTERS);
    html_text(out, text.data, text.size);
    buffer_free(&text);
    return out->data;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

static int compare_values(const void *left, const void *right)
{
    const pfb_v1_value *a = left;
    const pfb_v1_value *b = right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static void put_value(v1_walk *w, const pfb_v1_value *value, buffer *text)
{
    uint32_t title = value->position < w->counter_count ? w->counters[value->position] : 0;
    buffer name = {0};
    buffer_clear(text);
    buffer_clear(&name);
    name_cut(&name, title_names_find(w->e->titles, title), TITLE_CHARACTERS);
    buffer_format(text, "value of counter %" PRIu32, title);
    if (name.size > 0)
        buffer_format(text, ": %s", name.data);
    buffer_free(&name);
    explain_row(w->e, w->bytes->base + value->offset, value->size_bytes, text->data,
                value->is_number ? FIELD_UNSIGNED : FIELD_BYTES, value->is_number ? NULL : "");
}

/* Prints a counter block: its size, then its values in the order of their offsets. Several values may share bytes. */
static void read_values(v1_walk *w, const pfb_v1_instance *instance)
{
    explainer *e = w->e;
    pfb_v1_value value;
    buffer text = {0};
    size_t offset = w->bytes->base + instance->values_offset;
    size_t end = offset + instance->values_size_bytes;
    w->value_count = 0;
    while (pfb_v1_next_value(&w->block, &value)) {
        w->values = memory_grow(w->values, &w->value_capacity, w->value_count + 1, sizeof *w->values);
        w->values[w->value_count++] = value;
    }
    if (e->is_writing && w->value_count > 0)
        qsort(w->values, w->value_count, sizeof *w->values, compare_values);
    explain_begin(e, STRUCTURE_COUNTER_BLOCK, offset, end, "", false);
    for (size_t i = 0; e->is_writing && i < w->value_count && !output_failed(e->out); i++)
        put_value(w, &w->values[i], &text);
    explain_end(e, end);
    buffer_free(&text);
}

/* ---- Objects --------------------------------------------------------------------------------------------- */

static void put_counter(v1_walk *w, const pfb_v1_object *object, const pfb_v1_counter *counter, size_t end)
{
    explainer *e = w->e;
    buffer name = {0};
    buffer title = {0};
    buffer_format(&title, "counter %" PRIu32 " %s", counter->title_index, title_text(e, counter->title_index, &name));
    explain_begin(e, STRUCTURE_COUNTER_DEFINITION, w->bytes->base + counter->offset, end, title.data,
                  object->counter_count > MOST_OPEN);
    explain_end(e, e->at);
    buffer_free(&name);
    buffer_free(&title);
}

static void read_instance(v1_walk *w, const pfb_v1_object *object, const pfb_v1_instance *instance)
{
    explainer *e = w->e;
    size_t base = w->bytes->base;
    buffer name = {0};
    if (object->instance_count == PFB_V1_NO_INSTANCES) {
        read_values(w, instance);
        return;
    }
    buffer_clear(&name);
    if (instance->name.bytes)
        escape_name(&instance->name, &name);
    explain_begin(e, STRUCTURE_INSTANCE_DEFINITION, base + instance->offset, base + instance->values_offset, name.data,
                  object->instance_count > MOST_OPEN);
    if (instance->name.bytes)
        explain_row(e, explain_name_at(w->bytes, &instance->name), instance->name.size_bytes, "name", FIELD_BYTES,
                    name.data);
    explain_rest(e, base + instance->values_offset, "padding");
    read_values(w, instance);
    explain_end(e, base + instance->values_offset + instance->values_size_bytes);
    buffer_free(&name);
}

static void read_object(v1_walk *w, const pfb_v1_object *object)
{
    explainer *e = w->e;
    pfb_v1_counter counter;
    pfb_v1_instance instance;
    buffer name = {0};
    buffer title = {0};
    size_t offset = w->bytes->base + object->offset;
    size_t end = offset + object->size_bytes;
    buffer_format(&title, "object %" PRIu32 " %s", object->title_index, title_text(e, object->title_index, &name));
    explain_begin(e, STRUCTURE_OBJECT_TYPE, offset, w->bytes->base + w->block.total_size_bytes, title.data,
                  w->block.object_count > MOST_OPEN);
    buffer_free(&name);
    buffer_free(&title);
    w->counter_count = 0;
    while (!output_failed(e->out) && pfb_v1_next_counter(&w->block, &counter)) {
        w->counters = memory_grow(w->counters, &w->counter_capacity, w->counter_count + 1, sizeof *w->counters);
        w->counters[w->counter_count++] = counter.title_index;
        put_counter(w, object, &counter, end);
    }
    while (!output_failed(e->out) && pfb_v1_next_instance(&w->block, &instance))
        read_instance(w, object, &instance);
    explain_fail(e, w->bytes, w->block.object_error);
    explain_part_end(e, w->bytes, end, w->block.object_error);
    explain_end(e, end);
}

static void put_system_name(v1_walk *w)
{
    const pfb_name *name = &w->block.system_name;
    buffer text = {0};
    if (name->bytes)
        explain_row(w->e, explain_name_at(w->bytes, name), name->size_bytes, "name of the machine", FIELD_BYTES,
                    escape_name(name, &text));
    buffer_free(&text);
}

size_t explain_v1(explainer *e, const explain_bytes *bytes)
{
    v1_walk w = {.e = e, .bytes = bytes};
    pfb_v1_object object;
    pfb_v1_open(&w.block, bytes->data, bytes->size, e->options->reader);
    size_t size = w.block.total_size_bytes;
    size_t end = bytes->base + (size > 0 ? size : bytes->size);
    e->is_v1 = true;
    e->is_big_endian = w.block.is_big_endian;
    explain_begin(e, STRUCTURE_DATA_BLOCK, bytes->base, end, "V1 block", false);
    explain_fail(e, bytes, w.block.error);
    bool has_object = size > 0 && pfb_v1_next_object(&w.block, &object);
    bool is_before =
        has_object && w.block.system_name.bytes &&
        explain_name_at(bytes, &w.block.system_name) < bytes->base + object.offset; /* a valid one may be anywhere */
    if (is_before)
        put_system_name(&w);
    while (has_object && !output_failed(e->out)) {
        read_object(&w, &object);
        has_object = pfb_v1_next_object(&w.block, &object);
    }
    if (!is_before)
        put_system_name(&w);
    if (size > 0)
        explain_fail(e, bytes, w.block.end_error);
    e->notes |= w.block.notes;
    explain_part_end(e, bytes, end, size > 0 ? w.block.end_error : w.block.error);
    explain_end(e, end);
    e->is_v1 = e->is_big_endian = false;
    free(w.counters);
    free(w.values);
    return size;
}

/* ---- Name tables ----------------------------------------------------------------------------------------- */

void explain_names(explainer *e, const explain_bytes *bytes)
{
    pfb_name_table table;
    pfb_name_entry entry;
    char name[32];
    buffer text = {0};
    buffer escaped = {0};
    pfb_name_table_open(&table, bytes->data, bytes->size, e->options->reader);
    explain_begin(e, STRUCTURE_NAME_TABLE, bytes->base, bytes->base + bytes->size, "", false);
    while (!output_failed(e->out) && pfb_name_table_next_entry(&table, &entry)) {
        if (!e->is_writing)
            continue;
        buffer_clear(&text);
        buffer_clear(&escaped);
        name_cut(&text, entry.name, entry.name.encoding == PFB_ENCODING_UTF8 ? SIZE_MAX : TITLE_CHARACTERS);
        html_text(&escaped, text.data, text.size);
        snprintf(name, sizeof name, "name of %" PRIu32, entry.index);
        explain_rest(e, explain_name_at(bytes, &entry.name), "index and separators");
        explain_row(e, explain_name_at(bytes, &entry.name), entry.name.size_bytes, name, FIELD_BYTES, escaped.data);
    }
    e->notes |= table.notes;
    explain_fail(e, bytes, table.error);
    explain_rest(e, bytes->base + bytes->size, table.error.code == PFB_OK ? "end" : "not read");
    explain_end(e, bytes->base + bytes->size);
    buffer_free(&text);
    buffer_free(&escaped);
}
