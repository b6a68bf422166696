/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_EXPORT_H
#define PERFBLOCK_EXPORT_H

/* PFB_API marks the functions that the shared library exports; all others are hidden.
 * On Windows, define PERFBLOCK_SHARED to use the shared library, and PERFBLOCK_BUILDING as well to build it.
 * Neither is needed for the static library or for sources compiled into a program, which can define PFB_API as nothing,
 * so that a plugin exports none of them. */
#if defined(PFB_API)
/* The application has defined it. */
#elif defined(_WIN32) && defined(PERFBLOCK_SHARED)
#if defined(PERFBLOCK_BUILDING)
#define PFB_API __declspec(dllexport)
#else
#define PFB_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define PFB_API __attribute__((visibility("default")))
#else
#define PFB_API
#endif

/* For functions in headers, which a source may leave unused. */
#if defined(__GNUC__) || defined(__clang__)
#define PFB_INLINE static inline __attribute__((unused))
#else
#define PFB_INLINE static inline
#endif

#endif
