/* SPDX-License-Identifier: MIT */
#ifndef PFB_SOURCE_PRIVATE_H
#define PFB_SOURCE_PRIVATE_H

/* What the implementations of sources share. */
#include "perfblock/source.h"
#include "perfblock/write.h"

#include <stdarg.h>
#include <stdio.h> /* MinGW: __MINGW_PRINTF_FORMAT */

#if defined(__MINGW_PRINTF_FORMAT) /* "printf" there is that of Microsoft, which knows no %zu */
#define PFB_PRINTF_KIND __MINGW_PRINTF_FORMAT
#else
#define PFB_PRINTF_KIND printf
#endif
#if defined(__GNUC__)
#define PFB_PRINTF(format_at, arguments_at) __attribute__((format(PFB_PRINTF_KIND, format_at, arguments_at)))
#else
#define PFB_PRINTF(format_at, arguments_at)
#endif

/* Writes a sentence, its NUL included. One that is too long is cut between two characters. `capacity` is at least 1. */
void pfb_source_say(char *sentence, size_t capacity, const char *format, va_list arguments) PFB_PRINTF(3, 0);

/* Fills in `failure` (may be null) and returns false, so that an operation can end with it. The sentence as above. */
bool pfb_source_fail(pfb_source_failure *failure, uint32_t code, const char *format, ...) PFB_PRINTF(3, 4);

/* The failure of an allocation. */
bool pfb_source_fail_memory(pfb_source_failure *failure);

/* Makes room for `needed` elements in an array from this function (null at first). Returns where it is now, null when
 * memory is exhausted: then array and capacity are as before. Grows by half at least, so repeated calls are cheap. */
void *pfb_source_grow(void *array, size_t *capacity, size_t needed, size_t element_bytes);

/* How much room calls are given whose replies are of a size that only the calls know, in units of `unit_bytes`. */
typedef struct pfb_source_room {
    uint32_t unit_bytes;
    uint32_t least; /* to begin with, and most of that when the memory that is there holds more */
    uint32_t most_at_first;
    uint32_t most; /* ever */
} pfb_source_room;

/* Makes room for the next call, whose units become *units: 0 before the first one, and then what did not do. The new
 * room is at least twice the old one, and `needed` units (at most room->most) if that is more, but never above
 * room->most: so there are at most 1 + log2(most / least) rooms until it is met. What the bytes held is worth nothing
 * and let go first: growing never holds two replies, nor copies one. */
bool pfb_source_make_room(const pfb_source_room *room, pfb_bytes *bytes, uint32_t needed, uint32_t *units,
                          pfb_source_failure *failure);

/* Writes a block; called once or twice with the same context, and must write the same both times. */
typedef void pfb_source_writer(const void *context, pfb_writer *builder);

/* Has a block written into `bytes`, which grows to what is needed: when it is large enough already, nothing is
 * allocated. */
bool pfb_source_build(pfb_bytes *bytes, pfb_source_writer *writer, const void *context, pfb_source_failure *failure);

/* True when the bytes are a sequence of whole identifier blocks, with sizes that are multiples of 8 as the interface
 * demands. An empty one is a sequence too. */
bool pfb_source_check_blocks(const uint8_t *blocks, size_t size, pfb_source_failure *failure);

/* Writes the Status of an identifier block. */
void pfb_source_set_status(uint8_t *blocks, const pfb_identifier *identifier, uint32_t status);

#endif
