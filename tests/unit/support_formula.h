/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_FORMULA_H
#define PFB_TEST_SUPPORT_FORMULA_H

/* Samples and expectations for the tests of formulas and their options. */
#include "perfblock/formula.h"

/* Counter types, with shortened names of winperf.h. */
enum {
    RAWCOUNT = 0x00010000,
    LARGE_RAWCOUNT = 0x00010100,
    TEXT = 0x00000B00,
    DELTA = 0x00400400,
    LARGE_DELTA = 0x00400500,
    SAMPLE_COUNTER = 0x00410400,
    QUEUELEN = 0x00450400,
    OBJ_QUEUELEN = 0x00650500,
    COUNTER = 0x10410400,
    BULK_COUNT = 0x10410500,
    RAW_FRACTION = 0x20020400,
    LARGE_RAW_FRACTION = 0x20020500,
    TIMER = 0x20410500,
    TIMER_100NS = 0x20510500,
    PRECISION_100NS = 0x20570500,
    PRECISION_OBJECT = 0x20670500,
    SAMPLE_FRACTION = 0x20C20400,
    TIMER_INV = 0x21410500,
    TIMER_100NS_INV = 0x21510500,
    MULTI_TIMER = 0x22410500,
    MULTI_TIMER_INV = 0x23410500,
    MULTI_100NS_INV = 0x23510500,
    AVERAGE_TIMER = 0x30020400,
    ELAPSED = 0x30240500,
    AVERAGE_BULK = 0x40020500,
    AVERAGE_BASE = 0x40030402,
    LARGE_RAW_BASE = 0x40030500
};

enum { ALL_INPUTS = 255 }; /* all flags PFB_HAS_... */

/* A sample with all inputs. Each clock advances by a different amount per tick, so that a formula with the wrong clock
 * has another result. */
pfb_raw_value sample_at(uint32_t type, int64_t tick, uint64_t value);

/* Evaluates two such samples, one tick apart. */
pfb_formula_result evaluate_two(uint32_t type, uint64_t older_value, uint64_t newer_value);

bool same_bits(double a, double b);
bool same_result(const pfb_formula_result *a, const pfb_formula_result *b);

/* The number of counter types: 39. */
size_t type_count(void);

/* Returns true if value and status byte are those of the result. */
bool same_packed(double value, uint8_t status_byte, const pfb_formula_result *result);

void expect_value(pfb_formula_result result, double value, uint32_t flags, const char *what);
void expect_integer(pfb_formula_result result, uint64_t integer, const char *what);

/* Checks that the result has this status and no value. */
void expect_status(pfb_formula_result result, pfb_status status, const char *what);

#endif
