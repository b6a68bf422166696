/* SPDX-License-Identifier: MIT */
/* Passes displayed values to the page of charts (report/report.h). */
#include "output/text.h"
#include "output/time_text.h"
#include "report/report.h"
#include "sinks/sink.h"
#include "sinks/value_name.h"

/* Names of the current value. Consecutive values share those of their counterset and row. */
typedef struct chart_names {
    buffer machine, set, row, column;
    uint32_t result, row_number;
    bool has_set, has_row;
} chart_names;

/* Sets the names of a value of a log. Consecutive values of a log may belong to different machines and objects. */
static void name_logged(chart_names *names, const element *v)
{
    buffer_clear(&names->machine);
    buffer_clear(&names->set);
    buffer_clear(&names->row);
    buffer_clear(&names->column);
    if (v->series.has & PFB_SERIES_MACHINE)
        text_first(&names->machine, v->series.machine, v->series.machine_bytes, SINK_LONGEST_NAME);
    if (v->series.has & PFB_SERIES_COUNTERSET)
        text_first(&names->set, v->series.counterset, v->series.counterset_bytes, SINK_LONGEST_NAME);
    if (v->series.has & PFB_SERIES_INSTANCE)
        sink_put_row_name(&names->row, &v->series);
    sink_put_column_name(&names->column, &v->series);
}

/* Sets the names of a value that is not from a log. The row of a counterset without instances has an empty name. */
static void name_value(chart_names *names, const element *v)
{
    if (!names->has_set || names->result != v->series.result) {
        buffer_clear(&names->set);
        buffer_clear(&names->machine);
        sink_put_set_name(&names->set, &v->series);
        text_first(&names->machine, v->series.machine, v->series.machine_bytes, SINK_LONGEST_NAME);
        names->has_row = false;
    }
    if (!names->has_row || names->row_number != v->series.row) {
        buffer_clear(&names->row);
        if (v->series.has & PFB_SERIES_INSTANCE)
            sink_put_row_name(&names->row, &v->series);
    }
    buffer_clear(&names->column);
    sink_put_column_name(&names->column, &v->series);
    names->has_set = names->has_row = true;
    names->result = v->series.result;
    names->row_number = v->series.row;
}

/* Returns true for types whose values are computed from two samples. */
static bool is_of_interval(const element *v)
{
    const pfb_counter_type *type = v->series.has & PFB_SERIES_TYPE ? pfb_counter_type_find(v->series.type) : NULL;
    return type && type->samples == 2;
}

void charts_print(sink_run *p)
{
    chart_names names = {.has_set = false};
    element v;
    char status[NAMES_STATUS_BYTES];
    buffer_clear(&names.machine);
    int64_t clock = p->frame.time;
    int64_t time = (p->frame.flags & PFB_RECORD_LOCAL_TIME) ? time_text_from_local(clock) : clock;
    report_zone(p->out->report, p->frame.file, time, &p->zone);
    report_tolerated(p->out->report, p->frame.notes);
    for (uint32_t i = 0; sink_element(p, i, &v); i++) {
        if (!sink_is_shown(&v))
            continue;
        if (sink_is_of_log(&v))
            name_logged(&names, &v);
        else
            name_value(&names, &v);
        report_add(p->out->report,
                   &(report_value){.sample = p->frame.number,
                                   .file = p->frame.file,
                                   .time = time,
                                   .own_time = v.value.has & PFB_VALUE_TIME ? v.value.time : clock,
                                   .machine = names.machine.data,
                                   .counterset = names.set.data,
                                   .instance = names.row.data,
                                   .counter = names.column.data,
                                   .unit = v.series.unit,
                                   .gap = v.value.status == PFB_STATUS_OK ? NULL : sink_status_name(&v, status),
                                   .value = v.value.value,
                                   .is_of_interval = is_of_interval(&v)});
    }
    buffer_free(&names.machine);
    buffer_free(&names.set);
    buffer_free(&names.row);
    buffer_free(&names.column);
}
