/* SPDX-License-Identifier: MIT */
#include "convert/text_writer.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/formula.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NOVICE = 100 };     /* PERF_DETAIL_NOVICE */
enum { TICKS = 10000000 }; /* of the 100 ns clock per second */

enum { MIN_OFFSET = 4, MAX_OFFSET = 65535, MAX_DEFINITIONS = 8192 }; /* limits of the text form */

/* The values of a row: a slot for each offset, because several counters may have the same offset. */
typedef struct value_slots {
    pfb_v1_counter *counters; /* of the object */
    size_t count, capacity;
    size_t *slots;        /* by counter: the slot of its value; SIZE_MAX for a counter without a value */
    uint32_t *offsets;    /* by slot */
    pfb_v1_value *values; /* by slot: in the current row */
    size_t slot_count;
    bool is_in_limits; /* the object can be written in the text form */
} value_slots;

static void free_slots(value_slots *s)
{
    free(s->counters);
    free(s->slots);
    free(s->offsets);
    free(s->values);
    *s = (value_slots){.count = 0};
}

/* Reads the counters of the current object and gives each counter with values a slot. */
static void list_slots(value_slots *s, pfb_v1_reader *block)
{
    pfb_v1_counter counter;
    *s = (value_slots){.is_in_limits = true};
    while (pfb_v1_next_counter(block, &counter)) {
        s->counters = memory_grow(s->counters, &s->capacity, s->count + 1, sizeof *s->counters);
        s->counters[s->count++] = counter;
        bool is_valid_offset = counter.value_offset >= MIN_OFFSET && counter.value_offset <= MAX_OFFSET;
        s->is_in_limits =
            s->is_in_limits && counter.size_bytes <= MAX_OFFSET && (counter.size_bytes == 0 || is_valid_offset);
    }
    s->is_in_limits = s->is_in_limits && s->count <= MAX_DEFINITIONS;
    if (!s->is_in_limits)
        return;
    s->slots = memory_get(s->count + 1, sizeof *s->slots);
    s->offsets = memory_get(s->count + 1, sizeof *s->offsets);
    s->values = memory_get(s->count + 1, sizeof *s->values);
    for (size_t i = 0; i < s->count; i++) {
        const pfb_v1_counter *c = &s->counters[i];
        size_t slot = 0;
        while (slot < s->slot_count && s->offsets[slot] != c->value_offset)
            slot++;
        s->slots[i] = c->size_bytes > 0 ? slot : SIZE_MAX;
        if (c->size_bytes == 0)
            continue;
        if (slot == s->slot_count)
            s->offsets[s->slot_count++] = c->value_offset;
    }
}

/* ---- Definitions ----------------------------------------------------------------------------------------- */

static text_object *find_object(text_writer *t, uint32_t title)
{
    size_t low = memory_find(t->objects, t->object_count, sizeof *t->objects, offsetof(text_object, title), title);
    if (low < t->object_count && t->objects[low].title == title)
        return &t->objects[low];
    t->objects = memory_grow(t->objects, &t->object_capacity, t->object_count + 1, sizeof *t->objects);
    memmove(&t->objects[low + 1], &t->objects[low], (t->object_count - low) * sizeof *t->objects);
    t->object_count++;
    t->objects[low] = (text_object){.title = title};
    return &t->objects[low];
}

static void put_title(text_writer *t, text_line *line, uint32_t title)
{
    const pfb_name name = title_names_find(t->titles, title);
    text_line_name(line, &name);
}

static const char *instances_word(int32_t count)
{
    switch (count) {
    case PFB_V1_NO_INSTANCES:
        return "single";
    case PFB_V1_METADATA_INSTANCES:
        return "metadata";
    case PFB_V1_METADATA_NO_INSTANCES:
        return "metadata-single";
    default:
        return "multiple";
    }
}

static void put_definition(text_writer *t, text_line *line, const pfb_v1_counter *c)
{
    text_line_format(line, "define %" PRIu32, c->title_index);
    text_writer_put_type(line, c->type);
    text_line_format(line, "%" PRIu32, c->size_bytes);
    text_line_format(line, "%" PRIu32, c->size_bytes > 0 ? c->value_offset : 0);
    text_line_format(line, "%" PRId32, c->default_scale);
    put_title(t, line, c->title_index);
    if (c->help_index != c->title_index + 1)
        text_line_format(line, "help %" PRIu32, c->help_index);
    if (c->detail_level != NOVICE)
        text_line_format(line, "detail %" PRIu32, c->detail_level);
    text_line_end(line);
}

/* Writes the lines that define an object unless they equal those written last. Returns false, and writes nothing, if an
 * earlier object of the same block has the same title and other lines: the text form has one definition of a title per
 * sample. */
static bool put_object(text_writer *t, const pfb_v1_object *object, const value_slots *s, int64_t perf_time_100ns)
{
    text_line lines = {.start = 0};
    text_object *definition = find_object(t, object->title_index);
    const pfb_name name = title_names_find(t->titles, object->title_index);
    char title[16];
    bool has_clock = object->perf_time == perf_time_100ns && object->perf_freq == TICKS;
    if (definition->lines.size > 0) /* stays as it was defined first; put_result() writes a clock that differs */
        has_clock = definition->has_clock;
    definition->has_clock = has_clock;
    text_line_end(&lines);
    text_line_format(&lines, "object %" PRIu32, object->title_index);
    text_line_word(&lines, instances_word(object->instance_count));
    text_line_word(&lines, has_clock ? "object" : "none");
    text_line_name(&lines, &name);
    snprintf(title, sizeof title, "%" PRIu32, object->title_index);
    text_writer_set_key(t, &definition->key, &name, title);
    if (object->help_index != object->title_index + 1)
        text_line_format(&lines, "help %" PRIu32, object->help_index);
    if (object->detail_level != NOVICE)
        text_line_format(&lines, "detail %" PRIu32, object->detail_level);
    text_line_end(&lines);
    for (size_t i = 0; i < s->count; i++)
        put_definition(t, &lines, &s->counters[i]);
    buffer *written = &definition->lines;
    bool is_same = written->size == lines.text.size && memcmp(written->data, lines.text.data, written->size) == 0;
    bool is_usable = is_same || definition->block != t->block_count;
    if (is_usable && !is_same) {
        buffer_bytes(&t->line.text, lines.text.data, lines.text.size);
        t->line.start = t->line.text.size;
        buffer_clear(written);
        buffer_bytes(written, lines.text.data, lines.text.size);
    }
    if (is_usable)
        definition->block = t->block_count;
    text_line_free(&lines);
    return is_usable;
}

/* Writes the definitions of a block that are new or have changed. Marks objects that the text form cannot express in
 * `left_out`. */
static void put_definitions(text_writer *t, const uint8_t *body, size_t size)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    value_slots slots;
    if (!pfb_v1_open(&block, body, size, NULL))
        return;
    t->block_count++;
    buffer_clear(&t->left_out);
    while (pfb_v1_next_object(&block, &object)) {
        list_slots(&slots, &block);
        bool is_written = slots.is_in_limits && put_object(t, &object, &slots, block.perf_time_100ns);
        buffer_bytes(&t->left_out, is_written ? "\0" : "\1", 1);
        if (!is_written)
            diagnostics_say(
                STATUS_FINE, "perfblock", "note: V1 object %" PRIu32 " %s and was left out", object.title_index,
                slots.is_in_limits
                    ? "has an earlier, different definition in the sample, which the text form cannot express,"
                    : "exceeds the limits of the text form");
        free_slots(&slots);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

static void put_value(text_line *line, const value_slots *s, const pfb_v1_value *value, const uint8_t *body)
{
    size_t next = value->position + (size_t)1;
    bool has_definition = next < s->count && s->counters[next].type == PFB_TYPE_MULTI_BASE;
    if (value->has_multi_count && value->is_number && !has_definition)
        text_line_bytes(line, body + value->offset,
                        value->size_bytes + (size_t)4); /* the multi count follows the value */
    else if (value->is_number)
        text_line_format(line, "%" PRIu64, value->raw);
    else
        text_line_bytes(line, body + value->offset, value->size_bytes);
}

/* Reads the values of a row into its slots. Returns false if the row is cut by an error. */
static bool read_values(value_slots *s, pfb_v1_reader *block)
{
    pfb_v1_value value;
    size_t count = 0;
    for (size_t i = 0; i < s->slot_count; i++)
        s->values[i].size_bytes = 0;
    for (; pfb_v1_next_value(block, &value); count++) {
        if (value.position >= s->count || s->slots[value.position] == SIZE_MAX)
            continue;
        size_t slot = s->slots[value.position];
        bool is_wider = value.size_bytes > s->values[slot].size_bytes;
        if (is_wider || (value.has_multi_count && value.size_bytes == s->values[slot].size_bytes))
            s->values[slot] = value;
    }
    return count == s->count;
}

/* Writes the rows of an object. A row that is cut by an error is left out. Returns false if the object must have one
 * row and has none. */
static bool put_rows(text_writer *t, pfb_v1_reader *block, const pfb_v1_object *object, value_slots *s,
                     const uint8_t *body)
{
    pfb_v1_instance instance;
    bool is_single = object->instance_count == PFB_V1_NO_INSTANCES;
    bool has_rows = false;
    while (pfb_v1_next_instance(block, &instance)) {
        if (!read_values(s, block))
            continue;
        text_line_word(&t->line, "row");
        if (is_single)
            text_line_word(&t->line, "-");
        else
            text_line_instance(&t->line, &instance.name, instance.unique_id);
        if (!is_single && instance.parent_title != 0)
            text_line_format(&t->line, "parent %" PRIu32 "/%" PRIu32, instance.parent_title, instance.parent_position);
        for (size_t i = 0; i < s->slot_count; i++)
            put_value(&t->line, s, &s->values[i], body);
        text_line_end(&t->line);
        has_rows = true;
    }
    return has_rows || !is_single;
}

static void put_result(text_writer *t, pfb_v1_reader *block, const pfb_v1_object *object, const uint8_t *body)
{
    value_slots slots;
    const text_object *definition = find_object(t, object->title_index);
    int64_t time = definition->has_clock ? block->perf_time_100ns : 0;
    int64_t frequency = definition->has_clock ? TICKS : 0;
    size_t start = t->line.text.size;
    list_slots(&slots, block);
    text_line_word(&t->line, "result");
    text_line_word(&t->line, definition->key.data);
    if (object->perf_time != time)
        text_line_format(&t->line, "time %" PRId64, object->perf_time);
    if (object->perf_freq != frequency)
        text_line_format(&t->line, "frequency %" PRId64, object->perf_freq);
    text_line_end(&t->line);
    if (!put_rows(t, block, object, &slots, body))
        text_line_cut(&t->line, start);
    free_slots(&slots);
}

static void put_machine(text_writer *t, const pfb_name *name, bool is_big_endian)
{
    text_line line = {.start = 0};
    text_line_word(&line, "machine");
    text_line_name(&line, name);
    if (is_big_endian)
        text_line_word(&line, "big-endian");
    bool is_same = t->machine.size == line.text.size && memcmp(t->machine.data, line.text.data, line.text.size) == 0;
    if (!is_same) {
        buffer_clear(&t->machine);
        buffer_bytes(&t->machine, line.text.data, line.text.size);
        text_line_end(&t->line);
        text_line_word(&t->line, line.text.data);
        text_line_end(&t->line);
    }
    text_line_free(&line);
}

void text_writer_put_v1(text_writer *t, const uint8_t *body, size_t size)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    if (!pfb_v1_open(&block, body, size, NULL))
        return;
    put_machine(t, &block.system_name, block.is_big_endian);
    put_definitions(t, body, size);
    text_writer_put_sample(t, true, block.perf_time, block.perf_time_100ns, block.perf_freq, &block.system_time);
    for (size_t i = 0; pfb_v1_next_object(&block, &object); i++) {
        if (i < t->left_out.size && t->left_out.data[i] == 0)
            put_result(t, &block, &object, body);
    }
}
