/* SPDX-License-Identifier: MIT */
/* fluent-bit: the path is split and expanded, then each path is added and read by itself. A value counts only if the
 * code and the status are 0. */
#include "consumer.h"

enum { MAX_COUNTERS = 1024 };

int main(int argc, char **argv)
{
    WCHAR path[PDH_MAX_COUNTER_PATH];
    static PDH_HCOUNTER counters[MAX_COUNTERS];
    static WCHAR *names[MAX_COUNTERS];
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER english = NULL;
    DWORD size = 0;
    int count = 0;
    DEMAND(argc == 2);
    widen(argv[1], path, PDH_MAX_COUNTER_PATH);
    DEMAND(IS(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS));
    DEMAND(IS(PdhAddEnglishCounterW(query, path, 0, &english), ERROR_SUCCESS));
    DEMAND(IS(PdhGetCounterInfoW(english, TRUE, &size, NULL), PDH_MORE_DATA));
    PDH_COUNTER_INFO_W *info = malloc(size);
    DEMAND(info && IS(PdhGetCounterInfoW(english, TRUE, &size, info), ERROR_SUCCESS));
    DEMAND(info->szExplainText && info->szObjectName);
    size = 0;
    DEMAND(IS(PdhExpandWildCardPathW(NULL, info->szFullPath, NULL, &size, 0), PDH_MORE_DATA));
    WCHAR *list = malloc(size * sizeof *list);
    DEMAND(list && IS(PdhExpandWildCardPathW(NULL, info->szFullPath, list, &size, 0), ERROR_SUCCESS));
    DEMAND(IS(PdhRemoveCounter(english), ERROR_SUCCESS));
    for (WCHAR *at = list; *at && count < MAX_COUNTERS; at += pfb_wide_length(at, (size_t)-1) + 1) {
        DWORD parts_size = 0;
        DEMAND(IS(PdhParseCounterPathW(at, NULL, &parts_size, 0), PDH_MORE_DATA));
        PDH_COUNTER_PATH_ELEMENTS_W *parts = malloc(parts_size);
        DEMAND(parts && IS(PdhParseCounterPathW(at, parts, &parts_size, 0), ERROR_SUCCESS));
        DEMAND(parts->szMachineName && parts->szObjectName && parts->szCounterName);
        DEMAND(!parts->szInstanceName || *parts->szInstanceName); /* the label of the value */
        free(parts);
        names[count] = at;
        DEMAND(IS(PdhAddCounterW(query, at, 0, &counters[count++]), ERROR_SUCCESS));
    }
    DEMAND(IS(PdhCollectQueryData(query), ERROR_SUCCESS));
    wait_for_sample();
    DEMAND(IS(PdhCollectQueryData(query), ERROR_SUCCESS));
    for (int i = 0; i < count; i++) {
        PDH_FMT_COUNTERVALUE value;
        DWORD code = (DWORD)PdhGetFormattedCounterValue(counters[i], PDH_FMT_DOUBLE, NULL, &value);
        if (code == ERROR_SUCCESS && value.CStatus == PDH_CSTATUS_VALID_DATA)
            printf("%ls\t%.17g\n", names[i], value.doubleValue);
    }
    free(list);
    free(info);
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    return 0;
}
