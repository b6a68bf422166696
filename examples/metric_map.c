/* SPDX-License-Identifier: MIT */
#include <perfblock/collect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Queries one object and exports those of its counters that a table maps to metrics, as an agent with a map of names
 * does. What an element of a frame is exported as is looked up once, and again when the layout changes. */

typedef struct metric {
    const char *counter, *name, *label;
    double scale;
} metric;

/* Percentages become shares. */
static const metric map[] = {{"% Processor Time", "cpu_share", "busy", 0.01},
                             {"% User Time", "cpu_share", "user", 0.01},
                             {"% Privileged Time", "cpu_share", "privileged", 0.01},
                             {"% Idle Time", "cpu_share", "idle", 0.01},
                             {"Interrupts/sec", "cpu_interrupts", "all", 1}};

static const metric *find_metric(const char *counter)
{
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
        if (strcmp(map[i].counter, counter) == 0)
            return &map[i];
    return NULL;
}

/* An element that is exported. */
typedef struct exported {
    uint32_t element;
    const metric *metric;
    char instance[64];
} exported;

static exported *exports;
static size_t export_count;

/* Finds the elements of a frame that are exported. */
static void resolve(pfb_collector *collector, const pfb_frame *frame)
{
    pfb_series s = {.size = sizeof s};
    free(exports);
    exports = calloc(frame->count + 1, sizeof *exports);
    export_count = 0;
    for (uint32_t i = 0; i < frame->count && exports && pfb_collector_series(collector, i, &s); i++) {
        const metric *found = frame->statuses[i] != PFB_STATUS_NOT_DISPLAYED ? find_metric(s.counter) : NULL;
        if (!found || strcmp(s.instance, "_Total") == 0) /* who reads the metrics adds them up */
            continue;
        exports[export_count] = (exported){.element = i, .metric = found};
        snprintf(exports[export_count++].instance, sizeof exports[0].instance, "%s", s.instance);
    }
}

int main(int argc, char **argv)
{
    pfb_source_failure failure = {0};
    pfb_stream *stream = pfb_stream_new();
    pfb_collector *collector = pfb_collector_new();
    pfb_frame f = {.size = sizeof f};
    pfb_bytes bytes = {0};
    uint64_t layout = 0;
    if (argc < 2 || pfb_stream_add_file(stream, argv[1]) < 0) {
        pfb_stream_close(stream);
        pfb_collector_close(collector);
        return 2;
    }
    pfb_source *source = pfb_source_open_stream(stream, &failure); /* on Windows also pfb_source_open_live */
    if (source && pfb_source_v1(source, "Counter 009", &bytes, &failure)) {
        pfb_record record = {.size = sizeof record, .kind = PFB_RECORD_NAMES, .language = 9};
        record.bytes = bytes.data;
        record.byte_count = bytes.size_bytes;
        pfb_collector_put(collector, &record);
        pfb_selection *selection = pfb_selection_new(); /* a recording has more objects than the query asks for */
        pfb_selection_add(selection, "\\Processor(*)\\*");
        pfb_collector_select(collector, selection);
        pfb_selection_close(selection);
        record.kind = PFB_RECORD_V1;
        while (pfb_source_v1(source, "238", &bytes, &failure)) {
            record.bytes = bytes.data;
            record.byte_count = bytes.size_bytes;
            if (pfb_collector_put(collector, &record) <= 0 || !pfb_collector_frame(collector, &f))
                continue;
            if (f.layout != layout)
                resolve(collector, &f);
            layout = f.layout;
            for (size_t i = 0; i < export_count; i++)
                if (f.statuses[exports[i].element] == PFB_STATUS_OK)
                    printf("%s{cpu=\"%s\",kind=\"%s\"} %.17g %lld\n", exports[i].metric->name, exports[i].instance,
                           exports[i].metric->label, f.values[exports[i].element] * exports[i].metric->scale,
                           (long long)f.time);
        }
    }
    if (!source || failure.code != PFB_WIN32_NO_MORE_ITEMS)
        fprintf(stderr, "%s\n", failure.sentence);
    free(exports);
    pfb_bytes_free(&bytes);
    pfb_source_close(source);
    pfb_collector_close(collector);
    return failure.code != PFB_WIN32_NO_MORE_ITEMS;
}
