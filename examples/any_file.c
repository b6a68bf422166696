/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <perfblock/collect.h>
#include <stdio.h>

/* Prints the values of any files as a table: time, counter path, value or status. */
int main(int argc, char **argv)
{
    pfb_stream *stream = pfb_stream_new();
    pfb_collector *collector = pfb_collector_new();
    pfb_frame f = {.size = sizeof f};
    pfb_series s = {.size = sizeof s};
    pfb_problem p = {.size = sizeof p};
    for (int i = 1; i < argc; i++)
        pfb_stream_add_file(stream, argv[i]); /* recordings, .blg, CSV, V1 blocks, ...; "-" is standard input */
    while (pfb_collector_read(collector, stream) == PFB_NEXT_RECORD && pfb_collector_frame(collector, &f))
        for (uint32_t i = 0; i < f.count; i++)
            if (f.statuses[i] != PFB_STATUS_NOT_DISPLAYED && pfb_collector_series(collector, i, &s))
                printf("%" PRId64 "\t%s\\%s(%s)\\%s\t%.17g\t%s\n", f.time, s.machine, s.counterset, s.instance,
                       s.counter, f.values[i], pfb_status_name(f.statuses[i]));
    while (pfb_stream_problem(stream, &p) || pfb_collector_take_problem(collector, &p))
        fprintf(stderr, "%s: offset %" PRIu64 ": %s\n", pfb_stream_label(stream, p.file), p.offset, p.sentence);
    pfb_collector_close(collector);
    pfb_stream_close(stream);
}
