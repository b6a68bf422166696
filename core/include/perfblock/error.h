/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_ERROR_H
#define PERFBLOCK_ERROR_H

#include "perfblock/export.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Codes ------------------------------------------------------------------------------------
 *
 * Values and names never change their meaning and are never reused. In the comments, "what is left" is the rest of the
 * enclosing structure. Ranges:
 *   0         success
 *   1-99      truncated: the input, or a structure in it, ends before something it declares
 *   100-199   inconsistent: a field contradicts the structure around it
 *   200-299   unsupported: well formed as far as it was checked, but not read by this version
 *   300-399   an error of the caller; the input may be valid
 *   900       a bug in the library: please report it */
typedef enum pfb_code {
    PFB_OK = 0,

    PFB_TRUNCATED_HEADER = 1,     /* the input ends inside its fixed header */
    PFB_TRUNCATED_BLOCK = 2,      /* a block declares more bytes than the input holds */
    PFB_TRUNCATED_RESULT = 3,     /* the block ends before or inside the next result's header */
    PFB_TRUNCATED_COUNTERS = 4,   /* the result ends before or inside the header of its counter ids */
    PFB_TRUNCATED_INSTANCES = 5,  /* the result ends before or inside the header of its instances */
    PFB_TRUNCATED_INSTANCE = 6,   /* the instances end before or inside the next instance's header */
    PFB_TRUNCATED_VALUE = 7,      /* the instances or the result end before or inside the next value's header */
    PFB_TRUNCATED_IDENTIFIER = 8, /* the list ends inside the fixed part of an identifier block */
    PFB_TRUNCATED_STRING = 9,     /* a string has no NUL before the end of the bytes that hold it */
    PFB_TRUNCATED_CHUNK = 10,     /* the capture ends inside a chunk */
    PFB_TRUNCATED_LIST = 11,      /* a list ends with part of an element */

    PFB_TRUNCATED_OBJECT = 12,        /* the block ends before or inside the next object's header */
    PFB_TRUNCATED_DEFINITION = 13,    /* the definitions end before or inside the next counter definition */
    PFB_TRUNCATED_COUNTER_BLOCK = 14, /* the object ends before or inside a counter block's header */
    PFB_TRUNCATED_CONTROL = 15,       /* the LWP control block is shorter than its CPUID leaf says */
    PFB_TRUNCATED_RING = 16,          /* the LWP ring is shorter than its control block says */
    PFB_TRUNC_HEADER = 17,            /* CPI hooks: the stream ends inside a record's header */
    PFB_TRUNC_RECORD = 18,            /* CPI hooks: a record ends past the end of the stream */
    PFB_UNTERMINATED_GROUP = 19,      /* CPI hooks: the stream ends inside a group */

    PFB_TRUNCATED_BUFFER = 30, /* the log ends inside the used bytes of a buffer */
    PFB_TRUNCATED_RECORD = 31, /* the log ends before the last part of a record */
    PFB_TRUNCATED_LOG = 32,    /* the log has fewer buffers than its header says */
    PFB_TRUNCATED_EVENT = 33,  /* the used bytes of a buffer end inside an event's header */
    PFB_TRUNCATED_ITEM = 34,   /* the record of a log ends inside the header of its next item or path */
    PFB_TRUNCATED_LINE = 35,   /* a text log or its header ends inside a cell, or the log before a row's last cells */

    PFB_BAD_TOTAL_SIZE = 100,       /* total size smaller than the header */
    PFB_BAD_RESULT_COUNT = 101,     /* more results declared than the block can hold */
    PFB_BAD_RESULT_SIZE = 102,      /* result size smaller than its header or larger than the block */
    PFB_BAD_COUNTERS_SIZE = 103,    /* size of PERF_MULTI_COUNTERS smaller than its header or larger than the result */
    PFB_BAD_COUNTER_COUNT = 104,    /* more counters declared than their block can hold */
    PFB_BAD_INSTANCES_SIZE = 105,   /* size of PERF_MULTI_INSTANCES smaller than its header or larger than the result */
    PFB_BAD_INSTANCE_COUNT = 106,   /* more instances declared than their block can hold, or a wrong negative count */
    PFB_BAD_INSTANCE_SIZE = 107,    /* instance size smaller than header and empty name, or larger than what is left */
    PFB_BAD_VALUE_SIZE = 108,       /* value size smaller than its header or larger than what is left */
    PFB_BAD_DATA_SIZE = 109,        /* more data bytes declared than the value holds */
    PFB_BAD_IDENTIFIER_SIZE = 110,  /* identifier size smaller than its header or larger than what is left */
    PFB_BAD_STRING_COUNT = 111,     /* more strings declared than the block can hold */
    PFB_BAD_STRING_OFFSET = 112,    /* a string begins outside the block's string area */
    PFB_BAD_CHUNK_SIZE = 113,       /* a chunk smaller than the fixed fields of its tag */
    PFB_UNALIGNED_SIZE = 115,       /* strict only: a size that must be a multiple of 8 is not */
    PFB_TRAILING_BYTES = 116,       /* strict only: bytes that belong to no element */
    PFB_ERROR_WITHOUT_STATUS = 117, /* strict only: an error result whose status is success */
    PFB_BAD_STRING_SIZE = 118,      /* size of a string block smaller than its header */
    PFB_OVERLAPPING_STRINGS = 119,  /* strings overlap so much that reading them would not be linear work */

    PFB_BAD_BYTE_ORDER = 120,        /* the field LittleEndian of a V1 block contradicts its signature */
    PFB_BAD_HEADER_SIZE = 121,       /* the header is smaller than its fixed part or larger than its block */
    PFB_BAD_OBJECT_COUNT = 122,      /* more objects are declared than the block can hold */
    PFB_BAD_OBJECT_SIZE = 123,       /* the object's size is smaller than its header or larger than the block */
    PFB_BAD_DEFINITION_LENGTH = 124, /* the counter definitions end before they begin or past the end of their object */
    PFB_BAD_DEFINITION_SIZE = 125,   /* definition size smaller than its fixed part or larger than what is left */
    PFB_BAD_COUNTER_BLOCK_SIZE = 126, /* counter block size smaller than its header or larger than what is left */
    PFB_BAD_COUNTER_OFFSET = 127,     /* the value lies outside its instance's counter block */
    PFB_BAD_NAME = 128,               /* the name lies outside its structure, or in the structure's fixed part */
    PFB_EXCESSIVE_VALUES = 129,       /* more values and multi counts are declared than one per 2 bytes of the object */
    PFB_BAD_PAIR = 130, /* strict only: strings of a name table that do not form a pair of index and text */

    PFB_BAD_CPUID_LINE = 131,           /* a line of a CPUID dump begins as a leaf but is malformed after that */
    PFB_LWP_UNTRUSTED_LEAF = 132,       /* the CPU has no LWP; its leaf 8000001C is ignored */
    PFB_LWP_EVENT_SIZE_ZERO = 133,      /* the leaf's record size is 0 */
    PFB_LWP_EVENT_SIZE_SMALL = 134,     /* the leaf's record size is below 24 */
    PFB_LWP_EVENT_SIZE_UNALIGNED = 135, /* the leaf's record size is not a multiple of 8 */
    PFB_LWP_BAD_EVENT_OFFSET = 136,     /* the leaf's pairs begin below offset 72 or not at a multiple of 8 */
    PFB_LWP_BAD_PAIRS = 137,            /* the leaf's pairs end past the end of its control block */
    PFB_LWP_NO_BUFFER = 138,            /* BufferSize is 0 */
    PFB_LWP_BUFFER_TOO_SMALL = 139,     /* the ring is too small for two records */
    PFB_LWP_BELOW_MINIMUM = 140,        /* strict only: the ring is smaller than the leaf's minimum */
    PFB_LWP_BAD_HEAD = 141,             /* strict only: BufferHeadOffset is outside the ring */
    PFB_LWP_UNALIGNED_HEAD = 142,       /* strict only: BufferHeadOffset is inside a record */
    PFB_LWP_BAD_TAIL = 143,             /* BufferTailOffset is outside the ring */
    PFB_LWP_UNALIGNED_TAIL = 144,       /* BufferTailOffset is inside a record */

    PFB_BAD_LENGTH = 145,        /* CPI hooks: a record's length is below its header's */
    PFB_BAD_MAJOR = 146,         /* CPI hooks: a major code of 0 or above 255 */
    PFB_UNKNOWN_MINOR = 147,     /* CPI hooks: a minor word of unknown kind, or with reserved bits set */
    PFB_BAD_TYPE = 148,          /* CPI hooks: a record type that is invalid for its kind */
    PFB_LENGTH_MISMATCH = 149,   /* CPI hooks: the word count does not match the flags and the CPU count */
    PFB_BAD_FLAGS = 150,         /* CPI hooks: the raw bit is clear, or reserved bits are set */
    PFB_BAD_NUM_CPUS = 151,      /* CPI hooks: a CPU count of 0, or too large */
    PFB_BAD_FRACTION = 152,      /* CPI hooks: the two words of a figure are out of range */
    PFB_BUSY_RANGE = 153,        /* CPI hooks: a busy share above 100 percent */
    PFB_BAD_LABEL = 154,         /* CPI hooks: a malformed label record */
    PFB_BAD_ORDER = 155,         /* CPI hooks: a hook that the grammar does not allow here */
    PFB_MINOR_MISMATCH = 156,    /* CPI hooks: minor codes of one group differ */
    PFB_ELAPSED_MISMATCH = 157,  /* CPI hooks: elapsed cycles of one group differ */
    PFB_FLAGS_MISMATCH = 158,    /* CPI hooks: flags of one group differ */
    PFB_NUM_CPUS_MISMATCH = 159, /* CPI hooks: CPU counts of one group differ */
    PFB_SUM_MISMATCH = 160,      /* CPI hooks: the CPUs' counts do not add up to the system's */
    PFB_LABEL_MISMATCH = 161,    /* CPI hooks: the labels at both ends of a group differ */
    PFB_BAD_CPI_LINE = 162,      /* a malformed or misplaced line in a text of CPI snapshots */

    PFB_SIZE_WITHOUT_HEADER = 163, /* strict only: the total size of a V1 block does not count its header */

    PFB_BAD_BUFFER_SIZE = 170, /* the size of a log's buffer is smaller than its header or not a multiple of 8 */
    PFB_BAD_BUFFER_USED = 171, /* a log's buffer uses fewer bytes than its header has, or more than its size */
    PFB_BAD_EVENT_SIZE = 172,  /* an event is smaller than its header or ends past the used bytes of its buffer */
    PFB_BAD_LOG_HEADER = 173,  /* the log's header says that pointers have neither 4 nor 8 bytes */
    PFB_BAD_RECORD_SIZE = 174, /* a sample in a log declares fewer bytes than its header has, or more than its record */
    PFB_BAD_ITEM = 175,        /* an item of a sample in a log has no signature */
    PFB_BAD_ITEM_SIZE = 176,   /* an item or a path is smaller than its header or ends past its record */
    PFB_BAD_PART = 177,        /* strict only: a part of a log's record is missing, repeated or out of order */
    PFB_BAD_TEXT_LINE = 178,   /* strict only: a line among the rows of a text log is not a row */
    PFB_UNEVEN_ROW = 179,      /* strict only: a row of a text log has fewer or more cells than the header */
    PFB_BAD_NUMBER = 180,      /* strict only: a cell of a text log is neither blank nor a number */
    PFB_BAD_NUMBER_LIST = 181, /* a text has something else here than a list of numbers from 0 to 255 */
    PFB_NO_DATE = 182,         /* no row of a text log can be read: their times have no date */
    PFB_NO_ROW = 183, /* no row of a text log can be read: none has a known form of time and few enough cells */

    PFB_UNKNOWN_FORMAT = 200, /* the input is not in the format of the reader, or in no known format */
    PFB_UNKNOWN_KIND = 201,   /* strict only: an undefined result kind */
    PFB_UNREAD_FORMAT = 202,  /* recognised, but not read by this version */

    PFB_AMBIGUOUS_DATES = 203,   /* the dates of a text log have the month or the day first: see date_order */
    PFB_AMBIGUOUS_NUMBERS = 204, /* the numbers of a text log have a decimal comma or a decimal point: see decimal */

    PFB_UNKNOWN_EVENT = 210, /* strict only: an event of a log that holds no part of a record */
    PFB_UNKNOWN_ITEM = 211,  /* strict only: an item of unknown kind in a sample of a log */

    PFB_CALLER_ARGUMENT = 300,  /* an argument outside its documented range */
    PFB_CALLER_TOO_SMALL = 301, /* the caller's memory or window is too small; any returned size is the one needed */
    PFB_CALLER_ORDER = 302,     /* a function called out of its documented order */
    PFB_CALLER_LIMIT = 303,     /* a limit the caller set was reached */

    PFB_INTERNAL = 900 /* a bug in the library */
} pfb_code;

/* The first error of a reader or writer. */
typedef struct pfb_error {
    pfb_code code; /* PFB_OK while there is none */
    size_t offset; /* of the offending field, in bytes from the start of the input, 0 to its size inclusive;
                    * for a missing element: where it should begin */
} pfb_error;

/* ---- Options of readers -------------------------------------------------------------------------- */

/* Options of the open functions. Null means all fields 0. The struct is not used after the call. */
typedef struct pfb_read_options {
    bool is_strict;      /* reject everything the format forbids, including known deviations of real providers */
    uint32_t date_order; /* of a text log: PFB_DATE_MDY, _DMY or _YMD (pdh_text.h); 0: found in the log */
    uint32_t decimal;    /* of a text log: '.' or ','; the other one separates thousands. 0: found in the log */
    uint32_t code_page;  /* of names in a text log or a name table, unless it is UTF-16 or has a byte order mark, and
                          * in V1 objects whose code page is not UTF-16; 0: as the input shows */
} pfb_read_options;

/* Bits of `notes`: deviations that a reader tolerated. In strict mode each is an error instead. */
#define PFB_NOTE_UNALIGNED_SIZE 1u        /* a size that must be a multiple of 8 is not */
#define PFB_NOTE_TRAILING_BYTES 2u        /* bytes that belong to no element were skipped */
#define PFB_NOTE_UNKNOWN_KIND 4u          /* a result of unknown kind was skipped */
#define PFB_NOTE_ERROR_WITHOUT_STATUS 8u  /* an error result with status 0 */
#define PFB_NOTE_BAD_PAIR 16u             /* strings of a name table that do not form a pair were skipped */
#define PFB_NOTE_UNTERMINATED 32u         /* a name table ends without a NUL */
#define PFB_NOTE_BAD_SYSTEM_NAME 64u      /* the system name of a V1 block lies outside the block */
#define PFB_NOTE_SIZE_WITHOUT_HEADER 128u /* the total size of a V1 block does not count its header */

#define PFB_NOTE_UNKNOWN_EVENT 0x10000u     /* events of a log that hold no part of a record were skipped */
#define PFB_NOTE_INCOMPLETE_RECORD 0x20000u /* a record of a log lacks parts and was skipped */
#define PFB_NOTE_UNKNOWN_ITEM 0x40000u      /* items of unknown kind in a sample of a log were skipped */
#define PFB_NOTE_TEXT_LINE 0x80000u         /* lines of a text log that are not rows were skipped */
#define PFB_NOTE_UNEVEN_ROW 0x100000u       /* rows of a text log have fewer or more cells than the header */
#define PFB_NOTE_BAD_NUMBER 0x200000u       /* cells of a text log that are not numbers have no value */

/* ---- Texts --------------------------------------------------------------------------------------- */

/* Returns the code's name in lower case ("bad_result_size"), as the program prints it and docs/error.md lists it;
 * "unknown_code" for an unlisted value. Never null; static. */
PFB_API const char *pfb_code_name(pfb_code code);

/* Returns the code's meaning: a short English text without a final period. Never null; static. */
PFB_API const char *pfb_code_text(pfb_code code);

#ifdef __cplusplus
}
#endif

#endif
