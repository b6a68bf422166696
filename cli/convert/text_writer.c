/* SPDX-License-Identifier: MIT */
#include "convert/text_writer.h"

#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/time_text.h"
#include "perfblock/formula.h"

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
    case PFB_TAG_NAMES:
        title_names_add(t->titles, t->table_count++, body, size);
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

/* ---- Lines of both versions ------------------------------------------------------------------------------ */

void text_writer_put_sample(text_writer *t, bool is_v1, int64_t perf_time, int64_t perf_time_100ns, int64_t perf_freq,
                            const pfb_system_time *system_time)
{
    const pfb_system_time default_time = time_text_system_time(perf_time_100ns);
    const pfb_system_time *s = system_time;
    text_line_end(&t->line);
    text_line_word(&t->line, "sample");
    if (is_v1)
        text_line_word(&t->line, "v1");
    text_line_format(&t->line, "perf %" PRId64, perf_time);
    text_line_format(&t->line, "100ns %" PRId64, perf_time_100ns);
    text_line_format(&t->line, "frequency %" PRId64, perf_freq);
    if (memcmp(s, &default_time, sizeof default_time) != 0)
        text_line_format(&t->line, "system %u,%u,%u,%u,%u,%u,%u,%u", s->year, s->month, s->day_of_week, s->day, s->hour,
                         s->minute, s->second, s->millisecond);
    text_line_end(&t->line);
}

void text_writer_set_key(text_writer *t, buffer *key, const pfb_name *name, const char *fallback)
{
    text_line word = {.start = 0};
    if (key->size > 0)
        return;
    text_line_name(&word, name);
    /* Names with equal hashes are treated as equal: then `fallback` is the key, which is unique as well. */
    uint64_t hash = hash_bytes(t->seed, word.text.data, word.text.size);
    uint64_t slot = hash;
    bool is_unique = name->bytes && hash_index_next(&t->names, hash, &slot) == HASH_INDEX_NONE;
    if (is_unique)
        hash_index_add(&t->names, hash);
    buffer_string(key, is_unique ? word.text.data : fallback);
    text_line_free(&word);
}

void text_writer_put_type(text_line *line, uint32_t type)
{
    const pfb_counter_type *known = pfb_counter_type_find(type);
    if (known && known->value == type && known->name[0] != '\0')
        text_line_word(line, known->name);
    else
        text_line_format(line, "0x%08" PRIx32, type);
}
