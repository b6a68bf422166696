/* SPDX-License-Identifier: MIT */
#include <perfblock/collect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the displayed values of the newer of two V1 blocks, or of two V2 replies to the same query. V1 needs "names"
 * and the file of a name table; V2 "info" and the reply of PerfQueryCounterInfo, and replies of
 * PerfQueryCounterSetRegistrationInfo, each after its request code: 1, then 3 and 5, or 9 and 10. */
int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s OLDER NEWER [names|info|CODE FILE]...\n", argv[0]);
        return 2;
    }
    pfb_stream *stream = pfb_stream_new();
    pfb_collector *collector = pfb_collector_new();
    pfb_frame f = {.size = sizeof f};
    pfb_series s = {.size = sizeof s};
    pfb_problem p = {.size = sizeof p};
    int errors = 0;
    for (int i = 3; i + 1 < argc; i += 2) {
        uint32_t kind = strcmp(argv[i], "names") == 0  ? PFB_RECORD_NAMES
                        : strcmp(argv[i], "info") == 0 ? PFB_RECORD_QUERY_INFO
                                                       : PFB_RECORD_REGISTRATION;
        pfb_input input = {.size = sizeof input, .kind = kind, .label = argv[i + 1]}; /* or .data and .byte_count */
        input.request = (uint32_t)strtoul(argv[i], NULL, 10);
        pfb_stream_add(stream, &input);
    }
    pfb_stream_add_file(stream, argv[1]);
    pfb_stream_add_file(stream, argv[2]);
    while (pfb_collector_read(collector, stream) == PFB_NEXT_RECORD && pfb_collector_frame(collector, &f))
        for (uint32_t i = 0; i < f.count && f.number > 0; i++)
            if (f.statuses[i] != PFB_STATUS_NOT_DISPLAYED && pfb_collector_series(collector, i, &s))
                printf("%s(%s)\\%s: %g %s %s\n", s.counterset, s.instance, s.counter, f.values[i], s.unit,
                       pfb_status_name(f.statuses[i]));
    for (; pfb_stream_problem(stream, &p) || pfb_collector_take_problem(collector, &p);
         errors += p.kind != PFB_PROBLEM_NOTE)
        fprintf(stderr, "%s: offset %llu: %s\n", pfb_stream_label(stream, p.file), (unsigned long long)p.offset,
                p.sentence);
    pfb_collector_close(collector);
    pfb_stream_close(stream);
    return errors != 0;
}
