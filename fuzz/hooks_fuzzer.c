/* SPDX-License-Identifier: MIT */
#include "hook_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_hooks(data, size);
    return 0;
}
