/* SPDX-License-Identifier: MIT */
/* Checks the CPI figures of two snapshots with slow integers: verdict, counts, exact quotients and statuses, except
 * that a CPU in both snapshots may have backward, invalid or no_elapsed for any reason. Figures are checked against
 * their definition: no double is nearer to the quotient.
 *
 * Input: { mode u32, width of instructions u8, width of cycles u8, absent threads u8, clock of the start u64, of the
 * end u64 }, the thread { number u32, instructions u64, cycles u64 } at the start, then at the end, and up to 64 times,
 * as long as bytes are left: { CPU number u32, absent u8, then at the start and at the end { instructions u64, cycles
 * u64, busy u64, elapsed u64 } }. Little-endian; missing bytes are 0. Bits of `absent`: 1 at the start, 2 at the end.
 */
#include "checks.h"
#include "formula_reference.h"
#include "perfblock/cpi/cpi.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_CPUS = 64, AT_START = 1, AT_END = 2, UNTOUCHED = 0xA5 };

/* The contents of an input: the arguments of pfb_cpi_compute. */
typedef struct query {
    uint32_t mode;
    pfb_cpi_widths widths;
    pfb_cpi_snapshot start, end;
    pfb_cpi_cpu start_cpus[MAX_CPUS], end_cpus[MAX_CPUS];
} query;

typedef struct answer {
    pfb_cpi_verdict verdict;
    pfb_cpi_result result;
    pfb_cpi_figures cpus[MAX_CPUS];
} answer;

static void compute(const query *q, answer *a)
{
    memset(a, UNTOUCHED, sizeof *a);
    a->verdict = pfb_cpi_compute(&q->start, &q->end, &q->widths, q->mode, a->cpus, &a->result);
}

/* ---- Figures ------------------------------------------------------------------------------------------- */

/* Counts of one CPU or sums of many, below 2^74. */
typedef struct counts {
    big instr, cycles, busy, elapsed, scaled_cycles;
} counts;

static counts counts_of(const pfb_cpi_figures *f)
{
    return (counts){big_of(f->instr), big_of(f->cycles), big_of(f->busy), big_of(f->elapsed), big_of(f->scaled_cycles)};
}

static void add_counts(counts *all, const pfb_cpi_figures *f)
{
    counts c = counts_of(f);
    all->instr = big_plus(all->instr, &c.instr);
    all->cycles = big_plus(all->cycles, &c.cycles);
    all->busy = big_plus(all->busy, &c.busy);
    all->elapsed = big_plus(all->elapsed, &c.elapsed);
    all->scaled_cycles = big_plus(all->scaled_cycles, &c.scaled_cycles);
}

static void check_quotient(big above, big below, double value, const char *guarantee)
{
    bool exact;
    ratio r = {above, below, false};
    require(big_is_zero(&below) ? bits_of(value) == 0 : is_nearest(&r, value, &exact), guarantee);
}

/* Returns true if a sum needs more than 64 bits; the counts of one CPU never do. */
static bool is_long(const counts *c)
{
    big max = big_of(UINT64_MAX);
    return big_compare(&c->instr, &max) > 0 || big_compare(&c->cycles, &max) > 0 || big_compare(&c->busy, &max) > 0 ||
           big_compare(&c->elapsed, &max) > 0 || big_compare(&c->scaled_cycles, &max) > 0;
}

/* Returns true if CPI, rounded half up to 4 places, cannot be stored in a hook: cycles / instr + 0.00005 >= 2^32 - 1,
 * multiplied by 20000 instr. */
static bool is_too_large(const counts *c)
{
    big above = big_times(c->cycles, 20000);
    above = big_plus(above, &c->instr);
    big limit = big_times(c->instr, UINT64_C(20000) * UINT32_MAX);
    return big_compare(&above, &limit) >= 0;
}

static void check_figures(const pfb_cpi_figures *f, const counts *c)
{
    check_quotient(c->cycles, c->instr, f->raw_cpi, "raw CPI is the double nearest to cycles / instructions");
    check_quotient(c->scaled_cycles, c->instr, f->scaled_cpi, "scaled CPI is the nearest double");
    check_quotient(big_times(c->busy, 100), c->elapsed, f->busy_percent, "the busy share is the nearest double");
    require(f->busy_percent <= 100.0, "no CPU is busier than 100 %");
    bool is_idle = big_is_zero(&c->instr);
    require((f->status == PFB_CPI_NO_INSTR) == is_idle,
            "the status is no_instr if and only if there are no instructions");
    require((f->status == PFB_CPI_OVERFLOW) == (!is_idle && (is_long(c) || is_too_large(c))),
            "a value that no hook can hold is reported");
}

/* ---- CPUs ---------------------------------------------------------------------------------------------- */

static bool is_used(const pfb_cpi_figures *f)
{
    return f->status == PFB_CPI_OK || f->status == PFB_CPI_WRAPPED || f->status == PFB_CPI_NO_INSTR ||
           f->status == PFB_CPI_OVERFLOW;
}

static void check_unused(const pfb_cpi_figures *f)
{
    require((f->instr | f->cycles | f->busy | f->elapsed | f->scaled_cycles) == 0, "counts that cannot be used are 0");
    require((bits_of(f->raw_cpi) | bits_of(f->scaled_cpi) | bits_of(f->busy_percent)) == 0,
            "figures that cannot be used are 0");
    require(!f->is_busy_clamped, "counts that cannot be used are not clamped");
}

/* Returns true if a counter of `width` bits that starts at `start` and advances by `delta` is then `end`, with at most
 * one wrap, which is accepted only if the counter has less than 64 bits and advances by less than half its range. */
static bool is_difference(uint64_t start, uint64_t end, uint64_t delta, uint32_t width)
{
    uint64_t max = UINT64_MAX >> (64 - width);
    bool may_advance = end >= start || (width < 64 && delta <= max / 2);
    return start <= max && end <= max && delta <= max && ((start + delta) & max) == end && may_advance;
}

static void check_scaled(const pfb_cpi_cpu *start, const pfb_cpi_cpu *end, const pfb_cpi_figures *f)
{
    uint64_t busy = end->busy - start->busy;
    require(is_difference(start->elapsed, end->elapsed, f->elapsed, 64) && f->elapsed != 0, "the busy clock advanced");
    require(f->busy <= f->elapsed && f->is_busy_clamped == (busy > f->elapsed),
            "busy above elapsed is clamped and reported");
    require(f->is_busy_clamped || f->busy == busy, "busy that is not clamped is the difference of the readings");
    big product = big_times(big_of(f->cycles), f->busy);
    big low = big_times(big_of(f->scaled_cycles), f->elapsed);
    big elapsed = big_of(f->elapsed);
    big high = big_plus(low, &elapsed);
    require(big_compare(&low, &product) <= 0 && big_compare(&product, &high) < 0, "scaled cycles are rounded down");
}

static void check_used(const query *q, const pfb_cpi_cpu *start, const pfb_cpi_cpu *end, const pfb_cpi_figures *f)
{
    counts own = counts_of(f);
    require(is_difference(start->instr, end->instr, f->instr, q->widths.instr),
            "instructions are the difference of the readings");
    require(is_difference(start->cycles, end->cycles, f->cycles, q->widths.cycles),
            "cycles are the difference of the readings");
    if (q->mode & PFB_CPI_SCALED)
        check_scaled(start, end, f);
    else
        require((f->busy | f->elapsed | f->scaled_cycles) == 0, "without PFB_CPI_SCALED there are no busy counts");
    check_figures(f, &own);
    bool has_decreased = end->instr < start->instr || end->cycles < start->cycles;
    if (f->status == PFB_CPI_OK || f->status == PFB_CPI_WRAPPED)
        require((f->status == PFB_CPI_WRAPPED) == has_decreased, "a wrap is reported");
}

static const pfb_cpi_cpu *find_cpu(const pfb_cpi_snapshot *snapshot, uint32_t number)
{
    for (size_t i = 0; i < snapshot->cpu_count; i++) {
        if (snapshot->cpus[i].cpu == number)
            return &snapshot->cpus[i];
    }
    return NULL;
}

/* Returns true if an interval is long enough for a counter of this width to pass its whole range. */
static bool may_pass_range(uint32_t width, uint64_t elapsed)
{
    return width < 64 && elapsed >= UINT64_C(1) << width;
}

static void check_cpu(const query *q, const pfb_cpi_cpu *start, const answer *a, const pfb_cpi_figures *f)
{
    uint64_t elapsed = a->result.elapsed_cycles;
    const pfb_cpi_cpu *end = find_cpu(&q->end, start->cpu);
    bool ambiguous = may_pass_range(q->widths.instr, elapsed) || may_pass_range(q->widths.cycles, elapsed);
    require(f->cpu == start->cpu, "the CPUs have the order of the start");
    require((f->status == PFB_CPI_OFFLINE) == !end, "a CPU that disappeared is offline");
    if (end)
        require((f->status == PFB_CPI_AMBIGUOUS) == ambiguous, "long intervals of narrow counters are ambiguous");
    if (end && is_used(f))
        check_used(q, start, end, f);
    else
        check_unused(f);
}

/* ---- System and thread --------------------------------------------------------------------------------- */

/* Returns true if the field is the sum, or all ones if the sum does not fit. */
static bool is_saturated_sum(uint64_t field, const big *sum)
{
    big max = big_of(UINT64_MAX);
    big value = big_of(field);
    return big_compare(sum, &max) > 0 ? field == UINT64_MAX : big_compare(sum, &value) == 0;
}

static void check_system(const query *q, const answer *a)
{
    const pfb_cpi_figures *system = &a->result.system;
    counts all = {big_of(0), big_of(0), big_of(0), big_of(0), big_of(0)};
    size_t matched = 0;
    for (size_t i = 0; i < a->result.cpu_count; i++) {
        add_counts(&all, &a->cpus[i]);
        matched += find_cpu(&q->end, a->cpus[i].cpu) != NULL;
    }
    require(is_saturated_sum(system->instr, &all.instr) && is_saturated_sum(system->cycles, &all.cycles) &&
                is_saturated_sum(system->busy, &all.busy) && is_saturated_sum(system->elapsed, &all.elapsed) &&
                is_saturated_sum(system->scaled_cycles, &all.scaled_cycles),
            "the system's counts are sums");
    check_figures(system, &all);
    require(system->status == PFB_CPI_OK || system->status == PFB_CPI_NO_INSTR || system->status == PFB_CPI_OVERFLOW,
            "the system's status is ok, no_instr or overflow");
    require(a->result.cpus_changed == (matched < a->result.cpu_count || matched < q->end.cpu_count),
            "CPUs that were added or removed are reported");
    require(a->verdict == (big_is_zero(&all.instr) ? PFB_CPI_NO_DATA : PFB_CPI_COMPUTED),
            "without instructions the verdict is no_data");
}

static void check_thread(const query *q, const pfb_cpi_result *result)
{
    const pfb_cpi_thread *start = &q->start.thread;
    const pfb_cpi_thread *end = &q->end.thread;
    const pfb_cpi_figures *f = &result->thread;
    require(result->tid == start->tid, "the thread is the requested one");
    if (end->instr < start->instr || end->cycles < start->cycles) {
        require(f->status == PFB_CPI_BACKWARD, "a thread whose counters fell has status backward");
        check_unused(f);
        return;
    }
    counts own = counts_of(f);
    require(f->instr == end->instr - start->instr && f->cycles == end->cycles - start->cycles,
            "the counts of a thread are differences of the readings");
    check_figures(f, &own);
    require(f->status == PFB_CPI_OK || f->status == PFB_CPI_NO_INSTR || f->status == PFB_CPI_OVERFLOW,
            "the status of a thread is ok, no_instr or overflow");
}

/* ---- Checks of a result ----------------------------------------------------------------------------------------- */

static bool is_in_order(const pfb_cpi_snapshot *snapshot)
{
    for (size_t i = 1; i < snapshot->cpu_count; i++) {
        if (snapshot->cpus[i].cpu <= snapshot->cpus[i - 1].cpu)
            return false;
    }
    return true;
}

static bool is_valid_query(const query *q)
{
    bool thread_only = (q->mode & PFB_CPI_THREAD_ONLY) != 0;
    bool asks_thread = thread_only || (q->mode & PFB_CPI_ON_THREAD);
    bool same = q->start.has_thread && q->end.has_thread && q->start.thread.tid == q->end.thread.tid;
    bool widths = q->widths.instr - 1 < 64 && q->widths.cycles - 1 < 64;
    return (q->mode & UINT32_C(0x7FFFFFF8)) == 0 && !(thread_only && (q->mode & PFB_CPI_SCALED)) && widths &&
           (!asks_thread || same) && (thread_only || (is_in_order(&q->start) && is_in_order(&q->end)));
}

static bool is_untouched(const void *memory, size_t size)
{
    const uint8_t *bytes = memory;
    size_t same = 0;
    while (same < size && bytes[same] == UNTOUCHED)
        same++;
    return same == size;
}

static void check(const query *q, const answer *a)
{
    bool is_valid = is_valid_query(q);
    require((a->verdict == PFB_CPI_BAD_ARGUMENT) == !is_valid, "bad_argument is returned for invalid requests only");
    if (!is_valid || q->end.clock < q->start.clock) {
        require(!is_valid || a->verdict == PFB_CPI_CLOCK_BACKWARD, "a clock that runs backward is reported");
        require(is_untouched(&a->result, sizeof a->result), "a failed call does not write the result");
        require(is_untouched(a->cpus, sizeof a->cpus), "a failed call does not write the CPUs");
        return;
    }
    require(a->result.elapsed_cycles == q->end.clock - q->start.clock, "the clock's cycles are those of the interval");
    require((a->result.mode & q->mode) == q->mode && (a->result.mode & PFB_CPI_RAW), "the mode is the requested one");
    require(a->result.has_thread == ((a->result.mode & PFB_CPI_ON_THREAD) != 0), "a thread is present if requested");
    if (a->result.has_thread)
        check_thread(q, &a->result);
    if (q->mode & PFB_CPI_THREAD_ONLY) {
        require(a->verdict == PFB_CPI_COMPUTED && a->result.cpu_count == 0, "thread-only data has no CPUs");
        require(a->result.system.status == PFB_CPI_INVALID, "thread-only data has no system figures");
        check_unused(&a->result.system);
        return;
    }
    require(a->result.cpu_count == q->start.cpu_count, "the CPUs are the same as at the start");
    for (size_t i = 0; i < a->result.cpu_count; i++)
        check_cpu(q, &q->start.cpus[i], a, &a->cpus[i]);
    check_system(q, a);
}

/* ---- Input --------------------------------------------------------------------------------------------- */

typedef struct input_bytes {
    const uint8_t *data;
    size_t size;
} input_bytes;

static uint64_t take(input_bytes *input, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && input->size > 0; i++, input->size--)
        value |= (uint64_t)*input->data++ << 8 * i;
    return value;
}

static pfb_cpi_thread take_thread(input_bytes *input)
{
    pfb_cpi_thread thread = {.tid = (uint32_t)take(input, 4)};
    thread.instr = take(input, 8);
    thread.cycles = take(input, 8);
    return thread;
}

static pfb_cpi_cpu take_cpu(input_bytes *input, uint32_t number)
{
    pfb_cpi_cpu cpu = {.cpu = number};
    cpu.instr = take(input, 8);
    cpu.cycles = take(input, 8);
    cpu.busy = take(input, 8);
    cpu.elapsed = take(input, 8);
    return cpu;
}

static void take_cpus(input_bytes *input, query *q)
{
    q->start.cpus = q->start_cpus;
    q->end.cpus = q->end_cpus;
    for (int i = 0; i < MAX_CPUS && input->size > 0; i++) {
        uint32_t number = (uint32_t)take(input, 4);
        unsigned absent = (unsigned)take(input, 1);
        pfb_cpi_cpu start = take_cpu(input, number);
        pfb_cpi_cpu end = take_cpu(input, number);
        if (!(absent & AT_START))
            q->start_cpus[q->start.cpu_count++] = start;
        if (!(absent & AT_END))
            q->end_cpus[q->end.cpu_count++] = end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static query q;
    static answer a;
    input_bytes input = {data, size};
    memset(&q, 0, sizeof q);
    q.mode = (uint32_t)take(&input, 4);
    q.widths.instr = (uint32_t)take(&input, 1);
    q.widths.cycles = (uint32_t)take(&input, 1);
    unsigned absent = (unsigned)take(&input, 1);
    q.start.has_thread = !(absent & AT_START);
    q.end.has_thread = !(absent & AT_END);
    q.start.clock = take(&input, 8);
    q.end.clock = take(&input, 8);
    q.start.thread = take_thread(&input);
    q.end.thread = take_thread(&input);
    take_cpus(&input, &q);
    compute(&q, &a);
    check(&q, &a);
    return 0;
}
