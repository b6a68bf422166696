/* SPDX-License-Identifier: MIT */
#ifndef PFB_REGISTRY_BLOCK_H
#define PFB_REGISTRY_BLOCK_H

/* V1 blocks whose objects are copies of those in a source: chosen, and in the order that was asked for. */
#include "perfblock/source.h"
#include "perfblock/stream.h"
#include "perfblock/write.h"
#include "registry/value_name.h"

/* The size of a block, in bytes. Data can ask for much more: rows and columns that have no values in common. */
#define REGISTRY_MAX_BLOCK (UINT32_C(256) << 20)

/* An object. */
typedef struct block_part {
    uint32_t title;
    uint32_t parent; /* title index of the object that has the parents of its instances; 0: none */
    size_t at, size_bytes;
    bool is_written;
} block_part;

/* The objects of a sample, which may be in several blocks. Zero is an empty one. */
typedef struct registry_block {
    pfb_write_times times;
    bool is_big_endian;
    block_part *parts;
    size_t count, capacity;
    pfb_bytes bytes; /* of the parts */
} registry_block;

void pfb_registry_clear_block(registry_block *block); /* its memory is kept */
void pfb_registry_free_block(registry_block *block);

/* Adds the valid objects of a block; the first one sets the times. Returns false when memory is exhausted. */
bool pfb_registry_add_block(registry_block *block, const uint8_t *data, size_t size_bytes);

/* Returns true if the block has an object that was asked for. */
bool pfb_registry_has_object(const registry_block *block, const registry_value *value);

/* Writes the block: the objects that were asked for, in that order, then those of their parents. Returns false when
 * memory is exhausted. */
bool pfb_registry_write_block(registry_block *block, const registry_value *value, const char *machine, pfb_bytes *out);

/* Begins a block; the machine is in UTF-8. */
void pfb_registry_begin(pfb_writer *writer, const pfb_write_times *times, const char *machine, bool is_big_endian);

/* Sets the field of the default object in a block that was written: Windows' Processor. */
void pfb_registry_set_default(uint8_t *block, bool is_big_endian);

/* The fields of a time in UTC, in 100 ns since 1601. */
pfb_system_time pfb_registry_system_time(int64_t time);

#endif
