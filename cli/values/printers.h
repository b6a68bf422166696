/* SPDX-License-Identifier: MIT */
#ifndef CLI_VALUES_PRINTERS_H
#define CLI_VALUES_PRINTERS_H

#include "values/printer.h"

/* The formats of displayed values. Each function values_print_*() prints the current sample. */

/* records.c; also calls values_report_result() for each result. */
void values_print_records(values_printer *p, pfb_collector *collector);
void values_end_records(values_printer *p);

void values_print_tables(values_printer *p, pfb_collector *collector); /* tables.c */

void values_print_charts(values_printer *p, pfb_collector *collector); /* charts.c */

void values_print_summary(values_printer *p, pfb_collector *collector); /* summary.c */

void values_print_pdh(values_printer *p, pfb_collector *collector); /* pdh.c */
void values_end_pdh(values_printer *p);

void values_print_metrics(values_printer *p, pfb_collector *collector); /* prometheus.c */
void values_end_metrics(values_printer *p);

/* Prints a record or a message if the result at `position` failed or is of unknown kind (results.c). */
void values_report_result(const values_printer *p, pfb_collector *collector, uint32_t position);

/* Appends a value of status ok in the form of tables: rounded, and with a unit if it is in bytes (readable.c). */
void values_put_readable(buffer *out, const pfb_collected_value *v);

#endif
