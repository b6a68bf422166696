/* SPDX-License-Identifier: MIT */
/* Collectors over the logs of the corpus, while each allocation fails in turn; part of test_collect. */
#include <criterion/criterion.h>

#include "perfblock/collect.h"
#include "support.h"
#include "support_allocations.h"

#include <stdio.h>
#include <string.h>

/* A digest of the values of a log, and their number. */
typedef struct log_values {
    uint64_t digest;
    size_t count;
} log_values;

static const log_values no_values = {.digest = UINT64_C(14695981039346656037)}; /* of FNV-1a */

static void add_bytes(log_values *values, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        values->digest = (values->digest ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
}

static void add_values(log_values *values, pfb_collector *c)
{
    pfb_collected_value v;
    while (pfb_collector_next(c, &v)) {
        add_bytes(values, v.machine, v.machine_size + 1);
        add_bytes(values, v.counterset, v.counterset_size + 1);
        add_bytes(values, v.instance, v.instance_size + 1);
        add_bytes(values, v.parent, v.parent_size + 1);
        add_bytes(values, v.counter, v.counter_size + 1);
        add_bytes(values, &v.status, sizeof v.status);
        add_bytes(values, &v.value, sizeof v.value);
        add_bytes(values, &v.time, sizeof v.time);
        add_bytes(values, &v.raw, sizeof v.raw);
        values->count++;
    }
}

static bool put_log(pfb_collector *c, const uint8_t *data, size_t size, log_values *values, pfb_source_failure *failure)
{
    pfb_log_reader log;
    pfb_log_record record;
    bool is_done = true;
    pfb_log_open(&log, data, size, true, NULL);
    while (is_done && pfb_log_next_record(&log, &record)) {
        is_done = pfb_collector_put_log_record(c, &log, &record, failure);
        while (is_done) {
            add_values(values, c);
            if (!pfb_collector_next_log_object(c, &log, &record, failure)) {
                is_done = failure->code == PFB_WIN32_NO_MORE_ITEMS;
                break;
            }
        }
    }
    return is_done;
}

static bool put_pdh_text(pfb_collector *c, const uint8_t *data, size_t size, log_values *values,
                         pfb_source_failure *failure)
{
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    bool is_done = true;
    if (pfb_pdh_text_open(&text, data, size, true, NULL))
        is_done = pfb_collector_put_text_paths(c, &text, failure);
    while (is_done && pfb_pdh_text_next_row(&text, &row)) {
        is_done = pfb_collector_put_text_row(c, &text, &row, failure);
        if (is_done)
            add_values(values, c);
    }
    return is_done;
}

/* Puts the log and then, as the next file, the same log again: its first sample is compared with the last one. */
static bool put_log_twice(pfb_collector *c, const uint8_t *data, size_t size, log_values *values,
                          pfb_source_failure *failure)
{
    if (!put_log(c, data, size, values, failure) || !pfb_collector_end_file(c, failure))
        return false;
    pfb_collector_begin_file(c);
    return put_log(c, data, size, values, failure);
}

typedef bool put_function(pfb_collector *c, const uint8_t *data, size_t size, log_values *values,
                          pfb_source_failure *failure);

static put_function *put;  /* puts a log of the corpus into a collector */
static size_t failed;      /* number of readings that failed */
static size_t value_count; /* of all logs, without failing allocations */

static log_values read_log(pfb_collector *c, const uint8_t *data, size_t size, bool *is_done,
                           pfb_source_failure *failure)
{
    log_values values = no_values;
    *is_done = c && put(c, data, size, &values, failure);
    return values;
}

/* Returns the expected values of a log, and adds their number to value_count. */
static log_values read_without_failures(const char *name, const uint8_t *data, size_t size)
{
    pfb_source_failure failure = {.code = 0};
    bool is_done = false;
    failing_allocation = 0;
    pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
    const log_values values = read_log(c, data, size, &is_done, &failure);
    pfb_collector_close(c);
    cr_assert(is_done, "%s: %s", name, failure.sentence);
    value_count += values.count;
    return values;
}

/* Reads a log repeatedly, each time with another failing allocation. Reading either returns the same values as without
 * failures, or fails for lack of memory. After that failure the same collector can read the log from the start. */
static void check_log(const char *name, const uint8_t *data, size_t size)
{
    const log_values expected = read_without_failures(name, data, size);
    pfb_source_failure failure = {.code = 0};
    bool is_done = false;
    for (size_t n = 1; n == 1 || allocations >= failing_allocation; n++) {
        allocations = 0;
        failing_allocation = n;
        pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
        log_values values = read_log(c, data, size, &is_done, &failure);
        bool is_same = values.digest == expected.digest && values.count == expected.count;
        cr_expect(is_done ? is_same : failure.code == PFB_WIN32_OUTOFMEMORY, "%s, allocation %zu: %s", name, n,
                  failure.sentence);
        failed += !is_done;
        if (c && !is_done) {
            size_t allocation_count = allocations;
            failing_allocation = 0;
            pfb_collector_begin_file(c);
            values = read_log(c, data, size, &is_done, &failure);
            cr_expect(is_done && values.count == expected.count, "%s, allocation %zu: %zu values, not %zu", name, n,
                      values.count, expected.count);
            allocations = allocation_count;
            failing_allocation = n;
        }
        pfb_collector_close(c);
    }
    failing_allocation = 0;
}

Test(collect_logs, a_failed_allocation_in_a_binary_log_is_reported)
{
    put = put_log;
    cr_expect_gt(visit_seeds("log", check_log), 80);
    cr_expect(failed > 500 && value_count > 150, "%zu failures, %zu values", failed, value_count);
}

Test(collect_logs, a_failed_allocation_in_a_log_that_continues_another_is_reported)
{
    put = put_log_twice;
    cr_expect_gt(visit_seeds("log", check_log), 80);
    cr_expect(failed > 1000 && value_count > 300, "%zu failures, %zu values", failed, value_count);
}

Test(collect_logs, a_failed_allocation_in_a_text_log_is_reported)
{
    put = put_pdh_text;
    cr_expect_gt(visit_seeds("pdh_text", check_log), 20);
    cr_expect(failed > 100 && value_count > 100, "%zu failures, %zu values", failed, value_count);
}

/* ---- Logs in turn ---------------------------------------------------------------------------------------------- */

typedef struct turn {
    pfb_log_reader log;
    pfb_log_record record;
    log_values values;
    bool has_ended;
    bool has_objects; /* it has V1 blocks: these are compared with those of the other log */
} turn;

/* Puts the records of two logs alternately, up to a sample of one and then up to a sample of the other. Returns false
 * when memory is exhausted. */
static bool put_alternately(pfb_collector *c, turn turns[2], pfb_source_failure *failure)
{
    bool is_done = true;
    for (size_t i = 0; is_done && (!turns[0].has_ended || !turns[1].has_ended); i = !i) {
        turn *t = &turns[i];
        is_done = pfb_collector_choose_file(c, i, failure);
        bool is_sample = false;
        while (is_done && !is_sample && !t->has_ended) {
            t->has_ended = !pfb_log_next_record(&t->log, &t->record);
            if (t->has_ended)
                break;
            is_sample = t->record.type == PFB_LOG_SAMPLE;
            is_done = pfb_collector_put_log_record(c, &t->log, &t->record, failure);
            while (is_done) {
                add_values(&t->values, c);
                if (!pfb_collector_next_log_object(c, &t->log, &t->record, failure)) {
                    is_done = failure->code == PFB_WIN32_NO_MORE_ITEMS;
                    break;
                }
                t->has_objects = true;
            }
        }
    }
    return is_done;
}

static void check_pair(const char *name, const uint8_t *data, size_t size)
{
    const log_values expected = read_without_failures(name, data, size);
    pfb_source_failure failure = {.code = 0};
    bool is_done = false;
    size_t n = 0;
    do {
        turn turns[2];
        for (size_t i = 0; i < 2; i++) {
            turns[i] = (turn){.values = no_values};
            pfb_log_open(&turns[i].log, data, size, true, NULL);
        }
        allocations = 0;
        failing_allocation = n;
        pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
        is_done = c && put_alternately(c, turns, &failure);
        pfb_collector_close(c);
        cr_expect(is_done || failure.code == PFB_WIN32_OUTOFMEMORY, "%s, allocation %zu: %s", name, n,
                  failure.sentence);
        for (size_t i = 0; i < 2 && is_done; i++)
            cr_expect(turns[i].values.count == expected.count &&
                          (turns[i].has_objects || turns[i].values.digest == expected.digest),
                      "%s, allocation %zu: %zu values, not %zu", name, n, turns[i].values.count, expected.count);
        failed += !is_done;
        n++;
    } while (n == 1 || allocations >= failing_allocation);
    failing_allocation = 0;
}

/* Two logs that are put alternately have the values that each has by itself (as many values, for logs with V1 blocks),
 * unless memory is exhausted. */
Test(collect_logs, logs_that_are_put_alternately_have_their_own_values)
{
    put = put_log;
    cr_expect_gt(visit_seeds("log", check_pair), 80);
    cr_expect(failed > 500 && value_count > 150, "%zu failures, %zu values", failed, value_count);
}

/* ---- Calls in any order ---------------------------------------------------------------------------------------- */

/* Makes one call of the collector, which `choice` selects. `text` is a text log whose header was read. */
static void make_call(pfb_collector *c, uint32_t choice, pfb_log_reader *log, pfb_log_record *record,
                      pfb_pdh_text_reader *text, bool *has_record)
{
    pfb_pdh_text_row row;
    pfb_pdh_text_reader paths = *text;
    log_values values = no_values;
    switch (choice % 8) {
    case 0:
        cr_assert(pfb_collector_put_text_paths(c, &paths, NULL));
        break;
    case 1:
        if (pfb_pdh_text_next_row(text, &row))
            cr_assert(pfb_collector_put_text_row(c, text, &row, NULL));
        break;
    case 2:
        *has_record = pfb_log_next_record(log, record); /* and leaves it out */
        break;
    case 3:
        pfb_collector_begin_file(c);
        break;
    case 4:
        cr_assert(pfb_collector_choose_file(c, choice / 8 % 2, NULL) && pfb_collector_end_file(c, NULL));
        break;
    case 5:
        if (*has_record)
            pfb_collector_next_log_object(c, log, record, NULL);
        break;
    default:
        *has_record = pfb_log_next_record(log, record);
        if (*has_record)
            cr_assert(pfb_collector_put_log_record(c, log, record, NULL));
    }
    if (choice & 0x100)
        add_values(&values, c);
}

/* Puts a log, mixed with the rows of two text logs, with calls in random order. Nothing but the memory of the collector
 * is accessed: sanitizers report that. */
static void mix_calls(const char *name, const uint8_t *data, size_t size)
{
    static const char *const texts[] = {
        "\"(PDH-CSV 4.0)\",\"\\\\PC\\A(b)\\C\",\"\\\\PC\\A(c)\\C\",\"\\\\PC\\Memory\\Pages/sec\"\n"
        "\"01/01/2000 00:00:00.000\",\"1\",\"2\",\"3\"\n\"01/01/2000 00:00:01.000\",\"4\",\"5\",\"6\"\n",
        "\"(PDH-CSV 4.0)\",\"\\\\A PC with a long name\\A counterset with a long name(and a long instance)\\A "
        "counter\"\n"
        "\"01/01/2000 00:00:02.000\",\"1\"\n\"01/01/2000 00:00:03.000\",\"4\"\n"};
    (void)name;
    uint32_t random = (uint32_t)size;
    for (unsigned round = 0; round < 40; round++) {
        pfb_collector_options options = {.range = {.every = round % 2 + 1}};
        pfb_collector *c = pfb_collector_open(NULL, &options, NULL);
        pfb_log_reader log;
        pfb_log_record record;
        pfb_pdh_text_reader text[2];
        bool has_record = false;
        cr_assert_not_null(c);
        pfb_log_open(&log, data, size, true, NULL);
        for (size_t i = 0; i < 2; i++)
            cr_assert(pfb_pdh_text_open(&text[i], texts[i], strlen(texts[i]), true, NULL));
        for (unsigned call = 0; call < 60; call++) {
            random = random * 1664525 + 1013904223;
            make_call(c, random >> 16, &log, &record, &text[random >> 15 & 1], &has_record);
        }
        pfb_collector_close(c);
    }
}

Test(collect_logs, calls_in_any_order_access_only_memory_of_the_collector)
{
    cr_expect_gt(visit_seeds("log", mix_calls), 80);
}
