/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_HOOKS_H
#define PERFBLOCK_CPI_HOOKS_H

#include "perfblock/cpi/cpi.h"
#include "perfblock/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Trace hooks of the CPI facility: records of 32-bit words, in groups. docs/cpi.md has the rules and the layout, and
 * defines the parts of Performance Inspector's layout that were never published. */

/* ---- Groups -------------------------------------------------------------------------------------------------- */

/* The hooks of a group, in order. */
typedef enum pfb_cpi_hook_kind {
    PFB_CPI_LABEL_START = 0,
    PFB_CPI_SUMMARY_HOOK,
    PFB_CPI_SYSTEM_HOOK,
    PFB_CPI_PROCESSORS_HOOK,
    PFB_CPI_THREAD_HOOK,
    PFB_CPI_LABEL_END,
    PFB_CPI_HOOK_COUNT
} pfb_cpi_hook_kind;

/* Returns "label_start", "summary", "system", "processors", "thread" or "label_end"; "unknown_hook" for other values.
 * Never null; static. */
PFB_API const char *pfb_cpi_hook_name(pfb_cpi_hook_kind kind);

/* Bits of a flags word. */
#define PFB_CPI_FLAG_RAW 1u /* in every flags word */
#define PFB_CPI_FLAG_SCALED 2u
#define PFB_CPI_FLAG_THREAD 4u /* summary only */

/* One record. */
typedef struct pfb_cpi_hook {
    bool is_present;
    size_t offset;       /* of the record; its words begin PFB_CPI_HOOK_HEADER_BYTES after it */
    uint32_t word_count; /* whole words after the header, including a label's padding */
    uint32_t stamp;      /* low 32 bits of a time stamp in units of the writer; 0 for none */
    uint32_t flags;      /* PFB_CPI_FLAG_ bits; 0 if the hook has no flags word */
    uint32_t cpu_count;  /* number of CPUs; 0 if the hook has no word for it */
} pfb_cpi_hook;

enum { PFB_CPI_HOOK_HEADER_BYTES = 12, PFB_CPI_MAX_LABEL_BYTES = 255 };

/* Deviations of a group that are not errors. "At" names the field whose offset is reported. */
typedef enum pfb_cpi_warning {
    /* A CPI differs by more than 0.0001 from the rounded quotient of its counters; at the figure's first word. */
    PFB_CPI_WARN_FIGURE = 0,
    PFB_CPI_WARN_NO_THREAD, /* the summary has a thread, the detailed hooks have none; at the summary's flags word */
    PFB_CPI_WARN_STAMP,     /* a time stamp below that of the previous hook that has one, in any group; at the stamp */
    PFB_CPI_WARNING_COUNT
} pfb_cpi_warning;

/* Returns "figure_mismatch", "missing_thread_hook" or "stamp_descends"; "unknown_warning" for other values. Never null;
 * static. */
PFB_API const char *pfb_cpi_warning_name(pfb_cpi_warning warning);

/* The warnings of one kind in a group. */
typedef struct pfb_cpi_warning_summary {
    uint32_t count;
    size_t offset; /* of the first one if count > 0 */
} pfb_cpi_warning_summary;

/* A group that passed all checks. */
typedef struct pfb_cpi_group {
    size_t offset;           /* of the first record */
    size_t end_offset;       /* end of the last record */
    uint32_t minor;          /* code chosen by the writer, 0 to 255 */
    uint64_t elapsed_cycles; /* the same in all hooks */
    size_t label_offset;     /* of the label: opaque bytes without NUL */
    uint32_t label_size_bytes;
    uint32_t cpu_count; /* 0 if no hook has a CPU count */
    uint32_t tid;       /* of the thread hook; 0 without one */
    pfb_cpi_hook hooks[PFB_CPI_HOOK_COUNT];
    pfb_cpi_warning_summary warnings[PFB_CPI_WARNING_COUNT];
} pfb_cpi_group;

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* Limits on a stream; 0: no limit. The first record that exceeds a limit gives the error PFB_CALLER_LIMIT. */
typedef struct pfb_cpi_limits {
    size_t bytes;
    uint64_t records; /* including records of other major codes */
    uint64_t groups;
} pfb_cpi_limits;

/* Reader of a stream; same conventions as v2.h. `error.offset` is the offset of the record, or the end of the stream
 * for an unterminated group; `word_offset` is the offset of the offending field. A group that is complete before the
 * error is returned first. Work is linear in the size. */
typedef struct pfb_cpi_hooks {
    pfb_error error;
    size_t word_offset;
    uint64_t record_count;  /* read so far, including records of other major codes */
    uint64_t skipped_count; /* records of other major codes */
    uint64_t group_count;
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
    pfb_cpi_limits limits;
    uint32_t last_stamp;
} pfb_cpi_hooks;

/* Starts at the first record and checks nothing yet. `limits` may be null. A null `data` counts as size 0. */
PFB_API void pfb_cpi_hooks_open(pfb_cpi_hooks *hooks, const void *data, size_t size, const pfb_cpi_limits *limits);

/* Returns the next group in *group; false at the end and on error. */
PFB_API bool pfb_cpi_hooks_next(pfb_cpi_hooks *hooks, pfb_cpi_group *group);

/* Checks the rest of the stream and returns `error`. */
PFB_API pfb_error pfb_cpi_hooks_finish(pfb_cpi_hooks *hooks);

/* ---- Figures ------------------------------------------------------------------------------------------------- */

/* A figure as hooks store it: the integral part and the ten-thousandths, rounded half up. If both are
 * PFB_CPI_UNDEFINED, the figure is undefined. */
typedef struct pfb_cpi_words {
    uint32_t integral; /* at most 0xFFFFFFFE */
    uint32_t fraction; /* 0 to 9999 */
} pfb_cpi_words;

#define PFB_CPI_UNDEFINED 0xFFFFFFFFu

/* Stores the figure in *value, rounded once to the nearest double. If the words are not a figure, returns false and
 * stores 0.0. */
PFB_API bool pfb_cpi_words_value(pfb_cpi_words words, double *value);

/* ---- Contents of a group ------------------------------------------------------------------------------------- */

/* Values of the parameter `whose` of pfb_cpi_hooks_stored; all others are positions of CPUs. */
#define PFB_CPI_OF_SYSTEM 0xFFFFFFFFu
#define PFB_CPI_OF_THREAD 0xFFFFFFFEu

/* The figures of one CPU, of the system or of the thread as a hook stores them. */
typedef struct pfb_cpi_stored {
    bool has_counts;        /* true for all hooks except the summary */
    bool has_scaled;        /* scaled_cpi and busy are set; scaled_cycles too if has_counts */
    uint64_t instr, cycles; /* 0 without has_counts */
    pfb_cpi_words cpi;
    uint64_t scaled_cycles;
    pfb_cpi_words scaled_cpi, busy;
} pfb_cpi_stored;

/* Returns in *stored the figures of `whose` in one hook of a group of this reader; false if the hook does not have
 * them. The summary has figures of the CPUs, the system and the thread; each of the other hooks has only those after
 * which it is named. May be called at any time after the group was returned. Constant time. */
PFB_API bool pfb_cpi_hooks_stored(const pfb_cpi_hooks *hooks, const pfb_cpi_group *group, pfb_cpi_hook_kind kind,
                                  uint32_t whose, pfb_cpi_stored *stored);

/* ---- Writing ------------------------------------------------------------------------------------------------- */

/* Bits that select the hooks to write. Their values are those of the first generation of Performance Inspector's CPI
 * facility. */
#define PFB_CPI_FORM_SUMMARY 0x20u
#define PFB_CPI_FORM_DETAILED 0x40u

/* The properties of a group that its writer chooses. */
typedef struct pfb_cpi_identity {
    uint32_t minor; /* 0 to 255 */
    uint32_t forms; /* PFB_CPI_FORM_ bits; 0: the summary, or the detailed form with PFB_CPI_THREAD_ONLY */
    uint32_t stamp; /* of all hooks; 0 for none */
    const void *label;
    size_t label_size_bytes; /* 0: no label; at most PFB_CPI_MAX_LABEL_BYTES, no NUL */
} pfb_cpi_identity;

/* Writes a whole group, or nothing. `cpus` are the figures of result->cpu_count CPUs. Sets *size_bytes to the size of
 * the group. Returns PFB_CALLER_TOO_SMALL if `capacity` is below that size. Returns PFB_CALLER_ARGUMENT and sets
 * *size_bytes to 0 for an identity out of range, a summary with PFB_CPI_THREAD_ONLY, a result without the thread that
 * its mode requests, and, without PFB_CPI_THREAD_ONLY, for a system without instructions (PFB_CPI_NO_DATA), no or too
 * many CPUs, busy above elapsed, counts of CPUs that do not add up to the system's, or sums above 64 bits. */
PFB_API pfb_code pfb_cpi_hooks_write(const pfb_cpi_result *result, const pfb_cpi_figures *cpus,
                                     const pfb_cpi_identity *identity, void *out, size_t capacity, size_t *size_bytes);

#ifdef __cplusplus
}
#endif

#endif
