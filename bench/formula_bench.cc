// SPDX-License-Identifier: MIT
// Measures evaluating displayed values from arrays of sample pairs. The baseline is the same arithmetic in floating
// point without checks.
#include "bench.h"

#include "perfblock/formula.h"

#include <cstring>
#include <vector>

namespace
{

/* ---- Samples -------------------------------------------------------------------------------------------- */

constexpr uint64_t SECOND = 10000000;         /* in ticks; both clocks have 10 MHz */
constexpr uint64_t EXACT = UINT64_C(1) << 53; /* a double represents every integer up to this one */
constexpr uint64_t DWORD_HALF = UINT64_C(1) << 31;

/* The range, inclusive, from which the difference between two samples is drawn. */
struct span {
    uint64_t low, high;
};

/* The ranges of the differences of raw value, base and clocks. A timer advances by less than its clock or base, so that
 * percentages are between 0 and 100; for multi timers, the percentage divided by the number of items is. */
struct differences {
    span value, base, time;
};

struct pairs {
    std::vector<pfb_raw_value> older, newer;
};

/* Counters start below 2^20, so that a 4-byte counter may grow by up to 2^32 - 2^20 without wrapping. Clocks have
 * realistic readings. */
pfb_raw_value first_sample(uint32_t type, bench::numbers &numbers)
{
    pfb_raw_value sample = {};
    sample.type = type;
    sample.has = PFB_HAS_VALUE | PFB_HAS_BASE | PFB_HAS_MULTI_COUNT | PFB_HAS_PERF_TIME | PFB_HAS_PERF_TIME_100NS |
                 PFB_HAS_PERF_FREQ;
    sample.value = numbers.between(0, (1 << 20) - 1);
    sample.base = numbers.between(0, (1 << 20) - 1);
    sample.multi_count = numbers.between(1, 64);
    sample.perf_time = static_cast<int64_t>(numbers.between(0, UINT64_C(1) << 45));
    sample.perf_time_100ns = INT64_C(133591987500000000);
    sample.perf_freq = SECOND;
    return sample;
}

pfb_raw_value next_sample(pfb_raw_value sample, const differences &ranges, bench::numbers &numbers)
{
    uint64_t time = numbers.between(ranges.time.low, ranges.time.high);
    sample.value += numbers.between(ranges.value.low, ranges.value.high);
    sample.base += numbers.between(ranges.base.low, ranges.base.high);
    sample.perf_time += static_cast<int64_t>(time);
    sample.perf_time_100ns += static_cast<int64_t>(time);
    return sample;
}

pairs make_pairs(uint32_t type, const differences &ranges, size_t count)
{
    bench::numbers numbers;
    pairs made;
    for (size_t i = 0; i < count; i++) {
        made.older.push_back(first_sample(type, numbers));
        made.newer.push_back(next_sample(made.older.back(), ranges, numbers));
    }
    return made;
}

/* ---- Measuring ------------------------------------------------------------------------------------------- */

/* Fails the benchmark if a pair of samples has no displayed value, because such pairs are evaluated faster. Values
 * above 100 % are allowed: multi timers exceed it by design. */
void require_ok(benchmark::State &state, const std::vector<pfb_formula_result> &results)
{
    for (const pfb_formula_result &result : results) {
        if (result.status != PFB_STATUS_OK)
            return state.SkipWithError(pfb_status_name(result.status));
        if ((result.flags & ~PFB_FLAG_ABOVE_100) != 0)
            return state.SkipWithError("a value has a flag other than \"above 100 %\"");
    }
}

/* Computes `items` repeatedly; `fill` computes all of them once. */
template <class Item, class Fill> void repeat(benchmark::State &state, std::vector<Item> &items, Fill fill)
{
    for (auto _ : state) {
        fill();
        benchmark::DoNotOptimize(items.data());
        benchmark::ClobberMemory();
    }
    bench::count_items(state, items.size());
}

void measure_values(benchmark::State &state, const pairs &samples, const pfb_formula_options &options)
{
    size_t count = samples.newer.size();
    std::vector<pfb_formula_result> results(count);
    repeat(state, results, [&]() {
        for (size_t i = 0; i < count; i++)
            results[i] = pfb_formula_evaluate(&samples.older[i], &samples.newer[i], &options);
    });
    require_ok(state, results);
}

template <class Formula> void measure_baseline(benchmark::State &state, const pairs &samples, Formula formula)
{
    size_t count = samples.newer.size();
    std::vector<double> values(count);
    repeat(state, values, [&]() {
        for (size_t i = 0; i < count; i++)
            values[i] = formula(samples.older[i], samples.newer[i]);
    });
}

/* Baseline: copies both raw values of `count` pairs. */
void measure_memcpy(benchmark::State &state, size_t count)
{
    std::vector<pfb_raw_value> source(2 * count, pfb_raw_value());
    std::vector<pfb_raw_value> to(2 * count, pfb_raw_value());
    for (auto _ : state) {
        std::memcpy(to.data(), source.data(), 2 * count * sizeof(pfb_raw_value));
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
    }
    bench::count_items(state, count);
}

/* ---- Registering ------------------------------------------------------------------------------------------- */

constexpr size_t COUNTS[] = {10, 1000, 100000};

template <class Formula>
void add_path(const std::string &name, uint32_t type, const differences &ranges, const pfb_formula_options &options,
              Formula formula)
{
    for (size_t count : COUNTS) {
        bench::add(name + "/evaluate", count,
                   [=](benchmark::State &state) { measure_values(state, make_pairs(type, ranges, count), options); });
        bench::add(name + "/plain", count,
                   [=](benchmark::State &state) { measure_baseline(state, make_pairs(type, ranges, count), formula); });
    }
}

/* "everyday" has the differences of one second, whose products are below 2^53 and thus exact in a double; "wide" has
 * differences whose products are not. */
template <class Formula>
void add_type(const std::string &name, uint32_t type, const differences &everyday, const differences &wide,
              Formula formula)
{
    add_path("formula/" + name + "/everyday", type, everyday, {}, formula);
    add_path("formula/" + name + "/wide", type, wide, {}, formula);
}

double time_between(const pfb_raw_value &older, const pfb_raw_value &newer)
{
    return static_cast<double>(newer.perf_time - older.perf_time);
}

double time_100ns_between(const pfb_raw_value &older, const pfb_raw_value &newer)
{
    return static_cast<double>(newer.perf_time_100ns - older.perf_time_100ns);
}

double value_between(const pfb_raw_value &older, const pfb_raw_value &newer)
{
    return static_cast<double>(newer.value - older.value);
}

double base_between(const pfb_raw_value &older, const pfb_raw_value &newer)
{
    return static_cast<double>(newer.base - older.base);
}

/* Differences of clocks: about one second, or at least 2^55 ticks. SHARE and LARGE_SHARE are differences of timers,
 * which ran for a part of that time; LARGE_SHARE is also used for large counts. */
constexpr span ONE_SECOND = {SECOND, SECOND + 9999};
constexpr span LONG_TIME = {4 * EXACT, 5 * EXACT};
constexpr span SHARE = {0, SECOND - 1};
constexpr span LARGE_SHARE = {EXACT, 4 * EXACT - 1};
constexpr span UNUSED = {0, 0};

void add_instantaneous_and_rates()
{
    add_type("raw_count", 0x00010100, {{0, UINT32_MAX}, UNUSED, ONE_SECOND}, {{EXACT, 512 * EXACT}, UNUSED, LONG_TIME},
             [](const pfb_raw_value &, const pfb_raw_value &newer) { return static_cast<double>(newer.value); });
    /* The product of 10^8 events and 10^7 ticks is below 2^53. */
    add_type("bulk_count", 0x10410500, {{0, 100000000}, UNUSED, ONE_SECOND}, {LARGE_SHARE, UNUSED, LONG_TIME},
             [](const pfb_raw_value &older, const pfb_raw_value &newer) {
                 double seconds = time_between(older, newer) / static_cast<double>(newer.perf_freq);
                 return value_between(older, newer) / seconds;
             });
}

void add_timers()
{
    constexpr differences idle = {SHARE, UNUSED, ONE_SECOND};
    constexpr auto formula = [](const pfb_raw_value &older, const pfb_raw_value &newer) {
        return 100 * (1 - value_between(older, newer) / time_100ns_between(older, newer));
    };
    add_type("100ns_timer_inverse", 0x21510500, idle, {LARGE_SHARE, UNUSED, LONG_TIME}, formula);
    /* Limits of the value are measured for one type only, because their cost does not depend on the type. */
    pfb_formula_options limits = {};
    limits.cap_100 = limits.clamp_0 = true;
    add_path("formula/100ns_timer_inverse/limited", 0x21510500, idle, limits, formula);
    add_type("precision_timer", 0x20570500, {SHARE, ONE_SECOND, ONE_SECOND}, {LARGE_SHARE, LONG_TIME, LONG_TIME},
             [](const pfb_raw_value &older, const pfb_raw_value &newer) {
                 return 100 * value_between(older, newer) / base_between(older, newer);
             });
    /* The largest product with everyday numbers is 100 * 64 * 10^7, about 2^36. */
    add_type("multi_timer_inverse", 0x23410500, {SHARE, UNUSED, ONE_SECOND}, {LARGE_SHARE, UNUSED, LONG_TIME},
             [](const pfb_raw_value &older, const pfb_raw_value &newer) {
                 double busy = value_between(older, newer) / time_between(older, newer);
                 return 100 * (static_cast<double>(newer.multi_count) - busy);
             });
}

/* The base has 4 bytes, so a wide difference of it is one of 2^31 or more: multiplied by the frequency of 10^7, it
 * gives a denominator above 2^53. */
void add_averages()
{
    constexpr span operations = {1, 10000};
    constexpr span dword_half = {DWORD_HALF, 2 * DWORD_HALF - (1 << 20) - 1};
    add_type("average_timer", 0x30020400, {SHARE, operations, ONE_SECOND}, {dword_half, dword_half, LONG_TIME},
             [](const pfb_raw_value &older, const pfb_raw_value &newer) {
                 double seconds = value_between(older, newer) / static_cast<double>(newer.perf_freq);
                 return seconds / base_between(older, newer);
             });
    add_type("average_bulk", 0x40020500, {{0, 1000000000}, operations, ONE_SECOND},
             {LARGE_SHARE, dword_half, LONG_TIME}, [](const pfb_raw_value &older, const pfb_raw_value &newer) {
                 return value_between(older, newer) / base_between(older, newer);
             });
}

} // namespace

int main(int argc, char **argv)
{
    add_instantaneous_and_rates();
    add_timers();
    add_averages();
    /* Baseline: copies both samples of each pair. */
    for (size_t count : COUNTS) {
        bench::add("formula/memcpy", count, [=](benchmark::State &state) { measure_memcpy(state, count); });
    }
    return bench::run(argc, argv);
}
