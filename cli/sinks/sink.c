/* SPDX-License-Identifier: MIT */
#include "sinks/sink.h"

#include "names/titles.h"
#include "output/diagnostics.h"
#include "perfblock/query.h"

#include <string.h>

/* ---- Elements -------------------------------------------------------------------------------------------- */

bool sink_element(const sink_run *run, uint32_t at, element *e)
{
    e->series.size = sizeof e->series;
    e->value.size = sizeof e->value;
    return pfb_collector_series(run->collector, at, &e->series) && pfb_collector_value(run->collector, at, &e->value);
}

bool sink_is_shown(const element *e)
{
    bool has_type = (e->series.has & PFB_SERIES_TYPE) != 0;
    const pfb_counter_type *type = has_type ? pfb_counter_type_find(e->series.type) : NULL;
    return !(e->series.has & PFB_SERIES_HIDDEN) && (!type || type->samples > 0);
}

const char *sink_status_name(const element *e, char memory[NAMES_STATUS_BYTES])
{
    return e->value.source_status != 0 ? names_of_pdh_status(e->value.source_status, memory)
                                       : pfb_status_name((pfb_status)e->value.status);
}

/* ---- Fields ---------------------------------------------------------------------------------------------- */

void sink_put_name(output *out, const char *key, bool exists, const char *name, size_t size)
{
    if (exists)
        output_bytes(out, key, name, size);
    else
        output_null(out, key);
}

void sink_put_number(output *out, const char *key, bool exists, uint64_t number)
{
    if (exists)
        output_unsigned(out, key, number);
    else
        output_null(out, key);
}

void sink_put_guid(output *out, bool exists, const pfb_guid *guid)
{
    char text[PFB_GUID_TEXT_BYTES];
    if (exists) {
        pfb_guid_format(guid, text);
        output_string(out, "guid", text);
    } else {
        output_null(out, "guid");
    }
}

/* ---- Sorting --------------------------------------------------------------------------------------------- */

void sink_arrange(sink_run *run, const char *sort, uint64_t top)
{
    run->sort = sort;
    run->top = top;
    if (sort)
        suggest_begin(&run->closest, sort);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Returns true if the counter to sort by has this name in another language. */
static bool is_translated(const sink_run *run, const char *name, size_t size)
{
    const title_names titles = {.collector = run->collector};
    const pfb_name wanted = pfb_utf8_name(run->sort, strlen(run->sort));
    pfb_name others[TITLE_OTHERS];
    size_t count = title_names_others(&titles, pfb_utf8_name(name, size), others);
    bool is_same = false;
    for (size_t i = 0; i < count && !is_same; i++)
        is_same = pfb_query_match(&wanted, &others[i], PFB_MATCH_EXACT | PFB_MATCH_IGNORE_CASE);
    return is_same;
}

bool sink_is_sort_counter(sink_run *run, const char *name, size_t size)
{
    size_t at = 0;
    while (at < size && run->sort[at] != '\0' && lower(run->sort[at]) == lower(name[at])) /* a name may contain NULs */
        at++;
    bool is_same = (at == size && run->sort[at] == '\0') || is_translated(run, name, size);
    run->has_sort_counter = run->has_sort_counter || is_same;
    if (!run->has_sort_counter)
        suggest_name(&run->closest, name, size);
    return is_same;
}

bool sink_check_sort_counter(const sink_run *run, const char *subject)
{
    buffer sentence = {0};
    if (!run->sort || run->has_sort_counter)
        return true;
    buffer_format(&sentence, "no counter %s to sort by", run->sort);
    suggest_put(&run->closest, &sentence, "");
    diagnostics_say(STATUS_USAGE, subject, "%s", sentence.data);
    buffer_free(&sentence);
    return false;
}
