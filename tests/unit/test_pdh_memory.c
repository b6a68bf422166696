/* SPDX-License-Identifier: MIT */
/* PDH's functions when an allocation fails: each of them in turn. This program has its own copy of what they call. */
#include <criterion/criterion.h>

#include "perfblock/pdh.h"
#include "support_allocations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS PERFBLOCK_SOURCE_DIR "/fixtures/machine_names_v1.pfb"

/* Returns true if the call succeeded; otherwise it says that memory is exhausted. */
static bool is_done(PDH_STATUS code)
{
    cr_assert(code == 0 || (uint32_t)code == PDH_MEMORY_ALLOCATION_FAILURE, "%08x", (uint32_t)code);
    return code == 0;
}

/* Reads values and lists. Returns false if a call failed; what was open is closed. */
static bool read_all(const char *source)
{
    static union {
        uint8_t bytes[16384];
        PDH_FMT_COUNTERVALUE_ITEM_W items[1];
        PDH_COUNTER_INFO_W info;
        char text[1];
    } buffer;
    static const WCHAR path[] = u"\\Process(*)\\% Processor Time";
    PDH_HLOG log = NULL;
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER all = NULL;
    PDH_HCOUNTER one = NULL;
    PDH_FMT_COUNTERVALUE value = {0};
    DWORD size = sizeof buffer;
    DWORD count = 0;
    char names[256];
    memcpy(names, source, strlen(source) + 1);
    names[strlen(source) + 1] = '\0';
    bool done = is_done(PdhBindInputDataSourceA(&log, names)) && is_done(PdhOpenQueryH(log, 0, &query)) &&
                is_done(PdhAddCounterW(query, path, 0, &all)) &&
                is_done(PdhAddEnglishCounterA(query, "\\Process(svchost#1)\\ID Process", 0, &one));
    for (int i = 0; i < 2 && done; i++)
        done = is_done(PdhCollectQueryData(query));
    done = done && is_done(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &size, &count, buffer.items)) &&
           is_done(PdhGetFormattedCounterValue(one, PDH_FMT_LARGE, NULL, &value));
    cr_expect(!done || count == 8);
    size = sizeof buffer;
    done = done && is_done(PdhGetCounterInfoW(all, 1, &size, &buffer.info));
    size = sizeof buffer;
    done = done && is_done(PdhExpandWildCardPathHA(log, "\\Process(*)\\*", buffer.text, &size, 0));
    size = sizeof buffer / 2;
    DWORD second = sizeof buffer / 2;
    done = done && is_done(PdhEnumObjectItemsHA(log, NULL, "Process", buffer.text, &size, buffer.text + size, &second,
                                                PERF_DETAIL_WIZARD, 0));
    done = done && is_done(PdhValidatePathExA(log, "\\Process(agent)\\ID Process"));
    if (query)
        cr_expect_eq(PdhCloseQuery(query), 0);
    if (log)
        cr_expect_eq(PdhCloseLog(log, 0), 0);
    return done;
}

Test(pdh_memory, each_allocation_may_fail)
{
    bool done = false;
    failing_allocation = 0;
    cr_assert(read_all(PROCESS));
    for (size_t number = 1; !done; number++) {
        allocations = 0;
        failing_allocation = number;
        done = read_all(PROCESS);
        cr_assert(done || allocations >= number, "allocation %zu", number);
        done = allocations < number;
    }
    cr_expect_gt(failing_allocation, 100);
    failing_allocation = 0;
    cr_expect(read_all(PROCESS));
}

/* The recording of PERFBLOCK_CAPTURE: one that is not there, which is reported, and none. */
Test(pdh_memory, a_capture_that_cannot_be_opened)
{
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER counter = NULL;
    cr_assert(freopen("/dev/null", "w", stderr) && setenv("PERFBLOCK_CAPTURE", "/nowhere/a.pfb", 1) == 0);
    cr_assert_eq(PdhOpenQueryA(NULL, 0, &query), 0);
    uint32_t code = PDH_MEMORY_ALLOCATION_FAILURE;
    bool is_last = false;
    for (size_t number = 1; !is_last; number++) {
        allocations = 0;
        failing_allocation = number;
        code = (uint32_t)PdhAddCounterA(query, "\\System\\Threads", 0, &counter);
        cr_assert(code == PDH_MEMORY_ALLOCATION_FAILURE || code == PDH_FILE_NOT_FOUND, "%08x", code);
        is_last = allocations < number;
    }
    failing_allocation = 0;
    cr_expect_eq(code, PDH_FILE_NOT_FOUND);
    cr_expect_eq(PdhCloseQuery(query), 0);
}

/* A path whose names exist only in another split than the usual one. */
Test(pdh_memory, a_path_that_can_be_split_in_several_ways)
{
    static const char path[] = "\\Shelf(a)\\b)\\Size";
    bool done = false;
    cr_assert_eq(setenv("PERFBLOCK_CAPTURE", PERFBLOCK_SOURCE_DIR "/fixtures/odd_names.pfb", 1), 0);
    for (size_t number = 1; !done; number++) {
        PDH_HQUERY query = NULL;
        PDH_HCOUNTER counter = NULL;
        char list[256];
        DWORD size = sizeof list;
        allocations = 0;
        failing_allocation = number;
        done = is_done(PdhOpenQueryA(NULL, 0, &query)) && is_done(PdhAddCounterA(query, path, 0, &counter)) &&
               is_done(PdhExpandWildCardPathA(NULL, path, list, &size, 0)) && is_done(PdhValidatePathA(path));
        cr_assert(done || allocations >= number, "allocation %zu", number);
        done = allocations < number;
        if (query)
            cr_expect_eq(PdhCloseQuery(query), 0);
    }
    cr_expect_gt(failing_allocation, 20);
    failing_allocation = 0;
}
