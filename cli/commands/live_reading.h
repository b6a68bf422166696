/* SPDX-License-Identifier: MIT */
#ifndef CLI_LIVE_READING_H
#define CLI_LIVE_READING_H

#include "commands/reading.h"

/* Samples of this machine, or of the machine of --machine, with the counters that the options choose.
 *
 *     live_open(&l, o, count, 0);
 *     while (live_next_sample(&l)) {
 *         sink_print(&printer, l.reading.collector);
 *         live_report(&l);
 *     }
 *     live_close(&l); */

/* Why a term of the selection cannot be collected. */
typedef struct failed_term {
    uint32_t kind, code; /* PFB_PROBLEM_, Win32 code */
    char *sentence;      /* null: it can be collected */
} failed_term;

typedef struct live_reading {
    reading reading;
    pfb_record record;     /* the latest one */
    uint64_t sample_count; /* read so far */
    /* ------------------------------------------------------------------------------------------ */
    uint64_t max_samples; /* 0: no limit */
    failed_term *terms;   /* by number of the term */
    size_t term_count;
    bool has_failed_terms;
    bool is_open;   /* the source was opened, and the terms were checked */
    uint64_t start; /* time of the first sample; 0: not known yet */
} live_reading;

#define LIVE_SET "Processor Information" /* the default of --set */
#define LIVE_SUBJECT "live"              /* of messages */

/* Opens the live source; interrupts end the reading from now on. False after a message, with exit status 4 if there is
 * no such source, 2 if the value of --machine cannot be the name of a machine or a path is malformed. `max_samples` of
 * 0 means no limit. `metadata` is the value of PFB_STREAM_METADATA. */
bool live_open(live_reading *l, const options *o, uint64_t max_samples, uint32_t metadata);

/* Opens a stream of the live source with the collector, without a choice. False after a message. */
bool live_open_all(reading *r, const options *o, uint32_t metadata);
void live_close(live_reading *l);

/* Reads the next record, after waiting for it if it is a sample. False after the last one, after an
 * interrupt, at the end of --duration, and after a message, with exit status 2 if a counterset, a counter or a path of
 * the options chooses nothing, else 4. */
bool live_next(live_reading *l);

/* Reads records up to the next sample, and puts them into the collector. */
bool live_next_sample(live_reading *l);

/* Reports the errors of the current sample. */
void live_report(const live_reading *l);

#endif
