/* SPDX-License-Identifier: MIT */
/* Prints nine lines: what PDH does where Microsoft's documentation is silent. Built with perfblock's PDH, or with
 * Windows' own on Windows, also under Wine:
 *
 *     x86_64-w64-mingw32-gcc tests/windows/pdh_facts.c -lpdh -o pdh_facts.exe
 *
 * A test compares the lines of perfblock with the decisions of docs/pdh.md. Those of Windows are to be kept next to it.
 */
#include <windows.h>

#include <pdh.h>
#include <pdhmsg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32)
#include <process.h>
#else
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#define HEX(code) ((unsigned long)(DWORD)(code))

static PDH_HQUERY query;

/* Adds a counter and returns true, or says why that is not possible. */
static BOOL add(const char *path, PDH_HCOUNTER *counter)
{
    PDH_STATUS code = PdhAddEnglishCounterA(query, path, 0, counter);
    if (code != ERROR_SUCCESS)
        printf("%s cannot be added: %08lX", path, HEX(code));
    return code == ERROR_SUCCESS;
}

/* Prints what a pair of raw values is displayed as. */
static void calculate(PDH_HCOUNTER counter, const char *what, DWORD flags, const LONGLONG first[2],
                      const LONGLONG second[2])
{
    PDH_RAW_COUNTER raw[2];
    PDH_FMT_COUNTERVALUE value;
    memset(raw, 0, sizeof raw);
    memset(&value, 0, sizeof value);
    for (int i = 0; i < 2; i++) {
        raw[i].FirstValue = first[i];
        raw[i].SecondValue = second[i];
        raw[i].MultiCount = 1;
    }
    PDH_STATUS code = PdhCalculateCounterFromRawValue(counter, flags, &raw[1], &raw[0], &value);
    printf("%s ", what);
    if (code != ERROR_SUCCESS || value.CStatus != PDH_CSTATUS_VALID_DATA)
        printf("%08lX %08lX", HEX(code), HEX(value.CStatus));
    else if (flags & PDH_FMT_LONG)
        printf("%ld", (long)value.longValue);
    else
        printf("%.17g", value.doubleValue);
}

static const LONGLONG rising[2] = {100, 300};
static const LONGLONG falling[2] = {300, 100};
static const LONGLONG seconds[2] = {0, 10000000};

static void print_early_reads(void)
{
    PDH_HCOUNTER rate = NULL;
    PDH_RAW_COUNTER raw;
    PDH_FMT_COUNTERVALUE value;
    DWORD size = 0;
    DWORD count = 0;
    memset(&raw, 0, sizeof raw);
    memset(&value, 0, sizeof value);
    if (!add("\\System\\Context Switches/sec", &rate))
        return;
    for (int i = 0; i < 2; i++) {
        PDH_STATUS formatted = PdhGetFormattedCounterValue(rate, PDH_FMT_DOUBLE, NULL, &value);
        PDH_STATUS found = PdhGetRawCounterValue(rate, NULL, &raw);
        PDH_STATUS array = PdhGetFormattedCounterArrayA(rate, PDH_FMT_DOUBLE, &size, &count, NULL);
        printf("%sformatted %08lX %08lX, raw %08lX %08lX, array %08lX", i == 0 ? "" : "; after one: ", HEX(formatted),
               HEX(value.CStatus), HEX(found), HEX(raw.CStatus), HEX(array));
        PdhCollectQueryData(query);
    }
}

static void print_falling(void)
{
    PDH_HCOUNTER large = NULL;
    PDH_HCOUNTER small = NULL;
    if (add("\\PhysicalDisk(_Total)\\Disk Read Bytes/sec", &large)) {
        calculate(large, "8 bytes", PDH_FMT_DOUBLE, falling, seconds);
        calculate(large, ", clock", PDH_FMT_DOUBLE, rising, falling);
    }
    printf(", ");
    if (add("\\System\\Context Switches/sec", &small))
        calculate(small, "4 bytes", PDH_FMT_DOUBLE, falling, seconds);
}

static void print_long(void)
{
    PDH_HCOUNTER fraction = NULL;
    PDH_HCOUNTER bytes = NULL;
    const LONGLONG part[2] = {0, 19999999};
    const LONGLONG whole[2] = {10000000, 10000000};
    const LONGLONG large[2] = {0, 3000000000LL};
    if (add("\\Memory\\% Committed Bytes In Use", &fraction))
        calculate(fraction, "199.99999", PDH_FMT_LONG | PDH_FMT_NOCAP100, part, whole);
    printf(", ");
    if (add("\\Memory\\Available Bytes", &bytes))
        calculate(bytes, "3000000000", PDH_FMT_LONG, large, seconds);
}

static void print_equal_times(void)
{
    PDH_HCOUNTER rate = NULL;
    const LONGLONG equal[2] = {5, 5};
    if (add("\\System\\Context Switches/sec", &rate))
        calculate(rate, "rate", PDH_FMT_DOUBLE, rising, equal);
}

static void print_single_item(void)
{
    PDH_HCOUNTER one = NULL;
    union {
        PDH_FMT_COUNTERVALUE_ITEM_A items[1];
        char bytes[512];
    } array;
    DWORD size = sizeof array;
    DWORD count = 0;
    if (!add("\\System\\Processes", &one))
        return;
    PdhCollectQueryData(query);
    PDH_STATUS code = PdhGetFormattedCounterArrayA(one, PDH_FMT_DOUBLE, &size, &count, array.items);
    printf("%08lX, items %lu", HEX(code), HEX(count));
    if (code == ERROR_SUCCESS && count > 0)
        printf(", name \"%s\"", array.items[0].szName);
}

static void print_order(void)
{
    PDH_HCOUNTER fraction = NULL;
    const LONGLONG part[2] = {0, 5};
    const LONGLONG whole[2] = {2, 2};
    if (!add("\\Memory\\% Committed Bytes In Use", &fraction))
        return;
    calculate(fraction, "250 percent", PDH_FMT_DOUBLE, part, whole);
    calculate(fraction, ", times 1000", PDH_FMT_DOUBLE | PDH_FMT_1000, part, whole);
    PdhSetCounterScaleFactor(fraction, -1);
    calculate(fraction, ", scale -1", PDH_FMT_DOUBLE, part, whole);
    calculate(fraction, ", both", PDH_FMT_DOUBLE | PDH_FMT_1000, part, whole);
}

/* Whether there is a sample, some time after the thread was started that makes one each second. */
static void print_first_wait(void)
{
    PDH_HCOUNTER up = NULL;
    PDH_RAW_COUNTER raw;
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, NULL);
    memset(&raw, 0, sizeof raw);
    if (!add("\\System\\System Up Time", &up))
        return;
    printf("%08lX", HEX(PdhCollectQueryDataEx(query, 1, event)));
    Sleep(300);
    (void)PdhGetRawCounterValue(up, NULL, &raw);
    printf(", after 0.3 s %s", raw.FirstValue || raw.SecondValue ? "a sample" : "none");
    DWORD waited = WaitForSingleObject(event, 3000);
    (void)PdhGetRawCounterValue(up, NULL, &raw);
    printf(", event %lu, then %s", HEX(waited), raw.FirstValue || raw.SecondValue ? "a sample" : "none");
}

static void print_time_base(void)
{
    PDH_HCOUNTER count = NULL;
    LONGLONG base = 0;
    if (!add("\\System\\Processes", &count))
        return;
    PDH_STATUS code = PdhGetCounterTimeBase(count, &base);
    printf("%08lX %lld", HEX(code), (long long)base);
}

/* ---- Instances of one name ------------------------------------------------------------------------------ */

static void burn(double wanted)
{
    clock_t end = clock() + (clock_t)(wanted * CLOCKS_PER_SEC);
    while (clock() < end)
        continue;
}

#if defined(_WIN32)

typedef HANDLE child_id;

static child_id start_child(const char *program, const char *kind)
{
    char quoted[MAX_PATH + 3];
    snprintf(quoted, sizeof quoted, "\"%s\"", program);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a handle */
    return (HANDLE)_spawnl(_P_NOWAIT, program, quoted, kind, (char *)NULL);
}

static void end_child(child_id child)
{
    TerminateProcess(child, 0);
    WaitForSingleObject(child, 5000);
    CloseHandle(child);
}

#else

typedef pid_t child_id;

static child_id start_child(const char *program, const char *kind)
{
    child_id child = fork();
    if (child == 0) {
        execl(program, program, kind, (char *)NULL);
        _exit(1);
    }
    return child;
}

static void end_child(child_id child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

#endif

/* A child: idle, or after some work. It ends by itself. */
static int be_child(const char *kind)
{
    if (strcmp(kind, "busy") == 0)
        burn(0.2);
    Sleep(20000);
    return 0;
}

/* The first of three processes of this program ends between two samples; the second one has used some time before. If
 * instances are matched by their position, it is compared with the first one, and the third with it. */
static void print_matching(const char *program)
{
    PDH_HCOUNTER times = NULL;
    if (!add("\\Process(*)\\% Processor Time", &times))
        return;
    child_id children[3];
    for (int i = 0; i < 3; i++)
        children[i] = start_child(program, i == 1 ? "busy" : "idle");
    Sleep(600);
    PdhCollectQueryData(query);
    end_child(children[0]);
    Sleep(200);
    PdhCollectQueryData(query);
    DWORD size = 0;
    DWORD count = 0;
    PDH_STATUS code = PdhGetFormattedCounterArrayA(times, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, &size, &count, NULL);
    PDH_FMT_COUNTERVALUE_ITEM_A *items = code == (PDH_STATUS)PDH_MORE_DATA ? malloc(size) : NULL;
    if (items)
        code = PdhGetFormattedCounterArrayA(times, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, &size, &count, items);
    int found = 0;
    int moved = 0;
    for (DWORD i = 0; items && code == ERROR_SUCCESS && i < count; i++) {
        BOOL is_own = strncmp(items[i].szName, "pdh_facts", 9) == 0;
        BOOL has_value = items[i].FmtValue.CStatus == PDH_CSTATUS_VALID_DATA;
        found += is_own;
        moved += is_own && (!has_value || items[i].FmtValue.doubleValue > 50 || items[i].FmtValue.doubleValue < 0);
    }
    free(items);
    for (int i = 1; i < 3; i++)
        end_child(children[i]);
    printf("%08lX, %s", HEX(code), found < 3 ? "no such processes" : moved > 0 ? "by position" : "by identity");
}

/* ---- Lines ---------------------------------------------------------------------------------------------- */

static void begin(const char *what)
{
    if (query)
        printf("\n");
    PdhCloseQuery(query);
    query = NULL;
    PdhOpenQueryA(NULL, 0, &query);
    printf("%s: ", what);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return be_child(argv[1]);
    begin("1 before the first collect");
    print_early_reads();
    begin("2 what fell");
    print_falling();
    begin("3 as long");
    print_long();
    begin("4 equal times");
    print_equal_times();
    begin("5 an object without instances");
    print_single_item();
    begin("6 order of limit, scale and 1000");
    print_order();
    begin("7 the first collect of a thread");
    print_first_wait();
    begin("8 time base of a raw count");
    print_time_base();
    begin("9 instances of one name");
    print_matching(argv[0]);
    printf("\n");
    PdhCloseQuery(query);
    return 0;
}
