/* SPDX-License-Identifier: MIT */
#include "readers.h"

#include "perfblock/capture.h"
#include "perfblock/metadata.h"
#include "perfblock/query.h"
#include "perfblock/v2.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* ---- A walk over an input ----------------------------------------------------------------------------- */

/* Makes a walk over part of the input. */
static walk walk_part(const walk *whole, size_t offset, size_t size)
{
    walk part = *whole;
    part.data = whole->data + offset;
    part.size = size;
    part.writable = whole->writable ? whole->writable + offset : NULL;
    part.out = (reading){.broken = NULL};
    return part;
}

/* Accesses a string and its NUL, which must be inside [begin, end). */
static void touch_text(walk *w, const pfb_name *text, size_t begin, size_t end)
{
    size_t offset = name_offset(w, text);
    size_t units = text->size_bytes / 2;
    expect(w, text->encoding == PFB_ENCODING_UTF16LE && text->size_bytes % 2 == 0, "names are UTF-16LE");
    if (units >= w->size || !is_inside(offset, 2 * units + 2, begin, end)) {
        expect(w, false, "a name and its NUL lie inside the enclosing item");
        return;
    }
    touch(w, offset, 2 * units + 2);
    const uint8_t *p = text->bytes;
    bool is_ended = p[2 * units] == 0 && p[2 * units + 1] == 0;
    bool has_nul = false;
    for (size_t i = 0; i < units; i++)
        has_nul = has_nul || (p[2 * i] == 0 && p[2 * i + 1] == 0);
    expect_if_unchanged(w, is_ended && !has_nul, "a name ends at its first NUL");
    expect(w, pfb_name_to_utf8(text, NULL, 0) <= 3 * units, "UTF-8 needs at most 3 bytes per unit");
}

/* Records a reader's error, and checks the guarantees that hold for every reading. */
static void conclude(walk *w, pfb_error error, uint32_t notes)
{
    record_error(w, error, notes);
    expect(w, error.code >= PFB_OK && error.code < 300, "errors in the input have codes below 300");
    expect(w, w->out.items <= w->size / 8 + 1, "an item takes at least 8 bytes");
    /* Strings may share bytes: those of a block that are read have together at most 16 times its size. The factor 18
     * leaves a margin for the other items. */
    expect(w, w->out.touched / 18 <= w->size, "work is linear in the input");
}

/* ---- V2 replies ---------------------------------------------------------------------------------------- */

static void walk_values(walk *w, pfb_v2_reader *reader, const pfb_v2_result *result, size_t min_offset)
{
    pfb_v2_value value;
    size_t end = result->offset + result->size_bytes;
    uint32_t count = 0;
    while (!skips_rest(w) && pfb_v2_next_value(reader, &value)) {
        size_t data_offset = value.offset + PFB_V2_VALUE_HEADER_BYTES;
        w->out.items++;
        expect(w, value.offset >= min_offset && value.position == count, "values follow each other");
        expect(w, is_inside(data_offset, value.data_size_bytes, value.offset, end),
               "a value's bytes lie inside the result");
        touch(w, data_offset, value.data_size_bytes);
        bool is_number = value.data_size_bytes == 4 || value.data_size_bytes == 8;
        uint64_t raw = 0;
        for (size_t i = value.data_size_bytes; is_number && i > 0; i--)
            raw = raw << 8 | w->data[data_offset + i - 1];
        expect(w, value.is_number == is_number, "numbers are 4 or 8 bytes");
        expect_if_unchanged(w, value.raw == raw, "the number equals its bytes");
        uint32_t id = 0;
        bool has_id = pfb_v2_counter_id(reader, result, value.position, &id);
        expect(w, has_id == result->has_counter_ids, "a value has a counter id if its result has them");
        expect_if_unchanged(w, id == value.counter_id, "the value has the counter id of its position");
        add(w, value.raw + value.counter_id);
        min_offset = data_offset + value.data_size_bytes;
        count++;
        change_byte(w, min_offset);
    }
    expect(w, is_partial(w) || reader->error.code != PFB_OK || count == result->counter_count,
           "an instance has as many values as its result says");
}

static void walk_instances(walk *w, pfb_v2_reader *reader, const pfb_v2_result *result)
{
    pfb_v2_instance instance;
    size_t end = result->offset + result->size_bytes;
    size_t min_offset = result->offset + 16;
    uint32_t count = 0;
    bool is_named = result->kind == PFB_V2_MULTIPLE_INSTANCES || result->kind == PFB_V2_COUNTERSET;
    while (!skips_rest(w) && pfb_v2_next_instance(reader, &instance)) {
        w->out.items++;
        expect(w, is_inside(instance.offset, 0, min_offset, end) && instance.instance == count,
               "instances follow each other");
        expect(w, (instance.name.bytes != NULL) == is_named, "kinds 4 and 6 name their instances, others do not");
        min_offset = instance.offset;
        if (instance.name.bytes) {
            touch_text(w, &instance.name, instance.offset + 8, end);
            min_offset = name_offset(w, &instance.name) + instance.name.size_bytes + 2;
        }
        add(w, instance.id);
        count++;
        change_byte(w, min_offset);
        walk_values(w, reader, result, min_offset);
    }
    expect(w, is_partial(w) || reader->error.code != PFB_OK || count == result->instance_count,
           "a result has as many instances as it says");
}

static void walk_ids(walk *w, const pfb_v2_reader *reader, const pfb_v2_result *result)
{
    uint32_t id = 0;
    expect(w,
           result->has_counter_ids == (result->kind == PFB_V2_MULTIPLE_COUNTERS || result->kind == PFB_V2_COUNTERSET),
           "kinds 2 and 6 have counter ids, others do not");
    expect(w, !pfb_v2_counter_id(reader, result, result->has_counter_ids ? result->counter_count : 0, &id),
           "there is no counter id after the last");
    if (!result->has_counter_ids)
        return;
    expect(w,
           is_inside(result->ids_offset, 4 * (size_t)result->counter_count, result->offset + 24,
                     result->offset + result->size_bytes),
           "counter ids lie inside the result");
    touch(w, result->ids_offset, 4 * (size_t)result->counter_count);
    for (uint32_t i = 0; i < result->counter_count; i++) {
        expect(w, pfb_v2_counter_id(reader, result, i, &id), "every counter has an id");
        add(w, id);
    }
}

static void walk_v2(walk *w)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    if (pfb_v2_open(&reader, w->data, w->size, w->options))
        expect(w, reader.total_size_bytes >= 48 && reader.total_size_bytes <= w->size, "a reply lies inside the input");
    size_t next = 48;
    uint32_t count = 0;
    while (!skips_rest(w) && pfb_v2_next_result(&reader, &result)) {
        w->out.items++;
        expect(w, result.offset == next && result.index == count, "results follow each other");
        expect(w, result.size_bytes >= 16 && is_inside(result.offset, result.size_bytes, 48, reader.total_size_bytes),
               "a result lies inside the reply");
        add(w, result.status + (uint64_t)result.kind);
        next += result.size_bytes;
        count++;
        walk_ids(w, &reader, &result);
        change_byte(w, result.offset + 16);
        walk_instances(w, &reader, &result);
        change_byte(w, next);
    }
    pfb_error error = pfb_v2_finish(&reader);
    pfb_error repeated = pfb_v2_finish(&reader);
    expect(w, error.code == repeated.code && error.offset == repeated.offset, "the first error is kept");
    expect(w, !pfb_v2_next_result(&reader, &result), "no item is returned after finish");
    conclude(w, error, reader.notes);
}

/* ---- Metadata ------------------------------------------------------------------------------------------- */

enum { FORMAT_COUNT = 14 }; /* formats 1 to 13; 0 is unused */

static void touch_guid(walk *w, const pfb_guid *guid, size_t offset)
{
    touch(w, offset, sizeof guid->bytes);
    expect_if_unchanged(w, memcmp(guid->bytes, w->data + offset, sizeof guid->bytes) == 0, "a GUID equals its bytes");
    char text[PFB_GUID_TEXT_BYTES];
    pfb_guid parsed = {{0}};
    pfb_guid_format(guid, text);
    expect(w, strlen(text) == 36 && pfb_guid_parse(text, 36, &parsed) && pfb_guid_equal(guid, &parsed),
           "a GUID can be formatted and parsed");
    text[w->out.items % 2] = 'g';
    expect(w, !pfb_guid_parse(text, 36, &parsed), "a GUID has hexadecimal digits");
}

static void touch_counter(walk *w, const pfb_counter *counter)
{
    w->out.items++;
    touch(w, counter->offset, 48);
    add(w, counter->id + counter->attributes + counter->type);
    add(w, (uint64_t)counter->base_id + counter->perf_time_id + counter->perf_freq_id + counter->multi_id);
    add(w, (uint64_t)counter->default_scale + counter->detail_level + counter->aggregate);
}

static void walk_counterset(walk *w)
{
    pfb_registration registration;
    pfb_counter counter;
    pfb_counter repeated;
    if (pfb_registration_open(&registration, w->data, w->size, w->options))
        touch_guid(w, &registration.guid, 0);
    uint32_t count = 0;
    while (pfb_registration_counter_at(&registration, count, &counter)) {
        expect(w, counter.offset == 32 + (size_t)48 * count, "counters follow each other");
        expect(w, pfb_registration_counter_at(&registration, count, &repeated), "a counter is found again");
        expect_if_unchanged(w, repeated.id == counter.id && repeated.offset == counter.offset,
                            "access by position returns the same value");
        /* Searches only for the first 8, because the search may be linear. */
        bool is_found = count >= 8 || pfb_registration_find(&registration, counter.id, &repeated);
        expect_if_unchanged(w, is_found && repeated.id == counter.id && repeated.offset <= counter.offset,
                            "the first counter with an id is found by it");
        touch_counter(w, &counter);
        count++;
        change_byte(w, counter.offset + 48);
    }
    expect(w, count == registration.counter_count, "there are as many counters as declared");
    expect(w, !pfb_registration_counter_at(&registration, count, &repeated), "there is no counter after the last");
    conclude(w, registration.error, registration.notes);
}

static void walk_counter(walk *w)
{
    pfb_counter counter;
    pfb_error error = pfb_registration_single_counter(w->data, w->size, w->options, &counter);
    if (error.code == PFB_OK)
        touch_counter(w, &counter);
    /* The function does not return notes, so the note is computed here. */
    conclude(w, error, error.code == PFB_OK && w->size > 48 ? PFB_NOTE_TRAILING_BYTES : 0);
}

static void walk_string(walk *w)
{
    pfb_name text;
    pfb_error error = pfb_registration_string(w->data, w->size, &text);
    if (error.code == PFB_OK) {
        w->out.items++;
        expect(w, text.bytes == w->data, "the string begins at the start of the input");
        touch_text(w, &text, 0, w->size);
    }
    conclude(w, error, 0);
}

static void walk_strings(walk *w)
{
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    if (pfb_registration_strings_open(&strings, w->data, w->size, w->options))
        expect(w, strings.size_bytes >= 8 && strings.size_bytes <= w->size, "the strings lie inside the input");
    uint32_t count = 0;
    size_t first = 8 + 8 * (size_t)strings.count;
    const uint8_t *previous = NULL; /* consecutive entries may share a string, which is read once */
    while (pfb_registration_strings_next_string(&strings, &entry)) {
        w->out.items++;
        expect(w, entry.offset == 8 + (size_t)8 * count, "entries follow each other");
        touch(w, entry.offset, 8);
        if (entry.text.bytes && entry.text.bytes != previous)
            touch_text(w, &entry.text, first, strings.size_bytes);
        previous = entry.text.bytes;
        add(w, entry.counter_id);
        count++;
        change_byte(w, entry.offset + 8);
    }
    expect(w, strings.error.code != PFB_OK || count == strings.count, "there are as many strings as declared");
    conclude(w, strings.error, strings.notes);
}

static void walk_guid(walk *w)
{
    pfb_guid guid;
    pfb_error error = pfb_registration_guid(w->data, w->size, &guid);
    if (error.code == PFB_OK) {
        w->out.items++;
        touch_guid(w, &guid, 0);
    }
    conclude(w, error, 0);
}

static void walk_guids(walk *w)
{
    pfb_list list;
    pfb_guid guid;
    size_t count = 0;
    pfb_list_open(&list, w->data, w->size, w->options);
    while (pfb_list_next_guid(&list, &guid)) {
        w->out.items++;
        touch_guid(w, &guid, 16 * count);
        count++;
        change_byte(w, 16 * count);
    }
    expect(w, count == w->size / 16, "every complete GUID is returned");
    conclude(w, list.error, list.notes);
}

/* Writes an identifier that was read, and checks that it reads the same. */
static void check_rewritten(walk *w, const pfb_identifier *identifier)
{
    uint8_t out[40 + 2 * (size_t)PFB_QUERY_NAME_UNITS + 8];
    pfb_query query = {.counterset = identifier->counterset,
                       .counter_id = identifier->counter_id,
                       .instance_id = identifier->instance_id,
                       .name = identifier->name,
                       .status = identifier->status,
                       .index = identifier->index};
    size_t size = pfb_query_size(&query);
    expect(w, (size == 0) == (query.name.size_bytes > 2 * (size_t)PFB_QUERY_NAME_UNITS),
           "only a name that is too long is refused");
    expect(w, size <= sizeof out && size % 8 == 0, "an identifier's size is a multiple of 8");
    if (size == 0)
        return;
    expect(w, pfb_query_write(&query, out, size - 1) == 0 && pfb_query_write(&query, out, sizeof out) == size,
           "an identifier is written if and only if it fits");
    pfb_list list;
    pfb_identifier read;
    pfb_list_open(&list, out, size, STRICT);
    if (!pfb_list_next_identifier(&list, &read)) {
        expect(w, false, "written data can be read");
        return;
    }
    bool is_same = pfb_guid_equal(&read.counterset, &query.counterset) && read.counter_id == query.counter_id &&
                   read.instance_id == query.instance_id && read.status == query.status && read.index == query.index;
    expect(w, is_same, "written data reads as before");
    expect(w, pfb_name_equal(&read.name, &identifier->name), "the name reads as before");
    expect(w, !pfb_list_next_identifier(&list, &read) && list.error.code == PFB_OK, "nothing else was written");
}

static void walk_identifiers(walk *w)
{
    pfb_list list;
    pfb_identifier identifier;
    size_t next = 0;
    pfb_list_open(&list, w->data, w->size, w->options);
    while (pfb_list_next_identifier(&list, &identifier)) {
        w->out.items++;
        expect(w, identifier.offset == next && identifier.size_bytes >= 40, "identifiers follow each other");
        touch_guid(w, &identifier.counterset, identifier.offset);
        expect(w, (identifier.name.bytes != NULL) == (identifier.size_bytes > 40),
               "an identifier has a name if it is longer than its fixed part");
        next += identifier.size_bytes;
        if (identifier.name.bytes)
            touch_text(w, &identifier.name, identifier.offset + 40, next);
        add(w, (uint64_t)identifier.status + identifier.counter_id + identifier.instance_id + identifier.index);
        if (!w->writable)
            check_rewritten(w, &identifier);
        change_byte(w, next);
    }
    conclude(w, list.error, list.notes);
}

static void walk_instance_list(walk *w)
{
    pfb_list list;
    pfb_listed_instance instance;
    size_t min_offset = 0;
    pfb_list_open(&list, w->data, w->size, w->options);
    while (pfb_list_next_instance(&list, &instance)) {
        w->out.items++;
        expect(w, instance.offset >= min_offset, "instances follow each other");
        touch_text(w, &instance.name, instance.offset + 8, w->size);
        add(w, instance.id);
        min_offset = name_offset(w, &instance.name) + instance.name.size_bytes + 2;
        change_byte(w, min_offset);
    }
    conclude(w, list.error, list.notes);
}

typedef void walker(walk *w);

/* By format, as in the selector byte of readers.h: 1 to 10 are the request codes, 11 to 13 are lists. */
static walker *const formats[FORMAT_COUNT] = {
    NULL,        walk_counterset, walk_counter, walk_string,  walk_string, walk_strings,     walk_strings,
    walk_string, walk_guid,       walk_string,  walk_strings, walk_guids,  walk_identifiers, walk_instance_list};

static void walk_metadata(walk *w)
{
    if (w->size == 0)
        return;
    uint32_t format = w->data[0] % 16;
    uint32_t first = format >= 1 && format < FORMAT_COUNT ? format : 1;
    uint32_t last = first == format ? format : FORMAT_COUNT - 1;
    reading all = w->out;
    for (uint32_t each = first; each <= last; each++) {
        walk part = walk_part(w, 1, w->size - 1);
        formats[each](&part);
        /* Returns the reading of the first format, with the first violated guarantee of any format. */
        if (each == first)
            all = part.out;
        else if (!all.broken)
            all.broken = part.out.broken;
        w->random = part.random;
    }
    w->out = all;
}

/* ---- Query ---------------------------------------------------------------------------------------------- */

enum { SLOW_NAME_UNITS = 256 }; /* longer names are not matched by the slow algorithm */

static uint32_t unit_at(const uint8_t *text, size_t position)
{
    return text[2 * position] | (uint32_t)text[2 * position + 1] << 8;
}

static bool is_same_letter(uint32_t a, uint32_t b)
{
    bool is_letter = (a | 0x20u) >= 'a' && (a | 0x20u) <= 'z' && a < 0x80 && b < 0x80;
    return a == b || (is_letter && (a ^ b) == 0x20);
}

/* The same as pfb_query_match with another algorithm: for each prefix of the pattern, finds all prefixes of the name
 * that match. reach[n] is true if the first `p` units of the pattern match the first `n` units of the name. */
static bool matches_slowly(const uint8_t *pattern, size_t pattern_units, const uint8_t *name, size_t name_units,
                           uint32_t options)
{
    bool reach[SLOW_NAME_UNITS + 1] = {true};
    for (size_t p = 0; p < pattern_units; p++) {
        uint32_t pattern_unit = unit_at(pattern, p);
        bool previous = false; /* reach[n - 1] before it was updated for the pattern unit at `p` */
        for (size_t n = 0; n <= name_units; n++) {
            bool current = reach[n];
            if (pattern_unit == '*') {
                reach[n] = current || (n > 0 && reach[n - 1]);
            } else {
                uint32_t unit = n > 0 ? unit_at(name, n - 1) : 0;
                bool is_equal =
                    options & PFB_MATCH_IGNORE_CASE ? is_same_letter(pattern_unit, unit) : pattern_unit == unit;
                reach[n] = n > 0 && previous && (pattern_unit == '?' || is_equal);
            }
            previous = current;
        }
    }
    return reach[name_units];
}

static void walk_pattern(walk *w)
{
    if (w->size < 2) {
        conclude(w, (pfb_error){PFB_TRUNCATED_HEADER, 0}, 0);
        return;
    }
    size_t pattern_units = unit_at(w->data, 0);
    size_t left = w->size - 2;
    if (2 * pattern_units > left || left % 2 != 0) {
        conclude(w, (pfb_error){PFB_TRUNCATED_STRING, 2}, 0);
        return;
    }
    const uint8_t *pattern = w->data + 2;
    const uint8_t *name = pattern + 2 * pattern_units;
    size_t name_units = left / 2 - pattern_units;
    const pfb_name text = pfb_utf16_name(name, name_units);
    const pfb_name wildcards = pfb_utf16_name(pattern, pattern_units);
    bool is_exact = pfb_query_match(&wildcards, &text, 0);
    bool is_loose = pfb_query_match(&wildcards, &text, PFB_MATCH_IGNORE_CASE);
    bool is_short = pattern_units <= PFB_QUERY_NAME_UNITS;
    expect(w, !is_exact || is_loose, "an exact match also matches without regard to case");
    expect(w, is_short || !is_loose, "a long pattern matches nothing");
    if (is_short && !pfb_query_is_pattern(&wildcards))
        expect(w, is_exact == (pattern_units == name_units && memcmp(pattern, name, 2 * name_units) == 0),
               "without wildcards only the same name matches");
    if (is_short && name_units <= SLOW_NAME_UNITS) {
        expect(w, is_exact == matches_slowly(pattern, pattern_units, name, name_units, 0),
               "the result of matching is that of the slow algorithm");
        expect(w, is_loose == matches_slowly(pattern, pattern_units, name, name_units, PFB_MATCH_IGNORE_CASE),
               "the result of matching without regard to case is that of the slow algorithm");
    }
    touch(w, 2, left);
    add(w, is_exact + 2u * is_loose);
    w->out.items++;
    conclude(w, (pfb_error){PFB_OK, 0}, 0);
}

static void walk_query(walk *w)
{
    if (w->size == 0)
        return;
    walk part = walk_part(w, 1, w->size - 1);
    if (w->data[0] % 2 == 0)
        walk_identifiers(&part);
    else if (!w->writable) /* a single call reads everything: the input cannot change between calls */
        walk_pattern(&part);
    w->out = part.out;
}

/* ---- Captures ------------------------------------------------------------------------------------------- */

/* Reads the body of a FILE chunk, and checks that its texts read the same after they are written. */
static void walk_file(walk *w)
{
    pfb_capture_file file;
    pfb_error error = pfb_capture_read_file(w->data, w->size, &file);
    touch(w, 0, w->size);
    expect(w, error.code != PFB_OK || w->size == 0 || file.label.size_bytes + file.machine.size_bytes + 2 <= w->size,
           "the texts of a file and their NULs lie inside the body");
    if (error.code == PFB_OK && w->size > 0 && !w->writable) {
        pfb_capture_file again;
        size_t size = pfb_capture_write_file(&file, NULL, 0);
        uint8_t *out = malloc(size);
        if (out && pfb_capture_write_file(&file, out, size) == size)
            expect(w,
                   pfb_capture_read_file(out, size, &again).code == PFB_OK &&
                       pfb_name_equal(&again.label, &file.label) && pfb_name_equal(&again.machine, &file.machine),
                   "the texts of a file that were written read as before");
        free(out);
    }
    w->out.items++;
    conclude(w, error, 0);
}

static void walk_body(walk *body, const pfb_chunk *chunk)
{
    switch (chunk->tag) {
    case PFB_TAG_DATA:
        walk_v2(body);
        break;
    case PFB_TAG_REGISTRATION:
        if (chunk->request >= PFB_REQUEST_COUNTERSET && chunk->request <= PFB_REQUEST_COUNTER_ENGLISH_NAMES)
            formats[chunk->request](body);
        break;
    case PFB_TAG_QUERY_INFO:
        walk_identifiers(body);
        break;
    case PFB_TAG_INSTANCES:
        walk_instance_list(body);
        break;
    case PFB_TAG_FILE:
        walk_file(body);
        break;
    default:
        touch(body, 0, body->size);
        break;
    }
}

/* Writes a capture with this chunk, and checks that the chunk reads the same. */
static void check_recorded(walk *w, const pfb_chunk *chunk)
{
    const pfb_chunk first = {.tag = PFB_TAG_CAPTURE};
    const uint8_t *body = w->data + chunk->body_offset;
    size_t size = pfb_capture_write(chunk, body, chunk->body_size_bytes, NULL, 0);
    uint8_t *out = malloc(PFB_CHUNK_HEADER_BYTES + size);
    if (!out)
        return;
    bool is_written =
        pfb_capture_write(&first, NULL, 0, out, PFB_CHUNK_HEADER_BYTES) == PFB_CHUNK_HEADER_BYTES &&
        pfb_capture_write(chunk, body, chunk->body_size_bytes, out + PFB_CHUNK_HEADER_BYTES, size) == size;
    expect(w, is_written && size % 8 == 0, "a chunk that was read can be written");
    pfb_capture capture;
    pfb_chunk read;
    if (pfb_capture_open(&capture, out, PFB_CHUNK_HEADER_BYTES + size, true, NULL) &&
        pfb_capture_next_chunk(&capture, &read)) {
        expect(w, read.tag == chunk->tag && read.is_known && read.has_guid == chunk->has_guid,
               "the tag of a written chunk reads as before");
        expect(w,
               pfb_guid_equal(&read.guid, &chunk->guid) && read.request == chunk->request &&
                   read.language == chunk->language && read.file == chunk->file,
               "the fields before the body read as before");
        expect(w,
               read.body_size_bytes == chunk->body_size_bytes &&
                   memcmp(out + read.body_offset, body, chunk->body_size_bytes) == 0,
               "the body of a written chunk reads as before");
        expect(w, !pfb_capture_next_chunk(&capture, &read) && capture.error.code == PFB_OK, "nothing else was written");
    } else {
        expect(w, false, "a chunk that was written can be read");
    }
    free(out);
}

/* Reads the body of a chunk and adds its reading to that of the capture. If *first is not an error yet, sets it to the
 * error in the body, with its offset in the capture. */
static void walk_chunk(walk *w, const pfb_chunk *chunk, pfb_error *first)
{
    walk body = walk_part(w, chunk->body_offset, chunk->body_size_bytes);
    walk_body(&body, chunk);
    if (first->code == PFB_OK && body.out.error.code != PFB_OK)
        *first = (pfb_error){body.out.error.code, chunk->body_offset + body.out.error.offset};
    w->random = body.random;
    w->out.notes |= body.out.notes;
    w->out.items += body.out.items;
    w->out.touched += body.out.touched;
    expect(w, !body.out.broken, body.out.broken);
    add(w, body.out.sum);
}

static void walk_capture(walk *w)
{
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_error first = {PFB_OK, 0};
    bool is_open = pfb_capture_open(&capture, w->data, w->size, true, NULL);
    expect_if_unchanged(w, !is_open || pfb_capture_recognise(w->data, w->size),
                        "input that can be opened is recognised");
    size_t next = PFB_CHUNK_HEADER_BYTES;
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        w->out.items++;
        expect(w, chunk.offset >= next && chunk.offset % 8 == 0, "chunks follow each other");
        if (!is_inside(chunk.body_offset, chunk.body_size_bytes, chunk.offset + PFB_CHUNK_HEADER_BYTES, w->size)) {
            expect(w, false, "a chunk lies inside the capture");
            break;
        }
        add(w, chunk.tag + (uint64_t)chunk.version + chunk.request + chunk.language + chunk.file);
        next = chunk.body_offset + chunk.body_size_bytes;
        change_byte(w, chunk.body_offset);
        if (chunk.is_known && !w->writable && w->options) /* only in the strict reading: once for each input */
            check_recorded(w, &chunk);
        if (chunk.is_known)
            walk_chunk(w, &chunk, &first);
        else
            touch(w, chunk.body_offset, chunk.body_size_bytes);
        change_byte(w, next);
    }
    conclude(w, capture.error.code != PFB_OK ? capture.error : first, 0);
}

/* Moves to the next chunk of a capture that is read window by window. Each window is `growth` bytes longer than the
 * unread rest of the previous one. *count is the size of the current window. */
static bool next_in_windows(pfb_capture *capture, pfb_chunk *chunk, const walk *w, size_t growth, size_t *count)
{
    while (!pfb_capture_next_chunk(capture, chunk)) {
        if (!capture->needs_more || capture->error.code != PFB_OK)
            return false;
        size_t start = (size_t)capture->window_offset + capture->resume_offset;
        size_t left = w->size - start;
        size_t next = *count - capture->resume_offset + growth;
        *count = next < left ? next : left;
        pfb_capture_continue(capture, w->data + start, *count, *count == left);
    }
    return true;
}

/* Reads the capture whole and window by window and compares the chunks. Returns the violated guarantee, or NULL. */
static const char *compare_windows(const uint8_t *data, size_t size)
{
    pfb_capture whole, windows;
    pfb_chunk expected, found;
    walk w = {.data = data, .size = size, .random = hash(data, size)};
    size_t growth = 1 + next_random(&w) % 256;
    size_t count = growth < size ? growth : size;
    pfb_capture_open(&whole, data, size, true, NULL);
    while (!pfb_capture_open(&windows, data, count, count == size, NULL) &&
           windows.error.code == PFB_CALLER_TOO_SMALL && count < size)
        count = size - count > growth ? count + growth : size;
    while (pfb_capture_next_chunk(&whole, &expected)) {
        if (!next_in_windows(&windows, &found, &w, growth, &count))
            return "reading window by window returns all chunks";
        size_t start = (size_t)windows.window_offset;
        if (start + found.offset != expected.offset || start + found.body_offset != expected.body_offset ||
            found.body_size_bytes != expected.body_size_bytes || found.tag != expected.tag ||
            found.version != expected.version || found.is_known != expected.is_known)
            return "reading window by window returns the same chunks";
    }
    if (next_in_windows(&windows, &found, &w, growth, &count) || windows.error.code != whole.error.code ||
        (whole.error.code != PFB_OK && (size_t)windows.window_offset + windows.error.offset != whole.error.offset))
        return "reading window by window ends after the same chunk and with the same error";
    return NULL;
}

/* ---- Comparing readings ----------------------------------------------------------------------------------- */

static walker *const walkers[] = {[SUBJECT_V2] = walk_v2,
                                  [SUBJECT_METADATA] = walk_metadata,
                                  [SUBJECT_QUERY] = walk_query,
                                  [SUBJECT_CAPTURE] = walk_capture};

static const tolerance tolerances[] = {{PFB_UNALIGNED_SIZE, PFB_NOTE_UNALIGNED_SIZE, 0},
                                       {PFB_TRAILING_BYTES, PFB_NOTE_TRAILING_BYTES, 0},
                                       {PFB_UNKNOWN_KIND, PFB_NOTE_UNKNOWN_KIND, 0},
                                       {PFB_ERROR_WITHOUT_STATUS, PFB_NOTE_ERROR_WITHOUT_STATUS, 0}};

/* Checks that the error of a reply does not depend on how much of it is read. Returns the violated guarantee, or NULL.
 */
static const char *compare_partial(const reading *whole, const uint8_t *data, size_t size,
                                   const pfb_read_options *options)
{
    pfb_v2_reader reader;
    pfb_v2_open(&reader, data, size, options);
    pfb_error error = pfb_v2_finish(&reader);
    if (!is_same_error(whole->error, error) || whole->notes != reader.notes)
        return "the error is the same when nothing is read";
    walk w = {.data = data, .size = size, .options = options};
    w.random = hash(data, size);
    walk_v2(&w);
    if (w.out.broken)
        return w.out.broken;
    return is_same_error(whole->error, w.out.error) && whole->notes == w.out.notes
               ? NULL
               : "the error is the same when only parts are read";
}

/* ---- Entry points ------------------------------------------------------------------------------------- */

reading read_input(subject which, const uint8_t *data, size_t size, const pfb_read_options *options)
{
    walk w = {.data = data, .size = size, .options = options};
    walkers[which](&w);
    return w.out;
}

reading verify_input(subject which, const uint8_t *data, size_t size)
{
    reading tolerant = read_input(which, data, size, NULL);
    reading repeated = read_input(which, data, size, NULL);
    reading strict = read_input(which, data, size, STRICT);
    const char *broken = tolerant.broken;
    if (!is_same_reading(&tolerant, &repeated))
        broken = "reading the same bytes twice gives the same result";
    if (!broken)
        broken = compare_strict(&tolerant, &strict, tolerances, sizeof tolerances / sizeof tolerances[0]);
    if (!broken && which == SUBJECT_V2)
        broken = compare_partial(&tolerant, data, size, 0);
    if (!broken && which == SUBJECT_V2)
        broken = compare_partial(&strict, data, size, STRICT);
    if (!broken && which == SUBJECT_CAPTURE)
        broken = compare_windows(data, size);
    tolerant.broken = broken;
    return tolerant;
}

reading read_changing_input(subject which, uint8_t *data, size_t size, uint64_t seed)
{
    walk w = {.data = data, .size = size, .options = seed & 2 ? STRICT : NULL};
    w.writable = data;
    w.random = seed | 1;
    walkers[which](&w);
    return w.out;
}

void fuzz_input(subject which, const uint8_t *data, size_t size)
{
    uint64_t seed = hash(data, size);
    for (uint64_t round = 0; round < 3; round++) {
        uint8_t *copy = copy_input(data, size);
        if (!copy)
            return;
        end_round(copy, round == 0 ? verify_input(which, copy, size)
                                   : read_changing_input(which, copy, size, seed * (2 * round + 1)));
    }
}
