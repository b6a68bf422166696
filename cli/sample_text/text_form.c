/* SPDX-License-Identifier: MIT */
#include "sample_text/text_form.h"

#include "memory/memory.h"
#include "output/time_text.h"
#include "sample_text/definitions.h"

#include <stdlib.h>

static const char first_line[] = "perfblock text ";

/* The clocks that a line "sample SECONDS" means. */
#define TICKS INT64_C(10000000)                 /* ticks per second of both clocks */
#define START_PERF_TIME (1000 * TICKS)          /* the performance clock at second 0 */
#define START_100NS INT64_C(133801632000000000) /* the 100 ns clock at second 0: 2025-01-01 00:00 UTC */
#define MAX_SECONDS UINT64_C(1000000000)

/* ---- A sample -------------------------------------------------------------------------------------------- */

/* A value of a row. */
typedef struct text_value {
    uint64_t number;
    uint32_t width;       /* bytes of the number, or of the datum */
    const uint8_t *datum; /* null: a number of 4 or 8 bytes */
    char relation;        /* +, - or =: relative to the latest result of its part that has rows; 0: not relative */
    word word;            /* errors in the value are reported at this word */
} text_value;

typedef struct text_row {
    pfb_name name; /* name.bytes is null for "-", a row without an instance, and for "-#ID", one without a name */
    int64_t id;
    uint32_t parent_title, parent_position;
    uint32_t occurrence; /* number of earlier rows of the result with this name */
    size_t first_value;  /* position in reader.values */
} text_row;

typedef struct text_result {
    text_part *part; /* null: a V2 result that answers no query */
    uint32_t kind, status;
    int64_t time, frequency;     /* V1: the object's clock */
    size_t first_id, id_count;   /* its counter ids in reader.ids */
    size_t first_width;          /* position in reader.widths of the widths of a row's values */
    size_t value_count;          /* values per row */
    size_t first_row, row_count; /* its rows in reader.rows */
    word word;                   /* errors in the result are reported at this word */
} text_result;

typedef struct text_query {
    pfb_query query;
    text_part *part;
} text_query;

typedef struct reader {
    words words;
    definitions definitions;
    pfb_name machine;
    bool is_big_endian;  /* byte order of V1 blocks */
    text_query *queries; /* put_queries() sorts them by index */
    size_t query_count, query_capacity;
    size_t queried_changes; /* definitions.set_changes when make_queries() ran last */
    bool has_queries;       /* the text has query lines */
    bool has_new_queries;   /* no chunk was made since the queries changed */
    bool ends_queries;      /* the next query line begins a new list of queries */
    /* The current sample. */
    bool has_sample;
    bool is_v1;
    pfb_write_times times;
    text_result *results;
    size_t result_count, result_capacity;
    text_row *rows;
    size_t row_count, row_capacity;
    text_value *values;
    size_t value_count, value_capacity;
    uint32_t *ids;
    size_t id_count, id_capacity;
    uint32_t *widths;
    size_t width_count, width_capacity;
} reader;

/* ---- Relative values ------------------------------------------------------------------------------------- */

/* A row of a result, for sorting by name. */
typedef struct named_row {
    pfb_name name;
    size_t row;
} named_row;

static int compare_names(const pfb_name *a, const pfb_name *b)
{
    if (a->size_bytes != b->size_bytes)
        return a->size_bytes < b->size_bytes ? -1 : 1;
    return a->size_bytes > 0 ? memcmp(a->bytes, b->bytes, a->size_bytes) : 0;
}

static int compare_named(const void *left, const void *right)
{
    const named_row *a = left;
    const named_row *b = right;
    int order = compare_names(&a->name, &b->name);
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

/* Returns the numbers of a row that store_numbers() stored in the part, or null. */
static const uint64_t *find_previous(const text_part *part, const pfb_name *name, uint32_t occurrence)
{
    size_t low = 0;
    size_t high = part->previous_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const previous_row *previous = &part->previous[middle];
        int order = compare_names(&previous->name, name);
        if (order == 0)
            order = (previous->occurrence > occurrence) - (previous->occurrence < occurrence);
        if (order == 0)
            return part->numbers + previous->first_number;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Replaces a relative value by its number. */
static bool resolve(reader *r, text_value *value, const uint64_t *previous)
{
    if (value->relation == 0)
        return true;
    if (!previous)
        return words_fail(
            &r->words, &value->word,
            "the previous result of this counterset or object has no row of this name with the same number of values");
    uint64_t number = value->relation == '-' ? *previous - value->number : *previous + value->number;
    value->number = value->width == 4 ? (uint32_t)number : number;
    return true;
}

/* Stores the numbers of a result in its part: values of the next result of the part may be relative to them. */
static void store_numbers(reader *r, const text_result *result, const named_row *sorted)
{
    text_part *part = result->part;
    size_t width = result->value_count;
    part->previous_count = result->row_count;
    part->previous_width = width;
    part->previous = memory_grow(part->previous, &part->previous_capacity, result->row_count, sizeof *part->previous);
    part->numbers =
        memory_grow(part->numbers, &part->number_capacity, result->row_count * width + 1, sizeof *part->numbers);
    for (size_t i = 0; i < result->row_count; i++) {
        const text_row *row = &r->rows[sorted[i].row];
        part->previous[i] = (previous_row){row->name, row->occurrence, i * width};
        for (size_t j = 0; j < width; j++)
            part->numbers[i * width + j] = r->values[row->first_value + j].number;
    }
}

/* Returns true if the values of a result are in one row, without an instance. */
static bool is_single_row(const reader *r, const text_result *result)
{
    if (r->is_v1)
        return result->part->instance_count == PFB_V1_NO_INSTANCES;
    return result->kind == PFB_V2_SINGLE_COUNTER || result->kind == PFB_V2_MULTIPLE_COUNTERS;
}

/* Ends a result: numbers the rows with equal names and resolves relative values. */
static bool end_result(reader *r)
{
    if (r->result_count == 0)
        return true;
    text_result *result = &r->results[r->result_count - 1];
    bool succeeded = true;
    if (result->row_count == 0 && is_single_row(r, result) && (r->is_v1 || result->value_count > 0))
        return words_fail(&r->words, &result->word, "this result needs a row");
    if (result->row_count == 0)
        return true;
    named_row *sorted = memory_get(result->row_count, sizeof *sorted);
    for (size_t i = 0; i < result->row_count; i++)
        sorted[i] = (named_row){r->rows[result->first_row + i].name, result->first_row + i};
    qsort(sorted, result->row_count, sizeof *sorted, compare_named);
    for (size_t i = 0; i < result->row_count && succeeded; i++) {
        text_row *row = &r->rows[sorted[i].row];
        bool repeats = i > 0 && compare_names(&sorted[i - 1].name, &sorted[i].name) == 0;
        row->occurrence = repeats ? r->rows[sorted[i - 1].row].occurrence + 1 : 0;
        bool is_comparable = result->part && result->part->previous_width == result->value_count;
        const uint64_t *previous = is_comparable ? find_previous(result->part, &row->name, row->occurrence) : NULL;
        for (size_t j = 0; j < result->value_count && succeeded; j++)
            succeeded = resolve(r, &r->values[row->first_value + j], previous ? previous + j : NULL);
    }
    if (succeeded && result->part)
        store_numbers(r, result, sorted);
    free(sorted);
    return succeeded;
}

/* ---- Writing samples ------------------------------------------------------------------------------------- */

static void write_v2_values(pfb_writer *writer, const reader *r, const text_row *row, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const text_value *value = &r->values[row->first_value + i];
        if (value->datum)
            pfb_write_datum(writer, value->datum, value->width);
        else
            pfb_write_value(writer, value->number, value->width);
    }
}

static bool has_instances(uint32_t kind)
{
    return kind == PFB_V2_MULTIPLE_INSTANCES || kind == PFB_V2_COUNTERSET;
}

static bool has_ids(uint32_t kind)
{
    return kind == PFB_V2_MULTIPLE_COUNTERS || kind == PFB_V2_COUNTERSET;
}

static void write_v2(pfb_writer *writer, const void *context)
{
    const reader *r = context;
    pfb_write_begin_v2(writer, &r->times);
    for (size_t i = 0; i < r->result_count; i++) {
        const text_result *result = &r->results[i];
        const uint32_t *ids = r->id_count > 0 ? r->ids + result->first_id : NULL;
        pfb_write_begin_result(writer, result->kind, result->status, ids, (uint32_t)result->id_count);
        for (size_t j = 0; j < result->row_count; j++) {
            const text_row *row = &r->rows[result->first_row + j];
            if (has_instances(result->kind))
                pfb_write_instance(writer, (uint32_t)row->id, &row->name);
            write_v2_values(writer, r, row, result->value_count);
        }
        pfb_write_end_result(writer);
    }
    pfb_write_end_v2(writer);
}

static void write_v1_values(pfb_writer *writer, const reader *r, const text_result *result, const text_row *row)
{
    const text_part *part = result->part;
    uint32_t end = part->values_end;
    for (size_t i = 0; i < result->value_count; i++) {
        const text_value *value = &r->values[row->first_value + i];
        if (value->datum && part->offsets[i] + value->width > end)
            end = part->offsets[i] + value->width;
    }
    pfb_write_counter_block(writer, end);
    for (size_t i = 0; i < result->value_count; i++) {
        const text_value *value = &r->values[row->first_value + i];
        if (value->datum)
            pfb_write_v1_datum(writer, part->offsets[i], value->datum, value->width);
        else
            pfb_write_v1_value(writer, part->offsets[i], value->number, value->width);
    }
}

static void write_object(pfb_writer *writer, const reader *r, const text_result *result)
{
    const text_part *part = result->part;
    pfb_write_begin_object(writer, &(pfb_v1_object){.title_index = part->title,
                                                    .help_index = part->help_title,
                                                    .detail_level = part->detail,
                                                    .default_counter = -1,
                                                    .instance_count = part->instance_count,
                                                    .perf_time = result->time,
                                                    .perf_freq = result->frequency});
    for (size_t i = 0; i < part->count; i++)
        pfb_write_definition(writer, &part->counters[i].definition);
    for (size_t i = 0; i < result->row_count; i++) {
        const text_row *row = &r->rows[result->first_row + i];
        if (part->instance_count == 0)
            pfb_write_v1_instance(writer, &(pfb_v1_instance){.name = row->name,
                                                             .unique_id = (int32_t)row->id,
                                                             .parent_title = row->parent_title,
                                                             .parent_position = row->parent_position});
        write_v1_values(writer, r, result, row);
    }
    pfb_write_end_object(writer);
}

static void write_v1(pfb_writer *writer, const void *context)
{
    const reader *r = context;
    pfb_write_begin_v1(writer, &r->times, &r->machine, r->is_big_endian);
    for (size_t i = 0; i < r->result_count; i++)
        write_object(writer, r, &r->results[i]);
    pfb_write_end_v1(writer);
}

/* ---- Queries --------------------------------------------------------------------------------------------- */

static int compare_queries(const void *left, const void *right)
{
    const text_query *a = left;
    const text_query *b = right;
    return (a->query.index > b->query.index) - (a->query.index < b->query.index);
}

static void add_query(reader *r, const text_query *query)
{
    r->queries = memory_grow(r->queries, &r->query_capacity, r->query_count + 1, sizeof *r->queries);
    r->queries[r->query_count++] = *query;
    r->has_new_queries = true;
}

/* Returns true if the queries are those that make_queries() makes of the present definitions. */
static bool is_queried(const reader *r)
{
    const text_parts *all = &r->definitions.all;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        bool has_instances = all->parts[i]->instances != 0;
        if (all->parts[i]->is_v1)
            continue;
        if (count == r->query_count || (r->queries[count].query.name.bytes != NULL) != has_instances)
            return false;
        count++;
    }
    return count == r->query_count;
}

/* A text without query lines queries all countersets that it defines, in the order of their definitions. */
static void make_queries(reader *r)
{
    const text_parts *all = &r->definitions.all;
    if (r->has_queries || r->definitions.set_changes == r->queried_changes)
        return;
    r->queried_changes = r->definitions.set_changes;
    if (is_queried(r))
        return;
    r->query_count = 0;
    for (size_t i = 0; i < all->count; i++) {
        text_part *part = all->parts[i];
        text_query query = {.part = part,
                            .query = {.counterset = part->guid,
                                      .counter_id = PFB_NO_ID,
                                      .instance_id = PFB_NO_ID,
                                      .index = (uint32_t)r->query_count}};
        if (part->is_v1)
            continue;
        if (part->instances != 0)
            query.query.name = pfb_utf8_name("*", 1);
        add_query(r, &query);
    }
}

static void write_queries(pfb_writer *writer, const void *context)
{
    const reader *r = context;
    for (size_t i = 0; i < r->query_count; i++)
        pfb_write_identifier(writer, &r->queries[i].query);
}

/* Makes the chunks that must precede the next V2 reply: new metadata and new query information. Returns false after an
 * error. */
static bool put_queries(reader *r)
{
    definitions_put_countersets(&r->definitions);
    make_queries(r);
    r->ends_queries = true;
    if (!r->has_new_queries)
        return true;
    r->has_new_queries = false;
    qsort(r->queries, r->query_count, sizeof *r->queries, compare_queries);
    const pfb_chunk chunk = {.tag = PFB_TAG_QUERY_INFO};
    pfb_error error = definitions_put_written(&r->definitions, &chunk, write_queries, r);
    return error.code == PFB_OK || words_fail_here(&r->words, "a name of the queries above is too long");
}

static const text_query *find_query(const reader *r, uint32_t index)
{
    const text_query key = {.query = {.index = index}};
    return r->query_count > 0 ? bsearch(&key, r->queries, r->query_count, sizeof key, compare_queries) : NULL;
}

/* ---- Ends of samples ------------------------------------------------------------------------------------- */

/* Makes the chunk of the current sample, if there is one. Called for each line that cannot be part of a sample. */
static bool end_sample(reader *r)
{
    if (!r->has_sample)
        return true;
    if (!end_result(r))
        return false;
    pfb_chunk chunk = {.tag = r->is_v1 ? PFB_TAG_V1 : PFB_TAG_DATA};
    if (!r->is_v1 && !put_queries(r)) /* has no effect if the sample has results: read_v2_result() has called it */
        return false;
    pfb_error error = definitions_put_written(&r->definitions, &chunk, r->is_v1 ? write_v1 : write_v2, r);
    r->has_sample = false;
    r->result_count = r->row_count = r->value_count = r->id_count = r->width_count = 0;
    return error.code == PFB_OK ||
           words_fail_here(&r->words, "the sample above is larger than 4 GiB, or a value is outside of its block");
}

/* ---- Lines: samples -------------------------------------------------------------------------------------- */

/* Reads seconds with up to seven decimals and converts them to ticks. */
static bool read_seconds(const word *w, int64_t *ticks)
{
    enum { DECIMALS = 7 };
    const char *point = memchr(w->text, '.', w->size);
    size_t whole = point ? (size_t)(point - w->text) : w->size;
    size_t decimals = point ? w->size - whole - 1 : 0;
    const word seconds = {.text = w->text, .size = whole, .is_quoted = w->is_quoted};
    const word fraction = {.text = w->text + w->size - decimals, .size = decimals};
    uint64_t number = 0;
    uint64_t part = 0;
    if (!word_unsigned(&seconds, MAX_SECONDS, &number) || decimals > DECIMALS ||
        (point && (memchr(w->text, 'x', w->size) || !word_unsigned(&fraction, TICKS, &part))))
        return false;
    for (size_t i = decimals; i < DECIMALS; i++)
        part *= 10;
    *ticks = (int64_t)(number * TICKS + part);
    return true;
}

/* Reads eight numbers with commas between them: the members of SYSTEMTIME in their order. */
static bool read_system_time(const word *w, pfb_system_time *time)
{
    uint16_t *const fields[] = {&time->year, &time->month,  &time->day_of_week, &time->day,
                                &time->hour, &time->minute, &time->second,      &time->millisecond};
    enum { FIELDS = sizeof fields / sizeof fields[0] };
    size_t at = 0;
    for (size_t i = 0; i < FIELDS; i++) {
        size_t start = at;
        uint64_t number = 0;
        while (at < w->size && w->text[at] != ',')
            at++;
        const word field = {.text = w->text + start, .size = at - start, .is_quoted = w->is_quoted};
        if (!word_unsigned(&field, UINT16_MAX, &number))
            return false;
        *fields[i] = (uint16_t)number;
        at += i + 1 < FIELDS;
        if (at > w->size)
            return false;
    }
    return at == w->size;
}

static bool read_sample(reader *r)
{
    pfb_write_times *times = &r->times;
    bool has_system_time = false;
    bool is_first = true;
    word w;
    int64_t ticks = 0;
    const text_option options[] = {{"perf", OPTION_I64, &times->perf_time, NULL},
                                   {"100ns", OPTION_I64, &times->perf_time_100ns, NULL},
                                   {"frequency", OPTION_I64, &times->perf_freq, NULL}};
    if (!end_sample(r))
        return false;
    r->is_v1 = false;
    *times = (pfb_write_times){.perf_time = START_PERF_TIME, .perf_time_100ns = START_100NS, .perf_freq = TICKS};
    for (; words_next(&r->words, &w); is_first = false) {
        if (is_first && read_seconds(&w, &ticks)) {
            times->perf_time += ticks;
            times->perf_time_100ns += ticks;
        } else if (word_is(&w, "v1")) {
            r->is_v1 = true;
        } else if (word_is(&w, "system")) {
            has_system_time = true;
            if (!definitions_word(&r->definitions, "eight numbers of a system time", &w))
                return false;
            if (!read_system_time(&w, &times->system_time))
                return words_fail(&r->words, &w, "expected YEAR,MONTH,WEEKDAY,DAY,HOUR,MINUTE,SECOND,MILLISECOND");
        } else if (!definitions_option(&r->definitions, &w, options, sizeof options / sizeof options[0])) {
            return false;
        }
    }
    if (!has_system_time)
        times->system_time = time_text_system_time(times->perf_time_100ns);
    r->has_sample = true;
    return !r->words.has_failed;
}

/* ---- Lines: results -------------------------------------------------------------------------------------- */

/* Reads ids with commas between them. */
static bool read_ids(reader *r, text_result *result)
{
    word list;
    if (!definitions_word(&r->definitions, "counter ids with commas between them", &list))
        return false;
    for (size_t at = 0; at <= list.size && !word_is(&list, "-"); at++) {
        size_t start = at;
        uint64_t id = 0;
        while (at < list.size && list.text[at] != ',')
            at++;
        const word one = {.text = list.text + start, .size = at - start, .is_quoted = list.is_quoted};
        if (!word_unsigned(&one, UINT32_MAX, &id))
            return words_fail(&r->words, &list, "expected counter ids with commas between them, or -");
        r->ids = memory_grow(r->ids, &r->id_capacity, r->id_count + 1, sizeof *r->ids);
        r->ids[r->id_count++] = (uint32_t)id;
        result->id_count++;
    }
    return true;
}

static void add_width(reader *r, uint32_t width)
{
    r->widths = memory_grow(r->widths, &r->width_capacity, r->width_count + 1, sizeof *r->widths);
    r->widths[r->width_count++] = width;
}

/* A counter of a counterset, for searching by id. */
typedef struct id_position {
    uint32_t id;
    uint32_t width;
    size_t position;
} id_position;

static int compare_ids(const void *left, const void *right)
{
    const id_position *a = left;
    const id_position *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static int compare_only_ids(const void *left, const void *right)
{
    const id_position *a = left;
    const id_position *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* Appends the width of the value of each counter id: the width in the counter's definition, or 8 bytes if the counter
 * is not defined. */
static void add_widths_of_ids(reader *r, const text_part *part, const uint32_t *ids, size_t count)
{
    size_t known = part ? part->count : 0;
    id_position *sorted = memory_get(known + 1, sizeof *sorted);
    for (size_t i = 0; i < known; i++)
        sorted[i] = (id_position){part->counters[i].id, part->counters[i].width, i};
    qsort(sorted, known, sizeof *sorted, compare_ids);
    for (size_t i = 0; i < count; i++) {
        const id_position key = {.id = ids[i]};
        const id_position *found = known > 0 ? bsearch(&key, sorted, known, sizeof key, compare_only_ids) : NULL;
        add_width(r, found ? found->width : 8);
    }
    free(sorted);
}

/* Sets the number of values per row and their widths: a value for each counter id of the result; for
 * PFB_V2_SINGLE_COUNTER and PFB_V2_MULTIPLE_INSTANCES one value, of the counter in the query; for other kinds none. */
static void set_values(reader *r, text_result *result, const text_query *query, bool has_own_ids)
{
    const text_part *part = result->part;
    result->first_width = r->width_count;
    if (result->kind == PFB_V2_SINGLE_COUNTER || result->kind == PFB_V2_MULTIPLE_INSTANCES) {
        result->value_count = 1;
        add_widths_of_ids(r, part, query ? &query->query.counter_id : &(uint32_t){PFB_NO_ID}, 1);
        return;
    }
    if (!has_ids(result->kind))
        return;
    if (!has_own_ids) {
        for (size_t i = 0; part && i < part->count; i++) {
            r->ids = memory_grow(r->ids, &r->id_capacity, r->id_count + 1, sizeof *r->ids);
            r->ids[r->id_count++] = part->counters[i].id;
            add_width(r, part->counters[i].width);
        }
        result->id_count = part ? part->count : 0;
    } else if (result->id_count > 0) {
        add_widths_of_ids(r, part, r->ids + result->first_id, result->id_count);
    }
    result->value_count = result->id_count;
}

/* The kind that PerfLib returns for a query: it depends on whether the query names one counter or all, and on whether
 * it has an instance pattern. */
static uint32_t default_kind(const text_query *query)
{
    bool is_pattern = query->query.name.bytes && pfb_query_is_pattern(&query->query.name);
    if (query->query.counter_id != PFB_NO_ID)
        return is_pattern ? PFB_V2_MULTIPLE_INSTANCES : PFB_V2_SINGLE_COUNTER;
    return is_pattern ? PFB_V2_COUNTERSET : PFB_V2_MULTIPLE_COUNTERS;
}

static bool read_v2_result(reader *r, text_result *result, const word *at)
{
    bool has_kind = false;
    bool has_own_ids = false;
    word key;
    const text_option options[] = {{"kind", OPTION_U32, &result->kind, &has_kind},
                                   {"status", OPTION_U32, &result->status, NULL}};
    if (!put_queries(r))
        return false;
    const text_query *query = find_query(r, (uint32_t)r->result_count);
    if (result->part && (!query || query->part != result->part))
        return words_fail(&r->words, at, "result %zu answers %s", r->result_count,
                          query ? "a query for another counterset" : "no query: its name is -");
    if (query) {
        result->part = query->part;
        result->kind = default_kind(query);
    }
    result->first_id = r->id_count;
    while (words_next(&r->words, &key)) {
        bool is_list = word_is(&key, "counters");
        has_own_ids = has_own_ids || is_list;
        if (is_list ? !read_ids(r, result)
                    : !definitions_option(&r->definitions, &key, options, sizeof options / sizeof options[0]))
            return false;
    }
    if (!query && !has_kind)
        return words_fail(&r->words, at, "a result that answers no query needs its kind");
    if (!has_ids(result->kind))
        result->id_count = 0;
    set_values(r, result, query, has_own_ids);
    return !r->words.has_failed;
}

static bool read_v1_result(reader *r, text_result *result)
{
    const text_part *part = result->part;
    const text_option options[] = {{"time", OPTION_I64, &result->time, NULL},
                                   {"frequency", OPTION_I64, &result->frequency, NULL}};
    result->time = part->has_clock ? r->times.perf_time_100ns : 0;
    result->frequency = part->has_clock ? TICKS : 0;
    result->first_width = r->width_count;
    result->value_count = part->width_count;
    for (size_t i = 0; i < part->width_count; i++)
        add_width(r, part->widths[i]);
    definitions_put_names(&r->definitions);
    return definitions_options(&r->definitions, options, sizeof options / sizeof options[0]);
}

static bool read_result(reader *r)
{
    text_result result = {.first_row = r->row_count};
    word at = {.text = r->words.data + r->words.at};
    if (!r->has_sample)
        return words_fail_here(&r->words, "a result belongs to a sample, which must precede it");
    if (!end_result(r) || !definitions_part(&r->definitions, true, &result.part))
        return false;
    bool is_v1 = result.part && result.part->is_v1;
    if (r->result_count == 0)
        r->is_v1 = r->is_v1 || is_v1;
    if (is_v1 != r->is_v1)
        return words_fail(&r->words, &at, "a sample has results of countersets or of V1 objects, not of both");
    if (!(is_v1 ? read_v1_result(r, &result) : read_v2_result(r, &result, &at)))
        return false;
    result.word = at;
    r->results = memory_grow(r->results, &r->result_capacity, r->result_count + 1, sizeof *r->results);
    r->results[r->result_count++] = result;
    return true;
}

static bool read_error(reader *r)
{
    word w;
    uint64_t status = 0;
    text_result *result = r->result_count > 0 ? &r->results[r->result_count - 1] : NULL;
    if (!r->has_sample || !result || r->is_v1)
        return words_fail_here(&r->words, "an error belongs to a result of a counterset, which must precede it");
    if (!definitions_word(&r->definitions, "a status", &w))
        return false;
    if (!word_unsigned(&w, UINT32_MAX, &status))
        return words_fail(&r->words, &w, "expected a status");
    if (result->row_count > 0)
        return words_fail(&r->words, &w, "the result has rows");
    result->kind = PFB_V2_ERROR;
    result->status = (uint32_t)status;
    result->id_count = 0;
    result->value_count = 0;
    return true;
}

/* ---- Lines: rows ----------------------------------------------------------------------------------------- */

/* Splits NAME#ID at the last number sign. The word - is a row without an instance. */
static bool read_instance(reader *r, const word *w, text_row *row)
{
    if (word_is(w, "-"))
        return true;
    size_t at = w->size;
    while (at > 0 && w->text[at - 1] != '#')
        at--;
    const word id = {.text = w->text + at, .size = w->size - at};
    const word name = {.text = w->text, .size = at > 0 ? at - 1 : 0, .is_quoted = w->is_quoted};
    if (at == 0 || !word_signed(&id, INT32_MIN, UINT32_MAX, &row->id))
        return words_fail(&r->words, w, "expected \"NAME#ID\"");
    return definitions_name(&r->definitions, &name, &row->name);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a value of the form hex:BYTES. */
static bool read_datum(reader *r, const word *w, text_value *value)
{
    enum { PREFIX = 4 };
    size_t size = (w->size - PREFIX) / 2;
    uint8_t *bytes = memory_get(size + 1, 1);
    definitions *d = &r->definitions;
    d->allocations =
        memory_grow(d->allocations, &d->allocation_capacity, d->allocation_count + 1, sizeof *d->allocations);
    d->allocations[d->allocation_count++] = bytes;
    value->datum = bytes;
    value->width = (uint32_t)size;
    bool is_hex = w->size % 2 == 0 && size <= UINT32_MAX;
    for (size_t i = 0; i < size && is_hex; i++) {
        int high = hex_value(w->text[PREFIX + 2 * i]);
        int low = hex_value(w->text[PREFIX + 2 * i + 1]);
        is_hex = high >= 0 && low >= 0;
        bytes[i] = (uint8_t)(is_hex ? high << 4 | low : 0);
    }
    return is_hex || words_fail(&r->words, w, "expected hex: and two digits, 0 to 9 and a to f, for each byte");
}

static bool read_value(reader *r, const word *w, uint32_t width, text_value *value)
{
    static const char prefix[] = "hex:";
    word digits = *w;
    *value = (text_value){.width = width, .word = *w};
    if (!w->is_quoted && w->size >= sizeof prefix - 1 && memcmp(w->text, prefix, sizeof prefix - 1) == 0)
        return read_datum(r, w, value);
    if (!w->is_quoted && w->size > 2 && w->text[1] == ':' && (w->text[0] == '4' || w->text[0] == '8')) {
        value->width = (uint32_t)(w->text[0] - '0');
        digits.text += 2;
        digits.size -= 2;
    }
    if (value->width != 4 && value->width != 8)
        return words_fail(&r->words, w, "expected hex: and the bytes, since its counter has values of %u bytes",
                          (unsigned)width);
    if (word_is(&digits, "=")) {
        value->relation = '=';
        return true;
    }
    if (!w->is_quoted && digits.size > 1 && (*digits.text == '+' || *digits.text == '-')) {
        value->relation = *digits.text;
        digits.text++;
        digits.size--;
    }
    uint64_t max = value->width == 4 ? UINT32_MAX : UINT64_MAX;
    return word_unsigned(&digits, max, &value->number) ||
           words_fail(&r->words, w, "expected a number of at most %u bytes, +N, -N, = or hex:BYTES",
                      (unsigned)value->width);
}

static bool read_parent(reader *r, text_row *row)
{
    word w;
    uint64_t title = 0;
    uint64_t position = 0;
    if (!definitions_word(&r->definitions, "TITLE/POSITION of the parent", &w))
        return false;
    const char *slash = memchr(w.text, '/', w.size);
    size_t size = slash ? (size_t)(slash - w.text) : 0;
    const word first = {.text = w.text, .size = size, .is_quoted = w.is_quoted};
    const word second = {.text = w.text + size + 1, .size = slash ? w.size - size - 1 : 0};
    if (!word_unsigned(&first, UINT32_MAX, &title) || !word_unsigned(&second, UINT32_MAX, &position))
        return words_fail(&r->words, &w, "expected TITLE/POSITION of the parent");
    row->parent_title = (uint32_t)title;
    row->parent_position = (uint32_t)position;
    return true;
}

/* Returns true if the result may have one more row with the instance `w`, which is "-" for a row without one. */
static bool check_row(reader *r, const text_result *result, const word *w)
{
    bool is_named = r->is_v1 ? result->part->instance_count == 0 : has_instances(result->kind);
    bool is_single = is_single_row(r, result);
    if (!is_named && !is_single)
        return words_fail(&r->words, w, "this result has no rows");
    if (is_single && result->row_count > 0)
        return words_fail(&r->words, w, "this result has one row only");
    if (is_single && !word_is(w, "-"))
        return words_fail(&r->words, w, "expected -: this result has no instances");
    return !is_named || !word_is(w, "-") || words_fail(&r->words, w, "expected \"NAME#ID\"");
}

static bool read_row(reader *r)
{
    text_result *result = r->has_sample && r->result_count > 0 ? &r->results[r->result_count - 1] : NULL;
    text_row row = {.first_value = r->value_count};
    word w;
    if (!result)
        return words_fail_here(&r->words, "a row belongs to a result, which must precede it");
    if (!definitions_word(&r->definitions, "\"NAME#ID\" or -", &w) || !check_row(r, result, &w) ||
        !read_instance(r, &w, &row))
        return false;
    size_t count = 0;
    for (; words_next(&r->words, &w);) {
        if (count == 0 && r->is_v1 && word_is(&w, "parent")) {
            if (!read_parent(r, &row))
                return false;
            continue;
        }
        if (count == result->value_count)
            return words_fail(&r->words, &w, "a row of this result has %zu values", count);
        r->values = memory_grow(r->values, &r->value_capacity, r->value_count + 1, sizeof *r->values);
        if (!read_value(r, &w, r->widths[result->first_width + count++], &r->values[r->value_count++]))
            return false;
    }
    if (count < result->value_count && !r->words.has_failed) {
        buffer sentence = {0};
        buffer_format(&sentence, "expected %zu values, this row has %zu", result->value_count, count);
        words_fail_here(&r->words, sentence.data);
        buffer_free(&sentence);
    }
    r->rows = memory_grow(r->rows, &r->row_capacity, r->row_count + 1, sizeof *r->rows);
    r->rows[r->row_count++] = row;
    result->row_count++;
    return !r->words.has_failed;
}

/* ---- Lines: the rest ------------------------------------------------------------------------------------- */

static bool read_query(reader *r)
{
    text_query query = {.query = {.counter_id = PFB_NO_ID, .instance_id = PFB_NO_ID}};
    const text_option options[] = {{"counter", OPTION_ID, &query.query.counter_id, NULL},
                                   {"instance", OPTION_NAME, &query.query.name, NULL},
                                   {"id", OPTION_ID, &query.query.instance_id, NULL},
                                   {"index", OPTION_U32, &query.query.index, NULL}};
    word at = {.text = r->words.data + r->words.at};
    if (!end_sample(r))
        return false;
    if (!r->has_queries || r->ends_queries) {
        r->has_new_queries = r->query_count > 0; /* even if no query follows: then the query information is empty */
        r->query_count = 0;
    }
    r->has_queries = true;
    r->ends_queries = false;
    query.query.index = (uint32_t)r->query_count;
    if (!definitions_part(&r->definitions, true, &query.part))
        return false;
    if (!query.part)
        return true;
    if (query.part->is_v1)
        return words_fail(&r->words, &at, "V1 objects have no queries");
    query.query.counterset = query.part->guid;
    if (!definitions_options(&r->definitions, options, sizeof options / sizeof options[0]))
        return false;
    if (pfb_query_size(&query.query) == 0)
        return words_fail(&r->words, &at, "the name of an instance in a query has at most 1024 characters");
    add_query(r, &query);
    return true;
}

static void write_instances(pfb_writer *writer, const void *context)
{
    const reader *r = context;
    for (size_t i = 0; i < r->row_count; i++)
        pfb_write_listed_instance(writer, (uint32_t)r->rows[i].id, &r->rows[i].name);
}

/* Reads an instance list. r->rows is empty, because no sample is open, and holds the instances for the writer. */
static bool read_instances(reader *r)
{
    text_part *part = NULL;
    word w;
    word at = {.text = r->words.data + r->words.at};
    if (!end_sample(r) || !definitions_part(&r->definitions, false, &part))
        return false;
    if (part->is_v1)
        return words_fail(&r->words, &at, "V1 objects have no instance lists");
    while (words_next(&r->words, &w)) {
        text_row row = {.id = 0};
        if (word_is(&w, "-"))
            return words_fail(&r->words, &w, "expected \"NAME#ID\"");
        if (!read_instance(r, &w, &row))
            return false;
        r->rows = memory_grow(r->rows, &r->row_capacity, r->row_count + 1, sizeof *r->rows);
        r->rows[r->row_count++] = row;
    }
    if (r->words.has_failed)
        return false;
    if (r->has_new_queries && !put_queries(r)) /* chunks keep the order of the lines */
        return false;
    definitions_put_countersets(&r->definitions);
    const pfb_chunk chunk = {.tag = PFB_TAG_INSTANCES, .guid = part->guid};
    pfb_error error = definitions_put_written(&r->definitions, &chunk, write_instances, r);
    r->row_count = 0;
    return error.code == PFB_OK || words_fail(&r->words, &at, "the instance list is larger than 4 GiB");
}

static bool read_note(reader *r)
{
    word w;
    pfb_name name;
    if (!end_sample(r) || !definitions_word(&r->definitions, "a text", &w) ||
        !definitions_name(&r->definitions, &w, &name))
        return false;
    if (r->has_new_queries && !put_queries(r)) /* chunks keep the order of the lines */
        return false;
    size_t size = pfb_name_to_utf8(&name, NULL, 0);
    char *utf8 = memory_get(size + 1, 1);
    pfb_name_to_utf8(&name, utf8, size + 1);
    definitions_put_chunk(&r->definitions, &(pfb_chunk){.tag = PFB_TAG_NOTE}, utf8, size);
    free(utf8);
    return true;
}

static bool read_machine(reader *r)
{
    word w;
    if (!end_sample(r) || !definitions_word(&r->definitions, "a name or -", &w) ||
        !definitions_name(&r->definitions, &w, &r->machine))
        return false;
    r->is_big_endian = words_next(&r->words, &w);
    return !r->is_big_endian || word_is(&w, "big-endian") || words_fail(&r->words, &w, "expected big-endian");
}

/* ---- The text -------------------------------------------------------------------------------------------- */

static bool read_counterset(reader *r)
{
    return end_sample(r) && definitions_read_counterset(&r->definitions);
}

static bool read_counter(reader *r)
{
    return end_sample(r) && definitions_read_counter(&r->definitions);
}

static bool read_object(reader *r)
{
    return end_sample(r) && definitions_read_object(&r->definitions);
}

static bool read_define(reader *r)
{
    return end_sample(r) && definitions_read_define(&r->definitions);
}

static const struct {
    const char *verb;
    bool (*read)(reader *r);
} verbs[] = {{"row", read_row},
             {"result", read_result},
             {"sample", read_sample},
             {"error", read_error},
             {"counterset", read_counterset},
             {"counter", read_counter},
             {"instances", read_instances},
             {"query", read_query},
             {"object", read_object},
             {"define", read_define},
             {"machine", read_machine},
             {"note", read_note}};

static bool read_line(reader *r)
{
    word verb;
    if (!words_next(&r->words, &verb))
        return false;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (word_is(&verb, verbs[i].verb))
            return verbs[i].read(r);
    }
    return words_fail(&r->words, &verb,
                      "expected counterset, counter, instances, object, define, query, sample, result, error, row, "
                      "machine or note");
}

/* Returns the size of the byte order mark at the beginning of a text; 0 if there is none. */
static size_t mark_size(const char *data, size_t size)
{
    static const char mark[] = "\xef\xbb\xbf";
    return size >= sizeof mark - 1 && memcmp(data, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
}

bool text_form_recognise(const void *data, size_t size)
{
    if (size == 0)
        return false;
    size_t at = mark_size(data, size);
    return size - at >= sizeof first_line - 1 &&
           memcmp((const char *)data + at, first_line, sizeof first_line - 1) == 0;
}

/* Skips the words of a line. Returns false after an error. */
static bool skip_words(words *w)
{
    word next;
    while (words_next(w, &next))
        continue;
    return !w->has_failed;
}

bool text_form_find_time(const uint8_t *data, size_t size, bool is_last, int64_t *time, bool *needs_more)
{
    reader r = {.words = {.data = (const char *)data, .size = size}};
    word verb;
    bool is_found = false;
    r.definitions = (definitions){.words = &r.words};
    bool has_line = skip_words(&r.words) && words_next_line(&r.words); /* the first line */
    while (has_line && !is_found && words_next(&r.words, &verb)) {
        is_found = word_is(&verb, "sample") && read_sample(&r);
        has_line = skip_words(&r.words) && words_next_line(&r.words);
    }
    /* The last line of these bytes may continue after them. */
    is_found = is_found && (has_line || is_last);
    *time = r.times.perf_time_100ns;
    *needs_more = !is_last && !is_found;
    return is_found;
}

static bool read_first_line(reader *r)
{
    word version;
    r->words.at = mark_size(r->words.data, r->words.size) + sizeof first_line - 1;
    if (!words_next(&r->words, &version))
        return words_fail_here(&r->words, "expected the version of the text form, which is 1");
    return word_is(&version, "1") || words_fail(&r->words, &version, "this program reads version 1 of the text form");
}

bool text_form_read(const char *file, const void *data, size_t size, pfb_bytes *capture)
{
    reader r = {.words = {.file = file, .data = data, .size = size}};
    r.definitions = (definitions){.words = &r.words, .capture = capture};
    definitions_put_chunk(&r.definitions, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    bool succeeded = read_first_line(&r);
    while (succeeded && words_next_line(&r.words))
        succeeded = read_line(&r);
    succeeded = succeeded && !r.words.has_failed && end_sample(&r);
    if (succeeded) /* countersets that are defined after the last sample */
        definitions_put_countersets(&r.definitions);
    if (succeeded && r.has_new_queries)
        succeeded = put_queries(&r);
    free(r.queries);
    free(r.results);
    free(r.rows);
    free(r.values);
    free(r.ids);
    free(r.widths);
    definitions_free(&r.definitions);
    return succeeded;
}
