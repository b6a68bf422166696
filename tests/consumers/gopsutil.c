/* SPDX-License-Identifier: MIT */
/* gopsutil: the value of one counter after one or two collects. A value that PDH does not have counts as 0, so the
 * structure must be cleared. */
#include "consumer.h"

int main(int argc, char **argv)
{
    WCHAR path[PDH_MAX_COUNTER_PATH];
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER counter = NULL;
    PDH_FMT_COUNTERVALUE value;
    DEMAND(argc == 2);
    widen(argv[1], path, PDH_MAX_COUNTER_PATH);
    DEMAND(IS(PdhOpenQuery(NULL, 0, &query), ERROR_SUCCESS));
    DEMAND(IS(PdhAddEnglishCounterW(query, path, 0, &counter), ERROR_SUCCESS));
    for (int i = 0; i < 2; i++) {
        memset(&value, 0xEE, sizeof value);
        DEMAND(IS(PdhCollectQueryData(query), ERROR_SUCCESS));
        DWORD code = (DWORD)PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value);
        DEMAND(code == ERROR_SUCCESS || code == PDH_INVALID_DATA);
        printf("%ls\t%.17g\n", path, value.doubleValue);
        if (i == 0)
            wait_for_sample();
    }
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    return 0;
}
