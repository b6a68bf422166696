// SPDX-License-Identifier: MIT
#include "samples.h"

#include "building.h"
#include "perfblock/catalog.h"

#include <cstring>

namespace bench
{

namespace
{

/* ---- Values ------------------------------------------------------------------------------------------------ */

constexpr uint64_t SECOND = 10000000; /* ticks, of both clocks */

/* The raw value of a counter after `tick` seconds: realistic numbers that can be evaluated. Instances differ and grow
 * at different rates. */
uint64_t raw_value(const pfb_counter &counter, size_t instance, unsigned tick)
{
    uint64_t start = 1000 * (instance + 1) + counter.id;
    uint64_t rate = 1 + (instance * 7919 + counter.id * 104729) % 9999;
    if (counter.type == 0x40030500) /* the time stamp of a precision timer */
        return start + tick * SECOND;
    return pfb_counter_type_is_base(counter.type) ? start + tick * 100 : start + tick * rate;
}

uint32_t value_bytes(uint32_t type)
{
    return (type & PFB_TYPE_SIZE_MASK) == 0 ? 4 : 8;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------ */

void write_instances(pfb_writer *builder, const counterset &set, const std::vector<instance> &instances, unsigned tick)
{
    for (size_t i = 0; i < instances.size(); i++) {
        std::vector<uint8_t> utf16 = utf16le(instances[i].name);
        pfb_name name = pfb_utf16_name(utf16.data(), instances[i].name.size());
        pfb_write_instance(builder, instances[i].id, &name);
        for (const pfb_counter &counter : set.counters)
            pfb_write_value(builder, raw_value(counter, instances[i].id, tick), value_bytes(counter.type));
    }
}

void write_block(pfb_writer *builder, const counterset &set, const std::vector<instance> &instances, unsigned tick)
{
    std::vector<uint32_t> ids;
    for (const pfb_counter &counter : set.counters)
        ids.push_back(counter.id);
    pfb_write_times times = {};
    times.perf_time = static_cast<int64_t>(tick * SECOND);
    times.perf_time_100ns = INT64_C(133591987500000000) + static_cast<int64_t>(tick * SECOND);
    times.perf_freq = static_cast<int64_t>(SECOND);
    pfb_write_begin_v2(builder, &times);
    pfb_write_begin_result(builder, PFB_V2_COUNTERSET, 0, ids.data(), static_cast<uint32_t>(ids.size()));
    write_instances(builder, set, instances, tick);
    pfb_write_end_result(builder);
    pfb_write_end_v2(builder);
}

/* Writes a query for all counters of all instances. */
void write_query(pfb_writer *builder, const counterset &set)
{
    pfb_query query = {};
    query.counterset = set.guid;
    query.counter_id = PFB_NO_ID;
    query.instance_id = PFB_NO_ID;
    query.name = pfb_utf8_name("*", 1);
    pfb_write_identifier(builder, &query);
}

void read_counters(counterset *set)
{
    pfb_registration registration;
    pfb_counter counter;
    require(
        pfb_registration_open(&registration, set->registration_bytes.data(), set->registration_bytes.size(), nullptr),
        "the registration is refused");
    set->guid = registration.guid;
    for (uint32_t n = 0; pfb_registration_counter_at(&registration, n, &counter); n++)
        set->counters.push_back(counter);
}

} // namespace

/* ---- Countersets and instances ------------------------------------------------------------------------------- */

counterset processor_information()
{
    counterset set = {};
    set.registration_bytes = build(
        [](pfb_writer *builder) { pfb_catalog_registration(pfb_catalog_set_at(0), PFB_REQUEST_COUNTERSET, builder); });
    read_counters(&set);
    return set;
}

counterset one_counter()
{
    counterset set = {};
    set.registration_bytes = build([](pfb_writer *builder) {
        pfb_guid guid = {};
        guid.bytes[0] = 1;
        pfb_counter counter = {};
        counter.id = 1;
        counter.type = 0x10410500; /* PERF_COUNTER_BULK_COUNT */
        counter.base_id = counter.perf_time_id = counter.perf_freq_id = counter.multi_id = PFB_NO_ID;
        pfb_write_counterset(builder, &guid, 100, PFB_INSTANCES_MULTIPLE, 1);
        pfb_write_counter(builder, &counter);
    });
    read_counters(&set);
    return set;
}

std::vector<instance> processors(size_t count)
{
    enum { NODE = 64 };
    std::vector<instance> made;
    for (size_t i = 0; i < count; i++)
        made.push_back({static_cast<uint32_t>(i), widen(std::to_string(i / NODE) + "," + std::to_string(i % NODE))});
    return made;
}

std::vector<instance> processes(size_t count)
{
    static const char *const programs[] = {"chrome", "svchost", "conhost", "RuntimeBroker", "sqlservr"};
    std::vector<instance> made;
    for (size_t i = 0; i < count; i++) {
        std::string name = programs[i % 5];
        if (i >= 5)
            name += "#" + std::to_string(i / 5);
        made.push_back({static_cast<uint32_t>(1000 + 4 * i), widen(name)});
    }
    return made;
}

/* ---- Samples --------------------------------------------------------------------------------------------------- */

sample::sample(const counterset &set, const std::vector<instance> &instances, unsigned tick)
    : registration_bytes(set.registration_bytes)
{
    block = build([&](pfb_writer *builder) { write_block(builder, set, instances, tick); });
    query_info = build([&](pfb_writer *builder) { write_query(builder, set); });
    require(pfb_registration_open(&registration, registration_bytes.data(), registration_bytes.size(), nullptr),
            "the registration is refused");
    input.data = block.data();
    input.data_size_bytes = block.size();
    input.query_info = query_info.data();
    input.query_info_size_bytes = query_info.size();
    input.registrations = &registration;
    input.registration_count = 1;
    pfb_sample_counts counts;
    pfb_sample_measure(&input, &counts);
    memory_bytes = pfb_sample_size(&counts);
    memory = std::make_unique<std::byte[]>(memory_bytes);
    require(load() && table.counts.rows == instances.size(), "the block is refused");
}

bool sample::load()
{
    pfb_sample_counts counts;
    return pfb_sample_measure(&input, &counts).code == PFB_OK && pfb_sample_size(&counts) <= memory_bytes &&
           pfb_sample_load(&table, &input, &counts, memory.get(), memory_bytes).code == PFB_OK;
}

void sample::save()
{
    saved_memory = std::make_unique<std::byte[]>(memory_bytes);
    std::memcpy(saved_memory.get(), memory.get(), memory_bytes);
    saved = table;
}

void sample::restore()
{
    std::memcpy(memory.get(), saved_memory.get(), memory_bytes);
    table = saved;
}

} // namespace bench
