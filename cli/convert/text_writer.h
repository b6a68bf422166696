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

/* Writes the chunks of a capture in text form (docs/text.md). */

enum { TEXT_REQUESTS = PFB_REQUEST_COUNTER_ENGLISH_NAMES + 1 };

/* A counter of a counterset, and the size of its values if nothing else is written. */
typedef struct text_width {
    uint32_t id;
    uint32_t width;
    size_t position;
} text_width;

/* A counterset. */
typedef struct text_set {
    pfb_guid guid;
    pfb_bytes replies[TEXT_REQUESTS]; /* by request code */
    bool is_new;                      /* not written as it is now */
    buffer key;                       /* the word that names it in other lines */
    uint32_t *ids;                    /* of its counters in the order of their lines */
    text_width *widths;               /* ascending by id */
    size_t count;
} text_set;

/* A query. */
typedef struct text_asked {
    uint32_t index;
    uint32_t counter_id;
    size_t position; /* in the reply */
    size_t size_bytes;
    size_t offset;
    text_set *set;
    bool is_pattern;
} text_asked;

/* A V1 object as it was written last. */
typedef struct text_object {
    uint32_t title;
    bool has_clock;
    buffer key; /* the word that names it in other lines */
    buffer lines;
    uint64_t block; /* number of the block that had it last */
} text_object;

typedef struct text_writer {
    output *out;
    text_line line;
    title_names *titles;
    text_set **sets; /* in the order of their first chunks */
    size_t set_count, set_capacity;
    bool has_new_sets; /* at least one of them */
    text_set **sorted; /* by GUID */
    size_t sorted_capacity;
    pfb_bytes info;    /* current query information */
    text_asked *asked; /* ascending by index */
    size_t asked_count, asked_capacity;
    bool has_queries;     /* a line of queries was written */
    text_object *objects; /* ascending by title */
    size_t object_count, object_capacity;
    uint64_t block_count;
    uint64_t table_count; /* name tables */
    buffer left_out;      /* a byte for each object of the current block: 1 if it is not written */
    hash_index names;     /* words that are keys of countersets and objects */
    uint64_t seed;        /* of their hashes */
    buffer machine;       /* the current line of the V1 machine */
    uint64_t unwritten;   /* chunks without a text form */
} text_writer;

/* `titles` has the names of V1 title indexes; name tables are put there before they are needed. */
void text_writer_open(text_writer *t, output *out, title_names *titles);

/* Writes the content of a chunk. What is malformed in it is left out; its errors are not reported here. */
void text_writer_put(text_writer *t, const pfb_chunk *chunk, const uint8_t *body, size_t size);

void text_writer_close(text_writer *t);

/* ---- Parts ----------------------------------------------------------------------------------------------- */

void text_writer_put_registration(text_writer *t, const pfb_chunk *chunk, const uint8_t *body, size_t size);
void text_writer_put_sets(text_writer *t); /* writes those that are new */
void text_writer_put_instances(text_writer *t, const pfb_guid *counterset, const uint8_t *body, size_t size);
void text_writer_put_info(text_writer *t, const uint8_t *body, size_t size);
void text_writer_put_v2(text_writer *t, const uint8_t *body, size_t size);
void text_writer_put_v1(text_writer *t, const uint8_t *body, size_t size);

/* The line of a sample with its clocks. */
void text_writer_put_sample(text_writer *t, bool is_v1, int64_t perf_time, int64_t perf_time_100ns, int64_t perf_freq,
                            const pfb_system_time *system_time);

/* Makes the word that names a counterset or object in other lines, once: its name if no other one has it, else
 * `otherwise`. */
void text_writer_set_key(text_writer *t, buffer *key, const pfb_name *name, const char *otherwise);

/* A counter type by its name or number. */
void text_writer_put_type(text_line *line, uint32_t type);

#endif
