/* SPDX-License-Identifier: MIT */
#include "commands/cpi_readings.h"

#include "memory/memory.h"
#include "perfblock/cpi/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- The source -------------------------------------------------------------------------------------------------- */

typedef struct storing_source {
    pfb_cpi_source *inner;
    cpi_readings *readings;
} storing_source;

typedef struct storing_reader {
    pfb_cpi_reader *inner;
    cpi_readings *readings;
} storing_reader;

static void close_source(void *context)
{
    storing_source *s = context;
    pfb_cpi_source_close(s->inner);
    free(s);
}

static void *open_reader(void *context, uint32_t mode, pfb_cpi_failure *failure)
{
    const storing_source *s = context;
    pfb_cpi_reader *inner = pfb_cpi_reader_open(s->inner, mode, failure);
    if (!inner)
        return NULL;
    storing_reader *r = memory_get(1, sizeof *r);
    *r = (storing_reader){.inner = inner, .readings = s->readings};
    return r;
}

static void close_reader(void *reader)
{
    storing_reader *r = reader;
    pfb_cpi_reader_close(r->inner);
    free(r);
}

/* Copies a reading and its array of CPUs, which belongs to the caller and is overwritten by the next reading. */
static void store_reading(cpi_readings *readings, pfb_cpi_moment moment, const pfb_cpi_reading *reading)
{
    size_t count = reading->snapshot.cpu_count;
    free(readings->cpus[moment]);
    readings->cpus[moment] = memory_get(count > 0 ? count : 1, sizeof *readings->cpus[moment]);
    if (count > 0)
        memcpy(readings->cpus[moment], reading->snapshot.cpus, count * sizeof *readings->cpus[moment]);
    readings->latest[moment] = *reading;
    readings->latest[moment].snapshot.cpus = readings->cpus[moment];
    readings->has_reading[moment] = true;
}

static bool read_and_store(void *reader, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity,
                           pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    const storing_reader *r = reader;
    if (!pfb_cpi_reader_read(r->inner, moment, cpus, capacity, reading, failure))
        return false;
    store_reading(r->readings, moment, reading);
    return true;
}

static bool read_unhalted(const void *reader, size_t position, uint64_t *cycles)
{
    const storing_reader *r = reader;
    return pfb_cpi_reader_unhalted(r->inner, position, cycles);
}

pfb_cpi_source *cpi_readings_source(pfb_cpi_source *inner, cpi_readings *readings, pfb_cpi_failure *failure)
{
    static const pfb_cpi_source_operations operations = {.close = close_source,
                                                         .reader_open = open_reader,
                                                         .reader_close = close_reader,
                                                         .read = read_and_store,
                                                         .unhalted = read_unhalted};
    storing_source *s = memory_get(1, sizeof *s);
    *s = (storing_source){.inner = inner, .readings = readings};
    return pfb_cpi_source_make(&operations, s, failure);
}

/* ---- Writing text ------------------------------------------------------------------------------------------------ */

static void write_step(buffer *text, const pfb_cpi_reading *reading)
{
    pfb_cpi_step step = {.snapshot = reading->snapshot,
                         .has_busy = reading->snapshot.cpu_count > 0,
                         .is_user_only = reading->is_user_only};
    size_t size = pfb_cpi_text_write_step(&step, NULL, NULL, 0);
    char *written = memory_get(size > 0 ? size : 1, 1);
    pfb_cpi_text_write_step(&step, NULL, written, size);
    buffer_bytes(text, written, size);
    free(written);
}

void cpi_readings_write(const cpi_readings *readings, buffer *text)
{
    if (!readings->has_reading[PFB_CPI_AT_START] || !readings->has_reading[PFB_CPI_AT_END])
        return;
    const pfb_cpi_widths *widths = &readings->latest[PFB_CPI_AT_END].widths;
    size_t size = pfb_cpi_text_write_head(widths, NULL, 0);
    char *written = memory_get(size > 0 ? size : 1, 1);
    pfb_cpi_text_write_head(widths, written, size);
    buffer_bytes(text, written, size);
    free(written);
    write_step(text, &readings->latest[PFB_CPI_AT_START]);
    write_step(text, &readings->latest[PFB_CPI_AT_END]);
}

void cpi_readings_free(cpi_readings *readings)
{
    free(readings->cpus[PFB_CPI_AT_START]);
    free(readings->cpus[PFB_CPI_AT_END]);
    *readings = (cpi_readings){0};
}
