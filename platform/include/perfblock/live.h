/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_LIVE_H
#define PERFBLOCK_LIVE_H

#include "perfblock/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Live machines as sources (source.h). */

/* Opens the live source of this machine. On systems without one, returns NULL and sets failure->code to
 * PFB_WIN32_NOT_SUPPORTED. */
PFB_API pfb_source *pfb_source_open_live(pfb_source_failure *failure);

/* Windows only: opens the live source of another machine. `machine` is its name in UTF-8, with or without two leading
 * backslashes. Opening does not contact the machine; docs/source.md lists the rights an account needs there. Returns
 * NULL if the name is not valid (PFB_WIN32_INVALID_PARAMETER), and on other systems (PFB_WIN32_NOT_SUPPORTED). */
PFB_API pfb_source *pfb_source_open_remote(const char *machine, pfb_source_failure *failure);

/* Linux only: opens a live source that reads proc and sys below `root`. "" is the machine itself; tests pass a
 * directory with prepared files. Returns NULL on other systems (PFB_WIN32_NOT_SUPPORTED). */
PFB_API pfb_source *pfb_source_open_linux(const char *root, pfb_source_failure *failure);

#ifdef __cplusplus
}
#endif

#endif
