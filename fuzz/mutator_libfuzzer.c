/* SPDX-License-Identifier: MIT */
/* The mutator PERFBLOCK_MUTATOR (mutator.h) as the custom mutator of libFuzzer. One mutation in four is made by the
 * engine, which does not know the structure of the input. */
#include "mutator.h"

/* The build chooses the mutator. */
#ifndef PERFBLOCK_MUTATOR
#define PERFBLOCK_MUTATOR mutate_v2
#endif

#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* Weak, because other engines call the custom mutator but do not have this function. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    uint8_t *out = seed / 2 % 4 == 0 && LLVMFuzzerMutate ? NULL : malloc(max_size);
    mutation m = {.size_bytes = 0};
    if (out)
        m = PERFBLOCK_MUTATOR(data, size, out, max_size, seed);
    if (m.size_bytes > 0)
        memcpy(data, out, m.size_bytes);
    free(out);
    if (m.size_bytes > 0 || !LLVMFuzzerMutate)
        return m.size_bytes > 0 ? m.size_bytes : size;
    return LLVMFuzzerMutate(data, size, max_size);
}
