/* SPDX-License-Identifier: MIT */
#ifndef PFB_STREAM_CIRCULAR_H
#define PFB_STREAM_CIRCULAR_H

/* Circular logs: a .blg of a limited size, whose oldest buffers are overwritten by the newest ones. */
#include "stream/formats.h"

enum { PFB_CIRCULAR_PARTS = 64 };

/* Finds the parts of the file of a .blg in the order of their times. Returns their number; 0 if the file already has
 * this order, if no order of at most PFB_CIRCULAR_PARTS parts has ascending times, or if buffers are malformed. Reads
 * the start of each buffer, of a file that can be read at any offset. */
size_t pfb_circular_find(const file_input *file, file_part parts[PFB_CIRCULAR_PARTS]);

#endif
