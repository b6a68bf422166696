/* SPDX-License-Identifier: MIT */
/* oshi: looks up the title of an object, lists its instances with the lowest level of detail, and computes from raw
 * values itself. A name that ends with _Base means the second value of the counter. No data is tried three times. */
#include "consumer.h"

enum { MAX_INSTANCES = 512, CAPACITY = 1 << 16 };

static DWORD collect(PDH_HQUERY query)
{
    LONGLONG time = 0;
    DWORD code = PDH_NO_DATA;
    for (int i = 0; i < 3 && code == PDH_NO_DATA; i++)
        code = (DWORD)PdhCollectQueryDataWithTime(query, &time);
    DEMAND(code == ERROR_SUCCESS && time > 0);
    return code;
}

int main(int argc, char **argv)
{
    static WCHAR counters[CAPACITY];
    static WCHAR instances[CAPACITY];
    static PDH_HCOUNTER handles[MAX_INSTANCES];
    static const WCHAR none[2] = {0};
    WCHAR object[PDH_MAX_COUNTER_NAME];
    WCHAR name[PDH_MAX_COUNTER_NAME];
    DWORD size = PDH_MAX_COUNTER_NAME;
    DWORD counters_size = 0;
    DWORD instances_size = 0;
    PDH_HQUERY query = NULL;
    int count = 0;
    DEMAND(argc == 3); /* a title index or name of an object, and a counter */
    DWORD index = (DWORD)strtoul(argv[1], NULL, 10);
    if (index > 0)
        DEMAND(IS(PdhLookupPerfNameByIndexW(NULL, index, object, &size), ERROR_SUCCESS));
    else
        widen(argv[1], object, PDH_MAX_COUNTER_NAME);
    size_t length = strlen(argv[2]);
    bool is_base = length > 5 && strcmp(argv[2] + length - 5, "_Base") == 0;
    widen(argv[2], name, is_base ? length - 4 : PDH_MAX_COUNTER_NAME);
    DEMAND(
        IS(PdhEnumObjectItemsW(NULL, NULL, object, NULL, &counters_size, NULL, &instances_size, PERF_DETAIL_NOVICE, 0),
           PDH_MORE_DATA));
    DEMAND(counters_size <= CAPACITY && instances_size <= CAPACITY);
    DEMAND(IS(PdhEnumObjectItemsW(NULL, NULL, object, counters, &counters_size, instances, &instances_size,
                                  PERF_DETAIL_NOVICE, 0),
              ERROR_SUCCESS));
    DEMAND(IS(PdhOpenQuery(NULL, 0, &query), ERROR_SUCCESS));
    const WCHAR *list = instances_size > 0 ? instances : none;
    const WCHAR *instance = list;
    do {
        WCHAR path[PDH_MAX_COUNTER_PATH];
        DWORD path_size = PDH_MAX_COUNTER_PATH;
        PDH_COUNTER_PATH_ELEMENTS_W parts = {NULL, object, *instance ? (LPWSTR)(uintptr_t)instance : NULL,
                                             NULL, 0,      name};
        DEMAND(count < MAX_INSTANCES && IS(PdhMakeCounterPathW(&parts, path, &path_size, 0), ERROR_SUCCESS));
        DEMAND(IS(PdhAddEnglishCounter(query, path, 0, &handles[count++]), ERROR_SUCCESS));
        instance += pfb_wide_length(instance, CAPACITY) + 1;
    } while (list != none && *instance);
    DEMAND(IS(collect(query), ERROR_SUCCESS));
    instance = list;
    for (int i = 0; i < count; i++) {
        PDH_RAW_COUNTER raw;
        DWORD type[2] = {0x12345678, 0xEEEEEEEE}; /* a value, and what follows it */
        DEMAND(IS(PdhGetRawCounterValue(handles[i], type, &raw), ERROR_SUCCESS) && type[1] == 0xEEEEEEEE);
        if (raw.CStatus == PDH_CSTATUS_VALID_DATA || raw.CStatus == PDH_CSTATUS_NEW_DATA)
            printf("%ls\t%lld\n", instance, (long long)(is_base ? raw.SecondValue : raw.FirstValue));
        instance += pfb_wide_length(instance, CAPACITY) + 1;
        DEMAND(IS(PdhRemoveCounter(handles[i]), ERROR_SUCCESS));
    }
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    return 0;
}
