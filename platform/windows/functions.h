/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUNCTIONS_H
#define PFB_FUNCTIONS_H

/* Finding functions when the program runs, those of PerfLib V2 above all: systems differ in which they have. */
#include "windows/perflib.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Fills in the pointer at `function`, of whatever type, if it is still null and the library exports that name. The
 * library may be null: it exports nothing. */
void pfb_functions_find(HMODULE library, const char *name, void *function);

/* Fills in those that are still null and that the library exports. */
void pfb_functions_resolve(pfb_perflib_functions *functions, HMODULE library);

/* Fills in the functions of this system, the libraries that they are in, and what lets these go. */
void pfb_functions_load(pfb_perflib *system);

#endif
