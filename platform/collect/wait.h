/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_WAIT_H
#define PFB_COLLECT_WAIT_H

#include <stdint.h>

/* A monotonic clock in nanoseconds, and waiting until it reaches a time. */
uint64_t pfb_wait_clock(void);
void pfb_wait_until(uint64_t time);

#endif
