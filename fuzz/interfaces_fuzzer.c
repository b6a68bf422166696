/* SPDX-License-Identifier: MIT */
/* Calls the functions of Windows' interfaces in any order, with any handles, sizes, names and flags, over any recording
 * or log. Buffers have exactly the size that is given; what a function returns lies in its buffer, a size that it asked
 * for is enough, and one less is not.
 *
 * Input: { source u8: as real-time data 0 replayed from memory, 1 by PERFBLOCK_CAPTURE (modulo 2); size of a file and
 * size of texts, each u16 little-endian }, the file, the texts, which are separated by NULs; then calls up to the end,
 * at most MAX_CALLS: { function u8: W instead of A from 128 on, and the index in `operations` modulo its length; handle
 * u8, text u8, number u8, buffer u8 }. */
#include "checks.h"
#include "perfblock/registry.h"
#include "steady.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER_BYTES = 5, CALL_BYTES = 5, MAX_CALLS = 48, HANDLES = 16, MAX_TEXTS = 64, TEMPORARIES = 8 };

typedef struct call {
    uint8_t function, handle, text, number, buffer;
} call;

typedef struct state {
    const uint8_t *file;
    size_t file_size;
    const uint8_t *texts;
    size_t texts_size;
    char *found[MAX_TEXTS]; /* strings of lists */
    size_t found_count;
    HANDLE handles[HANDLES]; /* of queries, counters, logs, events and keys, also closed ones */
    size_t next_handle;
    void *temporary[TEMPORARIES]; /* freed after each call */
    size_t temporary_count;
    uint32_t count; /* of items in an array */
} state;

/* The file of the input, which is opened by this name. */
static int file_number;
static char file_name[32];

static void *allocate(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    if (!memory)
        abort();
    return memory;
}

static void *allocate_temporary(state *s, size_t size)
{
    require(s->temporary_count < TEMPORARIES, "room for temporary memory");
    void *memory = allocate(size);
    s->temporary[s->temporary_count++] = memory;
    return memory;
}

/* ---- Arguments ----------------------------------------------------------------------------------------------- */

/* NOLINTBEGIN(performance-no-int-to-ptr): handles are numbers */
static HANDLE pick_handle(const state *s, uint8_t choice)
{
    HANDLE handle = s->handles[choice % HANDLES];
    switch (choice / HANDLES) {
    case 15:
        return NULL;
    case 14:
        return H_WBEM_DATASOURCE;
    case 13: /* the last place, which is free; whether the next one is in use depends on earlier inputs */
        return (HANDLE)((uintptr_t)handle | 0xFFFFF);
    case 12:
        return (HANDLE)((uintptr_t)handle ^ (uintptr_t)1 << 20);
    case 11:
        return (HANDLE)s;
    default:
        return handle;
    }
}
/* NOLINTEND(performance-no-int-to-ptr) */

static void close_handle(HANDLE handle)
{
    (void)pfb_PdhCloseQuery(handle);
    (void)pfb_PdhCloseLog(handle, 0);
    (void)pfb_event_close(handle);
    (void)pfb_RegCloseKey((HKEY)handle);
}

/* Closes the one that had its place. */
static void keep_handle(state *s, HANDLE handle)
{
    HANDLE *place = &s->handles[s->next_handle++ % HANDLES];
    close_handle(*place);
    *place = handle;
}

/* Copies text into memory of its exact size, with a NUL. Wide text has the bytes as characters. */
static const void *copy_text(state *s, const void *text, size_t size, bool is_wide)
{
    const uint8_t *bytes = text;
    if (!is_wide) {
        char *narrow = allocate_temporary(s, size + 1);
        memcpy(narrow, bytes, size);
        narrow[size] = '\0';
        return narrow;
    }
    WCHAR *wide = allocate_temporary(s, (size + 1) * sizeof *wide);
    for (size_t i = 0; i < size; i++)
        wide[i] = (WCHAR)(bytes[i] < 0xF0 ? bytes[i] : bytes[i] << 8); /* also halves of characters */
    wide[size] = 0;
    return wide;
}

static const void *pick_text(state *s, uint8_t choice, bool is_wide)
{
    if (choice == 0xFF)
        return NULL;
    if (choice >= 0x80 && s->found_count > 0) {
        const char *text = s->found[(choice & 0x7F) % (s->found_count < MAX_TEXTS ? s->found_count : MAX_TEXTS)];
        return copy_text(s, text, strlen(text), is_wide);
    }
    const uint8_t *at = s->texts;
    size_t left = s->texts_size;
    const uint8_t *end = left > 0 ? memchr(at, 0, left) : NULL;
    for (size_t i = choice & 0x7F; i > 0 && end; i--) {
        left -= (size_t)(end + 1 - at);
        at = end + 1;
        end = left > 0 ? memchr(at, 0, left) : NULL;
    }
    return copy_text(s, at, end ? (size_t)(end - at) : left, is_wide);
}

/* The name of a source: never one of another file of this machine. */
static const void *pick_source(state *s, uint8_t choice, bool is_wide)
{
    static const char *const names[8] = {file_name, file_name, file_name, file_name, "SQL:a!b", "/nowhere", "", NULL};
    const char *name = names[choice % 8];
    return name ? copy_text(s, name, strlen(name), is_wide) : NULL;
}

static const DWORD formats[] = {PDH_FMT_DOUBLE,
                                PDH_FMT_LONG,
                                PDH_FMT_LARGE,
                                PDH_FMT_DOUBLE | PDH_FMT_NOCAP100,
                                PDH_FMT_DOUBLE | PDH_FMT_1000,
                                PDH_FMT_LARGE | PDH_FMT_NOSCALE,
                                PDH_FMT_LONG | PDH_FMT_1000 | PDH_FMT_NOCAP100,
                                PDH_FMT_RAW};

static DWORD pick_format(uint8_t choice)
{
    return choice >= 0xF0 ? (DWORD)choice << 8 : formats[choice % 8];
}

static PDH_RAW_COUNTER *pick_raw(state *s, uint8_t seed, size_t count)
{
    PDH_RAW_COUNTER *raw = allocate_temporary(s, count * sizeof *raw);
    for (size_t i = 0; i < count; i++) {
        size_t from = seed < s->texts_size ? seed : 0;
        memset(&raw[i], 0, sizeof raw[i]);
        memcpy(&raw[i], s->texts + from, s->texts_size - from < sizeof *raw ? s->texts_size - from : sizeof *raw);
        raw[i].CStatus &= i % 3 == 2 ? UINT32_MAX : 0;
        seed = (uint8_t)(seed + 7);
    }
    return raw;
}

/* ---- Results ------------------------------------------------------------------------------------------------- */

static uint32_t unit_at(const void *text, size_t i, bool is_wide)
{
    return is_wide ? ((const WCHAR *)text)[i] : ((const uint8_t *)text)[i];
}

static size_t length_of(const void *text, size_t units, bool is_wide)
{
    size_t i = 0;
    while (i < units && unit_at(text, i, is_wide) != 0)
        i++;
    require(i < units, "a string ends in the buffer");
    return i;
}

/* Checks that a string that begins in a buffer ends there. */
static void check_string(const void *buffer, size_t size_bytes, const void *text, bool is_wide)
{
    const uint8_t *begin = buffer;
    const uint8_t *at = text;
    if (!text)
        return;
    require(at >= begin && at < begin + size_bytes, "a string lies in the buffer");
    length_of(at, (size_t)(begin + size_bytes - at) / (is_wide ? sizeof(WCHAR) : 1), is_wide);
}

/* Checks a list of exactly `units`, and keeps its strings, of wide ones the lower bytes. */
static void check_list(state *s, const void *list, size_t units, bool is_wide)
{
    size_t at = 0;
    while (at < units && unit_at(list, at, is_wide) != 0) {
        const uint8_t *text = (const uint8_t *)list + at * (is_wide ? sizeof(WCHAR) : 1);
        size_t length = length_of(text, units - at, is_wide);
        at += length + 1;
        char **place = &s->found[s->found_count++ % MAX_TEXTS];
        free(*place);
        *place = allocate(length + 1);
        for (size_t i = 0; i <= length; i++)
            (*place)[i] = (char)unit_at(text, i, is_wide);
    }
    require(at == 0 ? units == 2 : at + 1 == units, "the size is that of the strings");
    require(unit_at(list, units - 1, is_wide) == 0, "a list ends with a NUL");
}

enum { NAME, LIST, FORMATTED, RAW, INFO, ELEMENTS, BYTES };

static void check_result(state *s, int kind, const uint8_t *buffer, size_t size, bool is_wide)
{
    size_t item = kind == FORMATTED ? sizeof(PDH_FMT_COUNTERVALUE_ITEM_A) : sizeof(PDH_RAW_COUNTER_ITEM_A);
    const void *text[8] = {NULL};
    switch (kind) {
    case NAME:
        require(length_of(buffer, size, is_wide) + 1 == size, "the size is that of the name");
        break;
    case LIST:
        check_list(s, buffer, size, is_wide);
        break;
    case FORMATTED:
    case RAW:
        require(s->count <= size / item, "the items lie in the buffer");
        for (size_t i = 0; i < s->count; i++) {
            memcpy((void *)&text[0], buffer + i * item, sizeof text[0]);
            check_string(buffer, size, text[0], is_wide);
        }
        break;
    case INFO: {
        PDH_COUNTER_INFO_A info;
        memcpy(&info, buffer, sizeof info);
        require(info.dwLength == size, "the length of the information");
        const char *const members[] = {info.szFullPath,     info.szMachineName,    info.szObjectName,
                                       info.szInstanceName, info.szParentInstance, info.szCounterName,
                                       info.szExplainText};
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
            check_string(buffer, size, members[i], is_wide);
        break;
    }
    case ELEMENTS: {
        PDH_COUNTER_PATH_ELEMENTS_A parts;
        memcpy(&parts, buffer, sizeof parts);
        const char *const members[] = {parts.szMachineName, parts.szObjectName, parts.szInstanceName,
                                       parts.szParentInstance, parts.szCounterName};
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
            check_string(buffer, size, members[i], is_wide);
        break;
    }
    default:
        break;
    }
}

/* ---- Functions with a buffer --------------------------------------------------------------------------------- */

/* Calls the function with a buffer of *size units. */
typedef uint32_t sized_function(state *s, const call *c, bool is_wide, void *out, DWORD *size);

static void release_temporaries(state *s)
{
    while (s->temporary_count > 0)
        free(s->temporary[--s->temporary_count]);
}

static uint32_t try_size(state *s, const call *c, bool is_wide, sized_function *function, int kind, DWORD given)
{
    size_t unit = is_wide && (kind == NAME || kind == LIST) ? sizeof(WCHAR) : 1;
    uint8_t *buffer = allocate(given * unit);
    DWORD size = given;
    memset(buffer, 0xA5, given * unit);
    uint32_t code = function(s, c, is_wide, buffer, &size);
    release_temporaries(s);
    if (code == 0) {
        require(size <= given, "the size that was used");
        if (size > 0)
            check_result(s, kind, buffer, size, is_wide);
    } else if (code == PDH_MORE_DATA) {
        require(size > given, "the size that is needed");
    }
    free(buffer);
    return code;
}

static void run_sized(state *s, const call *c, bool is_wide, sized_function *function, int kind)
{
    DWORD needed = 0;
    if (c->buffer % 8 == 7) {
        require(function(s, c, is_wide, NULL, NULL) != 0, "a size is required");
        release_temporaries(s);
        return;
    }
    if (c->buffer % 8 == 6) {
        needed = c->buffer;
        (void)function(s, c, is_wide, NULL, &needed);
        release_temporaries(s);
        return;
    }
    if (c->buffer % 8 == 5) {
        try_size(s, c, is_wide, function, kind, c->buffer / 8u * 24u);
        return;
    }
    uint32_t code = function(s, c, is_wide, NULL, &needed);
    release_temporaries(s);
    if (code != PDH_MORE_DATA)
        return;
    require(needed > 0 && needed < UINT32_C(1) << 30, "a size");
    if (c->buffer % 8 == 4)
        require(try_size(s, c, is_wide, function, kind, needed - 1) == PDH_MORE_DATA, "less is not enough");
    else
        require(try_size(s, c, is_wide, function, kind, needed) == 0, "the size is enough");
}

#define LETTER(name, ...) (PDH_STATUS)(is_wide ? pfb_##name##W(__VA_ARGS__) : pfb_##name##A(__VA_ARGS__))
#define SIZED(name) static uint32_t name(state *s, const call *c, bool is_wide, void *out, DWORD *size)
#define TEXT(choice) pick_text(s, (uint8_t)(choice), is_wide)
#define SOURCE(choice) pick_source(s, (uint8_t)(choice), is_wide)
#define HANDLE_OF(c) pick_handle(s, (c)->handle)

SIZED(formatted_array)
{
    return (uint32_t)LETTER(PdhGetFormattedCounterArray, HANDLE_OF(c), pick_format(c->number), size, &s->count, out);
}

SIZED(raw_array)
{
    return (uint32_t)LETTER(PdhGetRawCounterArray, HANDLE_OF(c), size, &s->count, out);
}

SIZED(counter_info)
{
    return (uint32_t)LETTER(PdhGetCounterInfo, HANDLE_OF(c), c->number & 1, size, out);
}

SIZED(make_path)
{
    const void *parts[] = {TEXT(c->text), TEXT(c->number), TEXT(c->handle), TEXT(c->text + 1u), TEXT(c->number + 1u)};
    PDH_COUNTER_PATH_ELEMENTS_A narrow = {0};
    PDH_COUNTER_PATH_ELEMENTS_W wide = {0};
    if (!is_wide) {
        narrow.szMachineName = (LPSTR)parts[0];
        narrow.szObjectName = (LPSTR)parts[1];
        narrow.szInstanceName = (LPSTR)parts[2];
        narrow.szParentInstance = (LPSTR)parts[3];
        narrow.dwInstanceIndex = c->number - 1u;
        narrow.szCounterName = (LPSTR)parts[4];
        return (uint32_t)pfb_PdhMakeCounterPathA(&narrow, out, size, c->number / 64u);
    }
    wide.szMachineName = (LPWSTR)parts[0];
    wide.szObjectName = (LPWSTR)parts[1];
    wide.szInstanceName = (LPWSTR)parts[2];
    wide.szParentInstance = (LPWSTR)parts[3];
    wide.dwInstanceIndex = c->number - 1u;
    wide.szCounterName = (LPWSTR)parts[4];
    return (uint32_t)pfb_PdhMakeCounterPathW(&wide, out, size, c->number / 64u);
}

SIZED(parse_path)
{
    return (uint32_t)LETTER(PdhParseCounterPath, TEXT(c->text), out, size, c->number);
}

SIZED(instance_name)
{
    DWORD other = 300; /* more than any name that is split */
    DWORD index;
    void *parent = allocate_temporary(s, other * sizeof(WCHAR));
    if (c->number & 1)
        return (uint32_t)LETTER(PdhParseInstanceName, TEXT(c->text), out, size, parent, &other, &index);
    return (uint32_t)LETTER(PdhParseInstanceName, TEXT(c->text), parent, &other, out, size, NULL);
}

SIZED(expand)
{
    return (uint32_t)LETTER(PdhExpandWildCardPath, SOURCE(c->number), TEXT(c->text), out, size, c->number / 8u);
}

SIZED(expand_of_log)
{
    return (uint32_t)LETTER(PdhExpandWildCardPathH, HANDLE_OF(c), TEXT(c->text), out, size, c->number);
}

SIZED(expand_path)
{
    return (uint32_t)LETTER(PdhExpandCounterPath, TEXT(c->text), out, size);
}

SIZED(machines)
{
    return (uint32_t)LETTER(PdhEnumMachines, SOURCE(c->number), out, size);
}

SIZED(machines_of_log)
{
    return (uint32_t)LETTER(PdhEnumMachinesH, HANDLE_OF(c), out, size);
}

SIZED(objects)
{
    return (uint32_t)LETTER(PdhEnumObjects, SOURCE(c->number), TEXT(c->text), out, size, c->handle * 8u,
                            c->number & 16);
}

SIZED(objects_of_log)
{
    return (uint32_t)LETTER(PdhEnumObjectsH, HANDLE_OF(c), TEXT(c->text), out, size, c->number * 8u, c->number & 1);
}

/* Both lists of an object, of which the other one gets the size that it needs. */
SIZED(counters_of_object)
{
    const void *object = TEXT(c->text);
    const void *source = SOURCE(c->number);
    DWORD ignored = 0;
    DWORD other = 0;
    (void)LETTER(PdhEnumObjectItems, source, NULL, object, NULL, &ignored, NULL, &other, 400, 0);
    void *instances = allocate_temporary(s, other * sizeof(WCHAR));
    return (uint32_t)LETTER(PdhEnumObjectItems, source, NULL, object, out, size, instances, &other, 400, 0);
}

SIZED(instances_of_object)
{
    const void *object = TEXT(c->text);
    const void *machine = TEXT(c->number | 0xF0u);
    DWORD ignored = 0;
    DWORD other = 0;
    (void)LETTER(PdhEnumObjectItemsH, HANDLE_OF(c), machine, object, NULL, &other, NULL, &ignored, c->number * 8u, 0);
    void *counters = allocate_temporary(s, other * sizeof(WCHAR));
    return (uint32_t)LETTER(PdhEnumObjectItemsH, HANDLE_OF(c), machine, object, counters, &other, out, size,
                            c->number * 8u, 0);
}

SIZED(default_object)
{
    return (uint32_t)LETTER(PdhGetDefaultPerfObject, SOURCE(c->number), TEXT(c->text), out, size);
}

SIZED(default_counter)
{
    return (uint32_t)LETTER(PdhGetDefaultPerfCounterH, HANDLE_OF(c), NULL, TEXT(c->text), out, size);
}

SIZED(name_of_index)
{
    DWORD index = c->number < 0xF0 ? 2u + c->number * 2u : 10000u + c->text; /* 0 changes nothing */
    return (uint32_t)LETTER(PdhLookupPerfNameByIndex, TEXT(c->text | 0xF0u), index, out, size);
}

SIZED(translate)
{
    return (uint32_t)(c->number & 1 ? LETTER(PdhTranslate009Counter, TEXT(c->text), out, size)
                                    : LETTER(PdhTranslateLocaleCounter, TEXT(c->text), out, size));
}

SIZED(time_range)
{
    return (uint32_t)LETTER(PdhGetDataSourceTimeRange, SOURCE(c->number), &s->count, out, size);
}

SIZED(time_range_of_log)
{
    (void)is_wide;
    return (uint32_t)pfb_PdhGetDataSourceTimeRangeH(HANDLE_OF(c), &s->count, out, size);
}

SIZED(raw_record)
{
    FILETIME time = {(DWORD)c->number << 24, 0x01D90000u + (DWORD)c->text * 256u};
    (void)is_wide;
    return (uint32_t)pfb_PdhReadRawLogRecord(HANDLE_OF(c), time, out, size);
}

SIZED(log_sets)
{
    return (uint32_t)LETTER(PdhEnumLogSetNames, SOURCE(c->number), out, size);
}

/* ---- Other functions ----------------------------------------------------------------------------------------- */

typedef void plain_function(state *s, const call *c, bool is_wide);

#define PLAIN(name) static void name(state *s, const call *c, bool is_wide)

PLAIN(open_query)
{
    PDH_HQUERY query = NULL;
    PDH_STATUS code = LETTER(PdhOpenQuery, SOURCE(c->number), c->text, &query);
    require((code == 0) == (query != NULL), "a query that is opened has a handle");
    if (query)
        keep_handle(s, query);
}

PLAIN(open_query_of_log)
{
    PDH_HQUERY query = NULL;
    (void)is_wide;
    if (pfb_PdhOpenQueryH(HANDLE_OF(c), c->number, &query) == 0)
        keep_handle(s, query);
}

PLAIN(close_query)
{
    HANDLE handle = HANDLE_OF(c);
    (void)is_wide;
    (void)pfb_PdhCloseQuery(handle);
    require((uint32_t)pfb_PdhCloseQuery(handle) == PDH_INVALID_HANDLE, "a closed query is invalid");
}

PLAIN(add_counter)
{
    PDH_HCOUNTER counter = NULL;
    PDH_STATUS code = c->number % 4 == 0
                          ? LETTER(PdhAddEnglishCounter, HANDLE_OF(c), TEXT(c->text), c->number, &counter)
                          : LETTER(PdhAddCounter, HANDLE_OF(c), TEXT(c->text), c->number, &counter);
    require((code == 0) == (counter != NULL), "a counter that is added has a handle");
    if (counter)
        keep_handle(s, counter);
}

PLAIN(remove_counter)
{
    (void)is_wide;
    (void)pfb_PdhRemoveCounter(HANDLE_OF(c));
}

/* Events, queries that a thread collects: it waits until the query is closed. */
PLAIN(start_thread)
{
    (void)is_wide;
    (void)pfb_PdhCollectQueryDataEx(HANDLE_OF(c), 3600, pick_handle(s, c->number));
}

PLAIN(make_event)
{
    HANDLE event = pfb_event_create(c->number & 1, c->number & 2);
    (void)is_wide;
    require(event != NULL, "an event");
    keep_handle(s, event);
}

PLAIN(use_event)
{
    HANDLE handle = HANDLE_OF(c);
    (void)is_wide;
    (void)(c->number & 1 ? pfb_event_set(handle) : pfb_event_reset(handle));
    (void)pfb_event_wait(handle, 0);
    if (c->number & 2)
        (void)pfb_event_close(handle);
}

PLAIN(collect)
{
    LONGLONG time = -1;
    (void)is_wide;
    for (unsigned i = 0; i <= c->number % 4u; i++) {
        (void)pfb_PdhCollectQueryData(HANDLE_OF(c));
        (void)pfb_PdhCollectQueryDataWithTime(HANDLE_OF(c), c->text & 1 ? &time : NULL);
    }
}

PLAIN(set_range)
{
    PDH_TIME_INFO range = {(LONGLONG)((uint64_t)c->text << 56 >> c->number % 64), MAX_TIME_VALUE >> c->number / 8, 0};
    (void)is_wide;
    (void)pfb_PdhSetQueryTimeRange(HANDLE_OF(c), &range);
}

PLAIN(formatted_value)
{
    PDH_FMT_COUNTERVALUE value = {.CStatus = 1};
    DWORD type;
    (void)is_wide;
    PDH_STATUS code = pfb_PdhGetFormattedCounterValue(HANDLE_OF(c), pick_format(c->number), &type, &value);
    require(code != 0 || value.CStatus == 0, "a value that is returned is valid");
}

PLAIN(raw_value)
{
    PDH_RAW_COUNTER *raw = pick_raw(s, c->text, 2);
    PDH_FMT_COUNTERVALUE value;
    DWORD type;
    (void)is_wide;
    if (pfb_PdhGetRawCounterValue(HANDLE_OF(c), c->text & 1 ? &type : NULL, &raw[0]) == 0)
        (void)pfb_PdhCalculateCounterFromRawValue(HANDLE_OF(c), pick_format(c->number), &raw[0],
                                                  c->text & 2 ? &raw[1] : NULL, &value);
}

PLAIN(format_raw)
{
    static const DWORD types[] = {0x10100,    0x10410400, 0x10410500, 0x20510500, 0x21510500, 0x20020400,
                                  0x30020400, 0x40020500, 0x00550500, 0x30240500, 0x20570500, 0x23410500,
                                  0x22410500, 0x20610500, 0x00000000, 0x40030402};
    PDH_RAW_COUNTER *raw = pick_raw(s, c->text, 2);
    PDH_FMT_COUNTERVALUE value;
    LONGLONG base = c->handle < 0xF0 ? (LONGLONG)((uint64_t)c->handle << c->handle % 56) : -c->handle;
    (void)is_wide;
    (void)pfb_PdhFormatFromRawValue(types[c->number / 16], pick_format(c->number % 16), &base, &raw[0],
                                    c->buffer & 1 ? &raw[1] : NULL, &value);
}

PLAIN(statistics)
{
    size_t count = c->number % 9u;
    PDH_RAW_COUNTER *ring = pick_raw(s, c->text, count);
    PDH_STATISTICS result;
    (void)is_wide;
    (void)pfb_PdhComputeCounterStatistics(HANDLE_OF(c), pick_format(c->text), c->number / 32u, (DWORD)count, ring,
                                          &result);
}

PLAIN(scale)
{
    LONGLONG base;
    (void)is_wide;
    (void)pfb_PdhSetCounterScaleFactor(HANDLE_OF(c), (LONG)c->number % 20 - 10);
    (void)pfb_PdhGetCounterTimeBase(HANDLE_OF(c), &base);
}

PLAIN(validate)
{
    (void)LETTER(PdhValidatePath, TEXT(c->text));
    (void)LETTER(PdhValidatePathEx, HANDLE_OF(c), TEXT(c->text));
}

PLAIN(index_of_name)
{
    DWORD index;
    (void)LETTER(PdhLookupPerfIndexByName, NULL, TEXT(c->text), &index);
    (void)LETTER(PdhConnectMachine, TEXT(c->text));
}

PLAIN(bind_sources)
{
    PDH_HLOG log = NULL;
    char names[40 * sizeof file_name];
    size_t size = 0;
    for (unsigned i = 0; i < c->number % 40u; i++) {
        memcpy(names + size, file_name, strlen(file_name) + 1);
        size += strlen(file_name) + 1;
    }
    const void *list = c->text == 0xFF ? NULL : copy_text(s, names, size, is_wide);
    if (LETTER(PdhBindInputDataSource, &log, list) == 0)
        keep_handle(s, log);
}

PLAIN(open_log)
{
    PDH_HLOG log = NULL;
    DWORD type = c->number % 10u;
    if (LETTER(PdhOpenLog, SOURCE(c->number), (DWORD)c->text << 16 | 4, &type, HANDLE_OF(c), 0, NULL, &log) == 0)
        keep_handle(s, log);
}

PLAIN(close_log)
{
    (void)is_wide;
    (void)pfb_PdhCloseLog(HANDLE_OF(c), c->number & 1);
}

PLAIN(about_log)
{
    LONGLONG size;
    DWORD type;
    (void)pfb_PdhGetLogFileSize(HANDLE_OF(c), &size);
    (void)LETTER(PdhGetLogFileType, SOURCE(c->number), &type);
    (void)pfb_PdhIsRealTimeQuery(HANDLE_OF(c));
    (void)pfb_PdhSetDefaultRealTimeDataSource(c->number % 6u);
}

/* Functions that do nothing but check what they are given. */
PLAIN(no_function)
{
    GUID guid;
    int run;
    (void)LETTER(PdhUpdateLog, HANDLE_OF(c), TEXT(c->text));
    (void)pfb_PdhUpdateLogFileCatalog(HANDLE_OF(c));
    (void)pfb_PdhGetLogSetGUID(HANDLE_OF(c), &guid, &run);
    (void)pfb_PdhSetLogSetRunID(HANDLE_OF(c), c->number);
    (void)pfb_PdhResetRelogCounterValues(HANDLE_OF(c));
    (void)pfb_PdhBrowseCountersW(NULL);
}

/* ---- The registry -------------------------------------------------------------------------------------------- */

static HKEY pick_key(const state *s, uint8_t choice)
{
    /* NOLINTBEGIN(performance-no-int-to-ptr): handles are numbers */
    const HKEY keys[] = {
        HKEY_PERFORMANCE_DATA,       HKEY_PERFORMANCE_TEXT, HKEY_PERFORMANCE_NLSTEXT, HKEY_LOCAL_MACHINE, HKEY_USERS,
        (HKEY)(uintptr_t)0x80000004, /* without a sign */
        (HKEY)(uintptr_t)0x80000001};
    /* NOLINTEND(performance-no-int-to-ptr) */
    return choice >= 0x80 ? (HKEY)pick_handle(s, choice) : keys[choice % (sizeof keys / sizeof keys[0])];
}

static const void *pick_value_name(state *s, uint8_t choice, bool is_wide)
{
    static const char *const names[] = {"Global",      "238 2 4 230", "Counter 009",  "Help",          "Counter",
                                        "234 ,5000 1", "Costly",      "Last Counter", "MetadataGlobal"};
    if (choice >= sizeof names / sizeof names[0])
        return pick_text(s, choice, is_wide);
    return copy_text(s, names[choice], strlen(names[choice]), is_wide);
}

static const void *pick_sub_key(state *s, uint8_t choice, bool is_wide)
{
    static const char *const names[] = {"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib",
                                        "software\\microsoft\\windows nt\\currentversion\\perflib\\009",
                                        "CurrentLanguage", "009", ""};
    if (choice >= sizeof names / sizeof names[0])
        return pick_text(s, choice, is_wide);
    return copy_text(s, names[choice], strlen(names[choice]), is_wide);
}

static DWORD query_value(state *s, const call *c, bool is_wide, DWORD *type, BYTE *data, DWORD *size)
{
    const void *name = pick_value_name(s, c->text, is_wide);
    HKEY key = pick_key(s, c->handle);
    LSTATUS code = is_wide ? pfb_RegQueryValueExW(key, name, NULL, type, data, size)
                           : pfb_RegQueryValueExA(key, name, NULL, type, data, size);
    release_temporaries(s);
    return (DWORD)code;
}

static uint32_t u32_at(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Checks a value of exactly `size` bytes. */
static void check_value(DWORD type, const uint8_t *data, DWORD size, bool is_wide)
{
    size_t unit = is_wide ? sizeof(WCHAR) : 1;
    if (type == REG_BINARY) {
        require(size >= 88 && memcmp(data, "P\0E\0R\0F\0", 8) == 0, "data begins as a block");
        bool is_little = u32_at(data + 8) == 1;
        require(!is_little || u32_at(data + 20) == size, "the size is that of the block");
    } else if (type == REG_MULTI_SZ) {
        require(size % unit == 0 && size > 2 * unit, "a table is not empty");
        for (size_t i = size - 2 * unit; i < size; i++)
            require(data[i] == 0, "a table ends with two NULs");
    } else {
        require(type == REG_DWORD && size == sizeof(DWORD), "a number");
    }
}

/* Reads a value with a buffer of `given` bytes. */
static DWORD read_value(state *s, const call *c, bool is_wide, DWORD given, DWORD *size)
{
    uint8_t *buffer = allocate(given);
    DWORD type = 0;
    *size = given;
    DWORD code = query_value(s, c, is_wide, &type, buffer, size);
    if (code == PFB_WIN32_MORE_DATA) /* the size that is needed, of data that which was given */
        require(type == REG_BINARY ? *size == given : *size > given, "the size after a buffer that is too small");
    if (code == 0) {
        require(*size <= given, "the size that was used");
        check_value(type, buffer, *size, is_wide);
    }
    free(buffer);
    return code;
}

/* Reads a value: with any size, without a buffer, or with sizes that double until it fits. A value that fitted, or a
 * sample that did not, is then read with its exact size. */
PLAIN(read_key)
{
    DWORD type = 0;
    DWORD size = c->number;
    if (c->buffer % 4 == 3) {
        (void)query_value(s, c, is_wide, c->number & 1 ? &type : NULL, NULL, c->number & 2 ? &size : NULL);
        return;
    }
    if (c->buffer % 4 == 2) {
        (void)read_value(s, c, is_wide, c->number * 8u, &size);
        return;
    }
    DWORD code = query_value(s, c, is_wide, &type, NULL, &size);
    if (code == 0) {
        DWORD needed = size;
        require(read_value(s, c, is_wide, needed - 1, &size) == PFB_WIN32_MORE_DATA, "less is not enough");
        require(read_value(s, c, is_wide, needed, &size) == 0 && size == needed, "the size is enough");
        return;
    }
    for (DWORD given = 64; given < UINT32_C(1) << 28; given *= 2) {
        code = read_value(s, c, is_wide, given, &size);
        if (code != PFB_WIN32_MORE_DATA)
            break;
    }
}

PLAIN(open_key)
{
    HKEY key = NULL;
    const void *name = pick_sub_key(s, c->text, is_wide);
    HKEY parent = pick_key(s, c->handle);
    LSTATUS code = is_wide ? pfb_RegOpenKeyExW(parent, name, 0, KEY_READ, &key)
                           : pfb_RegOpenKeyExA(parent, name, 0, KEY_READ, &key);
    require((code == 0) == (key != NULL), "a key that is opened has a handle");
    if (key)
        keep_handle(s, key);
}

PLAIN(connect_key)
{
    HKEY key = NULL;
    HKEY from = pick_key(s, c->handle);
    LSTATUS code = is_wide ? pfb_RegConnectRegistryW(TEXT(c->text), from, &key)
                           : pfb_RegConnectRegistryA(TEXT(c->text), from, &key);
    require((code == 0) == (key != NULL), "a key that is opened has a handle");
    if (key)
        keep_handle(s, key);
}

PLAIN(close_key)
{
    (void)is_wide;
    (void)pfb_RegCloseKey(pick_key(s, c->handle));
}

/* Lists what a key has. Names and classes get exactly the size that is given. */
PLAIN(list_key)
{
    size_t unit = is_wide ? sizeof(WCHAR) : 1;
    HKEY key = pick_key(s, c->handle);
    DWORD size[2] = {c->buffer / 4u, c->number % 8u};
    DWORD value = 0;
    DWORD type;
    FILETIME time;
    void *name = allocate_temporary(s, size[0] * unit);
    void *class_name = allocate_temporary(s, size[1] * unit);
    DWORD index = c->text % 8u;
    DWORD largest = 0;
    (void)(is_wide ? pfb_RegQueryInfoKeyW(key, class_name, &size[1], NULL, NULL, &index, NULL, &type, NULL, &largest,
                                          NULL, &time)
                   : pfb_RegQueryInfoKeyA(key, class_name, &size[1], NULL, NULL, &index, NULL, &type, NULL, &largest,
                                          NULL, c->number & 1 ? &time : NULL));
    LSTATUS code;
    index = c->text % 8u;
    size[1] = c->number % 8u;
    if (c->buffer % 2 == 0)
        code = is_wide ? pfb_RegEnumKeyExW(key, index, name, &size[0], NULL, class_name, &size[1], &time)
                       : pfb_RegEnumKeyExA(key, index, name, &size[0], NULL, class_name, &size[1], NULL);
    else
        code = is_wide ? pfb_RegEnumValueW(key, index, name, &size[0], NULL, &type, NULL, &value)
                       : pfb_RegEnumValueA(key, index, name, &size[0], NULL, NULL, NULL, &value);
    require(code != 0 || unit_at(name, size[0], is_wide) == 0, "a name ends with a NUL");
}

/* ---- Operations ---------------------------------------------------------------------------------------------- */

static const struct {
    sized_function *sized; /* with a buffer of `kind` */
    int kind;
    plain_function *plain; /* without one */
} operations[] = {
    {NULL, 0, open_query},
    {NULL, 0, add_counter},
    {NULL, 0, collect},
    {NULL, 0, formatted_value},
    {formatted_array, FORMATTED, NULL},
    {raw_array, RAW, NULL},
    {counter_info, INFO, NULL},
    {expand, LIST, NULL},
    {objects, LIST, NULL},
    {counters_of_object, LIST, NULL},
    {instances_of_object, LIST, NULL},
    {make_path, NAME, NULL},
    {parse_path, ELEMENTS, NULL},
    {instance_name, NAME, NULL},
    {expand_of_log, LIST, NULL},
    {expand_path, LIST, NULL},
    {machines, LIST, NULL},
    {machines_of_log, LIST, NULL},
    {objects_of_log, LIST, NULL},
    {default_object, NAME, NULL},
    {default_counter, NAME, NULL},
    {name_of_index, NAME, NULL},
    {translate, NAME, NULL},
    {time_range, BYTES, NULL},
    {time_range_of_log, BYTES, NULL},
    {raw_record, BYTES, NULL},
    {log_sets, LIST, NULL},
    {NULL, 0, open_query_of_log},
    {NULL, 0, close_query},
    {NULL, 0, remove_counter},
    {NULL, 0, start_thread},
    {NULL, 0, make_event},
    {NULL, 0, use_event},
    {NULL, 0, set_range},
    {NULL, 0, raw_value},
    {NULL, 0, format_raw},
    {NULL, 0, statistics},
    {NULL, 0, scale},
    {NULL, 0, validate},
    {NULL, 0, index_of_name},
    {NULL, 0, bind_sources},
    {NULL, 0, open_log},
    {NULL, 0, close_log},
    {NULL, 0, about_log},
    {NULL, 0, no_function},
    {NULL, 0, read_key},
    {NULL, 0, open_key},
    {NULL, 0, connect_key},
    {NULL, 0, close_key},
    {NULL, 0, list_key},
};

static void run_call(state *s, const call *c)
{
    bool is_wide = c->function >= 128;
    size_t i = (c->function & 0x7Fu) % (sizeof operations / sizeof operations[0]);
    if (operations[i].sized)
        run_sized(s, c, is_wide, operations[i].sized, operations[i].kind);
    else
        operations[i].plain(s, c, is_wide);
    release_temporaries(s);
}

/* ---- The clock ----------------------------------------------------------------------------------------------- */

/* Calls of the clock of the calendar since an input began, a millisecond each: catalogs become old at the same call in
 * each run. The linker replaces the function, whose names are its own. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
static long clock_calls;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    const time_t begin = 1735689600; /* 2025-01-01 */
    if (clock != CLOCK_REALTIME)
        return __real_clock_gettime(clock, now);
    clock_calls++;
    *now = (struct timespec){.tv_sec = begin + clock_calls / 1000, .tv_nsec = clock_calls % 1000 * 1000000};
    return 0;
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

/* ---- Sources ------------------------------------------------------------------------------------------------- */

/* Also those that the library opens are steady. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
pfb_stream *__real_pfb_stream_new(void);
pfb_stream *__wrap_pfb_stream_new(void);

pfb_stream *__wrap_pfb_stream_new(void)
{
    return make_steady(__real_pfb_stream_new());
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static void set_file(const uint8_t *data, size_t size)
{
    require(ftruncate(file_number, 0) == 0, "the file is emptied");
    require(pwrite(file_number, data, size, 0) == (ssize_t)size, "the file is written");
}

/* Empties the file, which the registry notices when it is used. */
static void forget_file(void)
{
    HKEY key = HKEY_PERFORMANCE_TEXT; /* NOLINT(performance-no-int-to-ptr) */
    DWORD size = 0;
    set_file(NULL, 0);
    require(pfb_RegQueryValueExA(key, "Counter", NULL, NULL, NULL, &size) != 0, "an empty file");
    require(pfb_pdh_use(NULL, NULL) == 0, "no query is open");
}

/* A file in memory, a time zone, and places in the table of handles, which would otherwise grow from input to input. A
 * file that cannot be read is reported once in a process. Before main, so that the first input takes the same paths as
 * the others. */
__attribute__((constructor)) static void prepare(void)
{
    enum { PLACES = 200 };
    HANDLE events[PLACES];
    file_number = memfd_create("interfaces", MFD_CLOEXEC);
    require(file_number > 0, "a file in memory");
    snprintf(file_name, sizeof file_name, "/proc/self/fd/%d", file_number);
    require(setenv("TZ", "UTC0", 1) == 0 && setenv("PERFBLOCK_CAPTURE", file_name, 1) == 0, "the environment");
    for (size_t i = 0; i < PLACES; i++)
        events[i] = pfb_event_create(0, 0);
    for (size_t i = 0; i < PLACES; i++)
        require(pfb_event_close(events[i]), "events are closed");
    forget_file();
}

static pfb_source *replay(void *context, pfb_source_failure *failure)
{
    const state *s = context;
    const pfb_input input = {.size = sizeof input, .label = "memory", .data = s->file, .byte_count = s->file_size};
    pfb_stream *stream = pfb_stream_new();
    require(stream && pfb_stream_add(stream, &input) >= 0, "a stream");
    return pfb_source_open_stream(stream, failure);
}

static size_t read_u16(const uint8_t *at)
{
    return (size_t)(at[0] | at[1] << 8);
}

/* Copies bytes of the input into memory of their size. */
static const uint8_t *take(const uint8_t **data, size_t *left, size_t wanted, size_t *size)
{
    *size = wanted < *left ? wanted : *left;
    uint8_t *copy = allocate(*size);
    memcpy(copy, *data, *size);
    *data += *size;
    *left -= *size;
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    state s = {.file = NULL};
    if (size < HEADER_BYTES)
        return 0;
    clock_calls = 0;
    bool is_replayed = data[0] % 2 == 0;
    size_t file_size = read_u16(data + 1);
    size_t texts_size = read_u16(data + 3);
    data += HEADER_BYTES;
    size -= HEADER_BYTES;
    s.file = take(&data, &size, file_size, &s.file_size);
    s.texts = take(&data, &size, texts_size, &s.texts_size);
    set_file(s.file, s.file_size);
    require(pfb_pdh_use(is_replayed ? replay : NULL, &s) == 0, "no query is open");
    for (size_t i = 0; i < MAX_CALLS && size >= CALL_BYTES; i++, data += CALL_BYTES, size -= CALL_BYTES) {
        const call c = {data[0], data[1], data[2], data[3], data[4]};
        run_call(&s, &c);
    }
    for (size_t i = 0; i < HANDLES; i++)
        close_handle(s.handles[i]);
    (void)pfb_RegCloseKey(pick_key(&s, 0));
    require(pfb_pdh_use(NULL, NULL) == 0, "every query is closed");
    forget_file();
    for (size_t i = 0; i < MAX_TEXTS; i++)
        free(s.found[i]);
    free((void *)s.file);
    free((void *)s.texts);
    return 0;
}
