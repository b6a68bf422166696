/* SPDX-License-Identifier: MIT */
#include "v1_readers.h"

#include "checks.h"
#include "perfblock/formula.h"
#include "perfblock/name.h"
#include "perfblock/sample.h"
#include "perfblock/v1.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

pfb_error read_rest_of_v1(pfb_v1_reader *reader)
{
    pfb_v1_object object;
    while (pfb_v1_next_object(reader, &object))
        continue;
    return reader->error;
}

/* ---- A walk over an input ----------------------------------------------------------------------------- */

/* Accesses the returned bytes; of long ranges only both ends, because many items may share the same bytes. */
static void touch_ends(walk *w, size_t offset, size_t size)
{
    enum { END = 64 };
    if (size <= (size_t)2 * END || !is_inside(offset, size, 0, w->size)) {
        touch(w, offset, size);
        return;
    }
    touch(w, offset, END);
    touch(w, offset + size - END, END);
}

static bool is_one_of(pfb_code code, const pfb_code *codes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (codes[i] == code)
            return true;
    }
    return false;
}

/* Returns true if a V1 reader may return this code. */
static bool is_v1_code(pfb_code code)
{
    static const pfb_code shared[] = {PFB_OK,
                                      PFB_TRUNCATED_HEADER,
                                      PFB_TRUNCATED_BLOCK,
                                      PFB_TRUNCATED_INSTANCE,
                                      PFB_BAD_TOTAL_SIZE,
                                      PFB_BAD_COUNTER_COUNT,
                                      PFB_BAD_INSTANCE_COUNT,
                                      PFB_BAD_INSTANCE_SIZE,
                                      PFB_UNALIGNED_SIZE,
                                      PFB_TRAILING_BYTES,
                                      PFB_SIZE_WITHOUT_HEADER,
                                      PFB_UNKNOWN_FORMAT,
                                      PFB_TRUNCATED_STRING};
    return is_one_of(code, shared, sizeof shared / sizeof shared[0]) ||
           (code >= PFB_TRUNCATED_OBJECT && code <= PFB_TRUNCATED_COUNTER_BLOCK) ||
           (code >= PFB_BAD_BYTE_ORDER && code <= PFB_BAD_PAIR);
}

/* Records a reader's error, and checks the guarantees that hold for every reading. */
static void conclude(walk *w, pfb_error error, uint32_t notes)
{
    record_error(w, error, notes);
    expect(w, is_v1_code(error.code), "the code is one of a V1 reader");
    expect(w, w->out.items <= w->size + w->size / 8 + 1, "the number of items is linear in the input");
}

/* ---- Blocks: names and values --------------------------------------------------------------------------- */

static uint64_t load_number(const walk *w, const pfb_v1_reader *reader, size_t offset, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number = number << 8 | w->data[offset + (reader->is_big_endian ? i : size - 1 - i)];
    return number;
}

static bool is_utf16_encoding(uint32_t encoding)
{
    return encoding == PFB_ENCODING_UTF16LE || encoding == PFB_ENCODING_UTF16BE;
}

/* Accesses a name, which must be inside [begin, end). */
static void touch_name(walk *w, const pfb_name *name, size_t begin, size_t end)
{
    size_t offset = name_offset(w, name);
    if (name->size_bytes == 0)
        return;
    if (!is_inside(offset, name->size_bytes, begin, end)) {
        expect(w, false, "a name lies inside the enclosing item");
        return;
    }
    size_t unit = is_utf16_encoding(name->encoding) ? 2 : 1;
    expect(w, name->size_bytes % unit == 0, "a name consists of whole units");
    bool has_nul = false;
    for (size_t i = 0; i < name->size_bytes; i += unit) {
        const uint8_t *p = name->bytes + i;
        has_nul = has_nul || (p[0] == 0 && (unit == 1 || p[1] == 0));
    }
    expect_if_unchanged(w, !has_nul, "a name ends before its first NUL");
    touch_ends(w, offset, name->size_bytes);
}

static void touch_value(walk *w, const pfb_v1_reader *reader, const pfb_v1_instance *instance,
                        const pfb_v1_value *value)
{
    size_t end = instance->values_offset + instance->values_size_bytes;
    bool is_number = value->size_bytes == 4 || value->size_bytes == 8;
    expect(w, value->is_number == is_number, "numbers are 4 or 8 bytes");
    expect(w, value->is_number || value->raw == 0, "a value that is not a number has raw 0");
    expect(w, value->has_base || value->base == 0, "without a base, its value is 0");
    expect(w, value->has_multi_count || value->multi_count == 0, "without a multi count, its value is 0");
    expect(w, !value->has_base || pfb_counter_type_is_base(value->base_type), "the type of a base is a base type");
    add(w, value->base + value->multi_count + value->base_type);
    if (value->size_bytes == 0)
        return;
    if (!is_inside(value->offset, value->size_bytes, instance->values_offset, end)) {
        expect(w, false, "a value lies inside its counter block");
        return;
    }
    touch_ends(w, value->offset, value->size_bytes);
    if (is_number)
        expect_if_unchanged(w, value->raw == load_number(w, reader, value->offset, value->size_bytes),
                            "the number equals its bytes");
}

static void walk_values(walk *w, pfb_v1_reader *reader, const pfb_v1_object *object, const pfb_v1_instance *instance)
{
    pfb_v1_value value;
    uint32_t count = 0;
    while (!skips_rest(w) && pfb_v1_next_value(reader, &value)) {
        w->out.items++;
        expect(w, value.position == count, "values follow each other");
        touch_value(w, reader, instance, &value);
        count++;
        change_byte(w, value.offset);
    }
    expect(w, is_partial(w) || reader->object_error.code != PFB_OK || count == object->counter_count,
           "an instance has a value for each counter");
}

/* ---- Blocks: counters, instances, objects ---------------------------------------------------------------- */

/* The position of the walk in an object. */
typedef struct object_position {
    const pfb_v1_object *object;
    size_t end;
    size_t next_counter; /* the next definition is at or after this offset */
    uint32_t counters;   /* read so far */
} object_position;

/* Reads at most `limit` counters. */
static void walk_counters(walk *w, pfb_v1_reader *reader, object_position *at, uint32_t limit)
{
    pfb_v1_counter counter;
    while (limit-- > 0 && pfb_v1_next_counter(reader, &counter)) {
        w->out.items++;
        expect(w, counter.position == at->counters && is_inside(counter.offset, 40, at->next_counter, at->end),
               "counters follow each other inside their object");
        touch_ends(w, counter.offset, 40);
        add(w, counter.title_index + (uint64_t)counter.type + counter.size_bytes + counter.value_offset);
        expect_if_unchanged(w, counter.type == load_number(w, reader, counter.offset + 28, 4),
                            "the type of a counter equals its bytes");
        expect_if_unchanged(w, counter.value_offset == load_number(w, reader, counter.offset + 36, 4),
                            "the value offset of a counter equals its bytes");
        at->next_counter = counter.offset + 40;
        at->counters++;
        change_byte(w, at->next_counter);
    }
}

static void check_instance(walk *w, const pfb_v1_reader *reader, const object_position *at,
                           const pfb_v1_instance *instance, size_t min_offset)
{
    bool is_single = at->object->instance_count == PFB_V1_NO_INSTANCES; /* a counter block without a definition */
    expect(w, is_inside(instance->offset, is_single ? 4 : 28, min_offset, at->end), "instances follow each other");
    expect(w, instance->values_size_bytes >= 4, "a counter block has at least the size of its header");
    expect(w,
           is_inside(instance->values_offset, instance->values_size_bytes, instance->offset + (is_single ? 0 : 24),
                     at->end),
           "a counter block lies after its instance, inside the object");
    bool has_name = instance->name.bytes != NULL;
    uint32_t page = at->object->code_page;
    uint32_t own = reader->is_big_endian ? PFB_ENCODING_UTF16BE : PFB_ENCODING_UTF16LE;
    expect(w, !is_single || !has_name, "an object without instances has no name");
    expect(w, !has_name || instance->name.encoding == (page == 0 ? own : page), "names are in the object's code page");
    if (has_name)
        touch_name(w, &instance->name, instance->offset + 24, instance->values_offset);
    if (has_name)
        expect_if_unchanged(w,
                            name_offset(w, &instance->name) ==
                                    instance->offset + load_number(w, reader, instance->offset + 16, 4) &&
                                instance->name.size_bytes <= load_number(w, reader, instance->offset + 20, 4),
                            "a name lies where the definition says and is not longer");
    add(w, (uint64_t)instance->unique_id + instance->parent_title + instance->parent_position);
}

/* Returns the number of instances that an object declares. */
static uint32_t declared_instances(const pfb_v1_object *object)
{
    if (object->instance_count == PFB_V1_NO_INSTANCES)
        return 1;
    return object->instance_count < 0 ? 0 : (uint32_t)object->instance_count;
}

static void walk_instances(walk *w, pfb_v1_reader *reader, object_position *at)
{
    pfb_v1_instance instance;
    size_t min_offset = at->object->offset + 64;
    uint32_t count = 0;
    while (!skips_rest(w) && pfb_v1_next_instance(reader, &instance)) {
        w->out.items++;
        expect(w, instance.position == count, "instances are numbered");
        check_instance(w, reader, at, &instance, min_offset);
        min_offset = instance.values_offset + instance.values_size_bytes;
        count++;
        change_byte(w, instance.values_offset);
        if (is_partial(w)) /* counters may be read at any time between instances */
            walk_counters(w, reader, at, (uint32_t)(next_random(w) % 3));
        walk_values(w, reader, at->object, &instance);
        change_byte(w, min_offset);
    }
    expect(w, is_partial(w) || reader->object_error.code != PFB_OK || count == declared_instances(at->object),
           "an object has as many instances as it says");
}

static void walk_object(walk *w, pfb_v1_reader *reader, const pfb_v1_object *object)
{
    object_position at = {object, object->offset + object->size_bytes, object->offset + 64, 0};
    if (reader->object_error.code == PFB_OK)
        expect(w,
               is_inside(object->offset, object->size_bytes, 88, reader->total_size_bytes) && object->size_bytes >= 64,
               "a valid object lies inside the block");
    if (at.end > w->size) { /* keeps the checks below inside the input */
        at.end = w->size;
        expect(w, reader->object_error.code != PFB_OK, "only a malformed object ends past the input");
    }
    add(w, object->title_index + (uint64_t)object->counter_count + object->code_page);
    walk_counters(w, reader, &at, is_partial(w) ? (uint32_t)(next_random(w) % 4) : UINT32_MAX);
    expect(w, is_partial(w) || reader->object_error.code != PFB_OK || at.counters == object->counter_count,
           "an object has as many counters as it says");
    walk_instances(w, reader, &at);
    walk_counters(w, reader, &at, UINT32_MAX);
}

/* Opens the block and checks the fields of its header. */
static void open_block(walk *w, pfb_v1_reader *reader)
{
    bool is_open = pfb_v1_open(reader, w->data, w->size, w->options);
    if (reader->error.code == PFB_TRUNCATED_BLOCK)
        expect_if_unchanged(w, load_number(w, reader, 20, 4) > w->size,
                            "the header of a truncated block declares more bytes than there are");
    expect(w, is_open || reader->error.code != PFB_OK, "a failed open has an error code");
    if (!is_open)
        return;
    expect(w, reader->total_size_bytes >= 88 && reader->total_size_bytes <= w->size, "a block lies inside the input");
    expect(w, reader->object_count <= (reader->total_size_bytes - 88) / 64, "a block has space for its objects");
    touch_name(w, &reader->system_name, 0, reader->total_size_bytes);
    expect_if_unchanged(w, reader->system_name.size_bytes <= load_number(w, reader, 80, 4),
                        "the system name is not longer than the header says");
    add(w, (uint64_t)reader->perf_time + (uint64_t)reader->perf_freq + reader->object_count);
}

static void walk_block(walk *w)
{
    pfb_v1_reader reader;
    pfb_v1_object object;
    open_block(w, &reader);
    pfb_error first = reader.error;
    size_t next = 0;
    uint32_t count = 0;
    while (!skips_rest(w) && pfb_v1_next_object(&reader, &object)) {
        w->out.items++;
        expect(w, object.position == count && object.offset >= next, "objects follow each other");
        expect_if_unchanged(w, count > 0 || object.offset == load_number(w, &reader, 24, 4),
                            "the first object begins at the end of the header");
        expect_if_unchanged(w, count == 0 || object.offset == next, "an object begins where its predecessor ends");
        next = object.offset + object.size_bytes;
        count++;
        change_byte(w, object.offset + 64);
        walk_object(w, &reader, &object);
        if (first.code == PFB_OK)
            first = is_partial(w) ? reader.error : reader.object_error;
        change_byte(w, next);
    }
    pfb_error error = read_rest_of_v1(&reader);
    expect(w, is_same_error(error, read_rest_of_v1(&reader)), "the first error is kept");
    expect(w, first.code == PFB_OK || is_same_error(first, error), "the error of the block is the first error");
    expect(w, !pfb_v1_next_object(&reader, &object), "no item is returned after finish");
    expect(w, count <= reader.object_count, "there are no more objects than the header declares");
    expect(w, is_partial(w) || error.code != PFB_OK || count == reader.object_count,
           "a valid block has all declared objects");
    conclude(w, error, reader.notes);
}

/* ---- Blocks: the sample ------------------------------------------------------------------------------- */

static void check_rows(walk *w, const pfb_sample *t)
{
    for (uint32_t i = 0; i < t->counts.rows; i++) {
        const pfb_sample_row *row = &t->rows[i];
        expect(w, row->result < t->counts.results, "a row belongs to a result");
        if (row->name.size_bytes > 0)
            touch_ends(w, (size_t)(row->name.bytes - w->data), row->name.size_bytes);
        const pfb_sample_result *result = &t->results[row->result];
        expect(w, row->value_count <= result->column_count, "no more values than columns");
        expect(w, i - result->first_row < result->row_count, "a row lies in its result");
        for (uint32_t n = 0; n < result->column_count; n++) {
            pfb_sample_value v = pfb_sample_value_at(t, i, result->first_column + n);
            expect(w, v.exists == (n < row->value_count), "a row has the number of values that it states");
            expect(w, pfb_sample_place(t, i, result->first_column + n) < t->counts.values, "values lie in the table");
            expect(w, !v.exists || v.is_number || v.size_bytes == 0 || is_inside(v.offset, v.size_bytes, 0, w->size),
                   "data lie in the input");
        }
    }
}

/* Matches a sample with itself. Checks that every row is its own older row and, in a table of at most MAX_CELLS values,
 * that every value can be evaluated. */
static void check_self_match(walk *w, pfb_sample *t)
{
    enum { MAX_CELLS = 1 << 16 };
    pfb_sample_match(t, t, NULL, 0);
    for (uint32_t row = 0; row < t->counts.rows; row++)
        expect(w, t->rows[row].older_row == row, "in a sample matched with itself, each row is its own older row");
    size_t count = (size_t)t->counts.values;
    if (count == 0 || count > MAX_CELLS)
        return;
    double *values = malloc(count * (sizeof *values + 1));
    if (!values)
        return;
    uint8_t *status_bytes = (uint8_t *)(values + count);
    expect(w, !pfb_sample_cook(t, t, NULL, 0, NULL, values, status_bytes, count - 1),
           "arrays that are too small are refused");
    expect(w, pfb_sample_cook(t, t, NULL, 0, NULL, values, status_bytes, count), "all values can be evaluated");
    for (uint32_t row = 0; row < t->counts.rows; row++) {
        const pfb_sample_result *row_result = &t->results[t->rows[row].result];
        for (uint32_t column = row_result->first_column; column < row_result->first_column + row_result->column_count;
             column++) {
            size_t at = pfb_sample_place(t, row, column);
            pfb_formula_result result = pfb_formula_unpack(values[at], status_bytes[at], PFB_UNIT_NONE);
            expect(w, (unsigned)result.status <= PFB_STATUS_NO_DATA, "statuses are known");
            expect(w, result.value - result.value == 0, "values are finite");
            expect(w, result.status == PFB_STATUS_OK || (result.value == 0 && result.flags == 0),
                   "there is no value without status ok");
            pfb_formula_result cell = pfb_sample_cook_value(t, t, row, column, NULL, NULL);
            expect(w, bits_of(cell.value) == bits_of(result.value) && cell.status == result.status,
                   "evaluation one by one gives the same values");
        }
    }
    free(values);
}

/* Loads the block as a sample and checks the table. `error` is the error of the block's reader. */
static void check_table(walk *w, pfb_error error, uint32_t identity)
{
    pfb_sample_input input = {.data = w->data, .data_size_bytes = w->size, .options = w->options, .identity = identity};
    pfb_sample_counts counts;
    pfb_sample table;
    pfb_error measured = pfb_sample_measure(&input, &counts);
    expect(w, is_same_error(measured, error), "the error of measuring is that of the reader");
    size_t size = pfb_sample_size(&counts);
    expect(w, size <= 64 * w->size + 256, "the memory of a table is linear in the input");
    void *memory = malloc(size > 0 ? size : 1);
    if (!memory)
        return;
    memset(memory, 0xA5, size);
    pfb_error loaded = pfb_sample_load(&table, &input, &counts, memory, size);
    expect(w, is_same_error(loaded, measured), "the error of loading is that of measuring");
    expect(w, table.counts.rows <= counts.rows && table.counts.values <= counts.values,
           "no more is loaded than was measured");
    expect(w, loaded.code != PFB_OK || memcmp(&counts, &table.counts, sizeof counts) == 0,
           "a valid block is read completely");
    check_rows(w, &table);
    check_self_match(w, &table);
    if (size > 0) {
        loaded = pfb_sample_load(&table, &input, &counts, memory, size - 1);
        expect(w, loaded.code == PFB_CALLER_TOO_SMALL && table.counts.rows == 0, "memory that is too small is refused");
    }
    free(memory);
}

/* Returns true if the bytes have the V1 signature, in either byte order. */
static bool has_signature(const uint8_t *data, size_t size)
{
    return size >= 8 && (memcmp(data, "P\0E\0R\0F\0", 8) == 0 || memcmp(data, "\0P\0E\0R\0F", 8) == 0);
}

/* ---- Name tables: entries -------------------------------------------------------------------------------- */

static void touch_entry(walk *w, const pfb_name_table *table, const pfb_name_entry *entry, size_t min_offset)
{
    size_t offset = name_offset(w, &entry->name);
    size_t size = entry->name.size_bytes;
    bool is_utf16 = entry->name.encoding == PFB_ENCODING_UTF16LE;
    expect(w, entry->name.encoding == table->encoding && (is_utf16 || table->encoding == PFB_ENCODING_UTF8),
           "texts are in the table's encoding");
    if (!is_inside(offset, size, min_offset, w->size)) {
        expect(w, false, "texts lie after each other inside the table");
        return;
    }
    expect(w, !is_utf16 || size % 2 == 0, "a text consists of whole units");
    size_t unit = is_utf16 ? 2 : 1;
    bool has_nul = false;
    for (size_t i = 0; i + unit <= size; i += unit) {
        const uint8_t *p = entry->name.bytes + i;
        has_nul = has_nul || (p[0] == 0 && (unit == 1 || p[1] == 0));
    }
    expect(w, !has_nul, "a text has no NUL");
    touch_ends(w, offset, size);
    add(w, entry->index);
}

static void walk_table(walk *w)
{
    pfb_name_table table;
    pfb_name_entry entry;
    bool is_open = pfb_name_table_open(&table, w->data, w->size, w->options);
    expect(w, is_open == (table.error.code == PFB_OK), "a failed open has an error code");
    expect(w, is_open || table.error.code == PFB_UNKNOWN_FORMAT || w->options,
           "opening fails only because of the form");
    pfb_name_table copy = table;
    uint32_t counted = pfb_name_table_count(&copy);
    uint32_t count = 0;
    size_t min_offset = 0;
    while (pfb_name_table_next_entry(&table, &entry)) {
        w->out.items++;
        touch_entry(w, &table, &entry, min_offset);
        min_offset = name_offset(w, &entry.name) + entry.name.size_bytes;
        count++;
    }
    expect(w, count == counted, "as many pairs are returned as were counted");
    expect(w, is_same_error(copy.error, table.error) && copy.notes == table.notes,
           "counting gives the same error and notes");
    expect(w, !pfb_name_table_next_entry(&table, &entry), "nothing follows the last pair");
    conclude(w, table.error, table.notes);
}

/* ---- Name tables: look-up --------------------------------------------------------------------------------- */

/* A table with its index, and each text in UTF-8. */
typedef struct lookup {
    pfb_name_index index;
    char **texts; /* by position */
    size_t *sizes;
} lookup;

static void free_lookup(lookup *l)
{
    for (uint32_t i = 0; l->texts && i < l->index.count; i++)
        free(l->texts[i]);
    free(l->index.entries);
    free(l->index.by_index);
    free(l->index.by_name);
    free(l->texts);
    free(l->sizes);
}

/* Converts the texts to UTF-8, whose byte order is that of code points, to check the order of the index. */
static bool convert_texts(lookup *l)
{
    uint32_t count = l->index.count;
    l->texts = calloc((size_t)count + 1, sizeof *l->texts);
    l->sizes = calloc((size_t)count + 1, sizeof *l->sizes);
    for (uint32_t i = 0; l->texts && l->sizes && i < count; i++) {
        const pfb_name *name = &l->index.entries[i].name;
        bool is_utf16 = name->encoding == PFB_ENCODING_UTF16LE;
        l->sizes[i] = is_utf16 ? pfb_name_to_utf8(name, NULL, 0) : name->size_bytes;
        l->texts[i] = malloc(l->sizes[i] + 1);
        if (!l->texts[i])
            return false;
        if (is_utf16)
            pfb_name_to_utf8(name, l->texts[i], l->sizes[i] + 1);
        else if (l->sizes[i] > 0)
            memcpy(l->texts[i], name->bytes, l->sizes[i]);
    }
    return l->texts && l->sizes;
}

static int compare_texts(const lookup *l, uint32_t a, uint32_t b)
{
    size_t size = l->sizes[a] < l->sizes[b] ? l->sizes[a] : l->sizes[b];
    int order = size > 0 ? memcmp(l->texts[a], l->texts[b], size) : 0;
    if (order != 0)
        return order;
    return l->sizes[a] < l->sizes[b] ? -1 : l->sizes[a] > l->sizes[b];
}

/* Returns true if the bytes of a text are known to sort by code point. UTF-8 of the input that is not ASCII may be
 * malformed, and then they may not. */
static bool sorts_by_code_point(const lookup *l, uint32_t position)
{
    bool is_utf16 = l->index.entries[position].name.encoding == PFB_ENCODING_UTF16LE;
    for (size_t i = 0; !is_utf16 && i < l->sizes[position]; i++) {
        if ((uint8_t)l->texts[position][i] >= 0x80)
            return false;
    }
    return true;
}

/* Checks that an order contains every position once. */
static void check_permutation(walk *w, const uint32_t *order, uint32_t count)
{
    uint8_t *seen = calloc((size_t)count + 1, 1);
    for (uint32_t i = 0; seen && i < count; i++) {
        expect(w, order[i] < count && !seen[order[i]], "an order contains each pair once");
        if (order[i] < count)
            seen[order[i]] = 1;
    }
    free(seen);
}

static void check_orders(walk *w, const lookup *l)
{
    const pfb_name_index *index = &l->index;
    check_permutation(w, index->by_index, index->count);
    check_permutation(w, index->by_name, index->count);
    if (w->out.broken)
        return;
    for (uint32_t i = 1; i < index->count; i++) {
        uint32_t a = index->by_index[i - 1];
        uint32_t b = index->by_index[i];
        uint32_t one = index->entries[a].index;
        uint32_t two = index->entries[b].index;
        expect(w, one < two || (one == two && a < b), "by_index is sorted by index, then in the order of the table");
        a = index->by_name[i - 1];
        b = index->by_name[i];
        if (!sorts_by_code_point(l, a) || !sorts_by_code_point(l, b))
            continue;
        int order = compare_texts(l, a, b);
        expect(w, order < 0 || (order == 0 && index->entries[a].index <= index->entries[b].index),
               "by_name is sorted by text, then by index");
    }
}

static void check_finds(walk *w, const lookup *l)
{
    const pfb_name_index *index = &l->index;
    for (uint32_t i = 0; i < index->count; i++) {
        const pfb_name_entry *found = pfb_name_index_find(index, index->entries[i].index);
        expect(w, found && found <= &index->entries[i] && found->index == index->entries[i].index,
               "pfb_name_index_find returns the first pair with the index");
    }
    for (uint32_t i = 0; i < index->count; i++) {
        uint32_t position = index->by_name[i];
        uint32_t first = 0;
        const pfb_name name = pfb_utf8_name(l->texts[position], l->sizes[position]);
        uint32_t count = pfb_name_index_named(index, &name, &first);
        expect(w, first <= i && i - first < count && count <= index->count - first,
               "pfb_name_index_named returns a range that contains the pair");
        if (index->entries[position].name.encoding != PFB_ENCODING_UTF16LE || w->out.broken)
            continue;
        expect(w, first == 0 || compare_texts(l, index->by_name[first - 1], position) < 0,
               "no earlier pair has the name");
        expect(w, compare_texts(l, index->by_name[first], position) == 0, "the first pair of the range has the name");
        expect(w, compare_texts(l, index->by_name[first + count - 1], position) == 0,
               "the last pair of the range has the name");
    }
}

/* Builds the index in memory of exactly the size needed, and with a capacity that is one pair too small. */
static void check_lookup(walk *w)
{
    pfb_name_table table;
    pfb_name_table_open(&table, w->data, w->size, w->options);
    pfb_name_table copy = table;
    uint32_t count = pfb_name_table_count(&copy);
    size_t capacity = count > 0 ? count : 1;
    pfb_name_entry *entries = malloc(capacity * sizeof *entries);
    uint32_t *by_index = malloc(capacity * sizeof *by_index);
    uint32_t *by_name = malloc(capacity * sizeof *by_name);
    lookup l = {.index = {.entries = entries, .by_index = by_index, .by_name = by_name}};
    if (entries && by_index && by_name) {
        if (count > 0) {
            pfb_error small = pfb_name_index_build(&l.index, &table, entries, by_index, by_name, count - 1);
            expect(w, small.code == PFB_CALLER_TOO_SMALL && l.index.count == count - 1,
                   "an index with too little capacity reports it");
        }
        pfb_error error = pfb_name_index_build(&l.index, &table, entries, by_index, by_name, count);
        expect(w, is_same_error(error, copy.error) && l.index.count == count, "an index contains all pairs");
        if (!w->out.broken && convert_texts(&l)) {
            check_orders(w, &l);
            if (!w->out.broken)
                check_finds(w, &l);
        }
    }
    l.index.entries = entries;
    l.index.by_index = by_index;
    l.index.by_name = by_name;
    free_lookup(&l);
}

/* ---- Comparing readings ----------------------------------------------------------------------------------- */

typedef void walker(walk *w);

static walker *const walkers[] = {[SUBJECT_V1] = walk_block, [SUBJECT_NAME_TABLE] = walk_table};

static const tolerance tolerances[] = {{PFB_UNALIGNED_SIZE, PFB_NOTE_UNALIGNED_SIZE, 0},
                                       {PFB_TRAILING_BYTES, PFB_NOTE_TRAILING_BYTES, 0},
                                       {PFB_BAD_PAIR, PFB_NOTE_BAD_PAIR, 0},
                                       {PFB_TRUNCATED_STRING, PFB_NOTE_UNTERMINATED, 0},
                                       {PFB_BAD_NAME, PFB_NOTE_BAD_SYSTEM_NAME, 84},
                                       {PFB_SIZE_WITHOUT_HEADER, PFB_NOTE_SIZE_WITHOUT_HEADER, 0}};

/* Checks that the error of a block is the same if nothing, only objects, or only parts are read. */
static const char *compare_partial(const reading *whole, const uint8_t *data, size_t size,
                                   const pfb_read_options *options)
{
    pfb_v1_reader reader;
    pfb_v1_object object;
    pfb_v1_open(&reader, data, size, options);
    pfb_error error = read_rest_of_v1(&reader);
    if (!is_same_error(whole->error, error) || whole->notes != reader.notes)
        return "the error is the same when nothing is read";
    pfb_v1_open(&reader, data, size, options);
    while (pfb_v1_next_object(&reader, &object))
        continue;
    if (!is_same_error(whole->error, reader.error) || whole->notes != reader.notes)
        return "the error is the same when only objects are read";
    walk w = {.data = data, .size = size, .options = options};
    w.random = hash(data, size);
    walk_block(&w);
    if (w.out.broken)
        return w.out.broken;
    return is_same_error(whole->error, w.out.error) && whole->notes == w.out.notes
               ? NULL
               : "the error is the same when only parts are read";
}

/* Checks the functions besides the reader: partial reading and samples of blocks, look-up of name tables. */
static const char *check_other_functions(v1_subject which, const uint8_t *data, size_t size,
                                         const pfb_read_options *options, const reading *whole)
{
    walk w = {.data = data, .size = size, .options = options};
    if (which == SUBJECT_NAME_TABLE) {
        check_lookup(&w);
        return w.out.broken;
    }
    const char *broken = compare_partial(whole, data, size, options);
    if (broken || !has_signature(data, size))
        return broken;
    check_table(&w, whole->error, PFB_IDENTITY_PROCESS);
    check_table(&w, whole->error, PFB_IDENTITY_WINDOWS);
    return w.out.broken;
}

/* ---- Entry points ------------------------------------------------------------------------------------- */

reading read_v1(v1_subject which, const uint8_t *data, size_t size, const pfb_read_options *options)
{
    walk w = {.data = data, .size = size, .options = options};
    walkers[which](&w);
    return w.out;
}

reading verify_v1(v1_subject which, const uint8_t *data, size_t size)
{
    reading tolerant = read_v1(which, data, size, NULL);
    reading repeated = read_v1(which, data, size, NULL);
    reading strict = read_v1(which, data, size, STRICT);
    const char *broken = tolerant.broken;
    if (!is_same_reading(&tolerant, &repeated))
        broken = "reading the same bytes twice gives the same result";
    if (!broken)
        broken = compare_strict(&tolerant, &strict, tolerances, sizeof tolerances / sizeof tolerances[0]);
    if (!broken)
        broken = check_other_functions(which, data, size, 0, &tolerant);
    if (!broken)
        broken = check_other_functions(which, data, size, STRICT, &strict);
    tolerant.broken = broken;
    return tolerant;
}

reading read_changing_v1(v1_subject which, uint8_t *data, size_t size, uint64_t seed)
{
    walk w = {.data = data, .size = size, .options = seed & 2 ? STRICT : NULL};
    /* walk_table requires that the input does not change; changing.c has a reader of changing name tables. */
    if (which == SUBJECT_NAME_TABLE)
        return w.out;
    w.writable = data;
    w.random = seed | 1;
    walkers[which](&w);
    return w.out;
}

void fuzz_v1(v1_subject which, const uint8_t *data, size_t size)
{
    uint64_t seed = hash(data, size);
    for (uint64_t round = 0; round < 3; round++) {
        uint8_t *copy = copy_input(data, size);
        if (!copy)
            return;
        end_round(copy, round == 0 ? verify_v1(which, copy, size)
                                   : read_changing_v1(which, copy, size, seed * (2 * round + 1)));
    }
}
