/* SPDX-License-Identifier: MIT */
#include "cpi/cpi_source_private.h"

#include <stdio.h>

/* Reads the rest of a file. Returns false on a failure. */
static bool read_rest(FILE *file, const char *path, pfb_bytes *bytes, pfb_cpi_failure *failure)
{
    enum { STEP = 1 << 16 };
    size_t size = STEP;
    while (size == STEP) {
        if (!pfb_bytes_reserve(bytes, bytes->size_bytes + STEP))
            return pfb_cpi_fail_memory(failure);
        size = fread(bytes->data + bytes->size_bytes, 1, STEP, file);
        bytes->size_bytes += size;
    }
    return !ferror(file) || pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_PARAMETER, "%.120s cannot be read", path);
}

pfb_cpi_source *pfb_cpi_source_open_snapshots(const char *path, pfb_cpi_failure *failure)
{
    pfb_bytes bytes = {0};
    pfb_cpi_source *source = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) {
        pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_PARAMETER, "%.120s cannot be opened", path);
        return NULL;
    }
    if (read_rest(file, path, &bytes, failure))
        source = pfb_cpi_source_open_fixture(bytes.data, bytes.size_bytes, failure);
    fclose(file);
    pfb_bytes_free(&bytes);
    return source;
}
