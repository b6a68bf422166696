/* SPDX-License-Identifier: MIT */
/* The functions of perflib.h under Windows' own names, for the shared library. */
#include "perflib/perflib.c" /* NOLINT(bugprone-suspicious-include) */

#undef PerfAddCounters
#undef PerfCloseQueryHandle
#undef PerfDeleteCounters
#undef PerfEnumerateCounterSet
#undef PerfEnumerateCounterSetInstances
#undef PerfOpenQueryHandle
#undef PerfQueryCounterData
#undef PerfQueryCounterInfo
#undef PerfQueryCounterSetRegistrationInfo

/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define EXPORT(name) extern __typeof__(pfb_##name) name __attribute__((alias("pfb_" #name), visibility("default")))

EXPORT(PerfAddCounters);
EXPORT(PerfCloseQueryHandle);
EXPORT(PerfDeleteCounters);
EXPORT(PerfEnumerateCounterSet);
EXPORT(PerfEnumerateCounterSetInstances);
EXPORT(PerfOpenQueryHandle);
EXPORT(PerfQueryCounterData);
EXPORT(PerfQueryCounterInfo);
EXPORT(PerfQueryCounterSetRegistrationInfo);
