/* SPDX-License-Identifier: MIT */
#ifndef CLI_COOK_LOG_H
#define CLI_COOK_LOG_H

#include "input/input.h"
#include "input/sample_range.h"
#include "values/values.h"

/* Prints the values of perfmon logs. */

/* Cooks a log of kind INPUT_LOG or INPUT_PDH_TEXT and reports its errors. Returns the number of samples and of whole
 * objects that were printed. */
uint64_t cook_log(input *in, values_printer *printer, pfb_collector *collector, sample_range *range,
                  const pfb_read_options *options);

#endif
