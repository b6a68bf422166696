/* SPDX-License-Identifier: MIT */
#include <perfblock/collect.h>
#include <perfblock/live.h>
#include <stdio.h>

/* Prints the values of a counter: four samples of this machine, one each second, or those of a file. */
int main(int argc, char **argv)
{
    pfb_source_failure failure = {0};
    pfb_stream *stream = pfb_stream_new();
    pfb_collector *collector = pfb_collector_new();
    pfb_selection *selection = pfb_selection_new();
    pfb_frame f = {.size = sizeof f};
    pfb_series s = {.size = sizeof s};
    pfb_problem p = {.size = sizeof p};
    int errors = pfb_selection_add(selection, argc > 1 ? argv[1] : "\\Processor Information(*)\\% Processor Time") < 0;
    if (errors)
        fprintf(stderr, "%s is not a counter path\n", argv[1]);
    else if (argc > 2)
        pfb_stream_add_file(stream, argv[2]);
    else if (pfb_stream_add_source(stream, pfb_source_open_live(&failure)) < 0)
        errors = fprintf(stderr, "%s\n", failure.sentence);
    pfb_collector_select(collector, selection);
    int left = 4;
    while (left-- > 0 && pfb_collector_read(collector, stream) == PFB_NEXT_RECORD && pfb_collector_frame(collector, &f))
        for (uint32_t i = 0; i < f.count; i++)
            if (f.statuses[i] == PFB_STATUS_OK && pfb_collector_series(collector, i, &s)) /* most need two samples */
                printf("%s %s %.2f %s\n", s.instance, s.counter, f.values[i], s.unit);
    for (; pfb_stream_problem(stream, &p) || pfb_collector_take_problem(collector, &p);
         errors += p.kind != PFB_PROBLEM_NOTE)
        fprintf(stderr, "%s: %s\n", pfb_stream_label(stream, p.file), p.sentence);
    pfb_selection_close(selection);
    pfb_collector_close(collector);
    pfb_stream_close(stream);
    return errors != 0;
}
