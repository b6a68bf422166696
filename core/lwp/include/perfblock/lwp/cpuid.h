/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPUID_H
#define PERFBLOCK_CPUID_H

#include "perfblock/error.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Decodes leaves of the CPUID instruction: identity, extended state components, and the leaf of Lightweight Profiling
 * (LWP). Source: AMD64 Architecture Programmer's Manual volume 2, "Lightweight Profiling"; docs/cpuid.md.
 *
 * Nothing is allocated; any register values are allowed. */

/* The registers that CPUID returns for a leaf and a sub-leaf. */
typedef struct pfb_cpuid_leaf {
    uint32_t leaf;
    uint32_t subleaf; /* 0 if the leaf has none */
    uint32_t eax, ebx, ecx, edx;
} pfb_cpuid_leaf;

/* The leaves of one CPU, in the caller's memory and in any order; the first of duplicates is used. */
typedef struct pfb_cpuid {
    const pfb_cpuid_leaf *leaves; /* may be null if `count` is 0 */
    size_t count;
} pfb_cpuid;

/* Returns the leaf in *found; false if it is missing. Linear in the number of leaves. */
PFB_API bool pfb_cpuid_find(const pfb_cpuid *cpuid, uint32_t leaf, uint32_t subleaf, pfb_cpuid_leaf *found);

/* ---- Identity ----------------------------------------------------------------------------------------------- */

enum { PFB_CPUID_LWP_COMPONENT = 62 }; /* the LWP state component: a bit number of XCR0 */

/* Vendor, name, model and extended state of a CPU. Fields whose leaf is missing are 0. Texts end before the first NUL;
 * other bytes that are not printable ASCII become '?'. */
typedef struct pfb_cpuid_identity {
    char vendor[13];           /* "AuthenticAMD"; "" without leaf 0 */
    char name[49];             /* leaves 80000002 to 80000004 without surrounding blanks; "" without them */
    uint32_t highest_leaf;     /* leaf 0 EAX; 0 without it */
    uint32_t highest_extended; /* leaf 80000000 EAX; 0 without it or if it is below 80000000 */
    uint32_t family, model;    /* leaf 1 EAX including the extended fields; 0 without it */
    uint32_t stepping;
    bool is_amd;                  /* the vendor is AuthenticAMD, byte for byte */
    bool has_xsave, has_osxsave;  /* leaf 1 ECX bits 26 and 27 */
    uint64_t components;          /* state components of the hardware: leaf 0000000D EDX:EAX */
    uint32_t enabled_area_bytes;  /* save area of the enabled components: leaf 0000000D EBX */
    uint32_t largest_area_bytes;  /* save area of all components: leaf 0000000D ECX */
    bool has_lwp_component;       /* bit 62 of `components` */
    uint32_t lwp_component_bytes; /* leaf 0000000D, sub-leaf 3E; 0: unknown, as on real processors */
    uint32_t lwp_component_offset;
} pfb_cpuid_identity;

/* Decodes the leaves 0, 1, 0000000D, 80000000 and 80000002 to 80000004 into *identity. */
PFB_API void pfb_cpuid_identify(const pfb_cpuid *cpuid, pfb_cpuid_identity *identity);

/* ---- Lightweight Profiling ------------------------------------------------------------------------------------ */

/* EventIds. EventId n, 1 to 28, is bit n of EAX and EDX of leaf 8000001C, and of Flags in the control block (LWPCB). */
#define PFB_LWP_EVENT_INVALID 0U          /* never written by hardware */
#define PFB_LWP_EVENT_VALUE 1U            /* LWPVAL: programmed value sample */
#define PFB_LWP_EVENT_INSTRUCTIONS 2U     /* instructions retired */
#define PFB_LWP_EVENT_BRANCHES 3U         /* branches retired */
#define PFB_LWP_EVENT_CACHE_MISSES 4U     /* data-cache misses */
#define PFB_LWP_EVENT_CLOCKS 5U           /* CPU clocks not halted */
#define PFB_LWP_EVENT_REFERENCE_CLOCKS 6U /* CPU reference clocks not halted */
#define PFB_LWP_EVENT_INSERTED 255U       /* LWPINS: programmed event */

/* The other bits of EAX, EDX and Flags. */
#define PFB_LWP_AVAILABLE 1u            /* EAX: the operating system enables LWP; EDX: the CPU has it */
#define PFB_LWP_CONTINUOUS 0x20000000u  /* continuous mode: a full ring overwrites its oldest records */
#define PFB_LWP_TIME_STAMPS 0x40000000u /* records hold the performance time stamp */
#define PFB_LWP_INTERRUPT 0x80000000u   /* threshold interrupt */
#define PFB_LWP_KNOWN_BITS 0xE000007Fu  /* all bits with a public name: those above and EventIds 1 to 6 */

/* CPUID leaf 8000001C: the registers and their fields. */
typedef struct pfb_lwp_capabilities {
    uint32_t eax, ebx, ecx, edx;
    uint32_t enabled;           /* EAX: events and modes that the operating system enables now */
    uint32_t hardware;          /* EDX: events and modes that the CPU implements */
    uint32_t control_bytes;     /* size of the LWPCB, 0 to 2040 */
    uint32_t event_bytes;       /* size of a record and stride of the ring, 0 to 255 */
    uint32_t max_events;        /* largest EventId except 255, and number of interval/counter pairs, 0 to 255 */
    uint32_t event_offset;      /* of the first pair in the LWPCB, in bytes, 0 to 255 */
    uint32_t latency_bits;      /* width of the cache latency counter, 0 to 31 */
    uint32_t latency_rounding;  /* low latency bits lost to rounding, 0 to 7 */
    uint32_t version;           /* 0 to 127; known: 1 and 2 */
    uint32_t min_buffer_bytes;  /* smallest ring: 32 * event_bytes * (0 to 255) */
    bool has_data_address;      /* cache-miss records hold the data address */
    bool has_branch_prediction; /* branches can be filtered by prediction */
    bool has_ip_filtering;
    bool has_cache_levels;  /* cache misses can be filtered by level */
    bool has_cache_latency; /* cache misses can be filtered by latency */
    bool is_refused;        /* set by pfb_cpuid_lwp: the CPU has no LWP, so readers reject the leaf */
} pfb_lwp_capabilities;

/* Decodes the registers without validating them; pfb_cpuid_lwp returns whether LWP can be used. */
PFB_API void pfb_lwp_capabilities_read(uint32_t eax, uint32_t ebx, uint32_t ecx, uint32_t edx,
                                       pfb_lwp_capabilities *capabilities);

/* Why LWP cannot be used: the first reason that applies, in the order in which they must be tested. */
typedef enum pfb_lwp_refusal {
    PFB_LWP_USABLE = 0,
    PFB_LWP_NOT_X86,     /* the program was not built for x86 */
    PFB_LWP_NOT_AMD,     /* the vendor is not AuthenticAMD; CPUs of other vendors return unrelated data in the leaf */
    PFB_LWP_NO_LEAF,     /* leaf 8000001C is missing or above the highest extended leaf, as on many virtual CPUs */
    PFB_LWP_NO_LWP,      /* leaf 80000001 is missing or its ECX bit 15 is clear, whatever leaf 8000001C says */
    PFB_LWP_PARTIAL,     /* the CPUs of a machine differ */
    PFB_LWP_NO_XSTATE,   /* the operating system has not enabled state component 62 */
    PFB_LWP_NOT_ENABLED, /* leaf 8000001C EAX bit 0 is clear */
    PFB_LWP_NO_VAL_HW,   /* LWPVAL is not implemented */
    PFB_LWP_NO_VAL_OS,   /* LWPVAL is not enabled */
    PFB_LWP_NO_EVENT,    /* an event is not available */
    PFB_LWP_BAD_CB,      /* the control block is refused */
    PFB_LWP_REFUSAL_COUNT
} pfb_lwp_refusal;

/* Returns the name in lower case ("not_amd"); "unknown_refusal" for other values. Never null; static. */
PFB_API const char *pfb_lwp_refusal_name(pfb_lwp_refusal refusal);

/* Returns one English sentence without a final period. For PFB_LWP_NO_EVENT it is "event N is not available"; the
 * caller replaces N by the EventId. Never null; static. */
PFB_API const char *pfb_lwp_refusal_text(pfb_lwp_refusal refusal);

/* Returns true if the CPU has LWP, whether or not it can be used now: USABLE, PARTIAL, NO_XSTATE, NOT_ENABLED, and the
 * reasons that apply only to a CPU with LWP: NO_VAL_HW, NO_VAL_OS, NO_EVENT, BAD_CB. */
PFB_API bool pfb_lwp_is_supported(pfb_lwp_refusal refusal);

/* XCR0, if it is known; a CPUID dump does not contain it. */
typedef struct pfb_cpuid_xcr0 {
    bool is_known;
    uint64_t value;
} pfb_cpuid_xcr0;

/* Tests in order whether LWP is available, and decodes its leaf. *capabilities is all zero for PFB_LWP_NOT_AMD and
 * PFB_LWP_NO_LEAF. If leaf 1 is present, its XSAVE and OSXSAVE bits must be set; if XCR0 is known, its bit 62 as well.
 * Never returns NOT_X86, PARTIAL, NO_VAL_*, NO_EVENT or BAD_CB: these also depend on the build, on other CPUs, on an
 * event or on a control block. */
PFB_API pfb_lwp_refusal pfb_cpuid_lwp(const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0, pfb_lwp_capabilities *capabilities);

/* The availability of LWP on one CPU. */
typedef struct pfb_lwp_answer {
    pfb_lwp_refusal refusal;
    bool is_known; /* false: unknown, because a leaf that decides is missing, for instance in a truncated dump */
    pfb_lwp_capabilities capabilities;
} pfb_lwp_answer;

/* Returns the refusal and the capabilities of pfb_cpuid_lwp, and whether the leaves that decide the refusal (0,
 * 80000000, 80000001 or 8000001C) are present. */
PFB_API pfb_lwp_answer pfb_cpuid_lwp_answer(const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0);

/* Combines the answers of several CPUs: start with *machine all zero and add each CPU. The result is the common answer,
 * or the first one if no CPU has LWP. It is PFB_LWP_PARTIAL, with the capabilities of a CPU that has LWP, if only some
 * CPUs have it or if their leaves or refusals differ. Unknown answers (is_known false) are ignored if any is known. */
PFB_API void pfb_lwp_answer_join(pfb_lwp_answer *machine, const pfb_lwp_answer *cpu);

/* Returns whether an event can be used where LWP is usable: PFB_LWP_USABLE or PFB_LWP_NO_EVENT. For
 * PFB_LWP_EVENT_VALUE, PFB_LWP_NO_VAL_HW or PFB_LWP_NO_VAL_OS replaces PFB_LWP_NO_EVENT. PFB_LWP_EVENT_INSERTED is
 * always usable. */
PFB_API pfb_lwp_refusal pfb_lwp_event_refusal(const pfb_lwp_capabilities *capabilities, uint32_t event_id);

/* Returns the name of a bit of the leaf's EAX and EDX: "avail" for 0; "val", "ire", "bre", "dme", "cnh", "rnh" for 1 to
 * 6; "cont", "ptsc", "int" for 29 to 31; "" for a bit without a public name. Never null; static. */
PFB_API const char *pfb_lwp_bit_name(unsigned bit);

#ifdef __cplusplus
}
#endif

#endif
