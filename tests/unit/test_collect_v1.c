/* SPDX-License-Identifier: MIT */
/* Collectors over a simulated machine whose V1 data is written in this file, with values computed by hand. Part of
 * test_collect. */
#include <criterion/criterion.h>

#include "perfblock/write.h"
#include "support_frames.h"
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
    uint32_t name_code;  /* code with which queries for name tables fail; 0: none */
    bool has_broken_names;
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
    if (has_title(query, SYSTEM)) {
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
    if (has_title(query, PROCESSOR)) {
        pfb_write_begin_object(w, &(pfb_v1_object){.title_index = PROCESSOR});
        pfb_v1_counter time = counter_of(TIMES, TIMER_100NS, 8);
        uint32_t at = pfb_write_definition(w, &time);
        for (uint32_t i = 1; i <= 2; i++) {
            put_instance(w, i == 1 ? "0" : "1");
            pfb_write_v1_value(w, at, (uint64_t)now / 10 * i, 8);
        }
        pfb_write_end_object(w);
    }
    for (uint32_t title = COSTLY; title <= UNNAMED; title += UNNAMED - COSTLY) {
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

/* ---- Paths and values --------------------------------------------------------------------------------------- */

enum { TEXT_BYTES = 1024 };

#define TIMES_OF_BOTH "Processor|0#0|% Processor Time|10%\nProcessor|1#0|% Processor Time|20%\n"
#define RATE_ONLY "System|-#0|File Ops/sec|5/sec\n"
#define FRACTION_ONLY "System|-#0|% Used|25%\nSystem|-#0|% Used|not_displayed\n"

/* Reads samples of the machine from the stream of a source; `text` becomes the values of the last one. Returns the
 * number of frames. */
static size_t collect(machine *m, bool is_v1, const char *const paths[3], size_t sample_count, char text[TEXT_BYTES])
{
    pfb_frame frame = {.size = sizeof frame};
    pfb_series s = {.size = sizeof s};
    size_t count = 0;
    pfb_source *source = pfb_source_make(&operations, m, NULL);
    pfb_stream *stream = pfb_stream_new();
    pfb_selection *selection = pfb_selection_new();
    pfb_collector *c = pfb_collector_new();
    cr_assert(source && stream && selection && c && pfb_stream_add_source(stream, source) == 0);
    for (size_t i = 0; i < 3 && paths[i]; i++)
        cr_assert(pfb_selection_add(selection, paths[i]) >= 0);
    cr_assert(pfb_collector_select(c, selection));
    cr_assert_eq(pfb_stream_set(stream, PFB_STREAM_INTERVAL, 1), PFB_OK);
    cr_assert_eq(pfb_stream_set(stream, PFB_STREAM_VERSION, is_v1), PFB_OK);
    text[0] = '\0';
    for (; count < sample_count && pfb_collector_read(c, stream) == PFB_NEXT_RECORD; count++) {
        list_frame(c, text, TEXT_BYTES);
        cr_assert(pfb_collector_frame(c, &frame) && frame.kind == PFB_RECORD_V1);
        for (uint32_t i = 0; i < frame.count; i++) {
            cr_assert(pfb_collector_series(c, i, &s));
            cr_expect_str_eq(s.machine, "HOST");
            cr_expect((s.has & PFB_SERIES_TITLE) && !(s.has & PFB_SERIES_SET));
        }
    }
    pfb_collector_close(c);
    pfb_selection_close(selection);
    pfb_stream_close(stream);
    return count;
}

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
        {"\\*\\*", "2 238 950", RATE_ONLY FRACTION_ONLY TIMES_OF_BOTH "|a#0||7\n|a#1||8\n"},
    };
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof rows[0]); i++) {
        char text[TEXT_BYTES];
        const char *path = rows[i / 2].path;
        machine m = {0};
        size_t count = collect(&m, i % 2 != 0, (const char *const[3]){path}, 2, text);
        cr_expect_eq(count, rows[i / 2].query ? 2 : 0, "%s", path);
        cr_expect_str_eq(text, rows[i / 2].expected, "%s: %s", path, text);
        cr_expect(count == 0 || strcmp(m.last_query, rows[i / 2].query) == 0, "%s: %s", path, m.last_query);
        cr_expect_eq(m.name_queries, 1, "%s", path);
    }
}

Test(collect_v1, values_of_several_paths_are_combined)
{
    static const char *const paths[3] = {"\\Processor(1)\\*", "\\System\\File*", "\\Processor(0)\\% Processor Time"};
    char text[TEXT_BYTES];
    machine m = {0};
    cr_expect_eq(collect(&m, true, paths, 2, text), 2);
    cr_expect_str_eq(text, RATE_ONLY TIMES_OF_BOTH);
    cr_expect_str_eq(m.last_query, "2 238");
}

Test(collect_v1, titles_can_be_used_without_a_name_table)
{
    static const char *const paths[3] = {"\\238(1)\\6"};
    char text[TEXT_BYTES];
    machine m = {.name_code = PFB_WIN32_NOT_FOUND};
    machine broken = {.has_broken_names = true};
    cr_expect_eq(collect(&m, true, paths, 2, text), 2);
    cr_expect_str_eq(text, "|1#0||20%\n");
    cr_expect_eq(collect(&broken, true, paths, 2, text), 2);
    cr_expect_str_eq(text, "|1#0||20%\n");
}

/* The counters of a recording are selected as its blocks are read. A path without matches is not a failure. An object
 * without instances has no instance of a given name. */
Test(collect_v1, counters_of_recordings_are_selected)
{
    static const char *const paths[3] = {"\\*(1)\\*", "\\Nothing\\*"};
    char text[TEXT_BYTES];
    machine m = {.is_recorded = true, .samples_left = 2};
    cr_expect_eq(collect(&m, true, paths, 3, text), 2);
    cr_expect_str_eq(text, "Processor|1#0|% Processor Time|20%\n");
}

/* ---- Name tables -------------------------------------------------------------------------------------------- */

static int32_t put_bytes(pfb_collector *c, uint32_t kind, const void *bytes, size_t size)
{
    return pfb_collector_put(c, &(pfb_record){.kind = kind, .bytes = bytes, .byte_count = size});
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
    cr_assert_eq(put_bytes(c, PFB_RECORD_NAMES, table, size + 2), 0);
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
    pfb_collector *c = pfb_collector_new();
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
    pfb_collector *c = pfb_collector_new();
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
    cr_assert_eq(put_bytes(c, PFB_RECORD_NAMES, bytes, size + 2), 0);

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

    pfb_frame frame = {.size = sizeof frame};
    pfb_series s = {.size = sizeof s};
    cr_assert_eq(put_bytes(c, PFB_RECORD_V1, bytes, w.size_bytes), 1);
    cr_assert(pfb_collector_frame(c, &frame));
    cr_expect_eq(frame.count, 2 * OBJECTS);
    for (uint32_t i = 0; i < frame.count; i++) {
        cr_assert(pfb_collector_series(c, i, &s));
        cr_assert(s.counter_bytes == NAME_SIZE && s.counter[NAME_SIZE - 1] == 'n' && s.counter[NAME_SIZE] == '\0');
        cr_assert(s.machine_bytes == MACHINE_SIZE && s.machine[MACHINE_SIZE - 1] == 'n' &&
                  s.machine[MACHINE_SIZE] == '\0');
    }
    pfb_collector_close(c);
    free(bytes);
    free(text);
}
