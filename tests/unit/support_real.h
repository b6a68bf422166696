/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_REAL_H
#define PFB_TEST_SUPPORT_REAL_H

/* Files of real machines. They are not part of the project: the folder PERFBLOCK_REAL_DATA has them. */
#include <criterion/criterion.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct real_file {
    uint8_t *data;
    size_t size;
} real_file;

/* Opens a file of the folder, like "v1/names-009.tsv". */
static inline FILE *open_real(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", PERFBLOCK_REAL_DATA, name);
    return fopen(path, "rb");
}

/* Skips the test if the file is missing; `what` names such files. Criterion does not print the reason. For the real
 * logs, CTest looks for this line and reports the test program as skipped. */
static inline void skip_without_real(const char *name, const char *what)
{
    FILE *stream = PERFBLOCK_REAL_DATA[0] ? open_real(name) : NULL;
    if (stream) {
        fclose(stream);
        return;
    }
    fprintf(stderr, "skipped: the %s are not there (PERFBLOCK_REAL_DATA)\n", what);
    cr_skip_test("the %s are not there", what);
}

/* Reads a file into memory of exactly its size, so that a sanitizer detects reads past the end. The caller frees it. */
static inline real_file read_real(const char *name)
{
    FILE *stream = open_real(name);
    cr_assert(stream, "%s is missing", name);
    cr_assert(fseek(stream, 0, SEEK_END) == 0);
    long size = ftell(stream);
    cr_assert_gt(size, 0);
    rewind(stream);
    real_file f = {.data = malloc((size_t)size), .size = (size_t)size};
    cr_assert_not_null(f.data);
    cr_assert_eq(fread(f.data, 1, f.size, stream), f.size);
    fclose(stream);
    return f;
}

#endif
