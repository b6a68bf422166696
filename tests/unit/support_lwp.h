/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_LWP_H
#define PFB_TEST_SUPPORT_LWP_H

/* The three inputs of the reader of LWP data, as bytes that a test can change. */
#include "perfblock/lwp/lwp.h"

enum { LWP_CONTROL_CAPACITY = 256, LWP_RING_CAPACITY = 4096 * 32 };

typedef struct lwp_bytes {
    uint32_t leaf[4]; /* EAX, EBX, ECX, EDX of CPUID leaf 8000001Ch */
    uint8_t control[LWP_CONTROL_CAPACITY];
    size_t control_size;
    uint8_t ring[LWP_RING_CAPACITY];
    size_t ring_size;
} lwp_bytes;

/* Returns EBX of the leaf, which contains these sizes. */
uint32_t lwp_geometry(uint32_t control_bytes, uint32_t event_bytes, uint32_t max_events, uint32_t event_offset);

/* A CPU with all six events and all modes, version 1, minimum ring of 1024 bytes; a control block of 176 bytes that
 * enables all events, with intervals of 999 and counters of 10; an empty ring of 1024 bytes. Reading it sets no notes.
 */
void lwp_make(lwp_bytes *b);

/* The same with records of `event_bytes` and a ring of `ring_bytes`, with this head and tail. There is no minimum size
 * of the ring, and there are no pairs of interval and counter. */
void lwp_make_ring(lwp_bytes *b, uint32_t event_bytes, uint32_t ring_bytes, uint32_t head, uint32_t tail);

/* Overwrites 32 bits of a part. */
void lwp_set(lwp_bytes *b, pfb_lwp_part part, size_t at, uint32_t value);

/* The record in a slot: 32 bytes at slot * stride. */
typedef struct lwp_record {
    uint8_t id, core;
    uint16_t flags;
    uint32_t data1;
    uint64_t address, data2, last; /* the last 8 bytes */
} lwp_record;

void lwp_put(lwp_bytes *b, uint32_t stride, uint32_t slot, lwp_record record);

bool lwp_open(pfb_lwp *lwp, const lwp_bytes *b, const pfb_read_options *options);

void expect_place(pfb_lwp_place place, pfb_lwp_place expected, const char *what);

#endif
