/* SPDX-License-Identifier: MIT */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "values/printer.h"

/* Prints the displayed values of a collector's samples: a record per value as JSON or CSV, tables as text, or metrics.
 */

/* Returns true if nothing more is printed: the output failed, or max_samples were printed. */
bool values_has_ended(const values_printer *p);

/* Prints the current sample. */
void values_print(values_printer *p, pfb_collector *collector);

/* Ends the current sample: a sample may come in several parts, and this was the last. Optional, because the next sample
 * and values_end() also end it. */
void values_end_sample(values_printer *p);

/* Ends the last sample and frees the memory of the printer. */
void values_end(values_printer *p);

#endif
