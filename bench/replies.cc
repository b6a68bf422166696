// SPDX-License-Identifier: MIT
#include "replies.h"

#include "building.h"
#include "samples.h"

#include "perfblock/formula.h"
#include "perfblock/lwp/lwp.h"
#include "perfblock/write.h"

namespace bench
{

uint64_t reply_value(size_t instance, uint32_t position)
{
    return 1000 * (instance + 1) + position; /* fits 4 bytes for up to 4 million instances */
}

namespace
{

/* ---- V2 ---------------------------------------------------------------------------------------------------- */

constexpr size_t SECOND = 10000000; /* in ticks of the performance clock (10 MHz) */

struct layout {
    std::vector<uint32_t> ids, sizes;
};

/* Returns the ids and sizes of the values. The 31 counters of the counterset have ids from 0 to 31, of which one is not
 * used; the reply has a value of 8 bytes for that id, too. */
layout processor_layout()
{
    layout made;
    for (uint32_t id = 0; id < PROCESSOR_COUNTERS; id++) {
        made.ids.push_back(id);
        made.sizes.push_back(8);
    }
    for (const pfb_counter &counter : processor_information().counters) {
        require(counter.id < PROCESSOR_COUNTERS, "a counter's id is above 31");
        made.sizes[counter.id] = (counter.type & PFB_TYPE_SIZE_MASK) == 0 ? 4 : 8;
    }
    return made;
}

pfb_write_times sample_times()
{
    pfb_write_times times = {};
    times.perf_time = static_cast<int64_t>(SECOND);
    times.perf_time_100ns = INT64_C(133591987500000000);
    times.perf_freq = static_cast<int64_t>(SECOND);
    return times;
}

void add_values(pfb_writer *builder, const layout &counters, size_t instance)
{
    for (uint32_t i = 0; i < counters.ids.size(); i++)
        pfb_write_value(builder, reply_value(instance, i), counters.sizes[i]);
}

void add_instance(pfb_writer *builder, const instance &source)
{
    std::vector<uint8_t> utf16 = utf16le(source.name);
    pfb_name name = pfb_utf16_name(utf16.data(), source.name.size());
    pfb_write_instance(builder, source.id, &name);
}

/* Returns a reply whose results are written by `fill`. */
template <class Fill> std::vector<uint8_t> build_reply(Fill fill)
{
    return build([&](pfb_writer *builder) {
        pfb_write_times times = sample_times();
        pfb_write_begin_v2(builder, &times);
        fill(builder);
        pfb_write_end_v2(builder);
    });
}

} // namespace

std::vector<uint8_t> counterset_reply(size_t count)
{
    layout counters = processor_layout();
    std::vector<instance> instances = processors(count);
    return build_reply([&](pfb_writer *builder) {
        pfb_write_begin_result(builder, PFB_V2_COUNTERSET, 0, counters.ids.data(), PROCESSOR_COUNTERS);
        for (size_t i = 0; i < count; i++) {
            add_instance(builder, instances[i]);
            add_values(builder, counters, i);
        }
        pfb_write_end_result(builder);
    });
}

std::vector<uint8_t> multiple_instances_reply(size_t count)
{
    std::vector<instance> instances = processes(count);
    return build_reply([&](pfb_writer *builder) {
        pfb_write_begin_result(builder, PFB_V2_MULTIPLE_INSTANCES, 0, nullptr, 0);
        for (size_t i = 0; i < count; i++) {
            add_instance(builder, instances[i]);
            pfb_write_value(builder, reply_value(i, 0), 8);
        }
        pfb_write_end_result(builder);
    });
}

std::vector<uint8_t> multiple_counters_reply(size_t count)
{
    layout counters = processor_layout();
    return build_reply([&](pfb_writer *builder) {
        for (size_t i = 0; i < count; i++) {
            pfb_write_begin_result(builder, PFB_V2_MULTIPLE_COUNTERS, 0, counters.ids.data(), PROCESSOR_COUNTERS);
            add_values(builder, counters, i);
            pfb_write_end_result(builder);
        }
    });
}

std::vector<uint8_t> single_counter_reply(size_t count)
{
    return build_reply([&](pfb_writer *builder) {
        for (size_t i = 0; i < count; i++) {
            pfb_write_begin_result(builder, PFB_V2_SINGLE_COUNTER, 0, nullptr, 0);
            pfb_write_value(builder, reply_value(i, 0), 8);
            pfb_write_end_result(builder);
        }
    });
}

/* ---- V1 ---------------------------------------------------------------------------------------------------- */

namespace
{

/* Types that occur in Process, in rotation: PERF_100NSEC_TIMER, PERF_COUNTER_LARGE_RAWCOUNT, PERF_COUNTER_BULK_COUNT,
 * PERF_COUNTER_RAWCOUNT and PERF_ELAPSED_TIME. */
uint32_t process_type(uint32_t position)
{
    static const uint32_t types[] = {0x20510500, 0x00010100, 0x10410500, 0x00010000, 0x30240500};
    return types[position % 5];
}

uint32_t value_size(uint32_t type)
{
    return (type & PFB_TYPE_SIZE_MASK) == 0 ? 4 : 8;
}

std::vector<uint32_t> add_definitions(pfb_writer *builder)
{
    std::vector<uint32_t> offsets;
    for (uint32_t i = 0; i < PROCESS_COUNTERS; i++) {
        pfb_v1_counter counter = {};
        counter.title_index = process_counter(i);
        counter.detail_level = 100;
        counter.type = process_type(i);
        counter.size_bytes = value_size(counter.type);
        offsets.push_back(pfb_write_definition(builder, &counter));
    }
    return offsets;
}

void add_process(pfb_writer *builder, const instance &source, const std::vector<uint32_t> &offsets, size_t position)
{
    std::vector<uint8_t> name = utf16le(source.name);
    pfb_v1_instance v1 = {};
    v1.name = pfb_utf16_name(name.data(), source.name.size());
    v1.unique_id = PFB_V1_NO_UNIQUE_ID;
    pfb_write_v1_instance(builder, &v1);
    for (uint32_t i = 0; i < PROCESS_COUNTERS; i++)
        pfb_write_v1_value(builder, offsets[i], reply_value(position, i), value_size(process_type(i)));
}

} // namespace

std::vector<uint8_t> process_block(size_t count)
{
    std::vector<instance> instances = processes(count);
    return build([&](pfb_writer *builder) {
        pfb_write_times times = sample_times();
        pfb_v1_object object = {};
        object.title_index = PROCESS_TITLE;
        object.detail_level = 100;
        object.default_counter = -1;
        object.perf_freq = static_cast<int64_t>(SECOND);
        pfb_name system = pfb_utf8_name("MACHINE", 7);
        pfb_write_begin_v1(builder, &times, &system, false);
        pfb_write_begin_object(builder, &object);
        std::vector<uint32_t> offsets = add_definitions(builder);
        for (size_t i = 0; i < count; i++)
            add_process(builder, instances[i], offsets, i);
        pfb_write_end_object(builder);
        pfb_write_end_v1(builder);
    });
}

uint32_t title_index(size_t position)
{
    return static_cast<uint32_t>(2 * position + 1);
}

std::u16string title_name(size_t position)
{
    return widen("Counter " + std::to_string(position * 7919 % 1000003) + "/sec");
}

std::vector<uint8_t> name_table(size_t count)
{
    return build([&](pfb_writer *builder) {
        for (size_t i = 0; i < count; i++) {
            std::u16string text = title_name(i);
            std::vector<uint8_t> bytes = utf16le(text);
            pfb_name name = pfb_utf16_name(bytes.data(), text.size());
            pfb_write_name(builder, title_index(i), &name);
        }
        pfb_write_end_names(builder);
    });
}

/* ---- LWP ----------------------------------------------------------------------------------------------------- */

namespace
{

void store(std::vector<uint8_t> &bytes, size_t at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[at + i] = static_cast<uint8_t>(value >> 8 * i);
}

/* Lightweight Profiling: the LWPCB has 128 bytes, its pairs of interval and counter begin at offset 80. Events 1 to 6
 * are implemented and enabled; a ring must have at least 32 records of 32 bytes. */
constexpr uint32_t EVENTS = 6;
constexpr uint32_t CONTROL_QUADS = 16, PAIRS_AT = 80;
constexpr uint32_t FEATURES = PFB_LWP_AVAILABLE | 0x7E /* events 1 to 6 */ | PFB_LWP_TIME_STAMPS;
constexpr uint32_t VERSION_1_RING_32 = 1 << 9 /* version */ | 1 << 16 /* units of 32 records */;

} // namespace

lwp_record ring_record(size_t position)
{
    return {static_cast<uint8_t>(1 + position % EVENTS), 0x400000 + 16 * position, reply_value(position, 0), position};
}

std::vector<uint8_t> lwp_snapshot(size_t count)
{
    pfb_lwp_capabilities capabilities;
    pfb_lwp_capabilities_read(FEATURES, CONTROL_QUADS | PFB_LWP_RECORD_BYTES << 8 | EVENTS << 16 | PAIRS_AT << 24,
                              VERSION_1_RING_32, FEATURES, &capabilities);
    size_t slots = count < 32 ? 33 : count + 1; /* a ring has at least one free slot */
    std::vector<uint8_t> control(capabilities.control_bytes), ring(slots * PFB_LWP_RECORD_BYTES);
    store(control, PFB_LWP_AT_FLAGS, FEATURES & ~PFB_LWP_AVAILABLE, 4);
    store(control, PFB_LWP_AT_BUFFER_SIZE, ring.size(), 4);
    store(control, PFB_LWP_AT_BUFFER_BASE, 0x10000, 8);
    store(control, PFB_LWP_AT_HEAD, count * PFB_LWP_RECORD_BYTES, 4);
    for (size_t i = 0; i < count; i++) {
        size_t at = i * PFB_LWP_RECORD_BYTES;
        lwp_record record = ring_record(i);
        store(ring, at, record.id, 1);
        store(ring, at + 8, record.address, 8);
        store(ring, at + 16, record.data2, 8);
        store(ring, at + 24, record.stamp, 8);
    }
    std::vector<uint8_t> out(
        pfb_lwp_snapshot_write(&capabilities, control.data(), control.size(), ring.data(), ring.size(), nullptr, 0));
    pfb_lwp_snapshot_write(&capabilities, control.data(), control.size(), ring.data(), ring.size(), out.data(),
                           out.size());
    return out;
}

} // namespace bench
