/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

/* The compiler's header and lwp_intrinsics.h can be included in any order. Here the compiler's header is first, in
 * examples/lwp_sample.c it is last. */
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "perfblock/lwp_intrinsics.h"
#include "support_lwp_model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RING_BYTES = 1024 };

/* Allocates a control block for this ring, of the size that the thread's CPU requires. The caller frees it. */
static uint8_t *new_control(uint8_t *ring)
{
    uint8_t *control = calloc(pfb_lwp_thread_model()->capabilities.control_bytes, 1);
    uintptr_t base = (uintptr_t)ring;
    cr_assert(control, "out of memory");
    control[FLAGS] = 2; /* LWPVAL is enabled */
    control[SIZE + 1] = RING_BYTES / 256;
    for (unsigned i = 0; i < sizeof base; i++)
        control[BASE + i] = (uint8_t)(base >> 8 * i);
    return control;
}

Test(lwp_intrinsics, each_intrinsic_executes_its_instruction)
{
    uint8_t ring[RING_BYTES] = {0};
    uint8_t *control = new_control(ring);
    cr_expect_null(__slwpcb(), "LWP is off at first");
    cr_expect_eq(__lwpins32(1, 2, 3), 0);
    __llwpcb(control);
    cr_expect_eq(__slwpcb(), control);
    cr_expect_eq(__lwpins32(0x11111111, 0x22222222, 0x12343333), 0);
    __lwpval32(0x44444444, 0x55555555, 0x6666);
    cr_expect_eq(__lwpins64(UINT64_C(0x7777777788888888), 9, 10), 0);
    __lwpval64(UINT64_C(0xFEDCBA9876543210), 11, 12);
    cr_expect_eq(__slwpcb(), control);
    static const struct {
        uint8_t id;
        uint16_t flags;
        uint32_t data1;
        uint64_t data2;
    } expected[] = {{255, 0x3333, 0x22222222, 0x11111111},
                    {1, 0x6666, 0x55555555, 0x44444444},
                    {255, 10, 9, UINT64_C(0x7777777788888888)},
                    {1, 12, 11, UINT64_C(0xFEDCBA9876543210)}};
    for (size_t i = 0; i < 4; i++) {
        const uint8_t *record = ring + 32 * i;
        cr_expect_eq(record[0], expected[i].id, "record %zu", i);
        cr_expect_eq(bytes_number(record + 2, 2), expected[i].flags, "record %zu", i);
        cr_expect_eq(bytes_number(record + 4, 4), expected[i].data1, "record %zu", i);
        cr_expect_eq((uintptr_t)bytes_number(record + 16, 8), (uintptr_t)expected[i].data2, "record %zu", i);
        cr_expect(i == 0 || memcmp(record + 8, record - 24, 8) != 0,
                  "record %zu has another address than the record before it", i);
    }
    cr_expect_eq(bytes_number(control + HEAD, 4), 4 * 32);
    __llwpcb(NULL);
    cr_expect_null(__slwpcb());
    cr_expect_eq(pfb_lwp_thread_fault(), PFB_LWP_FAULT_NONE);
    free(control);
}

Test(lwp_intrinsics, an_insert_reports_a_full_ring)
{
    uint8_t ring[RING_BYTES];
    uint8_t *control = new_control(ring);
    __llwpcb(control);
    for (unsigned i = 0; i < 31; i++)
        cr_expect_eq(__lwpins32(0, i, 0), 0);
    cr_expect_eq(__lwpins32(0, 31, 0), 1);
    cr_expect_eq(bytes_number(control + MISSED, 8), 1);
    __llwpcb(NULL);
    free(control);
}

Test(lwp_intrinsics, an_invalid_block_is_reported_and_leaves_lwp_off)
{
    uint8_t ring[RING_BYTES];
    uint8_t *control = new_control(ring);
    control[SIZE + 1] = 3; /* 768 bytes; the minimum is 1024 */
    __llwpcb(control);
    cr_expect_eq(pfb_lwp_thread_fault(), PFB_LWP_FAULT_GENERAL);
    cr_expect_null(__slwpcb());
    cr_expect_eq(pfb_lwp_thread_fault(), PFB_LWP_FAULT_NONE, "the fault of the last intrinsic is returned");
    control[SIZE + 1] = 4;
    memset(control + BASE, 0, 8);
    __llwpcb(control);
    cr_expect_eq(pfb_lwp_thread_fault(), PFB_LWP_FAULT_PAGE, "the address of the ring is 0");
    free(control);
}

Test(lwp_intrinsics, another_block_may_be_loaded_while_one_is_active)
{
    uint8_t first_ring[RING_BYTES];
    uint8_t second_ring[RING_BYTES];
    uint8_t *first = new_control(first_ring);
    uint8_t *second = new_control(second_ring);
    for (unsigned i = 0; i < 10; i++) { /* more loads than the model has memory windows */
        __llwpcb(first);
        __lwpins32(0, 1, 0);
        __llwpcb(second);
        __lwpins32(0, 2, 0);
    }
    __llwpcb(NULL);
    cr_expect(bytes_number(first + HEAD, 4) == 320 && bytes_number(second + HEAD, 4) == 320);
    for (unsigned i = 0; i < 10; i++)
        cr_expect(first_ring[32 * i + 4] == 1 && second_ring[32 * i + 4] == 2, "record %u", i);
    free(second);
    free(first);
}

Test(lwp_intrinsics, the_program_chooses_the_cpu)
{
    uint8_t ring[RING_BYTES];
    pfb_lwp_capabilities none;
    pfb_lwp_capabilities cpu;
    pfb_lwp_capabilities_read(0, 0, 0, 0, &none);
    pfb_lwp_capabilities_read(0, 0x80032013, 0x00010200, 0x8000000F, &cpu); /* EAX is 0: LWP is not enabled */
    cr_expect_not(pfb_lwp_thread_begin(&none, NULL), "a CPU without LWP is refused");
    uint8_t *control = new_control(ring);
    __llwpcb(control);
    cr_expect_eq(__slwpcb(), control, "the CPU is unchanged");
    cr_expect(pfb_lwp_thread_begin(&cpu, NULL));
    __llwpcb(control);
    cr_expect_eq(pfb_lwp_thread_fault(), PFB_LWP_FAULT_UNDEFINED);
    pfb_lwp_model_options options = {.core = 7, .is_32_bit = true};
    pfb_lwp_capabilities_read(complete[0], complete[1], complete[2], complete[3], &cpu);
    cr_expect(pfb_lwp_thread_begin(&cpu, &options));
    free(control);
    control = new_control(ring); /* now of 192 bytes */
    __llwpcb(control);
    cr_expect_eq(__slwpcb(), control, "the pointer is not cut to 32 bits");
    __lwpins32(0, 0, 0);
    cr_expect_eq(ring[1], 7);
    __llwpcb(NULL);
    free(control);
}

static void *insert_in_another_thread(void *control)
{
    void *at_first = __slwpcb();
    __llwpcb(control);
    __lwpins32(0, 2, 0);
    __llwpcb(NULL);
    return at_first;
}

Test(lwp_intrinsics, each_thread_has_its_own_cpu)
{
    uint8_t ring[RING_BYTES];
    uint8_t other_ring[RING_BYTES];
    uint8_t *control = new_control(ring);
    uint8_t *other = new_control(other_ring);
    pthread_t thread;
    void *at_first = control;
    __llwpcb(control);
    cr_assert_eq(pthread_create(&thread, NULL, insert_in_another_thread, other), 0);
    cr_assert_eq(pthread_join(thread, &at_first), 0);
    cr_expect_null(at_first, "LWP is off in the new thread");
    cr_expect_eq(__slwpcb(), control, "LWP is still on in this thread");
    cr_expect(bytes_number(control + HEAD, 4) == 0 && bytes_number(other + HEAD, 4) == 32);
    __llwpcb(NULL);
    free(other);
    free(control);
}
