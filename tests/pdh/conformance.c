/* SPDX-License-Identifier: MIT */
/* Prints what PDH does where Microsoft's documentation is silent. Built here, it uses perfblock's PDH, and a test
 * compares the lines with the decisions of docs/pdh.md. Built with MinGW and run on Windows, it shows what Windows
 * does:
 *
 *     x86_64-w64-mingw32-gcc -Iplatform/compat tests/pdh/conformance.c -lpdh -o conformance.exe
 *
 * Its output there is to be kept next to that of the test. */
#include <windows.h>

#include <pdh.h>
#include <pdhmsg.h>

#include <stdio.h>
#include <string.h>

enum { RAW_COUNT = 0x10100, BULK_COUNT = 0x10410500, TIMER_100NS = 0x20510500, FRACTION = 0x20020400 };

static void print_value(const char *what, PDH_STATUS code, const PDH_FMT_COUNTERVALUE *value)
{
    printf("%s: code %08lX, status %08lX, value %.17g\n", what, (unsigned long)(DWORD)code,
           (unsigned long)value->CStatus, value->doubleValue);
}

/* Formats a pair of raw values. */
static void format(const char *what, DWORD type, DWORD flags, LONGLONG first[2], LONGLONG second[2])
{
    PDH_RAW_COUNTER newer;
    PDH_RAW_COUNTER older;
    PDH_FMT_COUNTERVALUE value;
    LONGLONG base = 10000000;
    memset(&newer, 0, sizeof newer);
    memset(&value, 0, sizeof value);
    older = newer;
    newer.MultiCount = older.MultiCount = 1;
    older.FirstValue = first[0];
    older.SecondValue = second[0];
    newer.FirstValue = first[1];
    newer.SecondValue = second[1];
    PDH_STATUS code = PdhFormatFromRawValue(type, flags, &base, &newer, &older, &value);
    if (flags & PDH_FMT_LONG)
        printf("%s: code %08lX, status %08lX, long %ld\n", what, (unsigned long)(DWORD)code,
               (unsigned long)value.CStatus, (long)value.longValue);
    else
        print_value(what, code, &value);
}

/* Reads before the first collect, and the array of an object without instances. */
static void read_counters(void)
{
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER rate = NULL;
    PDH_HCOUNTER one = NULL;
    PDH_RAW_COUNTER raw;
    PDH_FMT_COUNTERVALUE value;
    LONGLONG base = 0;
    DWORD size = 0;
    DWORD count = 0;
    memset(&raw, 0, sizeof raw);
    memset(&value, 0, sizeof value);
    PdhOpenQueryA(NULL, 0, &query);
    PdhAddEnglishCounterA(query, "\\System\\Context Switches/sec", 0, &rate);
    PdhAddEnglishCounterA(query, "\\System\\Processes", 0, &one);
    print_value("formatted before the first collect", PdhGetFormattedCounterValue(rate, PDH_FMT_DOUBLE, NULL, &value),
                &value);
    printf("raw before the first collect: code %08lX", (unsigned long)(DWORD)PdhGetRawCounterValue(rate, NULL, &raw));
    printf(", status %08lX\n", (unsigned long)raw.CStatus);
    printf("array before the first collect: code %08lX\n",
           (unsigned long)(DWORD)PdhGetFormattedCounterArrayA(rate, PDH_FMT_DOUBLE, &size, &count, NULL));
    PdhCollectQueryData(query);
    memset(&value, 0, sizeof value);
    print_value("rate after one collect", PdhGetFormattedCounterValue(rate, PDH_FMT_DOUBLE, NULL, &value), &value);
    size = 0;
    printf("array after one collect: code %08lX\n",
           (unsigned long)(DWORD)PdhGetFormattedCounterArrayA(rate, PDH_FMT_DOUBLE, &size, &count, NULL));
    union {
        PDH_FMT_COUNTERVALUE_ITEM_A items[1];
        char bytes[512];
    } array;
    size = sizeof array;
    PDH_STATUS code = PdhGetFormattedCounterArrayA(one, PDH_FMT_DOUBLE, &size, &count, array.items);
    printf("array without instances: code %08lX, items %lu, name \"%s\"\n", (unsigned long)(DWORD)code,
           (unsigned long)count, code == ERROR_SUCCESS && count > 0 ? array.items[0].szName : "");
    printf("time base of a raw count: code %08lX\n", (unsigned long)(DWORD)PdhGetCounterTimeBase(one, &base));
    PdhCloseQuery(query);
}

int main(void)
{
    LONGLONG rising[2] = {100, 300};
    LONGLONG falling[2] = {300, 100};
    LONGLONG large[2] = {0, 3000000000LL};
    LONGLONG times[2] = {0, 10000000};
    LONGLONG equal[2] = {5, 5};
    LONGLONG part[2] = {0, 5};
    LONGLONG whole[2] = {2, 2};
    LONGLONG half[2] = {0, 19999999};
    read_counters();
    format("a counter of 8 bytes that fell", BULK_COUNT, PDH_FMT_DOUBLE, falling, times);
    format("a counter of 4 bytes that fell", 0x10410400, PDH_FMT_DOUBLE, falling, times);
    format("a clock that ran backwards", BULK_COUNT, PDH_FMT_DOUBLE, rising, falling);
    format("equal clocks", BULK_COUNT, PDH_FMT_DOUBLE, rising, equal);
    format("250 percent", FRACTION, PDH_FMT_DOUBLE, part, whole);
    format("250 percent without cap", FRACTION, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, part, whole);
    format("250 percent times 1000", FRACTION, PDH_FMT_DOUBLE | PDH_FMT_1000, part, whole);
    format("a raw count above 2^31 as long", RAW_COUNT, PDH_FMT_LONG, large, times);
    format("199.99999 percent as long", TIMER_100NS, PDH_FMT_LONG | PDH_FMT_NOCAP100, half, times);
    return 0;
}
