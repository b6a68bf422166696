/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void expect(walk *w, bool condition, const char *text)
{
    if (!condition && !w->out.broken)
        w->out.broken = text;
}

void expect_if_unchanged(walk *w, bool condition, const char *text)
{
    expect(w, condition || w->writable, text);
}

void add(walk *w, uint64_t value)
{
    w->out.sum = (w->out.sum << 7 | w->out.sum >> 57) + value;
}

bool is_inside(size_t offset, size_t size, size_t begin, size_t end)
{
    return begin <= offset && offset <= end && size <= end - offset;
}

void touch(walk *w, size_t offset, size_t size)
{
    if (!is_inside(offset, size, 0, w->size)) {
        expect(w, false, "returned items lie inside the input");
        return;
    }
    const uint8_t *p = w->data + offset;
    uint64_t word;
    size_t left = size;
    for (; left >= sizeof word; left -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        add(w, word);
    }
    while (left-- > 0)
        add(w, *p++);
    w->out.touched += size;
}

/* Xorshift. */
uint64_t next_random(walk *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

bool is_partial(const walk *w)
{
    return w->random != 0 && !w->writable;
}

bool skips_rest(walk *w)
{
    return is_partial(w) && next_random(w) % 4 == 0;
}

size_t name_offset(const walk *w, const pfb_name *name)
{
    return name->bytes ? (size_t)(name->bytes - w->data) : 0;
}

void change_byte(walk *w, size_t near)
{
    if (!w->writable || w->size == 0)
        return;
    uint64_t random = next_random(w);
    size_t at = (size_t)(random >> 16) % w->size;
    if (random % 2 && near < w->size)
        at = near + (size_t)(random >> 16) % (w->size - near < 48 ? w->size - near : 48);
    static const uint8_t extremes[4] = {0x00, 0xFF, 0x08, 0x7F};
    uint8_t value = random & 2 ? extremes[random >> 2 & 3] : (uint8_t)(random >> 8);
    w->writable[at] = value;
}

void record_error(walk *w, pfb_error error, uint32_t notes)
{
    w->out.error = error;
    w->out.notes |= notes;
    expect(w, error.offset <= w->size, "the offset of an error lies inside the input");
    expect(w, strcmp(pfb_code_name(error.code), "unknown_code") != 0, "every code has a name");
}

/* ---- Comparing readings ----------------------------------------------------------------------------------- */

bool is_same_error(pfb_error a, pfb_error b)
{
    return a.code == b.code && a.offset == b.offset;
}

bool is_same_reading(const reading *a, const reading *b)
{
    return is_same_error(a->error, b->error) && a->notes == b->notes && a->sum == b->sum;
}

/* Returns the note of an error; 0 if both strict and tolerant readers stop with it. */
static uint32_t find_note(pfb_error error, const tolerance *tolerances, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tolerances[i].code == error.code && (tolerances[i].offset == 0 || tolerances[i].offset == error.offset))
            return tolerances[i].note;
    }
    return 0;
}

const char *compare_strict(const reading *tolerant, const reading *strict, const tolerance *tolerances, size_t count)
{
    if (strict->broken)
        return strict->broken;
    if (strict->notes != 0)
        return "strict reading has no notes";
    if (find_note(tolerant->error, tolerances, count) != 0)
        return "tolerant reading has no error that only strict reading reports";
    if (strict->error.code == PFB_OK)
        return is_same_reading(tolerant, strict)
                   ? NULL
                   : "input that strict reading accepts reads the same tolerantly, without notes";
    uint32_t note = find_note(strict->error, tolerances, count);
    if (note != 0)
        return tolerant->notes & note ? NULL
                                      : "an error that only strict reading reports is a note of tolerant reading";
    return is_same_error(tolerant->error, strict->error) ? NULL
                                                         : "otherwise strict and tolerant reading have the same error";
}

/* ---- Rounds of a fuzz target -------------------------------------------------------------------------------- */

uint64_t hash(const uint8_t *data, size_t size)
{
    uint64_t value = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        value = (value ^ data[i]) * UINT64_C(1099511628211);
    return value | 1;
}

uint8_t *copy_input(const uint8_t *data, size_t size)
{
    uint8_t *copy = calloc(1, size);
    if (copy && size > 0)
        memcpy(copy, data, size);
    return copy;
}

void end_round(uint8_t *copy, reading result)
{
    free(copy);
    if (getenv("PERFBLOCK_PRINT_READINGS"))
        printf("%s at %zu, notes %" PRIx32 ", %" PRIu64 " items, sum %" PRIx64 "\n", pfb_code_name(result.error.code),
               result.error.offset, result.notes, result.items, result.sum);
    if (!result.broken)
        return;
    fprintf(stderr, "violated guarantee: %s\n", result.broken);
    abort();
}
