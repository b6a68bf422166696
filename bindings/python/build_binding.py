# SPDX-License-Identifier: MIT
"""Describes the module perfblock._binding for cffi: perfblock.c with the functions that the package calls.

In a checkout, perfblock.c and perfblock.h are written first. Structures end with `...`: the compiler knows their
layout, the package only the members that it uses.
"""

import pathlib
import subprocess
import sys

import cffi

FOLDER = pathlib.Path(__file__).resolve().parent
AMALGAMATE = FOLDER.parent.parent / "scripts" / "amalgamate"
if AMALGAMATE.exists():
    subprocess.run([sys.executable, AMALGAMATE, FOLDER], check=True)

SOURCE = r"""
#define PFB_API
#include "perfblock.c"

/* The series of a reader, numbered in the order in which they are found. The description of one: 9 numbers of 4 bytes
 * (1 if it has a type, the type, the occurrence, and the sizes of the six texts) and the texts machine, counterset,
 * instance, parent, counter and unit; of the n-th series of a sample with an equal description, which damaged data may
 * have, n as a number after it. */
typedef struct numbered_series {
    size_t end;       /* of its description in `bytes` */
    uint64_t hash;    /* of its description */
    uint64_t frame;   /* the last one that had it */
    uint32_t repeats; /* how often that had it */
} numbered_series;

typedef struct series_list {
    uint64_t seed; /* of the hash, since names may be chosen by an attacker */
    char *bytes;   /* all descriptions */
    numbered_series *series;
    uint32_t *slots; /* numbers from 1, by hash; 0: free */
    size_t capacity, series_capacity, slot_count;
    uint32_t count;
    uint64_t frame;
} series_list;

static void close_series(series_list *list)
{
    free(list->bytes);
    free(list->series);
    free(list->slots);
    free(list);
}

static series_list *open_series(uint64_t seed)
{
    series_list *list = calloc(1, sizeof *list);
    if (list)
        list->seed = seed;
    return list;
}

static size_t start_of_series(const series_list *list, uint32_t number)
{
    return number > 0 ? list->series[number - 1].end : 0;
}

static uint64_t hash_series(const series_list *list, const char *bytes, size_t size)
{
    uint64_t hash = list->seed ^ size;
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, size - at < 8 ? size - at : 8);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return hash;
}

/* Makes space for one more series; at least half of the slots stay free. Returns false when memory is exhausted. */
static bool reserve_series(series_list *list)
{
    if (list->count == UINT32_MAX - 1)
        return false;
    if (list->count == list->series_capacity) {
        size_t capacity = list->series_capacity > 0 ? 2 * list->series_capacity : 64;
        numbered_series *series =
            capacity <= SIZE_MAX / sizeof *series ? realloc(list->series, capacity * sizeof *series) : NULL;
        if (!series)
            return false;
        list->series = series;
        list->series_capacity = capacity;
    }
    if (2 * (size_t)list->count < list->slot_count)
        return true;
    size_t slot_count = list->slot_count > 0 ? 2 * list->slot_count : 128;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < list->count; i++) {
        size_t slot = list->series[i].hash & (slot_count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (slot_count - 1);
        slots[slot] = i + 1;
    }
    free(list->slots);
    list->slots = slots;
    list->slot_count = slot_count;
    return true;
}

/* Returns the number of the series whose description was appended to `bytes`; UINT32_MAX when memory is exhausted. */
static uint32_t find_series(series_list *list, size_t size)
{
    size_t begin = start_of_series(list, list->count);
    if (!reserve_series(list))
        return UINT32_MAX;
    uint64_t hash = hash_series(list, list->bytes + begin, size);
    size_t slot = hash & (list->slot_count - 1);
    for (; list->slots[slot] != 0; slot = (slot + 1) & (list->slot_count - 1)) {
        uint32_t number = list->slots[slot] - 1;
        size_t start = start_of_series(list, number);
        if (list->series[number].hash == hash && list->series[number].end - start == size &&
            memcmp(list->bytes + start, list->bytes + begin, size) == 0)
            return number;
    }
    list->series[list->count] = (numbered_series){.end = begin + size, .hash = hash};
    list->slots[slot] = list->count + 1;
    return list->count++;
}

/* Appends the description of a series to `bytes`, with space for a number after it. Returns its size, or 0 when memory
 * is exhausted. */
static size_t describe_series(series_list *list, const pfb_series *s)
{
    const char *texts[6] = {s->machine, s->counterset, s->instance, s->parent, s->counter, s->unit};
    uint32_t numbers[9] = {(s->has & PFB_SERIES_TYPE) != 0, s->has & PFB_SERIES_TYPE ? s->type : 0, s->occurrence,
                           s->machine_bytes, s->counterset_bytes, s->instance_bytes, s->parent_bytes,
                           s->counter_bytes, (uint32_t)strlen(s->unit)};
    size_t begin = start_of_series(list, list->count);
    size_t size = sizeof numbers;
    for (int t = 0; t < 6; t++)
        size += numbers[3 + t];
    size_t needed = begin + size + sizeof(uint32_t);
    if (needed > list->capacity) {
        size_t capacity = needed + needed / 2;
        char *bytes = realloc(list->bytes, capacity);
        if (!bytes)
            return 0;
        list->bytes = bytes;
        list->capacity = capacity;
    }
    char *at = list->bytes + begin;
    memcpy(at, numbers, sizeof numbers);
    at += sizeof numbers;
    for (int t = 0; t < 6; t++) {
        memcpy(at, texts[t], numbers[3 + t]);
        at += numbers[3 + t];
    }
    return size;
}

/* Stores the number of the series of each element of a frame in `numbers`; UINT32_MAX: it has no displayed value.
 * Returns false when memory is exhausted. */
static bool number_series(series_list *list, pfb_collector *collector, const pfb_frame *frame, uint32_t *numbers)
{
    list->frame++;
    for (uint32_t i = 0; i < frame->count; i++) {
        pfb_series s = {.size = sizeof s};
        numbers[i] = UINT32_MAX;
        if (frame->statuses[i] == PFB_STATUS_NOT_DISPLAYED || !pfb_collector_series(collector, i, &s))
            continue;
        size_t size = describe_series(list, &s);
        uint32_t number = size > 0 ? find_series(list, size) : UINT32_MAX;
        if (number != UINT32_MAX && list->series[number].frame == list->frame) { /* a second one */
            uint32_t repeat = ++list->series[number].repeats;
            size = describe_series(list, &s);
            if (size == 0)
                return false;
            memcpy(list->bytes + start_of_series(list, list->count) + size, &repeat, sizeof repeat);
            number = find_series(list, size + sizeof repeat);
        }
        if (number == UINT32_MAX)
            return false;
        list->series[number].frame = list->frame;
        list->series[number].repeats = 1;
        numbers[i] = number;
    }
    return true;
}

/* Returns the description of a series, and stores its size. */
static const char *description_of_series(const series_list *list, uint32_t number, size_t *size)
{
    size_t begin = start_of_series(list, number);
    *size = list->series[number].end - begin;
    return list->bytes + begin;
}
"""

binding = cffi.FFI()
binding.cdef("""
typedef struct pfb_stream pfb_stream;
typedef struct pfb_collector pfb_collector;
typedef struct pfb_selection pfb_selection;
typedef struct series_list {
    uint32_t count;
    ...;
} series_list;

typedef struct pfb_problem {
    uint32_t size, kind, code, file, has_offset;
    uint64_t offset;
    const char *sentence;
    ...;
} pfb_problem;

typedef struct pfb_input {
    uint32_t size, kind;
    const char *label;
    const void *data;
    uint64_t byte_count;
    uint32_t language;
    ...;
} pfb_input;

typedef struct pfb_frame {
    uint32_t size, file, flags, count;
    uint64_t number, layout;
    int64_t time;
    const double *values;
    const uint8_t *statuses, *flag_bits;
    const uint64_t *raw;
    const int64_t *times;
    ...;
} pfb_frame;

typedef struct pfb_formula_options {
    bool wrap32, per_item_inverse, server_2003_multi_timer, generic, cap_100, clamp_0;
    int8_t scale;
    ...;
} pfb_formula_options;

typedef struct pfb_raw_value {
    uint32_t type, has;
    uint64_t value, base, multi_count;
    int64_t perf_time, perf_time_100ns, object_time, perf_freq, object_freq;
    uint32_t base_type, value_size, base_size;
    ...;
} pfb_raw_value;

typedef struct pfb_formula_result {
    unsigned int status, unit;
    uint32_t flags;
    double value;
    bool is_integer;
    uint64_t integer;
    ...;
} pfb_formula_result;

typedef struct pfb_counter_type {
    uint32_t value;
    char name[40];
    ...;
} pfb_counter_type;

#define PFB_NEXT_RECORD ...
#define PFB_NEXT_FAILED ...
#define PFB_PROBLEM_NOTE ...
#define PFB_RECORD_HAS_TIME ...
#define PFB_RECORD_LOCAL_TIME ...
#define PFB_STREAM_STRICT ...
#define PFB_STREAM_BIAS ...
#define PFB_STREAM_DATE_ORDER ...
#define PFB_STREAM_DECIMAL ...
#define PFB_STREAM_CODE_PAGE ...
#define PFB_DATE_MDY ...
#define PFB_DATE_DMY ...
#define PFB_DATE_YMD ...
#define PFB_RECORD_NAMES ...
#define PFB_COLLECT_STRICT ...
#define PFB_COLLECT_BIAS ...
#define PFB_COLLECT_CODE_PAGE ...
#define PFB_COLLECT_IDENTITY ...
#define PFB_IDENTITY_PROCESS ...
#define PFB_IDENTITY_WINDOWS ...
#define PFB_STATUS_OK ...
#define PFB_STATUS_NOT_DISPLAYED ...
#define PFB_HAS_VALUE ...
#define PFB_HAS_BASE ...
#define PFB_HAS_MULTI_COUNT ...
#define PFB_HAS_PERF_TIME ...
#define PFB_HAS_PERF_TIME_100NS ...
#define PFB_HAS_OBJECT_TIME ...
#define PFB_HAS_PERF_FREQ ...
#define PFB_HAS_OBJECT_FREQ ...

const char *pfb_version(void);
const char *pfb_code_name(unsigned int code);
const char *pfb_status_name(unsigned int status);
const char *pfb_flag_name(uint32_t flag);
const char *pfb_unit_text(unsigned int unit);
const pfb_counter_type *pfb_counter_type_at(size_t position);
pfb_formula_result pfb_formula_evaluate(const pfb_raw_value *older, const pfb_raw_value *newer,
                                        const pfb_formula_options *options);

pfb_stream *pfb_stream_new(void);
void pfb_stream_close(pfb_stream *stream);
uint32_t pfb_stream_set(pfb_stream *stream, uint32_t option, int64_t value);
int32_t pfb_stream_add(pfb_stream *stream, const pfb_input *input);
int32_t pfb_stream_add_file(pfb_stream *stream, const char *path);
bool pfb_stream_select(pfb_stream *stream, const pfb_selection *selection);
const char *pfb_stream_label(const pfb_stream *stream, uint32_t file);
bool pfb_stream_problem(pfb_stream *stream, pfb_problem *problem);
pfb_selection *pfb_selection_new(void);
void pfb_selection_close(pfb_selection *selection);
int32_t pfb_selection_add(pfb_selection *selection, const char *path);
pfb_collector *pfb_collector_new(void);
void pfb_collector_close(pfb_collector *collector);
uint32_t pfb_collector_set(pfb_collector *collector, uint32_t option, int64_t value);
void pfb_collector_set_formula(pfb_collector *collector, const pfb_formula_options *options);
bool pfb_collector_select(pfb_collector *collector, const pfb_selection *selection);
int32_t pfb_collector_read(pfb_collector *collector, pfb_stream *stream);
bool pfb_collector_take_problem(pfb_collector *collector, pfb_problem *problem);
bool pfb_collector_frame(pfb_collector *collector, pfb_frame *frame);
series_list *open_series(uint64_t seed);
void close_series(series_list *list);
bool number_series(series_list *list, pfb_collector *collector, const pfb_frame *frame, uint32_t *numbers);
const char *description_of_series(const series_list *list, uint32_t number, size_t *size);
""")
binding.set_source("perfblock._binding", SOURCE, include_dirs=[str(FOLDER)],
                   extra_compile_args=[] if sys.platform == "win32" else ["-fvisibility=hidden"])
