/* SPDX-License-Identifier: MIT */
#include "support_cpi_source.h"

#include <stdlib.h>
#include <string.h>

typedef struct canned_reader {
    canned_source *c;
    size_t next;
    size_t cpu_count; /* in the latest reading at the start of an interval */
    bool has_end;     /* the latest reading was at the end of an interval */
} canned_reader;

static void refuse(pfb_cpi_failure *failure, int code, bool is_silent)
{
    if (is_silent)
        return;
    *failure = (pfb_cpi_failure){.code = code, .sentence = CANNED_SENTENCE};
}

static void close_source(void *context)
{
    canned_source *c = context;
    c->is_closed = true;
}

static void *open_reader(void *context, uint32_t mode, pfb_cpi_failure *failure)
{
    canned_source *c = context;
    c->mode = mode;
    if (c->refusal != 0 || c->is_silent) {
        refuse(failure, c->refusal, c->is_silent);
        return NULL;
    }
    canned_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        abort();
    reader->c = c;
    c->opened++;
    refuse(failure, PFB_PU_ERROR_ACCESS_DENIED, !c->reports_failure_first);
    return reader;
}

static void close_reader(void *reader)
{
    ((canned_reader *)reader)->c->closed++;
    free(reader);
}

static bool read_step(void *reader, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity, pfb_cpi_reading *reading,
                      pfb_cpi_failure *failure)
{
    canned_reader *r = reader;
    const canned_step *step = r->next < r->c->step_count ? &r->c->steps[r->next++] : NULL;
    r->c->readings++;
    int refusal = step ? step->refusal : PFB_PU_ERROR_READ_PERFORMANCE_DATA;
    if (step && step->reading.snapshot.cpu_count > capacity)
        refusal = PFB_PU_ERROR_INSUFFICIENT_RESOURCES;
    if (refusal != 0 || step->is_silent) {
        refuse(failure, refusal, refusal == 0);
        return false;
    }
    *reading = step->reading;
    reading->snapshot.cpus = cpus;
    for (size_t i = 0; i < step->reading.snapshot.cpu_count; i++)
        cpus[i] = step->reading.snapshot.cpus[i];
    r->has_end = moment == PFB_CPI_AT_END;
    if (moment == PFB_CPI_AT_START)
        r->cpu_count = step->reading.snapshot.cpu_count;
    refuse(failure, PFB_PU_ERROR_ACCESS_DENIED, !r->c->reports_failure_first);
    return true;
}

static bool read_unhalted(const void *reader, size_t position, uint64_t *cycles)
{
    const canned_reader *r = reader;
    if (!r->has_end || position >= r->c->unhalted || position >= r->cpu_count)
        return false;
    *cycles = 1000 * (position + 1);
    return true;
}

pfb_cpi_source *canned_open(canned_source *c)
{
    static const pfb_cpi_source_operations operations = {close_source, open_reader, close_reader, read_step,
                                                         read_unhalted};
    pfb_cpi_failure failure;
    c->opened = 0;
    c->closed = 0;
    c->readings = 0;
    c->is_closed = false;
    pfb_cpi_source *source = pfb_cpi_source_make(&operations, c, &failure);
    if (!source)
        abort();
    return source;
}
