/* SPDX-License-Identifier: MIT */
/* beats, and New Relic and OpenTelemetry, which do the same: the size of a list is asked with a buffer of one character
 * and size 0, paths are expanded by the older function where the newer one fails, and each value is read in a format
 * without the limit of 100. */
#include "consumer.h"

enum { MAX_COUNTERS = 512 };

/* Returns the list of paths. */
static WCHAR *expand(const WCHAR *path)
{
    WCHAR one[1];
    DWORD size = 0;
    DWORD code = (DWORD)PdhExpandWildCardPathW(NULL, path, one, &size, 0);
    bool is_old = code != PDH_MORE_DATA;
    if (is_old)
        code = (DWORD)PdhExpandCounterPathW(path, one, &size);
    DEMAND(code == PDH_MORE_DATA && size > 0);
    WCHAR *list = malloc(size * sizeof *list);
    code =
        (DWORD)(is_old ? PdhExpandCounterPathW(path, list, &size) : PdhExpandWildCardPathW(NULL, path, list, &size, 0));
    DEMAND(list && code == ERROR_SUCCESS);
    return list;
}

static void print_value(const WCHAR *path, PDH_HCOUNTER counter, DWORD format)
{
    PDH_FMT_COUNTERVALUE value;
    DWORD type = 0;
    DWORD code = (DWORD)PdhGetFormattedCounterValue(counter, format | PDH_FMT_NOCAP100, &type, &value);
    DEMAND(code == ERROR_SUCCESS || code == PDH_INVALID_DATA || code == PDH_CALC_NEGATIVE_VALUE);
    if (code != ERROR_SUCCESS || value.CStatus > PDH_CSTATUS_NEW_DATA)
        return;
    if (format == PDH_FMT_DOUBLE)
        printf("%ls\t%.17g\n", path, value.doubleValue);
    else
        printf("%ls\t%lld\n", path, format == PDH_FMT_LARGE ? (long long)value.largeValue : (long long)value.longValue);
}

int main(int argc, char **argv)
{
    static PDH_HCOUNTER counters[MAX_COUNTERS];
    WCHAR path[PDH_MAX_COUNTER_PATH];
    PDH_HQUERY query = NULL;
    int count = 0;
    DEMAND(argc == 3); /* the path, and double, large or long */
    DWORD format = strcmp(argv[2], "double") == 0  ? PDH_FMT_DOUBLE
                   : strcmp(argv[2], "large") == 0 ? PDH_FMT_LARGE
                                                   : PDH_FMT_LONG;
    widen(argv[1], path, PDH_MAX_COUNTER_PATH);
    WCHAR *list = expand(path);
    DEMAND(IS(PdhOpenQuery(NULL, 0, &query), ERROR_SUCCESS));
    for (const WCHAR *at = list; *at && count < MAX_COUNTERS; at += pfb_wide_length(at, PDH_MAX_COUNTER_PATH) + 1)
        DEMAND(IS(PdhAddEnglishCounterW(query, at, 0, &counters[count++]), ERROR_SUCCESS));
    for (int i = 0; i < 2; i++) {
        DEMAND(IS(PdhCollectQueryData(query), ERROR_SUCCESS));
        if (i == 0)
            wait_for_sample();
    }
    const WCHAR *at = list;
    for (int i = 0; i < count; i++, at += pfb_wide_length(at, PDH_MAX_COUNTER_PATH) + 1)
        print_value(at, counters[i], format);
    free(list);
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    return 0;
}
