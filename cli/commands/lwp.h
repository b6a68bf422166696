/* SPDX-License-Identifier: MIT */
#ifndef CLI_LWP_H
#define CLI_LWP_H

#include "perfblock/lwp/cpuid.h"

/* Reports why LWP cannot be used on this machine, as "live: not_amd: SENTENCE", and sets the exit status to 4. */
void lwp_report_refusal(pfb_lwp_refusal refusal);

#endif
