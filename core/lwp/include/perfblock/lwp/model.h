/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_LWP_MODEL_H
#define PERFBLOCK_LWP_MODEL_H

#include "perfblock/lwp/lwp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A software model of one CPU with AMD Lightweight Profiling: the instructions LLWPCB, SLWPCB, LWPVAL and LWPINS and
 * the counting of events, with their effects on the control block and ring in memory. It produces rings for tests,
 * fixtures, and users without the hardware. docs/lwp.md has the source, the open questions,
 * and the behaviour that the manual does not define; an option selects some of it.
 *
 * Nothing is allocated. The model accesses memory only inside the windows it was given. A model may be used by one
 * thread at a time; different models are independent. */

/* A range of the profiled program's memory: `size` bytes at `address` in its address space. */
typedef struct pfb_lwp_memory {
    uint8_t *bytes;
    size_t size;
    uint64_t address;
} pfb_lwp_memory;

enum {
    PFB_LWP_MODEL_WINDOWS = 4,
    PFB_LWP_MODEL_EVENTS = 28 /* highest EventId with a bit in Flags; higher ones cannot be counted */
};

/* Behaviour that the manual does not define. All zero is the default. */
typedef struct pfb_lwp_model_options {
    uint64_t seed;            /* of the random reload; equal seeds give equal sequences */
    uint8_t core;             /* CoreId of the records */
    bool is_32_bit;           /* addresses, 64-bit operands and SLWPCB's result are truncated to 32 bits */
    bool full_uses_free_slot; /* a full ring stores a new record in its free slot; false: it overwrites the last one */
    bool threshold_above;     /* the interrupt needs more than Threshold bytes in use; false: at least Threshold */
    bool threshold_zero_counts; /* Threshold 0 interrupts at every record; false: never */
    bool holds_record;      /* a record, except that of LWPINS, is held back until the next record, SLWPCB or LLWPCB */
    bool writes_flags_back; /* LLWPCB stores the effective flags in the LWPCB */
    bool value_is_ip_filtered; /* the IP filter also applies to LWPVAL */
    int32_t minimum_interval;  /* LLWPCB raises smaller intervals of EventIds 2 and above to this: 0 to 33554431 */
    uint32_t reserved[4];
} pfb_lwp_model_options;

/* The result of an instruction. After a fault nothing has changed, except that a held record may have been stored: the
 * instruction can be retried. LLWPCB is different: after its faults LWP is off. */
typedef enum pfb_lwp_fault {
    PFB_LWP_FAULT_NONE = 0,
    PFB_LWP_FAULT_UNDEFINED, /* #UD: the leaf does not make LWP available */
    PFB_LWP_FAULT_GENERAL,   /* #GP: the ring is smaller than one record or than the minimum */
    PFB_LWP_FAULT_PAGE,      /* #PF: the LWPCB or the ring does not lie inside one window */
    PFB_LWP_FAULT_TAIL       /* model only: BufferTailOffset is outside the ring or inside a record */
} pfb_lwp_fault;

/* Returns "none", "undefined", "general", "page" or "tail"; "unknown_fault" for other values. Never null; static. */
PFB_API const char *pfb_lwp_fault_name(pfb_lwp_fault fault);

/* The model. Callers may read the fields above the line; those below are private. */
typedef struct pfb_lwp_model {
    pfb_lwp_capabilities capabilities;
    pfb_lwp_model_options options;
    bool is_on;
    uint64_t control_address; /* of the loaded LWPCB; 0 if LWP is off */
    uint32_t flags;           /* effective: requested, enabled by the leaf, and implemented */
    uint64_t clock;           /* time stamp of the next record, incremented by each one; callers may set it */
    uint64_t stored;          /* records stored in the ring since init */
    uint64_t missed;          /* records lost to a full ring since init */
    uint64_t overwritten;     /* continuous mode: records overwritten by later ones, read or not; hardware has no such
                               * count */
    uint64_t interrupts;      /* threshold interrupts raised */
    uint64_t fault_address;   /* of the last PFB_LWP_FAULT_PAGE: start of the range that lies in no window */
    /* ------------------------------------------------------------------------------------------ */
    pfb_lwp_memory windows[PFB_LWP_MODEL_WINDOWS];
    size_t window_count;
    uint64_t buffer_base;
    uint32_t buffer_bytes; /* rounded down to whole records */
    uint32_t head;
    uint32_t filled; /* continuous mode: records in the ring; the tail is read only at LLWPCB */
    uint32_t threshold_bytes;
    uint32_t filters;
    uint32_t random_bits;
    uint64_t base_ip, limit_ip;
    uint64_t random;
    int32_t interval[PFB_LWP_MODEL_EVENTS + 1]; /* by EventId; 0 is unused. Never negative, like the counters */
    int32_t counter[PFB_LWP_MODEL_EVENTS + 1];
    bool has_pending;
    uint8_t pending[PFB_LWP_RECORD_BYTES]; /* the held record; longer records end in zeros */
} pfb_lwp_model;

/* Initialises a CPU with LWP off. Only the registers and is_refused of `capabilities` are used. Null options: all zero.
 * Returns false, and the model must not be used, if the CPU has no LWP (is_refused), if the leaf is invalid (record
 * size below 32 or not a multiple of 8; pairs below offset 72, not at a multiple of 8, or outside the control block),
 * or if the minimum interval is out of range. */
PFB_API bool pfb_lwp_model_init(pfb_lwp_model *model, const pfb_lwp_capabilities *capabilities,
                                const pfb_lwp_model_options *options);

/* Adds a window of memory, which must stay valid until pfb_lwp_model_forget_memory. Returns false if the model has
 * PFB_LWP_MODEL_WINDOWS already, or if the window is null, empty, or extends past the end of the address space. An
 * LWPCB or ring must lie inside one window; if several contain it, the first one added is used. */
PFB_API bool pfb_lwp_model_add_memory(pfb_lwp_model *model, pfb_lwp_memory window);

/* Removes all windows. If LWP is on, it stays on; accesses to the LWPCB or ring fault until a window contains them. */
PFB_API void pfb_lwp_model_forget_memory(pfb_lwp_model *model);

/* LLWPCB: stores the state of the loaded LWPCB, then switches LWP on with the LWPCB at `address`, or off if it is 0.
 * After a fault LWP is off. */
PFB_API pfb_lwp_fault pfb_lwp_model_load(pfb_lwp_model *model, uint64_t address);

/* SLWPCB: stores head, counters and a held record. *address becomes the address of the LWPCB; 0 if LWP is off or after
 * a fault. */
PFB_API pfb_lwp_fault pfb_lwp_model_store(pfb_lwp_model *model, uint64_t *address);

/* Operands of LWPVAL and LWPINS. */
typedef struct pfb_lwp_operands {
    uint64_t data2;   /* first operand: 64 bits, or 32 zero-extended */
    uint32_t data1;   /* second operand */
    uint32_t flags;   /* immediate operand; its low 16 bits are stored in the record */
    uint64_t address; /* of the instruction */
} pfb_lwp_operands;

/* LWPVAL: decrements the counter of EventId 1. If the counter is already 0, stores a record and reloads the counter
 * instead. Has no effect if the event is not enabled, or if it is filtered out. */
PFB_API pfb_lwp_fault pfb_lwp_model_value(pfb_lwp_model *model, const pfb_lwp_operands *operands);

/* LWPINS: stores a record of EventId 255. *carry is the carry flag: true if the ring was full and a record was lost;
 * false if LWP is off. */
PFB_API pfb_lwp_fault pfb_lwp_model_insert(pfb_lwp_model *model, const pfb_lwp_operands *operands, bool *carry);

/* Properties of a counted event, for the filters. */
#define PFB_LWP_BRANCH_MISPREDICTED 1u
#define PFB_LWP_BRANCH_PREDICTED 2u
#define PFB_LWP_BRANCH_ABSOLUTE 4u /* indirect, far, return */
#define PFB_LWP_BRANCH_CONDITIONAL 8u
#define PFB_LWP_BRANCH_RELATIVE 16u /* unconditional */
#define PFB_LWP_CACHE_NORTHBRIDGE 32u
#define PFB_LWP_CACHE_REMOTE 64u
#define PFB_LWP_CACHE_MEMORY 128u
#define PFB_LWP_CACHE_OTHER 256u

/* An event counted by hardware: EventIds 2 to the leaf's max_events. */
typedef struct pfb_lwp_occurrence {
    uint32_t id;
    uint32_t traits;  /* PFB_LWP_BRANCH_ or PFB_LWP_CACHE_ bits */
    uint32_t latency; /* of a cache miss, in cycles; stored in data1 with the leaf's width and rounding. Undocumented
                       * events: data1 */
    uint16_t flags;   /* of branches, cache misses and undocumented events; records of other events have 0 */
    uint64_t address; /* of the instruction */
    /* Of the events that have flags: a branch's target, or a cache miss's data address if the leaf supports it. */
    uint64_t data2;
} pfb_lwp_occurrence;

/* Decrements the event's counter. If the counter is already 0, stores a record and reloads the counter instead. Has no
 * effect if the event is not enabled, if it is filtered out, or if its EventId is 0, 1 or above max_events. */
PFB_API pfb_lwp_fault pfb_lwp_model_count(pfb_lwp_model *model, const pfb_lwp_occurrence *occurrence);

#ifdef __cplusplus
}
#endif

#endif
