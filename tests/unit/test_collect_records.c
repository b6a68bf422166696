/* SPDX-License-Identifier: MIT */
/* Collectors over the records of the corpus: frames, selections, files that are put alternately, and records of every
 * kind in any order, while each allocation fails in turn; part of test_collect. */
#include <criterion/criterion.h>

#include "perfblock/collect.h"
#include "perfblock/write.h"
#include "support.h"
#include "support_allocations.h"
#include "support_log.h"
#include "support_records.h"
#include "support_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t problem_count; /* of the last put_records */

/* Puts records. Adds the values of all frames to *all. Returns false when memory is exhausted. */
static bool put_records(pfb_collector *c, const pfb_record *list, size_t count, digests *all, const char *name)
{
    pfb_problem problem = {.size = sizeof problem};
    problem_count = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t put = pfb_collector_put(c, &list[i]);
        while (pfb_collector_take_problem(c, &problem))
            problem_count++;
        if (put < 0)
            return false;
        if (put == 0)
            continue;
        digests d = digest_frame(c, name);
        add_number(&all->series, d.series);
        add_number(&all->values, d.values);
        all->count += d.count;
    }
    return true;
}

/* ---- Frames -------------------------------------------------------------------------------------------------------
 */

static size_t value_count, frame_count, same_count;

/* A frame has the layout of the one before if and only if it has the same series. */
static void check_frames(const char *name, const uint8_t *data, size_t size)
{
    static records r;
    pfb_collector *c = pfb_collector_new();
    pfb_frame frame = {.size = sizeof frame};
    digests before = nothing;
    uint64_t layout = 0;
    read_records(&r, data, size);
    cr_assert(c);
    for (size_t i = 0; i < r.count; i++) {
        int32_t put = pfb_collector_put(c, &r.list[i]);
        cr_assert(put >= 0 && pfb_collector_frame(c, &frame) == (put == 1));
        if (put == 0)
            continue;
        digests d = digest_frame(c, name);
        bool is_same = layout != 0 && d.series == before.series && d.count == before.count;
        cr_expect_eq(frame.layout == layout, is_same, "%s, record %zu", name, i);
        same_count += is_same;
        value_count += d.count;
        frame_count++;
        layout = frame.layout;
        before = d;
    }
    pfb_collector_close(c);
    free_records(&r);
}

Test(collect_records, a_layout_is_kept_while_the_series_are_the_same)
{
    visit_all(check_frames);
    cr_expect(value_count > 1000 && frame_count > 400 && same_count > 50, "%zu values, %zu frames, %zu the same",
              value_count, frame_count, same_count);
}

/* ---- Selections ---------------------------------------------------------------------------------------------------
 */

static size_t selections, chosen_count, left_out_count;

/* Chooses the names of some elements, one after the other, from the start or from a later record on. The frames then
 * have those elements that have these names. */
static void check_selections(const char *name, const uint8_t *data, size_t size)
{
    static records r;
    static elements all;
    static elements chosen;
    read_records(&r, data, size);
    list_elements(&all, &r, NULL, 0);
    for (size_t i = 0; i < all.count; i += 1 + all.count / 5) {
        const element *wanted = &all.list[i];
        char path[256];
        bool has_instance = is_plain(wanted->instance);
        if (!is_plain(wanted->counterset) || !is_plain(wanted->counter))
            continue;
        pfb_selection *selection = pfb_selection_new();
        snprintf(path, sizeof path, has_instance ? "\\%s(%s)\\%s" : "\\%s%s\\%s", wanted->counterset,
                 has_instance ? wanted->instance : "", wanted->counter);
        cr_assert(selection && pfb_selection_add(selection, path) == 0, "%s: %s", name, path);
        size_t begin = selections % 3 == 0 ? r.count / 2 : 0;
        size_t at = 0;
        list_elements(&chosen, &r, selection, begin);
        for (size_t k = 0; k < all.count; k++) {
            const element *e = &all.list[k];
            bool is_chosen = e->record < begin || (is_same_text(e->counterset, wanted->counterset) &&
                                                   is_same_text(e->counter, wanted->counter) &&
                                                   (!has_instance || is_same_text(e->instance, wanted->instance)));
            left_out_count += !is_chosen;
            if (!is_chosen)
                continue;
            cr_expect(at < chosen.count && chosen.list[at].record == e->record && chosen.list[at].value == e->value,
                      "%s, %s: element %zu", name, path, k);
            at++;
        }
        cr_expect_eq(at, chosen.count, "%s, %s", name, path);
        chosen_count += at;
        selections++;
        pfb_selection_close(selection);
    }
    free_records(&r);
}

Test(collect_records, a_selection_leaves_the_elements_with_its_names)
{
    visit_all(check_selections);
    cr_expect(selections > 80 && chosen_count > 300 && left_out_count > 500, "%zu, %zu, %zu", selections, chosen_count,
              left_out_count);
}

/* ---- Instances that come and go -----------------------------------------------------------------------------------
 */

static const char *const instance_names[] = {"a", "b", "bb", "a", "_Total", "x,_Total"};

static const char *random_name(uint64_t *state)
{
    return instance_names[random_below(state, sizeof instance_names / sizeof instance_names[0])];
}

/* Writes a V1 block of two objects: instances with random names, ids and parents, and one to three counters. */
static size_t write_block(uint64_t *state, uint32_t seconds, uint8_t *out, size_t capacity)
{
    static const uint32_t types[] = {COUNTER, RAWCOUNT, TIMER_100NS};
    const int64_t now = INT64_C(10000000) * seconds;
    const pfb_write_times times = {.perf_time = now, .perf_time_100ns = now, .perf_freq = 10000000};
    const pfb_name host = pfb_utf8_name("HOST", 4);
    pfb_writer w;
    uint32_t changes = random_below(state, 2); /* 0: the block has the series of the last one without changes */
    pfb_write_init(&w, out, capacity);
    pfb_write_begin_v1(&w, &times, &host, false);
    for (uint32_t title = 2; title <= 4; title += 2) {
        uint32_t at[3];
        uint32_t counters = random_below(state, 8) < changes ? 2 : 3;
        uint32_t instances = 2 + (random_below(state, 4) < changes);
        pfb_write_begin_object(&w, &(pfb_v1_object){.title_index = title});
        for (uint32_t i = 0; i < counters; i++) {
            const pfb_v1_counter counter = {
                .title_index = 10 + 2 * i, .type = types[i], .size_bytes = types[i] == TIMER_100NS ? 8 : 4};
            at[i] = pfb_write_definition(&w, &counter);
        }
        for (uint32_t k = 0; k < instances; k++) {
            const char *name = random_below(state, 4) < changes ? random_name(state) : instance_names[k];
            bool has_parent = title == 4 && random_below(state, 8) < changes;
            pfb_write_v1_instance(&w, &(pfb_v1_instance){.name = pfb_utf8_name(name, strlen(name)),
                                                         .parent_title = has_parent ? 2 : 0,
                                                         .parent_position = has_parent ? random_below(state, 2) : 0,
                                                         .unique_id = random_below(state, 8) < changes
                                                                          ? (int32_t)random_below(state, 3)
                                                                          : PFB_V1_NO_UNIQUE_ID});
            for (uint32_t i = 0; i < counters; i++)
                pfb_write_v1_value(&w, at[i], (uint64_t)seconds * (k + 2) * (i + 3), types[i] == TIMER_100NS ? 8 : 4);
        }
        pfb_write_end_object(&w);
    }
    pfb_write_end_v1(&w);
    cr_assert(w.error.code == PFB_OK && w.size_bytes <= capacity);
    return w.size_bytes;
}

/* Writes a sample of a .blg whose paths are a counter, a counter of all instances, and another counter. */
static size_t write_sample(uint64_t *state, uint32_t seconds, uint8_t *out, size_t capacity)
{
    bytes b = {.size = 0};
    log_row rows[4];
    uint64_t time = UINT64_C(10000000) * seconds;
    uint32_t instances = 2 + (random_below(state, 4) == 0);
    for (uint32_t i = 0; i < instances; i++)
        rows[i] = (log_row){random_below(state, 4) == 0 ? random_name(state) : instance_names[i],
                            random_below(state, 16) == 0 ? 0x800007D5 : 0, (uint64_t)seconds * (i + 2) * 1000, time};
    begin_sample(&b);
    put_counter_item(&b, random_below(state, 16) == 0 ? 0xC0000BBA : 0, time, 7 * (uint64_t)seconds, time, 1);
    put_instances_item(&b, random_below(state, 16) == 0 ? 0x800007D1 : 0, time, rows, instances);
    put_counter_item(&b, 0, time, seconds, 0, 1);
    end_sample(&b);
    cr_assert_leq(b.size, capacity);
    memcpy(out, b.data, b.size);
    return b.size;
}

/* Writes a row of a text log, in which cells may be missing or blank. */
static size_t write_row(uint64_t *state, uint32_t seconds, uint8_t *out, size_t capacity)
{
    char text[256];
    size_t size = (size_t)snprintf(text, sizeof text, "\"01/01/2000 00:%02u:%02u.000\"", seconds / 60, seconds % 60);
    uint32_t cells = random_below(state, 8) == 0 ? random_below(state, 5) : 3;
    for (uint32_t i = 0; i < cells; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, random_below(state, 8) == 0 ? ",\" \"" : ",\"%u.5\"",
                                 seconds * (i + 1));
    cr_assert_leq(size, capacity);
    memcpy(out, text, size);
    return size;
}

static size_t write_header(uint8_t *out)
{
    static const char header[] = "\"(PDH-CSV 4.0)\",\"\\\\HOST\\Memory\\Pages/sec\",\"\\\\HOST\\Processor(a)\\Time\","
                                 "\"\\\\HOST\\Processor(b)\\Time\"";
    memcpy(out, header, sizeof header - 1);
    return sizeof header - 1;
}

static size_t write_paths(uint8_t *out)
{
    bytes b = {.size = 0};
    PUT_U32(&b, 0x6FF, 0x20008);
    put_path(&b, 0, COUNTER, 10000000, "\\\\HOST", "Memory", NULL, "Pages/sec");
    put_path(&b, PFB_LOG_ALL_INSTANCES, TIMER_100NS_INV, 10000000, "\\\\HOST", "Processor", "*", "% Processor Time");
    put_path(&b, 0, RAWCOUNT, 0, "\\\\HOST", "Processor", "a", "Parking Status");
    memcpy(out, b.data, b.size);
    return b.size;
}

static pfb_selection *choose_randomly(uint64_t *state)
{
    static const char *const paths[] = {"\\*(a)\\*", "\\*(b*)\\*", "\\*(*_Total)\\*", "\\*(a#1)\\*", "\\*(a/*)\\*"};
    pfb_selection *selection = pfb_selection_new();
    cr_assert(selection);
    for (uint32_t count = random_below(state, 3); count > 0; count--)
        cr_assert_geq(pfb_selection_add(selection, paths[random_below(state, sizeof paths / sizeof paths[0])]), 0);
    return selection;
}

typedef size_t write_function(uint64_t *state, uint32_t seconds, uint8_t *out, size_t capacity);

/* Puts samples whose instances change, with changing selections. Each frame equals that of a new collector which gets
 * only the last two samples, and has the layout of the one before if the series are the same. */
static void check_changes(uint32_t kind, write_function *write, uint64_t seed)
{
    enum { SAMPLES = 400, CAPACITY = 4096 };
    static uint8_t data[2][CAPACITY];
    static uint8_t path_data[CAPACITY];
    uint64_t state = seed;
    pfb_collector *c = pfb_collector_new();
    pfb_selection *selection = NULL;
    const pfb_record begin = {.kind = PFB_RECORD_BEGIN, .flags = PFB_RECORD_HAS_BIAS};
    bool is_text = kind == PFB_RECORD_ROW;
    const pfb_record_form form = {.separator = is_text ? ',' : 0, .decimal = '.', .column_count = 3};
    const pfb_record paths = {.kind = PFB_RECORD_PATHS,
                              .bytes = path_data,
                              .byte_count = is_text ? write_header(path_data) : write_paths(path_data),
                              .form = form};
    pfb_record samples[2] = {{.kind = kind, .form = form}, {.kind = kind, .form = form}};
    digests before = nothing;
    uint64_t layout = 0;
    cr_assert(c && pfb_collector_put(c, &begin) == 0 && pfb_collector_put(c, &paths) == 0);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        pfb_frame frame = {.size = sizeof frame};
        pfb_record *sample = &samples[i % 2];
        sample->bytes = data[i % 2];
        sample->byte_count = write(&state, i + 1, data[i % 2], CAPACITY);
        sample->time = INT64_C(10000000) * (i + 1);
        sample->flags = kind == PFB_RECORD_LOG ? PFB_RECORD_HAS_TIME | PFB_RECORD_LOCAL_TIME : 0;
        if (random_below(&state, 20) == 0) {
            pfb_selection_close(selection);
            selection = choose_randomly(&state);
            cr_assert(pfb_collector_select(c, selection));
        }
        cr_assert_eq(pfb_collector_put(c, sample), 1);
        cr_assert(pfb_collector_frame(c, &frame));
        digests d = digest_frame(c, "persistent");
        bool is_same = layout != 0 && d.series == before.series && d.count == before.count;
        cr_expect_eq(frame.layout == layout, is_same, "seed %u, sample %u", (unsigned)seed, i);
        same_count += is_same;
        value_count += d.count;
        layout = frame.layout;
        before = d;
        pfb_collector *other = pfb_collector_new();
        cr_assert(other && pfb_collector_select(other, selection) && pfb_collector_put(other, &begin) == 0 &&
                  pfb_collector_put(other, &paths) == 0);
        if (i > 0)
            cr_assert_eq(pfb_collector_put(other, &samples[(i + 1) % 2]), 1);
        cr_assert_eq(pfb_collector_put(other, sample), 1);
        digests e = digest_frame(other, "new");
        cr_expect(d.series == e.series && d.values == e.values && d.count == e.count, "kind %u, seed %u, sample %u",
                  kind, (unsigned)seed, i);
        pfb_collector_close(other);
    }
    pfb_selection_close(selection);
    pfb_collector_close(c);
}

Test(collect_records, frames_do_not_depend_on_earlier_layouts)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        check_changes(PFB_RECORD_V1, write_block, seed);
        check_changes(PFB_RECORD_LOG, write_sample, seed);
        check_changes(PFB_RECORD_ROW, write_row, seed);
    }
    cr_expect(same_count > 300 && value_count > 10000, "%zu the same, %zu values", same_count, value_count);
}

/* ---- Failing allocations ------------------------------------------------------------------------------------------
 */

static size_t failed; /* number of readings that failed */

static const char *group_pattern; /* of the collectors of check_failures; null: no groups */

/* Returns null if memory is exhausted. */
static pfb_collector *open_collector(void)
{
    pfb_collector *c = pfb_collector_new();
    if (c && pfb_collector_group(c, group_pattern, PFB_GROUP_SUM))
        return c;
    pfb_collector_close(c);
    return NULL;
}

/* Puts records repeatedly, each time with another failing allocation. This either returns the same values as without
 * failures, or fails for lack of memory. After that failure the same collector can take the records from the start. */
static void check_failures(const pfb_record *list, size_t count, const char *name)
{
    digests expected = nothing;
    pfb_collector *c = open_collector();
    cr_assert(c && put_records(c, list, count, &expected, name), "%s", name);
    pfb_collector_close(c);
    value_count += expected.count;
    size_t expected_problems = problem_count;
    for (size_t n = 1; n == 1 || allocations >= failing_allocation; n++) {
        digests d = nothing;
        allocations = 0;
        failing_allocation = n;
        c = open_collector();
        bool is_done = c && put_records(c, list, count, &d, name);
        cr_expect(!is_done || (memcmp(&d, &expected, sizeof d) == 0 && problem_count == expected_problems),
                  "%s, allocation %zu", name, n);
        failed += !is_done;
        if (c && !is_done) {
            pfb_frame frame = {.size = sizeof frame};
            size_t allocation_count = allocations;
            cr_expect(!pfb_collector_frame(c, &frame), "%s, allocation %zu", name, n);
            failing_allocation = 0;
            d = nothing;
            is_done = put_records(c, list, count, &d, name);
            cr_expect(is_done && d.count == expected.count, "%s, allocation %zu: %zu values, not %zu", name, n, d.count,
                      expected.count);
            allocations = allocation_count;
            failing_allocation = n;
        }
        pfb_collector_close(c);
    }
    failing_allocation = 0;
}

static void fail_once(const char *name, const uint8_t *data, size_t size)
{
    static records r;
    read_records(&r, data, size);
    check_failures(r.list, r.count, name);
    free_records(&r);
}

/* The records of a file, and then the same records as another file: its samples continue those of the first one. */
static void fail_twice(const char *name, const uint8_t *data, size_t size)
{
    static records r;
    static pfb_record list[2 * MAX_RECORDS];
    read_records(&r, data, size);
    for (size_t i = 0; i < r.count; i++) {
        list[i] = list[r.count + i] = r.list[i];
        list[r.count + i].file = 1;
    }
    check_failures(list, 2 * r.count, name);
    free_records(&r);
}

static const struct {
    const char *subject;
    size_t seeds, failures, values, failures_twice;
} failing[] = {
    {"log", 80, 500, 150, 1000},  {"pdh_text", 20, 100, 100, 200}, {"capture", 20, 50, 50, 100},
    {"v1", 200, 1000, 200, 2000}, {"collect", 5, 100, 10, 200},    {"v2", 100, 200, 50, 400},
};

Test(collect_records, a_failed_allocation_is_reported)
{
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; i++) {
        failed = value_count = 0;
        cr_expect_gt(visit_seeds(failing[i].subject, fail_once), failing[i].seeds);
        cr_expect(failed > failing[i].failures && value_count > failing[i].values, "%s: %zu failures, %zu values",
                  failing[i].subject, failed, value_count);
    }
}

Test(collect_records, a_failed_allocation_is_reported_when_a_file_continues_another)
{
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; i++) {
        failed = 0;
        cr_expect_gt(visit_seeds(failing[i].subject, fail_twice), failing[i].seeds);
        cr_expect(failed > failing[i].failures_twice, "%s: %zu failures", failing[i].subject, failed);
    }
}

/* ---- Groups --------------------------------------------------------------------------------------------------- */

Test(collect_records, a_failed_allocation_is_reported_with_groups)
{
    group_pattern = "*(*)";
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; i++) {
        failed = value_count = 0;
        cr_expect_gt(visit_seeds(failing[i].subject, fail_once), failing[i].seeds);
        cr_expect(failed > failing[i].failures, "%s: %zu failures", failing[i].subject, failed);
    }
}

/* Checks that the elements of a frame with groups are in the order of other frames: results ascend, rows ascend from 0
 * in each result, and the elements of a row follow each other. */
static void check_order(pfb_collector *c, const pfb_frame *frame, const char *name)
{
    pfb_series before = {.size = sizeof before};
    pfb_series s = {.size = sizeof s};
    for (uint32_t i = 0; i < frame->count; i++, before = s) {
        cr_assert(pfb_collector_series(c, i, &s));
        bool is_same = i > 0 && ((s.has ^ before.has) & PFB_SERIES_LOG) == 0 && s.result == before.result;
        cr_expect(i == 0 || is_same || (before.has & PFB_SERIES_LOG) || s.result > before.result, "%s, %u", name, i);
        cr_expect(is_same ? s.row - before.row <= 1 : s.row == 0, "%s, element %u: row %u", name, i, s.row);
    }
}

static void group_records(const char *name, const uint8_t *data, size_t size)
{
    static const char *const patterns[] = {"(*)", "*", "?(*)", "*(*)*", "nothing(*)"};
    static records r;
    read_records(&r, data, size);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        pfb_collector *c = pfb_collector_new();
        pfb_frame frame = {.size = sizeof frame};
        cr_assert(c && pfb_collector_group(c, patterns[i], (uint32_t)i % 3));
        for (size_t k = 0; k < r.count; k++) {
            if (pfb_collector_put(c, &r.list[k]) != 1)
                continue;
            cr_assert(pfb_collector_frame(c, &frame));
            digest_frame(c, name); /* also checks the arrays */
            check_order(c, &frame, name);
            value_count += frame.count;
        }
        pfb_collector_close(c);
    }
    free_records(&r);
}

Test(collect_records, frames_with_groups_are_consistent)
{
    value_count = 0;
    visit_all(group_records);
    cr_expect_gt(value_count, 5000);
}

Test(collect_records, groups_that_change_have_a_new_layout)
{
    static const char text[] = "\"(PDH-CSV 4.0)\",\"\\\\M\\S(a1)\\n\",\"\\\\M\\S(a2)\\n\"\r\n"
                               "\"01/02/2024 03:04:05.000\",\"3\",\"5\"\r\n\"01/02/2024 03:04:06.000\",\"4\",\"7\"\r\n"
                               "\"01/02/2024 03:04:07.000\",\"1\",\"2\"\r\n\"01/02/2024 03:04:08.000\",\"8\",\"9\"\r\n";
    static records r;
    pfb_collector *c = pfb_collector_new();
    pfb_frame frame = {.size = sizeof frame};
    pfb_series s = {.size = sizeof s};
    uint64_t layouts[4] = {0};
    size_t n = 0;
    static const double sums[] = {8, 11};
    read_records(&r, (const uint8_t *)text, sizeof text - 1);
    cr_assert(c && pfb_collector_group(c, "A?", PFB_GROUP_SUM));
    cr_expect(!pfb_collector_group(c, "x", PFB_GROUP_AVG + 1));
    for (size_t k = 0; k < r.count && n < 4; k++) {
        if (pfb_collector_put(c, &r.list[k]) != 1)
            continue;
        cr_assert(pfb_collector_frame(c, &frame));
        layouts[n] = frame.layout;
        cr_expect_eq(frame.count, n < 2 || n == 3 ? 1 : 2, "sample %zu: %u elements", n, frame.count);
        cr_assert(pfb_collector_series(c, 0, &s));
        cr_expect_str_eq(s.instance, n < 2 ? "A?" : n == 2 ? "a1" : "a?");
        cr_expect(n >= 2 || frame.values[0] == sums[n]);
        cr_expect(n != 3 || frame.values[0] == 9);
        n++;
        if (n >= 2)
            cr_assert(pfb_collector_group(c, n == 2 ? NULL : "(*)?", PFB_GROUP_MAX));
    }
    cr_expect_eq(n, 4);
    cr_expect(layouts[0] == layouts[1] && layouts[2] != layouts[1] && layouts[3] != layouts[2]);
    free_records(&r);
    pfb_collector_close(c);
}

/* ---- Files in turn --------------------------------------------------------------------------------------------------
 */

/* Two logs that are put alternately, sample by sample, have the values that each has by itself; as many values, if V1
 * objects are compared with those of the other log. */
static void put_in_turn(const char *name, const uint8_t *data, size_t size)
{
    static records r;
    digests expected = nothing;
    digests turns[2] = {nothing, nothing};
    bool has_objects = false;
    read_records(&r, data, size);
    pfb_collector *c = pfb_collector_new();
    cr_assert(c && put_records(c, r.list, r.count, &expected, name));
    pfb_collector_close(c);
    c = pfb_collector_new();
    cr_assert(c);
    for (size_t i = 0; i < r.count; i++) {
        for (uint32_t file = 0; file < 2; file++) {
            pfb_frame frame = {.size = sizeof frame};
            pfb_record record = r.list[i];
            record.file = file;
            cr_assert(put_records(c, &record, 1, &turns[file], name));
            has_objects = has_objects || (pfb_collector_frame(c, &frame) && frame.result_count > 0);
            cr_expect(!pfb_collector_frame(c, &frame) || frame.file == file);
        }
    }
    for (size_t file = 0; file < 2; file++)
        cr_expect(turns[file].count == expected.count && (has_objects || turns[file].values == expected.values),
                  "%s: %zu values, not %zu", name, turns[file].count, expected.count);
    value_count += expected.count;
    pfb_collector_close(c);
    free_records(&r);
}

Test(collect_records, logs_that_are_put_alternately_have_their_own_values)
{
    cr_expect_gt(visit_seeds("log", put_in_turn), 80);
    cr_expect_gt(visit_seeds("pdh_text", put_in_turn), 20);
    cr_expect_gt(value_count, 250);
}

/* ---- Records in any order -------------------------------------------------------------------------------------------
 */

/* Puts records of a file, mixed with the lines of text logs, in any order and as parts of any file, with any selection.
 * Nothing but the memory of the collector is accessed: sanitizers report that. */
static void mix_records(const char *name, const uint8_t *data, size_t size)
{
    static const char *const lines[] = {
        "\"(PDH-CSV 4.0)\",\"\\\\PC\\A(b)\\C\",\"\\\\PC\\A(c)\\C\",\"\\\\PC\\Memory\\Pages/sec\"",
        "\"01/01/2000 00:00:00.000\",\"1\",\"2\",\"3\"", "\"01/01/2000 00:00:01.000\",\"4\"",
        "\"(PDH-CSV 4.0)\",\"\\\\A PC with a long name\\A counterset with a long name(and an instance)\\A counter\"",
        "\"01/01/2000 00:00:02.000\",\"1\""};
    static const char *const paths[] = {"\\*(a*)\\*", "\\Memory\\Pages/sec", "\\\\PC\\*(*)\\*", "\\*(*#1)\\*"};
    static const uint32_t kinds[] = {PFB_RECORD_BEGIN, PFB_RECORD_END, PFB_RECORD_PATHS, PFB_RECORD_ROW, PFB_RECORD_LOG,
                                     PFB_RECORD_V1,    PFB_RECORD_V2,  PFB_RECORD_NAMES, PFB_RECORD_NOTE};
    static records r;
    uint64_t state = size;
    read_records(&r, data, size);
    for (unsigned round = 0; round < 20; round++) {
        pfb_collector *c = pfb_collector_new();
        cr_assert(c);
        for (unsigned call = 0; call < 60; call++) {
            digests d = nothing;
            size_t line = random_below(&state, sizeof lines / sizeof lines[0]);
            pfb_record record = {.kind = line % 3 == 0 ? PFB_RECORD_PATHS : PFB_RECORD_ROW,
                                 .bytes = (const uint8_t *)lines[line],
                                 .byte_count = strlen(lines[line]),
                                 .form = {.separator = ',', .decimal = '.', .column_count = 3}};
            if (r.count > 0 && random_below(&state, 4) > 0)
                record = r.list[random_below(&state, (uint32_t)r.count)];
            if (random_below(&state, 8) == 0)
                record.kind = kinds[random_below(&state, sizeof kinds / sizeof kinds[0])];
            record.file = random_below(&state, 3);
            record.part = random_below(&state, 2);
            cr_assert(put_records(c, &record, 1, &d, name));
            if (random_below(&state, 16) == 0) {
                pfb_selection *selection = pfb_selection_new();
                cr_assert(selection);
                pfb_selection_add(selection, paths[random_below(&state, sizeof paths / sizeof paths[0])]);
                pfb_selection_range(selection, INT64_MIN, INT64_MAX, random_below(&state, 3));
                cr_assert(pfb_collector_select(c, random_below(&state, 2) == 0 ? selection : NULL));
                pfb_selection_close(selection);
            }
        }
        pfb_collector_close(c);
    }
    free_records(&r);
}

Test(collect_records, records_in_any_order_access_only_memory_of_the_collector)
{
    visit_all(mix_records);
}
