/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_KEYWORDS_H
#define PFB_COMPAT_KEYWORDS_H

/* Defines the types __int8 to __int64, which are keywords in Visual C++, and __fallthrough, which Windows' headers
 * define as an annotation. intrin.h, sal.h and windows.h include this header, so that programs can use these words as
 * in Visual C++, without including a header for them. */
#if defined(__MINGW32__)
#include <_mingw.h> /* defines these types */
#elif !defined(_WIN32)
#define __int8 char
#define __int16 short
#define __int32 int
#define __int64 long long
#if defined(__clang__) || __GNUC__ >= 7
#define __fallthrough __attribute__((fallthrough))
#else
#define __fallthrough ((void)0)
#endif
#endif

#endif
