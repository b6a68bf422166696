/* SPDX-License-Identifier: MIT */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include "perfblock/v2.h"

/* The fields of each format's structures. Fields and structures that are in the SDK (perflib.h, winperf.h) have its
 * names. `explain` prints the fields beside their bytes, `show` prints those that have a key (walk/walk_state.h), and
 * scripts/make_layouts.py writes the layout tables of docs/ from them. */

/* The format of a field. */
typedef enum field_kind {
    FIELD_UNSIGNED, /* 1, 2, 4 or 8 bytes */
    FIELD_SIGNED,   /* 4 or 8 bytes, two's complement */
    FIELD_HEX,
    FIELD_BITS,   /* like FIELD_HEX, but the text output of show has it in decimal */
    FIELD_ID,     /* an id; all bits set means none or any */
    FIELD_STATUS, /* a Win32 error code */
    FIELD_RESULT, /* kind of a V2 result */
    FIELD_TYPE,   /* counter type */
    FIELD_TITLE,  /* title index of V1 */
    FIELD_GUID,
    FIELD_SYSTEM_TIME,
    FIELD_TIME,       /* 100 ns units since 1601-01-01 */
    FIELD_PDH_STATUS, /* status of a value in a log */
    FIELD_HIGH_LOW,   /* 8 bytes: two words, the high one first */
    FIELD_FIGURE,     /* 8 bytes in a CPI hook: two words, the integral part and the ten-thousandths */
    FIELD_ASCII,
    FIELD_UTF16, /* text in the byte order of the block, up to the first NUL */
    FIELD_BYTES  /* bytes that are printed without a value */
} field_kind;

typedef struct field {
    uint16_t offset, size; /* in bytes; the offset is from the start of the structure; size 0: of varying size */
    field_kind kind;
    const char *name;    /* name in the SDK or in docs/; "" for bytes without a name */
    const char *key;     /* key of the value in records of show; "" if walk_print_fields() does not print it */
    const char *meaning; /* what the field is, in a few words */
    const char *rule;    /* what the reader checks, in a few words; "" if it accepts any content */
} field;

typedef struct field_table {
    const char *name; /* name in the SDK or in docs/ */
    size_t size;      /* bytes of the fixed part */
    const field *fields;
    size_t count;
} field_table;

typedef enum structure {
    /* V2 replies */
    STRUCTURE_DATA_HEADER,
    STRUCTURE_COUNTER_HEADER,
    STRUCTURE_MULTI_COUNTERS,
    STRUCTURE_MULTI_INSTANCES,
    STRUCTURE_INSTANCE_HEADER,
    STRUCTURE_COUNTER_DATA,
    /* V1 blocks */
    STRUCTURE_DATA_BLOCK,
    STRUCTURE_OBJECT_TYPE,
    STRUCTURE_COUNTER_DEFINITION,
    STRUCTURE_INSTANCE_DEFINITION,
    STRUCTURE_COUNTER_BLOCK,
    /* metadata */
    STRUCTURE_COUNTERSET_REG_INFO,
    STRUCTURE_COUNTER_REG_INFO,
    STRUCTURE_STRING_BUFFER,
    STRUCTURE_STRING_COUNTER,
    STRUCTURE_IDENTIFIER,
    STRUCTURE_NAME_TABLE,
    STRUCTURE_GUIDS,
    /* captures */
    STRUCTURE_CHUNK,
    /* perfmon logs */
    STRUCTURE_LOG_BUFFER,
    STRUCTURE_LOG_HEADER,
    STRUCTURE_LOG_ZONE,
    STRUCTURE_LOG_EVENT,
    STRUCTURE_LOG_RECORD,
    STRUCTURE_LOG_PATHS,
    STRUCTURE_LOG_PATH,
    STRUCTURE_LOG_SAMPLE,
    STRUCTURE_LOG_ITEM,
    STRUCTURE_LOG_COUNTER,
    STRUCTURE_LOG_INSTANCES,
    STRUCTURE_LOG_INSTANCE,
    STRUCTURE_LOG_SUMMARY,
    STRUCTURE_TEXT_LINE,
    /* Lightweight Profiling */
    STRUCTURE_LWP_SNAPSHOT,
    STRUCTURE_LWP_CONTROL,
    STRUCTURE_LWP_RING,
    STRUCTURE_LWP_EVENT,
    /* cycles per instruction */
    STRUCTURE_CPI_GROUP,
    STRUCTURE_CPI_HOOK,
    STRUCTURE_CPI_LABEL,
    STRUCTURE_CPI_SUMMARY,
    STRUCTURE_CPI_SYSTEM,
    STRUCTURE_CPI_PROCESSORS,
    STRUCTURE_CPI_THREAD,
    STRUCTURE_CPI_COUNTS,
    STRUCTURE_CPI_SCALED_COUNTS,
    STRUCTURE_CPI_SNAPSHOT,
    STRUCTURE_COUNT
} structure;

const field_table *field_table_of(structure which);

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* A number of `size` bytes, at most 8. */
uint64_t field_unsigned(const uint8_t *data, size_t size, bool is_big_endian);
int64_t field_signed(const uint8_t *data, size_t size, bool is_big_endian); /* two's complement */

/* A SYSTEMTIME, which has 16 bytes. */
pfb_system_time field_system_time(const uint8_t *data, bool is_big_endian);

/* UTF-16 up to the first NUL; all bytes if there is no NUL. */
pfb_name field_text(const uint8_t *data, size_t size, bool is_big_endian);

#endif
