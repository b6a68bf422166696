/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_READERS_H
#define PFB_FUZZ_READERS_H

/* Reading a subject's input whole, with every byte the library hands out touched and every promise checked that can be
 * checked without knowing what the input means. The fuzz targets and the sweep over the seeds use the same functions.
 *
 * What an input is: v2, a reply; capture, a recording; registration, a selector byte (modulo 16: 1 to 10 the
 * request code, 11 GUIDs, 12 identifier blocks, 13 instances, others: all of these in turn) and a buffer; query, an
 * even byte and identifier blocks, or an odd byte, the length of a pattern in 16-bit units as u16, the pattern, and the
 * name to match. Offsets of errors count from what stands behind the selector. */
#include "perfblock/error.h"

#include <stddef.h>
#include <stdint.h>

/* What reading came to. */
typedef struct reading {
    pfb_error error; /* the verdict */
    uint32_t notes;
    uint64_t items;     /* handed out: results, instances, values, counters, strings, blocks */
    uint64_t touched;   /* bytes of the input that were handed out, repetitions counted */
    uint64_t sum;       /* over all of that: to compare two readings */
    const char *broken; /* the promise that was not kept, or null */
} reading;

typedef enum subject { SUBJECT_V2, SUBJECT_METADATA, SUBJECT_QUERY, SUBJECT_CAPTURE } subject;

/* One reading of everything, `options` as for the open functions. */
reading read_input(subject which, const uint8_t *data, size_t size, uint32_t options);

/* Reads twice tolerantly, once strictly, and in the other ways a subject has; compares them. The tolerant reading. */
reading examine_input(subject which, const uint8_t *data, size_t size);

/* Reads while bytes change between the calls, chosen by `seed`. What is handed out must lie inside; nothing else can be
 * expected. */
reading disturb_input(subject which, uint8_t *data, size_t size, uint64_t seed);

/* What a fuzz target does with an input: examine it in memory of exactly its size, then disturb it. Aborts when a
 * promise is broken. */
void fuzz_input(subject which, const uint8_t *data, size_t size);

#endif
