/* SPDX-License-Identifier: MIT */
/* One sample as a table in the caller's memory, and the orders by which its parts are found. */
#include "snapshot_order.h"

#include "cursor.h"
#include "legacy_snapshot.h"
#include "memory.h"
#include "perfblock/query.h"

/* ---- Orders ------------------------------------------------------------------------------------------------ */

/* Three arrays of positions are kept in order, by one sort for all. */
typedef enum ordering {
    ORDER_COUNTERS,      /* counter id, position: within the first registration */
    ORDER_REGISTRATIONS, /* counterset, later ones first */
    ORDER_COLUMNS,       /* counterset, counter id, result, position */
    ORDER_ROWS,          /* counterset, name, id, result, instance */
    ORDER_NAMES          /* result, name, instance: for numbering equal names */
} ordering;

static int compare_u32(uint32_t left, uint32_t right)
{
    return (left > right) - (left < right);
}

static int compare_guids(const pfb_guid *left, const pfb_guid *right)
{
    return memcmp(left->bytes, right->bytes, sizeof left->bytes);
}

/* Names are compared as bytes: any order will do, so long as it is one. */
typedef struct name {
    const uint8_t *bytes; /* may be null when size is 0 */
    size_t size;
    uint32_t code_page;
} name;

static name make_name(const uint8_t *bytes, uint32_t units, uint32_t code_page)
{
    return (name){bytes, pfb_legacy_is_wide(code_page) ? 2 * (size_t)units : units, code_page};
}

/* How many bytes two names begin with alike, in steps of eight while they are the same. */
static size_t equal_bytes(const name *left, const name *right)
{
    size_t common = left->size < right->size ? left->size : right->size;
    size_t same = 0;
    while (common - same >= 8) {
        uint64_t a;
        uint64_t b;
        memcpy(&a, left->bytes + same, sizeof a);
        memcpy(&b, right->bytes + same, sizeof b);
        if (a != b)
            break;
        same += 8;
    }
    while (same < common && left->bytes[same] == right->bytes[same])
        same++;
    return same;
}

static int compare_names(const name *left, const name *right)
{
    size_t same = equal_bytes(left, right);
    if (same < left->size && same < right->size)
        return left->bytes[same] < right->bytes[same] ? -1 : 1;
    if (left->size != right->size)
        return left->size < right->size ? -1 : 1;
    return left->size > 0 ? compare_u32(left->code_page, right->code_page) : 0;
}

/* The displayed name: whether there is one, the parent's, its own. */
static int compare_full_names(const pfb_snapshot_row *left, const pfb_snapshot_row *right)
{
    if (left->has_name != right->has_name)
        return left->has_name ? 1 : -1;
    name a = make_name(left->name, left->name_units, left->code_page);
    name b = make_name(right->name, right->name_units, right->code_page);
    int difference = compare_names(&a, &b);
    if (difference != 0 || (left->parent_units | right->parent_units) == 0)
        return difference;
    a = make_name(left->parent_name, left->parent_units, left->parent_code_page);
    b = make_name(right->parent_name, right->parent_units, right->parent_code_page);
    return compare_names(&a, &b);
}

/* Who it is within its counterset: a unique id, or the id and the name together. */
static int compare_identities(const pfb_snapshot_row *left, const pfb_snapshot_row *right)
{
    if (left->is_unique != right->is_unique)
        return left->is_unique ? 1 : -1;
    int difference = left->is_unique ? 0 : compare_full_names(left, right);
    return difference != 0 ? difference : compare_u32(left->id, right->id);
}

bool pfb_snapshot_same_instance(const pfb_snapshot_row *left, const pfb_snapshot_row *right)
{
    return left->id == right->id && compare_identities(left, right) == 0;
}

int pfb_snapshot_compare_instance(const pfb_row_key *left, const pfb_row_key *right)
{
    int difference = compare_guids(left->counterset, right->counterset);
    return difference != 0 ? difference : compare_identities(left->identity, right->identity);
}

static int compare_places(const pfb_row_key *left, const pfb_row_key *right)
{
    int difference = compare_u32(left->result, right->result);
    return difference != 0 ? difference : compare_u32(left->instance, right->instance);
}

pfb_row_key pfb_snapshot_row_key(const pfb_snapshot *snapshot, uint32_t row)
{
    const pfb_snapshot_row *r = &snapshot->rows[row];
    return (pfb_row_key){.counterset = &snapshot->results[r->result].counterset,
                         .identity = r,
                         .result = r->result,
                         .instance = r->instance};
}

static int compare_rows(const pfb_snapshot *snapshot, uint32_t left, uint32_t right)
{
    pfb_row_key a = pfb_snapshot_row_key(snapshot, left);
    pfb_row_key b = pfb_snapshot_row_key(snapshot, right);
    int difference = pfb_snapshot_compare_instance(&a, &b);
    return difference != 0 ? difference : compare_places(&a, &b);
}

static int compare_row_names(const pfb_snapshot *snapshot, uint32_t left, uint32_t right)
{
    const pfb_snapshot_row *a = &snapshot->rows[left];
    const pfb_snapshot_row *b = &snapshot->rows[right];
    int difference = compare_u32(a->result, b->result);
    if (difference == 0)
        difference = compare_full_names(a, b);
    return difference != 0 ? difference : compare_u32(a->instance, b->instance);
}

typedef struct column_key {
    const pfb_guid *counterset;
    uint32_t counter_id;
    uint32_t result;
    uint32_t position;
} column_key;

static column_key key_of_column(const pfb_snapshot *snapshot, uint32_t column)
{
    const pfb_snapshot_column *c = &snapshot->columns[column];
    return (column_key){&snapshot->results[c->result].counterset, c->counter_id, c->result, c->position};
}

static int compare_column_keys(const column_key *left, const column_key *right)
{
    int difference = compare_guids(left->counterset, right->counterset);
    if (difference == 0)
        difference = compare_u32(left->counter_id, right->counter_id);
    if (difference == 0)
        difference = compare_u32(left->result, right->result);
    return difference != 0 ? difference : compare_u32(left->position, right->position);
}

static int compare_columns(const pfb_snapshot *snapshot, uint32_t left, uint32_t right)
{
    column_key a = key_of_column(snapshot, left);
    column_key b = key_of_column(snapshot, right);
    return compare_column_keys(&a, &b);
}

static int compare_counters(const pfb_snapshot *snapshot, uint32_t left, uint32_t right)
{
    pfb_counter a = {0};
    pfb_counter b = {0};
    pfb_registration_counter_at(&snapshot->registrations[0], left, &a);
    pfb_registration_counter_at(&snapshot->registrations[0], right, &b);
    int difference = compare_u32(a.id, b.id);
    return difference != 0 ? difference : compare_u32(left, right);
}

static int compare_registrations(const pfb_snapshot *snapshot, uint32_t left, uint32_t right)
{
    int difference = compare_guids(&snapshot->registrations[left].guid, &snapshot->registrations[right].guid);
    return difference != 0 ? difference : compare_u32(right, left); /* of several the last counts */
}

/* What is being put in order, and how. */
typedef struct order {
    const pfb_snapshot *snapshot;
    ordering by;
} order;

static int compare(const order *o, uint32_t left, uint32_t right)
{
    switch (o->by) {
    case ORDER_COUNTERS:
        return compare_counters(o->snapshot, left, right);
    case ORDER_REGISTRATIONS:
        return compare_registrations(o->snapshot, left, right);
    case ORDER_COLUMNS:
        return compare_columns(o->snapshot, left, right);
    case ORDER_ROWS:
        return compare_rows(o->snapshot, left, right);
    default:
        return compare_row_names(o->snapshot, left, right);
    }
}

#define SORT_CONTEXT order
#define SORT_COMPARE compare
#include "sort.h"

/* 0, 1, 2 ... */
static void number(uint32_t *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        items[i] = i;
}

void pfb_snapshot_sort_counters(pfb_registration *registration, uint32_t *positions)
{
    pfb_snapshot alone = {.registrations = registration};
    number(positions, registration->counter_count);
    sort(&(order){&alone, ORDER_COUNTERS}, positions, registration->counter_count);
    registration->order = positions;
}

/* ---- Finding --------------------------------------------------------------------------------------------------- */

/* Position in row_order of the first row not before the key. */
static uint32_t first_row(const pfb_snapshot *snapshot, const pfb_row_key *key)
{
    uint32_t low = 0;
    uint32_t high = snapshot->counts.rows;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        pfb_row_key candidate = pfb_snapshot_row_key(snapshot, snapshot->row_order[middle]);
        int difference = pfb_snapshot_compare_instance(&candidate, key);
        if (difference == 0)
            difference = compare_places(&candidate, key);
        if (difference < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t pfb_snapshot_find_group(const pfb_snapshot *snapshot, const pfb_row_key *key)
{
    pfb_row_key first = *key;
    first.result = first.instance = 0;
    uint32_t at = first_row(snapshot, &first);
    if (at == snapshot->counts.rows)
        return PFB_NONE;
    pfb_row_key found = pfb_snapshot_row_key(snapshot, snapshot->row_order[at]);
    return pfb_snapshot_compare_instance(&found, key) == 0 ? at : PFB_NONE;
}

uint32_t pfb_snapshot_find_row(const pfb_snapshot *snapshot, const pfb_row_key *key, uint32_t rank)
{
    pfb_row_key first = *key;
    first.instance = 0;
    uint32_t at = first_row(snapshot, &first);
    if (rank >= snapshot->counts.rows - at)
        return PFB_NONE;
    uint32_t row = snapshot->row_order[at + rank];
    pfb_row_key found = pfb_snapshot_row_key(snapshot, row);
    return found.result == key->result && pfb_snapshot_compare_instance(&found, key) == 0 ? row : PFB_NONE;
}

/* Position in column_order of the first column not before the key. */
static uint32_t first_column(const pfb_snapshot *snapshot, const column_key *key)
{
    uint32_t low = 0;
    uint32_t high = snapshot->counts.columns;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        column_key candidate = key_of_column(snapshot, snapshot->column_order[middle]);
        if (compare_column_keys(&candidate, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first column of the counter in the counterset, at or after a result; PFB_NONE when there is none. */
static uint32_t find_column_from(const pfb_snapshot *snapshot, const pfb_guid *counterset, uint32_t counter_id,
                                 uint32_t result)
{
    column_key key = {counterset, counter_id, result, 0};
    uint32_t at = first_column(snapshot, &key);
    if (at == snapshot->counts.columns)
        return PFB_NONE;
    uint32_t column = snapshot->column_order[at];
    column_key found = key_of_column(snapshot, column);
    return found.counter_id == counter_id && pfb_guid_equal(found.counterset, counterset) ? column : PFB_NONE;
}

uint32_t pfb_snapshot_find_column(const pfb_snapshot *snapshot, uint32_t result, uint32_t counter_id)
{
    uint32_t column = find_column_from(snapshot, &snapshot->results[result].counterset, counter_id, result);
    return column != PFB_NONE && snapshot->columns[column].result == result ? column : PFB_NONE;
}

uint32_t pfb_snapshot_find_only_column(const pfb_snapshot *snapshot, uint32_t result, uint32_t counter_id)
{
    const pfb_guid *counterset = &snapshot->results[result].counterset;
    uint32_t at = first_column(snapshot, &(column_key){counterset, counter_id, result, 0});
    uint32_t found = PFB_NONE;
    for (uint32_t n = 0; n < 2 && n < snapshot->counts.columns - at; n++) {
        uint32_t column = snapshot->column_order[at + n];
        column_key key = key_of_column(snapshot, column);
        if (key.counter_id != counter_id || key.result != result || !pfb_guid_equal(key.counterset, counterset))
            break;
        found = n == 0 ? column : PFB_NONE;
    }
    return found;
}

/* The counter as the last registration of the counterset describes it. */
static bool find_counter(const pfb_snapshot *snapshot, const pfb_guid *counterset, uint32_t id, pfb_counter *counter)
{
    uint32_t low = 0;
    uint32_t high = snapshot->counts.registrations;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const pfb_registration *candidate = &snapshot->registrations[snapshot->registration_order[middle]];
        if (compare_guids(&candidate->guid, counterset) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == snapshot->counts.registrations)
        return false;
    const pfb_registration *found = &snapshot->registrations[snapshot->registration_order[low]];
    return pfb_guid_equal(&found->guid, counterset) && pfb_registration_find(found, id, counter);
}

/* ---- Numbering -------------------------------------------------------------------------------------------------- */

void pfb_snapshot_rank_rows(pfb_snapshot *snapshot)
{
    if (snapshot->rows_ranked)
        return;
    sort(&(order){snapshot, ORDER_ROWS}, snapshot->row_order, snapshot->counts.rows);
    for (uint32_t i = 0; i < snapshot->counts.rows; i++) {
        pfb_snapshot_row *row = &snapshot->rows[snapshot->row_order[i]];
        row->rank = 0;
        row->group = i;
        if (i == 0)
            continue;
        const pfb_snapshot_row *before = &snapshot->rows[snapshot->row_order[i - 1]];
        pfb_row_key a = pfb_snapshot_row_key(snapshot, snapshot->row_order[i - 1]);
        pfb_row_key b = pfb_snapshot_row_key(snapshot, snapshot->row_order[i]);
        if (pfb_snapshot_compare_instance(&a, &b) != 0)
            continue;
        row->group = before->group;
        row->rank = before->result == row->result ? before->rank + 1 : 0;
    }
    snapshot->rows_ranked = true;
}

void pfb_snapshot_number_rows(pfb_snapshot *snapshot)
{
    sort(&(order){snapshot, ORDER_NAMES}, snapshot->row_order, snapshot->counts.rows);
    for (uint32_t i = 0; i < snapshot->counts.rows; i++) {
        uint32_t row = snapshot->row_order[i];
        snapshot->rows[row].occurrence = 0;
        if (i == 0)
            continue;
        uint32_t before = snapshot->row_order[i - 1];
        const pfb_snapshot_row *a = &snapshot->rows[before];
        if (a->result == snapshot->rows[row].result && compare_full_names(a, &snapshot->rows[row]) == 0)
            snapshot->rows[row].occurrence = a->occurrence + 1;
    }
    snapshot->rows_ranked = false; /* the order was borrowed */
    pfb_snapshot_rank_rows(snapshot);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static uint32_t columns_of(const pfb_data_result *result)
{
    return result->instance_count > 0 || result->has_counter_ids || result->kind == PFB_KIND_MULTIPLE_INSTANCES
               ? result->counter_count
               : 0;
}

pfb_error pfb_snapshot_measure(const pfb_snapshot_input *input, pfb_snapshot_counts *counts)
{
    *counts = (pfb_snapshot_counts){0};
    if (pfb_legacy_block_is(input->data, input->data_size_bytes))
        return pfb_legacy_snapshot_measure(input, counts);
    pfb_data_block block;
    pfb_data_result result;
    pfb_data_instance instance;
    pfb_data_value value;
    pfb_data_block_open(&block, input->data, input->data_size_bytes, input->options);
    while (pfb_data_block_next_result(&block, &result)) {
        counts->results++;
        counts->columns += columns_of(&result); /* a block is below 4 GiB: nothing in it reaches 2^32 */
        while (pfb_data_block_next_instance(&block, &instance)) {
            counts->rows++;
            while (pfb_data_block_next_value(&block, &value))
                counts->values++;
        }
    }
    counts->registrations = input->registration_count;
    return block.error;
}

/* Where each array begins, and where the last one ends. */
typedef struct layout {
    uint64_t results, columns, rows, values, registration_order, column_order, row_order, end;
} layout;

/* Sizes below 2^32 * 200 each: the sums stay far below 2^64. Every array begins at a multiple of 8. */
static uint64_t after(uint64_t at, uint64_t count, uint64_t size)
{
    return (at + count * size + 7) & ~UINT64_C(7);
}

static layout lay_out(const pfb_snapshot_counts *counts)
{
    layout l;
    l.results = 0;
    l.columns = after(l.results, counts->results, sizeof(pfb_snapshot_result));
    l.rows = after(l.columns, counts->columns, sizeof(pfb_snapshot_column));
    l.values = after(l.rows, counts->rows, sizeof(pfb_snapshot_row));
    l.registration_order = after(l.values, counts->values, sizeof(pfb_snapshot_value));
    l.column_order = after(l.registration_order, counts->registrations, sizeof(uint32_t));
    l.row_order = after(l.column_order, counts->columns, sizeof(uint32_t));
    l.end = after(l.row_order, counts->rows, sizeof(uint32_t));
    return l;
}

size_t pfb_snapshot_size(const pfb_snapshot_counts *counts)
{
    uint64_t size = lay_out(counts).end;
    return size <= SIZE_MAX ? (size_t)size : 0;
}

/* ---- Loading ------------------------------------------------------------------------------------------------------
 */

static void place(pfb_snapshot *snapshot, const layout *l, uint8_t *memory)
{
    snapshot->results = (pfb_snapshot_result *)(void *)(memory + l->results);
    snapshot->columns = (pfb_snapshot_column *)(void *)(memory + l->columns);
    snapshot->rows = (pfb_snapshot_row *)(void *)(memory + l->rows);
    snapshot->values = (pfb_snapshot_value *)(void *)(memory + l->values);
    snapshot->registration_order = (uint32_t *)(void *)(memory + l->registration_order);
    snapshot->column_order = (uint32_t *)(void *)(memory + l->column_order);
    snapshot->row_order = (uint32_t *)(void *)(memory + l->row_order);
}

static void order_registrations(pfb_snapshot *snapshot, uint32_t count)
{
    snapshot->counts.registrations = count;
    number(snapshot->registration_order, count);
    sort(&(order){snapshot, ORDER_REGISTRATIONS}, snapshot->registration_order, count);
}

/* Rows and values of one result; false when the memory measured does not hold them. */
static bool load_rows(pfb_snapshot *snapshot, pfb_data_block *block, const pfb_snapshot_counts *capacity, uint32_t r)
{
    pfb_data_instance instance;
    pfb_data_value value;
    pfb_snapshot_counts *n = &snapshot->counts;
    while (pfb_data_block_next_instance(block, &instance)) {
        if (n->rows == capacity->rows)
            return false;
        pfb_snapshot_row *row = &snapshot->rows[n->rows++];
        *row = (pfb_snapshot_row){.result = r,
                                  .instance = instance.instance,
                                  .id = instance.has_name ? instance.id : PFB_NO_ID,
                                  .has_name = instance.has_name,
                                  .name = instance.has_name ? block->data + instance.name.offset : NULL,
                                  .name_units = (uint32_t)instance.name.units,
                                  .code_page = PFB_CODE_PAGE_UTF16LE,
                                  .first_value = n->values,
                                  .older_row = PFB_NONE};
        snapshot->results[r].row_count++;
        while (pfb_data_block_next_value(block, &value)) {
            if (n->values == capacity->values)
                return false;
            snapshot->values[n->values++] = (pfb_snapshot_value){
                .offset = (uint32_t)value.data_offset, .raw = value.raw, .size_bytes = value.data_size_bytes};
            row->value_count++;
        }
    }
    return true;
}

static bool load_columns(pfb_snapshot *snapshot, const pfb_data_block *block, const pfb_data_result *result,
                         const pfb_snapshot_counts *capacity, uint32_t r)
{
    uint32_t count = columns_of(result);
    if (count > capacity->columns - snapshot->counts.columns)
        return false;
    for (uint32_t position = 0; position < count; position++) {
        uint32_t id = PFB_NO_ID;
        pfb_data_block_counter_id(block, result, position, &id);
        snapshot->columns[snapshot->counts.columns++] = (pfb_snapshot_column){.result = r,
                                                                              .position = position,
                                                                              .counter_id = id,
                                                                              .base_column = PFB_NONE,
                                                                              .multi_column = PFB_NONE,
                                                                              .time_column = PFB_NONE,
                                                                              .freq_column = PFB_NONE};
    }
    snapshot->results[r].column_count = count;
    return true;
}

static bool load_results(pfb_snapshot *snapshot, pfb_data_block *block, const pfb_snapshot_counts *capacity)
{
    pfb_data_result result;
    while (pfb_data_block_next_result(block, &result)) {
        if (snapshot->counts.results == capacity->results)
            return false;
        uint32_t r = snapshot->counts.results++;
        snapshot->results[r] = (pfb_snapshot_result){.offset = result.offset,
                                                     .kind = result.kind,
                                                     .status = result.status,
                                                     .counter_id = PFB_NO_ID,
                                                     .first_column = snapshot->counts.columns,
                                                     .first_row = snapshot->counts.rows};
        if (!load_columns(snapshot, block, &result, capacity, r) || !load_rows(snapshot, block, capacity, r))
            return false;
    }
    return true;
}

/* ---- Linking --------------------------------------------------------------------------------------------------------
 */

/* An instance that the reply does not name is the one its query asked for by an exact name. Any other filter is kept
 * too: replies to the same filter are about the same instance, whichever that is, those to different ones need not be.
 */
static void name_unnamed_row(pfb_snapshot *snapshot, const pfb_snapshot_result *result, const uint8_t *info,
                             const pfb_identifier *identifier)
{
    if (result->row_count != 1 || snapshot->rows[result->first_row].has_name)
        return;
    pfb_snapshot_row *row = &snapshot->rows[result->first_row];
    row->id = identifier->instance_id;
    if (!identifier->has_name || identifier->name.units > UINT32_MAX)
        return;
    row->name = info + identifier->name.offset;
    row->name_units = (uint32_t)identifier->name.units;
    row->has_name = row->name_units > 0 && !pfb_query_is_pattern(row->name, row->name_units);
}

/* Tells each result which query it answers: by Index, of several the first. */
static void link_queries(pfb_snapshot *snapshot, const pfb_snapshot_input *input)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, input->query_info, input->query_info_size_bytes, 0);
    while (pfb_list_next_identifier(&list, &identifier)) {
        if (identifier.index >= snapshot->counts.results || snapshot->results[identifier.index].has_query)
            continue;
        pfb_snapshot_result *result = &snapshot->results[identifier.index];
        result->has_query = true;
        result->counterset = identifier.counterset;
        result->counter_id = identifier.counter_id;
        /* Replies of one counter do not tell its id; the query does. */
        if (result->column_count == 1 &&
            (result->kind == PFB_KIND_SINGLE_COUNTER || result->kind == PFB_KIND_MULTIPLE_INSTANCES))
            snapshot->columns[result->first_column].counter_id = identifier.counter_id;
        name_unnamed_row(snapshot, result, input->query_info, &identifier);
    }
}

/* The column of a referred counter: of the same result, else the first of the counterset. None refers to itself. */
static uint32_t link_reference(const pfb_snapshot *snapshot, uint32_t result, uint32_t own_id, uint32_t id,
                               bool *elsewhere)
{
    if (id == PFB_NO_ID || id == own_id)
        return PFB_NONE;
    uint32_t column = pfb_snapshot_find_column(snapshot, result, id);
    if (column != PFB_NONE)
        return column;
    column = find_column_from(snapshot, &snapshot->results[result].counterset, id, 0);
    *elsewhere = *elsewhere || column != PFB_NONE;
    return column;
}

static void link_columns(pfb_snapshot *snapshot)
{
    bool elsewhere = false;
    number(snapshot->column_order, snapshot->counts.columns);
    sort(&(order){snapshot, ORDER_COLUMNS}, snapshot->column_order, snapshot->counts.columns);
    for (uint32_t i = 0; i < snapshot->counts.columns; i++) {
        pfb_snapshot_column *column = &snapshot->columns[i];
        const pfb_snapshot_result *result = &snapshot->results[column->result];
        if (!result->has_query || column->counter_id == PFB_NO_ID)
            continue;
        column->has_counter = find_counter(snapshot, &result->counterset, column->counter_id, &column->counter);
        if (!column->has_counter)
            continue;
        column->base_column =
            link_reference(snapshot, column->result, column->counter_id, column->counter.base_id, &elsewhere);
        column->multi_column =
            link_reference(snapshot, column->result, column->counter_id, column->counter.multi_id, &elsewhere);
        column->time_column =
            link_reference(snapshot, column->result, column->counter_id, column->counter.perf_time_id, &elsewhere);
        column->freq_column =
            link_reference(snapshot, column->result, column->counter_id, column->counter.perf_freq_id, &elsewhere);
    }
    number(snapshot->row_order, snapshot->counts.rows);
    if (elsewhere) /* evaluation looks instances up in other results */
        pfb_snapshot_rank_rows(snapshot);
}

/* Everything of a V2 block; false when the memory measured does not hold it. */
static bool load_data(pfb_snapshot *snapshot, const pfb_snapshot_input *input, const pfb_snapshot_counts *capacity,
                      pfb_error *verdict)
{
    pfb_data_block block;
    pfb_data_block_open(&block, input->data, input->data_size_bytes, input->options);
    snapshot->perf_time = block.perf_time;
    snapshot->perf_time_100ns = block.perf_time_100ns;
    snapshot->perf_freq = block.perf_freq;
    snapshot->system_time = block.system_time;
    if (!load_results(snapshot, &block, capacity))
        return false;
    snapshot->notes = block.notes;
    *verdict = block.error;
    return true;
}

pfb_error pfb_snapshot_load(pfb_snapshot *snapshot, const pfb_snapshot_input *input, const pfb_snapshot_counts *counts,
                            void *memory, size_t memory_size_bytes)
{
    *snapshot = (pfb_snapshot){.registrations = input->registrations};
    layout l = lay_out(counts);
    if (l.end > memory_size_bytes || (!memory && l.end > 0) || input->registration_count > counts->registrations)
        return (pfb_error){PFB_CALLER_TOO_SMALL, 0};
    if (memory)
        place(snapshot, &l, memory);
    bool legacy = pfb_legacy_block_is(input->data, input->data_size_bytes);
    pfb_error verdict = {PFB_OK, 0};
    if (legacy ? !pfb_legacy_snapshot_load(snapshot, input, counts, &verdict)
               : !load_data(snapshot, input, counts, &verdict)) {
        *snapshot = (pfb_snapshot){0};
        return (pfb_error){PFB_CALLER_TOO_SMALL, 0};
    }
    if (legacy) {
        snapshot->counts.registrations = input->registration_count; /* room was measured for them; they are not read */
        number(snapshot->registration_order, input->registration_count);
        number(snapshot->column_order, snapshot->counts.columns);
        sort(&(order){snapshot, ORDER_COLUMNS}, snapshot->column_order, snapshot->counts.columns);
        number(snapshot->row_order, snapshot->counts.rows);
    } else {
        order_registrations(snapshot, input->registration_count);
        link_queries(snapshot, input);
        link_columns(snapshot);
    }
    snapshot->registrations = NULL; /* what was needed of them is in the columns */
    return verdict;
}
