/* SPDX-License-Identifier: MIT */
#ifndef CLI_CODE_PAGE_H
#define CLI_CODE_PAGE_H

#include "output/text.h"

#define CODE_PAGE_UTF8 UINT32_C(65001)

/* Names of V1 blocks in Windows code pages. The pages that are simple are here; of the others only ASCII is known. */

/* Appends bytes of a code page as UTF-8. UTF-16 (1200, 1201), UTF-8 (65001), ASCII (20127), Latin-1 (28591) and
 * Windows-1252 are decoded; bytes from 0x80 up of any other page become U+FFFD each, and so does what a page leaves
 * undefined. UTF-8 passes as it stands: what prints it replaces malformed bytes. */
void code_page_text(buffer *out, uint32_t code_page, const uint8_t *bytes, size_t size);

/* The size in bytes of the first character, at most `size`. `size` is not 0. */
size_t code_page_character(uint32_t code_page, const uint8_t *bytes, size_t size);

#endif
