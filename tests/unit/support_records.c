/* SPDX-License-Identifier: MIT */
#include "support_records.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Records ------------------------------------------------------------------------------------------------- */

void read_records(records *r, const uint8_t *data, size_t size)
{
    pfb_stream *stream = pfb_stream_new();
    pfb_input input = {.size = sizeof input, .label = "seed", .data = data, .byte_count = size};
    pfb_record record = {.size = sizeof record};
    cr_assert(stream && pfb_stream_add(stream, &input) == 0);
    r->count = 0;
    while (r->count < MAX_RECORDS && pfb_stream_next(stream, &record) == PFB_NEXT_RECORD) {
        uint8_t *copy = malloc((size_t)record.byte_count + 1);
        cr_assert(copy);
        if (record.byte_count > 0)
            memcpy(copy, record.bytes, (size_t)record.byte_count);
        record.bytes = copy;
        record.label = record.label ? "seed" : NULL;
        r->list[r->count++] = record;
    }
    pfb_stream_close(stream);
}

void free_records(records *r)
{
    for (size_t i = 0; i < r->count; i++)
        free((void *)r->list[i].bytes);
    r->count = 0;
}

/* ---- Series of a frame ------------------------------------------------------------------------------------------ */

const digests nothing = {UINT64_C(14695981039346656037), UINT64_C(14695981039346656037), 0}; /* of FNV-1a */

static void add_bytes(uint64_t *digest, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *digest = (*digest ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
}

void add_number(uint64_t *digest, uint64_t number)
{
    add_bytes(digest, &number, sizeof number);
}

/* Adds a name, which ends with a NUL after its bytes. */
static void add_name(uint64_t *digest, const char *name, uint32_t size)
{
    cr_expect_eq(name[size], '\0');
    add_number(digest, size);
    add_bytes(digest, name, size);
}

static void add_series(digests *d, const pfb_series *s)
{
    add_name(&d->series, s->machine, s->machine_bytes);
    add_name(&d->series, s->counterset, s->counterset_bytes);
    add_name(&d->series, s->instance, s->instance_bytes);
    add_name(&d->series, s->parent, s->parent_bytes);
    add_name(&d->series, s->counter, s->counter_bytes);
    add_bytes(&d->series, s->unit, strlen(s->unit) + 1);
    add_bytes(&d->series, s->set.bytes, sizeof s->set.bytes);
    const uint64_t numbers[] = {s->has,    s->occurrence, s->type,     s->counter_id, s->title,
                                s->result, s->row,        s->position, s->attributes, (uint64_t)s->instance_id};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        add_number(&d->series, numbers[i]);
}

void add_value(digests *d, const pfb_value *v)
{
    const uint64_t numbers[] = {v->has, v->status, v->source_status,         v->flags,         v->integer,
                                v->raw, v->base,   (uint64_t)v->object_freq, (uint64_t)v->time};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        add_number(&d->values, numbers[i]);
    add_bytes(&d->values, &v->value, sizeof v->value);
    d->count++;
}

/* Checks that the arrays of a frame have what pfb_collector_value returns. */
static void check_arrays(pfb_collector *c, const pfb_frame *frame, uint32_t i, const pfb_value *v, const char *name)
{
    pfb_raw_value inputs[2];
    bool is_ok = v->status == PFB_STATUS_OK;
    cr_expect(is_ok ? memcmp(&frame->values[i], &v->value, sizeof v->value) == 0 : frame->values[i] != frame->values[i],
              "%s, element %u: %g, not %g", name, i, frame->values[i], v->value);
    cr_expect(frame->statuses[i] == v->status && frame->flag_bits[i] == v->flags && frame->raw[i] == v->raw,
              "%s, element %u", name, i);
    cr_expect_eq(frame->times ? frame->times[i] : frame->time, v->time, "%s, element %u", name, i);
    cr_expect(pfb_collector_inputs(c, i, inputs));
    cr_expect(!(v->has & PFB_VALUE_RAW) || (inputs[1].has & PFB_HAS_VALUE && inputs[1].value == v->raw),
              "%s, element %u: the input is not the raw value", name, i);
    cr_expect(!(v->has & PFB_VALUE_INTEGER) || (double)v->integer == v->value, "%s, element %u", name, i);
}

/* Returns the digests of the current frame. */
digests digest_frame(pfb_collector *c, const char *name)
{
    pfb_frame frame = {.size = sizeof frame};
    pfb_series series = {.size = sizeof series};
    pfb_value value = {.size = sizeof value};
    digests d = nothing;
    cr_assert(pfb_collector_frame(c, &frame));
    for (uint32_t i = 0; i < frame.count; i++) {
        cr_assert(pfb_collector_series(c, i, &series) && pfb_collector_value(c, i, &value));
        check_arrays(c, &frame, i, &value, name);
        add_series(&d, &series);
        add_value(&d, &value);
    }
    cr_expect(!pfb_collector_series(c, frame.count, &series) && !pfb_collector_value(c, frame.count, &value));
    return d;
}

static const char *const subjects[] = {"capture", "collect", "v1", "v2", "log", "pdh_text", "stream"};

void visit_all(seed_visitor *visit)
{
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        cr_expect_gt(visit_seeds(subjects[i], visit), 5, "corpus/%s has too few seeds", subjects[i]);
}

/* ---- Elements ------------------------------------------------------------------------------------------------ */

static void keep_name(char name[64], const char *text)
{
    snprintf(name, 64, "%s", text);
}

/* Stores the elements of all frames. The selection is given to the collector before the record at `begin`. */
void list_elements(elements *e, const records *r, const pfb_selection *selection, size_t begin)
{
    pfb_collector *c = pfb_collector_new();
    pfb_frame frame = {.size = sizeof frame};
    pfb_series series = {.size = sizeof series};
    pfb_value value = {.size = sizeof value};
    cr_assert(c);
    e->count = 0;
    for (size_t k = 0; k < r->count; k++) {
        if (k == begin)
            cr_assert(pfb_collector_select(c, selection));
        if (pfb_collector_put(c, &r->list[k]) != 1)
            continue;
        cr_assert(pfb_collector_frame(c, &frame));
        for (uint32_t i = 0; i < frame.count && e->count < MAX_ELEMENTS; i++) {
            digests d = nothing;
            element *out = &e->list[e->count++];
            cr_assert(pfb_collector_series(c, i, &series) && pfb_collector_value(c, i, &value));
            add_value(&d, &value);
            *out = (element){.record = k, .value = d.values};
            keep_name(out->counterset, series.counterset);
            keep_name(out->counter, series.counter);
            keep_name(out->instance, series.instance);
            if (series.has & PFB_SERIES_SET)
                pfb_guid_format(&series.set, out->set);
            else if (series.has & PFB_SERIES_TITLE)
                snprintf(out->set, sizeof out->set, "%u", (unsigned)series.title);
            if (series.has & PFB_SERIES_COUNTER_ID)
                snprintf(out->counter_id, sizeof out->counter_id, "%u", (unsigned)series.counter_id);
        }
    }
    pfb_collector_close(c);
}

/* Returns true if a text can be a name in a path, and means only itself. */
bool is_plain(const char *text)
{
    size_t size = strlen(text);
    bool is_number = true;
    for (size_t i = 0; i < size; i++)
        is_number = is_number && text[i] >= '0' && text[i] <= '9';
    return size > 0 && size < 60 && !is_number && strpbrk(text, "*?#/\\()\xEF") == NULL;
}

bool is_same_text(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        bool is_letter = (*a >= 'A' && *a <= 'Z') || (*a >= 'a' && *a <= 'z');
        if (*a != *b && !(is_letter && (*a ^ *b) == 0x20))
            return false;
    }
    return *a == *b;
}
