/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h over the fixtures, whose raw values are in their texts. */
#include <criterion/criterion.h>

#include "perfblock/pdh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURE(name) PERFBLOCK_SOURCE_DIR "/fixtures/" name ".pfb"

/* ---- Helpers -------------------------------------------------------------------------------------------- */

/* Makes a recording the source of real-time data. */
static void use_recording(const char *path)
{
    cr_assert_eq(setenv("PERFBLOCK_CAPTURE", path, 1), 0);
    cr_assert_eq(pfb_pdh_use(NULL, NULL), 0);
}

static PDH_HQUERY open_query(const char *source)
{
    PDH_HQUERY query = NULL;
    cr_assert_eq(PdhOpenQueryA(source, 0, &query), 0);
    cr_assert_not_null(query);
    return query;
}

static PDH_HCOUNTER add(PDH_HQUERY query, const char *path)
{
    PDH_HCOUNTER counter = NULL;
    cr_assert_eq(PdhAddEnglishCounterA(query, path, 0, &counter), 0, "%s", path);
    cr_assert_not_null(counter);
    return counter;
}

/* Expects the code and the status of a formatted value; returns it. */
static PDH_FMT_COUNTERVALUE format(PDH_HCOUNTER counter, DWORD kind, uint32_t code, uint32_t status)
{
    PDH_FMT_COUNTERVALUE value;
    memset(&value, 0xEE, sizeof value);
    uint32_t found = (uint32_t)PdhGetFormattedCounterValue(counter, kind, NULL, &value);
    cr_expect(found == code && value.CStatus == status, "%08x %08x", found, value.CStatus);
    return value;
}

static double good(PDH_HCOUNTER counter)
{
    return format(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, 0, PDH_CSTATUS_VALID_DATA).doubleValue;
}

/* A handle that never was one. */
static HANDLE foreign(void)
{
    static int object;
    return &object;
}

#define EXPECT(call, code) cr_expect_eq((uint32_t)(call), (uint32_t)(code), "%08x", (uint32_t)(call))

/* ---- Misuse --------------------------------------------------------------------------------------------- */

Test(pdh, pointers_are_checked_before_handles) /* T01, T03 */
{
    static const WCHAR path[] = u"\\System\\System Up Time";
    PDH_HQUERY query;
    PDH_HCOUNTER h = foreign();
    PDH_FMT_COUNTERVALUE value;
    PDH_RAW_COUNTER raw;
    LONGLONG base;
    use_recording(FIXTURE("system"));
    EXPECT(PdhOpenQueryW(NULL, 0, NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhAddCounterW(NULL, path, 0, NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhAddCounterW(NULL, path, 0, &h), PDH_INVALID_HANDLE);
    EXPECT(PdhAddEnglishCounterW(NULL, path, 0, NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhAddEnglishCounterW(NULL, path, 0, &h), PDH_INVALID_HANDLE);
    query = open_query(NULL);
    EXPECT(PdhAddCounterW(query, NULL, 0, &h), PDH_INVALID_ARGUMENT);
    EXPECT(PdhAddCounterW(query, path, 0, NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhCollectQueryData(NULL), PDH_INVALID_HANDLE);
    EXPECT(PdhCollectQueryDataWithTime(NULL, NULL), PDH_INVALID_HANDLE);
    EXPECT(PdhCollectQueryDataEx(NULL, 1, NULL), PDH_INVALID_HANDLE);
    EXPECT(PdhRemoveCounter(NULL), PDH_INVALID_HANDLE);
    PDH_HCOUNTER c = add(query, "\\System\\System Up Time");
    EXPECT(PdhGetFormattedCounterValue(NULL, PDH_FMT_DOUBLE, NULL, NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhGetFormattedCounterValue(c, PDH_FMT_DOUBLE, NULL, NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhGetFormattedCounterValue(NULL, PDH_FMT_DOUBLE, NULL, &value), PDH_INVALID_HANDLE);
    EXPECT(PdhGetRawCounterValue(NULL, NULL, &raw), PDH_INVALID_HANDLE);
    EXPECT(PdhGetRawCounterValue(c, NULL, NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhGetCounterTimeBase(c, NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhGetCounterTimeBase(NULL, &base), PDH_INVALID_HANDLE);
    EXPECT(PdhGetCounterInfoW(NULL, 0, NULL, NULL), PDH_INVALID_HANDLE);
    EXPECT(PdhGetCounterInfoW(c, 0, NULL, NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhCloseQuery(query), 0);
}

Test(pdh, closed_and_foreign_handles_are_invalid) /* T02, T05 */
{
    use_recording(FIXTURE("system"));
    PDH_HQUERY query = open_query(NULL);
    EXPECT(PdhCollectQueryData(query), PDH_NO_DATA);
    PDH_HCOUNTER counter = add(query, "\\System\\System Up Time");
    PDH_HCOUNTER removed = add(query, "\\System\\Processes");
    PDH_FMT_COUNTERVALUE value;
    EXPECT(PdhCollectQueryData(counter), PDH_INVALID_HANDLE);
    EXPECT(PdhCloseQuery(counter), PDH_INVALID_HANDLE);
    EXPECT(PdhRemoveCounter(query), PDH_INVALID_HANDLE);
    EXPECT(PdhRemoveCounter(removed), 0);
    EXPECT(PdhRemoveCounter(removed), PDH_INVALID_HANDLE);
    EXPECT(PdhGetFormattedCounterValue(removed, PDH_FMT_DOUBLE, NULL, &value), PDH_INVALID_HANDLE);
    EXPECT(PdhCloseQuery(query), 0);
    EXPECT(PdhCloseQuery(query), PDH_INVALID_HANDLE);
    EXPECT(PdhCollectQueryData(query), PDH_INVALID_HANDLE);
    EXPECT(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value), PDH_INVALID_HANDLE);
    EXPECT(PdhCloseQuery(foreign()), PDH_INVALID_HANDLE);
    EXPECT(PdhCloseQuery((HANDLE)(intptr_t)-1), PDH_INVALID_HANDLE);
    for (uintptr_t number = 0; number < 4096; number++)
        EXPECT(PdhCloseQuery((HANDLE)number), PDH_INVALID_HANDLE);
    EXPECT(PdhIsRealTimeQuery(query), 0);
}

Test(pdh, paths_that_cannot_be_added) /* T04 */
{
    static const struct {
        const char *path;
        uint32_t code;
    } rows[] = {{"\\System\\System Spoon", PDH_CSTATUS_NO_COUNTER},
                {"\\Spoon\\System Up Time", PDH_CSTATUS_NO_OBJECT},
                {"\\\\OTHER\\System\\System Up Time", PDH_CSTATUS_NO_MACHINE},
                {"", PDH_CSTATUS_NO_COUNTERNAME},
                {"System Up Time", PDH_CSTATUS_BAD_COUNTERNAME},
                {"\\System", PDH_CSTATUS_BAD_COUNTERNAME},
                {"\\System\\", PDH_CSTATUS_BAD_COUNTERNAME},
                {"\\System()\\System Up Time", PDH_CSTATUS_BAD_COUNTERNAME},
                {"\\System\\*", PDH_CSTATUS_NO_COUNTER}};
    char longest[2100];
    use_recording(FIXTURE("system"));
    PDH_HQUERY query = open_query(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        PDH_HCOUNTER counter = foreign();
        EXPECT(PdhAddCounterA(query, rows[i].path, 0, &counter), rows[i].code);
        cr_expect_null(counter, "%s", rows[i].path);
    }
    memset(longest, 'x', sizeof longest - 1);
    memcpy(longest, "\\System\\", 8);
    longest[sizeof longest - 1] = '\0';
    PDH_HCOUNTER counter;
    EXPECT(PdhAddCounterA(query, longest, 0, &counter), PDH_CSTATUS_BAD_COUNTERNAME);
    longest[2047] = '\0'; /* the longest path */
    EXPECT(PdhAddCounterA(query, longest, 0, &counter), PDH_CSTATUS_NO_COUNTER);
    EXPECT(PdhCloseQuery(query), 0);
}

/* ---- Values --------------------------------------------------------------------------------------------- */

Test(pdh, rates_need_two_samples) /* T08: 118 context switches in each second */
{
    use_recording(FIXTURE("system"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER rate = add(query, "\\System\\Context Switches/sec");
    PDH_HCOUNTER bulk = add(query, "\\system\\FILE READ BYTES/SEC");
    PDH_HCOUNTER count = add(query, "\\System\\Processes");
    cr_expect(PdhIsRealTimeQuery(query));
    format(bulk, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCollectQueryData(query), 0);
    format(bulk, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    cr_expect_eq(good(count), 177);
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect_eq(good(bulk), 79);
    cr_expect_eq(good(rate), 118);
    cr_expect_eq(good(count), 179);
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhCollectQueryData(query), PDH_NO_MORE_DATA);
    EXPECT(PdhCloseQuery(query), 0);
}

Test(pdh, an_instance_that_does_not_exist_may_appear) /* T06, T07: "0,2" is in the samples from number 2 on */
{
    PDH_RAW_COUNTER raw;
    use_recording(FIXTURE("processor_information_changes"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HQUERY both = open_query(NULL);
    PDH_HCOUNTER late = add(query, "\\Processor Information(0,2)\\Interrupts/sec");
    PDH_HCOUNTER late_of_both = add(both, "\\Processor Information(0,2)\\Interrupts/sec");
    add(both, "\\Processor Information(_Total)\\Interrupts/sec");
    for (int i = 0; i < 2; i++) {
        EXPECT(PdhCollectQueryData(query), PDH_NO_DATA);
        EXPECT(PdhGetRawCounterValue(late, NULL, &raw), 0);
        cr_expect_eq(raw.CStatus, PDH_CSTATUS_NO_INSTANCE);
        format(late, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_NO_INSTANCE);
        EXPECT(PdhCollectQueryData(both), 0);
        format(late_of_both, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_NO_INSTANCE);
    }
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhGetRawCounterValue(late, NULL, &raw), 0);
    cr_expect(raw.CStatus == 0 && raw.FirstValue == 103073 && raw.MultiCount == 1);
    format(late, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCollectQueryData(query), PDH_NO_DATA); /* this sample is an error */
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect_eq(good(late), 93);
    EXPECT(PdhCloseQuery(query), 0);
    EXPECT(PdhCloseQuery(both), 0);
}

Test(pdh, formats) /* T12, T13, T14 */
{
    use_recording(FIXTURE("system"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER count = add(query, "\\System\\Threads");
    PDH_HCOUNTER percent = add(query, "\\System\\% Registry Quota In Use");
    DWORD size = 0;
    PDH_COUNTER_INFO_A *info;
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhSetCounterScaleFactor(count, 8), PDH_INVALID_ARGUMENT);
    EXPECT(PdhSetCounterScaleFactor(count, -8), PDH_INVALID_ARGUMENT);
    EXPECT(PdhSetCounterScaleFactor(NULL, 8), PDH_INVALID_HANDLE);
    EXPECT(PdhSetCounterScaleFactor(count, 7), 0);
    EXPECT(PdhSetCounterScaleFactor(count, 0), 0);
    cr_expect_eq(good(count), 184); /* the default scale, 1, is not applied */
    EXPECT(PdhSetCounterScaleFactor(count, -5), 0);
    cr_expect_eq(good(count), 184 * 1e-5);
    cr_expect_eq(format(count, PDH_FMT_DOUBLE | PDH_FMT_NOSCALE, 0, 0).doubleValue, 184);
    cr_expect_eq(format(count, PDH_FMT_LARGE | PDH_FMT_NOSCALE | PDH_FMT_1000, 0, 0).largeValue, 184000);
    cr_expect_eq(format(count, PDH_FMT_LONG | PDH_FMT_NOSCALE, 0, 0).longValue, 184);
    cr_expect_eq(format(count, PDH_FMT_LONG, 0, 0).longValue, 0);
    cr_expect_eq(good(percent), 37.5); /* 30000 of 80000 */
    cr_expect_eq(format(percent, PDH_FMT_LARGE, 0, 0).largeValue, 37);
    EXPECT(PdhSetCounterScaleFactor(percent, 2), 0);
    cr_expect_eq(good(percent), 3750);
    PDH_FMT_COUNTERVALUE value;
    static const DWORD bad[] = {0, PDH_FMT_RAW, PDH_FMT_ANSI, PDH_FMT_LONG | PDH_FMT_DOUBLE, PDH_FMT_NODATA};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT(PdhGetFormattedCounterValue(count, bad[i], NULL, &value), PDH_INVALID_ARGUMENT);
    EXPECT(PdhGetCounterInfoA(count, 1, &size, NULL), PDH_MORE_DATA);
    info = malloc(size);
    cr_assert_not_null(info);
    EXPECT(PdhGetCounterInfoA(count, 1, &size, info), 0);
    cr_expect(info->dwLength == size && info->lScale == -5 && info->lDefaultScale == 1 && info->dwType == 0x10000);
    cr_expect_str_eq(info->szFullPath, "\\\\FIXTURE\\System\\Threads");
    cr_expect_str_eq(info->szMachineName, "\\\\FIXTURE");
    cr_expect(!info->szInstanceName && !info->szParentInstance);
    cr_expect_str_eq(info->szObjectName, "System");
    cr_expect_str_eq(info->szCounterName, "Threads");
    free(info);
    size--;
    EXPECT(PdhGetCounterInfoA(count, 1, &size, NULL), PDH_MORE_DATA);
    EXPECT(PdhCloseQuery(query), 0);
}

/* % Processor Time of the second svchost: 4,700,000 of 10,000,000 ticks. */
Test(pdh, arrays) /* T09, T10, T11 */
{
    static const char *const names[] = {"Idle", "svchost", "svchost", "svchost", "app", "_Total"};
    static const double values[] = {5, 26, 47, 68, 9, 30};
    DWORD size = 1;
    DWORD count = 0;
    uint8_t small[1] = {0xEE};
    use_recording(FIXTURE("process"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER all = add(query, "\\Process(*)\\% Processor Time");
    PDH_HCOUNTER third = add(query, "\\Process(svchost#2)\\% Processor Time");
    PDH_HCOUNTER first = add(query, "\\Process(svchost#0)\\% Processor Time");
    EXPECT(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &size, &count, (void *)small), PDH_NO_DATA);
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &size, &count, (void *)small), PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &size, &count, (void *)small), PDH_MORE_DATA);
    cr_expect(small[0] == 0xEE && count == 6);
    size_t characters = 0;
    for (size_t i = 0; i < 6; i++)
        characters += strlen(names[i]) + 1;
    cr_assert_eq(size, 6 * sizeof(PDH_FMT_COUNTERVALUE_ITEM_W) + 2 * characters);
    PDH_FMT_COUNTERVALUE_ITEM_W *items = malloc(size + 2);
    cr_assert_not_null(items);
    size--;
    EXPECT(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &size, &count, items), PDH_MORE_DATA);
    size++;
    EXPECT(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &size, &count, items), 0);
    for (size_t i = 0; i < 6; i++) {
        size_t n = 0;
        for (; names[i][n] != '\0' && items[i].szName[n] == (WCHAR)names[i][n]; n++)
            continue;
        cr_expect(names[i][n] == '\0' && items[i].szName[n] == 0, "name %zu", i);
        cr_expect(items[i].FmtValue.CStatus == 0 && items[i].FmtValue.doubleValue == values[i], "%zu: %.17g", i,
                  items[i].FmtValue.doubleValue);
    }
    free(items);
    cr_expect_eq(good(third), 68);
    cr_expect_eq(good(first), 26);
    size = 0;
    EXPECT(PdhGetFormattedCounterArrayA(third, PDH_FMT_DOUBLE, &size, &count, NULL), PDH_MORE_DATA);
    cr_expect(count == 1 && size == sizeof(PDH_FMT_COUNTERVALUE_ITEM_A) + sizeof "svchost");
    size = 0;
    EXPECT(PdhGetRawCounterArrayA(all, &size, &count, NULL), PDH_MORE_DATA);
    cr_expect(count == 6 && size == 6 * sizeof(PDH_RAW_COUNTER_ITEM_A) + characters);
    PDH_RAW_COUNTER_ITEM_A *raw = malloc(size);
    cr_assert_not_null(raw);
    EXPECT(PdhGetRawCounterArrayA(all, &size, &count, raw), 0);
    cr_expect_str_eq(raw[3].szName, "svchost");
    cr_expect_eq(raw[3].RawValue.FirstValue, 4006800000);
    free(raw);
    /* One svchost ends: instances are matched by name and position, as Windows does. The total falls. */
    EXPECT(PdhCollectQueryData(query), 0);
    format(third, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_NO_INSTANCE);
    cr_expect_eq(good(first), 26);
    PDH_HCOUNTER total = add(query, "\\Process(_Total)\\% Processor Time");
    format(total, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCloseQuery(query), 0);
    query = open_query(NULL);
    total = add(query, "\\Process(_Total)\\% Processor Time");
    for (int i = 0; i < 3; i++)
        EXPECT(PdhCollectQueryData(query), 0);
    format(total, PDH_FMT_DOUBLE, PDH_CALC_NEGATIVE_VALUE, PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCloseQuery(query), 0);
}

Test(pdh, the_thread_of_a_query_sets_an_event)
{
    use_recording(FIXTURE("system"));
    HANDLE event = pfb_event_create(0, 0);
    PDH_HQUERY query = open_query(NULL);
    cr_assert_not_null(event);
    cr_expect_eq(pfb_event_wait(event, 0), PFB_WAIT_TIMEOUT);
    EXPECT(PdhCollectQueryDataEx(query, 1, event), PDH_NO_DATA);
    PDH_HCOUNTER counter = add(query, "\\System\\Processes");
    EXPECT(PdhCollectQueryDataEx(query, 0, event), 0);
    cr_expect_eq(pfb_event_wait(event, 10000), 0);
    cr_expect_geq(good(counter), 177);
    EXPECT(PdhCollectQueryDataEx(query, 3600, NULL), 0); /* replaces the thread */
    EXPECT(PdhCloseQuery(query), 0);
    cr_expect(pfb_event_close(event) && !pfb_event_close(event) && !pfb_event_set(event));
    cr_expect_eq(pfb_event_wait(event, 0), 0xFFFFFFFF);
}

/* ---- Logs ----------------------------------------------------------------------------------------------- */

Test(pdh, files_that_are_no_logs)
{
    PDH_HQUERY query = NULL;
    EXPECT(PdhOpenQueryA(PERFBLOCK_SOURCE_DIR "/fixtures/none.blg", 0, &query), PDH_FILE_NOT_FOUND);
    EXPECT(PdhOpenQueryA(PERFBLOCK_SOURCE_DIR "/LICENSE", 0, &query), PDH_UNKNOWN_LOG_FORMAT);
    EXPECT(PdhOpenQueryA("SQL:server!log", 0, &query), PDH_INVALID_DATASOURCE);
}
