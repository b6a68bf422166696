/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_V2_H
#define PFB_TEST_SUPPORT_V2_H

/* Valid V2 blocks, written field by field with offsets computed by hand, and functions to read them step by step. */
#include "perfblock/v2.h"
#include "support.h"

/* ---- Blocks ------------------------------------------------------------------------------------------------- */

void put_header(bytes *b, uint32_t total, uint32_t count);
void put_result(bytes *b, uint32_t status, uint32_t kind, uint32_t size);

/* A value: a header of 8 bytes and the number. */
void put_value4(bytes *b, uint32_t raw);
void put_value8(bytes *b, uint64_t raw);

/* An instance with a name of one letter: 16 bytes. */
void put_instance(bytes *b, uint32_t id, const char *letter);

/* The worked example of the format. Offsets: result 48, instances 64, instance "ab" 72, value 88; total size 104. */
void put_example(bytes *b);

/* Kind PFB_V2_SINGLE_COUNTER. Offsets: result 48, value 64; total size 80. */
void put_single(bytes *b);

/* Kind PFB_V2_MULTIPLE_COUNTERS. Offsets: result 48, counters 64, ids 72, values 80 and 96; total size 112. */
void put_counters(bytes *b);

/* Kind PFB_V2_COUNTERSET. Offsets: result 48, counters 64, ids 72, instances 80, instance "a" 88 with values 104 and
 * 120, instance "b" 136 with values 152 and 168; total size 184. */
void put_set(bytes *b);

/* ---- Errors ------------------------------------------------------------------------------------------------- */

/* Reads a copy of exactly these bytes. Returns the error, and optionally the notes. */
pfb_error error_of(const bytes *b, const pfb_read_options *options, uint32_t *notes);

/* Checks that the bytes are rejected with this error, with and without strict mode. */
void expect_refused(const bytes *b, pfb_code code, size_t offset, const char *what);

void expect_accepted(const bytes *b, const char *what);

/* Checks that the bytes are accepted with a note, and rejected in strict mode. */
void expect_noted(const bytes *b, uint32_t note, pfb_code code, size_t offset, const char *what);

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* A block, and the last items read from it. */
typedef struct reader {
    bytes b;
    pfb_v2_reader block;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
} reader;

bool open_block(reader *r, const pfb_read_options *options);
bool next_result(reader *r);
bool next_instance(reader *r);
bool next_value(reader *r);

/* Opens the block and reads the first result. */
void read_result(reader *r, const pfb_read_options *options);

#endif
