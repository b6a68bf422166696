/* SPDX-License-Identifier: MIT */
#include "report/figures.h"

#include <math.h>

/* Neumaier's variant of Kahan's summation: the rounding error of the sum hardly grows with the number of values. */
static void add_to_sum(figures *f, double value)
{
    double sum = f->sum + value;
    if (fabs(f->sum) >= fabs(value))
        f->correction += (f->sum - sum) + value;
    else
        f->correction += (value - sum) + f->sum;
    f->sum = sum;
}

void figures_add(figures *f, double value)
{
    f->minimum = f->count == 0 || value < f->minimum ? value : f->minimum;
    f->maximum = f->count == 0 || value > f->maximum ? value : f->maximum;
    f->last = value;
    f->count++;
}

void figures_weigh(figures *f, double value, double weight)
{
    add_to_sum(f, value * weight);
    f->weight += weight;
}

double figures_average(const figures *f)
{
    return f->weight > 0 ? (f->sum + f->correction) / f->weight : 0;
}
