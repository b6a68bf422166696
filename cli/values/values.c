/* SPDX-License-Identifier: MIT */
#include "values/values.h"

#include "values/printers.h"

/* Prints the values of the current sample. Returns false if it also reported the results without values. */
static bool print_values(values_printer *p, pfb_collector *collector)
{
    if (p->out->summary) {
        values_print_summary(p, collector);
        return true;
    }
    switch (p->out->format) {
    case OUTPUT_TEXT:
        values_print_tables(p, collector);
        break;
    case OUTPUT_PDH_CSV:
    case OUTPUT_PDH_TSV:
        values_print_pdh(p, collector);
        break;
    case OUTPUT_PROMETHEUS:
        values_print_metrics(p, collector);
        break;
    case OUTPUT_REPORT:
        values_print_charts(p, collector);
        break;
    default:
        values_print_records(p, collector);
        return false;
    }
    return true;
}

/* Called only if is_live is set. Returns true if the current sample is printed. A sample may come in several parts,
 * which have the same number. The first sample, if it is not printed, is searched for the counter to sort by. */
static bool is_printed_live(values_printer *p, pfb_collector *collector)
{
    pfb_collected_value v;
    bool is_next = !p->has_number || p->sample.number != p->number;
    p->sample_count += is_next && (p->has_number || p->shows_first);
    p->has_number = true;
    p->number = p->sample.number;
    if (p->sample_count > 0)
        return !values_has_ended(p);
    values_find_sort_counter(p, collector);
    p->has_any = p->has_any || pfb_collector_next(collector, &v);
    return false;
}

bool values_has_ended(const values_printer *p)
{
    return output_failed(p->out) || (p->max_samples > 0 && p->sample_count > p->max_samples);
}

void values_print(values_printer *p, pfb_collector *collector)
{
    if (!pfb_collector_sample(collector, &p->sample) || (p->is_live && !is_printed_live(p, collector)) ||
        !print_values(p, collector))
        return;
    for (uint32_t i = 0; i < p->sample.result_count && !output_failed(p->out); i++)
        values_report_result(p, collector, i);
}

void values_end_sample(values_printer *p)
{
    if (p->out->pdh)
        values_end_pdh(p);
}

void values_end(values_printer *p)
{
    values_end_sample(p);
    suggest_end(&p->closest);
    values_end_records(p);
    values_end_metrics(p);
}
