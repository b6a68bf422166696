/* SPDX-License-Identifier: MIT */
#include "pdh/values.h"

#include "perfblock/log.h"

#include <stddef.h>
#include <string.h>

/* The type of a displayed value in a text log. */
#define PERF_DOUBLE_RAW UINT32_C(0x00012000)

/* The A and W structures have the same layout. */
_Static_assert(sizeof(PDH_RAW_COUNTER) == 40 && offsetof(PDH_RAW_COUNTER, TimeStamp) == 4 &&
                   offsetof(PDH_RAW_COUNTER, FirstValue) == 16 && offsetof(PDH_RAW_COUNTER, MultiCount) == 32,
               "PDH_RAW_COUNTER");
_Static_assert(sizeof(PDH_RAW_COUNTER_ITEM_W) == 48 && offsetof(PDH_RAW_COUNTER_ITEM_W, RawValue) == 8,
               "PDH_RAW_COUNTER_ITEM");
_Static_assert(sizeof(PDH_FMT_COUNTERVALUE) == 16 && offsetof(PDH_FMT_COUNTERVALUE, doubleValue) == 8,
               "PDH_FMT_COUNTERVALUE");
_Static_assert(sizeof(PDH_FMT_COUNTERVALUE_ITEM_W) == 24 && offsetof(PDH_FMT_COUNTERVALUE_ITEM_W, FmtValue) == 8,
               "PDH_FMT_COUNTERVALUE_ITEM");
_Static_assert(sizeof(PDH_STATISTICS) == 56 && offsetof(PDH_STATISTICS, max) == 24, "PDH_STATISTICS");
_Static_assert(sizeof(PDH_TIME_INFO) == 24, "PDH_TIME_INFO");
_Static_assert(sizeof(PDH_COUNTER_PATH_ELEMENTS_W) == (sizeof(void *) == 8 ? 48 : 24), "PDH_COUNTER_PATH_ELEMENTS");
_Static_assert(sizeof(PDH_COUNTER_INFO_W) == (sizeof(void *) == 8 ? 112 : 72) &&
                   offsetof(PDH_COUNTER_INFO_W, szExplainText) == (sizeof(void *) == 8 ? 96 : 64) &&
                   offsetof(PDH_COUNTER_INFO_W, szFullPath) == (sizeof(void *) == 8 ? 40 : 32),
               "PDH_COUNTER_INFO");
_Static_assert(sizeof(PDH_BROWSE_DLG_CONFIG_A) == (sizeof(void *) == 8 ? 72 : 40) &&
                   sizeof(PDH_BROWSE_DLG_CONFIG_HW) == sizeof(PDH_BROWSE_DLG_CONFIG_A) &&
                   offsetof(PDH_BROWSE_DLG_CONFIG_W, szReturnPathBuffer) == (sizeof(void *) == 8 ? 24 : 12) &&
                   offsetof(PDH_BROWSE_DLG_CONFIG_HA, szDialogBoxCaption) == (sizeof(void *) == 8 ? 64 : 36),
               "PDH_BROWSE_DLG_CONFIG");
_Static_assert(sizeof(PDH_RAW_LOG_RECORD) == 16 && offsetof(PDH_RAW_LOG_RECORD, RawBytes) == 12, "PDH_RAW_LOG_RECORD");

/* ---- Types ---------------------------------------------------------------------------------------------- */

static uint32_t type_of(const pdh_counter *c)
{
    return c->entry->has_type ? c->entry->type : c->catalog->is_text ? PERF_DOUBLE_RAW : 0;
}

/* Finds the formula of a type; unnamed types are derived from their bits. */
static bool find_row(uint32_t type, pfb_counter_type *row)
{
    const pfb_counter_type *known = pfb_counter_type_find(type);
    if (known)
        *row = *known;
    return known || pfb_counter_type_derive(type, row);
}

static bool is_raw_count(uint32_t type)
{
    pfb_counter_type row;
    return find_row(type, &row) && row.terms == PFB_TERM_RAW && row.denominator == PFB_DENOMINATOR_ONE;
}

static bool needs_two(uint32_t type)
{
    pfb_counter_type row;
    return find_row(type, &row) && row.samples == 2;
}

/* ---- Formatting ----------------------------------------------------------------------------------------- */

static bool is_valid_format(DWORD format)
{
    DWORD kind = format & (PDH_FMT_LONG | PDH_FMT_DOUBLE | PDH_FMT_LARGE);
    return kind == PDH_FMT_LONG || kind == PDH_FMT_DOUBLE || kind == PDH_FMT_LARGE;
}

/* Stores that there is no value. Returns `code`. */
static uint32_t no_value(PDH_FMT_COUNTERVALUE *value, uint32_t code, uint32_t status)
{
    *value = (PDH_FMT_COUNTERVALUE){.CStatus = status};
    value->largeValue = 0;
    return code;
}

/* The code of a formula without a value. */
static uint32_t code_of(pfb_status status, const pfb_raw_value *newer)
{
    bool is_large = newer->value_size != 0 ? newer->value_size == 8 : (newer->type & PFB_TYPE_SIZE_MASK) == 0x100;
    switch (status) {
    case PFB_STATUS_NEGATIVE_DENOMINATOR:
        return PDH_CALC_NEGATIVE_DENOMINATOR;
    case PFB_STATUS_NEGATIVE_DELTA:
        return is_large ? PDH_CALC_NEGATIVE_VALUE : PDH_INVALID_DATA;
    case PFB_STATUS_BAD_FREQUENCY:
        return PDH_CALC_NEGATIVE_TIMEBASE;
    default:
        return PDH_INVALID_DATA;
    }
}

/* Stores a number in the format that is asked for, truncated toward zero. `integer`: the number, if it is a raw count
 * without a scale, which a double may round. `is_count`: it is a raw count. */
static uint32_t convert(double number, const uint64_t *integer, bool is_count, DWORD format,
                        PDH_FMT_COUNTERVALUE *value)
{
    const double large_limit = 9223372036854775808.0; /* 2^63 */
    bool has_thousand = (format & PDH_FMT_1000) != 0;
    *value = (PDH_FMT_COUNTERVALUE){.CStatus = PDH_CSTATUS_VALID_DATA};
    value->largeValue = 0;
    number = has_thousand ? number * 1000 : number;
    if (format & PDH_FMT_DOUBLE) {
        value->doubleValue = number;
        return PDH_CSTATUS_VALID_DATA;
    }
    int64_t large = 0;
    if (integer && (!has_thousand || *integer <= UINT64_MAX / 1000))
        large = (int64_t)(*integer * (has_thousand ? 1000 : 1)); /* the bits */
    else if (number > -large_limit && number < large_limit)
        large = (int64_t)number;
    else
        return no_value(value, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    if (format & PDH_FMT_LARGE)
        value->largeValue = large;
    else if (is_count || (large >= INT32_MIN && large <= INT32_MAX))
        value->longValue = (LONG)(uint32_t)(uint64_t)large; /* of raw counts the low 32 bits */
    else
        return no_value(value, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    return PDH_CSTATUS_VALID_DATA;
}

/* Evaluates the formula. `older` has no inputs if there is no previous sample. */
static uint32_t format_inputs(const pfb_raw_value *older, const pfb_raw_value *newer, DWORD format, LONG scale,
                              PDH_FMT_COUNTERVALUE *value)
{
    bool has_scale = scale != 0 && !(format & PDH_FMT_NOSCALE);
    const pfb_formula_options options = {.generic = true,
                                         .pdh_order = true,
                                         .cap_100 = !(format & PDH_FMT_NOCAP100),
                                         .scale = has_scale ? (int8_t)scale : 0};
    pfb_formula_result result = pfb_formula_evaluate(older->has ? older : NULL, newer, &options);
    if (result.status == PFB_STATUS_ZERO_DENOMINATOR) /* no time or no operation between the samples: 0 */
        return convert(0, NULL, false, format, value);
    if (result.status != PFB_STATUS_OK)
        return no_value(value, code_of(result.status, newer), PDH_CSTATUS_INVALID_DATA);
    bool is_count = is_raw_count(newer->type);
    bool is_exact = is_count && !has_scale && result.is_integer;
    return convert(result.value, is_exact ? &result.integer : NULL, is_count, format, value);
}

/* The number of a text log, with the scale. */
static uint32_t format_text(uint64_t bits, DWORD format, LONG scale, PDH_FMT_COUNTERVALUE *value)
{
    static const double powers[] = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    double number;
    memcpy(&number, &bits, sizeof number);
    if (scale != 0 && !(format & PDH_FMT_NOSCALE))
        number *= powers[scale - PDH_MIN_SCALE];
    return convert(number, NULL, false, format, value);
}

static uint32_t format_item(const pdh_item *item, DWORD format, LONG scale, PDH_FMT_COUNTERVALUE *value)
{
    if (item->status != PDH_CSTATUS_VALID_DATA)
        return no_value(value, PDH_INVALID_DATA, item->status);
    if (item->is_text)
        return format_text(item->inputs[1].value, format, scale, value);
    if (!item->has_type)
        return no_value(value, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    return format_inputs(&item->inputs[0], &item->inputs[1], format, scale, value);
}

static PDH_RAW_COUNTER raw_of(const pdh_query *query, const pdh_item *item)
{
    uint64_t time = query->sample_time > 0 ? (uint64_t)query->sample_time : 0;
    pfb_pdh_raw pdh = {.status = item->status, .multi_count = 1};
    if (item->is_text)
        pdh.first = item->inputs[1].value;
    else if (item->status == PDH_CSTATUS_VALID_DATA)
        pdh = pfb_formula_pdh_raw(&item->inputs[1]);
    PDH_RAW_COUNTER raw = {.CStatus = pdh.status,
                           .TimeStamp = {(DWORD)time, (DWORD)(time >> 32)},
                           .FirstValue = (LONGLONG)pdh.first,
                           .SecondValue = (LONGLONG)pdh.second,
                           .MultiCount = pdh.multi_count};
    return raw;
}

/* ---- Single values -------------------------------------------------------------------------------------- */

uint32_t pfb_pdh_formatted_value(HANDLE handle, DWORD format, DWORD *type, PDH_FMT_COUNTERVALUE *value)
{
    pdh_counter *c;
    if (!value)
        return PDH_INVALID_ARGUMENT;
    pdh_query *query = pfb_pdh_lock_counter(handle, &c);
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    if (!query)
        return PDH_INVALID_HANDLE;
    if (type)
        *type = type_of(c);
    if (!is_valid_format(format))
        code = PDH_INVALID_ARGUMENT;
    else if (c->collected == 0)
        code = no_value(value, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    else if (c->item_count == 0)
        code = no_value(value, PDH_INVALID_DATA, c->status);
    else
        code = format_item(&c->items[0], format, c->scale, value);
    pfb_pdh_unlock(query);
    return code;
}

uint32_t pfb_pdh_raw_value(HANDLE handle, DWORD *type, PDH_RAW_COUNTER *value)
{
    pdh_counter *c;
    if (!value)
        return PDH_INVALID_ARGUMENT;
    pdh_query *query = pfb_pdh_lock_counter(handle, &c);
    if (!query)
        return PDH_INVALID_HANDLE;
    if (type)
        *type = type_of(c);
    const pdh_item missing = {.status = c->status};
    PDH_RAW_COUNTER none = {.CStatus = PDH_CSTATUS_VALID_DATA};
    if (c->item_count > 0)
        *value = raw_of(query, &c->items[0]);
    else if (c->collected > 0)
        *value = raw_of(query, &missing);
    else
        *value = none;
    pfb_pdh_unlock(query);
    return PDH_CSTATUS_VALID_DATA;
}

/* ---- Arrays --------------------------------------------------------------------------------------------- */

/* Stores an item at the offset `at` of the buffer, with the address of its name. */
static void put_item(const pdh_query *query, const pdh_counter *c, const pdh_item *item, const DWORD *format,
                     uint8_t *buffer, size_t at, size_t name_at)
{
    char *name = (char *)(buffer + name_at);
    if (format) {
        PDH_FMT_COUNTERVALUE_ITEM_A entry = {.szName = name};
        format_item(item, *format, c->scale, &entry.FmtValue);
        memcpy(buffer + at, &entry, sizeof entry);
    } else {
        PDH_RAW_COUNTER_ITEM_A entry = {.szName = name, .RawValue = raw_of(query, item)};
        memcpy(buffer + at, &entry, sizeof entry);
    }
}

/* Stores all items and their names. `format` null: raw values. */
static uint32_t put_array(const pdh_query *query, const pdh_counter *c, const DWORD *format, DWORD *size, DWORD *count,
                          uint8_t *out, bool is_wide)
{
    size_t unit = is_wide ? 2 : 1;
    size_t item_bytes = format ? sizeof(PDH_FMT_COUNTERVALUE_ITEM_A) : sizeof(PDH_RAW_COUNTER_ITEM_A);
    size_t needed = c->item_count * item_bytes;
    pdh_writer measured = {.is_wide = is_wide};
    for (size_t i = 0; i < c->item_count; i++) {
        pfb_pdh_put(&measured, c->items[i].name);
        pfb_pdh_put_nul(&measured);
    }
    size_t names_at = needed;
    needed += measured.used * unit;
    *count = (DWORD)c->item_count;
    uint32_t code = pfb_pdh_finish_size(needed, out, size);
    if (code != PDH_CSTATUS_VALID_DATA)
        return code;
    pdh_writer w = {.out = out + names_at, .capacity = measured.used, .is_wide = is_wide};
    for (size_t i = 0; i < c->item_count; i++) {
        put_item(query, c, &c->items[i], format, out, i * item_bytes, names_at + w.used * unit);
        pfb_pdh_put(&w, c->items[i].name);
        pfb_pdh_put_nul(&w);
    }
    return code;
}

static uint32_t get_array(HANDLE handle, const DWORD *format, DWORD *size, DWORD *count, void *items, bool is_wide)
{
    pdh_counter *c;
    if (!size || !count)
        return PDH_INVALID_ARGUMENT;
    pdh_query *query = pfb_pdh_lock_counter(handle, &c);
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    if (!query)
        return PDH_INVALID_HANDLE;
    if (format && !is_valid_format(*format))
        code = PDH_INVALID_ARGUMENT;
    else if (c->collected == 0)
        code = PDH_NO_DATA;
    else if (c->item_count == 0)
        code = c->status;
    else if (format && c->collected == 1 && needs_two(type_of(c)))
        code = PDH_CSTATUS_INVALID_DATA;
    else
        code = put_array(query, c, format, size, count, items, is_wide);
    pfb_pdh_unlock(query);
    return code;
}

uint32_t pfb_pdh_formatted_array(HANDLE counter, DWORD format, DWORD *size, DWORD *count, void *items, bool is_wide)
{
    return get_array(counter, &format, size, count, items, is_wide);
}

uint32_t pfb_pdh_raw_array(HANDLE counter, DWORD *size, DWORD *count, void *items, bool is_wide)
{
    return get_array(counter, NULL, size, count, items, is_wide);
}

/* ---- Raw values of the caller --------------------------------------------------------------------------- */

static bool is_good(uint32_t status)
{
    return status == PDH_CSTATUS_VALID_DATA || status == PDH_CSTATUS_NEW_DATA;
}

/* The inputs of the formula that PDH's raw value means. */
static pfb_raw_value inputs_of(uint32_t type, int64_t time_base, const PDH_RAW_COUNTER *raw)
{
    const pfb_log_path path = {.type = type, .frequency = (uint64_t)time_base};
    const pfb_log_value value = {.first = (uint64_t)raw->FirstValue,
                                 .second = (uint64_t)raw->SecondValue,
                                 .multi_count = raw->MultiCount,
                                 .older = PFB_LOG_NONE};
    return pfb_log_raw_value(&path, &value);
}

static uint32_t format_pair(uint32_t type, int64_t time_base, LONG scale, DWORD format, const PDH_RAW_COUNTER *newer,
                            const PDH_RAW_COUNTER *older, PDH_FMT_COUNTERVALUE *value)
{
    if (!is_good(newer->CStatus))
        return no_value(value, PDH_INVALID_DATA, newer->CStatus);
    if (older && !is_good(older->CStatus))
        return no_value(value, PDH_INVALID_DATA, older->CStatus);
    if (type == PERF_DOUBLE_RAW)
        return format_text((uint64_t)newer->FirstValue, format, scale, value);
    bool is_two = needs_two(type);
    if (is_two && !older)
        return PDH_INVALID_ARGUMENT;
    pfb_raw_value inputs[2] = {{.has = 0}, inputs_of(type, time_base, newer)};
    if (is_two)
        inputs[0] = inputs_of(type, time_base, older);
    return format_inputs(&inputs[0], &inputs[1], format, scale, value);
}

uint32_t pfb_pdh_calculate(HANDLE handle, DWORD format, const PDH_RAW_COUNTER *newer, const PDH_RAW_COUNTER *older,
                           PDH_FMT_COUNTERVALUE *value)
{
    pdh_counter *c;
    if (!newer || !value)
        return PDH_INVALID_ARGUMENT;
    pdh_query *query = pfb_pdh_lock_counter(handle, &c);
    if (!query)
        return PDH_INVALID_HANDLE;
    uint32_t code = is_valid_format(format)
                        ? format_pair(type_of(c), c->entry->time_base, c->scale, format, newer, older, value)
                        : PDH_INVALID_ARGUMENT;
    pfb_pdh_unlock(query);
    return code;
}

uint32_t pfb_pdh_format_raw(DWORD type, DWORD format, const LONGLONG *time_base, const PDH_RAW_COUNTER *newer,
                            const PDH_RAW_COUNTER *older, PDH_FMT_COUNTERVALUE *value)
{
    pfb_counter_type row;
    bool is_text = type == PERF_DOUBLE_RAW;
    if (!newer || !value || !is_valid_format(format) || (!is_text && (!find_row(type, &row) || row.terms == 0)))
        return PDH_INVALID_ARGUMENT;
    bool needs_base =
        !is_text && (row.terms & (PFB_TERM_TIMES_FREQUENCY | PFB_TERM_OVER_FREQUENCY)) && row.clock != PFB_CLOCK_100NS;
    if (needs_base && !time_base)
        return PDH_INVALID_ARGUMENT;
    return format_pair(type, time_base ? *time_base : 0, 0, format, newer, older, value);
}

/* ---- Statistics ----------------------------------------------------------------------------------------- */

/* Numbers so far. */
typedef struct numbers {
    uint32_t count;
    double min, max, sum;
    PDH_FMT_COUNTERVALUE least, greatest;
} numbers;

static double number_of(const PDH_FMT_COUNTERVALUE *value, DWORD format)
{
    return format & PDH_FMT_DOUBLE  ? value->doubleValue
           : format & PDH_FMT_LARGE ? (double)value->largeValue
                                    : (double)value->longValue;
}

static void add_number(numbers *all, const PDH_FMT_COUNTERVALUE *value, DWORD format)
{
    double number = number_of(value, format);
    if (all->count == 0 || number < all->min) {
        all->min = number;
        all->least = *value;
    }
    if (all->count == 0 || number > all->max) {
        all->max = number;
        all->greatest = *value;
    }
    all->sum += number;
    all->count++;
}

uint32_t pfb_pdh_statistics(HANDLE handle, DWORD format, DWORD first, DWORD count, const PDH_RAW_COUNTER *ring,
                            PDH_STATISTICS *statistics)
{
    pdh_counter *c;
    numbers all = {.count = 0};
    if (!ring || !statistics || count == 0 || first >= count || !is_valid_format(format))
        return PDH_INVALID_ARGUMENT;
    pdh_query *query = pfb_pdh_lock_counter(handle, &c);
    if (!query)
        return PDH_INVALID_HANDLE;
    uint32_t type = type_of(c);
    bool is_two = needs_two(type);
    for (DWORD i = is_two ? 1 : 0; i < count; i++) {
        const PDH_RAW_COUNTER *newer = &ring[((uint64_t)first + i) % count];
        const PDH_RAW_COUNTER *older = is_two ? &ring[((uint64_t)first + i - 1) % count] : NULL;
        PDH_FMT_COUNTERVALUE value;
        if (format_pair(type, c->entry->time_base, c->scale, format, newer, older, &value) == PDH_CSTATUS_VALID_DATA)
            add_number(&all, &value, format);
    }
    pfb_pdh_unlock(query);
    *statistics = (PDH_STATISTICS){.dwFormat = format, .count = all.count};
    if (all.count == 0) {
        statistics->min.CStatus = statistics->max.CStatus = statistics->mean.CStatus = PDH_CSTATUS_INVALID_DATA;
        return PDH_CSTATUS_VALID_DATA;
    }
    statistics->min = all.least;
    statistics->max = all.greatest;
    convert(all.sum / all.count, NULL, false, format & ~(DWORD)PDH_FMT_1000, &statistics->mean);
    return PDH_CSTATUS_VALID_DATA;
}

/* ---- Information ---------------------------------------------------------------------------------------- */

uint32_t pfb_pdh_time_base(HANDLE handle, LONGLONG *ticks_per_second)
{
    const int64_t ticks_of_100ns = 10000000;
    pdh_counter *c;
    pfb_counter_type row = {.clock = PFB_CLOCK_NONE};
    if (!ticks_per_second)
        return PDH_INVALID_ARGUMENT;
    pdh_query *query = pfb_pdh_lock_counter(handle, &c);
    if (!query)
        return PDH_INVALID_HANDLE;
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    int64_t base = c->entry->time_base;
    if (c->entry->has_type)
        find_row(c->entry->type, &row);
    if (row.clock == PFB_CLOCK_NONE)
        code = PDH_INVALID_ARGUMENT;
    else if (row.clock == PFB_CLOCK_100NS)
        *ticks_per_second = ticks_of_100ns;
    else if (base > 0)
        *ticks_per_second = base;
    else
        code = PDH_NO_DATA;
    pfb_pdh_unlock(query);
    return code;
}

/* A string in the buffer of PDH_COUNTER_INFO. */
typedef struct info_string {
    size_t at; /* offset of the pointer in the structure */
    const char *text;
} info_string;

static void put_path(pdh_writer *w, const pdh_counter *c)
{
    const char *parts[] = {"\\\\",
                           c->machine,
                           "\\",
                           c->object_name,
                           c->instance ? "(" : "",
                           c->instance ? c->instance : "",
                           c->instance ? ")" : "",
                           "\\",
                           c->counter_name};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        pfb_pdh_put(w, parts[i]);
    pfb_pdh_put_nul(w);
}

static void put_string(pdh_writer *w, const char *text)
{
    pfb_pdh_put(w, text);
    pfb_pdh_put_nul(w);
}

/* Stores the address of the string that follows in the buffer. */
static void put_address(uint8_t *info, size_t at, const pdh_writer *w)
{
    const uint8_t *address = w->out ? w->out + w->used * (w->is_wide ? 2 : 1) : NULL;
    if (info)
        memcpy(info + at, &address, sizeof address);
}

/* Writes the strings; `info` null: they are only measured. */
static void put_info_strings(pdh_writer *w, const pdh_counter *c, bool has_text, uint8_t *info)
{
    const char *help = has_text && !c->catalog->is_text ? (c->entry->help ? c->entry->help : "") : NULL;
    bool is_log = !c->query->source->is_real_time;
    const info_string strings[] = {{offsetof(PDH_COUNTER_INFO_A, szMachineName), c->machine},
                                   {offsetof(PDH_COUNTER_INFO_A, szObjectName), c->object_name},
                                   {offsetof(PDH_COUNTER_INFO_A, szInstanceName), c->instance_name},
                                   {offsetof(PDH_COUNTER_INFO_A, szParentInstance), c->parent},
                                   {offsetof(PDH_COUNTER_INFO_A, szCounterName), c->counter_name},
                                   {offsetof(PDH_COUNTER_INFO_A, szExplainText), is_log ? NULL : help}};
    put_address(info, offsetof(PDH_COUNTER_INFO_A, szFullPath), w);
    put_path(w, c);
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        if (!strings[i].text)
            continue;
        put_address(info, strings[i].at, w);
        if (i == 0)
            pfb_pdh_put(w, "\\\\");
        put_string(w, strings[i].text);
    }
}

uint32_t pfb_pdh_counter_info(HANDLE handle, bool has_text, DWORD *size, void *info, bool is_wide)
{
    pdh_counter *c;
    pdh_query *query = pfb_pdh_lock_counter(handle, &c);
    uint32_t code = PDH_INVALID_ARGUMENT;
    if (!query)
        return PDH_INVALID_HANDLE;
    if (size) {
        pdh_writer measured = {.is_wide = is_wide};
        put_info_strings(&measured, c, has_text, NULL);
        size_t needed = sizeof(PDH_COUNTER_INFO_A) + measured.used * (is_wide ? 2 : 1);
        code = pfb_pdh_finish_size(needed, info, size);
        if (code == PDH_CSTATUS_VALID_DATA) {
            uint8_t *out = info;
            PDH_COUNTER_INFO_A fixed = {.dwLength = (DWORD)needed,
                                        .dwType = type_of(c),
                                        .CStatus = c->collected > 0 ? c->status : PDH_CSTATUS_VALID_DATA,
                                        .lScale = c->scale,
                                        .lDefaultScale = c->entry->scale,
                                        .dwUserData = c->user,
                                        .dwQueryUserData = query->user};
            fixed.dwInstanceIndex = c->index;
            memcpy(out, &fixed, sizeof fixed);
            pdh_writer w = {.out = out + sizeof fixed, .capacity = measured.used, .is_wide = is_wide};
            put_info_strings(&w, c, has_text, out);
        }
    }
    pfb_pdh_unlock(query);
    return code;
}
