/* SPDX-License-Identifier: MIT */
/* The live source of Linux on a simulated machine: registration, queries, samples, and failures to read files. */
#include <criterion/criterion.h>

#include "machine.h"
#include "perfblock/catalog.h"
#include "perfblock/live.h"
#include "perfblock/query.h"
#include "perfblock/v2.h"
#include "support.h"
#include "support_readers.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(linux_source, .init = make_machine, .fini = remove_machine);

/* ---- Registration ------------------------------------------------------------------------------------------- */

Test(linux_source, counters_are_registered_as_in_the_catalog)
{
    put_everything();
    pfb_source *source = open_machine();
    pfb_bytes reply = {0};
    pfb_bytes one = {0};
    pfb_registration registration;
    pfb_counter counter;
    pfb_counter single;
    const pfb_catalog_set *set = pfb_catalog_find(&processor_guid);
    cr_assert(pfb_source_countersets(source, &reply, NULL));
    cr_assert(reply.size_bytes == 2 * 16 && memcmp(reply.data, processor_guid.bytes, 16) == 0);
    cr_assert(pfb_source_registration(source, &processor_guid, PFB_REQUEST_COUNTERSET, 0, &reply, NULL));
    cr_assert(pfb_registration_open(&registration, reply.data, reply.size_bytes, STRICT));
    cr_expect(pfb_guid_equal(&registration.guid, &processor_guid) && registration.instance_type == set->instance_type);
    size_t n = 0;
    for (uint32_t position = 0; pfb_registration_counter_at(&registration, position, &counter); position++) {
        const pfb_catalog_counter *facts = NULL;
        while ((facts = pfb_catalog_counter_at(set, n++)) != NULL && facts->id != counter.id) {
        }
        cr_assert(facts, "counter %u", (unsigned)counter.id);
        bool is_count = strstr(facts->name, "/sec") != NULL;
        cr_expect_eq(counter.type, facts->type, "%s", facts->name);
        cr_expect_eq(counter.aggregate, is_count ? 1 : 2, "%s", facts->name);
        cr_expect(counter.base_id == PFB_NO_ID && counter.multi_id == PFB_NO_ID && counter.attributes == 0);
        cr_assert(pfb_source_registration(source, &processor_guid, PFB_REQUEST_COUNTER, counter.id, &one, NULL));
        expect_error(pfb_registration_single_counter(one.data, one.size_bytes, STRICT, &single), PFB_OK, 0,
                     facts->name);
        cr_expect(one.size_bytes == 48 && memcmp(one.data, reply.data + counter.offset, 48) == 0, "%s", facts->name);
    }
    expect_error(registration.error, PFB_OK, 0, "a registration of a counterset");
    pfb_bytes_free(&one);
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

/* Returns the string of a registration reply as UTF-8. */
static const char *string_of(pfb_source *source, uint32_t request)
{
    static char out[256];
    pfb_bytes reply = {0};
    pfb_name text;
    cr_assert(pfb_source_registration(source, &processor_guid, request, 0x407, &reply, NULL));
    expect_error(pfb_registration_string(reply.data, reply.size_bytes, &text), PFB_OK, 0, "a registration string");
    pfb_name_to_utf8(&text, out, sizeof out);
    pfb_bytes_free(&reply);
    return out;
}

Test(linux_source, other_request_codes_have_replies)
{
    put_everything();
    pfb_source *source = open_machine();
    pfb_bytes reply = {0};
    pfb_guid provider;
    cr_expect_str_eq(string_of(source, PFB_REQUEST_COUNTERSET_NAME), "Processor Information");
    cr_expect_str_eq(string_of(source, PFB_REQUEST_COUNTERSET_ENGLISH_NAME), "Processor Information");
    cr_expect_str_eq(string_of(source, PFB_REQUEST_PROVIDER_NAME), "perfblock");
    cr_expect(strstr(string_of(source, PFB_REQUEST_COUNTERSET_HELP), "Linux"));
    cr_assert(pfb_source_registration(source, &processor_guid, PFB_REQUEST_PROVIDER_GUID, 0, &reply, NULL));
    expect_error(pfb_registration_guid(reply.data, reply.size_bytes, &provider), PFB_OK, 0, "a provider GUID");
    char text[PFB_GUID_TEXT_BYTES];
    pfb_guid_format(&provider, text);
    cr_expect_str_eq(text, "55b494d5-fa0e-49a2-8aed-eb8fe7ef2597");
    static const uint32_t codes[] = {PFB_REQUEST_COUNTER_NAMES, PFB_REQUEST_COUNTER_HELPS,
                                     PFB_REQUEST_COUNTER_ENGLISH_NAMES};
    for (size_t i = 0; i < 3; i++) {
        pfb_registration_strings strings;
        pfb_registration_string_entry entry;
        cr_assert(pfb_source_registration(source, &processor_guid, codes[i], 0, &reply, NULL));
        cr_assert(pfb_registration_strings_open(&strings, reply.data, reply.size_bytes, STRICT));
        cr_expect_eq(strings.count, 17);
        while (pfb_registration_strings_next_string(&strings, &entry)) {
            cr_expect(entry.text.bytes && entry.text.size_bytes > 2 * 8 && entry.text.size_bytes < 2 * 140,
                      "the text of counter %u has %zu bytes", (unsigned)entry.counter_id, entry.text.size_bytes);
            if (entry.counter_id == 12 && codes[i] != PFB_REQUEST_COUNTER_HELPS)
                expect_name(&entry.text, "C1 Transitions/sec", "the name of counter 12");
        }
        expect_error(strings.error, PFB_OK, 0, "registration strings");
    }
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

Test(linux_source, unknown_requests_counters_and_sets_fail)
{
    put_file("/proc/stat", STAT);
    pfb_source *source = open_machine();
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    pfb_guid other = processor_guid;
    other.bytes[15] ^= 1;
    static const struct {
        uint32_t request;
        uint32_t language; /* for request 2 the counter id */
        uint32_t code;
    } cases[] = {{0, 0, PFB_WIN32_INVALID_PARAMETER},
                 {11, 0, PFB_WIN32_INVALID_PARAMETER},
                 {UINT32_MAX, 0, PFB_WIN32_INVALID_PARAMETER},
                 {2, 3, PFB_WIN32_COUNTER_NOT_FOUND}, /* there is no /proc/interrupts */
                 {2, PFB_NO_ID, PFB_WIN32_COUNTER_NOT_FOUND}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_not(
            pfb_source_registration(source, &processor_guid, cases[i].request, cases[i].language, &reply, &failure));
        cr_expect_eq(failure.code, cases[i].code, "case %zu: %s", i, failure.sentence);
    }
    cr_expect_not(pfb_source_registration(source, &other, 1, 0, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
    cr_expect(strstr(failure.sentence, "b4fc721a-0378-476f-89ba-a5a79f810b37"), "%s", failure.sentence);
    failure.code = 0;
    cr_expect_not(pfb_source_instances(source, &other, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
    cr_expect_eq(reply.size_bytes, 0);
    pfb_source_close(source);
}

Test(linux_source, remote_machines_are_not_supported)
{
    pfb_source_failure failure = {0};
    cr_expect_null(pfb_source_open_remote("\\\\Turing", &failure));
    cr_expect(failure.code == PFB_WIN32_NOT_SUPPORTED && failure.sentence[0] != '\0');
    cr_expect_null(pfb_source_open_remote("Turing", NULL));
}

/* ---- Filters and kinds ---------------------------------------------------------------------------------------- */

/* The status 1069 is PFB_WIN32_INSTANCE_NOT_FOUND in hexadecimal. */
Test(linux_source, the_filters_select_the_kind_of_result)
{
    static const struct {
        const char *name;
        uint32_t counter, instance;
        const char *data;
    } cases[] = {
        {"0,1", 17, PFB_NO_ID, "1 0 { 1500/4}\n"},
        {"0,1", 17, 1, "1 0 { 1500/4}\n"},
        {"0,1", 17, 0, "0 1069\n"},
        {"0,2", 17, PFB_NO_ID, "0 1069\n"},
        {"0,2", PFB_NO_ID, PFB_NO_ID, "0 1069\n"},
        {"0,_TOTAL", 3, PFB_NO_ID, "1 0 { 34/4}\n"},
        {"_Total", 3, 0xFFFFFFFE, "1 0 { 73/4}\n"},
        {"*", 17, 5, "4 0 {3,5#5 2001/4}\n"},
        {"*", 17, 6, "4 0\n"},
        {"?,?", 3, PFB_NO_ID, "4 0 {0,0#0 6/4} {0,1#1 28/4} {3,5#5 39/4}\n"},
        {"*_TOTAL", 20, PFB_NO_ID, "4 0 {0,_Total#80000000 15/4} {3,_Total#80000003 9/4} {_Total#fffffffe 24/4}\n"},
        {"7*", 17, PFB_NO_ID, "4 0\n"},
        {"7*", PFB_NO_ID, PFB_NO_ID, "6 0\n"},
    };
    put_everything();
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_str_eq(ask(source, cases[i].name, cases[i].counter, cases[i].instance), cases[i].data, "case %zu", i);
    cr_expect(strncmp(ask(source, "3,5", PFB_NO_ID, PFB_NO_ID), "2 0 { 0=", 8) == 0);
    pfb_source_close(source);
}

Test(linux_source, results_have_the_positions_in_the_query_information)
{
    put_everything();
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    cr_assert(pfb_source_query_info(query, &reply, NULL) && reply.size_bytes == 0);
    cr_assert(pfb_source_query_collect(query, &reply, NULL) && reply.size_bytes == 48,
              "the reply to a query without identifiers is a header");
    cr_assert_eq(add_to(query, "0,0", 17, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_assert_eq(add_to(query, "9,9", 17, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_assert_eq(add_to(query, "?,5", 3, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_expect_str_eq(data_of(&reply), "1 0 { 1000/4}\n0 1069\n4 0 {3,5#5 39/4}\n");
    cr_assert_eq(remove_from(query, "9,9", 17, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_expect_str_eq(data_of(&reply), "1 0 { 1000/4}\n4 0 {3,5#5 39/4}\n");
    cr_assert(pfb_source_query_info(query, &reply, NULL));
    pfb_identifier identifier;
    cr_assert(find_query(reply.data, reply.size_bytes, 1, &identifier));
    cr_expect(identifier.counter_id == 3 && identifier.status == 0 && identifier.instance_id == PFB_NO_ID);
    expect_name(&identifier.name, "?,5", "the name in the query information");
    cr_assert(find_query(reply.data, reply.size_bytes, 0, &identifier) && identifier.counter_id == 17);
    cr_expect_not(find_query(reply.data, reply.size_bytes, 2, &identifier));
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

Test(linux_source, query_handles_are_independent)
{
    put_everything();
    pfb_source *source = open_machine();
    pfb_source_query *one = pfb_source_query_open(source, NULL);
    pfb_source_query *other = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    cr_assert_eq(add_to(one, "0,0", 17, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_assert_eq(add_to(other, "0,0", 17, PFB_NO_ID), PFB_WIN32_SUCCESS, "each query has its own identifiers");
    cr_assert_eq(remove_from(one, "0,0", 17, PFB_NO_ID), PFB_WIN32_SUCCESS);
    pfb_source_query_close(one);
    cr_assert(pfb_source_query_collect(other, &reply, NULL));
    cr_expect_str_eq(data_of(&reply), "1 0 { 1000/4}\n");
    pfb_bytes_free(&reply);
    pfb_source_query_close(other);
    pfb_source_close(source);
}

/* ---- Several countersets ------------------------------------------------------------------------------- */

static void put_four_sets(void)
{
    put_everything();
    put_file("/proc/stat", STAT "ctxt 700\n");
    put_file("/proc/meminfo", "MemAvailable: 9 kB\nMemFree: 2 kB\n");
}

Test(linux_source, countersets_of_this_machine_are_listed)
{
    put_four_sets();
    pfb_source *source = open_machine();
    pfb_bytes reply = {0};
    cr_assert(pfb_source_countersets(source, &reply, NULL) && reply.size_bytes == 64);
    cr_expect(memcmp(reply.data, processor_guid.bytes, 16) == 0);
    cr_expect(memcmp(reply.data + 16, nodeless_processor_guid.bytes, 16) == 0);
    cr_expect(memcmp(reply.data + 32, system_guid.bytes, 16) == 0);
    cr_expect(memcmp(reply.data + 48, memory_guid.bytes, 16) == 0);
    pfb_source_close(source);
    put_file("/proc/stat", "ctxt 700\n");
    source = open_machine();
    cr_assert(pfb_source_countersets(source, &reply, NULL) && reply.size_bytes == 32,
              "processors are not listed without CPUs");
    cr_expect(memcmp(reply.data, system_guid.bytes, 16) == 0);
    pfb_source_failure failure = {0};
    cr_expect_not(pfb_source_instances(source, &processor_guid, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

Test(linux_source, one_query_has_results_of_several_countersets)
{
    put_four_sets();
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    use_counterset(&memory_guid);
    cr_assert_eq(add_to(query, NULL, 1, PFB_NO_ID), PFB_WIN32_SUCCESS);
    use_counterset(&processor_guid);
    cr_assert_eq(add_to(query, "0,1", 17, PFB_NO_ID), PFB_WIN32_SUCCESS);
    use_counterset(&system_guid);
    cr_assert_eq(add_to(query, NULL, 0, PFB_NO_ID), PFB_WIN32_SUCCESS);
    use_counterset(&memory_guid);
    cr_assert_eq(add_to(query, NULL, 8, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_expect_str_eq(data_of(&reply), "1 0 { 9/8}\n1 0 { 1500/4}\n1 0 { 700/4}\n1 0 { 2048/8}\n");
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

Test(linux_source, a_set_that_cannot_be_sampled_does_not_affect_others)
{
    put_four_sets();
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_assert_eq(add_to(query, "0,1", 17, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_assert_eq(add_to(query, "*", 17, PFB_NO_ID), PFB_WIN32_SUCCESS);
    use_counterset(&memory_guid);
    cr_assert_eq(add_to(query, NULL, 1, PFB_NO_ID), PFB_WIN32_SUCCESS);
    remove_file("/proc/stat");
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_expect_str_eq(data_of(&reply), "0 2\n0 2\n1 0 { 9/8}\n");
    cr_assert_eq(remove_from(query, NULL, 1, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_expect_not(pfb_source_query_collect(query, &reply, &failure), "collecting fails if no set can be sampled");
    cr_expect_eq(failure.code, PFB_WIN32_FILE_NOT_FOUND);
    cr_assert_eq(add_to(query, NULL, 1, PFB_NO_ID), PFB_WIN32_SUCCESS);
    put_file("/proc/stat", STAT);
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_expect_str_eq(data_of(&reply), "1 0 { 1500/4}\n4 0 {0,0#0 1000/4} {0,1#1 1500/4} {0,_Total#80000000 1250/4}"
                                      " {3,5#5 2001/4} {3,_Total#80000003 2001/4} {_Total#fffffffe 1500/4}\n"
                                      "1 0 { 9/8}\n");
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

/* The file is a pipe, so a second read would find it empty. */
Test(linux_source, a_file_of_several_sets_is_read_once)
{
    static const char text[] = STAT "ctxt 701\n";
    char descriptor_path[64];
    char path[128];
    int pipe_ends[2];
    put_four_sets();
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    use_counterset(&system_guid);
    cr_assert_eq(add_to(query, NULL, 0, PFB_NO_ID), PFB_WIN32_SUCCESS);
    use_counterset(&processor_guid);
    cr_assert_eq(add_to(query, "0,1", 4, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_assert_eq(pipe(pipe_ends), 0);
    cr_assert_eq(write(pipe_ends[1], text, sizeof text - 1), sizeof text - 1);
    close(pipe_ends[1]);
    remove_file("/proc/stat");
    snprintf(descriptor_path, sizeof descriptor_path, "/proc/self/fd/%d", pipe_ends[0]);
    snprintf(path, sizeof path, "%s/proc/stat", machine_root());
    cr_assert_eq(symlink(descriptor_path, path), 0);
    char expected[64];
    snprintf(expected, sizeof expected, "1 0 { 701/4}\n1 0 { %llu/8}\n", (unsigned long long)ticks(4));
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_expect_str_eq(data_of(&reply), expected);
    close(pipe_ends[0]);
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

/* ---- Time of reading the clocks ------------------------------------------------------------------------ */

/* Replaces a file by a pipe, which can be read once. */
static void put_pipe(const char *name, char path[128])
{
    snprintf(path, 128, "%s%s", machine_root(), name);
    remove_file(name);
    cr_assert_eq(mkfifo(path, 0600), 0, "%s", path);
}

/* Writes to a pipe after it is opened for reading, and returns a time between the opening and the writing. */
static uint64_t serve(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    usleep(1000);
    uint64_t moment = units_of_100ns(CLOCK_MONOTONIC);
    usleep(1000);
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        _exit(1);
    return moment;
}

/* Checks that a single-instance set reads the first file, which has the counts of its rates, then the clocks, then the
 * second file. */
static void expect_clocks_between(const pfb_guid *set, const char *first, const char *first_text, const char *second,
                                  const char *second_text)
{
    char paths[2][128];
    uint64_t *moments = mmap(NULL, 2 * sizeof *moments, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(moments, MAP_FAILED);
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    pfb_v2_reader block;
    use_counterset(set);
    cr_assert_eq(add_to(query, NULL, PFB_NO_ID, PFB_NO_ID), PFB_WIN32_SUCCESS);
    put_pipe(first, paths[0]);
    put_pipe(second, paths[1]);
    pid_t child = fork();
    if (child == 0) {
        alarm(10); /* fails the test if a pipe is not read */
        moments[0] = serve(paths[0], first_text);
        moments[1] = serve(paths[1], second_text);
        _exit(0);
    }
    int status = 1;
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_assert(waitpid(child, &status, 0) == child && status == 0, "both pipes are read");
    cr_assert(pfb_v2_open(&block, reply.data, reply.size_bytes, STRICT));
    cr_expect_geq((uint64_t)block.perf_time, moments[0], "%s", first);
    cr_expect_leq((uint64_t)block.perf_time, moments[1], "%s", second);
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    pfb_source_close(source);
    munmap(moments, 2 * sizeof *moments);
}

Test(linux_source, clocks_are_read_after_the_file_of_rates, .timeout = 30)
{
    static const char memory[] = "MemAvailable: 9 kB\n";
    static const char stat[] = STAT "ctxt 700\n";
    put_file("/proc/vmstat", "pgfault 1\n");
    put_file("/proc/meminfo", memory);
    expect_clocks_between(&memory_guid, "/proc/vmstat", "pgfault 1\n", "/proc/meminfo", memory);
    remove_file("/proc/vmstat");
    remove_file("/proc/meminfo");
    put_file("/proc/stat", stat);
    put_file("/proc/uptime", "1.00");
    expect_clocks_between(&system_guid, "/proc/stat", stat, "/proc/uptime", "1.00");
}

/* ---- Exhausted file descriptors ---------------------------------------------------------------------------- */

static void limit_descriptors(rlim_t count)
{
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = count < limit.rlim_max ? count : limit.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Limits this program to `count` more file descriptors than it has open. */
static void leave_descriptors(unsigned count)
{
    limit_descriptors(RLIM_INFINITY);
    int next = dup(0); /* the lowest free descriptor */
    cr_assert(next >= 0 && close(next) == 0);
    limit_descriptors((rlim_t)next + count);
}

enum { ALL_SETS = 13 };

static void put_all_sets(void)
{
    put_four_sets();
    put_file("/proc/loadavg", "0.52 0.58 0.59 4/812 31415\n");
    put_file("/proc/diskstats", "8 0 sda 0 0 0 0 0 0 0 0 0 0 0\n");
    put_file("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
    put_file("/proc/net/snmp", "Tcp: InSegs\nTcp: 1\nUdp: NoPorts\nUdp: 1\n");
    put_file("/proc/net/snmp6", "Udp6NoPorts 1\n");
    put_file("/proc/swaps", "/swap file 9 1\n");
    put_file("/proc/net/dev", "lo: 1 2 3 4 5 6 7 8 9 10 11 12\n");
    put_file("/proc/7/stat", "7 (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n");
    put_file("/proc/7/task/7/stat", "7 (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n");
}

/* A counter may be missing on a machine. It must not be missing because file descriptors are exhausted. */
Test(linux_source, sampling_without_file_descriptors_fails)
{
    static const struct {
        const pfb_guid *set;
        const char *name;
        const char *file;
    } cases[] = {{&processor_guid, "*", "/proc/stat"},      {&nodeless_processor_guid, "*", "/proc/stat"},
                 {&system_guid, NULL, "/proc/stat"},        {&memory_guid, NULL, "/proc/meminfo"},
                 {&disk_guid, "*", "/proc/diskstats"},      {&volume_guid, "*", "/proc/self/mountinfo"},
                 {&interface_guid, "*", "/proc/net/dev"},   {&tcp4_guid, NULL, "/proc/net/snmp"},
                 {&udp4_guid, NULL, "/proc/net/snmp"},      {&udp6_guid, NULL, "/proc/net/snmp6"},
                 {&swap_guid, "*", "/proc/swaps"},          {&process_guid, "*", "/proc/7/stat"},
                 {&thread_guid, "*", "/proc/7/task/7/stat"}};
    put_all_sets();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pfb_source *source = open_machine();
        pfb_source_query *query = pfb_source_query_open(source, NULL);
        pfb_bytes reply = {0};
        pfb_source_failure failure = {0};
        use_counterset(cases[i].set);
        cr_assert_eq(add_to(query, cases[i].name, PFB_NO_ID, PFB_NO_ID), PFB_WIN32_SUCCESS);
        leave_descriptors(0);
        cr_expect_not(pfb_source_query_collect(query, &reply, &failure), "case %zu", i);
        cr_expect_eq(failure.code, PFB_WIN32_TOO_MANY_OPEN_FILES, "case %zu", i);
        cr_expect(strstr(failure.sentence, cases[i].file), "%s", failure.sentence);
        if (cases[i].name)
            cr_expect_not(pfb_source_instances(source, cases[i].set, &reply, &failure), "case %zu", i);
        leave_descriptors(20);
        cr_expect(pfb_source_query_collect(query, &reply, &failure), "case %zu: %s", i, failure.sentence);
        pfb_bytes_free(&reply);
        pfb_source_query_close(query);
        pfb_source_close(source);
    }
}

/* A source that can be opened has all sets of the machine. */
Test(linux_source, opening_without_file_descriptors_fails)
{
    bool is_open = false;
    put_all_sets();
    for (unsigned descriptors = 0; descriptors < 16; descriptors++) {
        pfb_bytes reply = {0};
        pfb_source_failure failure = {0};
        leave_descriptors(descriptors);
        pfb_source *source = pfb_source_open_linux(machine_root(), &failure);
        leave_descriptors(20);
        cr_expect(source || !is_open, "opening fails with %u descriptors but succeeded with fewer", descriptors);
        is_open = source != NULL;
        if (is_open)
            cr_expect(pfb_source_countersets(source, &reply, NULL) && reply.size_bytes == ALL_SETS * 16, "%u",
                      descriptors);
        else
            cr_expect_eq(failure.code, PFB_WIN32_TOO_MANY_OPEN_FILES, "%u: %s", descriptors, failure.sentence);
        pfb_bytes_free(&reply);
        if (source)
            pfb_source_close(source);
    }
    cr_expect(is_open, "opening succeeds with 15 descriptors");
}

/* ---- Files that cannot be read ------------------------------------------------------------------------- */

/* The file is a folder, so reading it fails with EISDIR. */
Test(linux_source, an_unreadable_file_is_a_failure)
{
    put_four_sets();
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    use_counterset(&memory_guid);
    cr_assert_eq(add_to(query, NULL, 1, PFB_NO_ID), PFB_WIN32_SUCCESS);
    remove_file("/proc/meminfo");
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_expect_str_eq(data_of(&reply), "0 1069\n");
    put_file("/proc/meminfo/file", "");
    cr_expect_not(pfb_source_query_collect(query, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_READ_FAULT);
    cr_expect(strstr(failure.sentence, "/proc/meminfo cannot be read: "), "%s", failure.sentence);
    cr_expect_null(pfb_source_open_linux(machine_root(), &failure));
    cr_expect_eq(failure.code, PFB_WIN32_READ_FAULT);
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

/* The folder is a file, so reading it fails with ENOTDIR. */
Test(linux_source, an_unreadable_folder_is_a_failure)
{
    pfb_source_failure failure = {0};
    put_file("/proc/stat", STAT);
    put_file("/sys/devices/system/node", "");
    cr_expect_null(pfb_source_open_linux(machine_root(), &failure));
    cr_expect_eq(failure.code, PFB_WIN32_READ_FAULT);
    cr_expect(strstr(failure.sentence, "/sys/devices/system/node cannot be read: "), "%s", failure.sentence);
}

/* ---- Adding and removing ----------------------------------------------------------------------------------------- */

Test(linux_source, each_block_has_its_status)
{
    put_file("/proc/stat", STAT);
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    cr_expect_eq(add_to(query, "*", 0, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_expect_eq(add_to(query, "*", 0, PFB_NO_ID), PFB_WIN32_ALREADY_EXISTS);
    cr_expect_eq(add_to(query, "*", 1, PFB_NO_ID), PFB_WIN32_SUCCESS, "another counter");
    cr_expect_eq(add_to(query, "*", PFB_NO_ID, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_expect_eq(add_to(query, "*", 0, 0), PFB_WIN32_SUCCESS, "another instance id");
    cr_expect_eq(add_to(query, "**", 0, PFB_NO_ID), PFB_WIN32_SUCCESS, "another name");
    cr_expect_eq(add_to(query, "", 0, PFB_NO_ID), PFB_WIN32_INVALID_PARAMETER, "an empty name");
    cr_expect_eq(add_to(query, NULL, 0, PFB_NO_ID), PFB_WIN32_INVALID_PARAMETER, "no name");
    cr_expect_eq(add_to(query, "*", 6, PFB_NO_ID), PFB_WIN32_COUNTER_NOT_FOUND, "a counter that Linux does not have");
    cr_expect_eq(add_to(query, "*", 3, PFB_NO_ID), PFB_WIN32_COUNTER_NOT_FOUND,
                 "a counter whose file this machine does not have");
    cr_expect_eq(remove_from(query, "*", 2, PFB_NO_ID), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(remove_from(query, NULL, 0, PFB_NO_ID), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(remove_from(query, "*", 0, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_expect_eq(remove_from(query, "*", 0, PFB_NO_ID), PFB_WIN32_INVALID_PARAMETER,
                 "the identifier was removed before");
    cr_expect_eq(add_to(query, "*", 0, PFB_NO_ID), PFB_WIN32_SUCCESS);
    uint8_t block[64];
    size_t size = put_block(block, sizeof block, "*", 0, PFB_NO_ID);
    block[0] ^= 1;
    cr_assert(pfb_source_query_add(query, block, size, NULL));
    cr_expect_eq(status_of(block, size, 0), PFB_WIN32_COUNTERSET_NOT_FOUND);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

Test(linux_source, single_instance_sets_accept_any_name_or_none)
{
    put_four_sets();
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    use_counterset(&memory_guid);
    static const char *const names[] = {NULL, "", "*", "_Total"};
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(add_to(query, names[i], PFB_NO_ID, PFB_NO_ID), PFB_WIN32_SUCCESS, "name %zu", i);
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(add_to(query, names[i], PFB_NO_ID, PFB_NO_ID), PFB_WIN32_ALREADY_EXISTS, "name %zu", i);
    cr_expect_eq(add_to(query, NULL, 9, PFB_NO_ID), PFB_WIN32_COUNTER_NOT_FOUND, "there is no /proc/vmstat");
    cr_expect_eq(remove_from(query, NULL, PFB_NO_ID, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_expect_eq(remove_from(query, NULL, PFB_NO_ID, PFB_NO_ID), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(remove_from(query, "", PFB_NO_ID, PFB_NO_ID), PFB_WIN32_SUCCESS);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

Test(linux_source, names_have_at_most_1024_units)
{
    put_file("/proc/stat", STAT);
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    for (size_t units = 1024; units <= 1025; units++) {
        bytes block = {0};
        put_raw(&block, processor_guid.bytes, 16);
        put_u32(&block, 77); /* an earlier status, which is overwritten */
        put_u32(&block, (uint32_t)(48 + 2 * units) & ~UINT32_C(7));
        put_u32(&block, 0);
        put_u32(&block, PFB_NO_ID);
        put_u64(&block, 0);
        for (size_t i = 0; i < units; i++)
            put_units(&block, "*");
        put_fill(&block, 0, 8 - block.size % 8);
        cr_assert(pfb_source_query_add(query, block.data, block.size, NULL));
        cr_expect_eq(status_of(block.data, block.size, 0),
                     units == 1024 ? PFB_WIN32_SUCCESS : PFB_WIN32_INVALID_PARAMETER, "%zu units", units);
    }
    pfb_source_query_close(query);
    pfb_source_close(source);
}

Test(linux_source, malformed_blocks_change_nothing)
{
    put_file("/proc/stat", STAT);
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    uint8_t blocks[128];
    size_t first = put_block(blocks, sizeof blocks, "*", 0, PFB_NO_ID);
    size_t size = first + put_block(blocks + first, sizeof blocks - first, "*", 1, PFB_NO_ID);
    pfb_source_failure failure = {0};
    for (size_t cut = 1; cut < size; cut++) {
        if (cut == first)
            continue;
        cr_expect_not(pfb_source_query_add(query, blocks, cut, &failure), "%zu bytes", cut);
        cr_expect_eq(failure.code, PFB_WIN32_INVALID_PARAMETER);
        cr_expect_not(pfb_source_query_remove(query, blocks, cut, NULL), "%zu bytes", cut);
    }
    pfb_bytes reply = {0};
    cr_assert(pfb_source_query_info(query, &reply, NULL));
    cr_expect_eq(reply.size_bytes, 0);
    cr_expect(pfb_source_query_add(query, NULL, 0, NULL), "an empty sequence of blocks is valid");
    cr_expect(pfb_source_query_add(query, blocks, size, NULL));
    cr_expect(status_of(blocks, size, 0) == PFB_WIN32_SUCCESS && status_of(blocks, size, 1) == PFB_WIN32_SUCCESS);
    cr_expect(pfb_source_query_add(query, blocks, size, NULL));
    cr_expect_eq(status_of(blocks, size, 1), PFB_WIN32_ALREADY_EXISTS);
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    pfb_source_close(source);
}
