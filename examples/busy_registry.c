/* SPDX-License-Identifier: MIT */
/* A program for Windows: prints once a second, three times, how busy each processor is, from the performance data of
 * the registry. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>
#include <winperf.h>

enum {
    PROCESSOR = 238,
    PROCESSOR_TIME = 6,
    MAX_PROCESSORS = 64
}; /* title indexes, which are the same on each Windows */

/* Queries the object and returns the block, to be freed, or NULL. */
static PERF_DATA_BLOCK *query(void)
{
    DWORD capacity = 1024;
    for (;;) {
        DWORD size = capacity;
        PERF_DATA_BLOCK *block = malloc(capacity);
        LONG status = block ? RegQueryValueExA(HKEY_PERFORMANCE_DATA, "238", NULL, NULL, (LPBYTE)block, &size)
                            : ERROR_OUTOFMEMORY;
        if (status == ERROR_SUCCESS)
            return block;
        free(block);
        if (status != ERROR_MORE_DATA) {
            printf("status %ld\n", (long)status);
            return NULL;
        }
        capacity *= 2; /* the size that is needed is not returned */
    }
}

/* Returns what follows that many bytes after the start of a structure. */
static const void *after(const void *start, DWORD bytes)
{
    return (const BYTE *)start + bytes;
}

/* Stores the idle time of each processor. Returns their number. A real program checks every length. */
static LONG read_times(const PERF_DATA_BLOCK *block, ULONGLONG *times, WCHAR names[][32])
{
    const PERF_OBJECT_TYPE *object = after(block, block->HeaderLength);
    for (DWORD i = 1; i < block->NumObjectTypes && object->ObjectNameTitleIndex != PROCESSOR; i++)
        object = after(object, object->TotalByteLength);
    const PERF_COUNTER_DEFINITION *counter = after(object, object->HeaderLength);
    while (counter->CounterNameTitleIndex != PROCESSOR_TIME)
        counter = after(counter, counter->ByteLength);
    const PERF_INSTANCE_DEFINITION *instance = after(object, object->DefinitionLength);
    LONG count = object->NumInstances < MAX_PROCESSORS ? object->NumInstances : MAX_PROCESSORS;
    for (LONG i = 0; i < count; i++) {
        const PERF_COUNTER_BLOCK *values = after(instance, instance->ByteLength);
        memcpy(names[i], after(instance, instance->NameOffset), instance->NameLength < 64 ? instance->NameLength : 64);
        names[i][31] = 0;
        memcpy(&times[i], after(values, counter->CounterOffset), sizeof times[i]);
        instance = after(values, values->ByteLength);
    }
    return count;
}

int main(void)
{
    static ULONGLONG times[2][MAX_PROCESSORS];
    static WCHAR names[MAX_PROCESSORS][32];
    LONGLONG clocks[2] = {0, 0};
    for (int sample = 0; sample < 4; sample++) {
        PERF_DATA_BLOCK *block = query();
        if (!block)
            return 1;
        LONG count = read_times(block, times[sample % 2], names);
        clocks[sample % 2] = block->PerfTime100nSec.QuadPart;
        free(block);
        double elapsed = (double)(clocks[sample % 2] - clocks[1 - sample % 2]);
        for (LONG i = 0; i < count && sample > 0; i++) {
            ULONGLONG idle = times[sample % 2][i] - times[1 - sample % 2][i];
            printf("%s%ls %.1f %%", i > 0 ? "  " : "", names[i], 100 * (1 - (double)idle / elapsed));
        }
        printf("%s", sample > 0 ? "\n" : "");
        Sleep(1000);
    }
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    return 0;
}
