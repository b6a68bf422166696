/* SPDX-License-Identifier: MIT */
#include "walk/walk_lwp.h"

#include "output/diagnostics.h"
#include "perfblock/lwp/lwp.h"
#include "walk/walk_parts.h"

#include <inttypes.h>
#include <stdio.h>

/* State of the walk of an LWP snapshot, which has the registers of the CPUID leaf, the control block and the ring. */
typedef struct lwp_walk {
    walk *walk;
    const file_bytes *bytes;
    pfb_lwp_snapshot parts;
    pfb_lwp lwp;
    uint32_t by_id[256]; /* number of walked records, by EventId */
    uint32_t entries;    /* number of walked records */
} lwp_walk;

enum { PAIR_BITS = 26 }; /* used bits of an interval or a counter; the others are reserved */

/* Converts an offset in a part of the snapshot to the offset in the file. */
static size_t offset_of(const lwp_walk *l, pfb_lwp_part part, size_t offset)
{
    size_t at = part == PFB_LWP_PART_CONTROL ? l->parts.control_offset
                : part == PFB_LWP_PART_RING  ? l->parts.ring_offset
                                             : 0;
    return l->bytes->base + at + offset;
}

/* ---- The control block ------------------------------------------------------------------------------------------ */

/* Prints the set bits of a word by name; bits without a name by number. */
static void print_names(output *out, const char *key, uint32_t bits, const char *(*name_of)(unsigned bit))
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

void lwp_print_bits(output *out, const char *key, uint32_t bits)
{
    print_names(out, key, bits, pfb_lwp_bit_name);
}

void lwp_print_registers(output *out, const pfb_lwp_capabilities *leaf)
{
    char text[40];
    snprintf(text, sizeof text, "%08" PRIX32 "-%08" PRIX32 "-%08" PRIX32 "-%08" PRIX32, leaf->eax, leaf->ebx, leaf->ecx,
             leaf->edx);
    output_word(out, "registers", text);
}

static bool is_continuous(const lwp_walk *l)
{
    return (l->lwp.notes >> PFB_LWP_NOTE_CONTINUOUS & 1) != 0;
}

static void print_control(const lwp_walk *l)
{
    output *out = l->walk->out;
    const pfb_lwp_control *control = &l->lwp.control;
    walk_structure s = walk_begin(l->walk, l->bytes, "control", 0, STRUCTURE_LWP_CONTROL, l->parts.control_offset);
    lwp_print_registers(out, &l->lwp.capabilities);
    walk_print_fields(&s, "Flags");
    lwp_print_bits(out, "wanted", control->flags);
    output_unsigned(out, "buffer_bytes", control->buffer_bytes);
    output_unsigned(out, "random_bits", control->random_bits);
    walk_print_fields(&s, "BufferBase, BufferHeadOffset, BufferTailOffset, MissedEvents, Threshold, Filters");
    print_names(out, "filter_names", control->filters, pfb_lwp_filter_name);
    walk_print_fields(&s, "BaseIP, LimitIP");
    output_unsigned(out, "event_bytes", l->lwp.capabilities.event_bytes);
    output_unsigned(out, "slots", l->lwp.slots);
    /* In continuous mode the tail does not show how many records are unread. */
    walk_print_number(l->walk, "unread", !is_continuous(l), l->lwp.count);
    output_end(out);
}

static void print_pairs(const lwp_walk *l)
{
    output *out = l->walk->out;
    pfb_lwp_pair pair;
    for (uint32_t id = 1; pfb_lwp_pair_at(&l->lwp, id, &pair); id++) {
        output_begin(out, "pair", l->bytes->depth + 1);
        output_offset(out, offset_of(l, PFB_LWP_PART_CONTROL, pair.offset));
        output_unsigned(out, "id", id);
        output_word(out, "name", pfb_lwp_event_name(id));
        output_signed(out, "interval", pair.interval);
        output_signed(out, "counter", pair.counter);
        if ((pair.raw_interval | pair.raw_counter) >> PAIR_BITS != 0) {
            output_hex(out, "raw_interval", pair.raw_interval);
            output_hex(out, "raw_counter", pair.raw_counter);
        }
        output_end(out);
    }
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* The names of flag bits are provisional: they were not verified against AMD's manual. So they are printed in addition
 * to the raw word, never instead of it. */
static void print_flag_names(output *out, const pfb_lwp_event *event)
{
    const char *names[16];
    size_t count = 0;
    for (unsigned bit = 16; bit-- > 0;) {
        const char *name = event->flags >> bit & 1 ? pfb_lwp_flag_name(event->id, bit) : "";
        if (*name)
            names[count++] = name;
    }
    if (count > 0)
        output_names(out, "provisional", names, count);
}

static void print_event(const lwp_walk *l, const pfb_lwp_event *event)
{
    output *out = l->walk->out;
    walk_structure s =
        walk_begin(l->walk, l->bytes, "event", 1, STRUCTURE_LWP_EVENT, l->parts.ring_offset + event->offset);
    output_unsigned(out, "slot", event->slot);
    walk_print_fields(&s, "EventId");
    output_word(out, "name", pfb_lwp_event_name(event->id));
    walk_print_fields(&s, "CoreId, flags, data 1, address, data 2");
    walk_print_fields_if(&s, event->has_stamp, "time stamp");
    if (!event->has_stamp && event->stamp != 0)
        output_hex(out, "raw_stamp", event->stamp);
    if (event->has_latency)
        output_unsigned(out, "latency", event->latency);
    print_flag_names(out, event);
    output_end(out);
}

static void print_summary(const lwp_walk *l)
{
    output *out = l->walk->out;
    char key[8];
    output_begin(out, "summary", l->bytes->depth);
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

/* Walks the unread records; in continuous mode all slots from the head on, except those that were never written. */
static void walk_events(lwp_walk *l)
{
    pfb_lwp_event event;
    if (is_continuous(l))
        pfb_lwp_rewind_all(&l->lwp);
    while (!output_failed(l->walk->out) && pfb_lwp_next(&l->lwp, &event)) {
        if (event.id == PFB_LWP_EVENT_INVALID && is_continuous(l))
            continue;
        print_event(l, &event);
        l->by_id[event.id]++;
        l->entries++;
        l->walk->counts.items++;
    }
}

static void report_notes(const lwp_walk *l)
{
    for (unsigned note = 0; note < PFB_LWP_NOTE_COUNT && l->walk->out->format != OUTPUT_NONE; note++) {
        const pfb_lwp_place *place = &l->lwp.first[note];
        if (l->lwp.notes >> note & 1)
            diagnostics_note(l->walk->in->name, offset_of(l, place->part, place->offset), "%s (%" PRIu64 ")",
                             pfb_lwp_note_text((pfb_lwp_note)note), place->value);
    }
}

/* ---- The bytes, for explain -------------------------------------------------------------------------------------- */

static void explain_control(const lwp_walk *l)
{
    explainer *page = l->walk->page;
    pfb_lwp_pair pair;
    size_t at = l->parts.control_offset;
    explain_begin(page, l->bytes, STRUCTURE_LWP_CONTROL, at, false, NULL, "control block");
    for (uint32_t id = 1; l->lwp.has_control && pfb_lwp_pair_at(&l->lwp, id, &pair); id++) {
        explain_row(page, l->bytes, at + pair.offset, 4, FIELD_HEX, "interval of EventId %" PRIu32, id);
        explain_row(page, l->bytes, at + pair.offset + 4, 4, FIELD_HEX, "counter of EventId %" PRIu32, id);
    }
    explain_end(page, l->bytes, at + l->parts.control_size);
}

/* Prints all records of the ring, including those that were read before the snapshot was taken. */
static void explain_ring(const lwp_walk *l, bool is_open)
{
    enum { RING_SIZE = 8 };
    explainer *page = l->walk->page;
    size_t at = l->parts.ring_offset;
    size_t size = l->lwp.capabilities.event_bytes;
    explain_row(page, l->bytes, at - RING_SIZE, RING_SIZE, FIELD_UNSIGNED, "size of the ring");
    explain_begin(page, l->bytes, STRUCTURE_LWP_RING, at, false, NULL, "%" PRIu32 " %s", l->entries,
                  is_continuous(l) ? "written" : "unread");
    for (uint32_t slot = 0; is_open && slot < l->lwp.slots; slot++) {
        explain_begin(page, l->bytes, STRUCTURE_LWP_EVENT, at + slot * size, l->lwp.slots > EXPLAIN_MAX_OPEN, NULL,
                      "slot %" PRIu32, slot);
        explain_end(page, l->bytes, at + (slot + 1) * size);
    }
    explain_part_end(page, l->bytes, l->lwp.error, at + l->parts.ring_size);
    explain_end(page, l->bytes, 0);
}

/* ---- A snapshot -------------------------------------------------------------------------------------------------- */

void walk_lwp(walk *w, const file_bytes *bytes)
{
    lwp_walk l = {.walk = w, .bytes = bytes};
    pfb_lwp_capabilities leaf;
    explain_begin(w->page, bytes, STRUCTURE_LWP_SNAPSHOT, 0, false, NULL, "%s", "");
    pfb_error error = pfb_lwp_snapshot_read(bytes->data, bytes->size, &l.parts);
    if (error.code != PFB_OK) {
        walk_fail(w, bytes, error);
        explain_part_end(w->page, bytes, error, bytes->size);
        explain_end(w->page, bytes, 0);
        return;
    }
    pfb_lwp_capabilities_read(l.parts.eax, l.parts.ebx, l.parts.ecx, l.parts.edx, &leaf);
    bool is_open = pfb_lwp_open(&l.lwp, &leaf, bytes->data + l.parts.control_offset, l.parts.control_size,
                                bytes->data + l.parts.ring_offset, l.parts.ring_size, w->options);
    w->counts.items++;
    if (l.lwp.has_control) {
        print_control(&l);
        print_pairs(&l);
    }
    if (is_open)
        walk_events(&l);
    if (l.lwp.has_control)
        print_summary(&l);
    report_notes(&l);
    w->lwp_notes |= l.lwp.notes;
    l.lwp.error.offset = offset_of(&l, l.lwp.error_place.part, l.lwp.error.offset) - bytes->base;
    walk_fail(w, bytes, l.lwp.error);
    if (w->page) {
        explain_control(&l);
        explain_ring(&l, is_open);
    }
    explain_part_end(w->page, bytes, (pfb_error){PFB_OK, 0}, bytes->size);
    explain_end(w->page, bytes, 0);
}
