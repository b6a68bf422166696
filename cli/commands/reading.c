/* SPDX-License-Identifier: MIT */
#include "commands/reading.h"

#include "memory/memory.h"
#include "names/v1.h"
#include "output/diagnostics.h"

/* Ends the program if a call failed that fails only for lack of memory. */
static void require_memory(bool has_memory)
{
    if (!has_memory)
        memory_exhausted();
}

void reading_open(reading *r, const options *o)
{
    *r = (reading){.o = o, .collector = pfb_collector_new()};
    require_memory(r->collector != NULL);
    pfb_collector_set(r->collector, PFB_COLLECT_STRICT, o->reader.is_strict);
    pfb_collector_set_formula(r->collector, &o->formula);
}

void reading_close(reading *r)
{
    path_list_free(&r->paths);
    pfb_selection_close(r->selection);
    inputs_close(&r->in);
    pfb_collector_close(r->collector);
}

bool reading_choose(reading *r, const char *default_set)
{
    r->selection = path_list_select(&r->paths, r->o, default_set, &r->has_choice);
    if (!r->selection)
        return false;
    require_memory(pfb_collector_select(r->collector, r->selection) &&
                   (!r->in.is_live || pfb_stream_select(r->in.stream, r->selection)));
    return true;
}

bool reading_put(reading *r, const pfb_record *record)
{
    int32_t put = pfb_collector_put(r->collector, record);
    require_memory(put >= 0);
    return put == 1;
}

/* Reports an error in the bytes of a record, which may come from several places in the file. */
static void report_in_file(const reading *r, const pfb_record *record, const pfb_problem *problem)
{
    uint64_t offset = pfb_stream_offset(r->in.stream, record, problem->offset - record->offset);
    diagnostics_input(pfb_stream_label(r->in.stream, record->file), offset, pfb_code_name((pfb_code)problem->code),
                      "%s", problem->sentence);
}

/* In a V1 block, objects after a malformed one are read, so the errors of all objects are reported. */
void reading_report_record(const reading *r, const pfb_record *record)
{
    pfb_problem problem = {.size = sizeof problem};
    const char *label = pfb_stream_label(r->in.stream, record->file);
    while (pfb_collector_take_problem(r->collector, &problem)) {
        if (record->kind == PFB_RECORD_V1)
            v1_report_errors(label, r->in.stream, record, &r->o->reader);
        else if (!(record->flags & PFB_RECORD_GIVEN)) /* the stream reports those of given metadata */
            report_in_file(r, record, &problem);
    }
}
