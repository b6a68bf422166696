/* SPDX-License-Identifier: MIT */
#include "readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input(SUBJECT_METADATA, data, size);
    return 0;
}
