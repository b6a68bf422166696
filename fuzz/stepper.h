/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_STEPPER_H
#define PFB_FUZZ_STEPPER_H

/* Memory that calls a function before each access to it. A test uses it to change an input between any two loads of a
 * reader, deterministically, as a hostile thread could. For x86-64 Linux.
 *
 * The pages are protected, so an access faults. The signal handler makes them accessible, calls the function, and
 * single-steps the instruction (trap flag). Then the pages are protected again. An access costs about two signals and
 * two calls of mprotect. */
#include <stddef.h>
#include <stdint.h>

/* Called before an access at `offset` of the memory, which is writable during the call. `n` counts accesses from 0. */
typedef void stepper_callback(void *context, size_t offset, uint64_t n);

/* Allocates memory of `size` bytes that ends at an inaccessible page. Returns NULL on failure. Only one such memory may
 * exist at a time. */
uint8_t *stepper_make(size_t size);

/* Starts calling the function before each access. Replaces signal handlers of the program until stepper_end. */
void stepper_begin(stepper_callback *callback, void *context);

/* Stops calling the function and restores the signal handlers. Returns the number of accesses. */
uint64_t stepper_end(void);

/* Frees the memory. */
void stepper_free(void);

#endif
