/* SPDX-License-Identifier: MIT */
/* .NET's PerformanceCounter: the machine is connected by name, types and sizes of tables are asked for first, all
 * values of the key are listed, help texts are "Explain", a buffer of 65,000 bytes doubles, and an error of a language
 * makes it try the next one. */
#include "registry.h"

static HKEY data_key;

static BYTE *query(const char *name, DWORD *size)
{
    DWORD type = 0;
    DWORD code;
    *size = 0;
    code = (DWORD)RegQueryValueExA(data_key, name, NULL, &type, NULL, size);
    if (type == REG_MULTI_SZ) {
        BYTE *text = malloc(*size);
        DEMAND(code == ERROR_SUCCESS && text);
        DEMAND(IS(RegQueryValueExA(data_key, name, NULL, &type, text, size), ERROR_SUCCESS));
        return text;
    }
    DEMAND(code == ERROR_MORE_DATA && type == REG_BINARY);
    DWORD capacity = 65000;
    BYTE *buffer = malloc(capacity);
    *size = capacity;
    while ((code = (DWORD)RegQueryValueExA(data_key, name, NULL, &type, buffer, size)) == ERROR_MORE_DATA) {
        capacity *= 2;
        free(buffer);
        buffer = malloc(capacity);
        *size = capacity;
    }
    DEMAND(buffer && code == ERROR_SUCCESS);
    return buffer;
}

static DWORD index_of(const char *table, const char *name)
{
    for (const char *at = table; *at;) {
        const char *text = at + strlen(at) + 1;
        if (strcmp(text, name) == 0)
            return (DWORD)strtoul(at, NULL, 10);
        at = text + strlen(text) + 1;
    }
    DEMAND(0);
    return 0;
}

/* The names of values come with this code, and the longest has 8 characters with its NUL. */
static void list_values(void)
{
    char name[256];
    DWORD index = 0;
    for (DWORD code = ERROR_MORE_DATA; code == ERROR_MORE_DATA; index++) {
        DWORD size = sizeof name;
        code = (DWORD)RegEnumValueA(data_key, index, name, &size, NULL, NULL, NULL, NULL);
        DEMAND(code == ERROR_NO_MORE_ITEMS || (code == ERROR_MORE_DATA && size == sizeof name && strlen(name) < 8));
    }
    DEMAND(index == 4);
}

int main(int argc, char **argv)
{
    DWORD size = 0;
    char number[16];
    HKEY service;
    DEMAND(argc == 4);
    DEMAND(IS(RegConnectRegistryA(argv[1], HKEY_PERFORMANCE_DATA, &data_key), ERROR_SUCCESS));
    list_values();
    DEMAND(IS(
        RegOpenKeyExA(HKEY_LOCAL_MACHINE, "SYSTEM\\CurrentControlSet\\Services\\x\\Performance", 0, KEY_READ, &service),
        ERROR_FILE_NOT_FOUND));
    DEMAND(IS(RegQueryValueExA(data_key, "Counter 011", NULL, NULL, NULL, &size), ERROR_FILE_NOT_FOUND));
    char *table = (char *)query("Counter 009", &size);
    free(query("Explain 009", &size));
    DWORD object_index = index_of(table, argv[2]);
    DWORD counter_index = index_of(table, argv[3]);
    free(query("Global", &size)); /* the list of categories */
    snprintf(number, sizeof number, "%u", object_index);
    for (int sample = 0; sample < 2; sample++) {
        PERF_DATA_BLOCK *data = (PERF_DATA_BLOCK *)(void *)query(number, &size);
        const PERF_OBJECT_TYPE *object = past(data, data->HeaderLength);
        const PERF_COUNTER_DEFINITION *counter = past(object, object->HeaderLength);
        DEMAND(data->NumObjectTypes > 0 && object->ObjectNameTitleIndex == object_index);
        DWORD offset = 0;
        DWORD value_size = 0;
        for (DWORD i = 0; i < object->NumCounters; i++, counter = past(counter, counter->ByteLength)) {
            if (counter->CounterNameTitleIndex != counter_index || offset > 0)
                continue;
            offset = counter->CounterOffset;
            value_size = counter->CounterSize;
        }
        DEMAND(offset > 0);
        const PERF_INSTANCE_DEFINITION *instance = (const void *)counter;
        for (LONG i = 0; i < object->NumInstances; i++) {
            const PERF_COUNTER_BLOCK *block = past(instance, instance->ByteLength);
            printf("%ls\t%.17g\n", (const WCHAR *)past(instance, instance->NameOffset),
                   (double)number_at(past(block, offset), value_size));
            instance = past(block, block->ByteLength);
        }
        if (object->NumInstances == PERF_NO_INSTANCES)
            printf("\t%.17g\n", (double)number_at(past(counter, offset), value_size));
        free(data);
        wait_for_sample();
    }
    free(table);
    DEMAND(IS(RegCloseKey(data_key), ERROR_SUCCESS));
    return 0;
}
