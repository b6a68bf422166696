/* SPDX-License-Identifier: MIT */
/* Prints the values of counters, as a program does that was written for Windows: it is compiled with the headers and
 * the import library of the SDK and knows nothing of perfblock.
 *
 *     pdh_values SAMPLES [LOG] -- PATH...
 *
 * reads so many samples, and waits while there is none yet; 0: up to the end. A line has sample, path, type,
 * FirstValue, SecondValue, time base, the code of the formatted value and the bits of its double, with tabs. With - in
 * place of LOG a thread of PDH collects, and signals an event. */
#include <windows.h>

#include <pdh.h>
#include <pdhmsg.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COUNTERS = 1024 };

static struct {
    PDH_HCOUNTER handle;
    char path[PDH_MAX_COUNTER_PATH];
    LONGLONG base;
} counters[MAX_COUNTERS];

static int counter_count;

/* Ends the program with the text that pdh.dll has for the code, if the condition is false. */
static void demand(BOOL is_true, const char *what, PDH_STATUS code)
{
    char text[200] = "no text";
    if (is_true)
        return;
    FormatMessageA(FORMAT_MESSAGE_FROM_HMODULE | FORMAT_MESSAGE_IGNORE_INSERTS, GetModuleHandleA("pdh.dll"),
                   (DWORD)code, 0, text, sizeof text, NULL);
    fprintf(stderr, "%s: %08lX %s\n", what, (unsigned long)code, text);
    exit(1);
}

static void add_counters(PDH_HQUERY query, PDH_HLOG log, const WCHAR *path)
{
    DWORD size = 0;
    PDH_STATUS code = PdhExpandWildCardPathHW(log, path, NULL, &size, 0);
    demand(code == (PDH_STATUS)PDH_MORE_DATA, "size of a list", code);
    WCHAR *list = calloc(size, sizeof *list);
    code = PdhExpandWildCardPathHW(log, path, list, &size, 0);
    demand(list && code == ERROR_SUCCESS, "list", code);
    for (const WCHAR *at = list; *at && counter_count < MAX_COUNTERS; at += wcslen(at) + 1) {
        code = PdhAddCounterW(query, at, 0, &counters[counter_count].handle);
        demand(code == ERROR_SUCCESS, "PdhAddCounterW", code);
        WideCharToMultiByte(CP_UTF8, 0, at, -1, counters[counter_count].path, PDH_MAX_COUNTER_PATH, NULL, NULL);
        if (PdhGetCounterTimeBase(counters[counter_count].handle, &counters[counter_count].base) != ERROR_SUCCESS)
            counters[counter_count].base = 0;
        counter_count++;
    }
    free(list);
}

static void print_values(int sample)
{
    for (int i = 0; i < counter_count; i++) {
        PDH_RAW_COUNTER raw;
        PDH_FMT_COUNTERVALUE value;
        DWORD type = 0;
        uint64_t bits;
        PDH_STATUS code = PdhGetRawCounterValue(counters[i].handle, &type, &raw);
        demand(code == ERROR_SUCCESS, "PdhGetRawCounterValue", code);
        code = PdhGetFormattedCounterValue(counters[i].handle, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &value);
        memcpy(&bits, &value.doubleValue, sizeof bits);
        printf("%d\t%s\t%08lx\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%08lx\t%016" PRIx64 "\n", sample,
               counters[i].path, (unsigned long)type, (int64_t)raw.FirstValue, (int64_t)raw.SecondValue,
               (int64_t)counters[i].base, (unsigned long)code, bits);
    }
    fflush(stdout);
}

static PDH_STATUS collect(PDH_HQUERY query, HANDLE event)
{
    if (!event)
        return PdhCollectQueryData(query);
    return WaitForSingleObject(event, 10000) == WAIT_OBJECT_0 ? ERROR_SUCCESS : (PDH_STATUS)PDH_NO_DATA;
}

int wmain(int argc, WCHAR **argv)
{
    const ULONGLONG longest = 30000; /* milliseconds */
    PDH_HLOG log = NULL;
    PDH_HQUERY query = NULL;
    HANDLE event = NULL;
    int first = 2;
    while (first < argc && wcscmp(argv[first], L"--") != 0)
        first++;
    demand(first < argc - 1, "arguments", 0);
    int wanted = (int)wcstol(argv[1], NULL, 10);
    BOOL has_thread = first == 3 && wcscmp(argv[2], L"-") == 0;
    if (first == 3 && !has_thread) {
        WCHAR names[MAX_PATH + 2] = {0}; /* a list, which ends with two NULs */
        wcsncpy(names, argv[2], MAX_PATH);
        PDH_STATUS code = PdhBindInputDataSourceW(&log, names);
        demand(code == ERROR_SUCCESS, "PdhBindInputDataSourceW", code);
    }
    PDH_STATUS code = PdhOpenQueryH(log, 0, &query);
    demand(code == ERROR_SUCCESS, "PdhOpenQueryH", code);
    for (int i = first + 1; i < argc; i++)
        add_counters(query, log, argv[i]);
    if (has_thread) {
        event = CreateEventW(NULL, FALSE, FALSE, NULL);
        code = PdhCollectQueryDataEx(query, 1, event);
        demand(event && code == ERROR_SUCCESS, "PdhCollectQueryDataEx", code);
    }
    ULONGLONG begin = GetTickCount64();
    for (int sample = 0; wanted == 0 || sample < wanted;) {
        code = collect(query, event);
        if (code == ERROR_SUCCESS)
            print_values(sample++);
        else if (code == (PDH_STATUS)PDH_NO_MORE_DATA && wanted == 0)
            break;
        else
            demand(code == (PDH_STATUS)PDH_NO_MORE_DATA && GetTickCount64() - begin < longest, "collect", code);
        if (code != ERROR_SUCCESS)
            Sleep(5);
    }
    code = PdhCloseQuery(query);
    demand(code == ERROR_SUCCESS, "PdhCloseQuery", code);
    if (log)
        demand(PdhCloseLog(log, 0) == ERROR_SUCCESS, "PdhCloseLog", 0);
    return 0;
}
