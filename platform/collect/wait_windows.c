/* SPDX-License-Identifier: MIT */
#include "collect/wait.h"

#include <windows.h>

#define MILLISECOND UINT64_C(1000000) /* in ns */

uint64_t pfb_wait_clock(void)
{
    return GetTickCount64() * MILLISECOND;
}

void pfb_wait_until(uint64_t time)
{
    for (uint64_t now = pfb_wait_clock(); now < time; now = pfb_wait_clock()) {
        uint64_t remaining = (time - now + MILLISECOND - 1) / MILLISECOND;
        Sleep(remaining < 60000 ? (DWORD)remaining : 60000); /* a longer time may not fit into a DWORD */
    }
}
