/* SPDX-License-Identifier: MIT */
/* Runs a reader on an input that changes between any two loads (changing.h).
 *
 * Input: { reader u8, mode u8, at u32, size u16 little-endian }, reader and mode modulo their number, then `size` bytes
 * of first contents, as far as the input goes. The rest is the second contents, truncated or padded with zeros. */
#include "changing.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEADER = 8 };
    if (size < HEADER)
        return 0;
    changing_reader reader = (changing_reader)(data[0] % CHANGING_READERS);
    changing_mode mode = (changing_mode)(data[1] % CHANGING_MODES);
    uint32_t at = data[2] | (uint32_t)data[3] << 8 | (uint32_t)data[4] << 16 | (uint32_t)data[5] << 24;
    size_t wanted = data[6] | (size_t)data[7] << 8;
    size_t first = wanted < size - HEADER ? wanted : size - HEADER;
    size_t second = size - HEADER - first < first ? size - HEADER - first : first;
    uint8_t *contents = calloc(2, first + 1);
    if (!contents)
        return 0;
    memcpy(contents, data + HEADER, first);
    memcpy(contents + first, data + HEADER + first, second);
    changing_read(reader, mode, at, contents, contents + first, first);
    free(contents);
    return 0;
}
