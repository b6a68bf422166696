/* SPDX-License-Identifier: MIT */
/* The part of explain that reads V2 replies. */
#include "explain/explain.h"
#include "names/names.h"
#include "perfblock/v2.h"

#include <inttypes.h>

enum { MOST_OPEN = 8 }; /* instances of a result and values of an instance that are not folded */

/* Prints the fields of a value as rows. */
static void put_value(explainer *e, const explain_bytes *bytes, const pfb_v2_result *result, const pfb_v2_value *value)
{
    char name[48];
    explain_fields(e, STRUCTURE_COUNTER_DATA, bytes->base + value->offset, bytes->base + bytes->size);
    if (result->has_counter_ids)
        snprintf(name, sizeof name, "value of counter %" PRIu32, value->counter_id);
    else
        snprintf(name, sizeof name, "value");
    explain_row(e, bytes->base + value->data_offset, value->data_size_bytes, name,
                value->is_number ? FIELD_UNSIGNED : FIELD_BYTES, value->is_number ? NULL : "");
}

/* Reads values up to an error, after which the rest of the result is unknown. */
static void read_values(explainer *e, const explain_bytes *bytes, pfb_v2_reader *block, const pfb_v2_result *result)
{
    pfb_v2_value value;
    while (!output_failed(e->out) && pfb_v2_next_value(block, &value))
        put_value(e, bytes, result, &value);
    if (block->error.code != PFB_OK)
        explain_part_end(e, bytes, bytes->base + result->offset + result->size_bytes, block->error);
}

/* Prints an instance and its values. */
static void read_instance(explainer *e, const explain_bytes *bytes, pfb_v2_reader *block, const pfb_v2_result *result,
                          const pfb_v2_instance *instance)
{
    enum { TITLE_CHARACTERS = 200 };
    size_t offset = bytes->base + instance->offset;
    size_t name = explain_name_at(bytes, &instance->name);
    buffer text = {0};
    buffer title = {0};
    buffer_clear(&text);
    buffer_clear(&title);
    name_cut(&text, instance->name, TITLE_CHARACTERS);
    html_text(&title, text.data, text.size);
    explain_begin(e, STRUCTURE_INSTANCE_HEADER, offset, bytes->base + bytes->size, title.data,
                  result->instance_count > MOST_OPEN);
    explain_row(e, name, instance->name.size_bytes + 2, "name", FIELD_UTF16, title.data);
    buffer_free(&text);
    buffer_free(&title);
    read_values(e, bytes, block, result);
    explain_end(e, e->at);
}

/* Prints the ids, and the header of the instances, which begins where the size of the ids ends. */
static void put_parts(explainer *e, const explain_bytes *bytes, const pfb_v2_result *result)
{
    enum { HEADER = 16 };
    size_t at = bytes->base + result->offset + HEADER;
    size_t end = bytes->base + result->offset + result->size_bytes;
    char name[32];
    if (result->kind == PFB_V2_MULTIPLE_COUNTERS || result->kind == PFB_V2_COUNTERSET) {
        explain_fields(e, STRUCTURE_MULTI_COUNTERS, at, end);
        for (uint32_t i = 0; result->has_counter_ids && i < result->counter_count; i++) {
            snprintf(name, sizeof name, "counter id %" PRIu32, i);
            explain_row(e, bytes->base + result->ids_offset + (size_t)4 * i, 4, name, FIELD_UNSIGNED, NULL);
        }
        const uint8_t *size = bytes->data + result->offset + HEADER;
        if (end - at >= 4)
            at += (uint32_t)size[0] | (uint32_t)size[1] << 8 | (uint32_t)size[2] << 16 | (size_t)size[3] << 24;
    }
    if ((result->kind == PFB_V2_MULTIPLE_INSTANCES || result->kind == PFB_V2_COUNTERSET) && at <= end)
        explain_fields(e, STRUCTURE_MULTI_INSTANCES, at, end);
}

static void read_result(explainer *e, const explain_bytes *bytes, pfb_v2_reader *block, const pfb_v2_result *result)
{
    pfb_v2_instance instance;
    char title[64];
    size_t offset = bytes->base + result->offset;
    snprintf(title, sizeof title, "result %" PRIu32 ", %s", result->index, names_of_kind(result->kind));
    explain_begin(e, STRUCTURE_COUNTER_HEADER, offset, offset + result->size_bytes, title,
                  block->result_count > MOST_OPEN);
    put_parts(e, bytes, result);
    while (!output_failed(e->out) && pfb_v2_next_instance(block, &instance)) {
        if (instance.name.bytes)
            read_instance(e, bytes, block, result, &instance);
        else
            read_values(e, bytes, block, result);
    }
    explain_fail(e, bytes, block->error);
    explain_part_end(e, bytes, offset + result->size_bytes, block->error);
    explain_end(e, offset + result->size_bytes);
}

size_t explain_v2(explainer *e, const explain_bytes *bytes)
{
    pfb_v2_reader block;
    pfb_v2_result result;
    size_t end = bytes->base + bytes->size;
    bool is_failed = false;
    bool is_sound = pfb_v2_open(&block, bytes->data, bytes->size, e->options->reader);
    explain_begin(e, STRUCTURE_DATA_HEADER, bytes->base, end, "reply", false);
    if (is_sound)
        end = bytes->base + block.total_size_bytes;
    while (!output_failed(e->out) && !is_failed && pfb_v2_next_result(&block, &result)) {
        read_result(e, bytes, &block, &result);
        is_failed = block.error.code != PFB_OK; /* reported inside of the result */
    }
    if (!is_failed)
        explain_fail(e, bytes, block.error);
    e->notes |= block.notes;
    explain_part_end(e, bytes, end, block.error);
    explain_end(e, end);
    return block.error.code == PFB_OK ? block.total_size_bytes : 0;
}
