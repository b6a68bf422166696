/* SPDX-License-Identifier: MIT */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stddef.h>

/* Memory that is there, or the program ends: with a line on standard error, after what was printed so far went out.
 * Sizes come from files that are in memory already, so running out is rare and nothing could be done about it. */

/* Sets the function that ends the program when memory runs out. Call once, first. */
void memory_at_exhaustion(void (*end)(void));

/* `count` elements of `size` bytes, zeroed; count * size may not wrap. Never null. */
void *memory_get(size_t count, size_t size);

/* An array grown to hold at least `count` elements; `capacity` is kept. At least doubles, so that appending stays
 * linear. Never null; the new part is not initialised. */
void *memory_grow(void *array, size_t *capacity, size_t count, size_t size);

/* Ends the program as the functions above do. */
_Noreturn void memory_exhausted(void);

#endif
