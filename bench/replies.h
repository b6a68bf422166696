/* SPDX-License-Identifier: MIT */
#ifndef PFB_BENCH_REPLIES_H
#define PFB_BENCH_REPLIES_H

/* Bytes for the benchmarks of decoding: as Windows, a processor or a trace would give them, and sound throughout. */
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench
{

/* Values of an instance of Processor Information, those that are no number of everyday use included: ids 0 to 31. */
constexpr uint32_t PROCESSOR_COUNTERS = 32;

/* Raw value of the counter at `position` of an instance: what a reader must find. */
uint64_t reply_value(size_t instance, uint32_t position);

/* V2 replies. Kind 6: Processor Information of `count` processors. Kind 4: one counter of as many processes. Kinds 1
 * and 2: as many results, of one counter and of 32. */
std::vector<uint8_t> counterset_reply(size_t count);
std::vector<uint8_t> multiple_instances_reply(size_t count);
std::vector<uint8_t> multiple_counters_reply(size_t count);
std::vector<uint8_t> single_counter_reply(size_t count);

/* A V1 block with the object Process: 27 counters and `count` instances. */
constexpr uint32_t PROCESS_COUNTERS = 27;
std::vector<uint8_t> process_block(size_t count);

/* A V1 name table in the registry's form, of `count` pairs; and the pair at `position`. */
uint32_t title_index(size_t position);
std::u16string title_name(size_t position);
std::vector<uint8_t> name_table(size_t count);

/* The ring of LWP with `count` unread records, as a snapshot in one piece; and the record at `position`. */
struct lwp_record {
    uint8_t id;
    uint64_t address, data2, stamp;
};
lwp_record ring_record(size_t position);
std::vector<uint8_t> lwp_snapshot(size_t count);

} // namespace bench

#endif
