/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_CPI_SOURCE_H
#define PFB_TEST_SUPPORT_CPI_SOURCE_H

/* A source of CPI snapshots that the test wrote down: each reader gives all steps from the first one on, and refuses
 * where a step says so. It counts what is opened and closed. */
#include "perfblock/cpi_source.h"

#include <stdatomic.h>

/* What one reading gives. */
typedef struct canned_step {
    pfb_cpi_reading reading; /* snapshot.cpus are the test's, and stay */
    int refusal;             /* not 0: the reading fails with this code */
    bool is_silent;          /* fails, and gives neither code nor sentence */
} canned_step;

typedef struct canned {
    const canned_step *steps;
    size_t step_count;
    int refusal;     /* not 0: no reader is opened */
    bool is_silent;  /* the same, without a message */
    bool is_chatty;  /* reports a refusal before it succeeds */
    size_t unhalted; /* the first CPUs, of which cycles without halts are known: 1000 of the first, then 2000 ... */
    /* ------------------------------------------------------------------------------------------ */
    atomic_size_t opened, closed; /* readers */
    atomic_size_t readings;
    atomic_bool is_closed; /* the source */
    _Atomic uint32_t mode; /* of the latest reader */
} canned;

/* A source over `c`, which stays the test's. Unhalted cycles are those of the latest end, which a start forgets. */
pfb_cpi_source *canned_open(canned *c);

/* The sentence of every refusal. */
#define CANNED_SENTENCE "event 0x42: not today; ask again tomorrow"

#endif
