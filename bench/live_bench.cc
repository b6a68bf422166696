// SPDX-License-Identifier: MIT
// Measures samples of this machine while many processes exist: collecting a sample from the kernel, and decoding it.
#include "bench.h"

#include "perfblock/catalog.h"
#include "perfblock/live.h"
#include "perfblock/query.h"
#include "perfblock/sample.h"
#include "perfblock/source.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace
{

/* ---- Processes ---------------------------------------------------------------------------------------------- */

/* Starts child processes that sleep. They end when this object is destroyed or the program ends. */
class sleepers
{
  public:
    explicit sleepers(size_t count)
    {
        pid_t self = getpid();
        while (pids.size() < count) {
            pid_t pid = fork();
            if (pid == 0)
                sleep_while_parent_runs(self);
            if (pid < 0)
                break;
            pids.push_back(pid);
        }
    }

    sleepers(const sleepers &) = delete;
    sleepers &operator=(const sleepers &) = delete;

    ~sleepers()
    {
        for (pid_t pid : pids)
            kill(pid, SIGKILL);
        for (pid_t pid : pids)
            waitpid(pid, nullptr, 0);
    }

    size_t count() const
    {
        return pids.size();
    }

  private:
    [[noreturn]] static void sleep_while_parent_runs(pid_t parent)
    {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == parent) /* false if the parent ended before the call of prctl */
            pause();
        _exit(0);
    }

    std::vector<pid_t> pids;
};

/* ---- Samples ------------------------------------------------------------------------------------------------ */

struct byte_buffer : pfb_bytes {
    byte_buffer() : pfb_bytes()
    {
    }
    byte_buffer(const byte_buffer &) = delete;
    byte_buffer &operator=(const byte_buffer &) = delete;
    ~byte_buffer()
    {
        pfb_bytes_free(this);
    }
};

constexpr const char PROCESS_GUID[] = "1f7fa1a8-dbc6-481d-86ef-099145b39080";

pfb_guid process_guid()
{
    pfb_guid guid = {};
    pfb_guid_parse(PROCESS_GUID, sizeof PROCESS_GUID - 1, &guid);
    return guid;
}

/* A live source with a query for all counters of all CPUs and for the given counters of all processes. An empty list
 * means all counters of processes. */
class live
{
  public:
    explicit live(const std::vector<uint32_t> &process_counters)
    {
        source = pfb_source_open_live(nullptr);
        query = source ? pfb_source_query_open(source, nullptr) : nullptr;
        const pfb_guid &processor = pfb_catalog_set_at(0)->guid;
        is_open = query && add(processor, PFB_NO_ID) && read_registration(processor, 0) &&
                  read_registration(process_guid(), 1);
        for (uint32_t counter : process_counters)
            is_open = is_open && add(process_guid(), counter);
        if (process_counters.empty())
            is_open = is_open && add(process_guid(), PFB_NO_ID);
        is_open = is_open && pfb_source_query_info(query, &info, nullptr);
    }

    live(const live &) = delete;
    live &operator=(const live &) = delete;

    ~live()
    {
        pfb_source_query_close(query);
        pfb_source_close(source);
    }

    bool collect(pfb_bytes *bytes)
    {
        return is_open && pfb_source_query_collect(query, bytes, nullptr);
    }

    pfb_sample_input input(const pfb_bytes &bytes) const
    {
        pfb_sample_input result = {};
        result.data = bytes.data;
        result.data_size_bytes = bytes.size_bytes;
        result.query_info = info.data;
        result.query_info_size_bytes = info.size_bytes;
        result.registrations = registrations;
        result.registration_count = 2;
        return result;
    }

  private:
    bool add(const pfb_guid &set, uint32_t counter)
    {
        uint8_t block[64];
        pfb_query wanted = {};
        wanted.counterset = set;
        wanted.counter_id = counter;
        wanted.instance_id = PFB_NO_ID;
        wanted.name = pfb_utf8_name("*", 1);
        size_t size = pfb_query_write(&wanted, block, sizeof block);
        pfb_list list;
        pfb_identifier identifier;
        if (!pfb_source_query_add(query, block, size, nullptr))
            return false;
        pfb_list_open(&list, block, size, nullptr);
        return pfb_list_next_identifier(&list, &identifier) && identifier.status == PFB_WIN32_SUCCESS;
    }

    bool read_registration(const pfb_guid &set, size_t i)
    {
        return pfb_source_registration(source, &set, PFB_REQUEST_COUNTERSET, 0, &registration_bytes[i], nullptr) &&
               pfb_registration_open(&registrations[i], registration_bytes[i].data, registration_bytes[i].size_bytes,
                                     nullptr);
    }

    pfb_source *source = nullptr;
    pfb_source_query *query = nullptr;
    bool is_open = false;
    byte_buffer info;
    byte_buffer registration_bytes[2];
    pfb_registration registrations[2] = {};
};

/* A sample that owns its memory, which is reused by the next load. */
class loaded_sample
{
  public:
    bool load(const pfb_sample_input &input)
    {
        pfb_sample_counts counts;
        if (pfb_sample_measure(&input, &counts).code != PFB_OK)
            return false;
        size_t needed = pfb_sample_size(&counts);
        if (needed > size) {
            memory = std::make_unique<std::byte[]>(needed);
            size = needed;
        }
        return pfb_sample_load(&sample, &input, &counts, memory.get(), size).code == PFB_OK;
    }

    pfb_sample sample = {};

  private:
    size_t size = 0;
    std::unique_ptr<std::byte[]> memory;
};

/* ---- Benchmarks --------------------------------------------------------------------------------------------- */

/* Returns the number of process rows that have this program's name and a valid processor time. Each sleeping child has
 * such a row. */
size_t count_sleepers(const pfb_sample &newer, const std::vector<uint8_t> &status_bytes)
{
    static const char16_t own_name[] = u"live_bench";
    constexpr size_t units = sizeof own_name / 2 - 1;
    size_t count = 0;
    for (uint32_t i = 0; i < newer.counts.rows; i++) {
        const pfb_sample_row &row = newer.rows[i];
        uint32_t column = newer.results[row.result].first_column;
        bool has_processor_time = row.value_count > 0 && newer.columns[column].counter_id == 0;
        if (has_processor_time && row.name.size_bytes == 2 * units &&
            std::memcmp(row.name.bytes, own_name, 2 * units) == 0)
            count += (status_bytes[pfb_sample_place(&newer, i, column)] & PFB_STATUS_BYTE_CODE) == PFB_STATUS_OK;
    }
    return count;
}

/* Measures collecting a sample. An item is one sample, regardless of the number of processes in it. */
void measure_collect(benchmark::State &state, const std::vector<uint32_t> &counters)
{
    live machine(counters);
    byte_buffer bytes;
    for (auto _ : state) {
        if (!machine.collect(&bytes)) {
            state.SkipWithError("the source collected no sample");
            break;
        }
    }
    bench::count_items(state, 1);
}

/* Measures loading the newer of two samples, matching it with the older one, and evaluating all of its values. An item
 * is one sample. */
void measure_decode(benchmark::State &state, const std::vector<uint32_t> &counters, size_t processes)
{
    live machine(counters);
    byte_buffer bytes[2];
    loaded_sample older;
    loaded_sample newer;
    bool is_loaded = machine.collect(&bytes[0]) && usleep(20000) == 0 && machine.collect(&bytes[1]) &&
                     older.load(machine.input(bytes[0])) && newer.load(machine.input(bytes[1]));
    std::vector<double> values(is_loaded ? newer.sample.counts.values : 0);
    std::vector<uint8_t> status_bytes(values.size());
    for (auto _ : state) {
        is_loaded = is_loaded && newer.load(machine.input(bytes[1]));
        if (!is_loaded) {
            state.SkipWithError("a sample could not be collected or loaded");
            break;
        }
        pfb_sample_match(&older.sample, &newer.sample, nullptr, 0);
        pfb_sample_cook(&older.sample, &newer.sample, nullptr, 0, nullptr, values.data(), status_bytes.data(),
                        values.size());
        benchmark::ClobberMemory();
    }
    if (is_loaded && count_sleepers(newer.sample, status_bytes) < processes)
        state.SkipWithError("the sample has fewer sleeping processes than were started");
    bench::count_items(state, 1);
}

/* Opens a file, reads it to its end and ignores its contents. Returns false if it cannot be opened. */
bool read_file(int folder, const char *name, std::vector<char> *buffer)
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    while (read(file, buffer->data(), buffer->size()) > 0) {
    }
    close(file);
    return true;
}

/* Baseline of collecting: reads one file of each process and the file of all CPUs without parsing them, to measure the
 * cost of the kernel. */
void measure_collect_baseline(benchmark::State &state, size_t processes)
{
    std::vector<char> buffer(1 << 16);
    DIR *folder = opendir("/proc");
    if (!folder) {
        state.SkipWithError("/proc cannot be listed");
        return;
    }
    for (auto _ : state) {
        size_t count = 0;
        rewinddir(folder);
        read_file(dirfd(folder), "stat", &buffer);
        while (const dirent *entry = readdir(folder)) {
            char name[300];
            if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
                continue;
            std::snprintf(name, sizeof name, "%s/stat", entry->d_name);
            count += read_file(dirfd(folder), name, &buffer);
        }
        if (count < processes) {
            state.SkipWithError("/proc lists fewer processes than were started");
            break;
        }
    }
    closedir(folder);
    bench::count_items(state, 1);
}

void add_live(const std::string &name, const std::vector<uint32_t> &counters, size_t processes)
{
    bench::add("live/collect/" + name, processes, [=](benchmark::State &state) { measure_collect(state, counters); });
    bench::add("live/decode/" + name, processes,
               [=](benchmark::State &state) { measure_decode(state, counters, processes); });
}

} // namespace

int main(int argc, char **argv)
{
    constexpr size_t PROCESSES = 500;
    const std::vector<uint32_t> four_counters = {0, 4, 6, 11}; /* processor time, working set, threads, id */
    sleepers children(PROCESSES);
    if (children.count() < PROCESSES) {
        std::perror("cannot start the sleeping processes");
        return 1;
    }
    add_live("four_counters", four_counters, PROCESSES);
    add_live("all_counters", {}, PROCESSES);
    bench::add("live/collect/plain", PROCESSES,
               [](benchmark::State &state) { measure_collect_baseline(state, PROCESSES); });
    return bench::run(argc, argv);
}
