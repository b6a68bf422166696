/* SPDX-License-Identifier: MIT */
#include "pdh_text_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_pdh_text(data, size);
    return 0;
}
