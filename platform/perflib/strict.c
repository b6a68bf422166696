/* SPDX-License-Identifier: MIT */
#include "perflib/strict.h"

#include "perfblock/v2.h"

/* ---- Adding --------------------------------------------------------------------------------------------- */

/* Returns true if the source knows that the counterset has a single instance. *reply is memory for the call. */
static bool is_single(pfb_source *source, const pfb_guid *counterset, pfb_bytes *reply)
{
    pfb_registration set;
    return pfb_source_registration(source, counterset, PFB_REQUEST_COUNTERSET, 0, reply, NULL) &&
           pfb_registration_open(&set, reply->data, reply->size_bytes, NULL) && set.instance_type == 0;
}

bool pfb_strict_add(pfb_source *source, pfb_source_query *query, uint8_t *blocks, size_t size,
                    pfb_source_failure *failure)
{
    pfb_bytes reply = {0};
    pfb_list list;
    pfb_identifier block;
    bool is_done = pfb_source_check_blocks(blocks, size, failure);
    pfb_list_open(&list, blocks, size, NULL);
    while (is_done && pfb_list_next_identifier(&list, &block)) {
        if (block.name.size_bytes > 0 && is_single(source, &block.counterset, &reply))
            pfb_source_set_status(blocks, &block, PFB_WIN32_INVALID_PARAMETER);
        else
            is_done = pfb_source_query_add(query, blocks + block.offset, block.size_bytes, failure);
    }
    pfb_bytes_free(&reply);
    return is_done;
}

/* ---- The order of results ------------------------------------------------------------------------------- */

static size_t count_blocks(const pfb_bytes *info)
{
    pfb_list list;
    pfb_identifier block;
    size_t count = 0;
    pfb_list_open(&list, info->data, info->size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &block))
        count++;
    return count;
}

void pfb_strict_info(pfb_bytes *info)
{
    enum { INDEX_AT = 32 };
    const size_t count = count_blocks(info);
    pfb_list list;
    pfb_identifier block;
    pfb_list_open(&list, info->data, info->size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &block)) {
        uint32_t index = block.index + 1 < count ? block.index + 1 : 0;
        for (unsigned i = 0; i < 4; i++)
            info->data[block.offset + INDEX_AT + i] = (uint8_t)(index >> 8 * i);
    }
}

static void reverse(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        uint8_t kept = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = kept;
    }
}

/* Exchanges the last result with all that precede it, without further memory. */
void pfb_strict_data(pfb_bytes *sample)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    size_t first = 0;
    size_t last = 0;
    size_t end = 0;
    pfb_v2_open(&reader, sample->data, sample->size_bytes, NULL);
    while (pfb_v2_next_result(&reader, &result)) {
        first = end == 0 ? result.offset : first;
        last = result.offset;
        end = result.offset + result.size_bytes;
    }
    if (reader.error.code != PFB_OK || end == 0)
        return;
    reverse(sample->data + first, last - first);
    reverse(sample->data + last, end - last);
    reverse(sample->data + first, end - first);
}
