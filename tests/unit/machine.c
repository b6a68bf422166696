/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <criterion/criterion.h>

#include "perfblock/formula.h"
#include "perfblock/live.h"
#include "perfblock/query.h"
#include "perfblock/v2.h"
#include "support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const pfb_guid processor_guid = {
    {0x1a, 0x72, 0xfc, 0xb4, 0x78, 0x03, 0x6f, 0x47, 0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36}};

/* 33f83a38-8762-4e38-b771-92511b8951b7 */
const pfb_guid nodeless_processor_guid = {
    {0x38, 0x3a, 0xf8, 0x33, 0x62, 0x87, 0x38, 0x4e, 0xb7, 0x71, 0x92, 0x51, 0x1b, 0x89, 0x51, 0xb7}};

/* 7d6abbe4-317e-4f34-be33-f5108f8cae59 */
const pfb_guid system_guid = {
    {0xe4, 0xbb, 0x6a, 0x7d, 0x7e, 0x31, 0x34, 0x4f, 0xbe, 0x33, 0xf5, 0x10, 0x8f, 0x8c, 0xae, 0x59}};

/* efca981e-209b-4db4-b120-0b5c19e5643a */
const pfb_guid memory_guid = {
    {0x1e, 0x98, 0xca, 0xef, 0x9b, 0x20, 0xb4, 0x4d, 0xb1, 0x20, 0x0b, 0x5c, 0x19, 0xe5, 0x64, 0x3a}};

/* 2a87a1bd-9cae-49ee-9498-2399d27cc28f */
const pfb_guid disk_guid = {
    {0xbd, 0xa1, 0x87, 0x2a, 0xae, 0x9c, 0xee, 0x49, 0x94, 0x98, 0x23, 0x99, 0xd2, 0x7c, 0xc2, 0x8f}};

/* 32d66880-17a1-4688-b265-caec846a2992 */
const pfb_guid volume_guid = {
    {0x80, 0x68, 0xd6, 0x32, 0xa1, 0x17, 0x88, 0x46, 0xb2, 0x65, 0xca, 0xec, 0x84, 0x6a, 0x29, 0x92}};

/* 45021bbd-22b8-4c30-a177-284f5af0fb14 */
const pfb_guid interface_guid = {
    {0xbd, 0x1b, 0x02, 0x45, 0xb8, 0x22, 0x30, 0x4c, 0xa1, 0x77, 0x28, 0x4f, 0x5a, 0xf0, 0xfb, 0x14}};

/* 1f7fa1a8-dbc6-481d-86ef-099145b39080 */
const pfb_guid process_guid = {
    {0xa8, 0xa1, 0x7f, 0x1f, 0xc6, 0xdb, 0x1d, 0x48, 0x86, 0xef, 0x09, 0x91, 0x45, 0xb3, 0x90, 0x80}};

/* 3fd4ddca-9033-4429-b4e2-2bca932dceee */
const pfb_guid swap_guid = {
    {0xca, 0xdd, 0xd4, 0x3f, 0x33, 0x90, 0x29, 0x44, 0xb4, 0xe2, 0x2b, 0xca, 0x93, 0x2d, 0xce, 0xee}};

/* baa4ff60-5f16-4368-94c5-399f54b97728 */
const pfb_guid thread_guid = {
    {0x60, 0xff, 0xa4, 0xba, 0x16, 0x5f, 0x68, 0x43, 0x94, 0xc5, 0x39, 0x9f, 0x54, 0xb9, 0x77, 0x28}};

/* 4b6a406f-2a1b-4a12-b73a-7caadf7b2e0b */
const pfb_guid tcp4_guid = {
    {0x6f, 0x40, 0x6a, 0x4b, 0x1b, 0x2a, 0x12, 0x4a, 0xb7, 0x3a, 0x7c, 0xaa, 0xdf, 0x7b, 0x2e, 0x0b}};

/* 9c8ab57f-ef30-4f37-8613-c8308f830195 */
const pfb_guid udp4_guid = {
    {0x7f, 0xb5, 0x8a, 0x9c, 0x30, 0xef, 0x37, 0x4f, 0x86, 0x13, 0xc8, 0x30, 0x8f, 0x83, 0x01, 0x95}};

/* 753ac24e-faf1-4bf7-9976-c1f96bc07d5d */
const pfb_guid udp6_guid = {
    {0x4e, 0xc2, 0x3a, 0x75, 0xf1, 0xfa, 0xf7, 0x4b, 0x99, 0x76, 0xc1, 0xf9, 0x6b, 0xc0, 0x7d, 0x5d}};

static pfb_guid queried_set;

void use_counterset(const pfb_guid *set)
{
    queried_set = *set;
}

/* ---- Kernel files ---------------------------------------------------------------------------------------- */

/* The paths of all files and folders that were made. They are removed in reverse order, so that folders are empty. */
typedef struct tree {
    char root[64];
    char *paths[512];
    size_t path_count;
} tree;

static tree machine;

static void remember(const char *path)
{
    cr_assert_lt(machine.path_count, sizeof machine.paths / sizeof machine.paths[0]);
    machine.paths[machine.path_count++] = strdup(path);
}

void put_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", machine.root, name);
    for (char *slash = strchr(path + strlen(machine.root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) == 0)
            remember(path);
        *slash = '/';
    }
    bool is_new = access(path, F_OK) != 0;
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
    if (is_new)
        remember(path);
}

void remove_file(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", machine.root, name);
    cr_assert_eq(remove(path), 0, "%s", path);
}

void put_cpu_file(unsigned cpu, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", cpu, name);
    put_file(path, text);
}

const char *machine_root(void)
{
    return machine.root;
}

void make_machine(void)
{
    use_counterset(&processor_guid);
    snprintf(machine.root, sizeof machine.root, "/tmp/perfblock_machine_XXXXXX");
    cr_assert(mkdtemp(machine.root), "no temporary folder");
    remember(machine.root);
}

void remove_machine(void)
{
    while (machine.path_count > 0) {
        remove(machine.paths[--machine.path_count]); /* a test may have removed it already */
        free(machine.paths[machine.path_count]);
    }
}

void put_everything(void)
{
    static const unsigned cpus[] = {0, 1, 5};
    put_file("/proc/stat", STAT);
    put_file("/proc/interrupts", "     CPU0 CPU1 CPU5\n 1: 4294967295 20 30 timer\nLOC: 7 8 9 Local\nERR: 5\n");
    put_file("/sys/devices/system/node/node0/cpulist", "0-1\n");
    put_file("/sys/devices/system/node/node3/cpulist", "5\n");
    put_file("/sys/devices/system/node/node4/cpulist", "\n");
    put_file("/sys/devices/system/node/online", "0,3-4\n");
    for (unsigned i = 0; i < 3; i++) {
        static const char *const names[] = {"POLL\n", "C1_ACPI\n", "C1\n", "C2\n", "C6\n", "C3\n"};
        char number[32];
        snprintf(number, sizeof number, "%u\n", 1000000 + 500999 * i);
        put_cpu_file(cpus[i], "cpufreq/scaling_cur_freq", number);
        put_cpu_file(cpus[i], "cpufreq/cpuinfo_max_freq", "2000000\n");
        for (unsigned state = 0; state < 6; state++) {
            char path[64];
            snprintf(path, sizeof path, "cpuidle/state%u/name", state);
            put_cpu_file(cpus[i], path, names[state]);
            snprintf(path, sizeof path, "cpuidle/state%u/time", state);
            snprintf(number, sizeof number, "%u\n", 1000 * state + i);
            put_cpu_file(cpus[i], path, number);
            snprintf(path, sizeof path, "cpuidle/state%u/usage", state);
            snprintf(number, sizeof number, "%u\n", 100 * state + i);
            put_cpu_file(cpus[i], path, number);
        }
    }
}

pfb_source *open_machine(void)
{
    pfb_source_failure failure = {0};
    pfb_source *source = pfb_source_open_linux(machine.root, &failure);
    cr_assert(source, "%s", failure.sentence);
    return source;
}

uint64_t ticks(uint64_t count)
{
    return count * (10000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t units_of_100ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 10000000 + (uint64_t)now.tv_nsec / 100;
}

/* ---- Queries --------------------------------------------------------------------------------------------- */

size_t put_block(uint8_t *out, size_t capacity, const char *name, uint32_t counter, uint32_t instance)
{
    const pfb_query query = {.counterset = queried_set,
                             .counter_id = counter,
                             .instance_id = instance,
                             .name = name ? pfb_utf8_name(name, strlen(name)) : (pfb_name){0}};
    return pfb_query_write(&query, out, capacity);
}

uint32_t status_of(const uint8_t *blocks, size_t size, size_t n)
{
    pfb_list list;
    pfb_identifier identifier = {0};
    pfb_list_open(&list, blocks, size, STRICT);
    for (size_t i = 0; i <= n; i++)
        cr_assert(pfb_list_next_identifier(&list, &identifier), "block %zu", i);
    return identifier.status;
}

uint32_t add_to(pfb_source_query *query, const char *name, uint32_t counter, uint32_t instance)
{
    uint8_t block[256];
    size_t size = put_block(block, sizeof block, name, counter, instance);
    cr_assert(size > 0 && pfb_source_query_add(query, block, size, NULL));
    return status_of(block, size, 0);
}

uint32_t remove_from(pfb_source_query *query, const char *name, uint32_t counter, uint32_t instance)
{
    uint8_t block[256];
    size_t size = put_block(block, sizeof block, name, counter, instance);
    cr_assert(size > 0 && pfb_source_query_remove(query, block, size, NULL));
    return status_of(block, size, 0);
}

/* The result of a call as text. */
static char output[1 << 20];
static size_t output_size;

static void append(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void append(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(output + output_size, sizeof output - output_size, format, arguments);
    va_end(arguments);
    output_size += (size_t)size;
    cr_assert(size >= 0 && output_size < sizeof output);
}

static void clear_output(void)
{
    output_size = 0;
    output[0] = '\0';
}

static void append_instance(const pfb_name *name, uint32_t id)
{
    char text[256];
    pfb_name_to_utf8(name, text, sizeof text);
    append("%s#%x", text, (unsigned)id);
}

const char *data_of(const pfb_bytes *reply)
{
    pfb_v2_reader block;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
    clear_output();
    cr_assert(pfb_v2_open(&block, reply->data, reply->size_bytes, STRICT));
    while (pfb_v2_next_result(&block, &result)) {
        append("%u %x", (unsigned)result.kind, (unsigned)result.status);
        while (pfb_v2_next_instance(&block, &instance)) {
            append(" {");
            if (instance.name.bytes)
                append_instance(&instance.name, instance.id);
            while (pfb_v2_next_value(&block, &value)) {
                if (result.has_counter_ids)
                    append(" %u=", (unsigned)value.counter_id);
                else
                    append(" ");
                append("%llu/%u", (unsigned long long)value.raw, (unsigned)value.data_size_bytes);
            }
            append("}");
        }
        append("\n");
    }
    expect_error(pfb_v2_finish(&block), PFB_OK, 0, "the collected block");
    cr_expect(block.notes == 0 && block.total_size_bytes == reply->size_bytes);
    return output;
}

const char *ask(pfb_source *source, const char *name, uint32_t counter, uint32_t instance)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    cr_assert_eq(add_to(query, name, counter, instance), PFB_WIN32_SUCCESS);
    cr_assert(pfb_source_query_collect(query, &reply, &failure), "%s", failure.sentence);
    data_of(&reply);
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    return output;
}

void expect_one(pfb_source *source, const char *instance, unsigned counter, uint64_t value, unsigned size)
{
    char expected[64];
    snprintf(expected, sizeof expected, "1 0 { %llu/%u}\n", (unsigned long long)value, size);
    cr_expect_str_eq(ask(source, instance, counter, PFB_NO_ID), expected, "counter %u of %s", counter, instance);
}

const char *offered_by(pfb_source *source)
{
    pfb_bytes reply = {0};
    pfb_registration registration;
    pfb_counter counter;
    clear_output();
    cr_assert(pfb_source_registration(source, &queried_set, PFB_REQUEST_COUNTERSET, 0, &reply, NULL));
    cr_assert(pfb_registration_open(&registration, reply.data, reply.size_bytes, STRICT));
    for (uint32_t n = 0; pfb_registration_counter_at(&registration, n, &counter); n++)
        append("%u ", (unsigned)counter.id);
    pfb_bytes_free(&reply);
    return output;
}

const char *instances_of(pfb_source *source)
{
    pfb_bytes reply = {0};
    pfb_list list;
    pfb_listed_instance instance;
    clear_output();
    cr_assert(pfb_source_instances(source, &queried_set, &reply, NULL));
    pfb_list_open(&list, reply.data, reply.size_bytes, STRICT);
    while (pfb_list_next_instance(&list, &instance)) {
        append_instance(&instance.name, instance.id);
        append(" ");
    }
    expect_error(list.error, PFB_OK, 0, "the instance list");
    pfb_bytes_free(&reply);
    return output;
}

/* ---- Registrations ------------------------------------------------------------------------------------------ */

static void expect_counter(const pfb_counter *counter, const known_counter *known)
{
    const pfb_counter_type *type = pfb_counter_type_named(known->type, strlen(known->type));
    cr_assert(type, "%s", known->type);
    cr_expect_eq(counter->type, type->value, "%s", known->name);
    cr_expect_eq(counter->aggregate, known->aggregate, "%s", known->name);
    cr_expect_eq(counter->attributes, known->is_hidden ? PFB_ATTRIBUTE_NO_DISPLAY : 0, "%s", known->name);
    cr_expect_eq(counter->base_id, known->base_id ? known->base_id : PFB_NO_ID, "%s", known->name);
    cr_expect_eq(counter->perf_time_id, known->perf_time_id ? known->perf_time_id : PFB_NO_ID, "%s", known->name);
    cr_expect_eq(counter->perf_freq_id, known->perf_freq_id ? known->perf_freq_id : PFB_NO_ID, "%s", known->name);
    cr_expect_eq(counter->multi_id, PFB_NO_ID, "%s", known->name);
}

/* Checks the names or help texts of the counters. */
static void expect_strings(pfb_source *source, uint32_t request, const known_counter *known, uint32_t first,
                           uint32_t count)
{
    pfb_bytes reply = {0};
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    bool are_helps = request == PFB_REQUEST_COUNTER_HELPS;
    cr_assert(pfb_source_registration(source, &queried_set, request, 0, &reply, NULL));
    cr_assert(pfb_registration_strings_open(&strings, reply.data, reply.size_bytes, STRICT));
    for (uint32_t i = 0; i < count; i++) {
        cr_assert(pfb_registration_strings_next_string(&strings, &entry) && entry.counter_id == i && entry.text.bytes);
        cr_expect_gt(entry.text.size_bytes / 2, 0);
        const known_counter *expected = i < first ? NULL : &known[i - first];
        const char *text = !expected ? NULL : are_helps ? expected->help : expected->name;
        if (text)
            expect_name(&entry.text, text, expected->name);
    }
    expect_error(strings.error, PFB_OK, 0, "the list of strings");
    pfb_bytes_free(&reply);
}

/* Checks the counters from `first` on. */
static void expect_some(pfb_source *source, uint32_t instance_type, const known_counter *known, uint32_t first,
                        uint32_t count)
{
    pfb_bytes reply = {0};
    pfb_registration registration;
    pfb_counter counter;
    cr_assert(pfb_source_registration(source, &queried_set, PFB_REQUEST_COUNTERSET, 0, &reply, NULL));
    cr_assert(pfb_registration_open(&registration, reply.data, reply.size_bytes, STRICT));
    cr_expect(pfb_guid_equal(&registration.guid, &queried_set));
    cr_expect_eq(registration.instance_type, instance_type);
    for (uint32_t i = first; i < count; i++) {
        cr_assert(pfb_registration_counter_at(&registration, i, &counter) && counter.id == i);
        expect_counter(&counter, &known[i - first]);
    }
    pfb_bytes_free(&reply);
    expect_strings(source, PFB_REQUEST_COUNTER_NAMES, known, first, count);
    expect_strings(source, PFB_REQUEST_COUNTER_ENGLISH_NAMES, known, first, count);
    expect_strings(source, PFB_REQUEST_COUNTER_HELPS, known, first, count);
}

void expect_first_counters(pfb_source *source, uint32_t instance_type, const known_counter *known, uint32_t count)
{
    expect_some(source, instance_type, known, 0, count);
}

/* Returns the number of strings in the reply to a registration request, or of counters. */
static uint32_t registered_count(pfb_source *source, uint32_t request)
{
    pfb_bytes reply = {0};
    pfb_registration registration;
    pfb_registration_strings strings;
    cr_assert(pfb_source_registration(source, &queried_set, request, 0, &reply, NULL));
    bool is_set = request == PFB_REQUEST_COUNTERSET;
    cr_assert(is_set ? pfb_registration_open(&registration, reply.data, reply.size_bytes, STRICT)
                     : pfb_registration_strings_open(&strings, reply.data, reply.size_bytes, STRICT));
    uint32_t count = is_set ? registration.counter_count : strings.count;
    pfb_bytes_free(&reply);
    return count;
}

void expect_counters(pfb_source *source, uint32_t instance_type, const known_counter *known, uint32_t count)
{
    static const uint32_t requests[] = {PFB_REQUEST_COUNTERSET, PFB_REQUEST_COUNTER_NAMES,
                                        PFB_REQUEST_COUNTER_ENGLISH_NAMES, PFB_REQUEST_COUNTER_HELPS};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        cr_assert_eq(registered_count(source, requests[i]), count);
    expect_first_counters(source, instance_type, known, count);
}

void expect_last_counters(pfb_source *source, const pfb_guid *other, uint32_t instance_type, const known_counter *known,
                          uint32_t first, uint32_t count)
{
    pfb_bytes theirs = {0};
    pfb_bytes ours = {0};
    pfb_registration registration;
    pfb_counter counter;
    cr_assert(pfb_source_registration(source, other, PFB_REQUEST_COUNTERSET, 0, &theirs, NULL));
    cr_assert(pfb_registration_open(&registration, theirs.data, theirs.size_bytes, STRICT));
    for (uint32_t i = 0; i < first; i++) {
        cr_assert(pfb_registration_counter_at(&registration, i, &counter));
        cr_assert(pfb_source_registration(source, &queried_set, PFB_REQUEST_COUNTER, counter.id, &ours, NULL));
        cr_expect(ours.size_bytes == 48 && memcmp(ours.data, theirs.data + counter.offset, 48) == 0, "counter %u",
                  (unsigned)counter.id);
    }
    pfb_bytes_free(&theirs);
    pfb_bytes_free(&ours);
    cr_assert_eq(registered_count(source, PFB_REQUEST_COUNTERSET), count);
    expect_some(source, instance_type, known, first, count);
}
