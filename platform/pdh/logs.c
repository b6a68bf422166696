/* SPDX-License-Identifier: MIT */
/* Logs as sources: handles, ranges of time and records. */
#include "pdh/lists.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Handles -------------------------------------------------------------------------------------------- */

/* Makes a handle of a source, which it takes. */
static uint32_t add_log(pdh_data_source *source, PDH_HLOG *log)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    HANDLE handle = pfb_pdh_add_handle(PDH_KIND_LOG, source);
    pfb_lock_release(&pfb_pdh_lock);
    if (!handle) {
        pfb_pdh_release_source(source);
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    *log = handle;
    return PDH_CSTATUS_VALID_DATA;
}

/* Opens the files of a multi-string. */
static pdh_data_source *open_list(pdh_text names, uint32_t *code)
{
    size_t count = 0;
    char *list = pfb_pdh_copy_list(names, PDH_MAX_FILES + 1, &count);
    *code = !list ? PDH_MEMORY_ALLOCATION_FAILURE : count == 0 || count > PDH_MAX_FILES ? PDH_INVALID_ARGUMENT : 0;
    if (*code == 0 && strncmp(list, "SQL:", 4) == 0)
        *code = PDH_INVALID_DATASOURCE;
    if (*code != 0) {
        free(list);
        return NULL;
    }
    return pfb_pdh_open_files(list, count, code);
}

uint32_t pfb_pdh_bind(PDH_HLOG *log, pdh_text names)
{
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    if (!log)
        return PDH_INVALID_ARGUMENT;
    *log = NULL;
    pdh_data_source *source = names.text ? open_list(names, &code) : pfb_pdh_real_time(&code);
    if (!source)
        return code;
    pdh_catalog *catalog = names.text ? pfb_pdh_catalog(source, PDH_CATALOG_ANY, &code) : NULL;
    bool is_mixed = catalog && catalog->is_mixed;
    pfb_pdh_release_catalog(catalog);
    if (is_mixed)
        code = PDH_INVALID_ARGUMENT;
    if (code == PDH_CSTATUS_VALID_DATA)
        return add_log(source, log);
    pfb_pdh_release_source(source);
    return code;
}

uint32_t pfb_pdh_open_log(pdh_text name, DWORD flags, DWORD *type, PDH_HLOG *log)
{
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    if (!name.text || !type || !log)
        return PDH_INVALID_ARGUMENT;
    *log = NULL;
    if ((flags & PDH_LOG_ACCESS_MASK) != PDH_LOG_READ_ACCESS)
        return PDH_NOT_IMPLEMENTED;
    pdh_data_source *source = pfb_pdh_open_named(name, &code);
    if (!source)
        return code;
    pdh_catalog *catalog = pfb_pdh_catalog(source, PDH_CATALOG_ANY, &code);
    if (!catalog) {
        pfb_pdh_release_source(source);
        return code;
    }
    *type = catalog->log_type;
    pfb_pdh_release_catalog(catalog);
    return add_log(source, log);
}

uint32_t pfb_pdh_close_log(PDH_HLOG log)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    pdh_data_source *source = pfb_pdh_remove_handle(log, PDH_KIND_LOG);
    pfb_lock_release(&pfb_pdh_lock);
    if (!source)
        return PDH_INVALID_HANDLE;
    pfb_pdh_release_source(source);
    return PDH_CSTATUS_VALID_DATA;
}

uint32_t pfb_pdh_log_set(PDH_HLOG log)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    bool is_log = pfb_pdh_find_handle(log, PDH_KIND_LOG) != NULL;
    pfb_lock_release(&pfb_pdh_lock);
    return is_log ? PDH_INVALID_DATASOURCE : PDH_INVALID_HANDLE;
}

/* ---- Times ---------------------------------------------------------------------------------------------- */

uint32_t pfb_pdh_time_range(pdh_text name, const PDH_HLOG *log, DWORD *count, PDH_TIME_INFO *range, DWORD *size)
{
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    if (!count || !size)
        return PDH_INVALID_ARGUMENT;
    pdh_data_source *source = pfb_pdh_open_source(name, log, &code);
    if (!source)
        return code;
    pdh_catalog *catalog = source->is_real_time ? NULL : pfb_pdh_catalog(source, PDH_CATALOG_ANY, &code);
    if (source->is_real_time) {
        code = PDH_DATA_SOURCE_IS_REAL_TIME;
    } else if (catalog && *size < sizeof *range) {
        code = PDH_MORE_DATA;
        *size = sizeof *range;
    } else if (catalog && !range) {
        code = PDH_INVALID_ARGUMENT;
    } else if (catalog) {
        uint64_t samples = catalog->sample_count;
        *size = sizeof *range;
        *count = samples > 0;
        *range = (PDH_TIME_INFO){catalog->first_time, catalog->last_time,
                                 samples < UINT32_MAX ? (DWORD)samples : UINT32_MAX};
    }
    pfb_pdh_release_catalog(catalog);
    pfb_pdh_release_source(source);
    return code;
}

uint32_t pfb_pdh_set_range(HANDLE handle, const PDH_TIME_INFO *range)
{
    if (!range)
        return PDH_INVALID_ARGUMENT;
    pdh_query *query = pfb_pdh_lock_query(handle);
    if (!query)
        return PDH_INVALID_HANDLE;
    uint32_t code = query->source->is_real_time          ? PDH_INVALID_HANDLE
                    : range->EndTime <= range->StartTime ? PDH_INVALID_ARGUMENT
                                                         : PDH_CSTATUS_VALID_DATA;
    if (code == PDH_CSTATUS_VALID_DATA) {
        query->from = range->StartTime;
        query->to = range->EndTime;
        pfb_pdh_restart(query);
    }
    pfb_pdh_unlock(query);
    return code;
}

/* ---- Files ---------------------------------------------------------------------------------------------- */

/* Opens the catalog of a log that is not real-time data; null with the code in *code. */
static pdh_catalog *log_catalog(PDH_HLOG log, pdh_data_source **source, uint32_t *code)
{
    static const pdh_text none = {NULL, false};
    *source = log ? pfb_pdh_open_source(none, &log, code) : NULL;
    if (*source && !(*source)->is_real_time)
        return pfb_pdh_catalog(*source, PDH_CATALOG_ANY, code);
    *code = PDH_INVALID_HANDLE;
    return NULL;
}

uint32_t pfb_pdh_log_size(PDH_HLOG log, LONGLONG *size_bytes)
{
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    pdh_data_source *source;
    if (!size_bytes)
        return PDH_INVALID_ARGUMENT;
    pdh_catalog *catalog = log_catalog(log, &source, &code);
    if (catalog)
        *size_bytes = (LONGLONG)catalog->size_bytes;
    pfb_pdh_release_catalog(catalog);
    pfb_pdh_release_source(source);
    return code;
}

uint32_t pfb_pdh_log_type(pdh_text name, DWORD *type)
{
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    if (!name.text || !type)
        return PDH_INVALID_ARGUMENT;
    pdh_data_source *source = pfb_pdh_open_named(name, &code);
    pdh_catalog *catalog = source ? pfb_pdh_catalog(source, PDH_CATALOG_ANY, &code) : NULL;
    if (catalog)
        *type = catalog->log_type;
    pfb_pdh_release_catalog(catalog);
    pfb_pdh_release_source(source);
    return code;
}

/* Copies the latest sample at or before a local time. *found: there is one. */
static bool find_record(pfb_stream *stream, int64_t time, pfb_bytes *bytes, bool *found)
{
    pfb_record record = {.size = sizeof record};
    int32_t next;
    *found = false;
    while ((next = pfb_stream_next(stream, &record)) == PFB_NEXT_RECORD) {
        int64_t local = pfb_pdh_is_sample(&record) ? pfb_pdh_local_time(&record) : 0;
        if (local == 0 || local > time)
            continue;
        bytes->size_bytes = 0;
        *found = true;
        if (record.byte_count > SIZE_MAX || !pfb_bytes_append(bytes, record.bytes, (size_t)record.byte_count))
            return false;
    }
    return next == PFB_NEXT_END;
}

uint32_t pfb_pdh_read_record(PDH_HLOG log, FILETIME time, PDH_RAW_LOG_RECORD *record, DWORD *size)
{
    const size_t header = offsetof(PDH_RAW_LOG_RECORD, RawBytes);
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    pdh_data_source *source;
    pfb_bytes bytes = {0};
    bool found = false;
    if (!size)
        return PDH_INVALID_ARGUMENT;
    pdh_catalog *catalog = log_catalog(log, &source, &code);
    pfb_stream *stream = catalog ? pfb_pdh_open_stream(source) : NULL;
    uint64_t wanted = (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
    if (catalog && !(stream && find_record(stream, wanted <= INT64_MAX ? (int64_t)wanted : INT64_MAX, &bytes, &found)))
        code = PDH_MEMORY_ALLOCATION_FAILURE;
    else if (catalog && !found)
        code = PDH_ENTRY_NOT_IN_LOG_FILE;
    if (catalog && code == PDH_CSTATUS_VALID_DATA) {
        code = pfb_pdh_finish_size(header + bytes.size_bytes, record, size);
        if (code == PDH_CSTATUS_VALID_DATA) {
            const DWORD fields[] = {*size, catalog->log_type, (DWORD)bytes.size_bytes};
            memcpy(record, fields, sizeof fields);
            memcpy((uint8_t *)record + header, bytes.data, bytes.size_bytes);
        }
    }
    pfb_stream_close(stream);
    pfb_bytes_free(&bytes);
    pfb_pdh_release_catalog(catalog);
    pfb_pdh_release_source(source);
    return code;
}

uint32_t pfb_pdh_set_default(DWORD source)
{
    if (source == DATA_SOURCE_WBEM)
        return PDH_NOT_IMPLEMENTED;
    if (source != DATA_SOURCE_REGISTRY)
        return PDH_INVALID_ARGUMENT;
    pfb_lock_acquire(&pfb_pdh_lock);
    bool has_queries = pfb_pdh_has_queries();
    pfb_lock_release(&pfb_pdh_lock);
    return has_queries ? PDH_CANNOT_SET_DEFAULT_REALTIME_DATASOURCE : PDH_CSTATUS_VALID_DATA;
}
