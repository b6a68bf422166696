/* SPDX-License-Identifier: MIT */
/* Snapshots of Lightweight Profiling: the registers of the CPUID leaf, the control block and the ring. */
#include "output/diagnostics.h"
#include "perfblock/lwp/lwp.h"
#include "visitor/visits.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct lwp_visit {
    visitor *v;
    pfb_lwp_snapshot parts;
    pfb_lwp lwp;
    bool is_continuous;  /* the tail does not show how many records are unread */
    uint32_t by_id[256]; /* number of visited records, by EventId */
    uint32_t entries;    /* number of visited records */
} lwp_visit;

/* Converts an offset in a part of the snapshot to one in the snapshot. */
static size_t offset_of(const lwp_visit *l, pfb_lwp_part part, size_t offset)
{
    return offset + (part == PFB_LWP_PART_CONTROL ? l->parts.control_offset
                     : part == PFB_LWP_PART_RING  ? l->parts.ring_offset
                                                  : 0);
}

void lwp_write_bits(output *out, const char *key, uint32_t bits, const char *(*name_of)(unsigned bit))
{
    char texts[32][8];
    const char *names[32];
    size_t count = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        if (!(bits >> bit & 1))
            continue;
        const char *name = name_of(bit);
        snprintf(texts[count], sizeof texts[count], "bit%u", bit);
        names[count] = *name ? name : texts[count];
        count++;
    }
    output_names(out, key, names, count);
}

void lwp_write_registers(output *out, const pfb_lwp_capabilities *leaf)
{
    char text[40];
    snprintf(text, sizeof text, "%08" PRIX32 "-%08" PRIX32 "-%08" PRIX32 "-%08" PRIX32, leaf->eax, leaf->ebx, leaf->ecx,
             leaf->edx);
    output_word(out, "registers", text);
}

static void write_control(const lwp_visit *l)
{
    visitor *v = l->v;
    const pfb_lwp_control *control = &l->lwp.control;
    lwp_write_registers(v->out, &l->lwp.capabilities);
    visit_fields(v, "Flags");
    lwp_write_bits(v->out, "wanted", control->flags, pfb_lwp_bit_name);
    visit_number(v, "buffer_bytes", true, control->buffer_bytes);
    visit_number(v, "random_bits", true, control->random_bits);
    visit_fields(v, "BufferBase, BufferHeadOffset, BufferTailOffset, MissedEvents, Threshold, Filters");
    lwp_write_bits(v->out, "filter_names", control->filters, pfb_lwp_filter_name);
    visit_fields(v, "BaseIP, LimitIP");
    visit_number(v, "event_bytes", true, l->lwp.capabilities.event_bytes);
    visit_number(v, "slots", true, l->lwp.slots);
    visit_number(v, "unread", !l->is_continuous, l->lwp.count);
}

static void visit_pair(visitor *v, uint32_t id, const pfb_lwp_pair *pair, size_t offset)
{
    enum { PAIR_BITS = 26 }; /* used bits of an interval or a counter; the others are reserved */
    visit_record(v, offset, "pair", 1);
    output_unsigned(v->out, "id", id);
    output_word(v->out, "name", pfb_lwp_event_name(id));
    output_signed(v->out, "interval", pair->interval);
    output_signed(v->out, "counter", pair->counter);
    if ((pair->raw_interval | pair->raw_counter) >> PAIR_BITS != 0) {
        output_hex(v->out, "raw_interval", pair->raw_interval);
        output_hex(v->out, "raw_counter", pair->raw_counter);
    }
    visit_field(v, NULL, offset, 4, FIELD_HEX, "interval of EventId %" PRIu32, id);
    visit_field(v, NULL, offset + 4, 4, FIELD_HEX, "counter of EventId %" PRIu32, id);
}

static void visit_control(const lwp_visit *l)
{
    visitor *v = l->v;
    pfb_lwp_pair pair;
    visit_begin(v, STRUCTURE_LWP_CONTROL, l->parts.control_offset, l->lwp.has_control ? "control" : NULL, 0);
    if (l->lwp.has_control)
        write_control(l);
    for (uint32_t id = 1; l->lwp.has_control && pfb_lwp_pair_at(&l->lwp, id, &pair); id++)
        visit_pair(v, id, &pair, offset_of(l, PFB_LWP_PART_CONTROL, pair.offset));
    visit_end(v, VISIT_FINE, offset_of(l, PFB_LWP_PART_CONTROL, l->parts.control_size));
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static void write_event(const lwp_visit *l, const pfb_lwp_event *event)
{
    visitor *v = l->v;
    visit_record(v, offset_of(l, PFB_LWP_PART_RING, event->offset), "event", 1);
    v->which = STRUCTURE_LWP_EVENT;
    v->offset = offset_of(l, PFB_LWP_PART_RING, event->offset);
    visit_number(v, "slot", true, event->slot);
    visit_fields(v, "EventId");
    output_word(v->out, "name", pfb_lwp_event_name(event->id));
    visit_fields(v, "CoreId, flags, data 1, address, data 2");
    visit_fields_if(v, event->has_stamp, "time stamp");
    if (!event->has_stamp && event->stamp != 0)
        output_hex(v->out, "raw_stamp", event->stamp);
    if (event->has_latency)
        output_unsigned(v->out, "latency", event->latency);
    /* The names of flag bits are provisional: they were not verified against AMD's manual. So they are printed in
     * addition to the raw word, never instead of it. */
    const char *names[16];
    size_t count = 0;
    for (unsigned bit = 16; bit-- > 0;) {
        const char *name = event->flags >> bit & 1 ? pfb_lwp_flag_name(event->id, bit) : "";
        if (*name)
            names[count++] = name;
    }
    if (count > 0)
        output_names(v->out, "provisional", names, count);
}

/* Writes the unread records; in continuous mode all slots from the head on, except those that were never written. */
static void write_events(lwp_visit *l)
{
    pfb_lwp_event event;
    if (l->is_continuous)
        pfb_lwp_rewind_all(&l->lwp);
    while (!output_failed(l->v->out) && pfb_lwp_next(&l->lwp, &event)) {
        if (event.id == PFB_LWP_EVENT_INVALID && l->is_continuous)
            continue;
        write_event(l, &event);
        l->by_id[event.id]++;
        l->entries++;
        l->v->counts.items++;
    }
}

/* Visits all slots of the ring in their order, including records that were read before the snapshot was taken. */
static void visit_slots(const lwp_visit *l)
{
    enum { RING_SIZE = 8 };
    visitor *v = l->v;
    size_t at = l->parts.ring_offset;
    size_t size = l->lwp.capabilities.event_bytes;
    visit_field(v, NULL, at - RING_SIZE, RING_SIZE, FIELD_UNSIGNED, "size of the ring");
    visit_begin(v, STRUCTURE_LWP_RING, at, NULL, 0);
    visit_title(v, "%" PRIu32 " %s", l->entries, l->is_continuous ? "written" : "unread");
    for (uint32_t slot = 0; slot < l->lwp.slots && l->lwp.error.code == PFB_OK; slot++) {
        visit_begin(v, STRUCTURE_LWP_EVENT, at + slot * size, NULL, 0);
        visit_title(v, "slot %" PRIu32, slot);
        visit_end(v, VISIT_FINE, at + (slot + 1) * size);
    }
    visit_end(v, l->lwp.error, at + l->parts.ring_size);
}

static void write_summary(const lwp_visit *l)
{
    output *out = l->v->out;
    char key[8];
    visit_flush(l->v);
    output_begin(out, "summary", l->v->bytes.depth); /* without an offset */
    output_unsigned(out, "entries", l->entries);
    output_unsigned(out, "missed", l->lwp.control.missed_events);
    output_begin_object(out, "by_id");
    for (unsigned id = 0; id < 256; id++) {
        snprintf(key, sizeof key, "%u", id);
        if (l->by_id[id] > 0)
            output_unsigned(out, out->format == OUTPUT_JSON ? key : pfb_lwp_event_name(id), l->by_id[id]);
    }
    output_end_object(out);
    output_end(out);
}

/* ---- A snapshot -------------------------------------------------------------------------------------------------- */

static void report_notes(const lwp_visit *l)
{
    const visitor *v = l->v;
    for (unsigned note = 0; note < PFB_LWP_NOTE_COUNT && v->out->format != OUTPUT_NONE; note++) {
        const pfb_lwp_place *place = &l->lwp.first[note];
        if (l->lwp.notes >> note & 1)
            diagnostics_note(v->in->name, v->bytes.base + offset_of(l, place->part, place->offset), "%s (%" PRIu64 ")",
                             pfb_lwp_note_text((pfb_lwp_note)note), place->value);
    }
}

/* Visits the control block and the ring, whose places are known. */
static void visit_parts(lwp_visit *l)
{
    visitor *v = l->v;
    const uint8_t *data = v->bytes.data;
    const pfb_lwp_snapshot *parts = &l->parts;
    pfb_lwp_capabilities leaf;
    pfb_lwp_capabilities_read(parts->eax, parts->ebx, parts->ecx, parts->edx, &leaf);
    bool is_open = pfb_lwp_open(&l->lwp, &leaf, data + parts->control_offset, parts->control_size,
                                data + parts->ring_offset, parts->ring_size, v->options);
    l->is_continuous = (l->lwp.notes >> PFB_LWP_NOTE_CONTINUOUS & 1) != 0;
    v->counts.items++;
    visit_control(l);
    if (is_open)
        write_events(l);
    if (l->lwp.has_control)
        write_summary(l);
    report_notes(l);
    v->lwp_notes |= l->lwp.notes;
    l->lwp.error.offset = offset_of(l, l->lwp.error_place.part, l->lwp.error.offset);
    visit_error(v, l->lwp.error);
    if (v->page)
        visit_slots(l);
}

void visit_lwp(visitor *v)
{
    lwp_visit l = {.v = v};
    visit_begin(v, STRUCTURE_LWP_SNAPSHOT, 0, NULL, 0);
    pfb_error error = pfb_lwp_snapshot_read(v->bytes.data, v->bytes.size, &l.parts);
    if (error.code == PFB_OK)
        visit_parts(&l);
    else
        visit_error(v, error);
    visit_end(v, error, v->bytes.size);
}
