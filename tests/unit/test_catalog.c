/* SPDX-License-Identifier: MIT */
/* The catalog of known countersets: counters, registrations, and the table in the documentation. */
#include "support.h"

#include <criterion/criterion.h>

#include "perfblock/catalog.h"
#include "perfblock/formula.h"

#include <stdio.h>
#include <string.h>

/* The expected counters. Like the countersets below, they are taken from the published sources of the catalog, not from
 * the table under test. */
typedef struct expected_counter {
    uint32_t id;
    const char *name, *type; /* `type` is null if it is unknown */
    uint32_t base_id;
} expected_counter;

#define NONE PFB_NO_ID

static const expected_counter processor_information[] = {
    {0, "% Processor Time", "PERF_100NSEC_TIMER_INV", NONE},
    {1, "% User Time", "PERF_100NSEC_TIMER", NONE},
    {2, "% Privileged Time", "PERF_100NSEC_TIMER", NONE},
    {3, "Interrupts/sec", "PERF_COUNTER_COUNTER", NONE},
    {4, "% DPC Time", "PERF_100NSEC_TIMER", NONE},
    {5, "% Interrupt Time", "PERF_100NSEC_TIMER", NONE},
    {6, "DPCs Queued/sec", "PERF_COUNTER_COUNTER", NONE},
    {7, "DPC Rate", "PERF_COUNTER_RAWCOUNT", NONE},
    {8, "% Idle Time", "PERF_100NSEC_TIMER", NONE},
    {9, "% C1 Time", "PERF_100NSEC_TIMER", NONE},
    {10, "% C2 Time", "PERF_100NSEC_TIMER", NONE},
    {11, "% C3 Time", "PERF_100NSEC_TIMER", NONE},
    {12, "C1 Transitions/sec", "PERF_COUNTER_BULK_COUNT", NONE},
    {13, "C2 Transitions/sec", "PERF_COUNTER_BULK_COUNT", NONE},
    {14, "C3 Transitions/sec", "PERF_COUNTER_BULK_COUNT", NONE},
    {15, "% Priority Time", "PERF_100NSEC_TIMER_INV", NONE},
    {16, "Parking Status", "PERF_COUNTER_RAWCOUNT", NONE},
    {17, "Processor Frequency", "PERF_COUNTER_RAWCOUNT", NONE},
    {18, "% of Maximum Frequency", "PERF_COUNTER_RAWCOUNT", NONE},
    {19, "Processor State Flags", "PERF_COUNTER_RAWCOUNT", NONE},
    {20, "Clock Interrupts/sec", "PERF_COUNTER_COUNTER", NONE},
    {21, "Average Idle Time", "PERF_PRECISION_100NS_TIMER", 22},
    {22, "Average Idle Time Base", "PERF_PRECISION_TIMESTAMP", NONE},
    {23, "Idle Break Events/sec", "PERF_COUNTER_BULK_COUNT", NONE},
    {24, "% Processor Performance", "PERF_AVERAGE_BULK", 25},
    {25, "% Processor Performance Base", "PERF_AVERAGE_BASE", NONE},
    {26, "% Processor Utility", "PERF_AVERAGE_BULK", 27},
    {27, "% Utility Base", "PERF_AVERAGE_BASE", NONE},
    {28, "% Privileged Utility", "PERF_AVERAGE_BULK", 27},
    {30, "% Performance Limit", "PERF_COUNTER_RAWCOUNT", NONE},
    {31, "Performance Limit Flags", "PERF_COUNTER_RAWCOUNT", NONE},
};
static const expected_counter gpu_engine[] = {{1, "Running Time", NULL, NONE},
                                              {2, "Utilization Percentage", "PERF_100NSEC_TIMER", NONE}};
static const expected_counter gpu_adapter_memory[] = {
    {1, "Total Committed", NULL, NONE}, {2, "Dedicated Usage", NULL, NONE}, {3, "Shared Usage", NULL, NONE}};
static const expected_counter gpu_process_memory[] = {{1, "Total Committed", NULL, NONE},
                                                      {2, "Local Usage", NULL, NONE},
                                                      {3, "Non Local Usage", NULL, NONE},
                                                      {4, "Dedicated Usage", NULL, NONE},
                                                      {5, "Shared Usage", NULL, NONE}};

typedef struct expected_set {
    const char *guid, *name;
    bool is_verified;
    const expected_counter *list;
    size_t counters, typed; /* numbers of counters, and of those whose type is known */
} expected_set;

static const expected_set expected_sets[] = {
    {"b4fc721a-0378-476f-89ba-a5a79f810b36", "Processor Information", true, processor_information, 31, 31},
    {"52bc5412-dac2-449c-8bc2-96443888fe6b", "Thermal Zone Information", false, NULL, 0, 0},
    {"978c167d-4764-4d9c-9824-14747351dc81", "GPU Engine", true, gpu_engine, 2, 1},
    {"be2139c7-ab81-424d-b107-d87f7c9322ac", "GPU Adapter Memory", true, gpu_adapter_memory, 3, 0},
    {"f802502b-77b4-4713-81b3-3be05759da5d", "GPU Process Memory", true, gpu_process_memory, 5, 0},
    {"f9ed01f5-8f3e-4956-973f-9f05bc96f489", "GPU Non Local Adapter Memory", false, NULL, 0, 0},
    {"227419d5-f6d8-4fb7-85d6-2cac1725e4a9", "GPU Local Adapter Memory", false, NULL, 0, 0},
    {"bfe2736b-c79f-4f36-bd15-2897a1a91d4a", "DFS Replicated Folders", false, NULL, 0, 0},
};

enum { SET_COUNT = sizeof expected_sets / sizeof expected_sets[0] };

/* ---- The table ----------------------------------------------------------------------------------------- */

Test(catalog, countersets_match_the_expected_list)
{
    for (size_t i = 0; i < SET_COUNT; i++) {
        const expected_set *e = &expected_sets[i];
        const pfb_catalog_set *set = pfb_catalog_set_at(i);
        cr_assert_not_null(set, "%s", e->name);
        char text[PFB_GUID_TEXT_BYTES];
        pfb_guid_format(&set->guid, text);
        cr_expect_str_eq(text, e->guid, "%s", e->name);
        cr_expect_str_eq(set->name, e->name);
        cr_expect_eq(set->is_verified, e->is_verified, "%s", e->name);
        cr_expect_eq(set->instance_type & ~(PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE), 0, "%s", e->name);
        cr_expect_neq(set->instance_type & PFB_INSTANCES_MULTIPLE, 0, "%s", e->name);
        cr_expect_eq(pfb_catalog_find(&set->guid), set, "%s", e->name);
        cr_expect_null(pfb_catalog_counter_at(set, e->counters), "%s", e->name);
        cr_expect_null(pfb_catalog_counter_at(set, SIZE_MAX), "%s", e->name);
    }
    cr_expect_null(pfb_catalog_set_at(SET_COUNT));
    cr_expect_null(pfb_catalog_set_at(SIZE_MAX));
}

Test(catalog, counters_match_the_expected_lists)
{
    for (size_t i = 0; i < SET_COUNT; i++) {
        const pfb_catalog_set *set = pfb_catalog_set_at(i);
        for (size_t n = 0; n < expected_sets[i].counters; n++) {
            const expected_counter *e = &expected_sets[i].list[n];
            const pfb_catalog_counter *counter = pfb_catalog_counter_at(set, n);
            cr_assert_not_null(counter, "%s", e->name);
            cr_expect_eq(counter->set, i, "%s", e->name);
            cr_expect_eq(counter->id, e->id, "%s", e->name);
            cr_expect_str_eq(counter->name, e->name);
            cr_expect_eq(counter->has_type, e->type != NULL, "%s", e->name);
            cr_expect_eq(counter->base_id, e->base_id, "%s", e->name);
            if (!e->type) {
                cr_expect_eq(counter->type, 0, "%s", e->name);
                continue;
            }
            const pfb_counter_type *type = pfb_counter_type_named(e->type, strlen(e->type));
            cr_assert_not_null(type, "%s", e->type);
            cr_expect_eq(counter->type, type->value, "%s", e->name);
        }
    }
}

/* In Processor Information, each base id is the id of a base counter, and each counter whose type needs a base has one.
 * Id 29 is not in the catalog. */
Test(catalog, every_base_exists)
{
    const pfb_catalog_set *set = pfb_catalog_set_at(0);
    for (size_t n = 0; n < expected_sets[0].counters; n++) {
        const pfb_catalog_counter *counter = pfb_catalog_counter_at(set, n);
        const pfb_counter_type *type = pfb_counter_type_find(counter->type);
        cr_assert_not_null(type);
        cr_expect_neq(counter->id, 29);
        cr_expect_eq(type->base != 0, counter->base_id != NONE, "%s", counter->name);
        bool found = counter->base_id == NONE;
        for (size_t k = 0; k < expected_sets[0].counters; k++) {
            const pfb_catalog_counter *base = pfb_catalog_counter_at(set, k);
            found = found || (base->id == counter->base_id && pfb_counter_type_is_base(base->type));
        }
        cr_expect(found, "%s", counter->name);
    }
}

Test(catalog, unknown_guids_are_not_found)
{
    pfb_guid guid = pfb_catalog_set_at(0)->guid;
    for (size_t i = 0; i < 16; i++) {
        guid.bytes[i] ^= 1;
        cr_expect_null(pfb_catalog_find(&guid), "another byte %zu", i);
        guid.bytes[i] ^= 1;
    }
    cr_expect_not_null(pfb_catalog_find(&guid));
}

/* ---- Registrations -------------------------------------------------------------------------------------- */

/* Writes the reply to a request. Returns its size. */
static size_t build(const pfb_catalog_set *set, uint32_t request, uint8_t *data, size_t capacity)
{
    pfb_writer writer;
    pfb_write_init(&writer, data, capacity);
    cr_assert(pfb_catalog_registration(set, request, &writer), "%s, request %u", set->name, request);
    cr_expect_eq(writer.error.code, PFB_OK, "%s, request %u", set->name, request);
    return writer.size_bytes;
}

Test(catalog, registrations_match_the_catalog)
{
    for (size_t i = 0; i < SET_COUNT; i++) {
        const pfb_catalog_set *set = pfb_catalog_set_at(i);
        uint8_t data[4096];
        size_t size = build(set, PFB_REQUEST_COUNTERSET, data, sizeof data);
        pfb_registration registration;
        cr_assert(pfb_registration_open(&registration, data, size, STRICT), "%s", set->name);
        cr_expect_eq(registration.counter_count, expected_sets[i].typed, "%s", set->name);
        cr_expect_eq(registration.instance_type, set->instance_type, "%s", set->name);
        cr_expect(pfb_guid_equal(&registration.guid, &set->guid), "%s", set->name);
        pfb_counter counter;
        uint32_t position = 0;
        for (size_t n = 0; n < expected_sets[i].counters; n++) {
            const expected_counter *e = &expected_sets[i].list[n];
            if (!e->type)
                continue;
            cr_assert(pfb_registration_counter_at(&registration, position++, &counter), "%s", e->name);
            cr_expect_eq(counter.id, e->id, "%s", e->name);
            cr_expect_eq(counter.type, pfb_counter_type_named(e->type, strlen(e->type))->value, "%s", e->name);
            cr_expect_eq(counter.base_id, e->base_id, "%s", e->name);
            cr_expect(counter.perf_time_id == NONE && counter.perf_freq_id == NONE && counter.multi_id == NONE);
            cr_expect(counter.default_scale == 0 && counter.attributes == 0 && counter.aggregate == 0);
        }
        cr_expect(!pfb_registration_counter_at(&registration, position, &counter), "%s", set->name);
    }
}

Test(catalog, names_are_returned_as_strings)
{
    static const uint32_t set_requests[] = {PFB_REQUEST_COUNTERSET_NAME, PFB_REQUEST_COUNTERSET_ENGLISH_NAME};
    static const uint32_t name_requests[] = {PFB_REQUEST_COUNTER_NAMES, PFB_REQUEST_COUNTER_ENGLISH_NAMES};
    for (size_t i = 0; i < 2 * SET_COUNT; i++) {
        const pfb_catalog_set *set = pfb_catalog_set_at(i / 2);
        uint8_t data[4096];
        size_t size = build(set, set_requests[i % 2], data, sizeof data);
        pfb_name text;
        cr_assert_eq(pfb_registration_string(data, size, &text).code, PFB_OK, "%s", set->name);
        expect_name(&text, set->name, "the name of the counterset");
        size = build(set, name_requests[i % 2], data, sizeof data);
        pfb_registration_strings strings;
        pfb_registration_string_entry entry;
        cr_assert(pfb_registration_strings_open(&strings, data, size, STRICT), "%s", set->name);
        cr_expect_eq(strings.count, expected_sets[i / 2].counters, "%s", set->name);
        for (size_t n = 0; n < expected_sets[i / 2].counters; n++) {
            cr_assert(pfb_registration_strings_next_string(&strings, &entry), "%s", set->name);
            cr_expect(entry.text.bytes && entry.counter_id == expected_sets[i / 2].list[n].id);
            expect_name(&entry.text, expected_sets[i / 2].list[n].name, "the name of a counter");
        }
        cr_expect(!pfb_registration_strings_next_string(&strings, &entry) && strings.error.code == PFB_OK);
    }
}

Test(catalog, other_requests_write_nothing)
{
    static const uint32_t others[] = {0, 2, 4, 6, 7, 8, 11, UINT32_MAX};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        pfb_writer writer;
        uint8_t data[64];
        pfb_write_init(&writer, data, sizeof data);
        cr_expect(!pfb_catalog_registration(pfb_catalog_set_at(0), others[i], &writer), "%u", others[i]);
        cr_expect(writer.size_bytes == 0 && writer.error.code == PFB_OK, "%u", others[i]);
    }
}

Test(catalog, a_buffer_that_is_too_small_is_an_error_of_the_writer)
{
    pfb_writer writer;
    pfb_write_init(&writer, NULL, 0);
    cr_expect(pfb_catalog_registration(pfb_catalog_set_at(0), PFB_REQUEST_COUNTERSET, &writer));
    cr_expect_eq(writer.error.code, PFB_CALLER_TOO_SMALL);
    cr_expect_eq(writer.size_bytes, 32 + 31 * 48, "the size that is needed");
}

/* ---- The documentation --------------------------------------------------------------------------------- */

/* Returns the number of rows in docs/catalog.md that begin with this text. */
static size_t rows_of_page(const char *beginning)
{
    FILE *page = fopen(PERFBLOCK_SOURCE_DIR "/docs/catalog.md", "r");
    cr_assert(page != NULL, "docs/catalog.md cannot be opened");
    size_t rows = 0;
    char line[512];
    while (fgets(line, sizeof line, page))
        rows += strncmp(line, beginning, strlen(beginning)) == 0;
    fclose(page);
    return rows;
}

Test(catalog, the_documentation_has_the_same_rows)
{
    char row[256];
    for (size_t i = 0; i < SET_COUNT; i++) {
        snprintf(row, sizeof row, "| %s | `%s` | %s |", expected_sets[i].name, expected_sets[i].guid,
                 expected_sets[i].is_verified ? "verified" : "single");
        cr_expect_eq(rows_of_page(row), 1, "%s", row);
    }
    for (size_t n = 0; n < expected_sets[0].counters; n++) {
        const expected_counter *e = &processor_information[n];
        char base[16] = "-";
        if (e->base_id != NONE)
            snprintf(base, sizeof base, "%u", e->base_id);
        snprintf(row, sizeof row, "| %u | %s | `%s` | %s |", e->id, e->name, e->type, base);
        cr_expect_eq(rows_of_page(row), 1, "%s", row);
    }
}
