// SPDX-License-Identifier: MIT
// Runs Microsoft's documented sample program for PerfLib (CpuPerfCounters.cpp), unmodified, over replies in memory. The
// CMake variable PERFBLOCK_SAMPLES is the program's folder. This file is compiled with 16-bit wchar_t, because the
// program treats the names in a reply as wchar_t strings.
#include "baselines.h"

#include <cstring>
#include <vector>

#include <windows.h>

#include <perflib.h>

// Makes the sample program call the functions below instead of those of the platform library.
#undef PerfOpenQueryHandle
#undef PerfCloseQueryHandle
#undef PerfAddCounters
#undef PerfQueryCounterData
#define PerfOpenQueryHandle bench_open_query
#define PerfCloseQueryHandle bench_close_query
#define PerfAddCounters bench_add_counters
#define PerfQueryCounterData bench_query_data

namespace
{

/* The reply that the next query returns. */
const uint8_t *reply_bytes;
size_t reply_size_bytes;

/* The reply that was copied last, and the buffer that it was copied to. The same reply is not copied again to the same
 * buffer, so that only reading is measured. */
const uint8_t *copied_bytes;
const void *copied_to;

ULONG bench_open_query(LPCWSTR, HANDLE *query)
{
    static int object; /* the handle must not be null; nothing else is done with it */
    *query = &object;
    return ERROR_SUCCESS;
}

ULONG bench_close_query(HANDLE)
{
    return ERROR_SUCCESS;
}

ULONG bench_add_counters(HANDLE, PPERF_COUNTER_IDENTIFIER identifier, DWORD)
{
    identifier->Status = ERROR_SUCCESS;
    return ERROR_SUCCESS;
}

ULONG bench_query_data(HANDLE, PPERF_DATA_HEADER data, DWORD size_bytes, LPDWORD actual_bytes)
{
    *actual_bytes = static_cast<DWORD>(reply_size_bytes);
    if (size_bytes < reply_size_bytes)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (copied_bytes != reply_bytes || copied_to != data)
        memcpy(data, reply_bytes, reply_size_bytes);
    copied_bytes = reply_bytes;
    copied_to = data;
    return ERROR_SUCCESS;
}

} // namespace

#include "CpuPerfCounters.cpp"

struct documented_reader {
    CpuPerfCounters counters;
    std::vector<CpuPerfData> rows;
};

documented_reader *documented_new(size_t capacity)
{
    auto *reader = new documented_reader;
    reader->rows.resize(capacity);
    copied_bytes = nullptr; // the reader's buffer is a new one, perhaps at an address used before
    return reader;
}

void documented_delete(documented_reader *reader)
{
    delete reader;
}

bool documented_read(documented_reader *reader, const uint8_t *data, size_t size, size_t *count)
{
    reply_bytes = data;
    reply_size_bytes = size;
    unsigned rows = 0;
    unsigned status =
        reader->counters.ReadData(nullptr, reader->rows.data(), static_cast<unsigned>(reader->rows.size()), &rows);
    *count = rows;
    return status == ERROR_SUCCESS;
}

uint64_t documented_value(const documented_reader *reader, size_t row, uint32_t counter)
{
    const CpuPerfData &data = reader->rows[row];
    switch (counter) {
    case 0:
        return data.ProcessorTime;
    case 11:
        return data.C3Time;
    case 20:
        return data.ClockInterrupts;
    case 31:
        return data.PerformanceLimitFlags;
    default:
        return 0;
    }
}

const void *documented_name(const documented_reader *reader, size_t row)
{
    return reader->rows[row].Name;
}
