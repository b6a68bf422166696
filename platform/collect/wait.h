/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_WAIT_H
#define PFB_COLLECT_WAIT_H

#include <stdint.h>

/* A clock in nanoseconds that is never set, and waiting until it has this time. */
uint64_t pfb_wait_clock(void);
void pfb_wait_until(uint64_t time);

#endif
