/* SPDX-License-Identifier: MIT */
/* windows_exporter: raw values of all instances. The buffer begins with one byte and takes the size that is returned,
 * which must be larger. Names are cached by their addresses, so counters of one object have the same layout. */
#include "consumer.h"

enum { COUNTERS = 2 };

int main(int argc, char **argv)
{
    WCHAR path[PDH_MAX_COUNTER_PATH];
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER counters[COUNTERS] = {NULL};
    LONGLONG bases[COUNTERS] = {0};
    DWORD capacity = 1;
    char *buffer = malloc(capacity);
    char *first_name = NULL;
    DEMAND(argc == 1 + COUNTERS && buffer);
    DEMAND(IS(PdhOpenQuery(NULL, 0, &query), ERROR_SUCCESS));
    for (int i = 0; i < COUNTERS; i++) {
        DWORD size = 0;
        widen(argv[1 + i], path, PDH_MAX_COUNTER_PATH);
        DEMAND(IS(PdhAddEnglishCounterW(query, path, 0, &counters[i]), ERROR_SUCCESS));
        DEMAND(IS(PdhGetCounterInfoW(counters[i], 0, &size, NULL), PDH_MORE_DATA));
        PDH_COUNTER_INFO_W *info = malloc(size);
        DEMAND(info && IS(PdhGetCounterInfoW(counters[i], 0, &size, info), ERROR_SUCCESS));
        DEMAND(info->dwLength == size && info->szObjectName && info->szCounterName);
        if (info->dwType == 0x30240500) /* PERF_ELAPSED_TIME */
            DEMAND(IS(PdhGetCounterTimeBase(counters[i], &bases[i]), ERROR_SUCCESS) && bases[i] > 0);
        free(info);
    }
    DEMAND(IS(PdhCollectQueryData(query), ERROR_SUCCESS));
    for (int i = 0; i < COUNTERS; i++) {
        DWORD size = capacity;
        DWORD count = 0;
        DWORD code;
        while ((code = (DWORD)PdhGetRawCounterArrayW(counters[i], &size, &count,
                                                     (PDH_RAW_COUNTER_ITEM_W *)(void *)buffer)) == PDH_MORE_DATA) {
            DEMAND(size > capacity);
            free(buffer);
            buffer = malloc(size);
            DEMAND(buffer);
            capacity = size;
        }
        DEMAND(code == ERROR_SUCCESS && count > 0);
        const PDH_RAW_COUNTER_ITEM_W *items = (const PDH_RAW_COUNTER_ITEM_W *)(const void *)buffer;
        first_name = i == 0 ? (char *)items[0].szName : first_name;
        DEMAND(first_name == (char *)items[0].szName);
        for (DWORD n = 0; n < count; n++) {
            const PDH_RAW_COUNTER *raw = &items[n].RawValue;
            DEMAND(raw->CStatus == PDH_CSTATUS_VALID_DATA || raw->CStatus == PDH_CSTATUS_NEW_DATA);
            if (bases[i] > 0)
                printf("%ls\t%.17g\n", items[n].szName,
                       (double)(raw->SecondValue - raw->FirstValue) / (double)bases[i]);
            else
                printf("%ls\t%lld\n", items[n].szName, (long long)raw->FirstValue);
        }
    }
    free(buffer);
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    return 0;
}
