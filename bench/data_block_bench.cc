// SPDX-License-Identifier: MIT
// What reading V2 replies costs: value by value and in bulk, beside readers that check less and beside copying the
// bytes.
#include "baselines.h"
#include "bench.h"
#include "building.h"
#include "replies.h"
#include "samples.h"

#include "perfblock/bulk.h"

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>

namespace
{

using bench::PROCESSOR_COUNTERS;

/* ---- Replies ----------------------------------------------------------------------------------------------- */

/* A reply and how many values it holds; a benchmark gives back the sum of those it read, which must be `sum`. */
struct reply {
    std::vector<uint8_t> bytes;
    size_t values;
    uint64_t sum;
};

using get_reply = std::function<const reply &()>;

/* Made when first needed, and kept: repetitions come in any order. */
get_reply keep(const std::function<std::vector<uint8_t>(size_t)> &make, size_t count, uint32_t counters)
{
    auto kept = std::make_shared<std::unique_ptr<reply>>();
    return [=]() -> const reply & {
        if (!*kept) {
            kept->reset(new reply{make(count), count * counters, 0});
            for (size_t i = 0; i < count; i++) {
                for (uint32_t n = 0; n < counters; n++)
                    (*kept)->sum += bench::reply_value(i, n);
            }
        }
        return **kept;
    };
}

/* Runs `read` over and over; it gives the sum of what it read. A refused reply must not pass for a fast one. */
template <class Read> void measure(benchmark::State &state, const reply &from, Read read)
{
    for (auto _ : state) {
        uint64_t sum = read();
        benchmark::DoNotOptimize(sum);
        if (sum != from.sum)
            return state.SkipWithError("the values are others");
    }
    bench::count_items(state, from.values);
}

void measure_memcpy(benchmark::State &state, const reply &from)
{
    std::vector<uint8_t> to(from.bytes.size());
    for (auto _ : state) {
        std::memcpy(to.data(), from.bytes.data(), to.size());
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
    }
    bench::count_items(state, from.values);
}

/* ---- One by one -------------------------------------------------------------------------------------------- */

uint64_t walk(const reply &from)
{
    pfb_data_block block;
    pfb_data_result result;
    pfb_data_instance instance;
    pfb_data_value value;
    uint64_t sum = 0;
    pfb_data_block_open(&block, from.bytes.data(), from.bytes.size(), 0);
    while (pfb_data_block_next_result(&block, &result)) {
        while (pfb_data_block_next_instance(&block, &instance)) {
            while (pfb_data_block_next_value(&block, &value))
                sum += value.raw;
        }
    }
    return block.error.code == PFB_OK ? sum : 0;
}

uint64_t walk_twin(const reply &from)
{
    pfb_data_block block;
    pfb_data_result result;
    pfb_data_instance instance;
    pfb_data_value value;
    uint64_t sum = 0;
    twin_open(&block, from.bytes.data());
    while (twin_next_result(&block, &result)) {
        while (twin_next_instance(&block, &instance)) {
            while (twin_next_value(&block, &value))
                sum += value.raw;
        }
    }
    return sum;
}

void add_walks(const std::string &name, size_t count, const get_reply &from)
{
    std::string prefix = "data_block/" + name;
    bench::add(prefix + "/walk", count,
               [=](benchmark::State &state) { measure(state, from(), [&]() { return walk(from()); }); });
    bench::add(prefix + "/twin", count,
               [=](benchmark::State &state) { measure(state, from(), [&]() { return walk_twin(from()); }); });
    bench::add(prefix + "/memcpy", count, [=](benchmark::State &state) { measure_memcpy(state, from()); });
}

/* ---- Into arrays ------------------------------------------------------------------------------------------- */

/* What was read last is looked at once, behind the measuring: looking at it is no part of reading it. */
void require_sum(benchmark::State &state, const reply &from, uint64_t sum)
{
    if (sum != from.sum)
        return state.SkipWithError("the values are others");
    bench::count_items(state, from.values);
}

/* Of which instance a row says that it is. */
struct named {
    uint32_t id;
    const uint8_t *name; /* UTF-16LE */
    size_t units;
};

/* Whether `name_of` the first `count` rows are the processors that the reply was made of. */
template <class NameOf> bool has_names(size_t count, NameOf name_of)
{
    std::vector<bench::instance> processors = bench::processors(count);
    for (size_t i = 0; i < count; i++) {
        named found = name_of(i);
        std::vector<uint8_t> name = bench::utf16le(processors[i].name);
        if (found.id != processors[i].id || 2 * found.units != name.size() ||
            std::memcmp(found.name, name.data(), name.size()) != 0)
            return false;
    }
    return true;
}

enum class form { rows, columns, rows_with_instances };

/* All values: as rows, or counter by counter as columns; and what instances they are of, where asked for. */
void measure_bulk(benchmark::State &state, const reply &from, form as)
{
    size_t count = from.values / PROCESSOR_COUNTERS;
    std::vector<uint64_t> values(from.values);
    std::vector<pfb_data_instance> instances(as == form::rows_with_instances ? count : 0);
    pfb_bulk bulk = {};
    bulk.values = values.data();
    bulk.instances = instances.empty() ? nullptr : instances.data();
    bulk.instance_capacity = count;
    bulk.instance_step = as == form::columns ? 1 : PROCESSOR_COUNTERS;
    bulk.position_step = as == form::columns ? count : 1;
    for (auto _ : state) {
        pfb_data_block block;
        pfb_data_result result;
        pfb_data_block_open(&block, from.bytes.data(), from.bytes.size(), 0);
        pfb_data_block_next_result(&block, &result);
        pfb_bulk_read(&block, &bulk);
        pfb_error error = pfb_data_block_finish(&block);
        benchmark::DoNotOptimize(values.data());
        benchmark::ClobberMemory();
        if (error.code != PFB_OK || bulk.instance_count != count)
            return state.SkipWithError("the reply is refused");
    }
    uint64_t sum = 0;
    for (uint64_t value : values)
        sum += value;
    if (!has_names(instances.size(), [&](size_t i) {
            const pfb_data_instance &of = instances[i];
            return named{of.id, from.bytes.data() + of.name.offset, of.name.units};
        }))
        return state.SkipWithError("the instances are others");
    require_sum(state, from, sum);
}

uint64_t sum_of(const typical_processor &row)
{
    constexpr size_t first = offsetof(typical_processor, processor_time);
    uint64_t numbers[PROCESSOR_COUNTERS]; /* the last 32 fields of a row */
    static_assert(sizeof row == first + sizeof numbers, "a row has other fields than its numbers");
    std::memcpy(numbers, reinterpret_cast<const char *>(&row) + first, sizeof numbers);
    uint64_t sum = 0;
    for (uint64_t number : numbers)
        sum += number;
    return sum;
}

void measure_typical(benchmark::State &state, const reply &from)
{
    std::vector<typical_processor> rows(from.values / PROCESSOR_COUNTERS);
    size_t count = 0;
    for (auto _ : state) {
        bool is_read = typical_read(from.bytes.data(), from.bytes.size(), rows.data(), rows.size(), &count);
        benchmark::DoNotOptimize(rows.data());
        benchmark::ClobberMemory();
        if (!is_read || count != rows.size())
            return state.SkipWithError("the reply is refused");
    }
    uint64_t sum = 0;
    for (const typical_processor &row : rows)
        sum += sum_of(row);
    if (!has_names(rows.size(), [&](size_t i) { return named{rows[i].id, rows[i].name, rows[i].name_units}; }))
        return state.SkipWithError("the instances are others");
    require_sum(state, from, sum);
}

void add_counterset(size_t count)
{
    const std::string prefix = "data_block/processor_information";
    get_reply from = keep(bench::counterset_reply, count, PROCESSOR_COUNTERS);
    bench::add(prefix + "/bulk_rows", count, [=](benchmark::State &state) { measure_bulk(state, from(), form::rows); });
    bench::add(prefix + "/bulk_columns", count,
               [=](benchmark::State &state) { measure_bulk(state, from(), form::columns); });
    bench::add(prefix + "/bulk_instances", count,
               [=](benchmark::State &state) { measure_bulk(state, from(), form::rows_with_instances); });
    bench::add(prefix + "/typical", count, [=](benchmark::State &state) { measure_typical(state, from()); });
    add_walks("processor_information", count, from);
}

} // namespace

int main(int argc, char **argv)
{
    constexpr size_t counts[] = {1, 64, 4096, 16384, 65536};
    for (size_t count : counts)
        add_counterset(count);
    for (size_t count : counts) {
        add_walks("multiple_instances", count, keep(bench::multiple_instances_reply, count, 1));
        add_walks("multiple_counters", count, keep(bench::multiple_counters_reply, count, PROCESSOR_COUNTERS));
        add_walks("single_counter", count, keep(bench::single_counter_reply, count, 1));
    }
    return bench::run(argc, argv);
}
