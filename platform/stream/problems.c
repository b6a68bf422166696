/* SPDX-License-Identifier: MIT */
/* The queue of problems, and the budget of memory. */
#include "stream/stream_private.h"

#include "select/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Problems -------------------------------------------------------------------------------------------- */

/* More problems are dropped if the caller takes none: a file may have any number of them. */
enum { MAX_PROBLEMS = 4096, MAX_SENTENCE = 1024 };

static void report_list(pfb_stream *stream, const pfb_problem *problem, const char *format, va_list arguments)
{
    char text[MAX_SENTENCE];
    if (stream->is_trial || stream->problem_count - stream->problems_taken >= MAX_PROBLEMS)
        return;
    if (stream->problems_taken == stream->problem_count)
        stream->problems_taken = stream->problem_count = 0;
    pfb_source_format_sentence(text, sizeof text, format, arguments);
    size_t size = strlen(text) + 1;
    void *grown = pfb_source_grow(stream->problems, &stream->problem_capacity, stream->problem_count + 1,
                                  sizeof *stream->problems);
    if (grown)
        stream->problems = grown;
    char *sentence = grown ? malloc(size) : NULL;
    if (!sentence) {
        pfb_stream_fail_memory(stream);
        return;
    }
    memcpy(sentence, text, size);
    stream->problems[stream->problem_count++] = (stream_problem){.problem = *problem, .sentence = sentence};
}

void pfb_stream_report(pfb_stream *stream, const pfb_problem *problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_list(stream, problem, format, arguments);
    va_end(arguments);
}

void pfb_stream_note(stream_input *input, uint64_t offset, const char *format, ...)
{
    const pfb_problem problem = {
        .kind = PFB_PROBLEM_NOTE, .file = input->number, .term = -1, .has_offset = 1, .offset = offset};
    va_list arguments;
    va_start(arguments, format);
    report_list(input->stream, &problem, format, arguments);
    va_end(arguments);
}

void pfb_stream_malformed(stream_input *input, uint64_t offset, pfb_code code)
{
    const pfb_problem problem = {.kind = PFB_PROBLEM_ERROR,
                                 .code = (uint32_t)code,
                                 .file = input->number,
                                 .term = -1,
                                 .has_offset = 1,
                                 .offset = offset};
    if (code != PFB_OK)
        pfb_stream_report(input->stream, &problem, "%s", pfb_code_text(code));
}

static uint32_t win32_code(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return PFB_WIN32_FILE_NOT_FOUND;
    case EACCES:
    case EPERM:
        return PFB_WIN32_ACCESS_DENIED;
    case EMFILE:
    case ENFILE:
        return PFB_WIN32_TOO_MANY_OPEN_FILES;
    case ENOMEM:
        return PFB_WIN32_NOT_ENOUGH_MEMORY;
    default:
        return PFB_WIN32_READ_FAULT;
    }
}

void pfb_stream_unreadable(stream_input *input, int error, const char *reason)
{
    const pfb_problem problem = {
        .kind = PFB_PROBLEM_FILE, .system = win32_code(error), .file = input->number, .term = -1};
    bool is_trial = input->stream->is_trial;
    if (input->is_unreadable) /* it was read in advance, or is read again */
        return;
    input->is_unreadable = true;
    input->stream->is_trial = false; /* what is read next may not fail */
    pfb_stream_report(input->stream, &problem, "%s", reason);
    input->stream->is_trial = is_trial;
}

int32_t pfb_stream_fail_memory(pfb_stream *stream)
{
    stream->lacks_memory = stream->lacks_memory || !stream->has_failed;
    stream->has_failed = true;
    return PFB_NEXT_FAILED;
}

bool pfb_stream_problem(pfb_stream *stream, pfb_problem *problem)
{
    static const pfb_problem exhausted = {
        .kind = PFB_PROBLEM_MEMORY, .file = PFB_NONE, .term = -1, .sentence = "memory is exhausted"};
    free(stream->sentence);
    stream->sentence = NULL;
    if (stream->problems_taken < stream->problem_count) {
        stream_problem *next = &stream->problems[stream->problems_taken++];
        stream->sentence = next->sentence;
        next->problem.sentence = next->sentence;
        pfb_collect_copy_out(problem, &next->problem, sizeof next->problem);
        return true;
    }
    if (!stream->lacks_memory)
        return false;
    stream->lacks_memory = false; /* the problem is returned once; the stream stays failed */
    pfb_collect_copy_out(problem, &exhausted, sizeof exhausted);
    return true;
}

void pfb_stream_free_problems(pfb_stream *stream)
{
    while (stream->problems_taken < stream->problem_count)
        free(stream->problems[stream->problems_taken++].sentence);
    free(stream->problems);
    free(stream->sentence);
}

/* ---- Memory ---------------------------------------------------------------------------------------------- */

bool pfb_stream_take(pfb_stream *stream, uint64_t bytes)
{
    if (bytes > stream->memory - stream->memory_used)
        return false;
    stream->memory_used += bytes;
    return true;
}

void pfb_stream_give(pfb_stream *stream, uint64_t bytes)
{
    stream->memory_used -= bytes;
}

static int32_t fail_budget(stream_input *input, uint64_t offset)
{
    const pfb_problem problem = {.kind = PFB_PROBLEM_MEMORY,
                                 .code = PFB_CALLER_LIMIT,
                                 .file = input->number,
                                 .term = -1,
                                 .has_offset = 1,
                                 .offset = offset};
    pfb_stream_report(input->stream, &problem,
                      "the rest of the file is left out: what begins here needs more than is left of the %" PRIu64
                      " MiB of memory that all files have",
                      input->stream->memory >> 20);
    return PFB_NEXT_END;
}

int32_t pfb_stream_resize(stream_input *input, uint8_t **bytes, size_t *capacity, size_t needed, size_t wanted,
                          uint64_t offset)
{
    pfb_stream *stream = input->stream;
    size_t least = needed > *capacity ? needed - *capacity : 0;
    size_t added = wanted > *capacity ? wanted - *capacity : 0;
    uint64_t left = pfb_stream_left(stream);
    if (least > left)
        return fail_budget(input, offset);
    if (added > left) /* half of the rest, so that memory that grows step by step needs few steps */
        added = least + (size_t)((left - least) / 2);
    if (added == 0)
        return PFB_NEXT_RECORD;
    uint8_t *grown = realloc(*bytes, *capacity + added);
    if (!grown)
        return pfb_stream_fail_memory(stream);
    pfb_stream_take(stream, added);
    *bytes = grown;
    *capacity += added;
    return PFB_NEXT_RECORD;
}

void pfb_stream_release(pfb_stream *stream, uint8_t **bytes, size_t *capacity)
{
    free(*bytes);
    pfb_stream_give(stream, *capacity);
    *bytes = NULL;
    *capacity = 0;
}
