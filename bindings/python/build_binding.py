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

/* Describes the series of a frame that have displayed values: for each, 9 numbers of 4 bytes (1 if it has a type, the
 * type, the occurrence, and the sizes of the six texts) and the texts machine, counterset, instance, parent, counter
 * and unit. ends[i] is where that of element i ends; equal series have equal bytes. Returns the size of all, which are
 * complete if it is at most `capacity`. */
static size_t describe_series(pfb_collector *collector, const pfb_frame *frame, char *to, size_t capacity, uint32_t *ends)
{
    size_t size = 0;
    for (uint32_t i = 0; i < frame->count; i++) {
        pfb_series s = {.size = sizeof s};
        if (frame->statuses[i] != PFB_STATUS_NOT_DISPLAYED && pfb_collector_series(collector, i, &s)) {
            const char *texts[6] = {s.machine, s.counterset, s.instance, s.parent, s.counter, s.unit};
            uint32_t numbers[9] = {(s.has & PFB_SERIES_TYPE) != 0, s.has & PFB_SERIES_TYPE ? s.type : 0, s.occurrence,
                                   s.machine_bytes, s.counterset_bytes, s.instance_bytes, s.parent_bytes,
                                   s.counter_bytes, (uint32_t)strlen(s.unit)};
            size_t needed = sizeof numbers;
            for (int t = 0; t < 6; t++)
                needed += numbers[3 + t];
            if (size <= capacity && needed <= capacity - size) {
                char *at = to + size;
                memcpy(at, numbers, sizeof numbers);
                at += sizeof numbers;
                for (int t = 0; t < 6; t++) {
                    memcpy(at, texts[t], numbers[3 + t]);
                    at += numbers[3 + t];
                }
            }
            size += needed;
        }
        ends[i] = size <= UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    }
    return size;
}
"""

binding = cffi.FFI()
binding.cdef("""
typedef struct pfb_stream pfb_stream;
typedef struct pfb_collector pfb_collector;
typedef struct pfb_selection pfb_selection;

typedef struct pfb_problem {
    uint32_t size, kind, code, file, has_offset;
    uint64_t offset;
    const char *sentence;
    ...;
} pfb_problem;

typedef struct pfb_input {
    uint32_t size;
    const char *label;
    const void *data;
    uint64_t byte_count;
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
#define PFB_COLLECT_STRICT ...
#define PFB_COLLECT_BIAS ...
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
size_t describe_series(pfb_collector *collector, const pfb_frame *frame, char *to, size_t capacity, uint32_t *ends);
""")
binding.set_source("perfblock._binding", SOURCE, include_dirs=[str(FOLDER)],
                   extra_compile_args=[] if sys.platform == "win32" else ["-fvisibility=hidden"])
