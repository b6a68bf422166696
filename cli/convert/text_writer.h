/* SPDX-License-Identifier: MIT */
#ifndef CLI_TEXT_WRITER_H
#define CLI_TEXT_WRITER_H

#include "convert/text_line.h"
#include "memory/hash_index.h"
#include "names/titles.h"
#include "output/output.h"
#include "perfblock/capture.h"
#include "perfblock/source.h"
#include "perfblock/v1.h"

/* Writes a capture in text form (docs/text.md), chunk by chunk. */

enum { TEXT_REQUESTS = PFB_REQUEST_COUNTER_ENGLISH_NAMES + 1 };

/* A counter of a counterset, and the size of its values. A value of another size is written together with its size. */
typedef struct text_width {
    uint32_t id;
    uint32_t width;  /* in bytes */
    size_t position; /* in text_set.ids */
} text_width;

/* A counterset. */
typedef struct text_set {
    pfb_guid guid;
    pfb_bytes replies[TEXT_REQUESTS]; /* registration replies by request code */
    bool is_new;                      /* its lines are not written, or a reply was added after they were written */
    buffer key;                       /* the word that refers to it in other lines */
    uint32_t *ids;                    /* ids of its counters, in the order of their lines */
    text_width *widths;               /* ascending by id */
    size_t count;                     /* of its counters */
} text_set;

/* A query: a PERF_COUNTER_IDENTIFIER of the query information. */
typedef struct text_query {
    uint32_t index; /* of its result */
    uint32_t counter_id;
    size_t position;           /* in the query information, in queries */
    size_t offset, size_bytes; /* in the query information, in bytes */
    text_set *set;
    bool is_pattern; /* the instance name has wildcards */
} text_query;

/* A V1 object, with the lines that define it. */
typedef struct text_object {
    uint32_t title;
    bool has_clock; /* unless a result has another, its clock is the 100 ns clock of the sample */
    buffer key;     /* the word that refers to it in other lines */
    buffer lines;   /* the lines that were written last; empty: none were */
    uint64_t block; /* number of the last block that contains it */
} text_object;

typedef struct text_writer {
    output *out;
    text_line line;
    title_names *titles;
    text_set **sets; /* in the order of their first chunks */
    size_t set_count, set_capacity;
    bool has_new_sets; /* is_new is true for at least one of them */
    text_set **sorted; /* by GUID */
    size_t sorted_capacity;
    pfb_bytes info;      /* the current query information */
    text_query *queries; /* ascending by index */
    size_t query_count, query_capacity;
    bool has_queries;     /* query lines were written */
    text_object *objects; /* ascending by title */
    size_t object_count, object_capacity;
    uint64_t block_count;
    buffer left_out;    /* a byte for each object of the current block: 1 if it is not written */
    hash_index names;   /* hashes of the names that countersets and objects have had */
    uint64_t seed;      /* of these hashes */
    buffer machine;     /* the latest machine line, without its end */
    uint64_t unwritten; /* number of chunks without a text form */
} text_writer;

/* `titles` has the names of V1 title indexes, to which the caller adds those in name tables. */
void text_writer_open(text_writer *t, output *out, title_names *titles);

/* Writes the content of a chunk. Malformed parts are left out and not reported. */
void text_writer_put(text_writer *t, const pfb_chunk *chunk, const uint8_t *body, size_t size);

void text_writer_close(text_writer *t);

/* ---- Parts ----------------------------------------------------------------------------------------------- */

void text_writer_put_registration(text_writer *t, const pfb_chunk *chunk, const uint8_t *body, size_t size);
void text_writer_put_sets(text_writer *t); /* countersets without lines, or with a new registration */
void text_writer_put_instances(text_writer *t, const pfb_guid *counterset, const uint8_t *body, size_t size);
void text_writer_put_info(text_writer *t, const uint8_t *body, size_t size);
void text_writer_put_v2(text_writer *t, const uint8_t *body, size_t size);
void text_writer_put_v1(text_writer *t, const uint8_t *body, size_t size);

/* ---- Both versions (text_both.c) ------------------------------------------------------------------------- */

/* The line of a sample with its clocks. */
void text_writer_put_sample(text_writer *t, bool is_v1, int64_t perf_time, int64_t perf_time_100ns, int64_t perf_freq,
                            const pfb_system_time *system_time);

/* Makes the word that refers to a counterset or object in other lines, unless `key` has it already: the name if no
 * counterset or object had it before, else `fallback`. */
void text_writer_set_key(text_writer *t, buffer *key, const pfb_name *name, const char *fallback);

/* A counter type: its name, or its number if it has none. */
void text_writer_put_type(text_line *line, uint32_t type);

#endif
