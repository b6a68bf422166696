/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_CHANGING_H
#define PFB_FUZZ_CHANGING_H

/* Inputs that change between any two loads of a reader, like memory shared with a hostile thread. Checks that nothing
 * outside the input is read, nothing outside the caller's memory is written, and every reader terminates. The results
 * may be inconsistent. For x86-64 Linux; see stepper.h. */
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
    CHANGING_TEXT,   /* a name in several encodings, to UTF-8, to UTF-16 and to a query, in two calls each;
                      * and as a path */
    CHANGING_CPUID_TEXT,
    CHANGING_LWP,
    CHANGING_CPI_TEXT,
    CHANGING_CPI_HOOKS,
    CHANGING_LOG,
    CHANGING_PDH_TEXT,
    CHANGING_NUMBER_TEXT,
    CHANGING_READERS /* number of readers */
} changing_reader;

typedef enum changing_mode {
    CHANGING_SWAP,   /* the second contents replace the first ones before access `at` */
    CHANGING_FLIP,   /* even accesses read the first contents, odd accesses the second ones */
    CHANGING_FIELDS, /* before half of the accesses the bytes to be read change, at random; `at` is the seed */
    CHANGING_MODES   /* number of modes */
} changing_mode;

/* Reads `size` bytes at `first` while they change; `second` has the same size. Returns the number of accesses. */
uint64_t changing_read(changing_reader reader, changing_mode mode, uint32_t at, const uint8_t *first,
                       const uint8_t *second, size_t size);

#endif
