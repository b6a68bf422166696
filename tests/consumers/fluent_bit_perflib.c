/* SPDX-License-Identifier: MIT */
/* fluent-bit's we_perflib: the table of names begins with a query for its size, which must succeed; its buffer for data
 * grows by 16 KiB. Only the first object is read. The key is closed after each query, which must not begin a recording
 * again. */
#include "registry.h"

enum { INITIAL = 32 * 1024, INCREMENT = 16 * 1024, MAX_NAMES = 16384 };

static char *names[MAX_NAMES];

/* Reads all names by the highest index that Perflib has. */
static void read_names(void)
{
    HKEY key;
    DWORD last = 0;
    DWORD size = sizeof last;
    DEMAND(IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, PERFLIB_PATH, 0, KEY_READ, &key), ERROR_SUCCESS));
    DEMAND(IS(RegQueryValueExA(key, "Last Help", NULL, NULL, (LPBYTE)&last, &size), ERROR_SUCCESS) && last > 0);
    DEMAND(IS(RegCloseKey(key), ERROR_SUCCESS));
    size = 0;
    DEMAND(IS(RegQueryValueExA(HKEY_PERFORMANCE_TEXT, "Counter 009", NULL, NULL, NULL, &size), ERROR_SUCCESS));
    char *text = malloc(size);
    DEMAND(text &&
           IS(RegQueryValueExA(HKEY_PERFORMANCE_TEXT, "Counter 009", NULL, NULL, (LPBYTE)text, &size), ERROR_SUCCESS));
    for (char *at = text; *at;) {
        unsigned long index = strtoul(at, NULL, 10);
        at += strlen(at) + 1;
        DEMAND(*at && index < last && index < MAX_NAMES);
        names[index] = at;
        at += strlen(at) + 1;
    }
}

static DWORD index_of(const char *name)
{
    for (DWORD i = 2; i < MAX_NAMES; i++)
        if (names[i] && strcmp(names[i], name) == 0)
            return i;
    DEMAND(0);
    return 0;
}

static PERF_DATA_BLOCK *query(const char *name)
{
    DWORD size = INITIAL;
    DWORD type = 0;
    BYTE *buffer = malloc(size);
    DWORD code;
    DEMAND(buffer);
    DWORD given = size;
    while ((code = (DWORD)RegQueryValueExA(HKEY_PERFORMANCE_DATA, name, NULL, &type, buffer, &given)) ==
           ERROR_MORE_DATA) {
        size += INCREMENT;
        given = size;
        free(buffer);
        buffer = malloc(size);
        DEMAND(buffer);
    }
    DEMAND(code == ERROR_SUCCESS && type == REG_BINARY);
    DEMAND(IS(RegCloseKey(HKEY_PERFORMANCE_DATA), ERROR_SUCCESS));
    return (PERF_DATA_BLOCK *)(void *)buffer;
}

static void print_value(const PERF_COUNTER_DEFINITION *counter, const PERF_COUNTER_BLOCK *block, const WCHAR *name)
{
    DEMAND(counter->CounterOffset + counter->CounterSize <= block->ByteLength);
    printf("%ls\t%.17g\n", name, (double)number_at(past(block, counter->CounterOffset), counter->CounterSize));
}

static void print_object(const PERF_DATA_BLOCK *data, DWORD object_index, const char *counter_name)
{
    const PERF_OBJECT_TYPE *object = past(data, data->HeaderLength);
    const PERF_COUNTER_DEFINITION *counter = past(object, object->HeaderLength);
    const PERF_COUNTER_DEFINITION *wanted = NULL;
    DEMAND(memcmp(data->Signature, "P\0E\0R\0F\0", 8) == 0 && data->NumObjectTypes > 0);
    DEMAND(object->ObjectNameTitleIndex == object_index && names[object_index]);
    for (DWORD i = 0; i < object->NumCounters; i++) {
        DEMAND(counter->CounterNameTitleIndex > 0 && names[counter->CounterNameTitleIndex]);
        if (!wanted && strcmp(names[counter->CounterNameTitleIndex], counter_name) == 0)
            wanted = counter;
        counter = past(counter, counter->ByteLength);
    }
    DEMAND(wanted && past(object, object->DefinitionLength) == (const void *)counter);
    if (object->NumInstances == PERF_NO_INSTANCES) {
        const PERF_COUNTER_BLOCK *block = (const void *)counter;
        DEMAND(block->ByteLength == object->TotalByteLength - object->DefinitionLength);
        print_value(wanted, block, L"");
        return;
    }
    const PERF_INSTANCE_DEFINITION *instance = (const void *)counter;
    for (LONG i = 0; i < object->NumInstances; i++) {
        const PERF_COUNTER_BLOCK *block = past(instance, instance->ByteLength);
        DEMAND(instance->NameLength > 0);
        print_value(wanted, block, past(instance, instance->NameOffset));
        instance = past(block, block->ByteLength);
    }
    DEMAND(past(object, object->TotalByteLength) == (const void *)instance);
}

int main(int argc, char **argv)
{
    char name[16];
    DEMAND(argc == 3);
    read_names();
    DWORD index = index_of(argv[1]);
    snprintf(name, sizeof name, "%u", index);
    for (int i = 0; i < 2; i++) {
        PERF_DATA_BLOCK *data = query(name);
        print_object(data, index, argv[2]);
        free(data);
        wait_for_sample();
    }
    return 0;
}
