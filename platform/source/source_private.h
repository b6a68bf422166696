/* SPDX-License-Identifier: MIT */
#ifndef PFB_SOURCE_PRIVATE_H
#define PFB_SOURCE_PRIVATE_H

/* Helpers for source implementations. */
#include "perfblock/source.h"
#include "perfblock/write.h"

#include <stdarg.h>
#include <stdio.h> /* MinGW: __MINGW_PRINTF_FORMAT */

#if defined(__MINGW_PRINTF_FORMAT) /* MinGW takes `printf` here for Microsoft's printf, which lacks %zu */
#define PFB_PRINTF_KIND __MINGW_PRINTF_FORMAT
#else
#define PFB_PRINTF_KIND printf
#endif
#if defined(__GNUC__)
#define PFB_PRINTF(format_at, arguments_at) __attribute__((format(PFB_PRINTF_KIND, format_at, arguments_at)))
#else
#define PFB_PRINTF(format_at, arguments_at)
#endif

/* Writes a sentence with its NUL. A sentence that does not fit is cut between two characters. `capacity` is at least 1.
 */
void pfb_source_format_sentence(char *sentence, size_t capacity, const char *format, va_list arguments)
    PFB_PRINTF(3, 0);

/* Fills in `failure`, which may be NULL, and returns false, so that an operation can return the result. The sentence is
 * cut as in pfb_source_format_sentence. */
bool pfb_source_fail(pfb_source_failure *failure, uint32_t code, const char *format, ...) PFB_PRINTF(3, 4);

/* Reports a failed allocation. Returns false. */
bool pfb_source_fail_memory(pfb_source_failure *failure);

/* Grows an array to at least `needed` elements. `array` is NULL or comes from malloc or realloc. Returns its new
 * address, or NULL when memory is exhausted; then the array and *capacity are unchanged. Grows by at least one half, so
 * that repeated calls take amortised constant time. */
void *pfb_source_grow(void *array, size_t *capacity, size_t needed, size_t element_bytes);

/* Capacities to try for a call whose reply size is not known in advance, in units of `unit_bytes`. */
typedef struct pfb_source_capacity {
    uint32_t unit_bytes;
    uint32_t initial;       /* minimum for the first call, which uses the capacity of the buffer if that is larger */
    uint32_t initial_limit; /* maximum for the first call */
    uint32_t limit;         /* maximum for all calls */
} pfb_source_capacity;

/* Provides the buffer for the next call and sets *units to its capacity. The caller sets *units to 0 before the first
 * call; if a capacity was too small, calls this function again with the same *units. The new capacity is then twice the
 * old one, limited to `limit`, or `needed` units if that is larger; `needed` must be at most `limit`. The caller
 * gives up when *units is `limit`, so at most 1 + log2(limit / initial) calls are made. If the buffer must grow, its
 * contents are freed first, so that two replies are never held at once and nothing is copied. */
bool pfb_source_next_capacity(const pfb_source_capacity *capacity, pfb_bytes *bytes, uint32_t needed, uint32_t *units,
                              pfb_source_failure *failure);

/* Writes a reply. Called once or twice with the same context; must write the same bytes each time. */
typedef void pfb_source_write_function(const void *context, pfb_writer *writer);

/* Builds a reply in `bytes`, which is grown as needed. Allocates nothing if the buffer is large enough. */
bool pfb_source_build(pfb_bytes *bytes, pfb_source_write_function *write, const void *context,
                      pfb_source_failure *failure);

/* Returns true if the bytes are zero or more complete identifier blocks (PERF_COUNTER_IDENTIFIER) whose sizes are
 * multiples of 8, as the API requires. */
bool pfb_source_check_blocks(const uint8_t *blocks, size_t size, pfb_source_failure *failure);

/* Returns the kind (PFB_V2_) that PerfLib gives the result of an identifier block: it depends on whether the block has
 * a counter id instead of PFB_NO_ID, and on whether its name is a pattern; for a single-instance counterset,
 * `is_pattern` is false. */
uint32_t pfb_source_result_kind(bool has_counter_id, bool is_pattern);

/* Writes an error result with this status, a Win32 code. */
void pfb_source_write_error(pfb_writer *writer, uint32_t status);

/* Returns true for the kinds (PFB_V2_) of results with instances and values: the known kinds except PFB_V2_ERROR. */
bool pfb_source_has_values(uint32_t kind);

/* Sets the Status field of an identifier block. */
void pfb_source_set_status(uint8_t *blocks, const pfb_identifier *identifier, uint32_t status);

#endif
