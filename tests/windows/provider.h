/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_PROVIDER_H
#define PFB_TEST_PROVIDER_H

/* The data of the tests' V1 provider, in the structures of winperf.h: one object with two counters and two instances.
 */
#include <stddef.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <winperf.h>

enum { PROVIDER_OBJECT = 2000, PROVIDER_SMALL = 2002, PROVIDER_LARGE = 2004, PROVIDER_INSTANCES = 2 };

typedef struct provider_values {
    PERF_COUNTER_BLOCK header;
    DWORD small_value;
    ULONGLONG large_value;
} provider_values;

typedef struct provider_instance {
    PERF_INSTANCE_DEFINITION definition;
    WCHAR name[8];
    provider_values values;
} provider_instance;

typedef struct provider_object {
    PERF_OBJECT_TYPE type;
    PERF_COUNTER_DEFINITION counters[2];
    provider_instance instances[PROVIDER_INSTANCES];
} provider_object;

#define PROVIDER_NAME(text) .name = text, .definition.NameLength = sizeof(text)
#define PROVIDER_INSTANCE(text, small, large)                                                                          \
    {                                                                                                                  \
        PROVIDER_NAME(text), .definition.ByteLength = offsetof(provider_instance, values),                             \
                             .definition.UniqueID = PERF_NO_UNIQUE_ID,                                                 \
                             .definition.NameOffset = offsetof(provider_instance, name), .values = {                   \
                                 {sizeof(provider_values)},                                                            \
                                 small,                                                                                \
                                 large                                                                                 \
                             }                                                                                         \
    }

static const provider_object provided = {
    .type = {.TotalByteLength = sizeof(provider_object),
             .DefinitionLength = offsetof(provider_object, instances),
             .HeaderLength = sizeof(PERF_OBJECT_TYPE),
             .ObjectNameTitleIndex = PROVIDER_OBJECT,
             .ObjectHelpTitleIndex = PROVIDER_OBJECT + 1,
             .DetailLevel = PERF_DETAIL_NOVICE,
             .NumCounters = 2,
             .NumInstances = PROVIDER_INSTANCES},
    .counters = {{.ByteLength = sizeof(PERF_COUNTER_DEFINITION),
                  .CounterNameTitleIndex = PROVIDER_SMALL,
                  .CounterHelpTitleIndex = PROVIDER_SMALL + 1,
                  .DetailLevel = PERF_DETAIL_NOVICE,
                  .CounterType = PERF_COUNTER_RAWCOUNT,
                  .CounterSize = sizeof(DWORD),
                  .CounterOffset = offsetof(provider_values, small_value)},
                 {.ByteLength = sizeof(PERF_COUNTER_DEFINITION),
                  .CounterNameTitleIndex = PROVIDER_LARGE,
                  .CounterHelpTitleIndex = PROVIDER_LARGE + 1,
                  .DetailLevel = PERF_DETAIL_NOVICE,
                  .CounterType = PERF_COUNTER_LARGE_RAWCOUNT,
                  .CounterSize = sizeof(ULONGLONG),
                  .CounterOffset = offsetof(provider_values, large_value)}},
    .instances = {PROVIDER_INSTANCE(L"alpha", 4000000001u, 18000000000000000001ull),
                  PROVIDER_INSTANCE(L"_Total", 7u, 8ull)},
};

#endif
