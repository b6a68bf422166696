/* SPDX-License-Identifier: MIT */
#include "cpi/cpi_source_private.h"
#include "perfblock/capture.h"
#include "perfblock/cpi/text.h"

#include <stdlib.h>
#include <string.h>

/* A fixture hands out the steps of texts. Nothing in it changes once it is open, so any number of threads may read. */
typedef struct fixture {
    uint8_t *data;
    size_t size;
} fixture;

/* Where a reader is: in a text, and in the capture that has it, if it is in one. */
typedef struct place {
    pfb_cpi_text text;
    pfb_capture capture;
    bool is_capture;
    size_t base; /* where the text begins */
} place;

typedef struct fixture_reader {
    uint32_t mode;
    place at;
    pfb_cpi_cpu cpus[PFB_CPI_MOST_CPUS]; /* a step is read whole, whatever the caller has room for */
} fixture_reader;

/* ---- Steps --------------------------------------------------------------------------------------------------- */

/* The next text of a capture. False at its end, and after a failure. */
static bool next_text(place *at)
{
    pfb_chunk chunk;
    if (!at->is_capture)
        return false;
    while (pfb_capture_next(&at->capture, &chunk)) {
        if (!chunk.is_known || chunk.tag != PFB_TAG_SNAPSHOTS)
            continue;
        at->base = chunk.body_offset;
        return pfb_cpi_text_open(&at->text, at->capture.data + chunk.body_offset, chunk.body_size_bytes);
    }
    return false;
}

/* At the first step. False when there is no text. */
static bool start(place *at, const void *data, size_t size)
{
    *at = (place){.is_capture = pfb_capture_recognise(data, size)};
    if (!at->is_capture)
        return pfb_cpi_text_open(&at->text, data, size);
    pfb_capture_open(&at->capture, data, size);
    return next_text(at);
}

/* False at the end, and after a failure. */
static bool next_step(place *at, pfb_cpi_cpu *cpus, pfb_cpi_step *step)
{
    do {
        if (pfb_cpi_text_next(&at->text, cpus, PFB_CPI_MOST_CPUS, step))
            return true;
    } while (at->text.error.code == PFB_OK && next_text(at));
    return false;
}

/* What is wrong with the bytes up to here, by their offset; PFB_OK when nothing is. */
static pfb_error error_of(const place *at)
{
    pfb_error error = at->text.error;
    error.offset += at->base;
    return error.code != PFB_OK ? error : at->capture.error;
}

/* A refusal's own code and sentence. */
static void fail_as_told(const place *at, const pfb_cpi_step *step, pfb_cpi_failure *failure)
{
    const char *sentence = (const char *)at->text.data + step->sentence_offset;
    size_t size = step->sentence_size_bytes;
    int length = size < sizeof failure->sentence ? (int)size : (int)sizeof failure->sentence; /* the rest is cut */
    const pfb_cpi_code *code = pfb_cpi_code_find(step->code);
    if (length == 0) /* a sentence is never empty */
        pfb_cpi_fail(failure, step->code, "%s", code ? code->text : "the fixture refuses");
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

/* A source that refuses at once refuses to be opened, as a live one does; the step is not taken off for that. */
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
    start(&reader->at, source->data, source->size);
    place ahead = reader->at;
    if (next_step(&ahead, reader->cpus, &step) && step.is_refusal) {
        fail_as_told(&ahead, &step, failure);
        free(reader);
        return NULL;
    }
    return reader;
}

/* Whether a snapshot has what the mode asks for. */
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

/* Hands out a snapshot: as much of it as the mode asks for. */
static bool hand_out(const fixture_reader *reader, const pfb_cpi_step *step, pfb_cpi_cpu *cpus, size_t capacity,
                     pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    const pfb_cpi_snapshot *snapshot = &step->snapshot;
    size_t count = reader->mode & PFB_CPI_THREAD_ONLY ? 0 : snapshot->cpu_count;
    if (count > capacity)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INSUFFICIENT_RESOURCES,
                            "the snapshot on line %u has %zu CPUs, and there is room for %zu", (unsigned)step->line,
                            count, capacity);
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

/* Takes a step, also where it then fails. */
static bool read_next(void *context, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity,
                      pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    fixture_reader *reader = context;
    pfb_cpi_step step;
    (void)moment;
    if (!next_step(&reader->at, reader->cpus, &step))
        return pfb_cpi_fail(failure, PFB_PU_ERROR_READ_PERFORMANCE_DATA, "the fixture has no more snapshots");
    if (step.is_refusal) {
        fail_as_told(&reader->at, &step, failure);
        return false;
    }
    return check_mode(reader->mode, &step, failure) && hand_out(reader, &step, cpus, capacity, reading, failure);
}

static bool unhalted(const void *reader, size_t position, uint64_t *cycles)
{
    (void)reader;
    (void)position;
    *cycles = 0;
    return false; /* snapshots have none */
}

/* ---- Opening --------------------------------------------------------------------------------------------------- */

static const pfb_cpi_source_operations operations = {.close = close_fixture,
                                                     .reader_open = reader_open,
                                                     .reader_close = reader_close,
                                                     .read = read_next,
                                                     .unhalted = unhalted};

/* Every step is read once, so that no reader meets a broken one. */
static bool check_input(const void *data, size_t size, pfb_cpi_cpu *cpus, pfb_cpi_failure *failure)
{
    place at;
    pfb_cpi_step step;
    bool has_text = start(&at, data, size);
    while (has_text && next_step(&at, cpus, &step)) {
    }
    pfb_error error = error_of(&at);
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
    pfb_cpi_cpu *cpus = malloc(PFB_CPI_MOST_CPUS * sizeof *cpus);
    if (!cpus) {
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    bool is_sound = check_input(data, size, cpus, failure);
    free(cpus);
    if (!is_sound)
        return NULL;
    fixture *source = make_fixture(data, size);
    if (!source) {
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    return pfb_cpi_source_make(&operations, source, failure);
}
