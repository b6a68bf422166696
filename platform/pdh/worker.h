/* SPDX-License-Identifier: MIT */
#ifndef PFB_PDH_WORKER_H
#define PFB_PDH_WORKER_H

#include "pdh/query_state.h"

/* PdhCollectQueryDataEx: starts a thread that collects after each interval and sets the event, which may be NULL. It
 * replaces the one before. */
uint32_t pfb_pdh_start_worker(HANDLE handle, DWORD seconds, HANDLE event);

/* Ends the thread, and closes the query with its counters. */
uint32_t pfb_pdh_close_query(HANDLE handle);

#endif
