/* SPDX-License-Identifier: MIT */
/* Microsoft's sample that lets the user choose a counter: where the dialog is cancelled, the path is that of the
 * command line. */
#include "consumer.h"

CONST ULONG PAUSE_MS = 1;
CONST PWSTR CAPTION = L"Select a counter to monitor.";
static WCHAR chosen[PDH_MAX_COUNTER_PATH];

static PDH_STATUS CALLBACK is_chosen(DWORD_PTR argument)
{
    (void)argument;
    return ERROR_SUCCESS;
}

int main(int argc, char **argv)
{
    PDH_BROWSE_DLG_CONFIG dialog;
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER counter = NULL;
    PDH_FMT_COUNTERVALUE value;
    PDH_RAW_COUNTER raw;
    FILETIME utc;
    SYSTEMTIME time, now;
    DWORD type;
    DEMAND(argc == 2);
    ZeroMemory(&dialog, sizeof dialog);
    dialog.bIncludeInstanceIndex = FALSE;
    dialog.bSingleCounterPerAdd = TRUE;
    dialog.bHideDetailBox = TRUE;
    dialog.hWndOwner = NULL;
    dialog.szReturnPathBuffer = chosen;
    dialog.cchReturnPathLength = PDH_MAX_COUNTER_PATH;
    dialog.pCallBack = is_chosen;
    dialog.CallBackStatus = ERROR_SUCCESS;
    dialog.dwDefaultDetailLevel = PERF_DETAIL_WIZARD;
    dialog.szDialogBoxCaption = CAPTION;
    DEMAND(IS(PdhOpenQuery(NULL, 0, &query), ERROR_SUCCESS));
    DEMAND(IS(PdhBrowseCounters(&dialog), PDH_DIALOG_CANCELLED) && chosen[0] == 0);
    widen(argv[1], chosen, PDH_MAX_COUNTER_PATH);
    DEMAND(IS(PdhAddCounter(query, chosen, 0, &counter), ERROR_SUCCESS));
    for (int i = 0; i < 3; i++) {
        DEMAND(IS(PdhCollectQueryData(query), ERROR_SUCCESS));
        Sleep(PAUSE_MS);
    }
    PDH_STATUS status = PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, &type, &value);
    DEMAND(IsSuccessSeverity(status) && !IsErrorSeverity(status) && !IsWarningSeverity(status));
    printf("%ls\t%.20g\n", chosen, value.doubleValue);
    DEMAND(IS(PdhGetRawCounterValue(counter, &type, &raw), ERROR_SUCCESS));
    DEMAND(LocalFileTimeToFileTime(&raw.TimeStamp, &utc) && FileTimeToSystemTime(&utc, &time));
    printf("year\t%u\nmonth\t%u\nday\t%u\nweekday\t%u\nhour\t%u\nminute\t%u\nsecond\t%u\nmillisecond\t%u\n", time.wYear,
           time.wMonth, time.wDay, time.wDayOfWeek, time.wHour, time.wMinute, time.wSecond, time.wMilliseconds);
    GetLocalTime(&now);
    DEMAND(now.wYear > 2024 && lstrlen(chosen) == lstrlenA(argv[1]));
    DEMAND(IS(PdhCloseQuery(query), ERROR_SUCCESS));
    return 0;
}
