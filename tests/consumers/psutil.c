/* SPDX-License-Identifier: MIT */
/* psutil: a thread of PDH collects, an event with a name calls back, and the callback reads the value. With "now": one
 * collect, which fails where there is no swap; then the value is 0. */
#include "consumer.h"

static PDH_HCOUNTER counter;
static HANDLE was_read;

static VOID CALLBACK read_value(PVOID context, BOOLEAN has_timed_out)
{
    PDH_FMT_COUNTERVALUE value;
    (void)context;
    (void)has_timed_out;
    if (IS(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, 0, &value), ERROR_SUCCESS)) {
        printf("load\t%.17g\n", value.doubleValue);
        fflush(stdout);
        SetEvent(was_read);
    }
}

static int read_once(LPCWSTR path)
{
    PDH_HQUERY query = NULL;
    PDH_FMT_COUNTERVALUE value = {0};
    DEMAND(IS(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS));
    DEMAND(IS(PdhAddEnglishCounterW(query, path, 0, &counter), ERROR_SUCCESS));
    if (IS(PdhCollectQueryData(query), ERROR_SUCCESS))
        DEMAND(IS(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, 0, &value), ERROR_SUCCESS));
    printf("now\t%.17g\n", value.doubleValue);
    DEMAND(IS(PdhRemoveCounter(counter), ERROR_SUCCESS));
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    return 0;
}

int main(int argc, char **argv)
{
    WCHAR path[PDH_MAX_COUNTER_PATH];
    HQUERY query = NULL;
    HANDLE wait = NULL;
    DEMAND(argc >= 2);
    widen(argv[1], path, PDH_MAX_COUNTER_PATH);
    if (argc > 2)
        return read_once(path);
    was_read = CreateEventW(NULL, TRUE, FALSE, NULL);
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, L"LoadUpdateEvent");
    DEMAND(was_read && event);
    DEMAND(IS(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS));
    DEMAND(IS(PdhAddEnglishCounterW(query, path, 0, &counter), ERROR_SUCCESS));
    DEMAND(IS(PdhCollectQueryDataEx(query, 1, event), ERROR_SUCCESS));
    DEMAND(
        RegisterWaitForSingleObject(&wait, event, (WAITORTIMERCALLBACK)read_value, NULL, INFINITE, WT_EXECUTEDEFAULT));
    DEMAND(WaitForSingleObject(was_read, 20000) == WAIT_OBJECT_0);
    DEMAND(UnregisterWait(wait));
    DEMAND(IS(PdhRemoveCounter(counter), ERROR_SUCCESS));
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    DEMAND(CloseHandle(event) && CloseHandle(was_read));
    return 0;
}
