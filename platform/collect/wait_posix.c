/* SPDX-License-Identifier: MIT */
#include "collect/wait.h"

#include <time.h>

#define SECOND UINT64_C(1000000000) /* in ns */

uint64_t pfb_wait_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

void pfb_wait_until(uint64_t time)
{
    uint64_t now = pfb_wait_clock();
    while (now < time) { /* a signal ends the sleep early */
        struct timespec remaining = {.tv_sec = (time_t)((time - now) / SECOND),
                                     .tv_nsec = (long)((time - now) % SECOND)};
        nanosleep(&remaining, NULL);
        now = pfb_wait_clock();
    }
}
