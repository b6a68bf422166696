/* SPDX-License-Identifier: MIT */
/* The value of a row and column of a sample. */
#include "sample/order.h"

pfb_sample_value pfb_sample_value_at(const pfb_sample *sample, uint32_t row, uint32_t column)
{
    pfb_sample_value value = {.exists = false};
    if (row >= sample->counts.rows || column >= sample->counts.columns ||
        sample->rows[row].result != sample->columns[column].result ||
        sample->columns[column].position >= sample->rows[row].value_count)
        return value;
    size_t place = pfb_sample_place(sample, row, column);
    uint64_t raw = sample->raw[place];
    value.exists = true;
    value.is_number = sample->sizes[place] != 0;
    value.raw = value.is_number ? raw : 0;
    value.size_bytes = value.is_number ? sample->sizes[place] : (uint32_t)raw;
    value.offset = value.is_number ? 0 : (uint32_t)(raw >> 32);
    value.has_multi_count = sample->multi_counts && sample->multi_counts[place] != PFB_NO_MULTI_COUNT;
    value.multi_count = value.has_multi_count ? (uint32_t)sample->multi_counts[place] : 0;
    return value;
}
