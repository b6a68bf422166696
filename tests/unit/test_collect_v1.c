/* SPDX-License-Identifier: MIT */
/* Collectors over a simulated machine whose V1 data is written in this file, with values computed by hand. Part of
 * test_collect. */
#include <criterion/criterion.h>

#include "perfblock/collect.h"
#include "perfblock/write.h"
#include "support_allocations.h"
#include "support_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A machine ---------------------------------------------------------------------------------------------- */

/* Title indexes of objects (SYSTEM, PROCESSOR, COSTLY, UNNAMED) and of counters. */
enum { SYSTEM = 2, TIMES = 6, RATE = 10, PROCESSOR = 238, COSTLY = 900, COUNT = 902, UNNAMED = 950, FRACTION = 400 };

/* The name table. Title 4 has the same name as object 238, but no object has title 4. Title 238 has two names. */
static const char names[] = "1\0"
                            "960\0"
                            "2\0"
                            "System\0"
                            "4\0"
                            "Processor\0"
                            "6\0"
                            "% Processor Time\0"
                            "10\0"
                            "File Ops/sec\0"
                            "238\0"
                            "Processor\0"
                            "238\0"
                            "Prozessor\0"
                            "400\0"
                            "% Used\0"
                            "900\0"
                            "Thread Details\0"
                            "902\0"
                            "Count\0";

typedef struct machine {
    uint32_t seconds;    /* time of its clocks; each query for data advances it by one */
    char last_query[64]; /* the last query for data */
    uint32_t refusal;    /* code with which every query fails; 0: none */
    uint32_t name_code;  /* code with which queries for name tables fail; 0: none */
    bool has_broken_names;
    bool is_empty; /* blocks have no objects */
    bool is_recorded;
    uint32_t samples_left; /* of a recording: number of samples that were not returned yet */
    size_t name_queries;
} machine;

static bool has_title(const char *query, uint32_t title)
{
    char word[16];
    size_t size = (size_t)snprintf(word, sizeof word, "%" PRIu32, title);
    if (strcmp(query, "Global") == 0)
        return title != COSTLY;
    for (const char *at = query; (at = strstr(at, word)) != NULL; at++) {
        if ((at == query || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0'))
            return true;
    }
    return false;
}

static pfb_v1_counter counter_of(uint32_t title, uint32_t type, uint32_t size)
{
    return (pfb_v1_counter){.title_index = title, .type = type, .size_bytes = size};
}

static void put_instance(pfb_writer *w, const char *name)
{
    pfb_write_v1_instance(
        w, &(pfb_v1_instance){.name = pfb_utf8_name(name, strlen(name)), .unique_id = PFB_V1_NO_UNIQUE_ID});
}

/* Rates: System 5 per second, processors 10 % and 20 % of their time. */
static void write_block(const machine *m, const char *query, pfb_writer *w)
{
    const int64_t second = 10000000;
    const int64_t now = m->seconds * second;
    const pfb_name host = pfb_utf8_name("HOST", 4);
    const pfb_write_times times = {.perf_time = now, .perf_time_100ns = now, .perf_freq = second};
    pfb_write_begin_v1(w, &times, &host, false);
    if (!m->is_empty && has_title(query, SYSTEM)) {
        pfb_write_begin_object(w, &(pfb_v1_object){.title_index = SYSTEM, .instance_count = PFB_V1_NO_INSTANCES});
        pfb_v1_counter rate = counter_of(RATE, COUNTER, 4);
        pfb_v1_counter used = counter_of(FRACTION, RAW_FRACTION, 4);
        pfb_v1_counter base = counter_of(FRACTION, RAW_BASE, 4);
        uint32_t at[] = {pfb_write_definition(w, &rate), pfb_write_definition(w, &used),
                         pfb_write_definition(w, &base)};
        pfb_write_v1_value(w, at[0], 5 * m->seconds, 4);
        pfb_write_v1_value(w, at[1], 25, 4);
        pfb_write_v1_value(w, at[2], 100, 4);
        pfb_write_end_object(w);
    }
    if (!m->is_empty && has_title(query, PROCESSOR)) {
        pfb_write_begin_object(w, &(pfb_v1_object){.title_index = PROCESSOR});
        pfb_v1_counter time = counter_of(TIMES, TIMER_100NS, 8);
        uint32_t at = pfb_write_definition(w, &time);
        for (uint32_t i = 1; i <= 2; i++) {
            put_instance(w, i == 1 ? "0" : "1");
            pfb_write_v1_value(w, at, (uint64_t)now / 10 * i, 8);
        }
        pfb_write_end_object(w);
    }
    for (uint32_t title = COSTLY; title <= UNNAMED && !m->is_empty; title += UNNAMED - COSTLY) {
        if (!has_title(query, title))
            continue;
        pfb_write_begin_object(w, &(pfb_v1_object){.title_index = title});
        pfb_v1_counter count = counter_of(title == COSTLY ? COUNT : title, RAWCOUNT, 4);
        uint32_t at = pfb_write_definition(w, &count);
        for (uint32_t i = 0; i < 2; i++) {
            put_instance(w, "a");
            pfb_write_v1_value(w, at, 7 + i, 4);
        }
        pfb_write_end_object(w);
    }
    pfb_write_end_v1(w);
}

static bool fail(pfb_source_failure *failure, uint32_t code, const char *sentence)
{
    if (failure) {
        failure->code = code;
        snprintf(failure->sentence, sizeof failure->sentence, "%s", sentence);
    }
    return false;
}

static bool give_names(machine *m, pfb_bytes *bytes, pfb_source_failure *failure)
{
    uint8_t wide[2 * sizeof names];
    m->name_queries++;
    if (m->name_code != 0)
        return fail(failure, m->name_code, "there is no name table");
    for (size_t i = 0; i < sizeof names; i++) {
        wide[2 * i] = (uint8_t)names[i];
        wide[2 * i + 1] = 0;
    }
    if (m->has_broken_names)
        wide[0] = 'x';
    return pfb_bytes_append(bytes, wide, sizeof wide) || fail(failure, PFB_WIN32_NOT_ENOUGH_MEMORY, "no memory");
}

static bool v1(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    static uint8_t block[4096];
    machine *m = context;
    pfb_writer w;
    if (m->refusal != 0)
        return fail(failure, m->refusal, "V1 is refused");
    if (strncmp(query, "Counter ", 8) == 0)
        return strcmp(query, "Counter 009") == 0 ? give_names(m, bytes, failure)
                                                 : fail(failure, PFB_WIN32_FILE_NOT_FOUND, "no such language");
    if (m->is_recorded && m->samples_left-- == 0)
        return fail(failure, PFB_WIN32_NO_MORE_ITEMS, "the end");
    snprintf(m->last_query, sizeof m->last_query, "%s", query);
    m->seconds++;
    pfb_write_init(&w, block, sizeof block);
    write_block(m, query, &w);
    cr_assert_eq(w.error.code, PFB_OK);
    return pfb_bytes_append(bytes, block, w.size_bytes) || fail(failure, PFB_WIN32_NOT_ENOUGH_MEMORY, "no memory");
}

static bool refuse_reply(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    (void)context;
    (void)bytes;
    return fail(failure, PFB_WIN32_NOT_SUPPORTED, "this system has no V2");
}

static bool refuse_registration(void *context, const pfb_guid *set, uint32_t request, uint32_t language,
                                pfb_bytes *bytes, pfb_source_failure *failure)
{
    (void)set;
    (void)request;
    (void)language;
    return refuse_reply(context, bytes, failure);
}

static bool refuse_instances(void *context, const pfb_guid *set, pfb_bytes *bytes, pfb_source_failure *failure)
{
    (void)set;
    return refuse_reply(context, bytes, failure);
}

static void *refuse_query(void *context, pfb_source_failure *failure)
{
    refuse_reply(context, NULL, failure);
    return NULL;
}

static bool is_recorded(void *context)
{
    return ((const machine *)context)->is_recorded;
}

static void close_nothing(void *context)
{
    (void)context;
}

static const pfb_source_operations operations = {.close = close_nothing,
                                                 .countersets = refuse_reply,
                                                 .registration = refuse_registration,
                                                 .instances = refuse_instances,
                                                 .query_open = refuse_query,
                                                 .v1 = v1,
                                                 .is_recorded = is_recorded};

/* ---- Values as text ----------------------------------------------------------------------------------------- */

enum { TEXT_BYTES = 1024 };

static void list_values(pfb_collector *c, char text[TEXT_BYTES])
{
    pfb_collected_value v;
    size_t used = 0;
    text[0] = '\0';
    while (pfb_collector_next(c, &v)) {
        const char *instance = v.has_instance ? v.instance : "-";
        int size = v.status == PFB_STATUS_OK
                       ? snprintf(text + used, TEXT_BYTES - used, "%s|%s#%" PRIu32 "|%s|%g%s\n", v.counterset, instance,
                                  v.occurrence, v.counter, v.value, v.unit)
                       : snprintf(text + used, TEXT_BYTES - used, "%s|%s#%" PRIu32 "|%s|%s\n", v.counterset, instance,
                                  v.occurrence, v.counter, pfb_status_name(v.status));
        used += (size_t)size;
        cr_assert_lt(used, TEXT_BYTES);
        cr_expect_str_eq(v.machine, "HOST");
        cr_expect(v.has_title && !v.has_guid);
    }
}

/* Collects two samples of a path; `text` becomes the values of the second one. */
static bool collect_two(machine *m, const pfb_collector_options *options, const char *path, char text[TEXT_BYTES],
                        pfb_source_failure *failure)
{
    pfb_source *source = pfb_source_make(&operations, m, failure);
    pfb_collector *c = source ? pfb_collector_open(source, options, failure) : NULL;
    bool is_done = c && pfb_collector_add(c, path, failure) && pfb_collector_collect(c, failure) &&
                   pfb_collector_collect(c, failure);
    text[0] = '\0';
    if (is_done) {
        cr_expect(pfb_collector_is_v1(c));
        cr_expect(pfb_collector_reply(c).is_v1 && pfb_collector_reply(c).collected_bytes > 88);
        list_values(c, text);
    }
    pfb_collector_close(c);
    pfb_source_close(source);
    return is_done;
}

/* ---- Paths and values --------------------------------------------------------------------------------------- */

#define TIMES_OF_BOTH "Processor|0#0|% Processor Time|10%\nProcessor|1#0|% Processor Time|20%\n"
#define RATE_ONLY "System|-#0|File Ops/sec|5/sec\n"
#define FRACTION_ONLY "System|-#0|% Used|25%\nSystem|-#0|% Used|not_displayed\n"

static const pfb_collector_options at_once = {.returns_at_once = true, .machine = "\\\\HOST"};
static const pfb_collector_options v1_at_once = {.returns_at_once = true, .is_v1 = true, .machine = "HOST"};

Test(collect_v1, objects_are_found_by_path)
{
    static const struct {
        const char *path, *query, *expected;
    } rows[] = {
        {"\\Processor(*)\\% Processor Time", "238", TIMES_OF_BOTH},
        {"\\processor\\% PROCESSOR TIME", "238", TIMES_OF_BOTH},
        {"\\238(1)\\6", "238", "Processor|1#0|% Processor Time|20%\n"},
        {"\\Proc*(0)\\% *", "238", "Processor|0#0|% Processor Time|10%\n"},
        {"\\{b4fc721a-0378-476f-89ba-a5a79f810b36}(*)\\*", NULL, ""}, /* Processor Information: no such object */
        {"\\System\\File*", "2", RATE_ONLY},
        {"\\System(*)\\File*", "2", RATE_ONLY},
        {"\\System\\% Used", "2", FRACTION_ONLY},
        {"\\System\\*", "2", RATE_ONLY FRACTION_ONLY},
        {"\\Thread Details(a#1)\\Count", "900", "Thread Details|a#1|Count|8\n"},
        {"\\950(a)\\950", "950", "|a#0||7\n|a#1||8\n"},
        {"\\95?(a#0)\\9*", "950", "|a#0||7\n"},
        {"\\*(1)\\*", "238", "Processor|1#0|% Processor Time|20%\n"},
        {"\\\\hos?\\System\\File*", "2", RATE_ONLY},
        {"\\\\*\\System\\File*", "2", RATE_ONLY},
        {"\\*\\*", "2 238 950", RATE_ONLY FRACTION_ONLY TIMES_OF_BOTH "|a#0||7\n|a#1||8\n"},
    };
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof rows[0]); i++) {
        char text[TEXT_BYTES];
        machine m = {0};
        pfb_source_failure failure = {0};
        bool is_done = collect_two(&m, i % 2 == 0 ? &at_once : &v1_at_once, rows[i / 2].path, text, &failure);
        cr_expect_eq(is_done, rows[i / 2].query != NULL, "%s: %s", rows[i / 2].path, failure.sentence);
        cr_expect_str_eq(text, rows[i / 2].expected, "%s: %s", rows[i / 2].path, text);
        cr_expect(!is_done || strcmp(m.last_query, rows[i / 2].query) == 0, "%s: %s", rows[i / 2].path, m.last_query);
        cr_expect_eq(m.name_queries, 1, "%s", rows[i / 2].path);
    }
}

Test(collect_v1, values_of_several_paths_are_combined)
{
    char text[TEXT_BYTES];
    machine m = {0};
    pfb_collector_identifier identifier;
    pfb_source_failure failure = {0};
    pfb_source *source = pfb_source_make(&operations, &m, &failure);
    pfb_collector *c = pfb_collector_open(source, &v1_at_once, &failure);
    cr_assert(c && pfb_collector_add(c, "\\Processor(1)\\*", &failure) &&
              pfb_collector_add(c, "\\System\\File*", &failure) &&
              pfb_collector_add(c, "\\Processor(0)\\% Processor Time", &failure));
    cr_assert(!pfb_collector_add(c, "\\Nothing\\*", &failure));
    cr_assert(pfb_collector_collect(c, &failure) && pfb_collector_collect(c, &failure));
    list_values(c, text);
    cr_expect_str_eq(text, RATE_ONLY TIMES_OF_BOTH);
    cr_expect_str_eq(m.last_query, "2 238");
    cr_expect(pfb_collector_identifier_at(c, 0, &identifier) && identifier.is_v1 && identifier.title == SYSTEM &&
              identifier.counter_id == RATE && !identifier.instance);
    cr_expect(pfb_collector_identifier_at(c, 1, &identifier) && identifier.title == PROCESSOR &&
              identifier.counter_id == TIMES && strcmp(identifier.instance, "0") == 0);
    cr_expect(pfb_collector_identifier_at(c, 2, &identifier) && identifier.title == PROCESSOR &&
              identifier.counter_id == PFB_NO_ID && strcmp(identifier.instance, "1") == 0);
    cr_expect_not(pfb_collector_identifier_at(c, 3, &identifier));
    pfb_collector_close(c);
    pfb_source_close(source);
}

Test(collect_v1, failures_name_the_unmatched_part)
{
    static const struct {
        const char *path;
        uint32_t code;
        const char *named;
    } rows[] = {
        {"\\Thinks(*)\\*", PFB_WIN32_COUNTERSET_NOT_FOUND, "no counterset is called Thinks"},
        {"\\Thinks*(*)\\*", PFB_WIN32_COUNTERSET_NOT_FOUND, "no counterset matches Thinks*"},
        /* a wildcard does not match costly objects */
        {"\\Thread D*(*)\\*", PFB_WIN32_COUNTERSET_NOT_FOUND, "Thread D*"},
        {"\\4(*)\\*", PFB_WIN32_COUNTERSET_NOT_FOUND, "4"},
        {"\\99999999999(*)\\*", PFB_WIN32_COUNTERSET_NOT_FOUND, "99999999999"},
        {"\\{b4fc721a-0378-476f-89ba-a5a79f810b36}\\*", PFB_WIN32_COUNTERSET_NOT_FOUND, "b4fc721a"},
        {"\\Processor(*)\\Counts", PFB_WIN32_COUNTER_NOT_FOUND, "no counter of Processor is called Counts"},
        {"\\Processor(*)\\Counts*", PFB_WIN32_COUNTER_NOT_FOUND, "no counter of Processor matches Counts*"},
        {"\\Processor(*)\\10", PFB_WIN32_COUNTER_NOT_FOUND, "10"},
        {"\\Processor(7)\\*", PFB_WIN32_INSTANCE_NOT_FOUND, "7"},
        {"\\System(7)\\*", PFB_WIN32_INSTANCE_NOT_FOUND, "7"},
        {"\\*(7)\\*", PFB_WIN32_INSTANCE_NOT_FOUND, "7"},
        {"\\\\other\\System\\*", PFB_WIN32_INVALID_PARAMETER, "other"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT_BYTES];
        machine m = {0};
        pfb_source_failure failure = {0};
        cr_expect_not(collect_two(&m, &v1_at_once, rows[i].path, text, &failure), "%s", rows[i].path);
        cr_expect_eq(failure.code, rows[i].code, "%s: %s", rows[i].path, failure.sentence);
        cr_expect(strstr(failure.sentence, rows[i].named), "%s: %s", rows[i].path, failure.sentence);
    }
}

/* ---- Sources ------------------------------------------------------------------------------------------------ */

/* If countersets cannot be listed, the collector uses V1 if there are V1 objects. Otherwise it reports why listing
 * failed. A name table that cannot be read is a failure, too. */
Test(collect_v1, a_machine_that_cannot_be_used_reports_a_failure)
{
    static const struct {
        machine m;
        const pfb_collector_options *options;
        uint32_t code;
        const char *sentence;
    } rows[] = {
        {{.is_empty = true}, &at_once, PFB_WIN32_NOT_SUPPORTED, "this system has no V2"},
        {{.refusal = PFB_WIN32_NOT_SUPPORTED}, &at_once, PFB_WIN32_NOT_SUPPORTED, "this system has no V2"},
        {{.refusal = PFB_WIN32_NOT_SUPPORTED}, &v1_at_once, PFB_WIN32_NOT_SUPPORTED, "V1 is refused"},
        {{.refusal = PFB_WIN32_ACCESS_DENIED}, &v1_at_once, PFB_WIN32_ACCESS_DENIED, "V1 is refused"},
        {{.name_code = PFB_WIN32_ACCESS_DENIED}, &at_once, PFB_WIN32_ACCESS_DENIED, "there is no name table"},
        {{.is_empty = true}, &v1_at_once, PFB_WIN32_COUNTERSET_NOT_FOUND, "no counterset is called 2000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT_BYTES];
        machine m = rows[i].m;
        pfb_source_failure failure = {0};
        cr_expect_not(collect_two(&m, rows[i].options, "\\2000\\*", text, &failure), "row %zu", i);
        cr_expect_eq(failure.code, rows[i].code, "row %zu: %s", i, failure.sentence);
        cr_expect_str_eq(failure.sentence, rows[i].sentence, "row %zu", i);
    }
}

Test(collect_v1, titles_can_be_used_without_a_name_table)
{
    char text[TEXT_BYTES];
    machine m = {.name_code = PFB_WIN32_NOT_FOUND};
    machine broken = {.has_broken_names = true};
    pfb_source_failure failure = {0};
    pfb_collector_problem problem;
    cr_assert(collect_two(&m, &v1_at_once, "\\238(1)\\6", text, &failure), "%s", failure.sentence);
    cr_expect_str_eq(text, "|1#0||20%\n");
    pfb_source *source = pfb_source_make(&operations, &broken, &failure);
    pfb_collector *c = pfb_collector_open(source, &v1_at_once, &failure);
    cr_assert(c && pfb_collector_add(c, "\\238(1)\\6", &failure), "%s", failure.sentence);
    cr_expect(pfb_collector_next_problem(c, &problem) && problem.is_names && problem.error.code == PFB_UNKNOWN_FORMAT);
    cr_expect_not(pfb_collector_next_problem(c, &problem));
    pfb_collector_close(c);
    pfb_source_close(source);
}

/* The counters of a recording are selected as its blocks are read. A path without matches is not a failure. An object
 * without instances has no instance of a given name. */
Test(collect_v1, counters_of_recordings_are_selected)
{
    char text[TEXT_BYTES];
    machine m = {.is_recorded = true, .samples_left = 2};
    pfb_source_failure failure = {0};
    pfb_source *source = pfb_source_make(&operations, &m, &failure);
    pfb_collector *c = pfb_collector_open(source, &(pfb_collector_options){.is_v1 = true}, &failure);
    cr_assert(c && pfb_collector_add(c, "\\*(1)\\*", &failure) && pfb_collector_add(c, "\\Nothing\\*", &failure));
    cr_assert(pfb_collector_collect(c, &failure) && pfb_collector_collect(c, &failure));
    list_values(c, text);
    cr_expect_str_eq(text, "Processor|1#0|% Processor Time|20%\n");
    cr_expect(!pfb_collector_collect(c, &failure) && failure.code == PFB_WIN32_NO_MORE_ITEMS);
    pfb_collector_close(c);
    pfb_source_close(source);
}

/* After a failed call, no counter of a recording is selected. */
Test(collect_v1, a_failed_add_selects_nothing_of_a_recording)
{
    size_t failed = 0;
    for (size_t n = 1; n == 1 || allocations >= failing_allocation; n++) {
        machine m = {.is_recorded = true, .samples_left = 2};
        pfb_source_failure failure = {0};
        failing_allocation = 0;
        pfb_source *source = pfb_source_make(&operations, &m, &failure);
        pfb_collector *c = pfb_collector_open(source, &(pfb_collector_options){.is_v1 = true}, &failure);
        cr_assert_not_null(c);
        allocations = 0;
        failing_allocation = n;
        bool is_added = pfb_collector_add(c, "\\Processor(1)\\*", &failure);
        failed += !is_added;
        size_t count = allocations;
        failing_allocation = 0;
        if (!is_added)
            cr_expect(!pfb_collector_collect(c, &failure) && failure.code == PFB_WIN32_INVALID_PARAMETER,
                      "allocation %zu: %s", n, failure.sentence);
        pfb_collector_close(c);
        pfb_source_close(source);
        allocations = count;
        failing_allocation = n;
    }
    failing_allocation = 0;
    cr_expect_gt(failed, 3);
}

/* Adds a name table: title 7 is called "seven" and the number of the table, as are 15 titles that no other table has.
 */
static void add_table(pfb_collector *c, uint32_t number)
{
    enum { TITLES = 16, ROW_BYTES = 2 * 64 };
    uint8_t table[TITLES * ROW_BYTES + 2] = {0};
    size_t size = 0;
    for (uint32_t i = 0; i < TITLES; i++) {
        char text[64];
        uint32_t title = i == 0 ? 7 : 1000 + TITLES * number + i;
        int digits = snprintf(text, sizeof text, "%" PRIu32, title);
        int end = digits + 1 + snprintf(text + digits + 1, sizeof text - (size_t)digits - 1, "seven %" PRIu32, number);
        for (int at = 0; at <= end; at++, size += 2)
            table[size] = (uint8_t)text[at];
    }
    cr_assert(pfb_collector_put_names(c, table, size + 2, NULL, NULL));
}

static void expect_title(pfb_collector *c, uint32_t title, uint32_t number)
{
    char expected[64];
    char text[64];
    pfb_name name = pfb_collector_title(c, title);
    snprintf(expected, sizeof expected, "seven %" PRIu32, number);
    cr_assert_lt(pfb_name_to_utf8(&name, text, sizeof text), sizeof text);
    cr_assert_str_eq(text, expected, "title %" PRIu32, title);
}

/* Tables are added and used in turn. The time-out detects that all names are sorted again for each table. */
Test(collect_v1, adding_and_using_names_in_turn_does_not_take_quadratic_time, .timeout = 20)
{
    enum { TABLES = 16000 };
    pfb_collector *c = pfb_collector_open(NULL, NULL, NULL);
    cr_assert_not_null(c);
    for (uint32_t i = 0; i < TABLES; i++) {
        add_table(c, i);
        expect_title(c, 7, i);
        expect_title(c, 1000 + 16 * (i / 2) + 1, i / 2);
        expect_title(c, 1000 + 16 * i + 15, i);
    }
    cr_expect_null(pfb_collector_title(c, 8).bytes);
    pfb_collector_close(c);
}

/* A machine and two counters have long names, and each of many objects has both counters. The time-out detects that the
 * names are converted again for each value. */
Test(collect_v1, long_names_do_not_take_quadratic_time, .timeout = 20)
{
    enum { OBJECTS = 2000, MACHINE_SIZE = 2 << 20, NAME_SIZE = 3 << 20 };
    const uint32_t titles[] = {TIMES, RATE};
    char *text = malloc(NAME_SIZE);
    size_t capacity = 2 * (MACHINE_SIZE + 2 * NAME_SIZE) + 512 * (size_t)OBJECTS;
    uint8_t *bytes = calloc(capacity, 1);
    pfb_collector *c = pfb_collector_open(NULL, NULL, NULL);
    cr_assert(text && bytes && c);
    memset(text, 'n', NAME_SIZE);
    size_t size = 0;
    for (size_t i = 0; i < 2; i++) { /* the name table: the digits of the title, a NUL, the name, a NUL */
        char digits[16];
        for (int at = 0, end = snprintf(digits, sizeof digits, "%" PRIu32, titles[i]); at <= end; at++, size += 2)
            bytes[size] = (uint8_t)digits[at];
        for (size_t at = 0; at < NAME_SIZE; at++, size += 2)
            bytes[size] = 'n';
        size += 2;
    }
    cr_assert(pfb_collector_put_names(c, bytes, size + 2, NULL, NULL));

    pfb_writer w;
    const pfb_name machine_name = pfb_utf8_name(text, MACHINE_SIZE);
    const pfb_write_times times = {.perf_freq = 1000};
    pfb_write_init(&w, bytes, capacity);
    pfb_write_begin_v1(&w, &times, &machine_name, false);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        pfb_write_begin_object(&w, &(pfb_v1_object){.title_index = i, .instance_count = PFB_V1_NO_INSTANCES});
        pfb_v1_counter first = counter_of(titles[0], RAWCOUNT, 4);
        pfb_v1_counter second = counter_of(titles[1], RAWCOUNT, 4);
        uint32_t at[] = {pfb_write_definition(&w, &first), pfb_write_definition(&w, &second)};
        pfb_write_v1_value(&w, at[0], i, 4);
        pfb_write_v1_value(&w, at[1], i, 4);
        pfb_write_end_object(&w);
    }
    pfb_write_end_v1(&w);
    cr_assert_eq(w.error.code, PFB_OK);

    pfb_collected_value v;
    size_t count = 0;
    cr_assert(pfb_collector_put_sample(c, 1, bytes, w.size_bytes, NULL));
    for (; pfb_collector_next(c, &v); count++) {
        cr_assert(v.counter_size == NAME_SIZE && v.counter[NAME_SIZE - 1] == 'n' && v.counter[NAME_SIZE] == '\0');
        cr_assert(v.machine_size == MACHINE_SIZE && v.machine[MACHINE_SIZE - 1] == 'n' &&
                  v.machine[MACHINE_SIZE] == '\0');
    }
    cr_expect_eq(count, 2 * OBJECTS);
    pfb_collector_close(c);
    free(bytes);
    free(text);
}

/* ---- Exhausted memory --------------------------------------------------------------------------------------- */

static bool is_out_of_memory(uint32_t code)
{
    return code == PFB_WIN32_OUTOFMEMORY || code == PFB_WIN32_NOT_ENOUGH_MEMORY;
}

Test(collect_v1, a_failed_allocation_is_reported)
{
    size_t failed = 0;
    for (size_t n = 1; n == 1 || allocations >= failing_allocation; n++) {
        char text[TEXT_BYTES];
        machine m = {0};
        pfb_source_failure failure = {0};
        allocations = 0;
        failing_allocation = n;
        bool is_done = collect_two(&m, &at_once, "\\Proc*(*)\\% *", text, &failure);
        cr_expect(is_done || is_out_of_memory(failure.code), "allocation %zu: %s", n, failure.sentence);
        cr_expect(!is_done || strcmp(text, TIMES_OF_BOTH) == 0, "allocation %zu: %s", n, text);
        failed += !is_done;
    }
    failing_allocation = 0;
    cr_expect_gt(failed, 15);
}
