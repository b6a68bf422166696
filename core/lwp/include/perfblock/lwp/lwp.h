/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_LWP_H
#define PERFBLOCK_LWP_H

#include "perfblock/lwp/cpuid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reader of AMD Lightweight Profiling data: a control block (LWPCB) and the ring of event records it describes, in the
 * geometry that CPUID leaf 8000001C gives. All three are untrusted. Source: AMD64 Architecture Programmer's Manual
 * volume 2, "Lightweight Profiling"; what is not public is marked on docs/lwp.md.
 *
 * Both may change under a reader: take a copy first, head before ring. The fixed fields of the control block are read
 * once, by pfb_lwp_open, so what is used has passed its checks whatever happens; pairs and records are read at each
 * call. Nothing is allocated or kept; the first failure sticks; work is linear. Addresses in the data are numbers: they
 * are never followed. */

/* ---- The control block ------------------------------------------------------------------------------------------- */

/* Where its fixed fields stand, in bytes; the pairs stand at the leaf's event_offset. docs/lwp.md has their meaning. */
enum {
    PFB_LWP_AT_FLAGS = 0,
    PFB_LWP_AT_BUFFER_SIZE = 4, /* Random in its upper four bits */
    PFB_LWP_AT_BUFFER_BASE = 8,
    PFB_LWP_AT_HEAD = 16,
    PFB_LWP_AT_RESERVED_20 = 20,
    PFB_LWP_AT_MISSED = 24,
    PFB_LWP_AT_THRESHOLD = 32,
    PFB_LWP_AT_FILTERS = 36,
    PFB_LWP_AT_BASE_IP = 40,
    PFB_LWP_AT_LIMIT_IP = 48,
    PFB_LWP_AT_RESERVED_56 = 56,
    PFB_LWP_AT_TAIL = 64,
    PFB_LWP_AT_RESERVED_68 = 68,
    PFB_LWP_FIXED_BYTES = 72, /* of the fields above */
    PFB_LWP_PAIR_BYTES = 8    /* interval, counter */
};

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* What a failure or a note is about. */
typedef enum pfb_lwp_part {
    PFB_LWP_PART_LEAF,    /* the capabilities: `offset` is 0 EAX, 4 EBX, 8 ECX, 12 EDX */
    PFB_LWP_PART_CONTROL, /* the LWPCB */
    PFB_LWP_PART_RING
} pfb_lwp_part;

typedef struct pfb_lwp_place {
    pfb_lwp_part part;
    size_t offset;  /* in bytes, of the field in its part */
    uint64_t value; /* of the field */
} pfb_lwp_place;

/* What was seen and tolerated: bit numbers of `notes`. */
typedef enum pfb_lwp_note {
    PFB_LWP_NOTE_EXTENDED_RECORD,     /* records are longer than 32 bytes: the rest is not decoded */
    PFB_LWP_NOTE_SHORT_RECORD,        /* records of 24 to 31 bytes: no time stamp */
    PFB_LWP_NOTE_INCONSISTENT_LEAF,   /* EAX enables what EDX does not have */
    PFB_LWP_NOTE_UNKNOWN_VERSION,     /* neither 1 nor 2 */
    PFB_LWP_NOTE_BUFFER_REMAINDER,    /* the ring's size is no multiple of the record's: the rest is not used */
    PFB_LWP_NOTE_BELOW_MINIMUM,       /* the ring is smaller than the leaf's minimum; strict: an error */
    PFB_LWP_NOTE_BUFFER_WRAPS,        /* base and size of the ring pass the end of the address space */
    PFB_LWP_NOTE_HEAD_ADJUSTED,       /* head was outside (taken as 0) or inside a record; strict: an error */
    PFB_LWP_NOTE_RESERVED_FLAGS,      /* Flags has bits without a public name */
    PFB_LWP_NOTE_RESERVED_FIELD,      /* a reserved field is not 0 */
    PFB_LWP_NOTE_UNAVAILABLE_FLAGS,   /* Flags asks for what the leaf does not offer */
    PFB_LWP_NOTE_RESERVED_PAIR_BITS,  /* bits 31:26 of an interval or counter */
    PFB_LWP_NOTE_NEGATIVE_PAIR,       /* an interval or counter below 0: legal */
    PFB_LWP_NOTE_RANDOM_TOO_WIDE,     /* Random covers more than an enabled event's interval */
    PFB_LWP_NOTE_THRESHOLD_REMAINDER, /* Threshold is no multiple of the record's size: rounded down */
    PFB_LWP_NOTE_THRESHOLD_BEYOND,    /* Threshold is above the ring's size: it never triggers */
    PFB_LWP_NOTE_CONTINUOUS,          /* continuous mode: tail says nothing about how full the ring is */
    PFB_LWP_NOTE_OVERLAP,             /* LWPCB and ring share addresses */
    PFB_LWP_NOTE_INVALID_EVENT,       /* a record with EventId 0 */
    PFB_LWP_NOTE_UNKNOWN_EVENT,       /* a record with an EventId without public meaning */
    PFB_LWP_NOTE_MISSING_EVENT,       /* a record of an event that the CPU does not implement */
    PFB_LWP_NOTE_RESERVED_RECORD,     /* a record with reserved bits set */
    PFB_LWP_NOTE_COUNT
} pfb_lwp_note;

/* "extended_record"; "unknown_note" beyond. Never null; static. */
PFB_API const char *pfb_lwp_note_name(pfb_lwp_note note);
PFB_API const char *pfb_lwp_note_text(pfb_lwp_note note); /* a sentence, without final dot */

enum { PFB_LWP_RECORD_BYTES = 32 }; /* of a record on every CPU known */

/* The control block, each field read once. */
typedef struct pfb_lwp_control {
    uint32_t flags;           /* events wanted, PFB_LWP_ bits */
    uint32_t buffer_bytes;    /* as it stands: 28 bits */
    uint32_t random_bits;     /* low counter bits that are random after a reload, 0 to 15 */
    uint64_t buffer_base;     /* an address of the machine that was profiled */
    uint32_t head;            /* where the next record goes, a byte offset, as it stands */
    uint32_t tail;            /* the oldest unread record, a byte offset */
    uint64_t missed_events;   /* records lost to a full ring */
    uint32_t threshold_bytes; /* as it stands */
    uint32_t filters;         /* docs/lwp.md names the bits */
    uint64_t base_ip, limit_ip;
    uint32_t pair_count; /* interval/counter pairs: the leaf's max_events */
} pfb_lwp_control;

/* An interval and its counter, sign-extended from 26 bits. */
typedef struct pfb_lwp_pair {
    size_t offset; /* in the LWPCB */
    int32_t interval, counter;
    uint32_t raw_interval, raw_counter;
} pfb_lwp_pair;

/* The reader. Fields above the line may be read; those below are its own. */
typedef struct pfb_lwp {
    pfb_lwp_capabilities capabilities;
    bool has_control; /* `control` was read: all zero else */
    pfb_lwp_control control;
    uint32_t ring_bytes;                     /* BufferSize rounded down to whole records */
    uint32_t slots;                          /* records the ring has room for */
    uint32_t head;                           /* as used: below ring_bytes, at a record */
    uint32_t count;                          /* unread records, from tail to head: at most slots - 1 */
    uint32_t notes;                          /* bits: 1 << PFB_LWP_NOTE_ */
    pfb_lwp_place first[PFB_LWP_NOTE_COUNT]; /* where each note was made first */
    pfb_error error; /* the first failure; its offset counts from the start of error_place.part */
    pfb_lwp_place error_place;
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *control_data;
    const uint8_t *ring;
    uint32_t at;   /* offset of the next record */
    uint32_t left; /* records that are still to be handed out */
    uint32_t options;
    bool reads_all; /* every slot, written or not */
} pfb_lwp;

/* One record. */
typedef struct pfb_lwp_event {
    uint32_t slot;         /* position in the ring, from 0 */
    size_t offset;         /* in the ring */
    uint8_t id;            /* EventId */
    uint8_t core;          /* CoreId */
    uint16_t flags;        /* raw; for ids 3 and 4 docs/lwp.md names bits, provisionally */
    uint32_t data1;        /* raw */
    uint64_t address;      /* of the instruction */
    uint64_t data2;        /* raw: operand, target or data address */
    bool has_stamp;        /* `stamp` is the performance time stamp: time stamps are on and the record is long enough */
    uint64_t stamp;        /* bytes 24 to 31, raw; 0 in shorter records */
    bool has_latency;      /* id 4 on a CPU that tells the counter's width */
    uint32_t latency;      /* cycles, data1 in that width */
    bool has_data_address; /* id 4: the CPU tells data addresses and the record says that data2 is one */
    bool is_implemented;   /* the CPU can write it: 1 to max_events with its hardware bit, or 255 */
} pfb_lwp_event;

/* Opens a control block of `control_size` bytes and its ring of `ring_size` bytes; the bytes of the ring that
 * BufferBase names are the first ones of `ring`. Of `capabilities` the registers and is_refused count. `options`: 0 or
 * PFB_STRICT. True when the geometry is sound and records can be read; else `error` and `error_place` say why, and what
 * was read of `control` before stays. No record has been looked at yet. */
PFB_API bool pfb_lwp_open(pfb_lwp *lwp, const pfb_lwp_capabilities *capabilities, const void *control,
                          size_t control_size, const void *ring, size_t ring_size, uint32_t options);

/* The pair of EventId `id` from 1 to control.pair_count, as it stands now; false beyond, or when the block is too
 * short. May be called after a failed open as well. */
PFB_API bool pfb_lwp_pair_at(const pfb_lwp *lwp, uint32_t id, pfb_lwp_pair *pair);

/* The next unread record, from tail to head; false at the end. */
PFB_API bool pfb_lwp_next(pfb_lwp *lwp, pfb_lwp_event *event);

/* From now on pfb_lwp_next hands out all slots once, beginning at head: in continuous mode these may all be records,
 * oldest first, or never written (EventId 0, which is not noted then). */
PFB_API void pfb_lwp_rewind_all(pfb_lwp *lwp);

/* Tells about addresses: notes PFB_LWP_NOTE_OVERLAP when an LWPCB at this address shares bytes with its ring. */
PFB_API void pfb_lwp_place_control(pfb_lwp *lwp, uint64_t address);

/* "lwpval", "ire", "bre", "dme", "cnh", "rnh", "lwpins" by EventId, "invalid" for 0, "unknown" else. Static. */
PFB_API const char *pfb_lwp_event_name(uint32_t id);

/* Names of the flag bits of ids 3 and 4 and of Filters, all from memory of the manual and so provisional, except
 * Filters bits 27 to 29: "" for a bit without one. Static. */
PFB_API const char *pfb_lwp_flag_name(uint32_t id, unsigned bit);
PFB_API const char *pfb_lwp_filter_name(unsigned bit);

/* ---- Snapshots in one piece -------------------------------------------------------------------------------------- */

/* What a capture keeps of LWP: the four registers of the leaf, then LWPCB, then ring, each of these two behind its size
 * in 64 bits. Offsets are from the start of the bytes. */
typedef struct pfb_lwp_snapshot {
    uint32_t eax, ebx, ecx, edx;
    size_t control_offset, control_size;
    size_t ring_offset, ring_size;
} pfb_lwp_snapshot;

/* PFB_TRUNCATED_HEADER, PFB_TRUNCATED_BLOCK (a part is longer than what is left): *snapshot is all zero then. Bytes
 * behind the ring are ignored. */
PFB_API pfb_error pfb_lwp_snapshot_read(const void *data, size_t size, pfb_lwp_snapshot *snapshot);

/* Writes one; returns the size, and writes nothing when `capacity` is smaller. 0: larger than memory can be. */
PFB_API size_t pfb_lwp_snapshot_write(const pfb_lwp_capabilities *capabilities, const void *control,
                                      size_t control_size, const void *ring, size_t ring_size, uint8_t *out,
                                      size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
