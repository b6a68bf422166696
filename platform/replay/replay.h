/* SPDX-License-Identifier: MIT */
#ifndef PFB_REPLAY_H
#define PFB_REPLAY_H

/* A query handle over a recording that behaves like one of PerfLib: identifier blocks can be added and removed, and
 * each recorded sample is reduced to the results and values that the blocks select. */
#include "replay/recording.h"
#include "source/added.h"

/* An added block, the recorded query with the best fit to it, and that query's result in the current sample. */
typedef struct pfb_replay_choice {
    pfb_query wanted;        /* the block */
    bool is_single;          /* the counterset has a single instance, without a name; without a registration: the block
                              * has no name */
    bool has_recorded;       /* a recorded query may select at least some of the values */
    bool is_exact;           /* the recorded query selects the same values, so its result is copied unchanged */
    pfb_identifier recorded; /* block of the recorded query */
    bool has_result;         /* the current sample has the result of the recorded query */
    pfb_v2_result result;
    pfb_v2_reader reader; /* at the first instance of the result */
} pfb_replay_choice;

/* Links the index of a recorded result to the choice that needs it. */
typedef struct pfb_replay_link {
    uint32_t index;  /* of the result in the sample */
    size_t position; /* of the choice */
} pfb_replay_link;

typedef struct pfb_replay {
    const pfb_recording *recording;
    pfb_bytes added; /* the identifier blocks that were added, see added.h */
    size_t next;     /* number of the sample after the last one that was read, even if it could not be returned */
    const pfb_recorded_sample *sample; /* that sample; null: none was read */
    bool is_current;                   /* the members below apply to the present blocks and query information */
    bool is_whole;                     /* the blocks are exactly those recorded, so samples are copied unchanged */
    pfb_replay_choice *choices;        /* one for each added block, in the order of the blocks */
    pfb_replay_link *links;            /* of choices with a recorded query, ascending by index */
    size_t choice_count, link_count, choice_capacity, link_capacity;
    uint32_t *ids; /* counter ids of a result */
    size_t id_capacity;
    pfb_bytes part; /* memory for a reply with one result */
} pfb_replay;

void pfb_replay_open(pfb_replay *replay, const pfb_recording *recording);
void pfb_replay_close(pfb_replay *replay);

/* PerfAddCounters and PerfDeleteCounters: as pfb_added_add and pfb_added_remove. */
bool pfb_replay_add(pfb_replay *replay, uint8_t *blocks, size_t size, pfb_source_failure *failure);
bool pfb_replay_remove(pfb_replay *replay, uint8_t *blocks, size_t size, pfb_source_failure *failure);

/* Returns the next sample. Fails with PFB_WIN32_INVALID_DATA if the sample is malformed and has to be reduced; the next
 * call continues after this sample. */
bool pfb_replay_collect(pfb_replay *replay, pfb_bytes *bytes, pfb_source_failure *failure);

/* Lists the instances of a counterset in the first sample that has any. The list is empty if no sample has. */
bool pfb_replay_instances(const pfb_recording *recording, const pfb_guid *counterset, pfb_bytes *bytes,
                          pfb_source_failure *failure);

#endif
