/* SPDX-License-Identifier: MIT */
/* Linked into a program that calls PerfLib. Its calls then use the capture file that the environment variable
 * PERFBLOCK_CAPTURE names, with the fault in PERFBLOCK_FAULT: five numbers, "OPERATION CALL KIND VALUE AT", the members
 * of pfb_source_fault. Before main, prints what the library reports about the first sample. Without PERFBLOCK_FAULT
 * there is no fault, and nothing is printed. Except on Windows, nanosleep is replaced by a function that returns
 * immediately, so that a program which waits between samples ends soon. */
#include "perfblock/perflib.h"
#include "perfblock/query.h"
#include "perfblock/stream.h"
#include "perfblock/v2.h"

#include <stdio.h>
#include <stdlib.h>

#if !defined(_WIN32)
#include <time.h>

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)wanted;
    (void)left;
    return 0;
}
#endif

static pfb_source *open_faulty(const pfb_source_fault *fault, size_t count)
{
    pfb_stream *stream = pfb_stream_new();
    if (!stream || pfb_stream_add_file(stream, getenv("PERFBLOCK_CAPTURE")) < 0)
        exit(9);
    return pfb_source_open_faulty(pfb_source_open_stream(stream, NULL), fault, count, NULL);
}

/* Collects the first sample with a query for all instances of Processor Information. Prints the status of the
 * identifier block if it is not 0, otherwise the error code of the reply; if a call fails, its code and reason. */
static void print_verdict(pfb_source *source)
{
    pfb_query query = {.counter_id = PFB_NO_ID, .instance_id = PFB_NO_ID, .name = pfb_utf8_name("*", 1)};
    uint8_t block[48];
    pfb_source_failure failure = {0};
    pfb_bytes reply = {0};
    pfb_v2_reader reader;
    pfb_guid_parse("b4fc721a-0378-476f-89ba-a5a79f810b36", 36, &query.counterset);
    size_t size = pfb_query_write(&query, block, sizeof block);
    pfb_source_query *handle = pfb_source_query_open(source, &failure);
    bool is_added = handle && pfb_source_query_add(handle, block, size, &failure);
    uint32_t status = (uint32_t)block[16] | (uint32_t)block[17] << 8; /* low 16 bits of the block's Status */
    if (is_added && status != 0) {
        printf("verdict status %u\n", (unsigned)status);
    } else if (is_added && pfb_source_query_collect(handle, &reply, &failure)) {
        pfb_v2_open(&reader, reply.data, reply.size_bytes, &(pfb_read_options){.is_strict = true});
        printf("verdict %s\n", pfb_code_name(pfb_v2_finish(&reader).code));
    } else {
        printf("verdict %u %s\n", (unsigned)failure.code, failure.sentence);
    }
    pfb_source_query_close(handle);
    pfb_bytes_free(&reply);
}

__attribute__((constructor)) static void use_fault(void)
{
    unsigned operation, call, kind, value, at;
    const char *text = getenv("PERFBLOCK_FAULT");
    if (!text || sscanf(text, "%u %u %u %u %u", &operation, &call, &kind, &value, &at) != 5)
        return;
    const pfb_source_fault fault = {(pfb_source_operation)operation, call, (pfb_source_fault_kind)kind, value, at};
    pfb_source *source = open_faulty(&fault, 1);
    if (!source)
        exit(9);
    print_verdict(source);
    pfb_source_close(source);
    if (pfb_perflib_use(open_faulty(&fault, 1)) != PFB_WIN32_SUCCESS)
        exit(9);
}
