/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_ALLOCATIONS_H
#define PFB_TEST_SUPPORT_ALLOCATIONS_H

/* Allocations that fail on request. The library perfblock_failing_memory is the platform layer compiled with
 * -Dmalloc=test_malloc and the same for calloc and realloc, as are the tests that use it. A test repeats its work with
 * failing_allocation = 1, 2, ... until the work makes fewer allocations than that. */
#include <stddef.h>

extern size_t allocations;        /* number of allocations so far */
extern size_t failing_allocation; /* which allocation fails, counted from 1; 0 for none */

#endif
