/* SPDX-License-Identifier: MIT */
#include "support_v2.h"

#include <criterion/criterion.h>

#include <stdlib.h>

/* ---- Blocks ------------------------------------------------------------------------------------------------- */

void put_header(bytes *b, uint32_t total, uint32_t count)
{
    b->size = 0;
    PUT_U32(b, total, count);
    put_fill(b, 0, 40);
}

void put_result(bytes *b, uint32_t status, uint32_t kind, uint32_t size)
{
    PUT_U32(b, status, kind, size, 0);
}

void put_value4(bytes *b, uint32_t raw)
{
    PUT_U32(b, 4, 16, raw, 0); /* size of the data, then of the value with its header */
}

void put_value8(bytes *b, uint64_t raw)
{
    PUT_U32(b, 8, 16);
    put_u64(b, raw);
}

void put_instance(bytes *b, uint32_t id, const char *letter)
{
    PUT_U32(b, 16, id);
    put_text(b, letter);
    put_fill(b, 0, 4);
}

void put_example(bytes *b)
{
    put_header(b, 104, 1);
    put_result(b, 0, 4, 56);
    PUT_U32(b, 40, 1);
    put_raw(b, "\x10\0\0\0\7\0\0\0\x61\0\x62\0\0\0\0\0", 16);
    put_raw(b, "\4\0\0\0\x10\0\0\0\xEF\xBE\xAD\xDE\0\0\0\0", 16);
}

void put_single(bytes *b)
{
    put_header(b, 80, 1);
    put_result(b, 0, 1, 32);
    put_value8(b, UINT64_C(0x8000000000000001));
}

void put_counters(bytes *b)
{
    put_header(b, 112, 1);
    put_result(b, 0, 2, 64);
    PUT_U32(b, 16, 2, 26, 0);
    put_value8(b, 1000);
    put_value4(b, UINT32_MAX);
}

void put_set(bytes *b)
{
    put_header(b, 184, 1);
    put_result(b, 0, 6, 136);
    PUT_U32(b, 16, 2, 5, 5, 104, 2);
    put_instance(b, 0, "a");
    put_value8(b, 1);
    put_value4(b, 2);
    put_instance(b, 9, "b");
    put_value8(b, 3);
    put_value4(b, 4);
}

/* ---- Expectations ------------------------------------------------------------------------------------------- */

pfb_error error_of(const bytes *b, const pfb_read_options *options, uint32_t *notes)
{
    uint8_t *data = exact_copy(b);
    pfb_v2_reader block;
    pfb_v2_open(&block, data, b->size, options);
    pfb_error error = pfb_v2_finish(&block);
    if (notes)
        *notes = block.notes;
    free(data);
    return error;
}

void expect_refused(const bytes *b, pfb_code code, size_t offset, const char *what)
{
    expect_error(error_of(b, NULL, NULL), code, offset, what);
    expect_error(error_of(b, STRICT, NULL), code, offset, what);
}

void expect_accepted(const bytes *b, const char *what)
{
    uint32_t notes;
    expect_error(error_of(b, NULL, &notes), PFB_OK, 0, what);
    cr_expect_eq(notes, 0, "%s: notes %u", what, notes);
    expect_error(error_of(b, STRICT, NULL), PFB_OK, 0, what);
}

void expect_noted(const bytes *b, uint32_t note, pfb_code code, size_t offset, const char *what)
{
    uint32_t notes;
    expect_error(error_of(b, NULL, &notes), PFB_OK, 0, what);
    cr_expect_eq(notes, note, "%s: notes %u", what, notes);
    expect_error(error_of(b, STRICT, NULL), code, offset, what);
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

bool open_block(reader *r, const pfb_read_options *options)
{
    return pfb_v2_open(&r->block, r->b.data, r->b.size, options);
}

bool next_result(reader *r)
{
    return pfb_v2_next_result(&r->block, &r->result);
}

void read_result(reader *r, const pfb_read_options *options)
{
    cr_assert(open_block(r, options) && next_result(r));
}

bool next_instance(reader *r)
{
    return pfb_v2_next_instance(&r->block, &r->instance);
}

bool next_value(reader *r)
{
    return pfb_v2_next_value(&r->block, &r->value);
}
