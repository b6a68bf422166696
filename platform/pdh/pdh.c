/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h, which differ only in their strings: A in UTF-8, W in UTF-16. */
#include "perfblock/pdh.h"

#include "pdh/lists.h"
#include "pdh/values.h"
#include "pdh/worker.h"

#include <string.h>

/* The signatures are those of Windows. */
/* NOLINTBEGIN(readability-non-const-parameter,readability-function-size) */

#define WIDE(name) ((pdh_text){(name), true})
#define NARROW(name) ((pdh_text){(name), false})

static const pdh_text none = {NULL, false};

static uint32_t open_query(pdh_text source, DWORD_PTR user, PDH_HQUERY *query)
{
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    if (!query)
        return PDH_INVALID_ARGUMENT;
    pdh_data_source *opened = pfb_pdh_open_named(source, &code);
    return opened ? pfb_pdh_open_query(opened, user, query) : code;
}

static uint32_t open_query_h(PDH_HLOG log, DWORD_PTR user, PDH_HQUERY *query)
{
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    if (!query)
        return PDH_INVALID_ARGUMENT;
    pdh_data_source *opened = pfb_pdh_open_source(none, &log, &code);
    return opened ? pfb_pdh_open_query(opened, user, query) : code;
}

/* Dialogs are not shown: as if the user had cancelled them. */
static uint32_t cancel(const void *required)
{
    return required ? PDH_DIALOG_CANCELLED : PDH_INVALID_ARGUMENT;
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

PDH_STATUS pfb_PdhOpenQueryH(PDH_HLOG log, DWORD_PTR user, PDH_HQUERY *query)
{
    return (PDH_STATUS)open_query_h(log, user, query);
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

PDH_STATUS pfb_PdhSetQueryTimeRange(PDH_HQUERY query, PPDH_TIME_INFO range)
{
    return (PDH_STATUS)pfb_pdh_set_range(query, range);
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

PDH_STATUS pfb_PdhCalculateCounterFromRawValue(PDH_HCOUNTER counter, DWORD format, PPDH_RAW_COUNTER newer,
                                               PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value)
{
    return (PDH_STATUS)pfb_pdh_calculate(counter, format, newer, older, value);
}

PDH_STATUS pfb_PdhFormatFromRawValue(DWORD type, DWORD format, LONGLONG *time_base, PPDH_RAW_COUNTER newer,
                                     PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value)
{
    return (PDH_STATUS)pfb_pdh_format_raw(type, format, time_base, newer, older, value);
}

PDH_STATUS pfb_PdhComputeCounterStatistics(PDH_HCOUNTER counter, DWORD format, DWORD first, DWORD count,
                                           PPDH_RAW_COUNTER ring, PPDH_STATISTICS statistics)
{
    return (PDH_STATUS)pfb_pdh_statistics(counter, format, first, count, ring, statistics);
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

/* ---- Paths ----------------------------------------------------------------------------------------------- */

PDH_STATUS pfb_PdhMakeCounterPathA(PPDH_COUNTER_PATH_ELEMENTS_A elements, LPSTR path, LPDWORD size, DWORD flags)
{
    return (PDH_STATUS)pfb_pdh_make_path(elements, path, size, flags, false);
}

PDH_STATUS pfb_PdhMakeCounterPathW(PPDH_COUNTER_PATH_ELEMENTS_W elements, LPWSTR path, LPDWORD size, DWORD flags)
{
    return (PDH_STATUS)pfb_pdh_make_path(elements, path, size, flags, true);
}

PDH_STATUS pfb_PdhParseCounterPathA(LPCSTR path, PPDH_COUNTER_PATH_ELEMENTS_A elements, LPDWORD size_bytes, DWORD flags)
{
    (void)flags;
    return (PDH_STATUS)pfb_pdh_split_path(NARROW(path), elements, size_bytes, false);
}

PDH_STATUS pfb_PdhParseCounterPathW(LPCWSTR path, PPDH_COUNTER_PATH_ELEMENTS_W elements, LPDWORD size_bytes,
                                    DWORD flags)
{
    (void)flags;
    return (PDH_STATUS)pfb_pdh_split_path(WIDE(path), elements, size_bytes, true);
}

PDH_STATUS pfb_PdhParseInstanceNameA(LPCSTR text, LPSTR instance, LPDWORD instance_size, LPSTR parent,
                                     LPDWORD parent_size, LPDWORD index)
{
    return (PDH_STATUS)pfb_pdh_split_instance(NARROW(text), instance, instance_size, parent, parent_size, index, false);
}

PDH_STATUS pfb_PdhParseInstanceNameW(LPCWSTR text, LPWSTR instance, LPDWORD instance_size, LPWSTR parent,
                                     LPDWORD parent_size, LPDWORD index)
{
    return (PDH_STATUS)pfb_pdh_split_instance(WIDE(text), instance, instance_size, parent, parent_size, index, true);
}

PDH_STATUS pfb_PdhValidatePathA(LPCSTR path)
{
    return (PDH_STATUS)pfb_pdh_validate(NULL, NARROW(path));
}

PDH_STATUS pfb_PdhValidatePathW(LPCWSTR path)
{
    return (PDH_STATUS)pfb_pdh_validate(NULL, WIDE(path));
}

PDH_STATUS pfb_PdhValidatePathExA(PDH_HLOG log, LPCSTR path)
{
    return (PDH_STATUS)pfb_pdh_validate(log, NARROW(path));
}

PDH_STATUS pfb_PdhValidatePathExW(PDH_HLOG log, LPCWSTR path)
{
    return (PDH_STATUS)pfb_pdh_validate(log, WIDE(path));
}

PDH_STATUS pfb_PdhExpandWildCardPathA(LPCSTR source, LPCSTR path, LPSTR list, LPDWORD size, DWORD flags)
{
    return (PDH_STATUS)pfb_pdh_expand(NARROW(source), NULL, NARROW(path), list, size, flags, false);
}

PDH_STATUS pfb_PdhExpandWildCardPathW(LPCWSTR source, LPCWSTR path, LPWSTR list, LPDWORD size, DWORD flags)
{
    return (PDH_STATUS)pfb_pdh_expand(WIDE(source), NULL, WIDE(path), list, size, flags, true);
}

PDH_STATUS pfb_PdhExpandWildCardPathHA(PDH_HLOG log, LPCSTR path, LPSTR list, LPDWORD size, DWORD flags)
{
    return (PDH_STATUS)pfb_pdh_expand(none, &log, NARROW(path), list, size, flags, false);
}

PDH_STATUS pfb_PdhExpandWildCardPathHW(PDH_HLOG log, LPCWSTR path, LPWSTR list, LPDWORD size, DWORD flags)
{
    return (PDH_STATUS)pfb_pdh_expand(none, &log, WIDE(path), list, size, flags, true);
}

PDH_STATUS pfb_PdhExpandCounterPathA(LPCSTR path, LPSTR list, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_expand(none, NULL, NARROW(path), list, size, 0, false);
}

PDH_STATUS pfb_PdhExpandCounterPathW(LPCWSTR path, LPWSTR list, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_expand(none, NULL, WIDE(path), list, size, 0, true);
}

/* ---- Lists ----------------------------------------------------------------------------------------------- */

PDH_STATUS pfb_PdhEnumMachinesA(LPCSTR source, LPSTR list, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_list_machines(NARROW(source), NULL, list, size, false);
}

PDH_STATUS pfb_PdhEnumMachinesW(LPCWSTR source, LPWSTR list, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_list_machines(WIDE(source), NULL, list, size, true);
}

PDH_STATUS pfb_PdhEnumMachinesHA(PDH_HLOG log, LPSTR list, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_list_machines(none, &log, list, size, false);
}

PDH_STATUS pfb_PdhEnumMachinesHW(PDH_HLOG log, LPWSTR list, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_list_machines(none, &log, list, size, true);
}

PDH_STATUS pfb_PdhEnumObjectsA(LPCSTR source, LPCSTR machine, LPSTR list, LPDWORD size, DWORD detail, BOOL refresh)
{
    return (PDH_STATUS)pfb_pdh_list_objects(NARROW(source), NULL, NARROW(machine), list, size, detail, refresh != 0,
                                            false);
}

PDH_STATUS pfb_PdhEnumObjectsW(LPCWSTR source, LPCWSTR machine, LPWSTR list, LPDWORD size, DWORD detail, BOOL refresh)
{
    return (PDH_STATUS)pfb_pdh_list_objects(WIDE(source), NULL, WIDE(machine), list, size, detail, refresh != 0, true);
}

PDH_STATUS pfb_PdhEnumObjectsHA(PDH_HLOG log, LPCSTR machine, LPSTR list, LPDWORD size, DWORD detail, BOOL refresh)
{
    return (PDH_STATUS)pfb_pdh_list_objects(none, &log, NARROW(machine), list, size, detail, refresh != 0, false);
}

PDH_STATUS pfb_PdhEnumObjectsHW(PDH_HLOG log, LPCWSTR machine, LPWSTR list, LPDWORD size, DWORD detail, BOOL refresh)
{
    return (PDH_STATUS)pfb_pdh_list_objects(none, &log, WIDE(machine), list, size, detail, refresh != 0, true);
}

PDH_STATUS pfb_PdhEnumObjectItemsA(LPCSTR source, LPCSTR machine, LPCSTR object, LPSTR counters, LPDWORD counters_size,
                                   LPSTR instances, LPDWORD instances_size, DWORD detail, DWORD flags)
{
    (void)flags;
    return (PDH_STATUS)pfb_pdh_list_items(NARROW(source), NULL, NARROW(machine), NARROW(object),
                                          ((pdh_list){counters, counters_size}),
                                          ((pdh_list){instances, instances_size}), detail, false);
}

PDH_STATUS pfb_PdhEnumObjectItemsW(LPCWSTR source, LPCWSTR machine, LPCWSTR object, LPWSTR counters,
                                   LPDWORD counters_size, LPWSTR instances, LPDWORD instances_size, DWORD detail,
                                   DWORD flags)
{
    (void)flags;
    return (PDH_STATUS)pfb_pdh_list_items(WIDE(source), NULL, WIDE(machine), WIDE(object),
                                          ((pdh_list){counters, counters_size}),
                                          ((pdh_list){instances, instances_size}), detail, true);
}

PDH_STATUS pfb_PdhEnumObjectItemsHA(PDH_HLOG log, LPCSTR machine, LPCSTR object, LPSTR counters, LPDWORD counters_size,
                                    LPSTR instances, LPDWORD instances_size, DWORD detail, DWORD flags)
{
    (void)flags;
    return (PDH_STATUS)pfb_pdh_list_items(none, &log, NARROW(machine), NARROW(object),
                                          ((pdh_list){counters, counters_size}),
                                          ((pdh_list){instances, instances_size}), detail, false);
}

PDH_STATUS pfb_PdhEnumObjectItemsHW(PDH_HLOG log, LPCWSTR machine, LPCWSTR object, LPWSTR counters,
                                    LPDWORD counters_size, LPWSTR instances, LPDWORD instances_size, DWORD detail,
                                    DWORD flags)
{
    (void)flags;
    return (PDH_STATUS)pfb_pdh_list_items(none, &log, WIDE(machine), WIDE(object),
                                          ((pdh_list){counters, counters_size}),
                                          ((pdh_list){instances, instances_size}), detail, true);
}

PDH_STATUS pfb_PdhGetDefaultPerfObjectA(LPCSTR source, LPCSTR machine, LPSTR object, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_default_object(NARROW(source), NULL, NARROW(machine), object, size, false);
}

PDH_STATUS pfb_PdhGetDefaultPerfObjectW(LPCWSTR source, LPCWSTR machine, LPWSTR object, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_default_object(WIDE(source), NULL, WIDE(machine), object, size, true);
}

PDH_STATUS pfb_PdhGetDefaultPerfObjectHA(PDH_HLOG log, LPCSTR machine, LPSTR object, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_default_object(none, &log, NARROW(machine), object, size, false);
}

PDH_STATUS pfb_PdhGetDefaultPerfObjectHW(PDH_HLOG log, LPCWSTR machine, LPWSTR object, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_default_object(none, &log, WIDE(machine), object, size, true);
}

PDH_STATUS pfb_PdhGetDefaultPerfCounterA(LPCSTR source, LPCSTR machine, LPCSTR object, LPSTR counter, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_default_counter(NARROW(source), NULL, NARROW(machine), NARROW(object), counter, size,
                                               false);
}

PDH_STATUS pfb_PdhGetDefaultPerfCounterW(LPCWSTR source, LPCWSTR machine, LPCWSTR object, LPWSTR counter, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_default_counter(WIDE(source), NULL, WIDE(machine), WIDE(object), counter, size, true);
}

PDH_STATUS pfb_PdhGetDefaultPerfCounterHA(PDH_HLOG log, LPCSTR machine, LPCSTR object, LPSTR counter, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_default_counter(none, &log, NARROW(machine), NARROW(object), counter, size, false);
}

PDH_STATUS pfb_PdhGetDefaultPerfCounterHW(PDH_HLOG log, LPCWSTR machine, LPCWSTR object, LPWSTR counter, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_default_counter(none, &log, WIDE(machine), WIDE(object), counter, size, true);
}

PDH_STATUS pfb_PdhLookupPerfNameByIndexA(LPCSTR machine, DWORD index, LPSTR name, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_name_of_index(NARROW(machine), index, name, size, false);
}

PDH_STATUS pfb_PdhLookupPerfNameByIndexW(LPCWSTR machine, DWORD index, LPWSTR name, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_name_of_index(WIDE(machine), index, name, size, true);
}

PDH_STATUS pfb_PdhLookupPerfIndexByNameA(LPCSTR machine, LPCSTR name, LPDWORD index)
{
    return (PDH_STATUS)pfb_pdh_index_of_name(NARROW(machine), NARROW(name), index);
}

PDH_STATUS pfb_PdhLookupPerfIndexByNameW(LPCWSTR machine, LPCWSTR name, LPDWORD index)
{
    return (PDH_STATUS)pfb_pdh_index_of_name(WIDE(machine), WIDE(name), index);
}

PDH_STATUS pfb_PdhConnectMachineA(LPCSTR machine)
{
    return (PDH_STATUS)pfb_pdh_connect(NARROW(machine));
}

PDH_STATUS pfb_PdhConnectMachineW(LPCWSTR machine)
{
    return (PDH_STATUS)pfb_pdh_connect(WIDE(machine));
}

/* ---- Logs ------------------------------------------------------------------------------------------------ */

PDH_STATUS pfb_PdhBindInputDataSourceA(PDH_HLOG *log, LPCSTR names)
{
    return (PDH_STATUS)pfb_pdh_bind(log, NARROW(names));
}

PDH_STATUS pfb_PdhBindInputDataSourceW(PDH_HLOG *log, LPCWSTR names)
{
    return (PDH_STATUS)pfb_pdh_bind(log, WIDE(names));
}

PDH_STATUS pfb_PdhCloseLog(PDH_HLOG log, DWORD flags)
{
    (void)flags;
    return (PDH_STATUS)pfb_pdh_close_log(log);
}

PDH_STATUS pfb_PdhGetDataSourceTimeRangeA(LPCSTR source, LPDWORD count, PPDH_TIME_INFO range, LPDWORD size_bytes)
{
    return (PDH_STATUS)pfb_pdh_time_range(NARROW(source), NULL, count, range, size_bytes);
}

PDH_STATUS pfb_PdhGetDataSourceTimeRangeW(LPCWSTR source, LPDWORD count, PPDH_TIME_INFO range, LPDWORD size_bytes)
{
    return (PDH_STATUS)pfb_pdh_time_range(WIDE(source), NULL, count, range, size_bytes);
}

PDH_STATUS pfb_PdhGetDataSourceTimeRangeH(PDH_HLOG log, LPDWORD count, PPDH_TIME_INFO range, LPDWORD size_bytes)
{
    return (PDH_STATUS)pfb_pdh_time_range(none, &log, count, range, size_bytes);
}

PDH_STATUS pfb_PdhGetLogFileSize(PDH_HLOG log, LONGLONG *size_bytes)
{
    return (PDH_STATUS)pfb_pdh_log_size(log, size_bytes);
}

PDH_STATUS pfb_PdhGetLogFileTypeA(LPCSTR name, LPDWORD type)
{
    return (PDH_STATUS)pfb_pdh_log_type(NARROW(name), type);
}

PDH_STATUS pfb_PdhGetLogFileTypeW(LPCWSTR name, LPDWORD type)
{
    return (PDH_STATUS)pfb_pdh_log_type(WIDE(name), type);
}

PDH_STATUS pfb_PdhReadRawLogRecord(PDH_HLOG log, FILETIME time, PPDH_RAW_LOG_RECORD record, LPDWORD size_bytes)
{
    return (PDH_STATUS)pfb_pdh_read_record(log, time, record, size_bytes);
}

/* ---- The library ----------------------------------------------------------------------------------------- */

PDH_STATUS pfb_PdhGetDllVersion(LPDWORD version)
{
    return (PDH_STATUS)get_version(version);
}

PDH_STATUS pfb_PdhSetDefaultRealTimeDataSource(DWORD source)
{
    return (PDH_STATUS)pfb_pdh_set_default(source);
}

/* ---- Functions that do nothing --------------------------------------------------------------------------- */

PDH_STATUS pfb_PdhOpenLogA(LPCSTR name, DWORD flags, LPDWORD type, PDH_HQUERY query, DWORD max_size, LPCSTR caption,
                           PDH_HLOG *log)
{
    (void)query;
    (void)max_size;
    (void)caption;
    return (PDH_STATUS)pfb_pdh_open_log(NARROW(name), flags, type, log);
}

PDH_STATUS pfb_PdhOpenLogW(LPCWSTR name, DWORD flags, LPDWORD type, PDH_HQUERY query, DWORD max_size, LPCWSTR caption,
                           PDH_HLOG *log)
{
    (void)query;
    (void)max_size;
    (void)caption;
    return (PDH_STATUS)pfb_pdh_open_log(WIDE(name), flags, type, log);
}

PDH_STATUS pfb_PdhUpdateLogA(PDH_HLOG log, LPCSTR text)
{
    (void)log;
    (void)text;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS pfb_PdhUpdateLogW(PDH_HLOG log, LPCWSTR text)
{
    (void)log;
    (void)text;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS pfb_PdhUpdateLogFileCatalog(PDH_HLOG log)
{
    (void)log;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS pfb_PdhBrowseCountersA(PPDH_BROWSE_DLG_CONFIG_A config)
{
    return (PDH_STATUS)cancel(config);
}

PDH_STATUS pfb_PdhBrowseCountersW(PPDH_BROWSE_DLG_CONFIG_W config)
{
    return (PDH_STATUS)cancel(config);
}

PDH_STATUS pfb_PdhBrowseCountersHA(PPDH_BROWSE_DLG_CONFIG_HA config)
{
    return (PDH_STATUS)cancel(config);
}

PDH_STATUS pfb_PdhBrowseCountersHW(PPDH_BROWSE_DLG_CONFIG_HW config)
{
    return (PDH_STATUS)cancel(config);
}

PDH_STATUS pfb_PdhSelectDataSourceA(HANDLE window, DWORD flags, LPSTR source, LPDWORD size)
{
    (void)window;
    (void)flags;
    (void)source;
    return (PDH_STATUS)cancel(size);
}

PDH_STATUS pfb_PdhSelectDataSourceW(HANDLE window, DWORD flags, LPWSTR source, LPDWORD size)
{
    (void)window;
    (void)flags;
    (void)source;
    return (PDH_STATUS)cancel(size);
}

PDH_STATUS pfb_PdhEnumLogSetNamesA(LPCSTR source, LPSTR list, LPDWORD size)
{
    (void)source;
    (void)list;
    (void)size;
    return (PDH_STATUS)PDH_INVALID_DATASOURCE;
}

PDH_STATUS pfb_PdhEnumLogSetNamesW(LPCWSTR source, LPWSTR list, LPDWORD size)
{
    (void)source;
    (void)list;
    (void)size;
    return (PDH_STATUS)PDH_INVALID_DATASOURCE;
}

PDH_STATUS pfb_PdhVerifySQLDBA(LPCSTR source)
{
    (void)source;
    return (PDH_STATUS)PDH_INVALID_DATASOURCE;
}

PDH_STATUS pfb_PdhVerifySQLDBW(LPCWSTR source)
{
    (void)source;
    return (PDH_STATUS)PDH_INVALID_DATASOURCE;
}

PDH_STATUS pfb_PdhCreateSQLTablesA(LPCSTR source)
{
    (void)source;
    return (PDH_STATUS)PDH_INVALID_DATASOURCE;
}

PDH_STATUS pfb_PdhCreateSQLTablesW(LPCWSTR source)
{
    (void)source;
    return (PDH_STATUS)PDH_INVALID_DATASOURCE;
}

PDH_STATUS pfb_PdhGetLogSetGUID(PDH_HLOG log, GUID *guid, int *run)
{
    (void)guid;
    (void)run;
    return (PDH_STATUS)pfb_pdh_log_set(log);
}

PDH_STATUS pfb_PdhSetLogSetRunID(PDH_HLOG log, int run)
{
    (void)run;
    return (PDH_STATUS)pfb_pdh_log_set(log);
}

PDH_STATUS pfb_PdhGetExplainText(void *machine, void *object, void *text)
{
    (void)machine;
    (void)object;
    (void)text;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS pfb_PdhTranslate009CounterA(LPCSTR english_path, LPSTR path, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_translate(NARROW(english_path), path, size, true, false);
}

PDH_STATUS pfb_PdhTranslate009CounterW(LPCWSTR english_path, LPWSTR path, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_translate(WIDE(english_path), path, size, true, true);
}

PDH_STATUS pfb_PdhTranslateLocaleCounterA(LPCSTR path, LPSTR english_path, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_translate(NARROW(path), english_path, size, false, false);
}

PDH_STATUS pfb_PdhTranslateLocaleCounterW(LPCWSTR path, LPWSTR english_path, LPDWORD size)
{
    return (PDH_STATUS)pfb_pdh_translate(WIDE(path), english_path, size, false, true);
}

PDH_STATUS pfb_PdhRelogA(LPCSTR name, void *info)
{
    (void)name;
    (void)info;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS pfb_PdhRelogW(LPCWSTR name, void *info)
{
    (void)name;
    (void)info;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS pfb_PdhAddRelogCounter(PDH_HQUERY query, LPCWSTR path, DWORD type, DWORD scale, DWORD_PTR user,
                                  LONGLONG *time, PDH_HCOUNTER *counter)
{
    (void)query;
    (void)path;
    (void)type;
    (void)scale;
    (void)user;
    (void)time;
    (void)counter;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS pfb_PdhWriteRelogSample(PDH_HQUERY query, void *time, DWORD flags)
{
    (void)query;
    (void)time;
    (void)flags;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS pfb_PdhSetCounterValue(PDH_HCOUNTER counter, void *value, LPCWSTR instance)
{
    (void)counter;
    (void)value;
    (void)instance;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS pfb_PdhResetRelogCounterValues(PDH_HQUERY query)
{
    (void)query;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS pfb_PdhAdd009CounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user, PDH_HCOUNTER *counter)
{
    return (PDH_STATUS)pfb_pdh_add_counter(query, NARROW(path), user, true, counter);
}

PDH_STATUS pfb_PdhAdd009CounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER *counter)
{
    return (PDH_STATUS)pfb_pdh_add_counter(query, WIDE(path), user, true, counter);
}

PDH_STATUS pfb_PdhListLogFileHeaderA(LPCSTR name, LPSTR list, LPDWORD size)
{
    (void)name;
    (void)list;
    (void)size;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

PDH_STATUS pfb_PdhListLogFileHeaderW(LPCWSTR name, LPWSTR list, LPDWORD size)
{
    (void)name;
    (void)list;
    (void)size;
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
}

/* NOLINTEND(readability-non-const-parameter,readability-function-size) */
