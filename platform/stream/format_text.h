/* SPDX-License-Identifier: MIT */
#ifndef PFB_STREAM_FORMAT_TEXT_H
#define PFB_STREAM_FORMAT_TEXT_H

/* The state of a text log that is read. Formats that have the same content in another form convert a file to such a
 * text (format_samples.c) and read that. */
#include "perfblock/pdh_text.h"
#include "stream/clock_steps.h"
#include "stream/formats.h"
#include "stream/zone.h"

/* Where a line of a converted text comes from. */
typedef struct text_place {
    uint64_t at;     /* offset of the line in the text */
    uint64_t offset; /* in the file */
    uint64_t line;   /* number in the file, from 1 */
} text_place;

typedef struct text_state {
    pfb_pdh_text_reader reader;
    bool is_open;                /* the reader is, but a larger window may show the form of the rows better */
    bool must_open;              /* there is no larger window */
    bool has_paths;              /* the record of the latest header was returned */
    size_t searched;             /* size of the part of the window that has no end of the line that is read */
    size_t needed;               /* size of the window that is read */
    bool is_reading;             /* a line's end is searched in the bytes that are read */
    clock_steps steps;           /* since the latest header */
    zone_name zone;              /* of that header */
    int64_t header_bias_minutes; /* of the zone */
    const text_place *places;    /* of each line of a converted text; null: the text is the file */
    size_t place_count;
} text_state;

#endif
