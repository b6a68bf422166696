// SPDX-License-Identifier: MIT
// What reading blocks costs: V2 replies value by value and in bulk, V1 blocks value by value, beside readers that check
// less and beside copying the bytes. One program, so that they are measured in turns.
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

/* A block and the number of its values. A benchmark returns the sum of the values that it read, which must be `sum`. */
struct reply {
    std::vector<uint8_t> bytes;
    size_t values;
    uint64_t sum;
};

using get_reply = std::function<const reply &()>;

/* Made when first needed, and kept, because repetitions run in any order. */
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

/* Where the bytes come from. */
enum class place { caches, memory };

/* Supplies the bytes to read repeatedly: one block, which stays in the caches, or so many equal blocks that each has
 * left the caches when it is read again. */
class supply
{
  public:
    supply(const reply &of, place from)
        : size_bytes(of.bytes.size()), stride((size_bytes + LINE - 1) / LINE * LINE),
          count(from == place::memory ? MORE_THAN_CACHES / stride + 1 : 1), at(count - 1), bytes(count * stride)
    {
        for (size_t i = 0; i < count; i++)
            std::memcpy(&bytes[i * stride], of.bytes.data(), size_bytes);
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

/* Runs `read` repeatedly; it returns the sum of the values that it read. A rejected block fails the benchmark, because
 * it would seem fast. */
template <class Read> void measure(benchmark::State &state, const reply &of, place from, Read read)
{
    supply blocks(of, from);
    for (auto _ : state) {
        uint64_t sum = read(blocks.next(), blocks.size_bytes);
        benchmark::DoNotOptimize(sum);
        if (sum != of.sum)
            return state.SkipWithError("the values are others");
    }
    bench::count_items(state, of.values);
}

void measure_memcpy(benchmark::State &state, const reply &of, place from)
{
    supply blocks(of, from);
    std::vector<uint8_t> to(blocks.count * blocks.stride);
    for (auto _ : state) {
        const uint8_t *block = blocks.next();
        std::memcpy(&to[blocks.at * blocks.stride], block, blocks.size_bytes);
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
    }
    bench::count_items(state, of.values);
}

/* ---- One by one -------------------------------------------------------------------------------------------- */

uint64_t walk(const uint8_t *data, size_t size)
{
    pfb_v2_reader block;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
    uint64_t sum = 0;
    pfb_v2_open(&block, data, size, nullptr);
    while (pfb_v2_next_result(&block, &result)) {
        while (pfb_v2_next_instance(&block, &instance)) {
            while (pfb_v2_next_value(&block, &value))
                sum += value.raw;
        }
    }
    return block.error.code == PFB_OK ? sum : 0;
}

uint64_t walk_twin(const uint8_t *data, size_t)
{
    twin_reader block;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
    uint64_t sum = 0;
    twin_open(&block, data);
    while (twin_next_result(&block, &result)) {
        while (twin_next_instance(&block, &instance)) {
            while (twin_next_value(&block, &value))
                sum += value.raw;
        }
    }
    return sum;
}

uint64_t walk_v1(const uint8_t *data, size_t size)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_value value;
    uint64_t sum = 0;
    pfb_v1_open(&block, data, size, nullptr);
    while (pfb_v1_next_object(&block, &object)) {
        while (pfb_v1_next_instance(&block, &instance)) {
            while (pfb_v1_next_value(&block, &value))
                sum += value.raw;
        }
    }
    return block.error.code == PFB_OK ? sum : 0;
}

template <class Read>
void add(const std::string &name, size_t count, const get_reply &of, Read read, place from = place::caches)
{
    bench::add(name, count, [=](benchmark::State &state) { measure(state, of(), from, read); });
}

void add_memcpy(const std::string &prefix, size_t count, const get_reply &of, place from = place::caches)
{
    bench::add(prefix + "/memcpy", count, [=](benchmark::State &state) { measure_memcpy(state, of(), from); });
}

void add_walks(const std::string &prefix, size_t count, const get_reply &of)
{
    add(prefix + "/walk", count, of, walk);
    add(prefix + "/twin", count, of, walk_twin);
    add_memcpy(prefix, count, of);
}

void add_v1(size_t count)
{
    const std::string prefix = "v1/process";
    get_reply of = keep(bench::process_block, count, bench::PROCESS_COUNTERS);
    add(prefix + "/walk", count, of, walk_v1);
    add_memcpy(prefix, count, of);
}

/* ---- Into arrays ------------------------------------------------------------------------------------------- */

/* The values read last are summed once, after the measurement, so that summing is not measured. */
void require_sum(benchmark::State &state, const reply &of, uint64_t sum)
{
    if (sum != of.sum)
        return state.SkipWithError("the values are others");
    bench::count_items(state, of.values);
}

/* The instance that a row belongs to. */
struct named {
    uint32_t id;
    const uint8_t *name; /* UTF-16LE */
    size_t size_bytes;
};

/* Returns true if `name_of` the first `count` rows are the processors of the reply. */
template <class NameOf> bool has_names(size_t count, NameOf name_of)
{
    std::vector<bench::instance> processors = bench::processors(count);
    for (size_t i = 0; i < count; i++) {
        named found = name_of(i);
        std::vector<uint8_t> name = bench::utf16le(processors[i].name);
        if (found.id != processors[i].id || found.size_bytes != name.size() ||
            std::memcmp(found.name, name.data(), name.size()) != 0)
            return false;
    }
    return true;
}

enum class form { rows, columns, rows_with_instances };

/* Reads all values as rows, or counter by counter as columns, and optionally the instances. Each block has its own
 * arrays of values, so that these are in the same memory level as the block. */
void measure_bulk(benchmark::State &state, const reply &of, form as, place from)
{
    supply blocks(of, from);
    size_t count = of.values / PROCESSOR_COUNTERS;
    std::vector<uint64_t> values(blocks.count * of.values);
    std::vector<pfb_v2_instance> instances(as == form::rows_with_instances ? count : 0);
    pfb_v2_values bulk = {};
    bulk.instances = instances.empty() ? nullptr : instances.data();
    bulk.instance_capacity = count;
    bulk.instance_step = as == form::columns ? 1 : PROCESSOR_COUNTERS;
    bulk.position_step = as == form::columns ? count : 1;
    for (auto _ : state) {
        pfb_v2_reader block;
        pfb_v2_result result;
        pfb_v2_open(&block, blocks.next(), blocks.size_bytes, nullptr);
        bulk.values = &values[blocks.at * of.values];
        pfb_v2_next_result(&block, &result);
        pfb_v2_read_values(&block, &bulk);
        pfb_error error = pfb_v2_finish(&block);
        benchmark::DoNotOptimize(values.data());
        benchmark::ClobberMemory();
        if (error.code != PFB_OK || bulk.instance_count != count)
            return state.SkipWithError("the reply is refused");
    }
    if (!has_names(instances.size(), [&](size_t i) {
            const pfb_v2_instance &found = instances[i];
            return named{found.id, found.name.bytes, found.name.size_bytes};
        }))
        return state.SkipWithError("the instances are others");
    require_sum(state, of, std::accumulate(bulk.values, bulk.values + of.values, uint64_t{0}));
}

void measure_typical(benchmark::State &state, const reply &of, place from)
{
    supply blocks(of, from);
    size_t capacity = of.values / PROCESSOR_COUNTERS;
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
    if (!has_names(count, [&](size_t i) { return named{rows[i].id, rows[i].name, size_t{2} * rows[i].name_units}; }))
        return state.SkipWithError("the instances are others");
    require_sum(state, of, std::accumulate(rows, rows + count, uint64_t{0}, [](uint64_t sum, const auto &row) {
                    return sum + typical_sum(&row);
                }));
}

#if defined(PFB_BENCH_DOCUMENTED)
void measure_documented(benchmark::State &state, const reply &of)
{
    size_t capacity = of.values / PROCESSOR_COUNTERS;
    std::unique_ptr<documented_reader, void (*)(documented_reader *)> reader(documented_new(capacity),
                                                                             documented_delete);
    size_t count = 0;
    for (auto _ : state) {
        bool is_read = documented_read(reader.get(), of.bytes.data(), of.bytes.size(), &count);
        benchmark::ClobberMemory();
        if (!is_read || count != capacity)
            return state.SkipWithError("the reply is refused");
    }
    std::vector<bench::instance> processors = bench::processors(count);
    for (size_t i = 0; i < count; i++) {
        std::vector<uint8_t> name = bench::utf16le(processors[i].name + u'\0');
        for (uint32_t counter : {0U, 11U, 20U, 31U}) {
            if (documented_value(reader.get(), i, counter) != bench::reply_value(i, counter))
                return state.SkipWithError("the values are others");
        }
        if (std::memcmp(documented_name(reader.get(), i), name.data(), name.size()) != 0)
            return state.SkipWithError("the instances are others");
    }
    bench::count_items(state, of.values);
}
#endif

const char processor_information[] = "v2/processor_information";

void add_bulk(const std::string &name, size_t count, const get_reply &of, form as, place from = place::caches)
{
    bench::add(name, count, [=](benchmark::State &state) { measure_bulk(state, of(), as, from); });
}

void add_typical(const std::string &prefix, size_t count, const get_reply &of, place from = place::caches)
{
    bench::add(prefix + "/typical", count, [=](benchmark::State &state) { measure_typical(state, of(), from); });
}

void add_counterset(size_t count)
{
    const std::string prefix = processor_information;
    get_reply of = keep(bench::counterset_reply, count, PROCESSOR_COUNTERS);
    add_bulk(prefix + "/bulk_rows", count, of, form::rows);
    add_bulk(prefix + "/bulk_columns", count, of, form::columns);
    add_bulk(prefix + "/bulk_instances", count, of, form::rows_with_instances);
    add_typical(prefix, count, of);
    add_walks(prefix, count, of);
#if defined(PFB_BENCH_DOCUMENTED)
    bench::add(prefix + "/documented", count, [=](benchmark::State &state) { measure_documented(state, of()); });
#endif
}

/* The same from memory, so that no size has an advantage by caches. */
void add_from_memory(size_t count)
{
    const std::string prefix = std::string(processor_information) + "/from_memory";
    get_reply of = keep(bench::counterset_reply, count, PROCESSOR_COUNTERS);
    add_bulk(prefix + "/bulk_rows", count, of, form::rows, place::memory);
    add(prefix + "/walk", count, of, walk, place::memory);
    add_typical(prefix, count, of, place::memory);
    add_memcpy(prefix, count, of, place::memory);
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
        add_walks("v2/multiple_instances", count, keep(bench::multiple_instances_reply, count, 1));
        add_walks("v2/multiple_counters", count, keep(bench::multiple_counters_reply, count, PROCESSOR_COUNTERS));
        add_walks("v2/single_counter", count, keep(bench::single_counter_reply, count, 1));
    }
    for (size_t count : {size_t{1}, size_t{50}, size_t{4096}, size_t{65536}})
        add_v1(count);
    return bench::run(argc, argv);
}
