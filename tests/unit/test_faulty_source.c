/* SPDX-License-Identifier: MIT */
/* The source that passes operations on to another source and fails, or changes replies, on request. */
#include <criterion/criterion.h>

#include "perfblock/query.h"
#include "perfblock/source.h"
#include "perfblock/v2.h"
#include "support.h"
#include "support_replay.h"

#include <stdlib.h>
#include <string.h>

/* ---- An inner source that records its calls ------------------------------------------------------------ */

enum { INNER_CODE = 77, INNER_STATUS = 55, MAX_BLOCKS = 8, STATUS_AT = 16 };

#define REPLY "0123456789"

typedef struct inner {
    size_t calls[PFB_SOURCE_OPERATION_COUNT];
    size_t open_queries, closed;
    uint32_t blocks[MAX_BLOCKS]; /* counter ids of the blocks that were added or removed */
    size_t block_count;
    bool is_failing;
    size_t reported_size; /* size of replies, if not 0 */
} inner;

static bool answer(inner *source, pfb_source_operation operation, pfb_bytes *reply, pfb_source_failure *failure)
{
    source->calls[operation]++;
    if (source->is_failing) {
        failure->code = INNER_CODE;
        return false;
    }
    cr_assert_eq(reply->size_bytes, 0, "the reply is empty when a source is called");
    cr_assert(pfb_bytes_append(reply, REPLY, strlen(REPLY)));
    if (source->reported_size > 0)
        reply->size_bytes = source->reported_size;
    return true;
}

static bool inner_countersets(void *context, pfb_bytes *reply, pfb_source_failure *failure)
{
    return answer(context, PFB_SOURCE_COUNTERSETS, reply, failure);
}

static bool inner_registration(void *context, const pfb_guid *counterset, uint32_t request, uint32_t language,
                               pfb_bytes *reply, pfb_source_failure *failure)
{
    cr_expect(counterset->bytes[0] == 3 && request == 5 && language == 9);
    return answer(context, PFB_SOURCE_REGISTRATION, reply, failure);
}

static bool inner_instances(void *context, const pfb_guid *counterset, pfb_bytes *reply, pfb_source_failure *failure)
{
    cr_expect_eq(counterset->bytes[0], 3);
    return answer(context, PFB_SOURCE_INSTANCES, reply, failure);
}

static bool inner_v1(void *context, const char *query, pfb_bytes *reply, pfb_source_failure *failure)
{
    cr_expect_str_eq(query, "238 2");
    return answer(context, PFB_SOURCE_V1, reply, failure);
}

static void *inner_query_open(void *context, pfb_source_failure *failure)
{
    inner *source = context;
    source->calls[PFB_SOURCE_QUERY_OPEN]++;
    if (source->is_failing) {
        failure->code = INNER_CODE;
        return NULL;
    }
    source->open_queries++;
    return context;
}

static void inner_query_close(void *context)
{
    ((inner *)context)->open_queries--;
}

/* Records the blocks, and sets the Status of each to INNER_STATUS. */
static bool take_blocks(inner *source, pfb_source_operation operation, uint8_t *blocks, size_t size,
                        pfb_source_failure *failure)
{
    pfb_list list;
    pfb_identifier identifier;
    source->calls[operation]++;
    if (source->is_failing) {
        failure->code = INNER_CODE;
        return false;
    }
    pfb_list_open(&list, blocks, size, STRICT);
    while (pfb_list_next_identifier(&list, &identifier)) {
        cr_assert_lt(source->block_count, MAX_BLOCKS);
        source->blocks[source->block_count++] = identifier.counter_id;
        memcpy(blocks + identifier.offset + STATUS_AT, (const uint8_t[4]){INNER_STATUS}, 4);
    }
    return list.error.code == PFB_OK;
}

static bool inner_query_add(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return take_blocks(context, PFB_SOURCE_QUERY_ADD, blocks, size, failure);
}

static bool inner_query_remove(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return take_blocks(context, PFB_SOURCE_QUERY_REMOVE, blocks, size, failure);
}

static bool inner_query_info(void *context, pfb_bytes *reply, pfb_source_failure *failure)
{
    return answer(context, PFB_SOURCE_QUERY_INFO, reply, failure);
}

static bool inner_query_collect(void *context, pfb_bytes *reply, pfb_source_failure *failure)
{
    return answer(context, PFB_SOURCE_QUERY_COLLECT, reply, failure);
}

static void inner_close(void *context)
{
    ((inner *)context)->closed++;
}

static const pfb_source_operations inner_operations = {.close = inner_close,
                                                       .countersets = inner_countersets,
                                                       .registration = inner_registration,
                                                       .instances = inner_instances,
                                                       .query_open = inner_query_open,
                                                       .query_close = inner_query_close,
                                                       .query_add = inner_query_add,
                                                       .query_remove = inner_query_remove,
                                                       .query_info = inner_query_info,
                                                       .query_collect = inner_query_collect,
                                                       .v1 = inner_v1};

/* ---- Calls --------------------------------------------------------------------------------------------- */

/* The recorded calls of the inner source. */
static inner inner_source;

static void reset_inner_source(void)
{
    inner_source = (inner){0};
}

TestSuite(faulty_source, .init = reset_inner_source);

static pfb_source *open_faulty(const pfb_source_fault *faults, size_t count)
{
    pfb_source_failure failure = {0};
    pfb_source *source =
        pfb_source_open_faulty(pfb_source_make(&inner_operations, &inner_source, NULL), faults, count, &failure);
    cr_assert(source, "%s", failure.sentence);
    return source;
}

static const pfb_source_operation replying[] = {PFB_SOURCE_COUNTERSETS, PFB_SOURCE_REGISTRATION,  PFB_SOURCE_INSTANCES,
                                                PFB_SOURCE_QUERY_INFO,  PFB_SOURCE_QUERY_COLLECT, PFB_SOURCE_V1};

enum { REPLYING = sizeof replying / sizeof replying[0] };

static size_t make_block(uint8_t *out, size_t capacity, uint32_t counter_id)
{
    const pfb_query query = {.counterset = {{3}}, .counter_id = counter_id, .instance_id = PFB_NO_ID};
    return pfb_query_write(&query, out, capacity);
}

/* Makes one call of an operation. `query` may be null for operations without a query. */
static bool call(pfb_source *source, pfb_source_query *query, pfb_source_operation operation, pfb_bytes *reply,
                 pfb_source_failure *failure)
{
    static const pfb_guid set = {{3}};
    uint8_t block[40];
    size_t size = make_block(block, sizeof block, 1);
    pfb_source_query *opened;
    switch (operation) {
    case PFB_SOURCE_COUNTERSETS:
        return pfb_source_countersets(source, reply, failure);
    case PFB_SOURCE_REGISTRATION:
        return pfb_source_registration(source, &set, 5, 9, reply, failure);
    case PFB_SOURCE_INSTANCES:
        return pfb_source_instances(source, &set, reply, failure);
    case PFB_SOURCE_QUERY_OPEN:
        opened = pfb_source_query_open(source, failure);
        pfb_source_query_close(opened);
        return opened != NULL;
    case PFB_SOURCE_QUERY_ADD:
        return pfb_source_query_add(query, block, size, failure);
    case PFB_SOURCE_QUERY_REMOVE:
        return pfb_source_query_remove(query, block, size, failure);
    case PFB_SOURCE_QUERY_INFO:
        return pfb_source_query_info(query, reply, failure);
    case PFB_SOURCE_QUERY_COLLECT:
        return pfb_source_query_collect(query, reply, failure);
    case PFB_SOURCE_V1:
        return pfb_source_v1(source, "238 2", reply, failure);
    case PFB_SOURCE_OPERATION_COUNT:
        break;
    }
    cr_assert_fail("operation %d is unknown", (int)operation);
    return false;
}

/* For each operation that has a reply, applies the faults in `pattern` to the operation and checks the reply. */
static void expect_replies(const pfb_source_fault *pattern, size_t count, const char *text, size_t size)
{
    for (size_t i = 0; i < REPLYING; i++) {
        pfb_source_fault faults[4];
        cr_assert_leq(count, 4);
        for (size_t j = 0; j < count; j++) {
            faults[j] = pattern[j];
            faults[j].operation = replying[i];
        }
        pfb_source *source = open_faulty(faults, count);
        pfb_source_query *query = pfb_source_query_open(source, NULL);
        pfb_bytes reply = {0};
        pfb_source_failure failure = {0};
        cr_expect(call(source, query, replying[i], &reply, &failure), "operation %zu: %s", i, failure.sentence);
        cr_expect(reply.size_bytes == size && memcmp(reply.data, text, size) == 0, "operation %zu, fault %d: \"%.*s\"",
                  i, (int)pattern[0].kind, (int)reply.size_bytes, (const char *)reply.data);
        pfb_bytes_free(&reply);
        pfb_source_query_close(query);
        pfb_source_close(source);
    }
}

#define EXPECT_REPLIES(text, ...)                                                                                      \
    expect_replies((const pfb_source_fault[]){__VA_ARGS__},                                                            \
                   sizeof((const pfb_source_fault[]){__VA_ARGS__}) / sizeof(pfb_source_fault), text, sizeof text - 1)

/* ---- No faults ----------------------------------------------------------------------------------------- */

Test(faulty_source, calls_without_faults_are_passed_on_unchanged)
{
    /* Call 3 of V1, which is never made. */
    static const pfb_source_fault later = {PFB_SOURCE_V1, 3, PFB_SOURCE_FAULT_FAIL, 5, 0};
    for (size_t count = 0; count <= 1; count++) {
        inner_source = (inner){0};
        pfb_source *source = open_faulty(count > 0 ? &later : NULL, count);
        pfb_source_query *query = pfb_source_query_open(source, NULL);
        cr_assert(query && inner_source.open_queries == 1);
        for (int i = 0; i < PFB_SOURCE_OPERATION_COUNT; i++) {
            pfb_bytes reply = {0};
            pfb_source_failure failure = {0};
            cr_expect(call(source, query, (pfb_source_operation)i, &reply, &failure), "operation %d", i);
            cr_expect_eq(failure.code, 0);
            cr_expect_eq(inner_source.calls[i], i == PFB_SOURCE_QUERY_OPEN ? 2 : 1, "operation %d", i);
            bool has_reply = i < PFB_SOURCE_QUERY_OPEN || i > PFB_SOURCE_QUERY_REMOVE;
            cr_expect_eq(reply.size_bytes, has_reply ? 10 : 0, "operation %d", i);
            cr_expect(!has_reply || memcmp(reply.data, REPLY, 10) == 0, "operation %d", i);
            pfb_bytes_free(&reply);
        }
        pfb_source_query_close(query);
        cr_expect(inner_source.open_queries == 0 && inner_source.closed == 0);
        pfb_source_close(source);
        cr_expect_eq(inner_source.closed, 1);
    }
}

Test(faulty_source, failures_of_the_inner_source_are_passed_on)
{
    for (int i = 0; i < PFB_SOURCE_OPERATION_COUNT; i++) {
        pfb_source_fault fault = {(pfb_source_operation)i, 2, PFB_SOURCE_FAULT_FAIL, 5, 0};
        inner_source = (inner){0};
        pfb_source *source = open_faulty(&fault, 1);
        pfb_source_query *query = NULL;
        if (i != PFB_SOURCE_QUERY_OPEN)
            query = pfb_source_query_open(source, NULL);
        pfb_source_failure failure = {0};
        pfb_bytes reply = {0};
        inner_source.is_failing = true;
        cr_expect_not(call(source, query, fault.operation, &reply, &failure), "operation %d", i);
        cr_expect_eq(failure.code, INNER_CODE, "operation %d", i);
        cr_expect_not(call(source, query, fault.operation, &reply, &failure));
        cr_expect_eq(failure.code, 5, "operation %d: the failed first call is counted", i);
        pfb_bytes_free(&reply);
        pfb_source_query_close(query);
        pfb_source_close(source);
    }
}

/* ---- Failing ------------------------------------------------------------------------------------------- */

Test(faulty_source, every_operation_fails_on_the_selected_call)
{
    static const char *const names[] = {"countersets",  "registration", "instances",     "query_open", "query_add",
                                        "query_remove", "query_info",   "query_collect", "v1"};
    for (int i = 0; i < PFB_SOURCE_OPERATION_COUNT; i++) {
        pfb_source_fault fault = {(pfb_source_operation)i, 3, PFB_SOURCE_FAULT_FAIL, PFB_WIN32_BUSY, 0};
        inner_source = (inner){0};
        pfb_source *source = open_faulty(&fault, 1);
        pfb_source_query *query = pfb_source_query_open(source, NULL); /* call 1 of PFB_SOURCE_QUERY_OPEN */
        pfb_bytes reply = {0};
        for (int number = i == PFB_SOURCE_QUERY_OPEN ? 2 : 1; number <= 5; number++) {
            pfb_source_failure failure = {0};
            bool is_done = call(source, query, fault.operation, &reply, &failure);
            cr_expect_eq(is_done, number != 3, "%s, call %d", names[i], number);
            cr_expect_eq(failure.code, number == 3 ? PFB_WIN32_BUSY : 0, "%s, call %d", names[i], number);
            cr_expect(is_done || (strstr(failure.sentence, names[i]) && strstr(failure.sentence, "call 3 ")), "%s",
                      failure.sentence);
            cr_expect(is_done || reply.size_bytes == 0);
        }
        cr_expect_eq(inner_source.calls[i], 4, "%s: the inner source is not called if the fault is FAIL", names[i]);
        pfb_bytes_free(&reply);
        pfb_source_query_close(query);
        pfb_source_close(source);
    }
}

Test(faulty_source, call_zero_selects_every_call)
{
    static const pfb_source_fault fault = {PFB_SOURCE_COUNTERSETS, 0, PFB_SOURCE_FAULT_FAIL, 0, 0};
    pfb_source *source = open_faulty(&fault, 1);
    pfb_bytes reply = {0};
    for (int i = 0; i < 4; i++) {
        pfb_source_failure failure = {.code = 1};
        cr_expect_not(pfb_source_countersets(source, &reply, &failure));
        cr_expect_eq(failure.code, 0, "the code of a fault may be 0");
        cr_expect_not(pfb_source_countersets(source, &reply, NULL));
    }
    cr_expect_eq(inner_source.calls[PFB_SOURCE_COUNTERSETS], 0);
    pfb_source_close(source);
}

Test(faulty_source, calls_are_counted_across_query_handles)
{
    static const pfb_source_fault fault = {PFB_SOURCE_QUERY_COLLECT, 3, PFB_SOURCE_FAULT_FAIL, 5, 0};
    pfb_source *source = open_faulty(&fault, 1);
    pfb_source_query *one = pfb_source_query_open(source, NULL);
    pfb_source_query *other = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    cr_expect(pfb_source_query_collect(one, &reply, NULL));
    cr_expect(pfb_source_query_collect(other, &reply, NULL));
    cr_expect(pfb_source_query_info(one, &reply, NULL), "calls of another operation are not counted");
    cr_expect_not(pfb_source_query_collect(other, &reply, NULL));
    cr_expect(pfb_source_query_collect(one, &reply, NULL));
    pfb_bytes_free(&reply);
    pfb_source_query_close(one);
    pfb_source_query_close(other);
    pfb_source_close(source);
}

/* ---- Changed replies ----------------------------------------------------------------------------------- */

Test(faulty_source, replies_are_truncated)
{
    EXPECT_REPLIES("", {.kind = PFB_SOURCE_FAULT_CUT, .value = 0});
    EXPECT_REPLIES("012", {.kind = PFB_SOURCE_FAULT_CUT, .value = 3});
    EXPECT_REPLIES(REPLY, {.kind = PFB_SOURCE_FAULT_CUT, .value = 10});
    EXPECT_REPLIES(REPLY, {.kind = PFB_SOURCE_FAULT_CUT, .value = UINT32_MAX});
    EXPECT_REPLIES(REPLY, {.call = 2, .kind = PFB_SOURCE_FAULT_CUT, .value = 3});
}

Test(faulty_source, replies_are_padded)
{
    EXPECT_REPLIES(REPLY, {.kind = PFB_SOURCE_FAULT_PAD, .value = 0});
    EXPECT_REPLIES(REPLY "\xEE", {.kind = PFB_SOURCE_FAULT_PAD, .value = 1});
    EXPECT_REPLIES(REPLY "\xEE\xEE\xEE\xEE\xEE\xEE", {.call = 1, .kind = PFB_SOURCE_FAULT_PAD, .value = 6});
    EXPECT_REPLIES(REPLY, {.call = 2, .kind = PFB_SOURCE_FAULT_PAD, .value = 6});
}

Test(faulty_source, fields_of_replies_are_written)
{
    EXPECT_REPLIES("dcba456789", {.kind = PFB_SOURCE_FAULT_WRITE, .value = 0x61626364});
    EXPECT_REPLIES("012345dcba", {.kind = PFB_SOURCE_FAULT_WRITE, .value = 0x61626364, .at = 6});
    EXPECT_REPLIES("0123456dcb", {.kind = PFB_SOURCE_FAULT_WRITE, .value = 0x61626364, .at = 7});
    EXPECT_REPLIES("012345678d", {.kind = PFB_SOURCE_FAULT_WRITE, .value = 0x61626364, .at = 9});
    EXPECT_REPLIES(REPLY, {.kind = PFB_SOURCE_FAULT_WRITE, .value = 0x61626364, .at = 10});
    EXPECT_REPLIES(REPLY, {.kind = PFB_SOURCE_FAULT_WRITE, .value = 0x61626364, .at = SIZE_MAX});
}

Test(faulty_source, faults_are_applied_in_order)
{
    EXPECT_REPLIES("012\xEE\xEE", {.kind = PFB_SOURCE_FAULT_CUT, .value = 3},
                   {.call = 1, .kind = PFB_SOURCE_FAULT_PAD, .value = 2});
    EXPECT_REPLIES("012", {.kind = PFB_SOURCE_FAULT_PAD, .value = 2},
                   {.call = 1, .kind = PFB_SOURCE_FAULT_CUT, .value = 3});
    EXPECT_REPLIES("01\xEE\xEE\x04\x03\x02", {.kind = PFB_SOURCE_FAULT_CUT, .value = 2},
                   {.kind = PFB_SOURCE_FAULT_PAD, .value = 5},
                   {.kind = PFB_SOURCE_FAULT_WRITE, .value = 0x01020304, .at = 4});
}

Test(faulty_source, a_failing_call_has_no_other_fault)
{
    static const pfb_source_fault faults[] = {{PFB_SOURCE_QUERY_ADD, 0, PFB_SOURCE_FAULT_STATUS, 9, 0},
                                              {PFB_SOURCE_QUERY_ADD, 0, PFB_SOURCE_FAULT_FAIL, 5, 0},
                                              {PFB_SOURCE_QUERY_ADD, 0, PFB_SOURCE_FAULT_FAIL, 6, 0}};
    uint8_t block[40];
    uint8_t before[40];
    pfb_source *source = open_faulty(faults, 3);
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_source_failure failure = {0};
    make_block(block, sizeof block, 1);
    memcpy(before, block, sizeof block);
    cr_expect_not(pfb_source_query_add(query, block, sizeof block, &failure));
    cr_expect_eq(failure.code, 5, "the code of the first fault that fails the call");
    cr_expect(memcmp(block, before, sizeof block) == 0 && inner_source.block_count == 0);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

/* The replies have sizes that cannot be allocated. */
Test(faulty_source, padding_that_cannot_be_allocated_fails)
{
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 3, SIZE_MAX - 4, SIZE_MAX / 2};
    static const pfb_source_fault fault = {PFB_SOURCE_INSTANCES, 0, PFB_SOURCE_FAULT_PAD, 4, 0};
    static const pfb_guid set = {{3}};
    pfb_source *source = open_faulty(&fault, 1);
    pfb_bytes reply = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        pfb_source_failure failure = {0};
        inner_source.reported_size = sizes[i];
        cr_expect_not(pfb_source_instances(source, &set, &reply, &failure));
        cr_expect_eq(failure.code, PFB_WIN32_NOT_ENOUGH_MEMORY, "size %zu", sizes[i]);
    }
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

/* ---- Blocks that are refused --------------------------------------------------------------------------- */

typedef bool block_operation(pfb_source_query *query, uint8_t *blocks, size_t size, pfb_source_failure *failure);

static uint32_t status_of(const uint8_t *block)
{
    const uint8_t *field = block + STATUS_AT;
    return (uint32_t)field[0] | (uint32_t)field[1] << 8 | (uint32_t)field[2] << 16 | (uint32_t)field[3] << 24;
}

Test(faulty_source, blocks_are_refused_one_by_one)
{
    static block_operation *const functions[] = {pfb_source_query_add, pfb_source_query_remove};
    static const pfb_source_operation operations[] = {PFB_SOURCE_QUERY_ADD, PFB_SOURCE_QUERY_REMOVE};
    static const uint32_t expected[] = {0x01020304, INNER_STATUS, 8, INNER_STATUS};
    for (size_t i = 0; i < 2; i++) {
        const pfb_source_fault faults[] = {
            {operations[i], 1, PFB_SOURCE_FAULT_STATUS, 7, 2},
            {operations[i], 1, PFB_SOURCE_FAULT_STATUS, 0x01020304, 0},
            {operations[i], 0, PFB_SOURCE_FAULT_STATUS, 8, 2},
            {operations[i], 1, PFB_SOURCE_FAULT_STATUS, 9, 4}, /* there is no such block */
            {operations[1 - i], 0, PFB_SOURCE_FAULT_STATUS, 9, 1}};
        uint8_t blocks[160];
        inner_source = (inner){0};
        pfb_source *source = open_faulty(faults, 5);
        pfb_source_query *query = pfb_source_query_open(source, NULL);
        for (uint32_t j = 0; j < 4; j++)
            make_block(blocks + 40 * j, 40, 10 + j);
        cr_assert(functions[i](query, blocks, sizeof blocks, NULL));
        for (size_t j = 0; j < 4; j++)
            cr_expect_eq(status_of(blocks + 40 * j), expected[j], "block %zu", j);
        cr_expect(inner_source.block_count == 2 && inner_source.blocks[0] == 11 && inner_source.blocks[1] == 13);
        cr_assert(functions[i](query, blocks, sizeof blocks, NULL), "only one fault applies to the second call");
        cr_expect(status_of(blocks) == INNER_STATUS && status_of(blocks + 80) == 8 && inner_source.block_count == 5);
        pfb_source_query_close(query);
        pfb_source_close(source);
    }
}

/* The blocks of single-instance countersets have no name or an empty name. A fault can refuse either of these. */
Test(faulty_source, blocks_with_no_name_or_an_empty_name_are_refused)
{
    static const pfb_source_fault_kind kinds[] = {PFB_SOURCE_FAULT_NO_NAME, PFB_SOURCE_FAULT_EMPTY_NAME};
    for (size_t i = 0; i < 2; i++) {
        const pfb_source_fault fault = {PFB_SOURCE_QUERY_ADD, 0, kinds[i], 87, 0};
        uint8_t blocks[40 + 48 + 48];
        inner_source = (inner){0};
        pfb_source *source = open_faulty(&fault, 1);
        pfb_source_query *query = pfb_source_query_open(source, NULL);
        size_t size = make_block(blocks, 40, 10);
        for (size_t length = 0; length < 2; length++) {
            const pfb_query named = {.counter_id = 11, .instance_id = PFB_NO_ID, .name = pfb_utf8_name("a", length)};
            size += pfb_query_write(&named, blocks + size, sizeof blocks - size);
        }
        cr_assert(size == sizeof blocks && pfb_source_query_add(query, blocks, size, NULL));
        cr_expect_eq(status_of(blocks), i == 0 ? 87 : INNER_STATUS);
        cr_expect_eq(status_of(blocks + 40), i == 1 ? 87 : INNER_STATUS);
        cr_expect_eq(status_of(blocks + 88), INNER_STATUS);
        pfb_source_query_close(query);
        pfb_source_close(source);
    }
}

Test(faulty_source, malformed_blocks_are_refused_as_a_whole)
{
    static const pfb_source_fault fault = {PFB_SOURCE_QUERY_ADD, 0, PFB_SOURCE_FAULT_STATUS, 9, 0};
    uint8_t blocks[80];
    pfb_source *source = open_faulty(&fault, 1);
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_source_failure failure = {0};
    make_block(blocks, 40, 1);
    make_block(blocks + 40, 40, 2);
    cr_expect_not(pfb_source_query_add(query, blocks, 79, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_INVALID_PARAMETER);
    cr_expect(status_of(blocks) == 0 && inner_source.block_count == 0, "no block is changed or passed on");
    inner_source.is_failing = true;
    cr_expect_not(pfb_source_query_add(query, blocks, 80, &failure));
    cr_expect_eq(failure.code, INNER_CODE);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

Test(faulty_source, kinds_of_faults_are_limited_to_their_operations)
{
    /* Rows: the operations in order, and an invalid one. Columns: FAIL, CUT, PAD, WRITE, STATUS, NO_NAME, EMPTY_NAME,
     * and an invalid kind. */
    static const char *const allowed[] = {"yyyynnn-", "yyyynnn-", "yyyynnn-", "ynnnnnn-", "ynnnyyy-",
                                          "ynnnyyy-", "yyyynnn-", "yyyynnn-", "yyyynnn-", "--------"};
    size_t closed = 0;
    for (int operation = 0; operation <= PFB_SOURCE_OPERATION_COUNT; operation++) {
        for (int kind = 0; kind <= PFB_SOURCE_FAULT_COUNT; kind++) {
            const pfb_source_fault faults[] = {{PFB_SOURCE_V1, 1, PFB_SOURCE_FAULT_FAIL, 5, 0},
                                               {(pfb_source_operation)operation, 1, (pfb_source_fault_kind)kind, 5, 0}};
            pfb_source_failure failure = {0};
            pfb_source *source =
                pfb_source_open_faulty(pfb_source_make(&inner_operations, &inner_source, NULL), faults, 2, &failure);
            bool is_allowed = allowed[operation][kind] == 'y';
            cr_expect_eq(source != NULL, is_allowed, "operation %d, kind %d", operation, kind);
            cr_expect_eq(failure.code, is_allowed ? 0 : PFB_WIN32_INVALID_PARAMETER);
            cr_expect(is_allowed || strstr(failure.sentence, "fault 1 "), "%s", failure.sentence);
            pfb_source_close(source);
            cr_expect_eq(inner_source.closed, ++closed, "the inner source is closed in either case");
        }
    }
}

Test(faulty_source, a_missing_inner_source_is_a_failure)
{
    pfb_source_failure failure = {0};
    cr_expect_null(pfb_source_open_faulty(replay_bytes("x", 1, &failure), NULL, 0, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_INVALID_PARAMETER, "the failure is that of the inner source");
}

Test(faulty_source, faults_are_copied)
{
    pfb_source_fault fault = {PFB_SOURCE_V1, 1, PFB_SOURCE_FAULT_FAIL, 5, 0};
    pfb_source *source = open_faulty(&fault, 1);
    pfb_source_failure failure = {0};
    pfb_bytes reply = {0};
    fault.operation = PFB_SOURCE_INSTANCES;
    cr_expect_not(pfb_source_v1(source, "238 2", &reply, &failure));
    cr_expect_eq(failure.code, 5);
    pfb_source_close(source);
}

/* ---- Captures ------------------------------------------------------------------------------------------ */

/* Collects the next sample and returns the error of reading its header. */
static pfb_error collect(pfb_source_query *query)
{
    pfb_bytes reply = {0};
    pfb_v2_reader block;
    pfb_source_failure failure = {0};
    cr_assert(pfb_source_query_collect(query, &reply, &failure), "%s", failure.sentence);
    pfb_v2_open(&block, reply.data, reply.size_bytes, NULL);
    pfb_bytes_free(&reply);
    return block.error;
}

static size_t replayed_captures;

static void replay_with_faults(const char *name, const uint8_t *data, size_t size)
{
    static const pfb_source_fault faults[] = {{PFB_SOURCE_QUERY_COLLECT, 1, PFB_SOURCE_FAULT_CUT, 47, 0},
                                              {PFB_SOURCE_QUERY_COLLECT, 2, PFB_SOURCE_FAULT_FAIL, 21, 0},
                                              {PFB_SOURCE_QUERY_COLLECT, 3, PFB_SOURCE_FAULT_WRITE, 47, 0}};
    if (strcmp(name, "valid_processor_information.pfb") != 0)
        return;
    replayed_captures++;
    for (size_t faulty = 0; faulty <= 1; faulty++) {
        pfb_source_failure failure = {0};
        pfb_bytes reply = {0};
        pfb_source *source = pfb_source_open_faulty(replay_bytes(data, size, NULL), faults, faulty * 3, NULL);
        pfb_source_query *query = pfb_source_query_open(source, NULL);
        expect_error(collect(query), faulty ? PFB_TRUNCATED_HEADER : PFB_OK, 0, "a truncated reply");
        if (faulty)
            cr_expect_not(pfb_source_query_collect(query, &reply, NULL), "a failed call does not consume a sample");
        expect_error(collect(query), faulty ? PFB_BAD_TOTAL_SIZE : PFB_OK, 0, "a size smaller than the header");
        cr_expect_not(pfb_source_query_collect(query, &reply, &failure));
        cr_expect_eq(failure.code, PFB_WIN32_NO_MORE_ITEMS);
        pfb_source_query_close(query);
        pfb_source_close(source);
    }
}

Test(faulty_source, captures_are_replayed_with_faults)
{
    replayed_captures = 0; /* tests may share a process */
    visit_seeds("capture", replay_with_faults);
    cr_expect_eq(replayed_captures, 1, "the seed is in the corpus");
}
