/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CODE_PAGE_H
#define PERFBLOCK_CODE_PAGE_H

#include "perfblock/name.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Code pages of Windows whose tables core does not have: 874, 932, 936, 949, 950, 1250, 1251 and 1253 to 1258. */

/* The same as pfb_name_to_utf8, also for names in these code pages. A byte that begins no character becomes U+FFFD, and
 * the character after it begins at the next byte. Of the code pages whose characters have one byte, each byte becomes
 * another character. Compare and split names after the conversion: the second byte of a character may be a backslash.
 */
PFB_API size_t pfb_code_page_to_utf8(const pfb_name *name, char *out, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
