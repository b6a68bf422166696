/* SPDX-License-Identifier: MIT */
#include "memory/memory.h"

#include <stdint.h>
#include <stdlib.h>

static void (*end_program)(void) = abort;

void memory_at_exhaustion(void (*end)(void))
{
    end_program = end;
}

void memory_exhausted(void)
{
    end_program();
    abort(); /* not reached, but the compiler does not know that end_program() does not return */
}

void *memory_get(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size > 0 ? size : 1); /* calloc() fails if the product overflows */
    if (!memory)
        memory_exhausted();
    return memory;
}

void *memory_grow(void *array, size_t *capacity, size_t count, size_t size)
{
    if (array && count <= *capacity)
        return array;
    size_t new_capacity = *capacity > SIZE_MAX / 2 ? SIZE_MAX : *capacity * 2;
    if (new_capacity < count)
        new_capacity = count;
    if (new_capacity < 16)
        new_capacity = 16;
    if (new_capacity > SIZE_MAX / size)
        memory_exhausted();
    void *grown = realloc(array, new_capacity * size);
    if (!grown)
        memory_exhausted();
    *capacity = new_capacity;
    return grown;
}
