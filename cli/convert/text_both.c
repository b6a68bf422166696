/* SPDX-License-Identifier: MIT */
/* Parts of lines that samples of V1 and V2 have in common. */
#include "convert/text_writer.h"
#include "output/time_text.h"
#include "perfblock/formula.h"

#include <inttypes.h>
#include <string.h>

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
    text_line_name(&word, name);
    /* Names with equal hashes are treated as equal: then `fallback` is the key, which is unique as well. */
    uint64_t hash = hash_bytes(t->seed, word.text.data, word.text.size);
    uint64_t slot = hash;
    bool is_unique = name->bytes && hash_index_next(&t->names, hash, &slot) == HASH_INDEX_NONE;
    if (is_unique)
        hash_index_add(&t->names, hash);
    if (key->size == 0)
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
