/* SPDX-License-Identifier: MIT */
#include "pdh_text_readers.h"

#include "checks.h"
#include "perfblock/pdh_text.h"
#include "walk.h"

#include <float.h>
#include <stdlib.h>

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static size_t window_size(const walk *w, size_t start, size_t window)
{
    size_t left = w->size - start;
    return window < left ? window : left;
}

/* Opens the text. Enlarges the window until it contains the header and shows the form of the rows. */
static bool open_text(walk *w, pfb_pdh_text_reader *text, size_t *window)
{
    for (;;) {
        size_t count = window_size(w, 0, *window);
        bool is_open = pfb_pdh_text_open(text, w->data, count, count == w->size, w->options);
        expect(w, is_open == (text->error.code == PFB_OK), "a failed open has an error code");
        bool is_enough = is_open ? text->is_form_certain : text->error.code != PFB_CALLER_TOO_SMALL;
        if (is_enough || count == w->size)
            return is_open;
        *window = 2 * *window + 1;
    }
}

/* Moves to the next row. If a window of the usual size does not contain it, continues with larger windows. */
static bool next_row(walk *w, pfb_pdh_text_reader *text, size_t window, pfb_pdh_text_row *row)
{
    while (!pfb_pdh_text_next_row(text, row)) {
        if (!text->needs_more || text->error.code != PFB_OK)
            return false;
        size_t start = (size_t)text->window_offset + text->resume_offset;
        expect(w, start <= w->size, "the next window begins inside the text");
        if (w->out.broken)
            return false;
        window = text->resume_offset == 0 ? 2 * window + 1 : window;
        size_t count = window_size(w, start, window);
        pfb_pdh_text_continue(text, w->data + start, count, count == w->size - start);
    }
    return true;
}

static void walk_header(walk *w, pfb_pdh_text_reader *text)
{
    pfb_pdh_text_path path;
    uint32_t column = 0;
    add(w, (uint64_t)text->decimal ^ (uint64_t)text->thousands << 8 ^ (uint64_t)text->dates << 16);
    add(w, (uint64_t)text->separator ^ (uint64_t)text->has_version << 8 ^ (uint64_t)text->has_bias << 16);
    add(w, (uint32_t)text->bias_minutes ^ (uint64_t)text->encoding << 32);
    if (text->zone_name.bytes)
        touch(w, (size_t)(text->zone_name.bytes - w->data), text->zone_name.size_bytes);
    while (!skips_rest(w) && pfb_pdh_text_next_path(text, &path)) {
        expect(w, path.column == column++, "columns are numbered");
        touch(w, (size_t)(path.name.bytes - w->data), path.name.size_bytes);
        w->out.items++;
        change_byte(w, (size_t)text->window_offset + path.offset);
    }
    expect_if_unchanged(w, column == text->column_count || is_partial(w), "there are as many paths as columns");
    expect(w, column <= text->column_count, "there are at most as many paths as columns");
}

static void walk_row(walk *w, pfb_pdh_text_reader *text, const pfb_pdh_text_row *row)
{
    pfb_pdh_text_value value;
    uint32_t column = 0;
    size_t offset = (size_t)text->window_offset + row->offset;
    expect(w, offset < w->size, "a row is inside the text");
    add(w, row->time ^ offset);
    while (pfb_pdh_text_next_value(text, &value)) {
        expect(w, value.column == column++ && column <= text->column_count, "values are numbered");
        expect(w, value.value >= -DBL_MAX && value.value <= DBL_MAX, "numbers are finite");
        expect(w, value.has_value || value.value == 0, "a cell without a value has value 0");
        expect(w, (size_t)text->window_offset + value.offset < w->size, "a value is inside the text");
        add(w, bits_of(value.value) ^ value.has_value);
        w->out.items++;
        change_byte(w, (size_t)text->window_offset + value.offset);
    }
    w->out.items++;
}

static void walk_text(walk *w, size_t window)
{
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    if (open_text(w, &text, &window)) {
        walk_header(w, &text);
        while (!w->out.broken && (next_row(w, &text, window, &row) || text.is_header)) {
            if (text.is_header)
                walk_header(w, &text);
            else
                walk_row(w, &text, &row);
        }
        expect(w, w->out.broken || !pfb_pdh_text_next_row(&text, &row), "no row is returned after the end");
        add(w, text.skipped_lines ^ text.first_skipped_line << 32);
        add(w, text.uneven_rows ^ text.first_uneven_line << 32);
    }
    pfb_error error = text.error;
    error.offset += error.code != PFB_OK ? (size_t)text.window_offset : 0;
    record_error(w, error, text.notes);
}

/* ---- Comparing readings -------------------------------------------------------------------------------- */

static const tolerance tolerances[] = {{PFB_BAD_TEXT_LINE, PFB_NOTE_TEXT_LINE, 0},
                                       {PFB_UNEVEN_ROW, PFB_NOTE_UNEVEN_ROW, 0},
                                       {PFB_BAD_NUMBER, PFB_NOTE_BAD_NUMBER, 0}};

reading read_pdh_text(const uint8_t *data, size_t size, const pfb_read_options *options)
{
    walk w = {.data = data, .size = size, .options = options};
    walk_text(&w, SIZE_MAX);
    return w.out;
}

reading verify_pdh_text(const uint8_t *data, size_t size)
{
    reading tolerant = read_pdh_text(data, size, 0);
    reading repeated = read_pdh_text(data, size, 0);
    reading strict = read_pdh_text(data, size, STRICT);
    walk windows = {.data = data, .size = size};
    walk parts = {.data = data, .size = size};
    parts.random = hash(data, size);
    walk_text(&windows, 1 + parts.random % 256);
    walk_text(&parts, SIZE_MAX);
    const char *broken = tolerant.broken;
    if (!broken && !is_same_reading(&tolerant, &repeated))
        broken = "reading the same bytes twice gives the same result";
    if (!broken)
        broken = compare_strict(&tolerant, &strict, tolerances, sizeof tolerances / sizeof tolerances[0]);
    if (!broken)
        broken = windows.out.broken ? windows.out.broken : parts.out.broken;
    if (!broken && !is_same_reading(&tolerant, &windows.out))
        broken = "reading in windows gives the same result";
    if (!broken && (!is_same_error(tolerant.error, parts.out.error) || tolerant.notes != parts.out.notes))
        broken = "the error is the same when only parts are read";
    tolerant.broken = broken;
    return tolerant;
}

reading read_changing_pdh_text(uint8_t *data, size_t size, uint64_t seed)
{
    walk w = {.data = data, .size = size, .options = seed & 2 ? STRICT : NULL, .random = seed | 1};
    w.writable = data;
    walk_text(&w, seed & 4 ? SIZE_MAX : 1 + seed % 1024);
    return w.out;
}

void fuzz_pdh_text(const uint8_t *data, size_t size)
{
    uint64_t seed = hash(data, size);
    for (uint64_t round = 0; round < 3; round++) {
        uint8_t *copy = copy_input(data, size);
        if (!copy)
            return;
        end_round(copy, round == 0 ? verify_pdh_text(copy, size)
                                   : read_changing_pdh_text(copy, size, seed * (2 * round + 1)));
    }
}
