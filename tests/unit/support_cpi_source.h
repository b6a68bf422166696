/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_CPI_SOURCE_H
#define PFB_TEST_SUPPORT_CPI_SOURCE_H

/* A CPI source whose readings the test defines as a list of steps. Each reader goes through the list from its first
 * step. A reading fails at a step that has a refusal, if the CPUs do not fit, and after the last step. The source
 * counts opened and closed readers. */
#include "perfblock/cpi_source.h"

#include <stdatomic.h>

/* The result of one reading. */
typedef struct canned_step {
    pfb_cpi_reading reading; /* snapshot.cpus points to memory of the test */
    int refusal;             /* if not 0, the reading fails with this code */
    bool is_silent;          /* the reading fails without setting the code and sentence of the failure */
} canned_step;

typedef struct canned_source {
    const canned_step *steps;
    size_t step_count;
    int refusal;                /* if not 0, opening a reader fails with this code */
    bool is_silent;             /* opening a reader fails without setting the code and sentence of the failure */
    bool reports_failure_first; /* a call that succeeds fills in the caller's failure nevertheless */
    size_t unhalted;            /* number of CPUs with unhalted cycles: 1000 for the first, 2000 for the second ... */
    /* ------------------------------------------------------------------------------------------ */
    atomic_size_t opened, closed; /* readers */
    atomic_size_t readings;
    atomic_bool is_closed; /* the source was closed */
    _Atomic uint32_t mode; /* of the latest reader */
} canned_source;

/* Opens a source over `c`, which the test owns. A reader has unhalted cycles only after a reading at an end, until the
 * next reading at a start. */
pfb_cpi_source *canned_open(canned_source *c);

/* The sentence of every refusal. */
#define CANNED_SENTENCE "event 0x42: this reader never counts it"

#endif
