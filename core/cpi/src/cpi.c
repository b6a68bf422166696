/* SPDX-License-Identifier: MIT */
#include "perfblock/cpi/cpi.h"

#include "bytes/wide.h"

const char *pfb_cpi_status_name(pfb_cpi_status status)
{
    static const char names[][15] = {"ok",      "wrapped",    "no_instr", "backward", "ambiguous",
                                     "invalid", "no_elapsed", "offline",  "overflow", "unknown_status"};
    return names[(unsigned)status < PFB_CPI_STATUS_COUNT ? (unsigned)status : PFB_CPI_STATUS_COUNT];
}

/* ---- Deltas -------------------------------------------------------------------------------------------- */

/* Computes the advance of a counter of `width` bits, 1 to 64. *delta is set unless PFB_CPI_INVALID is returned. */
static pfb_cpi_status subtract(uint64_t start, uint64_t end, uint32_t width, uint64_t *delta)
{
    uint64_t max = UINT64_MAX >> (64 - width);
    if (start > max || end > max)
        return PFB_CPI_INVALID;
    *delta = (end - start) & max;
    if (end >= start)
        return PFB_CPI_OK;
    /* A decrease is a wrap if the advance is less than half of the counter's range. Counters of 64 bits never wrap. */
    return width < 64 && *delta <= max >> 1 ? PFB_CPI_WRAPPED : PFB_CPI_BACKWARD;
}

static bool is_usable(pfb_cpi_status status)
{
    return status == PFB_CPI_OK || status == PFB_CPI_WRAPPED;
}

enum { INSTR, CYCLES, BUSY, ELAPSED, FIELD_COUNT };

/* Computes the counts of the interval, without figures. If a field is unusable, the status is that of the first such
 * field and all counts are 0. */
static pfb_cpi_figures count(const pfb_cpi_cpu *start, const pfb_cpi_cpu *end, const pfb_cpi_widths *widths,
                             bool is_scaled)
{
    const uint64_t start_counts[FIELD_COUNT] = {start->instr, start->cycles, start->busy, start->elapsed};
    const uint64_t end_counts[FIELD_COUNT] = {end->instr, end->cycles, end->busy, end->elapsed};
    const uint32_t bits[FIELD_COUNT] = {widths->instr, widths->cycles, 64, 64};
    uint64_t delta[FIELD_COUNT] = {0};
    pfb_cpi_figures f = {.cpu = start->cpu, .status = PFB_CPI_OK};
    for (int i = 0; i < (is_scaled ? FIELD_COUNT : BUSY) && is_usable(f.status); i++) {
        pfb_cpi_status status = subtract(start_counts[i], end_counts[i], bits[i], &delta[i]);
        if (status != PFB_CPI_OK)
            f.status = status;
    }
    if (is_scaled && delta[ELAPSED] == 0 && is_usable(f.status))
        f.status = PFB_CPI_NO_ELAPSED;
    if (!is_usable(f.status))
        return f;
    f.instr = delta[INSTR];
    f.cycles = delta[CYCLES];
    f.elapsed = delta[ELAPSED];
    f.is_busy_clamped = delta[BUSY] > f.elapsed;
    f.busy = f.is_busy_clamped ? f.elapsed : delta[BUSY];
    if (is_scaled) /* at most cycles, because busy <= elapsed: fits 64 bits */
        f.scaled_cycles = pfb_wide_floor(pfb_wide_times(pfb_wide_from(f.cycles), f.busy), pfb_wide_from(f.elapsed));
    return f;
}

/* ---- Figures ------------------------------------------------------------------------------------------- */

/* Sums over at most 1024 CPUs: below 2^74. */
typedef struct sums {
    pfb_wide instr, cycles, busy, elapsed, scaled_cycles;
} sums;

static void add(sums *s, const pfb_cpi_figures *f)
{
    s->instr = pfb_wide_plus(s->instr, f->instr);
    s->cycles = pfb_wide_plus(s->cycles, f->cycles);
    s->busy = pfb_wide_plus(s->busy, f->busy);
    s->elapsed = pfb_wide_plus(s->elapsed, f->elapsed);
    s->scaled_cycles = pfb_wide_plus(s->scaled_cycles, f->scaled_cycles);
}

static bool is_small(pfb_wide wide)
{
    return (wide.limb[0] >> PFB_EXACT_BITS | wide.limb[1] | wide.limb[2]) == 0;
}

/* Divides and rounds once; 0.0 if the denominator is 0. */
static double divide(pfb_wide numerator, pfb_wide denominator)
{
    if (pfb_wide_is_zero(denominator))
        return 0.0;
    if (PFB_DIVIDES_EXACTLY && is_small(numerator) && is_small(denominator))
        return pfb_divide_small(numerator.limb[0], denominator.limb[0]).value;
    return pfb_wide_divide(numerator, denominator).value;
}

/* Returns true if n / d, rounded half up to 4 places, is 2^32 - 1 or more: in a hook, the word 2^32 - 1 means
 * "undefined". The condition is 10000 n / d + 1/2 >= 10000 (2^32 - 1), here multiplied by 2 d. The products are below
 * 2^121. */
static bool exceeds_hook(pfb_wide numerator, pfb_wide denominator)
{
    const uint64_t limit = UINT64_C(20000) * UINT32_MAX - 1;
    return pfb_wide_compare(pfb_wide_times(numerator, 20000), pfb_wide_times(denominator, limit)) >= 0;
}

/* Computes the figures from the counts and sets the status if there are no instructions, or if a figure is too large
 * for a hook. Scaled CPI is at most raw CPI, so testing raw CPI suffices. */
static void compute_figures(pfb_cpi_figures *f, const sums *s)
{
    f->raw_cpi = divide(s->cycles, s->instr);
    f->scaled_cpi = divide(s->scaled_cycles, s->instr);
    f->busy_percent = divide(pfb_wide_times(s->busy, 100), s->elapsed);
    if (pfb_wide_is_zero(s->instr))
        f->status = PFB_CPI_NO_INSTR;
    else if (exceeds_hook(s->cycles, s->instr))
        f->status = PFB_CPI_OVERFLOW;
}

/* Computes counts and figures of a CPU or a thread. */
static pfb_cpi_figures measure(const pfb_cpi_cpu *start, const pfb_cpi_cpu *end, const pfb_cpi_widths *widths,
                               bool is_scaled)
{
    sums own = {.instr = {{0}}};
    pfb_cpi_figures f = count(start, end, widths, is_scaled);
    if (!is_usable(f.status))
        return f;
    add(&own, &f);
    compute_figures(&f, &own);
    return f;
}

static uint64_t saturate(pfb_wide sum)
{
    return sum.limb[1] == 0 ? sum.limb[0] : UINT64_MAX; /* limb[2] is 0: sums are below 2^74 */
}

/* Computes the system's figures from the exact sums; the stored counts saturate. */
static pfb_cpi_figures measure_system(const sums *s)
{
    pfb_cpi_figures f = {.status = PFB_CPI_OK,
                         .instr = saturate(s->instr),
                         .cycles = saturate(s->cycles),
                         .busy = saturate(s->busy),
                         .elapsed = saturate(s->elapsed),
                         .scaled_cycles = saturate(s->scaled_cycles)};
    if ((s->instr.limb[1] | s->cycles.limb[1] | s->elapsed.limb[1]) != 0) /* busy and scaled_cycles are not larger */
        f.status = PFB_CPI_OVERFLOW;
    compute_figures(&f, s);
    return f;
}

static pfb_cpi_figures measure_thread(const pfb_cpi_thread *start, const pfb_cpi_thread *end)
{
    const pfb_cpi_widths whole = {64, 64};
    pfb_cpi_cpu start_counts = {.instr = start->instr, .cycles = start->cycles};
    pfb_cpi_cpu end_counts = {.instr = end->instr, .cycles = end->cycles};
    return measure(&start_counts, &end_counts, &whole, false);
}

/* ---- Snapshots ----------------------------------------------------------------------------------------- */

/* Returns true if the clock advanced by the whole range of the narrower counter or more: that counter may have wrapped
 * any number of times. */
static bool is_ambiguous(uint64_t elapsed_cycles, const pfb_cpi_widths *widths)
{
    uint32_t narrower = widths->instr < widths->cycles ? widths->instr : widths->cycles;
    return narrower < 64 && elapsed_cycles >> narrower != 0;
}

/* Fills in `cpus` and the system's figures. Both CPU lists are ascending, so one merge pass matches them. */
static void measure_cpus(const pfb_cpi_snapshot *start, const pfb_cpi_snapshot *end, const pfb_cpi_widths *widths,
                         pfb_cpi_figures *cpus, pfb_cpi_result *result)
{
    sums all = {.instr = {{0}}};
    bool ambiguous = is_ambiguous(result->elapsed_cycles, widths);
    bool clamped = false;
    size_t next = 0;    /* position in `end` */
    size_t matched = 0; /* CPUs in both snapshots */
    for (size_t i = 0; i < start->cpu_count; i++) {
        const pfb_cpi_cpu *cpu = &start->cpus[i];
        while (next < end->cpu_count && end->cpus[next].cpu < cpu->cpu)
            next++;
        bool is_online = next < end->cpu_count && end->cpus[next].cpu == cpu->cpu;
        if (is_online && !ambiguous)
            cpus[i] = measure(cpu, &end->cpus[next], widths, result->mode & PFB_CPI_SCALED);
        else
            cpus[i] = (pfb_cpi_figures){.cpu = cpu->cpu, .status = is_online ? PFB_CPI_AMBIGUOUS : PFB_CPI_OFFLINE};
        matched += is_online;
        clamped = clamped || cpus[i].is_busy_clamped;
        add(&all, &cpus[i]); /* zeros if the CPU is unusable */
    }
    result->cpu_count = start->cpu_count;
    result->cpus_changed = matched != start->cpu_count || matched != end->cpu_count;
    result->system = measure_system(&all);
    result->system.is_busy_clamped = clamped;
}

static bool is_ascending(const pfb_cpi_snapshot *snapshot)
{
    if (snapshot->cpu_count > PFB_CPI_CPU_LIMIT)
        return false;
    for (size_t i = 1; i < snapshot->cpu_count; i++) {
        if (snapshot->cpus[i - 1].cpu >= snapshot->cpus[i].cpu)
            return false;
    }
    return true;
}

static bool is_valid_width(uint32_t width)
{
    return width >= 1 && width <= 64;
}

/* Returns true if the mode is valid and the snapshots have the CPUs and the thread that it needs. */
static bool is_valid_request(const pfb_cpi_snapshot *start, const pfb_cpi_snapshot *end, uint32_t mode)
{
    const uint32_t known = PFB_CPI_RAW | PFB_CPI_SCALED | PFB_CPI_ON_THREAD | PFB_CPI_THREAD_ONLY;
    if ((mode & ~known) != 0 || ((mode & PFB_CPI_THREAD_ONLY) && (mode & PFB_CPI_SCALED)))
        return false;
    if ((mode & PFB_CPI_ON_THREAD) && !(start->has_thread && end->has_thread && start->thread.tid == end->thread.tid))
        return false;
    return (mode & PFB_CPI_THREAD_ONLY) || (is_ascending(start) && is_ascending(end));
}

pfb_cpi_verdict pfb_cpi_compute(const pfb_cpi_snapshot *start, const pfb_cpi_snapshot *end,
                                const pfb_cpi_widths *widths, uint32_t mode, pfb_cpi_figures *cpus,
                                pfb_cpi_result *result)
{
    mode |= mode & PFB_CPI_THREAD_ONLY ? PFB_CPI_RAW | PFB_CPI_ON_THREAD : PFB_CPI_RAW;
    if (!is_valid_width(widths->instr) || !is_valid_width(widths->cycles) || !is_valid_request(start, end, mode))
        return PFB_CPI_BAD_ARGUMENT;
    if (end->clock < start->clock)
        return PFB_CPI_CLOCK_BACKWARD;
    *result = (pfb_cpi_result){.mode = mode, .elapsed_cycles = end->clock - start->clock};
    if (mode & PFB_CPI_ON_THREAD) {
        result->has_thread = true;
        result->tid = start->thread.tid;
        result->thread = measure_thread(&start->thread, &end->thread);
    }
    if (mode & PFB_CPI_THREAD_ONLY) {
        result->system.status = PFB_CPI_INVALID;
        return PFB_CPI_COMPUTED;
    }
    measure_cpus(start, end, widths, cpus, result);
    return result->system.status == PFB_CPI_NO_INSTR ? PFB_CPI_NO_DATA : PFB_CPI_COMPUTED;
}
