/* SPDX-License-Identifier: MIT */
#include "cpi/cpi_instance.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Checks that pfb_cpi_data has the layout of CPI_DATA. Each of its arrays, which have one element per CPU, takes
 * CPU_BYTES. */
#define CPU_BYTES (sizeof(double) * PFB_CPI_MAX_CPUS)
static_assert(PFB_CPI_MAX_CPUS >= 64 && PFB_CPI_MAX_CPUS <= PFB_CPI_CPU_LIMIT, "PERFBLOCK_CPI_MAX_CPUS");
static_assert(offsetof(pfb_cpi_data, num_cpus) == 0, "num_cpus");
static_assert(offsetof(pfb_cpi_data, tid) == 4, "tid");
static_assert(offsetof(pfb_cpi_data, elapsed_cycles) == 8, "elapsed_cycles");
static_assert(offsetof(pfb_cpi_data, raw_cpi) == 16, "raw_cpi");
static_assert(offsetof(pfb_cpi_data, raw_sys_cpi) == 16 + CPU_BYTES, "raw_sys_cpi");
static_assert(offsetof(pfb_cpi_data, scaled_cpi) == 24 + CPU_BYTES, "scaled_cpi");
static_assert(offsetof(pfb_cpi_data, scaled_sys_cpi) == 24 + 2 * CPU_BYTES, "scaled_sys_cpi");
static_assert(offsetof(pfb_cpi_data, cpu_busy) == 32 + 2 * CPU_BYTES, "cpu_busy");
static_assert(offsetof(pfb_cpi_data, sys_busy) == 32 + 3 * CPU_BYTES, "sys_busy");
static_assert(offsetof(pfb_cpi_data, thread_cpi) == 40 + 3 * CPU_BYTES, "thread_cpi");
static_assert(sizeof(pfb_cpi_data) == 48 + 3 * CPU_BYTES, "size");

/* Mode bits that select hooks, and mode bits that select counters. */
#define FORMS (PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED)
#define COUNTERS (PFB_CPI_RAW | PFB_CPI_SCALED | PFB_CPI_ON_THREAD | PFB_CPI_THREAD_ONLY)

/* Returns false after a failure of the source. Reports an internal error if the source did not set a code. */
static bool report_source_failure(pfb_cpi_failure *failure)
{
    if (failure->code != PFB_PU_SUCCESS)
        return false;
    return pfb_cpi_fail(failure, PFB_PU_ERROR_INTERNAL_ERROR, "the source failed without an error code");
}

/* ---- Arguments ----------------------------------------------------------------------------------------- */

bool pfb_cpi_complete_mode(uint32_t *mode, pfb_cpi_failure *failure)
{
    uint32_t unknown = *mode & ~(PFB_CPI_ALL | PFB_CPI_THREAD_ONLY);
    if (unknown != 0)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_PARAMETER, "the mode has unknown bits: 0x%x",
                            (unsigned)unknown);
    if ((*mode & PFB_CPI_THREAD_ONLY) && (*mode & (PFB_CPI_SCALED | PFB_CPI_FORM_SUMMARY)))
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INCOMPATIBLE_OPTIONS,
                            "a thread alone has neither scaled figures nor a summary hook");
    *mode |= *mode & PFB_CPI_THREAD_ONLY ? PFB_CPI_RAW | PFB_CPI_ON_THREAD : PFB_CPI_RAW;
    return true;
}

bool pfb_cpi_tag_make(int minor_code, const char *label, pfb_cpi_tag *tag, pfb_cpi_failure *failure)
{
    if (minor_code < 0 || minor_code > 255)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_PARAMETER, "the minor code %d is not in 0 to 255",
                            minor_code);
    size_t size = 0;
    while (label && size <= PFB_CPI_MAX_LABEL_BYTES && label[size] != '\0')
        size++;
    if (size > PFB_CPI_MAX_LABEL_BYTES)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_PARAMETER, "the label is longer than %d bytes",
                            PFB_CPI_MAX_LABEL_BYTES);
    *tag = (pfb_cpi_tag){.minor = (uint32_t)minor_code, .label_size_bytes = size};
    if (size > 0)
        memcpy(tag->label, label, size);
    return true;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static bool read_snapshot(pfb_cpi_instance *instance, pfb_cpi_moment moment, pfb_cpi_cpu *cpus,
                          pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    if (!pfb_cpi_reader_read(instance->reader, moment, cpus, PFB_CPI_MAX_CPUS, reading, failure))
        return report_source_failure(failure);
    if (reading->snapshot.cpu_count > PFB_CPI_MAX_CPUS)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INTERNAL_ERROR, "the source returned more CPUs than fit");
    return true;
}

/* After a failure the instance has no start, even if an earlier start succeeded: a reader compares the end only with
 * the latest start that it read. */
bool pfb_cpi_instance_start(pfb_cpi_instance *instance, pfb_cpi_failure *failure)
{
    instance->has_start = false;
    instance->has_start = read_snapshot(instance, PFB_CPI_AT_START, instance->start_cpus, &instance->start, failure);
    return instance->has_start;
}

/* ---- Creating and terminating -------------------------------------------------------------------------- */

static pfb_cpi_instance *make_empty(uint32_t mode, pfb_cpi_failure *failure)
{
    pfb_cpi_instance *instance = calloc(1, sizeof *instance);
    if (!instance || !pfb_lock_init(&instance->lock)) {
        free(instance);
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    instance->mode = mode;
    instance->tag.minor = 1;
    return instance;
}

pfb_cpi_instance *pfb_cpi_instance_make(pfb_cpi_source *source, uint32_t mode, pfb_cpi_failure *failure)
{
    pfb_cpi_instance *instance = make_empty(mode, failure);
    if (!instance)
        return NULL;
    instance->reader = pfb_cpi_reader_open(source, mode & COUNTERS, failure);
    if (instance->reader ? pfb_cpi_instance_start(instance, failure) : report_source_failure(failure))
        return instance;
    pfb_cpi_instance_end(instance);
    pfb_cpi_instance_free(instance);
    return NULL;
}

void pfb_cpi_instance_end(pfb_cpi_instance *instance)
{
    pfb_cpi_reader_close(instance->reader);
    instance->reader = NULL;
    instance->is_terminated = true;
}

void pfb_cpi_instance_free(pfb_cpi_instance *instance)
{
    pfb_lock_destroy(&instance->lock);
    free(instance);
}

/* ---- Figures ------------------------------------------------------------------------------------------- */

/* Fills in CPI_DATA. Figures that were not requested are already 0.0. */
static void fill_data(pfb_cpi_instance *instance)
{
    const pfb_cpi_result *result = &instance->result;
    pfb_cpi_data *data = &instance->data;
    const pfb_cpi_snapshot *start = &instance->start.snapshot;
    *data = (pfb_cpi_data){.num_cpus = (int)result->cpu_count,
                           .tid = start->has_thread ? start->thread.tid : instance->tid,
                           .elapsed_cycles = result->elapsed_cycles,
                           .raw_sys_cpi = result->system.raw_cpi,
                           .scaled_sys_cpi = result->system.scaled_cpi,
                           .sys_busy = result->system.busy_percent,
                           .thread_cpi = result->thread.raw_cpi};
    for (size_t i = 0; i < result->cpu_count; i++) {
        data->raw_cpi[i] = instance->figures[i].raw_cpi;
        data->scaled_cpi[i] = instance->figures[i].scaled_cpi;
        data->cpu_busy[i] = instance->figures[i].busy_percent;
    }
}

/* Saves details that the next start discards. */
static void save_details(pfb_cpi_instance *instance)
{
    instance->is_user_only = instance->start.is_user_only || instance->end.is_user_only;
    for (size_t i = 0; i < instance->result.cpu_count; i++) {
        pfb_cpi_unhalted *unhalted = &instance->unhalted[i];
        unhalted->is_known = pfb_cpi_reader_unhalted(instance->reader, i, &unhalted->cycles);
    }
}

/* Computes result and figures of the interval from its two readings. */
static bool compute(pfb_cpi_instance *instance, pfb_cpi_failure *failure)
{
    const pfb_cpi_reading *start = &instance->start;
    const pfb_cpi_reading *end = &instance->end;
    if (start->widths.instr != end->widths.instr || start->widths.cycles != end->widths.cycles)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INTERNAL_ERROR, "the source's counters changed their width");
    pfb_cpi_verdict verdict = pfb_cpi_compute(&start->snapshot, &end->snapshot, &end->widths, instance->mode & COUNTERS,
                                              instance->figures, &instance->result);
    if (verdict == PFB_CPI_BAD_ARGUMENT)
        return pfb_cpi_fail(
            failure, PFB_PU_ERROR_INTERNAL_ERROR,
            "the source returned CPUs out of order, an invalid counter width, or not the requested thread");
    if (verdict == PFB_CPI_CLOCK_BACKWARD)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_CPI_DATA, "the clock ran backward");
    fill_data(instance);
    save_details(instance);
    instance->has_data = true;
    if (verdict == PFB_CPI_NO_DATA)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_CPI_DATA,
                            "no usable CPU executed an instruction in this interval");
    return true;
}

/* ---- Hooks --------------------------------------------------------------------------------------------- */

/* Appends a group completely or not at all. The longest hook, that of PFB_CPI_CPU_LIMIT CPUs, has 49180 bytes: the
 * 16-bit length field of a hook is wide enough. */
static bool write_group(pfb_cpi_instance *instance, const pfb_cpi_tag *tag, pfb_cpi_failure *failure)
{
    pfb_cpi_trace *trace = &instance->trace;
    const pfb_cpi_identity identity = {.minor = tag->minor,
                                       .forms = tag->forms != 0 ? tag->forms : instance->mode & FORMS,
                                       .label = tag->label,
                                       .label_size_bytes = tag->label_size_bytes};
    size_t size;
    trace->needed_bytes = 0;
    pfb_code code =
        pfb_cpi_hooks_write(&instance->result, instance->figures, &identity, trace->buffer + trace->used_bytes,
                            trace->capacity_bytes - trace->used_bytes, &size);
    if (code == PFB_CALLER_TOO_SMALL) {
        trace->needed_bytes = size;
        return pfb_cpi_fail(failure, PFB_PU_ERROR_BUFFER_FULL, "the group needs %zu bytes, and the buffer has %zu left",
                            size, trace->capacity_bytes - trace->used_bytes);
    }
    if (code != PFB_OK)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_CPI_DATA,
                            "the sums over all CPUs do not fit into the 64 bits that hooks have for them");
    trace->used_bytes += size;
    return true;
}

/* A get without a buffer for its hooks, or without a start, leaves has_data unchanged. Otherwise, after a failure,
 * has_data is false unless the code is PFB_PU_ERROR_INVALID_CPI_DATA and compute() set it. */
bool pfb_cpi_instance_get(pfb_cpi_instance *instance, const pfb_cpi_tag *tag, pfb_cpi_failure *failure)
{
    if (tag && !instance->trace.buffer)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_NO_BUFFER, "no buffer is attached for the hooks");
    if (!instance->has_start)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INCORRECT_STATE, "the latest start failed, so there is no interval");
    instance->has_data = false;
    bool is_done = read_snapshot(instance, PFB_CPI_AT_END, instance->end_cpus, &instance->end, failure) &&
                   compute(instance, failure) && (!tag || write_group(instance, tag, failure));
    if (!is_done && failure->code != PFB_PU_ERROR_INVALID_CPI_DATA)
        instance->has_data = false;
    return is_done;
}
