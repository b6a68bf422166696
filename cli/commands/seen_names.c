/* SPDX-License-Identifier: MIT */
#include "commands/seen_names.h"

#include "memory/memory.h"
#include "output/output.h"
#include "perfblock/catalog.h"
#include "perfblock/pdh_text.h"
#include "perfblock/query.h"
#include "perfblock/v1.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Replaces the GUID of a counterset of the catalog by its name, because V1 objects and logs have no GUIDs. Returns any
 * other text unchanged. */
static const char *name_of_set(const char *typed)
{
    pfb_guid guid;
    const pfb_catalog_set *set = pfb_guid_parse(typed, strlen(typed), &guid) ? pfb_catalog_find(&guid) : NULL;
    return set ? set->name : typed;
}

static char *copy_part(const pfb_name *part)
{
    char *text = memory_get(part->size_bytes + 1, 1);
    memcpy(text, part->bytes, part->size_bytes);
    return text;
}

/* Lists the ways to split the paths, as many as pfb_selection_add() tries. */
static void list_splits(seen_names *s, const path_list *paths)
{
    enum { MAX_SPLITS = 256 };
    for (size_t i = 0; i < paths->count; i++) {
        const pfb_name text = pfb_utf8_name(paths->paths[i].text, strlen(paths->paths[i].text));
        pfb_path split = {.has_index = false};
        for (int n = 0; n < MAX_SPLITS && pfb_path_next_split(&text, &split); n++) {
            s->splits = memory_grow(s->splits, &s->split_capacity, s->split_count + 1, sizeof *s->splits);
            s->splits[s->split_count++] = (split_names){i, copy_part(&split.counterset), copy_part(&split.counter)};
        }
    }
}

/* Accepts the names of a path if those of another way to split it were found. */
static void accept_splits(const seen_names *s)
{
    const bool *has_set = s->sets.is_found + s->sets.required;
    const bool *has_counter = s->counters.is_found + s->counters.required;
    for (size_t i = 0; i < s->split_count; i++) {
        if (has_set[i] && has_counter[i])
            s->sets.is_found[s->splits[i].path] = s->counters.is_found[s->splits[i].path] = true;
    }
}

void seen_names_open(seen_names *s, const path_list *paths, const options *o)
{
    size_t set_count = 0;
    size_t counter_count = 0;
    *s = (seen_names){.has_any = false};
    list_splits(s, paths);
    s->set_list = memory_get(paths->count + o->set_count + s->split_count + 1, sizeof *s->set_list);
    s->counter_list = memory_get(paths->count + o->counter_count + s->split_count + 1, sizeof *s->counter_list);
    for (size_t i = 0; i < paths->count; i++) {
        s->set_list[set_count++] = name_of_set(paths->paths[i].counterset);
        s->counter_list[counter_count++] = paths->paths[i].counter;
    }
    for (size_t i = 0; i < o->set_count; i++)
        s->set_list[set_count++] = name_of_set(o->sets[i]);
    for (size_t i = 0; i < o->counter_count; i++)
        s->counter_list[counter_count++] = o->counters[i];
    for (size_t i = 0; i < s->split_count; i++) {
        s->set_list[set_count + i] = name_of_set(s->splits[i].set);
        s->counter_list[counter_count + i] = s->splits[i].counter;
    }
    set_names_open(&s->sets, s->set_list, set_count + s->split_count);
    set_names_open(&s->counters, s->counter_list, counter_count + s->split_count);
    s->sets.required = set_count;
    s->counters.required = counter_count;
}

void seen_names_close(seen_names *s)
{
    set_names_free(&s->sets);
    set_names_free(&s->counters);
    series_free(&s->pairs);
    buffer_free(&s->text);
    for (size_t i = 0; i < s->split_count; i++) {
        free(s->splits[i].set);
        free(s->splits[i].counter);
    }
    free(s->splits);
    free(s->set_list);
    free(s->counter_list);
}

/* Compares a name, which may be absent, with the names on the command line. */
static bool match(seen_names *s, set_names *wanted, pfb_name name)
{
    buffer_clear(&s->text);
    name_cut(&s->text, name, OUTPUT_LONGEST_FIELD);
    return name.bytes && set_names_match(wanted, s->text.data, s->text.size);
}

/* Compares a name of a log, which may be absent, in both languages. */
static bool match_translated(seen_names *s, set_names *wanted, const title_names *titles, pfb_name name)
{
    pfb_name others[TITLE_OTHERS];
    size_t count = title_names_others(titles, name, others);
    bool is_match = match(s, wanted, name);
    for (size_t i = 0; i < count; i++)
        is_match = match(s, wanted, others[i]) || is_match;
    return is_match;
}

/* Compares the title index and the names of a V1 object or counter with the names on the command line. */
static bool match_title(seen_names *s, set_names *wanted, const title_names *titles, uint32_t title)
{
    buffer_clear(&s->text);
    buffer_format(&s->text, "%" PRIu32, title);
    bool is_match = set_names_match(wanted, s->text.data, s->text.size);
    for (unsigned i = 0; i < TITLE_NAMES; i++)
        is_match = match(s, wanted, title_names_find_in(titles, title, i)) || is_match;
    return is_match;
}

/* Adds a pair of title indexes: an object and its counter, or PFB_NO_ID for the object itself. Returns false if the
 * pair was added before. */
static bool is_new(seen_names *s, uint32_t object, uint32_t counter)
{
    const uint32_t pair[] = {object, counter};
    size_t count = s->pairs.count;
    return series_find_key(&s->pairs, pair, sizeof pair) == count;
}

static void add_block(seen_names *s, const title_names *titles, const uint8_t *data, size_t size)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_open(&block, data, size, NULL);
    while (pfb_v1_next_object(&block, &object)) {
        s->has_any = true;
        if (!is_new(s, object.title_index, PFB_NO_ID) || !match_title(s, &s->sets, titles, object.title_index))
            continue;
        while (pfb_v1_next_counter(&block, &counter)) {
            if (is_new(s, object.title_index, counter.title_index))
                match_title(s, &s->counters, titles, counter.title_index);
        }
    }
}

static void add_paths(seen_names *s, const title_names *titles, const uint8_t *paths, size_t size)
{
    pfb_log_path_reader reader;
    pfb_log_path path;
    pfb_log_open_paths(&reader, paths, size, NULL);
    while (pfb_log_next_path(&reader, &path)) {
        s->has_any = true;
        s->is_incomplete = s->is_incomplete || path.flags & PFB_LOG_ALL_COUNTERS;
        if (match_translated(s, &s->sets, titles, path.object))
            match_translated(s, &s->counters, titles, path.counter);
    }
}

static void add_text(seen_names *s, const title_names *titles, const uint8_t *header, size_t size, uint32_t encoding)
{
    pfb_pdh_text_reader reader;
    pfb_pdh_text_path column;
    pfb_path path;
    buffer cell = {0};
    if (!pfb_pdh_text_open(&reader, header, size, true, NULL))
        return;
    reader.encoding = encoding;
    while (pfb_pdh_text_next_path(&reader, &column)) {
        s->has_any = true;
        buffer_clear(&cell);
        name_text(&cell, column.name); /* a second byte of a character may be a backslash */
        pfb_name name = pfb_utf8_name(cell.data, cell.size);
        if (pfb_pdh_text_split_path(&reader, &name, &path) && match_translated(s, &s->sets, titles, path.counterset))
            match_translated(s, &s->counters, titles, path.counter);
    }
    buffer_free(&cell);
}

/* Adds the names of the countersets that a collector describes. A hostile registration can give one long name to many
 * counters, so the names are not compared once they exceed MAX_BYTES together. */
static void add_metadata(seen_names *s, pfb_collector *collector)
{
    enum { MAX_BYTES = 8 << 20 };
    size_t bytes = 0;
    pfb_bytes guids = {0};
    pfb_described_counterset set = {.size = sizeof set};
    pfb_described_counter counter = {.size = sizeof counter};
    pfb_collector_countersets(collector, &guids, NULL);
    s->has_any = s->has_any || guids.size_bytes > 0;
    s->is_incomplete = s->is_incomplete || guids.size_bytes == 0;
    for (size_t at = 0; guids.size_bytes - at >= sizeof(pfb_guid); at += sizeof(pfb_guid)) {
        pfb_guid guid;
        memcpy(&guid, guids.data + at, sizeof guid);
        const pfb_catalog_set *known = pfb_catalog_find(&guid);
        if (!pfb_collector_counterset(collector, &guid, &set, NULL))
            memory_exhausted();
        bool is_match = set_names_match_set(&s->sets, &guid, &set);
        is_match = (known && set_names_match(&s->sets, known->name, strlen(known->name))) || is_match;
        for (uint32_t i = 0; is_match && bytes <= MAX_BYTES; i++) {
            if (!pfb_collector_counter(collector, &guid, i, &counter, NULL))
                break;
            set_names_match_counter(&s->counters, &counter);
            bytes += counter.name_size + counter.english_name_size + counter.help_size;
        }
    }
    s->is_incomplete = s->is_incomplete || bytes > MAX_BYTES;
    pfb_bytes_free(&guids);
}

void seen_names_add(seen_names *s, const title_names *titles, const pfb_record *record)
{
    const pfb_record file = {.kind = PFB_RECORD_NOTE, .file = record->file, .part = record->part};
    size_t size = (size_t)record->byte_count;
    if (pfb_collector_put(titles->collector, &file) < 0) /* chooses the file */
        memory_exhausted();
    if (record->kind == PFB_RECORD_V2)
        s->v2_file = record->file + 1;
    if (record->kind == PFB_RECORD_V1)
        add_block(s, titles, record->bytes, size);
    else if (record->kind == PFB_RECORD_PATHS && record->form.separator)
        add_text(s, titles, record->bytes, size, record->form.encoding);
    else if (record->kind == PFB_RECORD_PATHS)
        add_paths(s, titles, record->bytes, size);
    else if (record->kind == PFB_RECORD_END && s->v2_file == record->file + 1)
        add_metadata(s, titles->collector);
}

void seen_names_end_pipe(seen_names *s, const title_names *titles)
{
    size_t found = set_names_count_found(&s->sets) + set_names_count_found(&s->counters);
    for (size_t i = 0; i < s->pairs.count; i++) {
        uint32_t pair[2];
        size_t size;
        memcpy(pair, series_key(&s->pairs, i, &size), sizeof pair);
        if (pair[1] == PFB_NO_ID)
            match_title(s, &s->sets, titles, pair[0]);
        else
            match_title(s, &s->counters, titles, pair[1]);
    }
    s->is_late = s->is_late || set_names_count_found(&s->sets) + set_names_count_found(&s->counters) > found;
}

bool seen_names_check(const seen_names *s, const char *subject)
{
    accept_splits(s);
    return s->is_incomplete || !s->has_any ||
           (set_names_check(&s->sets, subject, "counterset") && set_names_check(&s->counters, subject, "counter"));
}
