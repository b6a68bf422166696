/* SPDX-License-Identifier: MIT */
/* Prints the raw values that Microsoft's CpuPerfCounters class reads: a line per sample and instance, with the values
 * in the order of their ids. Ends with the code of the last call. */
#include "CpuPerfCounters.h"

#include <windows.h>

#include <stdio.h>

int wmain()
{
    static CpuPerfData data[30];
    CpuPerfCounters counters;
    CpuPerfTimestamp time;
    unsigned used;
    unsigned status;
    while ((status = counters.ReadData(&time, data, 30, &used)) == ERROR_SUCCESS) {
        for (unsigned i = 0; i < used; i++) {
            const CpuPerfData &d = data[i];
            const unsigned __int64 values[] = {d.ProcessorTime,
                                               d.UserTime,
                                               d.PrivilegedTime,
                                               d.Interrupts,
                                               d.DpcTime,
                                               d.InterruptTime,
                                               d.DpcsQueued,
                                               d.Dpcs,
                                               d.IdleTime,
                                               d.C1Time,
                                               d.C2Time,
                                               d.C3Time,
                                               d.C1Transitions,
                                               d.C2Transitions,
                                               d.C3Transitions,
                                               d.PriorityTime,
                                               d.ParkingStatus,
                                               d.ProcessorFrequency,
                                               d.PercentMaximumFrequency,
                                               d.ProcessorStateFlags,
                                               d.ClockInterrupts,
                                               d.AverageIdleTime,
                                               d.AverageIdleTimeBase,
                                               d.IdleBreakEvents,
                                               d.ProcessorPerformance,
                                               d.ProcessorPerformanceBase,
                                               d.ProcessorUtility,
                                               d.UtilityBase,
                                               d.PrivilegedUtility,
                                               d.PercentPerformanceLimit,
                                               d.PerformanceLimitFlags};
            printf("%lld %lld %lld %ls", time.PerfTimeStamp, time.PerfTime100NSec, time.PerfFreq, d.Name);
            for (unsigned k = 0; k < sizeof values / sizeof values[0]; k++)
                printf(" %llu", values[k]);
            printf("\n");
        }
    }
    printf("%u\n", status);
    return 0;
}
