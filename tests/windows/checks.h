/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_CHECKS_H
#define PFB_TEST_CHECKS_H

/* What the plain programs share that test Windows, or Wine: they tell what they did, and their last line is printed
 * only when every check passed. */
#include <stdbool.h>

/* Ends the program as failed. */
_Noreturn void fail(const char *what);

void count_check(void);

/* Defined here so that readers of the tests see what holds after a check. */
static inline void check(bool is_true, const char *what)
{
    if (!is_true)
        fail(what);
    count_check();
}

bool is_wine(void);

/* Prints the last line; the exit status. */
int finish_checks(void);

#endif
