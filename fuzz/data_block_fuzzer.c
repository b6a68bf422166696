/* SPDX-License-Identifier: MIT */
#include "readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input(SUBJECT_DATA_BLOCK, data, size);
    return 0;
}
