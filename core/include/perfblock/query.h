/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_QUERY_H
#define PERFBLOCK_QUERY_H

#include "perfblock/metadata.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the identifier blocks of a query (PERF_COUNTER_IDENTIFIER for PerfAddCounters and PerfDeleteCounters), finds
 * the query that a result answers, matches instance names against patterns, and splits counter paths.
 * Source: perflib.h, [MS-PCQ] 2.2.4.6 and 3.1.4.1; docs/query.md. */

/* PERF_MAX_INSTANCE_NAME: longest name filter, in 16-bit units without the NUL. */
enum { PFB_QUERY_NAME_UNITS = 1024 };

/* A PERF_COUNTER_IDENTIFIER to write. */
typedef struct pfb_query {
    pfb_guid counterset;
    uint32_t counter_id;  /* PFB_NO_ID: all counters of the counterset */
    uint32_t instance_id; /* PFB_NO_ID: any */
    pfb_name name;   /* in any encoding, at most PFB_QUERY_NAME_UNITS units of UTF-16 without NUL: an exact name, or
                      * a pattern with * and ?. bytes is null: no name, as for single-instance countersets */
    uint32_t status; /* 0 in a request; in an answer the Win32 error code of adding or deleting this query */
    uint32_t index;  /* 0 in a request; in the reply of PerfQueryCounterInfo the position of the result */
} pfb_query;

/* Returns the size in bytes of the identifier block: 40 without a name, otherwise 40 + name + NUL, rounded up to a
 * multiple of 8. 0 if the name is too long or contains a NUL. */
PFB_API size_t pfb_query_size(const pfb_query *query);

/* Writes the block at `out` and returns its size; padding is zero. Returns 0 and writes nothing if pfb_query_size
 * returns 0 or more than `capacity`. In a buffer of several blocks each begins where the previous one ends. A name in
 * UTF-16LE of an even size may lie inside the block that is overwritten. */
PFB_API size_t pfb_query_write(const pfb_query *query, uint8_t *out, size_t capacity);

/* ---- Wildcards --------------------------------------------------------------------------------------- */

/* Bits of the `options` of pfb_query_match. */
#define PFB_MATCH_IGNORE_CASE 1u /* A-Z equal a-z; other letters must be the same */
#define PFB_MATCH_EXACT 2u       /* * and ? in the pattern match only themselves */

/* Returns true if the whole of `name` matches `pattern`: * matches any run of units, including the empty one, ? matches
 * one 16-bit unit, anything else matches itself. Names and patterns that are not in UTF-16 are converted to it for the
 * comparison, so a character past U+FFFF is two units. A pattern of more than PFB_QUERY_NAME_UNITS units matches
 * nothing. A name without bytes is empty. The worst-case work is the product of both lengths. */
PFB_API bool pfb_query_match(const pfb_name *pattern, const pfb_name *name, uint32_t options);

/* Returns true if the pattern contains * or ?. */
PFB_API bool pfb_query_is_pattern(const pfb_name *pattern);

/* ---- Counter paths ------------------------------------------------------------------------------------ */

/* The parts of a counter path, as PDH, typeperf and the headers of perfmon logs write it:
 *
 *     [\\machine]\counterset[(instance)]\counter
 *     instance: [parent/]name[#index]
 *
 * Parts are slices of the path; `bytes` is null for an absent part. Any part may contain * and ?. */
typedef struct pfb_path {
    pfb_name machine; /* without the two backslashes */
    pfb_name counterset;
    pfb_name instance; /* the text between the parentheses, which may be empty */
    pfb_name parent;   /* the part of `instance` before its last slash; none if it begins with a slash */
    pfb_name name;     /* `instance` without parent and index */
    bool has_index;    /* `instance` ends in # and one to nine digits */
    uint32_t index;    /* number among the instances of this name, from 0 */
    pfb_name counter;
} pfb_path;

/* Splits a path in UTF-8, UTF-16LE or an encoding of one byte per character. The counterset ends at the first
 * backslash or opening parenthesis. An instance ends at the closing parenthesis that balances the opening one, if a
 * backslash follows; names of instances may contain parentheses and backslashes. If the parentheses do not balance, it
 * ends at the last closing parenthesis that a backslash follows; if there is none, the opening parenthesis belongs to
 * the name of the counterset. The name of an instance may itself be "a/b" or "a#1": callers compare `instance` first.
 * Returns false, with an empty path, if this is not a path: no backslash at the start, an empty machine, no counterset
 * or no counter. */
PFB_API bool pfb_path_parse(const pfb_name *text, pfb_path *path);

/* The same text is also the path of a counterset whose name has a parenthesis or begins with a backslash, or of another
 * instance and counter: only data that has these names can decide. Replaces *path, which is empty (all zeros) or the
 * latest result for this text, by the next way to split it, in the order in which the counterset, then the instance,
 * ends; those without a machine are the last. The result of pfb_path_parse is one of them. Returns false if there are
 * no more; then *path is unchanged. */
PFB_API bool pfb_path_next_split(const pfb_name *text, pfb_path *path);

#ifdef __cplusplus
}
#endif

#endif
