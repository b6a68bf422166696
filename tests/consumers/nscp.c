/* SPDX-License-Identifier: MIT */
/* NSClient++: lists objects and items, replaces title indexes in a path by names, expands it with both functions, and
 * reads each counter in a query of its own, with the older function where the English name is unknown. */
#include "consumer.h"

/* Appends one part of a path, \part or \part(instance), whose name may be a title index. */
static size_t resolve(const WCHAR *part, size_t length, WCHAR *out)
{
    DWORD index = 0;
    size_t digits = 0;
    WCHAR name[PDH_MAX_COUNTER_NAME];
    DWORD size = PDH_MAX_COUNTER_NAME;
    while (digits < length && part[digits] >= '0' && part[digits] <= '9')
        index = index * 10 + (DWORD)(part[digits++] - '0');
    size_t used = 0;
    out[used++] = '\\';
    if (digits > 0 && (digits == length || part[digits] == '(')) {
        DWORD found = 0;
        DEMAND(IS(PdhLookupPerfNameByIndex(NULL, index, name, &size), ERROR_SUCCESS));
        DEMAND(IS(PdhLookupPerfIndexByName(NULL, name, &found), ERROR_SUCCESS) && found <= index);
        for (size_t i = 0; i + 1 < size; i++)
            out[used++] = name[i];
    } else {
        digits = 0;
    }
    for (size_t i = digits; i < length; i++)
        out[used++] = part[i];
    return used;
}

static void list_object(const WCHAR *object, size_t length)
{
    WCHAR name[PDH_MAX_COUNTER_NAME];
    DWORD objects_size = 0;
    DWORD counters_size = 0;
    DWORD instances_size = 0;
    pfb_wide_copy(name, PDH_MAX_COUNTER_NAME, object, length);
    DEMAND(IS(PdhEnumObjects(NULL, NULL, NULL, &objects_size, PERF_DETAIL_WIZARD, FALSE), PDH_MORE_DATA));
    WCHAR *objects = malloc((objects_size + 1) * sizeof *objects);
    objects_size++; /* as Windows XP needs it */
    DEMAND(objects && IS(PdhEnumObjects(NULL, NULL, objects, &objects_size, PERF_DETAIL_WIZARD, FALSE), ERROR_SUCCESS));
    free(objects);
    DEMAND(IS(PdhEnumObjectItems(NULL, NULL, name, NULL, &counters_size, NULL, &instances_size, PERF_DETAIL_WIZARD, 0),
              PDH_MORE_DATA));
    DEMAND(counters_size > 2);
}

static void print_value(const WCHAR *path)
{
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER counter = NULL;
    PDH_RAW_COUNTER raw;
    PDH_FMT_COUNTERVALUE value;
    DWORD type = 0;
    DWORD size = 0;
    DEMAND(IS(PdhValidatePath(path), ERROR_SUCCESS));
    DEMAND(IS(PdhOpenQuery(NULL, 0, &query), ERROR_SUCCESS));
    if (!IS(PdhAddEnglishCounter(query, path, 0, &counter), ERROR_SUCCESS))
        DEMAND(IS(PdhAddCounter(query, path, 0, &counter), ERROR_SUCCESS));
    DEMAND(IS(PdhGetCounterInfo(counter, TRUE, &size, NULL), PDH_MORE_DATA));
    PDH_COUNTER_INFO_W *info = malloc(size);
    DEMAND(info && IS(PdhGetCounterInfo(counter, TRUE, &size, info), ERROR_SUCCESS));
    for (int i = 0; i < 2; i++) {
        DEMAND(IS(PdhCollectQueryData(query), ERROR_SUCCESS));
        if (i == 0)
            wait_for_sample();
    }
    DEMAND(IS(PdhGetRawCounterValue(counter, &type, &raw), ERROR_SUCCESS) && type == info->dwType);
    DEMAND(IS(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &value), ERROR_SUCCESS));
    printf("%ls\t%.17g\n", info->szFullPath, value.doubleValue);
    free(info);
    DEMAND(IS(PdhRemoveCounter(counter), ERROR_SUCCESS));
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
}

int main(int argc, char **argv)
{
    WCHAR given[PDH_MAX_COUNTER_PATH];
    WCHAR path[2 * PDH_MAX_COUNTER_PATH];
    DWORD size = 0;
    DWORD old_size = 0;
    DEMAND(argc == 2);
    widen(argv[1], given, PDH_MAX_COUNTER_PATH);
    DEMAND(given[0] == '\\');
    size_t object_length = 0;
    while (given[1 + object_length] && given[1 + object_length] != '\\')
        object_length++;
    const WCHAR *counter = given + 1 + object_length + 1;
    size_t used = resolve(given + 1, object_length, path);
    size_t name_length = 0;
    while (name_length + 1 < used && path[1 + name_length] != '(')
        name_length++;
    list_object(path + 1, name_length);
    used += resolve(counter, pfb_wide_length(counter, PDH_MAX_COUNTER_PATH), path + used);
    path[used] = 0;
    DEMAND(IS(PdhExpandWildCardPath(NULL, path, NULL, &size, 0), PDH_MORE_DATA));
    DEMAND(IS(PdhExpandCounterPath(path, NULL, &old_size), PDH_MORE_DATA) && old_size == size);
    WCHAR *list = malloc(size * sizeof *list);
    DEMAND(list && IS(PdhExpandCounterPath(path, list, &old_size), ERROR_SUCCESS));
    for (const WCHAR *at = list; *at; at += pfb_wide_length(at, size) + 1)
        print_value(at);
    free(list);
    return 0;
}
