/* SPDX-License-Identifier: MIT */
#include "v1_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_v1(SUBJECT_NAME_TABLE, data, size);
    return 0;
}
