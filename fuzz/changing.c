/* SPDX-License-Identifier: MIT */
#include "changing.h"

#include "checks.h"
#include "cpuid_readers.h"
#include "hook_readers.h"
#include "log_readers.h"
#include "lwp_readers.h"
#include "number_text_readers.h"
#include "pdh_text_readers.h"
#include "perfblock/name.h"
#include "perfblock/query.h"
#include "perfblock/sample.h"
#include "perfblock/v1.h"
#include "perfblock/v2.h"
#include "perfblock/write.h"
#include "readers.h"
#include "stepper.h"
#include "text_readers.h"
#include "v1_readers.h"

#include <stdlib.h>
#include <string.h>

/* ---- Changes ----------------------------------------------------------------------------------------------- */

/* How the input changes: the arguments of changing_read. */
typedef struct changes {
    changing_mode mode;
    uint32_t at;
    uint64_t random; /* state of the generator for CHANGING_FIELDS */
    uint8_t *memory; /* the input that is read */
    size_t size;
    const uint8_t *first, *second;
} changes;

static uint64_t next_random(changes *c)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return c->random;
}

/* Writes a number, such as an extreme size, count or offset, or bytes of the first or the second contents, at the
 * offset that is about to be read. In half of the calls writes nothing. */
static void change_field(changes *c, size_t offset)
{
    uint64_t random = next_random(c);
    if (random & 0x100)
        return;
    const uint32_t values[8] = {0, 1, 8, 16, 0xFFFFFFFF, 0x7FFFFFFF, (uint32_t)c->size, (uint32_t)(random >> 32)};
    size_t left = c->size - offset;
    size_t count = left < 4 ? left : 4;
    uint8_t bytes[4];
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(values[random & 7] >> 8 * i);
    const uint8_t *source = random & 0x200 ? bytes : random & 0x400 ? c->first + offset : c->second + offset;
    memcpy(c->memory + offset, source, count);
}

static void on_access(void *context, size_t offset, uint64_t n)
{
    changes *c = context;
    if (c->mode == CHANGING_FIELDS)
        change_field(c, offset);
    else if (c->mode == CHANGING_FLIP)
        memcpy(c->memory, n % 2 ? c->second : c->first, c->size);
    else if (n == c->at)
        memcpy(c->memory, c->second, c->size);
}

/* ---- Readers ------------------------------------------------------------------------------------------------ */

/* Allocates memory of exactly this size, so that a sanitizer or a checking allocator detects writes past its end. */
static void *allocate(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    require(memory != NULL, "memory is available");
    return memory;
}

static void read_bulk(const uint8_t *data, size_t size)
{
    enum { CAPACITY = 5 };
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instances[CAPACITY];
    pfb_v2_open(&reader, data, size, NULL);
    while (pfb_v2_next_result(&reader, &result)) {
        size_t count = (size_t)CAPACITY * result.counter_count;
        uint64_t *values = allocate(count * sizeof *values);
        uint8_t *sizes = allocate(count);
        pfb_v2_values rows = {.values = values,
                              .sizes = sizes,
                              .instances = instances,
                              .instance_capacity = CAPACITY,
                              .instance_step = result.counter_count,
                              .position_step = 1};
        while (pfb_v2_read_values(&reader, &rows))
            require(rows.instance_count <= CAPACITY && rows.last_value_count <= result.counter_count,
                    "no more values are read than the arrays hold");
        free(values);
        free(sizes);
    }
    require(reader.error.offset <= size, "the offset of an error lies inside the input");
}

static void read_name_table(const uint8_t *data, size_t size)
{
    pfb_name_table table;
    pfb_name_index index;
    const pfb_name processor = pfb_utf8_name("Processor", 9);
    if (!pfb_name_table_open(&table, data, size, NULL))
        return;
    pfb_name_table copy = table;
    uint32_t count = pfb_name_table_count(&copy);
    pfb_name_entry *entries = allocate(count * sizeof *entries);
    uint32_t *by_index = allocate(count * sizeof *by_index);
    uint32_t *by_name = allocate(count * sizeof *by_name);
    pfb_name_index_build(&index, &table, entries, by_index, by_name, count);
    require(index.count <= count, "no more pairs are stored than the arrays hold");
    for (uint32_t i = 0; i < index.count; i++) {
        uint32_t first;
        size_t offset = (size_t)(entries[i].name.bytes - data);
        require(offset <= size && entries[i].name.size_bytes <= size - offset, "a name lies inside the input");
        pfb_name_index_find(&index, entries[i].index);
        uint32_t named = pfb_name_index_named(&index, &processor, &first);
        require(first <= index.count && named <= index.count - first, "entries of a name lie inside the index");
    }
    free(entries);
    free(by_index);
    free(by_name);
}

/* Writes a query with this name, with exactly its size as the capacity, directly and by a writer. */
static void write_query(const pfb_name *name)
{
    static const uint8_t margin[8] = "########";
    const pfb_query query = {.counter_id = 7, .name = *name};
    size_t size = pfb_query_size(&query);
    uint8_t *out = allocate(size + sizeof margin);
    memcpy(out + size, margin, sizeof margin);
    size_t written = pfb_query_write(&query, out, size);
    require(written <= size, "no more is written than the memory holds");
    require(memcmp(out + size, margin, sizeof margin) == 0, "nothing outside the caller's memory is written");
    uint64_t sum = 0;
    for (size_t i = 0; i < written; i++)
        sum += out[i];
    require(sum <= 255 * (uint64_t)written, "every byte is initialised"); /* MemorySanitizer detects one that is not */
    pfb_writer writer;
    pfb_write_init(&writer, out, size);
    pfb_write_identifier(&writer, &query);
    require(memcmp(out + size, margin, sizeof margin) == 0, "nothing outside the writer's memory is written");
    require(writer.error.code != PFB_OK || out[24] == 7, "an identifier that is written is whole");
    free(out);
}

static void require_inside(const pfb_name *part, const pfb_name *whole)
{
    size_t offset = part->bytes ? (size_t)(part->bytes - whole->bytes) : 0;
    require(offset <= whole->size_bytes && part->size_bytes <= whole->size_bytes - offset,
            "a part of a path lies inside the path");
}

static void parse_path(const pfb_name *name)
{
    pfb_path path;
    pfb_path_parse(name, &path);
    require_inside(&path.machine, name);
    require_inside(&path.counterset, name);
    require_inside(&path.parent, name);
    require_inside(&path.name, name);
    require_inside(&path.instance, name);
    require_inside(&path.counter, name);
    require(path.index <= 999999999, "an index has at most 9 digits");
}

static void read_text(const uint8_t *data, size_t size)
{
    static const uint32_t encodings[] = {PFB_ENCODING_UTF16LE, PFB_ENCODING_UTF16BE, PFB_ENCODING_UTF8,
                                         PFB_ENCODING_WINDOWS_1252, PFB_ENCODING_ASCII};
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        const pfb_name name = {data, size, encodings[i]};
        size_t bytes = pfb_name_to_utf8(&name, NULL, 0);
        require(bytes <= 3 * size, "a byte becomes at most three bytes");
        char *utf8 = allocate(bytes + 1);
        pfb_name_to_utf8(&name, utf8, bytes + 1);
        free(utf8);
        size_t units = pfb_name_to_utf16(&name, NULL, 0);
        require(units <= size, "a byte becomes at most one unit");
        uint8_t *utf16 = allocate(2 * units);
        pfb_name_to_utf16(&name, utf16, units);
        free(utf16);
        write_query(&name);
        parse_path(&name);
    }
}

/* Computes the size and loads the sample. The caller frees the memory. */
static void *load_sample(const pfb_sample_input *input, pfb_sample *table)
{
    pfb_sample_counts counts;
    pfb_sample_measure(input, &counts);
    size_t size = pfb_sample_size(&counts);
    void *memory = allocate(size);
    pfb_error error = pfb_sample_load(table, input, &counts, memory, size);
    require(error.offset <= input->data_size_bytes, "the offset of an error lies inside the input");
    return memory;
}

/* Evaluates every value of a table, all at once and one by one, numbers its rows and matches it again. */
static void read_table(pfb_sample *older, pfb_sample *newer)
{
    size_t count = (size_t)newer->counts.values;
    double *values = allocate(count * sizeof *values);
    uint8_t *status_bytes = allocate(count);
    require(pfb_sample_cook(older, newer, NULL, 0, NULL, values, status_bytes, count),
            "a capacity of counts.values is sufficient");
    free(values);
    free(status_bytes);
    for (uint32_t row = 0; row < newer->counts.rows; row++) {
        const pfb_sample_result *result = &newer->results[newer->rows[row].result];
        for (uint32_t n = 0; n < result->column_count; n++)
            pfb_sample_cook_value(older, newer, row, result->first_column + n, NULL, NULL);
    }
    pfb_sample_number_rows(newer);
    pfb_sample_match(older, newer, NULL, 0);
}

/* Reads two samples. The sizes of the parts are taken from the first contents, which do not change, because a real
 * caller has them in its own memory. */
static void read_samples(const uint8_t *data, size_t size, const uint8_t *first)
{
    enum { PARTS = 5, SIZES_AT = 5, HEADER = SIZES_AT + 2 * (PARTS - 1) };
    const uint8_t *parts[PARTS];
    size_t sizes[PARTS];
    pfb_registration registrations[2];
    if (size < HEADER)
        return;
    size_t at = HEADER;
    for (unsigned i = 0; i < PARTS; i++) {
        const uint8_t *p = first + SIZES_AT + 2 * (size_t)i;
        size_t wanted = i == PARTS - 1 ? size : (size_t)(p[0] | p[1] << 8);
        parts[i] = data + at;
        sizes[i] = wanted < size - at ? wanted : size - at;
        at += sizes[i];
    }
    uint32_t count = 0;
    count += pfb_registration_open(&registrations[count], parts[3], sizes[3], NULL);
    count += pfb_registration_open(&registrations[count], parts[4], sizes[4], NULL);
    pfb_sample_input inputs[2];
    for (int i = 0; i < 2; i++)
        inputs[i] = (pfb_sample_input){.data = parts[i],
                                       .data_size_bytes = sizes[i],
                                       .query_info = parts[2],
                                       .query_info_size_bytes = sizes[2],
                                       .registrations = registrations,
                                       .registration_count = count};
    pfb_sample tables[2];
    void *memory[2];
    for (int i = 0; i < 2; i++)
        memory[i] = load_sample(&inputs[i], &tables[i]);
    pfb_sample_match(&tables[0], &tables[1], NULL, 0);
    read_table(&tables[0], &tables[1]);
    free(memory[0]);
    free(memory[1]);
}

/* Runs the reader. Returns the violated guarantee or null; some readers abort instead. */
static const char *read_changing(changing_reader reader, const changes *c)
{
    uint64_t seed = (uint64_t)c->at * 4 + 1; /* bit 1, which selects strict reading, is clear */
    switch (reader) {
    case CHANGING_V2:
        return read_changing_input(SUBJECT_V2, c->memory, c->size, seed).broken;
    case CHANGING_V2_VALUES:
        read_bulk(c->memory, c->size);
        break;
    case CHANGING_V1:
        return read_changing_v1(SUBJECT_V1, c->memory, c->size, seed).broken;
    case CHANGING_NAME_TABLE:
        read_name_table(c->memory, c->size);
        break;
    case CHANGING_METADATA:
        return read_changing_input(SUBJECT_METADATA, c->memory, c->size, seed).broken;
    case CHANGING_QUERY:
        return read_changing_input(SUBJECT_QUERY, c->memory, c->size, seed).broken;
    case CHANGING_CAPTURE:
        return read_changing_input(SUBJECT_CAPTURE, c->memory, c->size, seed).broken;
    case CHANGING_SAMPLE:
        read_samples(c->memory, c->size, c->first);
        break;
    case CHANGING_TEXT:
        read_text(c->memory, c->size);
        break;
    case CHANGING_CPUID_TEXT:
        return read_changing_cpuid_text(c->memory, c->size, seed).broken;
    case CHANGING_LWP:
        return read_changing_lwp(c->memory, c->size, seed).broken;
    case CHANGING_CPI_TEXT:
        return read_changing_cpi_text(c->memory, c->size, seed).broken;
    case CHANGING_LOG:
        return read_changing_log(c->memory, c->size, seed).broken;
    case CHANGING_PDH_TEXT:
        return read_changing_pdh_text(c->memory, c->size, seed).broken;
    case CHANGING_NUMBER_TEXT:
        return read_changing_number_text(c->memory, c->size, seed).broken;
    default:
        return read_changing_hooks(c->memory, c->size, seed).broken;
    }
    return NULL;
}

uint64_t changing_read(changing_reader reader, changing_mode mode, uint32_t at, const uint8_t *first,
                       const uint8_t *second, size_t size)
{
    uint8_t *memory = stepper_make(size);
    require(memory != NULL, "memory is available");
    if (memory && size > 0)
        memcpy(memory, first, size);
    changes c = {.mode = mode,
                 .at = at,
                 .random = (uint64_t)at * UINT64_C(0x9E3779B97F4A7C15) | 1,
                 .memory = memory,
                 .size = size,
                 .first = first,
                 .second = second};
    stepper_begin(on_access, &c);
    const char *broken = read_changing(reader, &c);
    uint64_t accesses = stepper_end();
    require(broken == NULL, broken);
    stepper_free();
    return accesses;
}
