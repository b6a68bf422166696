/* SPDX-License-Identifier: MIT */
#ifndef PFB_BENCH_REPLIES_H
#define PFB_BENCH_REPLIES_H

/* Valid input for the benchmarks of readers: V2 replies, V1 blocks, name tables and LWP rings. */
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench
{

/* Number of values per instance of Processor Information: one for each id from 0 to 31. */
constexpr uint32_t PROCESSOR_COUNTERS = 32;

/* Returns the raw value of an instance's counter at `position`, so that a benchmark can compute the expected sum. */
uint64_t reply_value(size_t instance, uint32_t position);

/* Return V2 replies. counterset_reply (kind 6): Processor Information with `count` processors. multiple_instances_reply
 * (kind 4): one counter of `count` processes. multiple_counters_reply (kind 2): `count` results with 32 counters each.
 * single_counter_reply (kind 1): `count` results with one counter each. */
std::vector<uint8_t> counterset_reply(size_t count);
std::vector<uint8_t> multiple_instances_reply(size_t count);
std::vector<uint8_t> multiple_counters_reply(size_t count);
std::vector<uint8_t> single_counter_reply(size_t count);

/* Returns a V1 block with the object Process: PROCESS_COUNTERS counters and `count` instances. */
constexpr uint32_t PROCESS_COUNTERS = 27;
constexpr uint32_t PROCESS_TITLE = 230;

/* Returns the title index of a counter of this object. */
constexpr uint32_t process_counter(uint32_t position)
{
    return 1000 + 2 * position;
}
std::vector<uint8_t> process_block(size_t count);

/* name_table returns a V1 name table as stored in the registry, with `count` pairs. title_index and title_name return
 * the two parts of the pair at `position`. */
uint32_t title_index(size_t position);
std::u16string title_name(size_t position);
std::vector<uint8_t> name_table(size_t count);

/* lwp_snapshot returns a snapshot of an LWP ring with `count` unread records. ring_record returns the record at
 * `position`. */
struct lwp_record {
    uint8_t id;
    uint64_t address, data2, stamp;
};
lwp_record ring_record(size_t position);
std::vector<uint8_t> lwp_snapshot(size_t count);

} // namespace bench

#endif
