/* SPDX-License-Identifier: MIT */
/* netdata: doubles the variable that it passes as the size, which is the one used before, asks for everything with a
 * null name, checks each structure against the size, and reads names below Perflib\009, again if that key has a newer
 * time. It reads as many bytes as the type of a counter has in Microsoft's page of retrieving counter data, whatever
 * the definition says, and a base after its counter. */
#include "registry.h"

static char *texts;

/* Reads a table of Perflib\009. */
static char *read_key(const char *value)
{
    HKEY key;
    DWORD type = 0;
    DWORD size = 0;
    FILETIME time = {0, 0};
    DEMAND(IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, PERFLIB_PATH "\\009", 0, KEY_READ, &key), ERROR_SUCCESS));
    DEMAND(IS(RegQueryInfoKey(key, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &time), ERROR_SUCCESS));
    DEMAND(time.dwHighDateTime > 0);
    DEMAND(IS(RegQueryValueExA(key, value, NULL, &type, NULL, &size), ERROR_SUCCESS) && type == REG_MULTI_SZ);
    char *text = malloc(size);
    DEMAND(text && IS(RegQueryValueExA(key, value, NULL, &type, (LPBYTE)text, &size), ERROR_SUCCESS));
    DEMAND(IS(RegCloseKey(key), ERROR_SUCCESS));
    return text;
}

static const char *name_of(DWORD index)
{
    for (const char *at = texts; *at;) {
        const char *name = at + strlen(at) + 1;
        if (strtoul(at, NULL, 10) == index)
            return name;
        at = name + strlen(name) + 1;
    }
    return "";
}

static PERF_DATA_BLOCK *query(DWORD *size)
{
    static BYTE *buffer;
    DWORD code;
    do {
        buffer = realloc(buffer, *size);
        DEMAND(buffer);
        code = (DWORD)RegQueryValueExA(HKEY_PERFORMANCE_DATA, NULL, NULL, NULL, buffer, size);
        if (code == ERROR_MORE_DATA)
            *size *= 2;
        DEMAND(*size > 0 && *size < (1U << 30));
    } while (code == ERROR_MORE_DATA);
    DEMAND(code == ERROR_SUCCESS);
    return (PERF_DATA_BLOCK *)(void *)buffer;
}

/* Ends the program unless the structure is inside the block. */
static const void *inside(const PERF_DATA_BLOCK *data, const void *at, DWORD size_bytes)
{
    size_t offset = (size_t)((const BYTE *)at - (const BYTE *)data);
    DEMAND(offset <= data->TotalByteLength && size_bytes <= data->TotalByteLength - offset);
    return at;
}

static DWORD bytes_of_type(DWORD type)
{
    if (type == PERF_AVERAGE_TIMER)
        return 8;
    return type == PERF_OBJ_TIME_TIMER || (type & PERF_SIZE_VARIABLE_LEN) != PERF_SIZE_LARGE ? 4 : 8;
}

/* Demands that the definition after that of a fraction is its base. */
static void check_base(const PERF_DATA_BLOCK *data, const PERF_OBJECT_TYPE *object,
                       const PERF_COUNTER_DEFINITION *counter)
{
    DWORD kind = counter->CounterType & PERF_COUNTER_PRECISION;
    if (kind != PERF_COUNTER_FRACTION && kind != PERF_COUNTER_PRECISION)
        return;
    const PERF_COUNTER_DEFINITION *base = past(counter, counter->ByteLength);
    inside(data, base, sizeof *base);
    DEMAND((const BYTE *)base < (const BYTE *)past(object, object->DefinitionLength));
    DEMAND((base->CounterType & PERF_COUNTER_BASE) == PERF_COUNTER_BASE);
}

static void print_name(const WCHAR *name, DWORD size_bytes)
{
    char narrow[512];
    int size =
        WideCharToMultiByte(CP_UTF8, 0, name, (int)(size_bytes / sizeof *name), narrow, sizeof narrow, NULL, NULL);
    DEMAND(size > 0 && narrow[size - 1] == '\0');
    printf("%s", narrow);
}

static void print_counter(const PERF_DATA_BLOCK *data, const PERF_OBJECT_TYPE *object,
                          const PERF_COUNTER_DEFINITION *counter)
{
    const void *at = past(object, object->DefinitionLength);
    DWORD size = bytes_of_type(counter->CounterType);
    check_base(data, object, counter);
    for (LONG i = 0; i < (object->NumInstances == PERF_NO_INSTANCES ? 1 : object->NumInstances); i++) {
        if (object->NumInstances != PERF_NO_INSTANCES) {
            const PERF_INSTANCE_DEFINITION *instance = inside(data, at, sizeof *instance);
            print_name(inside(data, past(instance, instance->NameOffset), instance->NameLength), instance->NameLength);
            at = past(instance, instance->ByteLength);
        }
        const PERF_COUNTER_BLOCK *block = inside(data, at, sizeof *block);
        inside(data, at, block->ByteLength);
        DEMAND(counter->CounterOffset + size <= block->ByteLength);
        printf("\t%.17g\n", (double)number_at(past(block, counter->CounterOffset), size));
        at = past(at, block->ByteLength);
    }
}

int main(int argc, char **argv)
{
    DEMAND(argc == 3);
    texts = read_key("CounterDefinition");
    free(read_key("help"));
    DWORD size = 32 * 1024;
    for (int sample = 0; sample < 2; sample++) {
        PERF_DATA_BLOCK *data = query(&size);
        DEMAND(data->TotalByteLength == size && data->HeaderLength <= size);
        const PERF_OBJECT_TYPE *object = past(data, data->HeaderLength);
        for (DWORD i = 0; i < data->NumObjectTypes; i++) {
            inside(data, object, sizeof *object);
            inside(data, object, object->TotalByteLength);
            DEMAND(object->TotalByteLength % 8 == 0);
            const PERF_COUNTER_DEFINITION *counter = past(object, object->HeaderLength);
            bool is_wanted = strcmp(name_of(object->ObjectNameTitleIndex), argv[1]) == 0;
            bool is_printed = false;
            for (DWORD n = 0; n < object->NumCounters; n++, counter = past(counter, counter->ByteLength)) {
                inside(data, counter, sizeof *counter);
                if (!is_wanted || is_printed || strcmp(name_of(counter->CounterNameTitleIndex), argv[2]) != 0)
                    continue;
                print_counter(data, object, counter);
                is_printed = true;
            }
            object = past(object, object->TotalByteLength);
        }
        wait_for_sample();
    }
    free(texts);
    return 0;
}
