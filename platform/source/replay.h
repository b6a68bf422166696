/* SPDX-License-Identifier: MIT */
#ifndef PFB_REPLAY_H
#define PFB_REPLAY_H

/* A query handle over a recording that behaves like one of PerfLib: identifier blocks are added and removed, and each
 * sample is reduced to what they select. */
#include "source/added.h"
#include "source/recording.h"

/* An added block, the recorded query that answers it, and that query's result in the current sample. */
typedef struct pfb_replay_choice {
    pfb_query wanted;
    bool is_single; /* the counterset has a single instance, without a name */
    bool has_recorded;
    bool is_exact; /* the recorded query selects the same, so its result is copied */
    pfb_identifier recorded;
    bool has_result;
    pfb_v2_result result;
    pfb_v2_reader reader; /* at the first instance of the result */
} pfb_replay_choice;

/* A choice by the recorded index of its result. */
typedef struct pfb_replay_place {
    uint32_t index;
    size_t position;
} pfb_replay_place;

typedef struct pfb_replay {
    const pfb_recording *recording;
    pfb_bytes added;
    pfb_capture at; /* after the last sample that was returned */
    pfb_chunk info; /* the query information that applies to it; body_size_bytes is 0 if there is none */
    /* What the blocks select, unless blocks or query information have changed since. */
    bool is_current;
    bool is_whole;              /* the blocks are those recorded, so that samples are copied */
    pfb_replay_choice *choices; /* by position of the block */
    pfb_replay_place *places;   /* of choices with a recorded query, ascending by index */
    size_t choice_count, place_count, choice_capacity, place_capacity;
    uint32_t *ids; /* counter ids of a result */
    size_t id_capacity;
    pfb_bytes part; /* a reply with one result */
} pfb_replay;

void pfb_replay_open(pfb_replay *replay, const pfb_recording *recording);
void pfb_replay_close(pfb_replay *replay);

bool pfb_replay_add(pfb_replay *replay, uint8_t *blocks, size_t size, pfb_source_failure *failure);
bool pfb_replay_remove(pfb_replay *replay, uint8_t *blocks, size_t size, pfb_source_failure *failure);

/* Returns the next sample. Fails with PFB_WIN32_INVALID_DATA if the sample is malformed and has to be reduced; the next
 * call continues after it. */
bool pfb_replay_collect(pfb_replay *replay, pfb_bytes *bytes, pfb_source_failure *failure);

/* Lists the instances of the first sample that has some; an empty list if there is none. */
bool pfb_replay_instances(const pfb_recording *recording, const pfb_guid *counterset, pfb_bytes *bytes,
                          pfb_source_failure *failure);

#endif
