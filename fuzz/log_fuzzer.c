/* SPDX-License-Identifier: MIT */
#include "log_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_log(data, size);
    return 0;
}
