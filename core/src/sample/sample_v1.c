/* SPDX-License-Identifier: MIT */
#include "sample/sample_v1.h"

#include "bytes/never.h"
#include "perfblock/formula.h"
#include "perflib/v1_fields.h"
#include "sample/order.h"

/* Returns the number of rows of the current object, which has `columns` counters. For an object with instances this is
 * the instance count of the header if the bytes can hold that many instances and values. Otherwise the object is
 * malformed, and its instances are counted. */
static uint32_t count_object_rows(const pfb_v1_reader *reader, const pfb_v1_object *object, uint32_t columns)
{
    if (object->instance_count == PFB_V1_NO_INSTANCES)
        return 1;
    uint64_t declared = object->instance_count > 0 ? (uint64_t)object->instance_count : 0;
    if (declared <= object->size_bytes / V1_MIN_INSTANCE_BYTES && declared * columns <= object->size_bytes)
        return (uint32_t)declared;
    pfb_v1_reader copy = *reader;
    pfb_v1_instance instance;
    uint32_t rows = 0;
    while (pfb_v1_next_instance(&copy, &instance))
        rows++;
    return rows;
}

pfb_error pfb_sample_measure_v1(const pfb_sample_input *input, pfb_sample_counts *counts)
{
    pfb_v1_reader reader;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_open(&reader, input->data, input->data_size_bytes, input->options);
    while (pfb_v1_next_object(&reader, &object)) {
        uint32_t columns = 0; /* 32 bits suffice for columns and rows, because a block is smaller than 4 GiB */
        counts->results++;
        while (pfb_v1_next_counter(&reader, &counter))
            columns++;
        uint32_t rows = count_object_rows(&reader, &object, columns);
        counts->columns += columns;
        counts->rows += rows;
        counts->values += (uint64_t)columns * pfb_sample_stride(rows);
    }
    counts->multi_counts = counts->values;
    counts->registrations = input->registration_count;
    return reader.error;
}

/* ---- Objects and their counters ---------------------------------------------------------------------- */

static pfb_counter describe(const pfb_v1_counter *definition)
{
    return (pfb_counter){.offset = definition->offset,
                         .id = definition->title_index,
                         .type = definition->type,
                         .detail_level = definition->detail_level,
                         .default_scale = definition->default_scale,
                         .base_id = PFB_NO_ID,
                         .perf_time_id = PFB_NO_ID,
                         .perf_freq_id = PFB_NO_ID,
                         .multi_id = PFB_NO_ID};
}

/* If a counter is a base, links it to the preceding counter as its base or multi count, unless that counter is a base
 * itself. The caller has excluded preceding counters of size 0, which have no base. */
static void link_base(pfb_sample *sample, uint32_t column)
{
    pfb_sample_column *before = &sample->columns[column - 1];
    uint32_t type = sample->columns[column].counter.type;
    if (pfb_counter_type_is_base(before->counter.type) || !pfb_counter_type_is_base(type))
        return;
    if (type == PFB_TYPE_MULTI_BASE)
        before->multi_column = column;
    else
        before->base_column = column;
}

static bool load_definitions(pfb_sample *sample, pfb_v1_reader *reader, const pfb_sample_counts *capacity, uint32_t r)
{
    pfb_v1_counter counter = {.position = 0};
    bool follows_label = false; /* the previous counter has size 0 */
    while (pfb_v1_next_counter(reader, &counter)) {
        if (sample->counts.columns == capacity->columns)
            return false;
        uint32_t column = sample->counts.columns++;
        sample->columns[column] = (pfb_sample_column){.result = r,
                                                      .position = counter.position,
                                                      .counter_id = counter.title_index,
                                                      .has_counter = true,
                                                      .counter = describe(&counter),
                                                      .base_column = PFB_NONE,
                                                      .multi_column = PFB_NONE,
                                                      .time_column = PFB_NONE,
                                                      .freq_column = PFB_NONE,
                                                      .help_index = counter.help_index};
        sample->results[r].column_count++;
        if (counter.position > 0 && !follows_label)
            link_base(sample, column);
        follows_label = counter.size_bytes == 0;
    }
    return true;
}

/* ---- Instances and their values ---------------------------------------------------------------------- */

/* Loads the values of a row; those that a malformed object lacks become 0 with size 0. */
static void load_values(pfb_sample *sample, pfb_v1_reader *reader, uint32_t row)
{
    pfb_v1_value value;
    const pfb_sample_result *result = &sample->results[sample->rows[row].result];
    for (uint32_t c = 0; c < result->column_count; c++) {
        size_t place = pfb_sample_place(sample, row, result->first_column + c);
        sample->raw[place] = 0;
        sample->sizes[place] = 0;
        sample->multi_counts[place] = PFB_NO_MULTI_COUNT;
    }
    /* The reader returns instances of an object only if all definitions of its counters are valid. Each of them became
     * a column, so the position of a value is always below column_count. */
    while (pfb_v1_next_value(reader, &value) && PFB_ALWAYS(value.position < result->column_count)) {
        uint32_t column = result->first_column + value.position;
        size_t place = pfb_sample_place(sample, row, column);
        sample->raw[place] = value.is_number ? value.raw : pfb_sample_pack_location(value.offset, value.size_bytes);
        sample->sizes[place] = value.is_number ? (uint8_t)value.size_bytes : 0;
        if (value.has_multi_count && sample->columns[column].multi_column == PFB_NONE)
            sample->multi_counts[place] = value.multi_count;
        sample->rows[row].value_count++;
    }
}

/* The columns of the ids of processes and threads in an object; PFB_NONE: it does not have the counter. */
typedef struct id_columns {
    uint32_t process, thread;
} id_columns;

/* Finds the columns of ids. An object without instances needs none: its only row is always the same. */
static id_columns find_ids(const pfb_sample *sample, const pfb_sample_result *result, uint32_t identity)
{
    id_columns ids = {PFB_NONE, PFB_NONE};
    bool is_needed = result->has_instances && identity == PFB_IDENTITY_PROCESS;
    for (uint32_t n = result->column_count; is_needed && n > 0; n--) { /* backwards: the first one of a title is used */
        uint32_t column = result->first_column + n - 1;
        if (sample->columns[column].counter_id == PFB_TITLE_PROCESS_ID)
            ids.process = column;
        if (sample->columns[column].counter_id == PFB_TITLE_THREAD_ID)
            ids.thread = column;
    }
    return ids;
}

/* Returns the value of an id, or 0. */
static uint64_t read_id(const pfb_sample *sample, uint32_t column, uint32_t row)
{
    if (column == PFB_NONE)
        return 0;
    pfb_sample_value value = pfb_sample_value_at(sample, row, column);
    return value.raw <= UINT32_MAX ? value.raw : 0; /* 0 if it is no number */
}

/* Returns the key of an instance; 0: none. */
static uint64_t read_key(const pfb_sample *sample, const id_columns *ids, uint32_t row)
{
    uint64_t process = read_id(sample, ids->process, row);
    uint64_t thread = read_id(sample, ids->thread, row);
    return ids->thread != PFB_NONE && thread == 0 ? 0 : process << 32 | thread;
}

static bool load_instances(pfb_sample *sample, pfb_v1_reader *reader, const pfb_v1_object *object,
                           const pfb_sample_counts *capacity, uint32_t identity)
{
    pfb_v1_instance instance;
    uint32_t r = sample->counts.results - 1;
    pfb_sample_result *result = &sample->results[r];
    id_columns ids = find_ids(sample, result, identity);
    uint32_t rows = count_object_rows(reader, object, result->column_count);
    if (!pfb_sample_reserve(sample, r, rows, capacity))
        return false;
    while (pfb_v1_next_instance(reader, &instance)) {
        if (result->row_count == rows)
            return false;
        uint32_t row = sample->counts.rows++;
        sample->rows[row] = (pfb_sample_row){.result = r,
                                             .instance = instance.position,
                                             .id = (uint32_t)instance.unique_id, /* -1 (none) becomes PFB_NO_ID */
                                             .is_unique = instance.unique_id != PFB_V1_NO_UNIQUE_ID,
                                             .has_name = instance.name.bytes != NULL,
                                             .name = instance.name,
                                             .older_row = PFB_NONE,
                                             .parent_title = instance.parent_title,
                                             .parent_position = instance.parent_position};
        result->row_count++;
        load_values(sample, reader, row);
        sample->rows[row].key = read_key(sample, &ids, row);
    }
    return true;
}

/* ---- Parents ----------------------------------------------------------------------------------------- */

typedef struct v1_sorting {
    const pfb_sample *sample;
    bool by_row_id; /* the items are rows, sorted by id; false: they are objects, sorted by title */
} v1_sorting;

static uint32_t v1_key(const v1_sorting *o, uint32_t item)
{
    return o->by_row_id ? o->sample->rows[item].id : o->sample->results[item].title_index;
}

static int compare_v1_keys(const v1_sorting *o, uint32_t left, uint32_t right)
{
    uint32_t a = v1_key(o, left);
    uint32_t b = v1_key(o, right);
    return a != b ? (a > b) - (a < b) : (left > right) - (left < right);
}

#define SORT_CONTEXT v1_sorting
#define SORT_COMPARE compare_v1_keys
#define SORT_PREFIX(name) v1_##name
#include "bytes/sort.h"

/* Clears is_unique of rows whose unique id occurs several times in the object: some providers write 0 for all. Uses
 * row_order, which is not filled yet, as memory for sorting. */
static void clear_repeated_ids(pfb_sample *sample, const pfb_sample_result *result)
{
    uint32_t count = 0;
    for (uint32_t i = result->first_row; i < result->first_row + result->row_count; i++) {
        if (sample->rows[i].is_unique)
            sample->row_order[count++] = i;
    }
    v1_sort(&(v1_sorting){sample, true}, sample->row_order, count);
    for (uint32_t i = 1; i < count; i++) {
        pfb_sample_row *before = &sample->rows[sample->row_order[i - 1]];
        pfb_sample_row *row = &sample->rows[sample->row_order[i]];
        if (before->id == row->id)
            before->is_unique = row->is_unique = false;
    }
}

/* Sorts the objects that have instances by title and returns their number. The order is stored in row_order, which is
 * not filled yet. */
static uint32_t order_objects(pfb_sample *sample)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < sample->counts.results; r++) {
        if (sample->results[r].row_count > 0 && sample->results[r].has_instances)
            sample->row_order[count++] = r;
    }
    v1_sort(&(v1_sorting){sample, false}, sample->row_order, count);
    return count;
}

/* Returns the first of the `count` sorted objects with this title, or null. */
static const pfb_sample_result *find_object(const pfb_sample *sample, uint32_t count, uint32_t title_index)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sample->results[sample->row_order[middle]].title_index < title_index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count)
        return NULL;
    const pfb_sample_result *found = &sample->results[sample->row_order[low]];
    return found->title_index == title_index ? found : NULL;
}

/* Longer names of parents are ignored. Any number of rows may share a parent, and each comparison of rows compares the
 * parents' names, so long names would multiply the work. */
enum { MAX_PARENT_BYTES = 2048 };

/* Sets the name of each row's parent, which is found by the title of the parent's object and its position there. The
 * name does not include that of the parent's parent. */
static void link_parents(pfb_sample *sample)
{
    uint32_t count = order_objects(sample);
    for (uint32_t i = 0; i < sample->counts.rows; i++) {
        pfb_sample_row *row = &sample->rows[i];
        const pfb_sample_result *object = row->parent_title == 0 ? NULL : find_object(sample, count, row->parent_title);
        if (!object || row->parent_position >= object->row_count)
            continue;
        const pfb_name *name = &sample->rows[object->first_row + row->parent_position].name;
        if (name->size_bytes <= MAX_PARENT_BYTES)
            row->parent = *name;
    }
}

/* ---- Loading --------------------------------------------------------------------------------------- */

static bool load_objects(pfb_sample *sample, pfb_v1_reader *reader, const pfb_sample_input *input,
                         const pfb_sample_counts *capacity)
{
    pfb_v1_object object;
    while (pfb_v1_next_object(reader, &object)) {
        if (sample->counts.results == capacity->results)
            return false;
        uint32_t r = sample->counts.results++;
        sample->results[r] = (pfb_sample_result){.offset = object.offset,
                                                 .kind = PFB_V1_OBJECT,
                                                 .has_query = true,
                                                 .counterset = pfb_title_guid(object.title_index),
                                                 .counter_id = PFB_NO_ID,
                                                 .title_index = object.title_index,
                                                 .has_instances = object.instance_count != PFB_V1_NO_INSTANCES,
                                                 .object_time = object.perf_time,
                                                 .object_freq = object.perf_freq,
                                                 .first_column = sample->counts.columns,
                                                 .first_row = sample->counts.rows,
                                                 .code_page = pfb_v1_encoding(object.code_page, reader->is_big_endian),
                                                 .help_index = object.help_index,
                                                 .detail_level = object.detail_level,
                                                 .default_column = PFB_NONE};
        if (!load_definitions(sample, reader, capacity, r))
            return false;
        pfb_sample_result *result = &sample->results[r];
        if ((uint32_t)object.default_counter < result->column_count) /* -1: none */
            result->default_column = result->first_column + (uint32_t)object.default_counter;
        if (!load_instances(sample, reader, &object, capacity, input->identity))
            return false;
    }
    return true;
}

bool pfb_sample_load_v1(pfb_sample *sample, const pfb_sample_input *input, const pfb_sample_counts *capacity,
                        pfb_error *error)
{
    pfb_v1_reader reader;
    /* If the data were measured as V2 and have changed since, there is no memory for multi counts. */
    if (capacity->multi_counts < capacity->values)
        return false;
    pfb_v1_open(&reader, input->data, input->data_size_bytes, input->options);
    sample->perf_time = reader.perf_time;
    sample->perf_time_100ns = reader.perf_time_100ns;
    sample->perf_freq = reader.perf_freq;
    sample->system_time = reader.system_time;
    if (!load_objects(sample, &reader, input, capacity))
        return false;
    for (uint32_t r = 0; r < sample->counts.results; r++)
        clear_repeated_ids(sample, &sample->results[r]);
    pfb_sample_order_keys(sample);
    link_parents(sample);
    sample->counts.multi_counts = sample->counts.values;
    sample->notes = reader.notes;
    *error = reader.error;
    return true;
}
