/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_WORDS_H
#define PERFBLOCK_CPI_WORDS_H

#include "perfblock/export.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Figures in the form of the CPI facility's trace hooks: two words, 4 decimal places; docs/cpi.md. */

/* The integral part and the ten-thousandths. Both PFB_CPI_UNDEFINED: no figure. */
typedef struct pfb_cpi_words {
    uint32_t integral; /* at most 0xFFFFFFFE */
    uint32_t fraction; /* 0 to 9999 */
} pfb_cpi_words;

#define PFB_CPI_UNDEFINED UINT32_C(0xFFFFFFFF)

/* numerator / denominator, exact and then rounded half up. Undefined if the denominator is 0 or the integral part does
 * not fit. */
PFB_API pfb_cpi_words pfb_cpi_figure_words(uint64_t numerator, uint64_t denominator);

/* 100 * part / whole, with the same rules. */
PFB_API pfb_cpi_words pfb_cpi_percent_words(uint64_t part, uint64_t whole);

/* Converts the exact value of a double, rounded half up. Returns false and undefined words for a negative number, an
 * infinity or a NaN; returns true and undefined words if the value is too large. */
PFB_API bool pfb_cpi_double_words(double value, pfb_cpi_words *words);

/* Returns the value in *value, rounded once to the nearest double; pfb_cpi_double_words converts it back to the same
 * words. False and 0.0 if the words are not a figure. */
PFB_API bool pfb_cpi_words_value(pfb_cpi_words words, double *value);

/* Returns true if the words are a figure or undefined; hostile data may hold others. */
PFB_API bool pfb_cpi_words_valid(pfb_cpi_words words);

/* Returns true if valid words are those of pfb_cpi_figure_words, or differ by 0.0001: other writers may truncate
 * instead of round. */
PFB_API bool pfb_cpi_words_near(pfb_cpi_words words, uint64_t numerator, uint64_t denominator);

#ifdef __cplusplus
}
#endif

#endif
