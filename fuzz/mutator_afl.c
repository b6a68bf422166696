/* SPDX-License-Identifier: MIT */
/* The mutator PERFBLOCK_MUTATOR (mutator.h) as a custom mutator of AFL++: a shared library that afl-fuzz loads
 * (AFL_CUSTOM_MUTATOR_LIBRARY). AFL++ also uses its own mutations. */
#include "mutator.h"

/* The build chooses the mutator. */
#ifndef PERFBLOCK_MUTATOR
#define PERFBLOCK_MUTATOR mutate_v2
#endif

#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

typedef struct state {
    uint64_t seed;
    uint8_t *out;
    size_t capacity;
} state;

EXPORTED void *afl_custom_init(void *afl, unsigned int seed);
EXPORTED size_t afl_custom_fuzz(void *data, uint8_t *input, size_t size, uint8_t **out, uint8_t *other,
                                size_t other_size, size_t max_size);
EXPORTED void afl_custom_deinit(void *data);

void *afl_custom_init(void *afl, unsigned int seed)
{
    (void)afl;
    state *s = calloc(1, sizeof *s);
    if (s)
        s->seed = (uint64_t)seed << 32;
    return s;
}

/* Returns the size of the output; 0: none was made. */
/* NOLINTNEXTLINE(readability-non-const-parameter): AFL++ defines the signature */
size_t afl_custom_fuzz(void *data, uint8_t *input, size_t size, uint8_t **out, uint8_t *other, size_t other_size,
                       size_t max_size)
{
    (void)other_size;
    (void)other;
    state *s = data;
    if (s->capacity < max_size) {
        free(s->out);
        s->out = malloc(max_size);
        s->capacity = s->out ? max_size : 0;
    }
    *out = s->out;
    return PERFBLOCK_MUTATOR(input, size, s->out, s->capacity, s->seed++).size_bytes;
}

void afl_custom_deinit(void *data)
{
    state *s = data;
    free(s->out);
    free(s);
}
