/* SPDX-License-Identifier: MIT */
#include "checks.h"
#include "perfblock/lwp/model.h"

#include <stdlib.h>
#include <string.h>

/* Runs a sequence of calls on the model of Lightweight Profiling, with memory that changes between them. The whole
 * sequence is run twice and must give the same result.
 *
 * Input: EAX, EBX, ECX and EDX of the leaf; a byte of options, one bit each in the order of their struct, which is also
 * the seed and the core; the minimum interval, 32 bits; and calls up to the end: a byte (modulo 8) with its operands:
 *       0  LLWPCB  u16: 0 switches LWP off, else the distance of the LWPCB from CONTROL, plus 1
 *       1  SLWPCB  then reads control block and ring with pfb_lwp_open, if only the model wrote since LLWPCB
 *       2  LWPVAL  u8: how often it is executed
 *       3  LWPINS  u8: how often it is executed
 *       4  event   u8 id, u16 traits, u16 latency
 *       5  write   u16: an offset in the control block's memory, or in the ring if the top bit is set; u8 count; bytes
 *       6  forget  removes all memory windows of the model (pfb_lwp_model_forget_memory)
 *       7  window  u8: an even number adds the window at CONTROL, an odd one that at RING
 *
 * Initially the model has both windows. Their memory is all zero and has exactly their size. */

enum { CONTROL_SIZE = 2048, RING_SIZE = 4096, MIN_INPUT_BYTES = 21 };
#define CONTROL UINT64_C(0x10000)
#define RING UINT64_C(0xFFFFFFFFFFFFF000) /* the end of the address space */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- The input --------------------------------------------------------------------------------------------------- */

typedef struct machine {
    const uint8_t *data;
    size_t left;
    uint8_t *control, *ring;
    bool written_by_model_only; /* only the model wrote since LLWPCB */
    uint64_t sum;               /* checksum of the results */
    pfb_lwp_model model;
} machine;

/* Returns the next number of the input; missing bytes are 0. */
static uint32_t take(machine *m, size_t bytes)
{
    uint32_t value = 0;
    for (size_t i = 0; i < bytes && m->left > 0; i++, m->left--)
        value |= (uint32_t)*m->data++ << 8 * i;
    return value;
}

static void add(machine *m, uint64_t value)
{
    m->sum = (m->sum ^ value) * UINT64_C(0x100000001B3);
}

static bool begin(machine *m)
{
    pfb_lwp_capabilities capabilities;
    uint32_t eax = take(m, 4);
    uint32_t ebx = take(m, 4);
    uint32_t ecx = take(m, 4);
    pfb_lwp_capabilities_read(eax, ebx, ecx, take(m, 4), &capabilities);
    uint32_t bits = take(m, 1);
    pfb_lwp_model_options options = {.seed = bits,
                                     .core = (uint8_t)bits,
                                     .is_32_bit = bits & 1,
                                     .full_uses_free_slot = bits >> 1 & 1,
                                     .threshold_above = bits >> 2 & 1,
                                     .threshold_zero_counts = bits >> 3 & 1,
                                     .holds_record = bits >> 4 & 1,
                                     .writes_flags_back = bits >> 5 & 1,
                                     .value_is_ip_filtered = bits >> 6 & 1};
    uint32_t minimum = take(m, 4);
    options.minimum_interval = minimum <= INT32_MAX ? (int32_t)minimum : -1;
    return pfb_lwp_model_init(&m->model, &capabilities, &options);
}

static void add_window(machine *m, bool is_ring)
{
    pfb_lwp_memory window = {m->control, CONTROL_SIZE, CONTROL};
    if (is_ring)
        window = (pfb_lwp_memory){m->ring, RING_SIZE, RING};
    bool has_space = m->model.window_count < PFB_LWP_MODEL_WINDOWS;
    require(pfb_lwp_model_add_memory(&m->model, window) == has_space, "a window is accepted while there is space");
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void check_fault(machine *m, pfb_lwp_fault fault)
{
    const pfb_lwp_model *model = &m->model;
    uint32_t offered = model->capabilities.eax & model->capabilities.edx;
    bool is_available = (offered & PFB_LWP_AVAILABLE) != 0;
    add(m, fault);
    require((fault == PFB_LWP_FAULT_UNDEFINED) == !is_available,
            "the fault undefined is returned if and only if LWP is not available");
    require(model->is_on == (model->control_address != 0), "LWP is on if and only if a control block is loaded");
    require((model->flags & ~(model->is_on ? offered : 0)) == 0, "effective flags are enabled and implemented");
}

static void load(machine *m)
{
    uint32_t distance = take(m, 2);
    pfb_lwp_fault fault = pfb_lwp_model_load(&m->model, distance ? CONTROL + distance - 1 : 0);
    check_fault(m, fault);
    require(m->model.is_on == (fault == PFB_LWP_FAULT_NONE && distance != 0),
            "LLWPCB switches LWP on unless it faults or the address is 0");
    m->written_by_model_only = true;
}

/* Reads the control block and the ring if only the model wrote since LLWPCB. A ring below RING is skipped: it may
 * overlap the control block. */
static void read_back(machine *m, uint64_t address)
{
    const pfb_lwp_capabilities *capabilities = &m->model.capabilities;
    pfb_lwp lwp;
    pfb_lwp_event event;
    if (!m->written_by_model_only || m->model.buffer_base < RING || (capabilities->hardware & PFB_LWP_AVAILABLE) == 0)
        return;
    size_t at = (size_t)(m->model.buffer_base - RING);
    bool is_read = pfb_lwp_open(&lwp, capabilities, m->control + (address - CONTROL), capabilities->control_bytes,
                                m->ring + at, RING_SIZE - at, NULL);
    require(is_read || lwp.error.code == PFB_LWP_BUFFER_TOO_SMALL, "the reader reads what the model wrote");
    for (uint32_t left = is_read ? lwp.count : 0; left > 0; left--) {
        require(pfb_lwp_next(&lwp, &event), "the reader returns all unread records");
        add(m, event.id ^ event.data2);
    }
}

static void store(machine *m)
{
    uint64_t address;
    pfb_lwp_fault fault = pfb_lwp_model_store(&m->model, &address);
    check_fault(m, fault);
    require(address == (fault == PFB_LWP_FAULT_NONE ? m->model.control_address : 0),
            "SLWPCB returns the address of the control block");
    if (address != 0)
        read_back(m, address);
}

static void values(machine *m)
{
    for (uint32_t n = take(m, 1); n > 0; n--) {
        pfb_lwp_operands operands = {.data2 = n, .data1 = n, .flags = n, .address = n};
        check_fault(m, pfb_lwp_model_value(&m->model, &operands));
    }
}

static void inserts(machine *m)
{
    for (uint32_t n = take(m, 1); n > 0; n--) {
        bool carry;
        pfb_lwp_operands operands = {.data2 = UINT64_MAX, .data1 = n, .address = n};
        uint64_t before = m->model.stored + m->model.missed;
        uint64_t missed = m->model.missed;
        pfb_lwp_fault fault = pfb_lwp_model_insert(&m->model, &operands, &carry);
        uint64_t made = m->model.stored + m->model.missed - before;
        check_fault(m, fault);
        require(!carry || m->model.missed > missed, "the carry flag is set only if a record was lost");
        if (fault == PFB_LWP_FAULT_NONE)
            require(m->model.is_on ? made == 1 || made == 2 : made == 0,
                    "an insert stores or loses one record, two if one was held, and none if LWP is off");
    }
}

static void count(machine *m)
{
    pfb_lwp_occurrence occurrence = {.id = take(m, 1), .traits = take(m, 2), .latency = take(m, 2)};
    occurrence.address = occurrence.data2 = occurrence.latency;
    check_fault(m, pfb_lwp_model_count(&m->model, &occurrence));
}

static void write(machine *m)
{
    uint32_t target = take(m, 2);
    uint32_t bytes = take(m, 1);
    bool is_ring = target >> 15;
    uint8_t *memory = is_ring ? m->ring : m->control;
    size_t end = is_ring ? RING_SIZE : CONTROL_SIZE;
    for (size_t at = target & 0x7FFF; bytes > 0 && at < end; bytes--)
        memory[at++] = (uint8_t)take(m, 1);
    m->written_by_model_only = false;
}

static void step(machine *m)
{
    switch (take(m, 1) % 8) {
    case 0:
        load(m);
        break;
    case 1:
        store(m);
        break;
    case 2:
        values(m);
        break;
    case 3:
        inserts(m);
        break;
    case 4:
        count(m);
        break;
    case 5:
        write(m);
        break;
    case 6:
        pfb_lwp_model_forget_memory(&m->model);
        break;
    default:
        add_window(m, take(m, 1) % 2);
        break;
    }
}

/* ---- Running an input ------------------------------------------------------------------------------- */

static uint64_t run(const uint8_t *data, size_t size)
{
    machine m = {.data = data, .left = size};
    if (!begin(&m))
        return 0;
    m.control = calloc(CONTROL_SIZE, 1);
    m.ring = calloc(RING_SIZE, 1);
    require(m.control && m.ring, "memory is available");
    add_window(&m, false);
    add_window(&m, true);
    while (m.left > 0)
        step(&m);
    for (size_t i = 0; i < CONTROL_SIZE; i++)
        add(&m, m.control[i]);
    for (size_t i = 0; i < RING_SIZE; i++)
        add(&m, m.ring[i]);
    free(m.ring);
    free(m.control);
    return m.sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < MIN_INPUT_BYTES)
        return 0;
    uint64_t once = run(data, size);
    require(run(data, size) == once, "the same calls give the same results");
    return 0;
}
