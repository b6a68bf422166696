/* SPDX-License-Identifier: MIT */
/* PowerShell's Get-Counter and Import-Counter: everything through a handle of the source, without a log real-time data.
 * Import-Counter first lists what the log has, and asks for its range of time. The first sample is ignored. */
#include "consumer.h"

/* Lists machines, objects and items, as Import-Counter -ListSet does. */
static void list_log(PDH_HLOG log)
{
    static WCHAR machines[1024];
    static WCHAR objects[4096];
    DWORD machines_size = 0;
    DWORD objects_size = 0;
    DEMAND(IS(PdhEnumMachinesH(log, NULL, &machines_size), PDH_MORE_DATA) && machines_size <= 1024);
    DEMAND(IS(PdhEnumMachinesH(log, machines, &machines_size), ERROR_SUCCESS));
    DEMAND(IS(PdhEnumObjectsH(log, machines, NULL, &objects_size, PERF_DETAIL_WIZARD, FALSE), PDH_MORE_DATA));
    DEMAND(objects_size <= 4096);
    DEMAND(IS(PdhEnumObjectsH(log, machines, objects, &objects_size, PERF_DETAIL_WIZARD, FALSE), ERROR_SUCCESS));
    for (const WCHAR *object = objects; *object; object += pfb_wide_length(object, objects_size) + 1) {
        DWORD counters_size = 0;
        DWORD instances_size = 0;
        DEMAND(IS(PdhEnumObjectItemsH(log, machines, object, NULL, &counters_size, NULL, &instances_size,
                                      PERF_DETAIL_WIZARD, 0),
                  PDH_MORE_DATA));
        DEMAND(counters_size > 2);
    }
}

static void set_range(PDH_HLOG log, PDH_HQUERY query)
{
    PDH_TIME_INFO range;
    DWORD size = sizeof range;
    DWORD count = 0;
    DEMAND(IS(PdhGetDataSourceTimeRangeH(log, &count, &range, &size), ERROR_SUCCESS));
    DEMAND(count == 1 && range.EndTime >= range.StartTime && range.SampleCount > 0);
    range.StartTime = MIN_TIME_VALUE;
    range.EndTime = MAX_TIME_VALUE;
    DEMAND(IS(PdhSetQueryTimeRange(query, &range), ERROR_SUCCESS));
}

static void print_value(const WCHAR *path, PDH_HCOUNTER counter)
{
    PDH_RAW_COUNTER raw;
    PDH_FMT_COUNTERVALUE value;
    DWORD type = 0;
    DEMAND(IS(PdhGetRawCounterValue(counter, &type, &raw), ERROR_SUCCESS));
    DWORD code = (DWORD)PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &value);
    if (code == ERROR_SUCCESS && raw.CStatus == PDH_CSTATUS_VALID_DATA && value.CStatus == PDH_CSTATUS_VALID_DATA)
        printf("%ls\t%.17g\n", path, value.doubleValue);
}

int main(int argc, char **argv)
{
    enum { MAX_COUNTERS = 2048, CAPACITY = 1 << 20 };
    static PDH_HCOUNTER counters[MAX_COUNTERS];
    WCHAR path[PDH_MAX_COUNTER_PATH];
    WCHAR file[PDH_MAX_DATASOURCE_PATH + 1] = {0};
    PDH_HLOG log = NULL;
    PDH_HQUERY query = NULL;
    DWORD size = 0;
    int count = 0;
    LONGLONG time = 0;
    DEMAND(argc == 2 || argc == 3); /* a path, and a log */
    widen(argv[1], path, PDH_MAX_COUNTER_PATH);
    if (argc == 3)
        widen(argv[2], file, PDH_MAX_DATASOURCE_PATH);
    DEMAND(IS(PdhBindInputDataSource(&log, argc == 3 ? file : NULL), ERROR_SUCCESS));
    DEMAND(IS(PdhOpenQueryH(log, 0, &query), ERROR_SUCCESS));
    if (argc == 3) {
        list_log(log);
        set_range(log, query);
    }
    DEMAND(IS(PdhExpandWildCardPathH(log, path, NULL, &size, PDH_REFRESHCOUNTERS), PDH_MORE_DATA));
    WCHAR *list = malloc(size * sizeof *list);
    DEMAND(list && IS(PdhExpandWildCardPathH(log, path, list, &size, PDH_REFRESHCOUNTERS), ERROR_SUCCESS));
    for (const WCHAR *at = list; *at && count < MAX_COUNTERS; at += pfb_wide_length(at, size) + 1) {
        LONGLONG base = 0;
        DEMAND(IS(PdhValidatePathEx(log, at), ERROR_SUCCESS));
        DEMAND(IS(PdhAddCounter(query, at, 0, &counters[count]), ERROR_SUCCESS));
        (void)PdhGetCounterTimeBase(counters[count++], &base); /* goes on after an error */
    }
    DEMAND(IS(PdhCollectQueryDataWithTime(query, &time), ERROR_SUCCESS));
    if (argc == 2)
        wait_for_sample();
    DEMAND(IS(PdhCollectQueryDataWithTime(query, &time), ERROR_SUCCESS) && time > 0);
    const WCHAR *at = list;
    for (int i = 0; i < count; i++, at += pfb_wide_length(at, size) + 1)
        print_value(at, counters[i]);
    free(list);
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    DEMAND(IS(PdhCloseLog(log, 0), ERROR_SUCCESS));
    return 0;
}
