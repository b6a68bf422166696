/* SPDX-License-Identifier: MIT */
#include "convert/text_writer.h"

#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"

#include <inttypes.h>
#include <stdlib.h>

void text_writer_open(text_writer *t, output *out, title_names *titles)
{
    *t = (text_writer){.out = out, .titles = titles, .seed = hash_mix(system_now() ^ (uintptr_t)t)};
    text_line_word(&t->line, "perfblock text 1");
    text_line_end(&t->line);
}

/* Writes the lines to the output. Called after a whole chunk, so the last line is complete. */
static void flush(text_writer *t)
{
    output_raw(t->out, t->line.text.data, t->line.text.size);
    buffer_clear(&t->line.text);
    t->line.start = 0;
}

static void put_note(text_writer *t, const uint8_t *body, size_t size)
{
    const pfb_name text = pfb_utf8_name((const char *)body, size);
    text_line_word(&t->line, "note");
    text_line_name(&t->line, &text);
    text_line_end(&t->line);
}

void text_writer_put(text_writer *t, const pfb_chunk *chunk, const uint8_t *body, size_t size)
{
    switch (chunk->tag) {
    case PFB_TAG_REGISTRATION:
        text_writer_put_registration(t, chunk, body, size);
        break;
    case PFB_TAG_QUERY_INFO:
        text_writer_put_info(t, body, size);
        break;
    case PFB_TAG_DATA:
        text_writer_put_v2(t, body, size);
        break;
    case PFB_TAG_V1:
        text_writer_put_v1(t, body, size);
        break;
    case PFB_TAG_NAMES: /* the caller adds the names to `titles` */
        break;
    case PFB_TAG_NOTE:
        put_note(t, body, size);
        break;
    case PFB_TAG_INSTANCES:
        text_writer_put_instances(t, &chunk->guid, body, size);
        break;
    case PFB_TAG_CAPTURE:
        break;
    default:
        t->unwritten++;
        break;
    }
    flush(t);
}

static void free_set(text_set *set)
{
    for (size_t i = 0; i < TEXT_REQUESTS; i++)
        pfb_bytes_free(&set->replies[i]);
    buffer_free(&set->key);
    free(set->ids);
    free(set->widths);
    free(set);
}

void text_writer_close(text_writer *t)
{
    text_writer_put_sets(t);
    flush(t);
    if (t->unwritten > 0)
        diagnostics_say(STATUS_FINE, "perfblock", "note: %" PRIu64 " chunks have no text form and were left out",
                        t->unwritten);
    for (size_t i = 0; i < t->set_count; i++)
        free_set(t->sets[i]);
    for (size_t i = 0; i < t->object_count; i++) {
        buffer_free(&t->objects[i].lines);
        buffer_free(&t->objects[i].key);
    }
    free(t->sets);
    free(t->sorted);
    free(t->queries);
    free(t->objects);
    hash_index_free(&t->names);
    pfb_bytes_free(&t->info);
    buffer_free(&t->machine);
    buffer_free(&t->left_out);
    text_line_free(&t->line);
}
