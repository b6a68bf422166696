/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_WAIT_H
#define PFB_COLLECT_WAIT_H

#include <stdint.h>

/* Returns the time of a monotonic clock in nanoseconds; its zero is unspecified. */
uint64_t pfb_wait_clock(void);

/* Sleeps until this clock has reached `time`. */
void pfb_wait_until(uint64_t time);

#endif
