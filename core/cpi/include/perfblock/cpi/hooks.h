/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_HOOKS_H
#define PERFBLOCK_CPI_HOOKS_H

#include "perfblock/cpi/cpi.h"
#include "perfblock/cpi/words.h"
#include "perfblock/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Trace hooks of the CPI facility: records of 32-bit words, in groups. The layout, which is this library's own where
 * the original's was never published, and all rules are in docs/cpi_hooks.md. */

/* ---- Groups -------------------------------------------------------------------------------------------------- */

/* The hooks of a group, in their order. */
typedef enum pfb_cpi_hook_kind {
    PFB_CPI_LABEL_START = 0,
    PFB_CPI_SUMMARY_HOOK,
    PFB_CPI_SYSTEM_HOOK,
    PFB_CPI_PROCESSORS_HOOK,
    PFB_CPI_THREAD_HOOK,
    PFB_CPI_LABEL_END,
    PFB_CPI_HOOK_COUNT
} pfb_cpi_hook_kind;

/* "label_start", "summary", "system", "processors", "thread", "label_end"; "unknown_hook" beyond. Never null; static.
 */
PFB_API const char *pfb_cpi_hook_name(pfb_cpi_hook_kind kind);

/* Bits of a flags word. */
#define PFB_CPI_FLAG_RAW UINT32_C(1) /* in every flags word */
#define PFB_CPI_FLAG_SCALED UINT32_C(2)
#define PFB_CPI_FLAG_THREAD UINT32_C(4) /* of the summary only */

/* One record. */
typedef struct pfb_cpi_hook {
    bool is_present;
    size_t offset;       /* of the record; its words begin PFB_CPI_HOOK_HEADER_BYTES behind */
    uint32_t word_count; /* whole words behind the header; of a label with its padding */
    uint32_t stamp;      /* low 32 bits of a time, 0 for none */
    uint32_t flags;      /* PFB_CPI_FLAG_ bits; 0 where the hook has no such word */
    uint32_t cpu_count;  /* likewise */
} pfb_cpi_hook;

enum { PFB_CPI_HOOK_HEADER_BYTES = 12, PFB_CPI_MOST_LABEL_BYTES = 255 };

/* What is odd about a group, but no error. */
typedef enum pfb_cpi_warning {
    PFB_CPI_WARN_FIGURE = 0, /* a CPI more than 0.0001 away from the counters beside it; at the figure's first word */
    PFB_CPI_WARN_NO_THREAD,  /* a summary with thread, detailed hooks without; at the summary's flags word */
    PFB_CPI_WARN_STAMP,      /* a time stamp below that of the hook before, in this group or an earlier; at the stamp */
    PFB_CPI_WARNING_COUNT
} pfb_cpi_warning;

/* "figure_mismatch", "missing_thread_hook", "stamp_descends"; "unknown_warning" beyond. Never null; static. */
PFB_API const char *pfb_cpi_warning_name(pfb_cpi_warning warning);

typedef struct pfb_cpi_warned {
    uint32_t count; /* how many of them the group has */
    size_t offset;  /* of the first, when there is any */
} pfb_cpi_warned;

/* A group whose every check has passed. */
typedef struct pfb_cpi_group {
    size_t offset;           /* of its first record */
    size_t end_offset;       /* behind its last */
    uint32_t minor;          /* the writer's code, 0 to 255 */
    uint64_t elapsed_cycles; /* the same in all its hooks */
    size_t label_offset;     /* of the label's bytes, which are opaque and none of them NUL */
    uint32_t label_size_bytes;
    uint32_t cpu_count; /* 0: it has only hooks that tell of none */
    uint32_t tid;       /* of the thread hook */
    pfb_cpi_hook hooks[PFB_CPI_HOOK_COUNT];
    pfb_cpi_warned warnings[PFB_CPI_WARNING_COUNT];
} pfb_cpi_group;

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* How much a caller lets a stream have; 0: any number. A record that would pass a limit is PFB_CALLER_LIMIT. */
typedef struct pfb_cpi_limits {
    size_t bytes;
    uint64_t records; /* those of other majors included */
    uint64_t groups;
} pfb_cpi_limits;

/* Reader of a stream; the manners are those of v2.h. An error names the offset of its record, and a group that
 * does not end the end of the stream; `word_offset` is that of the field to blame inside the record. Groups handed out
 * before stay valid; a group that was complete when the failure came is handed out first. Work is linear: no byte is
 * read more than a few times. */
typedef struct pfb_cpi_hooks {
    pfb_error error;
    size_t word_offset;
    uint64_t record_count;  /* read so far, those of other majors included */
    uint64_t skipped_count; /* those */
    uint64_t group_count;
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
    pfb_cpi_limits limits;
    uint32_t last_stamp;
} pfb_cpi_hooks;

/* Starts at the first record; `limits` may be null. A null `data` counts as size 0. Nothing has been looked at yet. */
PFB_API void pfb_cpi_hooks_open(pfb_cpi_hooks *hooks, const void *data, size_t size, const pfb_cpi_limits *limits);

/* The next group. False at the end and after a failure: `error` tells which. */
PFB_API bool pfb_cpi_hooks_next(pfb_cpi_hooks *hooks, pfb_cpi_group *group);

/* Reads whatever is left and returns the verdict on the whole stream. */
PFB_API pfb_error pfb_cpi_hooks_finish(pfb_cpi_hooks *hooks);

/* ---- What a group's hooks say -------------------------------------------------------------------------------- */

/* Whose figures: a CPU by its position, or one of these. */
#define PFB_CPI_OF_SYSTEM UINT32_C(0xFFFFFFFF)
#define PFB_CPI_OF_THREAD UINT32_C(0xFFFFFFFE)

/* The figures of one CPU, of the system or of the thread as a hook stores them. */
typedef struct pfb_cpi_stored {
    bool has_counts;        /* in all hooks but the summary */
    bool has_scaled;        /* what stands below the line; counts only when has_counts */
    uint64_t instr, cycles; /* 0 without has_counts */
    pfb_cpi_words cpi;
    /* ------------------------------------------------------------------------------------------ */
    uint64_t scaled_cycles;
    pfb_cpi_words scaled_cpi, busy;
} pfb_cpi_stored;

/* The figures of `whose` in one hook of a group of this reader: the summary has CPUs, system and thread, the others
 * what their names say. False when there are none. Constant cost; may be called at any time. */
PFB_API bool pfb_cpi_hooks_stored(const pfb_cpi_hooks *hooks, const pfb_cpi_group *group, pfb_cpi_hook_kind kind,
                                  uint32_t whose, pfb_cpi_stored *stored);

/* A raw word of a hook, from 0 behind its header; likewise. */
PFB_API bool pfb_cpi_hooks_word(const pfb_cpi_hooks *hooks, const pfb_cpi_group *group, pfb_cpi_hook_kind kind,
                                uint32_t position, uint32_t *word);

/* ---- Writing ------------------------------------------------------------------------------------------------- */

/* Which hooks a group has; the first generation's values. */
#define PFB_CPI_FORM_SUMMARY UINT32_C(0x20)
#define PFB_CPI_FORM_DETAILED UINT32_C(0x40)

typedef struct pfb_cpi_identity {
    uint32_t minor; /* 0 to 255 */
    uint32_t forms; /* PFB_CPI_FORM_ bits; 0: the summary, or the detailed form where there is only a thread */
    uint32_t stamp; /* of all hooks; 0 for none */
    const void *label;
    size_t label_size_bytes; /* 0: no label; at most PFB_CPI_MOST_LABEL_BYTES, none of them NUL */
} pfb_cpi_identity;

/* Writes a whole group, or nothing. `cpus` are the figures of result->cpu_count CPUs. `*size_bytes` becomes the size of
 * the group, whether it fits or not; 0 with PFB_CALLER_ARGUMENT, which is for an identity out of range, a summary of a
 * thread alone, a result without system figures (PFB_CPI_NO_DATA), busy above elapsed, and counts of CPUs that do not
 * add up to the system's in 64 bits. PFB_CALLER_TOO_SMALL when `capacity` is smaller than the size. */
PFB_API pfb_code pfb_cpi_hooks_write(const pfb_cpi_result *result, const pfb_cpi_figures *cpus,
                                     const pfb_cpi_identity *identity, void *out, size_t capacity, size_t *size_bytes);

#ifdef __cplusplus
}
#endif

#endif
