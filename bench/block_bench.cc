// SPDX-License-Identifier: MIT
// Measures reading blocks: V2 replies value by value and with one call for all values, and V1 blocks value by value.
// Baselines are readers that check less, and memcpy. All are in one program so that their repetitions can be
// interleaved.
#include "baselines.h"
#include "bench.h"
#include "building.h"
#include "replies.h"
#include "samples.h"

#include "perfblock/v1.h"
#include "perfblock/v2.h"

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

namespace
{

using bench::PROCESSOR_COUNTERS;

/* ---- Blocks ------------------------------------------------------------------------------------------------ */

/* A block, the number of its values and their sum, with which the results of the readers are compared. */
struct reply {
    std::vector<uint8_t> bytes;
    size_t values;
    uint64_t sum;
};

using get_reply = std::function<const reply &()>;

/* Returns a function that makes the block at its first call and returns the same block at each call, because
 * repetitions run in any order. */
get_reply make_once(const std::function<std::vector<uint8_t>(size_t)> &make, size_t count, uint32_t counters)
{
    auto shared = std::make_shared<std::unique_ptr<reply>>();
    return [=]() -> const reply & {
        if (!*shared) {
            shared->reset(new reply{make(count), count * counters, 0});
            for (size_t i = 0; i < count; i++) {
                for (uint32_t n = 0; n < counters; n++)
                    (*shared)->sum += bench::reply_value(i, n);
            }
        }
        return **shared;
    };
}

/* The location of a block before it is read: the caches of the CPU, or only memory. */
enum class place { caches, memory };

/* Supplies the bytes to read repeatedly: either one block, which stays in the caches if it fits, or enough copies of it
 * that the caches no longer contain a copy when it is read again. */
class supply
{
  public:
    supply(const reply &input, place location)
        : size_bytes(input.bytes.size()), stride((size_bytes + LINE - 1) / LINE * LINE),
          count(location == place::memory ? MORE_THAN_CACHES / stride + 1 : 1), at(count - 1), bytes(count * stride)
    {
        for (size_t i = 0; i < count; i++)
            std::memcpy(&bytes[i * stride], input.bytes.data(), size_bytes);
    }

    /* Returns the next block. */
    const uint8_t *next()
    {
        at = at + 1 == count ? 0 : at + 1;
        return &bytes[at * stride];
    }

    const size_t size_bytes, stride, count;
    size_t at; /* index of the latest block */

  private:
    static constexpr size_t LINE = 64;
    static constexpr size_t MORE_THAN_CACHES = size_t{256} << 20;
    std::vector<uint8_t> bytes;
};

/* Calls `read` repeatedly, which returns the sum of the values. A wrong sum fails the benchmark, because a reader that
 * stops early would seem fast. */
template <class Read> void measure(benchmark::State &state, const reply &input, place location, Read read)
{
    supply blocks(input, location);
    for (auto _ : state) {
        uint64_t sum = read(blocks.next(), blocks.size_bytes);
        benchmark::DoNotOptimize(sum);
        if (sum != input.sum)
            return state.SkipWithError("the sum of the values is wrong");
    }
    bench::count_items(state, input.values);
}

void measure_memcpy(benchmark::State &state, const reply &input, place location)
{
    supply blocks(input, location);
    std::vector<uint8_t> to(blocks.count * blocks.stride);
    for (auto _ : state) {
        const uint8_t *block = blocks.next();
        std::memcpy(&to[blocks.at * blocks.stride], block, blocks.size_bytes);
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
    }
    bench::count_items(state, input.values);
}

/* ---- One by one -------------------------------------------------------------------------------------------- */

uint64_t walk(const uint8_t *data, size_t size)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
    uint64_t sum = 0;
    pfb_v2_open(&reader, data, size, nullptr);
    while (pfb_v2_next_result(&reader, &result)) {
        while (pfb_v2_next_instance(&reader, &instance)) {
            while (pfb_v2_next_value(&reader, &value))
                sum += value.raw;
        }
    }
    return reader.error.code == PFB_OK ? sum : 0;
}

uint64_t walk_twin(const uint8_t *data, size_t)
{
    twin_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
    uint64_t sum = 0;
    twin_open(&reader, data);
    while (twin_next_result(&reader, &result)) {
        while (twin_next_instance(&reader, &instance)) {
            while (twin_next_value(&reader, &value))
                sum += value.raw;
        }
    }
    return sum;
}

uint64_t walk_v1(const uint8_t *data, size_t size)
{
    pfb_v1_reader reader;
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_value value;
    uint64_t sum = 0;
    pfb_v1_open(&reader, data, size, nullptr);
    while (pfb_v1_next_object(&reader, &object)) {
        while (pfb_v1_next_instance(&reader, &instance)) {
            while (pfb_v1_next_value(&reader, &value))
                sum += value.raw;
        }
    }
    return reader.error.code == PFB_OK ? sum : 0;
}

/* ---- Chosen values ----------------------------------------------------------------------------------------- */

/* The counters that an agent reads of a process: every second one up to the tenth. */
constexpr uint32_t CHOSEN_COUNTERS = 10;

uint32_t chosen_title(uint32_t i)
{
    return bench::process_counter(2 * i);
}

uint64_t find_v1(const uint8_t *data, size_t size)
{
    pfb_v1_reader reader;
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_value value;
    pfb_v1_counter counters[CHOSEN_COUNTERS];
    uint64_t sum = 0;
    pfb_v1_open(&reader, data, size, nullptr);
    if (!pfb_v1_find_object(&reader, bench::PROCESS_TITLE, &object))
        return 0;
    for (uint32_t i = 0; i < CHOSEN_COUNTERS; i++) {
        if (!pfb_v1_find_counter(&reader, chosen_title(i), &counters[i]))
            return 0;
    }
    while (pfb_v1_next_instance(&reader, &instance)) {
        for (const pfb_v1_counter &counter : counters)
            sum += pfb_v1_value_of(&reader, &counter, &value) ? value.raw : 0;
    }
    return reader.error.code == PFB_OK ? sum : 0;
}

uint64_t find_plain(const uint8_t *data, size_t)
{
    uint32_t count;
    uint64_t value;
    uint64_t sum = 0;
    const uint8_t *object = plain_v1_object(data, bench::PROCESS_TITLE);
    const uint8_t *instance = plain_v1_first_instance(object, &count);
    for (; count > 0; count--, instance = plain_v1_next_instance(instance)) {
        for (uint32_t i = 0; i < CHOSEN_COUNTERS; i++)
            sum += plain_v1_value(object, instance, chosen_title(i), &value) ? value : 0;
    }
    return sum;
}

/* Finds each value of a loaded sample by object, instance and counter. */
void look_up(benchmark::State &state, const reply &input, size_t count)
{
    pfb_sample_input block = {};
    block.data = input.bytes.data();
    block.data_size_bytes = input.bytes.size();
    pfb_sample_counts counts;
    pfb_sample table;
    pfb_sample_measure(&block, &counts);
    std::vector<uint64_t> memory(pfb_sample_size(&counts) / sizeof(uint64_t) + 1);
    pfb_sample_load(&table, &block, &counts, memory.data(), memory.size() * sizeof(uint64_t));
    pfb_sample_number_rows(&table);
    const std::vector<bench::instance> processes = bench::processes(count);
    const pfb_guid object = pfb_title_guid(bench::PROCESS_TITLE);
    for (auto _ : state) {
        uint64_t sum = 0;
        for (const bench::instance &process : processes) {
            const pfb_name name = pfb_utf16_name(process.name.data(), process.name.size());
            for (uint32_t i = 0; i < CHOSEN_COUNTERS; i++) {
                uint32_t column = pfb_sample_find_column(&table, &object, chosen_title(i), 0);
                uint32_t row = pfb_sample_find_row(&table, table.columns[column].result, &name, nullptr, 0);
                sum += pfb_sample_value_at(&table, row, column).raw;
            }
        }
        benchmark::DoNotOptimize(sum);
        if (sum != input.sum)
            return state.SkipWithError("the sum of the values is wrong");
    }
    bench::count_items(state, input.values);
}

/* Makes a block whose expected sum is that of the chosen counters. */
get_reply make_chosen(size_t count)
{
    auto shared = std::make_shared<std::unique_ptr<reply>>();
    return [=]() -> const reply & {
        if (!*shared) {
            shared->reset(new reply{bench::process_block(count), count * CHOSEN_COUNTERS, 0});
            for (size_t i = 0; i < count; i++) {
                for (uint32_t n = 0; n < CHOSEN_COUNTERS; n++)
                    (*shared)->sum += bench::reply_value(i, 2 * n);
            }
        }
        return **shared;
    };
}

template <class Read>
void add(const std::string &name, size_t count, const get_reply &input, Read read, place location = place::caches)
{
    bench::add(name, count, [=](benchmark::State &state) { measure(state, input(), location, read); });
}

void add_memcpy(const std::string &prefix, size_t count, const get_reply &input, place location = place::caches)
{
    bench::add(prefix + "/memcpy", count, [=](benchmark::State &state) { measure_memcpy(state, input(), location); });
}

void add_walks(const std::string &prefix, size_t count, const get_reply &input)
{
    add(prefix + "/walk", count, input, walk);
    add(prefix + "/twin", count, input, walk_twin);
    add_memcpy(prefix, count, input);
}

void add_v1(size_t count)
{
    const std::string prefix = "v1/process";
    get_reply input = make_once(bench::process_block, count, bench::PROCESS_COUNTERS);
    add(prefix + "/walk", count, input, walk_v1);
    add_memcpy(prefix, count, input);
    get_reply chosen = make_chosen(count);
    add("v1/chosen/find", count, chosen, find_v1);
    add("v1/chosen/plain", count, chosen, find_plain);
    bench::add("v1/chosen/look_up", count, [=](benchmark::State &state) { look_up(state, chosen(), count); });
}

/* ---- Into arrays ------------------------------------------------------------------------------------------- */

/* Checks the sum of the values of the last iteration, which is computed after the measurement. */
void require_sum(benchmark::State &state, const reply &input, uint64_t sum)
{
    if (sum != input.sum)
        return state.SkipWithError("the sum of the values is wrong");
    bench::count_items(state, input.values);
}

/* Id and name of the instance of a row. */
struct identity {
    uint32_t id;
    const uint8_t *name; /* UTF-16LE */
    size_t size_bytes;
};

/* Returns true if `name_of` returns the processors of the reply, in order, for the rows 0 to count - 1. */
template <class NameOf> bool has_names(size_t count, NameOf name_of)
{
    std::vector<bench::instance> processors = bench::processors(count);
    for (size_t i = 0; i < count; i++) {
        identity actual = name_of(i);
        std::vector<uint8_t> name = bench::utf16le(processors[i].name);
        if (actual.id != processors[i].id || actual.size_bytes != name.size() ||
            std::memcmp(actual.name, name.data(), name.size()) != 0)
            return false;
    }
    return true;
}

enum class layout { rows, columns, rows_with_instances };

/* Reads all values into an array, instance by instance (rows) or counter by counter (columns), and optionally the
 * instances. Each copy of the block has its own array of values, so that the array is in the caches only if the block
 * is. */
void measure_bulk(benchmark::State &state, const reply &input, layout order, place location)
{
    supply blocks(input, location);
    size_t count = input.values / PROCESSOR_COUNTERS;
    std::vector<uint64_t> values(blocks.count * input.values);
    std::vector<pfb_v2_instance> instances(order == layout::rows_with_instances ? count : 0);
    pfb_v2_values bulk = {};
    bulk.instances = instances.empty() ? nullptr : instances.data();
    bulk.instance_capacity = count;
    bulk.instance_step = order == layout::columns ? 1 : PROCESSOR_COUNTERS;
    bulk.position_step = order == layout::columns ? count : 1;
    for (auto _ : state) {
        pfb_v2_reader reader;
        pfb_v2_result result;
        pfb_v2_open(&reader, blocks.next(), blocks.size_bytes, nullptr);
        bulk.values = &values[blocks.at * input.values];
        pfb_v2_next_result(&reader, &result);
        pfb_v2_read_values(&reader, &bulk);
        pfb_error error = pfb_v2_finish(&reader);
        benchmark::DoNotOptimize(values.data());
        benchmark::ClobberMemory();
        if (error.code != PFB_OK || bulk.instance_count != count)
            return state.SkipWithError("the reply is refused");
    }
    if (!has_names(instances.size(), [&](size_t i) {
            const pfb_v2_instance &actual = instances[i];
            return identity{actual.id, actual.name.bytes, actual.name.size_bytes};
        }))
        return state.SkipWithError("an instance has a wrong name or id");
    require_sum(state, input, std::accumulate(bulk.values, bulk.values + input.values, uint64_t{0}));
}

void measure_typical(benchmark::State &state, const reply &input, place location)
{
    supply blocks(input, location);
    size_t capacity = input.values / PROCESSOR_COUNTERS;
    size_t count = 0;
    std::vector<typical_processor> all(blocks.count * capacity);
    const typical_processor *rows = all.data();
    for (auto _ : state) {
        const uint8_t *block = blocks.next();
        typical_processor *to = &all[blocks.at * capacity];
        bool is_read = typical_read(block, blocks.size_bytes, to, capacity, &count);
        rows = to;
        benchmark::DoNotOptimize(all.data());
        benchmark::ClobberMemory();
        if (!is_read || count != capacity)
            return state.SkipWithError("the reply is refused");
    }
    if (!has_names(count, [&](size_t i) { return identity{rows[i].id, rows[i].name, size_t{2} * rows[i].name_units}; }))
        return state.SkipWithError("an instance has a wrong name or id");
    require_sum(state, input, std::accumulate(rows, rows + count, uint64_t{0}, [](uint64_t sum, const auto &row) {
                    return sum + typical_sum(&row);
                }));
}

#if defined(PFB_BENCH_DOCUMENTED)
void measure_documented(benchmark::State &state, const reply &input)
{
    size_t capacity = input.values / PROCESSOR_COUNTERS;
    std::unique_ptr<documented_reader, void (*)(documented_reader *)> reader(documented_new(capacity),
                                                                             documented_delete);
    size_t count = 0;
    for (auto _ : state) {
        bool is_read = documented_read(reader.get(), input.bytes.data(), input.bytes.size(), &count);
        benchmark::ClobberMemory();
        if (!is_read || count != capacity)
            return state.SkipWithError("the reply is refused");
    }
    std::vector<bench::instance> processors = bench::processors(count);
    for (size_t i = 0; i < count; i++) {
        std::vector<uint8_t> name = bench::utf16le(processors[i].name + u'\0');
        for (uint32_t counter : {0U, 11U, 20U, 31U}) {
            if (documented_value(reader.get(), i, counter) != bench::reply_value(i, counter))
                return state.SkipWithError("a value is wrong");
        }
        if (std::memcmp(documented_name(reader.get(), i), name.data(), name.size()) != 0)
            return state.SkipWithError("an instance has a wrong name");
    }
    bench::count_items(state, input.values);
}
#endif

const char processor_information[] = "v2/processor_information";

void add_bulk(const std::string &name, size_t count, const get_reply &input, layout order,
              place location = place::caches)
{
    bench::add(name, count, [=](benchmark::State &state) { measure_bulk(state, input(), order, location); });
}

void add_typical(const std::string &prefix, size_t count, const get_reply &input, place location = place::caches)
{
    bench::add(prefix + "/typical", count, [=](benchmark::State &state) { measure_typical(state, input(), location); });
}

void add_counterset(size_t count)
{
    const std::string prefix = processor_information;
    get_reply input = make_once(bench::counterset_reply, count, PROCESSOR_COUNTERS);
    add_bulk(prefix + "/bulk_rows", count, input, layout::rows);
    add_bulk(prefix + "/bulk_columns", count, input, layout::columns);
    add_bulk(prefix + "/bulk_instances", count, input, layout::rows_with_instances);
    add_typical(prefix, count, input);
    add_walks(prefix, count, input);
#if defined(PFB_BENCH_DOCUMENTED)
    bench::add(prefix + "/documented", count, [=](benchmark::State &state) { measure_documented(state, input()); });
#endif
}

/* Reads blocks that are not in the caches, so that small blocks have no advantage. */
void add_from_memory(size_t count)
{
    const std::string prefix = std::string(processor_information) + "/from_memory";
    get_reply input = make_once(bench::counterset_reply, count, PROCESSOR_COUNTERS);
    add_bulk(prefix + "/bulk_rows", count, input, layout::rows, place::memory);
    add(prefix + "/walk", count, input, walk, place::memory);
    add_typical(prefix, count, input, place::memory);
    add_memcpy(prefix, count, input, place::memory);
}

} // namespace

int main(int argc, char **argv)
{
    constexpr size_t counts[] = {1, 64, 4096, 16384, 65536};
    for (size_t count : counts)
        add_counterset(count);
    for (size_t count : {size_t{64}, size_t{4096}, size_t{65536}})
        add_from_memory(count);
    for (size_t count : counts) {
        add_walks("v2/multiple_instances", count, make_once(bench::multiple_instances_reply, count, 1));
        add_walks("v2/multiple_counters", count, make_once(bench::multiple_counters_reply, count, PROCESSOR_COUNTERS));
        add_walks("v2/single_counter", count, make_once(bench::single_counter_reply, count, 1));
    }
    for (size_t count : {size_t{1}, size_t{50}, size_t{4096}, size_t{65536}})
        add_v1(count);
    return bench::run(argc, argv);
}
