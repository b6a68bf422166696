/* SPDX-License-Identifier: MIT */
#include "cpi/cpi_source_private.h"
#include "perfblock/capture.h"
#include "perfblock/cpi/text.h"

#include <stdlib.h>
#include <string.h>

/* A copy of the text, or of the capture that contains texts. It does not change, so any number of threads may read it.
 */
typedef struct fixture {
    uint8_t *data;
    size_t size;
} fixture;

/* Position of a reader: in a text, and in the capture that contains it, if any. */
typedef struct cursor {
    pfb_cpi_text text;
    pfb_capture capture;
    const uint8_t *data; /* the text, or the capture */
    bool is_capture;
    size_t base; /* offset of the current text in `data` */
} cursor;

typedef struct fixture_reader {
    uint32_t mode;
    cursor at;
    pfb_cpi_cpu cpus[PFB_CPI_CPU_LIMIT]; /* of a step, which is read whole even if the caller's array is too small */
} fixture_reader;

/* ---- Steps --------------------------------------------------------------------------------------------------- */

/* Opens the next text of a capture. Returns false at its end and after a failure. */
static bool next_text(cursor *at)
{
    pfb_chunk chunk;
    if (!at->is_capture)
        return false;
    while (pfb_capture_next_chunk(&at->capture, &chunk)) {
        if (!chunk.is_known || chunk.tag != PFB_TAG_SNAPSHOTS)
            continue;
        at->base = chunk.body_offset;
        return pfb_cpi_text_open(&at->text, at->data + chunk.body_offset, chunk.body_size_bytes);
    }
    return false;
}

/* Moves to the first step. Returns false if there is no text, or the first one cannot be opened. */
static bool open_first_text(cursor *at, const void *data, size_t size)
{
    *at = (cursor){.data = data, .is_capture = pfb_capture_recognise(data, size)};
    if (!at->is_capture)
        return pfb_cpi_text_open(&at->text, data, size);
    pfb_capture_open(&at->capture, data, size, true, NULL);
    return next_text(at);
}

/* Moves to the next step. Returns false at the end, and after an error in the text or the capture. */
static bool next_step(cursor *at, pfb_cpi_cpu *cpus, pfb_cpi_step *step)
{
    do {
        if (pfb_cpi_text_next(&at->text, cpus, PFB_CPI_CPU_LIMIT, step))
            return true;
    } while (at->text.error.code == PFB_OK && next_text(at));
    return false;
}

/* Returns the first error in the part of the input that was read, with its offset in the input, or PFB_OK. */
static pfb_error first_error(const cursor *at)
{
    pfb_error error = at->text.error;
    error.offset += at->base;
    return error.code != PFB_OK ? error : at->capture.error;
}

/* Fails with the code and sentence of a refusal: a step that records why counters could not be read. */
static void fail_refusal(const cursor *at, const pfb_cpi_step *step, pfb_cpi_failure *failure)
{
    const char *sentence = (const char *)at->text.data + step->sentence_offset;
    size_t size = step->sentence_size_bytes;
    int length = size < sizeof failure->sentence ? (int)size : (int)sizeof failure->sentence; /* truncated */
    const pfb_cpi_code *code = pfb_cpi_code_find(step->code);
    if (length == 0) /* a refusal may have no sentence, but a failure must have one */
        pfb_cpi_fail(failure, step->code, "%s",
                     code ? code->text : "the fixture records that the counters were refused");
    else
        pfb_cpi_fail(failure, step->code, "%.*s", length, sentence);
}

/* ---- Readers --------------------------------------------------------------------------------------------------- */

static void close_fixture(void *context)
{
    fixture *source = context;
    free(source->data);
    free(source);
}

static void reader_close(void *reader)
{
    free(reader);
}

/* Looks at the first step without consuming it: if it is a refusal, opening fails, as with a live source. */
static void *reader_open(void *context, uint32_t mode, pfb_cpi_failure *failure)
{
    const fixture *source = context;
    fixture_reader *reader = malloc(sizeof *reader);
    pfb_cpi_step step;
    if (!reader) {
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    reader->mode = mode;
    open_first_text(&reader->at, source->data, source->size);
    cursor ahead = reader->at;
    if (next_step(&ahead, reader->cpus, &step) && step.is_refusal) {
        fail_refusal(&ahead, &step, failure);
        free(reader);
        return NULL;
    }
    return reader;
}

/* Checks that a snapshot has what the mode requires. */
static bool check_mode(uint32_t mode, const pfb_cpi_step *step, pfb_cpi_failure *failure)
{
    bool needs_cpus = (mode & PFB_CPI_THREAD_ONLY) == 0;
    if (needs_cpus && (mode & PFB_CPI_SCALED) && !step->has_busy)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_EVENT_NOT_SUPPORTED,
                            "the snapshot on line %u has no busy and elapsed cycles of its CPUs", (unsigned)step->line);
    if ((mode & PFB_CPI_ON_THREAD) && !step->snapshot.has_thread)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_EVENT_NOT_SUPPORTED, "the snapshot on line %u has no thread",
                            (unsigned)step->line);
    return true;
}

/* Copies the parts of a snapshot that the mode requires. */
static bool copy_snapshot(const fixture_reader *reader, const pfb_cpi_step *step, pfb_cpi_cpu *cpus, size_t capacity,
                          pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    const pfb_cpi_snapshot *snapshot = &step->snapshot;
    size_t count = reader->mode & PFB_CPI_THREAD_ONLY ? 0 : snapshot->cpu_count;
    if (count > capacity)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INSUFFICIENT_RESOURCES,
                            "the snapshot on line %u has %zu CPUs, but only %zu fit", (unsigned)step->line, count,
                            capacity);
    if (count > 0)
        memcpy(cpus, snapshot->cpus, count * sizeof *cpus);
    reading->widths = reader->at.text.widths;
    reading->snapshot.clock = snapshot->clock;
    reading->snapshot.cpu_count = count;
    if (reader->mode & PFB_CPI_ON_THREAD) {
        reading->snapshot.has_thread = true;
        reading->snapshot.thread = snapshot->thread;
        reading->is_user_only = step->is_user_only;
    }
    return true;
}

/* Consumes a step, even if the reading fails. */
static bool read_next(void *context, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity,
                      pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    fixture_reader *reader = context;
    pfb_cpi_step step;
    (void)moment;
    if (!next_step(&reader->at, reader->cpus, &step))
        return pfb_cpi_fail(failure, PFB_PU_ERROR_READ_PERFORMANCE_DATA, "the fixture has no more snapshots");
    if (step.is_refusal) {
        fail_refusal(&reader->at, &step, failure);
        return false;
    }
    return check_mode(reader->mode, &step, failure) && copy_snapshot(reader, &step, cpus, capacity, reading, failure);
}

static bool unhalted(const void *reader, size_t position, uint64_t *cycles)
{
    (void)reader;
    (void)position;
    *cycles = 0;
    return false; /* snapshots have no unhalted cycles */
}

/* ---- Opening --------------------------------------------------------------------------------------------------- */

static const pfb_cpi_source_operations operations = {.close = close_fixture,
                                                     .reader_open = reader_open,
                                                     .reader_close = reader_close,
                                                     .read = read_next,
                                                     .unhalted = unhalted};

/* Reads every step once, so that no reader finds a malformed one later. */
static bool check_input(const void *data, size_t size, pfb_cpi_cpu *cpus, pfb_cpi_failure *failure)
{
    cursor at;
    pfb_cpi_step step;
    bool has_text = open_first_text(&at, data, size);
    while (has_text && next_step(&at, cpus, &step)) {
    }
    pfb_error error = first_error(&at);
    if (error.code != PFB_OK)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_PARAMETER, "the snapshots cannot be read at offset %zu: %s",
                            error.offset, pfb_code_text(error.code));
    return has_text || pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_PARAMETER, "the capture has no CPI snapshots");
}

static fixture *make_fixture(const void *data, size_t size)
{
    fixture *source = malloc(sizeof *source);
    uint8_t *copy = malloc(size);
    if (!source || !copy) {
        free(source);
        free(copy);
        return NULL;
    }
    memcpy(copy, data, size);
    *source = (fixture){.data = copy, .size = size};
    return source;
}

pfb_cpi_source *pfb_cpi_source_open_fixture(const void *data, size_t size, pfb_cpi_failure *failure)
{
    pfb_cpi_cpu *cpus = malloc(PFB_CPI_CPU_LIMIT * sizeof *cpus);
    if (!cpus) {
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    bool is_valid = check_input(data, size, cpus, failure);
    free(cpus);
    if (!is_valid)
        return NULL;
    fixture *source = make_fixture(data, size);
    if (!source) {
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    return pfb_cpi_source_make(&operations, source, failure);
}
