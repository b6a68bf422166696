/* SPDX-License-Identifier: MIT */
/* The chunks that a recorder keeps. */
#include "collect/recorder.h"

#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- The list -------------------------------------------------------------------------------------------- */

/* Inserts a chunk before one that is not written, or at the end if that is null. */
static void insert(kept_chunks *kept, kept_chunk *chunk, kept_chunk *next)
{
    chunk->is_written = false;
    chunk->after = next;
    chunk->before = next ? next->before : kept->last;
    *(chunk->before ? &chunk->before->after : &kept->first) = chunk;
    *(next ? &next->before : &kept->last) = chunk;
    if (kept->unwritten == next)
        kept->unwritten = chunk;
}

static void take_out(kept_chunks *kept, kept_chunk *chunk)
{
    if (kept->unwritten == chunk)
        kept->unwritten = chunk->after;
    *(chunk->before ? &chunk->before->after : &kept->first) = chunk->after;
    *(chunk->after ? &chunk->after->before : &kept->last) = chunk->before;
}

static void move_to_end(kept_chunks *kept, kept_chunk *chunk)
{
    if (!chunk)
        return;
    take_out(kept, chunk);
    insert(kept, chunk, NULL);
}

static kept_chunk *append(kept_chunks *kept, const pfb_chunk *chunk, const pfb_record *record)
{
    size_t size = (size_t)record->byte_count;
    kept_chunk *made = size <= SIZE_MAX - sizeof *made ? malloc(sizeof *made + size) : NULL;
    if (!made)
        return NULL;
    *made = (kept_chunk){.chunk = *chunk, .offset = record->offset, .size = size};
    if (size > 0)
        memcpy(made->bytes, record->bytes, size);
    insert(kept, made, NULL);
    return made;
}

bool pfb_kept_add(kept_chunks *kept, const pfb_chunk *chunk, const pfb_record *record)
{
    return append(kept, chunk, record) != NULL;
}

void pfb_kept_end_chunk(kept_chunks *kept)
{
    kept_chunk *chunk = kept->unwritten;
    chunk->is_written = true;
    kept->unwritten = chunk->after;
    if (chunk->set)
        return;
    take_out(kept, chunk);
    free(chunk);
}

void pfb_kept_free(kept_chunks *kept)
{
    for (kept_chunk *chunk = kept->first, *next; chunk; chunk = next) {
        next = chunk->after;
        free(chunk);
    }
    for (size_t i = 0; i < kept->set_count; i++) {
        pfb_set_choice_free(&kept->sets[i]->choice);
        free(kept->sets[i]);
    }
    free(kept->sets);
    pfb_metadata_free(&kept->index);
    *kept = (kept_chunks){.first = NULL};
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

recorded_set *pfb_kept_set(kept_chunks *kept, const pfb_guid *guid)
{
    metadata_set *found = pfb_metadata_get(&kept->index, guid);
    if (!found || found->mark > 0)
        return found ? kept->sets[found->mark - 1] : NULL;
    recorded_set *set = calloc(1, sizeof *set);
    if (!set || !pfb_collect_grow(&kept->sets, &kept->set_capacity, kept->set_count + 1, sizeof(recorded_set *))) {
        free(set);
        return NULL;
    }
    set->described = found;
    kept->sets[kept->set_count++] = set;
    found->mark = kept->set_count;
    return set;
}

void pfb_kept_forget_choice(kept_chunks *kept)
{
    for (size_t i = 0; i < kept->set_count; i++) {
        pfb_set_choice_free(&kept->sets[i]->choice);
        kept->sets[i]->is_resolved = false;
    }
}

static bool has_bytes(const kept_chunk *chunk, const void *bytes, size_t size)
{
    return chunk->size == size && (size == 0 || memcmp(chunk->bytes, bytes, size) == 0);
}

/* Returns the link to the chunk of a set that a new one repeats or replaces; null if there is none. Of hostile sets
 * with many chunks, only the latest are looked at: then one is kept twice. */
static kept_chunk **find_link(recorded_set *set, const pfb_chunk *chunk, const void *bytes, size_t size)
{
    enum { MAX_STEPS = 64 };
    kept_chunk **link = &set->latest;
    for (size_t i = 0; i < MAX_STEPS && *link; i++, link = &(*link)->older) {
        const pfb_chunk *old = &(*link)->chunk;
        bool is_same_key = old->tag == chunk->tag && old->request == chunk->request && old->language == chunk->language;
        if (is_same_key && (chunk->tag != PFB_TAG_NAMES || has_bytes(*link, bytes, size)))
            return link;
    }
    return NULL;
}

/* The chunk is not current any more. One of the file is still written if it was not. */
static void replace(kept_chunks *kept, kept_chunk **link)
{
    kept_chunk *old = *link;
    *link = old->older;
    old->set = NULL;
    if (!old->is_written && !old->is_given)
        return;
    take_out(kept, old);
    free(old);
}

/* Handles metadata that the part has already. The latest of several name tables takes precedence. */
static void repeat(kept_chunks *kept, kept_chunk *old, bool is_given)
{
    old->is_given = old->is_given && is_given;
    if (old->chunk.tag != PFB_TAG_NAMES || is_given || old == kept->names)
        return;
    move_to_end(kept, old);
    kept->names = old;
    if (old != kept->given_names)
        move_to_end(kept, kept->given_names);
}

bool pfb_kept_add_metadata(kept_chunks *kept, const pfb_chunk *chunk, const pfb_record *record, bool is_described)
{
    const void *bytes = record->bytes;
    size_t size = (size_t)record->byte_count;
    bool is_given = (record->flags & PFB_RECORD_GIVEN) != 0;
    pfb_error error;
    recorded_set *set = pfb_kept_set(kept, &chunk->guid);
    if (!set)
        return false;
    kept_chunk **link = find_link(set, chunk, bytes, size);
    bool is_moved =
        link && (*link)->is_given && !is_given && chunk->tag != PFB_TAG_NAMES; /* to its place in the file */
    if (link && !is_moved && has_bytes(*link, bytes, size)) {
        repeat(kept, *link, is_given);
        return true;
    }
    kept_chunk *made = append(kept, chunk, record);
    if (!made)
        return false;
    if (link)
        replace(kept, link);
    made->set = set;
    made->is_given = is_given;
    made->older = set->latest;
    set->latest = made;
    if (chunk->tag == PFB_TAG_QUERY_INFO)
        kept->info = made;
    else if (chunk->tag == PFB_TAG_NAMES && is_given)
        kept->given_names = made;
    else if (chunk->tag == PFB_TAG_NAMES)
        kept->names = made;
    if (made == kept->names)
        move_to_end(kept, kept->given_names);
    set->is_resolved = false;
    if (!is_described || chunk->tag != PFB_TAG_REGISTRATION)
        return true;
    return pfb_metadata_add(set->described, chunk->request, bytes, size, NULL, &error);
}

void pfb_kept_repeat_set(kept_chunks *kept, recorded_set *set)
{
    kept_chunk *next = NULL;
    for (kept_chunk *chunk = set->latest; chunk; chunk = chunk->older) {
        take_out(kept, chunk);
        insert(kept, chunk, next);
        next = chunk;
    }
}

void pfb_kept_repeat_info(kept_chunks *kept)
{
    move_to_end(kept, kept->info);
}

void pfb_kept_repeat(kept_chunks *kept)
{
    for (kept_chunk *chunk = kept->first; chunk; chunk = chunk->after)
        chunk->is_written = false;
    kept->unwritten = kept->first;
}
