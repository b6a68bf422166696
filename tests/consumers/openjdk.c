/* SPDX-License-Identifier: MIT */
/* OpenJDK: names by their indexes, A functions, a NUL written at the end of the list, and a search over the processes
 * of one name by numbers from 0, until a collect has no data. */
#include "consumer.h"

static char *name_of(DWORD index)
{
    DWORD size = 0;
    DEMAND(IS(PdhLookupPerfNameByIndexA(NULL, index, NULL, &size), PDH_MORE_DATA));
    char *name = malloc(size);
    DEMAND(name && IS(PdhLookupPerfNameByIndexA(NULL, index, name, &size), ERROR_SUCCESS));
    return name;
}

/* Collects one counter. Returns the code; *value is set if it is 0. */
static DWORD read_long(const char *path, LONG *value)
{
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER counter = NULL;
    PDH_FMT_COUNTERVALUE found;
    DEMAND(IS(PdhOpenQueryA(NULL, 0, &query), ERROR_SUCCESS));
    DEMAND(IS(PdhAddCounterA(query, path, 0, &counter), ERROR_SUCCESS));
    DWORD code = (DWORD)PdhCollectQueryData(query);
    if (code == ERROR_SUCCESS)
        code = (DWORD)PdhGetFormattedCounterValue(counter, PDH_FMT_LONG | PDH_FMT_NOSCALE, NULL, &found);
    if (code == ERROR_SUCCESS)
        *value = found.longValue;
    DEMAND(IS(PdhRemoveCounter(counter), ERROR_SUCCESS));
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    return code;
}

int main(int argc, char **argv)
{
    char path[PDH_MAX_COUNTER_PATH];
    DWORD size = 0;
    LONG value = 0;
    DWORD code;
    DEMAND(argc == 3); /* the name of the process and the counter */
    char *process = name_of(230);
    snprintf(path, sizeof path, "\\%s(%s*)\\%s", process, argv[1], argv[2]);
    DEMAND(IS(PdhExpandWildCardPathA(NULL, path, NULL, &size, PDH_NOEXPANDCOUNTERS), PDH_MORE_DATA));
    char *list = malloc(size + 1);
    DEMAND(list && IS(PdhExpandWildCardPathA(NULL, path, list, &size, PDH_NOEXPANDCOUNTERS), ERROR_SUCCESS));
    list[size - 1] = '\0';
    for (int i = 0;; i++) {
        snprintf(path, sizeof path, "\\%s(%s#%d)\\%s", process, argv[1], i, argv[2]);
        code = read_long(path, &value);
        if (code != ERROR_SUCCESS)
            break;
        printf("%s#%d\t%d\n", argv[1], i, (int)value);
    }
    DEMAND(code == PDH_NO_DATA);
    free(list);
    free(process);
    return 0;
}
