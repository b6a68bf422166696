/* SPDX-License-Identifier: MIT */
#include "commands/objects.h"

#include "names/names.h"
#include "names/v1.h"
#include "output/diagnostics.h"
#include "perfblock/formula.h"
#include "perfblock/v1.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Records --------------------------------------------------------------------------------------------- */

static void write_object(const object_list *l, const pfb_v1_object *object)
{
    output *out = l->out;
    output_begin(out, "object", 0);
    output_unsigned(out, "object", object->title_index);
    output_name(out, "name", title_names_find(l->titles, object->title_index));
    output_unsigned(out, "counters", object->counter_count);
    output_signed(out, "instances", object->instance_count);
    output_end(out);
}

/* Writes a counter. `next` is the definition after that of the counter, or null. In V1, a base counter is defined
 * directly after the counter that it belongs to. */
static void write_counter(const object_list *l, const pfb_v1_object *object, const pfb_v1_counter *counter,
                          const pfb_v1_counter *next)
{
    output *out = l->out;
    char type[NAMES_TYPE_BYTES];
    bool is_text = out->format == OUTPUT_TEXT;
    bool has_base = next && pfb_counter_type_is_base(next->type) && !pfb_counter_type_is_base(counter->type);
    output_begin(out, is_text ? "    counter" : "counter", 0);
    if (!is_text) {
        output_name(out, "set", title_names_find(l->titles, object->title_index));
        output_unsigned(out, "object", object->title_index);
    }
    output_unsigned(out, "id", counter->title_index);
    output_name(out, "name", title_names_find(l->titles, counter->title_index));
    output_unsigned(out, "position", counter->position);
    output_word(out, "type", names_of_type(counter->type, type));
    output_unsigned(out, "bytes", counter->size_bytes);
    if (has_base)
        output_unsigned(out, "base_position", next->position);
    else
        output_null(out, "base_position");
    if (!is_text) {
        output_unsigned(out, "detail_level", counter->detail_level);
        output_signed(out, "default_scale", counter->default_scale);
    }
    output_end(out);
}

static void write_instance(const object_list *l, const pfb_v1_object *object, const pfb_v1_instance *instance)
{
    output *out = l->out;
    bool is_text = out->format == OUTPUT_TEXT;
    output_begin(out, is_text ? "    instance" : "instance", 0);
    if (!is_text) {
        output_name(out, "set", title_names_find(l->titles, object->title_index));
        output_unsigned(out, "object", object->title_index);
    }
    output_signed(out, "id", instance->unique_id);
    output_name(out, "name", instance->name);
    output_end(out);
}

static void list_object(const object_list *l, pfb_v1_reader *block, const pfb_v1_object *object)
{
    pfb_v1_counter counter;
    pfb_v1_counter next;
    pfb_v1_instance instance;
    write_object(l, object);
    bool has_counter = pfb_v1_next_counter(block, &counter);
    while (has_counter && !output_failed(l->out)) {
        bool has_next = pfb_v1_next_counter(block, &next);
        write_counter(l, object, &counter, has_next ? &next : NULL);
        counter = next;
        has_counter = has_next;
    }
    bool has_instances = l->names->count > 0 && object->instance_count != PFB_V1_NO_INSTANCES;
    while (has_instances && !output_failed(l->out) && pfb_v1_next_instance(block, &instance))
        write_instance(l, object, &instance);
}

/* ---- Blocks ---------------------------------------------------------------------------------------------- */

/* Returns true if an object must be listed: it is the first with its title index, and a name on the command line
 * matches this index or its name, or the command line has no names. */
static bool must_list(object_list *l, uint32_t title)
{
    size_t count = l->checked.count;
    char number[16];
    buffer name = {0};
    if (series_find_key(&l->checked, (const char *)&title, sizeof title) != count)
        return false;
    int size = snprintf(number, sizeof number, "%" PRIu32, title);
    bool is_wanted = set_names_match(l->names, number, (size_t)size);
    for (unsigned i = 0; i < TITLE_NAMES; i++) {
        buffer_clear(&name);
        name_cut(&name, title_names_find_in(l->titles, title, i), OUTPUT_LONGEST_FIELD);
        is_wanted = (name.size > 0 && set_names_match(l->names, name.data, name.size)) || is_wanted;
    }
    buffer_free(&name);
    return is_wanted;
}

void objects_list_block(object_list *l, const pfb_stream *stream, const pfb_record *record)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_open(&block, record->bytes, (size_t)record->byte_count, l->options);
    while (!output_failed(l->out) && pfb_v1_next_object(&block, &object)) {
        if (must_list(l, object.title_index))
            list_object(l, &block, &object);
    }
    if (block.error.code != PFB_OK)
        v1_report_errors(l->file, stream, record, l->options);
}

bool objects_have_late_names(object_list *l)
{
    size_t found = set_names_count_found(l->names);
    buffer name = {0};
    for (size_t i = 0; i < l->checked.count; i++) {
        uint32_t title;
        size_t size;
        memcpy(&title, series_key(&l->checked, i, &size), sizeof title);
        for (unsigned k = 0; k < TITLE_NAMES; k++) {
            buffer_clear(&name);
            name_cut(&name, title_names_find_in(l->titles, title, k), OUTPUT_LONGEST_FIELD);
            if (name.size > 0)
                set_names_match(l->names, name.data, name.size);
        }
    }
    buffer_free(&name);
    return set_names_count_found(l->names) > found;
}

void objects_free(object_list *l)
{
    series_free(&l->checked);
}
