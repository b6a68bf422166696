/* SPDX-License-Identifier: MIT */
#include "cpuid_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_cpuid_text(data, size);
    return 0;
}
