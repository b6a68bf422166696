/* SPDX-License-Identifier: MIT */
/* Displayed values for a page of charts. */
#include "output/text.h"
#include "report/report.h"
#include "values/values.h"

/* Names of the value at hand, each made once for the values that share it. */
typedef struct chart_words {
    buffer machine, set, row, column;
    uint32_t result, row_number;
    bool has_set, has_row;
} chart_words;

/* In a log each value has its machine and object. */
static void name_logged(chart_words *words, const pfb_collected_value *v)
{
    buffer_clear(&words->machine);
    buffer_clear(&words->set);
    buffer_clear(&words->row);
    buffer_clear(&words->column);
    if (v->has_machine)
        text_first(&words->machine, v->machine, v->machine_size, VALUES_LONGEST_NAME);
    if (v->has_counterset)
        text_first(&words->set, v->counterset, v->counterset_size, VALUES_LONGEST_NAME);
    if (v->has_instance)
        values_put_row_name(&words->row, v);
    values_put_column_name(&words->column, v);
}

/* The name of the only row of a counterset without instances is empty. */
static void name_value(chart_words *words, pfb_collector *collector, const pfb_collected_value *v)
{
    pfb_collected_result result;
    if (!words->has_set || words->result != v->result) {
        buffer_clear(&words->set);
        if (pfb_collector_result(collector, v->result, &result))
            values_put_set_name(&words->set, &result, v->result);
        words->has_row = false;
    }
    if (!words->has_row || words->row_number != v->row) {
        buffer_clear(&words->row);
        if (v->has_instance)
            values_put_row_name(&words->row, v);
    }
    buffer_clear(&words->column);
    values_put_column_name(&words->column, v);
    words->has_set = words->has_row = true;
    words->result = v->result;
    words->row_number = v->row;
}

void values_print_charts(values_printer *p, pfb_collector *collector)
{
    chart_words words = {.has_set = false};
    pfb_collected_value v;
    buffer_clear(&words.machine);
    text_first(&words.machine, p->sample.machine, p->sample.machine_size, VALUES_LONGEST_NAME);
    report_tolerated(p->out->report, p->sample.notes);
    while (pfb_collector_next(collector, &v)) {
        if (!values_is_shown(&v))
            continue;
        values_count(p, v.status);
        if (p->sample.is_log)
            name_logged(&words, &v);
        else
            name_value(&words, collector, &v);
        report_add(p->out->report, &(report_value){.sample = v.sample,
                                                   .time = p->sample.perf_time_100ns,
                                                   .machine = words.machine.data,
                                                   .counterset = words.set.data,
                                                   .instance = words.row.data,
                                                   .counter = words.column.data,
                                                   .unit = v.unit,
                                                   .gap = v.status == PFB_STATUS_OK ? NULL : values_status_name(&v),
                                                   .value = v.value});
    }
    buffer_free(&words.machine);
    buffer_free(&words.set);
    buffer_free(&words.row);
    buffer_free(&words.column);
}
