/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_ALLOCATIONS_H
#define PFB_TEST_SUPPORT_ALLOCATIONS_H

/* Allocations that fail on request, for programs whose copy of the platform layer is compiled with malloc=test_malloc
 * and so on. */
#include <stddef.h>

extern size_t allocations; /* made so far */
extern size_t failing;     /* number of the one that fails, from 1; 0: none */

#endif
