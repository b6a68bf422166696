/* SPDX-License-Identifier: MIT */
/* Reads the input into frames: as a stream, as two files that are merged, as a log whatever it looks like, with its
 * records distributed to two files, with a selection, and, if it is a recording, as a source with V2 and with V1 data.
 * Checks that texts have their NULs at the returned sizes, that there are no more values than the input can contain,
 * that frames of one layout have the same series, and that values are those of the formula with the returned inputs. */
#include "perfblock/collect.h"
#include "perfblock/formula.h"
#include "steady.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* ---- Frames ------------------------------------------------------------------------------------------------ */

/* The series of the latest frame. */
typedef struct seen_layout {
    uint64_t layout;
    uint64_t hash; /* of its series */
    uint32_t count;
} seen_layout;

static uint64_t mix(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * UINT64_C(0x9E3779B97F4A7C15) ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text, uint32_t size, bool exists)
{
    if (!text)
        abort();
    require(text[size] == '\0' && (exists || size == 0));
    for (uint32_t i = 0; i < size; i++)
        hash = mix(hash, (uint8_t)text[i]);
    return mix(hash, exists);
}

static uint64_t mix_series(uint64_t hash, const pfb_series *s)
{
    require(s->unit != NULL);
    hash = mix_text(hash, s->machine, s->machine_bytes, (s->has & PFB_SERIES_MACHINE) != 0);
    hash = mix_text(hash, s->counterset, s->counterset_bytes, (s->has & PFB_SERIES_COUNTERSET) != 0);
    hash = mix_text(hash, s->instance, s->instance_bytes, (s->has & PFB_SERIES_INSTANCE) != 0);
    hash = mix_text(hash, s->parent, s->parent_bytes, (s->has & PFB_SERIES_PARENT) != 0);
    hash = mix_text(hash, s->counter, s->counter_bytes, (s->has & PFB_SERIES_COUNTER) != 0);
    hash = mix(mix(mix(hash, s->has), s->type), s->occurrence);
    return mix(mix(mix(hash, s->counter_id), s->title), (uint64_t)s->instance_id);
}

static bool is_same_value(double a, double b)
{
    uint64_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1];
}

static void check_value(pfb_collector *c, const pfb_frame *f, uint32_t element)
{
    pfb_value v = {.size = sizeof v};
    pfb_raw_value inputs[2];
    bool is_ok = f->statuses[element] == PFB_STATUS_OK;
    require(pfb_collector_value(c, element, &v) && v.status == f->statuses[element] &&
            v.flags == f->flag_bits[element]);
    require(is_ok ? is_same_value(v.value, f->values[element]) : f->values[element] != f->values[element]);
    require(is_ok || (v.value == 0 && !(v.has & PFB_VALUE_INTEGER)));
    require(pfb_collector_inputs(c, element, inputs));
    if (is_ok && (f->kind == PFB_RECORD_V1 || f->kind == PFB_RECORD_V2)) {
        pfb_formula_result result = pfb_formula_evaluate(inputs[0].has ? &inputs[0] : NULL, &inputs[1], NULL);
        require(result.status == PFB_STATUS_OK && is_same_value(result.value, v.value));
    }
}

/* Reads everything of the current frame, which must have at most `max_values` elements. */
static void read_frame(pfb_collector *c, uint64_t max_values, seen_layout *seen)
{
    pfb_frame f = {.size = sizeof f};
    pfb_series s = {.size = sizeof s};
    pfb_collected_result result = {.size = sizeof result};
    uint64_t hash = 0;
    require(pfb_collector_frame(c, &f) && f.count <= max_values);
    for (uint32_t i = 0; i < f.result_count && pfb_collector_result(c, i, &result); i++)
        require(result.shown_column_count <= result.column_count);
    for (uint32_t i = 0; i < f.count; i++) {
        require(pfb_collector_series(c, i, &s) &&
                ((s.has & PFB_SERIES_LOG) || s.result < f.result_count || f.kind == PFB_RECORD_ROW));
        hash = mix_series(hash, &s);
        check_value(c, &f, i);
    }
    require(!pfb_collector_series(c, f.count, &s));
    require(f.layout != seen->layout || (f.count == seen->count && hash == seen->hash));
    *seen = (seen_layout){.layout = f.layout, .hash = hash, .count = f.count};
}

/* ---- Descriptions ------------------------------------------------------------------------------------------ */

static void check_text(const char *text, size_t size, bool exists)
{
    require(text && text[size] == '\0' && (exists || size == 0));
}

static void describe(pfb_collector *c)
{
    pfb_bytes guids = {0};
    pfb_described_counterset set = {.size = sizeof set};
    pfb_described_counter counter = {.size = sizeof counter};
    require(pfb_collector_countersets(c, &guids, NULL));
    for (size_t i = 0; i < guids.size_bytes / sizeof(pfb_guid); i++) {
        pfb_guid guid;
        memcpy(&guid, guids.data + i * sizeof guid, sizeof guid);
        require(pfb_collector_counterset(c, &guid, &set, NULL));
        check_text(set.name, set.name_size, set.has_name);
        for (uint32_t n = 0; n < set.counter_count; n++) {
            require(pfb_collector_counter(c, &guid, n, &counter, NULL));
            check_text(counter.name, counter.name_size, counter.has_name);
            check_text(counter.help, counter.help_size, counter.has_help);
        }
    }
    pfb_bytes_free(&guids);
}

/* ---- Streams ----------------------------------------------------------------------------------------------- */

static void take_problems(pfb_collector *c, pfb_stream *stream)
{
    pfb_problem problem = {.size = sizeof problem};
    while (pfb_stream_problem(stream, &problem) || pfb_collector_take_problem(c, &problem))
        require(problem.sentence[0] != '\0');
}

/* Reads the stream to its end and closes it. */
static void read_stream(pfb_stream *stream, const pfb_selection *selection, uint64_t max_values)
{
    seen_layout seen = {.count = 0};
    pfb_collector *c = pfb_collector_new();
    require(c && (!selection || pfb_collector_select(c, selection)));
    while (pfb_collector_read(c, stream) == PFB_NEXT_RECORD)
        read_frame(c, max_values, &seen);
    take_problems(c, stream);
    pfb_collector_close(c);
    pfb_stream_close(stream);
}

/* Opens a stream of the bytes, in `count` inputs of the same size. */
static pfb_stream *open_bytes(const uint8_t *data, size_t size, uint32_t kind, size_t count)
{
    pfb_stream *stream = open_steady_stream();
    require(stream != NULL);
    for (size_t i = 0; i < count; i++) {
        const pfb_input input = {.size = sizeof input,
                                 .kind = kind,
                                 .label = "memory",
                                 .data = data + i * (size / count),
                                 .byte_count = size / count};
        require(pfb_stream_add(stream, &input) >= 0);
    }
    return stream;
}

/* Distributes the records of a stream in turn to `file_count` files of a collector, which never end. */
static void put_records(const uint8_t *data, size_t size, uint32_t file_count)
{
    seen_layout seen = {.count = 0};
    pfb_record record = {.size = sizeof record};
    pfb_stream *stream = open_bytes(data, size, 0, 1);
    pfb_collector *c = pfb_collector_new();
    require(c != NULL);
    for (uint32_t number = 0; pfb_stream_next(stream, &record) == PFB_NEXT_RECORD; number++) {
        record.file = number % file_count;
        int32_t put = record.kind == PFB_RECORD_END ? 0 : pfb_collector_put(c, &record);
        require(put >= 0);
        if (put > 0)
            read_frame(c, 16 * (uint64_t)size, &seen);
    }
    take_problems(c, stream);
    describe(c);
    pfb_collector_close(c);
    pfb_stream_close(stream);
}

static void replay(pfb_source *source, int64_t version)
{
    pfb_stream *stream = open_steady_stream();
    require(stream && pfb_stream_set(stream, PFB_STREAM_VERSION, version) == PFB_OK);
    if (source)
        require(pfb_stream_add_source(stream, source) == 0);
    read_stream(stream, NULL, UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t none = 0;
    data = size > 0 ? data : &none;
    /* V1 counters may share bytes: a block with c counters and i instances has at least 40 * c + 28 * i bytes but c * i
     * values. The product is at most size * size / 4480: below this bound for all inputs of up to 64 KiB. */
    uint64_t max_values = 16 * (uint64_t)size;
    pfb_selection *selection = pfb_selection_new();
    require(selection && pfb_selection_add_names(selection, NULL, "*", "*", "*#0") == 0);
    pfb_selection_range(selection, INT64_MIN, INT64_MAX, 2);
    read_stream(open_bytes(data, size, 0, 1), NULL, max_values);
    read_stream(open_bytes(data, size, 0, 2), NULL, max_values);
    read_stream(open_bytes(data, size, 0, 1), selection, max_values);
    read_stream(open_bytes(data, size, PFB_RECORD_LOG, 1), NULL, max_values);
    pfb_selection_close(selection);
    put_records(data, size, 1);
    put_records(data, size, 2);
    replay(pfb_source_open_stream(open_bytes(data, size, 0, 1), NULL), 2);
    replay(pfb_source_open_stream(open_bytes(data, size, 0, 1), NULL), 1);
    return 0;
}
