/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_FORMULA_H
#define PERFBLOCK_FORMULA_H

#include "perfblock/export.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The counter types of winperf.h: 39 values, and what each one's formula is made of. One table, which the formulas, the
 * pairing, the program's `types` command and the tests all read. Source: winperf.h; docs/formula.md. */

/* ---- Bit fields of a type ----------------------------------------------------------------------- */

#define PFB_TYPE_SIZE_MASK UINT32_C(0x00000300)    /* raw value: 0 DWORD, 0x100 LARGE, 0x200 ZERO, 0x300 VARIABLE */
#define PFB_TYPE_CLASS_MASK UINT32_C(0x00000C00)   /* 0 NUMBER, 0x400 COUNTER, 0x800 TEXT, 0xC00 ZERO */
#define PFB_TYPE_SUBTYPE_MASK UINT32_C(0x000F0000) /* a number, not flags: read by class */
#define PFB_TYPE_TIMER_MASK UINT32_C(0x00300000)   /* 0 tick, 0x100000 100 ns, 0x200000 object */
#define PFB_TYPE_DELTA UINT32_C(0x00400000)
#define PFB_TYPE_DELTA_BASE UINT32_C(0x00800000)
#define PFB_TYPE_INVERSE UINT32_C(0x01000000)
#define PFB_TYPE_MULTI UINT32_C(0x02000000)
#define PFB_TYPE_DISPLAY_MASK UINT32_C(0xF0000000) /* 0 none, 1 "/sec", 2 "%", 3 "secs", 4 not shown; 8 histogram */
#define PFB_TYPE_RESERVED_MASK UINT32_C(0x0C00F0FF)

/* ---- The table ------------------------------------------------------------------------------------ */

/* PERF_COUNTER_MULTI_BASE: in V1 the multi count of the multi counter before it, and no base. */
#define PFB_TYPE_MULTI_BASE UINT32_C(0x42030500)

/* Size of the raw value. */
typedef enum pfb_raw_size {
    PFB_RAW_DWORD = 0,   /* 4 bytes */
    PFB_RAW_LARGE = 1,   /* 8 bytes */
    PFB_RAW_ZERO = 2,    /* no value */
    PFB_RAW_VARIABLE = 3 /* as declared with the value */
} pfb_raw_size;

/* The clock whose readings T and frequency F the formula uses. */
typedef enum pfb_clock {
    PFB_CLOCK_NONE = 0,
    PFB_CLOCK_PERF = 1,  /* performance clock: perf_time, perf_freq */
    PFB_CLOCK_100NS = 2, /* 100 ns clock: perf_time_100ns */
    PFB_CLOCK_OBJECT = 3 /* the object's own: object_time, object_freq */
} pfb_clock;

/* What stands below the line. */
typedef enum pfb_denominator {
    PFB_DENOMINATOR_ONE = 0,
    PFB_DENOMINATOR_TIME = 1,      /* dT of the clock */
    PFB_DENOMINATOR_BASE = 2,      /* B of the newer sample */
    PFB_DENOMINATOR_BASE_DELTA = 3 /* dB */
} pfb_denominator;

typedef enum pfb_unit {
    PFB_UNIT_NONE = 0,
    PFB_UNIT_PER_SECOND = 1,
    PFB_UNIT_PERCENT = 2,
    PFB_UNIT_SECONDS = 3
} pfb_unit;

/* Terms of a formula, as bits. No bit at all: nothing to compute (text, no-data, base and histogram types).
 * N raw value, d newer minus older, T and F of the clock, M multi count of the newer sample. */
#define PFB_TERM_RAW UINT32_C(1)                /* the numerator is N */
#define PFB_TERM_DELTA UINT32_C(2)              /* the numerator is dN */
#define PFB_TERM_ELAPSED UINT32_C(4)            /* the numerator is T - N */
#define PFB_TERM_PERCENT UINT32_C(8)            /* times 100 */
#define PFB_TERM_TIMES_FREQUENCY UINT32_C(16)   /* times F */
#define PFB_TERM_OVER_FREQUENCY UINT32_C(32)    /* divided by F */
#define PFB_TERM_INVERSE UINT32_C(64)           /* 1 minus the quotient; M minus it for multi types */
#define PFB_TERM_OVER_MULTI_COUNT UINT32_C(128) /* divided by M */
#define PFB_TERM_FROM_MULTI_COUNT UINT32_C(256) /* the inverse is taken from M instead of 1 */
#define PFB_TERM_BASE_OR_TIME UINT32_C(512)     /* dT replaces dB where one of the two samples has no base */

/* A row of the table. Static and constant. */
typedef struct pfb_counter_type {
    uint32_t value;      /* the 32-bit type */
    char name[40];       /* as winperf.h names it */
    uint8_t raw_size;    /* pfb_raw_size */
    uint8_t samples;     /* samples needed: 0 nothing to compute, 1, 2 */
    uint8_t clock;       /* pfb_clock */
    uint8_t denominator; /* pfb_denominator */
    uint8_t unit;        /* pfb_unit of the result */
    uint16_t terms;      /* PFB_TERM_ bits */
    uint32_t base;       /* type of the base that belongs to it; 0 = none */
    char formula[32];    /* the same for people, "100 dN / dT" */
} pfb_counter_type;

/* The row at `position`, 0 to 38, in ascending order of value; null past the end. */
PFB_API const pfb_counter_type *pfb_counter_type_at(size_t position);

/* The row of exactly this value, or of the value it is an alias of (0x40030503, which some tools call
 * PERF_LARGE_RAW_BASE). Null for every other value: nothing is guessed from the bits. */
PFB_API const pfb_counter_type *pfb_counter_type_find(uint32_t value);

/* The row of this name, case-sensitive, `size` bytes; the alias PERF_PRECISION_TIMESTAMP included. Else null. */
PFB_API const pfb_counter_type *pfb_counter_type_named(const char *name, size_t size);

/* The unit as displayed: "", "/sec", "%" or "sec". Never null. */
PFB_API const char *pfb_unit_text(pfb_unit unit);

/* True when values of this type are bases: class COUNTER and subtype BASE, compared under the mask. */
PFB_API bool pfb_counter_type_is_base(uint32_t value);

/* ---- Values without a name ------------------------------------------------------------------------- */

/* Fills `row` with the formula that the bits of a well-formed value of class COUNTER spell out; its name and formula
 * texts are empty and no base belongs to it. BASE and HISTOGRAM, and sizes without a number, have nothing to compute.
 * False, with `row` untouched, for every other value. Named types are found in the table, not derived: some of them
 * mean something else than their bits. The rules: docs/formula.md. */
PFB_API bool pfb_counter_type_derive(uint32_t value, pfb_counter_type *row);

/* Samples in, displayed value or named status out.
 *
 * Every formula is a quotient of integers (docs/formula.md lists them). The value is the exact quotient rounded once,
 * to nearest, ties to even: the same double on every CPU and compiler. No intermediate overflows, whatever the inputs.
 * The rounding mode must be the default one. Everything here is a pure function and may be called from any thread. */

/* Which fields of a sample were there, as bits. */
#define PFB_HAS_VALUE UINT32_C(1)
#define PFB_HAS_BASE UINT32_C(2)
#define PFB_HAS_MULTI_COUNT UINT32_C(4)
#define PFB_HAS_PERF_TIME UINT32_C(8)
#define PFB_HAS_PERF_TIME_100NS UINT32_C(16)
#define PFB_HAS_OBJECT_TIME UINT32_C(32)
#define PFB_HAS_PERF_FREQ UINT32_C(64)
#define PFB_HAS_OBJECT_FREQ UINT32_C(128)

/* One reading of one counter. All raw values are unsigned, all clocks signed, as on the wire. */
typedef struct pfb_raw_value {
    uint32_t type;           /* counter type */
    uint32_t has;            /* PFB_HAS_ bits of the fields below that hold something */
    uint64_t value;          /* N: the counter's raw value, zero-extended */
    uint64_t base;           /* B: the raw value of its base */
    uint64_t multi_count;    /* M: the multi count of a multi timer */
    int64_t perf_time;       /* performance clock, ticks */
    int64_t perf_time_100ns; /* 100 ns units */
    int64_t object_time;     /* the object's clock, ticks */
    int64_t perf_freq;       /* ticks of the performance clock per second */
    int64_t object_freq;     /* ticks of the object's clock per second */
    uint32_t base_type;      /* type of the base, for its size; 0: the one that the table lists for `type` */
    uint32_t value_size;     /* bytes of the raw value, 4 or 8; 0: as the type declares */
    uint32_t base_size;      /* bytes of the base, 4 or 8; 0: as its type declares */
} pfb_raw_value;

/* Why there is a value, or none. Numbers and names never change their meaning. */
typedef enum pfb_status {
    PFB_STATUS_OK = 0,
    PFB_STATUS_NEED_TWO_SAMPLES = 1,     /* the formula compares two samples; only one was given */
    PFB_STATUS_TYPE_MISMATCH = 2,        /* the samples have different types, or the datum's size is not the type's */
    PFB_STATUS_UNKNOWN_TYPE = 3,         /* the type is not in the table */
    PFB_STATUS_NOT_DISPLAYED = 4,        /* text, no-data, base and histogram types: nothing to compute */
    PFB_STATUS_MISSING_BASE = 5,         /* base or multi count absent, or not what it should be */
    PFB_STATUS_MISSING_INPUT = 6,        /* raw value, clock or frequency absent */
    PFB_STATUS_NEGATIVE_DELTA = 7,       /* the counter fell, or time is before an elapsed counter's start */
    PFB_STATUS_ZERO_DENOMINATOR = 8,     /* no time, or no operation, between the samples */
    PFB_STATUS_NEGATIVE_DENOMINATOR = 9, /* clock or base went backwards */
    PFB_STATUS_BAD_FREQUENCY = 10,       /* the formula divides by a frequency that is not positive */
    PFB_STATUS_ZERO_BASE = 11,           /* base or multi count is 0 */
    PFB_STATUS_NO_DATA = 12,             /* an elapsed counter whose start is 0 */
    PFB_STATUS_BAD_SCALE = 13            /* the caller's scale is outside its range */
} pfb_status;

/* Flags that accompany PFB_STATUS_OK. They tell what the samples gave, also where an option changed it. */
#define PFB_FLAG_WRAPPED UINT32_C(1)    /* 2^32 was added to a counter or base that fell (wrap32) */
#define PFB_FLAG_ABOVE_100 UINT32_C(2)  /* a percentage above 100, given as it is unless capped */
#define PFB_FLAG_BELOW_ZERO UINT32_C(4) /* an inverse below 0, given as it is unless clamped */

/* Policies, all off by default: a null pointer, or {0}. docs/formula.md, Options. */
typedef struct pfb_formula_options {
    bool wrap32;                  /* a DWORD counter, or DWORD base, that fell went through 2^32 once. Off because a
                                   * restarted process looks the same. Never for 8 bytes */
    bool per_item_inverse;        /* inverse multi timers divided by M like the plain ones: 0 to 100 */
    bool server_2003_multi_timer; /* PERF_COUNTER_MULTI_TIMER as 100 (dN / dT) / M, without F */
    bool generic;                 /* unnamed types by their bits (pfb_counter_type_derive) */
    bool cap_100;                 /* percentages above 100 become 100 */
    bool clamp_0;                 /* values below 0 become 0 */
    int8_t scale;                 /* times 10^scale, -10 to 10, before the one rounding and after capping */
} pfb_formula_options;

#define PFB_SCALE_LIMIT 10

typedef struct pfb_formula_result {
    pfb_status status;
    uint32_t flags;   /* PFB_FLAG_ bits; 0 unless the status is ok */
    double value;     /* finite; 0 unless the status is ok */
    pfb_unit unit;    /* of the type; PFB_UNIT_NONE for unknown types */
    bool is_integer;  /* the exact result is an integer from 0 to 2^64 - 1 ... */
    uint64_t integer; /* ... namely this one; raw counts above 2^53 are exact here only */
} pfb_formula_result;

/* A result of a column takes nine bytes: the value, and a status byte. All results of a column have the unit of its
 * formula. */
#define PFB_STATUS_BYTE_CODE 0x0FU    /* pfb_status: PFB_STATUS_OK is 0 */
#define PFB_STATUS_BYTE_FLAGS 0x70U   /* PFB_FLAG_ bits, times 16 */
#define PFB_STATUS_BYTE_INTEGER 0x80U /* the exact result is an integer below 2^53, which the value is */

/* The result with this value, status byte and unit (formula.unit). is_integer is false, whatever the status byte says,
 * where the value is not an integer from 0 to 2^53 - 1: larger integers are in the original result only. */
PFB_API pfb_formula_result pfb_formula_unpack(double value, uint8_t status_byte, pfb_unit unit);

/* Both in one: the formula of the newer sample's type. */
PFB_API pfb_formula_result pfb_formula_evaluate(const pfb_raw_value *older, const pfb_raw_value *newer,
                                                const pfb_formula_options *options);

/* The status in lower case ("negative_delta"). Never null; static. */
PFB_API const char *pfb_status_name(pfb_status status);

/* The name of a single flag bit ("above_100"); "" for anything else. Never null; static. */
PFB_API const char *pfb_flag_name(uint32_t flag);

#ifdef __cplusplus
}
#endif

#endif
