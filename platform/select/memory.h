/* SPDX-License-Identifier: MIT */
#ifndef PFB_SELECT_MEMORY_H
#define PFB_SELECT_MEMORY_H

#include "perfblock/source.h"

#include <stdbool.h>
#include <stddef.h>

/* Grows the array whose pointer is at `array` to at least `count` elements. The pointer is null or comes from malloc or
 * realloc. Returns false when memory is exhausted; then the array and *capacity are unchanged. Grows by at least one
 * half, so that repeated calls take amortised constant time. */
bool pfb_collect_grow(void *array, size_t *capacity, size_t count, size_t element_bytes);

/* Calls pfb_collect_grow with the element size of `array`. */
#define PFB_COLLECT_GROW(array, capacity, count) pfb_collect_grow(&(array), &(capacity), (count), sizeof *(array))

/* Provides memory for `size` bytes; the old contents are lost. Keeps *memory if it is large enough, but not if it has
 * more than 4096 bytes and more than four times the size: otherwise many small samples could each hold the memory of a
 * large one. Returns false when memory is exhausted; *memory is then null. */
bool pfb_collect_fit(void **memory, size_t *capacity, size_t size);

/* Copies a struct to one of the caller, whose first member is its size in bytes: members that the caller's lacks are
 * left out, those that only it has are unchanged. */
void pfb_collect_copy_out(void *to, const void *from, size_t size);

/* Fails because memory is exhausted. Always returns false. */
bool pfb_collect_no_memory(pfb_source_failure *failure);

#endif
