/* SPDX-License-Identifier: MIT */
/* Displayed values as records, one per value: JSON and CSV. */
#include "memory/memory.h"
#include "names/names.h"
#include "output/time_text.h"
#include "sinks/sink.h"
#include "sinks/value_name.h"

#include <stdlib.h>
#include <string.h>

/* The fields that name a series are formatted once for all values of a result, a row or a column; those of a column are
 * also kept for the next frames. If a frame has the same layout as the one before, the fields of each of its elements
 * are kept as one text, which is repeated as long as the layout stays the same. Long texts are not kept, because many
 * series may share one long name, and no elements beyond MAX_TEXT bytes of text. */

enum { COLUMN_SLOTS = 1024, LONGEST_COLUMN = 600, LONGEST_ELEMENT = 1000, MAX_TEXT = 1 << 22 };

/* The text of a column, and the members of the series that it was made from. `text` has the name of the counter, then
 * the fields, then the end of the path. */
typedef struct cached_column {
    bool is_used;
    bool is_quoted; /* the end of the path has characters because of which the path is quoted */
    uint32_t has;   /* the PFB_SERIES_ bits in column_bits */
    uint32_t counter_id, position, type;
    size_t counter_size, fields_size, path_size;
    char text[LONGEST_COLUMN];
} cached_column;

static const uint32_t column_bits = PFB_SERIES_COUNTER | PFB_SERIES_COUNTER_ID | PFB_SERIES_TYPE;

/* The text of an element in cached_fields.text; sizes of 0: it was not kept. */
typedef struct kept_element {
    uint32_t start, names_size, end_size; /* the fields before "status", then those after "base" */
} kept_element;

struct cached_fields {
    cached_column columns[COLUMN_SLOTS];
    /* Elements. */
    uint64_t layout;
    kept_element *elements; /* of a layout that at least two frames had */
    size_t count, capacity;
    buffer text;
    /* The sample. */
    buffer sample;
    bool has_sample, is_local_time; /* `sample` is the text of a sample number and time */
    uint64_t number;
    int64_t time;
    /* The latest result and row of the frame; has_row is false before the first one. */
    bool has_row, is_log;
    uint32_t result, row;
    buffer set_fields, set_end, row_fields, row_end;
    buffer path;            /* the path of a row, with the backslash before the counter */
    buffer path_text;       /* the same in the form of the output, without the backslash */
    bool is_split;          /* a path is path_text, followed by the end of the column's path */
    bool is_quoted;         /* path_text has characters because of which the path is quoted */
    buffer machine, joined; /* memory for a name or path */
};

static void save_fields(const output *out, size_t start, buffer *text)
{
    size_t size;
    const char *fields = output_since(out, start, &size);
    buffer_clear(text);
    buffer_bytes(text, fields, size);
}

static void repeat_fields(output *out, const buffer *text)
{
    output_repeat(out, text->data, text->size);
}

/* ---- Parts of records ------------------------------------------------------------------------------------ */

/* Puts the number and the time of the sample. The time is null if the value has none, or one outside the years 1601 to
 * 9999. */
static void put_sample(const sink_run *run, const element *e)
{
    output *out = run->out;
    cached_fields *f = run->fields;
    bool has_time = (e->value.has & PFB_VALUE_TIME) != 0;
    bool is_local = (e->value.has & PFB_VALUE_LOCAL_TIME) != 0;
    if (f->has_sample && has_time && f->number == run->frame.number && f->time == e->value.time &&
        f->is_local_time == is_local) {
        repeat_fields(out, &f->sample);
        return;
    }
    size_t start = output_mark(out);
    output_unsigned(out, "sample", run->frame.number);
    buffer_clear(&f->joined);
    if (has_time &&
        (is_local ? time_text_unzoned(&f->joined, e->value.time) : time_text_utc(&f->joined, e->value.time)))
        output_string(out, "time", f->joined.data);
    else
        output_null(out, "time");
    save_fields(out, start, &f->sample);
    f->has_sample = has_time;
    f->number = run->frame.number;
    f->time = e->value.time;
    f->is_local_time = is_local;
}

/* Prepares the path of a row, whose last character is the backslash before the counter. That backslash is escaped
 * together with the counter, so the path is split before it, unless another backslash precedes it. A space at the end
 * of a text is quoted, so the path is not split after a space either. */
static void prepare_path(const output *out, cached_fields *f, const pfb_series *s)
{
    buffer_clear(&f->path);
    sink_put_instance_path(&f->path, s);
    size_t size = f->path.size;
    f->is_split = size > 1 && f->path.data[size - 2] != '\\' && f->path.data[size - 2] != ' ';
    buffer_clear(&f->path_text);
    if (f->is_split)
        f->is_quoted = output_prepare(out, &f->path_text, f->path.data, size - 1);
}

/* Puts the fields of the set and the row that precede those of the column. */
static void put_row(output *out, cached_fields *f, const pfb_series *s)
{
    bool is_log = (s->has & PFB_SERIES_LOG) != 0;
    bool is_same_result = f->has_row && f->result == s->result && f->is_log == is_log;
    if (is_same_result && f->row == s->row) {
        repeat_fields(out, &f->set_fields);
        repeat_fields(out, &f->row_fields);
        return;
    }
    size_t start = output_mark(out);
    if (is_same_result) {
        repeat_fields(out, &f->set_fields);
    } else {
        sink_put_name(out, "set", s->has & PFB_SERIES_COUNTERSET, s->counterset, s->counterset_bytes);
        sink_put_number(out, "object", s->has & PFB_SERIES_TITLE, s->title);
        save_fields(out, start, &f->set_fields);
        buffer_clear(&f->set_end);
    }
    start = output_mark(out);
    sink_put_name(out, "instance", s->has & PFB_SERIES_INSTANCE, s->instance, s->instance_bytes);
    output_unsigned(out, "occurrence", s->occurrence);
    save_fields(out, start, &f->row_fields);
    buffer_clear(&f->row_end);
    prepare_path(out, f, s);
    f->has_row = true;
    f->is_log = is_log;
    f->result = s->result;
    f->row = s->row;
}

/* Puts the fields of the set and the row that follow the raw value and the base. */
static void put_row_end(output *out, cached_fields *f, const pfb_series *s)
{
    size_t start = output_mark(out);
    if (f->set_end.size > 0) {
        repeat_fields(out, &f->set_end);
    } else {
        sink_put_guid(out, s->has & PFB_SERIES_SET, &s->set);
        save_fields(out, start, &f->set_end);
    }
    start = output_mark(out);
    if (f->row_end.size > 0) {
        repeat_fields(out, &f->row_end);
        return;
    }
    if (s->has & PFB_SERIES_INSTANCE_ID)
        output_signed(out, "instance_id", s->instance_id);
    else
        output_null(out, "instance_id");
    sink_put_name(out, "parent", s->has & PFB_SERIES_PARENT, s->parent, s->parent_bytes);
    buffer_clear(&f->machine);
    sink_put_machine(&f->machine, s, SIZE_MAX);
    sink_put_name(out, "machine", s->has & PFB_SERIES_MACHINE, f->machine.data, f->machine.size);
    save_fields(out, start, &f->row_end);
}

static bool is_of_column(const cached_column *c, const pfb_series *s)
{
    return c->is_used && c->position == s->position && c->counter_id == s->counter_id && c->type == s->type &&
           c->has == (s->has & column_bits) && c->counter_size == s->counter_bytes &&
           memcmp(c->text, s->counter, s->counter_bytes) == 0;
}

static void append_text(cached_column *c, size_t *size, const char *bytes, size_t count)
{
    c->is_used = c->is_used && count <= LONGEST_COLUMN - *size;
    if (!c->is_used || count == 0)
        return;
    memcpy(c->text + *size, bytes, count);
    *size += count;
}

/* Keeps the text of a column, whose fields begin at `start`, unless it is too long. */
static void keep_column(const output *out, cached_fields *f, cached_column *c, const pfb_series *s, size_t start)
{
    size_t used = 0;
    const char *fields = output_since(out, start, &c->fields_size);
    c->is_used = s->counter_bytes <= LONGEST_COLUMN;
    c->has = s->has & column_bits;
    c->counter_id = s->counter_id;
    c->position = s->position;
    c->type = s->type;
    c->counter_size = s->counter_bytes;
    append_text(c, &used, s->counter, s->counter_bytes);
    append_text(c, &used, fields, c->fields_size);
    if (!c->is_used)
        return;
    buffer_clear(&f->joined);
    buffer_string(&f->joined, "\\");
    sink_put_counter(&f->joined, s);
    buffer_clear(&f->machine);
    c->is_quoted = output_prepare(out, &f->machine, f->joined.data, f->joined.size);
    c->path_size = f->machine.size;
    append_text(c, &used, f->machine.data, f->machine.size);
}

/* Puts the fields of a column. Returns its text, of which is_used says whether it was kept. */
static const cached_column *put_column(output *out, cached_fields *f, const pfb_series *s)
{
    enum { FACTOR = 61 }; /* spreads the columns of different results over the slots; any odd number works */
    cached_column *c = &f->columns[(s->result * FACTOR + s->position) % COLUMN_SLOTS];
    char type[NAMES_TYPE_BYTES];
    if (is_of_column(c, s)) {
        output_repeat(out, c->text + c->counter_size, c->fields_size);
        return c;
    }
    size_t start = output_mark(out);
    sink_put_name(out, "counter", s->has & PFB_SERIES_COUNTER, s->counter, s->counter_bytes);
    sink_put_number(out, "counter_id", s->has & PFB_SERIES_COUNTER_ID, s->counter_id);
    output_unsigned(out, "position", s->position);
    if (s->has & PFB_SERIES_TYPE)
        output_string(out, "type", names_of_type(s->type, type));
    else
        output_null(out, "type");
    keep_column(out, f, c, s, start);
    return c;
}

/* Puts the path. It is null if a name in it is unknown. A column of a log whose header is no path has none. */
static void put_path(output *out, cached_fields *f, const cached_column *c, const pfb_series *s)
{
    bool has_path = (s->has & PFB_SERIES_COUNTER) && (s->has & PFB_SERIES_COUNTERSET);
    if (has_path && f->is_split && c->is_used) {
        output_prepared(out, "path", &f->path_text, c->text + c->counter_size + c->fields_size, c->path_size,
                        f->is_quoted || c->is_quoted);
        return;
    }
    buffer_clear(&f->joined);
    if (has_path) {
        buffer_bytes(&f->joined, f->path.data, f->path.size);
        sink_put_counter(&f->joined, s);
    }
    sink_put_name(out, "path", f->joined.size > 0, f->joined.data, f->joined.size);
}

static void put_values(output *out, const element *e)
{
    const char *flags[NAMES_MAX_BITS];
    char status[NAMES_STATUS_BYTES];
    size_t flag_count = e->value.flags != 0 ? names_of_flags(e->value.flags, flags) : 0;
    output_plain(out, "status", sink_status_name(e, status));
    if (e->value.status == PFB_STATUS_OK)
        output_double(out, "value", e->value.value);
    else
        output_null(out, "value");
    output_plain(out, "unit", e->series.unit);
    output_names(out, "flags", flags, flag_count);
    sink_put_number(out, "raw", e->value.has & PFB_VALUE_RAW, e->value.raw);
    sink_put_number(out, "base", e->value.has & PFB_VALUE_BASE, e->value.base);
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Forgets the texts of elements if the layout has changed. A layout that two frames have in turn gets elements. */
static void begin_frame(cached_fields *f, const pfb_frame *frame)
{
    f->has_row = false;
    if (f->layout != frame->layout) {
        f->layout = frame->layout;
        f->count = 0;
        buffer_clear(&f->text);
    } else if (f->count != frame->count) {
        f->elements = memory_grow(f->elements, &f->capacity, frame->count, sizeof *f->elements);
        f->count = frame->count;
        memset(f->elements, 0, f->count * sizeof *f->elements);
        buffer_clear(&f->text);
    }
}

/* Keeps the text of an element unless it is too long. */
static void keep_element(cached_fields *f, kept_element *kept, const output *out, const size_t marks[3])
{
    size_t end_size;
    const char *end = output_since(out, marks[2], &end_size);
    size_t names_size = marks[1] - marks[0];
    if (f->text.size > MAX_TEXT || names_size + end_size > LONGEST_ELEMENT)
        return;
    *kept = (kept_element){(uint32_t)f->text.size, (uint32_t)names_size, (uint32_t)end_size};
    size_t size;
    buffer_bytes(&f->text, output_since(out, marks[0], &size), names_size);
    buffer_bytes(&f->text, end, end_size);
}

static void put_element(const sink_run *run, uint32_t at, const element *e)
{
    output *out = run->out;
    cached_fields *f = run->fields;
    kept_element *kept = at < f->count ? &f->elements[at] : NULL;
    output_begin(out, NULL, 0);
    put_sample(run, e);
    if (kept && kept->names_size > 0) {
        output_repeat(out, f->text.data + kept->start, kept->names_size);
        put_values(out, e);
        output_repeat(out, f->text.data + kept->start + kept->names_size, kept->end_size);
    } else {
        size_t marks[3]; /* the start and end of the fields before "status", the start of those after "base" */
        marks[0] = output_mark(out);
        put_row(out, f, &e->series);
        const cached_column *column = put_column(out, f, &e->series);
        marks[1] = output_mark(out);
        put_values(out, e);
        marks[2] = output_mark(out);
        put_row_end(out, f, &e->series);
        put_path(out, f, column, &e->series);
        if (kept)
            keep_element(f, kept, out, marks);
    }
    output_end(out);
}

void records_print(sink_run *run)
{
    element e;
    uint32_t reported = 0;
    if (!run->fields)
        run->fields = memory_get(1, sizeof *run->fields);
    begin_frame(run->fields, &run->frame);
    for (uint32_t i = 0; !output_failed(run->out) && sink_element(run, i, &e); i++) {
        while (!sink_is_of_log(&e) && reported < run->frame.result_count && reported <= e.series.result)
            sink_report_result(run, reported++);
        if (run->out->format != OUTPUT_CSV || e.value.status != PFB_STATUS_NOT_DISPLAYED)
            put_element(run, i, &e);
    }
    while (!output_failed(run->out) && reported < run->frame.result_count)
        sink_report_result(run, reported++);
}

void records_end(sink_run *run)
{
    cached_fields *f = run->fields;
    if (!f)
        return;
    buffer *const buffers[] = {&f->text,    &f->sample, &f->set_fields, &f->set_end, &f->row_fields,
                               &f->row_end, &f->path,   &f->path_text,  &f->machine, &f->joined};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        buffer_free(buffers[i]);
    free(f->elements);
    free(f);
    run->fields = NULL;
}
