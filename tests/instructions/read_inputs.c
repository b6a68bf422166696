/* SPDX-License-Identifier: MIT */
/* Reads each input with one reader of the library, from the open function to the end of the input. valgrind's tool
 * callgrind counts the instructions of read_measured() only.
 *
 *     read_inputs LIST
 *
 * LIST has a line for each input: the reader's name, 0 or 1 for strict mode, and the path of a file. The program prints
 * a line for each input. The reader "cook" prints four numbers about the newer sample: its rows, its matched rows, its
 * values, and its values that can be displayed. All other readers print zeros. The exit status is 1 if a file cannot be
 * read or needs too much memory, and 2 if LIST cannot be opened or a reader's name is unknown. */
#include "../../fuzz/strict.h"
#include "perfblock/capture.h"
#include "perfblock/cpi/hooks.h"
#include "perfblock/cpi/text.h"
#include "perfblock/log.h"
#include "perfblock/lwp/cpuid_text.h"
#include "perfblock/lwp/lwp.h"
#include "perfblock/number_text.h"
#include "perfblock/pdh_text.h"
#include "perfblock/sample.h"
#include "perfblock/v1.h"
#include "perfblock/v2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    const uint8_t *data;
    size_t size;
} bytes;

static void stop(const char *what, const char *which, int status)
{
    fprintf(stderr, "%s: %s\n", which, what);
    exit(status);
}

/* ---- Memory: one allocation, so that the instructions of malloc are not counted ------------------------------- */

enum { ARENA_BYTES = 256 * 1024 * 1024 };

typedef struct arena {
    uint8_t *memory;
    size_t used;
} arena;

static void *take(arena *a, size_t size)
{
    size_t rounded = (size + 15) / 16 * 16;
    if (rounded > ARENA_BYTES - a->used)
        stop("needs too much memory", "read_inputs", 1);
    void *taken = a->memory + a->used;
    a->used += rounded;
    return taken;
}

/* The result of evaluating two samples, for examination after the measurement. */
typedef struct evaluated {
    pfb_sample newer;
    const double *values;
    const uint8_t *status_bytes;
} evaluated;

/* The arguments of a reader. */
typedef struct request {
    bytes in;
    const pfb_read_options *options;
    arena *memory;
    evaluated *samples;
} request;

/* ---- V2 ----------------------------------------------------------------------------------------------------- */

static void read_v2(const request *r)
{
    pfb_v2_reader block;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
    pfb_v2_open(&block, r->in.data, r->in.size, r->options);
    while (pfb_v2_next_result(&block, &result)) {
        while (pfb_v2_next_instance(&block, &instance)) {
            while (pfb_v2_next_value(&block, &value))
                continue;
        }
    }
    pfb_v2_finish(&block);
}

/* Checks the whole block without returning results. */
static void finish_v2(const request *r)
{
    pfb_v2_reader block;
    pfb_v2_open(&block, r->in.data, r->in.size, r->options);
    pfb_v2_finish(&block);
}

/* Reads all values with pfb_v2_read_values, up to `instances` instances per call, into rows or columns. */
static void read_bulk(const request *r, size_t instances, bool as_columns)
{
    pfb_v2_reader block;
    pfb_v2_result result;
    pfb_v2_values bulk = {.instance_capacity = instances};
    bulk.instances = take(r->memory, instances * sizeof *bulk.instances);
    size_t used = r->memory->used;
    pfb_v2_open(&block, r->in.data, r->in.size, r->options);
    while (pfb_v2_next_result(&block, &result)) {
        size_t count = instances * result.counter_count;
        r->memory->used = used;
        bulk.values = take(r->memory, count * sizeof *bulk.values);
        bulk.sizes = take(r->memory, count);
        bulk.instance_step = as_columns ? 1 : result.counter_count;
        bulk.position_step = as_columns ? instances : 1;
        while (pfb_v2_read_values(&block, &bulk))
            continue;
    }
    pfb_v2_finish(&block);
}

/* ---- V1 ----------------------------------------------------------------------------------------------------- */

static void read_v1(const request *r)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_instance instance;
    pfb_v1_value value;
    pfb_v1_open(&block, r->in.data, r->in.size, r->options);
    while (pfb_v1_next_object(&block, &object)) {
        while (pfb_v1_next_counter(&block, &counter))
            continue;
        while (pfb_v1_next_instance(&block, &instance)) {
            while (pfb_v1_next_value(&block, &value))
                continue;
        }
    }
}

static void read_name_table(const request *r)
{
    pfb_name_table table;
    pfb_name_entry entry;
    pfb_name_table_open(&table, r->in.data, r->in.size, r->options);
    while (pfb_name_table_next_entry(&table, &entry))
        continue;
}

/* Reads a name table and sorts its entries. */
static void index_name_table(const request *r)
{
    pfb_name_table table;
    pfb_name_index index;
    pfb_name_table_open(&table, r->in.data, r->in.size, r->options);
    pfb_name_table copy = table;
    uint32_t count = pfb_name_table_count(&copy);
    pfb_name_entry *entries = take(r->memory, count * sizeof *entries);
    uint32_t *by_index = take(r->memory, count * sizeof *by_index);
    uint32_t *by_name = take(r->memory, count * sizeof *by_name);
    pfb_name_index_build(&index, &table, entries, by_index, by_name, count);
}

/* ---- Metadata: the first byte of an input selects the format, as in the seeds of the fuzz target -------------- */

static void read_strings(bytes in, const pfb_read_options *options)
{
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    pfb_registration_strings_open(&strings, in.data, in.size, options);
    while (pfb_registration_strings_next_string(&strings, &entry))
        continue;
}

static void read_list(uint32_t format, bytes in, const pfb_read_options *options)
{
    enum { GUIDS = 11, IDENTIFIERS = 12 };
    pfb_list list;
    pfb_guid guid;
    pfb_identifier identifier;
    pfb_listed_instance instance;
    bool has_more = true;
    pfb_list_open(&list, in.data, in.size, options);
    while (has_more)
        has_more = format == GUIDS         ? pfb_list_next_guid(&list, &guid)
                   : format == IDENTIFIERS ? pfb_list_next_identifier(&list, &identifier)
                                           : pfb_list_next_instance(&list, &instance);
}

static void read_counterset(bytes in, const pfb_read_options *options)
{
    pfb_registration registration;
    pfb_counter counter;
    pfb_registration_open(&registration, in.data, in.size, options);
    for (uint32_t n = 0; pfb_registration_counter_at(&registration, n, &counter); n++)
        continue;
}

/* Formats 1 to 10 are request codes and 11 to 13 are lists. Other numbers are ignored. */
static void read_format(uint32_t format, bytes in, const pfb_read_options *options)
{
    enum { LAST_FORMAT = 13 };
    pfb_counter counter;
    pfb_name text;
    pfb_guid guid;
    if (format == PFB_REQUEST_COUNTERSET)
        read_counterset(in, options);
    else if (format == PFB_REQUEST_COUNTER)
        pfb_registration_single_counter(in.data, in.size, options, &counter);
    else if (format == PFB_REQUEST_PROVIDER_GUID)
        pfb_registration_guid(in.data, in.size, &guid);
    else if (format == PFB_REQUEST_COUNTER_NAMES || format == PFB_REQUEST_COUNTER_HELPS ||
             format == PFB_REQUEST_COUNTER_ENGLISH_NAMES)
        read_strings(in, options);
    else if (format > 0 && format <= PFB_REQUEST_COUNTER_ENGLISH_NAMES)
        pfb_registration_string(in.data, in.size, &text);
    else if (format > 0 && format <= LAST_FORMAT)
        read_list(format, in, options);
}

static void read_registration(const request *r)
{
    if (r->in.size > 0)
        read_format(r->in.data[0] % 16, (bytes){r->in.data + 1, r->in.size - 1}, r->options);
}

/* ---- CPI and LWP ---------------------------------------------------------------------------------------------- */

/* Reads the figures of all CPUs in each hook that has them. */
static void read_group(const pfb_cpi_hooks *hooks, const pfb_cpi_group *group)
{
    pfb_cpi_stored stored;
    for (unsigned kind = 0; kind < PFB_CPI_HOOK_COUNT; kind++) {
        if (!group->hooks[kind].is_present)
            continue;
        for (uint32_t i = 0; pfb_cpi_hooks_stored(hooks, group, (pfb_cpi_hook_kind)kind, i, &stored); i++)
            continue;
    }
}

static void read_cpi_hooks(const request *r)
{
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, r->in.data, r->in.size, NULL);
    while (pfb_cpi_hooks_next(&hooks, &group))
        read_group(&hooks, &group);
    pfb_cpi_hooks_finish(&hooks);
}

static void read_cpi_text(const request *r)
{
    pfb_cpi_text text;
    pfb_cpi_step step;
    pfb_cpi_cpu *cpus = take(r->memory, PFB_CPI_CPU_LIMIT * sizeof *cpus);
    pfb_cpi_text_open(&text, r->in.data, r->in.size);
    while (pfb_cpi_text_next(&text, cpus, PFB_CPI_CPU_LIMIT, &step))
        continue;
}

static void read_cpuid_text(const request *r)
{
    pfb_cpuid_text text;
    pfb_cpuid_row row;
    pfb_cpuid_text_open(&text, r->in.data, r->in.size);
    while (pfb_cpuid_text_next(&text, &row))
        continue;
}

static void read_lwp(const request *r)
{
    pfb_lwp_snapshot snapshot;
    pfb_lwp_capabilities capabilities;
    pfb_lwp lwp;
    pfb_lwp_pair pair;
    pfb_lwp_event event;
    pfb_lwp_snapshot_read(r->in.data, r->in.size, &snapshot);
    pfb_lwp_capabilities_read(snapshot.eax, snapshot.ebx, snapshot.ecx, snapshot.edx, &capabilities);
    pfb_lwp_open(&lwp, &capabilities, r->in.data + snapshot.control_offset, snapshot.control_size,
                 r->in.data + snapshot.ring_offset, snapshot.ring_size, r->options);
    for (uint32_t id = 1; pfb_lwp_pair_at(&lwp, id, &pair); id++)
        continue;
    while (pfb_lwp_next(&lwp, &event))
        continue;
}

/* ---- Perfmon logs -------------------------------------------------------------------------------------------- */

/* Returns the values of a sample, sorted. */
static pfb_log_values load_values(bytes sample, const request *r)
{
    pfb_log_values loaded = {.capacity = sample.size / 24 + 1};
    loaded.values = take(r->memory, loaded.capacity * sizeof *loaded.values);
    loaded.order = take(r->memory, loaded.capacity * sizeof *loaded.order);
    pfb_log_load(&loaded, sample.data, sample.size, r->options);
    return loaded;
}

static void read_log(const request *r)
{
    pfb_log_reader log;
    pfb_log_record record;
    pfb_log_path_reader paths;
    pfb_log_path path;
    pfb_log_names names;
    pfb_log_summary summary;
    size_t used = r->memory->used;
    pfb_log_open(&log, r->in.data, r->in.size, true, r->options);
    while (pfb_log_next_record(&log, &record)) {
        r->memory->used = used;
        uint8_t *memory = take(r->memory, record.size_bytes);
        bytes joined = {memory, pfb_log_copy_record(&log, &record, memory, record.size_bytes)};
        if (record.type == PFB_LOG_PATHS) {
            pfb_log_open_paths(&paths, joined.data, joined.size, r->options);
            while (pfb_log_next_path(&paths, &path))
                continue;
        } else if (record.type == PFB_LOG_SAMPLE) {
            pfb_log_values older = load_values(joined, r);
            pfb_log_values newer = load_values(joined, r);
            pfb_log_match(NULL, 0, &older, &newer);
        } else if (record.type == PFB_LOG_NAMES) {
            pfb_log_read_names(joined.data, joined.size, &names);
        } else {
            pfb_log_read_summary(joined.data, joined.size, &summary);
        }
    }
}

static void read_number_text(const request *r)
{
    pfb_number_text text;
    uint8_t block[64];
    size_t at = 0;
    pfb_number_text_open(&text, r->in.data, r->in.size);
    while (pfb_number_text_read(&text, r->in.data + at, r->in.size - at, true, block, sizeof block) > 0)
        at += text.used;
}

static void read_pdh_text(const request *r)
{
    pfb_pdh_text_reader text;
    pfb_pdh_text_path path;
    pfb_pdh_text_row row;
    pfb_pdh_text_value value;
    pfb_pdh_text_open(&text, r->in.data, r->in.size, true, r->options);
    while (pfb_pdh_text_next_path(&text, &path))
        continue;
    while (pfb_pdh_text_next_row(&text, &row)) {
        while (pfb_pdh_text_next_value(&text, &value))
            continue;
    }
}

/* ---- Captures, and the bodies of their chunks ----------------------------------------------------------------- */

static void read_chunk(const pfb_chunk *chunk, const request *body)
{
    enum { IDENTIFIERS = 12, INSTANCES = 13 };
    if (chunk->tag == PFB_TAG_DATA)
        read_v2(body);
    else if (chunk->tag == PFB_TAG_REGISTRATION)
        read_format(chunk->request, body->in, body->options);
    else if (chunk->tag == PFB_TAG_QUERY_INFO)
        read_format(IDENTIFIERS, body->in, body->options);
    else if (chunk->tag == PFB_TAG_INSTANCES)
        read_format(INSTANCES, body->in, body->options);
    else if (chunk->tag == PFB_TAG_V1)
        read_v1(body);
    else if (chunk->tag == PFB_TAG_NAMES)
        read_name_table(body);
    else if (chunk->tag == PFB_TAG_LWP)
        read_lwp(body);
    else if (chunk->tag == PFB_TAG_HOOKS)
        read_cpi_hooks(body);
}

static void read_capture(const request *r)
{
    pfb_capture capture;
    pfb_chunk chunk;
    request body = *r;
    pfb_capture_open(&capture, r->in.data, r->in.size, true, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        body.in = (bytes){r->in.data + chunk.body_offset, chunk.body_size_bytes};
        read_chunk(&chunk, &body);
    }
}

/* ---- Two samples: loaded, matched and evaluated; the newer one's rows numbered -------------------------------- */

static void load(pfb_sample *sample, bytes data, pfb_sample_input input, arena *memory)
{
    pfb_sample_counts counts;
    input.data = data.data;
    input.data_size_bytes = data.size;
    pfb_sample_measure(&input, &counts);
    size_t size = pfb_sample_size(&counts);
    pfb_sample_load(sample, &input, &counts, take(memory, size), size);
}

static bool open_registration(pfb_registration *registration, bytes in, arena *memory)
{
    if (!pfb_registration_open(registration, in.data, in.size, NULL))
        return false;
    pfb_registration_sort(registration, take(memory, registration->counter_count * sizeof(uint32_t)));
    return true;
}

/* The input begins with 5 bytes, of which bit 0 of the first selects strict mode, and four u16 sizes: of the older
 * block, the newer block, the query information and a registration. These four parts follow, and the rest is a second
 * registration. */
static void read_cook(const request *r)
{
    enum { PARTS = 4, SIZES_AT = 5, HEADER = SIZES_AT + 2 * PARTS };
    bytes in = r->in;
    if (in.size < HEADER)
        return;
    bytes parts[PARTS + 1];
    size_t at = HEADER;
    for (int i = 0; i <= PARTS; i++) {
        size_t left = in.size - at;
        size_t size = i == PARTS ? left : (size_t)(in.data[SIZES_AT + 2 * i] | in.data[SIZES_AT + 2 * i + 1] << 8);
        parts[i] = (bytes){in.data + at, size < left ? size : left};
        at += parts[i].size;
    }
    pfb_registration registrations[2];
    pfb_sample_input input = {.query_info = parts[2].data,
                              .query_info_size_bytes = parts[2].size,
                              .registrations = registrations,
                              .options = in.data[0] & 1 ? STRICT : NULL};
    input.registration_count += open_registration(&registrations[input.registration_count], parts[3], r->memory);
    input.registration_count += open_registration(&registrations[input.registration_count], parts[4], r->memory);
    pfb_sample older;
    pfb_sample *newer = &r->samples->newer;
    load(&older, parts[0], input, r->memory);
    load(newer, parts[1], input, r->memory);
    pfb_sample_match(&older, newer, NULL, 0);
    size_t count = (size_t)newer->counts.values;
    double *values = take(r->memory, count * sizeof *values);
    uint8_t *status_bytes = take(r->memory, count);
    pfb_sample_cook(&older, newer, NULL, 0, NULL, values, status_bytes, count);
    pfb_sample_number_rows(newer);
    r->samples->values = values;
    r->samples->status_bytes = status_bytes;
}

/* Returns the number of values of a column that can be displayed. */
static unsigned count_displayed(const evaluated *e, const pfb_sample_result *result, uint32_t column)
{
    unsigned displayed = 0;
    for (uint32_t i = 0; i < result->row_count; i++) {
        size_t place = pfb_sample_place(&e->newer, result->first_row + i, column);
        displayed +=
            pfb_formula_unpack(e->values[place], e->status_bytes[place], PFB_UNIT_NONE).status == PFB_STATUS_OK;
    }
    return displayed;
}

static unsigned count_values(const pfb_sample *sample)
{
    unsigned count = 0;
    for (uint32_t r = 0; r < sample->counts.results; r++)
        count += sample->results[r].row_count * sample->results[r].column_count;
    return count;
}

static void print_evaluated(const evaluated *e)
{
    unsigned matched = 0;
    unsigned displayed = 0;
    for (uint32_t i = 0; i < e->newer.counts.rows; i++)
        matched += e->newer.rows[i].older_row != PFB_NONE;
    for (uint32_t i = 0; i < e->newer.counts.columns; i++)
        displayed += count_displayed(e, &e->newer.results[e->newer.columns[i].result], i);
    printf("%u %u %u %u\n", (unsigned)e->newer.counts.rows, matched, count_values(&e->newer), displayed);
}

/* ---- Readers by name -------------------------------------------------------------------------------- */

static void read_rows(const request *r)
{
    read_bulk(r, 64, false);
}

static void read_columns(const request *r)
{
    read_bulk(r, 64, true);
}

static void read_single_rows(const request *r)
{
    read_bulk(r, 1, false);
}

typedef void reader(const request *r);

static const struct {
    const char *name;
    reader *read;
} readers[] = {
    {"bulk", read_rows},
    {"bulk_columns", read_columns},
    {"bulk_single", read_single_rows},
    {"capture", read_capture},
    {"cpi_hooks", read_cpi_hooks},
    {"cpi_text", read_cpi_text},
    {"cpuid_text", read_cpuid_text},
    {"v2", read_v2},
    {"finish", finish_v2},
    {"v1", read_v1},
    {"log", read_log},
    {"lwp", read_lwp},
    {"name_index", index_name_table},
    {"name_table", read_name_table},
    {"number_text", read_number_text},
    {"pdh_text", read_pdh_text},
    {"cook", read_cook},
    {"registration", read_registration},
};

static reader *find_reader(const char *name)
{
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (strcmp(readers[i].name, name) == 0)
            return readers[i].read;
    }
    stop("no such reader", name, 2);
    return NULL;
}

void read_measured(reader *read, const request *r);

/* Not inlined, because instructions are counted from the entry of this function to its return. */
__attribute__((noinline)) void read_measured(reader *read, const request *r)
{
    read(r);
}

/* ---- Files ---------------------------------------------------------------------------------------------------- */

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        stop("cannot be read", path, 1);
    long length = ftell(file);
    uint8_t *data = malloc(length > 0 ? (size_t)length : 1);
    rewind(file);
    if (!data || length < 0 || fread(data, 1, (size_t)length, file) != (size_t)length)
        stop("cannot be read", path, 1);
    fclose(file);
    *size = (size_t)length;
    return data;
}

int main(int argc, char **argv)
{
    char name[32];
    char path[4096];
    unsigned is_strict;
    arena memory = {malloc(ARENA_BYTES), 0};
    FILE *list = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!list || !memory.memory)
        stop("usage: read_inputs LIST", "read_inputs", 2);
    while (fscanf(list, "%31s %u %4095[^\n]", name, &is_strict, path) == 3) {
        size_t size;
        uint8_t *data = read_file(path, &size);
        evaluated samples = {.status_bytes = NULL};
        request arguments = {{data, size}, is_strict ? STRICT : NULL, &memory, &samples};
        memory.used = 0;
        read_measured(find_reader(name), &arguments);
        print_evaluated(&samples);
        free(data);
    }
    fclose(list);
    free(memory.memory);
    return 0;
}
