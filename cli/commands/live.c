/* SPDX-License-Identifier: MIT */
#include "collect/collector.h"
#include "commands.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"
#include "values/sampling.h"

typedef struct live {
    collector collector;
    sampling sampling;
    output out;
    pfb_bytes samples[2]; /* the latest and the one it is compared with */
    size_t at;            /* where the next one goes */
    pfb_bytes info;
    bool is_replay;
} live;

/* Takes query information for the sample at hand. */
static bool take_info(live *l)
{
    if (!collector_info(&l->collector, &l->info))
        return false;
    pfb_error error = sampling_info(&l->sampling, l->info.data, l->info.size_bytes);
    if (error.code != PFB_OK)
        diagnostics_malformed(l->collector.offer.subject, error);
    return true;
}

/* Takes one sample. False when there are no more. */
static bool take(live *l)
{
    pfb_bytes *sample = &l->samples[l->at];
    if (collector_sample(&l->collector, sample) != COLLECTOR_SAMPLE)
        return false;
    if (collector_has_new_info(&l->collector) && !take_info(l))
        return false;
    sampling_block block = {.data = sample->data, .size = sample->size_bytes};
    sampling_outcome outcome = sampling_take(&l->sampling, &l->out, &block);
    stream_flush();
    if (outcome.error.code != PFB_OK)
        diagnostics_malformed(l->collector.offer.subject, outcome.error);
    if (outcome.kept)
        l->at = 1 - l->at;
    return !output_failed(&l->out);
}

/* Sample 0 has nothing to be compared with and is not shown; --count counts what is shown. */
static void run(live *l, const options *o)
{
    system_rhythm rhythm = system_rhythm_begin(o->interval);
    l->sampling.is_quiet = true;
    bool goes_on = take(l);
    for (uint64_t shown = 0; goes_on && (o->count == 0 || shown < o->count); shown++) {
        if (!l->is_replay)
            goes_on = system_rhythm_wait(&rhythm);
        goes_on = goes_on && !system_interrupted() && take(l);
    }
}

/* Tables that somebody watches change. A single one stays what it is, and a replay would be over before it is seen. */
static bool is_watched(const options *o)
{
    return o->format == OUTPUT_TEXT && o->count != 1 && !o->source && system_can_paint();
}

void command_live(const options *o)
{
    live l = {.is_replay = o->source != NULL};
    if (!collector_open(&l.collector, o))
        return;
    system_catch_interrupts();
    output_open(&l.out, o->format, options_color(o));
    sampling_begin_file(&l.sampling, l.collector.offer.subject);
    l.sampling.metadata = &l.collector.metadata;
    l.sampling.choice = &l.collector.choice;
    bool in_place = is_watched(o);
    if (in_place)
        stream_begin_pictures();
    run(&l, o);
    if (in_place)
        stream_end_pictures();
    offer_tell_cut(&l.collector.offer);
    sampling_free(&l.sampling);
    pfb_bytes_free(&l.samples[0]);
    pfb_bytes_free(&l.samples[1]);
    pfb_bytes_free(&l.info);
    collector_close(&l.collector);
    output_close(&l.out);
}
