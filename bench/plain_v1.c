/* SPDX-License-Identifier: MIT */
#include "baselines.h"

#include <string.h>

/* Offsets in the structures of winperf.h. */
enum {
    BLOCK_HEADER_LENGTH = 24,
    BLOCK_OBJECT_COUNT = 28,
    OBJECT_DEFINITION_LENGTH = 4,
    OBJECT_HEADER_LENGTH = 8,
    OBJECT_TITLE = 12,
    OBJECT_COUNTER_COUNT = 32,
    OBJECT_INSTANCE_COUNT = 40,
    DEFINITION_TITLE = 4,
    DEFINITION_SIZE = 32,
    DEFINITION_OFFSET = 36
};

static uint32_t field(const uint8_t *p, size_t offset)
{
    uint32_t value;
    memcpy(&value, p + offset, sizeof value);
    return value;
}

const uint8_t *plain_v1_object(const uint8_t *block, uint32_t title)
{
    const uint8_t *object = block + field(block, BLOCK_HEADER_LENGTH);
    for (uint32_t i = 0; i < field(block, BLOCK_OBJECT_COUNT); i++) {
        if (field(object, OBJECT_TITLE) == title)
            return object;
        object += field(object, 0);
    }
    return NULL;
}

const uint8_t *plain_v1_first_instance(const uint8_t *object, uint32_t *count)
{
    *count = field(object, OBJECT_INSTANCE_COUNT);
    return object + field(object, OBJECT_DEFINITION_LENGTH);
}

const uint8_t *plain_v1_next_instance(const uint8_t *instance)
{
    const uint8_t *values = instance + field(instance, 0);
    return values + field(values, 0);
}

bool plain_v1_value(const uint8_t *object, const uint8_t *instance, uint32_t title, uint64_t *value)
{
    const uint8_t *definition = object + field(object, OBJECT_HEADER_LENGTH);
    const uint8_t *values = instance + field(instance, 0);
    for (uint32_t i = 0; i < field(object, OBJECT_COUNTER_COUNT); i++) {
        if (field(definition, DEFINITION_TITLE) == title) {
            const uint8_t *p = values + field(definition, DEFINITION_OFFSET);
            if (field(definition, DEFINITION_SIZE) == 8)
                memcpy(value, p, sizeof *value);
            else
                *value = field(p, 0);
            return true;
        }
        definition += field(definition, 0);
    }
    return false;
}
