/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_LWP_MODEL_H
#define PFB_TEST_SUPPORT_LWP_MODEL_H

/* Common parts of the tests of the Lightweight Profiling model: a program with LWPCB and ring, and its CPU. */
#include "perfblock/lwp/model.h"

enum { MARGIN = 64, MAX_CONTROL_BYTES = 512, MAX_RING_BYTES = 16384 };
#define CONTROL UINT64_C(0x10040)
#define RING UINT64_C(0x7F0000000020) /* above 32 bits, and aligned to a record only */

/* Offsets of fields of the LWPCB; the names are short forms of those in AMD's manual. */
enum {
    FLAGS = 0,
    SIZE = 4,
    BASE = 8,
    HEAD = 16,
    MISSED = 24,
    THRESHOLD = 32,
    FILTERS = 36,
    BASE_IP = 40,
    LIMIT_IP = 48,
    TAIL = 64,
    INTERVALS = 128 /* on every known CPU */
};

/* LWPCB and ring begin MARGIN bytes after the start of their arrays. The model must not write to the bytes before and
 * after them. */
typedef struct program {
    uint8_t control[MARGIN + MAX_CONTROL_BYTES + MARGIN];
    uint8_t ring[MARGIN + MAX_RING_BYTES + MARGIN];
    uint32_t ring_bytes;
    pfb_lwp_model model;
} program;

/* EAX to EDX of CPUID leaf 8000001Ch. `bulldozer` and `kaveri` are real CPUs with all features enabled. `complete` has
 * all known features, and drops two latency bits. `small_rings` differs from it: it has no minimum ring size, no data
 * addresses and no width of latencies. */
extern const uint32_t bulldozer[4];
extern const uint32_t kaveri[4];
extern const uint32_t complete[4];
extern const uint32_t small_rings[4];

/* Makes a program with an empty ring of `slots` records, whose head and tail are its first slot. The LWPCB has these
 * flags and the size and address of the ring; its other bytes are 0. The bytes of the ring and the margins are '#'. LWP
 * is off. */
void program_begin(program *p, const uint32_t leaf[4], uint32_t slots, uint32_t flags,
                   const pfb_lwp_model_options *options);

/* Fields of the LWPCB, little-endian. */
uint8_t *program_field(program *p, size_t at);
uint64_t bytes_number(const uint8_t *at, size_t size);
uint32_t program_get(program *p, size_t at);
void program_put(program *p, size_t at, uint64_t value, size_t size);
void program_put32(program *p, size_t at, uint32_t value);
void program_set_event(program *p, uint32_t id, int32_t interval, int32_t counter);

/* Execute an instruction or count an event, which must not fault. */
void program_switch_on(program *p);
void program_flush(program *p);
void program_value(program *p, uint32_t data1);
void program_count(program *p, pfb_lwp_occurrence occurrence);
bool program_insert(program *p, uint32_t data1); /* returns the carry flag */

void expect_fault(pfb_lwp_fault fault, pfb_lwp_fault expected, const char *what);

/* Slots of the ring, and the field data1 of their records, which is UNTOUCHED in a slot that was never written. */
enum { UNTOUCHED = 0x23232323 };
const uint8_t *program_slot(program *p, uint32_t index);
uint32_t program_data1(program *p, uint32_t index);
void program_expect_slots(program *p, const uint32_t *data1, size_t slots, const char *what);

/* Checks that nothing was written around LWPCB and ring. */
void program_expect_margins(program *p);

#endif
