/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_KEYWORDS_H
#define PFB_COMPAT_KEYWORDS_H

/* Defines type names that are keywords of Visual C++, where they need no header. Included by other headers of this
 * folder. */
#if defined(__MINGW32__)
#include <_mingw.h> /* defines them */
#elif !defined(_WIN32)
#define __int8 char
#define __int16 short
#define __int32 int
#define __int64 long long
#endif

#endif
