/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "diagnostics.h"
#include "perfblock/capture.h"
#include "sampling.h"

#include <inttypes.h>

/* Bare blocks are consecutive samples across files, so the file of the sample before is kept. A capture is a sequence
 * of its own: nothing is compared with what precedes or follows it. */
typedef struct cook {
    const options *o;
    output out;
    sampling sampling;
    input files[2];
    size_t at; /* the one being read */
} cook;

/* Tells what is wrong with bytes that begin at `base` of the file, if anything is. */
static void tell(const cook *c, size_t base, pfb_error error)
{
    if (error.code == PFB_OK)
        return;
    error.offset += base;
    diagnostics_malformed(c->files[c->at].name, error);
}

/* ---- Captures -------------------------------------------------------------------------------------------- */

/* Chunks that carry performance data of sorts this version does not read, told once each. */
static const struct {
    uint32_t tag;
    const char *name;
} unread_tags[] = {
    {PFB_TAG_LEGACY, "V1DT"},
    {PFB_TAG_NAMES, "NAME"},
    {PFB_TAG('C', 'P', 'I', 'H'), "CPIH"},
    {PFB_TAG('L', 'W', 'P', 'C'), "LWPC"},
};

enum { UNREAD_TAGS = sizeof unread_tags / sizeof unread_tags[0] };

typedef struct unread_chunks {
    uint64_t counts[UNREAD_TAGS + 1]; /* the last one: versions of the future */
    size_t first[UNREAD_TAGS + 1];
} unread_chunks;

static void count_unread(unread_chunks *unread, const pfb_chunk *chunk)
{
    size_t i = 0;
    while (i < UNREAD_TAGS && unread_tags[i].tag != chunk->tag)
        i++;
    if (i == UNREAD_TAGS && chunk->version <= PFB_CAPTURE_VERSION)
        return; /* nobody's tag: the format says to pass over it */
    if (unread->counts[i]++ == 0)
        unread->first[i] = chunk->offset;
}

static void tell_unread(const cook *c, const unread_chunks *unread)
{
    for (size_t i = 0; i <= UNREAD_TAGS; i++) {
        if (unread->counts[i] > 0)
            diagnostics_note(c->files[c->at].name, unread->first[i],
                             "chunks that this version does not read were passed over: %" PRIu64 " of %s",
                             unread->counts[i], i < UNREAD_TAGS ? unread_tags[i].name : "a later version");
    }
}

static void cook_chunk(cook *c, const pfb_chunk *chunk, unread_chunks *unread)
{
    sampling *s = &c->sampling;
    const uint8_t *body = c->files[c->at].data + chunk->body_offset;
    size_t size = chunk->body_size_bytes;
    bool kept = false;
    switch (chunk->is_known ? chunk->tag : 0) {
    case PFB_TAG_DATA:
        tell(c, chunk->body_offset, sampling_take(s, &c->out, body, size, chunk->body_offset, &kept));
        break;
    case PFB_TAG_REGISTRATION:
        tell(c, chunk->body_offset, metadata_add(s->metadata, &chunk->guid, chunk->request, body, size, s->options));
        break;
    case PFB_TAG_QUERY_INFO:
        tell(c, chunk->body_offset, sampling_info(s, body, size));
        break;
    case PFB_TAG_CAPTURE:
    case PFB_TAG_INSTANCES:
    case PFB_TAG_NOTE:
        break;
    default:
        count_unread(unread, chunk);
        break;
    }
}

static void cook_capture(cook *c)
{
    const input *in = &c->files[c->at];
    metadata m;
    pfb_capture capture;
    pfb_chunk chunk;
    unread_chunks unread = {0};
    metadata_open_capture(&m, in->data, in->size);
    sampling_forget(&c->sampling);
    c->sampling.metadata = &m;
    pfb_capture_open(&capture, in->data, in->size);
    while (!output_failed(&c->out) && pfb_capture_next(&capture, &chunk)) {
        cook_chunk(c, &chunk, &unread);
        progress_show(in->name, chunk.offset);
    }
    tell_unread(c, &unread);
    tell(c, 0, capture.error);
    sampling_forget(&c->sampling);
    c->sampling.metadata = NULL;
    metadata_free(&m);
}

/* ---- Bare blocks ----------------------------------------------------------------------------------------- */

static void tell_rest(cook *c, input_part part, size_t offset)
{
    if (part == INPUT_PART_UNREAD)
        tell(c, 0, (pfb_error){PFB_UNREAD_FORMAT, offset});
    else if (c->o->reader & PFB_STRICT)
        tell(c, 0, (pfb_error){PFB_TRAILING_BYTES, offset});
    else
        diagnostics_note(c->files[c->at].name, offset, "the bytes from here on belong to no block");
}

/* True when a sample of this file is the latest one. */
static bool cook_blocks(cook *c)
{
    const input *in = &c->files[c->at];
    input_blocks blocks = {0};
    input_part part = INPUT_PART_END;
    bool kept_any = false;
    while (!output_failed(&c->out) && (part = input_next_part(in, &blocks)) != INPUT_PART_END) {
        if (part != INPUT_PART_BLOCK) {
            tell_rest(c, part, blocks.at);
            continue;
        }
        const uint8_t *data = in->data + blocks.at;
        size_t left = in->size - blocks.at;
        bool kept = false;
        pfb_error error = sampling_take(&c->sampling, &c->out, data, left, blocks.at, &kept);
        tell(c, blocks.at, error);
        kept_any = kept_any || kept;
        blocks.has_ended = error.code != PFB_OK;
        pfb_data_block block;
        if (pfb_data_block_open(&block, data, left, c->o->reader))
            blocks.at += block.total_size_bytes;
        progress_show(in->name, blocks.at);
    }
    return kept_any;
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

static void cook_file(cook *c, const char *name)
{
    input *in = &c->files[c->at];
    if (!input_read(in, name, c->o->kind))
        return;
    c->sampling.file = name;
    if (in->kind == INPUT_CAPTURE)
        cook_capture(c);
    else if (cook_blocks(c))
        c->at = 1 - c->at; /* its last sample is needed for the next file's first */
    input_free(&c->files[c->at]);
}

void command_cook(const options *o)
{
    cook c = {.o = o, .sampling = {.options = o->reader}};
    output_open(&c.out, o->format, options_color(o));
    progress_begin(false);
    for (size_t i = 0; i < o->file_count && !output_failed(&c.out); i++)
        cook_file(&c, o->files[i]);
    sampling_free(&c.sampling);
    input_free(&c.files[0]);
    input_free(&c.files[1]);
    output_close(&c.out);
}
