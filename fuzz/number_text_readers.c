/* SPDX-License-Identifier: MIT */
#include "number_text_readers.h"

#include "perfblock/number_text.h"
#include "perfblock/v1.h"
#include "walk.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

enum { LARGEST_BUFFER = 61 };

/* Decodes the text in windows and into a buffer of these sizes. */
static void walk_numbers(walk *w, size_t window, size_t capacity)
{
    pfb_number_text text;
    uint8_t buffer[LARGEST_BUFFER];
    uint8_t first[8] = {0};
    size_t at = 0;
    bool is_open = pfb_number_text_open(&text, w->data, w->size);
    expect(w, is_open == (text.error.code == PFB_OK), "a failed open has an error code");
    expect_if_unchanged(w, is_open == pfb_number_text_recognise(w->data, w->size), "open agrees with recognise");
    bool is_last = false;
    size_t end = 0;
    while (is_open && text.error.code == PFB_OK && !(is_last && at == end)) {
        end = w->size - at < window ? w->size : at + window;
        is_last = end == w->size;
        size_t count;
        do {
            count = pfb_number_text_read(&text, w->data + at, end - at, is_last, buffer, capacity);
            expect(w, count <= capacity && text.used <= end - at, "nothing past the ends is used");
            expect(w, text.window_offset == at, "windows are counted");
            if (w->out.broken)
                return;
            for (size_t i = 0; i < count; i++, w->out.items++) {
                if (w->out.items < sizeof first)
                    first[w->out.items] = buffer[i];
                add(w, buffer[i]);
            }
            change_byte(w, at + text.used);
            at += text.error.code == PFB_OK ? text.used : 0;
        } while (count == capacity);
        expect(w, at == end || text.error.code != PFB_OK, "a window is used up");
    }
    expect_if_unchanged(w, !is_open || pfb_v1_recognise(first, sizeof first), "the bytes begin with the signature");
    expect_if_unchanged(w, !is_open || w->out.items >= sizeof first, "there are at least as many bytes as letters");
    pfb_error error = text.error;
    error.offset += error.code != PFB_OK ? (size_t)text.window_offset : 0;
    record_error(w, error, 0);
}

reading read_number_text(const uint8_t *data, size_t size, const pfb_read_options *options)
{
    walk w = {.data = data, .size = size, .options = options};
    walk_numbers(&w, SIZE_MAX, LARGEST_BUFFER);
    return w.out;
}

/* ---- Comparing readings -------------------------------------------------------------------------------- */

/* Writes the decoded bytes as a text and decodes this. Returns true if its bytes are the same. */
static bool is_same_again(const uint8_t *data, size_t size, const reading *expected, const char *format)
{
    enum { LONGEST = sizeof "0xff, " };
    pfb_number_text text;
    size_t count = (size_t)expected->items;
    size_t written = 0;
    uint8_t *bytes = malloc(count + 1);
    char *again = malloc(LONGEST * count + 1);
    bool is_same = true;
    if (bytes && again && pfb_number_text_open(&text, data, size)) {
        pfb_number_text_read(&text, data, size, true, bytes, count + 1);
        for (size_t i = 0; i < count; i++)
            written += (size_t)snprintf(again + written, LONGEST, format, bytes[i]);
        reading result = read_number_text((const uint8_t *)again, written, NULL);
        is_same = result.error.code == PFB_OK && result.items == expected->items && result.sum == expected->sum;
    }
    free(bytes);
    free(again);
    return is_same;
}

reading verify_number_text(const uint8_t *data, size_t size)
{
    reading whole = read_number_text(data, size, NULL);
    reading repeated = read_number_text(data, size, NULL);
    walk windows = {.data = data, .size = size};
    uint64_t random = hash(data, size);
    walk_numbers(&windows, 1 + random % 64, 1 + random / 64 % LARGEST_BUFFER);
    const char *broken = whole.broken ? whole.broken : windows.out.broken;
    if (!broken && !is_same_reading(&whole, &repeated))
        broken = "decoding the same bytes twice gives the same result";
    if (!broken && !is_same_reading(&whole, &windows.out))
        broken = "decoding in windows gives the same result";
    if (!broken && !is_same_again(data, size, &whole, random & 1 ? "0x%x, " : "%u\t"))
        broken = "the numbers are read again";
    if (!broken && !is_same_again(data, size, &whole, "%02X "))
        broken = "the numbers are read again as a dump";
    whole.broken = broken;
    return whole;
}

reading read_changing_number_text(uint8_t *data, size_t size, uint64_t seed)
{
    walk w = {.data = data, .size = size, .random = seed | 1};
    w.writable = data;
    walk_numbers(&w, seed & 4 ? SIZE_MAX : 1 + seed % 64, 1 + seed / 64 % LARGEST_BUFFER);
    return w.out;
}

void fuzz_number_text(const uint8_t *data, size_t size)
{
    uint64_t seed = hash(data, size);
    for (uint64_t round = 0; round < 3; round++) {
        uint8_t *copy = copy_input(data, size);
        if (!copy)
            return;
        end_round(copy, round == 0 ? verify_number_text(copy, size)
                                   : read_changing_number_text(copy, size, seed * (2 * round + 1)));
    }
}
