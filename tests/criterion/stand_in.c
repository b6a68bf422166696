/* SPDX-License-Identifier: MIT */
/* Runs the tests of a program in place of Criterion, see criterion/criterion.h. */
#include "criterion/criterion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static stand_in_entry *first;

/* Jump target that ends the running test. */
static jmp_buf test_end;
static bool has_failed, was_skipped;

static unsigned passed, failed, skipped;

void stand_in_register(stand_in_entry *entry)
{
    stand_in_entry **at = &first;
    while (*at && (*at)->line < entry->line)
        at = &(*at)->next;
    entry->next = *at;
    *at = entry;
}

/* ---- Inside a test ---------------------------------------------------------------------------------------- */

void stand_in_fail(bool is_fatal, const char *file, int line, const char *text, const char *format, ...)
{
    printf("%s:%d: failed: %s", file, line, text);
    if (format) {
        va_list arguments;
        printf(": ");
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
    }
    printf("\n");
    fflush(stdout);
    has_failed = true;
    if (is_fatal)
        longjmp(test_end, 1);
}

void stand_in_skip(const char *format, ...)
{
    va_list arguments;
    printf("skipped: ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    was_skipped = true;
    longjmp(test_end, 1);
}

/* ---- Running tests ---------------------------------------------------------------------------------------- */

/* Returns false if the function ended early. */
static bool runs_to_its_end(void (*function)(void))
{
    if (setjmp(test_end) != 0)
        return false;
    if (function)
        function();
    return true;
}

static const stand_in_options *options_of_suite(const char *suite)
{
    static const stand_in_options none;
    for (const stand_in_entry *entry = first; entry; entry = entry->next) {
        if (!entry->run && strcmp(entry->suite, suite) == 0)
            return &entry->options;
    }
    return &none;
}

/* The suite's fini runs after every test, because the next test runs in the same process. */
static void run(const stand_in_entry *test)
{
    const stand_in_options *suite = options_of_suite(test->suite);
    has_failed = was_skipped = false;
    printf("%s::%s\n", test->suite, test->name);
    fflush(stdout); /* so that a crash shows which test was running */
    if (runs_to_its_end(suite->init) && runs_to_its_end(test->options.init))
        runs_to_its_end(test->run);
    runs_to_its_end(test->options.fini);
    runs_to_its_end(suite->fini);
    if (has_failed)
        failed++;
    else if (was_skipped)
        skipped++;
    else
        passed++;
}

int main(void)
{
    for (const stand_in_entry *entry = first; entry; entry = entry->next) {
        if (entry->run)
            run(entry);
    }
    printf("Tested: %u | Passing: %u | Failing: %u | Skipped: %u\n", passed + failed, passed, failed, skipped);
    return failed == 0 && passed > 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
