/* SPDX-License-Identifier: MIT */
#ifndef CLI_REPORT_FIGURES_H
#define CLI_REPORT_FIGURES_H

#include <stdint.h>

/* Figures of the values of one counter and instance. Starts as all zero. */
typedef struct figures {
    uint64_t count; /* the rest is 0 while this is */
    double least, most, last;
    double sum, correction; /* the sum, and what rounding took from it */
} figures;

/* Adds a finite value. */
void figures_add(figures *f, double value);

/* The arithmetic mean; 0 without values. */
double figures_average(const figures *f);

#endif
