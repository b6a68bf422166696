/* SPDX-License-Identifier: MIT */
/* The recorder: the records of each file of the corpus are written and read again, as a whole and with selections,
 * while writing and each allocation fail in turn. */
#include <criterion/criterion.h>

#include "perfblock/capture.h"
#include "perfblock/collect.h"
#include "support.h"
#include "support_allocations.h"
#include "support_records.h"
#include "support_v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Writing --------------------------------------------------------------------------------------------------- */

/* What a recorder has written. */
typedef struct written {
    pfb_bytes bytes;
    size_t chunk_count;
    size_t max_chunks; /* then writing fails */
    size_t problem_count;
} written;

static bool write_chunk(void *context, const void *data, size_t byte_count)
{
    written *w = context;
    pfb_chunk chunk;
    size_t failing = failing_allocation;
    if (w->chunk_count == w->max_chunks)
        return false;
    w->chunk_count++;
    cr_expect(byte_count % 8 == 0 && pfb_capture_read_chunk(data, byte_count, &chunk) && chunk.offset == 0 &&
                  chunk.body_offset + chunk.body_size_bytes <= byte_count &&
                  chunk.body_offset + chunk.body_size_bytes + 8 > byte_count,
              "not a whole chunk");
    failing_allocation = 0; /* only those of the recorder fail */
    size_t before = allocations;
    cr_assert(pfb_bytes_append(&w->bytes, data, byte_count));
    allocations = before;
    failing_allocation = failing;
    return true;
}

/* Puts records, and counts their problems. Returns the number of those with chosen values, or -1. */
static int64_t put_records(pfb_recorder *recorder, const records *r, written *w)
{
    pfb_problem problem = {.size = sizeof problem};
    int64_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        int32_t put = pfb_recorder_put(recorder, &r->list[i]);
        if (put < 0)
            return -1;
        count += put;
        while (pfb_recorder_problem(recorder, &problem))
            w->problem_count++;
    }
    return pfb_recorder_begin(recorder) ? count : -1;
}

/* Writes records. Returns false when memory is exhausted, or if writing fails. */
static bool record_all(const records *r, const pfb_selection *selection, written *w)
{
    pfb_recorder *recorder = pfb_recorder_new(write_chunk, w);
    bool is_done =
        recorder && (!selection || pfb_recorder_select(recorder, selection)) && put_records(recorder, r, w) >= 0;
    pfb_recorder_close(recorder);
    return is_done;
}

static bool has_log(const records *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->list[i].kind == PFB_RECORD_LOG || r->list[i].kind == PFB_RECORD_ROW)
            return true;
    }
    return false;
}

/* ---- Everything ------------------------------------------------------------------------------------------------ */

static size_t frame_count, file_count;

/* Appends the digests of the frames of all records. */
static void digest_all(const records *r, const char *name, digests *all, size_t *count)
{
    pfb_collector *c = pfb_collector_new();
    cr_assert(c);
    for (size_t i = 0; i < r->count; i++) {
        if (pfb_collector_put(c, &r->list[i]) != 1)
            continue;
        digests d = digest_frame(c, name);
        add_number(&all->series, d.series);
        add_number(&all->values, d.values);
        all->count += d.count;
        (*count)++;
    }
    pfb_collector_close(c);
}

/* What was written has the frames of the records, also if it is written again. */
static void check_frames(const char *name, const uint8_t *data, size_t size)
{
    static records r;
    static records again;
    digests expected = nothing;
    size_t expected_count = 0;
    written w = {.max_chunks = SIZE_MAX};
    read_records(&r, data, size);
    if (r.count == MAX_RECORDS || has_log(&r)) {
        free_records(&r);
        return;
    }
    digest_all(&r, name, &expected, &expected_count);
    cr_assert(record_all(&r, NULL, &w), "%s", name);
    for (size_t pass = 0; pass < 2; pass++) {
        digests found = nothing;
        size_t count = 0;
        written second = {.max_chunks = SIZE_MAX};
        read_records(&again, w.bytes.data, w.bytes.size_bytes);
        digest_all(&again, name, &found, &count);
        cr_expect(count == expected_count && found.count == expected.count && found.series == expected.series &&
                      found.values == expected.values,
                  "%s: %zu frames, %zu values, not %zu and %zu, pass %zu", name, count, found.count, expected_count,
                  expected.count, pass);
        cr_assert(record_all(&again, NULL, &second), "%s", name);
        free_records(&again);
        pfb_bytes_free(&w.bytes);
        w = second;
    }
    pfb_bytes_free(&w.bytes);
    free_records(&r);
    frame_count += expected_count;
    file_count++;
}

Test(recorder, what_is_written_has_the_same_frames)
{
    visit_all(check_frames);
    cr_expect(file_count > 200 && frame_count > 300, "%zu files, %zu frames", file_count, frame_count);
}

/* ---- Selections ------------------------------------------------------------------------------------------------ */

static size_t selection_count, chosen_count;

/* Returns true if both have the same values of the same names in the same order. */
static bool has_same_elements(const elements *a, const elements *b)
{
    bool is_same = a->count == b->count;
    for (size_t i = 0; i < a->count && is_same; i++)
        is_same = a->list[i].value == b->list[i].value && strcmp(a->list[i].counterset, b->list[i].counterset) == 0 &&
                  strcmp(a->list[i].counter, b->list[i].counter) == 0 &&
                  strcmp(a->list[i].instance, b->list[i].instance) == 0;
    return is_same;
}

/* Makes a selection of an element, by names or by numbers; null if it has neither. */
static pfb_selection *select_element(const element *wanted, bool is_by_name, char text[256])
{
    const char *instance = is_plain(wanted->instance) ? wanted->instance : NULL;
    const char *set = is_by_name ? wanted->counterset : wanted->set;
    const char *counter = is_by_name ? wanted->counter : wanted->counter_id;
    if (is_by_name ? !is_plain(set) || !is_plain(counter) : *set == '\0' || *counter == '\0')
        return NULL;
    pfb_selection *selection = pfb_selection_new();
    snprintf(text, 256, "%s, %s, %s", set, counter, instance ? instance : "all");
    cr_assert(selection && pfb_selection_add_names(selection, NULL, set, counter, instance) == 0, "%s", text);
    return selection;
}

/* What is written with a selection has the values that a collector with the selection returns, and no values of other
 * countersets. */
static void check_selections(const char *name, const uint8_t *data, size_t size)
{
    static records r;
    static records again;
    static elements all;
    static elements expected;
    static elements found;
    read_records(&r, data, size);
    list_elements(&all, &r, NULL, 0);
    for (size_t n = 0, i = 0; i < all.count && !has_log(&r); n++, i += n % 2 == 0 ? 1 + all.count / 5 : 0) {
        char path[256];
        written w = {.max_chunks = SIZE_MAX};
        pfb_selection *selection = select_element(&all.list[i], n % 2 == 0, path);
        if (!selection)
            continue;
        list_elements(&expected, &r, selection, 0);
        cr_assert(record_all(&r, selection, &w), "%s, %s", name, path);
        read_records(&again, w.bytes.data, w.bytes.size_bytes);
        list_elements(&found, &again, selection, 0);
        bool is_cut = strncmp(name, "broken", 6) == 0 && found.count < expected.count; /* at the error */
        cr_expect(is_cut || has_same_elements(&expected, &found), "%s, %s: %zu values, not %zu", name, path,
                  found.count, expected.count);
        list_elements(&found, &again, NULL, 0);
        for (size_t k = 0; k < found.count; k++)
            cr_expect(strcmp(found.list[k].set, all.list[i].set) == 0, "%s, %s: has %s", name, path, found.list[k].set);
        free_records(&again);
        pfb_bytes_free(&w.bytes);
        pfb_selection_close(selection);
        selection_count++;
        chosen_count += expected.count;
    }
    free_records(&r);
}

Test(recorder, a_selection_leaves_the_values_that_it_chooses)
{
    visit_all(check_selections);
    cr_expect(selection_count > 60 && chosen_count > 150, "%zu, %zu", selection_count, chosen_count);
}

/* A range leaves the samples in it, and --every the same ones as a collector. */
static void check_ranges(const char *name, const uint8_t *data, size_t size)
{
    static records r;
    static records again;
    static elements expected;
    static elements found;
    read_records(&r, data, size);
    for (uint64_t every = 1; every <= 3 && !has_log(&r); every++) {
        written w = {.max_chunks = SIZE_MAX};
        pfb_selection *selection = pfb_selection_new();
        int64_t from = INT64_MIN;
        for (size_t i = 0; i < r.count && every == 1; i++) /* the time of a sample, or a little later */
            from = (r.list[i].flags & PFB_RECORD_HAS_TIME) && i % 2 == 0 && r.list[i].time < INT64_MAX / 2
                       ? r.list[i].time + (int64_t)(i % 3)
                       : from;
        cr_assert(selection);
        pfb_selection_range(selection, from, INT64_MAX, every);
        list_elements(&expected, &r, selection, 0);
        cr_assert(record_all(&r, selection, &w), "%s", name);
        read_records(&again, w.bytes.data, w.bytes.size_bytes);
        list_elements(&found, &again, NULL, 0);
        cr_expect(has_same_elements(&expected, &found), "%s, every %u: %zu values, not %zu", name, (unsigned)every,
                  found.count, expected.count);
        free_records(&again);
        pfb_bytes_free(&w.bytes);
        pfb_selection_close(selection);
    }
    free_records(&r);
}

Test(recorder, a_range_leaves_its_samples)
{
    visit_all(check_ranges);
}

/* ---- Malformed V1 blocks --------------------------------------------------------------------------------------- */

enum { DEFINITION_BYTES = 40, VALUE_OFFSET = 36 }; /* of a counter definition, and of a field in it */

/* Appends the objects of a block as text: "100[a 102=1 104=2]" is object 100, which has an instance "a" with values of
 * counters 102 and 104; "^100.0" follows the name of an instance whose parent is instance 0 of object 100. */
static void describe_block(const pfb_record *record, char *text, size_t size)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counters[8];
    pfb_v1_instance instance;
    pfb_v1_value value;
    size_t at = strlen(text);
    cr_assert(pfb_v1_open(&block, record->bytes, (size_t)record->byte_count, NULL));
    while (pfb_v1_next_object(&block, &object)) {
        at += (size_t)snprintf(text + at, size - at, "%u", (unsigned)object.title_index);
        for (size_t i = 0; i < 8 && pfb_v1_next_counter(&block, &counters[i]); i++)
            continue;
        while (pfb_v1_next_instance(&block, &instance)) {
            char name[64];
            pfb_name_to_utf8(&instance.name, name, sizeof name);
            at += (size_t)snprintf(text + at, size - at, "[%s", name);
            if (instance.parent_title != 0)
                at += (size_t)snprintf(text + at, size - at, "^%u.%u", (unsigned)instance.parent_title,
                                       (unsigned)instance.parent_position);
            while (pfb_v1_next_value(&block, &value))
                at += (size_t)snprintf(text + at, size - at, " %u=%u", (unsigned)counters[value.position].title_index,
                                       (unsigned)value.raw);
            at += (size_t)snprintf(text + at, size - at, "]");
        }
    }
    cr_expect_eq(block.error.code, PFB_OK, "%s", text);
}

/* Writes what is chosen of a malformed block. `counters`: those of the objects 100 and 200, or null for all. Checks
 * that the recording has this text and is not longer than the block and its chunks. */
static void expect_block(const uint8_t *data, size_t size, const char *counters, const char *expected)
{
    enum { CHUNKS = 64 };
    static records r;
    static records again;
    char text[256] = "";
    written w = {.max_chunks = SIZE_MAX};
    pfb_selection *selection = pfb_selection_new();
    cr_assert(selection && pfb_selection_add_names(selection, NULL, "100", counters, NULL) == 0 &&
              pfb_selection_add_names(selection, NULL, "200", counters, NULL) == 1);
    read_records(&r, data, size);
    cr_assert(record_all(&r, selection, &w));
    cr_expect(w.problem_count == 1, "%zu problems", w.problem_count);
    cr_expect(w.bytes.size_bytes <= size + CHUNKS, "%zu bytes", w.bytes.size_bytes);
    read_records(&again, w.bytes.data, w.bytes.size_bytes);
    for (size_t i = 0; i < again.count; i++) {
        if (again.list[i].kind == PFB_RECORD_V1)
            describe_block(&again.list[i], text, sizeof text);
    }
    cr_expect_str_eq(text, expected);
    free_records(&again);
    free_records(&r);
    pfb_bytes_free(&w.bytes);
    pfb_selection_close(selection);
}

/* A base outside of the counter block is not written as 0, nor are bytes for it. */
Test(recorder, a_base_that_cannot_be_read_is_not_written)
{
    uint8_t memory[512];
    pfb_writer b;
    v1_begin(&b, memory, sizeof memory, false);
    v1_object(&b, 100, PFB_V1_NO_INSTANCES);
    v1_counter(&b, 102, COUNTER, 4, 4);
    v1_counter(&b, 104, AVERAGE_BULK, 8, 8);
    v1_counter(&b, 104, AVERAGE_BASE, 4, 16);
    pfb_write_v1_value(&b, 4, 1, 4);
    pfb_write_v1_value(&b, 8, 2, 8);
    pfb_write_v1_value(&b, 16, 3, 4);
    v1_end(&b);
    store_ordered(memory + DEFINITIONS_A + 2 * DEFINITION_BYTES + VALUE_OFFSET, false, 1 << 20);
    expect_block(memory, b.size_bytes, NULL, "100[ 102=1 104=2]");
    expect_block(memory, b.size_bytes, "104", "100[ 104=2]");
}

/* The last instance of object 100 has a counter block that is too small for counter 104. */
static size_t build_small_counter_block(uint8_t *memory, size_t size, const char *first)
{
    pfb_writer b;
    v1_begin(&b, memory, size, false);
    v1_object(&b, 100, 0);
    v1_counter(&b, 102, COUNTER, 4, 4);
    v1_counter(&b, 104, COUNTER, 4, 8);
    if (first) {
        v1_instance(&b, first);
        pfb_write_v1_value(&b, 4, 1, 4);
        pfb_write_v1_value(&b, 8, 2, 4);
    }
    v1_instance(&b, "b");
    size_t counter_block = b.size_bytes;
    pfb_write_v1_value(&b, 4, 3, 4);
    pfb_write_v1_value(&b, 8, 4, 4);
    pfb_write_end_object(&b);
    v1_object(&b, 200, 0);
    v1_counter(&b, 102, COUNTER, 4, 4);
    v1_instance_of(&b, "c", PFB_V1_NO_UNIQUE_ID, 100, 0);
    pfb_write_v1_value(&b, 4, 5, 4);
    v1_instance_of(&b, "d", PFB_V1_NO_UNIQUE_ID, 100, 1);
    pfb_write_v1_value(&b, 4, 6, 4);
    v1_end(&b);
    store_ordered(memory + counter_block, false, 8);
    return b.size_bytes;
}

/* If another instance has the counter, a recording cannot say that this one lacks its value. */
Test(recorder, an_instance_that_lacks_a_value_of_others_is_not_written)
{
    uint8_t memory[1024];
    size_t size = build_small_counter_block(memory, sizeof memory, "a");
    expect_block(memory, size, NULL, "100[a 102=1 104=2]200[c^100.0 102=5][d 102=6]");
    expect_block(memory, size, "104", "100[a 104=2]");
    size = build_small_counter_block(memory, sizeof memory, NULL);
    expect_block(memory, size, NULL, "100[b 102=3]200[c^100.0 102=5][d^100.1 102=6]");
    expect_block(memory, size, "104", "");
}

/* ---- Several files of the output ------------------------------------------------------------------------------- */

static size_t split_count;

/* The frames of two collectors have the same series. */
static void compare_series(pfb_collector *c, pfb_collector *other, const char *name, size_t record)
{
    pfb_frame frames[2] = {{.size = sizeof frames[0]}, {.size = sizeof frames[1]}};
    pfb_series a = {.size = sizeof a};
    pfb_series b = {.size = sizeof b};
    bool has_frame = pfb_collector_frame(c, &frames[0]);
    cr_expect_eq(pfb_collector_frame(other, &frames[1]), has_frame, "%s, record %zu", name, record);
    if (!has_frame)
        return;
    cr_expect_eq(frames[0].count, frames[1].count, "%s, record %zu", name, record);
    for (uint32_t i = 0; pfb_collector_series(c, i, &a) && pfb_collector_series(other, i, &b); i++)
        cr_expect(strcmp(a.counter, b.counter) == 0 && strcmp(a.counterset, b.counterset) == 0 &&
                      strcmp(a.instance, b.instance) == 0 && a.type == b.type,
                  "%s, record %zu, element %u", name, record, i);
    split_count++;
}

/* Each sample is written again in a file of its own, which has all of its metadata. */
static void check_files(const char *name, const uint8_t *data, size_t size)
{
    static records r;
    static records again;
    written w = {.max_chunks = SIZE_MAX};
    pfb_recorder *recorder = pfb_recorder_new(write_chunk, &w);
    pfb_collector *c = pfb_collector_new();
    read_records(&r, data, size);
    cr_assert(recorder && c);
    for (size_t i = 0; i < r.count && !has_log(&r); i++) {
        int32_t put = pfb_recorder_put(recorder, &r.list[i]);
        cr_assert(put >= 0 && pfb_collector_put(c, &r.list[i]) >= 0);
        if (put == 0)
            continue;
        w.bytes.size_bytes = 0;
        pfb_recorder_next_file(recorder);
        cr_expect_eq(pfb_recorder_repeat(recorder, &r.list[i]), 1, "%s", name);
        read_records(&again, w.bytes.data, w.bytes.size_bytes);
        pfb_collector *alone = pfb_collector_new();
        cr_assert(alone);
        for (size_t k = 0; k < again.count; k++) {
            if (again.list[k].kind != PFB_RECORD_END)
                pfb_collector_put(alone, &again.list[k]);
        }
        compare_series(c, alone, name, i);
        pfb_collector_close(alone);
        free_records(&again);
    }
    pfb_recorder_close(recorder);
    pfb_collector_close(c);
    pfb_bytes_free(&w.bytes);
    free_records(&r);
}

Test(recorder, each_file_has_the_metadata_of_its_samples)
{
    visit_all(check_files);
    cr_expect_gt(split_count, 200);
}

/* ---- Failures -------------------------------------------------------------------------------------------------- */

static size_t failures;

/* Whatever fails, what was written before is a prefix of what is written without a failure. */
static void check_failures(const char *name, const records *r, const pfb_selection *selection)
{
    written whole = {.max_chunks = SIZE_MAX};
    cr_assert(record_all(r, selection, &whole), "%s", name);
    bool is_done = false;
    for (size_t n = 0; !is_done; n++) {
        written w = {.max_chunks = n};
        is_done = record_all(r, selection, &w);
        cr_expect(w.bytes.size_bytes <= whole.bytes.size_bytes &&
                      w.chunk_count == n - is_done * (n - whole.chunk_count),
                  "%s", name);
        pfb_bytes_free(&w.bytes);
    }
    is_done = false;
    for (size_t n = 1; !is_done; n += 1 + n / 40) {
        written w = {.max_chunks = SIZE_MAX};
        allocations = 0;
        failing_allocation = n;
        is_done = record_all(r, selection, &w);
        bool has_failed = allocations >= n;
        failing_allocation = 0;
        cr_expect(is_done || has_failed, "%s: allocation %zu", name, n);
        cr_expect(w.bytes.size_bytes <= whole.bytes.size_bytes &&
                      (w.bytes.size_bytes == 0 || memcmp(w.bytes.data, whole.bytes.data, w.bytes.size_bytes) == 0),
                  "%s: allocation %zu", name, n);
        cr_expect(!is_done || (w.bytes.size_bytes == whole.bytes.size_bytes && w.problem_count == whole.problem_count),
                  "%s: allocation %zu", name, n);
        is_done = is_done && !has_failed;
        failures += has_failed;
        pfb_bytes_free(&w.bytes);
    }
    pfb_bytes_free(&whole.bytes);
}

static void check_failures_of_seed(const char *name, const uint8_t *data, size_t size)
{
    static records r;
    static elements all;
    static size_t number;
    if (number++ % 3 != 0)
        return;
    read_records(&r, data, size);
    list_elements(&all, &r, NULL, 0);
    check_failures(name, &r, NULL);
    char path[256];
    pfb_selection *selection = all.count > 0 ? select_element(&all.list[all.count / 2], false, path) : NULL;
    if (selection)
        check_failures(name, &r, selection);
    pfb_selection_close(selection);
    free_records(&r);
}

Test(recorder, allocations_and_writing_fail)
{
    visit_all(check_failures_of_seed);
    cr_expect(failures > 500, "%zu", failures);
}
