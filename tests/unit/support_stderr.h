/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_STDERR_H
#define PFB_TEST_SUPPORT_STDERR_H

#include <criterion/criterion.h>

#include <stdio.h>
#include <unistd.h>

/* Runs a function; returns what it printed on standard error. */
static inline const char *printed_by(void (*run)(void))
{
    static char text[512];
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    cr_assert(file && kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    run();
    fflush(stderr);
    cr_assert(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

#endif
