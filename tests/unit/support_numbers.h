/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_NUMBERS_H
#define PFB_TEST_SUPPORT_NUMBERS_H

/* Bytes of records at their places in a file, which may be a text of numbers. */
#include <stddef.h>
#include <stdint.h>

/* Returns 0 if the file is no text of numbers, 16 for a dump, and otherwise 10, the radix of numbers without prefix. */
unsigned numbers_radix(const uint8_t *file, size_t size);

/* Returns the byte, or with a radix the number, that begins at this offset of the file; -1 if none begins there. */
int byte_at_place(const uint8_t *file, size_t size, unsigned radix, uint64_t offset);

#endif
