/* SPDX-License-Identifier: MIT */
/* Files of any format, blocks and captures. */
#include "output/diagnostics.h"
#include "visitor/visits.h"

#include <inttypes.h>

/* Handles bytes from `offset` on that belong to no structure: an error with --strict, else a note. */
static void visit_trailing(visitor *v, size_t offset)
{
    if (v->options && v->options->is_strict)
        visit_error(v, (pfb_error){PFB_TRAILING_BYTES, offset});
    else
        visit_notes(v, PFB_NOTE_TRAILING_BYTES);
}

/* ---- Blocks ---------------------------------------------------------------------------------------------- */

/* Visits all blocks of a file. This ends after a V2 block with an error, and after a V1 block with a malformed header,
 * whose size is unknown. An error inside a V1 block with a valid header does not end it. */
static void visit_blocks(visitor *v)
{
    input *in = v->in;
    input_blocks blocks = {0};
    input_part part = INPUT_PART_END;
    while (!output_failed(v->out) && (part = input_next_part(in, &blocks)) != INPUT_PART_END) {
        v->bytes = (file_bytes){
            .data = in->data + blocks.at, .size = in->size - blocks.at, .base = (size_t)in->offset + blocks.at};
        size_t size = 0;
        if (part == INPUT_PART_BLOCK)
            size = visit_v2(v);
        else if (part == INPUT_PART_V1)
            size = visit_v1(v);
        else
            visit_trailing(v, 0);
        blocks.has_ended = blocks.has_ended || size == 0;
        blocks.at += size;
        input_progress(in, blocks.at);
    }
}

/* Visits the only block of a chunk. */
static void visit_lone_v2(visitor *v)
{
    size_t size = visit_v2(v);
    if (size > 0 && size < v->bytes.size)
        visit_trailing(v, size);
}

static void visit_lone_v1(visitor *v)
{
    size_t size = visit_v1(v);
    if (size > 0 && size < v->bytes.size)
        visit_trailing(v, size);
}

/* ---- Formats --------------------------------------------------------------------------------------------- */

static void visit_capture(visitor *v);

static void refuse_file(visitor *v)
{
    visit_error(v, (pfb_error){PFB_UNKNOWN_FORMAT, 0});
}

static void visit_text(visitor *v)
{
    v->counts.items++;
    visit_record(v, 0, "text", 0);
    visit_field(v, "text", 0, v->bytes.size, FIELD_ASCII, "text");
}

/* Visits the body of a FILE chunk, which is empty if the chunk ends its file. */
static void visit_recorded_file(visitor *v)
{
    enum { NUL_BYTES = 1 };
    pfb_capture_file file;
    pfb_error error = pfb_capture_read_file(v->bytes.data, v->bytes.size, &file);
    if (v->bytes.size > 0 && error.code == PFB_OK) {
        v->counts.items++;
        visit_record(v, 0, "file", 0);
        visit_name(v, "label", file.label, NUL_BYTES, "label");
        visit_name(v, "machine", file.machine, NUL_BYTES, "machine");
    }
    visit_error(v, error);
}

/* How files and the bodies of chunks are visited. */
static const struct {
    input_kind kind; /* INPUT_AUTO: not a format of files */
    uint32_t tag;    /* 0: not a format of chunks */
    void (*visit)(visitor *v);
} formats[] = {
    {INPUT_DATA, 0, visit_blocks},
    {INPUT_V1, 0, visit_blocks},
    {INPUT_AUTO, PFB_TAG_DATA, visit_lone_v2},
    {INPUT_AUTO, PFB_TAG_V1, visit_lone_v1},
    {INPUT_AUTO, PFB_TAG_NOTE, visit_text},
    {INPUT_AUTO, PFB_TAG_FILE, visit_recorded_file},
    {INPUT_REGISTRATION, PFB_TAG_REGISTRATION, visit_registration},
    {INPUT_STRINGS, 0, visit_strings},
    {INPUT_IDENTIFIERS, PFB_TAG_QUERY_INFO, visit_identifiers},
    {INPUT_INSTANCES, PFB_TAG_INSTANCES, visit_instances},
    {INPUT_GUIDS, 0, visit_guids},
    {INPUT_NAMES, PFB_TAG_NAMES, visit_names},
    {INPUT_LWP, PFB_TAG_LWP, visit_lwp},
    {INPUT_HOOKS, PFB_TAG_HOOKS, visit_hooks},
    {INPUT_SNAPSHOTS, PFB_TAG_SNAPSHOTS, visit_snapshots},
    {INPUT_CAPTURE, 0, visit_capture},
    {INPUT_LOG, 0, visit_log},
    {INPUT_PDH_TEXT, 0, visit_pdh_text},
    {INPUT_UNKNOWN, 0, refuse_file},
};

enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

void visit_file(visitor *v)
{
    v->bytes = (file_bytes){.data = v->in->data, .size = v->in->size};
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (formats[i].kind != INPUT_AUTO && formats[i].kind == v->in->kind)
            formats[i].visit(v);
    }
    visit_flush(v);
}

/* Visits the body of a chunk. Returns false for a tag that is not known. */
static bool visit_body(visitor *v, uint32_t tag)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (formats[i].tag != 0 && formats[i].tag == tag) {
            formats[i].visit(v);
            return true;
        }
    }
    return tag == PFB_TAG_CAPTURE; /* the start of the file, or of a recording that was appended; empty */
}

/* ---- Captures -------------------------------------------------------------------------------------------- */

static void begin_chunk(visitor *v, const pfb_chunk *chunk)
{
    enum { GUID_BYTES = 16, WORD_BYTES = 4 };
    size_t payload = chunk->offset + PFB_CHUNK_HEADER_BYTES;
    bool is_registration = chunk->is_known && chunk->tag == PFB_TAG_REGISTRATION;
    visit_begin(v, STRUCTURE_CHUNK, chunk->offset, "chunk", 0);
    visit_fields(v, "tag, version, size");
    if (chunk->has_guid)
        visit_field(v, "guid", payload, GUID_BYTES, FIELD_GUID, "GUID");
    if (is_registration)
        visit_field(v, "request", payload + GUID_BYTES, WORD_BYTES, FIELD_UNSIGNED, "request code");
    if (is_registration || (chunk->is_known && chunk->tag == PFB_TAG_NAMES))
        visit_field(v, "language", chunk->body_offset - WORD_BYTES, WORD_BYTES, FIELD_UNSIGNED, "language");
    if (chunk->is_known && chunk->tag == PFB_TAG_FILE)
        visit_field(v, "file", payload, WORD_BYTES, FIELD_UNSIGNED, "file");
}

static void visit_chunk(visitor *v, const pfb_chunk *chunk)
{
    enum { ALIGNMENT = 8 };
    const input *in = v->in;
    const file_bytes file = {.data = in->data, .size = in->size, .base = (size_t)in->offset};
    const file_bytes body = {.data = in->data + chunk->body_offset,
                             .size = chunk->body_size_bytes,
                             .base = (size_t)in->offset + chunk->body_offset,
                             .depth = 1};
    size_t end = chunk->body_offset + chunk->body_size_bytes;
    v->bytes = file;
    v->counts.chunks++;
    v->request = chunk->request;
    begin_chunk(v, chunk);
    v->bytes = body;
    v->counts.unread_chunks += !chunk->is_known || !visit_body(v, chunk->tag);
    v->bytes = file;
    visit_rest(v, end, "not explained");
    visit_end(v, VISIT_FINE, (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT); /* the reader requires the padding */
    input_progress(v->in, chunk->offset);
}

/* Visits a chunk of which the window has only the header, because nobody reads its body. */
static void visit_skipped_chunk(visitor *v, const pfb_chunk *chunk)
{
    const input *in = v->in;
    v->bytes = (file_bytes){.data = in->data, .size = in->size, .base = (size_t)in->offset};
    v->counts.chunks++;
    v->counts.unread_chunks++;
    begin_chunk(v, chunk);
    visit_end(v, VISIT_FINE, in->size);
}

/* Visits the body of a chunk if it has what is visited. */
static void visit_part(visitor *v, const pfb_chunk *chunk)
{
    const input *in = v->in;
    if (chunk->tag != v->only.tag)
        return;
    if (!chunk->is_known) {
        if (v->only.later_count++ == 0)
            v->only.first_later_offset = chunk->offset;
        return;
    }
    v->only.has_any = true;
    v->bytes = (file_bytes){.data = in->data + chunk->body_offset,
                            .size = chunk->body_size_bytes,
                            .base = (size_t)in->offset + chunk->body_offset};
    visit_body(v, chunk->tag);
}

/* Reports chunks of a later version, and a capture without an error that has no chunk to visit. */
static void report_parts(const visitor *v, pfb_error error)
{
    uint64_t later_count = v->only.later_count;
    bool is_missing = !v->only.has_any && error.code == PFB_OK;
    if (is_missing && later_count > 0)
        diagnostics_say(STATUS_MALFORMED, v->in->name,
                        "all %s of the capture are of a later version, which this program does not read", v->only.what);
    else if (is_missing)
        diagnostics_say(STATUS_MALFORMED, v->in->name, "the capture has no %s", v->only.what);
    else if (later_count > 0)
        diagnostics_note(v->in->name, v->only.first_later_offset,
                         "%s of a later version were skipped: %" PRIu64 " chunk%s", v->only.what, later_count,
                         later_count == 1 ? "" : "s");
}

/* Returns the first chunk of a capture. The reader checks it but does not return it. */
static pfb_chunk start_chunk(const input *in)
{
    return (pfb_chunk){.tag = PFB_TAG_CAPTURE,
                       .is_known = true,
                       .version = (uint32_t)field_unsigned(in->data + 4, 4, false),
                       .body_offset = PFB_CHUNK_HEADER_BYTES,
                       .body_size_bytes = (size_t)field_unsigned(in->data + 8, 8, false)};
}

/* Visits a capture. An error in the body of a chunk does not end this: the chunk header has the size of the body. */
static void visit_capture(visitor *v)
{
    input *in = v->in;
    pfb_capture capture;
    pfb_chunk chunk;
    bool is_open;
    void (*visit)(visitor *, const pfb_chunk *) = v->only.what ? visit_part : visit_chunk;
    do
        is_open = pfb_capture_open(&capture, in->data, in->size, in->is_last, NULL);
    while (!is_open && input_extend(in, &capture.error));
    if (v->titles)
        title_names_begin(v->titles);
    if (is_open) {
        chunk = start_chunk(in);
        visit(v, &chunk);
    }
    while (is_open && !output_failed(v->out)) {
        while (!output_failed(v->out) && pfb_capture_next_chunk(&capture, &chunk)) {
            if (v->titles)
                title_names_follow(v->titles, in, &chunk);
            visit(v, &chunk);
        }
        uint64_t size = 0;
        if (input_can_skip(in, &capture, &chunk, &size)) {
            (v->only.what ? visit_part : visit_skipped_chunk)(v, &chunk);
            is_open = input_skip(in, &capture, size);
        } else {
            is_open = capture.needs_more && input_advance(in, capture.resume_offset) &&
                      pfb_capture_continue(&capture, in->data, in->size, in->is_last);
        }
    }
    if (v->only.what)
        report_parts(v, capture.error);
    v->bytes = (file_bytes){.data = in->data, .size = in->size, .base = (size_t)in->offset};
    visit_error(v, capture.error);
}

bool visit_kind(visitor *v, input_kind kind, const char *what)
{
    bool is_capture = v->in->kind == INPUT_CAPTURE;
    for (size_t i = 0; is_capture && i < FORMAT_COUNT; i++) {
        if (formats[i].kind == kind) {
            v->only.tag = formats[i].tag;
            v->only.what = what;
        }
    }
    v->in->kind = is_capture ? INPUT_CAPTURE : kind;
    visit_file(v);
    return v->only.has_any || !is_capture;
}
