/* SPDX-License-Identifier: MIT */
#include "input/file_format.h"

#include "perfblock/cpi/text.h"
#include "perfblock/stream.h"
#include "perfblock/v1.h"

#include <string.h>

input_kind file_format_of_log(const uint8_t *data, size_t available)
{
    size_t size = available < sizeof(uint32_t) ? available : sizeof(uint32_t);
    return size > 0 && !memchr(data, 0, size) ? INPUT_PDH_TEXT : INPUT_LOG;
}

file_format file_format_recognise(const uint8_t *data, size_t available, uint64_t file_size)
{
    uint32_t kind;
    file_format found = {.kind = INPUT_UNKNOWN};
    found.description = pfb_stream_recognise(data, available, file_size, &kind);
    if (kind == PFB_RECORD_BEGIN)
        found.kind = INPUT_CAPTURE;
    else if (kind == PFB_RECORD_V1 && pfb_v1_recognise(data, available)) /* numbers in a text are not shown */
        found.kind = INPUT_V1;
    else if (kind == PFB_RECORD_V2)
        found.kind = INPUT_DATA;
    else if (kind == PFB_RECORD_LOG)
        found.kind = INPUT_LOG;
    else if (kind == PFB_RECORD_ROW)
        found.kind = INPUT_PDH_TEXT;
    else if (kind == PFB_RECORD_NAMES)
        found.kind = INPUT_NAMES;
    else if (pfb_cpi_text_recognise(data, available))
        found.kind = INPUT_SNAPSHOTS;
    return found;
}
