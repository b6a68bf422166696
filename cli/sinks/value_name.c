/* SPDX-License-Identifier: MIT */
#include "sinks/value_name.h"

#include "output/text.h"

#include <inttypes.h>

/* ---- Names ------------------------------------------------------------------------------------------------ */

void sink_put_set_name(buffer *out, const pfb_series *s)
{
    char guid[PFB_GUID_TEXT_BYTES];
    text_first(out, s->counterset, s->counterset_bytes, SINK_LONGEST_NAME);
    if (s->has & PFB_SERIES_COUNTERSET)
        return;
    if (s->has & PFB_SERIES_TITLE) {
        buffer_format(out, "Object %" PRIu32, s->title);
    } else if (s->has & PFB_SERIES_SET) {
        pfb_guid_format(&s->set, guid);
        buffer_string(out, guid);
    } else {
        buffer_format(out, "Result %" PRIu32, s->result);
    }
}

void sink_put_row_name(buffer *out, const pfb_series *s)
{
    text_first(out, s->parent, s->parent_bytes, SINK_LONGEST_NAME);
    if (s->has & PFB_SERIES_PARENT)
        buffer_string(out, "/");
    text_first(out, s->instance, s->instance_bytes, SINK_LONGEST_NAME);
    if (!(s->has & PFB_SERIES_INSTANCE))
        buffer_string(out, "value");
    if (s->occurrence > 0)
        buffer_format(out, "#%" PRIu32, s->occurrence);
}

void sink_put_column_name(buffer *out, const pfb_series *s)
{
    text_first(out, s->counter, s->counter_bytes, SINK_LONGEST_NAME);
    if (s->has & PFB_SERIES_COUNTER)
        return;
    if (s->has & PFB_SERIES_COUNTER_ID)
        buffer_format(out, "counter %" PRIu32, s->counter_id);
    else
        buffer_format(out, "position %" PRIu32, s->position);
}

/* ---- Counter paths --------------------------------------------------------------------------------------- */

/* Appends a backslash and the name of the counterset, or what sink_put_set_name() appends if it has none. A counter
 * of a log may have no counterset; then nothing is appended. */
static void put_counterset(buffer *out, const pfb_series *s)
{
    if (s->has & PFB_SERIES_COUNTERSET) {
        buffer_string(out, "\\");
        text_first(out, s->counterset, s->counterset_bytes, SINK_LONGEST_PART);
    } else if (!(s->has & PFB_SERIES_LOG)) {
        buffer_string(out, "\\");
        sink_put_set_name(out, s);
    }
}

static void put_instance(buffer *out, const pfb_series *s)
{
    if (!(s->has & PFB_SERIES_INSTANCE))
        return;
    buffer_string(out, "(");
    if (s->has & PFB_SERIES_PARENT) {
        text_first(out, s->parent, s->parent_bytes, SINK_LONGEST_PART);
        buffer_string(out, "/");
    }
    text_first(out, s->instance, s->instance_bytes, SINK_LONGEST_PART);
    if (s->occurrence > 0)
        buffer_format(out, "#%" PRIu32, s->occurrence);
    buffer_string(out, ")");
}

void sink_put_machine(buffer *out, const pfb_series *s, size_t max_characters)
{
    if (s->machine_bytes == 0 || s->machine[0] != '\\')
        buffer_string(out, "\\\\");
    text_first(out, s->machine, s->machine_bytes, max_characters);
}

void sink_put_set_path(buffer *out, const pfb_series *s)
{
    if (s->has & PFB_SERIES_MACHINE)
        sink_put_machine(out, s, SINK_LONGEST_PART);
    put_counterset(out, s);
}

void sink_put_instance_path(buffer *out, const pfb_series *s)
{
    size_t start = out->size;
    sink_put_set_path(out, s);
    put_instance(out, s);
    if (out->size > start)
        buffer_string(out, "\\");
}

void sink_put_counter(buffer *out, const pfb_series *s)
{
    if (s->has & PFB_SERIES_COUNTER)
        text_first(out, s->counter, s->counter_bytes, SINK_LONGEST_PART);
    else
        sink_put_column_name(out, s);
}
