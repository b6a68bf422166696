/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_V1_READERS_H
#define PFB_FUZZ_V1_READERS_H

/* As readers.h, for V1: an input is a block as HKEY_PERFORMANCE_DATA gives it, or a name table in any of its forms.
 * Examining a block also loads it as a snapshot and evaluates it against itself; examining a table also sorts it and
 * looks every pair up. */
#include "readers.h"

typedef enum v1_subject { SUBJECT_V1, SUBJECT_NAME_TABLE } v1_subject;

/* One reading of everything, `options` as for the open functions. */
reading read_v1(v1_subject which, const uint8_t *data, size_t size, uint32_t options);

/* Reads whole, twice, strictly and in parts, and compares. The tolerant reading. */
reading examine_v1(v1_subject which, const uint8_t *data, size_t size);

/* Reads while bytes change between the calls, chosen by `seed`. What is handed out must lie inside. */
reading disturb_v1(v1_subject which, uint8_t *data, size_t size, uint64_t seed);

/* What a fuzz target does with an input. Aborts when a promise is broken. */
void fuzz_v1(v1_subject which, const uint8_t *data, size_t size);

#endif
