/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_VERSION_H
#define PERFBLOCK_VERSION_H

/* The version of the library; the build reads it from here.
 * Same major version: same meaning of every code, field and function. */
#define PERFBLOCK_VERSION_MAJOR 0
#define PERFBLOCK_VERSION_MINOR 1
#define PERFBLOCK_VERSION_PATCH 0
#define PERFBLOCK_VERSION "0.1.0"

#endif
