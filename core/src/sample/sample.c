/* SPDX-License-Identifier: MIT */
/* Measures and loads samples. sample_v1.c does the parts for V1 blocks. */
#include "sample/order.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "bytes/never.h"
#include "perfblock/query.h"
#include "perfblock/v2.h"
#include "perflib/v2_skip.h"
#include "sample/sample_v1.h"

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Returns the number of rows of the current result: the instance count of the header if the bytes can hold that many
 * values. Otherwise the result is malformed, and its instances are counted; the last one may be incomplete. In both
 * cases the result has at most one value per 8 of its bytes, not counting the missing values of an incomplete row. */
static uint32_t count_rows(const pfb_v2_reader *reader, const pfb_v2_result *result)
{
    enum { MIN_VALUE_BYTES = 8 };
    uint64_t values = (uint64_t)result->instance_count * result->counter_count;
    if (values <= result->size_bytes / MIN_VALUE_BYTES)
        return result->instance_count;
    pfb_v2_reader copy = *reader;
    pfb_v2_instance instance;
    uint32_t rows = 0;
    while (pfb_v2_next_instance(&copy, &instance))
        rows++;
    return rows;
}

pfb_error pfb_sample_measure(const pfb_sample_input *input, pfb_sample_counts *counts)
{
    *counts = (pfb_sample_counts){0};
    if (pfb_v1_recognise(input->data, input->data_size_bytes))
        return pfb_sample_measure_v1(input, counts);
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_open(&reader, input->data, input->data_size_bytes, input->options);
    while (pfb_v2_next_result(&reader, &result)) {
        /* 32 bits suffice for columns and rows, because a block is smaller than 4 GiB. */
        uint32_t rows = count_rows(&reader, &result);
        counts->results++;
        counts->columns += result.counter_count;
        counts->rows += rows;
        counts->values += (uint64_t)result.counter_count * pfb_sample_stride(rows);
        pfb_v2_skip_result(&reader);
    }
    counts->registrations = input->registration_count;
    return reader.error;
}

/* Offset of each array, and the end of the last one. */
typedef struct layout {
    uint64_t results, columns, rows, raw, multi_counts, registration_order, column_order, row_order, key_order,
        name_order, sizes, end;
} layout;

/* Returns the end of an array at the offset `at`, rounded up to a multiple of 8. The array has `count` elements of
 * `size` bytes. Each array is below 2^32 * 200 or 2^40 * 8 bytes, so sums stay far below 2^64. */
static uint64_t end_of_array(uint64_t at, uint64_t count, uint64_t size)
{
    return (at + count * size + 7) & ~UINT64_C(7);
}

static layout lay_out(const pfb_sample_counts *counts)
{
    const uint64_t max_values = UINT64_C(1) << 40; /* more than any block has */
    layout l = {.end = UINT64_MAX};
    if (counts->values > max_values || counts->multi_counts > max_values)
        return l;
    l.results = 0;
    l.columns = end_of_array(l.results, counts->results, sizeof(pfb_sample_result));
    l.rows = end_of_array(l.columns, counts->columns, sizeof(pfb_sample_column));
    l.raw = end_of_array(l.rows, counts->rows, sizeof(pfb_sample_row));
    l.multi_counts = end_of_array(l.raw, counts->values, sizeof(uint64_t));
    l.registration_order = end_of_array(l.multi_counts, counts->multi_counts, sizeof(uint64_t));
    l.column_order = end_of_array(l.registration_order, counts->registrations, sizeof(uint32_t));
    l.row_order = end_of_array(l.column_order, counts->columns, sizeof(uint32_t));
    l.key_order = end_of_array(l.row_order, counts->rows, sizeof(uint32_t));
    l.name_order = end_of_array(l.key_order, counts->rows, sizeof(uint32_t));
    l.sizes = end_of_array(l.name_order, counts->rows, sizeof(uint32_t));
    l.end = end_of_array(l.sizes, counts->values, sizeof(uint8_t));
    return l;
}

size_t pfb_sample_size(const pfb_sample_counts *counts)
{
    uint64_t size = lay_out(counts).end;
    /* A size_t of 64 bits holds any size. */
    return PFB_ALWAYS(size <= SIZE_MAX) && size != UINT64_MAX ? (size_t)size : 0;
}

/* ---- Loading ------------------------------------------------------------------------------------------- */

static void set_arrays(pfb_sample *sample, const layout *l, uint8_t *memory)
{
    sample->results = (pfb_sample_result *)(void *)(memory + l->results);
    sample->columns = (pfb_sample_column *)(void *)(memory + l->columns);
    sample->rows = (pfb_sample_row *)(void *)(memory + l->rows);
    sample->raw = (uint64_t *)(void *)(memory + l->raw);
    sample->multi_counts = (uint64_t *)(void *)(memory + l->multi_counts);
    sample->sizes = memory + l->sizes;
    sample->registration_order = (uint32_t *)(void *)(memory + l->registration_order);
    sample->column_order = (uint32_t *)(void *)(memory + l->column_order);
    sample->row_order = (uint32_t *)(void *)(memory + l->row_order);
    sample->key_order = (uint32_t *)(void *)(memory + l->key_order);
    sample->name_order = (uint32_t *)(void *)(memory + l->name_order);
}

/* Adds the instances of a batch as rows. Values that malformed data lacks in the last row become 0 with size 0. */
static void add_rows(pfb_sample *sample, const pfb_v2_values *batch, uint32_t r)
{
    pfb_sample_result *result = &sample->results[r];
    for (size_t i = 0; i < batch->instance_count; i++) {
        const pfb_v2_instance *instance = &batch->instances[i];
        sample->rows[sample->counts.rows++] = (pfb_sample_row){.result = r,
                                                               .instance = instance->instance,
                                                               .id = instance->name.bytes ? instance->id : PFB_NO_ID,
                                                               .has_name = instance->name.bytes != NULL,
                                                               .name = instance->name,
                                                               .value_count = result->column_count,
                                                               .older_row = PFB_NONE};
        result->row_count++;
    }
    uint32_t last_row = sample->counts.rows - 1;
    for (uint32_t c = batch->last_value_count; c < result->column_count; c++) {
        size_t place = pfb_sample_place(sample, last_row, result->first_column + c);
        sample->rows[last_row].value_count = batch->last_value_count;
        sample->raw[place] = 0;
        sample->sizes[place] = 0;
    }
}

/* Stores offset and size of data that are not numbers. `reader` is at the start of the result, which is read a second
 * time. If the bytes have changed since the first time, the stored offset and size still lie inside the reply. */
static void locate_data(pfb_sample *sample, pfb_v2_reader *reader, const pfb_sample_result *result)
{
    pfb_v2_instance instance;
    pfb_v2_value value;
    for (uint32_t n = 0; n < result->row_count && pfb_v2_next_instance(reader, &instance); n++) {
        while (pfb_v2_next_value(reader, &value)) {
            size_t place = pfb_sample_place(sample, result->first_row + n, result->first_column + value.position);
            if (!value.is_number && sample->sizes[place] == 0)
                sample->raw[place] =
                    pfb_sample_pack_location(value.offset + PFB_V2_VALUE_HEADER_BYTES, value.data_size_bytes);
        }
    }
}

/* Loads rows and values of one result. Returns false if the measured memory does not hold them. */
static bool load_rows(pfb_sample *sample, pfb_v2_reader *reader, const pfb_v2_result *read,
                      const pfb_sample_counts *capacity, uint32_t r)
{
    enum { BATCH = 97 }; /* instances per call; `instances` takes 3,880 bytes of stack */
    pfb_v2_instance instances[BATCH];
    pfb_sample_result *result = &sample->results[r];
    pfb_v2_reader result_start = *reader;
    uint32_t rows = count_rows(reader, read);
    bool has_opaque = false;
    if (!pfb_sample_reserve(sample, r, rows, capacity))
        return false;
    while (result->row_count < rows) {
        uint32_t left = rows - result->row_count;
        /* Without columns there are no values, and the pointers must not advance past the arrays. */
        size_t place = result->column_count > 0 ? (size_t)result->first_value + result->row_count : 0;
        pfb_v2_values batch = {.values = sample->raw + place,
                               .sizes = sample->sizes + place,
                               .instances = instances,
                               .instance_capacity = left < BATCH ? left : BATCH,
                               .instance_step = 1,
                               .position_step = result->stride};
        if (!pfb_v2_read_values(reader, &batch))
            break;
        has_opaque = has_opaque || batch.has_opaque;
        add_rows(sample, &batch, r);
    }
    if (has_opaque)
        locate_data(sample, &result_start, result);
    return !pfb_v2_next_instance(reader, instances); /* more instances than counted: the bytes changed */
}

static bool load_columns(pfb_sample *sample, const pfb_v2_reader *reader, const pfb_v2_result *result,
                         const pfb_sample_counts *capacity, uint32_t r)
{
    uint32_t count = result->counter_count;
    if (count > capacity->columns - sample->counts.columns)
        return false;
    for (uint32_t position = 0; position < count; position++) {
        uint32_t id = PFB_NO_ID;
        pfb_v2_counter_id(reader, result, position, &id);
        sample->columns[sample->counts.columns++] = (pfb_sample_column){.result = r,
                                                                        .position = position,
                                                                        .counter_id = id,
                                                                        .base_column = PFB_NONE,
                                                                        .multi_column = PFB_NONE,
                                                                        .time_column = PFB_NONE,
                                                                        .freq_column = PFB_NONE};
    }
    sample->results[r].column_count = count;
    return true;
}

static bool load_results(pfb_sample *sample, pfb_v2_reader *reader, const pfb_sample_counts *capacity)
{
    pfb_v2_result result;
    while (pfb_v2_next_result(reader, &result)) {
        if (sample->counts.results == capacity->results)
            return false;
        uint32_t r = sample->counts.results++;
        sample->results[r] = (pfb_sample_result){.offset = result.offset,
                                                 .kind = result.kind,
                                                 .status = result.status,
                                                 .counter_id = PFB_NO_ID,
                                                 .first_column = sample->counts.columns,
                                                 .first_row = sample->counts.rows,
                                                 .code_page = PFB_ENCODING_UTF16LE,
                                                 .default_column = PFB_NONE};
        if (!load_columns(sample, reader, &result, capacity, r) || !load_rows(sample, reader, &result, capacity, r))
            return false;
    }
    return true;
}

/* ---- Linking ------------------------------------------------------------------------------------------- */

/* Sets id and name of the row of a result without instances: those of the instance that its query names. A pattern is
 * stored as the name, too, but has_name is false: results of the same pattern then match each other, results of
 * different patterns do not. */
static void name_unnamed_row(pfb_sample *sample, const pfb_sample_result *result, const pfb_identifier *identifier)
{
    if (result->row_count != 1 || sample->rows[result->first_row].has_name)
        return;
    pfb_sample_row *row = &sample->rows[result->first_row];
    row->id = identifier->instance_id;
    row->name = identifier->name;
    row->has_name = row->name.size_bytes > 0 && !pfb_query_is_pattern(&row->name);
}

/* Sets the query of each result by its Index. If several queries have the same Index, the first one is used. */
static void link_queries(pfb_sample *sample, const pfb_sample_input *input)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, input->query_info, input->query_info_size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        if (identifier.index >= sample->counts.results || sample->results[identifier.index].has_query)
            continue;
        pfb_sample_result *result = &sample->results[identifier.index];
        result->has_query = true;
        result->counterset = identifier.counterset;
        result->counter_id = identifier.counter_id;
        /* The result of a query for one counter does not contain its id. */
        if (result->column_count == 1 &&
            (result->kind == PFB_V2_SINGLE_COUNTER || result->kind == PFB_V2_MULTIPLE_INSTANCES))
            sample->columns[result->first_column].counter_id = identifier.counter_id;
        name_unnamed_row(sample, result, &identifier);
    }
}

/* Returns the column of the counter `id`, to which the counter `own_id` refers: the column in the same result, or else
 * the first one in another result of the counterset; in this case *elsewhere becomes true. Returns PFB_NONE if there is
 * none, or if the counter refers to itself. */
static uint32_t link_reference(const pfb_sample *sample, uint32_t result, uint32_t own_id, uint32_t id, bool *elsewhere)
{
    if (id == PFB_NO_ID || id == own_id)
        return PFB_NONE;
    const pfb_guid *counterset = &sample->results[result].counterset;
    uint32_t column = pfb_sample_find_column(sample, counterset, id, result);
    if (column != PFB_NONE && sample->columns[column].result == result)
        return column;
    column = pfb_sample_find_column(sample, counterset, id, 0);
    *elsewhere = *elsewhere || column != PFB_NONE;
    return column;
}

static void link_columns(pfb_sample *sample)
{
    bool elsewhere = false;
    pfb_sample_order_columns(sample);
    for (uint32_t i = 0; i < sample->counts.columns; i++) {
        pfb_sample_column *column = &sample->columns[i];
        const pfb_sample_result *result = &sample->results[column->result];
        if (!result->has_query || column->counter_id == PFB_NO_ID)
            continue;
        column->has_counter =
            pfb_sample_find_counter(sample, &result->counterset, column->counter_id, &column->counter);
        if (!column->has_counter)
            continue;
        column->base_column =
            link_reference(sample, column->result, column->counter_id, column->counter.base_id, &elsewhere);
        column->multi_column =
            link_reference(sample, column->result, column->counter_id, column->counter.multi_id, &elsewhere);
        column->time_column =
            link_reference(sample, column->result, column->counter_id, column->counter.perf_time_id, &elsewhere);
        column->freq_column =
            link_reference(sample, column->result, column->counter_id, column->counter.perf_freq_id, &elsewhere);
    }
    if (elsewhere) /* evaluation looks the instances up in other results */
        pfb_sample_rank_rows(sample);
}

/* Loads a V2 reply. Returns false if the measured memory does not hold it. */
static bool load_data(pfb_sample *sample, const pfb_sample_input *input, const pfb_sample_counts *capacity,
                      pfb_error *error)
{
    pfb_v2_reader reader;
    pfb_v2_open(&reader, input->data, input->data_size_bytes, input->options);
    sample->perf_time = reader.perf_time;
    sample->perf_time_100ns = reader.perf_time_100ns;
    sample->perf_freq = reader.perf_freq;
    sample->system_time = reader.system_time;
    sample->multi_counts = NULL;
    if (!load_results(sample, &reader, capacity))
        return false;
    sample->notes = reader.notes;
    *error = reader.error;
    return true;
}

pfb_error pfb_sample_load(pfb_sample *sample, const pfb_sample_input *input, const pfb_sample_counts *counts,
                          void *memory, size_t memory_size_bytes)
{
    *sample = (pfb_sample){.registrations = input->registrations};
    layout l = lay_out(counts);
    if (l.end > memory_size_bytes || (!memory && l.end > 0) || input->registration_count > counts->registrations)
        return (pfb_error){PFB_CALLER_TOO_SMALL, 0};
    if (memory)
        set_arrays(sample, &l, memory);
    bool v1 = pfb_v1_recognise(input->data, input->data_size_bytes);
    pfb_error error = {PFB_OK, 0};
    if (v1 ? !pfb_sample_load_v1(sample, input, counts, &error) : !load_data(sample, input, counts, &error)) {
        *sample = (pfb_sample){0};
        return (pfb_error){PFB_CALLER_TOO_SMALL, 0};
    }
    pfb_sample_list_positions(sample->name_order, sample->counts.rows);
    pfb_sample_list_positions(sample->row_order, sample->counts.rows);
    if (v1) {
        /* V1 uses no registrations, but the table has memory for their order. */
        sample->counts.registrations = input->registration_count;
        pfb_sample_list_positions(sample->registration_order, input->registration_count);
        pfb_sample_order_columns(sample);
    } else {
        pfb_sample_order_registrations(sample, input->registration_count);
        link_queries(sample, input);
        link_columns(sample);
    }
    sample->registrations = NULL; /* not needed from here on: the columns have copies of their counters */
    return error;
}
