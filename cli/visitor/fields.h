/* SPDX-License-Identifier: MIT */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include "output/output.h"

/* The fields of each format's structures. Fields and structures that are in the SDK (perflib.h, winperf.h) have its
 * names. The page of bytes has all fields, records have those with a key (visitor.h), and scripts/make_layouts.py
 * writes the layout tables of docs/ from them. */

/* The format of a field. */
typedef enum field_kind {
    FIELD_UNSIGNED, /* 1, 2, 4 or 8 bytes */
    FIELD_SIGNED,   /* 4 or 8 bytes, two's complement */
    FIELD_HEX,
    FIELD_BITS,   /* bits, written in decimal */
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
    FIELD_BYTES  /* bytes without a value */
} field_kind;

typedef struct field {
    uint16_t offset, size; /* in bytes; the offset is from the start of the structure; size 0: of varying size */
    field_kind kind;
    const char *name;    /* name in the SDK or in docs/; "" for bytes without a name */
    const char *key;     /* key of the value in records; "" if they do not have it */
    const char *meaning; /* what the field is, in a few words */
    const char *rule;    /* what the reader checks, in a few words; "" if it accepts any content */
} field;

typedef struct field_table {
    const char *name; /* name in the SDK or in docs/ */
    size_t size;      /* bytes of the fixed part */
    const field *fields;
    size_t count;
    unsigned colour; /* n for the class "cn" of byte_page.css */
} field_table;

/* A row for each structure: its identifier, its name in the SDK or in docs/, the bytes of its fixed part, its fields in
 * fields.c, and its colour on the page of bytes, which differs from that of the structure around it. */
#define FIELD_STRUCTURES(X)                                                                                            \
    X(DATA_HEADER, "PERF_DATA_HEADER", 48, data_header, 0)                                                             \
    X(COUNTER_HEADER, "PERF_COUNTER_HEADER", 16, counter_header, 1)                                                    \
    X(MULTI_COUNTERS, "PERF_MULTI_COUNTERS", 8, multi_counters, 2)                                                     \
    X(MULTI_INSTANCES, "PERF_MULTI_INSTANCES", 8, multi_instances, 3)                                                  \
    X(INSTANCE_HEADER, "PERF_INSTANCE_HEADER", 8, instance_header, 4)                                                  \
    X(COUNTER_DATA, "PERF_COUNTER_DATA", 8, counter_data, 5)                                                           \
    X(DATA_BLOCK, "PERF_DATA_BLOCK", 88, data_block, 0)                                                                \
    X(OBJECT_TYPE, "PERF_OBJECT_TYPE", 64, object_type, 1)                                                             \
    X(COUNTER_DEFINITION, "PERF_COUNTER_DEFINITION", 40, counter_definition, 2)                                        \
    X(INSTANCE_DEFINITION, "PERF_INSTANCE_DEFINITION", 24, instance_definition, 4)                                     \
    X(COUNTER_BLOCK, "PERF_COUNTER_BLOCK", 4, counter_block, 5)                                                        \
    X(COUNTERSET_REG_INFO, "PERF_COUNTERSET_REG_INFO", 32, counterset_reg_info, 6)                                     \
    X(COUNTER_REG_INFO, "PERF_COUNTER_REG_INFO", 48, counter_reg_info, 7)                                              \
    X(STRING_BUFFER, "PERF_STRING_BUFFER_HEADER", 8, string_buffer, 6)                                                 \
    X(STRING_COUNTER, "PERF_STRING_COUNTER_HEADER", 8, string_counter, 7)                                              \
    X(IDENTIFIER, "PERF_COUNTER_IDENTIFIER", 40, identifier, 5)                                                        \
    X(NAME_TABLE, "Name table", 0, no_fields, 6)                                                                       \
    X(GUIDS, "GUID list", 0, no_fields, 7)                                                                             \
    X(CHUNK, "Chunk", 16, chunk, 3)                                                                                    \
    X(LOG_BUFFER, "Buffer", 72, log_buffer, 0)                                                                         \
    X(LOG_HEADER, "Log header", 80, log_header, 0)                                                                     \
    X(LOG_ZONE, "TIME_ZONE_INFORMATION", 172, log_zone, 0)                                                             \
    X(LOG_EVENT, "Event", 72, log_event, 0)                                                                            \
    X(LOG_RECORD, "Record", 0, no_fields, 1)                                                                           \
    X(LOG_PATHS, "Paths", 8, log_paths, 2)                                                                             \
    X(LOG_PATH, "Path", 52, log_path, 2)                                                                               \
    X(LOG_SAMPLE, "Sample", 8, log_sample, 0)                                                                          \
    X(LOG_ITEM, "Item", 8, log_item, 4)                                                                                \
    X(LOG_COUNTER, "Item of kind 1", 48, log_counter, 0)                                                               \
    X(LOG_INSTANCES, "Item of kind 2", 32, log_instances, 0)                                                           \
    X(LOG_INSTANCE, "Instance of an item", 24, log_instance, 2)                                                        \
    X(LOG_SUMMARY, "Summary", 20, log_summary, 0)                                                                      \
    X(TEXT_LINE, "Line", 0, no_fields, 4)                                                                              \
    X(LWP_SNAPSHOT, "LWP snapshot", 24, lwp_snapshot, 0)                                                               \
    X(LWP_CONTROL, "LWPCB", 72, lwp_control, 1)                                                                        \
    X(LWP_RING, "Ring", 0, no_fields, 2)                                                                               \
    X(LWP_EVENT, "Event record", 32, lwp_event, 4)                                                                     \
    X(CPI_GROUP, "Group", 0, no_fields, 0)                                                                             \
    X(CPI_HOOK, "Hook", 12, cpi_hook, 1)                                                                               \
    X(CPI_LABEL, "Label hook", 28, cpi_label, 0)                                                                       \
    X(CPI_SUMMARY, "Summary hook", 28, cpi_summary, 0)                                                                 \
    X(CPI_SYSTEM, "System hook", 24, cpi_system, 0)                                                                    \
    X(CPI_PROCESSORS, "Processors hook", 28, cpi_processors, 0)                                                        \
    X(CPI_THREAD, "Thread hook", 24, cpi_thread, 0)                                                                    \
    X(CPI_COUNTS, "Counts", 24, cpi_counts, 2)                                                                         \
    X(CPI_SCALED_COUNTS, "Scaled counts", 24, cpi_scaled_counts, 0)                                                    \
    X(CPI_SNAPSHOT, "Snapshot", 0, no_fields, 2)

#define FIELD_ID_OF(id, name, size, fields, colour) STRUCTURE_##id,
typedef enum structure { FIELD_STRUCTURES(FIELD_ID_OF) STRUCTURE_COUNT } structure;

extern const field_table field_tables[STRUCTURE_COUNT];

/* A number of `size` bytes, at most 8. */
uint64_t field_unsigned(const uint8_t *data, size_t size, bool is_big_endian);

/* Writes the value of a field of any kind but FIELD_BYTES. Ids that mean none are null. */
void field_write(output *out, const char *key, field_kind kind, const uint8_t *data, size_t size, bool is_big_endian);

#endif
