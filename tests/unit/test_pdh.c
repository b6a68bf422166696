/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h over the fixtures: displayed values are those of fixtures/machine.tsv, those of the variants
 * come from the model of fixtures/machine.py. Samples are 10 s apart. */
#include <criterion/criterion.h>

#include "perfblock/pdh.h"
#include "perfblock/stream.h"
#include "support_stderr.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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
    use_recording(FIXTURE("machine_v1"));
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
    use_recording(FIXTURE("machine_v1"));
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

Test(pdh, closed_and_foreign_logs_are_invalid)
{
    use_recording(FIXTURE("machine_v1"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HQUERY other = NULL;
    PDH_HLOG log = NULL;
    HANDLE event = pfb_event_create(0, 0);
    LONGLONG bytes;
    DWORD count;
    PDH_TIME_INFO range;
    cr_assert_not_null(event);
    EXPECT(PdhBindInputDataSourceA(&log, FIXTURE("machine_names_v1") "\0"), 0);
    EXPECT(PdhCloseLog(log, 0), 0);
    const HANDLE wrong[] = {log, query, event, foreign(), (HANDLE)(intptr_t)-2};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        DWORD size = sizeof range;
        DWORD none = 0;
        DWORD same = 0;
        EXPECT(PdhOpenQueryH(wrong[i], 0, &other), PDH_INVALID_HANDLE);
        EXPECT(PdhCloseLog(wrong[i], 0), PDH_INVALID_HANDLE);
        EXPECT(PdhGetLogFileSize(wrong[i], &bytes), PDH_INVALID_HANDLE);
        EXPECT(PdhGetDataSourceTimeRangeH(wrong[i], &count, &range, &size), PDH_INVALID_HANDLE);
        EXPECT(PdhEnumMachinesHA(wrong[i], NULL, &none), PDH_INVALID_HANDLE);
        EXPECT(PdhEnumObjectsHA(wrong[i], NULL, NULL, &none, PERF_DETAIL_WIZARD, 0), PDH_INVALID_HANDLE);
        EXPECT(PdhEnumObjectItemsHA(wrong[i], NULL, "Process", NULL, &none, NULL, &same, PERF_DETAIL_WIZARD, 0),
               PDH_INVALID_HANDLE);
        EXPECT(PdhExpandWildCardPathHA(wrong[i], "\\*\\*", NULL, &none, 0), PDH_INVALID_HANDLE);
        EXPECT(PdhValidatePathExA(wrong[i], "\\System\\Processes"), PDH_INVALID_HANDLE);
    }
    cr_expect_null(other);
    EXPECT(PdhOpenQueryH(H_WBEM_DATASOURCE, 0, &other), PDH_NOT_IMPLEMENTED);
    EXPECT(PdhCloseQuery(event), PDH_INVALID_HANDLE);
    cr_expect(!pfb_event_set(query) && pfb_event_close(event));
    EXPECT(PdhCloseQuery(query), 0);
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
    use_recording(FIXTURE("machine_v1"));
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

Test(pdh, rates_need_two_samples) /* T08 */
{
    use_recording(FIXTURE("machine_v1"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER rate = add(query, "\\System\\Context Switches/sec");
    PDH_HCOUNTER bulk = add(query, "\\network interface(ETHERNET)\\BYTES TOTAL/SEC");
    PDH_HCOUNTER count = add(query, "\\Memory\\Pool Nonpaged Bytes");
    cr_expect(PdhIsRealTimeQuery(query));
    format(bulk, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCollectQueryData(query), 0);
    format(bulk, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    cr_expect_eq(good(count), 50331648);
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect_eq(good(bulk), 98812);
    cr_expect_eq(good(rate), 1200);
    cr_expect_eq(good(count), 50348032);
    for (int i = 2; i < 30; i++)
        EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhCollectQueryData(query), PDH_NO_MORE_DATA);
    EXPECT(PdhCloseQuery(query), 0);
}

Test(pdh, a_counter_that_is_added_again_needs_two_samples_of_its_own)
{
    static const char path[] = "\\System\\Context Switches/sec";
    use_recording(FIXTURE("machine_v1"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER first = add(query, path);
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhCollectQueryData(query), 0);
    PDH_HCOUNTER second = add(query, path);
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect_eq(good(first), 1200);
    format(second, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect_eq(good(second), 1200);
    EXPECT(PdhCloseQuery(query), 0);
}

Test(pdh, a_counter_whose_type_is_not_registered_has_raw_values_only)
{
    use_recording(FIXTURE("gpu_engine"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER counter = add(query, "\\GPU Engine(pid_800*)\\Running Time");
    PDH_RAW_COUNTER raw;
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhGetRawCounterValue(counter, NULL, &raw), 0);
    cr_expect(raw.CStatus == 0 && raw.FirstValue == 9000000);
    format(counter, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCloseQuery(query), 0);
}

/* T06, T07: the interface is in samples 2 and 3, and again, with another id and counts from 0, in samples 6 and 7. It
 * receives 20 broadcasts of 90 bytes between two samples. */
static void expect_late_interface(uint32_t end)
{
    PDH_RAW_COUNTER raw;
    PDH_HQUERY query = open_query(NULL);
    PDH_HQUERY both = open_query(NULL);
    PDH_HCOUNTER late = add(query, "\\Network Interface(USB Ethernet)\\Bytes Total/sec");
    PDH_HCOUNTER late_of_both = add(both, "\\Network Interface(USB Ethernet)\\Bytes Total/sec");
    PDH_HCOUNTER other = add(both, "\\Network Interface(Ethernet)\\Bytes Total/sec");
    for (int i = 0; i < 2; i++) {
        EXPECT(PdhCollectQueryData(query), PDH_NO_DATA);
        EXPECT(PdhGetRawCounterValue(late, NULL, &raw), 0);
        cr_expect_eq(raw.CStatus, PDH_CSTATUS_NO_INSTANCE);
        format(late, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_NO_INSTANCE);
        EXPECT(PdhCollectQueryData(both), 0);
        format(late_of_both, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_NO_INSTANCE);
    }
    cr_expect_eq(good(other), 98812);
    for (int i = 0; i < 2; i++) {
        EXPECT(PdhCollectQueryData(query), 0);
        EXPECT(PdhGetRawCounterValue(late, NULL, &raw), 0);
        cr_expect(raw.CStatus == 0 && raw.FirstValue == 1800 && raw.MultiCount == 1);
        format(late, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
        EXPECT(PdhCollectQueryData(query), 0);
        cr_expect_eq(good(late), 180);
        for (int k = 0; i == 0 && k < 2; k++) {
            EXPECT(PdhCollectQueryData(query), PDH_NO_DATA);
            format(late, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_NO_INSTANCE);
        }
    }
    EXPECT(PdhCollectQueryData(query), end);
    EXPECT(PdhCloseQuery(query), 0);
    EXPECT(PdhCloseQuery(both), 0);
}

static pfb_source *open_late(void *context, pfb_source_failure *failure)
{
    pfb_stream *stream = pfb_stream_new();
    if (!stream || pfb_stream_add_file(stream, context) < 0)
        return NULL;
    return pfb_source_open_stream(stream, failure);
}

Test(pdh, an_instance_that_does_not_exist_may_appear)
{
    static char path[] = FIXTURE("machine_appears");
    use_recording(path);
    expect_late_interface(PDH_NO_MORE_DATA);
    cr_assert_eq(pfb_pdh_use(open_late, path), 0); /* as a live machine */
    expect_late_interface(PDH_NO_DATA);
    cr_assert_eq(pfb_pdh_use(NULL, NULL), 0);
}

/* The result of Process V2 is an error in sample 3, that of Network Interface from sample 4 on. The database has 800
 * faults between two samples. */
Test(pdh, results_that_are_errors)
{
    use_recording(FIXTURE("machine_fails"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HQUERY networks = open_query(NULL);
    PDH_HCOUNTER faults = add(query, "\\Process V2(database:1480)\\Page Faults/sec");
    PDH_HCOUNTER bytes = add(networks, "\\Network Interface(Ethernet)\\Bytes Total/sec");
    for (int i = 0; i < 6; i++) {
        EXPECT(PdhCollectQueryData(query), i == 3 ? PDH_NO_DATA : 0);
        EXPECT(PdhCollectQueryData(networks), i >= 4 ? PDH_NO_DATA : 0);
        if (i == 0 || i == 4) /* no value before this one */
            format(faults, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
        else if (i == 3)
            format(faults, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_NO_INSTANCE);
        else
            cr_expect_eq(good(faults), 80);
    }
    format(bytes, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_NO_INSTANCE);
    EXPECT(PdhCloseQuery(query), 0);
    EXPECT(PdhCloseQuery(networks), 0);
}

Test(pdh, formats) /* T12; tests/pdh/test_names.py has T13 and T14 */
{
    use_recording(FIXTURE("machine_v1"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER count = add(query, "\\System\\Threads");
    PDH_HCOUNTER percent = add(query, "\\LogicalDisk(D:)\\% Free Space");
    PDH_HCOUNTER capped = add(query, "\\Process(_Total)\\% Processor Time");
    DWORD size = 0;
    PDH_COUNTER_INFO_A *info;
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhSetCounterScaleFactor(count, 8), PDH_INVALID_ARGUMENT);
    EXPECT(PdhSetCounterScaleFactor(count, -8), PDH_INVALID_ARGUMENT);
    EXPECT(PdhSetCounterScaleFactor(NULL, 8), PDH_INVALID_HANDLE);
    EXPECT(PdhSetCounterScaleFactor(count, 7), 0);
    EXPECT(PdhSetCounterScaleFactor(count, 0), 0);
    cr_expect_eq(good(count), 140); /* the default scale, 1, is not applied */
    EXPECT(PdhSetCounterScaleFactor(count, -5), 0);
    cr_expect_float_eq(good(count), 0.0014, 1e-18);
    cr_expect_eq(format(count, PDH_FMT_DOUBLE | PDH_FMT_NOSCALE, 0, 0).doubleValue, 140);
    cr_expect_eq(format(count, PDH_FMT_LARGE | PDH_FMT_NOSCALE | PDH_FMT_1000, 0, 0).largeValue, 140000);
    cr_expect_eq(format(count, PDH_FMT_LONG | PDH_FMT_NOSCALE, 0, 0).longValue, 140);
    cr_expect_eq(format(count, PDH_FMT_LONG, 0, 0).longValue, 0);
    cr_expect_eq(good(percent), 10.0341796875);
    cr_expect_eq(format(percent, PDH_FMT_LARGE, 0, 0).largeValue, 10);
    EXPECT(PdhSetCounterScaleFactor(count, 7), 0);
    cr_expect_eq(format(count, PDH_FMT_LARGE, 0, 0).largeValue, 1400000000);
    EXPECT(PdhSetCounterScaleFactor(count, 5), 0);
    cr_expect_eq(format(count, PDH_FMT_LONG | PDH_FMT_1000, 0, 0).longValue, (LONG)(14000000000 - 3 * 4294967296));
    EXPECT(PdhSetCounterScaleFactor(count, -5), 0);
    EXPECT(PdhSetCounterScaleFactor(percent, 2), 0);
    cr_expect_eq(good(percent), 1003.41796875);
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect_eq(format(capped, PDH_FMT_DOUBLE, 0, 0).doubleValue, 100);
    cr_expect_eq(good(capped), 200);
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

/* Between two samples each svchost reads 8192 bytes times its id, System 327,680 bytes. */
Test(pdh, arrays) /* T09, T10, T11 */
{
    static const char *const names[] = {"Idle",    "System",   "svchost", "svchost",
                                        "svchost", "database", "agent",   "_Total"};
    static const double values[] = {0, 32768, 665190.4, 704512, 740556.8, 0, 0, 2143027.2};
    enum { COUNT = sizeof names / sizeof names[0] };
    DWORD size = 1;
    DWORD count = 0;
    uint8_t small[1] = {0xEE};
    use_recording(FIXTURE("machine_names_v1"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER all = add(query, "\\Process(*)\\IO Read Bytes/sec");
    PDH_HCOUNTER third = add(query, "\\Process(svchost#2)\\IO Read Bytes/sec");
    PDH_HCOUNTER first = add(query, "\\Process(svchost#0)\\IO Read Bytes/sec");
    EXPECT(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &size, &count, (void *)small), PDH_NO_DATA);
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &size, &count, (void *)small), PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &size, &count, (void *)small), PDH_MORE_DATA);
    cr_expect(small[0] == 0xEE && count == COUNT);
    size_t characters = 0;
    for (size_t i = 0; i < COUNT; i++)
        characters += strlen(names[i]) + 1;
    cr_assert_eq(size, COUNT * sizeof(PDH_FMT_COUNTERVALUE_ITEM_W) + 2 * characters);
    PDH_FMT_COUNTERVALUE_ITEM_W *items = malloc(size + 2);
    cr_assert_not_null(items);
    size--;
    EXPECT(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &size, &count, items), PDH_MORE_DATA);
    size++;
    EXPECT(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &size, &count, items), 0);
    for (size_t i = 0; i < COUNT; i++) {
        size_t n = 0;
        for (; names[i][n] != '\0' && items[i].szName[n] == (WCHAR)names[i][n]; n++)
            continue;
        cr_expect(names[i][n] == '\0' && items[i].szName[n] == 0, "name %zu", i);
        cr_expect(items[i].FmtValue.CStatus == 0 && items[i].FmtValue.doubleValue == values[i], "%zu: %.17g", i,
                  items[i].FmtValue.doubleValue);
    }
    free(items);
    cr_expect_eq(good(third), 740556.8);
    cr_expect_eq(good(first), 665190.4);
    size = 0;
    EXPECT(PdhGetFormattedCounterArrayA(third, PDH_FMT_DOUBLE, &size, &count, NULL), PDH_MORE_DATA);
    cr_expect(count == 1 && size == sizeof(PDH_FMT_COUNTERVALUE_ITEM_A) + sizeof "svchost");
    size = 0;
    EXPECT(PdhGetRawCounterArrayA(all, &size, &count, NULL), PDH_MORE_DATA);
    cr_expect(count == COUNT && size == COUNT * sizeof(PDH_RAW_COUNTER_ITEM_A) + characters);
    PDH_RAW_COUNTER_ITEM_A *raw = malloc(size);
    cr_assert_not_null(raw);
    EXPECT(PdhGetRawCounterArrayA(all, &size, &count, raw), 0);
    cr_expect_str_eq(raw[4].szName, "svchost");
    cr_expect_eq(raw[4].RawValue.FirstValue, 8192 * 904);
    free(raw);
    /* The first svchost, 812, ends: instances are matched by name and position, as Windows does. */
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhCollectQueryData(query), 0);
    format(third, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_NO_INSTANCE);
    cr_expect_eq(good(first), 8192 * (3 * 860 - 2 * 812) / 10.0);
    PDH_HCOUNTER total = add(query, "\\Process(_Total)\\IO Read Bytes/sec");
    format(total, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCloseQuery(query), 0);
}

Test(pdh, a_process_that_starts_again) /* before sample 3, with counts from 0 */
{
    use_recording(FIXTURE("machine_restart_v1"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER time = add(query, "\\Process(agent)\\% Processor Time");  /* 8 bytes */
    PDH_HCOUNTER total = add(query, "\\Process(_Total)\\Page Faults/sec"); /* 4 bytes */
    for (int i = 0; i < 3; i++)
        EXPECT(PdhCollectQueryData(query), 0);
    cr_expect_eq(good(time), 1.25);
    cr_expect_eq(good(total), 98);
    EXPECT(PdhCollectQueryData(query), 0);
    format(time, PDH_FMT_DOUBLE, PDH_CALC_NEGATIVE_VALUE, PDH_CSTATUS_INVALID_DATA);
    format(total, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect_eq(good(time), 0.625);
    cr_expect_eq(good(total), 98);
    EXPECT(PdhCloseQuery(query), 0);
}

Test(pdh, the_thread_of_a_query_sets_an_event)
{
    use_recording(FIXTURE("machine_v1"));
    HANDLE event = pfb_event_create(0, 0);
    PDH_HQUERY query = open_query(NULL);
    cr_assert_not_null(event);
    cr_expect_eq(pfb_event_wait(event, 0), PFB_WAIT_TIMEOUT);
    EXPECT(PdhCollectQueryDataEx(query, 1, event), PDH_NO_DATA);
    PDH_HCOUNTER counter = add(query, "\\System\\Processes");
    EXPECT(PdhCollectQueryDataEx(query, 0, event), 0);
    cr_expect_eq(pfb_event_wait(event, 10000), 0);
    cr_expect_eq(good(counter), 4);
    EXPECT(PdhCollectQueryDataEx(query, 3600, NULL), 0); /* replaces the thread */
    EXPECT(PdhCloseQuery(query), 0);
    cr_expect(pfb_event_close(event) && !pfb_event_close(event) && !pfb_event_set(event));
    cr_expect_eq(pfb_event_wait(event, 0), 0xFFFFFFFF);
}

static bool is_readable(int descriptor)
{
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
    return poll(&wanted, 1, 0) == 1 && (wanted.revents & POLLIN) != 0;
}

/* For event loops that wait for descriptors. */
Test(pdh, an_event_has_a_descriptor)
{
    for (int is_manual = 0; is_manual < 2; is_manual++) {
        HANDLE event = pfb_event_create(is_manual, 1);
        int descriptor = pfb_event_descriptor(event);
        cr_assert(descriptor >= 0 && pfb_event_descriptor(event) == descriptor);
        cr_expect(is_readable(descriptor), "it was set before");
        cr_expect(pfb_event_set(event) && is_readable(descriptor));
        cr_expect_eq(pfb_event_wait(event, 0), 0);
        cr_expect_eq(is_readable(descriptor), is_manual);
        cr_expect(pfb_event_reset(event) && !is_readable(descriptor));
        cr_expect(pfb_event_set(event) && is_readable(descriptor));
        char byte;
        cr_expect_eq(read(descriptor, &byte, 1), 1, "a program may read what it should only poll");
        cr_expect(pfb_event_reset(event) && !is_readable(descriptor), "and does not stop the library");
        cr_expect(pfb_event_close(event) && pfb_event_descriptor(event) == -1);
    }
    int taken[1024];
    size_t count = 0;
    HANDLE event = pfb_event_create(0, 0);
    const struct rlimit few = {.rlim_cur = 64, .rlim_max = 64};
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (count < 1024 && (taken[count] = dup(STDERR_FILENO)) >= 0)
        count++;
    cr_expect_eq(pfb_event_descriptor(event), -1, "there are no descriptors");
    while (count > 0)
        close(taken[--count]);
    cr_expect_geq(pfb_event_descriptor(event), 0);
    cr_expect(pfb_event_close(event));
}

/* The thread of PdhCollectQueryDataEx makes it readable. */
Test(pdh, a_collect_can_be_polled)
{
    use_recording(FIXTURE("machine_v1"));
    HANDLE event = pfb_event_create(0, 0);
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER counter = add(query, "\\System\\Processes");
    struct pollfd wanted = {.fd = pfb_event_descriptor(event), .events = POLLIN};
    EXPECT(PdhCollectQueryDataEx(query, 0, event), 0);
    cr_assert_eq(poll(&wanted, 1, 10000), 1);
    cr_expect_eq(pfb_event_wait(event, 0), 0);
    cr_expect_eq(good(counter), 4);
    EXPECT(PdhCloseQuery(query), 0);
    cr_expect(pfb_event_close(event));
}

static int64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Pauses are left out while a recording is read, if that is asked for. */
Test(pdh, a_pause_may_be_left_out)
{
    static const char *const values[] = {"", "0", "1"};
    static const char *const variables[] = {"PERFBLOCK_CAPTURE", "PERFBLOCK_CPI_SNAPSHOTS"};
    int64_t begin = milliseconds();
    pfb_sleep(30);
    for (size_t i = 0; i < 3; i++) {
        setenv("PERFBLOCK_NO_SLEEP", values[i], 1);
        pfb_sleep(30); /* this machine */
    }
    cr_expect_geq(milliseconds() - begin, 119);
    for (size_t i = 0; i < 2; i++) {
        setenv(variables[i], FIXTURE("machine"), 1);
        begin = milliseconds();
        pfb_sleep(3600000);
        cr_expect_lt(milliseconds() - begin, 60000);
        setenv("PERFBLOCK_NO_SLEEP", "0", 1);
        begin = milliseconds();
        pfb_sleep(1030);
        cr_expect_geq(milliseconds() - begin, 1029);
        setenv("PERFBLOCK_NO_SLEEP", "1", 1);
        unsetenv(variables[i]);
    }
    unsetenv("PERFBLOCK_NO_SLEEP");
}

/* Appends bytes [*at, end) of one file to another. */
static void append(FILE *from, long *at, long end, const char *to)
{
    FILE *file = fopen(to, "ab");
    cr_assert(file && fseek(from, *at, SEEK_SET) == 0);
    for (; *at < end; ++*at)
        cr_assert(fputc(fgetc(from), file) != EOF);
    cr_assert_eq(fclose(file), 0);
}

Test(pdh, a_recording_that_grows)
{
    enum { FIRST = 3040, CHUNK = 16 + 5856 }; /* the offset of the first V1 block of the fixture, and its chunks */
    char path[] = "/tmp/pdh_grows_XXXXXX";
    int made = mkstemp(path);
    FILE *whole = fopen(FIXTURE("machine_v1"), "rb");
    long at = 0;
    cr_assert(made >= 0 && whole);
    close(made);
    append(whole, &at, FIRST + 2 * CHUNK, path);
    use_recording(path);
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER up = add(query, "\\System\\System Up Time");
    PDH_HCOUNTER rate = add(query, "\\System\\Context Switches/sec");
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect(good(up) == 3610 && good(rate) == 1200);
    EXPECT(PdhCollectQueryData(query), PDH_NO_MORE_DATA);
    append(whole, &at, at + 1000, path); /* a part of a chunk */
    EXPECT(PdhCollectQueryData(query), PDH_NO_MORE_DATA);
    append(whole, &at, FIRST + 3 * CHUNK, path);
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect(good(up) == 3620 && good(rate) == 1200);
    EXPECT(PdhCollectQueryData(query), PDH_NO_MORE_DATA);
    append(whole, &at, FIRST + 5 * CHUNK, path);
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect_eq(good(up), 3640);
    EXPECT(PdhCloseQuery(query), 0);
    fclose(whole);
    unlink(path);
}

/* ---- Logs ----------------------------------------------------------------------------------------------- */

Test(pdh, files_that_are_no_logs)
{
    PDH_HQUERY query = NULL;
    EXPECT(PdhOpenQueryA(PERFBLOCK_SOURCE_DIR "/fixtures/none.blg", 0, &query), PDH_FILE_NOT_FOUND);
    EXPECT(PdhOpenQueryA(PERFBLOCK_SOURCE_DIR "/LICENSE", 0, &query), PDH_UNKNOWN_LOG_FORMAT);
    EXPECT(PdhOpenQueryA("SQL:server!log", 0, &query), PDH_INVALID_DATASOURCE);
}

/* Adds a counter of real-time data, which is not there. */
static void add_in_vain(void)
{
    PDH_HCOUNTER counter = NULL;
    PDH_HQUERY query = open_query(NULL);
    uint32_t code = (uint32_t)PdhAddCounterA(query, "\\System\\Threads", 0, &counter);
    cr_expect(code == PDH_FILE_NOT_FOUND || code == PDH_UNKNOWN_LOG_FORMAT, "%08x", code);
    EXPECT(PdhCloseQuery(query), 0);
}

Test(pdh, a_capture_that_cannot_be_opened_is_reported_once)
{
    use_recording("/nowhere/a.pfb");
    cr_expect_str_eq(printed_by(add_in_vain),
                     "perfblock: PERFBLOCK_CAPTURE=/nowhere/a.pfb: No such file or directory\n");
    cr_expect_str_eq(printed_by(add_in_vain), "");
}

Test(pdh, a_capture_that_is_none_is_reported)
{
    use_recording(PERFBLOCK_SOURCE_DIR "/LICENSE");
    cr_expect_str_eq(printed_by(add_in_vain),
                     "perfblock: PERFBLOCK_CAPTURE=" PERFBLOCK_SOURCE_DIR
                     "/LICENSE: the file looks like text; expected a capture, a perfmon log, V1 "
                     "blocks or V2 data\n");
}

/* ---- Lists and paths ------------------------------------------------------------------------------------ */

/* Returns the n-th string of a list. */
static const char *string_at(const char *list, size_t n)
{
    while (n-- > 0)
        list += strlen(list) + 1;
    return list;
}

static size_t count_strings(const char *list)
{
    size_t count = 0;
    for (; *list; list += strlen(list) + 1)
        count++;
    return count;
}

Test(pdh, names_and_indexes) /* T15, T16 */
{
    static const WCHAR wanted[] = u"% Processor Time";
    static const WCHAR unknown[] = u"No Counter";
    WCHAR name[32] = {0};
    DWORD size = 0;
    DWORD index = 7;
    use_recording(FIXTURE("machine_names_v1"));
    EXPECT(PdhLookupPerfNameByIndexW(NULL, 6, NULL, &size), PDH_MORE_DATA);
    cr_expect_eq(size, 17);
    size = 16;
    EXPECT(PdhLookupPerfNameByIndexW(NULL, 6, name, &size), PDH_MORE_DATA);
    cr_expect_eq(name[16], 0);
    EXPECT(PdhLookupPerfNameByIndexW(NULL, 6, name, &size), 0);
    cr_expect(size == 17 && memcmp(name, wanted, sizeof wanted) == 0);
    size = 1;
    EXPECT(PdhLookupPerfNameByIndexW(NULL, 0, name, &size), 0);
    cr_expect_eq(size, 1);
    EXPECT(PdhLookupPerfNameByIndexW(NULL, 0, NULL, NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhLookupPerfNameByIndexW(NULL, 99999999, name, &size), PDH_INVALID_ARGUMENT);
    EXPECT(PdhLookupPerfIndexByNameW(NULL, unknown, &index), PDH_STRING_NOT_FOUND);
    EXPECT(PdhLookupPerfIndexByNameW(NULL, NULL, &index), PDH_INVALID_ARGUMENT);
    EXPECT(PdhLookupPerfIndexByNameW(NULL, wanted, NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhLookupPerfIndexByNameA(NULL, "id process", &index), 0);
    cr_expect_eq(index, 784);
    EXPECT(PdhLookupPerfIndexByNameA(NULL, "Process", &index), 0);
    cr_expect_eq(index, 230);
    static const struct {
        const char *name;
        DWORD index;
    } known[] = {{"Processor Queue Length", 44}, {"% Free Space", 408}, {"Free Megabytes", 410},
                 {"Network Interface", 510},     {"TCPv4", 638},        {"UDPv4", 658},
                 {"Paging File", 700},           {"% Usage", 702},      {"UDPv6", 1532}};
    use_recording(FIXTURE("processor_information"));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        EXPECT(PdhLookupPerfIndexByNameA(NULL, known[i].name, &index), 0);
        cr_expect_eq(index, known[i].index, "%s", known[i].name);
    }
}

Test(pdh, valid_paths) /* T17 */
{
    static const struct {
        const char *path;
        uint32_t code;
    } rows[] = {{"", PDH_INVALID_ARGUMENT},
                {NULL, PDH_INVALID_ARGUMENT},
                {"\\System", PDH_CSTATUS_BAD_COUNTERNAME},
                {"System Up Time", PDH_CSTATUS_BAD_COUNTERNAME},
                {"\\System\\System Up Time", 0},
                {"\\\\fixture\\system\\SYSTEM UP TIME", 0},
                {"\\\\localhost\\System\\System Up Time", 0},
                {"\\System(x)\\System Up Time", PDH_CSTATUS_NO_INSTANCE},
                {"\\System\\System Down Time", PDH_CSTATUS_NO_COUNTER},
                {"\\Systems\\System Up Time", PDH_CSTATUS_NO_OBJECT},
                {"\\\\nowhere\\System\\System Up Time", PDH_CSTATUS_NO_MACHINE}};
    use_recording(FIXTURE("machine_v1"));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        EXPECT(PdhValidatePathA(rows[i].path), rows[i].code);
        EXPECT(PdhValidatePathExA(NULL, rows[i].path), rows[i].code);
    }
}

Test(pdh, instance_names) /* T18 */
{
    static const struct {
        const char *text, *parent, *name;
        DWORD index;
        uint32_t code;
    } rows[] = {{"dog/cat#1", "dog", "cat", 1, 0},
                {"cat", "", "cat", 0, 0},
                {"test (x) #rfsfs #3", "", "test (x) #rfsfs ", 3, 0},
                {"a #2b", "", "a #2b", 0, 0},
                {"(a/b)#2", "", "(a/b)", 2, 0},
                {"a)\\b(c", "", "a)\\b(c", 0, 0},
                {"C:\\x)\\y/d)\\e#1", "C:\\x)\\y", "d)\\e", 1, 0},
                {"", "", "", 0, PDH_INVALID_INSTANCE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[64] = "";
        char parent[64] = "";
        DWORD name_size = sizeof name;
        DWORD parent_size = sizeof parent;
        DWORD index = 0;
        EXPECT(PdhParseInstanceNameA(rows[i].text, name, &name_size, parent, &parent_size, &index), rows[i].code);
        cr_expect_str_eq(name, rows[i].name);
        cr_expect_str_eq(parent, rows[i].parent);
        cr_expect_eq(index, rows[i].index);
        cr_expect(rows[i].code != 0 || (name_size == strlen(name) + 1 && parent_size == strlen(parent) + 1));
    }
}

Test(pdh, objects_and_items) /* T19 */
{
    static const char all[] =
        "Processor\0Process\0PhysicalDisk\0LogicalDisk\0Network Interface\0Memory\0System\0TCPv4\0";
    char counters[4096];
    char instances[256];
    char objects[256];
    DWORD n = 0;
    DWORD counters_size = 0;
    DWORD instances_size = 0;
    use_recording(FIXTURE("machine_v1"));
    EXPECT(PdhEnumObjectsA(NULL, NULL, NULL, &n, PERF_DETAIL_WIZARD, 1), PDH_MORE_DATA);
    cr_assert_eq(n, sizeof all);
    EXPECT(PdhEnumObjectsA(NULL, "\\\\FIXTURE", objects, &n, PERF_DETAIL_WIZARD, 0), 0);
    cr_expect_eq(memcmp(objects, all, sizeof all), 0);
    EXPECT(PdhEnumObjectsA(NULL, "OTHER", objects, &n, PERF_DETAIL_WIZARD, 0), PDH_CSTATUS_NO_MACHINE);
    EXPECT(
        PdhEnumObjectItemsA(NULL, NULL, "Memory", NULL, &counters_size, NULL, &instances_size, PERF_DETAIL_WIZARD, 0),
        PDH_MORE_DATA);
    cr_expect(instances_size == 0 && counters_size > 100 && counters_size < sizeof counters);
    EXPECT(PdhEnumObjectItemsA(NULL, NULL, "Memory", counters, &counters_size, NULL, &instances_size,
                               PERF_DETAIL_WIZARD, 0),
           0);
    cr_expect_eq(count_strings(counters), 17); /* without the base */
    cr_expect_str_eq(string_at(counters, 10), "% Committed Bytes In Use");
    cr_expect_str_eq(string_at(counters, 11), "Available MBytes");
    EXPECT(PdhEnumObjectItemsA(NULL, NULL, "Systems", counters, &counters_size, NULL, &instances_size,
                               PERF_DETAIL_WIZARD, 0),
           PDH_CSTATUS_NO_OBJECT);
    counters_size = sizeof counters;
    instances_size = 1;
    EXPECT(PdhEnumObjectItemsA(FIXTURE("machine_names_v1"), NULL, "Process", counters, &counters_size, instances,
                               &instances_size, PERF_DETAIL_WIZARD, 0),
           PDH_MORE_DATA);
    cr_assert_eq(instances_size, sizeof "Idle\0System\0svchost\0database\0agent\0_Total\0");
    EXPECT(PdhEnumObjectItemsA(FIXTURE("machine_names_v1"), NULL, "Process", counters, &counters_size, instances,
                               &instances_size, PERF_DETAIL_WIZARD, 0),
           0);
    cr_expect_eq(memcmp(instances, "Idle\0System\0svchost\0database\0agent\0_Total\0", instances_size),
                 0); /* each name once */
}

Test(pdh, wildcards_are_expanded) /* T11, T20 */
{
    static const char wanted[] =
        "\\\\FIXTURE\\Process(Idle)\\ID Process\0\\\\FIXTURE\\Process(System)\\ID Process\0"
        "\\\\FIXTURE\\Process(svchost)\\ID Process\0\\\\FIXTURE\\Process(svchost#1)\\ID Process\0"
        "\\\\FIXTURE\\Process(svchost#2)\\ID Process\0\\\\FIXTURE\\Process(database)\\ID Process\0"
        "\\\\FIXTURE\\Process(agent)\\ID Process\0\\\\FIXTURE\\Process(_Total)\\ID Process\0";
    static const struct {
        const char *path;
        uint32_t code;
        size_t count;
    } rows[] = {{"\\Process(svc*)\\ID Process", 0, 3},
                {"\\Process(*)\\ID *", 0, 8},
                {"\\Process(svchost#1)\\*", 0, 14},
                {"\\Process(none*)\\ID Process", PDH_CSTATUS_NO_INSTANCE, 0},
                {"\\Process(*)\\None*", PDH_CSTATUS_NO_COUNTER, 0},
                {"\\Process(a?*)\\ID Process", PDH_CSTATUS_NO_INSTANCE, 0},
                {"\\Process(a*n*)\\ID Process", 0, 1},
                {"\\None(*)\\*", PDH_CSTATUS_NO_OBJECT, 0},
                {"\\Process(*)", PDH_INVALID_PATH, 0},
                {"", PDH_INVALID_PATH, 0},
                {"\\Process(agent)\\id process", 0, 1},
                {"\\\\x\\Process(agent)\\ID Process", PDH_CSTATUS_NO_MACHINE, 0}};
    char list[8192];
    DWORD size = 1;
    use_recording(FIXTURE("machine_names_v1"));
    EXPECT(PdhExpandWildCardPathA(NULL, "\\Process(*)\\ID Process", list, &size, 0x7FFE1238), PDH_MORE_DATA);
    cr_assert_eq(size, sizeof wanted);
    EXPECT(PdhExpandWildCardPathA(NULL, "\\Process(*)\\ID Process", list, &size, 0x7FFE1238), 0);
    cr_expect_eq(memcmp(list, wanted, sizeof wanted), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size = sizeof list;
        EXPECT(PdhExpandWildCardPathA(NULL, rows[i].path, list, &size, 0), rows[i].code);
        cr_expect(rows[i].code != 0 || count_strings(list) == rows[i].count, "%s: %zu", rows[i].path,
                  count_strings(list));
        size = sizeof list;
        EXPECT(PdhExpandCounterPathA(rows[i].path, list, &size), rows[i].code);
    }
    size = sizeof list;
    EXPECT(PdhExpandWildCardPathA(NULL, "\\Process(*)\\ID *", list, &size, PDH_NOEXPANDINSTANCES), 0);
    cr_expect_str_eq(list, "\\\\FIXTURE\\Process(*)\\ID Process");
    use_recording(FIXTURE("machine_v1"));
    size = sizeof list;
    EXPECT(PdhExpandWildCardPathA(NULL, "\\System(*)\\Threads", list, &size, 0), PDH_INVALID_PATH);
}

/* Names with what separates the parts of a path: the split whose names exist is taken. The first path is that of the
 * instance "a" and the counter "b)\\Size" as well as of the instance "a)\\b" and the counter "Size". */
Test(pdh, a_path_that_can_be_split_in_several_ways)
{
    static const struct {
        const char *path;
        double value;
    } known[] = {{"\\Shelf(a)\\b)\\Size", 11},    {"\\Shelf(x(y)\\Size", 12},     {"\\Shelf(p/q#1)\\Size", 13},
                 {"\\Shelf(a)\\Size", 10},        {"\\Odd (set)(one)\\Size", 21}, {"\\Odd (set)(two)\\Size(net)", 32},
                 {"\\Shelf(a)\\c)\\b)\\Size", 14}};
    PDH_HCOUNTER counters[sizeof known / sizeof known[0]];
    char list[256];
    use_recording(FIXTURE("odd_names"));
    PDH_HQUERY query = open_query(NULL);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        EXPECT(PdhValidatePathA(known[i].path), 0);
        DWORD size = sizeof list;
        EXPECT(PdhExpandWildCardPathA(NULL, known[i].path, list, &size, 0), 0);
        cr_expect_not_null(strstr(list, known[i].path), "%s: %s", known[i].path, list);
        counters[i] = add(query, known[i].path);
    }
    EXPECT(PdhCollectQueryData(query), 0);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        cr_expect_eq(good(counters[i]), known[i].value, "%s", known[i].path);
    union {
        PDH_COUNTER_INFO_A info;
        char bytes[512];
    } all;
    DWORD bytes = sizeof all;
    EXPECT(PdhGetCounterInfoA(counters[2], 0, &bytes, &all.info), 0);
    cr_expect_null(all.info.szParentInstance, "no instance of Shelf has a parent");
    cr_expect_str_eq(all.info.szInstanceName, "p/q");
    cr_expect_eq(all.info.dwInstanceIndex, 1);
    EXPECT(PdhCloseQuery(query), 0);
}

Test(pdh, paths_are_made_and_split)
{
    static const struct {
        PDH_COUNTER_PATH_ELEMENTS_A parts;
        const char *path;
    } rows[] = {{{NULL, "Process", "java", NULL, 0, "ID Process"}, "\\Process(java)\\ID Process"},
                {{"\\\\M", "Thread", "1", "java", 2, "ID Thread"}, "\\\\M\\Thread(java/1#2)\\ID Thread"},
                {{"M", "System", NULL, "unused", 3, "Threads"}, "\\\\M\\System\\Threads"},
                {{NULL, "P", "x", NULL, UINT32_MAX, "c"}, "\\P(x)\\c"}};
    char path[256];
    union {
        PDH_COUNTER_PATH_ELEMENTS_A parts;
        char bytes[512];
    } split;
    DWORD size;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        PDH_COUNTER_PATH_ELEMENTS_A parts = rows[i].parts;
        size = 0;
        EXPECT(PdhMakeCounterPathA(&parts, path, &size, 0), PDH_MORE_DATA);
        EXPECT(PdhMakeCounterPathA(&parts, path, &size, 0), 0);
        cr_expect_str_eq(path, rows[i].path);
        size = 0;
        EXPECT(PdhParseCounterPathA(path, NULL, &size, 0), PDH_MORE_DATA);
        cr_assert_leq(size, sizeof split);
        EXPECT(PdhParseCounterPathA(path, &split.parts, &size, 0), 0);
        cr_expect_str_eq(split.parts.szObjectName, parts.szObjectName);
        cr_expect_str_eq(split.parts.szCounterName, parts.szCounterName);
        cr_expect_eq(split.parts.dwInstanceIndex, i == 1 ? 2 : 0);
        cr_expect_eq(split.parts.szInstanceName == NULL, parts.szInstanceName == NULL);
        cr_expect_eq(strncmp(split.parts.szMachineName, "\\\\", 2), 0); /* never null */
    }
    PDH_COUNTER_PATH_ELEMENTS_A none = {.szObjectName = path};
    EXPECT(PdhMakeCounterPathA(&none, path, &size, 0), PDH_INVALID_ARGUMENT);
    size = 0;
    EXPECT(PdhParseCounterPathA("\\System", NULL, &size, 0), PDH_INVALID_PATH);
}

Test(pdh, raw_values_can_be_formatted_by_the_caller)
{
    use_recording(FIXTURE("machine_v1"));
    PDH_HQUERY query = open_query(NULL);
    PDH_HCOUNTER counter = add(query, "\\Process(System)\\% Processor Time");
    PDH_RAW_COUNTER ring[3];
    PDH_FMT_COUNTERVALUE value;
    PDH_STATISTICS all;
    DWORD type = 0;
    for (int i = 0; i < 3; i++) {
        EXPECT(PdhCollectQueryData(query), 0);
        EXPECT(PdhGetRawCounterValue(counter, &type, &ring[(i + 1) % 3]), 0); /* the oldest is ring[1] */
    }
    cr_expect_eq(type, 0x20510500);
    EXPECT(PdhCalculateCounterFromRawValue(counter, PDH_FMT_DOUBLE, &ring[0], &ring[2], &value), 0);
    cr_expect_eq(value.doubleValue, 5.625);
    cr_expect_eq(good(counter), 5.625);
    EXPECT(PdhCalculateCounterFromRawValue(counter, PDH_FMT_DOUBLE, &ring[0], NULL, &value), PDH_INVALID_ARGUMENT);
    EXPECT(PdhCalculateCounterFromRawValue(counter, PDH_FMT_DOUBLE, &ring[2], &ring[0], &value),
           PDH_CALC_NEGATIVE_VALUE);
    EXPECT(PdhCalculateCounterFromRawValue(counter, PDH_FMT_DOUBLE, &ring[2], &ring[2], &value), 0);
    cr_expect(value.doubleValue == 0 && value.CStatus == 0);
    PDH_RAW_COUNTER missing = ring[1];
    missing.CStatus = PDH_CSTATUS_NO_INSTANCE;
    static const DWORD types[] = {0x20510500, 0x10100}; /* of two samples, of one */
    for (size_t i = 0; i < 2; i++) {
        EXPECT(PdhFormatFromRawValue(types[i], PDH_FMT_DOUBLE, NULL, &ring[0], &missing, &value), PDH_INVALID_DATA);
        cr_expect_eq(value.CStatus, PDH_CSTATUS_NO_INSTANCE);
        EXPECT(PdhFormatFromRawValue(types[i], PDH_FMT_DOUBLE, NULL, &missing, &ring[0], &value), PDH_INVALID_DATA);
        cr_expect_eq(value.CStatus, PDH_CSTATUS_NO_INSTANCE);
    }
    EXPECT(PdhFormatFromRawValue(type, PDH_FMT_DOUBLE, NULL, &ring[0], &ring[1], &value), 0);
    cr_expect_eq(value.doubleValue, 5.9375); /* of 20 s */
    EXPECT(PdhFormatFromRawValue(0x40030500, PDH_FMT_DOUBLE, NULL, &ring[0], &ring[1], &value), PDH_INVALID_ARGUMENT);
    EXPECT(PdhComputeCounterStatistics(counter, PDH_FMT_DOUBLE, 1, 3, ring, &all), 0);
    cr_expect(all.count == 2 && all.min.doubleValue == 5.625 && all.max.doubleValue == 6.25 &&
              all.mean.doubleValue == 5.9375);
    EXPECT(PdhComputeCounterStatistics(counter, PDH_FMT_DOUBLE, 3, 3, ring, &all), PDH_INVALID_ARGUMENT);
    EXPECT(PdhComputeCounterStatistics(counter, PDH_FMT_DOUBLE, 0, 0, ring, &all), PDH_INVALID_ARGUMENT);
    EXPECT(PdhComputeCounterStatistics(counter, PDH_FMT_DOUBLE, 0, 1, ring, &all), 0);
    cr_expect(all.count == 0 && all.mean.CStatus == PDH_CSTATUS_INVALID_DATA);
    EXPECT(PdhCloseQuery(query), 0);
}

/* ---- Logs as sources ------------------------------------------------------------------------------------ */

Test(pdh, ranges_of_time) /* T21: five samples */
{
    PDH_HLOG log = NULL;
    PDH_HQUERY query = NULL;
    PDH_TIME_INFO range;
    DWORD count = 0;
    DWORD size = 8;
    LONGLONG bytes = 0;
    const LONGLONG interval = 100000000;
    EXPECT(PdhBindInputDataSourceA(&log, FIXTURE("machine_names_v1") "\0"), 0);
    EXPECT(PdhGetDataSourceTimeRangeH(log, &count, &range, &size), PDH_MORE_DATA);
    cr_expect_eq(size, sizeof range);
    EXPECT(PdhGetDataSourceTimeRangeH(log, &count, &range, &size), 0);
    cr_expect(count == 1 && range.SampleCount == 5 && range.EndTime == range.StartTime + 4 * interval);
    EXPECT(PdhGetDataSourceTimeRangeH(NULL, &count, &range, &size), PDH_DATA_SOURCE_IS_REAL_TIME);
    EXPECT(PdhGetLogFileSize(log, &bytes), 0);
    cr_expect_gt(bytes, 1000);
    EXPECT(PdhOpenQueryH(log, 0, &query), 0);
    PDH_HCOUNTER counter = add(query, "\\Process(database)\\% Processor Time");
    cr_expect_eq(PdhIsRealTimeQuery(query), 0);
    PDH_HCOUNTER none;
    EXPECT(PdhAddCounterA(query, "\\Process(nobody)\\ID Process", 0, &none), PDH_CSTATUS_NO_INSTANCE);
    PDH_TIME_INFO wanted = {range.StartTime, range.StartTime, 0};
    EXPECT(PdhSetQueryTimeRange(query, &wanted), PDH_INVALID_ARGUMENT);
    wanted = (PDH_TIME_INFO){range.StartTime + interval, range.StartTime + 3 * interval, 0};
    EXPECT(PdhSetQueryTimeRange(query, &wanted), 0);
    for (int i = 0; i < 3; i++) {
        LONGLONG time = 0;
        EXPECT(PdhCollectQueryDataWithTime(query, &time), 0);
        cr_expect_eq(time, range.StartTime + (i + 1) * interval);
    }
    cr_expect_eq(good(counter), 12.5);
    EXPECT(PdhCollectQueryData(query), PDH_NO_MORE_DATA);
    EXPECT(PdhCollectQueryData(query), PDH_NO_MORE_DATA);
    wanted = (PDH_TIME_INFO){MIN_TIME_VALUE, MAX_TIME_VALUE, 0};
    EXPECT(PdhSetQueryTimeRange(query, &wanted), 0);
    for (int i = 0; i < 5; i++)
        EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhCollectQueryData(query), PDH_NO_MORE_DATA);
    EXPECT(PdhCloseLog(log, 0), 0);
    EXPECT(PdhCloseLog(log, 0), PDH_INVALID_HANDLE);
    EXPECT(PdhOpenQueryH(log, 0, &query), PDH_INVALID_HANDLE);
    EXPECT(PdhCloseQuery(query), 0);
}

/* Makes a file with a text; `path` ends with XXXXXX. */
static void write_text(char *path, const char *text, size_t size)
{
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, text, size), (ssize_t)size);
    close(file);
}

Test(pdh, lists_have_no_empty_names) /* which would end them; a name ends at a NUL */
{
    static const char text[] =
        "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\M\\\0(a)\\A\",\"\\\\M\\Thing(\0)\\A\",\"\\\\M\\Thing(b)\\\0\","
        "\"\\\\M\\Thing(b)\\A\"\n"
        "\"01/02/2025 03:04:05.000\",\"1\",\"2\",\"3\",\"4\"\n";
    char path[] = "/tmp/perfblock-XXXXXX";
    char objects[32];
    char counters[32];
    char instances[32];
    DWORD objects_size = sizeof objects;
    DWORD counters_size = sizeof counters;
    DWORD instances_size = sizeof instances;
    write_text(path, text, sizeof text - 1);
    EXPECT(PdhEnumObjectsA(path, NULL, objects, &objects_size, 400, 0), 0);
    cr_expect(objects_size == 7 && memcmp(objects, "Thing\0", 7) == 0);
    EXPECT(PdhEnumObjectItemsA(path, NULL, "Thing", counters, &counters_size, instances, &instances_size, 400, 0), 0);
    cr_expect(counters_size == 3 && memcmp(counters, "A\0", 3) == 0);
    cr_expect(instances_size == 3 && memcmp(instances, "b\0", 3) == 0);
    remove(path);
}

/* Two processes of Linux may have names that differ only in case. */
Test(pdh, instances_that_differ_in_case)
{
    static const char text[] =
        "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\M\\Process(Code)\\Count\",\"\\\\M\\Process(code)\\Count\","
        "\"\\\\M\\Process(p/Code)\\Count\",\"\\\\M\\Process(p/code)\\Count\"\n"
        "\"01/02/2025 03:04:05.000\",\"1\",\"2\",\"3\",\"4\"\n";
    static const struct {
        const char *instance;
        double value;
    } rows[] = {{"Code", 1},   {"code", 2},   {"CODE", 1},     {"Code#0", 1},  {"code#0", 2},
                {"p/Code", 3}, {"p/code", 4}, {"P/code#0", 3}, {"p/code#0", 4}};
    char path[] = "/tmp/perfblock-XXXXXX";
    char name[64];
    write_text(path, text, sizeof text - 1);
    PDH_HQUERY query = open_query(path);
    PDH_HCOUNTER counters[sizeof rows / sizeof rows[0]];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(name, sizeof name, "\\\\M\\Process(%s)\\Count", rows[i].instance);
        counters[i] = add(query, name);
    }
    EXPECT(PdhCollectQueryData(query), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(good(counters[i]), rows[i].value, "%s", rows[i].instance);
    EXPECT(PdhCloseQuery(query), 0);
    remove(path);
}

/* Logs of Windows have both if both were chosen: the array has each instance once. */
Test(pdh, a_counter_that_a_log_has_twice)
{
    static const char text[] = "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\M\\Process(a)\\Count\",\"\\\\M\\Process(b)\\Count\","
                               "\"\\\\M\\Process(b)\\Count\",\"\\\\M\\Process(b#1)\\Count\",\"\\\\M\\System\\Count\","
                               "\"\\\\M\\System\\Count\"\n"
                               "\"01/02/2025 03:04:05.000\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\"\n";
    char path[] = "/tmp/perfblock-XXXXXX";
    DWORD size = 0;
    DWORD count = 0;
    write_text(path, text, sizeof text - 1);
    PDH_HQUERY query = open_query(path);
    PDH_HCOUNTER all = add(query, "\\\\M\\Process(*)\\Count");
    PDH_HCOUNTER system = add(query, "\\\\M\\System\\Count");
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhGetRawCounterArrayA(all, &size, &count, NULL), PDH_MORE_DATA);
    cr_expect_eq(count, 3);
    cr_expect_eq(good(system), 5);
    EXPECT(PdhCloseQuery(query), 0);
    remove(path);
}

/* A path without a machine means the first one that has the object, in all functions. */
Test(pdh, a_log_of_two_machines)
{
    static const char text[] =
        "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\A\\System\\Count\",\"\\\\B\\System\\Count\",\"\\\\B\\Process(i)\\Size\"\n"
        "\"01/02/2025 03:04:05.000\",\"1\",\"2\",\"3\"\n";
    static const struct {
        const char *path, *list;
        uint32_t code;
        size_t count;
    } rows[] = {{"\\System\\Count", "\\\\A\\System\\Count", 0, 1},
                {"\\\\b\\System\\Count", "\\\\B\\System\\Count", 0, 1},
                {"\\Process(i)\\Size", "\\\\B\\Process(i)\\Size", 0, 1},
                {"\\Process(*)\\*", "\\\\B\\Process(i)\\Size", 0, 1},
                {"\\Sys*\\*", "\\\\A\\System\\Count", 0, 2},
                {"\\\\A\\Process(i)\\Size", NULL, PDH_CSTATUS_NO_OBJECT, 0},
                {"\\\\C\\System\\Count", NULL, PDH_CSTATUS_NO_MACHINE, 0}};
    char path[] = "/tmp/perfblock-XXXXXX";
    char list[256];
    PDH_HLOG log = NULL;
    write_text(path, text, sizeof text - 1);
    EXPECT(PdhOpenLogA(path, PDH_LOG_READ_ACCESS, &(DWORD){0}, NULL, 0, NULL, &log), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        DWORD size = sizeof list;
        EXPECT(PdhExpandWildCardPathHA(log, rows[i].path, list, &size, 0), rows[i].code);
        if (rows[i].list)
            cr_expect_str_eq(list, rows[i].list);
        cr_expect(rows[i].code != 0 || count_strings(list) == rows[i].count, "%s", rows[i].path);
        if (!strchr(rows[i].path, '*'))
            EXPECT(PdhValidatePathExA(log, rows[i].path), rows[i].code);
    }
    EXPECT(PdhCloseLog(log, 0), 0);
    remove(path);
}

Test(pdh, text_logs_have_displayed_values)
{
    static const char text[] =
        "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\M\\Process(a)\\ID Process\",\"\\\\M\\System\\Threads\"\n"
        "\"01/02/2025 03:04:05.000\",\"1.5\",\"7\"\n"
        "\"01/02/2025 03:04:06.000\",\" \",\"8\"\n";
    char path[] = "/tmp/perfblock-XXXXXX";
    write_text(path, text, sizeof text - 1);
    PDH_HQUERY query = open_query(path);
    PDH_HCOUNTER id = add(query, "\\\\M\\Process(*)\\ID Process");
    PDH_HCOUNTER threads = add(query, "\\System\\Threads");
    DWORD type = 0;
    PDH_RAW_COUNTER raw;
    double bits = 0;
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhGetRawCounterValue(id, &type, &raw), 0);
    memcpy(&bits, &raw.FirstValue, sizeof bits);
    cr_expect(type == 0x12000 && bits == 1.5 && raw.CStatus == 0);
    cr_expect(good(id) == 1.5 && good(threads) == 7);
    EXPECT(PdhCollectQueryData(query), 0);
    format(id, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA);
    cr_expect_eq(good(threads), 8);
    EXPECT(PdhCollectQueryData(query), PDH_NO_MORE_DATA);
    EXPECT(PdhGetLogFileTypeA(path, &type), 0);
    cr_expect_eq(type, PDH_LOG_TYPE_CSV);
    EXPECT(PdhCloseQuery(query), 0);
    remove(path);
}

/* ---- Buffers -------------------------------------------------------------------------------------------- */

/* A call with a buffer of `size` characters or bytes. */
typedef PDH_STATUS sized_call(void *buffer, DWORD *size);

static PDH_HCOUNTER sized_counter;

static PDH_STATUS call_expand(void *buffer, DWORD *size)
{
    static const WCHAR path[] = u"\\Process(*)\\ID Process";
    return PdhExpandWildCardPathW(NULL, path, buffer, size, 0);
}

static PDH_STATUS call_objects(void *buffer, DWORD *size)
{
    return PdhEnumObjectsW(NULL, NULL, buffer, size, PERF_DETAIL_WIZARD, 0);
}

static PDH_STATUS call_machines(void *buffer, DWORD *size)
{
    return PdhEnumMachinesW(NULL, buffer, size);
}

static PDH_STATUS call_name(void *buffer, DWORD *size)
{
    return PdhLookupPerfNameByIndexW(NULL, 230, buffer, size);
}

static PDH_STATUS call_split(void *buffer, DWORD *size)
{
    return PdhParseCounterPathA("\\\\M\\P(a/b#1)\\c", buffer, size, 0);
}

static PDH_STATUS call_info(void *buffer, DWORD *size)
{
    return PdhGetCounterInfoA(sized_counter, 1, size, buffer);
}

static PDH_STATUS call_array(void *buffer, DWORD *size)
{
    DWORD count = 0;
    return PdhGetFormattedCounterArrayA(sized_counter, PDH_FMT_LARGE, size, &count, buffer);
}

static PDH_STATUS call_raw_array(void *buffer, DWORD *size)
{
    DWORD count = 0;
    return PdhGetRawCounterArrayA(sized_counter, size, &count, buffer);
}

static PDH_STATUS call_make(void *buffer, DWORD *size)
{
    static WCHAR object[] = u"Object", instance[] = u"name", parent[] = u"parent", counter[] = u"Count";
    PDH_COUNTER_PATH_ELEMENTS_W elements = {NULL, object, instance, parent, 2, counter};
    return PdhMakeCounterPathW(&elements, buffer, size, 0);
}

static PDH_STATUS call_instances(void *buffer, DWORD *size)
{
    WCHAR counters[2048];
    DWORD counters_size = 2048;
    return PdhEnumObjectItemsW(NULL, NULL, u"Process", counters, &counters_size, buffer, size, PERF_DETAIL_WIZARD, 0);
}

static PDH_STATUS call_default(void *buffer, DWORD *size)
{
    return PdhGetDefaultPerfObjectW(NULL, NULL, buffer, size);
}

static PDH_STATUS call_translate(void *buffer, DWORD *size)
{
    return PdhTranslate009CounterW(u"\\Process(agent)\\ID Process", buffer, size);
}

static PDH_HLOG sized_log;

static PDH_STATUS call_record(void *buffer, DWORD *size)
{
    FILETIME last = {UINT32_MAX, INT32_MAX};
    return PdhReadRawLogRecord(sized_log, last, buffer, size);
}

/* Every size from 0 to 2 above the one needed. The buffer ends where the size does, so that a sanitizer sees a byte too
 * many, and a byte after it is checked. */
Test(pdh, buffers_of_every_size)
{
    static const struct {
        sized_call *call;
        size_t unit;
    } rows[] = {{call_expand, 2},  {call_objects, 2},   {call_machines, 2},  {call_name, 2}, {call_split, 1},
                {call_info, 1},    {call_array, 1},     {call_raw_array, 1}, {call_make, 2}, {call_instances, 2},
                {call_default, 2}, {call_translate, 2}, {call_record, 1}};
    use_recording(FIXTURE("machine_names_v1"));
    PDH_HQUERY query = open_query(NULL);
    sized_counter = add(query, "\\Process(*)\\ID Process");
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhBindInputDataSourceA(&sized_log, FIXTURE("gpu_memory") "\0"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        DWORD needed = 0;
        EXPECT(rows[i].call(NULL, &needed), PDH_MORE_DATA);
        cr_assert_gt(needed, 0);
        for (DWORD given = 0; given <= needed + 2; given++) {
            size_t bytes = given * rows[i].unit;
            uint8_t *buffer = malloc(bytes + 1);
            cr_assert_not_null(buffer);
            memset(buffer, 0xEE, bytes + 1);
            DWORD size = given;
            EXPECT(rows[i].call(buffer, &size), given < needed ? PDH_MORE_DATA : 0);
            cr_expect(size == needed && buffer[bytes] == 0xEE, "row %zu, size %u", i, given);
            free(buffer);
        }
        DWORD size = needed;
        EXPECT(rows[i].call(NULL, &size), PDH_INVALID_ARGUMENT);
        EXPECT(rows[i].call(NULL, NULL), PDH_INVALID_ARGUMENT);
    }
    DWORD range_size = 0;
    DWORD range_count = 0;
    EXPECT(PdhGetDataSourceTimeRangeH(sized_log, &range_count, NULL, &range_size), PDH_MORE_DATA);
    cr_expect_eq(range_size, 24);
    EXPECT(PdhGetDataSourceTimeRangeH(sized_log, &range_count, NULL, &range_size), PDH_INVALID_ARGUMENT);
    EXPECT(PdhGetDataSourceTimeRangeH(sized_log, NULL, NULL, &range_size), PDH_INVALID_ARGUMENT);
    PDH_TIME_INFO *range = malloc(sizeof *range);
    DWORD count = 0;
    cr_assert_not_null(range);
    for (DWORD given = 0; given <= sizeof *range + 2; given++) {
        DWORD size = given;
        EXPECT(PdhGetDataSourceTimeRangeH(sized_log, &count, range, &size), given < 24 ? PDH_MORE_DATA : 0);
        cr_expect(size == 24);
    }
    free(range);
    EXPECT(PdhCloseLog(sized_log, 0), 0);
    EXPECT(PdhCloseQuery(query), 0);
}

/* ---- Sources of the program ----------------------------------------------------------------------------- */

/* Opens a recording whose third collect fails; null if there is no context. */
static pfb_source *open_faulty(void *context, pfb_source_failure *failure)
{
    static const pfb_source_fault faults[] = {
        {PFB_SOURCE_QUERY_COLLECT, 3, PFB_SOURCE_FAULT_FAIL, PFB_WIN32_ACCESS_DENIED, 0}};
    pfb_stream *stream = context ? pfb_stream_new() : NULL;
    if (!stream || pfb_stream_add_file(stream, context) < 0)
        return NULL;
    return pfb_source_open_faulty(pfb_source_open_stream(stream, failure), faults, 1, failure);
}

Test(pdh, a_source_that_fails_is_opened_again)
{
    static char path[] = FIXTURE("processor_information");
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER counter = NULL;
    cr_assert_eq(pfb_pdh_use(open_faulty, path), 0);
    query = open_query(NULL);
    EXPECT(pfb_pdh_use(NULL, NULL), PDH_CANNOT_SET_DEFAULT_REALTIME_DATASOURCE);
    counter = add(query, "\\Processor Information(_Total)\\% Processor Time");
    EXPECT(PdhCollectQueryData(query), 0);
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect_float_eq(good(counter), 9.6875, 1e-12);
    EXPECT(PdhCollectQueryData(query), PDH_NO_DATA);
    format(counter, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_NO_INSTANCE);
    EXPECT(PdhCollectQueryData(query), 0);
    format(counter, PDH_FMT_DOUBLE, PDH_INVALID_DATA, PDH_CSTATUS_INVALID_DATA); /* the one before has no value */
    EXPECT(PdhCollectQueryData(query), 0);
    cr_expect_float_eq(good(counter), 9.6875, 1e-12);
    EXPECT(PdhCloseQuery(query), 0);
    cr_assert_eq(pfb_pdh_use(open_faulty, NULL), 0);
    query = open_query(NULL);
    EXPECT(PdhAddCounterA(query, "\\System\\Threads", 0, &counter), PDH_CSTATUS_NO_MACHINE);
    EXPECT(PdhCloseQuery(query), 0);
    cr_assert_eq(pfb_pdh_use(NULL, NULL), 0);
}

Test(pdh, functions_that_do_nothing)
{
    DWORD type = PDH_LOG_TYPE_CSV;
    PDH_HLOG log;
    DWORD size = 0;
    EXPECT(PdhOpenLogA("new.csv", PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_NEW, &type, NULL, 0, NULL, &log),
           PDH_NOT_IMPLEMENTED);
    EXPECT(PdhUpdateLogA(NULL, NULL), PDH_NOT_IMPLEMENTED);
    char path[PDH_MAX_COUNTER_PATH] = "";
    PDH_BROWSE_DLG_CONFIG_A config = {.bSingleCounterPerDialog = 1,
                                      .bReserved = 0,
                                      .szReturnPathBuffer = path,
                                      .cchReturnPathLength = sizeof path,
                                      .dwDefaultDetailLevel = PERF_DETAIL_WIZARD};
    EXPECT(PdhBrowseCountersA(&config), PDH_DIALOG_CANCELLED);
    cr_expect_str_eq(path, "");
    cr_expect(IsWarningSeverity(PDH_DIALOG_CANCELLED) && IsErrorSeverity(PDH_INVALID_DATA) && IsSuccessSeverity(0));
    EXPECT(PdhBrowseCountersA(NULL), PDH_INVALID_ARGUMENT);
    EXPECT(PdhSelectDataSourceA(NULL, 0, NULL, &size), PDH_DIALOG_CANCELLED);
    EXPECT(PdhVerifySQLDBA("SQL:x"), PDH_INVALID_DATASOURCE);
    EXPECT(PdhSetLogSetRunID(NULL, 0), PDH_INVALID_HANDLE);
    EXPECT(PdhSetDefaultRealTimeDataSource(DATA_SOURCE_REGISTRY), 0);
    EXPECT(PdhSetDefaultRealTimeDataSource(DATA_SOURCE_WBEM), PDH_NOT_IMPLEMENTED);
    EXPECT(PdhGetDllVersion(&type), 0);
    cr_expect_eq(type, PDH_VERSION);
}
