/* SPDX-License-Identifier: MIT */
/* Linked into a program that measures cycles per instruction. The program then reads fixed snapshots of two CPUs
 * instead of the machine's counters. nanosleep() is replaced by a function that returns immediately. */
#include "perfblock/cpi_facility.h"

#include <stdlib.h>
#include <time.h>

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)wanted;
    (void)left;
    return 0;
}

__attribute__((constructor)) static void use_snapshots(void)
{
    static const char text[] = "cpi-snapshots 1\n"
                               "snapshot 0\ncpu 0 9 9 9 9\ncpu 1 9 9 9 9\n"
                               "snapshot 1000\ncpu 0 0 1000 0 1000\ncpu 1 5000 1000 0 1000\n"
                               "snapshot 3001000\ncpu 0 1500000 3001000 2250000 3001000\n"
                               "cpu 1 3005120 3001000 600000 3001000\n";
    pfb_cpi_source *source = pfb_cpi_source_open_fixture(text, sizeof text - 1, NULL);
    if (!source || pfb_cpi_use_source(source) != PFB_PU_SUCCESS)
        exit(9);
}
