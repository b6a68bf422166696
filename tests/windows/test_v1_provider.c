/* SPDX-License-Identifier: MIT */
#include "../../fuzz/strict.h"
#include "checks.h"
#include "perfblock/live.h"
#include "perfblock/source.h"
#include "perfblock/v1.h"
#include "provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tests reading V1 data of a provider: a test library that the system loads when HKEY_PERFORMANCE_DATA is queried. The
 * test registers the provider, so it runs only under Wine, where the registry is temporary. Wine 8 writes the objects
 * of providers 88 bytes after the offset in HeaderLength (the size of a PERF_DATA_BLOCK too late), and does not include
 * these bytes in the size of the block. The reader must refuse such a block, and return the data of the library if the
 * test has moved the object to HeaderLength. If a version of Wine writes the object at HeaderLength, the block is read
 * unchanged. */

enum { CAPACITY = 4096, FILL = 0xCD, SOURCE_CAPACITY = 64 << 10 }; /* the source replaces smaller buffers */

#define SERVICE "SYSTEM\\CurrentControlSet\\Services\\perfblock_test"

/* ---- Registration ------------------------------------------------------------------------------------------- */

static void deregister(void)
{
    RegDeleteKeyA(HKEY_LOCAL_MACHINE, SERVICE "\\Performance");
    RegDeleteKeyA(HKEY_LOCAL_MACHINE, SERVICE);
}

static void set_value(HKEY key, const char *name, const char *text)
{
    LSTATUS code = RegSetValueExA(key, name, 0, REG_SZ, (const BYTE *)text, (DWORD)strlen(text) + 1);
    check(code == ERROR_SUCCESS, "a value of the registry is set");
}

static void register_provider(const char *library)
{
    HKEY key;
    char path[MAX_PATH];
    DWORD length = GetFullPathNameA(library, sizeof path, path, NULL);
    check(length > 0 && length < sizeof path, "the library has a path");
    LSTATUS code = RegCreateKeyExA(HKEY_LOCAL_MACHINE, SERVICE "\\Performance", 0, NULL, REG_OPTION_VOLATILE, KEY_WRITE,
                                   NULL, &key, NULL);
    check(code == ERROR_SUCCESS, "the key of the provider is made");
    atexit(deregister); /* also if a check fails */
    set_value(key, "Library", path);
    set_value(key, "Open", "Open");
    set_value(key, "Collect", "Collect");
    set_value(key, "Close", "Close");
    RegCloseKey(key);
    printf("provider: %s\n", path);
}

/* ---- Data of the library ------------------------------------------------------------------------------------ */

static void check_instance(pfb_v1_reader *block, const provider_instance *expected)
{
    pfb_v1_instance instance;
    pfb_v1_value value;
    size_t name_bytes = 2 * wcslen(expected->name);
    check(pfb_v1_next_instance(block, &instance), "there is an instance");
    printf("  instance %.*ls\n", (int)(name_bytes / 2), expected->name);
    check(instance.name.bytes && instance.name.encoding == PFB_ENCODING_UTF16LE &&
              instance.name.size_bytes == name_bytes && memcmp(instance.name.bytes, expected->name, name_bytes) == 0,
          "the name of the instance is that of the provider");
    check(instance.unique_id == PFB_V1_NO_UNIQUE_ID && instance.parent_title == 0,
          "the instance has no unique id and no parent");
    check(pfb_v1_next_value(block, &value) && value.is_number && value.size_bytes == 4 &&
              value.raw == expected->values.small_value,
          "the first value is the provider's value of 4 bytes");
    check(pfb_v1_next_value(block, &value) && value.is_number && value.size_bytes == 8 &&
              value.raw == expected->values.large_value,
          "the second value is the provider's value of 8 bytes");
    check(!pfb_v1_next_value(block, &value), "an instance has two values");
}

static void check_counter(pfb_v1_reader *block, uint32_t title, uint32_t type)
{
    pfb_v1_counter counter;
    check(pfb_v1_next_counter(block, &counter) && counter.title_index == title && counter.type == type,
          "a counter has the title index and the type of the provider");
}

static void check_provided(const uint8_t *data, size_t size)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    check(pfb_v1_open(&block, data, size, STRICT), "the header is valid");
    check(block.object_count == 1 && pfb_v1_next_object(&block, &object), "there is one object");
    check(object.title_index == PROVIDER_OBJECT && object.size_bytes == sizeof provided && object.counter_count == 2 &&
              object.instance_count == PROVIDER_INSTANCES,
          "the object is that of the provider");
    check_counter(&block, PROVIDER_SMALL, PERF_COUNTER_RAWCOUNT);
    check_counter(&block, PROVIDER_LARGE, PERF_COUNTER_LARGE_RAWCOUNT);
    for (int i = 0; i < PROVIDER_INSTANCES; i++)
        check_instance(&block, &provided.instances[i]);
    check(!pfb_v1_next_object(&block, &object), "there is no other object");
    check(block.error.code == PFB_OK, "the block is valid in strict mode");
}

/* ---- Offset of the object ----------------------------------------------------------------------------------- */

/* Queries the registry directly, because the source does not return the bytes after the end of the block. */
static DWORD query_registry(uint8_t *data)
{
    DWORD size = CAPACITY;
    memset(data, FILL, CAPACITY);
    LSTATUS code = RegQueryValueExW(HKEY_PERFORMANCE_DATA, L"2000", NULL, NULL, data, &size);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    check(code == ERROR_SUCCESS && size <= CAPACITY && size >= sizeof(PERF_DATA_BLOCK), "the registry answers");
    return size;
}

/* Returns true if the object is at HeaderLength, and false if it is 88 bytes after it, where Wine 8 writes it. Any
 * other offset is a failure. */
static bool is_at_header_length(const uint8_t *data)
{
    PERF_DATA_BLOCK header;
    memcpy(&header, data, sizeof header);
    check(header.HeaderLength <= CAPACITY / 2, "HeaderLength is at most half of the capacity");
    const uint8_t *object = data + header.HeaderLength;
    bool is_at_header = memcmp(object, &provided, sizeof provided) == 0;
    bool is_88_bytes_later = memcmp(object + sizeof header, &provided, sizeof provided) == 0;
    check(is_at_header != is_88_bytes_later, "the object is at HeaderLength or 88 bytes after it");
    printf("the object is %s\n", is_at_header ? "at HeaderLength" : "88 bytes after HeaderLength");
    return is_at_header;
}

static void move_to_header_length(uint8_t *data, DWORD size)
{
    PERF_DATA_BLOCK header;
    memcpy(&header, data, sizeof header);
    check(size == header.HeaderLength + sizeof provided, "the size is that of the header and one object");
    memmove(data + header.HeaderLength, data + header.HeaderLength + sizeof header, sizeof provided);
}

/* ---- Through the source ------------------------------------------------------------------------------------- */

/* Collects a block into a buffer filled with `fill`, because Wine leaves the 88 bytes before the object unchanged. */
static void collect_block(pfb_source *source, uint8_t fill, pfb_bytes *reply)
{
    pfb_source_failure failure = {0};
    check(pfb_bytes_reserve(reply, SOURCE_CAPACITY), "memory is allocated");
    memset(reply->data, fill, reply->capacity_bytes);
    if (!pfb_source_v1(source, "2000", reply, &failure))
        fail(failure.sentence);
}

static void check_refusal(pfb_source *source, uint8_t fill, const pfb_read_options *options)
{
    pfb_bytes reply = {0};
    pfb_v1_reader block;
    pfb_v1_object object;
    collect_block(source, fill, &reply);
    check(pfb_v1_open(&block, reply.data, reply.size_bytes, options), "the header is valid");
    PERF_DATA_BLOCK header;
    memcpy(&header, reply.data, sizeof header);
    while (pfb_v1_next_object(&block, &object))
        continue;
    pfb_error error = block.error;
    printf("%s, memory of 0x%02X: %s at %lu\n", options ? "strict" : "default", fill, pfb_code_name(error.code),
           (unsigned long)error.offset);
    check(error.code == PFB_BAD_OBJECT_SIZE && error.offset == header.HeaderLength,
          "the object is refused for its size");
    pfb_bytes_free(&reply);
}

static void check_source(pfb_source *source, bool is_at_header)
{
    pfb_bytes reply = {0};
    static const pfb_read_options *const options[] = {NULL, STRICT};
    if (is_at_header) {
        collect_block(source, FILL, &reply);
        check_provided(reply.data, reply.size_bytes);
        pfb_bytes_free(&reply);
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        check_refusal(source, 0, options[i]);
        check_refusal(source, FILL, options[i]);
    }
}

int main(int argc, char **argv)
{
    static uint8_t data[2 * CAPACITY];
    pfb_source_failure failure = {0};
    pfb_source *source = pfb_source_open_live(&failure);
    if (argc != 2 || !is_wine())
        fail("usage, under Wine: test_v1_provider LIBRARY");
    if (!source)
        fail(failure.sentence);
    register_provider(argv[1]);
    DWORD size = query_registry(data);
    bool is_at_header = is_at_header_length(data);
    if (!is_at_header)
        move_to_header_length(data, size);
    check_provided(data, size);
    check_source(source, is_at_header);
    deregister();
    check(query_registry(data) < size, "without the provider, there is no object");
    pfb_source_close(source);
    return finish_checks();
}
