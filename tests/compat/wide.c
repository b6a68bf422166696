/* SPDX-License-Identifier: MIT */
/* Calls each replacement of a wide-character function (platform/compat/wide.h), and those of functions for times, and
 * prints the results; a test compares them. */
#include <windows.h>

#include <perflib.h>
#include <winperf.h>

static FILETIME file_time(ULONGLONG ticks)
{
    FILETIME time = {(DWORD)ticks, (DWORD)(ticks >> 32)};
    return time;
}

static void print_time(ULONGLONG ticks)
{
    FILETIME time = file_time(ticks);
    SYSTEMTIME date;
    if (FileTimeToSystemTime(&time, &date))
        printf("%04hu-%02hu-%02hu, day %hu, %02hu:%02hu:%02hu.%03hu\n", date.wYear, date.wMonth, date.wDay,
               date.wDayOfWeek, date.wHour, date.wMinute, date.wSecond, date.wMilliseconds);
    else
        printf("no time\n");
}

/* Prints a local time as UTC. */
static void print_utc(ULONGLONG ticks)
{
    FILETIME local = file_time(ticks), utc = {0, 0};
    BOOL is_done = LocalFileTimeToFileTime(&local, &utc);
    printf("%d ", is_done);
    print_time((ULONGLONG)utc.dwHighDateTime << 32 | utc.dwLowDateTime);
}

int wmain(void)
{
    WCHAR copy[8];
    WCHAR with_lone_surrogate[] = {'a', 0xD800, 'b', 0};
    printf("%d", wcsncpy_s(copy, 8, L"abcdefghijk", _TRUNCATE));
    printf(" [%ls]", copy);
    printf(" %d", wcsncpy_s(copy, 8, L"abcdefghijk", 9));
    printf(" [%ls]", copy);
    printf(" %d", wcsncpy_s(copy, 8, L"abcdefghijk", 3));
    printf(" [%ls]\n", copy);
    printf("%d %d %d\n", (int)wcslen(L"abc"), (int)wcsnlen(L"abcd", 3), (int)wcslen(PERF_AGGREGATE_INSTANCE));
    printf("[%8.3ls] [%-8ls] [%S] [%*ls]\n", L"wxyz", L"\u00e9\U0001F600", L"wide", -4, L"x");
    printf("[%ls] [%ls]\n", with_lone_surrogate, (const WCHAR *)NULL);
    printf("%d %5d %-5d| %05d %+d %x %X %o %u %ld %lld %I64u %hhd %hd %zu\n", 1, -2, 3, 4, 5, 0xabc, 0xabc, 8,
           4294967295u, 6L, 7LL, 18446744073709551615ULL, 257, 65537, sizeof(DWORD));
    printf("%ld %lx %lu %ld\n", (LONG)-1, (LONG)-1, (DWORD)4294967295u, -7L);
    printf("%5.2f|%e|%g|%.3Lf|%c|%s|%10s|%-4s|%.2s|%%|%*d|%.*f\n", 3.14159, 1000.0, 0.5, 2.5L, 'x', "narrow", "right",
           "l", "cut", 4, 42, 1, 2.25);
    fprintf(stdout, "%ls %s\n", L"file", "narrow");
    wprintf(L"%s %hs %ls %ws %d\n", L"wide", "narrow", L"long", L"w", 7);
    wprintf(L"%S %-3S| %hS %lS %d\n", "other", "s", "h", L"l", 7);
    printf("%hS %lS %d\n", "h", L"l", 7);
    printf("%x\n", (unsigned)PERF_100NSEC_TIMER_INV);
    printf("%d %d %d %d\n", wcscmp(L"_Total", L"_Total"), wcscmp(L"_Total", L"_TotaL") > 0, wcscmp(L"ab", L"abc") < 0,
           wcscmp(L"\uFFFD", L"\U0001F600") > 0);
    printf("%d %d %d\n", wcsncmp(L"abcd", L"abce", 3), wcsncmp(L"abcd", L"abce", 4) < 0, wcsncmp(L"a", L"b", 0));
    printf("%d %d %d\n", _wcsicmp(L"_TOTAL", L"_total"), _wcsicmp(L"A", L"_") > 0, _wcsicmp(L"\u00c9", L"\u00e9") != 0);
    printf("[%ls]", wcscpy(copy, L"ab"));
    printf(" [%ls]", wcscat(copy, L"cd"));
    printf(" [%ls] %d %d\n", wcschr(copy, L'c'), wcschr(copy, L'x') == NULL, wcschr(copy, 0) == copy + 4);
    char narrow[16] = "";
    WCHAR wide[8];
    printf("%d", WideCharToMultiByte(CP_UTF8, 0, L"\u00e9\U0001F600", -1, NULL, 0, NULL, NULL));
    printf(" %d", WideCharToMultiByte(CP_UTF8, 0, L"\u00e9\u20ac\U0001F600", -1, narrow, 16, NULL, NULL));
    printf(" [%s]", narrow);
    printf(" %d", WideCharToMultiByte(CP_UTF8, 0, with_lone_surrogate, 3, narrow, 16, NULL, NULL));
    printf(" [%.5s]", narrow);
    printf(" %d", WideCharToMultiByte(CP_UTF8, 0, L"\u00e9", 1, narrow, 1, NULL, NULL));
    printf(" %d", WideCharToMultiByte(CP_UTF8, 0, L"", 0, narrow, 16, NULL, NULL));
    printf(" %d\n", WideCharToMultiByte(1252, 0, L"a", 1, narrow, 16, NULL, NULL));
    printf("%d", MultiByteToWideChar(CP_UTF8, 0, "\xc3\xa9\xf0\x9f\x98\x80", -1, NULL, 0));
    printf(" %d", MultiByteToWideChar(CP_UTF8, 0, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", -1, wide, 8));
    printf(" [%ls]", wide);
    printf(" %d", MultiByteToWideChar(CP_UTF8, 0, "a\xff\xed\xa0\x80\xc0", 6, wide, 8));
    printf(" [%.6ls]", wide);
    printf(" %d", MultiByteToWideChar(CP_UTF8, 0, "\xf0\x9f\x98\x80", 4, wide, 1));
    printf(" %d\n", MultiByteToWideChar(1252, 0, "a", 1, wide, 8));
    const FILETIME early = {9, 1}, late = {0, 2};
    printf("%d %d %d\n", CompareFileTime(&early, &late), CompareFileTime(&late, &late), CompareFileTime(&late, &early));
    ZeroMemory(copy, 2);
    CopyMemory(copy + 1, L"xy", 4);
    printf("[%ls] [%ls]\n", copy, copy + 1);
    printf("%d %d %d\n", lstrlenA("abc"), lstrlenW(L"abcd"), lstrlenW(NULL));
    print_time(0);
    print_time(128315940386596596);
    print_time(0x8000000000000000);
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    print_utc(133801632000000000);
    print_utc(128315940386596596);
    return 0;
}
