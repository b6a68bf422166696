/* SPDX-License-Identifier: MIT */
/* Passes a capture or a log to a collector: the chunks of a capture, the records of a perfmon log and the rows of a PDH
 * text log with the pfb_collector_put_ functions. A capture is also replayed as a source, with V2 and with V1 data.
 * Checks that each returned text has its NUL at the returned size, and that there are no more values than the input can
 * contain. */
#include "perfblock/capture.h"
#include "perfblock/collect.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_text(const char *text, size_t size, bool exists)
{
    require(text && text[size] == '\0' && (exists || size == 0));
}

/* Reads everything of the current sample, which must have at most `max_values` values. */
static void read_values(pfb_collector *c, uint64_t max_values)
{
    pfb_collected_value v;
    pfb_collected_result result;
    pfb_collected_sample sample;
    uint64_t count = 0;
    if (!pfb_collector_sample(c, &sample))
        return;
    check_text(sample.machine, sample.machine_size, sample.has_machine);
    for (uint32_t i = 0; pfb_collector_result(c, i, &result); i++) {
        check_text(result.counterset, result.counterset_size, result.has_counterset);
        require(result.shown_column_count <= result.column_count);
    }
    while (pfb_collector_next(c, &v)) {
        check_text(v.counterset, v.counterset_size, v.has_counterset);
        check_text(v.instance, v.instance_size, v.has_instance);
        check_text(v.parent, v.parent_size, v.has_parent);
        check_text(v.counter, v.counter_size, v.has_counter);
        require(v.unit && (sample.is_log || v.result < sample.result_count) && v.sample == sample.number);
        require(v.status == PFB_STATUS_OK || (v.value == 0 && !v.is_integer));
        count++;
    }
    require(count <= max_values);
}

static void read_sample(pfb_collector *c)
{
    /* V1 counters may share bytes: a block with c counters and i instances has at least 40 * c + 28 * i bytes but c * i
     * values. The product is at most size * size / 4480: below this bound for all inputs of up to 64 KiB. */
    read_values(c, 16 * (uint64_t)pfb_collector_reply(c).size_bytes);
}

static void describe(pfb_collector *c)
{
    pfb_bytes guids = {0};
    pfb_described_counterset set;
    pfb_described_counter counter;
    require(pfb_collector_countersets(c, &guids, NULL));
    for (size_t i = 0; i < guids.size_bytes / sizeof(pfb_guid); i++) {
        pfb_guid guid;
        memcpy(&guid, guids.data + i * sizeof guid, sizeof guid);
        require(pfb_collector_counterset(c, &guid, &set, NULL));
        check_text(set.name, set.name_size, set.has_name);
        for (uint32_t n = 0; n < set.counter_count; n++) {
            require(pfb_collector_counter(c, &guid, n, &counter, NULL));
            check_text(counter.name, counter.name_size, counter.has_name);
            check_text(counter.help, counter.help_size, counter.has_help);
        }
    }
    pfb_bytes_free(&guids);
}

/* Distributes the chunks of a capture in turn to `file_count` files of the collector. */
static void put_chunks(pfb_collector *c, const uint8_t *data, size_t size, size_t file_count)
{
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_capture_open(&capture, data, size, true, NULL);
    for (size_t number = 0; pfb_capture_next_chunk(&capture, &chunk); number++) {
        require(pfb_collector_choose_file(c, number % file_count, NULL));
        const uint8_t *body = data + chunk.body_offset;
        size_t body_size = chunk.body_size_bytes;
        switch (chunk.tag) {
        case PFB_TAG_REGISTRATION:
            require(pfb_collector_put_registration(c, &chunk.guid, chunk.request, body, body_size, NULL, NULL));
            break;
        case PFB_TAG_NAMES:
            require(pfb_collector_put_names(c, body, body_size, NULL, NULL));
            break;
        case PFB_TAG_QUERY_INFO:
            require(pfb_collector_put_query_info(c, body, body_size, NULL, NULL));
            break;
        case PFB_TAG_DATA:
        case PFB_TAG_V1:
            require(pfb_collector_put_sample(c, 0, body, body_size, NULL));
            read_sample(c);
            break;
        default:
            break;
        }
    }
}

/* Distributes the records of a log in turn to `file_count` files of the collector. */
static void put_log(pfb_collector *c, const uint8_t *data, size_t size, size_t file_count)
{
    pfb_log_reader log;
    pfb_log_record record;
    for (size_t file = 0; file < file_count; file++) {
        require(pfb_collector_choose_file(c, file, NULL));
        pfb_collector_begin_file(c);
    }
    pfb_log_open(&log, data, size, true, NULL);
    for (size_t number = 0; pfb_log_next_record(&log, &record); number++) {
        require(pfb_collector_choose_file(c, number % file_count, NULL));
        require(pfb_collector_put_log_record(c, &log, &record, NULL));
        do
            read_values(c, 16 * (uint64_t)size);
        while (pfb_collector_next_log_object(c, &log, &record, NULL));
    }
}

static void put_text(pfb_collector *c, const uint8_t *data, size_t size)
{
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    pfb_collector_begin_file(c);
    if (!pfb_pdh_text_open(&text, data, size, true, NULL))
        return;
    require(pfb_collector_put_text_paths(c, &text, NULL));
    while (pfb_pdh_text_next_row(&text, &row)) {
        require(pfb_collector_put_text_row(c, &text, &row, NULL));
        read_values(c, size);
    }
}

static void replay(pfb_source *source, bool is_v1)
{
    const pfb_collector_options options = {.is_v1 = is_v1};
    static const char *const all = "*";
    const pfb_collector_choice choice = {
        .countersets = &all, .counterset_count = 1, .counters = &all, .counter_count = 1, .instance = "*#0"};
    pfb_collector_problem problem;
    pfb_collector *c = pfb_collector_open(source, &options, NULL);
    require(c != NULL);
    if (pfb_collector_add_choice(c, &choice, NULL)) {
        while (pfb_collector_collect(c, NULL))
            read_sample(c);
    }
    while (pfb_collector_next_problem(c, &problem))
        require(problem.is_names || problem.request != 0 || problem.status != 0);
    describe(c);
    pfb_collector_close(c);
    pfb_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pfb_collector *c = pfb_collector_open(NULL, NULL, NULL);
    require(c != NULL);
    put_chunks(c, data, size, 1);
    pfb_collector_begin_file(c);
    put_chunks(c, data, size, 1);
    put_chunks(c, data, size, 2);
    describe(c);
    put_log(c, data, size, 1);
    put_log(c, data, size, 2);
    put_text(c, data, size);
    pfb_collector_close(c);
    for (int i = 0; i < 3; i++) {
        pfb_source *source =
            i == 0 ? pfb_source_open_recorded(data, size, NULL) : pfb_source_open_capture(data, size, NULL);
        if (source)
            replay(source, i == 2);
    }
    return 0;
}
