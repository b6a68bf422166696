/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUNCTIONS_H
#define PFB_FUNCTIONS_H

/* Finding the functions of PerfLib V2 when the program runs: systems differ in which they have. */
#include "perflib.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Fills in those that are still null and that the library exports. */
void pfb_functions_resolve(pfb_perflib_functions *functions, HMODULE library);

/* Fills in the functions of this system, the libraries that they are in, and what lets these go. */
void pfb_functions_load(pfb_perflib *system);

#endif
