/* SPDX-License-Identifier: MIT */
/* Tests, on any system, a monitoring agent that calls PerfLib: first with the data of a capture file, then with faults
 * that are difficult to cause on Windows. The agent calls the functions of the Windows SDK and has to handle anything
 * that they return.
 *
 * Usage: agent_test FIXTURE      fixtures/processor_information.pfb */
#define PFB_PERFLIB_OVER_SOURCE /* replaces the functions of the system on Windows, too */
#include <perfblock/perfblock.h>
#include <perfblock/perflib.h>
#include <perfblock/stream.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The agent ------------------------------------------------------------------------------------------------- */

enum { ERROR_DATA = 13, ERROR_BUFFER = 8, MAX_TRIES = 4 };

/* Collects one sample and counts its values. Returns 0 or an error code. */
static unsigned collect(HANDLE query, unsigned *values)
{
    static uint64_t buffer[1 << 13]; /* aligned to 8 */
    DWORD size = 0;
    ULONG status = ERROR_BUFFER;
    for (int i = 0; i < MAX_TRIES && status == ERROR_BUFFER; i++)
        status = PerfQueryCounterData(query, (PERF_DATA_HEADER *)buffer, sizeof buffer, &size);
    if (status != 0)
        return (unsigned)status;
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
    pfb_v2_open(&reader, buffer, size, 0);
    *values = 0;
    while (pfb_v2_next_result(&reader, &result)) {
        if (result.kind == PFB_V2_ERROR)
            return result.status;
        while (pfb_v2_next_instance(&reader, &instance))
            while (pfb_v2_next_value(&reader, &value))
                ++*values;
    }
    return reader.error.code == PFB_OK ? 0 : ERROR_DATA;
}

/* Collects two samples of all counters of all processors. */
static unsigned run_agent(unsigned *values)
{
    struct {
        PERF_COUNTER_IDENTIFIER block;
        WCHAR name[4];
    } all = {{{0xb4fc721a, 0x0378, 0x476f, {0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36}},
              0,
              sizeof all,
              PERF_WILDCARD_COUNTER,
              PERF_WILDCARD_COUNTER,
              0,
              0},
             {'*', 0}};
    HANDLE query = NULL;
    unsigned status = (unsigned)PerfOpenQueryHandle(NULL, &query);
    if (status != 0)
        return status;
    status = (unsigned)PerfAddCounters(query, &all.block, sizeof all);
    if (status == 0)
        status = (unsigned)all.block.Status;
    for (int i = 0; i < 2 && status == 0; i++)
        status = collect(query, values);
    PerfCloseQueryHandle(query);
    return status;
}

/* ---- Its test -------------------------------------------------------------------------------------------------- */

typedef struct test_case {
    const char *what;
    pfb_source_fault fault;
    unsigned status; /* expected result of the agent */
} test_case;

enum { FIRST_INSTANCE_SIZE = 208 }; /* offset in the fixture's replies: Size of the first PERF_INSTANCE_HEADER */

static const test_case cases[] = {
    {"no fault", {PFB_SOURCE_V1, 1, PFB_SOURCE_FAULT_FAIL, PFB_WIN32_ACCESS_DENIED, 0}, 0}, /* V1 is not used */
    {"access denied",
     {PFB_SOURCE_QUERY_OPEN, 1, PFB_SOURCE_FAULT_FAIL, PFB_WIN32_ACCESS_DENIED, 0},
     PFB_WIN32_ACCESS_DENIED},
    {"no such counterset",
     {PFB_SOURCE_QUERY_ADD, 1, PFB_SOURCE_FAULT_STATUS, PFB_WIN32_COUNTERSET_NOT_FOUND, 0},
     PFB_WIN32_COUNTERSET_NOT_FOUND},
    {"second sample cut", {PFB_SOURCE_QUERY_COLLECT, 2, PFB_SOURCE_FAULT_CUT, 60, 0}, ERROR_DATA},
    {"huge instance",
     {PFB_SOURCE_QUERY_COLLECT, 2, PFB_SOURCE_FAULT_WRITE, 0x7FFFFFFF, FIRST_INSTANCE_SIZE},
     ERROR_DATA},
    {"bytes after the reply", {PFB_SOURCE_QUERY_COLLECT, 0, PFB_SOURCE_FAULT_PAD, 24, 0}, 0},
};

static bool run_case(const test_case *c, const char *fixture)
{
    unsigned values = 0;
    pfb_source_failure failure = {0};
    pfb_stream *stream = pfb_stream_new();
    if (!stream || pfb_stream_add_file(stream, fixture) < 0)
        return false;
    pfb_source *source = pfb_source_open_faulty(pfb_source_open_stream(stream, &failure), &c->fault, 1, &failure);
    if (!source || pfb_perflib_use(source) != PFB_WIN32_SUCCESS) {
        fprintf(stderr, "%s\n", failure.sentence);
        return false;
    }
    unsigned status = run_agent(&values);
    bool is_ok = status == c->status;
    printf("%s: status %u, %u values: %s\n", c->what, status, values, is_ok ? "ok" : "WRONG");
    return is_ok;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: agent_test FIXTURE\n");
        return EXIT_FAILURE;
    }
    bool is_ok = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        is_ok = run_case(&cases[i], argv[1]) && is_ok;
    pfb_perflib_use(NULL);
    return is_ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
