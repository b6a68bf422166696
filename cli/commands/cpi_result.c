/* SPDX-License-Identifier: MIT */
#include "commands/cpi_result.h"

#include <inttypes.h>
#include <stdio.h>

/* The rows of the table, in their order. cpi_wb is scaled_cpi, the CPI of the busy part of the interval. */
typedef enum figure { FIGURE_CPI, FIGURE_CPI_WB, FIGURE_IDLE, FIGURE_BUSY, FIGURE_COUNT } figure;

static const char *const figure_names[FIGURE_COUNT] = {
    [FIGURE_CPI] = "cpi", [FIGURE_CPI_WB] = "cpi_wb", [FIGURE_IDLE] = "idle%", [FIGURE_BUSY] = "busy%"};

/* Gets a figure. Returns false if it is undefined, because its divisor is 0. That includes CPUs whose counters cannot
 * be used: all their counts are 0. */
static bool find_figure(const pfb_cpi_figures *figures, figure which, double *value)
{
    switch (which) {
    case FIGURE_CPI:
        *value = figures->raw_cpi;
        return figures->instr > 0;
    case FIGURE_CPI_WB:
        *value = figures->scaled_cpi;
        return figures->instr > 0;
    case FIGURE_IDLE:
        *value = 100.0 - figures->busy_percent;
        return figures->elapsed > 0;
    default:
        *value = figures->busy_percent;
        return figures->elapsed > 0;
    }
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* Appends a figure, right-justified, and `unit`; only "n/a" if the figure is undefined. */
static void put_figure(buffer *text, const pfb_cpi_figures *figures, figure which, int width, const char *unit)
{
    double value;
    if (find_figure(figures, which, &value))
        buffer_format(text, "%*.2f%s", width, value, unit);
    else
        buffer_format(text, "%*s", width, "n/a");
}

/* Appends the line with the figures of the system. */
static void put_line(buffer *text, const pfb_cpi_figures *system)
{
    enum { WIDTH = 5 };
    static const char *const names[FIGURE_COUNT] = {"cpi: ", "  cpi_wb: ", "  idle: ", "  busy: "};
    for (unsigned i = 0; i < FIGURE_COUNT; i++) {
        buffer_string(text, names[i]);
        put_figure(text, system, (figure)i, WIDTH, i >= FIGURE_IDLE ? "%" : "");
    }
    buffer_string(text, "\n");
}

enum { NAME_COLUMNS = 6, FIGURE_COLUMNS = 6 };

static void put_headings(buffer *text, const pfb_cpi_details *details)
{
    char heading[16];
    buffer_format(text, "%*s %*s", NAME_COLUMNS, "", FIGURE_COLUMNS, "System");
    for (size_t i = 0; i < details->result.cpu_count; i++) {
        snprintf(heading, sizeof heading, "CPU%" PRIu32, details->cpus[i].cpu);
        buffer_format(text, " %*s", FIGURE_COLUMNS, heading);
    }
    buffer_string(text, "\n");
}

static void put_row(buffer *text, const pfb_cpi_details *details, figure which)
{
    buffer_format(text, "%-*s ", NAME_COLUMNS, figure_names[which]);
    put_figure(text, &details->result.system, which, FIGURE_COLUMNS, "");
    for (size_t i = 0; i < details->result.cpu_count; i++) {
        buffer_string(text, " ");
        put_figure(text, &details->cpus[i], which, FIGURE_COLUMNS, "");
    }
    buffer_string(text, "\n");
}

static void print_text(output *out, const pfb_cpi_details *details)
{
    buffer text = {0};
    put_line(&text, &details->result.system);
    put_headings(&text, details);
    for (unsigned i = 0; i < FIGURE_COUNT; i++)
        put_row(&text, details, (figure)i);
    output_raw(out, text.data, text.size);
    buffer_free(&text);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void write_figure(output *out, const char *key, const pfb_cpi_figures *figures, figure which)
{
    double value;
    if (find_figure(figures, which, &value))
        output_double(out, key, value);
    else
        output_null(out, key);
}

static void write_figures(output *out, const pfb_cpi_figures *figures)
{
    output_word(out, "status", pfb_cpi_status_name(figures->status));
    write_figure(out, "raw_cpi", figures, FIGURE_CPI);
    write_figure(out, "scaled_cpi", figures, FIGURE_CPI_WB);
    write_figure(out, "busy_percent", figures, FIGURE_BUSY);
    output_unsigned(out, "instr", figures->instr);
    output_unsigned(out, "cycles", figures->cycles);
    output_unsigned(out, "scaled_cycles", figures->scaled_cycles);
    output_unsigned(out, "busy", figures->busy);
    output_unsigned(out, "elapsed", figures->elapsed);
    output_bool(out, "busy_clamped", figures->is_busy_clamped);
}

static void write_ending(output *out, const system_ending *ending)
{
    const char *const keys[] = {"command_status", "command_signal"};
    for (unsigned i = 0; i < 2; i++) {
        if (ending->is_signal == (i == 1))
            output_unsigned(out, keys[i], ending->number);
        else
            output_null(out, keys[i]);
    }
}

static void write_system(output *out, const cpi_result *r)
{
    output_begin(out, "cpi", 0);
    output_unsigned(out, "elapsed_cycles", r->details.result.elapsed_cycles);
    output_bool(out, "cpus_changed", r->details.result.cpus_changed);
    output_unsigned(out, "num_cpus", r->details.result.cpu_count);
    output_begin_object(out, "system");
    write_figures(out, &r->details.result.system);
    output_end_object(out);
    write_ending(out, &r->ending);
    output_end(out);
}

static void write_cpu(output *out, const cpi_result *r, size_t position)
{
    uint64_t cycles;
    output_begin(out, "cpu", 0);
    output_unsigned(out, "cpu", r->details.cpus[position].cpu);
    write_figures(out, &r->details.cpus[position]);
    if (pfb_cpi_get_unhalted(r->handle, position, &cycles) == PFB_PU_SUCCESS)
        output_unsigned(out, "unhalted_cycles", cycles);
    else
        output_null(out, "unhalted_cycles");
    output_end(out);
}

void cpi_result_print(output *out, const cpi_result *result)
{
    if (out->format == OUTPUT_TEXT) {
        print_text(out, &result->details);
        return;
    }
    write_system(out, result);
    for (size_t i = 0; i < result->details.result.cpu_count && !output_failed(out); i++)
        write_cpu(out, result, i);
}
