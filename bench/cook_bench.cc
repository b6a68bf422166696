// SPDX-License-Identifier: MIT
// Measures samples: loading a reply as a table, matching each instance with the same instance of the previous sample,
// and evaluating all values of a sample.
#include "baselines.h"
#include "bench.h"
#include "samples.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>

namespace
{

using bench::instance;
using bench::sample;

/* Two successive samples. */
struct sample_pair {
    sample older, newer;
};

/* Baseline: copies both replies. */
void measure_memcpy(benchmark::State &state, const sample_pair &samples, size_t items)
{
    size_t first = samples.older.block_bytes();
    size_t second = samples.newer.block_bytes();
    std::vector<uint8_t> to(first + second);
    for (auto _ : state) {
        std::memcpy(to.data(), samples.older.block_data(), first);
        std::memcpy(to.data() + first, samples.newer.block_data(), second);
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
    }
    bench::count_items(state, items);
}

/* ---- Matching: orders of instances -------------------------------------------------------------------------- */

constexpr uint32_t NEW = PFB_NONE; /* instead of an older row: the instance is not in the older sample */

/* Returns the order of the newer sample's instances: the older row of each one, or NEW. */
using row_order = std::function<std::vector<uint32_t>(size_t count)>;

std::vector<uint32_t> in_order(size_t count)
{
    std::vector<uint32_t> rows(count);
    for (size_t i = 0; i < count; i++)
        rows[i] = static_cast<uint32_t>(i);
    return rows;
}

std::vector<uint32_t> reversed(size_t count)
{
    std::vector<uint32_t> rows = in_order(count);
    std::reverse(rows.begin(), rows.end());
    return rows;
}

std::vector<uint32_t> shuffled(size_t count)
{
    bench::numbers numbers;
    std::vector<uint32_t> rows = in_order(count);
    for (size_t i = count - 1; i > 0; i--)
        std::swap(rows[i], rows[numbers.between(0, i)]);
    return rows;
}

/* A new instance comes first. All others are one row later than in the older sample, and the last one is removed. */
std::vector<uint32_t> inserted(size_t count)
{
    std::vector<uint32_t> rows = in_order(count - 1);
    rows.insert(rows.begin(), NEW);
    return rows;
}

std::vector<instance> arrange(const std::vector<instance> &older, const std::vector<uint32_t> &rows)
{
    std::vector<instance> newer;
    for (uint32_t row : rows)
        newer.push_back(row == NEW ? instance{4, u"System"} : older[row]);
    return newer;
}

/* ---- Matching: benchmarks ------------------------------------------------------------------------------------ */

/* Samples are matched in batches of at least this many rows in total, so that the cost of reading the clock is
 * negligible. */
constexpr size_t BATCH_ROWS = 2000;

struct match_job {
    std::vector<uint32_t> expected;                  /* by newer row: its older row, or NEW */
    std::vector<std::unique_ptr<sample_pair>> batch; /* pairs with the same contents */
};

std::unique_ptr<match_job> make_match_job(const row_order &order, size_t count)
{
    auto job = std::make_unique<match_job>();
    bench::counterset set = bench::one_counter();
    std::vector<instance> older = bench::processes(count);
    job->expected = order(count);
    std::vector<instance> newer = arrange(older, job->expected);
    for (size_t rows = 0; rows == 0 || rows < BATCH_ROWS; rows += count) {
        job->batch.emplace_back(new sample_pair{{set, older, 1}, {set, newer, 2}});
        job->batch.back()->older.save();
        job->batch.back()->newer.save();
    }
    return job;
}

/* Times `match` over a batch. The samples are restored before each iteration to their state after loading, because a
 * match leaves sorted orders in a sample that make the next match faster. */
template <class Match> void measure_match(benchmark::State &state, match_job &job, Match match)
{
    for (auto _ : state) {
        for (auto &samples : job.batch) {
            samples->older.restore();
            samples->newer.restore();
        }
        auto start = std::chrono::steady_clock::now();
        for (auto &samples : job.batch)
            match(*samples);
        std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        state.SetIterationTime(elapsed.count());
    }
    for (auto &samples : job.batch) {
        for (size_t row = 0; row < job.expected.size(); row++) {
            if (samples->newer.table.rows[row].older_row != job.expected[row])
                return state.SkipWithError("a row was not matched with the expected row of the older sample");
        }
    }
    bench::count_items(state, job.batch.size() * job.expected.size());
}

void perfblock_match(sample_pair &samples)
{
    pfb_sample_match(&samples.older.table, &samples.newer.table, nullptr, 0);
}

struct row_identity {
    std::string_view name;
    uint32_t id;

    bool operator==(const row_identity &other) const
    {
        return id == other.id && name == other.name;
    }
};

struct row_hash {
    size_t operator()(const row_identity &row) const
    {
        return std::hash<std::string_view>()(row.name) ^ (row.id * UINT64_C(0x9E3779B97F4A7C15));
    }
};

row_identity identity(const pfb_sample_row &row)
{
    return {{reinterpret_cast<const char *>(row.name.bytes), row.name.size_bytes}, row.id};
}

/* Baseline: matches with a hash table. It allocates memory and does not support repeated instances. */
void hash_match(sample_pair &samples)
{
    const pfb_sample &older = samples.older.table;
    pfb_sample &newer = samples.newer.table;
    std::unordered_map<row_identity, uint32_t, row_hash> rows;
    rows.reserve(older.counts.rows);
    for (uint32_t row = 0; row < older.counts.rows; row++)
        rows.emplace(identity(older.rows[row]), row);
    for (uint32_t row = 0; row < newer.counts.rows; row++) {
        auto found = rows.find(identity(newer.rows[row]));
        newer.rows[row].older_row = found == rows.end() ? PFB_NONE : found->second;
    }
}

void add_match(const std::string &name, const row_order &order, size_t count)
{
    /* Created at the first use and shared by all repetitions, which may run in any order. */
    auto shared = std::make_shared<std::unique_ptr<match_job>>();
    auto job = [=]() -> match_job & {
        if (!*shared)
            *shared = make_match_job(order, count);
        return **shared;
    };
    std::string prefix = "match/" + name;
    bench::add(prefix + "/match", count, [=](benchmark::State &state) {
        measure_match(state, job(), perfblock_match);
    })->UseManualTime();
    bench::add(prefix + "/plain", count, [=](benchmark::State &state) {
        measure_match(state, job(), hash_match);
    })->UseManualTime();
    bench::add(prefix + "/memcpy", count,
               [=](benchmark::State &state) { measure_memcpy(state, *job().batch[0], count); });
}

/* ---- Whole samples --------------------------------------------------------------------------------------------- */

/* Returns true if each base has the status not_displayed and every other counter has a value. Otherwise reports the
 * unexpected status as the error of the benchmark. */
bool all_evaluated(benchmark::State &state, const uint8_t *status_bytes, const pfb_sample &newer)
{
    for (uint32_t column = 0; column < newer.counts.columns; column++) {
        bool is_base = pfb_counter_type_is_base(newer.columns[column].counter.type);
        for (uint32_t row = 0; row < newer.counts.rows; row++) {
            unsigned status = status_bytes[pfb_sample_place(&newer, row, column)] & PFB_STATUS_BYTE_CODE;
            if (status != (is_base ? PFB_STATUS_NOT_DISPLAYED : PFB_STATUS_OK)) {
                state.SkipWithError(pfb_status_name(static_cast<pfb_status>(status)));
                return false;
            }
        }
    }
    return true;
}

/* Measures evaluating all values of the newer sample, after both samples were loaded and matched. */
void measure_evaluate_all(benchmark::State &state, sample_pair &samples)
{
    const pfb_sample &newer = samples.newer.table;
    pfb_sample_match(&samples.older.table, &samples.newer.table, nullptr, 0);
    std::vector<double> values(newer.counts.values);
    std::vector<uint8_t> status_bytes(values.size());
    for (auto _ : state) {
        pfb_sample_cook(&samples.older.table, &newer, nullptr, 0, nullptr, values.data(), status_bytes.data(),
                        values.size());
        benchmark::DoNotOptimize(values.data());
        benchmark::ClobberMemory();
    }
    if (all_evaluated(state, status_bytes.data(), newer))
        bench::count_items(state, bench::count_values(newer));
}

/* ---- From replies to displayed values ---------------------------------------------------------------------------- */

/* Measures loading two replies, matching them and evaluating the values of the newer one. */
void measure_show(benchmark::State &state, sample_pair &samples)
{
    std::vector<double> values(samples.newer.table.counts.values);
    std::vector<uint8_t> status_bytes(values.size());
    for (auto _ : state) {
        if (!samples.older.load() || !samples.newer.load())
            return state.SkipWithError("the library refused a reply");
        pfb_sample_match(&samples.older.table, &samples.newer.table, nullptr, 0);
        pfb_sample_cook(&samples.older.table, &samples.newer.table, nullptr, 0, nullptr, values.data(),
                        status_bytes.data(), values.size());
        benchmark::DoNotOptimize(values.data());
        benchmark::ClobberMemory();
    }
    if (all_evaluated(state, status_bytes.data(), samples.newer.table))
        bench::count_items(state, bench::count_values(samples.newer.table));
}

/* Measures loading the newer reply, matching it and evaluating its values. The older reply is loaded only once, before
 * the measurement. */
void measure_next(benchmark::State &state, sample_pair &samples)
{
    const pfb_sample &newer = samples.newer.table;
    std::vector<double> values(newer.counts.values);
    std::vector<uint8_t> status_bytes(values.size());
    for (auto _ : state) {
        if (!samples.newer.load())
            return state.SkipWithError("the newer reply was refused");
        pfb_sample_match(&samples.older.table, &samples.newer.table, nullptr, 0);
        pfb_sample_cook(&samples.older.table, &newer, nullptr, 0, nullptr, values.data(), status_bytes.data(),
                        values.size());
        benchmark::ClobberMemory();
    }
    if (all_evaluated(state, status_bytes.data(), newer))
        bench::count_items(state, bench::count_values(newer));
}

/* ---- Baselines ------------------------------------------------------------------------------------------------- */

/* The part of a column of the table that the baseline needs. */
struct baseline_column {
    uint32_t type;
    uint32_t base; /* column of the base counter, if the type has one */
};

std::vector<baseline_column> baseline_columns(const pfb_sample &table)
{
    std::vector<baseline_column> columns;
    for (uint32_t c = 0; c < table.counts.columns; c++)
        columns.push_back({table.columns[c].counter.type, table.columns[c].base_column});
    return columns;
}

double difference(uint64_t newer, uint64_t older)
{
    return static_cast<double>(newer - older);
}

/* Computes a value of Processor Information, whose counter types it supports. Checks nothing. */
double baseline_value(const baseline_column &column, const pfb_sample &older, const pfb_sample &newer, size_t index,
                      size_t base_index, double time_100ns, double seconds)
{
    double change = difference(newer.raw[index], older.raw[index]);
    switch (column.type) {
    case 0x00010000: /* PERF_COUNTER_RAWCOUNT */
        return static_cast<double>(newer.raw[index]);
    case 0x10410400: /* PERF_COUNTER_COUNTER */
    case 0x10410500: /* PERF_COUNTER_BULK_COUNT */
        return change / seconds;
    case 0x20510500: /* PERF_100NSEC_TIMER */
        return 100 * change / time_100ns;
    case 0x21510500: /* PERF_100NSEC_TIMER_INV */
        return 100 * (1 - change / time_100ns);
    case 0x20570500: /* PERF_PRECISION_100NS_TIMER */
        return 100 * change / difference(newer.raw[base_index], older.raw[base_index]);
    case 0x40020500: /* PERF_AVERAGE_BULK */
        return change / difference(newer.raw[base_index], older.raw[base_index]);
    default: /* bases */
        return 0;
    }
}

/* Baseline of evaluating: computes each value with a minimal formula for its counter type. */
void measure_evaluate_baseline(benchmark::State &state, const sample_pair &samples)
{
    const pfb_sample &older = samples.older.table;
    const pfb_sample &newer = samples.newer.table;
    std::vector<baseline_column> columns = baseline_columns(newer);
    std::vector<double> values(newer.counts.values);
    size_t stride = newer.results[0].stride;
    for (auto _ : state) {
        double time_100ns = static_cast<double>(newer.perf_time_100ns - older.perf_time_100ns);
        double seconds = static_cast<double>(newer.perf_time - older.perf_time) / static_cast<double>(newer.perf_freq);
        for (size_t c = 0; c < columns.size(); c++) {
            for (size_t row = 0; row < newer.counts.rows; row++)
                values[c * stride + row] = baseline_value(columns[c], older, newer, c * stride + row,
                                                          columns[c].base * stride + row, time_100ns, seconds);
        }
        benchmark::DoNotOptimize(values.data());
        benchmark::ClobberMemory();
    }
    bench::count_items(state, bench::count_values(newer));
}

/* ---- Loading --------------------------------------------------------------------------------------------------- */

/* Measures loading the newer reply as a table. */
void measure_load(benchmark::State &state, sample_pair &samples)
{
    for (auto _ : state) {
        if (!samples.newer.load())
            return state.SkipWithError("the newer reply was refused");
        benchmark::ClobberMemory();
    }
    bench::count_items(state, bench::count_values(samples.newer.table));
}

/* Baseline of loading: copies the newer reply. */
void measure_load_memcpy(benchmark::State &state, const sample_pair &samples)
{
    std::vector<uint8_t> to(samples.newer.block_bytes());
    for (auto _ : state) {
        std::memcpy(to.data(), samples.newer.block_data(), to.size());
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
    }
    bench::count_items(state, bench::count_values(samples.newer.table));
}

/* Returns the sum of all raw values of a sample that has one result. */
uint64_t sum_raw_values(const pfb_sample &table)
{
    uint64_t sum = 0;
    for (uint32_t column = 0; column < table.counts.columns; column++) {
        for (uint32_t row = 0; row < table.counts.rows; row++)
            sum += table.raw[pfb_sample_place(&table, row, column)];
    }
    return sum;
}

/* Baseline of displaying: reads both replies field by field into structs and evaluates nothing. typical_processor has a
 * field for one counter that the replies do not have; this field stays 0. */
void measure_typical(benchmark::State &state, const sample_pair &samples)
{
    size_t instances = samples.newer.table.counts.rows;
    std::vector<typical_processor> rows(2 * instances);
    size_t older_count = 0, newer_count = 0;
    for (auto _ : state) {
        bool is_read = typical_read(samples.older.block_data(), samples.older.block_bytes(), rows.data(), instances,
                                    &older_count) &&
                       typical_read(samples.newer.block_data(), samples.newer.block_bytes(), &rows[instances],
                                    instances, &newer_count);
        benchmark::DoNotOptimize(rows.data());
        benchmark::ClobberMemory();
        if (!is_read || older_count != instances || newer_count != instances)
            return state.SkipWithError("typical_read refused a reply or returned the wrong number of instances");
    }
    uint64_t sum = 0;
    for (const typical_processor &row : rows)
        sum += typical_sum(&row);
    if (sum != sum_raw_values(samples.older.table) + sum_raw_values(samples.newer.table))
        return state.SkipWithError("the sum of the values differs from that of the loaded samples");
    bench::count_items(state, bench::count_values(samples.newer.table));
}

using make_pair_function = std::function<sample_pair *()>;

/* Returns a function that makes the samples at its first call and returns the same samples at each call. */
std::function<sample_pair &()> make_once(const make_pair_function &make)
{
    auto shared = std::make_shared<std::unique_ptr<sample_pair>>();
    return [=]() -> sample_pair & {
        if (!*shared)
            shared->reset(make());
        return **shared;
    };
}

void add_load(const std::string &name, size_t count, const std::function<sample_pair &()> &samples)
{
    bench::add("load/" + name + "/load", count, [=](benchmark::State &state) { measure_load(state, samples()); });
    bench::add("load/" + name + "/memcpy", count,
               [=](benchmark::State &state) { measure_load_memcpy(state, samples()); });
}

void add_evaluate(const std::string &name, size_t count, const std::function<sample_pair &()> &samples)
{
    std::string prefix = "sample/" + name;
    bench::add(prefix + "/evaluate_all", count,
               [=](benchmark::State &state) { measure_evaluate_all(state, samples()); });
    bench::add(prefix + "/plain", count, [=](benchmark::State &state) { measure_evaluate_baseline(state, samples()); });
    bench::add(prefix + "/memcpy", count, [=](benchmark::State &state) {
        measure_memcpy(state, samples(), bench::count_values(samples().newer.table));
    });
}

void add_display(const std::string &name, size_t count, const std::function<sample_pair &()> &samples)
{
    std::string prefix = "display/" + name;
    bench::add(prefix + "/show", count, [=](benchmark::State &state) { measure_show(state, samples()); });
    bench::add(prefix + "/next", count, [=](benchmark::State &state) { measure_next(state, samples()); });
    bench::add(prefix + "/typical", count, [=](benchmark::State &state) { measure_typical(state, samples()); });
    bench::add(prefix + "/memcpy", count, [=](benchmark::State &state) {
        measure_memcpy(state, samples(), bench::count_values(samples().newer.table));
    });
}

std::function<sample_pair &()> processor_samples(size_t count)
{
    return make_once([=]() {
        bench::counterset set = bench::processor_information();
        std::vector<instance> instances = bench::processors(count);
        return new sample_pair{{set, instances, 1}, {set, instances, 2}};
    });
}

void add_samples(size_t processors, size_t processes)
{
    auto information = processor_samples(processors);
    auto single = make_once([=]() {
        bench::counterset set = bench::one_counter();
        std::vector<instance> instances = bench::processes(processes);
        return new sample_pair{{set, instances, 1}, {set, instances, 2}};
    });
    add_evaluate("processor_information", processors, information);
    add_load("processor_information", processors, information);
    add_load("one_counter", processes, single);
}

} // namespace

int main(int argc, char **argv)
{
    constexpr size_t counts[] = {10, 1000, 100000};
    for (size_t count : counts) {
        add_match("in_order", in_order, count);
        add_match("reversed", reversed, count);
        add_match("shuffled", shuffled, count);
        add_match("inserted", inserted, count);
    }
    add_samples(10, 10);
    add_samples(1000, 1000);
    add_samples(10000, 100000); /* 310,000 values of processors: more than existing machines have */
    for (size_t count : {size_t{64}, size_t{4096}, size_t{65536}})
        add_display("processor_information", count, processor_samples(count));
    return bench::run(argc, argv);
}
