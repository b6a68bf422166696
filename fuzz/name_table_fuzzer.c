/* SPDX-License-Identifier: MIT */
#include "legacy_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_legacy(SUBJECT_NAME_TABLE, data, size);
    return 0;
}
