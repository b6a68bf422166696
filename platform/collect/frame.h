/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_FRAME_H
#define PFB_COLLECT_FRAME_H

#include "collect/layout.h"

/* A part of a frame: the values of a V1 or V2 sample, or those of a log's sample. Only records of a .blg have several:
 * the V1 objects in a sample follow its counters. */
typedef struct frame_segment {
    layout *layout;
    const stored_sample *sample; /* null: of the chosen file's log */
    uint32_t first_element;      /* in the arrays of the frame */
    uint32_t first_result;       /* among the results of the frame */
    size_t first_value;          /* in the collector's `values` and `status_bytes` */
    size_t first_older;          /* in its `older` */
} frame_segment;

typedef struct frame_segments {
    frame_segment *segments;
    size_t count, capacity;
} frame_segments;

/* The current frame. Initialised to zero. */
typedef struct frame_state {
    bool is_current;
    pfb_frame frame;
    frame_segments parts[2]; /* of the current frame and of the one before */
    unsigned newer;          /* index of the current one */
    uint64_t last_layout;    /* the last identifier of a layout that was given */
    double *values;
    uint8_t *statuses, *flag_bits;
    uint64_t *raw;
    int64_t *times;
    size_t value_capacity, status_capacity, flag_capacity, raw_capacity, time_capacity;
    bool has_bias; /* of the log, when the frame was made */
    int32_t bias_minutes;
} frame_state;

void pfb_collect_free_frame(frame_state *frame);

#endif
