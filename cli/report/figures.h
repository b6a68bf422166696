/* SPDX-License-Identifier: MIT */
#ifndef CLI_REPORT_FIGURES_H
#define CLI_REPORT_FIGURES_H

#include <stdint.h>

/* Minimum, average, maximum and last of the values of one counter and instance. Starts as all zero. */
typedef struct figures {
    uint64_t count; /* 0: the other members are 0 as well */
    double minimum, maximum, last;
    double sum, correction; /* the sum, and the sum of its rounding errors */
} figures;

/* Adds a finite value. */
void figures_add(figures *f, double value);

/* The arithmetic mean; 0 without values, not finite if the sum overflows. */
double figures_average(const figures *f);

#endif
