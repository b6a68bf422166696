/* SPDX-License-Identifier: MIT */
#include "log_readers.h"

#include "perfblock/log.h"
#include "perfblock/v1.h"
#include "v1_readers.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* A reading of a log. */
typedef struct log_walk {
    walk *w;
    size_t window; /* bytes per window; SIZE_MAX: the whole log at once */
    pfb_log_reader reader;
    pfb_log_record record;
    uint8_t *bytes; /* of the record, joined */
    size_t size;
    /* Data of earlier records that samples need: */
    uint8_t *path_bytes;
    pfb_log_path *paths;
    uint32_t path_count;
    uint8_t *sample_bytes[2]; /* older, newer */
    pfb_log_values samples[2];
    bool is_exhausted; /* memory is exhausted: the walk ends */
} log_walk;

/* ---- Checks ----------------------------------------------------------------------------------------------------- */

/* Reads bytes of the record that the library returned. */
static void touch_bytes(log_walk *l, const uint8_t *bytes, size_t size)
{
    bool is_inside_record = bytes >= l->bytes && is_inside((size_t)(bytes - l->bytes), size, 0, l->size);
    expect(l->w, is_inside_record, "a returned item is inside the record");
    for (size_t i = 0; is_inside_record && i < size; i++)
        add(l->w, bytes[i]);
    l->w->out.touched += size;
}

static void touch_name(log_walk *l, const pfb_name *name)
{
    add(l->w, name->bytes != NULL);
    if (!name->bytes)
        return;
    expect(l->w, name->size_bytes % 2 == 0 && name->encoding == PFB_ENCODING_UTF16LE, "names are UTF-16LE");
    touch_bytes(l, name->bytes, name->size_bytes);
}

/* Changes a byte of the log and one of the record if the input may change. */
static void change_both(log_walk *l, size_t near)
{
    change_byte(l->w, near);
    if (l->w->writable && l->size > 0)
        l->bytes[next_random(l->w) % l->size] = (uint8_t)next_random(l->w);
}

/* Records an error in the contents of a record, with its offset in the log. */
static void record_content_error(log_walk *l, pfb_error error, uint32_t notes)
{
    expect(l->w, error.code == PFB_OK || error.offset <= l->size, "the offset of an error is inside the record");
    l->w->out.notes |= notes;
    if (error.code == PFB_OK || l->w->out.error.code != PFB_OK)
        return;
    size_t offset = pfb_log_record_offset(&l->reader, &l->record, error.offset);
    error.offset = (size_t)l->reader.window_offset + offset;
    record_error(l->w, error, notes);
}

/* ---- Content ---------------------------------------------------------------------------------------------------- */

static void walk_paths(log_walk *l)
{
    pfb_log_path_reader reader;
    pfb_log_path path;
    free(l->path_bytes);
    free(l->paths);
    l->path_bytes = l->bytes;
    l->path_count = 0;
    l->paths = calloc(l->size / 52 + 1, sizeof *l->paths); /* a path has at least 52 bytes */
    l->is_exhausted = !l->paths;
    pfb_log_open_paths(&reader, l->bytes, l->size, l->w->options);
    while (!l->is_exhausted && pfb_log_next_path(&reader, &path)) {
        expect(l->w, path.position == l->path_count && path.offset < l->size, "paths are numbered");
        add(l->w, path.type ^ path.flags ^ path.frequency ^ (uint64_t)path.user_data << 32);
        add(l->w, (uint32_t)path.default_scale ^ (uint64_t)path.instance_index << 32);
        touch_name(l, &path.machine);
        touch_name(l, &path.object);
        touch_name(l, &path.instance);
        touch_name(l, &path.parent);
        touch_name(l, &path.counter);
        l->paths[l->path_count++] = path;
        l->w->out.items++;
        change_both(l, path.offset);
    }
    record_content_error(l, reader.error, reader.notes);
    l->bytes = NULL; /* now owned by path_bytes */
}

static void walk_items(log_walk *l)
{
    pfb_log_sample_reader reader;
    pfb_log_item item;
    pfb_log_instance instance;
    uint32_t position = 0;
    pfb_log_open_sample(&reader, l->bytes, l->size, l->w->options);
    while (pfb_log_next_item(&reader, &item)) {
        expect(l->w, item.position == position++ && item.offset < l->size, "items are numbered");
        add(l->w, item.kind ^ (uint64_t)item.status << 32);
        add(l->w, item.time ^ item.first ^ item.second ^ item.multi_count);
        if (item.kind == PFB_LOG_OBJECT) {
            pfb_v1_reader block;
            touch_bytes(l, item.block, item.block_size_bytes);
            pfb_v1_open(&block, item.block, item.block_size_bytes, 0);
            read_rest_of_v1(&block);
        }
        uint32_t count = 0;
        while (!skips_rest(l->w) && pfb_log_next_instance(&reader, &instance)) {
            add(l->w, instance.first ^ instance.second ^ instance.status);
            touch_name(l, &instance.name);
            count++;
            change_both(l, instance.offset);
        }
        expect(l->w, count <= item.instance_count, "there are no more instances than declared");
        l->w->out.items += 1 + count;
        if (is_partial(l->w) && next_random(l->w) % 8 == 0)
            break;
        change_both(l, item.offset);
    }
    while (pfb_log_next_item(&reader, &item))
        continue;
    pfb_error error = reader.error;
    expect(l->w, !pfb_log_next_item(&reader, &item), "no item follows the end of a sample");
    record_content_error(l, error, reader.notes);
}

/* Checks that matched values have the same path, name and occurrence, and that each older value is matched at most
 * once.
 */
static void check_match(log_walk *l)
{
    const pfb_log_values *older = &l->samples[0];
    const pfb_log_values *newer = &l->samples[1];
    uint8_t *taken = calloc(older->count + 1, 1);
    for (size_t i = 0; taken && i < newer->count; i++) {
        const pfb_log_value *value = &newer->values[i];
        if (value->older == PFB_LOG_NONE)
            continue;
        expect(l->w, value->older < older->count && !taken[value->older], "an older value is matched once");
        if (l->w->out.broken)
            break;
        const pfb_log_value *other = &older->values[value->older];
        taken[value->older] = 1;
        expect_if_unchanged(l->w,
                            other->path == value->path && other->occurrence == value->occurrence &&
                                other->instance.size_bytes == value->instance.size_bytes &&
                                (value->instance.size_bytes == 0 ||
                                 memcmp(other->instance.bytes, value->instance.bytes, value->instance.size_bytes) == 0),
                            "an older value has the same path, name and occurrence");
    }
    free(taken);
}

static void walk_values(log_walk *l)
{
    size_t count = l->samples[1].count;
    double *values = calloc(count + 1, sizeof *values);
    uint8_t *status_bytes = calloc(count + 1, 1);
    check_match(l);
    if (values && status_bytes)
        pfb_log_cook(l->paths, l->path_count, &l->samples[0], &l->samples[1], NULL, values, status_bytes);
    for (size_t i = 0; i < count && values && status_bytes && !l->w->out.broken; i++) {
        const pfb_log_value *value = &l->samples[1].values[i];
        pfb_raw_value older = {0};
        int32_t minutes;
        if (value->path >= l->path_count)
            continue;
        const pfb_log_path *path = &l->paths[value->path];
        pfb_raw_value newer = pfb_log_raw_value(path, value);
        if (value->older != PFB_LOG_NONE)
            older = pfb_log_raw_value(path, &l->samples[0].values[value->older]);
        pfb_formula_result r = pfb_formula_evaluate(older.has ? &older : NULL, &newer, NULL);
        add(l->w, (uint64_t)r.status ^ (uint64_t)value->occurrence << 32 ^ (uint64_t)value->older << 8);
        expect(l->w, newer.has != 0 || r.status != PFB_STATUS_OK, "without data there is no value");
        expect_if_unchanged(l->w,
                            r.value == values[i] && (r.status == (status_bytes[i] & PFB_STATUS_BYTE_CODE) ||
                                                     !pfb_pdh_has_value(value->status)),
                            "values are those of their formulas");
        if (pfb_log_utc_bias(path, value, &minutes))
            expect(l->w, minutes % 15 == 0 && minutes >= -900 && minutes <= 900,
                   "a bias is within the range of time zones");
    }
    free(values);
    free(status_bytes);
}

/* Checks that the values that were taken over from the sample before are those of the record itself. */
static void check_copy(log_walk *l)
{
    const pfb_log_values *loaded = &l->samples[1];
    pfb_log_values plain = {.values = calloc(loaded->capacity, sizeof *plain.values),
                            .order = calloc(loaded->capacity, sizeof *plain.order),
                            .capacity = loaded->capacity};
    if (plain.values && plain.order) {
        pfb_log_load(&plain, l->bytes, l->size, l->w->options);
        expect_if_unchanged(l->w, plain.count == loaded->count, "a copied sample has all values");
        for (size_t i = 0; i < plain.count && i < loaded->count; i++) {
            const pfb_log_value *a = &plain.values[i];
            const pfb_log_value *b = &loaded->values[i];
            expect_if_unchanged(l->w,
                                a->offset == b->offset && a->path == b->path && a->status == b->status &&
                                    a->occurrence == b->occurrence && a->time == b->time && a->first == b->first &&
                                    a->second == b->second && a->multi_count == b->multi_count &&
                                    a->instance.bytes == b->instance.bytes &&
                                    a->instance.size_bytes == b->instance.size_bytes &&
                                    plain.order[i] == loaded->order[i],
                                "a copied value is that of its record");
        }
    }
    free(plain.values);
    free(plain.order);
}

static void walk_sample(log_walk *l)
{
    walk_items(l);
    free(l->sample_bytes[0]);
    free(l->samples[0].values);
    free(l->samples[0].order);
    l->sample_bytes[0] = l->sample_bytes[1];
    l->samples[0] = l->samples[1];
    l->sample_bytes[1] = l->bytes;
    size_t capacity = l->size / 24 + 1; /* see pfb_log_values */
    pfb_log_values *newer = &l->samples[1];
    *newer = (pfb_log_values){.values = calloc(capacity, sizeof *newer->values),
                              .order = calloc(capacity, sizeof *newer->order),
                              .capacity = capacity,
                              .like = l->samples[0].values ? &l->samples[0] : NULL};
    l->is_exhausted = !newer->values || !newer->order;
    if (l->is_exhausted) {
        newer->count = 0;
    } else {
        pfb_error error = pfb_log_load(newer, l->bytes, l->size, l->w->options);
        expect(l->w, error.code != PFB_CALLER_TOO_SMALL, "the capacity suffices");
        if (newer->is_like)
            check_copy(l);
        pfb_log_match(NULL, 0, &l->samples[0], newer);
        walk_values(l);
    }
    l->bytes = NULL; /* now owned by sample_bytes */
}

static void walk_names(log_walk *l)
{
    pfb_log_names names;
    pfb_error error = pfb_log_read_names(l->bytes, l->size, &names);
    record_content_error(l, error, 0);
    if (error.code != PFB_OK)
        return;
    touch_name(l, &names.machine);
    touch_bytes(l, l->bytes + names.table_offset, names.table_size_bytes);
    pfb_name_table table;
    pfb_name_table_open(&table, l->bytes + names.table_offset, names.table_size_bytes, 0);
    l->w->out.items += 1 + pfb_name_table_count(&table);
}

static void walk_summary(log_walk *l)
{
    pfb_log_summary summary;
    record_content_error(l, pfb_log_read_summary(l->bytes, l->size, &summary), 0);
    add(l->w, summary.first_time ^ summary.last_time ^ summary.sample_count);
    l->w->out.items++;
}

/* ---- Records ---------------------------------------------------------------------------------------------------- */

static size_t window_size(const log_walk *l, size_t start, size_t window)
{
    size_t left = l->w->size - start;
    return window < left ? window : left;
}

/* Opens the log. Enlarges the window until it contains the first buffer. */
static bool open_log(log_walk *l)
{
    for (;;) {
        size_t count = window_size(l, 0, l->window);
        bool is_open = pfb_log_open(&l->reader, l->w->data, count, count == l->w->size, l->w->options);
        expect(l->w, is_open == (l->reader.error.code == PFB_OK), "a failed open has an error code");
        if (l->reader.error.code != PFB_CALLER_TOO_SMALL || count == l->w->size)
            return is_open;
        l->window = 2 * l->window + 1;
    }
}

/* Moves to the next record. If a window of the usual size does not contain it, continues with larger windows. */
static bool next_record(log_walk *l)
{
    size_t window = l->window;
    while (!pfb_log_next_record(&l->reader, &l->record)) {
        if (!l->reader.needs_more || l->reader.error.code != PFB_OK)
            return false;
        size_t start = (size_t)l->reader.window_offset + l->reader.resume_offset;
        expect(l->w, l->window != SIZE_MAX && start <= l->w->size, "the next window begins inside the log");
        if (l->w->out.broken)
            return false;
        window = l->reader.resume_offset == 0 ? 2 * window + 1 : window;
        size_t count = window_size(l, start, window);
        pfb_log_continue(&l->reader, l->w->data + start, count, count == l->w->size - start);
    }
    return true;
}

static void walk_record(log_walk *l)
{
    size_t offset = (size_t)l->reader.window_offset + l->record.offset;
    expect(l->w, is_inside(offset, l->record.size_bytes, 0, l->w->size), "a record is inside the log");
    add(l->w, l->record.type ^ (uint64_t)l->record.part_count << 32);
    add(l->w, l->record.time ^ offset);
    l->size = l->record.size_bytes;
    l->bytes = malloc(l->size > 0 ? l->size : 1);
    l->is_exhausted = !l->bytes;
    if (l->is_exhausted)
        return;
    change_byte(l->w, offset);
    size_t copied = pfb_log_copy_record(&l->reader, &l->record, l->bytes, l->size);
    expect_if_unchanged(l->w, copied == l->size, "a record has the declared size");
    expect(l->w, copied <= l->size, "a record is not longer than declared");
    l->size = copied;
    if (l->record.type == PFB_LOG_PATHS)
        walk_paths(l);
    else if (l->record.type == PFB_LOG_SAMPLE)
        walk_sample(l);
    else if (l->record.type == PFB_LOG_NAMES)
        walk_names(l);
    else
        walk_summary(l);
    free(l->bytes);
    l->bytes = NULL;
    l->w->out.items++;
}

static void walk_log(walk *w, size_t window)
{
    log_walk l = {.w = w, .window = window};
    if (open_log(&l)) {
        add(w, l.reader.start_time ^ l.reader.end_time ^ (uint32_t)l.reader.bias_minutes);
        expect(w, l.reader.standard_name.size_bytes <= 64 && l.reader.daylight_name.size_bytes <= 64,
               "names of time zones have at most 32 characters");
        while (!l.is_exhausted && !w->out.broken && next_record(&l))
            walk_record(&l);
        expect(w, l.is_exhausted || w->out.broken || !pfb_log_next_record(&l.reader, &l.record),
               "no record is returned after the end");
    }
    expect(w, pfb_log_recognise(w->data, w->size) || l.reader.error.code != PFB_OK || w->writable,
           "input that can be opened is recognised");
    add(w, l.reader.skipped_events);
    pfb_error error = l.reader.error;
    error.offset += error.code != PFB_OK ? (size_t)l.reader.window_offset : 0;
    w->out.notes |= l.reader.notes;
    if (w->out.error.code == PFB_OK)
        record_error(w, error, w->out.notes);
    free(l.path_bytes);
    free(l.paths);
    for (int i = 0; i < 2; i++) {
        free(l.sample_bytes[i]);
        free(l.samples[i].values);
        free(l.samples[i].order);
    }
}

/* ---- Comparing readings ------------------------------------------------------------------------------------------ */

static const tolerance tolerances[] = {{PFB_UNALIGNED_SIZE, PFB_NOTE_UNALIGNED_SIZE, 0},
                                       {PFB_TRAILING_BYTES, PFB_NOTE_TRAILING_BYTES, 0},
                                       {PFB_UNKNOWN_EVENT, PFB_NOTE_UNKNOWN_EVENT, 0},
                                       {PFB_BAD_PART, PFB_NOTE_INCOMPLETE_RECORD, 0},
                                       {PFB_UNKNOWN_ITEM, PFB_NOTE_UNKNOWN_ITEM, 0}};

reading read_log(const uint8_t *data, size_t size, const pfb_read_options *options)
{
    walk w = {.data = data, .size = size, .options = options};
    walk_log(&w, SIZE_MAX);
    return w.out;
}

reading verify_log(const uint8_t *data, size_t size)
{
    reading tolerant = read_log(data, size, 0);
    reading repeated = read_log(data, size, 0);
    reading strict = read_log(data, size, STRICT);
    walk windows = {.data = data, .size = size};
    walk parts = {.data = data, .size = size};
    parts.random = hash(data, size);
    walk_log(&windows, 1 + parts.random % 1024);
    walk_log(&parts, SIZE_MAX);
    const char *broken = tolerant.broken;
    if (!broken && !is_same_reading(&tolerant, &repeated))
        broken = "reading the same bytes twice gives the same result";
    if (!broken)
        broken = compare_strict(&tolerant, &strict, tolerances, sizeof tolerances / sizeof tolerances[0]);
    if (!broken)
        broken = windows.out.broken ? windows.out.broken : parts.out.broken;
    if (!broken && (!is_same_reading(&tolerant, &windows.out) || tolerant.sum != windows.out.sum))
        broken = "reading in windows gives the same result";
    if (!broken && (!is_same_error(tolerant.error, parts.out.error) || tolerant.notes != parts.out.notes))
        broken = "the error is the same when only parts are read";
    tolerant.broken = broken;
    return tolerant;
}

reading read_changing_log(uint8_t *data, size_t size, uint64_t seed)
{
    walk w = {.data = data, .size = size, .options = seed & 2 ? STRICT : NULL, .random = seed | 1};
    w.writable = data;
    walk_log(&w, seed & 4 ? SIZE_MAX : 1 + seed % 4096);
    return w.out;
}

void fuzz_log(const uint8_t *data, size_t size)
{
    uint64_t seed = hash(data, size);
    for (uint64_t round = 0; round < 3; round++) {
        uint8_t *copy = copy_input(data, size);
        if (!copy)
            return;
        end_round(copy, round == 0 ? verify_log(copy, size) : read_changing_log(copy, size, seed * (2 * round + 1)));
    }
}
