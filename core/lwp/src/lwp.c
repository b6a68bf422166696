/* SPDX-License-Identifier: MIT */
#include "perfblock/lwp/lwp.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "bytes/never.h"
#include "bytes/store.h"

/* Offsets of the leaf's registers. */
enum { EAX_AT = 0, EBX_AT = 4, ECX_AT = 8, EDX_AT = 12 };

enum { LWP_MIN_RECORD_BYTES = 24, STAMP_AT = 24, LAST_FLAG_EVENT = 28 /* higher bits of Flags are modes */ };

#define BUFFER_SIZE_BITS UINT32_C(0x0FFFFFFF)
#define PAIR_BITS UINT32_C(0x03FFFFFF)
#define PAIR_SIGN UINT32_C(0x02000000)
#define REQUESTS (PFB_LWP_KNOWN_BITS & ~PFB_LWP_AVAILABLE) /* bits of Flags with a public name */

/* ---- Notes and errors -------------------------------------------------------------------------------- */

typedef struct note_row {
    char name[20];
    char text[64];
} note_row;

static const note_row notes[PFB_LWP_NOTE_COUNT] = {
    [PFB_LWP_NOTE_EXTENDED_RECORD] = {"extended_record", "records are longer than 32 bytes; the rest is not decoded"},
    [PFB_LWP_NOTE_SHORT_RECORD] = {"short_record", "records are shorter than 32 bytes and have no time stamp"},
    [PFB_LWP_NOTE_INCONSISTENT_LEAF] = {"inconsistent_leaf", "the leaf enables what the CPU does not have"},
    [PFB_LWP_NOTE_UNKNOWN_VERSION] = {"unknown_version", "the leaf's version is neither 1 nor 2"},
    [PFB_LWP_NOTE_BUFFER_REMAINDER] = {"buffer_remainder", "BufferSize is no multiple of the record size"},
    [PFB_LWP_NOTE_BELOW_MINIMUM] = {"below_minimum", "the ring is smaller than the leaf's minimum"},
    [PFB_LWP_NOTE_BUFFER_WRAPS] = {"buffer_wraps", "the ring passes the end of the address space"},
    [PFB_LWP_NOTE_HEAD_ADJUSTED] = {"head_adjusted", "BufferHeadOffset is outside the ring or inside a record"},
    [PFB_LWP_NOTE_RESERVED_FLAGS] = {"reserved_flags", "Flags has bits without a public name"},
    [PFB_LWP_NOTE_RESERVED_FIELD] = {"reserved_field", "a reserved field is not 0"},
    [PFB_LWP_NOTE_UNAVAILABLE_FLAGS] = {"unavailable_flags", "Flags requests what the leaf does not offer"},
    [PFB_LWP_NOTE_RESERVED_PAIR_BITS] = {"reserved_pair_bits", "an interval or counter has bits above its 26"},
    [PFB_LWP_NOTE_NEGATIVE_PAIR] = {"negative_pair", "an interval or counter is below 0"},
    [PFB_LWP_NOTE_RANDOM_TOO_WIDE] = {"random_too_wide", "Random covers more than an enabled event's interval"},
    [PFB_LWP_NOTE_THRESHOLD_REMAINDER] = {"threshold_remainder", "Threshold is no multiple of the record size"},
    [PFB_LWP_NOTE_THRESHOLD_BEYOND] = {"threshold_beyond", "Threshold is above the ring's size"},
    [PFB_LWP_NOTE_CONTINUOUS] = {"continuous", "in continuous mode tail does not show how full the ring is"},
    [PFB_LWP_NOTE_OVERLAP] = {"overlap", "control block and ring share addresses"},
    [PFB_LWP_NOTE_INVALID_EVENT] = {"invalid_event", "a record has EventId 0"},
    [PFB_LWP_NOTE_UNKNOWN_EVENT] = {"unknown_event", "a record has an EventId without public meaning"},
    [PFB_LWP_NOTE_MISSING_EVENT] = {"missing_event", "a record is of an event that the CPU does not implement"},
    [PFB_LWP_NOTE_RESERVED_RECORD] = {"reserved_record", "a record has reserved bits set"},
};

const char *pfb_lwp_note_name(pfb_lwp_note note)
{
    return (unsigned)note < PFB_LWP_NOTE_COUNT ? notes[note].name : "unknown_note";
}

const char *pfb_lwp_note_text(pfb_lwp_note note)
{
    return (unsigned)note < PFB_LWP_NOTE_COUNT ? notes[note].text : "a note this version does not know";
}

static pfb_lwp_place in_leaf(size_t offset, uint64_t value)
{
    return (pfb_lwp_place){PFB_LWP_PART_LEAF, offset, value};
}

static pfb_lwp_place in_control(size_t offset, uint64_t value)
{
    return (pfb_lwp_place){PFB_LWP_PART_CONTROL, offset, value};
}

static void add_note(pfb_lwp *lwp, pfb_lwp_note note, pfb_lwp_place place)
{
    uint32_t bit = UINT32_C(1) << note;
    if (lwp->notes & bit)
        return;
    lwp->notes |= bit;
    lwp->first[note] = place;
}

static bool fail(pfb_lwp *lwp, pfb_code code, pfb_lwp_place place)
{
    lwp->error = (pfb_error){code, place.offset};
    lwp->error_place = place;
    return false;
}

/* Records a deviation as a note, or as an error in strict mode. Returns true if reading may continue. */
static bool tolerate(pfb_lwp *lwp, pfb_lwp_note note, pfb_code code, pfb_lwp_place place)
{
    if (lwp->is_strict)
        return fail(lwp, code, place);
    add_note(lwp, note, place);
    return true;
}

/* ---- The leaf ---------------------------------------------------------------------------------------- */

static bool check_leaf(pfb_lwp *lwp)
{
    const pfb_lwp_capabilities *c = &lwp->capabilities;
    if (c->is_refused || !(c->hardware & PFB_LWP_AVAILABLE))
        return fail(lwp, PFB_LWP_UNTRUSTED_LEAF, in_leaf(EDX_AT, c->hardware));
    if (c->event_bytes == 0)
        return fail(lwp, PFB_LWP_EVENT_SIZE_ZERO, in_leaf(EBX_AT, c->event_bytes));
    if (c->event_bytes < LWP_MIN_RECORD_BYTES)
        return fail(lwp, PFB_LWP_EVENT_SIZE_SMALL, in_leaf(EBX_AT, c->event_bytes));
    if (c->event_bytes % 8 != 0)
        return fail(lwp, PFB_LWP_EVENT_SIZE_UNALIGNED, in_leaf(EBX_AT, c->event_bytes));
    if (c->event_offset < PFB_LWP_FIXED_BYTES || c->event_offset % 8 != 0)
        return fail(lwp, PFB_LWP_BAD_EVENT_OFFSET, in_leaf(EBX_AT, c->event_offset));
    /* Ensures that the control block has at least PFB_LWP_FIXED_BYTES and contains all pairs. */
    if (c->event_offset > c->control_bytes || c->max_events > (c->control_bytes - c->event_offset) / PFB_LWP_PAIR_BYTES)
        return fail(lwp, PFB_LWP_BAD_PAIRS, in_leaf(EBX_AT, c->control_bytes));
    return true;
}

static void note_leaf(pfb_lwp *lwp)
{
    const pfb_lwp_capabilities *c = &lwp->capabilities;
    if (c->event_bytes > PFB_LWP_RECORD_BYTES)
        add_note(lwp, PFB_LWP_NOTE_EXTENDED_RECORD, in_leaf(EBX_AT, c->event_bytes));
    if (c->event_bytes < PFB_LWP_RECORD_BYTES)
        add_note(lwp, PFB_LWP_NOTE_SHORT_RECORD, in_leaf(EBX_AT, c->event_bytes));
    if (c->enabled & ~c->hardware)
        add_note(lwp, PFB_LWP_NOTE_INCONSISTENT_LEAF, in_leaf(EAX_AT, c->enabled));
    if (c->version != 1 && c->version != 2)
        add_note(lwp, PFB_LWP_NOTE_UNKNOWN_VERSION, in_leaf(ECX_AT, c->version));
}

/* Returns the bits that Flags may request: those that the CPU has and the operating system enables or, if EAX is 0, all
 * that the CPU has. */
static uint32_t offered_flags(const pfb_lwp_capabilities *capabilities)
{
    return capabilities->enabled ? capabilities->enabled & capabilities->hardware : capabilities->hardware;
}

/* Returns true if Flags requests an event or a mode that the leaf offers. */
static bool is_effective(const pfb_lwp *lwp, uint32_t bit)
{
    return (lwp->control.flags & offered_flags(&lwp->capabilities) & bit) != 0;
}

/* ---- The control block ------------------------------------------------------------------------------- */

/* Loads every fixed field once. Requires PFB_LWP_FIXED_BYTES at `p`. */
static void read_control(pfb_lwp *lwp, const uint8_t *p)
{
    uint32_t size = load_le32(p + PFB_LWP_AT_BUFFER_SIZE);
    lwp->control = (pfb_lwp_control){.flags = load_le32(p + PFB_LWP_AT_FLAGS),
                                     .buffer_bytes = size & BUFFER_SIZE_BITS,
                                     .random_bits = size >> 28,
                                     .buffer_base = load_le64(p + PFB_LWP_AT_BUFFER_BASE),
                                     .head = load_le32(p + PFB_LWP_AT_HEAD),
                                     .tail = load_le32(p + PFB_LWP_AT_TAIL),
                                     .missed_events = load_le64(p + PFB_LWP_AT_MISSED),
                                     .threshold_bytes = load_le32(p + PFB_LWP_AT_THRESHOLD),
                                     .filters = load_le32(p + PFB_LWP_AT_FILTERS),
                                     .base_ip = load_le64(p + PFB_LWP_AT_BASE_IP),
                                     .limit_ip = load_le64(p + PFB_LWP_AT_LIMIT_IP),
                                     .pair_count = lwp->capabilities.max_events};
    const uint64_t reserved[] = {load_le32(p + PFB_LWP_AT_RESERVED_20), load_le64(p + PFB_LWP_AT_RESERVED_56),
                                 load_le32(p + PFB_LWP_AT_RESERVED_68)};
    static const uint8_t reserved_at[] = {PFB_LWP_AT_RESERVED_20, PFB_LWP_AT_RESERVED_56, PFB_LWP_AT_RESERVED_68};
    for (size_t i = 0; i < sizeof reserved_at; i++) {
        if (reserved[i] != 0)
            add_note(lwp, PFB_LWP_NOTE_RESERVED_FIELD, in_control(reserved_at[i], reserved[i]));
    }
}

static void note_flags(pfb_lwp *lwp)
{
    uint32_t flags = lwp->control.flags;
    if (flags & ~REQUESTS)
        add_note(lwp, PFB_LWP_NOTE_RESERVED_FLAGS, in_control(PFB_LWP_AT_FLAGS, flags));
    if (flags & REQUESTS & ~offered_flags(&lwp->capabilities))
        add_note(lwp, PFB_LWP_NOTE_UNAVAILABLE_FLAGS, in_control(PFB_LWP_AT_FLAGS, flags));
    if (is_effective(lwp, PFB_LWP_CONTINUOUS))
        add_note(lwp, PFB_LWP_NOTE_CONTINUOUS, in_control(PFB_LWP_AT_FLAGS, flags));
}

static void note_pair_field(pfb_lwp *lwp, size_t offset, uint32_t raw, int32_t value)
{
    if (raw & ~PAIR_BITS)
        add_note(lwp, PFB_LWP_NOTE_RESERVED_PAIR_BITS, in_control(offset, raw));
    if (value < 0)
        add_note(lwp, PFB_LWP_NOTE_NEGATIVE_PAIR, in_control(offset, raw));
}

static void note_pairs(pfb_lwp *lwp)
{
    int32_t random_values = (int32_t)1 << lwp->control.random_bits; /* at most 2^15 */
    pfb_lwp_pair pair;
    for (uint32_t id = 1; pfb_lwp_pair_at(lwp, id, &pair); id++) {
        note_pair_field(lwp, pair.offset, pair.raw_interval, pair.interval);
        note_pair_field(lwp, pair.offset + 4, pair.raw_counter, pair.counter);
        bool is_enabled = id <= LAST_FLAG_EVENT && is_effective(lwp, UINT32_C(1) << id);
        if (is_enabled && lwp->control.random_bits > 0 && random_values > pair.interval + 1)
            add_note(lwp, PFB_LWP_NOTE_RANDOM_TOO_WIDE, in_control(pair.offset, pair.raw_interval));
    }
}

static bool open_control(pfb_lwp *lwp, const void *control, size_t control_size)
{
    pfb_cursor cursor = pfb_cursor_make(control, control_size);
    uint32_t control_bytes = lwp->capabilities.control_bytes;
    const uint8_t *p = pfb_cursor_take(&cursor, control_bytes, PFB_TRUNCATED_CONTROL);
    if (!p)
        return fail(lwp, PFB_TRUNCATED_CONTROL, in_leaf(EBX_AT, control_bytes));
    lwp->control_data = p;
    lwp->has_control = true;
    read_control(lwp, p);
    note_flags(lwp);
    note_pairs(lwp);
    return true;
}

/* Sign-extends bits 25:0. */
static int32_t extend_26(uint32_t raw)
{
    uint32_t bits = raw & PAIR_BITS;
    return bits & PAIR_SIGN ? -(int32_t)(PAIR_BITS - bits) - 1 : (int32_t)bits;
}

bool pfb_lwp_pair_at(const pfb_lwp *lwp, uint32_t id, pfb_lwp_pair *pair)
{
    if (id == 0 || id > lwp->control.pair_count)
        return false;
    size_t at = lwp->capabilities.event_offset + (size_t)PFB_LWP_PAIR_BYTES * (id - 1);
    pfb_cursor cursor = pfb_cursor_between(lwp->control_data, at, lwp->capabilities.control_bytes);
    const uint8_t *p = pfb_cursor_take(&cursor, PFB_LWP_PAIR_BYTES, PFB_INTERNAL);
    if (PFB_NEVER(!p)) /* check_leaf ensures that all pairs lie inside */
        return false;
    uint32_t interval = load_le32(p);
    uint32_t counter = load_le32(p + 4);
    *pair = (pfb_lwp_pair){.offset = at,
                           .interval = extend_26(interval),
                           .counter = extend_26(counter),
                           .raw_interval = interval,
                           .raw_counter = counter};
    return true;
}

/* ---- The ring ---------------------------------------------------------------------------------------- */

/* Checks the ring's size against its memory. */
static bool open_ring(pfb_lwp *lwp, const void *ring, size_t ring_size)
{
    uint32_t event_bytes = lwp->capabilities.event_bytes;
    uint32_t buffer_bytes = lwp->control.buffer_bytes;
    uint32_t remainder = buffer_bytes % event_bytes; /* event_bytes is not 0: the leaf was checked */
    uint32_t ring_bytes = buffer_bytes - remainder;
    pfb_lwp_place place = in_control(PFB_LWP_AT_BUFFER_SIZE, buffer_bytes);
    if (buffer_bytes == 0)
        return fail(lwp, PFB_LWP_NO_BUFFER, place);
    if (ring_bytes < 2 * event_bytes)
        return fail(lwp, PFB_LWP_BUFFER_TOO_SMALL, place);
    if (remainder != 0)
        add_note(lwp, PFB_LWP_NOTE_BUFFER_REMAINDER, place);
    if (ring_bytes < lwp->capabilities.min_buffer_bytes &&
        !tolerate(lwp, PFB_LWP_NOTE_BELOW_MINIMUM, PFB_LWP_BELOW_MINIMUM, place))
        return false;
    pfb_cursor cursor = pfb_cursor_make(ring, ring_size);
    lwp->ring = pfb_cursor_take(&cursor, ring_bytes, PFB_TRUNCATED_RING);
    if (!lwp->ring)
        return fail(lwp, PFB_TRUNCATED_RING, place);
    lwp->ring_bytes = ring_bytes;
    lwp->slots = ring_bytes / event_bytes;
    return true;
}

/* Head and tail must be below ring_bytes and at the start of a record. A bad head is adjusted, as the hardware does
 * when it loads the control block, and is an error only in strict mode; a bad tail is always an error. */
static bool check_head_and_tail(pfb_lwp *lwp)
{
    uint32_t event_bytes = lwp->capabilities.event_bytes;
    uint32_t head = lwp->control.head;
    uint32_t tail = lwp->control.tail;
    pfb_code code = head >= lwp->ring_bytes ? PFB_LWP_BAD_HEAD : PFB_LWP_UNALIGNED_HEAD;
    lwp->head = head >= lwp->ring_bytes ? 0 : head - head % event_bytes;
    if (lwp->head != head && !tolerate(lwp, PFB_LWP_NOTE_HEAD_ADJUSTED, code, in_control(PFB_LWP_AT_HEAD, head)))
        return false;
    if (tail >= lwp->ring_bytes)
        return fail(lwp, PFB_LWP_BAD_TAIL, in_control(PFB_LWP_AT_TAIL, tail));
    if (tail % event_bytes != 0)
        return fail(lwp, PFB_LWP_UNALIGNED_TAIL, in_control(PFB_LWP_AT_TAIL, tail));
    return true;
}

static void note_ring(pfb_lwp *lwp)
{
    const pfb_lwp_control *control = &lwp->control;
    /* Tests the address of the last byte: a ring may end at the end of the address space. */
    if (control->buffer_base > UINT64_MAX - (lwp->ring_bytes - 1))
        add_note(lwp, PFB_LWP_NOTE_BUFFER_WRAPS, in_control(PFB_LWP_AT_BUFFER_BASE, control->buffer_base));
    if (control->threshold_bytes % lwp->capabilities.event_bytes != 0)
        add_note(lwp, PFB_LWP_NOTE_THRESHOLD_REMAINDER, in_control(PFB_LWP_AT_THRESHOLD, control->threshold_bytes));
    if (control->threshold_bytes > lwp->ring_bytes)
        add_note(lwp, PFB_LWP_NOTE_THRESHOLD_BEYOND, in_control(PFB_LWP_AT_THRESHOLD, control->threshold_bytes));
}

bool pfb_lwp_open(pfb_lwp *lwp, const pfb_lwp_capabilities *capabilities, const void *control, size_t control_size,
                  const void *ring, size_t ring_size, const pfb_read_options *options)
{
    *lwp = (pfb_lwp){.is_strict = pfb_is_strict(options)};
    /* Decodes the registers again, because the caller may have set the other fields to values out of bounds. */
    pfb_lwp_capabilities_read(capabilities->eax, capabilities->ebx, capabilities->ecx, capabilities->edx,
                              &lwp->capabilities);
    lwp->capabilities.is_refused = capabilities->is_refused;
    if (!check_leaf(lwp))
        return false;
    note_leaf(lwp);
    if (!open_control(lwp, control, control_size) || !open_ring(lwp, ring, ring_size))
        return false;
    note_ring(lwp);
    if (!check_head_and_tail(lwp))
        return false;
    /* Head and tail are below ring_bytes and multiples of the record size: at most slots - 1 records are unread. */
    uint32_t head = lwp->head;
    uint32_t tail = lwp->control.tail;
    uint32_t unread = head >= tail ? head - tail : lwp->ring_bytes - (tail - head);
    lwp->at = tail;
    lwp->left = lwp->count = unread / lwp->capabilities.event_bytes;
    return true;
}

void pfb_lwp_rewind_all(pfb_lwp *lwp)
{
    if (lwp->error.code != PFB_OK)
        return;
    lwp->at = lwp->head;
    lwp->left = lwp->slots;
    lwp->reads_all = true;
}

void pfb_lwp_place_control(pfb_lwp *lwp, uint64_t address)
{
    uint64_t base = lwp->control.buffer_base;
    /* Two ranges overlap if one contains the first byte of the other. Differences wrap like addresses. */
    bool is_shared = address - base < lwp->ring_bytes || base - address < lwp->capabilities.control_bytes;
    if (lwp->ring_bytes > 0 && is_shared)
        add_note(lwp, PFB_LWP_NOTE_OVERLAP, in_control(PFB_LWP_AT_BUFFER_BASE, base));
}

/* ---- Events ------------------------------------------------------------------------------------------ */

/* The public description of an EventId: name, reserved bits of a record, and names of the flag bits. */
typedef struct event_row {
    uint8_t id;
    char name[8];
    uint16_t reserved_flags;
    uint32_t reserved_data1;
    uint64_t reserved_data2;
    char flag_names[16][5];
} event_row;

static const event_row events[] = {
    {.id = PFB_LWP_EVENT_INVALID, .name = "invalid"},
    {.id = PFB_LWP_EVENT_VALUE, .name = "lwpval"},
    {PFB_LWP_EVENT_INSTRUCTIONS, "ire", UINT16_MAX, UINT32_MAX, UINT64_MAX, {""}},
    {.id = PFB_LWP_EVENT_BRANCHES,
     .name = "bre",
     .reserved_flags = 0x0FFF,
     .reserved_data1 = UINT32_MAX,
     .flag_names = {[12] = "fus", [13] = "prv", [14] = "prd", [15] = "tkn"}},
    {.id = PFB_LWP_EVENT_CACHE_MISSES,
     .name = "dme",
     .reserved_flags = 0x0FFF,
     .flag_names = {[12] = "src0", [13] = "src1", [14] = "src2", [15] = "dav"}},
    {PFB_LWP_EVENT_CLOCKS, "cnh", UINT16_MAX, UINT32_MAX, UINT64_MAX, {""}},
    {PFB_LWP_EVENT_REFERENCE_CLOCKS, "rnh", UINT16_MAX, UINT32_MAX, UINT64_MAX, {""}},
    {.id = PFB_LWP_EVENT_INSERTED, .name = "lwpins"},
};

enum { DATA_ADDRESS_VALID = 1 << 15 /* flags of a cache miss; provisional */ };

static const event_row *find_event(uint32_t id)
{
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (events[i].id == id)
            return &events[i];
    }
    return NULL;
}

const char *pfb_lwp_event_name(uint32_t id)
{
    const event_row *row = find_event(id);
    return row ? row->name : "unknown";
}

const char *pfb_lwp_flag_name(uint32_t id, unsigned bit)
{
    const event_row *row = find_event(id);
    return row && bit < 16 ? row->flag_names[bit] : "";
}

const char *pfb_lwp_filter_name(unsigned bit)
{
    static const char names[32][4] = {
        [8] = "clf",  [9] = "nbc",  [10] = "rdc", [11] = "ram", [12] = "oth", [25] = "nmb",
        [26] = "npb", [27] = "nab", [28] = "ncb", [29] = "nrb", [30] = "ipi", [31] = "ipf"};
    return bit < 32 ? names[bit] : "";
}

static bool is_implemented(const pfb_lwp_capabilities *capabilities, uint32_t id)
{
    return id == PFB_LWP_EVENT_INSERTED ||
           (id > 0 && id <= LAST_FLAG_EVENT && id <= capabilities->max_events && capabilities->hardware >> id & 1);
}

/* Sets is_implemented and, for cache misses, the fields of the data address and the latency. */
static void interpret_event(const pfb_lwp *lwp, pfb_lwp_event *event)
{
    const pfb_lwp_capabilities *c = &lwp->capabilities;
    event->is_implemented = is_implemented(c, event->id);
    if (event->id != PFB_LWP_EVENT_CACHE_MISSES)
        return;
    event->has_data_address = c->has_data_address && (event->flags & DATA_ADDRESS_VALID);
    event->has_latency = c->latency_bits > 0;
    event->latency = event->data1 & ((UINT32_C(1) << c->latency_bits) - 1); /* latency_bits is at most 31 */
}

static void note_event(pfb_lwp *lwp, const pfb_lwp_event *event)
{
    const event_row *row = find_event(event->id);
    pfb_lwp_place place = {PFB_LWP_PART_RING, event->offset, event->id};
    if (event->id == PFB_LWP_EVENT_INVALID) {
        if (!lwp->reads_all) /* otherwise the slot may never have been written */
            add_note(lwp, PFB_LWP_NOTE_INVALID_EVENT, place);
        return;
    }
    if (!row) {
        add_note(lwp, PFB_LWP_NOTE_UNKNOWN_EVENT, place);
        return;
    }
    if (!event->is_implemented)
        add_note(lwp, PFB_LWP_NOTE_MISSING_EVENT, place);
    if ((event->flags & row->reserved_flags) || (event->data1 & row->reserved_data1) ||
        (event->data2 & row->reserved_data2) || (!event->has_stamp && event->stamp != 0))
        add_note(lwp, PFB_LWP_NOTE_RESERVED_RECORD, place);
}

bool pfb_lwp_next(pfb_lwp *lwp, pfb_lwp_event *event)
{
    if (lwp->left == 0)
        return false;
    uint32_t event_bytes = lwp->capabilities.event_bytes;
    /* A record never crosses the end: `at` and ring_bytes are multiples of its size. */
    pfb_cursor cursor = pfb_cursor_between(lwp->ring, lwp->at, lwp->ring_bytes);
    const uint8_t *p = pfb_cursor_take(&cursor, event_bytes, PFB_INTERNAL);
    if (PFB_NEVER(!p))
        return false;
    bool is_full_size = event_bytes >= PFB_LWP_RECORD_BYTES;
    *event = (pfb_lwp_event){.slot = lwp->at / event_bytes,
                             .offset = lwp->at,
                             .id = p[0],
                             .core = p[1],
                             .flags = load_le16(p + 2),
                             .data1 = load_le32(p + 4),
                             .address = load_le64(p + 8),
                             .data2 = load_le64(p + 16),
                             .has_stamp = is_full_size && is_effective(lwp, PFB_LWP_TIME_STAMPS),
                             .stamp = is_full_size ? load_le64(p + STAMP_AT) : 0};
    interpret_event(lwp, event);
    note_event(lwp, event);
    lwp->left--;
    lwp->at += event_bytes;
    if (lwp->at == lwp->ring_bytes)
        lwp->at = 0;
    return true;
}

/* ---- Serialised snapshots ---------------------------------------------------------------------------- */

enum { LEAF_BYTES = 16, SIZE_BYTES = 8 };

/* Reads a part (LWPCB or ring), which is preceded by its size, and moves past it. */
static bool read_part(pfb_cursor *cursor, size_t *offset, size_t *size)
{
    size_t size_at = cursor->at;
    const uint8_t *p = pfb_cursor_take(cursor, SIZE_BYTES, PFB_TRUNCATED_HEADER);
    if (!p)
        return false;
    uint64_t part_bytes = load_le64(p);
    if (part_bytes > pfb_cursor_left(cursor))
        return pfb_cursor_fail(cursor, PFB_TRUNCATED_BLOCK, size_at);
    *offset = cursor->at;
    *size = (size_t)part_bytes;
    return pfb_cursor_take(cursor, *size, PFB_INTERNAL) != NULL;
}

pfb_error pfb_lwp_snapshot_read(const void *data, size_t size, pfb_lwp_snapshot *snapshot)
{
    *snapshot = (pfb_lwp_snapshot){0};
    pfb_cursor cursor = pfb_cursor_make(data, size);
    const uint8_t *p = pfb_cursor_take(&cursor, LEAF_BYTES, PFB_TRUNCATED_HEADER);
    if (!p)
        return cursor.error;
    pfb_lwp_snapshot read = {.eax = load_le32(p + EAX_AT),
                             .ebx = load_le32(p + EBX_AT),
                             .ecx = load_le32(p + ECX_AT),
                             .edx = load_le32(p + EDX_AT)};
    if (read_part(&cursor, &read.control_offset, &read.control_size) &&
        read_part(&cursor, &read.ring_offset, &read.ring_size))
        *snapshot = read;
    return cursor.error;
}

static uint8_t *store_part(uint8_t *p, const void *part, size_t size)
{
    store_le64(p, size);
    if (size > 0)
        memcpy(p + SIZE_BYTES, part, size);
    return p + SIZE_BYTES + size;
}

size_t pfb_lwp_snapshot_write(const pfb_lwp_capabilities *capabilities, const void *control, size_t control_size,
                              const void *ring, size_t ring_size, uint8_t *out, size_t capacity)
{
    size_t fixed = LEAF_BYTES + 2 * SIZE_BYTES;
    if (control_size > SIZE_MAX - fixed || ring_size > SIZE_MAX - fixed - control_size)
        return 0;
    size_t size = fixed + control_size + ring_size;
    if (size > capacity)
        return size;
    store_le32(out + EAX_AT, capabilities->eax);
    store_le32(out + EBX_AT, capabilities->ebx);
    store_le32(out + ECX_AT, capabilities->ecx);
    store_le32(out + EDX_AT, capabilities->edx);
    store_part(store_part(out + LEAF_BYTES, control, control_size), ring, ring_size);
    return size;
}
