/* SPDX-License-Identifier: MIT */
/* Reads the input as a stream, and prints what a collector makes of it with every sink of the program: in one piece,
 * and in pieces of any size. Checks that both print the same, that JSON, CSV, logs and metrics have their formats, and
 * that no name of the input becomes an element of the page of charts.
 *
 * The input is a file of any format. The last two bits of its size choose options: 1 tables without zeros, 2 sorted
 * tables of one row. */
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"
#include "output/time_text.h"
#include "output_checks.h"
#include "report/report.h"
#include "sinks/metric_log.h"
#include "sinks/pdh.h"
#include "sinks/sink.h"
#include "sinks/summary.h"
#include "steady.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* ---- Output ---------------------------------------------------------------------------------------------- */

/* Replaces cli/output/stream.c: writes to memory. A sink that writes more than MAX_OUTPUT bytes meets a full disk. */

enum { MAX_OUTPUT = 1 << 22 };

/* What a sink has written. */
typedef struct written {
    char *bytes;
    size_t size, capacity;
    bool is_full;
} written;

static written *current; /* that of the sink that is called */

void stream_write(const void *bytes, size_t size)
{
    current->is_full = current->is_full || size > MAX_OUTPUT - current->size;
    if (current->is_full)
        return;
    current->bytes = memory_grow(current->bytes, &current->capacity, current->size + size + 1, 1);
    memcpy(current->bytes + current->size, bytes, size);
    current->size += size;
}

bool stream_failed(void)
{
    return current->is_full;
}

int stream_error(void)
{
    return current->is_full ? ENOSPC : 0;
}

void stream_flush(void)
{
}

const char *stream_name(void)
{
    return "memory";
}

/* ---- Sinks ----------------------------------------------------------------------------------------------- */

/* What is printed in one pass over the input. */
typedef enum printed {
    JSON,
    CSV,
    TABLES,
    LOG,  /* with the columns of all samples */
    TABS, /* with those of the first sample */
    METRICS,
    LIVE_METRICS,
    PAGE,
    SUMMARY_JSON,
    SUMMARY_CSV,
    SUMMARY_TABLES,
#ifdef PERFBLOCK_SQLITE
    DATABASE,
#endif
    PRINTED_COUNT
} printed;

static const output_format formats[PRINTED_COUNT] = {
    [JSON] = OUTPUT_JSON,
    [CSV] = OUTPUT_CSV,
    [TABLES] = OUTPUT_TEXT,
    [LOG] = OUTPUT_PDH_CSV,
    [TABS] = OUTPUT_PDH_TSV,
    [METRICS] = OUTPUT_PROMETHEUS,
    [LIVE_METRICS] = OUTPUT_PROMETHEUS,
    [PAGE] = OUTPUT_REPORT,
    [SUMMARY_JSON] = OUTPUT_JSON,
    [SUMMARY_CSV] = OUTPUT_CSV,
    [SUMMARY_TABLES] = OUTPUT_TEXT,
#ifdef PERFBLOCK_SQLITE
    [DATABASE] = OUTPUT_SQLITE,
#endif
};

typedef struct sinks {
    output out[PRINTED_COUNT];
    sink_run run[PRINTED_COUNT];
    written written[PRINTED_COUNT];
} sinks;

#ifdef PERFBLOCK_SQLITE
/* The file of the database, in the current folder, which several processes of an engine share. */
static const char *database_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "sinks_%u.sqlite", (unsigned)system_process());
    return path;
}
#endif

static void begin(sinks *s, size_t input_size)
{
    *s = (sinks){.out = {{.format = OUTPUT_NONE}}};
    for (size_t i = 0; i < PRINTED_COUNT; i++) {
        current = &s->written[i];
        output_open(&s->out[i], formats[i], i == TABLES);
        s->run[i].out = &s->out[i];
        s->run[i].is_nonzero = (input_size & 1) != 0;
        if (input_size & 2)
            sink_arrange(&s->run[i], "Value", 1);
    }
    s->out[LOG].pdh = pdh_log_begin(true);
    s->out[TABS].pdh = pdh_log_begin(false);
    s->out[METRICS].metrics = metric_log_begin();
    s->out[PAGE].report = report_begin();
    for (size_t i = SUMMARY_JSON; i <= SUMMARY_TABLES; i++)
        s->out[i].summary = value_summary_begin();
#ifdef PERFBLOCK_SQLITE
    s->out[DATABASE].path = database_path();
#endif
}

static void print(sinks *s, size_t i, pfb_collector *collector)
{
    current = &s->written[i];
    s->run[i].file = "memory";
    if (output_failed(&s->out[i]))
        return;
    sink_find_sort_counter(&s->run[i], collector);
    sink_print(&s->run[i], collector);
    if (i == LIVE_METRICS)
        sink_end_sample(&s->run[i]);
}

static void end(sinks *s, size_t input_size)
{
    const report_description description = {.messages = ""};
    for (size_t i = 0; i < PRINTED_COUNT; i++) {
        current = &s->written[i];
        sink_end(&s->run[i]);
        if (i == METRICS)
            metric_log_write(s->out[i].metrics, &s->out[i]);
        if (i == PAGE && (input_size & 2))
            report_keep_top(s->out[i].report, 1);
        if (i == PAGE)
            report_write(s->out[i].report, &description, &s->out[i]);
        if (s->out[i].summary)
            value_summary_write(s->out[i].summary, s->run[i].is_nonzero, &s->out[i]);
        output_close(&s->out[i]);
        if (s->out[i].summary)
            value_summary_free(s->out[i].summary);
        stream_write("", 0); /* so that there is memory */
    }
    pdh_log_free(s->out[LOG].pdh);
    pdh_log_free(s->out[TABS].pdh);
    metric_log_free(s->out[METRICS].metrics);
    report_free(s->out[PAGE].report);
#ifdef PERFBLOCK_SQLITE
    require(!s->out[DATABASE].has_failed);
    remove(database_path());
#endif
}

/* ---- Checks ---------------------------------------------------------------------------------------------- */

/* Counts the elements of a page with a name such as "<script". */
static size_t count_of(const written *w, const char *word)
{
    size_t count = 0;
    size_t size = strlen(word);
    const char *at = w->bytes;
    const char *end = w->bytes + w->size;
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        count += (size_t)(end - at) >= size && memcmp(at, word, size) == 0;
        at++;
    }
    return count;
}

static void check_formats(const sinks *s)
{
    for (size_t i = 0; i < PRINTED_COUNT; i++) {
        const written *w = &s->written[i];
        if (w->is_full)
            continue;
        if (formats[i] == OUTPUT_JSON)
            require(is_json_lines(w->bytes, w->size));
        else if (formats[i] == OUTPUT_CSV || formats[i] == OUTPUT_PDH_CSV)
            require(is_csv(w->bytes, w->size, ','));
        else if (formats[i] == OUTPUT_PDH_TSV)
            require(is_csv(w->bytes, w->size, '\t'));
        else if (formats[i] == OUTPUT_PROMETHEUS)
            require(is_metrics(w->bytes, w->size));
        else
            require(is_utf8(w->bytes, w->size));
        if (i == PAGE) /* the points, and the script */
            require(count_of(w, "<script") == 2 && count_of(w, "</script") == 2);
    }
}

static void compare(const sinks *a, const sinks *b)
{
    for (size_t i = 0; i < PRINTED_COUNT; i++) {
        const written *one = &a->written[i];
        const written *other = &b->written[i];
        require(one->is_full == other->is_full && one->size == other->size &&
                memcmp(one->bytes, other->bytes, one->size) == 0);
    }
}

static void free_written(sinks *s)
{
    for (size_t i = 0; i < PRINTED_COUNT; i++)
        free(s->written[i].bytes);
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

/* Bytes that are read in pieces. */
typedef struct pieces {
    const uint8_t *data;
    size_t size;
    uint64_t random;
} pieces;

static int64_t read_piece(void *context, uint64_t offset, void *to, uint64_t byte_count)
{
    pieces *p = context;
    uint64_t left = offset < p->size ? p->size - offset : 0;
    p->random = p->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    uint64_t count = 1 + (p->random >> 33) % (p->random >> 62 == 0 ? 4096 : 16);
    count = count < byte_count ? count : byte_count;
    count = count < left ? count : left;
    if (count > 0)
        memcpy(to, p->data + offset, (size_t)count);
    return (int64_t)count;
}

/* Prints what the stream has: with all sinks, or only the columns of the log. Closes the stream. */
static void print_stream(sinks *s, pfb_stream *stream, const pfb_input *input, bool has_rows)
{
    pfb_collector *collector = pfb_collector_new();
    require(stream && collector && pfb_stream_add(stream, input) == 0);
    while (pfb_collector_read(collector, stream) == PFB_NEXT_RECORD) {
        for (size_t i = 0; i < PRINTED_COUNT; i++) {
            if (has_rows || i == LOG)
                print(s, i, collector);
        }
    }
    pfb_collector_close(collector);
    pfb_stream_close(stream);
}

static void print_input(sinks *s, const pfb_input *input, const pfb_input *again, size_t size)
{
    begin(s, size);
    print_stream(s, open_steady_stream(), input, false);
    current = &s->written[LOG];
    sink_end(&s->run[LOG]);
    s->run[LOG] = (sink_run){.out = &s->out[LOG]};
    pdh_log_begin_rows(s->out[LOG].pdh);
    print_stream(s, open_steady_stream(), again, true);
    end(s, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t none = 0;
    static sinks whole, in_pieces;
    data = size > 0 ? data : &none;
    pieces p = {.data = data, .size = size, .random = size};
    const pfb_input memory = {.size = sizeof memory, .label = "input", .data = data, .byte_count = size};
    const pfb_input pieces_of_it = {
        .size = sizeof pieces_of_it, .label = "input", .context = &p, .read = read_piece, .can_seek = true};
    memory_at_exhaustion(abort);
    diagnostics_mute(true);
    time_text_show(TIMES_UTC);
    print_input(&whole, &memory, &memory, size);
    print_input(&in_pieces, &memory, &pieces_of_it, size);
    check_formats(&whole);
    compare(&whole, &in_pieces);
    free_written(&whole);
    free_written(&in_pieces);
    return 0;
}
