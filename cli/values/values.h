/* SPDX-License-Identifier: MIT */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "values/printer.h"

/* Prints the displayed values of a collector's samples in the format of the output: records in JSON or CSV, tables, a
 * PDH text log, metrics, charts, or a summary. */

/* Returns true if nothing more is printed: the output failed, or another sample followed the last of max_samples. */
bool values_has_ended(const values_printer *p);

/* Prints the current sample. */
void values_print(values_printer *p, pfb_collector *collector);

/* Ends the current sample, which may have come in several parts, after its last part. Optional, because the next sample
 * and values_end() also end it. */
void values_end_sample(values_printer *p);

/* Ends the last sample and frees the memory of the printer. */
void values_end(values_printer *p);

#endif
