/* SPDX-License-Identifier: MIT */
#include "perfblock/bulk.h"

#include "cursor.h"
#include "memory.h"
#include "regular_value.h"

/* Values are judged in groups: one verdict for the headers of all, then their data are taken. Where the caller wants
 * rows these are written at once. Else values go through a tile, which holds whole instances as long as they fit, so
 * that columns far apart are written sixteen values at a time. */
enum { GROUP_VALUES = 8, TILE_VALUES = 512, TILE_ROWS = 16, AHEAD_BYTES = 4096 /* a page */ };

/* Instances of a result are alike: what the values of one were those of the next are expected to be. */
enum { PATTERN_VALUES = 128 };

typedef struct pattern {
    uint32_t count; /* of an instance's values; 0: nothing is expected */
    uint8_t sizes[PATTERN_VALUES];
    uint64_t headers[PATTERN_VALUES];
    uint64_t masks[PATTERN_VALUES]; /* of the data */
} pattern;

typedef struct tile {
    uint64_t values[TILE_VALUES];
    uint8_t sizes[TILE_VALUES];
    size_t row_values;   /* from one row to the next */
    size_t rows;         /* instances in it */
    uint32_t first;      /* position of the first column */
    uint32_t last_count; /* columns in the last row; in others all */
    bool is_alike;       /* all rows have the sizes of the first */
} tile;

/* ---- Regular values ------------------------------------------------------------------------------------ */

/* How the n-th header differs from that of 8 bytes. */
static inline uint64_t difference(const uint8_t *p, size_t n)
{
    return load_le64(p + REGULAR_VALUE_BYTES * n) ^ REGULAR_HEADER_8;
}

static inline uint64_t datum(const uint8_t *p, size_t n)
{
    return load_le64(p + REGULAR_VALUE_BYTES * n + VALUE_HEADER_BYTES);
}

/* How a group's headers differ from those of 8 bytes, or from others; 0: not at all. Written out, as is all that is
 * done for a group: not every compiler unrolls a loop of eight, and what it takes to go around is half of what a value
 * takes. */
static inline uint64_t group_difference(const uint8_t *p)
{
    uint64_t wrong = difference(p, 0) | difference(p, 1) | difference(p, 2) | difference(p, 3);
    return wrong | difference(p, 4) | difference(p, 5) | difference(p, 6) | difference(p, 7);
}

static inline uint64_t difference_from(const uint8_t *p, const uint64_t *headers, size_t n)
{
    return load_le64(p + REGULAR_VALUE_BYTES * n) ^ headers[n];
}

static inline uint64_t group_difference_from(const uint8_t *p, const uint64_t *headers)
{
    uint64_t wrong = difference_from(p, headers, 0) | difference_from(p, headers, 1) | difference_from(p, headers, 2);
    wrong |= difference_from(p, headers, 3) | difference_from(p, headers, 4) | difference_from(p, headers, 5);
    return wrong | difference_from(p, headers, 6) | difference_from(p, headers, 7);
}

/* A group of values of 8 bytes; false when any is not. */
static inline bool read_group(const uint8_t *p, uint64_t *values)
{
    if (group_difference(p) != 0)
        return false;
    values[0] = datum(p, 0);
    values[1] = datum(p, 1);
    values[2] = datum(p, 2);
    values[3] = datum(p, 3);
    values[4] = datum(p, 4);
    values[5] = datum(p, 5);
    values[6] = datum(p, 6);
    values[7] = datum(p, 7);
    return true;
}

/* A group of values as they are expected; false when any is not. */
static inline bool read_expected_group(const uint8_t *p, const uint64_t *headers, const uint64_t *masks,
                                       uint64_t *values)
{
    if (group_difference_from(p, headers) != 0)
        return false;
    values[0] = datum(p, 0) & masks[0];
    values[1] = datum(p, 1) & masks[1];
    values[2] = datum(p, 2) & masks[2];
    values[3] = datum(p, 3) & masks[3];
    values[4] = datum(p, 4) & masks[4];
    values[5] = datum(p, 5) & masks[5];
    values[6] = datum(p, 6) & masks[6];
    values[7] = datum(p, 7) & masks[7];
    return true;
}

/* A value of 8 bytes or of 4, which differ in bits 2 and 3 of the header; false when it is neither. Which of both is no
 * branch: sets mix them in any order. */
static inline bool read_either(const uint8_t *p, uint64_t *value, uint8_t *size)
{
    uint64_t differs = difference(p, 0);
    uint64_t is_four = differs >> 3 & 1;
    if (differs != (REGULAR_HEADER_8 ^ REGULAR_HEADER_4) * is_four)
        return false;
    *value = datum(p, 0) & ((is_four - 1) | UINT32_MAX); /* all bits, or the lower half */
    *size = (uint8_t)(8 - 4 * is_four);
    return true;
}

/* Asks for the lines of a group before they are needed: processors do so by themselves, but begin anew at each page. */
static inline void fetch_group(const uint8_t *p)
{
#if defined(__GNUC__)
    __builtin_prefetch(p);
    __builtin_prefetch(p + 64);
#else
    (void)p;
#endif
}

/* Reads up to `count` values, all of which would lie in the window; how many there were before the first that is
 * irregular. So many bytes `ahead` of each there are others in the window. */
static inline uint32_t read_regular(const uint8_t *p, uint64_t *values, uint8_t *sizes, uint32_t count, size_t ahead)
{
    uint32_t done = 0;
    while (done < count) {
        for (; count - done >= GROUP_VALUES && read_group(p, values); done += GROUP_VALUES) {
            fetch_group(p + ahead);
            memset(sizes, 8, GROUP_VALUES);
            p += (size_t)REGULAR_VALUE_BYTES * GROUP_VALUES;
            values += GROUP_VALUES;
            sizes += GROUP_VALUES;
        }
        uint32_t some = count - done < GROUP_VALUES ? count - done : GROUP_VALUES;
        for (uint32_t i = 0; i < some; i++, done++) {
            if (!read_either(p, values++, sizes++))
                return done;
            p += REGULAR_VALUE_BYTES;
        }
    }
    return done;
}

/* Reads an instance's values, all of which would lie in the window; false when one is not as expected. */
static inline bool read_expected(const uint8_t *p, const pattern *expected, uint64_t *values, size_t ahead)
{
    uint32_t count = expected->count;
    uint32_t done = 0;
    for (; count - done >= GROUP_VALUES; done += GROUP_VALUES, p += (size_t)REGULAR_VALUE_BYTES * GROUP_VALUES) {
        if (!read_expected_group(p, expected->headers + done, expected->masks + done, values + done))
            return false;
        fetch_group(p + ahead);
    }
    for (; done < count; done++, p += REGULAR_VALUE_BYTES) {
        if (difference_from(p, expected->headers + done, 0) != 0)
            return false;
        values[done] = datum(p, 0) & expected->masks[done];
    }
    return true;
}

/* The regular ones among the next `count` values of the current instance, up to the first other. */
static inline uint32_t pass_regular(pfb_data_block *block, uint64_t *values, uint8_t *sizes, uint32_t count)
{
    size_t room = (block->instances_end - block->at) / REGULAR_VALUE_BYTES;
    uint32_t most = room < count ? (uint32_t)room : count;
    size_t ahead = room - most > AHEAD_BYTES / REGULAR_VALUE_BYTES ? AHEAD_BYTES : 0;
    uint32_t done = read_regular(block->data + block->at, values, sizes, most, ahead);
    block->at += (size_t)REGULAR_VALUE_BYTES * done;
    block->values_left -= done;
    return done;
}

/* The rest of what read_values reads: whatever is irregular has its verdict from the careful walk. */
PFB_APART static uint32_t read_others(pfb_data_block *block, uint64_t *values, uint8_t *sizes, uint32_t count)
{
    pfb_data_value value;
    uint32_t done = 0;
    while (done < count && pfb_data_block_next_value(block, &value)) {
        values[done] = value.raw;
        sizes[done] = value.is_number ? (uint8_t)value.data_size_bytes : 0;
        done++;
        done += pass_regular(block, values + done, sizes + done, count - done);
    }
    return done;
}

/* The next `count` values of the current instance, which has as many; how many came: fewer after a failure only. */
static inline uint32_t read_values(pfb_data_block *block, uint64_t *values, uint8_t *sizes, uint32_t count)
{
    uint32_t done = pass_regular(block, values, sizes, count);
    return done == count ? done : done + read_others(block, values + done, sizes + done, count - done);
}

/* ---- Tiles --------------------------------------------------------------------------------------------- */

/* All columns of a full tile, each one's values next to each other: what columns mostly are. */
static void store_full_tile(const pfb_bulk *bulk, const tile *t)
{
    size_t step = t->row_values;
    uint64_t *to = bulk->values + bulk->instance_count;
    const uint64_t *from = t->values;
    for (uint32_t column = 0; column < t->last_count; column++, from++, to += bulk->position_step) {
        for (size_t row = 0; row < TILE_ROWS; row += 4) {
            to[row] = from[row * step];
            to[row + 1] = from[(row + 1) * step];
            to[row + 2] = from[(row + 2) * step];
            to[row + 3] = from[(row + 3) * step];
        }
    }
}

/* Their sizes, which are the same in all its rows. */
static void store_full_sizes(const pfb_bulk *bulk, const tile *t)
{
    uint8_t *to = bulk->sizes + bulk->instance_count;
    for (uint32_t column = 0; column < t->last_count; column++, to += bulk->position_step)
        memset(to, t->sizes[column], TILE_ROWS);
}

/* Stores the values at one position of all rows that have it. `n` is its place among the chosen positions. */
static void store_column(const pfb_bulk *bulk, const tile *t, uint32_t column, size_t n)
{
    size_t rows = column < t->last_count ? t->rows : t->rows - 1;
    size_t at = bulk->instance_count * bulk->instance_step + n * bulk->position_step;
    for (size_t row = 0; row < rows; row++) {
        size_t to = at + row * bulk->instance_step;
        size_t from = row * t->row_values + column;
        bulk->values[to] = t->values[from];
        if (bulk->sizes)
            bulk->sizes[to] = t->sizes[from];
    }
}

static void store_columns(const pfb_bulk *bulk, const tile *t, uint32_t columns)
{
    for (uint32_t column = 0; column < columns; column++)
        store_column(bulk, t, column, (size_t)t->first + column);
}

/* Stores a tile's columns that were chosen; `next` is the first position that has not been passed, and so is what is
 * given back. Positions out of their order are passed over: they are the caller's mistake, and reach nothing. */
static uint32_t store_tile(const pfb_bulk *bulk, const tile *t, uint32_t columns, uint32_t next)
{
    if (!bulk->positions) {
        bool is_full = t->rows == TILE_ROWS && t->last_count == columns;
        if (!is_full || bulk->instance_step != 1 || (bulk->sizes && !t->is_alike)) {
            store_columns(bulk, t, columns);
            return 0;
        }
        store_full_tile(bulk, t);
        if (bulk->sizes)
            store_full_sizes(bulk, t);
        return 0;
    }
    for (; next < bulk->position_count && bulk->positions[next] < t->first + columns; next++) {
        if (bulk->positions[next] >= t->first)
            store_column(bulk, t, bulk->positions[next] - t->first, next);
    }
    return next;
}

/* ---- Instances ----------------------------------------------------------------------------------------- */

/* A named instance. */
static inline pfb_data_instance name_of(const pfb_instance_header *header, uint32_t position)
{
    return (pfb_data_instance){
        .offset = header->offset, .instance = position, .id = header->id, .has_name = true, .name = header->name};
}

/* The next instance; null: it is not wanted. */
static inline bool next_instance(pfb_data_block *block, pfb_data_instance *instance)
{
    pfb_data_instance unwanted;
    return pfb_data_block_next_instance(block, instance ? instance : &unwanted);
}

/* Where instances go that fit a tile, one `step` behind the other. */
typedef struct rows {
    uint64_t *values;
    uint8_t *sizes;               /* null: nobody wants them */
    pfb_data_instance *instances; /* likewise */
    size_t step;
    size_t count; /* how many there is room for */
} rows;

/* Reads the next instances as long as they are named and as expected, and there is room; how many. What makes one
 * different is left to others, who read that one anew. What the loop needs of the block stands in variables of its own:
 * a compiler must take it that writing a value changes the block. */
static size_t read_alike(pfb_data_block *block, const pattern *expected, const rows *to)
{
    const uint8_t *data = block->data;
    const size_t end = block->instances_end;
    const size_t step = to->step;
    const size_t most = to->count < block->instances_left ? to->count : block->instances_left;
    const size_t values_bytes = (size_t)REGULAR_VALUE_BYTES * expected->count;
    uint64_t *values = to->values;
    size_t at = block->at;
    size_t n = 0;
    for (; n < most; n++, values += step) {
        pfb_instance_header header = {.offset = 0}; /* not every compiler sees that it is read only once filled in */
        if (pfb_read_instance(data, at, end, &header).code != PFB_OK || header.size_bytes % 8 != 0)
            break;
        size_t values_at = at + header.size_bytes;
        size_t left = end - values_at;
        if (left < values_bytes)
            break;
        size_t ahead = left - values_bytes > AHEAD_BYTES ? AHEAD_BYTES : 0; /* nothing outside of the window */
        if (!read_expected(data + values_at, expected, values, ahead))
            break;
        if (to->sizes)
            memcpy(to->sizes + n * step, expected->sizes, expected->count);
        if (to->instances)
            to->instances[n] = name_of(&header, block->instances_read + (uint32_t)n);
        at = values_at + values_bytes;
    }
    block->at = at;
    block->instances_left -= (uint32_t)n;
    block->instances_read += (uint32_t)n;
    return n;
}

/* Expects from now on what an instance was that had all its values; 8 bytes where it had no number, which is what false
 * tells. */
static bool expect(pattern *expected, const uint8_t *sizes, uint32_t count)
{
    bool has_numbers_only = true;
    for (uint32_t i = 0; i < count; i++) {
        bool is_four = sizes[i] == 4;
        expected->sizes[i] = is_four ? 4 : 8;
        expected->headers[i] = is_four ? REGULAR_HEADER_4 : REGULAR_HEADER_8;
        expected->masks[i] = is_four ? UINT32_MAX : UINT64_MAX;
        has_numbers_only = has_numbers_only && sizes[i] != 0;
    }
    expected->count = count;
    return has_numbers_only;
}

/* Reads one instance, whatever it is like, to the first of the rows, and expects the same of others. `unwanted` has
 * room for its sizes. How many values came; *is_alike: they are all there, and numbers. */
static uint32_t read_first(pfb_data_block *block, const rows *to, pattern *expected, uint8_t *unwanted, bool *is_alike)
{
    uint32_t count = block->counter_count;
    uint8_t *sizes = to->sizes ? to->sizes : unwanted;
    uint32_t came = read_values(block, to->values, sizes, count);
    bool is_named = block->kind & PFB_KIND_MULTIPLE_INSTANCES;
    *is_alike = came == count && is_named && count <= PATTERN_VALUES && expect(expected, sizes, count);
    return came;
}

/* Reads up to `to.count` instances, each of which fits a tile; how many. *is_alike: they all have the same sizes. */
static size_t read_rows(pfb_data_block *block, pfb_bulk *bulk, rows to, pattern *expected, uint8_t *unwanted,
                        bool *is_alike)
{
    size_t done = 0;
    *is_alike = true;
    while (done < to.count) {
        rows left = {to.values + done * to.step, to.sizes ? to.sizes + done * to.step : NULL,
                     to.instances ? to.instances + done : NULL, to.step, to.count - done};
        bool is_known = expected->count > 0 && block->values_left == 0 && block->error.code == PFB_OK;
        size_t n = is_known ? read_alike(block, expected, &left) : 0;
        if (n > 0) {
            bulk->last_value_count = block->counter_count;
            done += n;
            continue;
        }
        if (!next_instance(block, left.instances))
            break;
        bool is_first_alike;
        bulk->last_value_count = read_first(block, &left, expected, unwanted, &is_first_alike);
        *is_alike = done == 0 && is_first_alike;
        done++;
    }
    return done;
}

/* The caller's instances from the present one on; null when they are not wanted. */
static pfb_data_instance *wanted_instances(const pfb_bulk *bulk)
{
    return bulk->instances ? bulk->instances + bulk->instance_count : NULL;
}

/* Reads as many instances as the tile holds, or are left; false when there was none. */
static bool read_columns(pfb_data_block *block, pfb_bulk *bulk, tile *t, pattern *expected)
{
    uint32_t count = block->counter_count;
    size_t room = bulk->instance_capacity - bulk->instance_count;
    size_t most = TILE_VALUES / count < TILE_ROWS ? TILE_VALUES / count : TILE_ROWS;
    rows to = {t->values, t->sizes, wanted_instances(bulk), count, room < most ? room : most};
    t->row_values = count;
    t->first = 0;
    t->rows = read_rows(block, bulk, to, expected, NULL, &t->is_alike);
    t->last_count = bulk->last_value_count; /* after a failure there is no next instance: only the last can be short */
    if (t->rows == 0)
        return false;
    store_tile(bulk, t, count, 0);
    bulk->instance_count += t->rows;
    return true;
}

/* Reads the next `count` values of the current instance, those behind `first`, to a row of the caller's. */
static uint32_t read_row(pfb_data_block *block, const pfb_bulk *bulk, tile *t, uint32_t first, uint32_t count)
{
    size_t at = bulk->instance_count * bulk->instance_step + first;
    return read_values(block, bulk->values + at, bulk->sizes ? bulk->sizes + at : t->sizes, count);
}

/* Reads one instance of any number of values, a tile of them at a time; false when there is none. */
static bool read_long_instance(pfb_data_block *block, pfb_bulk *bulk, tile *t, bool is_row)
{
    if (!next_instance(block, wanted_instances(bulk)))
        return false;
    uint32_t next = 0;
    t->row_values = TILE_VALUES;
    t->rows = 1;
    for (t->first = 0; block->values_left > 0; t->first += t->last_count) {
        uint32_t count = block->values_left < TILE_VALUES ? block->values_left : TILE_VALUES;
        if (is_row) {
            t->last_count = read_row(block, bulk, t, t->first, count);
        } else {
            t->last_count = read_values(block, t->values, t->sizes, count);
            next = store_tile(bulk, t, count, next);
        }
    }
    bulk->instance_count++;
    bulk->last_value_count = t->first;
    return true;
}

bool pfb_bulk_read(pfb_data_block *block, pfb_bulk *bulk)
{
    tile t;
    pattern expected;
    rows all = {bulk->values, bulk->sizes, bulk->instances, bulk->instance_step, bulk->instance_capacity};
    bool is_row = bulk->position_step == 1 && !bulk->positions;
    bool is_short = block->counter_count > 0 && block->counter_count <= TILE_VALUES;
    bool more = true;
    expected.count = 0;
    bulk->instance_count = 0;
    bulk->last_value_count = 0;
    if (is_row && is_short) {
        bulk->instance_count = read_rows(block, bulk, all, &expected, t.sizes, &t.is_alike);
        return bulk->instance_count > 0;
    }
    while (more && bulk->instance_count < bulk->instance_capacity)
        more = is_short ? read_columns(block, bulk, &t, &expected) : read_long_instance(block, bulk, &t, is_row);
    return bulk->instance_count > 0;
}
