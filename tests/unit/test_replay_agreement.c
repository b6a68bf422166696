/* SPDX-License-Identifier: MIT */
/* A replayed capture has the same replies as the recorded machine. The test makes the same random calls to a live
 * source, whose files do not change, and to a recording of all its countersets. */
#include <criterion/criterion.h>

#include "machine.h"
#include "perfblock/query.h"
#include "perfblock/v2.h"
#include "support.h"
#include "support_capture.h"
#include "support_readers.h"
#include "support_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 40, CALLS = 6000, SETS = 12 };

static const pfb_guid *const sets[SETS] = {&processor_guid, &nodeless_processor_guid,
                                           &system_guid,    &memory_guid,
                                           &disk_guid,      &interface_guid,
                                           &tcp4_guid,      &udp4_guid,
                                           &udp6_guid,      &swap_guid,
                                           &process_guid,   &thread_guid};

/* ---- The machine ------------------------------------------------------------------------------------------ */

static void put_process(unsigned pid, const char *name)
{
    char path[64];
    char text[256];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    snprintf(
        text, sizeof text,
        "%u (%s) S 1 2 3 34816 -1 4194304 30 31 5 32 700 50 33 34 20 -5 4 0 900 8388608 25 18446744073709551615 1 1 "
        "0\n",
        pid, name);
    put_file(path, text);
    snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, pid);
    put_file(path, text);
    snprintf(path, sizeof path, "/proc/%u/io", pid);
    put_file(path, "rchar: 100\nwchar: 200\nsyscr: 3\nsyscw: 4\nread_bytes: 9\nwrite_bytes: 9\n");
}

static void put_machine(void)
{
    make_machine();
    put_everything();
    put_file("/proc/stat", STAT "ctxt 700\nprocesses 9\n");
    put_file("/proc/meminfo", "MemTotal: 90 kB\nMemAvailable: 9 kB\nMemFree: 2 kB\nCached: 1 kB\n");
    put_file("/proc/diskstats", "8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n8 16 sdb 1 0 0 9 1 0 0 1 0 0 0\n");
    put_file("/sys/block/sda/device/model", "A\n");
    put_file("/sys/block/sdb/device/model", "B\n");
    put_file("/proc/net/dev", "Inter-|\n face |\nlo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
                              "eth0: 21 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    put_file("/sys/class/net/lo/ifindex", "1\n");
    put_file("/sys/class/net/eth0/ifindex", "7\n");
    put_file("/proc/net/snmp", "Tcp: InSegs OutSegs\nTcp: 1 2\nUdp: NoPorts InErrors\nUdp: 3 4\n");
    put_file("/proc/net/snmp6", "Udp6NoPorts 5\n");
    put_file("/proc/swaps", "/swap file 9 1 0\n/dev/dm-1 partition 99 11 0\n");
    put_process(1, "init");
    put_process(42, "bash");
    put_process(43, "bash");
    put_file("/proc/self/stat", "42 (bash) S 1");
    put_file("/proc/self/io", "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\n");
}

TestSuite(replay_agreement, .init = put_machine, .fini = remove_machine);

/* ---- The recording ---------------------------------------------------------------------------------------- */

static uint32_t instance_type_of(pfb_source *source, const pfb_guid *set)
{
    pfb_bytes reply = {0};
    pfb_registration registration;
    cr_assert(pfb_source_registration(source, set, PFB_REQUEST_COUNTERSET, 0, &reply, NULL));
    cr_assert(pfb_registration_open(&registration, reply.data, reply.size_bytes, STRICT));
    pfb_bytes_free(&reply);
    return registration.instance_type;
}

/* Records a counterset. Request codes 2, 9 and 10 are not recorded, as their replies can be derived from others. */
static void record_set(pfb_bytes *capture, pfb_source *source, const pfb_guid *set)
{
    pfb_bytes reply = {0};
    for (uint32_t request = 1; request <= 8; request++) {
        const pfb_chunk chunk = {.tag = PFB_TAG_REGISTRATION, .guid = *set, .request = request};
        if (request == PFB_REQUEST_COUNTER)
            continue;
        cr_assert(pfb_source_registration(source, set, request, 0, &reply, NULL));
        append_chunk(capture, &chunk, reply.data, reply.size_bytes);
    }
    const pfb_chunk list = {.tag = PFB_TAG_INSTANCES, .guid = *set};
    if (pfb_source_instances(source, set, &reply, NULL))
        append_chunk(capture, &list, reply.data, reply.size_bytes);
    pfb_bytes_free(&reply);
}

static pfb_bytes record(pfb_source *source)
{
    pfb_bytes capture = {0};
    pfb_bytes reply = {0};
    const pfb_chunk first = {.tag = PFB_TAG_CAPTURE};
    const pfb_chunk info = {.tag = PFB_TAG_QUERY_INFO};
    const pfb_chunk data = {.tag = PFB_TAG_DATA};
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    append_chunk(&capture, &first, reply.data, reply.size_bytes);
    for (size_t i = 0; i < SETS; i++) {
        use_counterset(sets[i]);
        record_set(&capture, source, sets[i]);
        bool is_single = instance_type_of(source, sets[i]) == 0;
        cr_assert_eq(add_to(query, is_single ? NULL : "*", PFB_NO_ID, PFB_NO_ID), PFB_WIN32_SUCCESS, "set %zu", i);
    }
    cr_assert(pfb_source_query_info(query, &reply, NULL));
    append_chunk(&capture, &info, reply.data, reply.size_bytes);
    for (int i = 0; i < SAMPLES; i++) {
        cr_assert(pfb_source_query_collect(query, &reply, NULL));
        append_chunk(&capture, &data, reply.data, reply.size_bytes);
    }
    pfb_source_query_close(query);
    pfb_bytes_free(&reply);
    return capture;
}

/* ---- Random calls ----------------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
    return random_below(&random_state, limit);
}

static uint32_t any_of(const uint32_t *values, size_t count)
{
    return values[below((uint32_t)count)];
}

#define ANY_OF(values) any_of(values, sizeof values / sizeof values[0])

static pfb_guid random_set(void)
{
    pfb_guid set = *sets[below(SETS)];
    if (below(20) == 0)
        set.bytes[15] ^= 1;
    return set;
}

static uint32_t random_counter(void)
{
    return below(3) == 0 ? PFB_NO_ID : below(33);
}

static size_t random_block(uint8_t *out, size_t capacity)
{
    static const char *const names[] = {
        "*",   "*",   "",    "0,0",  "0,1", "3,5",  "?,?",  "0,_Total", "0,_TOTAL", "_total", "_Tot*", "none", "*none",
        "sd?", "sda", "*b*", "eth0", "?o",  "BASH", "bash", "init",     "**",       "?*",     "0 sda", "*1*",  "1"};
    static const uint32_t ids[] = {PFB_NO_ID, PFB_NO_ID, PFB_NO_ID, 0, 1, 5, 42, 43, 0x80000000, 0xFFFFFFFE};
    pfb_guid set = random_set();
    uint32_t name = below(sizeof names / sizeof names[0] + 2);
    use_counterset(&set);
    return put_block(out, capacity, name < sizeof names / sizeof names[0] ? names[name] : NULL, random_counter(),
                     ANY_OF(ids));
}

/* The live source and the recording, with a query handle of each. */
typedef struct pair {
    pfb_source *sources[2];
    pfb_source_query *queries[2];
    unsigned samples; /* samples collected with these query handles */
    unsigned filled;  /* samples of more than 100 bytes; a low number would mean that the test checks little */
} pair;

static void reopen(pair *p)
{
    for (size_t i = 0; i < 2; i++) {
        pfb_source_query_close(p->queries[i]);
        p->queries[i] = pfb_source_query_open(p->sources[i], NULL);
        cr_assert(p->queries[i]);
    }
    p->samples = 0;
}

/* Returns true for counters that depend on a clock even if the files do not change. */
static bool is_clock(const pfb_guid *set, uint32_t counter)
{
    static const struct {
        const pfb_guid *set;
        uint32_t counter;
    } clocks[] = {{&disk_guid, 2}, {&disk_guid, 23}, {&process_guid, 9}, {&thread_guid, 7}};
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        if (counter == clocks[i].counter && pfb_guid_equal(set, clocks[i].set))
            return true;
    }
    return false;
}

/* Sets the clocks of a sample to 0: bytes 8 to 47 of the header, and the values of counters that depend on a clock. */
static void clear_clocks(pfb_bytes *reply, const pfb_bytes *info)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
    pfb_identifier query;
    memset(reply->data + 8, 0, 40);
    cr_assert(pfb_v2_open(&reader, reply->data, reply->size_bytes, STRICT));
    while (pfb_v2_next_result(&reader, &result)) {
        cr_assert(find_query(info->data, info->size_bytes, result.index, &query));
        while (pfb_v2_next_instance(&reader, &instance)) {
            while (pfb_v2_next_value(&reader, &value)) {
                uint32_t counter = result.has_counter_ids ? value.counter_id : query.counter_id;
                if (is_clock(&query.counterset, counter))
                    memset(reply->data + value.offset + PFB_V2_VALUE_HEADER_BYTES, 0, value.data_size_bytes);
            }
        }
    }
    expect_error(pfb_v2_finish(&reader), PFB_OK, 0, "a sample of either source");
}

/* Checks that both calls had the same result. */
static void expect_same(unsigned call, const char *what, const bool *is_done, const pfb_source_failure *failures,
                        const pfb_bytes *replies)
{
    cr_assert(is_done[0] == is_done[1] && failures[0].code == failures[1].code, "call %u: %s: %u (%s) and %u (%s)",
              call, what, (unsigned)failures[0].code, failures[0].sentence, (unsigned)failures[1].code,
              failures[1].sentence);
    if (!is_done[0])
        return;
    size_t size = replies[0].size_bytes;
    cr_assert_eq(size, replies[1].size_bytes, "call %u: %s: %zu and %zu bytes", call, what, size,
                 replies[1].size_bytes);
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(replies[0].data[i], replies[1].data[i], "call %u: %s: byte %zu", call, what, i);
}

static void collect(pair *p, unsigned call)
{
    pfb_bytes replies[2] = {{0}, {0}};
    pfb_source_failure failures[2] = {{.code = 0}, {.code = 0}};
    bool is_done[2];
    pfb_bytes info = {0};
    cr_assert(pfb_source_query_info(p->queries[0], &info, NULL));
    for (size_t i = 0; i < 2; i++) {
        is_done[i] = pfb_source_query_collect(p->queries[i], &replies[i], &failures[i]);
        if (is_done[i])
            clear_clocks(&replies[i], &info);
    }
    expect_same(call, "collect", is_done, failures, replies);
    p->filled += replies[0].size_bytes > 100;
    pfb_bytes_free(&info);
    pfb_bytes_free(&replies[0]);
    pfb_bytes_free(&replies[1]);
}

/* Makes a call that returns bytes. */
static void call_reading(pair *p, unsigned call, unsigned kind)
{
    static const uint32_t languages[] = {0, 9, 0x407, 1, 17, 31};
    static const char *const names[] = {"countersets", "registration", "instances", "info"};
    pfb_bytes replies[2] = {{0}, {0}};
    pfb_source_failure failures[2] = {{.code = 0}, {.code = 0}};
    bool is_done[2];
    pfb_guid set = random_set();
    uint32_t request = below(12);
    uint32_t language = ANY_OF(languages);
    for (size_t i = 0; i < 2; i++) {
        pfb_source *source = p->sources[i];
        switch (kind) {
        case 0:
            is_done[i] = pfb_source_countersets(source, &replies[i], &failures[i]);
            break;
        case 1:
            is_done[i] = pfb_source_registration(source, &set, request, language, &replies[i], &failures[i]);
            break;
        case 2:
            is_done[i] = pfb_source_instances(source, &set, &replies[i], &failures[i]);
            break;
        default:
            is_done[i] = pfb_source_query_info(p->queries[i], &replies[i], &failures[i]);
            break;
        }
    }
    expect_same(call, names[kind], is_done, failures, replies);
    pfb_bytes_free(&replies[0]);
    pfb_bytes_free(&replies[1]);
}

static void call_changing(pair *p, unsigned call, bool is_add)
{
    enum { BLOCKS = 3, CAPACITY = 512 };
    uint8_t blocks[2][CAPACITY];
    pfb_source_failure failures[2] = {{.code = 0}, {.code = 0}};
    bool is_done[2];
    size_t size = 0;
    for (uint32_t n = below(BLOCKS) + 1; n > 0; n--)
        size += random_block(blocks[0] + size, CAPACITY - size);
    if (below(50) == 0)
        size -= 1;
    memcpy(blocks[1], blocks[0], size);
    for (size_t i = 0; i < 2; i++)
        is_done[i] = is_add ? pfb_source_query_add(p->queries[i], blocks[i], size, &failures[i])
                            : pfb_source_query_remove(p->queries[i], blocks[i], size, &failures[i]);
    cr_assert(is_done[0] == is_done[1] && failures[0].code == failures[1].code, "call %u", call);
    cr_assert_eq(memcmp(blocks[0], blocks[1], size), 0, "call %u: the Status fields differ", call);
}

/* Removes some of the added blocks. Random blocks are rarely equal to an added one, so these are taken from the query
 * information. */
static void remove_some(pair *p, unsigned call)
{
    pfb_bytes info = {0};
    pfb_list list;
    pfb_identifier identifier;
    cr_assert(pfb_source_query_info(p->queries[0], &info, NULL));
    pfb_list_open(&list, info.data, info.size_bytes, STRICT);
    while (pfb_list_next_identifier(&list, &identifier)) {
        uint8_t block[256];
        pfb_source_failure failure = {0};
        if (below(3) != 0)
            continue;
        memcpy(block, info.data + identifier.offset, identifier.size_bytes);
        for (size_t i = 0; i < 2; i++) {
            cr_assert(pfb_source_query_remove(p->queries[i], block, identifier.size_bytes, &failure), "%s",
                      failure.sentence);
            cr_assert_eq(status_of(block, identifier.size_bytes, 0), PFB_WIN32_SUCCESS, "call %u, source %zu", call, i);
        }
    }
    pfb_bytes_free(&info);
}

static void call_anything(pair *p, unsigned call)
{
    uint32_t kind = below(20);
    if (kind < 4)
        call_reading(p, call, kind);
    else if (kind < 9)
        call_changing(p, call, true);
    else if (kind < 10)
        call_changing(p, call, false);
    else if (kind < 11)
        remove_some(p, call);
    else if (p->samples++ == SAMPLES || below(40) == 0)
        reopen(p);
    else
        collect(p, call);
}

Test(replay_agreement, random_calls_have_the_same_results)
{
    const char *setting = getenv("PERFBLOCK_REPLAY_CALLS");
    unsigned long calls = setting ? strtoul(setting, NULL, 10) : CALLS;
    pair p = {.sources = {open_machine(), NULL}};
    pfb_bytes capture = record(p.sources[0]);
    p.sources[1] = replay_bytes(capture.data, capture.size_bytes, NULL);
    cr_assert(p.sources[1]);
    reopen(&p);
    for (unsigned call = 0; call < calls; call++)
        call_anything(&p, call);
    cr_expect_gt(p.filled, calls / 4, "only %u samples have more than 100 bytes", p.filled);
    for (size_t i = 0; i < 2; i++) {
        pfb_source_query_close(p.queries[i]);
        pfb_source_close(p.sources[i]);
    }
    pfb_bytes_free(&capture);
}
