/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "input/file_order.h"
#include "names/v1.h"
#include "output/diagnostics.h"
#include "perfblock/capture.h"
#include "perfblock/v1.h"
#include "values/sampling.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct cook {
    const options *o;
    output out;
    sampling sampling;
    titles names;         /* of --names */
    input in;             /* the file being read */
    uint64_t block_count; /* samples and parts of samples that were displayed */
} cook;

/* Tells what is wrong with bytes that begin at `base` of the file, if anything is. */
static void tell(const cook *c, size_t base, pfb_error error)
{
    if (error.code == PFB_OK)
        return;
    error.offset += base;
    diagnostics_malformed(c->in.name, error);
}

/* Takes a block and tells what is wrong with it: of V1 each object's failure, for the others do not end there. */
static sampling_outcome take(cook *c, const sampling_block *block)
{
    sampling_outcome outcome = sampling_take(&c->sampling, &c->out, block);
    c->block_count += outcome.kept;
    if (block->is_v1 && outcome.error.code != PFB_OK)
        v1_tell_errors(c->in.name, block->base, block->data, block->size, c->o->reader);
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
            diagnostics_note(c->in.name, unread->first[i],
                             "chunks that cook does not read were passed over: %" PRIu64 " of %s", unread->counts[i],
                             i < UNREAD_TAGS ? unread_tags[i].name : "a later version");
    }
}

static void cook_chunk(cook *c, const pfb_chunk *chunk, unread_chunks *unread)
{
    sampling *s = &c->sampling;
    const uint8_t *body = c->in.data + chunk->body_offset;
    size_t size = chunk->body_size_bytes;
    sampling_block block = {.data = body, .size = size, .base = chunk->body_offset};
    pfb_name_table table;
    switch (chunk->is_known ? chunk->tag : 0) {
    case PFB_TAG_DATA:
        take(c, &block);
        break;
    case PFB_TAG_V1:
        block.is_v1 = true;
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
    const input *in = &c->in;
    metadata m;
    titles names = {.preferred = &c->names};
    pfb_capture capture;
    pfb_chunk chunk;
    unread_chunks unread = {0};
    metadata_open_capture(&m, in->data, in->size);
    titles_add_capture(&names, in->data, in->size, c->o->reader);
    c->sampling.metadata = &m;
    c->sampling.titles = &names;
    pfb_capture_open(&capture, in->data, in->size);
    while (!output_failed(&c->out) && pfb_capture_next(&capture, &chunk)) {
        cook_chunk(c, &chunk, &unread);
        progress_show(in->name, chunk.offset);
    }
    tell_unread(c, &unread);
    tell(c, 0, capture.error);
    c->sampling.metadata = NULL;
    c->sampling.titles = &c->names;
    titles_free(&names);
    metadata_free(&m);
}

/* ---- Bare blocks ----------------------------------------------------------------------------------------- */

static void tell_rest(cook *c, size_t offset)
{
    if (c->o->reader & PFB_STRICT)
        tell(c, 0, (pfb_error){PFB_TRAILING_BYTES, offset});
    else
        diagnostics_note(c->in.name, offset, "the bytes from here on belong to no block");
}

static void cook_blocks(cook *c)
{
    const input *in = &c->in;
    input_blocks blocks = {0};
    input_part part = INPUT_PART_END;
    while (!output_failed(&c->out) && (part = input_next_part(in, &blocks)) != INPUT_PART_END) {
        if (part == INPUT_PART_TRAILING) {
            tell_rest(c, blocks.at);
            continue;
        }
        sampling_block block = {.data = in->data + blocks.at,
                                .size = in->size - blocks.at,
                                .base = blocks.at,
                                .is_v1 = part == INPUT_PART_V1};
        sampling_outcome outcome = take(c, &block);
        /* Behind a failure nothing is known of what follows, unless it was inside a V1 block whose header is sound. */
        blocks.has_ended = outcome.size_bytes == 0 || (!block.is_v1 && outcome.error.code != PFB_OK);
        blocks.at += outcome.size_bytes;
        progress_show(in->name, blocks.at);
    }
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

static void cook_file(cook *c, const char *name)
{
    input *in = &c->in;
    if (!input_read(in, name, c->o->kind))
        return;
    sampling_begin_file(&c->sampling, name);
    if (in->kind == INPUT_CAPTURE)
        cook_capture(c);
    else if (in->kind == INPUT_NAMES)
        diagnostics_say(STATUS_USAGE, name, "is a name table, which is given with --names");
    else if (in->kind == INPUT_UNKNOWN)
        input_refuse(in, "a capture, V1 blocks or V2 data");
    else
        cook_blocks(c);
    input_free(in);
}

/* Why blocks do not continue earlier ones, as far as it is known: a list for people. */
static void list_gaps(const sampling *s, buffer *out)
{
    static const char *const reasons[SAMPLING_GAP_COUNT] = {
        [SAMPLING_BACKWARDS] = "the time runs backwards from file to file",
        [SAMPLING_OTHER_FREQUENCY] = "the clocks have different frequencies",
        [SAMPLING_RESTART] = "the clocks show a restart or another machine",
        [SAMPLING_OTHER_COUNTERS] = "the counters differ",
    };
    for (size_t i = 0; i < SAMPLING_GAP_COUNT; i++) {
        if (s->gaps[i] && reasons[i])
            buffer_format(out, "%s%s", out->size > 0 ? "; " : "", reasons[i]);
    }
}

/* Explains a result that is all dashes. */
static void note_single_samples(const cook *c)
{
    buffer gaps = {0};
    list_gaps(&c->sampling, &gaps);
    if (c->block_count == 1)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: every value needs two samples, and there is only one: add a later sample of the same "
                        "counters");
    else
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: every value needs two samples, and none of the %" PRIu64 " blocks continues an "
                        "earlier one of the same counters: %s",
                        c->block_count, gaps.size > 0 ? gaps.data : "add later samples of each");
    buffer_free(&gaps);
}

/* Explains values that are missing. */
static void note_missing_values(const cook *c)
{
    const display_statuses *statuses = &c->sampling.statuses;
    uint64_t dropped = sampling_dropped(&c->sampling);
    if (dropped > 0 && statuses->has_single)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: %" PRIu64 " blocks were not kept for later ones to be compared with: those that are "
                        "kept have %d objects and take %d MiB at most",
                        dropped, KEPT_MOST_OBJECTS, KEPT_MOST_BYTES >> 20);
    else if (statuses->has_single && !statuses->has_other)
        note_single_samples(c);
}

void command_cook(const options *o)
{
    cook c = {.o = o, .sampling = {.options = o->reader, .copies_blocks = true}};
    char **files = file_order_by_time(o->files, o->file_count, o->kind);
    c.sampling.titles = &c.names;
    output_open(&c.out, o->format, options_color(o));
    titles_add_file(&c.names, o->names, o->reader);
    progress_begin(false);
    for (size_t i = 0; i < o->file_count && !output_failed(&c.out); i++)
        cook_file(&c, files[i]);
    if (!output_failed(&c.out))
        note_missing_values(&c);
    free(files);
    sampling_free(&c.sampling);
    titles_free(&c.names);
    output_close(&c.out);
}
