/* SPDX-License-Identifier: MIT */
/* Opening a stream, its options, and its records. */
#include "perfblock/pdh_text.h"
#include "select/code_page.h"
#include "select/memory.h"
#include "select/selection.h"
#include "stream/file.h"
#include "stream/stream_private.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STOP_MILLISECONDS = 50 }; /* after which a sleeping stream notices that it was stopped, at the latest */

/* ---- Opening --------------------------------------------------------------------------------------------- */

pfb_stream *pfb_stream_new(void)
{
    pfb_stream *stream = calloc(1, sizeof *stream);
    if (stream) {
        stream->memory = PFB_STREAM_BUDGET;
        atomic_init(&stream->is_stopped, false);
    }
    return stream;
}

void pfb_stream_close(pfb_stream *stream)
{
    if (!stream)
        return;
    pfb_merge_free(stream);
    for (size_t i = 0; i < stream->input_count; i++) {
        stream_input *input = stream->inputs[i];
        if (input->is_open)
            input->operations->close(input->context);
        input->operations->destroy(input->context);
        free(input->label);
        free(input);
    }
    free(stream->inputs);
    free(stream->given);
    pfb_stream_free_problems(stream);
    pfb_selection_close(stream->selection);
    free(stream);
}

/* Returns true if an option may have the value. */
static bool stream_accepts(const pfb_stream *stream, uint32_t option, int64_t value)
{
    static const struct {
        int64_t min, max;
    } ranges[] = {
        [PFB_STREAM_STRICT] = {0, 1},
        [PFB_STREAM_FOLLOW] = {0, 1},
        [PFB_STREAM_NO_WAIT] = {0, 1},
        [PFB_STREAM_INTERVAL] = {0, INT64_MAX},
        [PFB_STREAM_MEMORY] = {0, INT64_MAX},
        [PFB_STREAM_BIAS] = {INT64_C(-1440), INT64_C(1440)},
        [PFB_STREAM_VERSION] = {0, 2},
        [PFB_STREAM_METADATA] = {0, 2},
        [PFB_STREAM_REPEATED] = {0, 1},
        [PFB_STREAM_DATE_ORDER] = {0, PFB_DATE_YMD},
        [PFB_STREAM_DECIMAL] = {0, '.'},
        [PFB_STREAM_FORCE_BIAS] = {0, 1},
        [PFB_STREAM_CODE_PAGE] = {0, UINT32_MAX},
    };
    if (option == 0 || option >= sizeof ranges / sizeof ranges[0])
        return false;
    if (option == PFB_STREAM_MEMORY && stream->memory_used > 0)
        return false;
    if (option == PFB_STREAM_DECIMAL && value != 0 && value != ',' && value != '.')
        return false;
    if (option == PFB_STREAM_CODE_PAGE && value > 0 && !pfb_code_page_is_known((uint32_t)value))
        return false;
    return value >= ranges[option].min && value <= ranges[option].max;
}

uint32_t pfb_stream_set(pfb_stream *stream, uint32_t option, int64_t value)
{
    if (!stream_accepts(stream, option, value))
        return PFB_CALLER_ARGUMENT;
    switch (option) {
    case PFB_STREAM_STRICT:
        stream->reader.is_strict = value == 1;
        break;
    case PFB_STREAM_FOLLOW:
        stream->is_followed = value == 1;
        break;
    case PFB_STREAM_NO_WAIT:
        stream->has_no_wait = value == 1;
        break;
    case PFB_STREAM_INTERVAL:
        stream->interval = value;
        break;
    case PFB_STREAM_MEMORY:
        stream->memory = value > 0 ? (uint64_t)value : PFB_STREAM_BUDGET;
        break;
    case PFB_STREAM_BIAS:
        stream->bias_minutes = value;
        break;
    case PFB_STREAM_FORCE_BIAS:
        stream->forces_bias = value == 1;
        break;
    case PFB_STREAM_CODE_PAGE:
        stream->reader.code_page = (uint32_t)value;
        break;
    case PFB_STREAM_VERSION:
        stream->version = (uint32_t)value;
        break;
    case PFB_STREAM_METADATA:
        stream->metadata = (uint32_t)value;
        break;
    case PFB_STREAM_REPEATED:
        stream->returns_repeated = value == 1;
        break;
    case PFB_STREAM_DATE_ORDER:
        stream->reader.date_order = (uint32_t)value;
        break;
    default: /* PFB_STREAM_DECIMAL */
        stream->reader.decimal = (uint32_t)value;
    }
    return PFB_OK;
}

int32_t pfb_stream_add_input(pfb_stream *stream, const stream_operations *operations, void *context, const char *label,
                             stream_input **added)
{
    size_t size = strlen(label) + 1;
    bool has_begun = stream->order != NULL || stream->input_count == INT32_MAX;
    stream_input *input = calloc(1, sizeof *input);
    char *copy = malloc(size);
    void *grown = !has_begun ? pfb_source_grow(stream->inputs, &stream->input_capacity, stream->input_count + 1,
                                               sizeof(stream_input *))
                             : NULL;
    if (grown)
        stream->inputs = grown;
    if (!input || !copy || !grown) {
        free(input);
        free(copy);
        operations->destroy(context);
        return -1;
    }
    memcpy(copy, label, size);
    input->stream = stream;
    input->operations = operations;
    input->context = context;
    input->label = copy;
    input->number = (uint32_t)stream->input_count;
    stream->inputs[stream->input_count++] = input;
    *added = input;
    return (int32_t)input->number;
}

bool pfb_stream_select(pfb_stream *stream, const pfb_selection *selection)
{
    pfb_selection *copy = pfb_selection_copy(selection);
    if (!copy)
        return false;
    pfb_selection_close(stream->selection);
    stream->selection = copy;
    return true;
}

/* ---- Waiting --------------------------------------------------------------------------------------------- */

void pfb_stream_stop(pfb_stream *stream)
{
    atomic_store(&stream->is_stopped, true);
}

bool pfb_stream_is_stopped(const pfb_stream *stream)
{
    return atomic_load(&stream->is_stopped);
}

int32_t pfb_stream_pause(pfb_stream *stream, int64_t duration)
{
    const int64_t units = 10000; /* per millisecond */
    if (stream->has_no_wait) {
        stream->wait = duration;
        return PFB_NEXT_WAIT;
    }
    for (int64_t left = (duration + units - 1) / units; left > 0 && !pfb_stream_is_stopped(stream);
         left -= STOP_MILLISECONDS)
        pfb_file_sleep(left < STOP_MILLISECONDS ? (uint32_t)left : STOP_MILLISECONDS);
    return pfb_stream_is_stopped(stream) ? PFB_NEXT_END : PFB_NEXT_RECORD;
}

int64_t pfb_stream_wait(const pfb_stream *stream)
{
    return stream->wait;
}

/* ---- Hashes ---------------------------------------------------------------------------------------------- */

/* The finalizer of MurmurHash3. */
static uint64_t mix_hash(uint64_t hash)
{
    hash = (hash ^ hash >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
    hash = (hash ^ hash >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
    return hash ^ hash >> 33;
}

uint64_t pfb_stream_hash(pfb_stream *stream, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    if (stream->seed == 0)
        stream->seed = mix_hash((uint64_t)time(NULL) ^ (uint64_t)clock() << 32 ^ (uintptr_t)stream) | 1;
    uint64_t hash = stream->seed;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001B3); /* FNV-1a */
    return mix_hash(hash);
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Returns the next record of given metadata, which follows each BEGIN, or else the next record of an input. */
static int32_t next_record(pfb_stream *stream, pfb_record *record)
{
    stream_input *input = stream->latest;
    int32_t step = pfb_given_read(stream);
    if (step != PFB_NEXT_RECORD)
        return step;
    if (input && pfb_given_next(input, record))
        return PFB_NEXT_RECORD;
    stream->latest = NULL;
    step = pfb_merge_next(stream, &input);
    if (step != PFB_NEXT_RECORD)
        return step;
    *record = input->record;
    stream->latest = input;
    return PFB_NEXT_RECORD;
}

int32_t pfb_stream_next(pfb_stream *stream, pfb_record *record)
{
    pfb_record next = {.kind = 0};
    int32_t step = PFB_NEXT_END;
    stream->wait = 0;
    if (stream->has_failed)
        return PFB_NEXT_FAILED;
    if (!pfb_stream_is_stopped(stream))
        step = next_record(stream, &next);
    if (pfb_stream_is_stopped(stream)) {
        pfb_merge_end(stream);
        stream->latest = NULL;
        step = PFB_NEXT_END;
    }
    if (stream->has_failed)
        return PFB_NEXT_FAILED;
    if (next.kind == PFB_RECORD_BEGIN)
        next.label = stream->inputs[next.file]->label;
    if (step == PFB_NEXT_RECORD)
        pfb_collect_copy_out(record, &next, sizeof next);
    return step;
}

bool pfb_stream_rewind(pfb_stream *stream)
{
    for (size_t i = 0; i < stream->input_count; i++) {
        if (stream->inputs[i]->was_read && !stream->inputs[i]->can_reopen)
            return false;
    }
    pfb_merge_end(stream);
    pfb_merge_free(stream);
    for (size_t i = 0; i < stream->input_count; i++) {
        stream_input *input = stream->inputs[i];
        input->was_read = input->has_samples = input->should_have_samples = false;
        input->repeated = input->earlier = 0;
        input->is_unreadable = false;
    }
    stream->latest = NULL;
    stream->has_failed = stream->lacks_memory = false;
    return true;
}

static const stream_input *find_input(const pfb_stream *stream, uint32_t file)
{
    return file < stream->input_count ? stream->inputs[file] : NULL;
}

uint64_t pfb_stream_offset(const pfb_stream *stream, const pfb_record *record, uint64_t at)
{
    const stream_input *input = find_input(stream, record->file);
    bool is_latest = input && input == stream->latest && input->is_open && input->operations->offset &&
                     (record->flags & PFB_RECORD_GIVEN) == 0;
    if (is_latest)
        return input->operations->offset(input->context, record, at);
    return at <= UINT64_MAX - record->offset ? record->offset + at : UINT64_MAX;
}

const char *pfb_stream_label(const pfb_stream *stream, uint32_t file)
{
    const stream_input *input = find_input(stream, file);
    return input ? input->label : "";
}

void pfb_stream_progress(const pfb_stream *stream, uint32_t file, uint64_t *done, uint64_t *total)
{
    const stream_input *input = find_input(stream, file);
    *done = *total = 0;
    if (input && input->is_open && input->operations->progress)
        input->operations->progress(input->context, done, total);
}
