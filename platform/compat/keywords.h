/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_KEYWORDS_H
#define PFB_COMPAT_KEYWORDS_H

/* Defines the types __int8 to __int64, which are keywords in Visual C++. intrin.h, sal.h and windows.h include this
 * header, so that programs can use these types as in Visual C++, without including a header for them. */
#if defined(__MINGW32__)
#include <_mingw.h> /* defines these types */
#elif !defined(_WIN32)
#define __int8 char
#define __int16 short
#define __int32 int
#define __int64 long long
#endif

#endif
