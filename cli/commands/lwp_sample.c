/* SPDX-License-Identifier: MIT */
#include "commands/lwp.h"
#include "memory/memory.h"
#include "perfblock/lwp/model.h"

#include <stdlib.h>

/* The sample program that Microsoft documents with the intrinsic __llwpcb, run on the model at fixed addresses: two
 * instructions in a loop, one of which is sampled every tenth time. */

enum {
    RING_BYTES = 4096 * PFB_LWP_RECORD_BYTES,
    START = RING_BYTES - 3 * PFB_LWP_RECORD_BYTES, /* so that the records wrap */
    LOOPS = 31,
    INSERT_EVERY = 7,
    INTERVAL = 9
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

/* Writes a control block that enables value samples. It has no threshold interrupt: twice the ring is never in use. */
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

/* One loop: value samples at every turn, an inserted event at every seventh. */
static void run_loop(pfb_lwp_model *model, uint64_t inserted, uint64_t value)
{
    bool carry;
    for (uint32_t i = 0; i < LOOPS; i++) {
        pfb_lwp_operands insert = {.data2 = inserted, .data1 = i, .flags = 0x01234567, .address = INSERT_ADDRESS};
        pfb_lwp_operands sample = {.data2 = value, .data1 = i, .flags = 0xCAD00CAD, .address = VALUE_ADDRESS};
        if (i % INSERT_EVERY == 0)
            pfb_lwp_model_insert(model, &insert, &carry);
        pfb_lwp_model_value(model, &sample);
    }
}

lwp_kept lwp_sample_run(unsigned bits)
{
    pfb_lwp_capabilities leaf;
    pfb_lwp_model *model = memory_get(1, sizeof *model);
    pfb_lwp_model_options options = {.is_32_bit = bits == 32};
    uint64_t address;
    pfb_lwp_capabilities_read(0xE000000F, 0x80032013, 0x00010200, 0xE000000F, &leaf); /* Family 15h, all enabled */
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
    pfb_lwp_model_load(model, 0);
    lwp_kept made = lwp_keep(&leaf, control, ring, RING_BYTES);
    free(control);
    free(ring);
    free(model);
    return made;
}
