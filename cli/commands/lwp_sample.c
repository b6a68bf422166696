/* SPDX-License-Identifier: MIT */
#include "commands/lwp.h"
#include "memory/memory.h"
#include "perfblock/lwp/lwp.h"
#include "perfblock/lwp/model.h"

#include <stdlib.h>

/* The sample program in Microsoft's documentation of the intrinsic __llwpcb, as calls of the software model with fixed
 * addresses. It executes two instructions in a loop: LWPVAL, of which every tenth execution is recorded, and LWPINS,
 * which always writes a record. */

enum {
    RING_BYTES = 4096 * PFB_LWP_RECORD_BYTES,
    START = RING_BYTES - 3 * PFB_LWP_RECORD_BYTES, /* so that the records wrap around at the end of the ring */
    ITERATIONS = 31,
    INSERT_EVERY = 7,
    INTERVAL = 9 /* executions that are skipped between two recorded ones */
};

#define CONTROL_ADDRESS UINT64_C(0x10000)
#define RING_ADDRESS UINT64_C(0x20000)
#define INSERT_ADDRESS UINT64_C(0x401000)
#define VALUE_ADDRESS UINT64_C(0x401010)

void lwp_put_u32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

lwp_snapshot_bytes lwp_make_snapshot(const pfb_lwp_capabilities *leaf, const uint8_t *control, const uint8_t *ring,
                                     size_t ring_bytes)
{
    lwp_snapshot_bytes snapshot = {
        .size = pfb_lwp_snapshot_write(leaf, control, leaf->control_bytes, ring, ring_bytes, NULL, 0)};
    snapshot.bytes = memory_get(snapshot.size, 1);
    pfb_lwp_snapshot_write(leaf, control, leaf->control_bytes, ring, ring_bytes, snapshot.bytes, snapshot.size);
    return snapshot;
}

/* Writes a control block that enables the sampling of LWPVAL. The threshold interrupt never occurs: the threshold is
 * twice the size of the ring. */
static void write_control(uint8_t *control, const pfb_lwp_capabilities *leaf)
{
    lwp_put_u32(control + PFB_LWP_AT_FLAGS, UINT32_C(1) << PFB_LWP_EVENT_VALUE);
    lwp_put_u32(control + PFB_LWP_AT_BUFFER_SIZE, RING_BYTES);
    lwp_put_u32(control + PFB_LWP_AT_BUFFER_BASE, (uint32_t)RING_ADDRESS);
    lwp_put_u32(control + PFB_LWP_AT_HEAD, START);
    lwp_put_u32(control + PFB_LWP_AT_THRESHOLD, 2 * RING_BYTES);
    lwp_put_u32(control + PFB_LWP_AT_TAIL, START);
    lwp_put_u32(control + leaf->event_offset, INTERVAL);
}

/* Runs the loop once: LWPVAL in each iteration, and LWPINS before it in every seventh one. */
static void run_loop(pfb_lwp_model *model, uint64_t inserted, uint64_t value)
{
    bool carry;
    for (uint32_t i = 0; i < ITERATIONS; i++) {
        pfb_lwp_operands insert = {.data2 = inserted, .data1 = i, .flags = 0x01234567, .address = INSERT_ADDRESS};
        pfb_lwp_operands sample = {.data2 = value, .data1 = i, .flags = 0xCAD00CAD, .address = VALUE_ADDRESS};
        if (i % INSERT_EVERY == 0)
            pfb_lwp_model_insert(model, &insert, &carry);
        pfb_lwp_model_value(model, &sample);
    }
}

lwp_snapshot_bytes lwp_sample_run(unsigned bits)
{
    pfb_lwp_capabilities leaf;
    pfb_lwp_model *model = memory_get(1, sizeof *model);
    pfb_lwp_model_options options = {.is_32_bit = bits == 32};
    uint64_t address;
    /* The leaf of a CPU of AMD Family 15h with all features enabled. */
    pfb_lwp_capabilities_read(0xE000000F, 0x80032013, 0x00010200, 0xE000000F, &leaf);
    uint8_t *control = memory_get(leaf.control_bytes, 1);
    uint8_t *ring = memory_get(RING_BYTES, 1);
    write_control(control, &leaf);
    pfb_lwp_model_init(model, &leaf, &options);
    pfb_lwp_model_add_memory(model, (pfb_lwp_memory){control, leaf.control_bytes, CONTROL_ADDRESS});
    pfb_lwp_model_add_memory(model, (pfb_lwp_memory){ring, RING_BYTES, RING_ADDRESS});
    pfb_lwp_model_load(model, CONTROL_ADDRESS);
    run_loop(model, 0xDEADBEEF, 0x0BADF00D);
    if (bits == 64)
        run_loop(model, UINT64_C(0xDEADBEEFDEADBEEF), UINT64_C(0x0BADF00D0BADF00D));
    pfb_lwp_model_store(model, &address);
    pfb_lwp_model_load(model, 0); /* disables LWP; the sample program leaves it enabled */
    lwp_snapshot_bytes snapshot = lwp_make_snapshot(&leaf, control, ring, RING_BYTES);
    free(control);
    free(ring);
    free(model);
    return snapshot;
}
