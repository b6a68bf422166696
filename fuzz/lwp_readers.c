/* SPDX-License-Identifier: MIT */
#include "lwp_readers.h"

#include "perfblock/lwp/lwp.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* ---- A walk over an input ----------------------------------------------------------------------------- */

/* A walk over a snapshot: its parts, and the reader of its control block and ring. */
typedef struct lwp_walk {
    walk base;
    pfb_lwp_snapshot parts;
    pfb_lwp_capabilities capabilities;
    pfb_lwp lwp;
} lwp_walk;

/* Loads a little-endian number independently of the reader, for comparison. */
static uint64_t load(const uint8_t *p, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i > 0; i--)
        value = value << 8 | p[i - 1];
    return value;
}

static void check_place(lwp_walk *l, pfb_lwp_place place)
{
    size_t end = place.part == PFB_LWP_PART_LEAF      ? 16
                 : place.part == PFB_LWP_PART_CONTROL ? l->parts.control_size
                                                      : l->parts.ring_size;
    expect(&l->base, place.offset < end, "offsets of errors and notes lie inside their part");
    add(&l->base, place.offset);
    add(&l->base, place.value);
}

static void check_notes(lwp_walk *l)
{
    expect(&l->base, l->lwp.notes >> PFB_LWP_NOTE_COUNT == 0, "all notes are known");
    for (unsigned i = 0; i < PFB_LWP_NOTE_COUNT; i++) {
        if (l->lwp.notes >> i & 1)
            check_place(l, l->lwp.first[i]);
    }
}

/* ---- Pairs and records ---------------------------------------------------------------------------------- */

static void check_pair_field(walk *w, uint32_t raw, int32_t value)
{
    expect(w, value >= -(1 << 25) && value < 1 << 25, "intervals and counters have 26 bits");
    expect(w, (((uint32_t)value ^ raw) & 0x03FFFFFF) == 0,
           "intervals and counters have the low 26 bits of their raw values");
}

static void walk_pairs(lwp_walk *l)
{
    walk *w = &l->base;
    uint32_t id = 1;
    pfb_lwp_pair pair;
    for (; pfb_lwp_pair_at(&l->lwp, id, &pair); id++) {
        expect(w, is_inside(pair.offset, 8, 0, l->parts.control_size), "pairs lie inside the control block");
        check_pair_field(w, pair.raw_interval, pair.interval);
        check_pair_field(w, pair.raw_counter, pair.counter);
        touch(w, l->parts.control_offset + pair.offset, 8);
        w->out.items++;
        change_byte(w, l->parts.control_offset + pair.offset);
    }
    expect(w, id == l->lwp.control.pair_count + 1, "every pair is returned");
}

static void check_event(lwp_walk *l, const pfb_lwp_event *event)
{
    walk *w = &l->base;
    expect(w, event->offset == (size_t)event->slot * l->capabilities.event_bytes,
           "the offset of a record is that of its slot");
    expect(w, l->capabilities.event_bytes >= 32 || (!event->has_stamp && event->stamp == 0),
           "records without space for a time stamp have none");
    expect(w, event->latency <= event->data1, "a latency is not above its raw value");
    expect(w, !event->has_data_address || event->id == PFB_LWP_EVENT_CACHE_MISSES,
           "only cache misses have data addresses");
    if (!is_inside(event->offset, l->capabilities.event_bytes, 0, l->parts.ring_size)) {
        expect(w, false, "records lie inside the ring");
        return;
    }
    touch(w, l->parts.ring_offset + event->offset, l->capabilities.event_bytes);
    const uint8_t *p = w->data + l->parts.ring_offset + event->offset;
    expect_if_unchanged(w,
                        event->id == p[0] && event->core == p[1] && event->flags == load(p + 2, 2) &&
                            event->data1 == load(p + 4, 4) && event->address == load(p + 8, 8) &&
                            event->data2 == load(p + 16, 8) &&
                            (l->capabilities.event_bytes < 32 || event->stamp == load(p + 24, 8)),
                        "the fields of a record equal its bytes");
}

/* Reads exactly `count` records from `slot` on, wrapping at the end. */
static void walk_events(lwp_walk *l, uint32_t slot, uint32_t count)
{
    walk *w = &l->base;
    pfb_lwp_event event;
    uint32_t read = 0;
    for (; read < count && pfb_lwp_next(&l->lwp, &event); read++) {
        expect(w, event.slot == slot, "records are returned in the order of the ring");
        check_event(l, &event);
        add(w, event.has_latency + event.latency + event.is_implemented + event.has_stamp);
        slot = slot + 1 == l->lwp.slots ? 0 : slot + 1;
        w->out.items++;
        change_byte(w, l->parts.ring_offset + event.offset);
    }
    expect(w, read == count && !pfb_lwp_next(&l->lwp, &event), "exactly the expected records are returned");
}

static void walk_ring(lwp_walk *l)
{
    walk *w = &l->base;
    const pfb_lwp *lwp = &l->lwp;
    uint32_t event_bytes = l->capabilities.event_bytes;
    expect(w, lwp->slots >= 2 && lwp->ring_bytes == lwp->slots * event_bytes, "a ring consists of whole records");
    expect(w, lwp->ring_bytes <= l->parts.ring_size, "a ring lies inside its memory");
    expect(w, lwp->head < lwp->ring_bytes && lwp->head % event_bytes == 0, "head is the start of a record");
    expect(w, lwp->count < lwp->slots, "fewer records are unread than the ring has slots");
    if (w->out.broken)
        return;
    uint32_t tail = lwp->control.tail / event_bytes;
    expect(w, (tail + lwp->count) % lwp->slots == lwp->head / event_bytes, "the last unread record precedes head");
    walk_events(l, tail, lwp->count);
    pfb_lwp_rewind_all(&l->lwp);
    walk_events(l, lwp->head / event_bytes, lwp->slots);
}

static void walk_parts(lwp_walk *l)
{
    walk *w = &l->base;
    const pfb_lwp_snapshot *s = &l->parts;
    pfb_lwp_capabilities_read(s->eax, s->ebx, s->ecx, s->edx, &l->capabilities);
    bool is_open = pfb_lwp_open(&l->lwp, &l->capabilities, w->data + s->control_offset, s->control_size,
                                w->data + s->ring_offset, s->ring_size, w->options);
    expect(w, is_open == (l->lwp.error.code == PFB_OK), "a failed open has an error code");
    expect(w, l->lwp.error.offset == l->lwp.error_place.offset, "the two offsets of an error agree");
    pfb_lwp_place_control(&l->lwp, w->size); /* any number may be the address */
    change_byte(w, s->control_offset);
    walk_pairs(l);
    if (is_open)
        walk_ring(l);
    else
        check_place(l, l->lwp.error_place);
    check_notes(l);
    record_error(w, l->lwp.error, l->lwp.notes);
}

static reading walk_input(walk w)
{
    lwp_walk l = {.base = w};
    pfb_error error = pfb_lwp_snapshot_read(w.data, w.size, &l.parts);
    record_error(&l.base, error, 0);
    if (error.code == PFB_OK)
        walk_parts(&l);
    expect(&l.base, l.base.out.touched <= 2 * w.size, "work is linear in the input");
    return l.base.out;
}

/* ---- Comparing readings ----------------------------------------------------------------------------------- */

/* Returns the note of an error that only strict reading reports; 0 for other codes. */
static uint32_t find_note(pfb_code code)
{
    if (code == PFB_LWP_BELOW_MINIMUM)
        return UINT32_C(1) << PFB_LWP_NOTE_BELOW_MINIMUM;
    return code == PFB_LWP_BAD_HEAD || code == PFB_LWP_UNALIGNED_HEAD ? UINT32_C(1) << PFB_LWP_NOTE_HEAD_ADJUSTED : 0;
}

/* Like compare_strict of walk.h, which does not allow notes in strict mode: LWP has notes that are not errors in either
 * mode. */
static const char *compare_modes(const reading *tolerant, const reading *strict)
{
    if (strict->broken)
        return strict->broken;
    uint32_t note = find_note(strict->error.code);
    if (note != 0)
        return tolerant->notes & note ? NULL
                                      : "an error that only strict reading reports is a note of tolerant reading";
    return is_same_reading(tolerant, strict) ? NULL : "otherwise strict and tolerant reading give the same result";
}

static const char *check_writing(const uint8_t *data, size_t size)
{
    pfb_lwp_snapshot s;
    if (pfb_lwp_snapshot_read(data, size, &s).code != PFB_OK)
        return NULL;
    pfb_lwp_capabilities capabilities;
    pfb_lwp_capabilities_read(s.eax, s.ebx, s.ecx, s.edx, &capabilities);
    size_t whole = s.ring_offset + s.ring_size;
    uint8_t *out = malloc(whole);
    if (!out)
        return NULL;
    bool is_same = pfb_lwp_snapshot_write(&capabilities, data + s.control_offset, s.control_size, data + s.ring_offset,
                                          s.ring_size, out, whole) == whole &&
                   memcmp(out, data, whole) == 0;
    free(out);
    return is_same ? NULL : "a snapshot that was read is written with the same bytes";
}

/* ---- Entry points ------------------------------------------------------------------------------------- */

reading read_lwp(const uint8_t *data, size_t size, const pfb_read_options *options)
{
    return walk_input((walk){.data = data, .size = size, .options = options});
}

reading verify_lwp(const uint8_t *data, size_t size)
{
    reading tolerant = read_lwp(data, size, NULL);
    reading repeated = read_lwp(data, size, NULL);
    reading strict = read_lwp(data, size, STRICT);
    const char *broken = tolerant.broken;
    if (!is_same_reading(&tolerant, &repeated))
        broken = "reading the same bytes twice gives the same result";
    if (!broken)
        broken = compare_modes(&tolerant, &strict);
    if (!broken)
        broken = check_writing(data, size);
    tolerant.broken = broken;
    return tolerant;
}

reading read_changing_lwp(uint8_t *data, size_t size, uint64_t seed)
{
    walk w = {.data = data, .size = size, .options = seed & 2 ? STRICT : NULL, .random = seed | 1};
    w.writable = data;
    return walk_input(w);
}

void fuzz_lwp(const uint8_t *data, size_t size)
{
    uint64_t seed = hash(data, size);
    for (uint64_t round = 0; round < 3; round++) {
        uint8_t *copy = copy_input(data, size);
        if (!copy)
            return;
        end_round(copy, round == 0 ? verify_lwp(copy, size) : read_changing_lwp(copy, size, seed * (2 * round + 1)));
    }
}
