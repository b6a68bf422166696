/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUNCTIONS_H
#define PFB_FUNCTIONS_H

/* Resolves functions at run time, mainly those of PerfLib V2, because not every system has all of them. */
#include "live/windows/windows_perflib.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Sets the function pointer at `function`, of any type, if it is NULL and the library exports `name`. `library` may be
 * NULL. */
void pfb_functions_find(HMODULE library, const char *name, void *function);

/* Sets the members that are still NULL and that the library exports. */
void pfb_functions_resolve(pfb_perflib_functions *functions, HMODULE library);

/* Loads the functions of this system. Sets the members `functions`, `libraries` and `unload`. */
void pfb_functions_load(pfb_perflib *system);

#endif
