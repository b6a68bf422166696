/* SPDX-License-Identifier: MIT */
#ifndef CLI_DEFINITIONS_H
#define CLI_DEFINITIONS_H

#include "memory/hash_index.h"
#include "perfblock/capture.h"
#include "perfblock/source.h"
#include "perfblock/write.h"
#include "sample_text/words.h"

/* The countersets and V1 objects that a text defines, and the chunks made from them. */

/* A line of `counter` or `define`. */
typedef struct text_counter {
    uint32_t id; /* V1: title index */
    uint32_t type;
    bool has_type;
    uint32_t width; /* bytes of its values */
    pfb_counter registered;
    pfb_v1_counter definition;
    pfb_name name, english, help;
} text_counter;

/* A number of the sample before, for values that are relative to it. */
typedef struct text_before {
    pfb_name name;
    uint32_t occurrence;
    size_t first_number;
} text_before;

/* A counterset or a V1 object. */
typedef struct text_part {
    bool is_v1;
    pfb_guid guid;
    uint32_t title;
    uint32_t instances;     /* PFB_INSTANCES_ bits */
    int32_t instance_count; /* V1: 0, or a negative number that says what is missing */
    bool has_clock;         /* V1: the clock of the object is the 100 ns clock of the sample */
    uint32_t detail, help_title;
    pfb_name name, english, help;
    pfb_name provider;
    pfb_guid provider_guid;
    bool has_provider_guid;
    text_counter *counters;
    size_t count, capacity;
    uint32_t *widths; /* V1: bytes of each value of a row, one per offset, ... */
    uint32_t *offsets;
    size_t width_count, width_capacity, offset_capacity;
    uint32_t values_end; /* ... and the end of the last */
    bool is_new;         /* no chunk has been made from it: it is in a list of new parts */
    /* The latest rows, by name and occurrence. */
    text_before *before;
    uint64_t *numbers;
    size_t before_count, before_capacity, number_capacity;
    size_t before_width; /* numbers of a row */
} text_part;

typedef struct text_key {
    pfb_name bytes; /* a name in UTF-16, 16 bytes of a GUID, or 4 of a title index */
    text_part *part;
} text_key;

typedef struct text_parts {
    text_part **parts;
    size_t count, capacity;
} text_parts;

typedef struct definitions {
    words *words;
    pfb_bytes *capture;
    void **kept; /* memory of names */
    size_t kept_count, kept_capacity;
    text_parts all;      /* in the order of their definitions */
    text_parts new_sets; /* countersets and ... */
    text_parts new_objects;
    size_t set_count; /* of countersets */
    text_key *keys;   /* by their positions in the index */
    size_t key_count, key_capacity;
    hash_index key_index;
    uint64_t seed; /* of the index; 0 at first */
    text_part *current;
} definitions;

void definitions_free(definitions *d);

/* Each function below reads the rest of a line. False after an error. */
bool definitions_read_counterset(definitions *d);
bool definitions_read_counter(definitions *d);
bool definitions_read_object(definitions *d);
bool definitions_read_define(definitions *d);

/* Makes the chunks of parts that are new. */
void definitions_put_countersets(definitions *d);
void definitions_put_names(definitions *d);

/* ---- For other lines ------------------------------------------------------------------------------------- */

/* Reads a word that must be there; `expected` completes "expected ...". */
bool definitions_word(definitions *d, const char *expected, word *next);

/* Reads the name or key of a part. `part` becomes null for -, if `may_lack` is true. */
bool definitions_part(definitions *d, bool may_lack, text_part **part);

/* Converts a word to a name, valid until definitions_free(). - without quotation marks is no name. */
bool definitions_name(definitions *d, const word *w, pfb_name *name);

/* A pair of a key and a value at the end of a line. */
typedef struct text_option {
    const char *key;
    enum { OPTION_U32, OPTION_ID, OPTION_I32, OPTION_U64, OPTION_I64, OPTION_NAME, OPTION_GUID } kind;
    void *value;
    bool *is_given; /* may be null */
} text_option;

/* Reads the value of the option that a word names. */
bool definitions_option(definitions *d, const word *key, const text_option *options, size_t count);

/* Reads options up to the end of the line. */
bool definitions_options(definitions *d, const text_option *options, size_t count);

/* Appends a chunk. Only tag, guid, request and language of `chunk` are used. */
void definitions_put_chunk(definitions *d, const pfb_chunk *chunk, const void *body, size_t size);

/* Writes one block; it is called twice, since the first call measures. */
typedef void definitions_write(pfb_writer *writer, const void *context);

/* Appends a chunk with what `write` writes. Returns the error of the writer. */
pfb_error definitions_put_written(definitions *d, const pfb_chunk *chunk, definitions_write *write,
                                  const void *context);

#endif
