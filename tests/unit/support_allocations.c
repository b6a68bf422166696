/* SPDX-License-Identifier: MIT */
#include "support_allocations.h"

#include <stdbool.h>
#include <stdlib.h>

#undef malloc
#undef calloc
#undef realloc
/* The macros also replaced the names in <stdlib.h>, so these functions are not declared yet. */
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);

size_t allocations;
size_t failing_allocation;

static bool fails(void)
{
    return ++allocations == failing_allocation;
}

void *test_malloc(size_t size);
void *test_calloc(size_t count, size_t size);
void *test_realloc(void *memory, size_t size);

void *test_malloc(size_t size)
{
    return fails() ? NULL : malloc(size);
}

void *test_calloc(size_t count, size_t size)
{
    return fails() ? NULL : calloc(count, size);
}

void *test_realloc(void *memory, size_t size)
{
    return fails() ? NULL : realloc(memory, size);
}
