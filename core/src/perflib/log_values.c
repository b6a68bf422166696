/* SPDX-License-Identifier: MIT */
/* The values of samples in perfmon logs: matching two samples, inputs of formulas, statuses. */
#include "perfblock/log.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "bytes/never.h"
#include "bytes/view.h"
#include "formula/evaluation.h"
#include "perflib/log_fields.h"

/* ---- Loading --------------------------------------------------------------------------------------------------- */

/* Compares two values of an item by the size and the bytes of their instance names. Any total order would be correct:
 * it is only used for matching. The sizes of the names were checked when they were read. If another thread changes the
 * names during sorting, the order is wrong, but no access is out of bounds. */
static int values_compare_names(const pfb_log_value *left, const pfb_log_value *right)
{
    if (left->instance.size_bytes != right->instance.size_bytes)
        return left->instance.size_bytes < right->instance.size_bytes ? -1 : 1;
    return left->instance.size_bytes > 0
               ? memcmp(left->instance.bytes, right->instance.bytes, left->instance.size_bytes)
               : 0;
}

static int values_compare(const pfb_log_value *values, uint32_t left, uint32_t right)
{
    int difference = values_compare_names(&values[left], &values[right]);
    return difference != 0 ? difference : left < right ? -1 : left > right;
}

#define SORT_CONTEXT pfb_log_value
#define SORT_COMPARE values_compare
#define SORT_PREFIX(name) log_##name
#include "bytes/sort.h"

/* Sorts the values from `begin` on, which belong to one path, and numbers those with the same name. */
static void values_sort(pfb_log_values *sample, size_t begin)
{
    size_t count = sample->count - begin;
    uint32_t *order = sample->order + begin;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)(begin + i);
    log_sort(sample->values, order, count);
    for (size_t i = 1; i < count; i++) {
        if (values_compare_names(&sample->values[order[i - 1]], &sample->values[order[i]]) == 0)
            sample->values[order[i]].occurrence = sample->values[order[i - 1]].occurrence + 1;
    }
}

static bool values_add(pfb_log_values *sample, const pfb_log_value *value)
{
    /* A value takes 24 bytes of a record or more: only a record of 96 GiB could have 2^32 values. */
    if (sample->count >= sample->capacity || PFB_NEVER(sample->count >= PFB_LOG_NONE))
        return false;
    sample->values[sample->count++] = *value;
    return true;
}

/* Adds the values of an item. Returns false if the arrays are too small. */
static bool values_add_item(pfb_log_values *sample, pfb_log_sample_reader *reader, const pfb_log_item *item)
{
    pfb_log_value value = {.offset = item->offset,
                           .path = item->position,
                           .status = item->status,
                           .older = PFB_LOG_NONE,
                           .instance = {NULL, 0, PFB_ENCODING_UTF16LE},
                           .time = item->time};
    if (item->kind == PFB_LOG_COUNTER) {
        value.first = item->first;
        value.second = item->second;
        value.multi_count = item->multi_count;
        return values_add(sample, &value);
    }
    sample->object_count += item->kind == PFB_LOG_OBJECT;
    if (item->kind != PFB_LOG_INSTANCES)
        return true;
    if (item->instance_count == 0 && !pfb_pdh_has_value(item->status))
        return values_add(sample, &value);
    pfb_log_instance instance;
    value.has_instance = true;
    while (pfb_log_next_instance(reader, &instance)) {
        value.offset = instance.offset;
        value.status = pfb_pdh_has_value(item->status) ? instance.status : item->status;
        value.instance = instance.name;
        value.first = instance.first;
        value.second = instance.second;
        if (!values_add(sample, &value))
            return false;
    }
    return true;
}

/* ---- Loading a sample like another one --------------------------------------------------------------------------- */

/* Returns true if the item is a counter, or has instances: the offsets of values say where these items are. */
static bool values_has_offsets(const pfb_log_item *item)
{
    return item->kind == PFB_LOG_COUNTER || (item->kind == PFB_LOG_INSTANCES && item->instance_count > 0);
}

static size_t values_item_offset(const pfb_log_value *first)
{
    return first->offset - (first->has_instance ? LOG_INSTANCES_HEADER_BYTES : 0);
}

/* Loads the item in the bytes from `at` to `end` as values from `begin` on. Returns false if its header or its
 * instances differ from those of the values `begin` to `begin + count` of sample->like. */
static bool values_copy_item(pfb_log_values *sample, pfb_view record, size_t at, size_t end, size_t begin, size_t count)
{
    const pfb_view before = {sample->like->record, sample->like->record_size};
    const pfb_log_value *old = &sample->like->values[begin];
    pfb_log_value *value = &sample->values[begin];
    const uint8_t *p = pfb_checked(record, at, end - at);
    const uint32_t kind = old->has_instance ? PFB_LOG_INSTANCES : PFB_LOG_COUNTER;
    if (load_le32(p) != (LOG_ITEM_SIGNATURE | kind << 24) || load_le32(p + LOG_ITEM_SIZE) != end - at)
        return false;
    if (kind == PFB_LOG_COUNTER) {
        *value = *old;
        value->older = PFB_LOG_NONE;
        value->key = 0;
        value->status = load_le32(p + LOG_COUNTER_STATUS);
        value->time = load_le64(p + LOG_COUNTER_TIME);
        value->first = load_le64(p + LOG_COUNTER_FIRST);
        value->second = load_le64(p + LOG_COUNTER_SECOND);
        value->multi_count = load_le32(p + LOG_COUNTER_MULTI_COUNT);
        return true;
    }
    const size_t names = at + LOG_INSTANCES_HEADER_BYTES + count * LOG_INSTANCE_BYTES;
    if (load_le32(p + LOG_INSTANCES_COUNT) != count ||
        memcmp(pfb_checked(record, names, end - names), pfb_checked(before, names, end - names), end - names) != 0)
        return false;
    const uint32_t status = load_le32(p + LOG_INSTANCES_STATUS);
    const uint64_t time = load_le64(p + LOG_INSTANCES_TIME);
    const uint8_t *origin = before.bytes + at + LOG_ITEM_HEADER_BYTES; /* offsets of names count from here */
    p += LOG_INSTANCES_HEADER_BYTES;
    for (size_t i = 0; i < count; i++, p += LOG_INSTANCE_BYTES, old++, value++) {
        const uint8_t *name = old->instance.bytes;
        if (load_le32(p) != (size_t)(name - origin))
            return false;
        *value = *old;
        value->older = PFB_LOG_NONE;
        value->key = 0;
        value->instance.bytes = record.bytes + (name - before.bytes);
        value->status = pfb_pdh_has_value(status) ? load_le32(p + LOG_INSTANCE_STATUS) : status;
        value->time = time;
        value->first = load_le64(p + LOG_INSTANCE_FIRST);
        value->second = load_le64(p + LOG_INSTANCE_SECOND);
    }
    return true;
}

/* Loads a record that differs from that of sample->like only in statuses, times and numbers. Returns false if it is
 * another one. What is known of the items of `like` holds for this record, too, because their headers are equal; the
 * record of `like` itself is only compared with. */
static bool values_copy(pfb_log_values *sample, pfb_view record)
{
    const pfb_log_values *like = sample->like;
    if (!like || !like->record || like->record_size != record.size || like->count > sample->capacity ||
        /* NOLINTNEXTLINE(clang-analyzer-unix.cstring.NullArg): a record of this size is not null */
        memcmp(record.bytes, like->record, LOG_ITEM_HEADER_BYTES) != 0)
        return false;
    size_t end = 0;
    for (size_t begin = 0; begin < like->count; begin = end) { /* each pass: one item */
        const pfb_log_value *first = &like->values[begin];
        for (end = begin + 1; end < like->count && like->values[end].path == first->path; end++)
            continue;
        size_t item_end = end < like->count ? values_item_offset(&like->values[end]) : record.size;
        if (!values_copy_item(sample, record, values_item_offset(first), item_end, begin, end - begin))
            return false;
    }
    if (like->count > 0)
        memcpy(sample->order, like->order, like->count * sizeof *like->order);
    sample->count = like->count;
    return true;
}

pfb_error pfb_log_load(pfb_log_values *values, const void *record, size_t size, const pfb_read_options *options)
{
    pfb_log_sample_reader reader;
    pfb_log_item item;
    bool fits = true;
    bool has_offsets = true;
    values->count = values->object_count = values->key_count = 0;
    values->is_like = values_copy(values, (pfb_view){record, record ? size : 0});
    values->record = record;
    values->record_size = size;
    if (values->is_like)
        return (pfb_error){PFB_OK, 0};
    pfb_log_open_sample(&reader, record, size, options);
    while (fits && pfb_log_next_item(&reader, &item)) {
        size_t begin = values->count;
        fits = values_add_item(values, &reader, &item);
        has_offsets = has_offsets && values_has_offsets(&item);
        values_sort(values, begin);
    }
    if (!fits || !has_offsets || reader.error.code != PFB_OK || reader.notes != 0)
        values->record = NULL;
    return fits ? reader.error : (pfb_error){PFB_CALLER_TOO_SMALL, item.offset};
}

/* ---- Inputs of formulas ---------------------------------------------------------------------------------------- */

/* The inputs that values of a type have. */
typedef struct type_inputs {
    uint32_t type;
    uint32_t frequency; /* what the frequency of a path is, as PFB_HAS_ bits: that of a clock, or nothing */
    uint32_t second;    /* what `second` of a value is: the base, a clock, or nothing */
} type_inputs;

static type_inputs values_inputs(uint32_t type)
{
    type_inputs in = {.type = type};
    pfb_counter_type row;
    if (!pfb_counter_type_resolve(type, &row))
        return in;
    bool is_time = pfb_second_is_time(&row);
    if (pfb_second_is_base(&row))
        in.second = PFB_HAS_BASE;
    if (row.clock == PFB_CLOCK_PERF) {
        in.frequency = PFB_HAS_PERF_FREQ;
        in.second |= is_time ? PFB_HAS_PERF_TIME : 0;
    } else if (row.clock == PFB_CLOCK_OBJECT) {
        in.frequency = PFB_HAS_OBJECT_FREQ;
        in.second |= is_time ? PFB_HAS_OBJECT_TIME : 0;
    } else if (row.clock == PFB_CLOCK_100NS) {
        in.second |= is_time ? PFB_HAS_PERF_TIME_100NS : 0;
    }
    return in;
}

/* Sets the inputs of a value whose status says that it has them. The other members of *raw are 0. */
static void values_fill(const type_inputs *in, uint64_t frequency, const pfb_log_value *value, pfb_raw_value *raw)
{
    int64_t time = signed_64(value->second);
    raw->type = in->type;
    raw->has = in->frequency | in->second | PFB_HAS_VALUE | (value->multi_count != 0 ? PFB_HAS_MULTI_COUNT : 0);
    raw->value = value->first;
    raw->multi_count = value->multi_count;
    raw->base = in->second & PFB_HAS_BASE ? value->second : 0;
    raw->perf_time = in->second & PFB_HAS_PERF_TIME ? time : 0;
    raw->object_time = in->second & PFB_HAS_OBJECT_TIME ? time : 0;
    raw->perf_time_100ns = in->second & PFB_HAS_PERF_TIME_100NS ? time : 0;
    raw->perf_freq = in->frequency & PFB_HAS_PERF_FREQ ? signed_64(frequency) : 0;
    raw->object_freq = in->frequency & PFB_HAS_OBJECT_FREQ ? signed_64(frequency) : 0;
}

pfb_raw_value pfb_log_raw_value(const pfb_log_path *path, const pfb_log_value *value)
{
    pfb_raw_value raw = {.type = path->type};
    if (!pfb_pdh_has_value(value->status))
        return raw;
    type_inputs in = values_inputs(path->type);
    values_fill(&in, path->frequency, value, &raw);
    return raw;
}

/* ---- Displayed values -------------------------------------------------------------------------------------------- */

/* A log has few counter types, but values of different types follow each other: their formulas are kept, and the
 * conditions of the last two values. */
typedef struct prepared_type {
    bool is_prepared;
    bool is_checked; /* `conditions` are those of two values with these clocks, of which these have multi counts: */
    bool has_older_count, has_newer_count;
    type_inputs in;
    uint64_t frequency, older_clock, newer_clock;
    pfb_formula formula;
    pfb_conditions conditions;
} prepared_type;

enum { PREPARED_TYPES = 16 }; /* a power of 2: the upper bits of a product choose one */

static prepared_type *values_prepare(prepared_type *kept, uint32_t type, const pfb_formula_options *options)
{
    prepared_type *p = &kept[type * UINT32_C(0x9E3779B1) >> 28];
    if (!p->is_prepared || p->in.type != type)
        *p = (prepared_type){
            .is_prepared = true, .in = values_inputs(type), .formula = pfb_formula_prepare(type, options)};
    return p;
}

/* Returns the clock in `second` of a value; 0 if it has none. */
static inline uint64_t values_clock(const type_inputs *in, const pfb_log_value *value)
{
    return in->second & ~(uint32_t)PFB_HAS_BASE ? value->second : 0;
}

/* Two raw values, the inputs of a formula. */
typedef struct raw_pair {
    pfb_raw_value older, newer;
} raw_pair;

/* Sets what pfb_formula_compute needs of a value. */
static inline void values_set_numbers(pfb_raw_value *raw, const pfb_log_value *value)
{
    raw->value = value->first;
    raw->base = value->second; /* not used by formulas without a base */
    raw->multi_count = value->multi_count;
}

/* Computes a value from the older one, which has a value, and the newer one. Most values of a type have the clocks of
 * the value before, and need no check. */
static void values_compute_pair(prepared_type *p, raw_pair *raw, uint64_t frequency, const pfb_log_value *older,
                                const pfb_log_value *newer, pfb_formula_result *result)
{
    uint64_t older_clock = values_clock(&p->in, older);
    uint64_t newer_clock = values_clock(&p->in, newer);
    bool has_older_count = older->multi_count != 0;
    bool has_newer_count = newer->multi_count != 0;
    if (p->is_checked && p->frequency == frequency && p->older_clock == older_clock && p->newer_clock == newer_clock &&
        p->has_older_count == has_older_count && p->has_newer_count == has_newer_count) {
        values_set_numbers(&raw->older, older);
        values_set_numbers(&raw->newer, newer);
    } else {
        values_fill(&p->in, frequency, older, &raw->older);
        values_fill(&p->in, frequency, newer, &raw->newer);
        pfb_formula_check(&p->formula, &raw->older, &raw->newer, &p->conditions);
        p->is_checked = true;
        p->has_older_count = has_older_count;
        p->has_newer_count = has_newer_count;
        p->frequency = frequency;
        p->older_clock = older_clock;
        p->newer_clock = newer_clock;
    }
    pfb_formula_compute(&p->formula, &p->conditions, &raw->older, &raw->newer, result);
}

void pfb_log_cook(const pfb_log_path *paths, size_t path_count, const pfb_log_values *older,
                  const pfb_log_values *newer, const pfb_formula_options *options, double *values,
                  uint8_t *status_bytes)
{
    prepared_type kept[PREPARED_TYPES] = {{.is_prepared = false}};
    raw_pair raw = {{.has = 0}, {.has = 0}};
    const pfb_log_value *list = newer->values;
    const pfb_log_value *older_list = older ? older->values : NULL;
    const size_t older_count = older ? older->count : 0;
    for (size_t i = 0, count = newer->count; i < count; i++) {
        const pfb_log_value *value = &list[i];
        pfb_formula_result result = {.status = PFB_STATUS_NO_DATA};
        if (value->path < path_count && pfb_pdh_has_value(value->status)) {
            const pfb_log_path *path = &paths[value->path];
            prepared_type *type = values_prepare(kept, path->type, options);
            const pfb_log_value *earlier = value->older < older_count ? &older_list[value->older] : NULL;
            if (earlier && pfb_pdh_has_value(earlier->status)) {
                values_compute_pair(type, &raw, path->frequency, earlier, value, &result);
            } else {
                pfb_conditions conditions;
                values_fill(&type->in, path->frequency, value, &raw.newer);
                pfb_formula_check(&type->formula, NULL, &raw.newer, &conditions);
                pfb_formula_compute(&type->formula, &conditions, NULL, &raw.newer, &result);
            }
        }
        values[i] = result.value;
        status_bytes[i] = pfb_formula_pack(&result);
    }
}

/* ---- Local time ----------------------------------------------------------------------------------------------------
 */

bool pfb_log_bias_between(uint64_t utc, uint64_t local, int32_t *minutes)
{
    const uint64_t quarter = UINT64_C(9000000000); /* 15 minutes */
    uint64_t distance = utc > local ? utc - local : local - utc;
    if (distance > 60 * quarter) /* 15 hours, more than any time zone has */
        return false;
    /* Rounds to the nearest quarter of an hour, in at most 60 iterations: a 64-bit division would call a library
     * function on 32-bit targets. */
    int32_t quarters = 0;
    for (uint64_t at = quarter / 2; at <= distance; at += quarter)
        quarters++;
    *minutes = 15 * (utc > local ? quarters : -quarters);
    return true;
}

bool pfb_log_utc_bias(const pfb_log_path *path, const pfb_log_value *value, int32_t *minutes)
{
    pfb_counter_type row;
    return pfb_pdh_has_value(value->status) && pfb_counter_type_resolve(path->type, &row) &&
           row.clock == PFB_CLOCK_100NS && pfb_second_is_time(&row) &&
           pfb_log_bias_between(value->second, value->time, minutes);
}

/* ---- Statuses -------------------------------------------------------------------------------------------------- */

typedef struct pdh_status_row {
    uint32_t status;
    char name[24];
} pdh_status_row;

/* The statuses of pdhmsg.h that a value of a counter can have. */
static const pdh_status_row pdh_status_rows[] = {
    {0x00000000, "valid_data"},
    {0x00000001, "new_data"},
    {0x800007D0, "no_machine"},
    {0x800007D1, "no_instance"},
    {0x800007D3, "item_not_validated"},
    {0x800007D4, "retry"},
    {0x800007D5, "no_data"},
    {0x800007D6, "negative_denominator"},
    {0x800007D7, "negative_timebase"},
    {0x800007D8, "negative_value"},
    {0x800007DB, "query_timeout"},
    {0xC0000BB8, "no_object"},
    {0xC0000BB9, "no_counter"},
    {0xC0000BBA, "invalid_data"},
    {0xC0000BBF, "no_counter_name"},
    {0xC0000BC0, "bad_counter_name"},
    {0xC0000BC3, "cannot_connect"},
    {0xC0000BDB, "access_denied"},
};

bool pfb_pdh_has_value(uint32_t status)
{
    return status <= 1;
}

const char *pfb_pdh_status_name(uint32_t status)
{
    for (size_t i = 0; i < sizeof pdh_status_rows / sizeof pdh_status_rows[0]; i++) {
        if (pdh_status_rows[i].status == status)
            return pdh_status_rows[i].name;
    }
    return "unknown_status";
}
