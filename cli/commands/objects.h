/* SPDX-License-Identifier: MIT */
#ifndef CLI_OBJECTS_H
#define CLI_OBJECTS_H

#include "input/input.h"
#include "names/titles.h"
#include "output/output.h"

/* The objects of V1 blocks with their counters, each title once: the counterpart of countersets. */

/* Lists the objects of a file of blocks, or of the V1DT chunks of a capture. Errors in the blocks are reported. */
void objects_list(output *out, input *in, const title_names *names);

#endif
