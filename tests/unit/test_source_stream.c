/* SPDX-License-Identifier: MIT */
/* Streams of sources: fixtures and captures of the corpus, as recordings and as simulated live machines. What a
 * collector displays of such a stream is compared with what it displays of a query for everything that the source has.
 * This program has its own copies of the stream, the collector and the sources, whose allocations can fail. */
#include <criterion/criterion.h>

#include "perfblock/collect.h"
#include "perfblock/query.h"
#include "perfblock/write.h"
#include "support_allocations.h"
#include "support_replay.h"
#include "support_source_stream.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Text ------------------------------------------------------------------------------------------------- */

typedef struct text {
    char *bytes;
    size_t size, capacity;
} text;

static void append(text *t, const char *format, ...)
{
    va_list arguments;
    char line[2048];
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    cr_assert(size >= 0 && (size_t)size < sizeof line);
    if (t->capacity - t->size <= (size_t)size) {
        t->capacity = 2 * t->capacity + sizeof line;
        t->bytes = realloc(t->bytes, t->capacity);
        cr_assert(t->bytes);
    }
    memcpy(t->bytes + t->size, line, (size_t)size + 1);
    t->size += (size_t)size;
}

static const char *text_of(const text *t)
{
    return t->bytes ? t->bytes : "";
}

static void clear(text *t)
{
    t->size = 0;
    if (t->bytes)
        t->bytes[0] = '\0';
}

/* ---- Files and sources ------------------------------------------------------------------------------------ */

typedef struct file {
    uint8_t bytes[262144];
    size_t size;
} file;

/* Reads a file of the source tree. */
static const file *read_file(const char *name)
{
    static file read;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", PERFBLOCK_SOURCE_DIR, name);
    FILE *in = fopen(path, "rb");
    cr_assert(in, "%s", path);
    read.size = fread(read.bytes, 1, sizeof read.bytes, in);
    fclose(in);
    cr_assert(read.size > 0 && read.size < sizeof read.bytes, "%s", path);
    return &read;
}

/* A source over another one, which it makes look live. */
typedef struct live_source {
    pfb_source *inner;
    size_t v1_queries;
    char value_name[64]; /* of the last V1 query */
} live_source;

static live_source *last_live;

static void live_close(void *context)
{
    live_source *live = context;
    pfb_source_close(live->inner);
    free(live);
}

static bool live_countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_countersets(((live_source *)context)->inner, bytes, failure);
}

static bool live_registration(void *context, const pfb_guid *counterset, uint32_t request, uint32_t language,
                              pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_registration(((live_source *)context)->inner, counterset, request, language, bytes, failure);
}

static bool live_instances(void *context, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_instances(((live_source *)context)->inner, counterset, bytes, failure);
}

static void *live_query_open(void *context, pfb_source_failure *failure)
{
    return pfb_source_query_open(((live_source *)context)->inner, failure);
}

static void live_query_close(void *query)
{
    pfb_source_query_close(query);
}

static bool live_query_add(void *query, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return pfb_source_query_add(query, blocks, size, failure);
}

static bool live_query_remove(void *query, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return pfb_source_query_remove(query, blocks, size, failure);
}

static bool live_query_info(void *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_query_info(query, bytes, failure);
}

static bool live_query_collect(void *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_query_collect(query, bytes, failure);
}

static bool live_v1(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    live_source *live = context;
    live->v1_queries++;
    snprintf(live->value_name, sizeof live->value_name, "%s", query);
    return pfb_source_v1(live->inner, query, bytes, failure);
}

static pfb_source *make_live(pfb_source *inner)
{
    static const pfb_source_operations operations = {.close = live_close,
                                                     .countersets = live_countersets,
                                                     .registration = live_registration,
                                                     .instances = live_instances,
                                                     .query_open = live_query_open,
                                                     .query_close = live_query_close,
                                                     .query_add = live_query_add,
                                                     .query_remove = live_query_remove,
                                                     .query_info = live_query_info,
                                                     .query_collect = live_query_collect,
                                                     .v1 = live_v1};
    live_source *live = inner ? malloc(sizeof *live) : NULL;
    if (!live) {
        pfb_source_close(inner);
        return NULL;
    }
    *live = (live_source){.inner = inner};
    last_live = live;
    return pfb_source_make(&operations, live, NULL);
}

typedef enum source_kind { CAPTURE, LIVE } source_kind;

static const char *const kind_names[] = {"capture", "live"};

static pfb_source *open_kind(source_kind kind, const file *f)
{
    pfb_source *source = replay_bytes(f->bytes, f->size, NULL);
    return kind == LIVE ? make_live(source) : source;
}

/* ---- What a collector displays ------------------------------------------------------------------------------ */

static void append_values(text *t, pfb_collector *c)
{
    pfb_frame frame = {.size = sizeof frame};
    pfb_series s = {.size = sizeof s};
    cr_assert(pfb_collector_frame(c, &frame));
    for (uint32_t i = 0; i < frame.count; i++) {
        cr_assert(pfb_collector_series(c, i, &s));
        append(t, "%" PRIu64 "|%s|%s|%s#%" PRIu32 "|%s|", frame.number, s.counterset, s.parent, s.instance,
               s.occurrence, s.counter);
        if (frame.statuses[i] == PFB_STATUS_OK)
            append(t, "%.17g%s\n", frame.values[i], s.unit);
        else
            append(t, "%s\n", pfb_status_name((pfb_status)frame.statuses[i]));
    }
}

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Sorts the lines of a text, because the order of results depends on the query, and frees the text. */
static text_rows sort_lines(text *t)
{
    text sorted = {.bytes = NULL};
    size_t count = 0;
    for (size_t i = 0; i < t->size; i++)
        count += t->bytes[i] == '\n';
    char **lines = malloc((count + 1) * sizeof *lines);
    cr_assert(lines);
    char *at = t->bytes;
    for (size_t i = 0; i < count; i++) {
        lines[i] = at;
        at = strchr(at, '\n');
        *at++ = '\0';
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++)
        append(&sorted, "%s\n", lines[i]);
    free(lines);
    free(t->bytes);
    return (text_rows){sorted.bytes, sorted.size};
}

/* Puts a record with these bytes. */
static int32_t put_bytes(pfb_collector *c, pfb_record record, const pfb_bytes *bytes)
{
    record.bytes = bytes->data;
    record.byte_count = bytes->size_bytes;
    int32_t put = pfb_collector_put(c, &record);
    cr_assert(put >= 0);
    return put;
}

/* Adds all counters of a counterset to a query, and puts what the source knows about it. */
static void query_set(pfb_collector *c, pfb_source *source, pfb_source_query *query, const pfb_guid *set)
{
    static const uint32_t requests[] = {PFB_REQUEST_COUNTERSET, PFB_REQUEST_COUNTERSET_NAME,
                                        PFB_REQUEST_COUNTERSET_ENGLISH_NAME, PFB_REQUEST_COUNTER_NAMES,
                                        PFB_REQUEST_COUNTER_ENGLISH_NAMES};
    static const uint8_t all[] = {'*', 0};
    pfb_query wanted = {.counterset = *set, .counter_id = PFB_NO_ID, .instance_id = PFB_NO_ID};
    pfb_described_counterset described = {.size = sizeof described};
    pfb_bytes bytes = {0};
    uint8_t block[64];
    pfb_writer w;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        bytes.size_bytes = 0;
        if (pfb_source_registration(source, set, requests[i], 0, &bytes, NULL))
            put_bytes(c, (pfb_record){.kind = PFB_RECORD_REGISTRATION, .set = *set, .request = requests[i]}, &bytes);
    }
    cr_assert(pfb_collector_counterset(c, set, &described, NULL));
    if (!described.has_counters || (described.instance_type & PFB_INSTANCES_MULTIPLE))
        wanted.name = (pfb_name){all, sizeof all, PFB_ENCODING_UTF16LE};
    pfb_write_init(&w, block, sizeof block);
    pfb_write_identifier(&w, &wanted);
    pfb_source_query_add(query, block, w.size_bytes, NULL);
    pfb_bytes_free(&bytes);
}

/* Puts the samples of a query for everything that the source lists; if it lists nothing, for the counterset whose GUID
 * begins the path. */
static void put_v2(text *t, pfb_collector *c, pfb_source *source, const char *path, size_t sample_count)
{
    pfb_bytes guids = {0};
    pfb_bytes bytes = {0};
    pfb_bytes info = {0};
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_guid named;
    cr_assert(query && pfb_source_countersets(source, &guids, NULL));
    if (guids.size_bytes == 0 && strlen(path) >= PFB_GUID_TEXT_BYTES &&
        pfb_guid_parse(path + 1, PFB_GUID_TEXT_BYTES - 1, &named))
        query_set(c, source, query, &named);
    for (size_t at = 0; guids.size_bytes - at >= sizeof(pfb_guid); at += sizeof(pfb_guid)) {
        pfb_guid set;
        memcpy(&set, guids.data + at, sizeof set);
        query_set(c, source, query, &set);
    }
    for (size_t i = 0; i < sample_count && pfb_source_query_collect(query, &bytes, NULL); i++) {
        cr_assert(pfb_source_query_info(query, &info, NULL));
        put_bytes(c, (pfb_record){.kind = PFB_RECORD_QUERY_INFO}, &info);
        if (put_bytes(c, (pfb_record){.kind = PFB_RECORD_V2}, &bytes) > 0)
            append_values(t, c);
    }
    pfb_source_query_close(query);
    pfb_bytes_free(&guids);
    pfb_bytes_free(&bytes);
    pfb_bytes_free(&info);
}

static void put_v1(text *t, pfb_collector *c, pfb_source *source, const char *const *paths, size_t sample_count)
{
    pfb_bytes bytes = {0};
    if (pfb_source_v1(source, "Counter 009", &bytes, NULL))
        put_bytes(c, (pfb_record){.kind = PFB_RECORD_NAMES}, &bytes);
    for (size_t i = 0; paths[i] && !pfb_source_is_recorded(source); i++) {
        if (strcmp(paths[i], "\\Nothing\\*") != 0) /* the stream looks for the objects of each name in a block */
            pfb_source_v1(source, "Global", &bytes, NULL);
    }
    for (size_t i = 0; i < sample_count && pfb_source_v1(source, "Global", &bytes, NULL); i++) {
        if (put_bytes(c, (pfb_record){.kind = PFB_RECORD_V1}, &bytes) > 0)
            append_values(t, c);
    }
    pfb_bytes_free(&bytes);
}

/* The chosen values of all samples of a query for everything that the source has. Closes it. */
void source_values(text_rows *rows, pfb_source *source, bool is_v1, const char *const *paths, size_t sample_count)
{
    text t = {.bytes = NULL};
    pfb_selection *selection = pfb_selection_new();
    pfb_collector *c = pfb_collector_new();
    cr_assert(source && c && selection);
    for (size_t i = 0; paths[i]; i++)
        cr_assert(pfb_selection_add(selection, paths[i]) >= 0);
    cr_assert(pfb_collector_select(c, selection));
    if (is_v1)
        put_v1(&t, c, source, paths, sample_count);
    else
        put_v2(&t, c, source, paths[0], sample_count);
    pfb_collector_close(c);
    pfb_selection_close(selection);
    pfb_source_close(source);
    *rows = sort_lines(&t);
}

/* Returns the stream of a source, with these paths as its selection. The interval of a live source is 100 ns. */
static pfb_stream *open_stream(pfb_source *source, const char *const *paths, pfb_selection **selection)
{
    pfb_stream *stream = pfb_stream_new();
    *selection = pfb_selection_new();
    cr_assert(source && stream && *selection && pfb_stream_add_source(stream, source) == 0);
    for (size_t i = 0; paths[i]; i++)
        cr_assert(pfb_selection_add(*selection, paths[i]) >= 0, "%s", paths[i]);
    cr_assert(pfb_stream_select(stream, *selection));
    cr_assert(pfb_stream_set(stream, PFB_STREAM_INTERVAL, 1) == PFB_OK);
    return stream;
}

/* The same values from the stream of the source. */
void stream_values(text_rows *rows, pfb_source *source, bool is_v1, const char *const *paths, size_t sample_count)
{
    text t = {.bytes = NULL};
    pfb_record record = {.size = sizeof record};
    pfb_selection *selection;
    pfb_stream *stream = open_stream(source, paths, &selection);
    pfb_collector *c = pfb_collector_new();
    cr_assert(c && pfb_collector_select(c, selection));
    pfb_stream_set(stream, PFB_STREAM_VERSION, is_v1 ? 1 : 0);
    for (size_t i = 0; i < sample_count && pfb_stream_next(stream, &record) == PFB_NEXT_RECORD;) {
        int32_t put = pfb_collector_put(c, &record);
        cr_assert(put >= 0);
        if (put > 0)
            append_values(&t, c);
        i += record.kind == PFB_RECORD_V1 || record.kind == PFB_RECORD_V2;
    }
    pfb_collector_close(c);
    pfb_stream_close(stream);
    pfb_selection_close(selection);
    *rows = sort_lines(&t);
}

Test(source_stream, displayed_values_are_those_of_the_source)
{
    static const struct {
        const char *file;
        bool is_v1;
        const char *paths[4];
    } rows[] = {
        {"fixtures/processor_information.pfb", false, {"\\Processor Information(*)\\*"}},
        {"fixtures/processor_information.pfb", false, {"\\Processor Information(0,0)\\% Processor Time"}},
        {"fixtures/processor_information.pfb",
         false,
         {"\\Processor Information(0,1)\\% User Time", "\\Processor*(_Total)\\% Processor Time",
          "\\Processor Information(nothing)\\*"}},
        {"fixtures/processor_information.pfb", false, {"\\b4fc721a-0378-476f-89ba-a5a79f810b36(*)\\26"}},
        {"fixtures/machine_wraps.pfb", false, {"\\Processor Information(*)\\*"}},
        {"fixtures/machine_appears.pfb", false, {"\\Network Interface(*)\\*"}},
        {"fixtures/machine_appears.pfb", false, {"\\Network Interface(USB Ethernet)\\Bytes Total/sec"}},
        {"fixtures/machine_appears.pfb", false, {"\\Process V2(*)\\%*"}},
        {"fixtures/machine_fails.pfb", false, {"\\*(*)\\*"}},
        {"fixtures/gpu_engine.pfb", false, {"\\GPU Engine(*)\\*"}},
        {"fixtures/gpu_engine.pfb", false, {"\\GPU Engine(pid*)\\Utilization Percentage"}},
        {"fixtures/gpu_memory.pfb", false, {"\\GPU*(*)\\*"}},
        {"fixtures/gpu_memory.pfb", false, {"\\GPU*Memory(pid*)\\*"}},
        {"corpus/capture/seeds/valid_all_types.pfb", false, {"\\*(*)\\*"}},
        {"corpus/capture/seeds/valid_all_types.pfb", false, {"\\*\\*"}},
        {"corpus/capture/seeds/valid_moving_instances.pfb", false, {"\\*(*)\\*"}},
        {"corpus/capture/seeds/valid_two_queries.pfb", false, {"\\*(*)\\*"}},
        {"corpus/capture/seeds/valid_two_sets.pfb", false, {"\\*(*)\\*"}},
        {"corpus/capture/seeds/valid_bad_references.pfb", false, {"\\*(*)\\*"}},
        {"corpus/capture/seeds/valid_base_in_own_result.pfb", false, {"\\*(*)\\*"}},
        {"corpus/capture/seeds/valid_no_registration.pfb", false, {"\\3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f(*)\\*"}},
        {"corpus/capture/seeds/valid_processor_information.pfb", false, {"\\Processor Information(*)\\%*"}},
        {"corpus/capture/seeds/valid_single_values.pfb", false, {"\\*(*)\\*"}},
        {"corpus/capture/seeds/broken_cut_last_sample.pfb", false, {"\\*(*)\\*"}},
        {"fixtures/processor.pfb", true, {"\\Processor(*)\\*"}},
        {"fixtures/processor.pfb", true, {"\\Processor(_Total)\\% Processor Time", "\\238(0)\\6"}},
        {"fixtures/machine_names_v1.pfb", true, {"\\Process(*)\\% Processor Time", "\\Process(*)\\ID Process"}},
        {"fixtures/machine_restart_v1.pfb", true, {"\\Pro*(*)\\*", "\\Nothing\\*"}},
        {"fixtures/machine_v1.pfb", true, {"\\Memory\\*"}},
        {"fixtures/machine_v1.pfb", true, {"\\Network Interface(*)\\*/sec"}},
        {"fixtures/machine_v1.pfb", true, {"\\LogicalDisk(C:)\\% Free Space"}},
    };
    size_t value_count = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int kind = CAPTURE; kind <= LIVE; kind++) {
            text_rows expected, found;
            const file *f = read_file(rows[i].file);
            source_values(&expected, open_kind((source_kind)kind, f), rows[i].is_v1, rows[i].paths, SIZE_MAX);
            stream_values(&found, open_kind((source_kind)kind, f), rows[i].is_v1, rows[i].paths, SIZE_MAX);
            cr_expect(expected.size > 0 && expected.size == found.size &&
                          memcmp(expected.bytes, found.bytes, found.size) == 0,
                      "%s as %s, %s:\n%.2000s\ninstead of\n%.2000s", rows[i].file, kind_names[kind], rows[i].paths[0],
                      found.bytes ? found.bytes : "", expected.bytes ? expected.bytes : "");
            value_count += found.size;
            free(expected.bytes);
            free(found.bytes);
        }
    }
    cr_expect_gt(value_count, 100000);
}

/* ---- Records as text -------------------------------------------------------------------------------------- */

/* Appends the records of a stream, repeated ones with their number, and its problems: "kind system term sentence". */
static int32_t list_records(text *t, pfb_stream *stream, size_t max_count)
{
    static const char *const names[] = {"?",     "begin", "registration", "query_info", "names", "instances", "paths",
                                        "reply", "block", "log",          "row",        "note",  "other",     "end"};
    pfb_record record = {.size = sizeof record};
    pfb_problem problem = {.size = sizeof problem};
    uint32_t kind = 0;
    size_t count = 0;
    int32_t result = PFB_NEXT_RECORD;
    for (size_t i = 0; i < max_count && (result = pfb_stream_next(stream, &record)) == PFB_NEXT_RECORD; i++) {
        bool is_sample = record.kind == PFB_RECORD_V1 || record.kind == PFB_RECORD_V2;
        cr_expect(record.flags == (PFB_RECORD_LIVE | (is_sample ? PFB_RECORD_HAS_TIME : 0)));
        cr_expect(is_sample == (record.time != 0));
        if (kind == record.kind && kind != PFB_RECORD_REGISTRATION) {
            count++;
            continue;
        }
        if (count > 1)
            append(t, "*%zu", count);
        append(t, "%s%s", i > 0 ? " " : "", names[record.kind]);
        if (record.kind == PFB_RECORD_REGISTRATION)
            append(t, "%" PRIu32, record.request);
        kind = record.kind;
        count = 1;
    }
    if (count > 1)
        append(t, "*%zu", count);
    append(t, "%s\n", result == PFB_NEXT_FAILED ? " failed" : result == PFB_NEXT_WAIT ? " wait" : "");
    while (pfb_stream_problem(stream, &problem)) {
        static const char *const kinds[] = {"note", "error", "file", "name", "memory"};
        append(t, "%s %" PRIX32 " %" PRIi32 " %s\n", kinds[problem.kind], problem.system, problem.term,
               problem.sentence);
    }
    return result;
}

/* Lists the records of a source, whose stream has a selection unless there are no paths. */
static void list_source(text *t, pfb_source *source, uint32_t version, uint32_t metadata, const char *const *paths)
{
    pfb_selection *selection;
    pfb_stream *stream = open_stream(source, paths, &selection);
    cr_assert(pfb_stream_set(stream, PFB_STREAM_VERSION, version) == PFB_OK);
    cr_assert(pfb_stream_set(stream, PFB_STREAM_METADATA, metadata) == PFB_OK);
    clear(t);
    list_records(t, stream, SIZE_MAX);
    pfb_stream_close(stream);
    pfb_selection_close(selection);
}

static const char *const everything[] = {NULL};

#define V2_FILE "fixtures/processor_information.pfb"
#define V1_FILE "fixtures/processor.pfb"
#define REGISTRATIONS "registration1 registration3 registration5 registration9 registration10"
#define END_OF_RECORDING "file 103 -1 the recording has no further sample\n"

Test(source_stream, records_are_metadata_and_samples)
{
    static const struct {
        source_kind kind;
        const char *file;
        uint32_t version, metadata;
        const char *paths[2];
        const char *expected;
    } rows[] = {
        /* The source of a capture derives the names that were not recorded from those that were. */
        {CAPTURE, V2_FILE, 0, 0, {NULL}, "begin " REGISTRATIONS " query_info reply*11 end\n"},
        {CAPTURE, V2_FILE, 2, 0, {"\\Proc*(*)\\*"}, "begin " REGISTRATIONS " query_info reply*11 end\n"},
        {CAPTURE, V2_FILE, 0, 1, {NULL}, "begin " REGISTRATIONS " instances query_info reply*11 end\n"},
        {CAPTURE, V2_FILE, 0, 2, {NULL}, "begin " REGISTRATIONS " instances end\n"},
        {CAPTURE, V2_FILE, 0, 2, {"\\Proc*\\*"}, "begin " REGISTRATIONS " instances end\n"},
        {LIVE, V2_FILE, 0, 0, {NULL}, "begin " REGISTRATIONS " query_info reply*11 end\n" END_OF_RECORDING},
        {CAPTURE, V1_FILE, 1, 0, {NULL}, "begin names block*4 end\n"},
        {CAPTURE, V1_FILE, 1, 0, {"\\Nothing\\*"}, "begin names block*4 end\n"},
        {CAPTURE, V1_FILE, 1, 2, {NULL}, "begin names block end\n"},
        {LIVE, V1_FILE, 1, 0, {NULL}, "begin names block*4 end\n" END_OF_RECORDING},
        {LIVE, V1_FILE, 1, 0, {"\\Processor(*)\\*"}, "begin names block*3 end\n" END_OF_RECORDING},
        {CAPTURE,
         "corpus/capture/seeds/valid_replaced_queries.pfb",
         0,
         0,
         {NULL},
         "begin registration1 registration3 registration9 query_info reply*2 end\n"},
    };
    text t = {.bytes = NULL};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        list_source(&t, open_kind(rows[i].kind, read_file(rows[i].file)), rows[i].version, rows[i].metadata,
                    rows[i].paths);
        cr_expect_str_eq(text_of(&t), rows[i].expected, "row %zu: %s", i, text_of(&t));
    }
    free(t.bytes);
}

/* ---- Problems --------------------------------------------------------------------------------------------- */

#define V2_RECORDS "begin " REGISTRATIONS " query_info reply*11 end\n"
#define SET "Processor Information"
#define UNKNOWN_MACHINE(term, name)                                                                                    \
    "name 57 " term " the source is not known to be the machine " name ": omit the machine\n"

#define SEVERAL_FILES                                                                                                  \
    " failed\nfile 32 -1 the recording has several files: add it as a file, so that they are kept apart\n"

Test(source_stream, a_term_that_matches_nothing_is_a_problem)
{
    static const struct {
        source_kind kind;
        const char *file;
        uint32_t version;
        const char *paths[4];
        const char *expected;
    } rows[] = {
        {CAPTURE, V2_FILE, 0, {"\\Thinks(*)\\*"}, " failed\nname 1068 0 no counterset is called Thinks\n"},
        {CAPTURE, V2_FILE, 0, {"\\Think*(*)\\*"}, " failed\nname 1068 0 no counterset matches Think*\n"},
        {CAPTURE, V2_FILE, 0, {"\\" SET "\\No"}, " failed\nname 106A 0 no counter of " SET " is called No\n"},
        {CAPTURE, V2_FILE, 0, {"\\" SET "\\No*"}, " failed\nname 106A 0 no counter of " SET " matches No*\n"},
        {CAPTURE, V2_FILE, 0, {"\\" SET "\\77"}, " failed\nname 106A 0 no counter of " SET " is called 77\n"},
        {CAPTURE, V2_FILE, 0, {"\\" SET "(7)\\*"}, V2_RECORDS "name 1069 0 no instance of " SET " matches 7\n"},
        {CAPTURE, V2_FILE, 0, {"\\" SET "(7)\\No"}, " failed\nname 106A 0 no counter of " SET " is called No\n"},
        {CAPTURE,
         "fixtures/machine.pfb",
         0,
         {"\\Memory(7)\\*"},
         " failed\nname 1069 0 no instance of Memory matches 7\n"},
        {CAPTURE,
         V2_FILE,
         0,
         {"\\Proc*(7)\\*"},
         " failed\nname 1069 0 no counterset has such counters and an instance that matches 7\n"},
        {CAPTURE, V2_FILE, 0, {"\\\\host\\" SET "\\*"}, " failed\n" UNKNOWN_MACHINE("0", "host")},
        {CAPTURE, V2_FILE, 0, {"\\\\*\\" SET "\\*"}, V2_RECORDS},
        {CAPTURE,
         V2_FILE,
         0,
         {"\\Thinks\\*", "\\" SET "(0,0)\\% User Time", "\\" SET "(7)\\*", "\\\\h\\*\\*"},
         V2_RECORDS "name 1068 0 no counterset is called Thinks\n"
                    "name 1069 2 no instance of " SET " matches 7\n" UNKNOWN_MACHINE("3", "h")},
        {CAPTURE, V2_FILE, 0, {"\\" SET "\\*", "\\" SET "\\*"}, V2_RECORDS},
        {CAPTURE,
         V1_FILE,
         0,
         {NULL},
         " failed\nname 1068 -1 no counterset matches *: the source lists no V2 countersets\n"},
        {LIVE, V1_FILE, 1, {"\\Thinks\\*"}, " failed\nname 1068 0 no counterset is called Thinks\n"},
        {LIVE, V1_FILE, 1, {"\\Think*\\*"}, " failed\nname 1068 0 no counterset matches Think*\n"},
        {LIVE, V1_FILE, 1, {"\\Processor\\No"}, " failed\nname 106A 0 no counter of Processor is called No\n"},
        {LIVE,
         V1_FILE,
         1,
         {"\\Processor(7)\\*"},
         "begin names block*2 end\n" /* two were read to find the object */
         "name 1069 0 no instance of Processor matches 7\n" END_OF_RECORDING},
        {LIVE,
         V1_FILE,
         1,
         {"\\Proc*(7)\\*"},
         " failed\nname 1069 0 no counterset has such counters and an instance that matches 7\n"},
        {LIVE,
         "fixtures/machine_v1.pfb",
         1,
         {"\\Memory(7)\\*"},
         " failed\nname 1069 0 no instance of Memory matches 7\n"},
        {CAPTURE, "corpus/capture/seeds/valid_several_files.pfb", 0, {"\\*\\*"}, SEVERAL_FILES},
        {LIVE, V1_FILE, 1, {"\\\\host\\Processor(0)\\*"}, " failed\n" UNKNOWN_MACHINE("0", "host")},
        {CAPTURE, V1_FILE, 1, {"\\\\host\\Processor(0)\\*"}, "begin names block*4 end\n"},
    };
    text t = {.bytes = NULL};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *paths[5] = {rows[i].paths[0], rows[i].paths[1], rows[i].paths[2], rows[i].paths[3]};
        list_source(&t, open_kind(rows[i].kind, read_file(rows[i].file)), rows[i].version, 0, paths);
        cr_expect_str_eq(text_of(&t), rows[i].expected, "row %zu: %s", i, text_of(&t));
    }
    free(t.bytes);
}

static pfb_source *open_faulty(source_kind kind, const char *name, pfb_source_fault fault)
{
    return pfb_source_open_faulty(open_kind(kind, read_file(name)), &fault, 1, NULL);
}

Test(source_stream, failures_of_the_source_are_problems)
{
#define REFUSED "counterset b4fc721a-0378-476f-89ba-a5a79f810b36, " SET ", "
    static const char *const one[] = {"\\" SET "(*)\\% User Time", NULL};
    static const char *const two[] = {"\\" SET "(*)\\% User Time", "\\" SET "(*)\\% Idle Time", NULL};
    static const struct {
        pfb_source_fault fault;
        const char *const *paths;
        const char *expected; /* "*": any text of the source */
    } rows[] = {
        {{PFB_SOURCE_COUNTERSETS, 0, PFB_SOURCE_FAULT_FAIL, 5, 0}, one, " failed\nfile 5 -1 *\n"},
        /* Without V1 data; the counterset is found in the catalog. */
        {{PFB_SOURCE_COUNTERSETS, 0, PFB_SOURCE_FAULT_FAIL, 0x32, 0}, one, V2_RECORDS},
        {{PFB_SOURCE_QUERY_OPEN, 0, PFB_SOURCE_FAULT_FAIL, 5, 0}, one, " failed\nfile 5 0 *\n"},
        {{PFB_SOURCE_QUERY_ADD, 0, PFB_SOURCE_FAULT_FAIL, 5, 0}, two, " failed\nfile 5 0 *\nfile 5 1 *\n"},
        {{PFB_SOURCE_QUERY_ADD, 2, PFB_SOURCE_FAULT_FAIL, 5, 0}, two, V2_RECORDS "file 5 1 *\n"},
        {{PFB_SOURCE_QUERY_ADD, 1, PFB_SOURCE_FAULT_STATUS, 5, 0},
         two,
         V2_RECORDS "note 5 0 " REFUSED "counter 1: refused with status 5 (access denied)\n"
                    "file 5 0 the source refuses all of these counters: access denied\n"},
        {{PFB_SOURCE_QUERY_ADD, 1, PFB_SOURCE_FAULT_NO_NAME, 5, 0}, one, V2_RECORDS},
        {{PFB_SOURCE_QUERY_INFO, 1, PFB_SOURCE_FAULT_FAIL, 5, 0}, one, "begin " REGISTRATIONS " end\nfile 5 -1 *\n"},
        {{PFB_SOURCE_QUERY_COLLECT, 4, PFB_SOURCE_FAULT_FAIL, 0x570, 0},
         one,
         "begin " REGISTRATIONS " query_info reply*3 end\nfile 570 -1 *\n"},
        {{PFB_SOURCE_INSTANCES, 0, PFB_SOURCE_FAULT_FAIL, 5, 0}, one, V2_RECORDS},
        {{PFB_SOURCE_REGISTRATION, 0, PFB_SOURCE_FAULT_FAIL, 2, 0}, one, "begin query_info reply*11 end\n"},
    };
    text t = {.bytes = NULL};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        list_source(&t, open_faulty(CAPTURE, V2_FILE, rows[i].fault), 0, 0, rows[i].paths);
        pfb_name pattern = pfb_utf8_name(rows[i].expected, strlen(rows[i].expected));
        pfb_name found = pfb_utf8_name(text_of(&t), t.size);
        cr_expect(strchr(rows[i].expected, '*') ? pfb_query_match(&pattern, &found, 0)
                                                : strcmp(rows[i].expected, text_of(&t)) == 0,
                  "row %zu: %s", i, text_of(&t));
    }
    free(t.bytes);
}

/* V1 data is chosen if countersets cannot be listed and there are objects. A recording returns each block once: the one
 * that was read to find objects is not lost. */
Test(source_stream, the_version_depends_on_the_source)
{
    static const pfb_source_fault fault = {PFB_SOURCE_COUNTERSETS, 0, PFB_SOURCE_FAULT_FAIL, PFB_WIN32_NOT_SUPPORTED,
                                           0};
    text t = {.bytes = NULL};
    list_source(&t, open_faulty(CAPTURE, V1_FILE, fault), 0, 0, everything);
    cr_expect_str_eq(text_of(&t), "begin names block*4 end\n");
    list_source(&t, open_faulty(LIVE, V1_FILE, fault), 0, 0, everything);
    cr_expect_str_eq(text_of(&t), "begin names block*3 end\n" END_OF_RECORDING);
    list_source(&t, open_faulty(CAPTURE, V1_FILE, fault), 2, 0, everything);
    cr_expect(strncmp(text_of(&t), " failed\nfile 32 -1 ", 19) == 0, "%s", text_of(&t));
    free(t.bytes);
}

/* Malformed replies of a chosen counterset are returned: who reads them finds the errors. Those of another counterset
 * are problems of the stream. */
Test(source_stream, malformed_replies_are_reported_once)
{
    /* GPU Adapter Memory is found in the catalog. The recording has two replies about each counterset, to the
     * requests 3 and 5; those to 9 and 10 are derived from them. */
    static const char *const paths[] = {"\\GPU Adapter*(*)\\*", NULL};
    static const pfb_source_fault fault = {PFB_SOURCE_REGISTRATION, 0, PFB_SOURCE_FAULT_CUT, 1, 0};
    static const char expected[] = "\n"
                                   "error 0 -1 counterset f802502b-77b4-4713-81b3-3be05759da5d, request 3: "
                                   "a string has no NUL before the end of its block\n"
                                   "error 0 -1 counterset f802502b-77b4-4713-81b3-3be05759da5d, request 9: "
                                   "a string has no NUL before the end of its block\n";
    static const char *const requests[] = {"request 3", "request 5", "request 9", "request 10"};
    pfb_record record = {.size = sizeof record};
    pfb_problem problem = {.size = sizeof problem};
    pfb_selection *selection;
    text t = {.bytes = NULL};
    pfb_stream *stream = open_stream(open_faulty(CAPTURE, "fixtures/gpu_memory.pfb", fault), paths, &selection);
    pfb_collector *c = pfb_collector_new();
    size_t count = 0;
    while (pfb_stream_next(stream, &record) == PFB_NEXT_RECORD) {
        count += record.kind == PFB_RECORD_REGISTRATION;
        cr_expect(record.kind != PFB_RECORD_REGISTRATION || record.byte_count == 1);
        pfb_collector_put(c, &record);
    }
    cr_expect_eq(count, 4);
    list_records(&t, stream, SIZE_MAX);
    cr_expect_str_eq(text_of(&t), expected, "%s", text_of(&t));
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        cr_assert(pfb_collector_take_problem(c, &problem));
        cr_expect(problem.kind == PFB_PROBLEM_ERROR && problem.code != PFB_OK);
        cr_expect(strstr(problem.sentence, requests[i]), "%s", problem.sentence);
    }
    cr_expect_not(pfb_collector_take_problem(c, &problem));
    pfb_collector_close(c);
    pfb_stream_close(stream);
    pfb_selection_close(selection);
    free(t.bytes);
}

/* ---- Memory ------------------------------------------------------------------------------------------------- */

/* What is read to the end. */
static const struct {
    source_kind kind;
    const char *file;
    uint32_t version, metadata;
    const char *paths[3];
} readings[] = {
    {CAPTURE, V2_FILE, 0, 1, {"\\Processor Information(0,*)\\% User Time", "\\*(0,0)\\*"}},
    {LIVE, V2_FILE, 0, 1, {"\\Processor Information(0,*)\\% User Time", "\\*(0,0)\\*"}},
    {CAPTURE, "fixtures/gpu_memory.pfb", 0, 0, {NULL}},
    {CAPTURE, V2_FILE, 0, 2, {NULL}},
    {LIVE, V1_FILE, 1, 0, {"\\Processor(_Total)\\*", "\\238(0)\\6"}},
    {CAPTURE, V1_FILE, 1, 0, {NULL}},
};

enum { READING_COUNT = sizeof readings / sizeof readings[0] };

typedef struct read_result {
    size_t records;
    int32_t last;
    bool has_memory_problem, has_other_problem;
} read_result;

/* Reads everything. Returns false if memory is exhausted before the first record. Allocates nothing else. */
static bool read_all(size_t reading, pfb_source *source, read_result *result)
{
    pfb_record record = {.size = sizeof record};
    pfb_problem problem = {.size = sizeof problem};
    pfb_stream *stream = pfb_stream_new();
    pfb_selection *selection = pfb_selection_new();
    bool is_ready = stream && selection;
    *result = (read_result){.records = 0};
    for (size_t i = 0; i < 2 && readings[reading].paths[i] && is_ready; i++)
        is_ready = pfb_selection_add(selection, readings[reading].paths[i]) >= 0;
    is_ready = is_ready && pfb_stream_select(stream, selection);
    if (!is_ready)
        pfb_source_close(source);
    is_ready = is_ready && pfb_stream_add_source(stream, source) >= 0;
    if (is_ready) {
        pfb_stream_set(stream, PFB_STREAM_INTERVAL, 1);
        pfb_stream_set(stream, PFB_STREAM_VERSION, readings[reading].version);
        pfb_stream_set(stream, PFB_STREAM_METADATA, readings[reading].metadata);
        while ((result->last = pfb_stream_next(stream, &record)) == PFB_NEXT_RECORD)
            result->records++;
        while (pfb_stream_problem(stream, &problem)) {
            bool is_end = problem.system == PFB_WIN32_NO_MORE_ITEMS;
            result->has_memory_problem = result->has_memory_problem || problem.kind == PFB_PROBLEM_MEMORY;
            result->has_other_problem = result->has_other_problem || (problem.kind != PFB_PROBLEM_MEMORY && !is_end);
        }
    }
    pfb_stream_close(stream);
    pfb_selection_close(selection);
    return is_ready;
}

Test(source_stream, exhausted_memory_ends_the_stream)
{
    for (size_t reading = 0; reading < READING_COUNT; reading++) {
        const file *f = read_file(readings[reading].file);
        read_result result;
        bool has_failed = true;
        size_t failures = 0;
        for (size_t n = 1; has_failed; n++) {
            allocations = 0;
            failing_allocation = n;
            pfb_source *source = open_kind(readings[reading].kind, f);
            bool is_ready = source && read_all(reading, source, &result);
            has_failed = allocations >= n;
            failing_allocation = 0;
            if (is_ready && has_failed)
                cr_expect(result.last == PFB_NEXT_FAILED && result.has_memory_problem && !result.has_other_problem,
                          "reading %zu, allocation %zu: %zu records, then %d", reading, n, result.records, result.last);
            failures += has_failed;
        }
        cr_expect(failures > 10 && result.last == PFB_NEXT_END && !result.has_memory_problem);
    }
}

/* A source without memory is not taken for one that lacks what was asked. */
Test(source_stream, a_source_without_memory_ends_the_stream)
{
    static const uint32_t codes[] = {PFB_WIN32_NOT_ENOUGH_MEMORY, PFB_WIN32_OUTOFMEMORY};
    size_t failures = 0;
    for (size_t i = 0; i < 2 * READING_COUNT * PFB_SOURCE_OPERATION_COUNT; i++) {
        size_t reading = i / 2 / PFB_SOURCE_OPERATION_COUNT;
        uint32_t operation = (uint32_t)(i / 2 % PFB_SOURCE_OPERATION_COUNT);
        bool has_failed = true;
        for (uint32_t call = 1; has_failed && call < 40; call++) {
            const pfb_source_fault fault = {operation, call, PFB_SOURCE_FAULT_FAIL, codes[i % 2], 0};
            read_result result;
            cr_assert(read_all(reading, open_faulty(readings[reading].kind, readings[reading].file, fault), &result));
            has_failed = result.last == PFB_NEXT_FAILED;
            cr_expect(has_failed == result.has_memory_problem && !result.has_other_problem,
                      "reading %zu, operation %" PRIu32 ", call %" PRIu32, reading, operation, call);
            failures += has_failed;
        }
    }
    cr_expect_gt(failures, 150);
}

Test(source_stream, replies_beyond_the_budget_end_the_stream)
{
    pfb_selection *selection;
    pfb_stream *stream = open_stream(open_kind(CAPTURE, read_file(V2_FILE)), everything, &selection);
    text t = {.bytes = NULL};
    cr_assert(pfb_stream_set(stream, PFB_STREAM_MEMORY, 2000) == PFB_OK);
    list_records(&t, stream, SIZE_MAX);
    cr_expect_str_eq(text_of(&t), " failed\nmemory 0 -1 memory is exhausted\n");
    pfb_stream_close(stream);
    pfb_selection_close(selection);
    free(t.bytes);
}

/* ---- Times -------------------------------------------------------------------------------------------------- */

static int64_t now_100ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 10000000 + now.tv_nsec / 100;
}

static void sleep_100ns(int64_t duration)
{
    for (int64_t end = now_100ns() + duration; now_100ns() < end;)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

Test(source_stream, samples_are_collected_after_each_interval)
{
    const int64_t interval = 500000; /* 50 ms */
    pfb_selection *selection;
    pfb_record record = {.size = sizeof record};
    pfb_stream *stream = open_stream(open_kind(LIVE, read_file(V2_FILE)), everything, &selection);
    pfb_stream_set(stream, PFB_STREAM_INTERVAL, interval);
    int64_t started = 0;
    for (size_t samples = 0; samples < 3;) {
        cr_assert_eq(pfb_stream_next(stream, &record), PFB_NEXT_RECORD);
        started = started == 0 && record.kind == PFB_RECORD_QUERY_INFO ? now_100ns() : started;
        samples += record.kind == PFB_RECORD_V2;
    }
    /* Query information is returned after the first sample was collected, at most 10 ms before. */
    cr_expect_gt(now_100ns() - started, 2 * interval - 100000);
    pfb_stream_stop(stream);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_END);
    pfb_stream_close(stream);
    pfb_selection_close(selection);
}

Test(source_stream, the_caller_may_wait_and_missed_times_are_skipped)
{
    const int64_t interval = 1000000; /* 100 ms */
    pfb_selection *selection;
    pfb_record record = {.size = sizeof record};
    pfb_stream *stream = open_stream(open_kind(LIVE, read_file(V2_FILE)), everything, &selection);
    pfb_stream_set(stream, PFB_STREAM_INTERVAL, interval);
    cr_assert_eq(pfb_stream_set(stream, PFB_STREAM_NO_WAIT, 1), PFB_OK);
    while (pfb_stream_next(stream, &record) == PFB_NEXT_RECORD && record.kind != PFB_RECORD_V2) {
    }
    for (int i = 0; i < 2; i++) {
        sleep_100ns(i * 5 * interval / 2); /* the second time: two times are missed */
        cr_assert_eq(pfb_stream_next(stream, &record), PFB_NEXT_WAIT);
        int64_t wait = pfb_stream_wait(stream);
        cr_expect(wait > 0 && wait <= interval, "%" PRIi64, wait);
        sleep_100ns(wait);
        cr_assert_eq(pfb_stream_next(stream, &record), PFB_NEXT_RECORD);
        cr_expect_eq(record.kind, PFB_RECORD_V2);
    }
    pfb_stream_close(stream);
    pfb_selection_close(selection);
}

/* ---- The stream ---------------------------------------------------------------------------------------------- */

Test(source_stream, recordings_of_v2_data_can_be_read_again)
{
    static const struct {
        source_kind kind;
        const char *file;
        uint32_t version;
        bool can_rewind;
    } rows[] = {{CAPTURE, V2_FILE, 2, true}, {LIVE, V2_FILE, 2, false}, {CAPTURE, V1_FILE, 1, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_selection *selection;
        text first = {.bytes = NULL}, second = {.bytes = NULL};
        pfb_stream *stream = open_stream(open_kind(rows[i].kind, read_file(rows[i].file)), everything, &selection);
        pfb_stream_set(stream, PFB_STREAM_VERSION, rows[i].version);
        list_records(&first, stream, SIZE_MAX);
        cr_expect_eq(pfb_stream_rewind(stream), rows[i].can_rewind, "row %zu", i);
        list_records(&second, stream, SIZE_MAX);
        cr_expect(!rows[i].can_rewind || strcmp(text_of(&first), text_of(&second)) == 0, "row %zu", i);
        pfb_stream_close(stream);
        pfb_selection_close(selection);
        free(first.bytes);
        free(second.bytes);
    }
}

Test(source_stream, a_source_that_cannot_be_used_leaves_the_others)
{
    static const char *const paths[] = {"\\Processor Information(*)\\*", NULL};
    pfb_selection *selection;
    text t = {.bytes = NULL};
    pfb_stream *stream = open_stream(open_kind(CAPTURE, read_file("fixtures/gpu_engine.pfb")), paths, &selection);
    cr_expect_eq(pfb_stream_add_source(stream, NULL), -1);
    cr_expect_eq(pfb_stream_add_source(stream, open_kind(CAPTURE, read_file(V2_FILE))), 1);
    cr_expect_str_eq(pfb_stream_label(stream, 1), "recording");
    list_records(&t, stream, SIZE_MAX);
    cr_expect_str_eq(text_of(&t), V2_RECORDS "name 1068 0 no counterset is called " SET "\n", "%s", text_of(&t));
    pfb_stream_close(stream);
    pfb_selection_close(selection);
    free(t.bytes);
}

/* The objects of a live machine are queried by their title indexes, together. */
Test(source_stream, v1_objects_share_a_query)
{
    static const char *const paths[] = {"\\Processor(0)\\*", "\\238(*)\\*", NULL};
    pfb_selection *selection;
    text t = {.bytes = NULL};
    pfb_stream *stream = open_stream(open_kind(LIVE, read_file(V1_FILE)), paths, &selection);
    pfb_stream_set(stream, PFB_STREAM_VERSION, 1);
    list_records(&t, stream, 3);
    cr_expect_str_eq(last_live->value_name, "238");
    cr_expect_eq(last_live->v1_queries, 4); /* the name table, two terms, a sample */
    pfb_stream_close(stream);
    pfb_selection_close(selection);
    free(t.bytes);
}
