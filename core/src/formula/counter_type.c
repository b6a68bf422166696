/* SPDX-License-Identifier: MIT */
#include "formula/evaluation.h"

/* Short names for the columns, so that each row of the table fits on a line. */
#define DWORD PFB_RAW_DWORD
#define LARGE PFB_RAW_LARGE
#define ZERO PFB_RAW_ZERO
#define VARIABLE PFB_RAW_VARIABLE
#define NOCLK PFB_CLOCK_NONE
#define PERF PFB_CLOCK_PERF
#define C100 PFB_CLOCK_100NS
#define OBJ PFB_CLOCK_OBJECT
#define ONE PFB_DENOMINATOR_ONE
#define DT PFB_DENOMINATOR_TIME
#define B PFB_DENOMINATOR_BASE
#define DB PFB_DENOMINATOR_BASE_DELTA
#define NONE PFB_UNIT_NONE
#define PSEC PFB_UNIT_PER_SECOND
#define PCT PFB_UNIT_PERCENT
#define SEC PFB_UNIT_SECONDS
#define N PFB_TERM_RAW
#define DN PFB_TERM_DELTA
#define ELAPSED PFB_TERM_ELAPSED
#define X100 PFB_TERM_PERCENT
#define XF PFB_TERM_TIMES_FREQUENCY
#define OF PFB_TERM_OVER_FREQUENCY
#define INV PFB_TERM_INVERSE
#define OM PFB_TERM_OVER_MULTI_COUNT
#define FM PFB_TERM_FROM_MULTI_COUNT
#define BT PFB_TERM_BASE_OR_TIME

#define SAMPLE_BASE UINT32_C(0x40030401)
#define AVERAGE_BASE UINT32_C(0x40030402)
#define RAW_BASE UINT32_C(0x40030403)
#define LARGE_RAW_BASE UINT32_C(0x40030500)
#define LARGE_RAW_BASE_ALIAS UINT32_C(0x40030503) /* the value of PERF_LARGE_RAW_BASE in some tools */
#define MULTI_BASE PFB_TYPE_MULTI_BASE

/* Ascending by value: pfb_counter_type_find uses a binary search. The columns after the name: size of the raw value,
 * samples needed, clock, denominator, unit, terms, type of the base, formula. */
/* clang-format off */
static const pfb_counter_type type_rows[] = {
    {0x00000000u, "PERF_COUNTER_RAWCOUNT_HEX",            DWORD,    1, NOCLK, ONE, NONE, N,                     0,              "N"},
    {0x00000100u, "PERF_COUNTER_LARGE_RAWCOUNT_HEX",      LARGE,    1, NOCLK, ONE, NONE, N,                     0,              "N"},
    {0x00000B00u, "PERF_COUNTER_TEXT",                    VARIABLE, 0, NOCLK, ONE, NONE, 0,                     0,              "-"},
    {0x00010000u, "PERF_COUNTER_RAWCOUNT",                DWORD,    1, NOCLK, ONE, NONE, N,                     0,              "N"},
    {0x00010100u, "PERF_COUNTER_LARGE_RAWCOUNT",          LARGE,    1, NOCLK, ONE, NONE, N,                     0,              "N"},
    {0x00400400u, "PERF_COUNTER_DELTA",                   DWORD,    2, NOCLK, ONE, NONE, DN,                    0,              "dN"},
    {0x00400500u, "PERF_COUNTER_LARGE_DELTA",             LARGE,    2, NOCLK, ONE, NONE, DN,                    0,              "dN"},
    {0x00410400u, "PERF_SAMPLE_COUNTER",                  DWORD,    2, PERF,  DT,  NONE, DN | XF,               0,              "dN / (dT / F)"},
    {0x00450400u, "PERF_COUNTER_QUEUELEN_TYPE",           DWORD,    2, PERF,  DT,  NONE, DN,                    0,              "dN / dT"},
    {0x00450500u, "PERF_COUNTER_LARGE_QUEUELEN_TYPE",     LARGE,    2, PERF,  DT,  NONE, DN,                    0,              "dN / dT"},
    {0x00550500u, "PERF_COUNTER_100NS_QUEUELEN_TYPE",     LARGE,    2, C100,  DT,  NONE, DN,                    0,              "dN / dT"},
    {0x00650500u, "PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE",  LARGE,    2, OBJ,   DT,  NONE, DN,                    0,              "dN / dT"},
    {0x10410400u, "PERF_COUNTER_COUNTER",                 DWORD,    2, PERF,  DT,  PSEC, DN | XF,               0,              "dN / (dT / F)"},
    {0x10410500u, "PERF_COUNTER_BULK_COUNT",              LARGE,    2, PERF,  DT,  PSEC, DN | XF,               0,              "dN / (dT / F)"},
    {0x20020400u, "PERF_RAW_FRACTION",                    DWORD,    1, NOCLK, B,   PCT,  N | X100,              RAW_BASE,       "100 N / B"},
    {0x20020500u, "PERF_LARGE_RAW_FRACTION",              LARGE,    1, NOCLK, B,   PCT,  N | X100,              LARGE_RAW_BASE, "100 N / B"},
    {0x20410500u, "PERF_COUNTER_TIMER",                   LARGE,    2, PERF,  DT,  PCT,  DN | X100,             0,              "100 dN / dT"},
    {0x20470500u, "PERF_PRECISION_SYSTEM_TIMER",          LARGE,    2, NOCLK, DB,  PCT,  DN | X100,             LARGE_RAW_BASE, "100 dN / dB"},
    {0x20510500u, "PERF_100NSEC_TIMER",                   LARGE,    2, C100,  DT,  PCT,  DN | X100,             0,              "100 dN / dT"},
    {0x20570500u, "PERF_PRECISION_100NS_TIMER",           LARGE,    2, NOCLK, DB,  PCT,  DN | X100,             LARGE_RAW_BASE, "100 dN / dB"},
    {0x20610500u, "PERF_OBJ_TIME_TIMER",                  LARGE,    2, OBJ,   DT,  PCT,  DN | X100,             0,              "100 dN / dT"},
    {0x20670500u, "PERF_PRECISION_OBJECT_TIMER",          LARGE,    2, OBJ,   DB,  PCT,  DN | X100 | BT,        LARGE_RAW_BASE, "100 dN / dB"},
    {0x20C20400u, "PERF_SAMPLE_FRACTION",                 DWORD,    2, NOCLK, DB,  PCT,  DN | X100,             SAMPLE_BASE,    "100 dN / dB"},
    {0x21410500u, "PERF_COUNTER_TIMER_INV",               LARGE,    2, PERF,  DT,  PCT,  DN | X100 | INV,       0,              "100 (1 - dN / dT)"},
    {0x21510500u, "PERF_100NSEC_TIMER_INV",               LARGE,    2, C100,  DT,  PCT,  DN | X100 | INV,       0,              "100 (1 - dN / dT)"},
    {0x22410500u, "PERF_COUNTER_MULTI_TIMER",             LARGE,    2, PERF,  DT,  PCT,  DN | X100 | XF | OM,   MULTI_BASE,     "100 (dN / (dT / F)) / M"},
    {0x22510500u, "PERF_100NSEC_MULTI_TIMER",             LARGE,    2, C100,  DT,  PCT,  DN | X100 | OM,        MULTI_BASE,     "100 (dN / dT) / M"},
    {0x23410500u, "PERF_COUNTER_MULTI_TIMER_INV",         LARGE,    2, PERF,  DT,  PCT,  DN | X100 | INV | FM,  MULTI_BASE,     "100 (M - dN / dT)"},
    {0x23510500u, "PERF_100NSEC_MULTI_TIMER_INV",         LARGE,    2, C100,  DT,  PCT,  DN | X100 | INV | FM,  MULTI_BASE,     "100 (M - dN / dT)"},
    {0x30020400u, "PERF_AVERAGE_TIMER",                   DWORD,    2, PERF,  DB,  SEC,  DN | OF,               AVERAGE_BASE,   "(dN / F) / dB"},
    {0x30240500u, "PERF_ELAPSED_TIME",                    LARGE,    1, OBJ,   ONE, SEC,  ELAPSED | OF,          0,              "(T - N) / F"},
    {0x40000200u, "PERF_COUNTER_NODATA",                  ZERO,     0, NOCLK, ONE, NONE, 0,                     0,              "-"},
    {0x40020500u, "PERF_AVERAGE_BULK",                    LARGE,    2, NOCLK, DB,  NONE, DN,                    AVERAGE_BASE,   "dN / dB"},
    {SAMPLE_BASE, "PERF_SAMPLE_BASE",                     DWORD,    0, NOCLK, ONE, NONE, 0,                     0,              "-"},
    {AVERAGE_BASE, "PERF_AVERAGE_BASE",                   DWORD,    0, NOCLK, ONE, NONE, 0,                     0,              "-"},
    {RAW_BASE,    "PERF_RAW_BASE",                        DWORD,    0, NOCLK, ONE, NONE, 0,                     0,              "-"},
    {LARGE_RAW_BASE, "PERF_LARGE_RAW_BASE",               LARGE,    0, NOCLK, ONE, NONE, 0,                     0,              "-"},
    {MULTI_BASE,  "PERF_COUNTER_MULTI_BASE",              LARGE,    0, NOCLK, ONE, NONE, 0,                     0,              "-"},
    {0x80000000u, "PERF_COUNTER_HISTOGRAM_TYPE",          DWORD,    0, NOCLK, ONE, NONE, 0,                     0,              "-"},
};
/* clang-format on */

#undef DWORD
#undef LARGE
#undef ZERO
#undef VARIABLE
#undef NOCLK
#undef PERF
#undef C100
#undef OBJ
#undef ONE
#undef DT
#undef B
#undef DB
#undef NONE
#undef PSEC
#undef PCT
#undef SEC
#undef N
#undef DN
#undef ELAPSED
#undef X100
#undef XF
#undef OF
#undef INV
#undef OM
#undef FM
#undef BT

#define TYPE_COUNT (sizeof type_rows / sizeof type_rows[0])

/* winperf.h has two names for the value LARGE_RAW_BASE; the table lists it as PERF_LARGE_RAW_BASE. */
static const char precision_timestamp[] = "PERF_PRECISION_TIMESTAMP";
static const char large_raw_base[] = "PERF_LARGE_RAW_BASE";

const pfb_counter_type *pfb_counter_type_at(size_t position)
{
    return position < TYPE_COUNT ? &type_rows[position] : NULL;
}

const pfb_counter_type *pfb_counter_type_find(uint32_t value)
{
    if (value == LARGE_RAW_BASE_ALIAS)
        value = LARGE_RAW_BASE;
    size_t low = 0;
    size_t high = TYPE_COUNT;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (type_rows[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < TYPE_COUNT && type_rows[low].value == value ? &type_rows[low] : NULL;
}

/* Returns true if the `size` bytes of `name` are the NUL-terminated `row_name`. Reads past the end of neither. */
static bool same_name(const char *name, size_t size, const char *row_name)
{
    size_t same = 0;
    while (same < size && name[same] == row_name[same] && row_name[same] != '\0')
        same++;
    return same == size && row_name[same] == '\0';
}

const pfb_counter_type *pfb_counter_type_named(const char *name, size_t size)
{
    if (same_name(name, size, precision_timestamp)) {
        name = large_raw_base;
        size = sizeof large_raw_base - 1;
    }
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (same_name(name, size, type_rows[i].name))
            return &type_rows[i];
    }
    return NULL;
}

const char *pfb_unit_text(pfb_unit unit)
{
    static const char texts[4][5] = {"", "/sec", "%", "sec"};
    return (unsigned)unit < 4 ? texts[unit] : "";
}

enum { CLASS_COUNTER = 1 };

/* Subtypes of class COUNTER. */
enum {
    SUBTYPE_VALUE,
    SUBTYPE_RATE,
    SUBTYPE_FRACTION,
    SUBTYPE_BASE,
    SUBTYPE_ELAPSED,
    SUBTYPE_QUEUELEN,
    SUBTYPE_HISTOGRAM,
    SUBTYPE_PRECISION
};

enum { DISPLAY_NONE, DISPLAY_PER_SECOND, DISPLAY_PERCENT, DISPLAY_SECONDS };

/* A type by its fields. */
typedef struct type_fields {
    uint8_t raw_size;   /* pfb_raw_size */
    uint8_t type_class; /* 0 NUMBER, 1 COUNTER, 2 TEXT, 3 ZERO */
    uint8_t subtype;    /* 0 to 15 */
    uint8_t timer;      /* 0 tick, 1 100 ns, 2 object, 3 undefined */
    uint8_t display;    /* 0 to 15 */
    bool delta, delta_base, inverse, multi;
    bool is_well_formed; /* class COUNTER, reserved bits 0, subtype defined, timer below 3, DELTA_BASE only with
                          * FRACTION, INVERSE only with RATE, MULTI only with RATE or BASE, display at most 4 */
} type_fields;

static type_fields split_type(uint32_t value)
{
    type_fields f = {.raw_size = (value & PFB_TYPE_SIZE_MASK) >> 8,
                     .type_class = (value & PFB_TYPE_CLASS_MASK) >> 10,
                     .subtype = (value & PFB_TYPE_SUBTYPE_MASK) >> 16,
                     .timer = (value & PFB_TYPE_TIMER_MASK) >> 20,
                     .display = (uint8_t)(value >> 28),
                     .delta = (value & PFB_TYPE_DELTA) != 0,
                     .delta_base = (value & PFB_TYPE_DELTA_BASE) != 0,
                     .inverse = (value & PFB_TYPE_INVERSE) != 0,
                     .multi = (value & PFB_TYPE_MULTI) != 0};
    bool is_rate = f.subtype == SUBTYPE_RATE;
    f.is_well_formed = (value & PFB_TYPE_RESERVED_MASK) == 0 && f.type_class == CLASS_COUNTER &&
                       f.subtype <= SUBTYPE_PRECISION && f.timer < 3 && f.display <= 4;
    f.is_well_formed = f.is_well_formed && (!f.delta_base || f.subtype == SUBTYPE_FRACTION) &&
                       (!f.inverse || is_rate) && (!f.multi || is_rate || f.subtype == SUBTYPE_BASE);
    return f;
}

/* Terms of a rate besides dN / dT. Multi timers are divided by M; their inverses are M minus the quotient. */
static unsigned rate_terms(const type_fields *f)
{
    unsigned terms = f->display <= DISPLAY_PER_SECOND ? PFB_TERM_TIMES_FREQUENCY : 0;
    if (f->display == DISPLAY_PERCENT)
        terms |= PFB_TERM_PERCENT;
    if (f->inverse)
        terms |= PFB_TERM_INVERSE;
    if (f->multi)
        terms |= f->inverse ? PFB_TERM_FROM_MULTI_COUNT : PFB_TERM_OVER_MULTI_COUNT;
    return terms;
}

static unsigned fraction_terms(const type_fields *f)
{
    unsigned terms = f->delta ? PFB_TERM_DELTA : PFB_TERM_RAW;
    if (f->display == DISPLAY_PERCENT)
        terms |= PFB_TERM_PERCENT;
    return f->display == DISPLAY_SECONDS ? terms | PFB_TERM_OVER_FREQUENCY : terms;
}

static unsigned derive_terms(const type_fields *f)
{
    bool object = f->timer + 1 == PFB_CLOCK_OBJECT;
    switch (f->subtype) {
    case SUBTYPE_VALUE:
        return f->delta ? PFB_TERM_DELTA : PFB_TERM_RAW;
    case SUBTYPE_RATE:
        return PFB_TERM_DELTA | rate_terms(f);
    case SUBTYPE_FRACTION:
        return fraction_terms(f);
    case SUBTYPE_ELAPSED:
        return PFB_TERM_ELAPSED | PFB_TERM_OVER_FREQUENCY;
    case SUBTYPE_QUEUELEN:
        return PFB_TERM_DELTA;
    case SUBTYPE_PRECISION:
        return PFB_TERM_DELTA | PFB_TERM_PERCENT | (object ? PFB_TERM_BASE_OR_TIME : 0);
    default: /* base, histogram */
        return 0;
    }
}

static pfb_denominator derive_denominator(const type_fields *f)
{
    switch (f->subtype) {
    case SUBTYPE_RATE:
    case SUBTYPE_QUEUELEN:
        return PFB_DENOMINATOR_TIME;
    case SUBTYPE_FRACTION:
        return f->delta_base ? PFB_DENOMINATOR_BASE_DELTA : PFB_DENOMINATOR_BASE;
    case SUBTYPE_PRECISION:
        return PFB_DENOMINATOR_BASE_DELTA;
    default:
        return PFB_DENOMINATOR_ONE;
    }
}

bool pfb_counter_type_derive(uint32_t value, pfb_counter_type *row)
{
    type_fields f = split_type(value);
    if (!f.is_well_formed)
        return false;
    pfb_counter_type derived = {.value = value, .raw_size = f.raw_size};
    if (f.raw_size == PFB_RAW_DWORD || f.raw_size == PFB_RAW_LARGE)
        derived.terms = (uint16_t)derive_terms(&f);
    if (derived.terms != 0) {
        unsigned timed = PFB_TERM_ELAPSED | PFB_TERM_OVER_FREQUENCY | PFB_TERM_BASE_OR_TIME;
        derived.denominator = (uint8_t)derive_denominator(&f);
        if (derived.denominator == PFB_DENOMINATOR_TIME || (derived.terms & timed))
            derived.clock = (uint8_t)(f.timer + 1);
        derived.samples = (derived.terms & PFB_TERM_DELTA) || f.delta_base ? 2 : 1;
        derived.unit = f.display <= DISPLAY_SECONDS ? f.display : PFB_UNIT_NONE;
    }
    *row = derived;
    return true;
}

bool pfb_counter_type_is_base(uint32_t value)
{
    type_fields fields = split_type(value);
    return fields.type_class == CLASS_COUNTER && fields.subtype == SUBTYPE_BASE;
}

bool pfb_counter_type_is_raw_count(uint32_t value)
{
    const pfb_counter_type *type = pfb_counter_type_find(value);
    return type && type->terms == PFB_TERM_RAW;
}

bool pfb_counter_type_resolve(uint32_t value, pfb_counter_type *row)
{
    const pfb_counter_type *named = pfb_counter_type_find(value);
    if (named)
        *row = *named;
    return named || pfb_counter_type_derive(value, row);
}
