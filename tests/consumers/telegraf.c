/* SPDX-License-Identifier: MIT */
/* Telegraf: the English path becomes the full path, which is expanded with the address of a flag in place of the flag.
 * Every path is added, also those with a wildcard that are read as arrays, whose buffer grows from 1 KiB. */
#include "consumer.h"

static const WCHAR *full_path(PDH_HCOUNTER counter, DWORD *size, PDH_COUNTER_INFO_W **info)
{
    DEMAND(IS(PdhGetCounterInfoW(counter, 0, size, NULL), PDH_MORE_DATA));
    *info = malloc(*size);
    DEMAND(*info && IS(PdhGetCounterInfoW(counter, 0, size, *info), ERROR_SUCCESS));
    return (*info)->szFullPath;
}

static void print_array(PDH_HCOUNTER counter)
{
    for (DWORD capacity = 1024;; capacity *= 2) {
        DWORD size = capacity;
        DWORD count = 0;
        PDH_FMT_COUNTERVALUE_ITEM_W *items = malloc(capacity);
        DEMAND(items && capacity <= 4u << 20);
        DWORD code =
            (DWORD)PdhGetFormattedCounterArrayW(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, &size, &count, items);
        for (DWORD i = 0; code == ERROR_SUCCESS && i < count; i++)
            if (items[i].FmtValue.CStatus == PDH_CSTATUS_VALID_DATA ||
                items[i].FmtValue.CStatus == PDH_CSTATUS_NEW_DATA)
                printf("%ls\t%.17g\n", items[i].szName, items[i].FmtValue.doubleValue);
        free(items);
        if (code != PDH_MORE_DATA) {
            DEMAND(code == ERROR_SUCCESS);
            return;
        }
        capacity = size > capacity * 2 ? size / 2 + 1 : capacity;
    }
}

int main(int argc, char **argv)
{
    WCHAR path[PDH_MAX_COUNTER_PATH];
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER english = NULL;
    PDH_COUNTER_INFO_W *info = NULL;
    LONGLONG time = 0;
    DWORD size = 0;
    DWORD info_size = 0;
    static const DWORD no_flags = 0;
    DWORD flags = (DWORD)(uintptr_t)&no_flags & ~(DWORD)3;
    DEMAND(argc == 2);
    widen(argv[1], path, PDH_MAX_COUNTER_PATH);
    DEMAND(IS(PdhOpenQuery(NULL, 0, &query), ERROR_SUCCESS));
    DEMAND(IS(PdhAddEnglishCounterW(query, path, 0, &english), ERROR_SUCCESS));
    const WCHAR *full = full_path(english, &info_size, &info);
    DEMAND(IS(PdhExpandWildCardPathW(NULL, full, NULL, &size, flags), PDH_MORE_DATA));
    WCHAR *list = malloc(size * sizeof *list);
    DEMAND(list && IS(PdhExpandWildCardPathW(NULL, full, list, &size, flags), ERROR_SUCCESS));
    for (const WCHAR *at = list; *at; at += pfb_wide_length(at, size) + 1) {
        PDH_HCOUNTER one = NULL;
        DEMAND(IS(PdhAddCounterW(query, at, 0, &one), ERROR_SUCCESS));
        DEMAND(IS(PdhAddCounterW(query, at, 0, &one), ERROR_SUCCESS)); /* a second time */
    }
    for (int i = 0; i < 2; i++) {
        DEMAND(IS(PdhCollectQueryDataWithTime(query, &time), ERROR_SUCCESS) && time > 0);
        if (i == 0)
            wait_for_sample();
    }
    print_array(english);
    free(list);
    free(info);
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    return 0;
}
