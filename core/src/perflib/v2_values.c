/* SPDX-License-Identifier: MIT */
#include "perfblock/v2_values.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "perflib/v2_regular.h"

/* Values are judged in groups: one verdict for the headers of several, then their data are taken. Instances that are
 * alike are judged thirty-two at a time; then their data are taken row by row or column by column, in either case next
 * to each other. Any other instance is read by itself, a part of so many values at a time. */
enum { GROUP_VALUES = 8, BATCH_ROWS = 32, PART_VALUES = 256, AHEAD_BYTES = 4096 /* a page */ };

/* Instances of a result are alike: what the values of one were those of the next are expected to be. */
enum { PATTERN_VALUES = 128 };

typedef struct expected_value {
    uint64_t header;
    uint64_t mask; /* of the datum */
} expected_value;

typedef struct pattern {
    uint32_t count; /* of an instance's values; 0: nothing is expected */
    uint8_t sizes[PATTERN_VALUES];
    expected_value values[PATTERN_VALUES];
} pattern;

/* Consecutive values of one instance. */
typedef struct part {
    uint32_t first, count;
    bool has_numbers_only;
    uint64_t values[PART_VALUES];
    uint8_t sizes[PART_VALUES];
} part;

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

/* How a group's headers differ from those of 8 bytes; 0: not at all. Written out, as is all that is done for several
 * values: not every compiler unrolls a loop of eight, and what it takes to go around is half of what a value takes. */
static inline uint64_t group_difference(const uint8_t *p)
{
    uint64_t wrong = difference(p, 0) | difference(p, 1) | difference(p, 2) | difference(p, 3);
    return wrong | difference(p, 4) | difference(p, 5) | difference(p, 6) | difference(p, 7);
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

/* The regular ones among the next `count` values of the current instance, up to the first other. */
static inline uint32_t pass_regular(pfb_v2_reader *block, uint64_t *values, uint8_t *sizes, uint32_t count)
{
    size_t room = (block->instances_end - block->at) / REGULAR_VALUE_BYTES;
    uint32_t most = room < count ? (uint32_t)room : count;
    size_t ahead = room - most > AHEAD_BYTES / REGULAR_VALUE_BYTES ? AHEAD_BYTES : 0;
    uint32_t done = read_regular(block->data + block->at, values, sizes, most, ahead);
    block->at += (size_t)REGULAR_VALUE_BYTES * done;
    block->value_position += done;
    return done;
}

/* The rest of what read_part reads: whatever is irregular has its verdict from the careful walk. */
PFB_NOINLINE static void read_others(pfb_v2_reader *block, part *p, uint32_t count)
{
    pfb_v2_value value;
    while (p->count < count && pfb_v2_next_value(block, &value)) {
        p->values[p->count] = value.raw;
        p->sizes[p->count] = value.is_number ? (uint8_t)value.data_size_bytes : 0;
        p->has_numbers_only = p->has_numbers_only && value.is_number;
        p->count++;
        p->count += pass_regular(block, p->values + p->count, p->sizes + p->count, count - p->count);
    }
}

/* The next `count` values of the current instance, which has as many; fewer come after a failure only. */
static void read_part(pfb_v2_reader *block, part *p, uint32_t count)
{
    p->has_numbers_only = true;
    p->count = pass_regular(block, p->values, p->sizes, count);
    if (p->count < count)
        read_others(block, p, count);
}

/* ---- Instances one by one ------------------------------------------------------------------------------ */

/* The caller's instances from the present one on; null when they are not wanted. */
static pfb_v2_instance *wanted_instances(const pfb_v2_values *bulk)
{
    return bulk->instances ? bulk->instances + bulk->instance_count : NULL;
}

/* The next instance; null: it is not wanted. */
static bool next_instance(pfb_v2_reader *block, pfb_v2_instance *instance)
{
    pfb_v2_instance unwanted;
    return pfb_v2_next_instance(block, instance ? instance : &unwanted);
}

static void store_value(const pfb_v2_values *bulk, const part *p, uint32_t i, size_t n)
{
    size_t to = bulk->instance_count * bulk->instance_step + n * bulk->position_step;
    bulk->values[to] = p->values[i];
    if (bulk->sizes)
        bulk->sizes[to] = p->sizes[i];
}

/* Stores the chosen ones among the values of a part; `next` is the first position that has not been passed, and so is
 * what is given back. Positions out of their order are passed over: they are the caller's mistake, and reach nothing.
 */
static uint32_t store_part(const pfb_v2_values *bulk, const part *p, uint32_t next)
{
    for (uint32_t i = 0; !bulk->positions && i < p->count; i++)
        store_value(bulk, p, i, (size_t)p->first + i);
    for (; bulk->positions && next < bulk->position_count; next++) {
        uint32_t position = bulk->positions[next];
        if (position >= p->first && position - p->first >= p->count)
            break;
        if (position >= p->first)
            store_value(bulk, p, position - p->first, next);
    }
    return next;
}

/* Expects from now on what an instance was that had nothing but numbers. */
static void expect(pattern *expected, const uint8_t *sizes, uint32_t count)
{
    expected->count = count;
    memcpy(expected->sizes, sizes, count);
    for (uint32_t i = 0; i < count; i++) {
        bool is_four = sizes[i] == 4;
        expected->values[i].header = is_four ? REGULAR_HEADER_4 : REGULAR_HEADER_8;
        expected->values[i].mask = is_four ? UINT32_MAX : UINT64_MAX;
    }
}

/* Reads the next instance, whatever it is like, a part of its values at a time; false when there is none. */
static bool read_one(pfb_v2_reader *block, pfb_v2_values *bulk, pattern *expected)
{
    part p;
    uint32_t next = 0;
    expected->count = 0;
    if (!next_instance(block, wanted_instances(bulk)))
        return false;
    for (p.first = 0; pfb_values_left(block) > 0; p.first += p.count) {
        uint32_t count = pfb_values_left(block) < PART_VALUES ? pfb_values_left(block) : PART_VALUES;
        read_part(block, &p, count);
        bulk->has_others = bulk->has_others || !p.has_numbers_only;
        next = store_part(bulk, &p, next);
    }
    bulk->instance_count++;
    bulk->last_value_count = p.first;
    bool is_named = block->kind & PFB_V2_MULTIPLE_INSTANCES;
    bool is_whole = p.first == block->counter_count && p.first <= PATTERN_VALUES;
    if (is_named && is_whole && p.first > 0 && p.has_numbers_only)
        expect(expected, p.sizes, p.first);
    return true;
}

/* ---- Instances that are alike -------------------------------------------------------------------------- */

enum { GROUP_BYTES = GROUP_VALUES * REGULAR_VALUE_BYTES };

/* How the n-th header differs from the one expected. */
static inline uint64_t difference_from(const uint8_t *p, const expected_value *e, size_t n)
{
    return load_le64(p + REGULAR_VALUE_BYTES * n) ^ e[n].header;
}

static inline uint64_t group_difference_from(const uint8_t *p, const expected_value *e)
{
    uint64_t wrong = difference_from(p, e, 0) | difference_from(p, e, 1) | difference_from(p, e, 2);
    wrong |= difference_from(p, e, 3) | difference_from(p, e, 4) | difference_from(p, e, 5);
    return wrong | difference_from(p, e, 6) | difference_from(p, e, 7);
}

static inline void take_group(const uint8_t *p, const expected_value *e, uint64_t *to)
{
    to[0] = datum(p, 0) & e[0].mask;
    to[1] = datum(p, 1) & e[1].mask;
    to[2] = datum(p, 2) & e[2].mask;
    to[3] = datum(p, 3) & e[3].mask;
    to[4] = datum(p, 4) & e[4].mask;
    to[5] = datum(p, 5) & e[5].mask;
    to[6] = datum(p, 6) & e[6].mask;
    to[7] = datum(p, 7) & e[7].mask;
}

/* Reads an instance's values, all of which lie in the window; false when one is not as expected. So many bytes `ahead`
 * of each there are others in the window. */
static inline bool take_row(const uint8_t *p, const pattern *expected, size_t ahead, uint64_t *to)
{
    const expected_value *e = expected->values;
    uint32_t left = expected->count;
    for (; left >= GROUP_VALUES; left -= GROUP_VALUES) {
        if (group_difference_from(p, e) != 0)
            return false;
        take_group(p, e, to);
        fetch_group(p + ahead);
        p += GROUP_BYTES;
        e += GROUP_VALUES;
        to += GROUP_VALUES;
    }
    for (; left > 0; left--, e++, p += REGULAR_VALUE_BYTES) {
        if (load_le64(p) != e->header)
            return false;
        *to++ = datum(p, 0) & e->mask;
    }
    return true;
}

/* The same without reading more than the headers. */
static inline bool is_expected(const uint8_t *p, const pattern *expected, size_t ahead)
{
    const expected_value *e = expected->values;
    uint32_t left = expected->count;
    uint64_t wrong = 0;
    for (; left >= GROUP_VALUES; left -= GROUP_VALUES, e += GROUP_VALUES, p += GROUP_BYTES) {
        wrong |= group_difference_from(p, e);
        fetch_group(p + ahead);
    }
    if (left > 0 && expected->count >= GROUP_VALUES) { /* some of the last eight were compared before */
        uint32_t back = GROUP_VALUES - left;
        wrong |= group_difference_from(p - (size_t)REGULAR_VALUE_BYTES * back, e - back);
        left = 0;
    }
    for (; left > 0; left--, e++, p += REGULAR_VALUE_BYTES)
        wrong |= load_le64(p) ^ e->header;
    return wrong == 0;
}

/* The size of a named instance's header, with its name, as nearly all have it: a multiple of 8, with a NUL inside,
 * which mostly is the last unit too. 0: it is of another form, or broken. */
static inline size_t regular_header(const uint8_t *p, size_t left)
{
    if (left < INSTANCE_HEADER_BYTES)
        return 0;
    uint32_t size = load_le32(p);
    if (size < 2 * INSTANCE_HEADER_BYTES || size > left || size % 8 != 0)
        return 0;
    size_t most = (size - INSTANCE_HEADER_BYTES) / 2;
    bool has_end = load_le16(p + size - 2) == 0 || pfb_count_units(p + INSTANCE_HEADER_BYTES, most) < most;
    return has_end ? size : 0;
}

/* The instance with such a header. */
static inline pfb_v2_instance name_of(const uint8_t *data, size_t at, size_t size, uint32_t position)
{
    size_t most = (size - INSTANCE_HEADER_BYTES) / 2;
    size_t name = at + INSTANCE_HEADER_BYTES;
    return (pfb_v2_instance){.offset = at,
                             .instance = position,
                             .id = load_le32(data + at + 4),
                             .has_name = true,
                             .name = {.offset = name, .units = pfb_count_units(data + name, most)}};
}

/* Finds the next instances, as many as there is room for, are named and as expected. Their values go to `rows`, one
 * `step` behind the other; where that is null, `alike` tells where they stand. What makes one different is left to
 * others, who read that one anew. What the loop needs of the block stands in variables of its own: a compiler must take
 * it that writing an instance changes the block. */
static inline size_t find_alike(pfb_v2_reader *block, const pattern *expected, size_t room, pfb_v2_instance *instances,
                                uint64_t *rows, size_t step, const uint8_t **alike)
{
    const uint8_t *data = block->data;
    const size_t end = block->instances_end;
    const size_t values_bytes = (size_t)REGULAR_VALUE_BYTES * expected->count;
    const size_t most = room < block->instances_left ? room : block->instances_left;
    size_t at = block->at;
    size_t n = 0;
    for (; n < most; n++) {
        size_t header_bytes = regular_header(data + at, end - at);
        size_t left = end - at - header_bytes;
        if (header_bytes == 0 || left < values_bytes)
            break;
        const uint8_t *values = data + at + header_bytes;
        size_t ahead = left - values_bytes > AHEAD_BYTES ? AHEAD_BYTES : 0; /* nothing outside of the window */
        if (rows ? !take_row(values, expected, ahead, rows + n * step) : !is_expected(values, expected, ahead))
            break;
        if (!rows)
            alike[n] = values;
        if (instances)
            instances[n] = name_of(data, at, header_bytes, block->instances_read + (uint32_t)n);
        at += header_bytes + values_bytes;
    }
    block->at = at;
    block->instances_left -= (uint32_t)n;
    block->instances_read += (uint32_t)n;
    return n;
}

/* Reads the next instances that are alike as rows; how many. */
static size_t take_rows(pfb_v2_reader *block, const pfb_v2_values *bulk, const pattern *expected)
{
    size_t room = bulk->instance_capacity - bulk->instance_count;
    size_t at = bulk->instance_count * bulk->instance_step;
    size_t count =
        find_alike(block, expected, room, wanted_instances(bulk), bulk->values + at, bulk->instance_step, NULL);
    for (size_t row = 0; bulk->sizes && row < count; row++)
        memcpy(bulk->sizes + at + row * bulk->instance_step, expected->sizes, expected->count);
    return count;
}

/* The values of each of some instances that are alike. */
typedef struct batch {
    size_t count;
    const uint8_t *values[BATCH_ROWS];
} batch;

/* The same as datum(), of known size: then a mask is no work. */
static inline uint64_t sized_datum(const uint8_t *p, size_t n, uint32_t size)
{
    return size == 4 ? load_le32(p + REGULAR_VALUE_BYTES * n + VALUE_HEADER_BYTES) : datum(p, n);
}

/* The data at one position of eight. */
static inline void take_eight(const uint8_t *const *rows, size_t position, uint32_t size, uint64_t *to)
{
    to[0] = sized_datum(rows[0], position, size);
    to[1] = sized_datum(rows[1], position, size);
    to[2] = sized_datum(rows[2], position, size);
    to[3] = sized_datum(rows[3], position, size);
    to[4] = sized_datum(rows[4], position, size);
    to[5] = sized_datum(rows[5], position, size);
    to[6] = sized_datum(rows[6], position, size);
    to[7] = sized_datum(rows[7], position, size);
}

/* The data at one position of `count` rows, next to each other. */
static inline void take_close_column(const uint8_t *const *rows, size_t count, size_t position, uint32_t size,
                                     uint64_t *to)
{
    for (; count >= 8; count -= 8, rows += 8, to += 8)
        take_eight(rows, position, size, to);
    for (; count > 0; count--)
        *to++ = sized_datum(*rows++, position, size);
}

/* All columns, each one's values next to each other: what columns mostly are. */
static void take_close_columns(const pfb_v2_values *bulk, const batch *alike, const pattern *expected)
{
    size_t count = alike->count;
    size_t at = bulk->instance_count; /* not a pointer: behind the last column it may leave the arrays */
    for (uint32_t position = 0; position < expected->count; position++, at += bulk->position_step) {
        if (expected->sizes[position] == 4)
            take_close_column(alike->values, count, position, 4, bulk->values + at);
        else
            take_close_column(alike->values, count, position, 8, bulk->values + at);
    }
    at = bulk->instance_count;
    for (uint32_t position = 0; bulk->sizes && position < expected->count; position++, at += bulk->position_step)
        memset(bulk->sizes + at, expected->sizes[position], count);
}

/* The data at one position of a batch; `n` is its place among the chosen positions. */
static void take_column(const pfb_v2_values *bulk, const batch *alike, const pattern *expected, uint32_t position,
                        size_t n)
{
    size_t at = bulk->instance_count * bulk->instance_step + n * bulk->position_step;
    uint64_t mask = expected->values[position].mask;
    for (size_t row = 0; row < alike->count; row++, at += bulk->instance_step) {
        bulk->values[at] = datum(alike->values[row], position) & mask;
        if (bulk->sizes)
            bulk->sizes[at] = expected->sizes[position];
    }
}

/* Reads the next instances that are alike, a batch at most, column by column; how many. */
static size_t take_columns(pfb_v2_reader *block, const pfb_v2_values *bulk, const pattern *expected)
{
    batch alike;
    size_t left = bulk->instance_capacity - bulk->instance_count;
    size_t room = left < BATCH_ROWS ? left : BATCH_ROWS;
    alike.count = find_alike(block, expected, room, wanted_instances(bulk), NULL, 0, alike.values);
    if (bulk->instance_step == 1 && !bulk->positions) {
        take_close_columns(bulk, &alike, expected);
        return alike.count;
    }
    uint32_t count = bulk->positions ? bulk->position_count : expected->count;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t position = bulk->positions ? bulk->positions[n] : n;
        if (position >= expected->count) /* as in store_part */
            break;
        take_column(bulk, &alike, expected, position, n);
    }
    return alike.count;
}

/* ---- All ----------------------------------------------------------------------------------------------- */

bool pfb_v2_read_values(pfb_v2_reader *block, pfb_v2_values *bulk)
{
    pattern expected;
    bool is_row = bulk->position_step == 1 && !bulk->positions;
    expected.count = 0;
    bulk->instance_count = 0;
    bulk->last_value_count = 0;
    bulk->has_others = false;
    while (bulk->instance_count < bulk->instance_capacity) {
        size_t count = expected.count == 0 ? 0 /* else the instance before was read whole, and without a failure */
                       : is_row            ? take_rows(block, bulk, &expected)
                                           : take_columns(block, bulk, &expected);
        bulk->instance_count += count; /* last_value_count stays: they have as many as the one before */
        if (count == 0 && !read_one(block, bulk, &expected))
            break;
    }
    return bulk->instance_count > 0;
}
