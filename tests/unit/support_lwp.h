/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_LWP_H
#define PFB_TEST_SUPPORT_LWP_H

/* The inputs of the reader of LWP data, which a test can change: the registers of CPUID leaf 8000001Ch, the control
 * block, and the ring. */
#include "perfblock/lwp/lwp.h"

enum { LWP_CONTROL_CAPACITY = 256, LWP_RING_CAPACITY = 4096 * 32 };

typedef struct lwp_bytes {
    uint32_t leaf[4]; /* EAX, EBX, ECX, EDX of CPUID leaf 8000001Ch */
    uint8_t control[LWP_CONTROL_CAPACITY];
    size_t control_size;
    uint8_t ring[LWP_RING_CAPACITY];
    size_t ring_size;
} lwp_bytes;

/* Returns EBX of leaf 8000001Ch with these values: control_bytes is a multiple of 8 and at most 2040, the others are at
 * most 255. */
uint32_t lwp_geometry(uint32_t control_bytes, uint32_t event_bytes, uint32_t max_events, uint32_t event_offset);

/* A CPU with all six events and all modes, version 1, minimum ring of 1024 bytes; a control block of 176 bytes that
 * enables all events, with intervals of 999 and counters of 10; an empty ring of 1024 bytes. Reading it sets no notes.
 */
void lwp_make(lwp_bytes *b);

/* Like lwp_make, but with records of `event_bytes` and a ring of `ring_bytes`, with this head and tail. The leaf has no
 * minimum size of the ring and no events with a pair of interval and counter. Reading may set notes. */
void lwp_make_ring(lwp_bytes *b, uint32_t event_bytes, uint32_t ring_bytes, uint32_t head, uint32_t tail);

/* Overwrites the 32 bits at byte `at` of a part. In the leaf, 0 is EAX, 4 EBX, 8 ECX and 12 EDX. */
void lwp_set(lwp_bytes *b, pfb_lwp_part part, size_t at, uint32_t value);

/* The first 32 bytes of a record. */
typedef struct lwp_record {
    uint8_t id, core;
    uint16_t flags;
    uint32_t data1;
    uint64_t address, data2, last; /* last: bytes 24 to 31, the time stamp if there is one */
} lwp_record;

/* Writes the record at slot * stride in the ring, without `last` if stride is less than 32. */
void lwp_put(lwp_bytes *b, uint32_t stride, uint32_t slot, lwp_record record);

bool lwp_open(pfb_lwp *lwp, const lwp_bytes *b, const pfb_read_options *options);

void expect_place(pfb_lwp_place place, pfb_lwp_place expected, const char *what);

#endif
