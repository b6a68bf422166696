/* SPDX-License-Identifier: MIT */
#include "lwp_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_lwp(data, size);
    return 0;
}
