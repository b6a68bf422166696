/* SPDX-License-Identifier: MIT */
#ifndef CLI_REPORT_FIGURES_H
#define CLI_REPORT_FIGURES_H

#include <stdint.h>

/* Minimum, average, maximum and last of the values of one counter and instance. Starts as all zero. */
typedef struct figures {
    uint64_t count; /* 0: the other members are 0 as well */
    double minimum, maximum, last;
    double sum, correction; /* the sum of value * weight, and the sum of its rounding errors */
    double weight;          /* the sum of the weights */
} figures;

/* Adds a finite value, except to the average. */
void figures_add(figures *f, double value);

/* Adds a value to the average, with a positive weight. */
void figures_weigh(figures *f, double value, double weight);

/* The weighted mean; 0 without weights, not finite if the sum overflows. */
double figures_average(const figures *f);

#endif
