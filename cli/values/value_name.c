/* SPDX-License-Identifier: MIT */
#include "values/value_name.h"

#include "output/text.h"

#include <inttypes.h>

/* ---- Names ------------------------------------------------------------------------------------------------ */

void values_put_set_name(buffer *out, const pfb_collected_result *result, uint32_t position)
{
    char guid[PFB_GUID_TEXT_BYTES];
    text_first(out, result->counterset, result->counterset_size, VALUES_LONGEST_NAME);
    if (result->has_counterset)
        return;
    if (result->has_title) {
        buffer_format(out, "Object %" PRIu32, result->title);
    } else if (result->has_guid) {
        pfb_guid_format(&result->guid, guid);
        buffer_string(out, guid);
    } else {
        buffer_format(out, "Result %" PRIu32, position);
    }
}

void values_put_row_name(buffer *out, const pfb_collected_value *v)
{
    text_first(out, v->parent, v->parent_size, VALUES_LONGEST_NAME);
    if (v->has_parent)
        buffer_string(out, "/");
    text_first(out, v->instance, v->instance_size, VALUES_LONGEST_NAME);
    if (!v->has_instance)
        buffer_string(out, "value");
    if (v->occurrence > 0)
        buffer_format(out, "#%" PRIu32, v->occurrence);
}

void values_put_column_name(buffer *out, const pfb_collected_value *v)
{
    text_first(out, v->counter, v->counter_size, VALUES_LONGEST_NAME);
    if (v->has_counter)
        return;
    if (v->has_counter_id)
        buffer_format(out, "counter %" PRIu32, v->counter_id);
    else
        buffer_format(out, "position %" PRIu32, v->position);
}

/* ---- Counter paths --------------------------------------------------------------------------------------- */

/* Appends a backslash and the name of the counterset, or what values_put_set_name() appends if it has none. A counter
 * of a log may have no counterset; then nothing is appended. */
static void put_counterset(buffer *out, const pfb_collected_value *v, bool is_log)
{
    if (v->has_counterset) {
        buffer_string(out, "\\");
        text_first(out, v->counterset, v->counterset_size, VALUES_LONGEST_PART);
    } else if (!is_log) {
        const pfb_collected_result result = {
            .counterset = "", .has_guid = v->has_guid, .guid = v->guid, .has_title = v->has_title, .title = v->title};
        buffer_string(out, "\\");
        values_put_set_name(out, &result, v->result);
    }
}

static void put_instance(buffer *out, const pfb_collected_value *v)
{
    if (!v->has_instance)
        return;
    buffer_string(out, "(");
    if (v->has_parent) {
        text_first(out, v->parent, v->parent_size, VALUES_LONGEST_PART);
        buffer_string(out, "/");
    }
    text_first(out, v->instance, v->instance_size, VALUES_LONGEST_PART);
    if (v->occurrence > 0)
        buffer_format(out, "#%" PRIu32, v->occurrence);
    buffer_string(out, ")");
}

void values_put_machine(buffer *out, const pfb_collected_value *v, size_t max_characters)
{
    if (v->machine_size == 0 || v->machine[0] != '\\')
        buffer_string(out, "\\\\");
    text_first(out, v->machine, v->machine_size, max_characters);
}

void values_put_set_path(buffer *out, const pfb_collected_value *v, bool is_log)
{
    if (v->has_machine)
        values_put_machine(out, v, VALUES_LONGEST_PART);
    put_counterset(out, v, is_log);
}

void values_put_instance_path(buffer *out, const pfb_collected_value *v, bool is_log)
{
    size_t start = out->size;
    values_put_set_path(out, v, is_log);
    put_instance(out, v);
    if (out->size > start)
        buffer_string(out, "\\");
}

void values_put_counter(buffer *out, const pfb_collected_value *v)
{
    if (v->has_counter)
        text_first(out, v->counter, v->counter_size, VALUES_LONGEST_PART);
    else
        values_put_column_name(out, v);
}
