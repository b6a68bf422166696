/* SPDX-License-Identifier: MIT */
#ifndef PFB_BENCH_SAMPLES_H
#define PFB_BENCH_SAMPLES_H

/* Samples for the benchmarks of snapshots and pairing: blocks as a provider would send them, and their snapshots. */
#include "perfblock/cook.h"
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

/* Instances as Processor Information names them ("0,17") and as a set of processes does ("chrome#12"). */
std::vector<instance> processors(size_t count);
std::vector<instance> processes(size_t count);

/* A counterset, with the registration its provider would give. */
struct counterset {
    pfb_guid guid;
    std::vector<uint8_t> registration_bytes;
    std::vector<pfb_counter> counters;
};

/* Processor Information with all its counters of known type, bases included; and a set of one counter. */
counterset processor_information();
counterset one_counter();

/* A data block with its query information, and the snapshot of it. Stays where it is: the snapshot points into it. */
class sample
{
  public:
    /* One result: all counters of the set for these instances, after `tick` seconds. */
    sample(const counterset &set, const std::vector<instance> &instances, unsigned tick);
    sample(const sample &) = delete;
    sample &operator=(const sample &) = delete;

    /* Measures and loads, as for a sample that has just arrived; false when the block is refused. */
    bool load();

    /* Keeps what was loaded, and brings it back: a match changes its snapshots. */
    void keep();
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
    pfb_sample snapshot = {};

  private:
    std::vector<uint8_t> block, query_info;
    std::vector<uint8_t> registration_bytes;
    pfb_registration registration = {};
    size_t memory_bytes = 0;
    std::unique_ptr<std::byte[]> memory, kept_memory;
    pfb_sample kept = {};
};

} // namespace bench

#endif
