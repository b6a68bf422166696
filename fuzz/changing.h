/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_CHANGING_H
#define PFB_FUZZ_CHANGING_H

/* Inputs that change between any two loads of a reader, as memory shared with a hostile thread may. What is checked is
 * that nothing outside of the input is read, nothing outside of the caller's memory is written, and every reader ends.
 * What the reader reports may be inconsistent. For x86-64 Linux; see stepper.h. */
#include <stddef.h>
#include <stdint.h>

typedef enum changing_reader {
    CHANGING_V2,
    CHANGING_V2_VALUES,
    CHANGING_V1,
    CHANGING_NAME_TABLE,
    CHANGING_METADATA,
    CHANGING_QUERY,
    CHANGING_CAPTURE,
    CHANGING_SAMPLE, /* an input of sample_fuzzer.c: two samples, query information and registrations */
    CHANGING_TEXT,   /* UTF-16 to UTF-8 and back, in two calls each */
    CHANGING_CPUID_TEXT,
    CHANGING_LWP,
    CHANGING_CPI_TEXT,
    CHANGING_CPI_HOOKS,
    CHANGING_READERS /* how many */
} changing_reader;

typedef enum changing_mode {
    CHANGING_SWAP,   /* the second contents replace the first before access `at` */
    CHANGING_FLIP,   /* the contents alternate: first before even accesses, second before odd ones */
    CHANGING_FIELDS, /* half of the accesses find other bytes, chosen by `at`, where they read */
    CHANGING_MODES   /* how many */
} changing_mode;

/* Reads `size` bytes at `first` while they change. `second` has as many. Returns the number of accesses. */
uint64_t changing_read(changing_reader reader, changing_mode mode, uint32_t at, const uint8_t *first,
                       const uint8_t *second, size_t size);

#endif
