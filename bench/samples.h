/* SPDX-License-Identifier: MIT */
#ifndef PFB_BENCH_SAMPLES_H
#define PFB_BENCH_SAMPLES_H

/* Input for the benchmarks of samples: V2 replies, and the samples loaded from them. */
#include "perfblock/sample.h"
#include "perfblock/write.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench
{

struct instance {
    uint32_t id;
    std::u16string name;
};

/* Return instances named as in Processor Information ("0,17") and as in a set of processes ("chrome#12"). */
std::vector<instance> processors(size_t count);
std::vector<instance> processes(size_t count);

/* A counterset with its registration. */
struct counterset {
    pfb_guid guid;
    std::vector<uint8_t> registration_bytes;
    std::vector<pfb_counter> counters;
};

/* Return Processor Information with all counters of known type, including bases; and a counterset with one counter. */
counterset processor_information();
counterset one_counter();

/* A V2 reply with its query information, and the sample loaded from it. Cannot be copied: the sample points into it. */
class sample
{
  public:
    /* Makes a reply with one result: all counters of the set for these instances, after `tick` seconds. */
    sample(const counterset &set, const std::vector<instance> &instances, unsigned tick);
    sample(const sample &) = delete;
    sample &operator=(const sample &) = delete;

    /* Computes the size and loads the sample, as for a new reply. Returns false if the reply is refused. */
    bool load();

    /* Save the loaded sample and restore it, because matching changes samples. */
    void save();
    void restore();

    size_t block_bytes() const
    {
        return block.size();
    }

    const uint8_t *block_data() const
    {
        return block.data();
    }

    pfb_sample_input input = {};
    pfb_sample table = {};

  private:
    std::vector<uint8_t> block, query_info;
    std::vector<uint8_t> registration_bytes;
    pfb_registration registration = {};
    size_t memory_bytes = 0;
    std::unique_ptr<std::byte[]> memory, saved_memory;
    pfb_sample saved = {};
};

/* Returns the number of values of a sample: for each result its rows times its columns. */
inline size_t count_values(const pfb_sample &table)
{
    size_t count = 0;
    for (uint32_t r = 0; r < table.counts.results; r++)
        count += size_t{table.results[r].row_count} * table.results[r].column_count;
    return count;
}

} // namespace bench

#endif
