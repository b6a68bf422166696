/* SPDX-License-Identifier: MIT */
/* V1 blocks as numbers in a text (number_text.h), one after the other in one list. The numbers are decoded one by one,
 * and the place of each is kept, so that every byte of a record has an offset in the file. */
#include "stream/formats.h"

#include "perfblock/number_text.h"
#include "perfblock/v1.h"

#include <string.h>

enum { SIGNATURE_BYTES = 8, MAX_NUMBER_BYTES = 4, FIRST_NUMBERS = 512 };

typedef struct numbers_state {
    pfb_number_text reader;
    size_t at; /* offset in the window of what the reader reads next */

    /* What was decoded. `places` has for each byte a uint64_t, the offset of its number in the file. */
    uint8_t *bytes, *places;
    size_t bytes_capacity, places_capacity;
    size_t count;
    uint64_t end; /* offset in the file after the last number */

    size_t next;   /* position in `bytes` of the block that is returned next */
    size_t record; /* of the latest one */
} numbers_state;

/* ---- Places ---------------------------------------------------------------------------------------------- */

/* The place of a byte; after the last one, the end of its number. */
static uint64_t place_of(const numbers_state *state, size_t position)
{
    uint64_t place = state->end;
    if (position < state->count)
        memcpy(&place, state->places + position * sizeof place, sizeof place);
    return place;
}

static uint64_t offset_of_byte(const file_input *file, const pfb_record *record, uint64_t at)
{
    const numbers_state *state = file->state;
    (void)record;
    return place_of(state, at < state->count - state->record ? state->record + (size_t)at : state->count);
}

/* ---- Decoding -------------------------------------------------------------------------------------------- */

static bool is_of_number(uint8_t c)
{
    uint8_t lower = c | 0x20;
    return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z');
}

/* Reads up to the end of the number after `capacity` others, of which *out receives the bytes. */
static size_t read_numbers(const stream_window *window, numbers_state *state, uint8_t *out, size_t capacity)
{
    if (state->reader.error.code != PFB_OK)
        return 0;
    size_t count = pfb_number_text_read(&state->reader, window->data + state->at, window->size - state->at,
                                        window->is_last, out, capacity);
    state->at += state->reader.used;
    return count;
}

/* Decodes the next number of the window. Returns false if it has no whole one. Requires space for it. */
static bool decode_number(const stream_window *window, numbers_state *state)
{
    read_numbers(window, state, NULL, 0);
    size_t start = state->at;
    uint64_t end = window->offset + state->at;
    if (read_numbers(window, state, state->bytes + state->count, 1) == 0)
        return false;
    while (start > 0 && is_of_number(window->data[start - 1]))
        start--;
    uint64_t place = window->offset + start;
    memcpy(state->places + state->count * sizeof place, &place, sizeof place);
    state->count++;
    state->end = end;
    return true;
}

/* Makes space for one more number. */
static int32_t make_space(file_input *file)
{
    numbers_state *state = file->state;
    const size_t place_bytes = sizeof(uint64_t);
    const size_t first = FIRST_NUMBERS;
    size_t least = state->count + 1;
    size_t wanted = state->count < first ? first : 2 * state->count;
    if (least <= state->bytes_capacity && least <= state->places_capacity / place_bytes)
        return PFB_NEXT_RECORD;
    int32_t step = pfb_stream_resize(file->input, &state->places, &state->places_capacity, least * place_bytes,
                                     wanted * place_bytes, place_of(state, state->next));
    if (step == PFB_NEXT_RECORD)
        step = pfb_stream_resize(file->input, &state->bytes, &state->bytes_capacity, least, wanted,
                                 place_of(state, state->next));
    file->is_incomplete = file->is_incomplete || step != PFB_NEXT_RECORD;
    return step;
}

/* Forgets the blocks that were returned. Every byte is moved at most a few times, because more bytes are decoded only
 * if what is left is less than the next block. */
static void forget_returned(numbers_state *state)
{
    size_t left = state->count - state->next;
    if (state->next == 0 || !state->bytes)
        return;
    memmove(state->bytes, state->bytes + state->next, left);
    memmove(state->places, state->places + state->next * sizeof(uint64_t), left * sizeof(uint64_t));
    state->count = left;
    state->next = 0;
}

/* Moves the window to what was not read yet, and to the number before it, which may be incomplete, and reads more. */
static int32_t move_window(file_input *file)
{
    numbers_state *state = file->state;
    stream_window *window = &file->window;
    if (window->is_waiting)
        return pfb_window_resume(window);
    size_t start = state->at > MAX_NUMBER_BYTES ? state->at - MAX_NUMBER_BYTES : 0;
    state->at -= start;
    return pfb_window_more(window, start, 0);
}

/* Decodes until there are `needed` bytes from `next` on. PFB_NEXT_RECORD: there are, or the list has ended or is
 * malformed. */
static int32_t decode(file_input *file, uint64_t needed)
{
    numbers_state *state = file->state;
    const stream_window *window = &file->window;
    int32_t step = PFB_NEXT_RECORD;
    forget_returned(state);
    while (step == PFB_NEXT_RECORD && state->count < needed) {
        if (!window->is_waiting) {
            step = make_space(file);
            if (step != PFB_NEXT_RECORD || decode_number(window, state))
                continue;
            if (window->is_last || state->reader.error.code != PFB_OK)
                break;
        }
        step = move_window(file);
    }
    return step;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

static int32_t open_numbers(file_input *file)
{
    numbers_state *state = file->state;
    pfb_number_text_open(&state->reader, file->window.data, file->window.size);
    return PFB_NEXT_RECORD;
}

static void close_numbers(file_input *file)
{
    numbers_state *state = file->state;
    pfb_stream_release(file->input->stream, &state->bytes, &state->bytes_capacity);
    pfb_stream_release(file->input->stream, &state->places, &state->places_capacity);
}

/* Decodes the next block, or what there is instead. Sets *is_whole if the block can be opened. */
static int32_t load_block(file_input *file, bool *is_whole)
{
    numbers_state *state = file->state;
    int32_t step = PFB_NEXT_RECORD;
    bool has_more = true;
    while (step == PFB_NEXT_RECORD) {
        const uint8_t *block = state->bytes ? state->bytes + state->next : NULL;
        size_t available = state->count - state->next;
        uint64_t needed = pfb_v1_needed_size(block, available);
        bool is_other = available >= SIGNATURE_BYTES && !pfb_v1_recognise(block, available);
        *is_whole = available >= needed;
        if (*is_whole || is_other || !has_more)
            break;
        step = decode(file, needed);
        has_more = state->count >= needed;
    }
    return step;
}

/* Sets the record to the next block. Returns false, after a problem, if its header is malformed. */
static bool read_block(file_input *file, pfb_record *record)
{
    numbers_state *state = file->state;
    const uint8_t *block = state->bytes + state->next;
    pfb_v1_reader v1;
    if (!pfb_v1_open(&v1, block, state->count - state->next, &file->input->stream->reader)) {
        pfb_file_malformed(file, place_of(state, state->next + v1.error.offset), v1.error.code);
        return false;
    }
    *record = (pfb_record){.kind = PFB_RECORD_V1,
                           .flags = PFB_RECORD_HAS_TIME,
                           .offset = place_of(state, state->next),
                           .bytes = block,
                           .byte_count = v1.total_size_bytes,
                           .time = v1.perf_time_100ns};
    state->record = state->next;
    state->next += v1.total_size_bytes;
    return true;
}

static int32_t next_of_numbers(file_input *file, pfb_record *record)
{
    numbers_state *state = file->state;
    const pfb_error *error = &state->reader.error;
    bool is_whole = false;
    int32_t step = load_block(file, &is_whole);
    if (step != PFB_NEXT_RECORD)
        return step;
    size_t available = state->count - state->next;
    bool is_block = available > 0 && pfb_v1_recognise(state->bytes + state->next, available);
    if (error->code != PFB_OK && !is_whole && (is_block || available < SIGNATURE_BYTES))
        pfb_file_malformed(file, state->reader.window_offset + error->offset, error->code);
    else if (available > 0 && !is_block)
        pfb_file_trailing(file, place_of(state, state->next));
    else if (available > 0 && read_block(file, record))
        return PFB_NEXT_RECORD;
    return PFB_NEXT_END;
}

const stream_format pfb_format_numbers = {.open = open_numbers,
                                          .next = next_of_numbers,
                                          .close = close_numbers,
                                          .offset = offset_of_byte,
                                          .state_bytes = sizeof(numbers_state)};
