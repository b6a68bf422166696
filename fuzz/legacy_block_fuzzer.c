/* SPDX-License-Identifier: MIT */
#include "legacy_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_legacy(SUBJECT_LEGACY_BLOCK, data, size);
    return 0;
}
