/* SPDX-License-Identifier: MIT */
#include "walk/walk.h"

#include "input/parts.h"
#include "output/diagnostics.h"
#include "walk/walk_parts.h"

#include <inttypes.h>

/* ---- Blocks ---------------------------------------------------------------------------------------------- */

/* Handles bytes from `offset` on that belong to no structure: an error with --strict, else a note. */
static void walk_trailing(walk *w, const file_bytes *bytes, size_t offset)
{
    if (w->options && w->options->is_strict)
        walk_fail(w, bytes, (pfb_error){PFB_TRAILING_BYTES, offset});
    else
        walk_note(w, bytes, PFB_NOTE_TRAILING_BYTES);
}

/* Walks the V2 reply of a chunk. */
static void walk_lone_data(walk *w, const file_bytes *bytes)
{
    size_t size = 0;
    if (walk_v2(w, bytes, &size) && size < bytes->size)
        walk_trailing(w, bytes, size);
}

/* Walks the V1 block of a chunk. */
static void walk_lone_v1(walk *w, const file_bytes *bytes)
{
    size_t size = 0;
    walk_v1(w, bytes, &size);
    if (size > 0 && size < bytes->size)
        walk_trailing(w, bytes, size);
}

/* Walks all blocks of a file. The walk ends after a V2 block with an error, and after a V1 block with a malformed
 * header, whose size is unknown. An error inside a V1 block with a valid header does not end the walk. */
static void walk_blocks(walk *w)
{
    input *in = w->in;
    input_blocks blocks = {0};
    input_part part = INPUT_PART_END;
    while (!output_failed(w->out) && (part = input_next_part(in, &blocks)) != INPUT_PART_END) {
        file_bytes bytes = {
            .data = in->data + blocks.at, .size = in->size - blocks.at, .base = (size_t)in->offset + blocks.at};
        size_t size = 0;
        if (part == INPUT_PART_BLOCK)
            blocks.has_ended = !walk_v2(w, &bytes, &size);
        else if (part == INPUT_PART_V1)
            walk_v1(w, &bytes, &size);
        else
            walk_trailing(w, &bytes, 0);
        blocks.has_ended = blocks.has_ended || size == 0;
        blocks.at += size;
        input_progress(in, blocks.at);
    }
}

/* ---- Captures -------------------------------------------------------------------------------------------- */

static void print_chunk(const walk *w, const file_bytes *file, const pfb_chunk *chunk)
{
    output *out = w->out;
    walk_structure s = walk_begin(w, file, "chunk", 0, STRUCTURE_CHUNK, chunk->offset);
    walk_print_fields(&s, "tag, version, size");
    if (chunk->has_guid)
        walk_print_guid(w, "guid", chunk->guid.bytes);
    if (chunk->is_known && chunk->tag == PFB_TAG_REGISTRATION)
        output_unsigned(out, "request", chunk->request);
    if (chunk->is_known && (chunk->tag == PFB_TAG_REGISTRATION || chunk->tag == PFB_TAG_NAMES))
        output_unsigned(out, "language", chunk->language);
    output_end(out);
}

static void print_text(walk *w, const file_bytes *bytes)
{
    w->counts.items++;
    output_begin(w->out, "text", bytes->depth);
    output_offset(w->out, bytes->base);
    output_bytes(w->out, "text", (const char *)bytes->data, bytes->size);
    output_end(w->out);
    explain_row(w->page, bytes, 0, bytes->size, FIELD_ASCII, "text");
}

/* Begins a chunk on the page of explain, with its header and the fields before its body. */
static void explain_chunk(const walk *w, const file_bytes *file, const pfb_chunk *chunk)
{
    size_t payload = chunk->offset + PFB_CHUNK_HEADER_BYTES;
    bool is_registration = chunk->is_known && chunk->tag == PFB_TAG_REGISTRATION;
    char title[32] = "";
    for (unsigned i = 0; i < 4; i++)
        title[i] = (char)(uint8_t)(chunk->tag >> 8 * i);
    if (is_registration)
        snprintf(title + 4, sizeof title - 4, ", request %" PRIu32, chunk->request);
    explain_begin(w->page, file, STRUCTURE_CHUNK, chunk->offset, explain_folds_parts(w->page), NULL, "%s", title);
    if (chunk->has_guid)
        explain_row(w->page, file, payload, sizeof chunk->guid.bytes, FIELD_GUID, "GUID");
    if (is_registration)
        explain_row(w->page, file, payload + sizeof chunk->guid.bytes, 4, FIELD_UNSIGNED, "request code");
    if (chunk->is_known && (chunk->tag == PFB_TAG_REGISTRATION || chunk->tag == PFB_TAG_NAMES))
        explain_row(w->page, file, chunk->body_offset - 4, 4, FIELD_UNSIGNED, "language");
}

static void walk_chunk(walk *w, const pfb_chunk *chunk)
{
    enum { ALIGNMENT = 8 };
    file_bytes file = {.data = w->in->data, .size = w->in->size, .base = (size_t)w->in->offset};
    file_bytes body = {.data = w->in->data + chunk->body_offset,
                       .size = chunk->body_size_bytes,
                       .base = (size_t)w->in->offset + chunk->body_offset,
                       .depth = 1};
    size_t offset = (size_t)w->in->offset + chunk->offset;
    w->counts.chunks++;
    print_chunk(w, &file, chunk);
    explain_chunk(w, &file, chunk);
    switch (chunk->is_known ? chunk->tag : 0) {
    case PFB_TAG_DATA:
        walk_lone_data(w, &body);
        break;
    case PFB_TAG_REGISTRATION:
        walk_registration(w, &body, chunk->request);
        break;
    case PFB_TAG_QUERY_INFO:
        walk_identifiers(w, &body);
        break;
    case PFB_TAG_INSTANCES:
        walk_instances(w, &body);
        break;
    case PFB_TAG_V1:
        if (w->titles)
            title_names_look_ahead(w->titles, w->in);
        walk_lone_v1(w, &body);
        break;
    case PFB_TAG_NAMES:
        walk_names(w, &body);
        if (w->titles)
            title_names_add(w->titles, offset, body.data, body.size);
        break;
    case PFB_TAG_LWP:
        walk_lwp(w, &body);
        break;
    case PFB_TAG_HOOKS:
        walk_hooks(w, &body);
        break;
    case PFB_TAG_SNAPSHOTS:
        walk_snapshots(w, &body);
        break;
    case PFB_TAG_NOTE:
        print_text(w, &body);
        break;
    case PFB_TAG_CAPTURE: /* the start of the file, or of a recording that was appended; empty */
        break;
    default:
        w->counts.unread_chunks++;
        break;
    }
    size_t end = chunk->body_offset + chunk->body_size_bytes;
    explain_rest(w->page, &file, end, "not explained");
    explain_end(w->page, &file, (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT); /* the reader requires the padding */
    input_progress(w->in, chunk->offset);
}

/* Returns the first chunk of a capture. The reader checks it but does not return it. */
static pfb_chunk start_chunk(const input *in)
{
    pfb_chunk chunk = {.tag = PFB_TAG_CAPTURE, .is_known = true, .body_offset = PFB_CHUNK_HEADER_BYTES};
    chunk.version = (uint32_t)field_unsigned(in->data + 4, 4, false);
    chunk.body_size_bytes = (size_t)field_unsigned(in->data + 8, 8, false);
    return chunk;
}

/* Walks a capture. An error in the body of a chunk does not end the walk: the chunk header has the size of the body. */
static void walk_capture(walk *w)
{
    input *in = w->in;
    pfb_capture capture;
    pfb_chunk chunk;
    bool is_open = input_open_capture(in, &capture);
    if (is_open) {
        chunk = start_chunk(in);
        walk_chunk(w, &chunk);
    }
    while (is_open && !output_failed(w->out)) {
        while (!output_failed(w->out) && pfb_capture_next_chunk(&capture, &chunk))
            walk_chunk(w, &chunk);
        is_open = input_continue_capture(in, &capture);
    }
    file_bytes rest = {.data = in->data, .size = in->size, .base = (size_t)in->offset};
    walk_fail(w, &rest, capture.error);
}

void walk_capture_parts(walk *w, uint32_t tag, const char *what)
{
    const input *in = w->in;
    file_bytes whole = {.data = in->data, .size = in->size};
    parts found;
    pfb_chunk chunk;
    parts_open(&found, in, tag, what);
    while (!output_failed(w->out) && parts_next(&found, &chunk)) {
        file_bytes body = {
            .data = in->data + chunk.body_offset, .size = chunk.body_size_bytes, .base = chunk.body_offset};
        if (tag == PFB_TAG_LWP)
            walk_lwp(w, &body);
        else
            walk_hooks(w, &body);
    }
    parts_finish(&found);
    walk_fail(w, &whole, found.capture.error);
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

/* Stores the error of a file of unknown format, and reports it if there is output. */
static void refuse_input(walk *w)
{
    output *out = w->out;
    w->first = (pfb_error){PFB_UNKNOWN_FORMAT, 0};
    if (out->format == OUTPUT_NONE)
        return;
    if (out->format != OUTPUT_TEXT) {
        buffer sentence = {0};
        input_refusal_text(w->in, WALK_EXPECTED, &sentence);
        output_begin(out, "error", 0);
        output_offset(out, 0);
        output_string(out, "code", pfb_code_name(PFB_UNKNOWN_FORMAT));
        output_string(out, "message", sentence.data);
        output_end(out);
        buffer_free(&sentence);
    }
    input_refuse(w->in, WALK_EXPECTED);
}

void walk_input(walk *w)
{
    file_bytes whole = {.data = w->in->data, .size = w->in->size};
    switch (w->in->kind) {
    case INPUT_AUTO:
    case INPUT_DATA:
    case INPUT_V1:
        walk_blocks(w);
        break;
    case INPUT_NAMES:
        walk_names(w, &whole);
        break;
    case INPUT_LWP:
        walk_lwp(w, &whole);
        break;
    case INPUT_HOOKS:
        walk_hooks(w, &whole);
        break;
    case INPUT_SNAPSHOTS:
        walk_snapshots(w, &whole);
        break;
    case INPUT_CAPTURE:
        walk_capture(w);
        break;
    case INPUT_LOG:
        walk_log(w);
        break;
    case INPUT_PDH_TEXT:
        walk_pdh_text(w);
        break;
    case INPUT_REGISTRATION:
        walk_registration(w, &whole, w->request);
        break;
    case INPUT_STRINGS:
        walk_strings(w, &whole);
        break;
    case INPUT_IDENTIFIERS:
        walk_identifiers(w, &whole);
        break;
    case INPUT_INSTANCES:
        walk_instances(w, &whole);
        break;
    case INPUT_GUIDS:
        walk_guids(w, &whole);
        break;
    case INPUT_UNKNOWN:
        refuse_input(w);
        break;
    }
}
