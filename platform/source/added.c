/* SPDX-License-Identifier: MIT */
#include "source/added.h"

#include <string.h>

pfb_query pfb_added_query(const pfb_identifier *identifier)
{
    return (pfb_query){.counterset = identifier->counterset,
                       .counter_id = identifier->counter_id,
                       .instance_id = identifier->instance_id,
                       .name = identifier->name};
}

bool pfb_added_has_valid_name(const pfb_query *wanted, uint32_t instance_type)
{
    return pfb_query_size(wanted) > 0 && (instance_type == 0 || wanted->name.size_bytes > 0);
}

/* Returns true if the identifier blocks of both queries are equal. Names are compared by code unit: wildcards have no
 * meaning, and case matters. */
static bool is_same(const pfb_query *a, const pfb_query *b)
{
    return pfb_guid_equal(&a->counterset, &b->counterset) && a->counter_id == b->counter_id &&
           a->instance_id == b->instance_id && pfb_name_equal(&a->name, &b->name);
}

/* Finds the added block that is equal to a query. */
static bool find_block(const pfb_bytes *added, const pfb_query *wanted, pfb_identifier *found)
{
    pfb_list list;
    pfb_list_open(&list, added->data, added->size_bytes, NULL);
    while (pfb_list_next_identifier(&list, found)) {
        pfb_query candidate = pfb_added_query(found);
        if (is_same(&candidate, wanted))
            return true;
    }
    return false;
}

/* Adds one block. The caller has reserved the memory. Returns the block's Status. */
static uint32_t add_block(pfb_bytes *added, const pfb_query *wanted, pfb_added_check *check, const void *context)
{
    pfb_identifier existing;
    uint32_t refusal = check(context, wanted);
    if (refusal != PFB_WIN32_SUCCESS)
        return refusal;
    if (find_block(added, wanted, &existing))
        return PFB_WIN32_ALREADY_EXISTS;
    added->size_bytes +=
        pfb_query_write(wanted, added->data + added->size_bytes, added->capacity_bytes - added->size_bytes);
    return PFB_WIN32_SUCCESS;
}

bool pfb_added_add(pfb_bytes *added, uint8_t *blocks, size_t size, pfb_added_check *check, const void *context,
                   pfb_source_failure *failure)
{
    if (!pfb_source_check_blocks(blocks, size, failure))
        return false;
    /* A stored block is never larger than the block of the caller, so no memory is needed after this. */
    if (size > SIZE_MAX - added->size_bytes || !pfb_bytes_reserve(added, added->size_bytes + size))
        return pfb_source_fail_memory(failure);
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, blocks, size, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        pfb_query wanted = pfb_added_query(&identifier);
        pfb_source_set_status(blocks, &identifier, add_block(added, &wanted, check, context));
    }
    return true;
}

static uint32_t remove_block(pfb_bytes *added, const pfb_query *unwanted)
{
    pfb_identifier found;
    if (!find_block(added, unwanted, &found))
        return PFB_WIN32_INVALID_PARAMETER;
    size_t end = found.offset + found.size_bytes;
    memmove(added->data + found.offset, added->data + end, added->size_bytes - end);
    added->size_bytes -= found.size_bytes;
    return PFB_WIN32_SUCCESS;
}

bool pfb_added_remove(pfb_bytes *added, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    if (!pfb_source_check_blocks(blocks, size, failure))
        return false;
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, blocks, size, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        pfb_query unwanted = pfb_added_query(&identifier);
        pfb_source_set_status(blocks, &identifier, remove_block(added, &unwanted));
    }
    return true;
}

static void write_info(const void *context, pfb_writer *writer)
{
    const pfb_bytes *added = context;
    pfb_list list;
    pfb_identifier identifier;
    uint32_t index = 0;
    pfb_list_open(&list, added->data, added->size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        pfb_query block = pfb_added_query(&identifier);
        block.index = index++;
        pfb_write_identifier(writer, &block);
    }
}

bool pfb_added_info(const pfb_bytes *added, pfb_bytes *info, pfb_source_failure *failure)
{
    return pfb_source_build(info, write_info, added, failure);
}
