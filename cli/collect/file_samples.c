/* SPDX-License-Identifier: MIT */
#include "collect/file_samples.h"

#include "memory/memory.h"
#include "output/diagnostics.h"

#include <inttypes.h>

/* Calls of a collector without a source fail only if memory is exhausted. */
static void require_memory(bool is_done)
{
    if (!is_done)
        memory_exhausted();
}

static void tell(const file_samples *f, pfb_error error)
{
    if (error.code != PFB_OK)
        diagnostics_malformed(f->in->name, error);
}

bool file_samples_has(const input *in)
{
    pfb_capture capture;
    pfb_chunk chunk;
    bool has_v1 = false;
    bool has_v2 = false;
    if (in->kind != INPUT_CAPTURE)
        return in->kind == INPUT_V1 || in->kind == INPUT_DATA || in->kind == INPUT_LOG || in->kind == INPUT_PDH_TEXT;
    pfb_capture_open(&capture, in->data, in->size, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        has_v1 = has_v1 || (chunk.is_known && chunk.tag == PFB_TAG_V1);
        has_v2 = has_v2 || (chunk.is_known && chunk.tag == PFB_TAG_DATA);
    }
    return has_v1 && !has_v2;
}

/* All name tables of a capture apply to all of its blocks. */
static void put_names(const file_samples *f)
{
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_capture_open(&capture, f->in->data, f->in->size, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        pfb_error error = {PFB_OK, 0};
        if (!chunk.is_known || chunk.tag != PFB_TAG_NAMES)
            continue;
        require_memory(pfb_collector_put_names(f->collector, f->in->data + chunk.body_offset, chunk.body_size_bytes,
                                               &error, NULL));
        error.offset += chunk.body_offset;
        tell(f, error);
    }
}

void file_samples_open(file_samples *f, const input *in, pfb_collector *collector, const pfb_read_options *options)
{
    *f = (file_samples){.in = in, .collector = collector, .options = *options};
    switch (in->kind) {
    case INPUT_CAPTURE:
        put_names(f);
        pfb_capture_open(&f->capture, in->data, in->size, NULL);
        break;
    case INPUT_LOG:
        pfb_log_open(&f->log, in->data, in->size, options);
        break;
    case INPUT_PDH_TEXT:
        if (pfb_pdh_text_open(&f->text, in->data, in->size, options))
            require_memory(pfb_collector_put_text_paths(collector, &f->text, NULL));
        break;
    default:
        break;
    }
}

/* ---- The next sample ------------------------------------------------------------------------------------- */

static bool next_of_blocks(file_samples *f)
{
    const input *in = f->in;
    input_part part = input_next_part(in, &f->blocks);
    if (part == INPUT_PART_TRAILING) {
        diagnostics_note(in->name, f->blocks.at, "the bytes from here on belong to no block");
        part = input_next_part(in, &f->blocks);
    }
    if (part != INPUT_PART_V1 && part != INPUT_PART_BLOCK)
        return false;
    f->base = f->blocks.at;
    require_memory(pfb_collector_put_sample(f->collector, part == INPUT_PART_V1 ? 1 : 2, in->data + f->base,
                                            in->size - f->base, NULL));
    pfb_collected_reply reply = pfb_collector_reply(f->collector);
    /* After an error the next block cannot be found, except after one inside a V1 block with a valid header. */
    f->blocks.has_ended = reply.size_bytes == 0 || (!reply.is_v1 && reply.error.code != PFB_OK);
    f->blocks.at += reply.size_bytes;
    return true;
}

static bool next_of_capture(file_samples *f)
{
    pfb_chunk chunk;
    while (pfb_capture_next_chunk(&f->capture, &chunk)) {
        if (!chunk.is_known || chunk.tag != PFB_TAG_V1)
            continue;
        f->base = chunk.body_offset;
        require_memory(
            pfb_collector_put_sample(f->collector, 1, f->in->data + chunk.body_offset, chunk.body_size_bytes, NULL));
        return true;
    }
    tell(f, f->capture.error);
    return false;
}

/* The records of a log without values are passed over. */
static bool next_of_log(file_samples *f)
{
    pfb_source_failure failure = {0};
    if (f->has_record) {
        if (pfb_collector_next_log_object(f->collector, &f->log, &f->record, &failure))
            return true;
        require_memory(failure.code == PFB_WIN32_NO_MORE_ITEMS);
        f->has_record = false;
    }
    while (pfb_log_next_record(&f->log, &f->record)) {
        require_memory(pfb_collector_put_log_record(f->collector, &f->log, &f->record, NULL));
        f->has_record = true;
        pfb_collected_reply reply = pfb_collector_reply(f->collector);
        if (reply.is_sample || reply.error.code != PFB_OK)
            return true;
        if (pfb_collector_next_log_object(f->collector, &f->log, &f->record, &failure))
            return true;
        require_memory(failure.code == PFB_WIN32_NO_MORE_ITEMS);
        f->has_record = false;
    }
    if (f->log.skipped_events > 0)
        diagnostics_note(f->in->name, 0, "%" PRIu64 " unknown events or parts of records were skipped",
                         f->log.skipped_events);
    tell(f, f->log.error);
    return false;
}

static bool next_of_text(file_samples *f)
{
    pfb_pdh_text_row row;
    if (f->text.error.code == PFB_OK && pfb_pdh_text_next_row(&f->text, &row)) {
        require_memory(pfb_collector_put_text_row(f->collector, &f->text, &row, NULL));
        return true;
    }
    if (f->text.skipped_lines > 0)
        diagnostics_note(f->in->name, 0, "%" PRIu64 " lines that are no rows were skipped", f->text.skipped_lines);
    tell(f, f->text.error);
    return false;
}

bool file_samples_next(file_samples *f)
{
    switch (f->in->kind) {
    case INPUT_CAPTURE:
        return next_of_capture(f);
    case INPUT_LOG:
        return next_of_log(f);
    case INPUT_PDH_TEXT:
        return next_of_text(f);
    default:
        return next_of_blocks(f);
    }
}

bool file_samples_is_displayed(const file_samples *f)
{
    return f->in->kind == INPUT_PDH_TEXT;
}
