/* SPDX-License-Identifier: MIT */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Allocation that never returns null. When memory runs out, the program flushes its output, prints an error and ends,
 * since no command can continue without the memory. */

/* Sets the function that ends the program when memory runs out, and that must not return. Call this before the other
 * functions of this header. */
void memory_at_exhaustion(void (*end)(void));

/* Allocates `count` elements of `size` bytes, zeroed. Never null. Free with free(). */
void *memory_get(size_t count, size_t size);

/* Makes the capacity of an array at least `count` elements of `size` bytes, and updates *capacity. An array that has to
 * grow at least doubles, so that appending n elements takes time linear in n. Never returns null. New elements are not
 * initialised. */
void *memory_grow(void *array, size_t *capacity, size_t count, size_t size);

/* Ends the program as the functions above do when memory runs out. */
_Noreturn void memory_exhausted(void);

#endif
