/* SPDX-License-Identifier: MIT */
/* The model writes records and the reader reads them. The test compares both with its own list of the records that the
 * manual requires. The only code that model and reader share decodes the leaf and loads numbers. */
#include <criterion/criterion.h>

#include "perfblock/lwp/model.h"
#include "support.h"

#include <string.h>

enum { EPISODES = 560, STEPS = 2000, MAX_SLOTS = 48, MAX_RECORD = 248, MAX_CONTROL = 2040, MAX_EVENTS = 28 };
#define CONTROL UINT64_C(0x5000)
#define RING UINT64_C(0x123456780000)

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
    return random_below(&random_state, limit);
}

static bool one_in_two(void)
{
    return below(2) == 1;
}

/* ---- The expected records ---------------------------------------------------------------------------------------- */

typedef struct record {
    uint8_t id;
    uint16_t flags;
    uint32_t data1;
    uint64_t address, data2, stamp;
} record;

/* `list` has the records in the ring, oldest first. Outside of continuous mode it has at most slots - 1 records. In
 * continuous mode it has as many records as there are slots; those of slots never written have the id 0. */
typedef struct episode {
    pfb_lwp_capabilities leaf;
    pfb_lwp_model_options options;
    bool is_continuous, has_stamps;
    uint32_t offered, flags, slots; /* `offered`: events and modes of the CPU that the system enables */
    uint32_t count;
    record list[MAX_SLOTS];
    record held; /* not written yet, see holds_record in pfb_lwp_model_options */
    bool is_held;
    uint64_t missed;
    uint64_t record_count; /* all records, also lost ones; the model's clock, which gives the time stamps */
    uint64_t random;       /* the generator of reloads */
    uint32_t random_bits;
    int32_t interval[MAX_EVENTS + 1], counter[MAX_EVENTS + 1];
    uint8_t control[MAX_CONTROL];
    uint8_t ring[MAX_SLOTS * MAX_RECORD + MAX_RECORD];
    pfb_lwp_model model;
    unsigned number, step;
} episode;

/* Fails the test unless `is_true` is true. A million calls of cr_assert would take minutes. */
static void require(const episode *e, bool is_true, const char *what)
{
    if (!is_true)
        cr_assert_fail("episode %u, step %u, records of %u bytes, %u slots, flags %#x: %s", e->number, e->step,
                       e->leaf.event_bytes, e->slots, e->flags, what);
}

/* Returns false if a record was lost: this one, or the last one, which it overwrites. */
static bool commit(episode *e, const record *r)
{
    if (e->is_continuous || e->count < e->slots - 1) {
        if (e->is_continuous)
            memmove(e->list, e->list + 1, --e->count * sizeof e->list[0]);
        e->list[e->count++] = *r;
        return true;
    }
    e->missed++;
    if (!e->options.full_uses_free_slot)
        e->list[e->count - 1] = *r;
    return false;
}

static void commit_held(episode *e)
{
    if (e->is_held)
        commit(e, &e->held);
    e->is_held = false;
}

/* The value loaded into a counter: the interval with low bits from splitmix64, with the same seed as the model. */
static int32_t reload(episode *e, uint32_t id)
{
    e->random += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = e->random;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    int32_t range = 1 << e->random_bits;
    return e->interval[id] / range * range + (int32_t)(z % (uint32_t)range);
}

/* Updates the expected records for one event. This test sets no filters. */
static void count_record(episode *e, record r)
{
    if (r.id > e->leaf.max_events || (e->offered & e->flags & UINT32_C(1) << r.id) == 0)
        return;
    if (--e->counter[r.id] >= 0)
        return;
    e->counter[r.id] = reload(e, r.id);
    r.stamp = e->has_stamps ? e->record_count : 0;
    e->record_count++;
    if (e->options.holds_record) {
        commit_held(e);
        e->held = r;
        e->is_held = true;
    } else {
        commit(e, &r);
    }
}

/* ---- An episode: a CPU, a block and a ring ----------------------------------------------------------------------- */

static void put(episode *e, size_t at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        e->control[at + i] = (uint8_t)(value >> 8 * i);
}

/* Chooses a leaf with the record size of the episode, and with pairs at any valid position. The control block may
 * continue after the pairs. */
static void choose_leaf(episode *e)
{
    uint32_t event_bytes = 32 + 8 * (e->number % 28);
    uint32_t offset = 72 + 8 * below(23);
    uint32_t max_pairs = (MAX_CONTROL - offset) / 8;
    uint32_t pairs = one_in_two() ? below(9) : below(max_pairs + 1);
    uint32_t quadwords = offset / 8 + pairs + below(max_pairs - pairs + 1);
    uint32_t ebx = quadwords | event_bytes << 8 | pairs << 16 | offset << 24;
    /* All fields except the minimum size of the ring, which is added below: 32 records or none. */
    uint32_t ecx = (uint32_t)random_u64(&random_state) & 0xFF00FFFF;
    uint32_t hardware = (uint32_t)random_u64(&random_state) | PFB_LWP_AVAILABLE;
    uint32_t enabled = (uint32_t)random_u64(&random_state) | PFB_LWP_AVAILABLE;
    if (one_in_two()) /* otherwise bits are enabled that the CPU does not have */
        enabled &= hardware;
    e->offered = enabled & hardware;
    pfb_lwp_capabilities_read(enabled, ebx, ecx | below(2) << 16, hardware, &e->leaf);
}

static void fill_control(episode *e)
{
    uint32_t event_bytes = e->leaf.event_bytes;
    uint32_t start = below(e->slots) * event_bytes;
    uint32_t remainder = below(event_bytes);
    put(e, 0, e->flags, 4);
    put(e, 4, (e->slots * event_bytes + remainder) | e->random_bits << 28, 4);
    put(e, 8, RING, 8);
    put(e, 16, start, 4);
    put(e, 24, e->missed, 8);
    put(e, 64, start, 4);
    for (uint32_t id = 1; id <= e->leaf.max_events; id++) {
        uint32_t interval = below(one_in_two() ? 6 : 100);
        uint32_t counter = below(6);
        put(e, e->leaf.event_offset + 8 * (size_t)(id - 1), interval, 4);
        put(e, e->leaf.event_offset + 8 * (size_t)(id - 1) + 4, counter, 4);
        if (id <= MAX_EVENTS) {
            e->interval[id] = (int32_t)interval;
            e->counter[id] = (int32_t)counter;
        }
    }
}

static void begin(episode *e, unsigned number)
{
    memset(e, 0, sizeof *e);
    e->number = number;
    choose_leaf(e);
    uint32_t min_slots = e->leaf.min_buffer_bytes > 0 ? 32 : 2;
    e->slots = min_slots + below(MAX_SLOTS + 1 - min_slots);
    e->flags = (uint32_t)random_u64(&random_state);
    e->is_continuous = (e->flags & e->offered & PFB_LWP_CONTINUOUS) != 0;
    e->has_stamps = (e->flags & e->offered & PFB_LWP_TIME_STAMPS) != 0;
    e->count = e->is_continuous ? e->slots : 0;
    e->missed = random_u64(&random_state) >> 1;
    e->options.core = (uint8_t)random_u64(&random_state);
    e->options.full_uses_free_slot = one_in_two();
    e->options.holds_record = one_in_two();
    e->options.seed = e->random = random_u64(&random_state);
    e->random_bits = one_in_two() ? below(16) : 0;
    fill_control(e);
    require(e, pfb_lwp_model_init(&e->model, &e->leaf, &e->options), "the leaf is refused");
    pfb_lwp_memory control = {e->control, sizeof e->control, CONTROL};
    pfb_lwp_memory ring = {e->ring, sizeof e->ring, RING};
    require(e, pfb_lwp_model_add_memory(&e->model, control), "memory is refused");
    require(e, pfb_lwp_model_add_memory(&e->model, ring), "memory is refused");
    require(e, pfb_lwp_model_load(&e->model, CONTROL) == PFB_LWP_FAULT_NONE, "LLWPCB faults");
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static void step_insert(episode *e)
{
    bool carry;
    pfb_lwp_operands o = {random_u64(&random_state), (uint32_t)random_u64(&random_state),
                          (uint32_t)random_u64(&random_state), random_u64(&random_state)};
    require(e, pfb_lwp_model_insert(&e->model, &o, &carry) == PFB_LWP_FAULT_NONE, "LWPINS faults");
    commit_held(e);
    record r = {255, (uint16_t)o.flags, o.data1, o.address, o.data2, e->has_stamps ? e->record_count : 0};
    e->record_count++;
    require(e, carry == !commit(e, &r), "the carry flag");
}

static void step_value(episode *e)
{
    pfb_lwp_operands o = {random_u64(&random_state), (uint32_t)random_u64(&random_state),
                          (uint32_t)random_u64(&random_state), random_u64(&random_state)};
    require(e, pfb_lwp_model_value(&e->model, &o) == PFB_LWP_FAULT_NONE, "LWPVAL faults");
    count_record(e, (record){1, (uint16_t)o.flags, o.data1, o.address, o.data2, 0});
}

static void step_event(episode *e)
{
    uint32_t id = one_in_two() ? 2 + below(5) : 2 + below(MAX_EVENTS - 1);
    pfb_lwp_occurrence o = {
        .id = id, .latency = (uint32_t)random_u64(&random_state), .flags = (uint16_t)random_u64(&random_state)};
    o.address = random_u64(&random_state);
    o.data2 = random_u64(&random_state);
    record r = {.id = (uint8_t)id, .address = o.address};
    if (id == 3 || id == 4 || id > 6) {
        r.flags = o.flags;
        r.data2 = id == 4 && !e->leaf.has_data_address ? 0 : o.data2;
    }
    if (id == 4) { /* low bits of the latency are lost to rounding */
        uint64_t width = UINT64_C(1) << e->leaf.latency_bits;
        r.data1 = (uint32_t)(o.latency % width);
        r.data1 -= r.data1 % (UINT32_C(1) << e->leaf.latency_rounding);
    }
    if (id > 6)
        r.data1 = o.latency;
    require(e, pfb_lwp_model_count(&e->model, &o) == PFB_LWP_FAULT_NONE, "an event faults");
    count_record(e, r);
}

static void compare_event(const episode *e, const pfb_lwp_event *event, const record *r)
{
    require(e, event->id == r->id && event->flags == r->flags && event->data1 == r->data1,
            "the id, flags or data1 of a record");
    require(e, event->address == r->address && event->data2 == r->data2, "an address of a record");
    require(e, event->core == (r->id > 0 ? e->options.core : 0), "the core of a record");
    require(e, event->stamp == r->stamp && event->has_stamp == e->has_stamps, "the time stamp of a record");
    require(e, !event->has_latency || event->latency == r->data1, "the latency of a record");
    require(e, event->has_latency == (r->id == 4 && e->leaf.latency_bits > 0), "the presence of a latency in a record");
    require(e, event->is_implemented == (r->id > 0), "whether the CPU implements the event of a record");
}

static void compare_pairs(const episode *e, const pfb_lwp *lwp)
{
    pfb_lwp_pair pair;
    for (uint32_t id = 1; id <= MAX_EVENTS && id <= e->leaf.max_events; id++) {
        require(e, pfb_lwp_pair_at(lwp, id, &pair), "a pair is missing");
        require(e, pair.counter == e->counter[id] && pair.interval == e->interval[id], "the values of a pair");
    }
}

/* Executes SLWPCB, or LLWPCB with the same block, and reads the ring. Some of the records are then released, except in
 * continuous mode, in which the model reads the tail only at LLWPCB. */
static void step_drain(episode *e)
{
    uint64_t address = CONTROL;
    pfb_lwp lwp;
    pfb_lwp_event event;
    if (one_in_two())
        require(e, pfb_lwp_model_store(&e->model, &address) == PFB_LWP_FAULT_NONE && address == CONTROL, "SLWPCB");
    else
        require(e, pfb_lwp_model_load(&e->model, CONTROL) == PFB_LWP_FAULT_NONE, "LLWPCB");
    commit_held(e);
    require(e,
            pfb_lwp_open(&lwp, &e->leaf, e->control, e->leaf.control_bytes, e->ring, e->slots * e->leaf.event_bytes,
                         one_in_two() ? STRICT : NULL),
            pfb_code_text(lwp.error.code));
    if (e->is_continuous)
        pfb_lwp_rewind_all(&lwp);
    else
        require(e, lwp.count == e->count, "the number of unread records");
    for (uint32_t i = 0; i < e->count; i++) {
        require(e, pfb_lwp_next(&lwp, &event), "a record is missing");
        compare_event(e, &event, &e->list[i]);
    }
    require(e, !pfb_lwp_next(&lwp, &event), "there are more records than expected");
    require(e, lwp.control.missed_events == e->missed, "the number of lost records");
    compare_pairs(e, &lwp);
    uint32_t read = e->is_continuous ? 0 : below(e->count + 1);
    uint32_t at = lwp.control.tail / e->leaf.event_bytes + read;
    put(e, 64, at % e->slots * e->leaf.event_bytes, 4);
    e->count -= read;
    memmove(e->list, e->list + read, e->count * sizeof e->list[0]);
}

/* In about half of the episodes the ring is read so rarely that it may become full. */
static void run_episode(episode *e)
{
    uint32_t pause = one_in_two() ? 8 : 200;
    for (e->step = 0; e->step < STEPS; e->step++) {
        uint32_t what = below(pause);
        if (what == 0)
            step_drain(e);
        else if (what % 3 == 0)
            step_insert(e);
        else if (what % 3 == 1)
            step_value(e);
        else
            step_event(e);
    }
    step_drain(e);
}

Test(lwp_agreement, the_reader_returns_the_records_of_the_model)
{
    static episode e;
    static const char *const kinds[] = {"lost records", "continuous mode",       "time stamps",
                                        "LWPVAL",       "partly enabled events", "Random"};
    unsigned counts[6] = {0}; /* numbers of episodes of these kinds */
    random_state = 1;
    for (unsigned i = 0; i < EPISODES; i++) {
        begin(&e, i);
        run_episode(&e);
        counts[0] += e.model.missed > 0;
        counts[1] += e.model.overwritten > 0;
        counts[2] += e.has_stamps;
        counts[3] += e.leaf.max_events > 0 && (e.flags & e.offered & 2) != 0;
        counts[4] += e.leaf.enabled != e.leaf.hardware && e.offered == e.leaf.enabled;
        counts[5] += e.random_bits > 0;
    }
    for (size_t i = 0; i < 6; i++)
        cr_expect_gt(counts[i], EPISODES / 10, "only %u episodes with %s", counts[i], kinds[i]);
}

/* While LWP is disabled, every instruction is undefined and memory does not change. The reader uses the bits of the
 * hardware instead of the enabled ones, because the system may have disabled LWP before the snapshot. */
Test(lwp_agreement, disabled_lwp_changes_no_memory_and_its_ring_can_be_read)
{
    static episode e;
    static uint8_t before[sizeof e.control + sizeof e.ring];
    random_state = 1;
    for (unsigned i = 0; i < EPISODES; i++) {
        begin(&e, i);
        step_insert(&e);
        step_drain(&e);
        memcpy(before, e.control, sizeof e.control);
        memcpy(before + sizeof e.control, e.ring, sizeof e.ring);
        pfb_lwp_capabilities off;
        pfb_lwp_capabilities_read(0, e.leaf.ebx, e.leaf.ecx, e.leaf.edx, &off);
        pfb_lwp_memory control = {e.control, sizeof e.control, CONTROL};
        pfb_lwp_memory ring = {e.ring, sizeof e.ring, RING};
        require(&e, pfb_lwp_model_init(&e.model, &off, &e.options), "the leaf is refused");
        require(&e, pfb_lwp_model_add_memory(&e.model, control) && pfb_lwp_model_add_memory(&e.model, ring),
                "memory is refused");
        bool carry;
        pfb_lwp_operands o = {1, 2, 3, 4};
        require(&e, pfb_lwp_model_load(&e.model, CONTROL) == PFB_LWP_FAULT_UNDEFINED, "LLWPCB");
        require(&e, pfb_lwp_model_insert(&e.model, &o, &carry) == PFB_LWP_FAULT_UNDEFINED, "LWPINS");
        require(&e, pfb_lwp_model_value(&e.model, &o) == PFB_LWP_FAULT_UNDEFINED, "LWPVAL");
        require(&e, memcmp(before, e.control, sizeof e.control) == 0, "the block changed");
        require(&e, memcmp(before + sizeof e.control, e.ring, sizeof e.ring) == 0, "the ring changed");
        pfb_lwp lwp;
        require(&e, pfb_lwp_open(&lwp, &off, e.control, off.control_bytes, e.ring, e.slots * off.event_bytes, STRICT),
                "the reader refuses the block or the ring");
        require(&e, e.is_continuous || lwp.count == e.count, "the number of unread records");
    }
}
