/* SPDX-License-Identifier: MIT */
#ifndef PFB_PDH_VALUES_H
#define PFB_PDH_VALUES_H

/* Values of counters in PDH's forms. Functions with a handle lock its query themselves. */
#include "pdh/query_state.h"

uint32_t pfb_pdh_formatted_value(HANDLE handle, DWORD format, DWORD *type, PDH_FMT_COUNTERVALUE *value);
uint32_t pfb_pdh_raw_value(HANDLE handle, DWORD *type, PDH_RAW_COUNTER *value);

/* Arrays of items, each with a name after them. `format` is not used for raw values. */
uint32_t pfb_pdh_formatted_array(HANDLE counter, DWORD format, DWORD *size, DWORD *count, void *items, bool is_wide);
uint32_t pfb_pdh_raw_array(HANDLE counter, DWORD *size, DWORD *count, void *items, bool is_wide);

uint32_t pfb_pdh_calculate(HANDLE handle, DWORD format, const PDH_RAW_COUNTER *newer, const PDH_RAW_COUNTER *older,
                           PDH_FMT_COUNTERVALUE *value);
uint32_t pfb_pdh_format_raw(DWORD type, DWORD format, const LONGLONG *time_base, const PDH_RAW_COUNTER *newer,
                            const PDH_RAW_COUNTER *older, PDH_FMT_COUNTERVALUE *value);
uint32_t pfb_pdh_statistics(HANDLE handle, DWORD format, DWORD first, DWORD count, const PDH_RAW_COUNTER *ring,
                            PDH_STATISTICS *statistics);
uint32_t pfb_pdh_time_base(HANDLE handle, LONGLONG *ticks_per_second);
uint32_t pfb_pdh_counter_info(HANDLE handle, bool has_text, DWORD *size, void *info, bool is_wide);

#endif
