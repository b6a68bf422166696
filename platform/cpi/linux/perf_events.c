/* SPDX-License-Identifier: MIT */
#include "cpi/linux/perf_events.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- Refusals --------------------------------------------------------------------------------------------- */

typedef struct refusal {
    int error;
    const char *name;
    int code; /* PFB_PU_ERROR_NOT_SUPPORTED becomes PFB_PU_ERROR_NOT_VALID_IN_VM under a hypervisor */
} refusal;

/* Returns the name and the code for an errno of perf_event_open: "" and PFB_PU_FAILURE if its meaning is not known. */
static refusal find_refusal(int error)
{
    static const refusal known[] = {{EACCES, "EACCES", PFB_PU_ERROR_ACCESS_DENIED},
                                    {EPERM, "EPERM", PFB_PU_ERROR_ACCESS_DENIED},
                                    {ENOENT, "ENOENT", PFB_PU_ERROR_NOT_SUPPORTED},
                                    {EOPNOTSUPP, "EOPNOTSUPP", PFB_PU_ERROR_NOT_SUPPORTED},
                                    {ENODEV, "ENODEV", PFB_PU_ERROR_NOT_SUPPORTED},
                                    {ENXIO, "ENXIO", PFB_PU_ERROR_NOT_SUPPORTED},
                                    {EINVAL, "EINVAL", PFB_PU_ERROR_EVENT_NOT_SUPPORTED},
                                    {EMFILE, "EMFILE", PFB_PU_ERROR_INSUFFICIENT_RESOURCES},
                                    {ENFILE, "ENFILE", PFB_PU_ERROR_INSUFFICIENT_RESOURCES},
                                    {ENOMEM, "ENOMEM", PFB_PU_ERROR_NOT_ENOUGH_MEMORY},
                                    {EBUSY, "EBUSY", PFB_PU_ERROR_FACILITY_BUSY},
                                    {ENOSYS, "ENOSYS", PFB_PU_ERROR_REQUIRED_APIS_MISSING}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].error == error)
            return known[i];
    }
    return (refusal){error, "", PFB_PU_FAILURE};
}

bool pfb_perf_is_absence(int error)
{
    return find_refusal(error).code == PFB_PU_ERROR_NOT_SUPPORTED;
}

/* Description of an event. */
typedef struct event_text {
    char text[64];
} event_text;

static event_text describe_event(const pfb_perf_target *target, bool is_cycles)
{
    event_text result;
    const char *event = is_cycles ? "unhalted cycles" : "instructions";
    if (target->is_thread)
        snprintf(result.text, sizeof result.text, "%s of this thread%s", event,
                 target->is_user_only ? " (user mode)" : "");
    else
        snprintf(result.text, sizeof result.text, "%s on CPU %u", event, (unsigned)target->cpu);
    return result;
}

/* Name and text of an error. */
typedef struct error_text {
    char text[80];
} error_text;

static error_text describe_error(const refusal *refused)
{
    error_text result;
    char reason[60];
    if (strerror_r(refused->error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "no text");
    if (refused->name[0] != '\0')
        snprintf(result.text, sizeof result.text, "%s (%s)", refused->name, reason);
    else
        snprintf(result.text, sizeof result.text, "error %d (%s)", refused->error, reason);
    return result;
}

/* Returns the highest kernel.perf_event_paranoid at which an unprivileged user may count the target. */
static int highest_paranoid(const pfb_perf_target *target)
{
    if (!target->is_thread)
        return 0;
    return target->is_user_only ? 2 : 1;
}

/* Returns advice for the user; at most 90 bytes, so that the sentence fits into a pfb_cpi_failure. */
static const char *advice(int code)
{
    switch (code) {
    case PFB_PU_ERROR_NOT_VALID_IN_VM:
        return "; the host must provide performance counters to this virtual machine";
    case PFB_PU_ERROR_NOT_SUPPORTED:
        return "; this processor has no such counter, or this kernel no driver for it";
    case PFB_PU_ERROR_INSUFFICIENT_RESOURCES:
        return "; two file descriptors are needed for each CPU: raise the limit (ulimit -n)";
    case PFB_PU_ERROR_FACILITY_BUSY:
        return "; another program is using the counters";
    case PFB_PU_ERROR_REQUIRED_APIS_MISSING:
        return "; a kernel built with CONFIG_PERF_EVENTS is needed";
    default:
        return "";
    }
}

/* Fails because the kernel refused an event with `error`. */
static void refuse(const pfb_perf_functions *functions, const pfb_perf_target *target, bool is_cycles, int error,
                   int64_t paranoid, pfb_cpi_failure *failure)
{
    refusal refused = find_refusal(error);
    event_text event = describe_event(target, is_cycles);
    error_text reason = describe_error(&refused);
    int needed = highest_paranoid(target);
    int code = refused.code;
    if (code == PFB_PU_ERROR_NOT_SUPPORTED && functions->is_virtual())
        code = PFB_PU_ERROR_NOT_VALID_IN_VM;
    if (code != PFB_PU_ERROR_ACCESS_DENIED)
        pfb_cpi_fail(failure, code, "%s cannot be counted: %s%s", event.text, reason.text, advice(code));
    else if (paranoid > needed)
        pfb_cpi_fail(failure, code,
                     "%s cannot be counted: %s; kernel.perf_event_paranoid is %" PRId64 "; %d or CAP_PERFMON is needed",
                     event.text, reason.text, paranoid, needed);
    else
        pfb_cpi_fail(failure, code,
                     "%s cannot be counted: %s; kernel.perf_event_paranoid is %" PRId64
                     " and allows it: a container or a security policy forbids it",
                     event.text, reason.text, paranoid);
}

/* ---- Groups ----------------------------------------------------------------------------------------------- */

/* On machines with several core types, the upper 32 bits of `config` select the PMU of one of them. */
enum { CORE_TYPE_SHIFT = 32 };

static int open_event(const pfb_perf_functions *functions, const pfb_perf_target *target, uint64_t event, int group)
{
    /* Every kernel accepts the size PERF_ATTR_SIZE_VER0, and no newer field is used. PERF_FLAG_FD_CLOEXEC requires
     * Linux 3.14; older kernels return EINVAL. */
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE,
        .size = PERF_ATTR_SIZE_VER0,
        .config = (uint64_t)target->core_type << CORE_TYPE_SHIFT | event,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .exclude_kernel = target->is_user_only,
    };
    int thread = target->is_thread ? 0 : -1;
    int cpu = target->is_thread ? -1 : (int)target->cpu;
    return functions->open(&attributes, thread, cpu, group, PERF_FLAG_FD_CLOEXEC);
}

int pfb_perf_group_open(const pfb_perf_functions *functions, const pfb_perf_target *target, int64_t paranoid,
                        pfb_perf_group *group, pfb_cpi_failure *failure)
{
    int instructions = open_event(functions, target, PERF_COUNT_HW_INSTRUCTIONS, -1);
    if (instructions < 0) {
        refuse(functions, target, false, -instructions, paranoid, failure);
        return -instructions;
    }
    int cycles = open_event(functions, target, PERF_COUNT_HW_CPU_CYCLES, instructions);
    if (cycles < 0) {
        functions->close(instructions);
        refuse(functions, target, true, -cycles, paranoid, failure);
        return -cycles;
    }
    *group = (pfb_perf_group){.target = *target, .instructions = instructions, .cycles = cycles};
    return 0;
}

void pfb_perf_group_close(const pfb_perf_functions *functions, const pfb_perf_group *group)
{
    functions->close(group->cycles);
    functions->close(group->instructions);
}

/* Words of a group reading: number of events, time enabled, time running, and a value for each event. */
enum { EVENTS = 2, WORD_EVENTS = 0, WORD_ENABLED, WORD_RUNNING, WORD_VALUES, WORDS = WORD_VALUES + EVENTS };

bool pfb_perf_group_read(const pfb_perf_functions *functions, const pfb_perf_group *group, pfb_perf_counts *counts,
                         pfb_cpi_failure *failure)
{
    uint64_t words[WORDS] = {0};
    event_text event = describe_event(&group->target, false);
    long size = functions->read(group->instructions, words, sizeof words);
    if (size < 0) {
        refusal refused = find_refusal((int)-size);
        error_text reason = describe_error(&refused);
        return pfb_cpi_fail(failure, PFB_PU_ERROR_READ_PERFORMANCE_DATA, "%s cannot be read: %s", event.text,
                            reason.text);
    }
    if (size != (long)sizeof words)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                            "%s cannot be read: the kernel gives %ld bytes instead of %zu", event.text, size,
                            sizeof words);
    if (words[WORD_EVENTS] != EVENTS)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INTERNAL_ERROR,
                            "%s cannot be read: the kernel gives %" PRIu64 " events instead of %d", event.text,
                            words[WORD_EVENTS], EVENTS);
    *counts = (pfb_perf_counts){.enabled = words[WORD_ENABLED],
                                .running = words[WORD_RUNNING],
                                .instructions = words[WORD_VALUES],
                                .cycles = words[WORD_VALUES + 1]};
    return true;
}

/* ---- Arithmetic -------------------------------------------------------------------------------------------- */

/* A binary long division in progress. */
typedef struct division {
    uint64_t quotient, remainder, divisor;
} division;

/* Adds to the remainder and carries into the quotient. `addend` is below the divisor, so the carry is at most 1. */
static void add_to_remainder(division *d, uint64_t addend)
{
    uint64_t difference = d->divisor - d->remainder; /* at least 1 */
    if (addend < difference) {
        d->remainder += addend;
        return;
    }
    d->remainder = addend - difference;
    d->quotient++;
}

uint64_t pfb_perf_scale(uint64_t a, uint64_t factor, uint64_t divisor)
{
    /* factor = whole * divisor + rest. The loop computes a * rest / divisor, which is at most a. */
    uint64_t whole = factor / divisor;
    uint64_t rest = factor % divisor;
    division d = {.divisor = divisor};
    for (unsigned bit = 64; bit-- > 0;) {
        d.quotient *= 2;
        add_to_remainder(&d, d.remainder);
        if (a >> bit & 1)
            add_to_remainder(&d, rest);
    }
    if (whole != 0 && a > UINT64_MAX / whole)
        return UINT64_MAX;
    return a * whole > UINT64_MAX - d.quotient ? UINT64_MAX : a * whole + d.quotient;
}

bool pfb_perf_progress_of(const pfb_perf_counts *start, const pfb_perf_counts *end, pfb_perf_progress *progress)
{
    if (end->enabled < start->enabled || end->running < start->running || end->instructions < start->instructions ||
        end->cycles < start->cycles)
        return false;
    uint64_t enabled = end->enabled - start->enabled;
    uint64_t running = end->running - start->running;
    if (running == 0 || running > enabled)
        return false;
    *progress = (pfb_perf_progress){
        .instructions = pfb_perf_scale(end->instructions - start->instructions, enabled, running),
        .cycles = pfb_perf_scale(end->cycles - start->cycles, enabled, running),
        .is_scaled = running < enabled,
    };
    return progress->instructions <= UINT64_MAX - start->instructions &&
           progress->cycles <= UINT64_MAX - start->cycles && progress->instructions < UINT64_MAX &&
           progress->cycles < UINT64_MAX; /* UINT64_MAX: the scaled number does not fit in 64 bits */
}
