/* SPDX-License-Identifier: MIT */
/* Files with V1 blocks and V2 replies, one after the other, as the Windows functions returned them. The format of the
 * file is that of the first block; each later one is V1 if it has the signature of V1. */
#include "stream/formats.h"

#include "perfblock/v1.h"
#include "perfblock/v2.h"

enum { V2_HEADER = 48 };

typedef struct blocks_state {
    size_t at;             /* offset of the next block in the window */
    bool is_v1;            /* the first block is V1 */
    bool has_ended;        /* no further block can be found */
    bool is_in_zeros;      /* only zeros were found since zeros_offset */
    uint64_t zeros_offset; /* in the file */
} blocks_state;

static int32_t open_v1(file_input *file)
{
    blocks_state *state = file->state;
    state->is_v1 = true;
    return PFB_NEXT_RECORD;
}

static int32_t open_v2(file_input *file)
{
    (void)file;
    return PFB_NEXT_RECORD;
}

/* Whether all bytes are zero. Reads only up to the first one that is not. */
static bool is_all_zero(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at < size && data[at] == 0)
        at++;
    return at == size;
}

/* Moves the window over zeros, so that it does not grow with their number, up to the first other byte or the end of the
 * file. Zeros up to the end are no block. Other bytes after zeros cannot be found as a block. */
static int32_t skip_zeros(file_input *file)
{
    static const uint8_t zeros[V2_HEADER] = {0};
    blocks_state *state = file->state;
    stream_window *window = &file->window;
    pfb_v2_reader v2;
    while (true) {
        int32_t step = PFB_NEXT_RECORD;
        if (!window->is_waiting && !is_all_zero(window->data + state->at, window->size - state->at))
            break;
        if (window->is_last && state->zeros_offset > 0) {
            pfb_file_trailing(file, state->zeros_offset);
            state->has_ended = true;
            return PFB_NEXT_END;
        }
        if (window->is_last)
            break;
        step = window->is_waiting ? pfb_window_resume(window) : pfb_window_more(window, window->size, 0);
        if (step != PFB_NEXT_RECORD)
            return step;
        state->at = 0;
    }
    pfb_v2_open(&v2, zeros, sizeof zeros, &file->input->stream->reader);
    pfb_file_malformed(file, state->zeros_offset, v2.error.code);
    state->has_ended = true;
    return PFB_NEXT_END;
}

/* Returns the number of bytes that the block at `at` needs as far as it is known; 0 if zeros begin there. Sets *is_v1.
 */
static uint64_t needed_size(const file_input *file, bool *is_v1)
{
    const blocks_state *state = file->state;
    const uint8_t *data = file->window.data + state->at;
    size_t available = file->window.size - state->at;
    *is_v1 = file->window.offset + state->at == 0 ? state->is_v1 : pfb_v1_recognise(data, available);
    if (*is_v1)
        return pfb_v1_needed_size(data, available);
    return available >= V2_HEADER && is_all_zero(data, available) ? 0 : pfb_v2_needed_size(data, available);
}

/* Moves the window until it has the whole block at `at`, or the file ends. Sets *is_v1. */
static int32_t load_block(file_input *file, bool *is_v1)
{
    blocks_state *state = file->state;
    stream_window *window = &file->window;
    int32_t step = window->is_waiting ? pfb_window_resume(window) : PFB_NEXT_RECORD;
    while (step == PFB_NEXT_RECORD) {
        uint64_t needed = needed_size(file, is_v1);
        state->is_in_zeros = needed == 0 && !*is_v1;
        state->zeros_offset = window->offset + state->at;
        if (needed <= window->size - state->at || window->is_last)
            break;
        step = pfb_window_more(window, state->at, needed < SIZE_MAX ? (size_t)needed : SIZE_MAX);
        state->at = 0;
    }
    return step;
}

/* Sets the record to the block at `at`. Returns false, after a problem, if its header is malformed. */
static bool read_block(file_input *file, bool is_v1, pfb_record *record)
{
    blocks_state *state = file->state;
    const pfb_read_options *options = &file->input->stream->reader;
    const uint8_t *data = file->window.data + state->at;
    size_t available = file->window.size - state->at;
    uint64_t offset = file->window.offset + state->at;
    pfb_v1_reader v1;
    pfb_v2_reader v2;
    *record = (pfb_record){
        .kind = is_v1 ? PFB_RECORD_V1 : PFB_RECORD_V2, .flags = PFB_RECORD_HAS_TIME, .offset = offset, .bytes = data};
    bool is_open = is_v1 ? pfb_v1_open(&v1, data, available, options) : pfb_v2_open(&v2, data, available, options);
    if (!is_open) {
        pfb_error error = is_v1 ? v1.error : v2.error;
        pfb_file_malformed(file, offset + error.offset, error.code);
        return false;
    }
    record->byte_count = is_v1 ? v1.total_size_bytes : v2.total_size_bytes;
    record->time = is_v1 ? v1.perf_time_100ns : v2.perf_time_100ns;
    /* After an error in a V2 reply its size cannot be relied on. */
    state->has_ended = !is_v1 && pfb_v2_finish(&v2).code != PFB_OK;
    file->is_incomplete = file->is_incomplete || state->has_ended;
    state->at += (size_t)record->byte_count;
    return true;
}

static int32_t next_block(file_input *file, pfb_record *record)
{
    blocks_state *state = file->state;
    bool is_v1 = false;
    if (state->has_ended)
        return PFB_NEXT_END;
    int32_t step = state->is_in_zeros ? PFB_NEXT_RECORD : load_block(file, &is_v1);
    if (step != PFB_NEXT_RECORD)
        return step;
    if (state->is_in_zeros)
        return skip_zeros(file);
    uint64_t offset = file->window.offset + state->at;
    size_t available = file->window.size - state->at;
    if (available == 0 && offset > 0)
        return PFB_NEXT_END;
    if (!is_v1 && offset > 0 && (available < V2_HEADER || is_all_zero(file->window.data + state->at, available))) {
        pfb_file_trailing(file, offset);
        state->has_ended = true;
        return PFB_NEXT_END;
    }
    state->has_ended = !read_block(file, is_v1, record) || state->has_ended;
    return record->byte_count > 0 ? PFB_NEXT_RECORD : PFB_NEXT_END;
}

const stream_format pfb_format_v1 = {.open = open_v1, .next = next_block, .state_bytes = sizeof(blocks_state)};
const stream_format pfb_format_v2 = {.open = open_v2, .next = next_block, .state_bytes = sizeof(blocks_state)};
