/* SPDX-License-Identifier: MIT */
#include "commands/cpi_result.h"

#include <inttypes.h>
#include <stdio.h>

/* The rows of the table, in its order. */
typedef enum figure { FIGURE_CPI, FIGURE_CPI_WB, FIGURE_IDLE, FIGURE_BUSY, FIGURE_COUNT } figure;

static const char *const figure_names[FIGURE_COUNT] = {
    [FIGURE_CPI] = "cpi", [FIGURE_CPI_WB] = "cpi_wb", [FIGURE_IDLE] = "idle%", [FIGURE_BUSY] = "busy%"};

/* Returns false if there is no figure. The counts of a CPU that cannot be used are all 0. */
static bool find_figure(const pfb_cpi_figures *f, figure which, double *value)
{
    switch (which) {
    case FIGURE_CPI:
        *value = f->raw_cpi;
        return f->instr > 0;
    case FIGURE_CPI_WB:
        *value = f->scaled_cpi;
        return f->instr > 0;
    case FIGURE_IDLE:
        *value = 100.0 - f->busy_percent;
        return f->elapsed > 0;
    default:
        *value = f->busy_percent;
        return f->elapsed > 0;
    }
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* Right-justified. `unit` follows the figure if the figure exists. */
static void put_figure(buffer *text, const pfb_cpi_figures *f, figure which, int width, const char *unit)
{
    double value;
    if (find_figure(f, which, &value))
        buffer_format(text, "%*.2f%s", width, value, unit);
    else
        buffer_format(text, "%*s", width, "n/a");
}

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

static void state_figure(output *out, const char *key, const pfb_cpi_figures *f, figure which)
{
    double value;
    if (find_figure(f, which, &value))
        output_double(out, key, value);
    else
        output_null(out, key);
}

static void state_figures(output *out, const pfb_cpi_figures *f)
{
    output_word(out, "status", pfb_cpi_status_name(f->status));
    state_figure(out, "raw_cpi", f, FIGURE_CPI);
    state_figure(out, "scaled_cpi", f, FIGURE_CPI_WB);
    state_figure(out, "busy_percent", f, FIGURE_BUSY);
    output_unsigned(out, "instr", f->instr);
    output_unsigned(out, "cycles", f->cycles);
    output_unsigned(out, "scaled_cycles", f->scaled_cycles);
    output_unsigned(out, "busy", f->busy);
    output_unsigned(out, "elapsed", f->elapsed);
    output_bool(out, "busy_clamped", f->is_busy_clamped);
}

static void state_ending(output *out, const system_ending *ending)
{
    const char *const keys[] = {"command_status", "command_signal"};
    for (unsigned i = 0; i < 2; i++) {
        if (ending->is_signal == (i == 1))
            output_unsigned(out, keys[i], ending->number);
        else
            output_null(out, keys[i]);
    }
}

static void state_system(output *out, const cpi_result *r)
{
    output_begin(out, "cpi", 0);
    output_unsigned(out, "elapsed_cycles", r->details.result.elapsed_cycles);
    output_bool(out, "cpus_changed", r->details.result.cpus_changed);
    output_unsigned(out, "num_cpus", r->details.result.cpu_count);
    output_begin_object(out, "system");
    state_figures(out, &r->details.result.system);
    output_end_object(out);
    state_ending(out, &r->ending);
    output_end(out);
}

static void state_cpu(output *out, const cpi_result *r, size_t position)
{
    uint64_t cycles;
    output_begin(out, "cpu", 0);
    output_unsigned(out, "cpu", r->details.cpus[position].cpu);
    state_figures(out, &r->details.cpus[position]);
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
    state_system(out, result);
    for (size_t i = 0; i < result->details.result.cpu_count && !output_failed(out); i++)
        state_cpu(out, result, i);
}
