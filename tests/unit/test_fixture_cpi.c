/* SPDX-License-Identifier: MIT */
/* The CPI source that replays recorded snapshots from texts and captures. */
#include "support.h"

#include <criterion/criterion.h>

#include "perfblock/capture.h"
#include "perfblock/cpi_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "cpi-snapshots 1\n"

static pfb_cpi_cpu cpus[PFB_CPI_CPU_LIMIT];
static pfb_cpi_reading reading;
static pfb_cpi_failure failure;

/* ---- Opening and reading --------------------------------------------------------------------------------------- */

/* Opens a source with a copy of the bytes, and frees the copy as soon as the source is open. */
static pfb_cpi_source *open_bytes(const void *data, size_t size)
{
    void *copy = malloc(size > 0 ? size : 1);
    cr_assert_not_null(copy);
    if (size > 0)
        memcpy(copy, data, size);
    failure = (pfb_cpi_failure){0};
    pfb_cpi_source *source = pfb_cpi_source_open_fixture(copy, size, &failure);
    memset(copy, '?', size);
    free(copy);
    return source;
}

static pfb_cpi_source *open_text(const char *text)
{
    pfb_cpi_source *source = open_bytes(text, strlen(text));
    cr_assert(source, "%s: %s", text, failure.sentence);
    return source;
}

static pfb_cpi_reader *open_reader(pfb_cpi_source *source, uint32_t mode)
{
    pfb_cpi_reader *reader = pfb_cpi_reader_open(source, mode, &failure);
    cr_assert(reader, "%s", failure.sentence);
    return reader;
}

static bool read_next(pfb_cpi_reader *reader)
{
    memset(&reading, 0x55, sizeof reading);
    memset(cpus, 0x55, sizeof cpus);
    failure = (pfb_cpi_failure){0};
    return pfb_cpi_reader_read(reader, PFB_CPI_AT_START, cpus, PFB_CPI_CPU_LIMIT, &reading, &failure);
}

static void expect_clock(pfb_cpi_reader *reader, uint64_t clock)
{
    cr_assert(read_next(reader), "%s", failure.sentence);
    cr_expect(reading.snapshot.clock == clock && reading.snapshot.cpus == cpus);
}

static void expect_failure(int code, const char *sentence)
{
    cr_expect_eq(failure.code, code, "%d: %s", failure.code, failure.sentence);
    cr_expect_str_eq(failure.sentence, sentence);
}

static void expect_end(pfb_cpi_reader *reader)
{
    for (int i = 0; i < 2; i++) {
        cr_expect_not(read_next(reader));
        expect_failure(PFB_PU_ERROR_READ_PERFORMANCE_DATA, "the fixture has no more snapshots");
    }
}

/* ---- Captures -------------------------------------------------------------------------------------------------- */

static void put_chunk(bytes *b, uint32_t tag, const char *body)
{
    const pfb_chunk chunk = {.tag = tag};
    size_t size = pfb_capture_write(&chunk, body, strlen(body), b->data + b->size, sizeof b->data - b->size);
    cr_assert_leq(size, sizeof b->data - b->size);
    b->size += size;
}

static bytes begin_capture(void)
{
    bytes b = {.size = 0};
    put_chunk(&b, PFB_TAG_CAPTURE, "");
    return b;
}

/* ---- Snapshots -------------------------------------------------------------------------------------------------- */

#define EXAMPLE                                                                                                        \
    HEAD "widths 40 64\n"                                                                                              \
         "snapshot 500\ncpu 0 1099511626776 10 0 0\ncpu 1 777 10 5 0\ncpu 3 1 1 1 1\nthread 900 0 0\n"                 \
         "snapshot 8500\ncpu 0 3000 8010 6000 8000\ncpu 1 777 8010 5 8000\nthread 900 3200 4801 user\n"

Test(fixture_cpi, snapshots_are_replayed_with_cpus_and_thread)
{
    pfb_cpi_source *source = open_text(EXAMPLE);
    pfb_cpi_reader *reader = open_reader(source, PFB_CPI_RAW | PFB_CPI_SCALED | PFB_CPI_ON_THREAD);
    uint64_t cycles;
    expect_clock(reader, 500);
    cr_expect(reading.widths.instr == 40 && reading.widths.cycles == 64 && reading.snapshot.cpu_count == 3);
    cr_expect(cpus[0].instr == 1099511626776 && cpus[1].cpu == 1 && cpus[1].busy == 5 && cpus[2].cpu == 3);
    cr_expect(reading.snapshot.has_thread && reading.snapshot.thread.tid == 900 && !reading.is_user_only);
    cr_expect_not(pfb_cpi_reader_unhalted(reader, 0, &cycles));
    expect_clock(reader, 8500);
    cr_expect(reading.snapshot.cpu_count == 2 && cpus[0].cycles == 8010 && cpus[1].elapsed == 8000);
    cr_expect(reading.snapshot.thread.instr == 3200 && reading.snapshot.thread.cycles == 4801 && reading.is_user_only);
    expect_end(reader);
    pfb_cpi_reader_close(reader);
    pfb_cpi_source_close(source);
}

/* CPUs and threads that the mode does not request are absent. */
Test(fixture_cpi, each_mode_returns_what_it_requests)
{
    pfb_cpi_source *source = open_text(EXAMPLE);
    pfb_cpi_reader *raw = open_reader(source, PFB_CPI_RAW);
    expect_clock(raw, 500);
    cr_expect(reading.snapshot.cpu_count == 3 && !reading.snapshot.has_thread);
    expect_clock(raw, 8500);
    cr_expect(!reading.snapshot.has_thread && reading.snapshot.thread.tid == 0 && !reading.is_user_only);
    pfb_cpi_reader *alone = open_reader(source, PFB_CPI_THREAD_ONLY);
    cr_assert(pfb_cpi_reader_read(alone, PFB_CPI_AT_START, NULL, 0, &reading, &failure), "no array of CPUs is needed");
    cr_expect(reading.snapshot.clock == 500 && reading.snapshot.cpu_count == 0 && reading.snapshot.has_thread);
    expect_clock(alone, 8500);
    cr_expect(reading.snapshot.thread.tid == 900 && reading.is_user_only);
    pfb_cpi_reader_close(raw);
    pfb_cpi_reader_close(alone);
    pfb_cpi_source_close(source);
}

Test(fixture_cpi, every_reader_starts_at_the_first_step)
{
    pfb_cpi_source *source = open_text(HEAD "snapshot 1\nsnapshot 2\nsnapshot 3\n");
    pfb_cpi_reader *first = open_reader(source, PFB_CPI_RAW);
    expect_clock(first, 1);
    expect_clock(first, 2);
    pfb_cpi_reader *second = open_reader(source, PFB_CPI_RAW);
    expect_clock(second, 1);
    expect_clock(first, 3);
    expect_clock(second, 2);
    expect_end(first);
    expect_clock(second, 3);
    expect_end(second);
    pfb_cpi_reader_close(second);
    pfb_cpi_reader_close(first);
    pfb_cpi_source_close(source);
}

Test(fixture_cpi, each_text_of_a_capture_is_read)
{
    bytes b = begin_capture();
    put_chunk(&b, PFB_TAG_NOTE, "not this");
    put_chunk(&b, PFB_TAG_SNAPSHOTS, HEAD "widths 40 48\nsnapshot 1\nsnapshot 2\n");
    put_chunk(&b, PFB_TAG_SNAPSHOTS, HEAD);
    put_chunk(&b, PFB_TAG_HOOKS, "nor that");
    put_chunk(&b, PFB_TAG_SNAPSHOTS, HEAD "snapshot 3\n");
    pfb_cpi_source *source = open_bytes(b.data, b.size);
    cr_assert(source, "%s", failure.sentence);
    pfb_cpi_reader *reader = open_reader(source, PFB_CPI_RAW);
    expect_clock(reader, 1);
    expect_clock(reader, 2);
    cr_expect(reading.widths.instr == 40 && reading.widths.cycles == 48);
    expect_clock(reader, 3);
    cr_expect(reading.widths.instr == 64 && reading.widths.cycles == 64,
              "the widths of the first text do not apply to the third");
    expect_end(reader);
    pfb_cpi_reader_close(reader);
    pfb_cpi_source_close(source);
}

Test(fixture_cpi, a_text_without_steps_has_no_snapshots)
{
    pfb_cpi_source *source = open_text(HEAD);
    pfb_cpi_reader *reader = open_reader(source, PFB_CPI_RAW);
    expect_end(reader);
    pfb_cpi_reader_close(reader);
    pfb_cpi_source_close(source);
}

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

Test(fixture_cpi, snapshots_without_the_requested_data_are_failures)
{
    pfb_cpi_source *source =
        open_text(HEAD "snapshot 1\ncpu 0 1 2\nsnapshot 2\n\ncpu 0 1 2 3 4\nthread 1 2 3\nsnapshot 3\n");
    pfb_cpi_reader *scaled = open_reader(source, PFB_CPI_SCALED);
    cr_expect_not(read_next(scaled));
    expect_failure(PFB_PU_ERROR_EVENT_NOT_SUPPORTED,
                   "the snapshot on line 2 has no busy and elapsed cycles of its CPUs");
    expect_clock(scaled, 2);
    cr_expect_not(read_next(scaled), "a snapshot without CPUs has no busy cycles");
    expect_failure(PFB_PU_ERROR_EVENT_NOT_SUPPORTED,
                   "the snapshot on line 8 has no busy and elapsed cycles of its CPUs");
    expect_end(scaled);
    static const uint32_t modes[] = {PFB_CPI_ON_THREAD, PFB_CPI_THREAD_ONLY, PFB_CPI_THREAD_ONLY | PFB_CPI_ON_THREAD};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        pfb_cpi_reader *reader = open_reader(source, modes[i]);
        cr_expect_not(read_next(reader));
        expect_failure(PFB_PU_ERROR_EVENT_NOT_SUPPORTED, "the snapshot on line 2 has no thread");
        expect_clock(reader, 2);
        pfb_cpi_reader_close(reader);
    }
    pfb_cpi_reader_close(scaled);
    pfb_cpi_source_close(source);
}

Test(fixture_cpi, more_cpus_than_the_capacity_are_a_failure)
{
    pfb_cpi_source *source = open_text(HEAD "snapshot 1\ncpu 0 1 2\ncpu 1 1 2\nsnapshot 2\ncpu 0 1 2\ncpu 1 1 2\n");
    pfb_cpi_reader *reader = open_reader(source, PFB_CPI_RAW);
    pfb_cpi_cpu two[3] = {{0}, {0}, {.cpu = 77}};
    cr_expect_not(pfb_cpi_reader_read(reader, PFB_CPI_AT_START, two, 1, &reading, &failure));
    expect_failure(PFB_PU_ERROR_INSUFFICIENT_RESOURCES, "the snapshot on line 2 has 2 CPUs, but only 1 fit");
    cr_expect_eq(two[0].instr, 0, "no partial snapshot is stored");
    cr_assert(pfb_cpi_reader_read(reader, PFB_CPI_AT_END, two, 2, &reading, NULL));
    cr_expect(reading.snapshot.clock == 2 && two[1].cpu == 1 && two[2].cpu == 77);
    cr_expect_not(pfb_cpi_reader_read(reader, PFB_CPI_AT_END, two, 2, &reading, NULL),
                  "the pointer to the failure may be null");
    pfb_cpi_reader_close(reader);
    pfb_cpi_source_close(source);
}

/* If the first step is a refusal, opening a reader fails, each time. */
Test(fixture_cpi, a_refusal_in_the_first_step_fails_at_once)
{
    pfb_cpi_source *source = open_text(HEAD "refuse -234 instructions on CPU 0, ENOENT\nsnapshot 1\n");
    for (int i = 0; i < 3; i++) {
        failure = (pfb_cpi_failure){0};
        cr_expect_null(pfb_cpi_reader_open(source, PFB_CPI_RAW, &failure));
        expect_failure(PFB_PU_ERROR_NOT_VALID_IN_VM, "instructions on CPU 0, ENOENT");
    }
    cr_expect_null(pfb_cpi_reader_open(source, PFB_CPI_RAW, NULL));
    pfb_cpi_source_close(source);
}

Test(fixture_cpi, a_refusal_in_a_later_step_fails_there)
{
    pfb_cpi_source *source =
        open_text(HEAD "snapshot 1\nrefuse -5\nrefuse 77\nrefuse -211 another session\nsnapshot 2\n");
    pfb_cpi_reader *reader = open_reader(source, PFB_CPI_RAW);
    expect_clock(reader, 1);
    cr_expect_not(read_next(reader));
    expect_failure(PFB_PU_ERROR_ACCESS_DENIED, "the system refuses the counters to this user");
    cr_expect_not(read_next(reader));
    expect_failure(77, "the fixture records that the counters were refused");
    cr_expect_not(read_next(reader));
    expect_failure(PFB_PU_ERROR_FACILITY_BUSY, "another session");
    expect_clock(reader, 2);
    pfb_cpi_reader_close(reader);
    pfb_cpi_source_close(source);
}

/* A sentence that is too long is cut between two characters. The sentences here have one or two characters of one byte,
 * then characters of two bytes. */
Test(fixture_cpi, long_sentences_are_truncated)
{
    for (size_t size = 1; size < 600; size++) {
        char text[700] = HEAD "refuse -5 x";
        strcat(text, size % 2 == 0 ? "x" : "");
        for (size_t i = 2; i < size; i += 2)
            strcat(text, "\xC3\xA4");
        strcat(text, "\n");
        pfb_cpi_source *source = open_text(text);
        cr_expect_null(pfb_cpi_reader_open(source, PFB_CPI_RAW, &failure));
        cr_expect_eq(strlen(failure.sentence), size < 240 ? size : size % 2 == 0 ? 238 : 239, "%zu", size);
        cr_expect(is_utf8(failure.sentence) && failure.code == PFB_PU_ERROR_ACCESS_DENIED, "%zu", size);
        pfb_cpi_source_close(source);
    }
}

/* ---- Input that is refused ----------------------------------------------------------------------------- */

static void expect_refused(const void *data, size_t size, const char *sentence)
{
    cr_expect_null(open_bytes(data, size));
    expect_failure(PFB_PU_ERROR_INVALID_PARAMETER, sentence);
    cr_expect_null(pfb_cpi_source_open_fixture(data, size, NULL));
}

Test(fixture_cpi, broken_texts_are_refused)
{
    static const char broken[] = HEAD "snapshot 1\nsnapshot x\nsnapshot 2\n";
    char sentence[240];
    expect_refused(NULL, 0, "the snapshots cannot be read at offset 0: the input is in no known format");
    expect_refused("hello", 5, "the snapshots cannot be read at offset 0: the input is in no known format");
    expect_refused(
        "cpi-snapshots 2\n", 16,
        "the snapshots cannot be read at offset 0: the format is recognised, but this version does not read it");
    snprintf(sentence, sizeof sentence, "the snapshots cannot be read at offset 27: %s",
             pfb_code_text(PFB_BAD_CPI_LINE));
    expect_refused(broken, sizeof broken - 1, sentence);
}

Test(fixture_cpi, broken_captures_are_refused)
{
    char sentence[240];
    bytes b = begin_capture();
    expect_refused(b.data, b.size, "the capture has no CPI snapshots");
    put_chunk(&b, PFB_TAG_NOTE, "none");
    expect_refused(b.data, b.size, "the capture has no CPI snapshots");
    put_chunk(&b, PFB_TAG_SNAPSHOTS, HEAD "snapshot 1\n");
    size_t base = b.size + PFB_CHUNK_HEADER_BYTES;
    bytes cut = b;
    put_chunk(&b, PFB_TAG_SNAPSHOTS, HEAD "snapshot 1\ncpu 0\n");
    snprintf(sentence, sizeof sentence, "the snapshots cannot be read at offset %zu: %s", base + 27,
             pfb_code_text(PFB_BAD_CPI_LINE));
    expect_refused(b.data, b.size, sentence);
    put_chunk(&cut, PFB_TAG_NOTE, "a chunk that is cut");
    snprintf(sentence, sizeof sentence, "the snapshots cannot be read at offset %zu: %s", base - PFB_CHUNK_HEADER_BYTES,
             pfb_code_text(PFB_TRUNCATED_CHUNK));
    expect_refused(cut.data, cut.size - 1, sentence);
    b = begin_capture();
    put_chunk(&b, PFB_TAG_SNAPSHOTS, "");
    expect_refused(b.data, b.size, "the snapshots cannot be read at offset 32: the input is in no known format");
}

Test(fixture_cpi, null_can_be_closed)
{
    pfb_cpi_source_close(NULL);
    pfb_cpi_reader_close(NULL);
}

/* ---- Other sources ------------------------------------------------------------------------------------- */

/* What the operations of the test's own source were called with. */
static struct {
    uint32_t mode;
    pfb_cpi_moment moment;
    size_t opened, closed, readers_closed;
} calls;

static void close_own_source(void *context)
{
    cr_expect_eq(context, &calls);
    calls.closed++;
}

static void *open_own_reader(void *context, uint32_t mode, pfb_cpi_failure *own_failure)
{
    calls.mode = mode;
    calls.opened++;
    if (mode & PFB_CPI_SCALED) {
        own_failure->code = PFB_PU_ERROR_FACILITY_BUSY;
        return NULL;
    }
    return context;
}

static void close_own_reader(void *reader)
{
    cr_expect_eq(reader, &calls);
    calls.readers_closed++;
}

static bool read_own_source(void *reader, pfb_cpi_moment moment, pfb_cpi_cpu *to_cpus, size_t capacity,
                            pfb_cpi_reading *out, pfb_cpi_failure *own_failure)
{
    (void)own_failure;
    static const pfb_cpi_reading zeros;
    calls.moment = moment;
    cr_expect(reader == &calls && to_cpus == cpus && capacity == 5 && out->snapshot.cpus == cpus);
    cr_expect(out->snapshot.clock == zeros.snapshot.clock && out->snapshot.cpu_count == 0 && out->widths.instr == 0);
    out->snapshot.clock = 5;
    return true;
}

static bool own_unhalted(const void *reader, size_t position, uint64_t *cycles)
{
    cr_expect_eq(reader, &calls);
    *cycles = 100 + position;
    return true;
}

Test(fixture_cpi, calls_reach_the_operations_of_another_source)
{
    static const pfb_cpi_source_operations own_operations = {.close = close_own_source,
                                                             .reader_open = open_own_reader,
                                                             .reader_close = close_own_reader,
                                                             .read = read_own_source,
                                                             .unhalted = own_unhalted};
    uint64_t cycles = 0;
    pfb_cpi_source *source = pfb_cpi_source_make(&own_operations, &calls, &failure);
    cr_assert_not_null(source);
    cr_expect_null(pfb_cpi_reader_open(source, PFB_CPI_SCALED, &failure));
    cr_expect_eq(failure.code, PFB_PU_ERROR_FACILITY_BUSY);
    pfb_cpi_reader *reader = open_reader(source, PFB_CPI_THREAD_ONLY);
    cr_expect_eq(calls.mode, 0x80000004, "PFB_CPI_THREAD_ONLY includes PFB_CPI_ON_THREAD");
    memset(&reading, 0x55, sizeof reading);
    cr_expect(pfb_cpi_reader_read(reader, PFB_CPI_AT_END, cpus, 5, &reading, NULL));
    cr_expect(calls.moment == PFB_CPI_AT_END && reading.snapshot.clock == 5);
    cr_expect(pfb_cpi_reader_unhalted(reader, 7, &cycles) && cycles == 107);
    pfb_cpi_reader_close(reader);
    cr_expect(calls.readers_closed == 1 && calls.closed == 0);
    pfb_cpi_source_close(source);
    cr_expect(calls.readers_closed == 1 && calls.closed == 1 && calls.opened == 2);
}
