/* SPDX-License-Identifier: MIT */
/* Counter paths of displayed values. */
#include "output/text.h"
#include "values/values.h"

#include <inttypes.h>

/* A counterset without a name is named by its number. A counter of a log may have no counterset: nothing is appended.
 */
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
