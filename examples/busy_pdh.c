/* SPDX-License-Identifier: MIT */
/* A program for Windows: prints once a second, seven times, how busy the processors are. */
#include <pdh.h>
#include <pdhmsg.h>
#include <stdio.h>
#include <windows.h>

int main(void)
{
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER busy = NULL;
    PDH_FMT_COUNTERVALUE value = {0};
    PDH_STATUS status = PdhOpenQueryW(NULL, 0, &query);
    if (status == ERROR_SUCCESS)
        status = PdhAddEnglishCounterW(query, L"\\Processor(_Total)\\% Processor Time", 0, &busy);
    if (status == ERROR_SUCCESS)
        status = PdhCollectQueryData(query); /* a percentage of time needs two samples */
    for (int i = 0; i < 7 && status == ERROR_SUCCESS; i++) {
        Sleep(1000);
        status = PdhCollectQueryData(query);
        if (status == ERROR_SUCCESS)
            status = PdhGetFormattedCounterValue(busy, PDH_FMT_DOUBLE, NULL, &value);
        if (status == ERROR_SUCCESS)
            printf("%5.1f %%%s\n", value.doubleValue, value.doubleValue > 80 ? "  busy" : "");
    }
    if (query)
        PdhCloseQuery(query);
    if (status != ERROR_SUCCESS)
        printf("PDH status %08lX\n", (unsigned long)status);
    return status != ERROR_SUCCESS;
}
