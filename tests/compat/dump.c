/* SPDX-License-Identifier: MIT */
/* A program that stores what PerfLib returns: each reply in a file of its own, in the folder that the environment
 * variable DUMP_FOLDER names. The reply to registration request code C of counterset number N is N-C.bin (replies to
 * code 2, about one counter, are not stored), the query information is query.bin, and the samples are sample-00.bin,
 * sample-01.bin and so on. */
#include <windows.h>

#include <perflib.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_SETS = 16, MAX_BYTES = 1 << 20, MAX_SAMPLES = 99 };

static unsigned char reply[MAX_BYTES];

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
            PerfQueryCounterSetRegistrationInfo(NULL, guid, (PerfRegInfoType)code, 0, reply, MAX_BYTES, &size);
        if (status == ERROR_SUCCESS && code != PERF_REG_COUNTER_STRUCT)
            store("%u-%u.bin", number, code, size);
    }
    wanted.block.InstanceId = 0xFFFFFFFF;
    return PerfAddCounters(query, &wanted.block, sizeof wanted);
}

int main(void)
{
    GUID guids[MAX_SETS];
    HANDLE query = NULL;
    DWORD count = 0;
    DWORD size = 0;
    unsigned i;
    ULONG status = PerfEnumerateCounterSet(NULL, guids, MAX_SETS, &count);
    if (status == ERROR_SUCCESS)
        status = PerfOpenQueryHandle(NULL, &query);
    for (i = 0; i < count && status == ERROR_SUCCESS; i++)
        status = add(query, i, &guids[i]);
    if (status == ERROR_SUCCESS)
        status = PerfQueryCounterInfo(query, (PERF_COUNTER_IDENTIFIER *)reply, MAX_BYTES, &size);
    if (status != ERROR_SUCCESS)
        return 1;
    store("query.bin", 0, 0, size);
    for (i = 0; i < MAX_SAMPLES; i++) {
        status = PerfQueryCounterData(query, (PERF_DATA_HEADER *)reply, MAX_BYTES, &size);
        if (status != ERROR_SUCCESS)
            break;
        store("sample-%02u.bin", i, 0, size);
    }
    PerfCloseQueryHandle(query);
    return status == ERROR_NO_MORE_ITEMS ? 0 : 1;
}
