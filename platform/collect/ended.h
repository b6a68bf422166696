/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_ENDED_H
#define PFB_COLLECT_ENDED_H

#include "collect/log_state.h"

/* The last samples of .blg files that have ended, with their paths. Each is kept until a later log continues it. At
 * most STORE_MAX_OBJECTS logs and STORE_MAX_BYTES are kept (sample_store.h): beyond that the oldest logs are dropped,
 * but never the latest one. */

/* Initialised to zero. */
typedef struct ended_logs {
    log_state *logs; /* in the order in which they ended; paths are sorted, and there is no spare sample */
    size_t count, capacity;
    size_t size_bytes;
    size_t max_bytes; /* 0: STORE_MAX_BYTES */
    uint64_t dropped_count;
} ended_logs;

void pfb_ended_free(ended_logs *ended);

/* Moves a log to the ended ones and clears *l. Logs without a sample or without paths, and text logs, are left as they
 * are. Returns false when memory is exhausted; then the log is left as it is, too. */
bool pfb_ended_add(ended_logs *ended, log_state *l);

/* Moves a log that has a sample and paths to *replaced, and prepares `l` for the next list of paths of the same log.
 * The record in the spare sample of `l` stays there. */
void pfb_ended_replace(log_state *l, log_state *replaced);

/* Makes the last sample of an ended log the previous sample of `l`, whose first sample is in its spare sample.
 * Chooses the ended log that shares the most paths with `l`, the latest one if several share the same number; does
 * nothing if none shares a path. A path is shared if both logs have it with the same counter type. Values of machines
 * whose clocks show a restart or another machine (pfb_collector_put) are left out, and the reasons are added to
 * *gaps as PFB_GAP_ bits. The chosen log is removed from the ended ones. Returns false when memory is exhausted. */
bool pfb_ended_continue(ended_logs *ended, log_state *l, uint64_t local_time, uint32_t *gaps);

/* Like pfb_ended_continue, but the log to be continued is *replaced, if it shares a path with `l`. Frees and clears
 * *replaced. */
bool pfb_ended_continue_replaced(log_state *replaced, log_state *l, uint64_t local_time, uint32_t *gaps);

#endif
