// SPDX-License-Identifier: MIT
// What reading everything else costs: V1 blocks, name tables, registrations, CPI hooks and LWP rings; and writing
// hooks.
#include "bench.h"
#include "building.h"
#include "replies.h"
#include "samples.h"

#include "perfblock/cpi_hooks.h"
#include "perfblock/legacy_block.h"
#include "perfblock/lwp.h"
#include "perfblock/name_table.h"

#include <cstring>
#include <functional>
#include <memory>

namespace
{

using bytes = std::vector<uint8_t>;
using get_bytes = std::function<const bytes &()>;

/* Made when first needed, and kept: repetitions come in any order. */
get_bytes keep(const std::function<bytes(size_t)> &make, size_t count)
{
    auto kept = std::make_shared<bytes>();
    return [=]() -> const bytes & {
        if (kept->empty())
            *kept = make(count);
        return *kept;
    };
}

/* Runs `read` over and over; it tells how many items it found. What is refused must not pass for fast. */
template <class Read> void measure(benchmark::State &state, size_t items, Read read)
{
    for (auto _ : state) {
        size_t found = read();
        benchmark::DoNotOptimize(found);
        if (found != items)
            return state.SkipWithError("not everything was read");
    }
    bench::count_items(state, items);
}

/* Adds `read`, of the kept bytes, and a copy of them beside it. */
template <class Read>
void add(const std::string &group, const std::string &what, size_t count, size_t items, const get_bytes &from,
         Read read)
{
    bench::add(group + "/" + what, count,
               [=](benchmark::State &state) { measure(state, items, [&]() { return read(from()); }); });
}

void add_memcpy(const std::string &group, size_t count, size_t items, const get_bytes &from)
{
    bench::add(group + "/memcpy", count, [=](benchmark::State &state) {
        const bytes &all = from();
        bytes to(all.size());
        for (auto _ : state) {
            std::memcpy(to.data(), all.data(), to.size());
            benchmark::DoNotOptimize(to.data());
            benchmark::ClobberMemory();
        }
        bench::count_items(state, items);
    });
}

/* ---- V1 blocks ----------------------------------------------------------------------------------------------- */

size_t walk_legacy(const bytes &from)
{
    pfb_legacy_block block;
    pfb_legacy_object object;
    pfb_legacy_instance instance;
    pfb_legacy_value value;
    size_t values = 0;
    uint64_t sum = 0;
    pfb_legacy_block_open(&block, from.data(), from.size(), 0);
    while (pfb_legacy_block_next_object(&block, &object)) {
        while (pfb_legacy_block_next_instance(&block, &instance)) {
            for (; pfb_legacy_block_next_value(&block, &value); values++)
                sum += value.raw;
        }
    }
    benchmark::DoNotOptimize(sum);
    return block.error.code == PFB_OK ? values : 0;
}

void add_legacy(size_t count)
{
    get_bytes from = keep(bench::process_block, count);
    size_t values = count * bench::PROCESS_COUNTERS;
    add("legacy_block/process", "walk", count, values, from, walk_legacy);
    add_memcpy("legacy_block/process", count, values, from);
}

/* ---- Name tables --------------------------------------------------------------------------------------------- */

size_t walk_names(const bytes &from)
{
    pfb_name_table table;
    pfb_name_entry entry;
    size_t count = 0;
    pfb_name_table_open(&table, from.data(), from.size(), 0);
    while (pfb_name_table_next(&table, &entry))
        count++;
    return table.error.code == PFB_OK ? count : 0;
}

/* Room for the index of a table of so many pairs. */
struct name_index {
    explicit name_index(size_t count) : entries(count), by_index(count), by_name(count)
    {
    }

    size_t build(const bytes &from)
    {
        pfb_name_table table;
        pfb_name_table_open(&table, from.data(), from.size(), 0);
        pfb_error error = pfb_name_index_build(&index, &table, entries.data(), by_index.data(), by_name.data(),
                                               static_cast<uint32_t>(entries.size()));
        return error.code == PFB_OK ? index.count : 0;
    }

    std::vector<pfb_name_entry> entries;
    std::vector<uint32_t> by_index, by_name;
    pfb_name_index index = {};
};

/* Every title index of the table, in their order. */
size_t find_names(name_index &of, const bytes &from)
{
    size_t found = 0;
    if (of.index.count == 0)
        of.build(from);
    for (size_t i = 0; i < of.entries.size(); i++)
        found += pfb_name_index_find(&of.index, static_cast<uint32_t>(2 * i + 1)) != nullptr;
    return found;
}

void add_names(size_t count)
{
    get_bytes from = keep(bench::name_table, count);
    add("name_table/registry", "walk", count, count, from, walk_names);
    auto kept = std::make_shared<name_index>(count);
    add("name_table/registry", "index", count, count, from, [=](const bytes &all) { return kept->build(all); });
    add("name_table/registry", "find", count, count, from, [=](const bytes &all) { return find_names(*kept, all); });
    add_memcpy("name_table/registry", count, count, from);
}

/* ---- Registrations ------------------------------------------------------------------------------------------- */

size_t find_counters(const bytes &from)
{
    pfb_registration registration;
    pfb_counter counter;
    size_t found = 0;
    pfb_registration_open(&registration, from.data(), from.size(), 0);
    for (uint32_t i = 0; i < registration.counter_count; i++)
        found += pfb_registration_find(&registration, i, &counter);
    return found;
}

/* Counters with the ids 0, 1 ... */
bytes registration_of(size_t count)
{
    return bench::build([=](pfb_builder *builder) {
        pfb_guid guid = {};
        pfb_builder_counterset(builder, &guid, 100, PFB_INSTANCES_MULTIPLE, static_cast<uint32_t>(count));
        pfb_counter counter = {};
        counter.type = 0x10410500;
        for (counter.id = 0; counter.id < count; counter.id++)
            pfb_builder_counter(builder, &counter);
    });
}

void add_registration(size_t count)
{
    get_bytes from = keep(registration_of, count);
    add("registration/ascending", "find", count, count, from, find_counters);
    add_memcpy("registration/ascending", count, count, from);
}

/* ---- CPI hooks ----------------------------------------------------------------------------------------------- */

/* A measurement of so many CPUs, scaled, and what writing it needs. */
struct measurement {
    explicit measurement(size_t count) : cpus(count)
    {
        std::vector<pfb_cpi_cpu> first(count), second(count);
        for (size_t i = 0; i < count; i++) {
            first[i].cpu = second[i].cpu = static_cast<uint32_t>(i);
            second[i].instr = 1000000 + 7919 * i;
            second[i].cycles = 2500000;
            second[i].busy = 1200000 + i;
            second[i].elapsed = 2500000;
        }
        pfb_cpi_snapshot start = {}, end = {};
        start.cpus = first.data();
        end.cpus = second.data();
        start.cpu_count = end.cpu_count = count;
        end.clock = 2500000;
        pfb_cpi_widths widths = {64, 64};
        bench::require(pfb_cpi_compute(&start, &end, &widths, PFB_CPI_SCALED, cpus.data(), &result) == PFB_CPI_COMPUTED,
                       "the counters are refused");
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

bytes hooks_of(size_t count)
{
    measurement of(count);
    bytes none;
    bytes out(of.write(none));
    of.write(out);
    return out;
}

/* All figures of the processors hook of every group. */
size_t read_hooks(const bytes &from)
{
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_stored stored;
    size_t count = 0;
    pfb_cpi_hooks_open(&hooks, from.data(), from.size(), nullptr);
    while (pfb_cpi_hooks_next(&hooks, &group)) {
        for (uint32_t i = 0; i < group.cpu_count; i++)
            count += pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_PROCESSORS_HOOK, i, &stored);
    }
    return hooks.error.code == PFB_OK ? count : 0;
}

void add_hooks(size_t count)
{
    get_bytes from = keep(hooks_of, count);
    add("cpi_hooks/labelled", "read", count, count, from, read_hooks);
    auto kept = std::make_shared<measurement>(count);
    auto out = std::make_shared<bytes>();
    add("cpi_hooks/labelled", "write", count, count, from, [=](const bytes &all) {
        out->resize(all.size());
        return kept->write(*out) == all.size() ? count : 0;
    });
    add_memcpy("cpi_hooks/labelled", count, count, from);
}

/* ---- LWP rings ----------------------------------------------------------------------------------------------- */

size_t read_ring(const bytes &from)
{
    pfb_lwp_snapshot snapshot;
    pfb_lwp_capabilities capabilities;
    pfb_lwp lwp;
    pfb_lwp_event event;
    size_t count = 0;
    pfb_lwp_snapshot_read(from.data(), from.size(), &snapshot);
    pfb_lwp_capabilities_read(snapshot.eax, snapshot.ebx, snapshot.ecx, snapshot.edx, &capabilities);
    pfb_lwp_open(&lwp, &capabilities, from.data() + snapshot.control_offset, snapshot.control_size,
                 from.data() + snapshot.ring_offset, snapshot.ring_size, 0);
    while (pfb_lwp_next(&lwp, &event))
        count++;
    return lwp.error.code == PFB_OK ? count : 0;
}

void add_ring(size_t count)
{
    get_bytes from = keep(bench::lwp_snapshot, count);
    add("lwp/ring", "read", count, count, from, read_ring);
    add_memcpy("lwp/ring", count, count, from);
}

} // namespace

int main(int argc, char **argv)
{
    constexpr size_t counts[] = {1, 50, 4096, 65536};
    for (size_t count : counts)
        add_legacy(count);
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
