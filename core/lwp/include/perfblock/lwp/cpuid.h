/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPUID_H
#define PERFBLOCK_CPUID_H

#include "perfblock/error.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a CPU says of itself: leaves of the instruction CPUID, and of these the identity, the state components that the
 * operating system saves, and the leaf of Lightweight Profiling (LWP). Source: AMD64 Architecture Programmer's Manual
 * volume 2, "Lightweight Profiling"; docs/cpuid.md.
 *
 * Nothing is allocated, copied or kept; any registers and any text are allowed. */

/* One leaf. */
typedef struct pfb_cpuid_leaf {
    uint32_t leaf;
    uint32_t subleaf; /* 0 where the leaf has none */
    uint32_t eax, ebx, ecx, edx;
} pfb_cpuid_leaf;

/* The leaves of one CPU, in the caller's memory, in any order; of a leaf given twice the first one counts. */
typedef struct pfb_cpuid {
    const pfb_cpuid_leaf *leaves; /* may be null when `count` is 0 */
    size_t count;
} pfb_cpuid;

/* True, and the registers in *found, when the CPU has the leaf. */
PFB_API bool pfb_cpuid_find(const pfb_cpuid *cpuid, uint32_t leaf, uint32_t subleaf, pfb_cpuid_leaf *found);

/* ---- Identity ----------------------------------------------------------------------------------------------- */

enum { PFB_CPUID_LWP_COMPONENT = 62 }; /* the state component of LWP: a bit of XCR0 */

typedef struct pfb_cpuid_identity {
    char vendor[13];           /* "AuthenticAMD"; "" without leaf 0. Bytes that are not printable ASCII: '?' */
    char name[49];             /* leaves 80000002 to 80000004 without blanks at both ends; "" without them */
    uint32_t highest_leaf;     /* leaf 0 EAX; 0 without it */
    uint32_t highest_extended; /* leaf 80000000 EAX; 0 without it, or when it is below 80000000 */
    uint32_t family, model;    /* leaf 1 EAX with the extended parts; 0 without it */
    uint32_t stepping;
    bool is_amd;                  /* the vendor is AuthenticAMD, byte for byte */
    bool has_xsave, has_osxsave;  /* leaf 1 ECX bits 26 and 27 */
    uint64_t components;          /* state components the hardware has: leaf 0000000D, EDX and EAX */
    uint32_t enabled_area_bytes;  /* of those the system has enabled: leaf 0000000D EBX */
    uint32_t largest_area_bytes;  /* of all: leaf 0000000D ECX */
    bool has_lwp_component;       /* bit 62 of `components` */
    uint32_t lwp_component_bytes; /* sub-leaf 3E; 0 is unknown: real parts leave it empty */
    uint32_t lwp_component_offset;
} pfb_cpuid_identity;

PFB_API void pfb_cpuid_identify(const pfb_cpuid *cpuid, pfb_cpuid_identity *identity);

/* ---- Lightweight Profiling ------------------------------------------------------------------------------------ */

/* EventIds; bit n of the leaf's EAX and EDX, and of an LWPCB's Flags, stands for EventId n. */
#define PFB_LWP_EVENT_INVALID 0U                /* never written by hardware */
#define PFB_LWP_EVENT_VALUE 1U                  /* LWPVAL: programmed value sample */
#define PFB_LWP_EVENT_INSTRUCTIONS 2U           /* instructions retired */
#define PFB_LWP_EVENT_BRANCHES 3U               /* branches retired */
#define PFB_LWP_EVENT_CACHE_MISSES 4U           /* data-cache misses */
#define PFB_LWP_EVENT_CLOCKS 5U                 /* CPU clocks not halted */
#define PFB_LWP_EVENT_REFERENCE_CLOCKS 6U       /* CPU reference clocks not halted */
#define PFB_LWP_EVENT_INSERTED 255U             /* LWPINS: programmed event */
#define PFB_LWP_AVAILABLE UINT32_C(1)           /* EAX: the system has made LWP available; EDX: the CPU has it */
#define PFB_LWP_CONTINUOUS (UINT32_C(1) << 29)  /* continuous mode: a full ring overwrites its oldest records */
#define PFB_LWP_TIME_STAMPS (UINT32_C(1) << 30) /* records carry the performance time stamp */
#define PFB_LWP_INTERRUPT (UINT32_C(1) << 31)   /* threshold interrupt */
#define PFB_LWP_KNOWN_BITS UINT32_C(0xE000007F) /* the bits above; others have no public name */

/* Leaf 8000001C, taken apart. The registers stay visible beside. */
typedef struct pfb_lwp_capabilities {
    uint32_t eax, ebx, ecx, edx;
    uint32_t enabled;           /* EAX: what the system allows now */
    uint32_t hardware;          /* EDX: what the CPU can do */
    uint32_t control_bytes;     /* size of the LWPCB, 0 to 2040 */
    uint32_t event_bytes;       /* size of a record and stride of the ring, 0 to 255 */
    uint32_t max_events;        /* largest EventId but 255, and number of interval/counter pairs, 0 to 255 */
    uint32_t event_offset;      /* of the first pair in the LWPCB, in bytes, 0 to 255 */
    uint32_t latency_bits;      /* width of the cache latency counter, 0 to 31 */
    uint32_t latency_rounding;  /* low latency bits lost to rounding, 0 to 7 */
    uint32_t version;           /* 0 to 127; 1 and 2 were seen */
    uint32_t min_buffer_bytes;  /* smallest ring: 32 * event_bytes * (0 to 255) */
    bool has_data_address;      /* records of cache misses carry the address */
    bool has_branch_prediction; /* branches can be filtered on prediction */
    bool has_ip_filtering;
    bool has_cache_levels;  /* cache misses can be filtered by level */
    bool has_cache_latency; /* and by latency */
    bool is_refused;        /* pfb_cpuid_lwp: the CPU has no LWP, whatever its leaf says; readers refuse it */
} pfb_lwp_capabilities;

/* Takes the leaf apart, whatever it says. Whether it may be believed is pfb_cpuid_lwp's business. */
PFB_API void pfb_lwp_capabilities_read(uint32_t eax, uint32_t ebx, uint32_t ecx, uint32_t edx,
                                       pfb_lwp_capabilities *capabilities);

/* Why LWP cannot be used: the first that applies, in the order in which it must be asked. */
typedef enum pfb_lwp_refusal {
    PFB_LWP_USABLE = 0,
    PFB_LWP_NOT_X86,     /* this build runs on no x86 processor */
    PFB_LWP_NOT_AMD,     /* the vendor is not AuthenticAMD; others return garbage in the leaf */
    PFB_LWP_NO_LEAF,     /* the highest extended leaf is below 8000001C, as with many virtual CPUs */
    PFB_LWP_NO_LWP,      /* leaf 80000001 ECX bit 15 is clear, whatever leaf 8000001C says */
    PFB_LWP_PARTIAL,     /* CPUs of one machine disagree */
    PFB_LWP_NO_XSTATE,   /* the system has not enabled state component 62 */
    PFB_LWP_NOT_ENABLED, /* leaf 8000001C EAX bit 0 is clear */
    PFB_LWP_NO_VAL_HW,   /* LWPVAL is not implemented */
    PFB_LWP_NO_VAL_OS,   /* LWPVAL is not enabled */
    PFB_LWP_NO_EVENT,    /* an event is not available */
    PFB_LWP_BAD_CB,      /* the control block is refused */
    PFB_LWP_REFUSAL_COUNT
} pfb_lwp_refusal;

/* "not_amd"; "usable" for none, "unknown_refusal" beyond. Never null; static. */
PFB_API const char *pfb_lwp_refusal_name(pfb_lwp_refusal refusal);

/* The sentence people get, without final dot. That of PFB_LWP_NO_EVENT is "event N is not available": who prints it
 * puts the EventId in the place of N. Never null; static. */
PFB_API const char *pfb_lwp_refusal_text(pfb_lwp_refusal refusal);

/* True when the CPU has LWP, whether or not it can be used now: USABLE, PARTIAL, NO_XSTATE, NOT_ENABLED. Also for what
 * is asked only where the CPU has it: NO_VAL_HW, NO_VAL_OS, NO_EVENT, BAD_CB. */
PFB_API bool pfb_lwp_is_supported(pfb_lwp_refusal refusal);

/* What is known of XCR0, which a dump does not hold. */
typedef struct pfb_cpuid_xcr0 {
    bool is_known;
    uint64_t value;
} pfb_cpuid_xcr0;

/* Asks what must be asked before LWP is used, in order, and takes the leaf apart where there is one that may be
 * interpreted (from PFB_LWP_NO_LWP on; before, *capabilities is all zero). Without XCR0 only the CPU's own OSXSAVE bit
 * is asked, when leaf 1 is there. Answers about availability, so never PARTIAL, NO_VAL_*, NO_EVENT or BAD_CB. */
PFB_API pfb_lwp_refusal pfb_cpuid_lwp(const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0, pfb_lwp_capabilities *capabilities);

/* What one CPU answers. */
typedef struct pfb_lwp_answer {
    pfb_lwp_refusal refusal;
    bool is_told; /* false: unknown, as a leaf that decides is missing: of a dump that was cut */
    pfb_lwp_capabilities capabilities;
} pfb_lwp_answer;

/* pfb_cpuid_lwp, and whether the leaves 0, 80000000, 80000001 and 8000001C that its answer rests on are there. */
PFB_API pfb_lwp_answer pfb_cpuid_lwp_answer(const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0);

/* The rule for a machine of several CPUs, which may disagree: *machine, all zero at first, becomes the answer of those
 * given so far. It is the one all of them give, or the first one while none has LWP; PFB_LWP_PARTIAL, with the
 * capabilities of one that has LWP, when some have it and others do not, or when their leaves or refusals differ. An
 * answer that is not told counts for nothing beside one that is. */
PFB_API void pfb_lwp_answer_join(pfb_lwp_answer *machine, const pfb_lwp_answer *cpu);

/* Of an event that is wanted where LWP is usable: PFB_LWP_USABLE, PFB_LWP_NO_EVENT, and for PFB_LWP_EVENT_VALUE
 * NO_VAL_HW or NO_VAL_OS. PFB_LWP_EVENT_INSERTED needs no bit. */
PFB_API pfb_lwp_refusal pfb_lwp_event_refusal(const pfb_lwp_capabilities *capabilities, uint32_t event_id);

/* "val", "ire", "bre", "dme", "cnh", "rnh" for bits 1 to 6, "cont", "ptsc", "int" for 29 to 31, "avail" for 0; "" for
 * a bit without public name. Never null; static. */
PFB_API const char *pfb_lwp_bit_name(unsigned bit);

#ifdef __cplusplus
}
#endif

#endif
