/* SPDX-License-Identifier: MIT */
/* The stream of the live source of Linux, with a folder of simulated kernel files. Part of test_source_stream. */
#include <criterion/criterion.h>

#include "machine.h"
#include "support_source_stream.h"

#include <stdlib.h>
#include <string.h>

TestSuite(source_stream_linux, .init = make_machine, .fini = remove_machine);

/* The kernel files do not change, so both collectors read the same raw values; times differ, so only counters whose
 * values do not depend on them are compared. */
Test(source_stream_linux, displayed_values_are_those_of_the_source)
{
    static const char *const paths[] = {"\\Processor Information(*)\\Processor Frequency",
                                        "\\Processor Information(0,*)\\% of Maximum Frequency",
                                        "\\Processor*(5)\\*Frequency*", "\\System\\Processes", NULL};
    text_rows expected, found;
    put_everything();
    source_values(&expected, open_machine(), false, paths, 3);
    stream_values(&found, open_machine(), false, paths, 3);
    cr_assert(expected.bytes && found.bytes);
    cr_expect_str_eq(found.bytes, expected.bytes);
    cr_expect(strstr(found.bytes, "Processor Information||0,0#0|Processor Frequency|"), "%s", found.bytes);
    free(expected.bytes);
    free(found.bytes);
}
