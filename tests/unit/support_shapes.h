/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_SHAPES_H
#define PFB_TEST_SUPPORT_SHAPES_H

/* V2 and V1 blocks with given numbers of counters and instances, for the tests of inputs that change while they are
 * read. */
#include <stddef.h>
#include <stdint.h>

typedef struct block {
    uint8_t *data; /* freed by the caller */
    size_t size;
} block;

enum { SHAPE_MAX_COUNTERS = 8 };

/* A V2 reply: one result of all counters of all instances. */
block shape_v2(uint32_t counters, uint32_t instances);

/* A V1 block: one object, whose values have no multi counts. */
block shape_v1(uint32_t counters, uint32_t instances);

#endif
