/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_CHECKS_H
#define PFB_TEST_CHECKS_H

/* Common parts of the programs that run on Windows or Wine. They print what they did, and the last line only if every
 * check passed. */
#include <stdbool.h>

/* Ends the program as failed. */
_Noreturn void fail(const char *what);

void count_check(void);

/* Defined in the header, so that static analysis knows what holds after a check. */
static inline void check(bool is_true, const char *what)
{
    if (!is_true)
        fail(what);
    count_check();
}

bool is_wine(void);

/* Prints the last line; returns the exit status. */
int finish_checks(void);

#endif
