/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_STRICT_H
#define PFB_FUZZ_STRICT_H

#include "perfblock/error.h"

/* Options of a strict reader. */
static const pfb_read_options strict_options = {.is_strict = true};
#undef STRICT /* windows.h defines this name */
#define STRICT (&strict_options)

#endif
