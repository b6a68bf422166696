/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_WORDS_H
#define PERFBLOCK_CPI_WORDS_H

#include "perfblock/export.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Figures of the CPI facility as its trace hooks have them, to 4 places; docs/cpi_words.md. */

/* The integral word and the ten-thousandths. Both PFB_CPI_UNDEFINED: there is no figure. */
typedef struct pfb_cpi_words {
    uint32_t integral; /* at most 0xFFFFFFFE */
    uint32_t fraction; /* 0 to 9999 */
} pfb_cpi_words;

#define PFB_CPI_UNDEFINED UINT32_C(0xFFFFFFFF)

/* numerator / denominator, rounded half up; exact for any two. Undefined when the denominator is 0 or the integral part
 * does not fit. */
PFB_API pfb_cpi_words pfb_cpi_figure_words(uint64_t numerator, uint64_t denominator);

/* 100 * part / whole, likewise. */
PFB_API pfb_cpi_words pfb_cpi_percent_words(uint64_t part, uint64_t whole);

/* The exact binary value of a double, rounded half up. False, and undefined, when it is negative, infinite or no
 * number; one that is too large is undefined as well, but true. */
PFB_API bool pfb_cpi_double_words(double value, pfb_cpi_words *words);

/* The value, rounded once to the nearest double, from which pfb_cpi_double_words gives the same words again. False, and
 * 0.0, when there is none. */
PFB_API bool pfb_cpi_words_value(pfb_cpi_words words, double *value);

/* Whether the words are a figure or undefined: any others are possible in hostile data. */
PFB_API bool pfb_cpi_words_valid(pfb_cpi_words words);

/* Whether valid words are what pfb_cpi_figure_words gives, or a figure one unit beside it: other writers may cut
 * instead of round. */
PFB_API bool pfb_cpi_words_near(pfb_cpi_words words, uint64_t numerator, uint64_t denominator);

#ifdef __cplusplus
}
#endif

#endif
