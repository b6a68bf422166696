/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_EXPORT_H
#define PERFBLOCK_EXPORT_H

/* PFB_API status_bytes what the shared library exports; everything else is hidden.
 * PERFBLOCK_SHARED is defined for users of the shared library, PERFBLOCK_BUILDING while it is built;
 * neither is needed for the static library or for sources compiled into a program. */
#if defined(_WIN32) && defined(PERFBLOCK_SHARED)
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

#endif
