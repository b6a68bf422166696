/* SPDX-License-Identifier: MIT */
#include "perfblock/lwp/model.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "bytes/store.h"

/* Offsets of the fields of the LWPCB. Defined independently of the reader, because tests compare model and reader. */
enum {
    AT_FLAGS = 0,
    AT_BUFFER_SIZE = 4,
    AT_BUFFER_BASE = 8,
    AT_HEAD = 16,
    AT_MISSED = 24,
    AT_THRESHOLD = 32,
    AT_FILTERS = 36,
    AT_BASE_IP = 40,
    AT_LIMIT_IP = 48,
    AT_TAIL = 64,
    MIN_EVENT_OFFSET = 72, /* after BufferTailOffset and the reserved field */
    PAIR_BYTES = 8
};

#define LOW_26_BITS UINT32_C(0x03FFFFFF)
enum { LARGEST_INTERVAL = 0x01FFFFFF };

const char *pfb_lwp_fault_name(pfb_lwp_fault fault)
{
    static const char names[][16] = {"none", "undefined", "general", "page", "tail", "unknown_fault"};
    return names[(unsigned)fault <= PFB_LWP_FAULT_TAIL ? (unsigned)fault : PFB_LWP_FAULT_TAIL + 1U];
}

/* ---- A CPU and its memory ---------------------------------------------------------------------------------------- */

/* Checks the record size, and that the pairs lie inside the control block; all later arithmetic relies on both. Nothing
 * here overflows, because the fields of the registers are narrow: every size is below 2^12. */
static bool is_usable(const pfb_lwp_capabilities *c)
{
    return !c->is_refused && c->event_bytes >= PFB_LWP_RECORD_BYTES && c->event_bytes % 8 == 0 &&
           c->event_offset % 8 == 0 && c->event_offset >= MIN_EVENT_OFFSET && c->event_offset <= c->control_bytes &&
           c->max_events <= (c->control_bytes - c->event_offset) / PAIR_BYTES;
}

bool pfb_lwp_model_init(pfb_lwp_model *model, const pfb_lwp_capabilities *capabilities,
                        const pfb_lwp_model_options *options)
{
    memset(model, 0, sizeof *model);
    pfb_lwp_capabilities_read(capabilities->eax, capabilities->ebx, capabilities->ecx, capabilities->edx,
                              &model->capabilities);
    model->capabilities.is_refused = capabilities->is_refused;
    if (options)
        model->options = *options;
    model->random = model->options.seed;
    return is_usable(&model->capabilities) && model->options.minimum_interval >= 0 &&
           model->options.minimum_interval <= LARGEST_INTERVAL;
}

bool pfb_lwp_model_add_memory(pfb_lwp_model *model, pfb_lwp_memory window)
{
    if (model->window_count == PFB_LWP_MODEL_WINDOWS || !window.bytes || window.size == 0 ||
        window.size - 1 > UINT64_MAX - window.address)
        return false;
    model->windows[model->window_count++] = window;
    return true;
}

void pfb_lwp_model_forget_memory(pfb_lwp_model *model)
{
    model->window_count = 0;
}

/* Returns a pointer to the `size` bytes at `address`. If no window contains them, sets fault_address and returns null.
 * All accesses to the program's memory go through this function. */
static uint8_t *map_memory(pfb_lwp_model *model, uint64_t address, uint32_t size)
{
    for (size_t i = 0; i < model->window_count; i++) {
        const pfb_lwp_memory *window = &model->windows[i];
        if (address < window->address || address - window->address > window->size)
            continue;
        size_t at = (size_t)(address - window->address);
        if (size <= window->size - at)
            return window->bytes + at;
    }
    model->fault_address = address;
    return NULL;
}

static uint8_t *map_control(pfb_lwp_model *model)
{
    return map_memory(model, model->control_address, model->capabilities.control_bytes);
}

/* Returns the bits that the CPU implements and the operating system enables; the leaf may enable bits that the CPU does
 * not have. */
static uint32_t model_offered_flags(const pfb_lwp_model *model)
{
    return model->capabilities.enabled & model->capabilities.hardware;
}

static bool is_available(const pfb_lwp_model *model)
{
    return (model_offered_flags(model) & PFB_LWP_AVAILABLE) != 0;
}

static uint64_t truncate_number(const pfb_lwp_model *model, uint64_t number)
{
    return model->options.is_32_bit ? (uint32_t)number : number;
}

/* Returns true if event `id` is counted. Bits of the flags above PFB_LWP_MODEL_EVENTS are modes. */
static bool is_counted(const pfb_lwp_model *model, uint32_t id)
{
    return model->is_on && id >= PFB_LWP_EVENT_VALUE && id <= PFB_LWP_MODEL_EVENTS &&
           id <= model->capabilities.max_events && (model->flags >> id & 1) != 0;
}

/* ---- The ring ---------------------------------------------------------------------------------------------------- */

/* Returns the offset of the slot after the one at `at`. While LWP is on, head < buffer_bytes, and both are multiples of
 * the record size. */
static uint32_t next_slot(const pfb_lwp_model *model, uint32_t at)
{
    uint32_t next = at + model->capabilities.event_bytes;
    return next == model->buffer_bytes ? 0 : next;
}

static uint32_t slot_before(const pfb_lwp_model *model, uint32_t at)
{
    return (at == 0 ? model->buffer_bytes : at) - model->capabilities.event_bytes;
}

static bool is_valid_tail(const pfb_lwp_model *model, uint32_t tail)
{
    return tail < model->buffer_bytes && tail % model->capabilities.event_bytes == 0;
}

/* Returns the bytes in use, from tail to head. */
static uint32_t used_bytes(const pfb_lwp_model *model, uint32_t tail)
{
    return model->head >= tail ? model->head - tail : model->buffer_bytes - (tail - model->head);
}

/* Writes a record to a slot and fills the rest of the slot, if it is larger, with zeros. */
static void write_slot(const pfb_lwp_model *model, uint8_t *slot, const uint8_t record[PFB_LWP_RECORD_BYTES])
{
    memcpy(slot, record, PFB_LWP_RECORD_BYTES);
    memset(slot + PFB_LWP_RECORD_BYTES, 0, model->capabilities.event_bytes - PFB_LWP_RECORD_BYTES);
}

/* Counts a threshold interrupt if the bytes in use reach the threshold. */
static void interrupt_if_due(pfb_lwp_model *model, uint32_t bytes_in_use)
{
    uint32_t threshold = model->threshold_bytes;
    if ((model->flags & PFB_LWP_INTERRUPT) == 0 || (threshold == 0 && !model->options.threshold_zero_counts))
        return;
    if (model->options.threshold_above ? bytes_in_use > threshold : bytes_in_use >= threshold)
        model->interrupts++;
}

/* Continuous mode: stores a record without reading the tail, so overwritten records are found by counting. */
static void store_continuous(pfb_lwp_model *model, uint8_t *ring, const uint8_t record[PFB_LWP_RECORD_BYTES])
{
    uint32_t event_bytes = model->capabilities.event_bytes;
    write_slot(model, ring + model->head, record);
    model->head = next_slot(model, model->head);
    model->stored++;
    if (model->filled == model->buffer_bytes / event_bytes)
        model->overwritten++;
    else
        model->filled++;
    interrupt_if_due(model, model->filled * event_bytes);
}

/* Synchronised mode with a valid tail: stores a record; returns false if the ring was full and a record was lost.
 * `missed` points to MissedEvents. */
static bool store_synchronised(pfb_lwp_model *model, uint8_t *ring, uint32_t tail, uint8_t *missed,
                               const uint8_t record[PFB_LWP_RECORD_BYTES])
{
    uint32_t next = next_slot(model, model->head);
    bool is_full = next == tail;
    if (is_full && !model->options.full_uses_free_slot)
        write_slot(model, ring + slot_before(model, model->head), record);
    else
        write_slot(model, ring + model->head, record);
    if (is_full) {
        store_le64(missed, load_le64(missed) + 1);
        model->missed++;
    } else {
        model->head = next;
        model->stored++;
    }
    interrupt_if_due(model, used_bytes(model, tail));
    return !is_full;
}

/* Stores a record. *is_lost becomes true if the ring was full. After a fault nothing has changed. */
static pfb_lwp_fault store_record(pfb_lwp_model *model, const uint8_t record[PFB_LWP_RECORD_BYTES], bool *is_lost)
{
    *is_lost = false;
    uint8_t *control = map_control(model);
    uint8_t *ring = control ? map_memory(model, model->buffer_base, model->buffer_bytes) : NULL;
    if (!ring)
        return PFB_LWP_FAULT_PAGE;
    if (model->flags & PFB_LWP_CONTINUOUS) {
        store_continuous(model, ring, record);
        return PFB_LWP_FAULT_NONE;
    }
    uint32_t tail = load_le32(control + AT_TAIL);
    if (!is_valid_tail(model, tail))
        return PFB_LWP_FAULT_TAIL;
    *is_lost = !store_synchronised(model, ring, tail, control + AT_MISSED, record);
    return PFB_LWP_FAULT_NONE;
}

static pfb_lwp_fault store_pending(pfb_lwp_model *model)
{
    bool is_lost;
    if (!model->has_pending)
        return PFB_LWP_FAULT_NONE;
    pfb_lwp_fault fault = store_record(model, model->pending, &is_lost);
    model->has_pending = fault != PFB_LWP_FAULT_NONE;
    return fault;
}

/* ---- LLWPCB and SLWPCB ------------------------------------------------------------------------------------------- */

/* Returns the pair of a counted event in the LWPCB; is_usable ensures that it lies inside. */
static uint8_t *pair_at(const pfb_lwp_model *model, uint8_t *control, uint32_t id)
{
    return control + model->capabilities.event_offset + (size_t)PAIR_BYTES * (id - 1);
}

/* Stores a held record, head and the counters in memory. */
static pfb_lwp_fault flush(pfb_lwp_model *model)
{
    uint8_t *control = map_control(model);
    if (!control)
        return PFB_LWP_FAULT_PAGE;
    pfb_lwp_fault fault = store_pending(model);
    if (fault != PFB_LWP_FAULT_NONE)
        return fault;
    store_le32(control + AT_HEAD, model->head);
    for (uint32_t id = 1; id <= PFB_LWP_MODEL_EVENTS; id++) {
        if (is_counted(model, id))
            store_le32(pair_at(model, control, id) + 4, (uint32_t)model->counter[id]);
    }
    return PFB_LWP_FAULT_NONE;
}

/* Returns the low 26 bits as a signed number, or `minimum`, which is not negative, if that is larger. */
static int32_t load_26(const uint8_t *field, int32_t minimum)
{
    uint32_t bits = load_le32(field) & LOW_26_BITS;
    return bits <= LARGEST_INTERVAL && (int32_t)bits > minimum ? (int32_t)bits : minimum;
}

static void load_pairs(pfb_lwp_model *model, uint8_t *control)
{
    for (uint32_t id = 1; id <= PFB_LWP_MODEL_EVENTS; id++) {
        if (!is_counted(model, id))
            continue;
        const uint8_t *pair = pair_at(model, control, id);
        model->interval[id] = load_26(pair, id == PFB_LWP_EVENT_VALUE ? 0 : model->options.minimum_interval);
        model->counter[id] = load_26(pair + 4, 0);
    }
}

/* Rounds down to a multiple of the record size. */
static uint32_t round_down(const pfb_lwp_model *model, uint32_t bytes)
{
    return bytes - bytes % model->capabilities.event_bytes;
}

/* Loads the fields of the LWPCB that precede the tail, except MissedEvents, each once. Rounds sizes and offsets down to
 * whole records, and replaces a head outside the ring by 0; never faults. */
static void load_fields(pfb_lwp_model *model, const uint8_t *control)
{
    uint32_t size = load_le32(control + AT_BUFFER_SIZE);
    model->flags = load_le32(control + AT_FLAGS) & model_offered_flags(model) & ~PFB_LWP_AVAILABLE;
    model->buffer_bytes = round_down(model, size & UINT32_C(0x0FFFFFFF));
    model->random_bits = size >> 28;
    model->buffer_base = truncate_number(model, load_le64(control + AT_BUFFER_BASE));
    model->head = round_down(model, load_le32(control + AT_HEAD));
    if (model->head >= model->buffer_bytes)
        model->head = 0;
    model->threshold_bytes = round_down(model, load_le32(control + AT_THRESHOLD));
    model->filters = load_le32(control + AT_FILTERS);
    model->base_ip = truncate_number(model, load_le64(control + AT_BASE_IP));
    model->limit_ip = truncate_number(model, load_le64(control + AT_LIMIT_IP));
}

/* Switches LWP on with the LWPCB at `address`; requires that it is off. After a fault it stays off. */
static pfb_lwp_fault switch_on(pfb_lwp_model *model, uint64_t address)
{
    uint8_t *control = map_memory(model, address, model->capabilities.control_bytes);
    if (!control)
        return PFB_LWP_FAULT_PAGE;
    load_fields(model, control);
    if (model->buffer_bytes == 0 || model->buffer_bytes < model->capabilities.min_buffer_bytes)
        return PFB_LWP_FAULT_GENERAL;
    uint32_t tail = load_le32(control + AT_TAIL);
    if (!is_valid_tail(model, tail))
        return PFB_LWP_FAULT_TAIL;
    if (!map_memory(model, model->buffer_base, model->buffer_bytes))
        return PFB_LWP_FAULT_PAGE;
    model->filled = used_bytes(model, tail) / model->capabilities.event_bytes;
    model->control_address = address;
    model->is_on = true;
    load_pairs(model, control);
    if (model->options.writes_flags_back)
        store_le32(control + AT_FLAGS, model->flags);
    return PFB_LWP_FAULT_NONE;
}

static void switch_off(pfb_lwp_model *model)
{
    model->is_on = false;
    model->control_address = 0;
    model->flags = 0;
    model->has_pending = false;
}

pfb_lwp_fault pfb_lwp_model_load(pfb_lwp_model *model, uint64_t address)
{
    if (!is_available(model))
        return PFB_LWP_FAULT_UNDEFINED;
    pfb_lwp_fault fault = model->is_on ? flush(model) : PFB_LWP_FAULT_NONE;
    switch_off(model);
    address = truncate_number(model, address);
    if (fault != PFB_LWP_FAULT_NONE || address == 0)
        return fault;
    fault = switch_on(model, address);
    if (fault != PFB_LWP_FAULT_NONE)
        switch_off(model);
    return fault;
}

pfb_lwp_fault pfb_lwp_model_store(pfb_lwp_model *model, uint64_t *address)
{
    *address = 0;
    if (!is_available(model))
        return PFB_LWP_FAULT_UNDEFINED;
    if (!model->is_on)
        return PFB_LWP_FAULT_NONE;
    pfb_lwp_fault fault = flush(model);
    if (fault == PFB_LWP_FAULT_NONE)
        *address = model->control_address;
    return fault;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* The fields of a record that come from an event; the model adds core and time stamp. */
typedef struct record_fields {
    uint32_t id;
    uint32_t flags; /* only the low 16 bits are stored */
    uint32_t data1;
    uint64_t address;
    uint64_t data2;
} record_fields;

static void write_record(const pfb_lwp_model *model, const record_fields *fields, uint8_t record[PFB_LWP_RECORD_BYTES])
{
    record[0] = (uint8_t)fields->id;
    record[1] = model->options.core;
    store_le16(record + 2, fields->flags);
    store_le32(record + 4, fields->data1);
    store_le64(record + 8, truncate_number(model, fields->address));
    store_le64(record + 16, truncate_number(model, fields->data2));
    store_le64(record + 24, (model->flags & PFB_LWP_TIME_STAMPS) ? model->clock : 0);
}

/* Returns the next random number of the generator splitmix64. */
static uint64_t next_random(pfb_lwp_model *model)
{
    uint64_t mixed = model->random += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ mixed >> 31;
}

/* Returns the counter's value after a reload. It is not negative and fits 26 bits, because random_bits is at most 15.
 */
static int32_t reload_value(pfb_lwp_model *model, uint32_t id)
{
    uint32_t interval = (uint32_t)model->interval[id];
    uint32_t mask = (UINT32_C(1) << model->random_bits) - 1;
    return (int32_t)((interval & ~mask) | ((uint32_t)next_random(model) & mask));
}

/* Stores the record. With the option holds_record, stores the record that is held and holds the new one instead. */
static pfb_lwp_fault store_or_hold(pfb_lwp_model *model, const uint8_t record[PFB_LWP_RECORD_BYTES])
{
    bool is_lost;
    if (!model->options.holds_record)
        return store_record(model, record, &is_lost);
    pfb_lwp_fault fault = store_pending(model);
    if (fault != PFB_LWP_FAULT_NONE)
        return fault;
    memcpy(model->pending, record, sizeof model->pending);
    model->has_pending = true;
    return PFB_LWP_FAULT_NONE;
}

/* Counts an event that passed the filters. If storing its record faults, the counter does not change. */
static pfb_lwp_fault count_down(pfb_lwp_model *model, const record_fields *fields)
{
    uint8_t record[PFB_LWP_RECORD_BYTES];
    int32_t *counter = &model->counter[fields->id];
    if (*counter > 0) {
        (*counter)--;
        return PFB_LWP_FAULT_NONE;
    }
    write_record(model, fields, record);
    pfb_lwp_fault fault = store_or_hold(model, record);
    if (fault == PFB_LWP_FAULT_NONE) {
        *counter = reload_value(model, fields->id);
        model->clock++;
    }
    return fault;
}

/* ---- Filters ----------------------------------------------------------------------------------------------------- */

/* A bit of Filters and the trait that it selects. */
typedef struct filter_row {
    uint32_t bit;
    uint32_t trait;
} filter_row;

enum { FILTER_CACHE_LEVELS = 8, FILTER_PREDICTED = 26, FILTER_IP_INVERTED = 30, FILTER_IP = 31 };

/* A set bit drops events with the trait. The first two rows need branch prediction. */
static const filter_row branch_rows[] = {{25, PFB_LWP_BRANCH_MISPREDICTED},
                                         {FILTER_PREDICTED, PFB_LWP_BRANCH_PREDICTED},
                                         {27, PFB_LWP_BRANCH_ABSOLUTE},
                                         {28, PFB_LWP_BRANCH_CONDITIONAL},
                                         {29, PFB_LWP_BRANCH_RELATIVE}};

/* A set bit keeps events with the trait. */
static const filter_row level_rows[] = {
    {9, PFB_LWP_CACHE_NORTHBRIDGE}, {10, PFB_LWP_CACHE_REMOTE}, {11, PFB_LWP_CACHE_MEMORY}, {12, PFB_LWP_CACHE_OTHER}};

/* Returns the traits whose bits are set. */
static uint32_t selected_traits(const filter_row *rows, size_t count, uint32_t filters)
{
    uint32_t traits = 0;
    for (size_t i = 0; i < count; i++) {
        if (filters >> rows[i].bit & 1)
            traits |= rows[i].trait;
    }
    return traits;
}

/* The following four functions return true if an event passes the filters of instruction addresses, of branches, of
 * cache misses, and all filters that apply to it. */
static bool passes_ip(const pfb_lwp_model *model, uint64_t address)
{
    if (!model->capabilities.has_ip_filtering || (model->filters >> FILTER_IP & 1) == 0)
        return true;
    uint64_t ip = truncate_number(model, address);
    bool is_inside = ip >= model->base_ip && ip <= model->limit_ip;
    return is_inside != ((model->filters >> FILTER_IP_INVERTED & 1) != 0);
}

static bool passes_branch(const pfb_lwp_model *model, uint32_t traits)
{
    uint32_t dropped = selected_traits(branch_rows, sizeof branch_rows / sizeof branch_rows[0], model->filters);
    if (!model->capabilities.has_branch_prediction)
        dropped &= ~(PFB_LWP_BRANCH_MISPREDICTED | PFB_LWP_BRANCH_PREDICTED);
    return (traits & dropped) == 0;
}

static bool passes_cache(const pfb_lwp_model *model, const pfb_lwp_occurrence *occurrence)
{
    const pfb_lwp_capabilities *c = &model->capabilities;
    uint32_t selected = selected_traits(level_rows, sizeof level_rows / sizeof level_rows[0], model->filters);
    if (c->has_cache_levels && (model->filters >> FILTER_CACHE_LEVELS & 1) && (occurrence->traits & selected) == 0)
        return false;
    return !c->has_cache_latency || occurrence->latency >> c->latency_rounding >= (model->filters & 0xFF);
}

static bool passes(const pfb_lwp_model *model, const pfb_lwp_occurrence *occurrence)
{
    if (!passes_ip(model, occurrence->address))
        return false;
    if (occurrence->id == PFB_LWP_EVENT_BRANCHES)
        return passes_branch(model, occurrence->traits);
    return occurrence->id != PFB_LWP_EVENT_CACHE_MISSES || passes_cache(model, occurrence);
}

/* ---- LWPVAL, LWPINS and counted events --------------------------------------------------------------------------- */

static record_fields programmed_fields(uint32_t id, const pfb_lwp_operands *operands)
{
    return (record_fields){.id = id,
                           .flags = operands->flags,
                           .data1 = operands->data1,
                           .address = operands->address,
                           .data2 = operands->data2};
}

pfb_lwp_fault pfb_lwp_model_value(pfb_lwp_model *model, const pfb_lwp_operands *operands)
{
    record_fields fields = programmed_fields(PFB_LWP_EVENT_VALUE, operands);
    if (!is_available(model))
        return PFB_LWP_FAULT_UNDEFINED;
    if (!is_counted(model, fields.id) || (model->options.value_is_ip_filtered && !passes_ip(model, fields.address)))
        return PFB_LWP_FAULT_NONE;
    return count_down(model, &fields);
}

/* Ignores holds_record, because the carry flag reports whether this record was lost. */
pfb_lwp_fault pfb_lwp_model_insert(pfb_lwp_model *model, const pfb_lwp_operands *operands, bool *carry)
{
    uint8_t record[PFB_LWP_RECORD_BYTES];
    record_fields fields = programmed_fields(PFB_LWP_EVENT_INSERTED, operands);
    *carry = false;
    if (!is_available(model))
        return PFB_LWP_FAULT_UNDEFINED;
    if (!model->is_on)
        return PFB_LWP_FAULT_NONE;
    pfb_lwp_fault fault = store_pending(model);
    if (fault != PFB_LWP_FAULT_NONE)
        return fault;
    write_record(model, &fields, record);
    fault = store_record(model, record, carry);
    model->clock += fault == PFB_LWP_FAULT_NONE;
    return fault;
}

/* Returns the fields of a counted event. Fields that the manual reserves are 0; undocumented events have the caller's
 * values. */
static record_fields counted_fields(const pfb_lwp_model *model, const pfb_lwp_occurrence *occurrence)
{
    const pfb_lwp_capabilities *c = &model->capabilities;
    record_fields fields = {.id = occurrence->id, .address = occurrence->address};
    if (fields.id == PFB_LWP_EVENT_INSTRUCTIONS || fields.id == PFB_LWP_EVENT_CLOCKS ||
        fields.id == PFB_LWP_EVENT_REFERENCE_CLOCKS)
        return fields;
    fields.flags = occurrence->flags;
    fields.data2 = occurrence->data2;
    fields.data1 = fields.id == PFB_LWP_EVENT_BRANCHES ? 0 : occurrence->latency;
    if (fields.id == PFB_LWP_EVENT_CACHE_MISSES) {
        uint32_t width = (UINT32_C(1) << c->latency_bits) - 1;
        fields.data1 = occurrence->latency >> c->latency_rounding << c->latency_rounding & width;
        fields.data2 = c->has_data_address ? occurrence->data2 : 0;
    }
    return fields;
}

pfb_lwp_fault pfb_lwp_model_count(pfb_lwp_model *model, const pfb_lwp_occurrence *occurrence)
{
    if (!is_available(model))
        return PFB_LWP_FAULT_UNDEFINED;
    if (occurrence->id == PFB_LWP_EVENT_VALUE || !is_counted(model, occurrence->id) || !passes(model, occurrence))
        return PFB_LWP_FAULT_NONE;
    record_fields fields = counted_fields(model, occurrence);
    return count_down(model, &fields);
}
