/* SPDX-License-Identifier: MIT */
#ifndef PFB_STREAM_PRIVATE_H
#define PFB_STREAM_PRIVATE_H

/* The state of a stream, and what an input is to it. There are two kinds of inputs: files (file_input.c), which are
 * also pipes, memory and read callbacks, and sources. */
#include "perfblock/stream.h"
#include "source/source_private.h"

#include <inttypes.h>
#include <stdatomic.h>

/* ---- Inputs ----------------------------------------------------------------------------------------------- */

typedef struct stream_input stream_input;

/* What an input does. Results are PFB_NEXT_ codes. PFB_NEXT_WAIT: nothing can be read yet, and the stream does not
 * sleep (pfb_stream_pause); the operation is called again later. PFB_NEXT_FAILED: memory is
 * exhausted (pfb_stream_fail_memory), or the input makes reading the others pointless; a problem says why. */
typedef struct stream_operations {
    /* Begins reading. PFB_NEXT_RECORD: the input is open. PFB_NEXT_END: it cannot be read; a problem says why. */
    int32_t (*open)(void *context);

    /* Stores the next record in *record, valid until the next call for this input; `size`, `file` and `flags` of
     * samples may be left 0 (the stream sets `size` and `file`). An open input returns PFB_RECORD_BEGIN first and ends
     * with PFB_RECORD_END, then PFB_NEXT_END; parts of a recording have a BEGIN and an END of their own. */
    int32_t (*next)(void *context, pfb_record *record);

    void (*close)(void *context);   /* ends reading and frees what reading needed; may be followed by open */
    void (*destroy)(void *context); /* after close: frees the context */

    /* These may be null. */
    uint64_t (*offset)(void *context, const pfb_record *record, uint64_t at); /* see pfb_stream_offset */
    void (*progress)(void *context, uint64_t *done, uint64_t *total);         /* see pfb_stream_progress */
} stream_operations;

struct stream_input {
    pfb_stream *stream;
    const stream_operations *operations;
    void *context;
    char *label;
    uint32_t number;    /* of the input in the stream, and of its records */
    bool can_reopen;    /* open may be called after close */
    bool is_sequential; /* a pipe or a live source: it cannot be read in advance and is opened before the others */
    bool is_unreadable; /* pfb_stream_unreadable() has reported it */
    bool is_metadata;   /* it only has metadata for the other inputs, and no records of its own (given.c) */

    /* Set by the input before it returns a record or an end. */
    bool is_log;              /* BEGIN: it is a log, which has its own metadata except names */
    int64_t local_bias;       /* estimate of UTC - local time in 100 ns, by which samples with LOCAL_TIME are merged */
    bool should_have_samples; /* END: the input was read to its end without an error, so that a lack of samples is noted
                               */

    /* ---- Used by merge.c only ------------------------------------------------------------------------------ */
    bool is_open;
    bool was_read;      /* open was called */
    bool is_waiting;    /* `record` is a sample that is still to be returned */
    bool is_repetition; /* a returned sample of another input has the same time and bytes */
    bool has_time;      /* `time` is that of `record`, not of a sample before it or of the start */
    bool has_samples;   /* a sample was returned */
    int64_t start;      /* time of the first sample; INT64_MIN: read first */
    int64_t time;
    pfb_record record;
    size_t given_at;                /* number of records of given metadata that were returned since the last BEGIN */
    uint64_t repeated, repeated_at; /* samples left out because another input has them; offset of the first one */
    bool has_previous;              /* a sample with a time, `time`, was read since the last BEGIN */
    uint64_t earlier, earlier_at;   /* samples before the time of their predecessor; offset of the first one */
};

/* Adds an input to the stream, which then owns the context. Returns its number. Returns -1, after calling destroy, when
 * memory is exhausted; label is copied. */
int32_t pfb_stream_add_input(pfb_stream *stream, const stream_operations *operations, void *context, const char *label,
                             stream_input **added);

/* ---- The stream ------------------------------------------------------------------------------------------- */

typedef struct stream_problem {
    pfb_problem problem;
    char *sentence;
} stream_problem;

struct pfb_stream {
    /* Options. */
    pfb_read_options reader; /* PFB_STREAM_STRICT */
    bool is_followed, has_no_wait, returns_repeated;
    int64_t interval; /* 100 ns; 0: default */
    uint64_t memory;  /* budget in bytes */
    int64_t bias_minutes;
    bool forces_bias;           /* PFB_STREAM_FORCE_BIAS */
    uint32_t version, metadata; /* PFB_STREAM_VERSION, PFB_STREAM_METADATA */
    pfb_selection *selection;   /* a copy; null: everything is chosen */

    stream_input **inputs; /* by number */
    size_t input_count, input_capacity;

    uint64_t memory_used;
    uint64_t seed; /* of hashes; 0: not chosen yet */
    atomic_bool is_stopped;
    bool has_failed; /* pfb_stream_next returns PFB_NEXT_FAILED */
    bool is_trial;   /* an input is read in advance: only pfb_stream_unreadable() reports, nothing waits */
    int64_t wait;    /* see pfb_stream_wait */

    /* Problems (problems.c). */
    stream_problem *problems;
    size_t problem_count, problem_capacity, problems_taken;
    char *sentence;    /* of the problem that was returned last */
    bool lacks_memory; /* the problem that memory is exhausted is still to be returned */

    /* Given metadata (given.c). */
    pfb_record *given;
    size_t given_count, given_capacity;
    size_t given_read;  /* number of inputs that were looked at */
    pfb_guid given_set; /* of the latest registration with code 1; zero: none */

    stream_input *latest; /* whose record was returned last; null: none */

    /* Merging (merge.c). */
    stream_input **order; /* the inputs with records in the order in which they are opened; null: not known yet */
    size_t order_count, order_next;
    stream_input *current; /* whose next record is read before anything else; null: none */
    size_t open_count;
    bool has_noted_overlap;
    struct returned_samples *returned; /* of the latest time, while several inputs are open; null: none yet */
};

/* ---- For inputs ------------------------------------------------------------------------------------------- */

/* Adds a problem. Sentences have no final period. */
void pfb_stream_report(pfb_stream *stream, const pfb_problem *problem, const char *format, ...) PFB_PRINTF(3, 4);
void pfb_stream_note(stream_input *input, uint64_t offset, const char *format, ...) PFB_PRINTF(3, 4);
void pfb_stream_malformed(stream_input *input, uint64_t offset, pfb_code code); /* nothing if the code is PFB_OK */
void pfb_stream_unreadable(stream_input *input, int error, const char *reason); /* error: errno, or 0 */

/* Records that memory is exhausted: a problem, and PFB_NEXT_FAILED from now on. Returns PFB_NEXT_FAILED. */
int32_t pfb_stream_fail_memory(pfb_stream *stream);

/* Takes bytes from the budget of the stream; false if fewer are left. */
bool pfb_stream_take(pfb_stream *stream, uint64_t bytes);
void pfb_stream_give(pfb_stream *stream, uint64_t bytes);

static inline uint64_t pfb_stream_left(const pfb_stream *stream)
{
    return stream->memory - stream->memory_used;
}

/* Grows memory that counts against the budget, for what begins at an offset of the file: to `wanted` bytes, or, if the
 * budget does not suffice for them, to at least `needed`. PFB_NEXT_RECORD: there are at least `needed` bytes;
 * PFB_NEXT_END: the budget does not suffice, a problem was reported; PFB_NEXT_FAILED: memory is exhausted. */
int32_t pfb_stream_resize(stream_input *input, uint8_t **bytes, size_t *capacity, size_t needed, size_t wanted,
                          uint64_t offset);
void pfb_stream_release(pfb_stream *stream, uint8_t **bytes, size_t *capacity);

/* Waits `duration` (100 ns). Returns PFB_NEXT_RECORD after that time, PFB_NEXT_END if the stream was stopped before,
 * and PFB_NEXT_WAIT at once if the caller of the stream wants to wait itself. */
int32_t pfb_stream_pause(pfb_stream *stream, int64_t duration);

bool pfb_stream_is_stopped(const pfb_stream *stream);

/* A hash with a seed that cannot be predicted, so that no file can be made whose parts have equal hashes. */
uint64_t pfb_stream_hash(pfb_stream *stream, const void *bytes, size_t size);

/* Returns true for the kinds of records that are samples. */
static inline bool pfb_stream_is_sample(uint32_t kind)
{
    return kind == PFB_RECORD_V2 || kind == PFB_RECORD_V1 || kind == PFB_RECORD_LOG || kind == PFB_RECORD_ROW;
}

/* ---- Parts of the stream ---------------------------------------------------------------------------------- */

void pfb_stream_free_problems(pfb_stream *stream);

/* merge.c: the next record of all inputs, without those of given metadata. */
int32_t pfb_merge_next(pfb_stream *stream, stream_input **input);
void pfb_merge_end(pfb_stream *stream); /* ends all inputs: reports what was left out, and closes them */
void pfb_merge_free(pfb_stream *stream);

/* given.c: metadata that the caller has added as inputs. */
int32_t pfb_given_read(pfb_stream *stream); /* PFB_NEXT_RECORD: all of it was read */
bool pfb_given_next(stream_input *input, pfb_record *record);

/* Returns true if a record answers a request, or is query information, that the given metadata has, too. */
bool pfb_given_has(const pfb_stream *stream, const pfb_record *record);

#endif
