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

/* Counter types of winperf.h, and the value that a counter displays.
 *
 *     uint32_t has = PFB_HAS_VALUE | PFB_HAS_PERF_TIME | PFB_HAS_PERF_FREQ;
 *     pfb_raw_value older = {.type = type, .has = has, .value = n0, .perf_time = t0, .perf_freq = frequency};
 *     pfb_raw_value newer = {.type = type, .has = has, .value = n1, .perf_time = t1, .perf_freq = frequency};
 *     pfb_formula_result result = pfb_formula_evaluate(&older, &newer, NULL);
 *     if (result.status == PFB_STATUS_OK)
 *         printf("%g %s\n", result.value, pfb_unit_text(result.unit));
 *     else
 *         puts(pfb_status_name(result.status));
 *
 * Every formula is a quotient of integers. The value is the exact quotient rounded once, to nearest, ties to even: the
 * same double on every CPU and with every compiler. No input makes an intermediate result overflow. The rounding mode
 * must be the default one.
 *
 * All functions are pure and may be called from any thread. Source: winperf.h; docs/formula.md lists the formulas and
 * the decisions. */

/* ---- Counter types ---------------------------------------------------------------------------------------- */

/* Bit fields of a type. */
#define PFB_TYPE_SIZE_MASK 0x00000300u    /* raw value: 0 DWORD, 0x100 LARGE, 0x200 ZERO, 0x300 VARIABLE */
#define PFB_TYPE_CLASS_MASK 0x00000C00u   /* 0 NUMBER, 0x400 COUNTER, 0x800 TEXT, 0xC00 ZERO */
#define PFB_TYPE_SUBTYPE_MASK 0x000F0000u /* a number, whose meaning depends on the class */
#define PFB_TYPE_TIMER_MASK 0x00300000u   /* 0 tick, 0x100000 100 ns, 0x200000 object */
#define PFB_TYPE_DELTA 0x00400000u
#define PFB_TYPE_DELTA_BASE 0x00800000u
#define PFB_TYPE_INVERSE 0x01000000u
#define PFB_TYPE_MULTI 0x02000000u
#define PFB_TYPE_DISPLAY_MASK 0xF0000000u /* 0 none, 1 "/sec", 2 "%", 3 "secs", 4 not shown; 8 histogram */
#define PFB_TYPE_RESERVED_MASK 0x0C00F0FFu

/* PERF_COUNTER_MULTI_BASE: in V1 the multi count of the preceding counter. It has the subtype of bases,
 * but formulas do not use it as one. */
#define PFB_TYPE_MULTI_BASE 0x42030500u

/* Size of the raw value. */
typedef enum pfb_raw_size {
    PFB_RAW_DWORD = 0,   /* 4 bytes */
    PFB_RAW_LARGE = 1,   /* 8 bytes */
    PFB_RAW_ZERO = 2,    /* no value */
    PFB_RAW_VARIABLE = 3 /* as declared with the value */
} pfb_raw_size;

/* The clock of a formula: its readings T and its frequency F. */
typedef enum pfb_clock {
    PFB_CLOCK_NONE = 0,
    PFB_CLOCK_PERF = 1,  /* perf_time, perf_freq */
    PFB_CLOCK_100NS = 2, /* perf_time_100ns; 10,000,000 ticks per second */
    PFB_CLOCK_OBJECT = 3 /* object_time, object_freq */
} pfb_clock;

/* The denominator of a formula. dT, B and dB are explained at PFB_TERM_RAW. */
typedef enum pfb_denominator {
    PFB_DENOMINATOR_ONE = 0,
    PFB_DENOMINATOR_TIME = 1,      /* dT of the clock */
    PFB_DENOMINATOR_BASE = 2,      /* B of the newer sample */
    PFB_DENOMINATOR_BASE_DELTA = 3 /* dB */
} pfb_denominator;

/* The unit of a formatted value. */
typedef enum pfb_unit {
    PFB_UNIT_NONE = 0,
    PFB_UNIT_PER_SECOND = 1,
    PFB_UNIT_PERCENT = 2,
    PFB_UNIT_SECONDS = 3
} pfb_unit;

/* Terms of a formula, as bits; 0 if there is nothing to compute (text, no-data, base and histogram types).
 * N is the raw value, B the base, T and F are time and frequency of the clock, M is the multi count of the newer
 * sample, dX is X of the newer sample minus X of the older one. */
#define PFB_TERM_RAW 1u                /* the numerator is N */
#define PFB_TERM_DELTA 2u              /* the numerator is dN */
#define PFB_TERM_ELAPSED 4u            /* the numerator is T - N */
#define PFB_TERM_PERCENT 8u            /* times 100 */
#define PFB_TERM_TIMES_FREQUENCY 16u   /* times F */
#define PFB_TERM_OVER_FREQUENCY 32u    /* divided by F */
#define PFB_TERM_INVERSE 64u           /* 1 minus the quotient */
#define PFB_TERM_OVER_MULTI_COUNT 128u /* divided by M */
#define PFB_TERM_FROM_MULTI_COUNT 256u /* the inverse is M minus the quotient */
#define PFB_TERM_BASE_OR_TIME 512u     /* dT replaces dB if one of the samples has no base */

/* A row of the table of counter types, static and constant; or a row that pfb_counter_type_derive filled (derived). */
typedef struct pfb_counter_type {
    uint32_t value;      /* the 32-bit type */
    char name[40];       /* of winperf.h; empty for a derived row */
    uint8_t raw_size;    /* pfb_raw_size */
    uint8_t samples;     /* samples needed: 1 or 2; 0 if there is nothing to compute */
    uint8_t clock;       /* pfb_clock */
    uint8_t denominator; /* pfb_denominator */
    uint8_t unit;        /* pfb_unit of the result */
    uint16_t terms;      /* PFB_TERM_ bits */
    uint32_t base;       /* type of its base or multi count; 0 if it has none, and in a derived row */
    char formula[32];    /* as text: "100 dN / dT"; empty for a derived row */
} pfb_counter_type;

/* Returns the row at `position`, 0 to 38, in ascending order of value; null past the end. */
PFB_API const pfb_counter_type *pfb_counter_type_at(size_t position);

/* Returns the row of this type; null if the table has none: the formula of a type without a name is not derived from
 * its bits. For 0x40030503, which some tools call PERF_LARGE_RAW_BASE, it returns the row of that type, 0x40030500. */
PFB_API const pfb_counter_type *pfb_counter_type_find(uint32_t value);

/* Returns the row of this name of `size` bytes, case-sensitive; null if there is none. PERF_PRECISION_TIMESTAMP is a
 * second name of PERF_LARGE_RAW_BASE. */
PFB_API const pfb_counter_type *pfb_counter_type_named(const char *name, size_t size);

/* Returns true for types of class COUNTER and subtype BASE. The subtype is compared as a number: testing its bits would
 * include precision timers. */
PFB_API bool pfb_counter_type_is_base(uint32_t value);

/* Fills `row` with the formula that the bits of a well-formed value of class COUNTER describe. Types of subtype BASE
 * and HISTOGRAM, and types without a number, have nothing to compute: their terms are 0. Returns false, and leaves
 * `row` unchanged, if the value is not well-formed or not of class COUNTER. For a named type use pfb_counter_type_find:
 * some named types have another formula than their bits describe. docs/formula.md has the rules, and says which values
 * are well-formed. */
PFB_API bool pfb_counter_type_derive(uint32_t value, pfb_counter_type *row);

/* Returns the unit as displayed: "", "/sec", "%" or "sec". Never null; static. */
PFB_API const char *pfb_unit_text(pfb_unit unit);

/* ---- Raw values ------------------------------------------------------------------------------------------- */

/* Which fields of a raw value are present, as bits. */
#define PFB_HAS_VALUE 1u
#define PFB_HAS_BASE 2u
#define PFB_HAS_MULTI_COUNT 4u
#define PFB_HAS_PERF_TIME 8u
#define PFB_HAS_PERF_TIME_100NS 16u
#define PFB_HAS_OBJECT_TIME 32u
#define PFB_HAS_PERF_FREQ 64u
#define PFB_HAS_OBJECT_FREQ 128u

/* One sample of one counter, like PDH_RAW_COUNTER. Raw values are unsigned, clocks signed. */
typedef struct pfb_raw_value {
    uint32_t type;           /* counter type */
    uint32_t has;            /* PFB_HAS_ bits of the fields that are present */
    uint64_t value;          /* N: the raw value, zero-extended */
    uint64_t base;           /* B: the raw value of the base */
    uint64_t multi_count;    /* M: the divisor of multi timers */
    int64_t perf_time;       /* performance clock, ticks */
    int64_t perf_time_100ns; /* 100 ns units */
    int64_t object_time;     /* the object's clock, ticks */
    int64_t perf_freq;       /* ticks of the performance clock per second */
    int64_t object_freq;     /* ticks of the object's clock per second */
    uint32_t base_type;      /* type of the base; 0: the one that the table lists for `type` */
    uint32_t value_size;     /* bytes of the value, 4 or 8; 0: as the type declares */
    uint32_t base_size;      /* bytes of the base, 4 or 8; 0: as its type declares */
} pfb_raw_value;

/* CStatus of PDH_RAW_COUNTER. */
#define PFB_PDH_VALID_DATA 0u
#define PFB_PDH_INVALID_DATA 0xC0000BBAu /* PDH_CSTATUS_INVALID_DATA */

/* A raw value in PDH's form: PDH_RAW_COUNTER without its time stamp, and what PdhGetCounterTimeBase returns. Perfmon's
 * logs in files and in SQL have the same members. */
typedef struct pfb_pdh_raw {
    uint32_t status;      /* PFB_PDH_VALID_DATA or PFB_PDH_INVALID_DATA */
    uint32_t multi_count; /* M of multi timers; 1 for other types */
    uint64_t first;       /* N; the bits of LONGLONG FirstValue */
    uint64_t second;      /* B or T, if the formula has one of them, else 0; the bits of LONGLONG SecondValue */
    uint64_t time_base;   /* ticks per second of the clock that the timer bits of the type mean, even if the formula has
                           * no   clock; 0 if the raw value does not have the frequency, or if no clock has these bits */
} pfb_pdh_raw;

/* Converts a raw value to PDH's form. Types without a name are converted by their bits (pfb_counter_type_derive); types
 * that are not well-formed have no second value. The status is invalid, and first, second and multi_count are 0, if N,
 * or the B, T or M of the formula, is missing, or if M exceeds 32 bits. A missing frequency does not matter. The second
 * value of PERF_PRECISION_OBJECT_TIMER without a base is the object's time. The function does not know whether machine,
 * object and instance exist: their statuses, such as PDH_CSTATUS_NO_INSTANCE, are up to the caller. */
PFB_API pfb_pdh_raw pfb_formula_pdh_raw(const pfb_raw_value *raw);

/* ---- Evaluation ------------------------------------------------------------------------------------------- */

/* Why there is a value, or none. Numbers and names never change their meaning. */
typedef enum pfb_status {
    PFB_STATUS_OK = 0,
    PFB_STATUS_NEED_TWO_SAMPLES = 1,     /* the formula compares two samples; only one was given */
    PFB_STATUS_TYPE_MISMATCH = 2,        /* the samples differ in type or size, or a size is not that of the type */
    PFB_STATUS_UNKNOWN_TYPE = 3,         /* the type is not in the table */
    PFB_STATUS_NOT_DISPLAYED = 4,        /* text, no-data, base and histogram types */
    PFB_STATUS_MISSING_BASE = 5,         /* base or multi count absent or of a wrong type */
    PFB_STATUS_MISSING_INPUT = 6,        /* raw value, clock or frequency absent */
    PFB_STATUS_NEGATIVE_DELTA = 7,       /* the counter decreased, or an elapsed counter starts in the future */
    PFB_STATUS_ZERO_DENOMINATOR = 8,     /* no time, or no operation, between the samples */
    PFB_STATUS_NEGATIVE_DENOMINATOR = 9, /* clock or base went backwards */
    PFB_STATUS_BAD_FREQUENCY = 10,       /* a frequency that the formula uses is not positive */
    PFB_STATUS_ZERO_BASE = 11,           /* base or multi count is 0 */
    PFB_STATUS_NO_DATA = 12,             /* an elapsed counter whose start is 0 */
    PFB_STATUS_BAD_SCALE = 13            /* options.scale is out of range */
} pfb_status;

/* Flags of PFB_STATUS_OK. All but PFB_FLAG_WRAPPED describe the exact value, before cap_100, clamp_0 and scale. */
#define PFB_FLAG_WRAPPED 1u    /* wrap32 added 2^32 to a counter or base that decreased */
#define PFB_FLAG_ABOVE_100 2u  /* a percentage above 100 */
#define PFB_FLAG_BELOW_ZERO 4u /* an inverse below 0 */

/* Policies; all are off in {0}. */
typedef struct pfb_formula_options {
    bool wrap32;                  /* a 4-byte counter or base that decreased has wrapped at 2^32 once. Off because a
                                   * restarted process looks the same. 8-byte numbers never wrap */
    bool per_item_inverse;        /* inverse multi timers are divided by M, like other multi timers: at most 100 */
    bool server_2003_multi_timer; /* PERF_COUNTER_MULTI_TIMER as 100 (dN / dT) / M, without F */
    bool generic;                 /* unnamed types are evaluated by their bits (pfb_counter_type_derive) */
    bool cap_100;                 /* values above 100 of types with unit % become 100 */
    bool clamp_0;                 /* values below 0 become 0 */
    int8_t scale;                 /* times 10^scale, -10 to 10; after cap_100, before rounding */
    bool pdh_order;               /* computes in doubles and rounds after each operation, in the order of Windows' PDH,
                                   * so that the last digit is that of Windows: N / (dT / F), N / D * 100,
                                   * (1 - N / D) * 100; scale follows as a product. Statuses do not change; flags
                                   * describe the rounded value. On x87 the last digit may differ */
    uint8_t reserved[8];
} pfb_formula_options;

#define PFB_SCALE_LIMIT 10

typedef struct pfb_formula_result {
    pfb_status status;
    uint32_t flags;   /* PFB_FLAG_ bits; 0 unless the status is ok */
    double value;     /* finite; 0 unless the status is ok */
    pfb_unit unit;    /* of the type; PFB_UNIT_NONE for unknown types */
    bool is_integer;  /* the exact result is an integer from 0 to 2^64 - 1 */
    uint64_t integer; /* that integer, else 0; a double rounds integers above 2^53 */
} pfb_formula_result;

/* Evaluates the formula of the newer sample's type. `older` may be null; then types that need two samples have the
 * status need_two_samples. Types that need one use `newer` alone, but an `older` of another type is still a
 * type_mismatch. The frequency and the multi count are those of `newer`. `options` may be null.
 *
 * The first failing test gives the status: type known, something to display, scale in range, enough samples, same type
 * and size, inputs present, start of an elapsed counter not 0, counter not decreased, frequency positive, multi count
 * not 0, denominator positive. */
PFB_API pfb_formula_result pfb_formula_evaluate(const pfb_raw_value *older, const pfb_raw_value *newer,
                                                const pfb_formula_options *options);

/* A result as a status byte beside its value, as pfb_sample_cook stores it. The unit is that of the type. */
#define PFB_STATUS_BYTE_CODE 0x0FU    /* pfb_status */
#define PFB_STATUS_BYTE_FLAGS 0x70U   /* PFB_FLAG_ bits, times 16 */
#define PFB_STATUS_BYTE_INTEGER 0x80U /* the exact result is an integer below 2^53, equal to the value */

/* Returns the result with this value, status byte and unit. is_integer is false if the value is not an integer from 0
 * to 2^53 - 1, even if the status byte has PFB_STATUS_BYTE_INTEGER. */
PFB_API pfb_formula_result pfb_formula_unpack(double value, uint8_t status_byte, pfb_unit unit);

/* Returns the status in lower case ("negative_delta"). Never null; static. */
PFB_API const char *pfb_status_name(pfb_status status);

/* Returns the name of a single flag bit ("above_100"); "" for anything else. Never null; static. */
PFB_API const char *pfb_flag_name(uint32_t flag);

#ifdef __cplusplus
}
#endif

#endif
