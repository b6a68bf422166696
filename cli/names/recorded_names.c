/* SPDX-License-Identifier: MIT */
#include "names/recorded_names.h"

#include "memory/memory.h"

void recorded_names_open(recorded_names *r, title_names *titles)
{
    *r = (recorded_names){.titles = titles};
    pfb_capture_files_open(&r->files);
}

/* Chooses the file that the chunk belongs to. In `titles`, files have the numbers of their slots. */
static void choose_file(recorded_names *r, const pfb_chunk *chunk)
{
    pfb_capture_step step;
    do {
        step = pfb_capture_files_next(&r->files, chunk);
        if (r->files.file != 0)
            title_names_choose(r->titles, r->files.slot);
        if (step == PFB_CAPTURE_BEGIN) {
            r->has_early[r->files.slot] = false;
            title_names_begin(r->titles);
        }
    } while (step != PFB_CAPTURE_CHUNK);
}

/* Adds the names that follow the first sample of the file. */
static void add_early(recorded_names *r, const input *in)
{
    size_t first;
    pfb_chunk chunk;
    early_metadata_search(&r->early, in);
    size_t count = early_metadata_of_file(&r->early, r->files.file, &first);
    for (size_t i = first; i < first + count; i++) {
        const uint8_t *body = early_metadata_body(&r->early, i, &chunk);
        if (chunk.tag == PFB_TAG_NAMES)
            title_names_add(r->titles, body, chunk.body_size_bytes);
    }
    r->has_early[r->files.slot] = true;
}

void recorded_names_read(recorded_names *r, const input *in, const pfb_chunk *chunk)
{
    choose_file(r, chunk);
    if (r->files.file == 0) /* a FILE chunk that ends its file */
        return;
    if (chunk->is_known && chunk->tag == PFB_TAG_V1 && !r->has_early[r->files.slot])
        add_early(r, in);
    bool is_early = r->has_early[r->files.slot] && in->offset + chunk->offset < r->early.end;
    if (chunk->is_known && chunk->tag == PFB_TAG_NAMES && !is_early)
        title_names_add(r->titles, in->data + chunk->body_offset, chunk->body_size_bytes);
}

void recorded_names_close(recorded_names *r)
{
    title_names_choose(r->titles, 0);
    early_metadata_free(&r->early);
}
