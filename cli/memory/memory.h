/* SPDX-License-Identifier: MIT */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Allocation that never fails: when memory runs out, the program flushes its output, prints an error and ends. Sizes
 * come from files that are in memory already, so this is rare, and there is no way to continue. */

/* Sets the function that ends the program when memory runs out. Call once, first. */
void memory_at_exhaustion(void (*end)(void));

/* Allocates `count` elements of `size` bytes, zeroed. Never null. Free with free(). */
void *memory_get(size_t count, size_t size);

/* Grows an array to at least `count` elements of `size` bytes and updates `capacity`. It at least doubles, so that
 * appending is linear. Never null; new elements are not initialised. */
void *memory_grow(void *array, size_t *capacity, size_t count, size_t size);

/* Returns the position of the first of `count` elements of `size` bytes whose key is not below `key`; the keys, which
 * are uint32_t at `key_offset` of each element, ascend. */
size_t memory_find(const void *array, size_t count, size_t size, size_t key_offset, uint32_t key);

/* Ends the program as the functions above do when memory runs out. */
_Noreturn void memory_exhausted(void);

#endif
