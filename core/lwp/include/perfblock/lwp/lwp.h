/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_LWP_H
#define PERFBLOCK_LWP_H

#include "perfblock/lwp/cpuid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads AMD Lightweight Profiling (LWP) data: a control block (LWPCB) and its ring of event records, whose sizes come
 * from CPUID leaf 8000001C. Control block, ring and leaf are untrusted. Source: AMD64 Architecture Programmer's Manual
 * volume 2, "Lightweight Profiling"; docs/lwp.md marks the parts that are not public.
 *
 * Control block and ring may change during reading; for consistent data copy them first: the control block, then
 * the ring, so that each record up to the copied head is complete. pfb_lwp_open loads each fixed field of the control
 * block once; pairs and records are loaded at each call. Nothing is allocated. After an error no record is returned.
 * Work is linear in the number of pairs and records. Addresses in the data are never dereferenced. */

/* ---- The control block ------------------------------------------------------------------------------------------- */

/* Byte offsets of the fixed fields; the pairs begin at the leaf's event_offset. docs/lwp.md explains the fields. */
enum {
    PFB_LWP_AT_FLAGS = 0,
    PFB_LWP_AT_BUFFER_SIZE = 4, /* the upper four bits are the field Random (random_bits) */
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
    PFB_LWP_FIXED_BYTES = 72, /* size of the fields above */
    PFB_LWP_PAIR_BYTES = 8    /* interval, counter */
};

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* The input that an error or a note refers to. */
typedef enum pfb_lwp_part {
    PFB_LWP_PART_LEAF,    /* the capabilities; offset 0 is EAX, 4 EBX, 8 ECX, 12 EDX */
    PFB_LWP_PART_CONTROL, /* the LWPCB */
    PFB_LWP_PART_RING
} pfb_lwp_part;

/* The place of an error or a note. */
typedef struct pfb_lwp_place {
    pfb_lwp_part part;
    size_t offset;  /* of the field in its part, in bytes */
    uint64_t value; /* of the field */
} pfb_lwp_place;

/* Tolerated deviations and legal peculiarities: bit numbers of `notes`. */
typedef enum pfb_lwp_note {
    PFB_LWP_NOTE_EXTENDED_RECORD,     /* records are longer than 32 bytes; the rest is not decoded */
    PFB_LWP_NOTE_SHORT_RECORD,        /* records of 24 bytes, without time stamp */
    PFB_LWP_NOTE_INCONSISTENT_LEAF,   /* EAX enables what EDX does not implement */
    PFB_LWP_NOTE_UNKNOWN_VERSION,     /* the leaf's version is neither 1 nor 2 */
    PFB_LWP_NOTE_BUFFER_REMAINDER,    /* the ring's size is not a multiple of the record size; the rest is unused */
    PFB_LWP_NOTE_BELOW_MINIMUM,       /* the ring is smaller than the leaf's minimum; strict: an error */
    PFB_LWP_NOTE_BUFFER_WRAPS,        /* the ring extends past the end of the address space */
    PFB_LWP_NOTE_HEAD_ADJUSTED,       /* head is outside the ring (0 is used) or inside a record; strict: an error */
    PFB_LWP_NOTE_RESERVED_FLAGS,      /* Flags has bits without a public name */
    PFB_LWP_NOTE_RESERVED_FIELD,      /* a reserved field is not 0 */
    PFB_LWP_NOTE_UNAVAILABLE_FLAGS,   /* Flags requests what the leaf does not offer */
    PFB_LWP_NOTE_RESERVED_PAIR_BITS,  /* bits 31:26 of an interval or counter are set */
    PFB_LWP_NOTE_NEGATIVE_PAIR,       /* an interval or counter is below 0, which is legal */
    PFB_LWP_NOTE_RANDOM_TOO_WIDE,     /* Random covers more than an enabled event's interval */
    PFB_LWP_NOTE_THRESHOLD_REMAINDER, /* Threshold is not a multiple of the record size; the CPU rounds it down */
    PFB_LWP_NOTE_THRESHOLD_BEYOND,    /* Threshold is above the ring's size */
    PFB_LWP_NOTE_CONTINUOUS,          /* continuous mode: the tail does not show how many records the ring holds */
    PFB_LWP_NOTE_OVERLAP,             /* LWPCB and ring share addresses */
    PFB_LWP_NOTE_INVALID_EVENT,       /* a record with EventId 0 */
    PFB_LWP_NOTE_UNKNOWN_EVENT,       /* a record whose EventId has no public meaning */
    PFB_LWP_NOTE_MISSING_EVENT,       /* a record of an event that the CPU does not implement */
    PFB_LWP_NOTE_RESERVED_RECORD,     /* a record with reserved bits set */
    PFB_LWP_NOTE_COUNT
} pfb_lwp_note;

/* Returns the name in lower case ("extended_record"); "unknown_note" for other values. Never null; static. */
PFB_API const char *pfb_lwp_note_name(pfb_lwp_note note);

/* Returns one English sentence without a final period. Never null; static. */
PFB_API const char *pfb_lwp_note_text(pfb_lwp_note note);

enum { PFB_LWP_RECORD_BYTES = 32 }; /* size of a record on all known CPUs */

/* LWPCB: the raw fields. */
typedef struct pfb_lwp_control {
    uint32_t flags;           /* requested events and modes, PFB_LWP_ bits */
    uint32_t buffer_bytes;    /* BufferSize, 28 bits */
    uint32_t random_bits;     /* number of low counter bits that a reload randomises, 0 to 15 */
    uint64_t buffer_base;     /* an address on the profiled machine */
    uint32_t head;            /* BufferHeadOffset: byte offset of the next record to write */
    uint32_t tail;            /* BufferTailOffset: byte offset of the oldest unread record */
    uint64_t missed_events;   /* records lost because the ring was full */
    uint32_t threshold_bytes; /* Threshold */
    uint32_t filters;         /* Filters; docs/lwp.md names the bits */
    uint64_t base_ip, limit_ip;
    uint32_t pair_count; /* interval/counter pairs: the leaf's max_events */
} pfb_lwp_control;

/* An interval and its counter, sign-extended from 26 bits. */
typedef struct pfb_lwp_pair {
    size_t offset; /* in the LWPCB */
    int32_t interval, counter;
    uint32_t raw_interval, raw_counter;
} pfb_lwp_pair;

/* The reader. Callers may read the fields above the line; those below are private. */
typedef struct pfb_lwp {
    pfb_lwp_capabilities capabilities;
    bool has_control; /* `control` was read; false: it is all zero */
    pfb_lwp_control control;
    uint32_t ring_bytes;                     /* BufferSize rounded down to whole records */
    uint32_t slots;                          /* capacity of the ring in records */
    uint32_t head;                           /* the adjusted head: below ring_bytes, at a record */
    uint32_t count;                          /* unread records, from tail to head: at most slots - 1 */
    uint32_t notes;                          /* bits: 1 << PFB_LWP_NOTE_ */
    pfb_lwp_place first[PFB_LWP_NOTE_COUNT]; /* the first place of each note */
    pfb_error error;                         /* the first error; its offset counts from the start of error_place.part */
    pfb_lwp_place error_place;
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *control_data;
    const uint8_t *ring;
    uint32_t at;   /* offset of the next record in the ring */
    uint32_t left; /* number of records not yet returned */
    bool is_strict;
    bool reads_all; /* pfb_lwp_next returns every slot, written or not (pfb_lwp_rewind_all) */
} pfb_lwp;

/* One record. */
typedef struct pfb_lwp_event {
    uint32_t slot;         /* position in the ring, from 0 */
    size_t offset;         /* in the ring */
    uint8_t id;            /* EventId */
    uint8_t core;          /* CoreId */
    uint16_t flags;        /* raw; pfb_lwp_flag_name names bits of ids 3 and 4 */
    uint32_t data1;        /* raw */
    uint64_t address;      /* of the instruction */
    uint64_t data2;        /* raw: operand, target or data address */
    bool has_stamp;        /* time stamps are on and the record has at least 32 bytes */
    uint64_t stamp;        /* bytes 24 to 31, raw; 0 in shorter records. A time stamp if has_stamp */
    bool has_latency;      /* id 4, and the CPU reports the width of the latency counter */
    uint32_t latency;      /* in cycles: the bits of data1 in that width */
    bool has_data_address; /* id 4, the CPU records data addresses, and the flags show that data2 is one */
    bool is_implemented;   /* the CPU can write this id: 255, or 1 to max_events with its hardware bit set */
} pfb_lwp_event;

/* Opens a control block of `control_size` bytes and its ring of `ring_size` bytes; `ring` is the memory at the address
 * BufferBase. Only the registers and is_refused of `capabilities` are used. Null options are defaults. Returns
 * false if the CPU has no LWP, or if sizes or offsets are invalid; `error` and `error_place` say why, and fields of
 * `control` that were read keep their values. Reads no record. */
PFB_API bool pfb_lwp_open(pfb_lwp *lwp, const pfb_lwp_capabilities *capabilities, const void *control,
                          size_t control_size, const void *ring, size_t ring_size, const pfb_read_options *options);

/* Returns in *pair the current pair of EventId `id`, 1 to control.pair_count; false for other ids or if the control
 * block was not read. May also be called after pfb_lwp_open failed. */
PFB_API bool pfb_lwp_pair_at(const pfb_lwp *lwp, uint32_t id, pfb_lwp_pair *pair);

/* Returns the next unread record in *event, from tail to head; false at the end. */
PFB_API bool pfb_lwp_next(pfb_lwp *lwp, pfb_lwp_event *event);

/* Makes pfb_lwp_next return every slot once, beginning at head. In continuous mode that is oldest first. Slots that
 * were never written have EventId 0, so pfb_lwp_next no longer adds PFB_LWP_NOTE_INVALID_EVENT. No effect after a
 * failed pfb_lwp_open. */
PFB_API void pfb_lwp_rewind_all(pfb_lwp *lwp);

/* Sets PFB_LWP_NOTE_OVERLAP if the LWPCB and the ring share addresses; `address` is that of the LWPCB on the profiled
 * machine. */
PFB_API void pfb_lwp_place_control(pfb_lwp *lwp, uint64_t address);

/* Returns "lwpval", "ire", "bre", "dme", "cnh", "rnh" for the EventIds 1 to 6, "lwpins" for 255, "invalid" for 0,
 * otherwise "unknown". Never null; static. */
PFB_API const char *pfb_lwp_event_name(uint32_t id);

/* Return the names of the flag bits of the EventIds 3 and 4, and of the bits of Filters; "" for a bit without a name.
 * Except Filters bits 27 to 29, all are provisional: they are not verified against the manual. Never null; static. */
PFB_API const char *pfb_lwp_flag_name(uint32_t id, unsigned bit);
PFB_API const char *pfb_lwp_filter_name(unsigned bit);

/* ---- Serialised snapshots ---------------------------------------------------------------------------------------- */

/* The body of an LWPC chunk of a recording (docs/capture.md): the four registers of the leaf, the LWPCB, and the ring.
 * LWPCB and ring are preceded by their size as a little-endian 64-bit number. Offsets count from the start of the body.
 */
typedef struct pfb_lwp_snapshot {
    uint32_t eax, ebx, ecx, edx;
    size_t control_offset, control_size;
    size_t ring_offset, ring_size;
} pfb_lwp_snapshot;

/* Reads a snapshot. Fails with PFB_TRUNCATED_HEADER if a register or a size is missing, or with PFB_TRUNCATED_BLOCK if
 * a part is longer than what is left; *snapshot is then all zero. Bytes after the ring are ignored. */
PFB_API pfb_error pfb_lwp_snapshot_read(const void *data, size_t size, pfb_lwp_snapshot *snapshot);

/* Writes a snapshot and returns its size; writes nothing if `capacity` is smaller. Returns 0 if the size exceeds
 * SIZE_MAX. */
PFB_API size_t pfb_lwp_snapshot_write(const pfb_lwp_capabilities *capabilities, const void *control,
                                      size_t control_size, const void *ring, size_t ring_size, uint8_t *out,
                                      size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
