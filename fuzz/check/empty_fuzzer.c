/* SPDX-License-Identifier: MIT */
/* Does nothing. scripts/fuzz --ledger reports the speed of the other targets as a fraction of this one's. */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    return 0;
}
