/* SPDX-License-Identifier: MIT */
#include "select/memory.h"

#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

bool pfb_collect_grow(void *array, size_t *capacity, size_t count, size_t element_bytes)
{
    void *old; /* copied as bytes: the pointer has another type, such as uint8_t *, and must not be read as a void * */
    memcpy(&old, array, sizeof old);
    void *grown = pfb_source_grow(old, capacity, count, element_bytes);
    if (grown)
        memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

bool pfb_collect_fit(void **memory, size_t *capacity, size_t size)
{
    enum { SMALL = 4096 };
    if (*memory && size <= *capacity && (*capacity / 4 <= size || *capacity <= SMALL))
        return true;
    free(*memory);
    *capacity = size > 0 ? size : 1;
    *memory = malloc(*capacity);
    if (!*memory)
        *capacity = 0;
    return *memory != NULL;
}

void pfb_collect_copy_out(void *to, const void *from, size_t size)
{
    uint32_t caller_size;
    memcpy(&caller_size, to, sizeof caller_size);
    size = caller_size < size ? caller_size : size;
    if (size > sizeof caller_size)
        memcpy((char *)to + sizeof caller_size, (const char *)from + sizeof caller_size, size - sizeof caller_size);
}

bool pfb_collect_no_memory(pfb_source_failure *failure)
{
    return pfb_source_fail(failure, PFB_WIN32_OUTOFMEMORY, "memory is exhausted");
}
