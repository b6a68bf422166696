/* SPDX-License-Identifier: MIT */
/* The Datadog agent: lists are refreshed by a call for a size, the path is made of its parts, the names of the array
 * lie within its size, and equal names, which are adjacent, get numbers. */
#include "consumer.h"

/* Returns the list of instances, or null for an object without instances. */
static WCHAR *list_instances(const WCHAR *object)
{
    DWORD counters_size = 0;
    DWORD instances_size = 0;
    DEMAND(
        IS(PdhEnumObjectItemsW(NULL, NULL, object, NULL, &counters_size, NULL, &instances_size, PERF_DETAIL_WIZARD, 0),
           PDH_MORE_DATA));
    WCHAR *counters = malloc(counters_size * sizeof *counters);
    WCHAR *instances = instances_size > 0 ? malloc(instances_size * sizeof *instances) : NULL;
    DEMAND(counters && IS(PdhEnumObjectItemsW(NULL, NULL, object, counters, &counters_size, instances, &instances_size,
                                              PERF_DETAIL_WIZARD, 0),
                          ERROR_SUCCESS));
    free(counters);
    return instances;
}

static void print_array(PDH_HCOUNTER counter)
{
    DWORD size = 0;
    DWORD count = 0;
    int number = 0;
    DEMAND(IS(PdhGetFormattedCounterArrayW(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, &size, &count, NULL),
              PDH_MORE_DATA));
    PDH_FMT_COUNTERVALUE_ITEM_W *items = malloc(size);
    DEMAND(items && IS(PdhGetFormattedCounterArrayW(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, &size, &count, items),
                       ERROR_SUCCESS));
    size_t left = (size - count * sizeof *items) / sizeof(WCHAR);
    for (DWORD i = 0; i < count; i++) {
        size_t length = pfb_wide_length(items[i].szName, left);
        DEMAND(length < left);
        left -= length + 1;
        bool is_same = i > 0 && pfb_wide_compare(items[i].szName, items[i - 1].szName, (size_t)-1, false) == 0;
        number = is_same ? number + 1 : 0;
        if (items[i].FmtValue.CStatus != PDH_CSTATUS_VALID_DATA)
            continue;
        printf("%ls", items[i].szName);
        if (number > 0)
            printf("#%d", number);
        printf("\t%.17g\n", items[i].FmtValue.doubleValue);
    }
    DEMAND(left == 0);
    free(items);
}

int main(int argc, char **argv)
{
    static WCHAR any[] = L"*";
    WCHAR object[PDH_MAX_COUNTER_NAME];
    WCHAR name[PDH_MAX_COUNTER_NAME];
    WCHAR path[PDH_MAX_COUNTER_PATH];
    WCHAR title[64];
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER counter = NULL;
    DWORD size = 0;
    DEMAND(argc == 3);
    widen(argv[1], object, PDH_MAX_COUNTER_NAME);
    widen(argv[2], name, PDH_MAX_COUNTER_NAME);
    DEMAND(IS(PdhEnumObjectsW(NULL, NULL, NULL, &size, PERF_DETAIL_WIZARD, TRUE), PDH_MORE_DATA));
    WCHAR *instances = list_instances(object);
    size = 0;
    DEMAND(IS(PdhLookupPerfNameByIndexW(NULL, 238, NULL, &size), PDH_MORE_DATA));
    DEMAND(size <= 64 && IS(PdhLookupPerfNameByIndexW(NULL, 238, title, &size), ERROR_SUCCESS));
    PDH_COUNTER_PATH_ELEMENTS_W parts = {NULL, object, instances ? any : NULL, NULL, 0, name};
    size = 0;
    DEMAND(IS(PdhMakeCounterPathW(&parts, NULL, &size, 0), PDH_MORE_DATA));
    DEMAND(size <= PDH_MAX_COUNTER_PATH && IS(PdhMakeCounterPathW(&parts, path, &size, 0), ERROR_SUCCESS));
    DEMAND(IS(PdhOpenQuery(NULL, 0, &query), ERROR_SUCCESS));
    DEMAND(IS(PdhAddCounterW(query, L"\\No Such Object\\None", 0, &counter), PDH_CSTATUS_NO_OBJECT));
    DEMAND(IS(PdhAddEnglishCounterW(query, path, 0, &counter), ERROR_SUCCESS));
    for (int i = 0; i < 2; i++) {
        DEMAND(IS(PdhCollectQueryData(query), ERROR_SUCCESS));
        if (i == 0)
            wait_for_sample();
    }
    print_array(counter);
    free(instances);
    DEMAND(IS(PdhRemoveCounter(counter), ERROR_SUCCESS));
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    return 0;
}
