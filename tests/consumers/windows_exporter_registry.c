/* SPDX-License-Identifier: MIT */
/* windows_exporter's registry collectors: the key without its sign, wide names, a buffer that doubles from 150,000
 * bytes, and a base that follows its counter as definition. Prints the value, or the quotient by its base. */
#include "registry.h"

#define KEY ((HKEY)(uintptr_t)0x80000004)

static BYTE *query(const WCHAR *name, DWORD *size)
{
    DWORD capacity = 150000;
    BYTE *buffer = malloc(capacity);
    DWORD type = 0;
    DWORD code;
    DEMAND(buffer);
    for (;;) {
        *size = capacity;
        code = (DWORD)RegQueryValueExW(KEY, name, NULL, &type, buffer, size);
        if (code != ERROR_MORE_DATA)
            break;
        capacity *= 2;
        buffer = realloc(buffer, capacity);
        DEMAND(buffer);
    }
    DEMAND(code == ERROR_SUCCESS);
    return buffer;
}

/* Returns the first index with a name, or 0. */
static DWORD index_of(const WCHAR *table, const char *name)
{
    WCHAR wide[256];
    widen(name, wide, 256);
    size_t length = pfb_wide_length(wide, 256);
    for (const WCHAR *at = table; *at;) {
        DWORD index = 0;
        for (; *at; at++)
            index = index * 10 + (DWORD)(*at - '0');
        at++;
        size_t size = pfb_wide_length(at, (size_t)-1);
        if (index > 1 && size == length && memcmp(at, wide, 2 * length) == 0)
            return index;
        at += size + 1;
    }
    return 0;
}

static void print_values(const PERF_OBJECT_TYPE *object, const PERF_COUNTER_DEFINITION *counter,
                         const PERF_COUNTER_DEFINITION *base)
{
    const void *at = past(object, object->DefinitionLength);
    LONG count = object->NumInstances == PERF_NO_INSTANCES ? 1 : object->NumInstances;
    for (LONG i = 0; i < count; i++) {
        const WCHAR *name = L"";
        if (object->NumInstances != PERF_NO_INSTANCES) {
            const PERF_INSTANCE_DEFINITION *instance = at;
            name = past(instance, instance->NameOffset);
            at = past(at, instance->ByteLength);
        }
        double value = (double)number_at(past(at, counter->CounterOffset), counter->CounterSize);
        if (base)
            value /= (double)number_at(past(at, base->CounterOffset), base->CounterSize);
        printf("%ls\t%.17g\n", name, value);
        at = past(at, ((const PERF_COUNTER_BLOCK *)at)->ByteLength);
    }
}

int main(int argc, char **argv)
{
    DWORD size;
    WCHAR value[16];
    char number[16];
    DEMAND(argc == 3);
    WCHAR *table = (WCHAR *)(void *)query(L"Counter 009", &size);
    DWORD object_index = index_of(table, argv[1]);
    DWORD counter_index = index_of(table, argv[2]);
    DEMAND(object_index > 0 && counter_index > 0);
    snprintf(number, sizeof number, "%u", object_index);
    widen(number, value, 16);
    for (int sample = 0; sample < 2; sample++) {
        PERF_DATA_BLOCK *data = (PERF_DATA_BLOCK *)(void *)query(value, &size);
        DEMAND(memcmp(data->Signature, "P\0E\0R\0F\0", 8) == 0 && data->PerfFreq.QuadPart > 0);
        const PERF_OBJECT_TYPE *object = past(data, data->HeaderLength);
        for (DWORD i = 0; i < data->NumObjectTypes; i++, object = past(object, object->TotalByteLength)) {
            const PERF_COUNTER_DEFINITION *counter = past(object, object->HeaderLength);
            if (object->ObjectNameTitleIndex != object_index)
                continue;
            for (DWORD n = 0; n < object->NumCounters; n++, counter = past(counter, counter->ByteLength)) {
                const PERF_COUNTER_DEFINITION *next = past(counter, counter->ByteLength);
                bool has_base = n + 1 < object->NumCounters && (next->CounterType & PERF_DISPLAY_NOSHOW) != 0 &&
                                (next->CounterType & PERF_COUNTER_PRECISION) == PERF_COUNTER_BASE;
                if (counter->CounterNameTitleIndex == counter_index &&
                    (counter->CounterType & PERF_DISPLAY_NOSHOW) == 0)
                    print_values(object, counter, has_base ? next : NULL);
            }
        }
        free(data);
        wait_for_sample();
    }
    free(table);
    return 0;
}
