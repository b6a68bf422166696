/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_V1_H
#define PFB_TEST_SUPPORT_V1_H

/* V1 blocks for the tests: fields in either byte order, objects in a few calls, and one block with all features. */
#include "perfblock/write.h"
#include "support.h"
#include "support_types.h"

/* ---- Fields in either byte order --------------------------------------------------------------------- */

void put_ordered(bytes *b, bool is_big_endian, uint64_t value, size_t size);
uint32_t load_ordered(const uint8_t *p, bool is_big_endian);
void store_ordered(uint8_t *p, bool is_big_endian, uint32_t value);

/* ---- Objects ----------------------------------------------------------------------------------------- */

/* The clocks of a sample that is taken `tick` seconds after they started. The performance clock has 1000 ticks per
 * second. */
pfb_write_times v1_times(int64_t tick);

/* Begins a block with an empty system name, at tick 1. */
void v1_begin(pfb_writer *b, uint8_t *memory, size_t capacity, bool is_big_endian);

/* Ends the last object and the block, and checks that the writer reported no error. */
void v1_end(pfb_writer *b);

/* Begins an object. `instances` is PFB_V1_NO_INSTANCES or a PFB_V1_METADATA_ constant; all other numbers are replaced
 * by the number of instances that are added. */
void v1_object(pfb_writer *b, uint32_t title, int32_t instances);

/* Adds the definition of a counter and returns the offset of its value; if `offset` is 0, the writer assigns it. */
uint32_t v1_counter(pfb_writer *b, uint32_t title, uint32_t type, uint32_t size, uint32_t offset);

/* Adds an instance without unique id and parent. `name` is in Windows-1252, or null for an instance without name. */
void v1_instance(pfb_writer *b, const char *name);

/* Adds an instance that is a child of instance number `position` of the object with the title `parent`. */
void v1_instance_of(pfb_writer *b, const char *name, int32_t unique_id, uint32_t parent, uint32_t position);

/* ---- A block with all features ----------------------------------------------------------------------- */

/* Positions in the block that v1_everything writes; tests/unit/test_write_v1.c has all of its bytes. */
enum {
    EVERYTHING_BYTES = 896,
    OBJECT_A = 96, /* 100: counter, average, its base, label; instances "a", "b" */
    DEFINITIONS_A = OBJECT_A + 64,
    INSTANCE_A = DEFINITIONS_A + 4 * 40,
    BLOCK_A = INSTANCE_A + 32,
    INSTANCE_B = BLOCK_A + 24,
    BLOCK_B = INSTANCE_B + 32,
    OBJECT_B = OBJECT_A + 336, /* 200: one counter, no instances */
    OBJECT_C = OBJECT_B + 112, /* 300: metadata of an object with instances */
    OBJECT_D = OBJECT_C + 104, /* 400: metadata of an object without instances */
    OBJECT_E = OBJECT_D + 104  /* 500: a name in code page 1252, child of "b" */
};

void v1_everything(pfb_writer *b, bool is_big_endian);

#endif
