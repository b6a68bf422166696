/* SPDX-License-Identifier: MIT */
/* Tx (LINQ to logs): lists the machines, objects and items of a log, adds a wildcard counter for each counter of an
 * object with instances, and reads all records. Binary logs may have records without data. */
#include "consumer.h"

enum { MAX_COUNTERS = 64, CAPACITY = 1 << 14 };

static struct {
    PDH_HCOUNTER handle;
    WCHAR name[PDH_MAX_COUNTER_NAME];
    bool has_instances;
} counters[MAX_COUNTERS];

static int counter_count;

static void add_object(PDH_HLOG log, PDH_HQUERY query, const WCHAR *machine, const WCHAR *object)
{
    static WCHAR names[CAPACITY];
    static WCHAR instances[CAPACITY];
    DWORD names_size = 0;
    DWORD instances_size = 0;
    DEMAND(
        IS(PdhEnumObjectItemsH(log, machine, object, NULL, &names_size, NULL, &instances_size, PERF_DETAIL_WIZARD, 0),
           PDH_MORE_DATA));
    DEMAND(names_size <= CAPACITY && instances_size <= CAPACITY);
    DEMAND(IS(PdhEnumObjectItemsH(log, machine, object, names, &names_size, instances, &instances_size,
                                  PERF_DETAIL_WIZARD, 0),
              ERROR_SUCCESS));
    for (WCHAR *name = names; *name; name += pfb_wide_length(name, names_size) + 1) {
        static WCHAR any[] = L"*";
        WCHAR path[PDH_MAX_COUNTER_PATH];
        DWORD size = PDH_MAX_COUNTER_PATH;
        LONGLONG base = 0;
        PDH_COUNTER_PATH_ELEMENTS_W parts = {
            (LPWSTR)(uintptr_t)machine, (LPWSTR)(uintptr_t)object, instances_size > 0 ? any : NULL, NULL, 0, name};
        DEMAND(counter_count < MAX_COUNTERS);
        DEMAND(IS(PdhMakeCounterPathW(&parts, path, &size, 0), ERROR_SUCCESS));
        DEMAND(IS(PdhAddCounter(query, path, 0, &counters[counter_count].handle), ERROR_SUCCESS));
        pfb_wide_copy(counters[counter_count].name, PDH_MAX_COUNTER_NAME, name, _TRUNCATE);
        counters[counter_count].has_instances = instances_size > 0;
        (void)PdhGetCounterTimeBase(counters[counter_count++].handle, &base);
    }
}

static void print_values(int i)
{
    PDH_RAW_COUNTER raw;
    PDH_FMT_COUNTERVALUE value;
    DWORD type = 0;
    DWORD size = 0;
    DWORD count = 0;
    DEMAND(IS(PdhGetRawCounterValue(counters[i].handle, &type, &raw), ERROR_SUCCESS));
    if (!counters[i].has_instances) {
        if (IS(PdhGetFormattedCounterValue(counters[i].handle, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, &type, &value),
               ERROR_SUCCESS))
            printf("%ls\t%.17g\n", counters[i].name, value.doubleValue);
        return;
    }
    if (!IS(PdhGetFormattedCounterArray(counters[i].handle, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, &size, &count, NULL),
            PDH_MORE_DATA))
        return;
    PDH_FMT_COUNTERVALUE_ITEM_W *items = malloc(size);
    DEMAND(items &&
           IS(PdhGetFormattedCounterArray(counters[i].handle, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, &size, &count, items),
              ERROR_SUCCESS));
    for (DWORD k = 0; k < count; k++)
        if (items[k].FmtValue.CStatus == PDH_CSTATUS_VALID_DATA)
            printf("%ls(%ls)\t%.17g\n", counters[i].name, items[k].szName, items[k].FmtValue.doubleValue);
    free(items);
}

int main(int argc, char **argv)
{
    static WCHAR machines[CAPACITY];
    static WCHAR objects[CAPACITY];
    WCHAR names[2 * PDH_MAX_DATASOURCE_PATH] = {0};
    DWORD machines_size = CAPACITY;
    DWORD objects_size = CAPACITY;
    DWORD count = 0;
    PDH_TIME_INFO range;
    DWORD range_size = sizeof range;
    PDH_HLOG log = NULL;
    PDH_HQUERY query = NULL;
    LONGLONG time = 0;
    LONGLONG before = 0;
    size_t used = 0;
    DEMAND(argc == 3 || argc == 4); /* an object, and one or two logs */
    for (int i = 2; i < argc; i++) {
        widen(argv[i], names + used, PDH_MAX_DATASOURCE_PATH);
        used += pfb_wide_length(names + used, PDH_MAX_DATASOURCE_PATH) + 1;
    }
    WCHAR wanted[PDH_MAX_COUNTER_NAME];
    widen(argv[1], wanted, PDH_MAX_COUNTER_NAME);
    DEMAND(IS(PdhBindInputDataSource(&log, names), ERROR_SUCCESS));
    DEMAND(IS(PdhOpenQueryH(log, 0, &query), ERROR_SUCCESS));
    DEMAND(IS(PdhGetDataSourceTimeRangeH(log, &count, &range, &range_size), ERROR_SUCCESS) && count == 1);
    DEMAND(IS(PdhEnumMachinesH(log, machines, &machines_size), ERROR_SUCCESS));
    DEMAND(IS(PdhEnumObjectsH(log, machines, objects, &objects_size, PERF_DETAIL_WIZARD, FALSE), ERROR_SUCCESS));
    for (const WCHAR *object = objects; *object; object += pfb_wide_length(object, objects_size) + 1)
        if (pfb_wide_compare(object, wanted, (size_t)-1, true) == 0)
            add_object(log, query, machines, object);
    DWORD code = 0;
    while ((code = (DWORD)PdhCollectQueryDataWithTime(query, &time)) != PDH_NO_MORE_DATA) {
        DEMAND(code == ERROR_SUCCESS || code == PDH_NO_DATA);
        DEMAND(time > before && time >= range.StartTime && time <= range.EndTime);
        before = time;
        for (int i = 0; i < counter_count; i++)
            print_values(i);
    }
    for (int i = 0; i < counter_count; i++)
        DEMAND(IS(PdhRemoveCounter(counters[i].handle), ERROR_SUCCESS));
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    DEMAND(IS(PdhCloseLog(log, 0), ERROR_SUCCESS));
    return 0;
}
