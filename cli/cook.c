/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "diagnostics.h"
#include "legacy.h"
#include "perfblock/capture.h"
#include "perfblock/name_table.h"
#include "sampling.h"

#include <inttypes.h>

/* Bare blocks are consecutive samples across files, so the file of the sample before is kept. A capture is a sequence
 * of its own: nothing is compared with what precedes or follows it. */
typedef struct cook {
    const options *o;
    output out;
    sampling sampling;
    titles names; /* of --names */
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

/* Takes a block and tells what is wrong with it: of V1 each object's failure, for the others do not end there. */
static sampling_outcome take(cook *c, const sampling_block *block)
{
    sampling_outcome outcome = sampling_take(&c->sampling, &c->out, block);
    if (block->is_legacy && outcome.error.code != PFB_OK)
        legacy_tell_errors(c->files[c->at].name, block->base, block->data, block->size, c->o->reader);
    else
        tell(c, block->base, outcome.error);
    return outcome;
}

/* ---- Captures -------------------------------------------------------------------------------------------- */

/* Chunks that carry performance data of sorts that are not cooked, told once each. */
static const struct {
    uint32_t tag;
    const char *name;
} unread_tags[] = {
    {PFB_TAG_HOOKS, "CPIH"},
    {PFB_TAG_SNAPSHOTS, "CPIS"},
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
                             "chunks that cook does not read were passed over: %" PRIu64 " of %s", unread->counts[i],
                             i < UNREAD_TAGS ? unread_tags[i].name : "a later version");
    }
}

static void cook_chunk(cook *c, const pfb_chunk *chunk, unread_chunks *unread)
{
    sampling *s = &c->sampling;
    const uint8_t *body = c->files[c->at].data + chunk->body_offset;
    size_t size = chunk->body_size_bytes;
    sampling_block block = {.data = body, .size = size, .base = chunk->body_offset};
    pfb_name_table table;
    switch (chunk->is_known ? chunk->tag : 0) {
    case PFB_TAG_DATA:
        take(c, &block);
        break;
    case PFB_TAG_LEGACY:
        block.is_legacy = true;
        take(c, &block);
        break;
    case PFB_TAG_NAMES: /* its names are taken already */
        pfb_name_table_open(&table, body, size, s->options);
        pfb_name_table_count(&table);
        tell(c, chunk->body_offset, table.error);
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
    titles names = {.preferred = &c->names};
    pfb_capture capture;
    pfb_chunk chunk;
    unread_chunks unread = {0};
    metadata_open_capture(&m, in->data, in->size);
    titles_add_capture(&names, in->data, in->size, c->o->reader);
    sampling_forget(&c->sampling);
    c->sampling.metadata = &m;
    c->sampling.titles = &names;
    c->sampling.keeps_one = false;
    pfb_capture_open(&capture, in->data, in->size);
    while (!output_failed(&c->out) && pfb_capture_next(&capture, &chunk)) {
        cook_chunk(c, &chunk, &unread);
        progress_show(in->name, chunk.offset);
    }
    tell_unread(c, &unread);
    tell(c, 0, capture.error);
    sampling_forget(&c->sampling);
    c->sampling.metadata = NULL;
    c->sampling.titles = &c->names;
    c->sampling.keeps_one = true;
    titles_free(&names);
    metadata_free(&m);
}

/* ---- Bare blocks ----------------------------------------------------------------------------------------- */

static void tell_rest(cook *c, size_t offset)
{
    if (c->o->reader & PFB_STRICT)
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
        if (part == INPUT_PART_TRAILING) {
            tell_rest(c, blocks.at);
            continue;
        }
        sampling_block block = {.data = in->data + blocks.at,
                                .size = in->size - blocks.at,
                                .base = blocks.at,
                                .is_legacy = part == INPUT_PART_LEGACY};
        sampling_outcome outcome = take(c, &block);
        kept_any = kept_any || outcome.kept;
        /* Behind a failure nothing is known of what follows, unless it was inside a V1 block whose header is sound. */
        blocks.has_ended = outcome.size_bytes == 0 || (!block.is_legacy && outcome.error.code != PFB_OK);
        blocks.at += outcome.size_bytes;
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
    else if (in->kind == INPUT_NAMES)
        diagnostics_say(STATUS_USAGE, name, "is a name table, which is given with --names");
    else if (in->kind == INPUT_UNKNOWN)
        input_refuse(in, "a capture, V1 blocks or V2 data");
    else if (cook_blocks(c))
        c->at = 1 - c->at; /* its last sample is needed for the next file's first */
    input_free(&c->files[c->at]);
}

void command_cook(const options *o)
{
    cook c = {.o = o, .sampling = {.options = o->reader, .keeps_one = true}};
    c.sampling.titles = &c.names;
    output_open(&c.out, o->format, options_color(o));
    titles_add_file(&c.names, o->names, o->reader);
    progress_begin(false);
    for (size_t i = 0; i < o->file_count && !output_failed(&c.out); i++)
        cook_file(&c, o->files[i]);
    sampling_free(&c.sampling);
    titles_free(&c.names);
    input_free(&c.files[0]);
    input_free(&c.files[1]);
    output_close(&c.out);
}
