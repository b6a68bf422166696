// SPDX-License-Identifier: MIT
// Measures frames: a .blg in memory becomes the displayed values of each sample, as arrays.
#include "baselines.h"
#include "bench.h"

#include "perfblock/collect.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace
{

using bytes = std::vector<uint8_t>;

constexpr uint64_t FREQUENCY = 2725536; /* of the performance clock */
constexpr uint64_t SECOND = 10000000;
constexpr uint64_t LOCAL = 130057734178440000; /* of the first sample; UTC is 8 hours later */
constexpr uint64_t UTC = LOCAL + 8 * 3600 * SECOND;
constexpr size_t BUFFER_BYTES = 65536;
constexpr size_t PART_BYTES = 8000;

/* The counters of the log, in rotation. */
struct counter {
    uint32_t type;
    plain_log_path plain;
};

constexpr counter COUNTERS[] = {{0x10410400, {PLAIN_RATE, FREQUENCY}},          /* PERF_COUNTER_COUNTER */
                                {0x21510500, {PLAIN_INVERSE_PERCENT, SECOND}},  /* PERF_100NSEC_TIMER_INV */
                                {0x00010000, {PLAIN_RAW, 0}},                   /* PERF_COUNTER_RAWCOUNT */
                                {0x30020400, {PLAIN_AVERAGE_TIME, FREQUENCY}}}; /* PERF_AVERAGE_TIMER */

uint64_t second_value(size_t number, uint64_t tick)
{
    const uint64_t values[] = {FREQUENCY * tick, UTC + SECOND * tick, 0, 3 * tick};
    return values[number % 4];
}

uint64_t first_value(size_t number, uint64_t tick)
{
    return (number + 1) * 70 * tick + number;
}

template <class Number> void put(bytes &to, Number number)
{
    const size_t at = to.size();
    to.resize(at + sizeof number);
    std::memcpy(&to[at], &number, sizeof number);
}

void put_text(bytes &to, const std::string &text)
{
    for (char c : text)
        put(to, static_cast<uint16_t>(c));
    put(to, uint16_t{0});
}

void pad(bytes &to)
{
    to.resize((to.size() + 7) / 8 * 8);
}

template <class Number> void set(bytes &in, size_t at, Number number)
{
    std::memcpy(&in[at], &number, sizeof number);
}

/* ---- The log ------------------------------------------------------------------------------------------------ */

/* The buffers of a log. */
class log_writer
{
  public:
    log_writer()
    {
        begin_buffer();
        bytes head(0x58 + 16);
        set(head, 2, uint16_t{0xC002});
        set(head, 4, static_cast<uint16_t>(head.size() + 172));
        set(head, 0x10, UTC);
        set(head, 0x20, static_cast<uint32_t>(BUFFER_BYTES));
        set(head, 0x24, uint16_t{0x0206});
        set(head, 0x30, UTC);
        set(head, 0x4C, uint32_t{8});
        bytes zone(172);
        set(zone, 0, int32_t{480});
        head.insert(head.end(), zone.begin(), zone.end());
        append(head);
        begin_buffer();
    }

    void add(uint32_t type, const bytes &record, uint64_t time)
    {
        static const uint8_t guid[16] = {0xB3, 0x3B, 0x3F, 0x93, 0x3E, 0x94, 0x0D, 0x49,
                                         0x9C, 0xED, 0x3C, 0xBB, 0x14, 0xC1, 0x44, 0x79};
        const size_t parts = (record.size() + PART_BYTES - 1) / PART_BYTES;
        for (size_t part = 0; part < parts; part++) {
            const size_t begin = part * PART_BYTES;
            const size_t end = begin + PART_BYTES < record.size() ? begin + PART_BYTES : record.size();
            bytes event(0x48);
            set(event, 0, static_cast<uint16_t>(0x48 + end - begin));
            set(event, 2, uint16_t{0xC014});
            set(event, 4, static_cast<uint16_t>(type));
            set(event, 0x10, time);
            std::memcpy(&event[0x18], guid, sizeof guid);
            set(event, 0x40, static_cast<uint32_t>(part + 1));
            set(event, 0x44, static_cast<uint32_t>(parts));
            event.insert(event.end(), record.begin() + static_cast<std::ptrdiff_t>(begin),
                         record.begin() + static_cast<std::ptrdiff_t>(end));
            append(event);
        }
    }

    bytes finish()
    {
        set(all, 0x48 + 0x44, static_cast<uint32_t>(all.size() / BUFFER_BYTES));
        return all;
    }

  private:
    void begin_buffer()
    {
        buffer = all.size();
        all.resize(buffer + BUFFER_BYTES);
        set(all, buffer, static_cast<uint32_t>(BUFFER_BYTES));
        used = 0x48;
        set(all, buffer + 0x30, static_cast<uint32_t>(used));
    }

    void append(const bytes &event)
    {
        const size_t size = (event.size() + 7) / 8 * 8;
        if (used + size > BUFFER_BYTES)
            begin_buffer();
        std::memcpy(&all[buffer + used], event.data(), event.size());
        used += size;
        set(all, buffer + 0x30, static_cast<uint32_t>(used));
    }

    bytes all;
    size_t buffer = 0, used = 0;
};

/* A log, its paths, and what a correct reader computes. */
struct input {
    bytes log;
    std::vector<plain_log_path> paths;
    size_t samples, values; /* values: of each sample */
};

/* Makes a log of `samples` samples. Each path has the instances of a wildcard if `instances` is not 0, else one value.
 */
input make_log(size_t path_count, size_t instances, size_t samples)
{
    input made{{}, {}, samples, path_count * (instances > 0 ? instances : 1)};
    log_writer writer;
    bytes paths;
    put(paths, uint64_t{0x00020008000006FF});
    for (size_t n = 0; n < path_count; n++) {
        const counter &c = COUNTERS[n % 4];
        bytes texts;
        uint32_t at[4];
        const std::string names[] = {"\\\\SERVER01", "Object " + std::to_string(instances > 0 ? 0 : n / 20),
                                     instances > 0 ? "*" : "instance " + std::to_string(n % 20),
                                     "Counter " + std::to_string(instances > 0 ? n : n % 7)};
        for (size_t i = 0; i < 4; i++) {
            at[i] = static_cast<uint32_t>(texts.size());
            put_text(texts, names[i]);
        }
        const size_t begin = paths.size();
        put(paths, uint32_t{0});
        put(paths, uint32_t{instances > 0 ? PFB_LOG_ALL_INSTANCES : 0});
        put(paths, uint32_t{0});
        put(paths, c.type);
        put(paths, c.plain.frequency);
        put(paths, int32_t{0});
        for (uint32_t offset : {at[0], at[1], at[2], UINT32_MAX, uint32_t{0}, at[3]})
            put(paths, offset);
        paths.insert(paths.end(), texts.begin(), texts.end());
        pad(paths);
        set(paths, begin, static_cast<uint32_t>(paths.size() - begin));
        made.paths.push_back(c.plain);
    }
    writer.add(PFB_LOG_PATHS, paths, LOCAL);
    for (uint64_t tick = 1; tick <= samples; tick++) {
        bytes sample;
        const uint64_t time = LOCAL + SECOND * tick;
        put(sample, uint64_t{0x00034C42});
        for (size_t n = 0; n < path_count; n++) {
            const size_t begin = sample.size();
            const uint32_t kind = instances > 0 ? PFB_LOG_INSTANCES : PFB_LOG_COUNTER;
            put(sample, uint32_t{0x00034C42 | kind << 24});
            put(sample, uint32_t{0});
            if (instances == 0) {
                put(sample, uint32_t{0});
                put(sample, time);
                put(sample, uint32_t{0});
                put(sample, first_value(n, tick));
                put(sample, second_value(n, tick));
                put(sample, uint64_t{1});
            } else {
                put(sample, uint32_t{0});
                put(sample, static_cast<uint32_t>(instances));
                put(sample, uint64_t{0});
                put(sample, time);
                bytes names;
                for (size_t i = 0; i < instances; i++) {
                    put(sample, static_cast<uint32_t>(24 + 24 * instances + names.size()));
                    put(sample, uint32_t{0});
                    put(sample, first_value(n + 4 * i, tick));
                    put(sample, second_value(n, tick));
                    put_text(names, "process " + std::to_string(i));
                }
                sample.insert(sample.end(), names.begin(), names.end());
            }
            pad(sample);
            set(sample, begin + 4, static_cast<uint32_t>(sample.size() - begin));
        }
        set(sample, 4, static_cast<uint32_t>(sample.size()));
        writer.add(PFB_LOG_SAMPLE, sample, time);
    }
    made.log = writer.finish();
    return made;
}

/* ---- Readers ------------------------------------------------------------------------------------------------ */

/* Adds up the values of the second sample and of those after it, and counts them. */
struct sum {
    size_t samples = 0;
    double total = 0;
};

void add_values(sum &to, const double *values, size_t count)
{
    if (to.samples++ == 0)
        return;
    for (size_t i = 0; i < count; i++)
        to.total += values[i];
}

sum read_frames(const input &source)
{
    sum result;
    pfb_stream *stream = pfb_stream_new();
    pfb_collector *collector = pfb_collector_new();
    pfb_frame frame = {};
    frame.size = sizeof frame;
    pfb_input memory = {};
    memory.size = sizeof memory;
    memory.label = "log";
    memory.data = source.log.data();
    memory.byte_count = source.log.size();
    pfb_stream_add(stream, &memory);
    while (pfb_collector_read(collector, stream) == PFB_NEXT_RECORD && pfb_collector_frame(collector, &frame))
        add_values(result, frame.values, frame.count);
    pfb_collector_close(collector);
    pfb_stream_close(stream);
    return result;
}

sum read_plain(const input &source)
{
    sum result;
    bytes record(source.values * 128 + 4096);
    std::vector<uint64_t> first(source.values), second(source.values);
    std::vector<double> values(source.values);
    plain_log log = {source.paths.data(), record.data(), first.data(), second.data(), values.data(), 0};
    plain_log_read(
        &log, source.log.data(), source.log.size(),
        [](void *context, const plain_log *now) { add_values(*static_cast<sum *>(context), now->values, now->count); },
        &result);
    return result;
}

/* Returns true if both readers read all samples, and their sums differ by rounding only. */
bool agree(const input &source)
{
    const sum a = read_frames(source);
    const sum b = read_plain(source);
    const double difference = a.total > b.total ? a.total - b.total : b.total - a.total;
    return a.samples == source.samples && b.samples == source.samples && difference <= 1e-9 * b.total;
}

template <class Read>
void add(const std::string &name, size_t count, const std::shared_ptr<input> &source, size_t instances, Read read)
{
    bench::add(name, count, [=](benchmark::State &state) {
        if (source->log.empty())
            *source = make_log(instances > 0 ? 8 : count, instances, 200);
        if (!agree(*source))
            return state.SkipWithError("the values are wrong");
        for (auto _ : state) {
            sum result = read(*source);
            benchmark::DoNotOptimize(result);
        }
        bench::count_items(state, source->samples * source->values);
    });
}

} // namespace

int main(int argc, char **argv)
{
    auto counters = std::make_shared<input>();
    add("frames/blg_counters/collect", 200, counters, 0, read_frames);
    add("frames/blg_counters/plain", 200, counters, 0, read_plain);
    auto instances = std::make_shared<input>();
    add("frames/blg_instances/collect", 64, instances, 64, read_frames);
    add("frames/blg_instances/plain", 64, instances, 64, read_plain);
    return bench::run(argc, argv);
}
