/* SPDX-License-Identifier: MIT */
#include "commands/cpi_keep.h"

#include "memory/memory.h"
#include "perfblock/cpi/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- The source in between --------------------------------------------------------------------------------------- */

typedef struct keeper {
    pfb_cpi_source *inner;
    cpi_kept *kept;
} keeper;

typedef struct keeping_reader {
    pfb_cpi_reader *inner;
    cpi_kept *kept;
} keeping_reader;

static void close_keeper(void *context)
{
    keeper *k = context;
    pfb_cpi_source_close(k->inner);
    free(k);
}

static void *open_reader(void *context, uint32_t mode, pfb_cpi_failure *failure)
{
    const keeper *k = context;
    pfb_cpi_reader *inner = pfb_cpi_reader_open(k->inner, mode, failure);
    if (!inner)
        return NULL;
    keeping_reader *r = memory_get(1, sizeof *r);
    *r = (keeping_reader){.inner = inner, .kept = k->kept};
    return r;
}

static void close_reader(void *reader)
{
    keeping_reader *r = reader;
    pfb_cpi_reader_close(r->inner);
    free(r);
}

/* The CPUs are copied, because the next reading overwrites the caller's array. */
static void keep(cpi_kept *kept, pfb_cpi_moment moment, const pfb_cpi_reading *reading)
{
    size_t count = reading->snapshot.cpu_count;
    free(kept->cpus[moment]);
    kept->cpus[moment] = memory_get(count > 0 ? count : 1, sizeof *kept->cpus[moment]);
    if (count > 0)
        memcpy(kept->cpus[moment], reading->snapshot.cpus, count * sizeof *kept->cpus[moment]);
    kept->readings[moment] = *reading;
    kept->readings[moment].snapshot.cpus = kept->cpus[moment];
    kept->is_there[moment] = true;
}

static bool read_and_keep(void *reader, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity,
                          pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    const keeping_reader *r = reader;
    if (!pfb_cpi_reader_read(r->inner, moment, cpus, capacity, reading, failure))
        return false;
    keep(r->kept, moment, reading);
    return true;
}

static bool read_unhalted(const void *reader, size_t position, uint64_t *cycles)
{
    const keeping_reader *r = reader;
    return pfb_cpi_reader_unhalted(r->inner, position, cycles);
}

pfb_cpi_source *cpi_keep(pfb_cpi_source *inner, cpi_kept *kept, pfb_cpi_failure *failure)
{
    static const pfb_cpi_source_operations operations = {.close = close_keeper,
                                                         .reader_open = open_reader,
                                                         .reader_close = close_reader,
                                                         .read = read_and_keep,
                                                         .unhalted = read_unhalted};
    keeper *k = memory_get(1, sizeof *k);
    *k = (keeper){.inner = inner, .kept = kept};
    return pfb_cpi_source_make(&operations, k, failure);
}

/* ---- As text ----------------------------------------------------------------------------------------------------- */

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

void cpi_kept_write(const cpi_kept *kept, buffer *text)
{
    if (!kept->is_there[PFB_CPI_AT_START] || !kept->is_there[PFB_CPI_AT_END])
        return;
    const pfb_cpi_widths *widths = &kept->readings[PFB_CPI_AT_END].widths;
    size_t size = pfb_cpi_text_write_head(widths, NULL, 0);
    char *written = memory_get(size > 0 ? size : 1, 1);
    pfb_cpi_text_write_head(widths, written, size);
    buffer_bytes(text, written, size);
    free(written);
    write_step(text, &kept->readings[PFB_CPI_AT_START]);
    write_step(text, &kept->readings[PFB_CPI_AT_END]);
}

void cpi_kept_free(cpi_kept *kept)
{
    free(kept->cpus[PFB_CPI_AT_START]);
    free(kept->cpus[PFB_CPI_AT_END]);
    *kept = (cpi_kept){0};
}
