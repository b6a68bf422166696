/* SPDX-License-Identifier: MIT */
/* Has a planted bug, to check that an engine finds it and that scripts/fuzz reports it: an input that begins with a
 * magic number makes the target read a byte that was never written (MemorySanitizer) and one past the end of a heap
 * block (AddressSanitizer). */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BLOCK_BYTES = 16 };
    uint8_t *block = malloc(BLOCK_BYTES);
    if (!block)
        return 0;
    uint32_t magic = 0;
    if (size >= sizeof magic)
        memcpy(&magic, data, sizeof magic);
    block[0] = (uint8_t)size;
    volatile uint8_t *read = block;
    unsigned sum = read[0];
    if (magic == 0x5EEDB06Fu && read[BLOCK_BYTES - 1] != 1) /* NOLINT(clang-analyzer-core.*): planted */
        sum += read[BLOCK_BYTES];
    free(block);
    return sum == 0x1000;
}
