/* SPDX-License-Identifier: MIT */
/* Passes displayed values to the page of charts (report/report.h). */
#include "output/text.h"
#include "output/time_text.h"
#include "report/report.h"
#include "values/printers.h"
#include "values/value_name.h"

/* Names of the current value. Consecutive values share those of their counterset and row. */
typedef struct chart_names {
    buffer machine, set, row, column;
    uint32_t result, row_number;
    bool has_set, has_row;
} chart_names;

/* Sets the names of a value of a log. Consecutive values of a log may belong to different machines and objects. */
static void name_logged(chart_names *names, const pfb_collected_value *v)
{
    buffer_clear(&names->machine);
    buffer_clear(&names->set);
    buffer_clear(&names->row);
    buffer_clear(&names->column);
    if (v->has_machine)
        text_first(&names->machine, v->machine, v->machine_size, VALUES_LONGEST_NAME);
    if (v->has_counterset)
        text_first(&names->set, v->counterset, v->counterset_size, VALUES_LONGEST_NAME);
    if (v->has_instance)
        values_put_row_name(&names->row, v);
    values_put_column_name(&names->column, v);
}

/* Sets the names of a value that is not from a log. The row of a counterset without instances has an empty name. */
static void name_value(chart_names *names, pfb_collector *collector, const pfb_collected_value *v)
{
    pfb_collected_result result;
    if (!names->has_set || names->result != v->result) {
        buffer_clear(&names->set);
        if (pfb_collector_result(collector, v->result, &result))
            values_put_set_name(&names->set, &result, v->result);
        names->has_row = false;
    }
    if (!names->has_row || names->row_number != v->row) {
        buffer_clear(&names->row);
        if (v->has_instance)
            values_put_row_name(&names->row, v);
    }
    buffer_clear(&names->column);
    values_put_column_name(&names->column, v);
    names->has_set = names->has_row = true;
    names->result = v->result;
    names->row_number = v->row;
}

void values_print_charts(values_printer *p, pfb_collector *collector)
{
    chart_names names = {.has_set = false};
    pfb_collected_value v;
    buffer_clear(&names.machine);
    int64_t clock = p->sample.perf_time_100ns;
    int64_t time = p->sample.is_local_time ? time_text_from_local(clock) : clock;
    text_first(&names.machine, p->sample.machine, p->sample.machine_size, VALUES_LONGEST_NAME);
    report_tolerated(p->out->report, p->sample.notes);
    while (pfb_collector_next(collector, &v)) {
        if (!values_is_shown(&v))
            continue;
        values_count(p, v.status);
        if (p->sample.is_log)
            name_logged(&names, &v);
        else
            name_value(&names, collector, &v);
        report_add(p->out->report, &(report_value){.sample = v.sample,
                                                   .time = time,
                                                   .machine = names.machine.data,
                                                   .counterset = names.set.data,
                                                   .instance = names.row.data,
                                                   .counter = names.column.data,
                                                   .unit = v.unit,
                                                   .gap = v.status == PFB_STATUS_OK ? NULL : values_status_name(&v),
                                                   .value = v.value});
    }
    buffer_free(&names.machine);
    buffer_free(&names.set);
    buffer_free(&names.row);
    buffer_free(&names.column);
}
