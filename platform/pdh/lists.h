/* SPDX-License-Identifier: MIT */
#ifndef PFB_PDH_LISTS_H
#define PFB_PDH_LISTS_H

/* Lists of what a source has, paths, and logs as sources. A source is a name (null: real-time data) or, if `log` is not
 * null, a handle (NULL: real-time data). */
#include "pdh/query_state.h"

/* A buffer for a list. */
typedef struct pdh_list {
    void *list;
    DWORD *size;
} pdh_list;

/* Opens the source with one more user; null with the code in *code. */
pdh_data_source *pfb_pdh_open_source(pdh_text name, const PDH_HLOG *log, uint32_t *code);

uint32_t pfb_pdh_expand(pdh_text source, const PDH_HLOG *log, pdh_text path, void *list, DWORD *size, DWORD flags,
                        bool is_wide);
uint32_t pfb_pdh_list_machines(pdh_text source, const PDH_HLOG *log, void *list, DWORD *size, bool is_wide);
uint32_t pfb_pdh_list_objects(pdh_text source, const PDH_HLOG *log, pdh_text machine, void *list, DWORD *size,
                              DWORD detail, bool is_refresh, bool is_wide);
uint32_t pfb_pdh_list_items(pdh_text source, const PDH_HLOG *log, pdh_text machine, pdh_text object, pdh_list counters,
                            pdh_list instances, DWORD detail, bool is_wide);
uint32_t pfb_pdh_default_object(pdh_text source, const PDH_HLOG *log, pdh_text machine, void *object, DWORD *size,
                                bool is_wide);
uint32_t pfb_pdh_default_counter(pdh_text source, const PDH_HLOG *log, pdh_text machine, pdh_text object, void *counter,
                                 DWORD *size, bool is_wide);
uint32_t pfb_pdh_name_of_index(pdh_text machine, DWORD index, void *name, DWORD *size, bool is_wide);
uint32_t pfb_pdh_index_of_name(pdh_text machine, pdh_text name, DWORD *index);
uint32_t pfb_pdh_connect(pdh_text machine);
uint32_t pfb_pdh_validate(PDH_HLOG log, pdh_text path);
uint32_t pfb_pdh_translate(pdh_text path, void *out, DWORD *size, bool to_local, bool is_wide);

/* paths.c */
uint32_t pfb_pdh_make_path(const void *elements, void *path, DWORD *size, DWORD flags, bool is_wide);
uint32_t pfb_pdh_split_path(pdh_text path, void *elements, DWORD *size, bool is_wide);
uint32_t pfb_pdh_split_instance(pdh_text text, void *instance, DWORD *instance_size, void *parent, DWORD *parent_size,
                                DWORD *index, bool is_wide);

/* logs.c */
uint32_t pfb_pdh_bind(PDH_HLOG *log, pdh_text names);
uint32_t pfb_pdh_open_log(pdh_text name, DWORD flags, DWORD *type, PDH_HLOG *log);
uint32_t pfb_pdh_close_log(PDH_HLOG log);
uint32_t pfb_pdh_time_range(pdh_text name, const PDH_HLOG *log, DWORD *count, PDH_TIME_INFO *range, DWORD *size);
uint32_t pfb_pdh_set_range(HANDLE handle, const PDH_TIME_INFO *range);
uint32_t pfb_pdh_log_size(PDH_HLOG log, LONGLONG *size_bytes);
uint32_t pfb_pdh_log_type(pdh_text name, DWORD *type);
uint32_t pfb_pdh_read_record(PDH_HLOG log, FILETIME time, PDH_RAW_LOG_RECORD *record, DWORD *size);
uint32_t pfb_pdh_set_default(DWORD source);
uint32_t pfb_pdh_log_set(PDH_HLOG log); /* for functions that need SQL */

#endif
