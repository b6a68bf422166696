/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_VERSION_H
#define PERFBLOCK_VERSION_H

#include "perfblock/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. The build reads it from here.
 * While the major version is 0, versions with different minor numbers are incompatible, in source and binary form. */
#define PERFBLOCK_VERSION_MAJOR 0
#define PERFBLOCK_VERSION_MINOR 1
#define PERFBLOCK_VERSION_PATCH 0
#define PERFBLOCK_VERSION "0.1.0"

/* Returns the version of the library at run time, "MAJOR.MINOR.PATCH". It differs from PERFBLOCK_VERSION if a shared
 * library of another patch version is loaded. Never null; static. */
PFB_API const char *pfb_version(void);

#ifdef __cplusplus
}
#endif

#endif
