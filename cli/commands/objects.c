/* SPDX-License-Identifier: MIT */
#include "commands/objects.h"

#include "memory/memory.h"
#include "names/names.h"
#include "names/v1.h"
#include "output/diagnostics.h"
#include "perfblock/capture.h"
#include "perfblock/formula.h"

#include <stdlib.h>

/* An object in the file. Of several with the same title, the first one is listed. */
typedef struct place {
    uint32_t title;
    size_t number;
} place;

/* The file is read twice: once to find the titles, once to list them. */
typedef struct listing {
    output *out;
    input *in;
    const title_names *names;
    place *places;
    size_t count, capacity;
    bool *is_first; /* of each object; null during the first pass */
    size_t number;  /* of the next object */
} listing;

/* ---- Records --------------------------------------------------------------------------------------------- */

static void state_object(const listing *l, const pfb_v1_object *object)
{
    output *out = l->out;
    output_begin(out, "object", 0);
    output_unsigned(out, "object", object->title_index);
    output_name(out, "name", title_names_find(l->names, object->title_index));
    output_unsigned(out, "counters", object->counter_count);
    output_signed(out, "instances", object->instance_count);
    output_end(out);
}

/* `next` is the definition after it, or null. If it is a base, it is the base of this counter. */
static void state_counter(const listing *l, const pfb_v1_object *object, const pfb_v1_counter *counter,
                          const pfb_v1_counter *next)
{
    output *out = l->out;
    char type[NAMES_TYPE_BYTES];
    bool is_text = out->format == OUTPUT_TEXT;
    bool has_base = next && pfb_counter_type_is_base(next->type) && !pfb_counter_type_is_base(counter->type);
    output_begin(out, is_text ? "    counter" : "counter", 0);
    if (!is_text) {
        output_name(out, "set", title_names_find(l->names, object->title_index));
        output_unsigned(out, "object", object->title_index);
    }
    output_unsigned(out, "id", counter->title_index);
    output_name(out, "name", title_names_find(l->names, counter->title_index));
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

static void list_object(const listing *l, pfb_v1_reader *block, const pfb_v1_object *object)
{
    pfb_v1_counter counter;
    pfb_v1_counter next;
    state_object(l, object);
    bool has = pfb_v1_next_counter(block, &counter);
    while (has && !output_failed(l->out)) {
        bool has_next = pfb_v1_next_counter(block, &next);
        state_counter(l, object, &counter, has_next ? &next : NULL);
        counter = next;
        has = has_next;
    }
}

/* ---- Passes ---------------------------------------------------------------------------------------------- */

static void note_place(listing *l, uint32_t title)
{
    l->places = memory_grow(l->places, &l->capacity, l->count + 1, sizeof *l->places);
    l->places[l->count++] = (place){title, l->number};
}

/* Reads one block. Returns its size, or 0 if its header is invalid. */
static size_t pass_block(listing *l, const uint8_t *data, size_t size, size_t base)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_open(&block, data, size, NULL);
    while (!output_failed(l->out) && pfb_v1_next_object(&block, &object)) {
        if (!l->is_first)
            note_place(l, object.title_index);
        else if (l->is_first[l->number])
            list_object(l, &block, &object);
        l->number++;
    }
    if (l->is_first && block.error.code != PFB_OK)
        v1_tell_errors(l->in->name, base, data, size, NULL);
    return block.total_size_bytes;
}

static void pass_blocks(listing *l)
{
    input *in = l->in;
    input_blocks blocks = {0};
    while (!output_failed(l->out) && input_next_part(in, &blocks) == INPUT_PART_V1) {
        size_t size = pass_block(l, in->data + blocks.at, in->size - blocks.at, blocks.at);
        blocks.has_ended = size == 0;
        blocks.at += size;
    }
}

static void pass_capture(listing *l)
{
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_capture_open(&capture, l->in->data, l->in->size, NULL);
    while (!output_failed(l->out) && pfb_capture_next_chunk(&capture, &chunk)) {
        if (chunk.is_known && chunk.tag == PFB_TAG_V1)
            pass_block(l, l->in->data + chunk.body_offset, chunk.body_size_bytes, chunk.body_offset);
    }
}

static void pass(listing *l)
{
    l->number = 0;
    if (l->in->kind == INPUT_CAPTURE)
        pass_capture(l);
    else
        pass_blocks(l);
}

static int compare_places(const void *left, const void *right)
{
    const place *a = left;
    const place *b = right;
    if (a->title != b->title)
        return a->title < b->title ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

void objects_list(output *out, input *in, const title_names *names)
{
    listing l = {.out = out, .in = in, .names = names};
    pass(&l);
    if (l.count > 0)
        qsort(l.places, l.count, sizeof *l.places, compare_places);
    l.is_first = memory_get(l.count, sizeof *l.is_first);
    for (size_t i = 0; i < l.count; i++)
        l.is_first[l.places[i].number] = i == 0 || l.places[i].title != l.places[i - 1].title;
    pass(&l);
    free(l.places);
    free(l.is_first);
}
