/* SPDX-License-Identifier: MIT */
#include "number_text_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_number_text(data, size);
    return 0;
}
