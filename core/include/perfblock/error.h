/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_ERROR_H
#define PERFBLOCK_ERROR_H

#include "perfblock/export.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Codes ------------------------------------------------------------------------------------
 *
 * Values and names never change their meaning and are never reused. Ranges:
 *   0         fine
 *   1-99      truncated: the input ends before something it promised
 *   100-199   inconsistent: a field contradicts what surrounds it
 *   200-299   unsupported: well formed as far as can be seen, but not understood here
 *   300-399   the caller's mistake; the input is not to blame
 *   900       a contradiction inside the library: please report it */
typedef enum pfb_code {
    PFB_OK = 0,

    PFB_TRUNCATED_HEADER = 1,     /* the input ends inside its fixed header */
    PFB_TRUNCATED_BLOCK = 2,      /* a block claims more bytes than the input holds */
    PFB_TRUNCATED_RESULT = 3,     /* no room for the next result header in the block */
    PFB_TRUNCATED_COUNTERS = 4,   /* no room for the list of counter ids in the result */
    PFB_TRUNCATED_INSTANCES = 5,  /* no room for the header of the instances in the result */
    PFB_TRUNCATED_INSTANCE = 6,   /* no room for the next instance header */
    PFB_TRUNCATED_VALUE = 7,      /* no room for the next value's header */
    PFB_TRUNCATED_IDENTIFIER = 8, /* no room for the next identifier block */
    PFB_TRUNCATED_STRING = 9,     /* a string has no terminating NUL before its end */
    PFB_TRUNCATED_CHUNK = 10,     /* the capture ends inside a chunk */
    PFB_TRUNCATED_LIST = 11,      /* a list ends with part of an element */

    PFB_TRUNCATED_OBJECT = 12,        /* no room for the next object in the block */
    PFB_TRUNCATED_DEFINITION = 13,    /* no room for the next counter definition in the object */
    PFB_TRUNCATED_COUNTER_BLOCK = 14, /* no room for the counter block of an instance */
    PFB_TRUNCATED_CONTROL = 15,       /* the LWP control block is shorter than its CPUID leaf says */
    PFB_TRUNCATED_RING = 16,          /* the LWP ring is shorter than its control block says */
    PFB_TRUNC_HEADER = 17,            /* CPI hooks: fewer bytes than a record's header are left */
    PFB_TRUNC_RECORD = 18,            /* CPI hooks: a record ends behind the stream */
    PFB_UNTERMINATED_GROUP = 19,      /* CPI hooks: the stream ends inside a group */

    PFB_BAD_TOTAL_SIZE = 100,       /* total size smaller than the header */
    PFB_BAD_RESULT_COUNT = 101,     /* more results claimed than the block can hold */
    PFB_BAD_RESULT_SIZE = 102,      /* result size smaller than its header or larger than the block */
    PFB_BAD_COUNTERS_SIZE = 103,    /* size of the counter ids smaller than its header or larger than the result */
    PFB_BAD_COUNTER_COUNT = 104,    /* more counters claimed than their block can hold */
    PFB_BAD_INSTANCES_SIZE = 105,   /* size of the instances smaller than its header or larger than the result */
    PFB_BAD_INSTANCE_COUNT = 106,   /* more instances claimed than their block can hold */
    PFB_BAD_INSTANCE_SIZE = 107,    /* instance size smaller than header and empty name, or larger than what is left */
    PFB_BAD_VALUE_SIZE = 108,       /* value size smaller than its header or larger than what is left */
    PFB_BAD_DATA_SIZE = 109,        /* more data bytes claimed than the value holds */
    PFB_BAD_IDENTIFIER_SIZE = 110,  /* identifier size smaller than its header or larger than what is left */
    PFB_BAD_STRING_COUNT = 111,     /* more strings claimed than the block can hold */
    PFB_BAD_STRING_OFFSET = 112,    /* a string begins outside the block's string area */
    PFB_BAD_CHUNK_SIZE = 113,       /* a chunk too small for what its tag promises */
    PFB_BAD_CHUNK_PAYLOAD = 114,    /* a chunk's inner size contradicts the chunk */
    PFB_UNALIGNED_SIZE = 115,       /* strict only: a size that must be a multiple of 8 is not */
    PFB_TRAILING_BYTES = 116,       /* strict only: bytes that belong to no element */
    PFB_ERROR_WITHOUT_STATUS = 117, /* strict only: an error result whose status is success */
    PFB_BAD_STRING_SIZE = 118,      /* size of a string block smaller than its header */
    PFB_OVERLAPPING_STRINGS = 119,  /* strings that overlap so much that reading them is no longer linear work */

    PFB_BAD_BYTE_ORDER = 120,        /* the byte order is neither little nor big endian */
    PFB_BAD_HEADER_SIZE = 121,       /* the header is smaller than its fixed part or larger than its block */
    PFB_BAD_OBJECT_COUNT = 122,      /* more objects are claimed than the block can hold */
    PFB_BAD_OBJECT_SIZE = 123,       /* the object's size is smaller than its header or larger than the block */
    PFB_BAD_DEFINITION_LENGTH = 124, /* the counter definitions end before they begin or behind their object */
    PFB_BAD_DEFINITION_SIZE =
        125, /* the definition's size is smaller than its fixed part or larger than what is left */
    PFB_BAD_COUNTER_BLOCK_SIZE =
        126,                      /* the counter block's size is smaller than its header or larger than what is left */
    PFB_BAD_COUNTER_OFFSET = 127, /* the value lies outside its instance's counter block */
    PFB_BAD_NAME = 128,           /* the name lies outside what it belongs to */
    PFB_EXCESSIVE_VALUES = 129,   /* far more values are claimed than the object has bytes */
    PFB_BAD_PAIR = 130,           /* strict only: strings of a name table that make no pair of index and text */
    PFB_BAD_LENGTH = 145,         /* CPI hooks: a record's length is below its header's */
    PFB_BAD_MAJOR = 146,          /* CPI hooks: a major code that is 0 or above 255 */
    PFB_UNKNOWN_MINOR = 147,      /* CPI hooks: a minor word of no kind, or with bits that must be 0 */
    PFB_BAD_TYPE = 148,           /* CPI hooks: a record type that its kind does not have */
    PFB_LENGTH_MISMATCH = 149,    /* CPI hooks: more or fewer words than flags and CPUs make */
    PFB_BAD_FLAGS = 150,          /* CPI hooks: the raw bit is missing, or bits that must be 0 */
    PFB_BAD_NUM_CPUS = 151,       /* CPI hooks: no CPUs, or too many */
    PFB_BAD_FRACTION = 152,       /* CPI hooks: a figure whose words are none */
    PFB_BUSY_RANGE = 153,         /* CPI hooks: busy above 100 percent */
    PFB_BAD_LABEL = 154,          /* CPI hooks: a label record that is none */
    PFB_BAD_ORDER = 155,          /* CPI hooks: a hook where the grammar has none */
    PFB_MINOR_MISMATCH = 156,     /* CPI hooks: minor codes of one group differ */
    PFB_ELAPSED_MISMATCH = 157,   /* CPI hooks: elapsed cycles of one group differ */
    PFB_FLAGS_MISMATCH = 158,     /* CPI hooks: flags of one group differ */
    PFB_NUM_CPUS_MISMATCH = 159,  /* CPI hooks: numbers of CPUs of one group differ */
    PFB_SUM_MISMATCH = 160,       /* CPI hooks: the CPUs' counts do not add up to the system's */
    PFB_LABEL_MISMATCH = 161,     /* CPI hooks: the labels at both ends of a group differ */

    PFB_BAD_CPI_LINE = 162,             /* a line of CPI snapshots that is none, or not where it belongs */
    PFB_BAD_CPUID_LINE = 131,           /* a line of a CPUID dump begins as a leaf and does not go on as one */
    PFB_LWP_UNTRUSTED_LEAF = 132,       /* the CPU has no LWP, whatever its leaf 8000001C says */
    PFB_LWP_EVENT_SIZE_ZERO = 133,      /* the leaf's record size is 0 */
    PFB_LWP_EVENT_SIZE_SMALL = 134,     /* the leaf's record size is below 24 */
    PFB_LWP_EVENT_SIZE_UNALIGNED = 135, /* the leaf's record size is no multiple of 8 */
    PFB_LWP_BAD_EVENT_OFFSET = 136,     /* the leaf's pairs begin below 72 or at no multiple of 8 */
    PFB_LWP_BAD_PAIRS = 137,            /* the leaf's pairs pass the end of its control block */
    PFB_LWP_NO_BUFFER = 138,            /* BufferSize is 0 */
    PFB_LWP_BUFFER_TOO_SMALL = 139,     /* the ring has no room for two records */
    PFB_LWP_BELOW_MINIMUM = 140,        /* strict only: the ring is smaller than the leaf's minimum */
    PFB_LWP_BAD_HEAD = 141,             /* strict only: BufferHeadOffset is outside the ring */
    PFB_LWP_UNALIGNED_HEAD = 142,       /* strict only: BufferHeadOffset is inside a record */
    PFB_LWP_BAD_TAIL = 143,             /* BufferTailOffset is outside the ring */
    PFB_LWP_UNALIGNED_TAIL = 144,       /* BufferTailOffset is inside a record */

    PFB_UNKNOWN_FORMAT = 200, /* not recognised as any format */
    PFB_UNKNOWN_KIND = 201,   /* strict only: a result kind nobody defined */
    PFB_UNREAD_FORMAT = 202,  /* recognised, but this version does not read it */

    PFB_CALLER_ARGUMENT = 300,  /* an argument outside its documented range */
    PFB_CALLER_TOO_SMALL = 301, /* the caller's memory is too small; the size needed was reported */
    PFB_CALLER_ORDER = 302,     /* a function called out of its documented order */
    PFB_CALLER_LIMIT = 303,     /* a limit the caller set was reached */

    PFB_INTERNAL = 900 /* cannot happen */
} pfb_code;

/* The first failure of a reader or writer. */
typedef struct pfb_error {
    pfb_code code; /* PFB_OK: no failure */
    size_t offset; /* byte offset of the field to blame, from the start of the input, 0 to its size inclusive;
                    * a missing element is blamed where it should begin */
} pfb_error;

/* ---- Options shared by all readers -------------------------------------------------------------- */

/* Bits of the `options` argument of the open functions. Unknown bits are ignored. */
#define PFB_STRICT UINT32_C(1) /* refuse whatever the format forbids, also what real providers are known to do */

/* What a reader tolerated, as bits. In strict mode each is an error instead. */
#define PFB_NOTE_UNALIGNED_SIZE UINT32_C(1)       /* a size that must be a multiple of 8 is not */
#define PFB_NOTE_TRAILING_BYTES UINT32_C(2)       /* bytes that belong to no element were passed over */
#define PFB_NOTE_UNKNOWN_KIND UINT32_C(4)         /* a result of unknown kind was passed over */
#define PFB_NOTE_ERROR_WITHOUT_STATUS UINT32_C(8) /* an error result with status 0 */
#define PFB_NOTE_BAD_PAIR UINT32_C(16)            /* strings of a name table that make no pair were passed over */
#define PFB_NOTE_UNTERMINATED UINT32_C(32)        /* a name table ends without a NUL */
#define PFB_NOTE_BAD_SYSTEM_NAME UINT32_C(64)     /* the system name of a V1 block lies outside of the block */

/* ---- Texts --------------------------------------------------------------------------------------- */

/* The code's name in lower case ("bad_result_size"), as the program prints it and docs/error.md lists it.
 * Never null: an unlisted value gives "unknown_code". The string is static. */
PFB_API const char *pfb_code_name(pfb_code code);

/* One English sentence without final dot. Never null; static. */
PFB_API const char *pfb_code_text(pfb_code code);

/* The code with this position in the table of all codes, from 0; PFB_OK's position is 0.
 * Gives -1 past the end, so that a caller (a test, a binding, the documentation) can list them. */
PFB_API int pfb_code_at(size_t position);

#ifdef __cplusplus
}
#endif

#endif
