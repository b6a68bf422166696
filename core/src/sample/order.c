/* SPDX-License-Identifier: MIT */
/* The indexes of values in the arrays of a sample; the sorted indexes of registrations, columns and rows, and look-up
 * in them; rank and occurrence of rows. */
#include "sample/order.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"

/* ---- Indexes of values --------------------------------------------------------------------------------------- */

uint32_t pfb_sample_stride(uint32_t rows)
{
    enum { MIN_PADDED_ROWS = 512 }; /* fewer values of 8 bytes do not fill a page of 4 KiB */
    /* The least odd multiple of 64, plus 8, that is not below `rows`: the values of a row, which are a stride apart,
     * are then spread over the sets of a cache, both the numbers of 8 bytes and the sizes of 1 byte. No overflow: rows
     * are fewer than 2^32 / 8. */
    return rows < MIN_PADDED_ROWS ? rows : ((rows + 55) / 64 | 1) * 64 + 8;
}

bool pfb_sample_reserve(pfb_sample *sample, uint32_t r, uint32_t rows, const pfb_sample_counts *capacity)
{
    pfb_sample_result *result = &sample->results[r];
    result->stride = pfb_sample_stride(rows);
    result->first_value = sample->counts.values;
    uint64_t values = (uint64_t)result->column_count * result->stride;
    if (rows > capacity->rows - sample->counts.rows || values > capacity->values - sample->counts.values)
        return false;
    sample->counts.values += values;
    return true;
}

size_t pfb_sample_place(const pfb_sample *sample, uint32_t row, uint32_t column)
{
    const pfb_sample_result *result = &sample->results[sample->columns[column].result];
    uint64_t before = (uint64_t)(column - result->first_column) * result->stride;
    return (size_t)(result->first_value + before + (row - result->first_row)); /* below counts.values */
}

/* ---- Orders ------------------------------------------------------------------------------------------------ */

/* The orders of compare_positions. The comment at each one lists its sort keys. */
typedef enum ordering {
    ORDER_REGISTRATIONS, /* counterset; of several registrations of a counterset, later ones first */
    ORDER_COLUMNS,       /* counterset, counter id, result, position */
    ORDER_ROWS,          /* counterset, identity, result, instance */
    ORDER_NAMES,         /* result, full name, instance: for numbering equal names */
    ORDER_KEYS           /* title, key, result, row */
} ordering;

static int compare_numbers(uint32_t left, uint32_t right)
{
    return (left > right) - (left < right);
}

static int compare_guids(const pfb_guid *left, const pfb_guid *right)
{
    if (load_le64(left->bytes) == load_le64(right->bytes) && load_le64(left->bytes + 8) == load_le64(right->bytes + 8))
        return 0;
    return memcmp(left->bytes, right->bytes, sizeof left->bytes);
}

/* Compares names by size, then as bytes. Any total order would be correct: it is only used to find equal names. In this
 * one numbers ascend, and names of different sizes are compared without their bytes. */
static int compare_names(const pfb_name *left, const pfb_name *right)
{
    if (left->size_bytes != right->size_bytes)
        return left->size_bytes < right->size_bytes ? -1 : 1;
    if (left->size_bytes == 0) /* memcmp does not accept null */
        return 0;
    int difference = memcmp(left->bytes, right->bytes, left->size_bytes);
    return difference != 0 ? difference : compare_numbers(left->encoding, right->encoding);
}

/* Compares full names: has_name, then `name` (the filter of the query if neither row has a name), then `parent`. */
static int compare_full_names(const pfb_sample_row *left, const pfb_sample_row *right)
{
    if (left->has_name != right->has_name)
        return left->has_name ? 1 : -1;
    int difference = compare_names(&left->name, &right->name);
    if (difference != 0)
        return difference;
    const pfb_name *a = &left->parent;
    const pfb_name *b = &right->parent;
    if (a->bytes == b->bytes && a->size_bytes == b->size_bytes && a->encoding == b->encoding)
        return 0; /* neither row has a parent, or both are the same bytes */
    return compare_names(a, b);
}

/* Compares identities within a counterset: the unique id, or the full name and the id. */
static int compare_identities(const pfb_sample_row *left, const pfb_sample_row *right)
{
    if (left->is_unique != right->is_unique)
        return left->is_unique ? 1 : -1;
    int difference = left->is_unique ? 0 : compare_full_names(left, right);
    return difference != 0 ? difference : compare_numbers(left->id, right->id);
}

bool pfb_sample_same_instance(const pfb_sample_row *left, const pfb_sample_row *right)
{
    return left->id == right->id && compare_identities(left, right) == 0;
}

/* Compares counterset and identity, but neither the result nor the position in it. Returns 0 for the same instance. */
static int compare_instances(const pfb_row_key *left, const pfb_row_key *right)
{
    int difference = compare_guids(left->counterset, right->counterset);
    return difference != 0 ? difference : compare_identities(left->identity, right->identity);
}

static int compare_reply_positions(const pfb_row_key *left, const pfb_row_key *right)
{
    int difference = compare_numbers(left->result, right->result);
    return difference != 0 ? difference : compare_numbers(left->instance, right->instance);
}

pfb_row_key pfb_sample_row_key(const pfb_sample *sample, uint32_t row)
{
    const pfb_sample_row *r = &sample->rows[row];
    return (pfb_row_key){.counterset = &sample->results[r->result].counterset,
                         .identity = r,
                         .result = r->result,
                         .instance = r->instance};
}

static int compare_rows(const pfb_sample *sample, uint32_t left, uint32_t right)
{
    pfb_row_key a = pfb_sample_row_key(sample, left);
    pfb_row_key b = pfb_sample_row_key(sample, right);
    int difference = compare_instances(&a, &b);
    return difference != 0 ? difference : compare_reply_positions(&a, &b);
}

static int compare_row_names(const pfb_sample *sample, uint32_t left, uint32_t right)
{
    const pfb_sample_row *a = &sample->rows[left];
    const pfb_sample_row *b = &sample->rows[right];
    int difference = compare_numbers(a->result, b->result);
    if (difference == 0)
        difference = compare_full_names(a, b);
    return difference != 0 ? difference : compare_numbers(a->instance, b->instance);
}

typedef struct key_place {
    uint32_t title;
    uint64_t key;
    uint32_t result;
} key_place;

static key_place place_of_key(const pfb_sample *sample, uint32_t row)
{
    const pfb_sample_row *r = &sample->rows[row];
    return (key_place){sample->results[r->result].title_index, r->key, r->result};
}

static int compare_keys(const key_place *left, const key_place *right)
{
    int difference = compare_numbers(left->title, right->title);
    if (difference == 0)
        difference = (left->key > right->key) - (left->key < right->key);
    return difference != 0 ? difference : compare_numbers(left->result, right->result);
}

static int compare_row_keys(const pfb_sample *sample, uint32_t left, uint32_t right)
{
    key_place a = place_of_key(sample, left);
    key_place b = place_of_key(sample, right);
    int difference = compare_keys(&a, &b);
    return difference != 0 ? difference : compare_numbers(left, right);
}

typedef struct column_key {
    const pfb_guid *counterset;
    uint32_t counter_id;
    uint32_t result;
    uint32_t position;
} column_key;

static column_key key_of_column(const pfb_sample *sample, uint32_t column)
{
    const pfb_sample_column *c = &sample->columns[column];
    return (column_key){&sample->results[c->result].counterset, c->counter_id, c->result, c->position};
}

static int compare_column_keys(const column_key *left, const column_key *right)
{
    int difference = compare_guids(left->counterset, right->counterset);
    if (difference == 0)
        difference = compare_numbers(left->counter_id, right->counter_id);
    if (difference == 0)
        difference = compare_numbers(left->result, right->result);
    return difference != 0 ? difference : compare_numbers(left->position, right->position);
}

static int compare_columns(const pfb_sample *sample, uint32_t left, uint32_t right)
{
    column_key a = key_of_column(sample, left);
    column_key b = key_of_column(sample, right);
    return compare_column_keys(&a, &b);
}

static int compare_registrations(const pfb_sample *sample, uint32_t left, uint32_t right)
{
    int difference = compare_guids(&sample->registrations[left].guid, &sample->registrations[right].guid);
    return difference != 0 ? difference : compare_numbers(right, left); /* the last one of a GUID comes first */
}

/* The context of a sort of positions of registrations, columns or rows: their sample, and the order. */
typedef struct sorting {
    const pfb_sample *sample;
    ordering by;
} sorting;

static int compare_positions(const sorting *o, uint32_t left, uint32_t right)
{
    switch (o->by) {
    case ORDER_REGISTRATIONS:
        return compare_registrations(o->sample, left, right);
    case ORDER_COLUMNS:
        return compare_columns(o->sample, left, right);
    case ORDER_ROWS:
        return compare_rows(o->sample, left, right);
    case ORDER_KEYS:
        return compare_row_keys(o->sample, left, right);
    default:
        return compare_row_names(o->sample, left, right);
    }
}

#define SORT_CONTEXT sorting
#define SORT_COMPARE compare_positions
#define SORT_PREFIX(name) order_##name
#include "bytes/sort.h"

void pfb_sample_list_positions(uint32_t *positions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        positions[i] = i;
}

void pfb_sample_order_registrations(pfb_sample *sample, uint32_t count)
{
    sample->counts.registrations = count;
    pfb_sample_list_positions(sample->registration_order, count);
    order_sort(&(sorting){sample, ORDER_REGISTRATIONS}, sample->registration_order, count);
}

void pfb_sample_order_columns(pfb_sample *sample)
{
    pfb_sample_list_positions(sample->column_order, sample->counts.columns);
    order_sort(&(sorting){sample, ORDER_COLUMNS}, sample->column_order, sample->counts.columns);
}

void pfb_sample_order_keys(pfb_sample *sample)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < sample->counts.rows; row++) {
        if (sample->rows[row].is_unique)
            sample->rows[row].key = 0;
        if (sample->rows[row].key != 0)
            sample->key_order[count++] = row;
    }
    order_sort(&(sorting){sample, ORDER_KEYS}, sample->key_order, count);
    /* Each pass: the rows of one key in one result. */
    uint32_t end = 0;
    for (uint32_t begin = 0; begin < count; begin = end) {
        key_place first = place_of_key(sample, sample->key_order[begin]);
        key_place next = first;
        for (end = begin + 1; end < count; end++) {
            next = place_of_key(sample, sample->key_order[end]);
            if (compare_keys(&first, &next) != 0)
                break;
        }
        if (end == begin + 1)
            sample->key_order[sample->key_count++] = sample->key_order[begin];
        for (uint32_t i = begin; end > begin + 1 && i < end; i++)
            sample->rows[sample->key_order[i]].key = 0;
    }
}

/* ---- Finding --------------------------------------------------------------------------------------------------- */

/* Returns the position in row_order of the first row that is not before the key. */
static uint32_t first_row(const pfb_sample *sample, const pfb_row_key *key)
{
    uint32_t low = 0;
    uint32_t high = sample->counts.rows;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        pfb_row_key candidate = pfb_sample_row_key(sample, sample->row_order[middle]);
        int difference = compare_instances(&candidate, key);
        if (difference == 0)
            difference = compare_reply_positions(&candidate, key);
        if (difference < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the position in key_order of the first row that is not before this place. */
static uint32_t first_key(const pfb_sample *sample, const key_place *place)
{
    uint32_t low = 0;
    uint32_t high = sample->key_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        key_place candidate = place_of_key(sample, sample->key_order[middle]);
        if (compare_keys(&candidate, place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t pfb_sample_find_key(const pfb_sample *sample, uint32_t title_index, uint32_t result, uint64_t key)
{
    uint32_t at = first_key(sample, &(key_place){title_index, key, result});
    key_place found = {0, 0, 0};
    if (at < sample->key_count)
        found = place_of_key(sample, sample->key_order[at]);
    if (found.result != result || found.key != key || found.title != title_index)
        at = first_key(sample, &(key_place){title_index, key, 0});
    if (at == sample->key_count)
        return PFB_NONE;
    found = place_of_key(sample, sample->key_order[at]);
    return found.key == key && found.title == title_index ? sample->key_order[at] : PFB_NONE;
}

bool pfb_sample_same_owner(const pfb_sample_row *left, const pfb_sample_row *right)
{
    bool is_thread = (uint32_t)left->key != 0;
    return is_thread ? compare_names(&left->parent, &right->parent) == 0 : compare_full_names(left, right) == 0;
}

uint32_t pfb_sample_find_group(const pfb_sample *sample, const pfb_row_key *key)
{
    pfb_row_key first = *key;
    first.result = first.instance = 0;
    uint32_t at = first_row(sample, &first);
    if (at == sample->counts.rows)
        return PFB_NONE;
    pfb_row_key found = pfb_sample_row_key(sample, sample->row_order[at]);
    return compare_instances(&found, key) == 0 ? at : PFB_NONE;
}

uint32_t pfb_sample_find_ranked_row(const pfb_sample *sample, const pfb_row_key *key, uint32_t rank)
{
    pfb_row_key first = *key;
    first.instance = 0;
    uint32_t at = first_row(sample, &first);
    if (rank >= sample->counts.rows - at)
        return PFB_NONE;
    uint32_t row = sample->row_order[at + rank];
    pfb_row_key found = pfb_sample_row_key(sample, row);
    return found.result == key->result && compare_instances(&found, key) == 0 ? row : PFB_NONE;
}

void pfb_sample_related_rows(const pfb_sample *sample, uint32_t group, uint32_t rank, pfb_related_rows *related)
{
    if (related->group == group && related->rank == rank)
        return;
    related->group = group;
    related->rank = rank;
    related->count = 0;
    uint32_t left = group < sample->counts.rows ? sample->counts.rows - group : 0;
    for (uint32_t n = 0; n < PFB_MAX_RELATED_ROWS && n < left; n++) {
        uint32_t row = sample->row_order[group + n];
        if (sample->rows[row].group != group)
            break;
        if (sample->rows[row].rank != rank)
            continue;
        related->rows[related->count] = row;
        related->results[related->count++] = sample->rows[row].result;
    }
}

/* Returns the position in column_order of the first column that is not before the key. */
static uint32_t first_column(const pfb_sample *sample, const column_key *key)
{
    uint32_t low = 0;
    uint32_t high = sample->counts.columns;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        column_key candidate = key_of_column(sample, sample->column_order[middle]);
        if (compare_column_keys(&candidate, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t pfb_sample_find_column(const pfb_sample *sample, const pfb_guid *counterset, uint32_t counter_id,
                                uint32_t result)
{
    column_key key = {counterset, counter_id, result, 0};
    uint32_t at = first_column(sample, &key);
    if (at == sample->counts.columns)
        return PFB_NONE;
    uint32_t column = sample->column_order[at];
    column_key found = key_of_column(sample, column);
    return found.counter_id == counter_id && pfb_guid_equal(found.counterset, counterset) ? column : PFB_NONE;
}

uint32_t pfb_sample_find_only_column(const pfb_sample *sample, uint32_t result, uint32_t counter_id)
{
    const pfb_guid *counterset = &sample->results[result].counterset;
    uint32_t at = first_column(sample, &(column_key){counterset, counter_id, result, 0});
    uint32_t found = PFB_NONE;
    for (uint32_t n = 0; n < 2 && n < sample->counts.columns - at; n++) {
        uint32_t column = sample->column_order[at + n];
        column_key key = key_of_column(sample, column);
        if (key.counter_id != counter_id || key.result != result) /* a result has one counterset */
            break;
        found = n == 0 ? column : PFB_NONE;
    }
    return found;
}

pfb_column_range pfb_sample_columns_of(const pfb_sample *sample, const pfb_guid *counterset, uint32_t counter_id)
{
    column_key first = {counterset, counter_id, 0, 0};
    column_key end = {counterset, counter_id, UINT32_MAX, UINT32_MAX}; /* after all of these columns */
    return (pfb_column_range){first_column(sample, &first), first_column(sample, &end)};
}

static uint32_t result_at(const pfb_sample *sample, uint32_t at)
{
    return sample->columns[sample->column_order[at]].result;
}

/* Returns the first position in column_order, from `low` on, of a column of this result or a later one; `end` if there
 * is none. The columns from `low` to `end` are of one counter, so they are sorted by result. Tries steps of growing
 * size first, because the position is usually near. */
static uint32_t skip_columns_before(const pfb_sample *sample, uint32_t low, uint32_t end, uint32_t result)
{
    uint32_t high = end;
    for (uint32_t step = 1; step <= end - low; step *= 2) { /* no overflow: columns are fewer than 2^30 */
        if (result_at(sample, low + step - 1) >= result) {
            high = low + step - 1;
            break;
        }
        low += step;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (result_at(sample, middle) < result)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t pfb_sample_first_with(const pfb_sample *sample, const pfb_related_rows *related, pfb_column_range columns,
                               uint32_t *column)
{
    uint32_t at = columns.begin;
    uint32_t i = 0;
    while (at < columns.end) {
        uint32_t result = result_at(sample, at);
        while (i < related->count && related->results[i] < result)
            i++;
        if (i == related->count)
            break;
        if (related->results[i] == result) {
            *column = sample->column_order[at];
            return i;
        }
        at++;
        if (at < columns.end && result_at(sample, at) < related->results[i])
            at = skip_columns_before(sample, at, columns.end, related->results[i]);
    }
    return related->count;
}

bool pfb_sample_find_counter(const pfb_sample *sample, const pfb_guid *counterset, uint32_t id, pfb_counter *counter)
{
    uint32_t low = 0;
    uint32_t high = sample->counts.registrations;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const pfb_registration *candidate = &sample->registrations[sample->registration_order[middle]];
        if (compare_guids(&candidate->guid, counterset) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sample->counts.registrations)
        return false;
    const pfb_registration *found = &sample->registrations[sample->registration_order[low]];
    return pfb_guid_equal(&found->guid, counterset) && pfb_registration_find(found, id, counter);
}

/* ---- Finding by name ------------------------------------------------------------------------------------------- */

enum { MAX_CONVERTED_UNITS = 1024 }; /* of a name that is looked up; names of parents are not longer either */

/* Converts a name to the encoding of the names of a result if that is UTF-16. The converted name is in `units`. Returns
 * false if it is too long. */
static bool convert_name(pfb_name *name, uint32_t code_page, uint8_t units[2 * MAX_CONVERTED_UNITS])
{
    bool is_big = code_page == PFB_ENCODING_UTF16BE;
    if (!name->bytes || name->encoding == code_page || (!is_big && code_page != PFB_ENCODING_UTF16LE))
        return true;
    size_t count = pfb_name_to_utf16(name, units, MAX_CONVERTED_UNITS);
    if (count > MAX_CONVERTED_UNITS)
        return false;
    for (size_t i = 0; is_big && i < count; i++) {
        uint8_t low = units[2 * i];
        units[2 * i] = units[2 * i + 1];
        units[2 * i + 1] = low;
    }
    *name = (pfb_name){units, 2 * count, code_page};
    return true;
}

/* Compares the names of a row with those that are looked up, in the order of compare_full_names. `parent` null: any. */
static int compare_row_with(const pfb_sample_row *row, const pfb_name *name, const pfb_name *parent)
{
    bool has_name = name->bytes != NULL;
    if (row->has_name != has_name)
        return row->has_name ? 1 : -1;
    int difference = has_name ? compare_names(&row->name, name) : 0;
    return difference == 0 && parent ? compare_names(&row->parent, parent) : difference;
}

uint32_t pfb_sample_find_row(const pfb_sample *sample, uint32_t result, const pfb_name *name, const pfb_name *parent,
                             uint32_t occurrence)
{
    uint8_t units[2 * MAX_CONVERTED_UNITS];
    uint8_t parent_units[2 * MAX_CONVERTED_UNITS];
    if (result >= sample->counts.results)
        return PFB_NONE;
    const pfb_sample_result *r = &sample->results[result];
    pfb_name own = *name;
    pfb_name own_parent = {NULL, 0, 0};
    if (parent)
        own_parent = *parent;
    if (!convert_name(&own, r->code_page, units) || !convert_name(&own_parent, r->code_page, parent_units))
        return PFB_NONE;
    if (parent)
        parent = &own_parent;
    /* The rows of a result are consecutive, also in name_order. */
    uint32_t low = r->first_row;
    uint32_t end = r->first_row + r->row_count;
    uint32_t high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_row_with(&sample->rows[sample->name_order[middle]], &own, parent) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (occurrence >= end - low)
        return PFB_NONE;
    uint32_t row = sample->name_order[low + occurrence];
    return compare_row_with(&sample->rows[row], &own, parent) == 0 ? row : PFB_NONE;
}

/* ---- Numbering -------------------------------------------------------------------------------------------------- */

void pfb_sample_rank_rows(pfb_sample *sample)
{
    if (sample->rows_ranked)
        return;
    order_sort(&(sorting){sample, ORDER_ROWS}, sample->row_order, sample->counts.rows);
    for (uint32_t i = 0; i < sample->counts.rows; i++) {
        pfb_sample_row *row = &sample->rows[sample->row_order[i]];
        row->rank = 0;
        row->group = i;
        if (i == 0)
            continue;
        const pfb_sample_row *before = &sample->rows[sample->row_order[i - 1]];
        pfb_row_key a = pfb_sample_row_key(sample, sample->row_order[i - 1]);
        pfb_row_key b = pfb_sample_row_key(sample, sample->row_order[i]);
        if (compare_instances(&a, &b) != 0)
            continue;
        row->group = before->group;
        row->rank = before->result == row->result ? before->rank + 1 : 0;
    }
    sample->rows_ranked = true;
}

void pfb_sample_number_rows(pfb_sample *sample)
{
    order_sort(&(sorting){sample, ORDER_NAMES}, sample->name_order, sample->counts.rows);
    for (uint32_t i = 0; i < sample->counts.rows; i++) {
        uint32_t row = sample->name_order[i];
        sample->rows[row].occurrence = 0;
        if (i == 0)
            continue;
        const pfb_sample_row *a = &sample->rows[sample->name_order[i - 1]];
        if (a->result == sample->rows[row].result && compare_full_names(a, &sample->rows[row]) == 0)
            sample->rows[row].occurrence = a->occurrence + 1;
    }
    pfb_sample_rank_rows(sample);
}
