/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_CPI_SOURCE_H
#define PFB_TEST_SUPPORT_CPI_SOURCE_H

/* A source of CPI snapshots defined by the test. Each reader returns all steps from the first one, and fails at steps
 * that are refusals. The source counts opened and closed readers. */
#include "perfblock/cpi_source.h"

#include <stdatomic.h>

/* The result of one reading. */
typedef struct canned_step {
    pfb_cpi_reading reading; /* snapshot.cpus points to memory of the test */
    int refusal;             /* if not 0, the reading fails with this code */
    bool is_silent;          /* fails without code and sentence */
} canned_step;

typedef struct canned {
    const canned_step *steps;
    size_t step_count;
    int refusal;     /* if not 0, opening a reader fails with this code */
    bool is_silent;  /* opening a reader fails without code and sentence */
    bool is_chatty;  /* reports a failure before it succeeds */
    size_t unhalted; /* number of CPUs with unhalted cycles: 1000 for the first, 2000 for the second ... */
    /* ------------------------------------------------------------------------------------------ */
    atomic_size_t opened, closed; /* readers */
    atomic_size_t readings;
    atomic_bool is_closed; /* the source was closed */
    _Atomic uint32_t mode; /* of the latest reader */
} canned;

/* Opens a source over `c`, which the test owns. Unhalted cycles are those of the latest reading at an end; a reading at
 * a start discards them. */
pfb_cpi_source *canned_open(canned *c);

/* The sentence of every refusal. */
#define CANNED_SENTENCE "event 0x42: not today; ask again tomorrow"

#endif
