/* SPDX-License-Identifier: MIT */
#include "convert/filter_v1.h"

#include "memory/memory.h"
#include "os/system.h"
#include "perfblock/formula.h"
#include "perfblock/write.h"

#include <stdlib.h>
#include <string.h>

void filter_v1_free(filter_v1 *f)
{
    free(f->values);
    free(f->rows);
    free(f->seen);
    free(f->titles);
    hash_index_free(&f->named);
    *f = (filter_v1){.collector = NULL};
}

/* ---- Choosing -------------------------------------------------------------------------------------------- */

static void add_written_title(filter_v1 *f, uint32_t title)
{
    f->titles = memory_grow(f->titles, &f->title_capacity, f->title_count + 1, sizeof *f->titles);
    f->titles[f->title_count++] = title;
}

/* Lists the chosen values of a block. */
static void list_values(filter_v1 *f, const uint8_t *data, size_t size)
{
    pfb_collected_value value;
    pfb_collected_result result = {.offset = 0};
    bool has_result = false;
    uint32_t number = 0; /* of `result` */
    f->value_count = 0;
    if (!pfb_collector_put_sample(f->collector, 1, data, size, NULL))
        memory_exhausted();
    while (pfb_collector_next(f->collector, &value)) {
        if (!has_result || value.result != number) /* once per result, whose rows the call counts */
            has_result = pfb_collector_result(f->collector, value.result, &result);
        number = value.result;
        if (!has_result)
            continue;
        f->values = memory_grow(f->values, &f->value_capacity, f->value_count + 1, sizeof *f->values);
        f->values[f->value_count++] = (filter_value){result.offset, value.row, value.position};
    }
}

/* Returns the position of the first chosen value of an object, and stores their number in *count. */
static size_t find_values(const filter_v1 *f, size_t object_offset, size_t *count)
{
    size_t low = 0;
    size_t high = f->value_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->values[middle].object_offset < object_offset)
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < f->value_count && f->values[low + *count].object_offset == object_offset)
        (*count)++;
    return low;
}

static size_t find_seen(const filter_v1 *f, uint32_t title)
{
    return memory_find(f->seen, f->seen_count, sizeof *f->seen, offsetof(filter_seen, title), title);
}

/* Records that the current block has chosen values of an object. */
static void add_seen(filter_v1 *f, uint32_t title)
{
    size_t at = find_seen(f, title);
    if (at == f->seen_count || f->seen[at].title != title) {
        f->seen = memory_grow(f->seen, &f->seen_capacity, f->seen_count + 1, sizeof *f->seen);
        memmove(&f->seen[at + 1], &f->seen[at], (f->seen_count - at) * sizeof *f->seen);
        f->seen[at].title = title;
        f->seen_count++;
    }
    f->seen[at].block = f->block_count;
}

/* Returns true if an earlier block has chosen values of an object, and the current one has none. */
static bool has_lost_values(const filter_v1 *f, uint32_t title)
{
    size_t at = find_seen(f, title);
    return at < f->seen_count && f->seen[at].title == title && f->seen[at].block != f->block_count;
}

static void add_row(filter_v1 *f, uint32_t object, uint32_t row)
{
    f->rows = memory_grow(f->rows, &f->row_capacity, f->row_count + 1, sizeof *f->rows);
    f->rows[f->row_count++] = (filter_row){object, row};
}

static int compare_rows(const void *left, const void *right)
{
    const filter_row *a = left;
    const filter_row *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* An object of a block, for searching by title index. If several objects have the same index, the first is found. */
typedef struct object_title {
    uint32_t title, position;
} object_title;

static int compare_titles(const void *left, const void *right)
{
    const object_title *a = left;
    const object_title *b = right;
    if (a->title != b->title)
        return a->title < b->title ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static const object_title *find_title(const object_title *titles, size_t count, uint32_t title)
{
    size_t low = memory_find(titles, count, sizeof *titles, offsetof(object_title, title), title);
    return low < count && titles[low].title == title ? &titles[low] : NULL;
}

/* Lists the objects of a block, ascending by title index. Free with free(). */
static object_title *list_titles(const uint8_t *data, size_t size, size_t *count)
{
    object_title *titles = NULL;
    size_t capacity = 0;
    pfb_v1_reader block;
    pfb_v1_object object;
    *count = 0;
    pfb_v1_open(&block, data, size, NULL);
    while (pfb_v1_next_object(&block, &object)) {
        titles = memory_grow(titles, &capacity, *count + 1, sizeof *titles);
        titles[(*count)++] = (object_title){object.title_index, object.position};
    }
    if (*count > 0)
        qsort(titles, *count, sizeof *titles, compare_titles);
    return titles;
}

/* Lists the instances with chosen values, and their parents. Adds the objects of these values to `seen`. */
static void list_rows(filter_v1 *f, const uint8_t *data, size_t size)
{
    size_t title_count = 0;
    size_t unique = 0;
    object_title *titles = list_titles(data, size, &title_count);
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    f->row_count = 0;
    pfb_v1_open(&block, data, size, NULL);
    while (pfb_v1_next_object(&block, &object)) {
        size_t count = 0;
        size_t at = find_values(f, object.offset, &count);
        size_t end = at + count;
        if (count > 0)
            add_seen(f, object.title_index);
        while (at < end && pfb_v1_next_instance(&block, &instance)) {
            if (f->values[at].row != instance.position)
                continue;
            add_row(f, object.position, instance.position);
            const object_title *parent =
                instance.parent_title != 0 ? find_title(titles, title_count, instance.parent_title) : NULL;
            if (parent)
                add_row(f, parent->position, instance.parent_position);
            while (at < end && f->values[at].row == instance.position)
                at++;
        }
    }
    if (f->row_count > 0)
        qsort(f->rows, f->row_count, sizeof *f->rows, compare_rows);
    for (size_t i = 0; i < f->row_count; i++) {
        if (unique == 0 || compare_rows(&f->rows[unique - 1], &f->rows[i]) != 0)
            f->rows[unique++] = f->rows[i];
    }
    f->row_count = unique;
    free(titles);
}

/* Returns the position in `rows` of the first row at or after this one. */
static size_t find_row(const filter_v1 *f, uint32_t object, uint32_t row)
{
    const filter_row key = {object, row};
    size_t low = 0;
    size_t high = f->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_rows(&f->rows[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns true if the row at a position of `rows` belongs to the object. */
static bool has_row(const filter_v1 *f, size_t at, uint32_t object)
{
    return at < f->row_count && f->rows[at].object == object;
}

/* Returns true if everything in a block is chosen: every object has values, and all of them are chosen. Lists the title
 * indexes of the objects and counters. */
static bool is_all_chosen(filter_v1 *f, const uint8_t *data, size_t size)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_instance instance;
    bool is_all = pfb_v1_open(&block, data, size, NULL);
    f->title_count = 0;
    while (is_all && pfb_v1_next_object(&block, &object)) {
        pfb_v1_reader rows = block;
        uint64_t count = 0;
        size_t chosen_count = 0;
        add_written_title(f, object.title_index);
        while (pfb_v1_next_counter(&block, &counter))
            add_written_title(f, counter.title_index);
        while (pfb_v1_next_instance(&rows, &instance))
            count += object.counter_count;
        find_values(f, object.offset, &chosen_count);
        is_all = chosen_count > 0 && chosen_count == count;
    }
    return is_all && block.error.code == PFB_OK && block.total_size_bytes == size;
}

/* ---- Writing --------------------------------------------------------------------------------------------- */

/* The block that is reduced, and its objects ascending by title index. */
typedef struct filtering {
    filter_v1 *f;
    const uint8_t *data;
    size_t size;
    const object_title *titles;
    size_t title_count;
} filtering;

/* What happens to a counter of an object. CHOSEN: its chosen values are written. RELATED: it is the base or the multi
 * count of the chosen counter before it, and is written with this counter. */
enum { LEFT_OUT, CHOSEN, RELATED };

/* Returns LEFT_OUT, CHOSEN or RELATED for each counter of the current object, whose chosen values are the `count`
 * values from `first` on. Free with free(). */
static uint8_t *mark_counters(const filtering *w, pfb_v1_reader block, const pfb_v1_object *object, size_t first,
                              size_t count)
{
    uint8_t *marks = memory_get(object->counter_count + (size_t)1, 1);
    pfb_v1_counter counter;
    for (size_t i = first; i < first + count; i++) {
        if (w->f->values[i].position < object->counter_count)
            marks[w->f->values[i].position] = CHOSEN;
    }
    while (pfb_v1_next_counter(&block, &counter)) {
        bool is_related = counter.type == PFB_TYPE_MULTI_BASE || pfb_counter_type_is_base(counter.type);
        uint32_t at = counter.position;
        if (at > 0 && at < object->counter_count && is_related && marks[at] == LEFT_OUT && marks[at - 1] == CHOSEN)
            marks[at] = RELATED;
    }
    return marks;
}

/* Writes the definitions of chosen and related counters, with their original offsets. Stores all definitions in
 * `counters`. */
static void write_definitions(pfb_writer *writer, const filtering *w, pfb_v1_reader block, const uint8_t *marks,
                              pfb_v1_counter *counters)
{
    pfb_v1_counter counter;
    while (pfb_v1_next_counter(&block, &counter)) {
        counters[counter.position] = counter;
        if (marks[counter.position] == LEFT_OUT)
            continue;
        pfb_write_definition(writer, &counter);
        add_written_title(w->f, counter.title_index);
    }
}

/* Copies the chosen values of an instance, their bases and their multi counts. *at is the position in `values` of the
 * first value of the object that was not copied yet, `end` that after its last value. */
static void write_values(pfb_writer *writer, const filtering *w, pfb_v1_reader *block, const pfb_v1_instance *instance,
                         const uint8_t *marks, const pfb_v1_counter *counters, size_t *at, size_t end)
{
    pfb_v1_value value;
    bool is_previous_chosen = false;
    pfb_write_counter_block(writer, instance->values_size_bytes);
    while (pfb_v1_next_value(block, &value)) {
        while (*at < end && w->f->values[*at].row == instance->position && w->f->values[*at].position < value.position)
            (*at)++;
        bool is_chosen =
            *at < end && w->f->values[*at].row == instance->position && w->f->values[*at].position == value.position;
        bool is_related = is_previous_chosen && marks[value.position] == RELATED;
        is_previous_chosen = is_chosen;
        if (!is_chosen && !is_related)
            continue;
        uint32_t size = value.size_bytes;
        uint32_t offset = counters[value.position].value_offset;
        bool has_definition = counters[value.position + 1].type == PFB_TYPE_MULTI_BASE;
        if (value.has_multi_count && !has_definition && (uint64_t)offset + size + 4 <= instance->values_size_bytes)
            size += 4; /* its multi count */
        if (size > 0)
            pfb_write_v1_datum(writer, offset, w->data + value.offset, size);
    }
}

/* Sets the position of the parent in the reduced block. Removes the reference if the block does not have the parent. */
static void set_parent(const filtering *w, pfb_v1_instance *instance)
{
    const object_title *parent = find_title(w->titles, w->title_count, instance->parent_title);
    size_t at = parent ? find_row(w->f, parent->position, instance->parent_position) : w->f->row_count;
    if (!parent || !has_row(w->f, at, parent->position) || w->f->rows[at].row != instance->parent_position) {
        instance->parent_title = 0;
        instance->parent_position = 0;
        return;
    }
    instance->parent_position = (uint32_t)(at - find_row(w->f, parent->position, 0));
}

static void write_instances(pfb_writer *writer, const filtering *w, pfb_v1_reader *block, const pfb_v1_object *object,
                            const uint8_t *marks, const pfb_v1_counter *counters, size_t first, size_t count)
{
    pfb_v1_instance instance;
    size_t row = find_row(w->f, object->position, 0);
    size_t at = first;
    while (has_row(w->f, row, object->position) && pfb_v1_next_instance(block, &instance)) {
        if (w->f->rows[row].row != instance.position)
            continue;
        row++;
        while (at < first + count && w->f->values[at].row < instance.position)
            at++;
        set_parent(w, &instance);
        if (object->instance_count >= 0)
            pfb_write_v1_instance(writer, &instance);
        write_values(writer, w, block, &instance, marks, counters, &at, first + count);
    }
}

static void write_object(pfb_writer *writer, const filtering *w, pfb_v1_reader *block, const pfb_v1_object *object)
{
    size_t count = 0;
    size_t first = find_values(w->f, object->offset, &count);
    bool has_rows = has_row(w->f, find_row(w->f, object->position, 0), object->position);
    pfb_v1_object written = *object;
    if (!has_rows && !has_lost_values(w->f, object->title_index))
        return;
    /* PFB_V1_NO_INSTANCES means exactly one row of values. For an object without a row, the instance count of metadata
     * blocks is written. */
    if (!has_rows && written.instance_count == PFB_V1_NO_INSTANCES)
        written.instance_count = PFB_V1_METADATA_NO_INSTANCES;
    uint8_t *marks = mark_counters(w, *block, object, first, count);
    pfb_v1_counter *counters = memory_get(object->counter_count + (size_t)1, sizeof *counters);
    if (count > 0)
        add_written_title(w->f, object->title_index);
    pfb_write_begin_object(writer, &written);
    write_definitions(writer, w, *block, marks, counters);
    write_instances(writer, w, block, object, marks, counters, first, count);
    pfb_write_end_object(writer);
    free(marks);
    free(counters);
}

/* Writes the reduced block. Returns true if it has an object. */
static bool write_block(pfb_writer *writer, const filtering *w)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    w->f->title_count = 0;
    if (!pfb_v1_open(&block, w->data, w->size, NULL))
        return false;
    const pfb_write_times times = {.perf_time = block.perf_time,
                                   .perf_time_100ns = block.perf_time_100ns,
                                   .perf_freq = block.perf_freq,
                                   .system_time = block.system_time};
    pfb_write_begin_v1(writer, &times, &block.system_name, block.is_big_endian);
    size_t empty = writer->size_bytes;
    while (pfb_v1_next_object(&block, &object))
        write_object(writer, w, &block, &object);
    bool has_objects = writer->size_bytes > empty;
    pfb_write_end_v1(writer);
    return has_objects;
}

bool filter_v1_block(filter_v1 *f, const uint8_t *data, size_t size, pfb_bytes *reduced, pfb_error *error)
{
    pfb_writer writer;
    filtering w = {.f = f, .data = data, .size = size};
    reduced->size_bytes = 0;
    f->block_count++;
    list_values(f, data, size);
    list_rows(f, data, size);
    *error = (pfb_error){PFB_OK, 0};
    if (is_all_chosen(f, data, size)) {
        if (!pfb_bytes_append(reduced, data, size))
            memory_exhausted();
        return true;
    }
    object_title *titles = list_titles(data, size, &w.title_count);
    w.titles = titles;
    pfb_write_init(&writer, NULL, 0);
    bool has_objects = write_block(&writer, &w);
    if (has_objects) {
        size_t needed = writer.size_bytes;
        if (!pfb_bytes_reserve(reduced, needed))
            memory_exhausted();
        pfb_write_init(&writer, reduced->data, needed);
        write_block(&writer, &w);
        *error = writer.error;
        reduced->size_bytes = writer.error.code == PFB_OK ? needed : 0;
    }
    free(titles);
    return has_objects && error->code == PFB_OK;
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

/* Adds a title index of the current file to `named`. Returns false if it was added before or has no name. */
static bool add_named(filter_v1 *f, uint32_t title)
{
    if (f->seed == 0)
        f->seed = hash_mix(system_now() ^ (uintptr_t)f) | 1;
    uint64_t key = (uint64_t)f->file << 32 | title;
    uint64_t hash = hash_mix(f->seed ^ key); /* different keys have different hashes */
    uint64_t slot = hash;
    if (hash_index_next(&f->named, hash, &slot) != HASH_INDEX_NONE || !pfb_collector_title(f->collector, title).bytes)
        return false;
    hash_index_add(&f->named, hash);
    return true;
}

static void write_names(pfb_writer *writer, const filter_v1 *f, const uint32_t *titles, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const pfb_name name = pfb_collector_title(f->collector, titles[i]);
        pfb_write_name(writer, titles[i], &name);
    }
    pfb_write_end_names(writer);
}

bool filter_v1_names(filter_v1 *f, pfb_bytes *table)
{
    pfb_writer writer;
    uint32_t *titles = memory_get(f->title_count + 1, sizeof *titles);
    size_t count = 0;
    for (size_t i = 0; i < f->title_count; i++) {
        if (add_named(f, f->titles[i]))
            titles[count++] = f->titles[i];
    }
    pfb_write_init(&writer, NULL, 0);
    write_names(&writer, f, titles, count);
    table->size_bytes = 0;
    if (!pfb_bytes_reserve(table, writer.size_bytes))
        memory_exhausted();
    table->size_bytes = writer.size_bytes;
    pfb_write_init(&writer, table->data, table->size_bytes);
    write_names(&writer, f, titles, count);
    free(titles);
    return count > 0 && writer.error.code == PFB_OK;
}

void filter_v1_forget_names(filter_v1 *f)
{
    hash_index_free(&f->named);
}
