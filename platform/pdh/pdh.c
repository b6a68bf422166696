/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h, which differ only in their strings: A in UTF-8, W in UTF-16. */
#include "perfblock/pdh.h"

#include "pdh/query_state.h"
#include "pdh/values.h"
#include "pdh/worker.h"

#include <string.h>

#define WIDE(name) ((pdh_text){(name), true})
#define NARROW(name) ((pdh_text){(name), false})

static uint32_t open_query(pdh_text source, DWORD_PTR user, PDH_HQUERY *query)
{
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    if (!query)
        return PDH_INVALID_ARGUMENT;
    pdh_data_source *opened = pfb_pdh_open_named(source, &code);
    return opened ? pfb_pdh_open_query(opened, user, query) : code;
}

static uint32_t collect(HANDLE handle, LONGLONG *time)
{
    pdh_query *query = pfb_pdh_lock_query(handle);
    if (!query)
        return PDH_INVALID_HANDLE;
    uint32_t code = pfb_pdh_collect(query);
    if (time && query->sample_time > 0)
        *time = query->sample_time;
    pfb_pdh_unlock(query);
    return code;
}

static uint32_t set_scale(HANDLE handle, LONG factor)
{
    pdh_counter *counter;
    pdh_query *query = pfb_pdh_lock_counter(handle, &counter);
    bool is_valid = factor >= PDH_MIN_SCALE && factor <= PDH_MAX_SCALE;
    if (!query)
        return PDH_INVALID_HANDLE;
    if (is_valid)
        counter->scale = factor;
    pfb_pdh_unlock(query);
    return is_valid ? PDH_CSTATUS_VALID_DATA : PDH_INVALID_ARGUMENT;
}

static BOOL is_real_time(HANDLE handle)
{
    pdh_query *query = pfb_pdh_lock_query(handle);
    if (!query)
        return 0;
    bool is_real = query->source->is_real_time;
    pfb_pdh_unlock(query);
    return is_real;
}

static uint32_t get_version(DWORD *version)
{
    if (!version)
        return PDH_INVALID_ARGUMENT;
    *version = PDH_VERSION;
    return PDH_CSTATUS_VALID_DATA;
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

PDH_STATUS pfb_PdhOpenQueryA(LPCSTR source, DWORD_PTR user, PDH_HQUERY *query)
{
    return (PDH_STATUS)open_query(NARROW(source), user, query);
}

PDH_STATUS pfb_PdhOpenQueryW(LPCWSTR source, DWORD_PTR user, PDH_HQUERY *query)
{
    return (PDH_STATUS)open_query(WIDE(source), user, query);
}

PDH_STATUS pfb_PdhCloseQuery(PDH_HQUERY query)
{
    return (PDH_STATUS)pfb_pdh_close_query(query);
}

PDH_STATUS pfb_PdhAddCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user, PDH_HCOUNTER *counter)
{
    return (PDH_STATUS)pfb_pdh_add_counter(query, NARROW(path), user, false, counter);
}

PDH_STATUS pfb_PdhAddCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER *counter)
{
    return (PDH_STATUS)pfb_pdh_add_counter(query, WIDE(path), user, false, counter);
}

PDH_STATUS pfb_PdhAddEnglishCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user, PDH_HCOUNTER *counter)
{
    return (PDH_STATUS)pfb_pdh_add_counter(query, NARROW(path), user, true, counter);
}

PDH_STATUS pfb_PdhAddEnglishCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER *counter)
{
    return (PDH_STATUS)pfb_pdh_add_counter(query, WIDE(path), user, true, counter);
}

PDH_STATUS pfb_PdhRemoveCounter(PDH_HCOUNTER counter)
{
    return (PDH_STATUS)pfb_pdh_remove_counter(counter);
}

BOOL pfb_PdhIsRealTimeQuery(PDH_HQUERY query)
{
    return is_real_time(query);
}

/* ---- Collecting ------------------------------------------------------------------------------------------ */

PDH_STATUS pfb_PdhCollectQueryData(PDH_HQUERY query)
{
    return (PDH_STATUS)collect(query, NULL);
}

PDH_STATUS pfb_PdhCollectQueryDataWithTime(PDH_HQUERY query, LONGLONG *time)
{
    return (PDH_STATUS)collect(query, time);
}

PDH_STATUS pfb_PdhCollectQueryDataEx(PDH_HQUERY query, DWORD seconds, HANDLE event)
{
    return (PDH_STATUS)pfb_pdh_start_worker(query, seconds, event);
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

PDH_STATUS pfb_PdhGetFormattedCounterValue(PDH_HCOUNTER counter, DWORD format, LPDWORD type,
                                           PPDH_FMT_COUNTERVALUE value)
{
    return (PDH_STATUS)pfb_pdh_formatted_value(counter, format, type, value);
}

PDH_STATUS pfb_PdhGetFormattedCounterArrayA(PDH_HCOUNTER counter, DWORD format, LPDWORD size_bytes, LPDWORD count,
                                            PPDH_FMT_COUNTERVALUE_ITEM_A items)
{
    return (PDH_STATUS)pfb_pdh_formatted_array(counter, format, size_bytes, count, items, false);
}

PDH_STATUS pfb_PdhGetFormattedCounterArrayW(PDH_HCOUNTER counter, DWORD format, LPDWORD size_bytes, LPDWORD count,
                                            PPDH_FMT_COUNTERVALUE_ITEM_W items)
{
    return (PDH_STATUS)pfb_pdh_formatted_array(counter, format, size_bytes, count, items, true);
}

PDH_STATUS pfb_PdhGetRawCounterValue(PDH_HCOUNTER counter, LPDWORD type, PPDH_RAW_COUNTER value)
{
    return (PDH_STATUS)pfb_pdh_raw_value(counter, type, value);
}

PDH_STATUS pfb_PdhGetRawCounterArrayA(PDH_HCOUNTER counter, LPDWORD size_bytes, LPDWORD count,
                                      PPDH_RAW_COUNTER_ITEM_A items)
{
    return (PDH_STATUS)pfb_pdh_raw_array(counter, size_bytes, count, items, false);
}

PDH_STATUS pfb_PdhGetRawCounterArrayW(PDH_HCOUNTER counter, LPDWORD size_bytes, LPDWORD count,
                                      PPDH_RAW_COUNTER_ITEM_W items)
{
    return (PDH_STATUS)pfb_pdh_raw_array(counter, size_bytes, count, items, true);
}

PDH_STATUS pfb_PdhSetCounterScaleFactor(PDH_HCOUNTER counter, LONG factor)
{
    return (PDH_STATUS)set_scale(counter, factor);
}

PDH_STATUS pfb_PdhGetCounterTimeBase(PDH_HCOUNTER counter, LONGLONG *ticks_per_second)
{
    return (PDH_STATUS)pfb_pdh_time_base(counter, ticks_per_second);
}

PDH_STATUS pfb_PdhGetCounterInfoA(PDH_HCOUNTER counter, BOOLEAN has_explain_text, LPDWORD size_bytes,
                                  PPDH_COUNTER_INFO_A info)
{
    return (PDH_STATUS)pfb_pdh_counter_info(counter, has_explain_text != 0, size_bytes, info, false);
}

PDH_STATUS pfb_PdhGetCounterInfoW(PDH_HCOUNTER counter, BOOLEAN has_explain_text, LPDWORD size_bytes,
                                  PPDH_COUNTER_INFO_W info)
{
    return (PDH_STATUS)pfb_pdh_counter_info(counter, has_explain_text != 0, size_bytes, info, true);
}

/* ---- The library ----------------------------------------------------------------------------------------- */

PDH_STATUS pfb_PdhGetDllVersion(LPDWORD version)
{
    return (PDH_STATUS)get_version(version);
}
