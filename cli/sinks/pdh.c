/* SPDX-License-Identifier: MIT */
/* Displayed values as a PDH text log. The values of a sample are stored by column and written when the sample ends,
 * because a sample of V1 blocks or of a log may come in several parts, each with its own call of pdh_print(). */
#include "sinks/pdh.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "output/text.h"
#include "output/time_text.h"
#include "sinks/series.h"
#include "sinks/sink.h"
#include "sinks/value_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct pdh_cell {
    bool has_value;
    double value;
} pdh_cell;

struct pdh_log {
    series_list columns; /* by path; series from column_count on have no column */
    bool is_first_pass;
    bool has_columns; /* column_count is final */
    size_t column_count;
    size_t reported_count; /* number of series that have a column or whose lack of one was reported */
    bool has_header;
    bool has_offset;        /* offset_minutes and zone are those of all rows, else of the current one */
    int32_t offset_minutes; /* of local time from UTC, positive east of Greenwich */
    buffer zone;            /* name of the time zone */
    buffer path, time_text, line;
    bool has_path_start; /* path_start is the path of this row of this result, up to the counter */
    bool is_start_of_log;
    uint32_t start_result, start_row;
    buffer path_start;
    /* The current row: */
    bool has_row, has_values;
    uint64_t number; /* of the sample */
    int64_t time;
    bool is_local;   /* `time` is local, and its offset from UTC is unknown */
    pdh_cell *cells; /* by column */
    size_t cell_count, cell_capacity;
};

pdh_log *pdh_log_begin(bool has_two_passes)
{
    pdh_log *log = memory_get(1, sizeof *log);
    log->is_first_pass = has_two_passes;
    return log;
}

static void fix_columns(pdh_log *log)
{
    log->has_columns = true;
    log->column_count = log->reported_count = log->columns.count;
}

void pdh_log_begin_rows(pdh_log *log)
{
    log->is_first_pass = false;
    fix_columns(log);
}

bool pdh_log_has_rows(const pdh_log *log)
{
    return log->has_header;
}

void pdh_log_free(pdh_log *log)
{
    if (!log)
        return;
    series_free(&log->columns);
    buffer_free(&log->zone);
    buffer_free(&log->path);
    buffer_free(&log->path_start);
    buffer_free(&log->time_text);
    buffer_free(&log->line);
    free(log->cells);
    free(log);
}

/* ---- Lines ----------------------------------------------------------------------------------------------- */

static const char *separator(const output *out)
{
    return out->format == OUTPUT_PDH_TSV ? "\t" : ",";
}

static void put_line(output *out, pdh_log *log)
{
    buffer_string(&log->line, "\r\n");
    output_raw(out, log->line.data, log->line.size);
}

/* Makes the text of the row's time. Rows whose offset from UTC is known all use that of the first such row, so that
 * their times are unambiguous. Returns false for a time outside the years 1601 to 9999. */
static bool make_time(pdh_log *log)
{
    buffer_clear(&log->time_text);
    bool has_date = time_text_pdh(&log->time_text, log->time, log->is_local ? 0 : log->offset_minutes);
    log->has_offset = log->has_offset || (has_date && !log->is_local);
    return has_date;
}

/* Leaves the time zone out if the first row's offset from UTC is unknown. */
static void put_header(output *out, pdh_log *log)
{
    buffer_clear(&log->path);
    buffer_string(&log->path, out->format == OUTPUT_PDH_TSV ? "(PDH-TSV 4.0)" : "(PDH-CSV 4.0)");
    if (!log->is_local)
        buffer_format(&log->path, " (%s)(%" PRId32 ")", log->zone.data, -log->offset_minutes);
    buffer_clear(&log->line);
    text_pdh(&log->line, log->path.data, log->path.size);
    for (size_t i = 0; i < log->column_count; i++) {
        size_t size;
        const char *path = series_key(&log->columns, i, &size);
        output_raw(out, log->line.data, log->line.size); /* cell by cell, because the whole header may be large */
        buffer_clear(&log->line);
        buffer_string(&log->line, separator(out));
        text_pdh(&log->line, path, size);
    }
    put_line(out, log);
    log->has_header = true;
}

static void put_row(output *out, pdh_log *log)
{
    char number[32];
    buffer_clear(&log->line);
    text_pdh(&log->line, log->time_text.data, log->time_text.size);
    for (size_t i = 0; i < log->column_count; i++) {
        buffer_string(&log->line, separator(out));
        if (log->cells[i].has_value)
            snprintf(number, sizeof number, "\"%.17g\"", log->cells[i].value);
        buffer_string(&log->line, log->cells[i].has_value ? number : "\" \"");
    }
    put_line(out, log);
}

/* Reports the paths without a column that occurred for the first time in this sample. */
static void report_new_paths(const sink_run *p, pdh_log *log)
{
    size_t size;
    size_t count = log->columns.count - log->reported_count;
    if (count == 0)
        return;
    const char *path = series_key(&log->columns, log->reported_count, &size);
    buffer_clear(&log->path);
    buffer_bytes(&log->path, path, size);
    if (count == 1)
        diagnostics_say(STATUS_FINE, p->file, "note: sample %" PRIu64 ": %s has no column", log->number,
                        log->path.data);
    else
        diagnostics_say(STATUS_FINE, p->file, "note: sample %" PRIu64 ": %s and %zu more have no column", log->number,
                        log->path.data, count - 1);
    log->reported_count = log->columns.count;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

static void reserve_cells(pdh_log *log, size_t count)
{
    log->cells = memory_grow(log->cells, &log->cell_capacity, count, sizeof *log->cells);
    while (log->cell_count < count)
        log->cells[log->cell_count++] = (pdh_cell){.has_value = false};
}

void pdh_end(sink_run *p)
{
    pdh_log *log = p->out->pdh;
    if (!log->has_row)
        return;
    log->has_row = false;
    if (log->is_first_pass)
        return;
    if (!log->has_columns && log->has_values)
        fix_columns(log);
    if (log->column_count == 0 || output_failed(p->out))
        return;
    if (!make_time(log)) {
        diagnostics_say(STATUS_FINE, p->file,
                        "note: sample %" PRIu64 " has no row: its time is outside the years 1601 to 9999", log->number);
        return;
    }
    if (!log->has_header)
        put_header(p->out, log);
    put_row(p->out, log);
    report_new_paths(p, log);
}

static void begin_row(const sink_run *p, pdh_log *log)
{
    log->has_row = true;
    log->has_values = false;
    log->number = p->frame.number;
    series_begin_sample(&log->columns);
    reserve_cells(log, log->column_count);
    for (size_t i = 0; i < log->cell_count; i++)
        log->cells[i].has_value = false;
}

/* Makes the path up to the counter, which is the same for all counters of an instance. */
static void make_path_start(pdh_log *log, const element *v)
{
    const pfb_series *s = &v->series;
    if (log->has_path_start && log->is_start_of_log == sink_is_of_log(v) && log->start_result == s->result &&
        log->start_row == s->row)
        return;
    buffer_clear(&log->path_start);
    sink_put_instance_path(&log->path_start, s);
    log->has_path_start = true;
    log->is_start_of_log = sink_is_of_log(v);
    log->start_result = s->result;
    log->start_row = s->row;
}

static void set_cell(pdh_log *log, const element *v)
{
    make_path_start(log, v);
    buffer_clear(&log->path);
    buffer_bytes(&log->path, log->path_start.data, log->path_start.size);
    sink_put_counter(&log->path, &v->series);
    size_t column = series_find(&log->columns, log->path.data, log->path.size);
    if (log->is_first_pass || (log->has_columns && column >= log->column_count))
        return;
    reserve_cells(log, column + 1);
    log->cells[column] = (pdh_cell){v->value.status == PFB_STATUS_OK, v->value.value};
}

void pdh_print(sink_run *p)
{
    pdh_log *log = p->out->pdh;
    element v;
    if (log->has_row && log->number != p->frame.number)
        pdh_end(p);
    if (!log->has_row)
        begin_row(p, log);
    if (!log->has_values) { /* uses the time of the first part that has values: parts before it may lack the UTC time */
        log->time = p->frame.time;
        log->is_local = (p->frame.flags & PFB_RECORD_LOCAL_TIME) != 0;
        if (!log->has_offset && !log->is_first_pass) {
            buffer_clear(&log->zone);
            log->offset_minutes = time_text_zone(&log->zone, log->time, &p->zone);
        }
    }
    log->has_path_start = false;
    for (uint32_t i = 0; sink_element(p, i, &v); i++) {
        if (!sink_is_shown(&v))
            continue;
        set_cell(log, &v);
        log->has_values = true;
    }
    if (p->frame.kind == PFB_RECORD_V2) /* a V2 sample is one frame */
        pdh_end(p);
}
