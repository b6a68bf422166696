/* SPDX-License-Identifier: MIT */
#include "support_frames.h"

#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdio.h>

pfb_collector *new_collector(const char *path)
{
    pfb_collector *c = pfb_collector_new();
    pfb_selection *selection = pfb_selection_new();
    bool is_ready =
        c && selection && (!path || pfb_selection_add(selection, path) >= 0) && pfb_collector_select(c, selection);
    pfb_selection_close(selection);
    if (is_ready)
        return c;
    pfb_collector_close(c);
    return NULL;
}

void list_frame(pfb_collector *c, char *text, size_t capacity)
{
    pfb_frame frame = {.size = sizeof frame};
    pfb_series s = {.size = sizeof s};
    pfb_value v = {.size = sizeof v};
    size_t used = 0;
    text[0] = '\0';
    if (!pfb_collector_frame(c, &frame))
        return;
    for (uint32_t i = 0; i < frame.count; i++) {
        char value[64];
        cr_assert(pfb_collector_series(c, i, &s) && pfb_collector_value(c, i, &v));
        if (v.status != PFB_STATUS_OK)
            snprintf(value, sizeof value, "%s", pfb_status_name((pfb_status)v.status));
        else if (v.has & PFB_VALUE_INTEGER)
            snprintf(value, sizeof value, "%" PRIu64 "%s", v.integer, s.unit);
        else
            snprintf(value, sizeof value, "%g%s", v.value, s.unit);
        int size = snprintf(text + used, capacity - used, "%s|%s#%" PRIu32 "|%s|%s\n", s.counterset,
                            s.has & PFB_SERIES_INSTANCE ? s.instance : "-", s.occurrence, s.counter, value);
        cr_assert(size > 0 && (size_t)size < capacity - used);
        used += (size_t)size;
    }
}
