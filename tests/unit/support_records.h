/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_RECORDS_H
#define PFB_TEST_SUPPORT_RECORDS_H

/* The records of the corpus, and what collectors make of them. */
#include "perfblock/collect.h"
#include "support.h"

/* ---- Records --------------------------------------------------------------------------------------------- */

enum { MAX_RECORDS = 4096 };

/* The records of a file, with copies of their bytes. */
typedef struct records {
    pfb_record list[MAX_RECORDS];
    size_t count;
} records;

void read_records(records *r, const uint8_t *data, size_t size);
void free_records(records *r);

/* Visits the seeds whose files are read as records. */
void visit_all(seed_visitor *visit);

/* ---- Digests of frames ----------------------------------------------------------------------------------- */

/* A digest of what is known of all series of a frame, and one of the values. */
typedef struct digests {
    uint64_t series, values;
    size_t count;
} digests;

extern const digests nothing; /* the digests of a frame without elements */

void add_number(uint64_t *digest, uint64_t number);
void add_value(digests *d, const pfb_value *value);

/* Returns the digests of the current frame, and checks that its arrays have what pfb_collector_value returns. */
digests digest_frame(pfb_collector *c, const char *name);

/* ---- Elements -------------------------------------------------------------------------------------------- */

/* An element of a frame. */
typedef struct element {
    size_t record;  /* position of its record */
    uint64_t value; /* digest */
    char counterset[64], counter[64], instance[64];
    char set[64], counter_id[16]; /* GUID or title index, and id, as text; "" for logs */
} element;

enum { MAX_ELEMENTS = 20000 };

typedef struct elements {
    element list[MAX_ELEMENTS];
    size_t count;
} elements;

/* Stores the elements of all frames. The selection is given to the collector before the record at `begin`. */
void list_elements(elements *e, const records *r, const pfb_selection *selection, size_t begin);

/* Returns true if a text can be a name in a path, and means only itself. */
bool is_plain(const char *text);

/* Returns true if two texts are equal; ignores the case of A to Z. */
bool is_same_text(const char *a, const char *b);

#endif
