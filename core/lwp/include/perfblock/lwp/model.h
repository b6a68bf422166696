/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_LWP_MODEL_H
#define PERFBLOCK_LWP_MODEL_H

#include "perfblock/lwp/lwp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A software model of one CPU with AMD Lightweight Profiling: the instructions LLWPCB, SLWPCB, LWPVAL and LWPINS and
 * the counting of events, with their effects on the control block and ring in memory. It makes rings for tests, for
 * fixtures, and for users without the hardware. Source and open questions: docs/lwp_model.md; where the manual leaves
 * room the answer is an option.
 *
 * The model is a plain struct of the caller's: it allocates nothing. It touches memory only inside the windows it was
 * given. One model by one thread at a time; different models are independent. */

/* A piece of the profiled program's memory: `size` bytes that stand at `address` there. */
typedef struct pfb_lwp_memory {
    uint8_t *bytes;
    size_t size;
    uint64_t address;
} pfb_lwp_memory;

enum {
    PFB_LWP_MODEL_WINDOWS = 4,
    PFB_LWP_MODEL_EVENTS = 28 /* the highest EventId that Flags has a bit for; those above cannot be counted */
};

/* What the manual leaves open. All zero is the default. */
typedef struct pfb_lwp_model_options {
    uint64_t seed;              /* of the random reload; equal seeds, equal sequences */
    uint8_t core;               /* CoreId of the records */
    bool is_32_bit;             /* addresses, 64-bit operands and SLWPCB's result are cut to 32 bits */
    bool full_uses_free_slot;   /* a full ring takes the new record into its one free slot, not over the last record */
    bool threshold_above;       /* the interrupt needs more than Threshold bytes in use, not as many */
    bool threshold_zero_counts; /* a Threshold of 0 asks for an interrupt with every record, not for none */
    bool holds_record;          /* a counted event's record waits for the next record, for SLWPCB or for LLWPCB */
    bool writes_flags_back;     /* LLWPCB stores the flags in force into the LWPCB */
    bool value_is_ip_filtered;  /* the IP filter applies to LWPVAL as well */
    int32_t minimum_interval;   /* of events 2 and above, 0 to 33554431 */
} pfb_lwp_model_options;

/* What became of an instruction. After a fault of any but LLWPCB nothing has changed but the record that was held and
 * may have been stored: the instruction can be tried again. */
typedef enum pfb_lwp_fault {
    PFB_LWP_FAULT_NONE = 0,
    PFB_LWP_FAULT_UNDEFINED, /* #UD: the leaf does not make LWP available */
    PFB_LWP_FAULT_GENERAL,   /* #GP: the ring is smaller than the minimum, or empty */
    PFB_LWP_FAULT_PAGE,      /* #PF: LWPCB or ring do not lie in one window */
    PFB_LWP_FAULT_TAIL       /* the model's own: BufferTailOffset is outside the ring or inside a record */
} pfb_lwp_fault;

/* "none", "undefined", "general", "page", "tail"; "unknown_fault" beyond. Never null; static. */
PFB_API const char *pfb_lwp_fault_name(pfb_lwp_fault fault);

/* The model. Fields above the line may be read; those below are its own. */
typedef struct pfb_lwp_model {
    pfb_lwp_capabilities capabilities;
    pfb_lwp_model_options options;
    bool is_on;
    uint64_t control_address; /* of the LWPCB in force; 0 when off */
    uint32_t flags;           /* in force: those asked for that the leaf enables and the CPU has */
    uint64_t clock;           /* the time stamp of the next record, one more with each; may be set */
    uint64_t stored;          /* records that reached the ring since init */
    uint64_t missed;          /* records lost to a full ring since init */
    uint64_t overwritten;   /* continuous mode: records that later ones overwrote, read or not; LWP has no such count */
    uint64_t interrupts;    /* threshold interrupts taken */
    uint64_t fault_address; /* of the last PFB_LWP_FAULT_PAGE: where the piece begins that lies in no window */
    /* ------------------------------------------------------------------------------------------ */
    pfb_lwp_memory windows[PFB_LWP_MODEL_WINDOWS];
    size_t window_count;
    uint64_t buffer_base;
    uint32_t buffer_bytes; /* rounded down to whole records */
    uint32_t head;
    uint32_t filled; /* records the ring holds, as far as continuous mode knows: it does not ask for the tail */
    uint32_t threshold_bytes;
    uint32_t filters;
    uint32_t random_bits;
    uint64_t base_ip, limit_ip;
    uint64_t random;
    int32_t interval[PFB_LWP_MODEL_EVENTS + 1]; /* by EventId; 0 unused. Never negative, nor are counters */
    int32_t counter[PFB_LWP_MODEL_EVENTS + 1];
    bool has_pending;
    uint8_t pending[PFB_LWP_RECORD_BYTES]; /* a record not stored yet; longer records end in zeros */
} pfb_lwp_model;

/* A CPU of these capabilities, LWP off; their registers and is_refused count. Null options: all zero. False, and
 * nothing of the model may be used, when the CPU has no LWP (is_refused), when no ring can be described (record size
 * below 32 or no multiple of 8, pairs below 72, at no multiple of 8 or outside the block), and when the minimum
 * interval is out of its range. */
PFB_API bool pfb_lwp_model_init(pfb_lwp_model *model, const pfb_lwp_capabilities *capabilities,
                                const pfb_lwp_model_options *options);

/* Gives the model memory, which must stay until it is forgotten. False when the model has PFB_LWP_MODEL_WINDOWS
 * already, or when the window is null, empty, or passes the end of the address space. An LWPCB or ring must lie in one
 * window as a whole; where several windows hold it the first one given counts. */
PFB_API bool pfb_lwp_model_add_memory(pfb_lwp_model *model, pfb_lwp_memory window);

/* Takes all windows away. Where LWP is on it stays so, and faults when it comes to store something. */
PFB_API void pfb_lwp_model_forget_memory(pfb_lwp_model *model);

/* LLWPCB: switches LWP on with the LWPCB at `address`, or off when it is 0, after storing what is held of the one in
 * force. After a fault LWP is off. */
PFB_API pfb_lwp_fault pfb_lwp_model_load(pfb_lwp_model *model, uint64_t address);

/* SLWPCB: stores head, counters and a held record; *address is the LWPCB's, 0 when LWP is off. */
PFB_API pfb_lwp_fault pfb_lwp_model_store(pfb_lwp_model *model, uint64_t *address);

/* Operands of LWPVAL and LWPINS. */
typedef struct pfb_lwp_operands {
    uint64_t data2;   /* first operand: 64 bits, or 32 zero-extended */
    uint32_t data1;   /* second operand */
    uint32_t flags;   /* immediate; its low 16 bits go into the record */
    uint64_t address; /* of the instruction */
} pfb_lwp_operands;

/* LWPVAL: counts EventId 1; a record when its counter passes 0. */
PFB_API pfb_lwp_fault pfb_lwp_model_value(pfb_lwp_model *model, const pfb_lwp_operands *operands);

/* LWPINS: always a record of EventId 255. *carry is the carry flag: true when the ring was full, so that a record was
 * lost. False when LWP is off. */
PFB_API pfb_lwp_fault pfb_lwp_model_insert(pfb_lwp_model *model, const pfb_lwp_operands *operands, bool *carry);

/* What a counted event was like, for the filters. */
#define PFB_LWP_BRANCH_MISPREDICTED UINT32_C(1)
#define PFB_LWP_BRANCH_PREDICTED UINT32_C(2)
#define PFB_LWP_BRANCH_ABSOLUTE UINT32_C(4) /* indirect, far, return */
#define PFB_LWP_BRANCH_CONDITIONAL UINT32_C(8)
#define PFB_LWP_BRANCH_RELATIVE UINT32_C(16) /* unconditional */
#define PFB_LWP_CACHE_NORTHBRIDGE UINT32_C(32)
#define PFB_LWP_CACHE_REMOTE UINT32_C(64)
#define PFB_LWP_CACHE_MEMORY UINT32_C(128)
#define PFB_LWP_CACHE_OTHER UINT32_C(256)

/* An event that hardware counts: EventIds 2 to the leaf's max_events. */
typedef struct pfb_lwp_occurrence {
    uint32_t id;
    uint32_t traits;  /* PFB_LWP_BRANCH_ or PFB_LWP_CACHE_ bits */
    uint32_t latency; /* of a cache miss, in cycles: data1 of its record, in the leaf's width and rounding */
    uint16_t flags;   /* of branches, cache misses and events without public meaning; else the record has 0 */
    uint64_t address; /* of the instruction */
    uint64_t data2;   /* as flags: a branch's target, a cache miss's data address where the leaf has it */
} pfb_lwp_occurrence;

/* Counts one event; a record when its counter passes 0. Events that are not enabled, filtered out, 0, 1 or beyond
 * max_events do nothing. */
PFB_API pfb_lwp_fault pfb_lwp_model_count(pfb_lwp_model *model, const pfb_lwp_occurrence *occurrence);

#ifdef __cplusplus
}
#endif

#endif
