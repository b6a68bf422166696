/* SPDX-License-Identifier: MIT */
#include "collect/log_state.h"

#include "collect/layout.h"

#include <stdlib.h>

void pfb_log_state_free_sample(log_sample *sample)
{
    free(sample->record);
    free(sample->values.values);
    free(sample->values.order);
    free(sample->values.by_key);
    *sample = (log_sample){.record = NULL};
}

void pfb_log_state_free(log_state *l)
{
    log_state freed = *l;
    *l = (log_state){.path_bytes = NULL};
    for (size_t i = 0; i < 2; i++)
        pfb_log_state_free_sample(&freed.samples[i]);
    pfb_layout_release(&freed.layout);
    free(freed.path_bytes);
    free(freed.paths);
    free(freed.cells);
}
