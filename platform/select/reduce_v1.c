/* SPDX-License-Identifier: MIT */
#include "select/reduce_v1.h"

#include "perfblock/formula.h"
#include "perfblock/sample.h"
#include "perfblock/write.h"
#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

void pfb_reduce_v1_free(v1_reduction *r)
{
    free(r->values);
    free(r->rows);
    free(r->cut_rows);
    free(r->seen);
    free(r->titles);
    *r = (v1_reduction){.values = NULL};
}

/* ---- Choosing -------------------------------------------------------------------------------------------- */

/* Memory that is exhausted sets `lacks_memory`; then what is missing is left out, and the result is not used. */

static void add_written_title(v1_reduction *r, uint32_t title)
{
    if (PFB_COLLECT_GROW(r->titles, r->title_capacity, r->title_count + 1))
        r->titles[r->title_count++] = title;
    else
        r->lacks_memory = true;
}

/* Returns the position of the first chosen value of an object, and stores their number in *count. */
static size_t find_values(const v1_reduction *r, size_t object_offset, size_t *count)
{
    size_t low = 0;
    size_t high = r->value_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->values[middle].object_offset < object_offset)
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < r->value_count && r->values[low + *count].object_offset == object_offset)
        (*count)++;
    return low;
}

/* Returns the position in `seen` of the first object whose title is at least `title`. */
static size_t find_seen(const v1_reduction *r, uint32_t title)
{
    size_t low = 0;
    size_t high = r->seen_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->seen[middle].title < title)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Records that the current block has chosen values of an object. */
static void add_seen(v1_reduction *r, uint32_t title)
{
    size_t at = find_seen(r, title);
    if (at == r->seen_count || r->seen[at].title != title) {
        if (!PFB_COLLECT_GROW(r->seen, r->seen_capacity, r->seen_count + 1)) {
            r->lacks_memory = true;
            return;
        }
        memmove(&r->seen[at + 1], &r->seen[at], (r->seen_count - at) * sizeof *r->seen);
        r->seen[at].title = title;
        r->seen_count++;
    }
    r->seen[at].block = r->block_count;
}

/* Returns true if an earlier block has chosen values of an object, and the current one has none. */
static bool has_lost_values(const v1_reduction *r, uint32_t title)
{
    size_t at = find_seen(r, title);
    return at < r->seen_count && r->seen[at].title == title && r->seen[at].block != r->block_count;
}

static void add_row(v1_reduction *r, uint32_t object, uint32_t row)
{
    if (PFB_COLLECT_GROW(r->rows, r->row_capacity, r->row_count + 1))
        r->rows[r->row_count++] = (v1_written_row){object, row};
    else
        r->lacks_memory = true;
}

static int compare_rows(const void *left, const void *right)
{
    const v1_written_row *a = left;
    const v1_written_row *b = right;
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
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (titles[middle].title < title)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && titles[low].title == title ? &titles[low] : NULL;
}

/* Lists the objects of a block, ascending by title index. Free with free(). */
static object_title *list_titles(v1_reduction *r, const uint8_t *data, size_t size, size_t *count)
{
    object_title *titles = NULL;
    size_t capacity = 0;
    pfb_v1_reader block;
    pfb_v1_object object;
    *count = 0;
    pfb_v1_open(&block, data, size, NULL);
    while (!r->lacks_memory && pfb_v1_next_object(&block, &object)) {
        r->lacks_memory = !PFB_COLLECT_GROW(titles, capacity, *count + 1);
        if (!r->lacks_memory)
            titles[(*count)++] = (object_title){object.title_index, object.position};
    }
    if (*count > 0)
        qsort(titles, *count, sizeof *titles, compare_titles);
    return titles;
}

/* Reads the instances of the current object, and finds the one that lacks values. Returns false if there is none. */
static bool find_cut_row(pfb_v1_reader *block, const pfb_v1_object *object, v1_cut_row *cut)
{
    pfb_v1_reader rows = *block;
    pfb_v1_instance instance;
    pfb_v1_value value;
    bool is_cut = false;
    while (pfb_v1_next_instance(block, &instance)) /* finds the errors */
        continue;
    while (block->object_error.code != PFB_OK && !is_cut && pfb_v1_next_instance(&rows, &instance)) {
        *cut = (v1_cut_row){.at = {object->position, instance.position}};
        while (pfb_v1_next_value(&rows, &value))
            cut->value_count++;
        is_cut = cut->value_count < object->counter_count;
    }
    return is_cut;
}

/* Lists the instances of objects with chosen values that lack values, and removes their values if they are left out. */
static void list_cut_rows(v1_reduction *r, const uint8_t *data, size_t size)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    v1_cut_row cut;
    size_t at = 0;
    size_t kept = 0;
    r->cut_row_count = 0;
    pfb_v1_open(&block, data, size, NULL);
    while (at < r->value_count && pfb_v1_next_object(&block, &object)) {
        size_t first = at;
        while (at < r->value_count && r->values[at].object_offset == object.offset)
            at++;
        size_t end = at;
        if (end > first && find_cut_row(&block, &object, &cut)) {
            cut.is_left_out = r->values[first].row < cut.at.row;
            while (cut.is_left_out && r->values[end - 1].row == cut.at.row)
                end--;
            if (PFB_COLLECT_GROW(r->cut_rows, r->cut_row_capacity, r->cut_row_count + 1))
                r->cut_rows[r->cut_row_count++] = cut;
            else
                r->lacks_memory = true;
        }
        memmove(&r->values[kept], &r->values[first], (end - first) * sizeof *r->values);
        kept += end - first;
    }
    r->value_count = kept;
}

/* Returns the instance of an object that lacks values; null if it has none, or no chosen values. */
static const v1_cut_row *cut_row_of(const v1_reduction *r, uint32_t object)
{
    size_t low = 0;
    size_t high = r->cut_row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->cut_rows[middle].at.object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->cut_row_count && r->cut_rows[low].at.object == object ? &r->cut_rows[low] : NULL;
}

/* Returns true if an instance is left out because it lacks values. */
static bool is_left_out(const v1_reduction *r, const v1_written_row *row)
{
    const v1_cut_row *cut = cut_row_of(r, row->object);
    return cut && cut->is_left_out && cut->at.row == row->row;
}

/* Lists the instances with chosen values, and their parents. Adds the objects of these values to `seen`. */
static void list_rows(v1_reduction *r, const uint8_t *data, size_t size)
{
    size_t title_count = 0;
    size_t unique = 0;
    object_title *titles = list_titles(r, data, size, &title_count);
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    r->row_count = 0;
    pfb_v1_open(&block, data, size, NULL);
    while (pfb_v1_next_object(&block, &object)) {
        size_t count = 0;
        size_t at = find_values(r, object.offset, &count);
        size_t end = at + count;
        if (count > 0)
            add_seen(r, object.title_index);
        while (at < end && pfb_v1_next_instance(&block, &instance)) {
            if (r->values[at].row != instance.position)
                continue;
            add_row(r, object.position, instance.position);
            const object_title *parent =
                instance.parent_title != 0 ? find_title(titles, title_count, instance.parent_title) : NULL;
            if (parent)
                add_row(r, parent->position, instance.parent_position);
            while (at < end && r->values[at].row == instance.position)
                at++;
        }
    }
    if (r->row_count > 0)
        qsort(r->rows, r->row_count, sizeof *r->rows, compare_rows);
    for (size_t i = 0; i < r->row_count; i++) {
        bool is_repeated = unique > 0 && compare_rows(&r->rows[unique - 1], &r->rows[i]) == 0;
        if (!is_repeated && !is_left_out(r, &r->rows[i]))
            r->rows[unique++] = r->rows[i];
    }
    r->row_count = unique;
    free(titles);
}

/* Returns the position in `rows` of the first row at or after this one. */
static size_t find_row(const v1_reduction *r, uint32_t object, uint32_t row)
{
    const v1_written_row key = {object, row};
    size_t low = 0;
    size_t high = r->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_rows(&r->rows[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns true if the row at a position of `rows` belongs to the object. */
static bool has_row(const v1_reduction *r, size_t at, uint32_t object)
{
    return at < r->row_count && r->rows[at].object == object;
}

/* Returns true if everything in a block is chosen: every object has values, and all of them are chosen. Lists the title
 * indexes of the objects and counters. */
static bool is_all_chosen(v1_reduction *r, const uint8_t *data, size_t size)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_instance instance;
    bool is_all = pfb_v1_open(&block, data, size, NULL);
    r->title_count = 0;
    while (is_all && pfb_v1_next_object(&block, &object)) {
        pfb_v1_reader rows = block;
        uint64_t count = 0;
        size_t chosen_count = 0;
        add_written_title(r, object.title_index);
        while (pfb_v1_next_counter(&block, &counter))
            add_written_title(r, counter.title_index);
        while (pfb_v1_next_instance(&rows, &instance))
            count += object.counter_count;
        find_values(r, object.offset, &chosen_count);
        is_all = chosen_count > 0 && chosen_count == count;
    }
    return is_all && block.error.code == PFB_OK && block.total_size_bytes == size;
}

/* ---- Writing --------------------------------------------------------------------------------------------- */

/* The block that is reduced, and its objects ascending by title index. */
typedef struct filtering {
    v1_reduction *r;
    const uint8_t *data;
    size_t size;
    const object_title *titles;
    size_t title_count;
} filtering;

/* What happens to a counter of an object. CHOSEN: its chosen values are written. RELATED: it is the base or the multi
 * count of the chosen counter before it, and is written with this counter. IDENTITY: it has the ids by which instances
 * are found in other samples (PFB_IDENTITY_PROCESS), and is written for instances with chosen values. */
enum { LEFT_OUT, CHOSEN, RELATED, IDENTITY };

/* The number of definitions that the current object has. The count that it states is not trusted with memory. */
static size_t count_definitions(pfb_v1_reader block)
{
    pfb_v1_counter counter;
    size_t count = 0;
    while (pfb_v1_next_counter(&block, &counter))
        count++;
    return count;
}

/* Returns a mark (LEFT_OUT ...) for each of the `definition_count` counters of the current object, whose chosen values
 * are the `count` values from `first` on. `cut`: the instance of the object that lacks values, or null. Free with
 * free(). Null when memory is exhausted. */
static uint8_t *mark_counters(const filtering *w, pfb_v1_reader block, size_t definition_count, const v1_cut_row *cut,
                              size_t first, size_t count)
{
    size_t readable_count = cut && !cut->is_left_out ? cut->value_count : definition_count;
    uint8_t *marks = calloc(definition_count + 1, 1);
    pfb_v1_counter counter;
    for (size_t i = first; i < first + count && marks; i++) {
        if (w->r->values[i].position < definition_count)
            marks[w->r->values[i].position] = CHOSEN;
    }
    while (marks && pfb_v1_next_counter(&block, &counter)) {
        bool is_related = counter.type == PFB_TYPE_MULTI_BASE || pfb_counter_type_is_base(counter.type);
        bool is_id = counter.title_index == PFB_TITLE_PROCESS_ID || counter.title_index == PFB_TITLE_THREAD_ID;
        uint32_t at = counter.position;
        if (at >= readable_count || marks[at] != LEFT_OUT)
            continue;
        if (at > 0 && is_related && marks[at - 1] == CHOSEN)
            marks[at] = RELATED;
        else if (count > 0 && is_id)
            marks[at] = IDENTITY;
    }
    return marks;
}

/* Writes the definitions of counters that are not left out, with their original offsets. Stores all definitions in
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
        add_written_title(w->r, counter.title_index);
    }
}

/* Copies the chosen values of an instance, their bases and their multi counts, and its ids. *at is the position in
 * `values` of the first value of the object that was not copied yet, `end` that after its last value. */
static void write_values(pfb_writer *writer, const filtering *w, pfb_v1_reader *block, const pfb_v1_instance *instance,
                         const uint8_t *marks, const pfb_v1_counter *counters, size_t *at, size_t end)
{
    pfb_v1_value value;
    bool is_previous_chosen = false;
    bool has_values = *at < end && w->r->values[*at].row == instance->position;
    pfb_write_counter_block(writer, instance->values_size_bytes);
    while (pfb_v1_next_value(block, &value)) {
        while (*at < end && w->r->values[*at].row == instance->position && w->r->values[*at].position < value.position)
            (*at)++;
        bool is_chosen =
            *at < end && w->r->values[*at].row == instance->position && w->r->values[*at].position == value.position;
        bool is_related = (is_previous_chosen && marks[value.position] == RELATED) ||
                          (has_values && marks[value.position] == IDENTITY);
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
    size_t at = parent ? find_row(w->r, parent->position, instance->parent_position) : w->r->row_count;
    if (!parent || !has_row(w->r, at, parent->position) || w->r->rows[at].row != instance->parent_position) {
        instance->parent_title = 0;
        instance->parent_position = 0;
        return;
    }
    instance->parent_position = (uint32_t)(at - find_row(w->r, parent->position, 0));
}

static void write_instances(pfb_writer *writer, const filtering *w, pfb_v1_reader *block, const pfb_v1_object *object,
                            const uint8_t *marks, const pfb_v1_counter *counters, size_t first, size_t count)
{
    pfb_v1_instance instance;
    size_t row = find_row(w->r, object->position, 0);
    size_t at = first;
    while (has_row(w->r, row, object->position) && pfb_v1_next_instance(block, &instance)) {
        if (w->r->rows[row].row != instance.position)
            continue;
        row++;
        while (at < first + count && w->r->values[at].row < instance.position)
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
    size_t first = find_values(w->r, object->offset, &count);
    bool has_rows = has_row(w->r, find_row(w->r, object->position, 0), object->position);
    pfb_v1_object written = *object;
    if (!has_rows && !has_lost_values(w->r, object->title_index))
        return;
    /* PFB_V1_NO_INSTANCES means exactly one row of values. For an object without a row, the instance count of metadata
     * blocks is written. */
    if (!has_rows && written.instance_count == PFB_V1_NO_INSTANCES)
        written.instance_count = PFB_V1_METADATA_NO_INSTANCES;
    size_t definition_count = count_definitions(*block);
    uint8_t *marks = mark_counters(w, *block, definition_count, cut_row_of(w->r, object->position), first, count);
    pfb_v1_counter *counters = calloc(definition_count + 1, sizeof *counters);
    w->r->lacks_memory = w->r->lacks_memory || !marks || !counters;
    if (count > 0)
        add_written_title(w->r, object->title_index);
    pfb_write_begin_object(writer, &written);
    if (marks && counters) {
        write_definitions(writer, w, *block, marks, counters);
        write_instances(writer, w, block, object, marks, counters, first, count);
    }
    pfb_write_end_object(writer);
    free(marks);
    free(counters);
}

/* Writes the reduced block. Returns true if it has an object. */
static bool write_block(pfb_writer *writer, const filtering *w)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    w->r->title_count = 0;
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

/* Stores the reduced block in `reduced`, which stays empty if it has no object. */
static void reduce_block(v1_reduction *r, const filtering *w, pfb_bytes *reduced, pfb_error *error)
{
    pfb_writer writer;
    pfb_write_init(&writer, NULL, 0);
    if (!write_block(&writer, w) || r->lacks_memory)
        return;
    size_t needed = writer.size_bytes;
    r->lacks_memory = !pfb_bytes_reserve(reduced, needed);
    if (r->lacks_memory)
        return;
    pfb_write_init(&writer, reduced->data, needed);
    write_block(&writer, w);
    *error = writer.error;
    reduced->size_bytes = writer.error.code == PFB_OK ? needed : 0;
}

bool pfb_reduce_v1(v1_reduction *r, const uint8_t *data, size_t size, pfb_bytes *reduced, pfb_error *error)
{
    filtering w = {.r = r, .data = data, .size = size};
    *error = (pfb_error){PFB_OK, 0};
    reduced->size_bytes = 0;
    r->block_count++;
    r->lacks_memory = false;
    list_cut_rows(r, data, size);
    list_rows(r, data, size);
    if (is_all_chosen(r, data, size))
        return !r->lacks_memory && pfb_bytes_append(reduced, data, size);
    object_title *titles = list_titles(r, data, size, &w.title_count);
    w.titles = titles;
    if (!r->lacks_memory)
        reduce_block(r, &w, reduced, error);
    free(titles);
    return !r->lacks_memory;
}
