/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_CHECKS_H
#define PFB_TEST_CHECKS_H

/* Common parts of the test programs that run on Windows or Wine. CTest recognises success by the last line of the
 * output, which finish_checks prints. The first failed check ends the program. */
#include <stdbool.h>

/* Prints a message and ends the program with a failure. */
_Noreturn void fail(const char *what);

void count_check(void);

/* Defined in the header, so that static analysis knows that the condition is true after a check. */
static inline void check(bool is_true, const char *what)
{
    if (!is_true)
        fail(what);
    count_check();
}

bool is_wine(void);

/* Prints "N checks passed, none failed", and returns the exit status. */
int finish_checks(void);

#endif
