/* SPDX-License-Identifier: MIT */
#ifndef CLI_DEFINITIONS_H
#define CLI_DEFINITIONS_H

#include "memory/hash_index.h"
#include "perfblock/capture.h"
#include "perfblock/source.h"
#include "perfblock/write.h"
#include "sample_text/words.h"

/* Reads the lines of the text form (docs/text.md) that define countersets and V1 objects, and makes chunks from them.
 */

/* A `counter` or `define` line. */
typedef struct text_counter {
    uint32_t id; /* V1: title index */
    uint32_t type;
    bool has_type;
    uint32_t width;            /* bytes of its values */
    pfb_counter registered;    /* only of a counterset */
    pfb_v1_counter definition; /* only of a V1 object */
    pfb_name name, english, help;
} text_counter;

/* A row of the latest result that has rows, for values that are relative to it. */
typedef struct previous_row {
    pfb_name name;
    uint32_t occurrence; /* number of earlier rows of the result with this name */
    size_t first_number; /* position in text_part.numbers */
} previous_row;

/* A counterset or a V1 object. This folder uses the word part for both. */
typedef struct text_part {
    bool is_v1;
    pfb_guid guid;
    uint32_t title;
    uint32_t instances;     /* PFB_INSTANCES_ bits */
    int32_t instance_count; /* V1: 0, or PFB_V1_NO_INSTANCES, PFB_V1_METADATA_INSTANCES ... */
    bool has_clock; /* V1: unless a result says otherwise, the object's clock is the 100 ns clock of the sample */
    uint32_t detail, help_title;
    pfb_name name, english, help;
    pfb_name provider;
    pfb_guid provider_guid;
    bool has_provider_guid;
    text_counter *counters;
    size_t count, capacity;
    uint32_t *widths;  /* V1: bytes of each value of a row. Counters with the same offset share a value */
    uint32_t *offsets; /* V1: offset of each value in its counter block */
    size_t width_count, width_capacity, offset_capacity;
    uint32_t values_end; /* V1: end of the last value */
    bool is_new;         /* it changed after its last chunk was made, so it is in new_sets or new_objects */
    /* The latest rows, ascending by name and occurrence. */
    previous_row *previous;
    uint64_t *numbers;
    size_t previous_count, previous_capacity, number_capacity;
    size_t previous_width; /* numbers per row */
} text_part;

typedef struct text_key {
    pfb_name bytes; /* a name in UTF-16, the 16 bytes of a GUID, or the 4 bytes of a title index */
    text_part *part;
} text_key;

typedef struct text_parts {
    text_part **parts;
    size_t count, capacity;
} text_parts;

typedef struct definitions {
    words *words;
    pfb_bytes *capture;
    void **allocations; /* memory of names and of values given as bytes */
    size_t allocation_count, allocation_capacity;
    text_parts all;         /* in the order of their definitions */
    text_parts new_sets;    /* countersets with is_new */
    text_parts new_objects; /* V1 objects with is_new */
    size_t set_changes;     /* number of times that a counterset was added to new_sets */
    text_key *keys;         /* by position in key_index */
    size_t key_count, key_capacity;
    hash_index key_index;
    uint64_t seed;      /* of the hashes of keys; 0 at first */
    text_part *current; /* the counter and define lines that follow belong to it */
} definitions;

void definitions_free(definitions *d);

/* Each function below reads the rest of a line. Returns false after an error. */
bool definitions_read_counterset(definitions *d);
bool definitions_read_counter(definitions *d);
bool definitions_read_object(definitions *d);
bool definitions_read_define(definitions *d);

/* Make the chunks of new parts: the metadata of countersets, and the name table of V1 objects. */
void definitions_put_countersets(definitions *d);
void definitions_put_names(definitions *d);

/* ---- For other lines ------------------------------------------------------------------------------------- */

/* Reads the next word of the line. If there is none, reports "expected " followed by `expected`, and returns false. */
bool definitions_word(definitions *d, const char *expected, word *next);

/* Reads the word that refers to a part: its name, GUID or title index. If `is_optional`, the word may be -, and *part
 * becomes null. */
bool definitions_part(definitions *d, bool is_optional, text_part **part);

/* Converts a word to a name, which is valid until definitions_free(). The word - without quotation marks makes an
 * absent name. */
bool definitions_name(definitions *d, const word *w, pfb_name *name);

/* A key and a value at the end of a line. */
typedef struct text_option {
    const char *key;
    enum { OPTION_U32, OPTION_ID, OPTION_I32, OPTION_U64, OPTION_I64, OPTION_NAME, OPTION_GUID } kind;
    void *value;      /* a variable of the type that `kind` names; for OPTION_ID uint32_t, PFB_NO_ID for "-" */
    bool *is_present; /* set to true if the line has the option; may be null */
} text_option;

/* Reads the value that follows `key` and stores it in the option of that key. If no option has the key, reports the
 * keys of all options, and returns false. */
bool definitions_option(definitions *d, const word *key, const text_option *options, size_t count);

/* Reads options up to the end of the line. */
bool definitions_options(definitions *d, const text_option *options, size_t count);

/* Appends a chunk to the capture; see chunk_append(). */
void definitions_put_chunk(definitions *d, const pfb_chunk *chunk, const void *body, size_t size);

/* Writes the body of a chunk. It is called twice: the first call measures the size. */
typedef void definitions_write(pfb_writer *writer, const void *context);

/* Appends a chunk with the body that `write` writes. If the writer has an error, returns it and appends nothing. */
pfb_error definitions_put_written(definitions *d, const pfb_chunk *chunk, definitions_write *write,
                                  const void *context);

#endif
