/* SPDX-License-Identifier: MIT */
/* oshi's registry half: wide functions, the name table below Perflib\009, a buffer that grows by 8 KiB, a type that is
 * passed as a value, and the counters of one object in one pass over all instances. */
#include "registry.h"

enum { STEP = 8192 };

static WCHAR *read_names(void)
{
    static const WCHAR path[] = L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\009";
    HKEY key;
    DWORD type = REG_MULTI_SZ;
    DWORD size = 0;
    DEMAND(IS(RegOpenKeyExW(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, &key), ERROR_SUCCESS));
    DEMAND(IS(RegQueryValueExW(key, L"Counter", NULL, &type, NULL, &size), ERROR_SUCCESS));
    WCHAR *names = malloc(size);
    DEMAND(names && IS(RegQueryValueExW(key, L"Counter", NULL, &type, (LPBYTE)names, &size), ERROR_SUCCESS));
    DEMAND(type == REG_MULTI_SZ && size % 2 == 0 && names[size / 2 - 1] == 0 && names[size / 2 - 2] == 0);
    DEMAND(IS(RegCloseKey(key), ERROR_SUCCESS));
    return names;
}

static DWORD index_of(const WCHAR *at, const char *name)
{
    WCHAR wide[256];
    widen(name, wide, 256);
    while (*at) {
        const WCHAR *text = at + pfb_wide_length(at, (size_t)-1) + 1;
        size_t length = pfb_wide_length(text, (size_t)-1);
        if (length == strlen(name) && memcmp(text, wide, 2 * length) == 0) {
            DWORD index = 0;
            for (; *at; at++)
                index = index * 10 + (DWORD)(*at - '0');
            return index;
        }
        at = text + length + 1;
    }
    DEMAND(0);
    return 0;
}

static PERF_DATA_BLOCK *query(const WCHAR *name)
{
    DWORD capacity = STEP;
    BYTE *buffer = malloc(capacity);
    DWORD size = capacity;
    DWORD type = REG_BINARY;
    DWORD code;
    DEMAND(buffer);
    while ((code = (DWORD)RegQueryValueExW(HKEY_PERFORMANCE_DATA, name, NULL, &type, buffer, &size)) ==
           ERROR_MORE_DATA) {
        capacity += STEP;
        size = capacity;
        buffer = realloc(buffer, capacity);
        DEMAND(buffer);
    }
    DEMAND(code == ERROR_SUCCESS);
    return (PERF_DATA_BLOCK *)(void *)buffer;
}

/* Prints the counter of all instances; the offset of each definition is looked up by its index. */
static void print_object(const PERF_OBJECT_TYPE *object, DWORD counter_index)
{
    const PERF_COUNTER_DEFINITION *wanted = NULL;
    const PERF_COUNTER_DEFINITION *counter = past(object, object->HeaderLength);
    for (DWORD i = 0; i < object->NumCounters; i++, counter = past(counter, counter->ByteLength))
        wanted = !wanted && counter->CounterNameTitleIndex == counter_index ? counter : wanted;
    DEMAND(wanted && object->NumInstances > 0);
    const PERF_INSTANCE_DEFINITION *instance = past(object, object->DefinitionLength);
    for (LONG i = 0; i < object->NumInstances; i++) {
        const PERF_COUNTER_BLOCK *block = past(instance, instance->ByteLength);
        printf("%ls\t%.17g\n", (const WCHAR *)past(instance, instance->NameOffset),
               (double)number_at(past(block, wanted->CounterOffset), wanted->CounterSize));
        instance = past(block, block->ByteLength);
    }
}

int main(int argc, char **argv)
{
    char number[16];
    WCHAR name[16];
    DEMAND(argc == 3);
    WCHAR *names = read_names();
    DWORD object_index = index_of(names, argv[1]);
    DWORD counter_index = index_of(names, argv[2]);
    snprintf(number, sizeof number, "%u", object_index);
    widen(number, name, 16);
    for (int sample = 0; sample < 2; sample++) {
        PERF_DATA_BLOCK *data = query(name);
        const PERF_OBJECT_TYPE *object = past(data, data->HeaderLength);
        DEMAND(data->PerfTime100nSec.QuadPart > 0);
        for (DWORD i = 0; i < data->NumObjectTypes; i++, object = past(object, object->TotalByteLength))
            if (object->ObjectNameTitleIndex == object_index)
                print_object(object, counter_index);
        free(data);
        wait_for_sample();
    }
    free(names);
    return 0;
}
