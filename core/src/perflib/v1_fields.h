/* SPDX-License-Identifier: MIT */
#ifndef PFB_V1_FIELDS_H
#define PFB_V1_FIELDS_H

/* Sizes of the parts of V1 blocks, and loads from them in either byte order. */
#include "bytes/cursor.h"
#include "perfblock/v1.h"

/* Sizes of PERF_DATA_BLOCK, PERF_OBJECT_TYPE, PERF_COUNTER_DEFINITION, PERF_INSTANCE_DEFINITION and the header of
 * PERF_COUNTER_BLOCK. */
enum {
    V1_HEADER_BYTES = 88,
    V1_OBJECT_HEADER_BYTES = 64,
    V1_DEFINITION_BYTES = 40,
    V1_INSTANCE_BYTES = 24,
    V1_COUNTER_BLOCK_BYTES = 4,
    V1_MIN_INSTANCE_BYTES = V1_INSTANCE_BYTES + V1_COUNTER_BLOCK_BYTES
};

/* Returns the encoding of the instances' names in an object with this code page. */
static inline uint32_t pfb_v1_encoding(uint32_t code_page, bool is_big_endian)
{
    if (code_page != 0)
        return code_page;
    return is_big_endian ? PFB_ENCODING_UTF16BE : PFB_ENCODING_UTF16LE;
}

static inline bool pfb_v1_is_utf16(uint32_t code_page)
{
    return code_page == 0 || code_page == PFB_ENCODING_UTF16LE || code_page == PFB_ENCODING_UTF16BE;
}

/* ---- Big-endian loads -------------------------------------------------------------------------------- */

static inline uint16_t load_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

/* Uses builtins, because not every compiler combines shifts of single bytes into one load and one swap. */
#if defined(__GNUC__)

static inline uint32_t load_be32(const uint8_t *p)
{
    return __builtin_bswap32(load_le32(p));
}

static inline uint64_t load_be64(const uint8_t *p)
{
    return __builtin_bswap64(load_le64(p));
}

#else

static inline uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline uint64_t load_be64(const uint8_t *p)
{
    return (uint64_t)load_be32(p) << 32 | load_be32(p + 4);
}

#endif

/* ---- Loads in the byte order of a block -------------------------------------------------------------- */

static inline uint16_t load16(const pfb_v1_reader *reader, const uint8_t *p)
{
    return reader->is_big_endian ? load_be16(p) : load_le16(p);
}

static inline uint32_t load32(const pfb_v1_reader *reader, const uint8_t *p)
{
    return reader->is_big_endian ? load_be32(p) : load_le32(p);
}

static inline uint64_t load64(const pfb_v1_reader *reader, const uint8_t *p)
{
    return reader->is_big_endian ? load_be64(p) : load_le64(p);
}

/* Loads a SYSTEMTIME. */
static inline pfb_system_time v1_load_system_time(const pfb_v1_reader *reader, const uint8_t *p)
{
    return (pfb_system_time){.year = load16(reader, p),
                             .month = load16(reader, p + 2),
                             .day_of_week = load16(reader, p + 4),
                             .day = load16(reader, p + 6),
                             .hour = load16(reader, p + 8),
                             .minute = load16(reader, p + 10),
                             .second = load16(reader, p + 12),
                             .millisecond = load16(reader, p + 14)};
}

#endif
