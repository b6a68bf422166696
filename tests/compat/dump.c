/* SPDX-License-Identifier: MIT */
/* An agent that stores what PerfLib returns: each reply in a file of its own, in the folder that DUMP_FOLDER names. The
 * replies of request code C for counterset N are N-C.bin, samples are sample-N.bin. */
#include <windows.h>

#include <perflib.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SETS = 16, MOST_BYTES = 1 << 20, MOST_SAMPLES = 99 };

static unsigned char reply[MOST_BYTES];

static void store(const char *name, unsigned first, unsigned second, DWORD size)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/", getenv("DUMP_FOLDER"));
    snprintf(path + length, sizeof path - (size_t)length, name, first, second);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(reply, 1, size, file) != size || fclose(file) != 0)
        exit(2);
}

/* Stores the replies about a counterset, and adds all of its instances to the query. */
static ULONG add(HANDLE query, unsigned number, const GUID *guid)
{
    struct {
        PERF_COUNTER_IDENTIFIER block;
        WCHAR name[4];
    } wanted = {{*guid, 0, sizeof wanted, PERF_WILDCARD_COUNTER, 0, 0, 0}, {'*'}};
    ULONG code;
    DWORD size;
    for (code = 1; code <= 10; code++) {
        ULONG status =
            PerfQueryCounterSetRegistrationInfo(NULL, guid, (PerfRegInfoType)code, 0, reply, MOST_BYTES, &size);
        if (status == ERROR_SUCCESS && code != PERF_REG_COUNTER_STRUCT)
            store("%u-%u.bin", number, code, size);
    }
    wanted.block.InstanceId = 0xFFFFFFFF;
    return PerfAddCounters(query, &wanted.block, sizeof wanted);
}

int main(void)
{
    GUID guids[MOST_SETS];
    HANDLE query = NULL;
    DWORD count = 0;
    DWORD size = 0;
    unsigned i;
    ULONG status = PerfEnumerateCounterSet(NULL, guids, MOST_SETS, &count);
    if (status == ERROR_SUCCESS)
        status = PerfOpenQueryHandle(NULL, &query);
    for (i = 0; i < count && status == ERROR_SUCCESS; i++)
        status = add(query, i, &guids[i]);
    if (status == ERROR_SUCCESS)
        status = PerfQueryCounterInfo(query, (PERF_COUNTER_IDENTIFIER *)reply, MOST_BYTES, &size);
    if (status != ERROR_SUCCESS)
        return 1;
    store("query.bin", 0, 0, size);
    for (i = 0; i < MOST_SAMPLES; i++) {
        status = PerfQueryCounterData(query, (PERF_DATA_HEADER *)reply, MOST_BYTES, &size);
        if (status != ERROR_SUCCESS)
            break;
        store("sample-%02u.bin", i, 0, size);
    }
    PerfCloseQueryHandle(query);
    return status == ERROR_NO_MORE_ITEMS ? 0 : 1;
}
