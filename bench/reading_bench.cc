// SPDX-License-Identifier: MIT
// Measures reading name tables, registrations, CPI hooks and LWP rings, and writing CPI hooks.
#include "bench.h"
#include "building.h"
#include "replies.h"
#include "samples.h"

#include "perfblock/cpi/hooks.h"
#include "perfblock/lwp/lwp.h"
#include "perfblock/v1.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

namespace
{

using bytes = std::vector<uint8_t>;

/* An input, the number of its items (such as names or records), and the sum that a correct reader computes from it. */
struct input {
    bytes all;
    size_t items;
    uint64_t sum;
};

using get_input = std::function<const input &()>;

/* Returns a function that makes the input at its first call and returns the same input at each call, because
 * repetitions run in any order. `expected_sum(count)` computes the sum without reading the bytes. */
get_input make_once(const std::function<bytes(size_t)> &make, const std::function<uint64_t(size_t)> &expected_sum,
                    size_t count, size_t items)
{
    auto shared = std::make_shared<std::unique_ptr<input>>();
    return [=]() -> const input & {
        if (!*shared)
            shared->reset(new input{make(count), items, expected_sum(count)});
        return **shared;
    };
}

/* Calls `read` repeatedly, which returns the sum of the values. A wrong sum fails the benchmark, because a reader that
 * stops early would seem fast. */
template <class Read> void measure(benchmark::State &state, const input &source, Read read)
{
    for (auto _ : state) {
        uint64_t sum = read(source.all);
        benchmark::DoNotOptimize(sum);
        if (sum != source.sum)
            return state.SkipWithError("the sum of the values is wrong");
    }
    bench::count_items(state, source.items);
}

/* Calls `fill` repeatedly, which makes an output and returns true on success. `is_correct` checks the output of the
 * last iteration, after the measurement. */
template <class Fill, class Check>
void measure_filling(benchmark::State &state, const input &source, Fill fill, Check is_correct)
{
    for (auto _ : state) {
        bool is_filled = fill(source.all);
        benchmark::ClobberMemory();
        if (!is_filled)
            return state.SkipWithError("the input was refused");
    }
    if (!is_correct(source))
        return state.SkipWithError("the output is wrong");
    bench::count_items(state, source.items);
}

/* Adds a benchmark that reads the input. */
template <class Read>
void add(const std::string &group, const std::string &what, size_t count, const get_input &get, Read read)
{
    bench::add(group + "/" + what, count, [=](benchmark::State &state) { measure(state, get(), read); });
}

/* Adds the baseline: a copy of the input. */
void add_memcpy(const std::string &group, size_t count, const get_input &get)
{
    bench::add(group + "/memcpy", count, [=](benchmark::State &state) {
        const bytes &all = get().all;
        bytes to(all.size());
        for (auto _ : state) {
            std::memcpy(to.data(), all.data(), to.size());
            benchmark::DoNotOptimize(to.data());
            benchmark::ClobberMemory();
        }
        bench::count_items(state, get().items);
    });
}

/* ---- Name tables --------------------------------------------------------------------------------------------- */

/* A checksum of an entry: index, size of the name and its offset in the table. */
uint64_t checksum(const pfb_name_entry &entry, const bytes &table)
{
    return entry.index + entry.name.size_bytes + static_cast<size_t>(entry.name.bytes - table.data());
}

/* The sum of the checksums, computed from the layout in the registry: for each name the index as text, NUL, the name,
 * NUL. */
uint64_t names_sum(size_t count)
{
    uint64_t sum = 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = bench::title_index(i);
        size_t size = 2 * bench::title_name(i).size();
        at += 2 * (std::to_string(index).size() + 1);
        sum += index + size + at;
        at += size + 2;
    }
    return sum;
}

uint64_t walk_names(const bytes &data)
{
    pfb_name_table table;
    pfb_name_entry entry;
    uint64_t sum = 0;
    pfb_name_table_open(&table, data.data(), data.size(), nullptr);
    while (pfb_name_table_next_entry(&table, &entry))
        sum += checksum(entry, data);
    return table.error.code == PFB_OK ? sum : 0;
}

/* An index of a name table, with the arrays that it uses. The entries of a table are pairs of a title index and a name.
 */
struct name_index {
    explicit name_index(size_t count) : entries(count), by_index(count), by_name(count)
    {
    }

    bool build(const bytes &data)
    {
        pfb_name_table table;
        pfb_name_table_open(&table, data.data(), data.size(), nullptr);
        pfb_error error = pfb_name_index_build(&index, &table, entries.data(), by_index.data(), by_name.data(),
                                               static_cast<uint32_t>(entries.size()));
        return error.code == PFB_OK;
    }

    /* Returns true if the index contains every entry and both orders are correct. In the table itself, title indexes
     * ascend, so the order by title index is 0, 1, 2 ... */
    bool is_correct(const input &expected) const
    {
        uint64_t sum = 0;
        for (const pfb_name_entry &entry : entries)
            sum += checksum(entry, expected.all);
        std::vector<std::u16string> names;
        for (size_t i = 0; i < expected.items; i++)
            names.push_back(bench::title_name(i));
        std::vector<uint32_t> order(expected.items);
        std::iota(order.begin(), order.end(), 0);
        if (index.count != expected.items || sum != expected.sum || by_index != order)
            return false;
        std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return names[a] < names[b]; });
        return by_name == order;
    }

    std::vector<pfb_name_entry> entries;
    std::vector<uint32_t> by_index, by_name;
    pfb_name_index index = {};
};

/* Looks up every title index of the table in ascending order. Builds the index if it is empty. */
uint64_t find_names(name_index &names, const bytes &data)
{
    uint64_t sum = 0;
    if (names.index.count == 0)
        names.build(data);
    for (size_t i = 0; i < names.entries.size(); i++) {
        const pfb_name_entry *entry = pfb_name_index_find(&names.index, bench::title_index(i));
        if (entry == nullptr)
            return 0;
        sum += checksum(*entry, data);
    }
    return sum;
}

void add_names(size_t count)
{
    get_input get = make_once(bench::name_table, names_sum, count, count);
    add("name_table/registry", "walk", count, get, walk_names);
    auto shared = std::make_shared<name_index>(count);
    bench::add("name_table/registry/index", count, [=](benchmark::State &state) {
        measure_filling(
            state, get(), [&](const bytes &all) { return shared->build(all); },
            [&](const input &expected) { return shared->is_correct(expected); });
    });
    add("name_table/registry", "find", count, get, [=](const bytes &all) { return find_names(*shared, all); });
    add_memcpy("name_table/registry", count, get);
}

/* ---- Registrations ------------------------------------------------------------------------------------------- */

/* Returns a counter of the registration. Its base id is arbitrary, because nothing here looks it up; it differs between
 * counters, so that the sum detects a wrong counter. */
pfb_counter make_counter(uint32_t id)
{
    pfb_counter counter = {};
    counter.id = id;
    counter.type = 0x10410500; /* PERF_COUNTER_BULK_COUNT */
    counter.base_id = 7919 * id + 1;
    return counter;
}

uint64_t checksum(const pfb_counter &counter)
{
    return uint64_t{counter.id} + counter.type + counter.base_id;
}

uint64_t counters_sum(size_t count)
{
    uint64_t sum = 0;
    for (uint32_t id = 0; id < count; id++)
        sum += checksum(make_counter(id));
    return sum;
}

uint64_t find_counters(const bytes &data)
{
    pfb_registration registration;
    pfb_counter counter;
    uint64_t sum = 0;
    pfb_registration_open(&registration, data.data(), data.size(), nullptr);
    for (uint32_t i = 0; i < registration.counter_count; i++) {
        if (!pfb_registration_find(&registration, i, &counter))
            return 0;
        sum += checksum(counter);
    }
    return sum;
}

bytes make_registration(size_t count)
{
    return bench::build([=](pfb_writer *builder) {
        pfb_guid guid = {};
        pfb_write_counterset(builder, &guid, 100, PFB_INSTANCES_MULTIPLE, static_cast<uint32_t>(count));
        for (uint32_t id = 0; id < count; id++) {
            pfb_counter counter = make_counter(id);
            pfb_write_counter(builder, &counter);
        }
    });
}

void add_registration(size_t count)
{
    get_input get = make_once(make_registration, counters_sum, count, count);
    add("registration/ascending", "find", count, get, find_counters);
    add_memcpy("registration/ascending", count, get);
}

/* ---- CPI hooks ----------------------------------------------------------------------------------------------- */

/* Cycles of every CPU between the two snapshots. The clock that measures busy time advances by the same number. */
constexpr uint64_t CYCLES = 2500000;

pfb_cpi_cpu make_cpu(size_t position)
{
    pfb_cpi_cpu cpu = {};
    cpu.cpu = static_cast<uint32_t>(position);
    cpu.instr = 1000000 + 7919 * position;
    cpu.cycles = CYCLES;
    cpu.busy = 1200000 + position;
    cpu.elapsed = CYCLES;
    return cpu;
}

/* The result of measuring `count` CPUs in scaled mode, and a function that writes it as hooks. */
struct measurement {
    explicit measurement(size_t count) : cpus(count)
    {
        std::vector<pfb_cpi_cpu> first(count), second(count);
        for (size_t i = 0; i < count; i++) {
            first[i].cpu = static_cast<uint32_t>(i);
            second[i] = make_cpu(i);
        }
        pfb_cpi_snapshot start = {}, end = {};
        start.cpus = first.data();
        end.cpus = second.data();
        start.cpu_count = end.cpu_count = count;
        end.clock = CYCLES;
        pfb_cpi_widths widths = {64, 64};
        bench::require(pfb_cpi_compute(&start, &end, &widths, PFB_CPI_SCALED, cpus.data(), &result) == PFB_CPI_COMPUTED,
                       "pfb_cpi_compute refuses the snapshots");
        identity.forms = PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED;
        identity.label = "benchmark";
        identity.label_size_bytes = 9;
    }

    size_t write(bytes &out) const
    {
        size_t size = 0;
        pfb_code code = pfb_cpi_hooks_write(&result, cpus.data(), &identity, out.data(), out.size(), &size);
        return code == PFB_OK || code == PFB_CALLER_TOO_SMALL ? size : 0;
    }

    std::vector<pfb_cpi_figures> cpus;
    pfb_cpi_result result = {};
    pfb_cpi_identity identity = {};
};

bytes make_hooks(size_t count)
{
    measurement source(count);
    bytes none;
    bytes out(source.write(none));
    source.write(out);
    return out;
}

/* Hooks store a quotient as its integral part and 4 decimal places, rounded half up. Returns the sum of the integral
 * part and of the decimal places as an integer. */
uint64_t words_sum(uint64_t numerator, uint64_t denominator)
{
    uint64_t places = (20000 * numerator + denominator) / (2 * denominator);
    return places / 10000 + places % 10000;
}

uint64_t words_sum(const pfb_cpi_words &words)
{
    return uint64_t{words.integral} + words.fraction;
}

/* The expected sum of read_hooks. Since `cycles` and `elapsed` of a CPU are equal, its scaled cycles are equal to
 * `busy`. */
uint64_t hooks_sum(size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        pfb_cpi_cpu cpu = make_cpu(i);
        sum += cpu.instr + cpu.cycles + cpu.busy;
        sum += words_sum(cpu.cycles, cpu.instr) + words_sum(cpu.busy, cpu.instr) + words_sum(100 * cpu.busy, CYCLES);
    }
    return sum;
}

/* Returns the sum of all counts and figures in the processors hooks of all groups. */
uint64_t read_hooks(const bytes &data)
{
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_stored stored;
    uint64_t sum = 0;
    pfb_cpi_hooks_open(&hooks, data.data(), data.size(), nullptr);
    while (pfb_cpi_hooks_next(&hooks, &group)) {
        for (uint32_t i = 0; i < group.cpu_count; i++) {
            if (!pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_PROCESSORS_HOOK, i, &stored))
                return 0;
            sum += stored.instr + stored.cycles + stored.scaled_cycles;
            sum += words_sum(stored.cpi) + words_sum(stored.scaled_cpi) + words_sum(stored.busy);
        }
    }
    return hooks.error.code == PFB_OK ? sum : 0;
}

void add_hooks(size_t count)
{
    get_input get = make_once(make_hooks, hooks_sum, count, count);
    add("cpi_hooks/labelled", "read", count, get, read_hooks);
    auto shared = std::make_shared<measurement>(count);
    bench::add("cpi_hooks/labelled/write", count, [=](benchmark::State &state) {
        bytes out(get().all.size());
        measure_filling(
            state, get(), [&](const bytes &all) { return shared->write(out) == all.size(); },
            [&](const input &expected) { return read_hooks(out) == expected.sum; });
    });
    add_memcpy("cpi_hooks/labelled", count, get);
}

/* ---- LWP rings ----------------------------------------------------------------------------------------------- */

uint64_t ring_sum(size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        bench::lwp_record record = bench::ring_record(i);
        sum += record.id + record.address + record.data2 + record.stamp;
    }
    return sum;
}

uint64_t read_ring(const bytes &data)
{
    pfb_lwp_snapshot snapshot;
    pfb_lwp_capabilities capabilities;
    pfb_lwp lwp;
    pfb_lwp_event event;
    uint64_t sum = 0;
    pfb_lwp_snapshot_read(data.data(), data.size(), &snapshot);
    pfb_lwp_capabilities_read(snapshot.eax, snapshot.ebx, snapshot.ecx, snapshot.edx, &capabilities);
    pfb_lwp_open(&lwp, &capabilities, data.data() + snapshot.control_offset, snapshot.control_size,
                 data.data() + snapshot.ring_offset, snapshot.ring_size, nullptr);
    while (pfb_lwp_next(&lwp, &event))
        sum += event.id + event.address + event.data2 + event.stamp;
    return lwp.error.code == PFB_OK ? sum : 0;
}

void add_ring(size_t count)
{
    get_input get = make_once(bench::lwp_snapshot, ring_sum, count, count);
    add("lwp/ring", "read", count, get, read_ring);
    add_memcpy("lwp/ring", count, get);
}

} // namespace

int main(int argc, char **argv)
{
    constexpr size_t counts[] = {1, 50, 4096, 65536};
    for (size_t count : counts)
        add_names(count);
    for (size_t count : counts)
        add_ring(count);
    for (size_t count : {size_t{1}, size_t{32}, size_t{256}})
        add_registration(count);
    for (size_t count : {size_t{1}, size_t{64}, size_t{1024}})
        add_hooks(count);
    return bench::run(argc, argv);
}
