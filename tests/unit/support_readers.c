/* SPDX-License-Identifier: MIT */
#include "support_readers.h"

#include "support.h"

pfb_error finish_v1(pfb_v1_reader *reader)
{
    pfb_v1_object object;
    while (pfb_v1_next_object(reader, &object))
        continue;
    return reader->error;
}

bool find_query(const void *info, size_t size, uint32_t index, pfb_identifier *identifier)
{
    pfb_list list;
    bool is_found = false;
    pfb_list_open(&list, info, size, STRICT);
    while (!is_found && pfb_list_next_identifier(&list, identifier))
        is_found = identifier->index == index;
    expect_error(list.error, PFB_OK, 0, "the query information");
    return is_found;
}
