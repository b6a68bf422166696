/* SPDX-License-Identifier: MIT */
/* Lightweight Profiling used by the profiled program itself, as in the sample that Microsoft documents with __llwpcb.
 * Two loops write value samples and inserted events to a ring, which is then read. perfblock/lwp_intrinsics.h
 * replaces the intrinsics by functions of perfblock's LWP model, because current CPUs do not implement LWP. A program
 * without this header executes the instructions of the CPU; it must first make the checks described in docs/cpuid.md.
 *
 * Usage: lwp_sample [32|64] [no-value]
 *
 * 32 and 64 select the instructions that a compiler for 32 or 64 bits would generate; no-value simulates a system that
 * does not enable LWPVAL. */
#include <perfblock/lwp_intrinsics.h>

/* The header that code for the hardware includes. It has no effect here. */
#if defined(_MSC_VER)
#include <intrin.h>
#elif defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096, LOOPS = 31, INSERT_EVERY = 7, INTERVAL = 9 };

/* Writes a field of the LWPCB, whose layout is given by the CPUID leaf. */
static void put(uint8_t *field, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        field[i] = (uint8_t)(value >> 8 * i);
}

static void fill_control(uint8_t *control, const pfb_lwp_capabilities *leaf, const uint8_t *ring)
{
    uint32_t ring_bytes = SLOTS * leaf->event_bytes;
    uint32_t start = ring_bytes - 3 * leaf->event_bytes; /* near the end, so that the records wrap */
    put(control + PFB_LWP_AT_FLAGS, UINT32_C(1) << PFB_LWP_EVENT_VALUE, 4);
    put(control + PFB_LWP_AT_BUFFER_SIZE, ring_bytes, 4);
    put(control + PFB_LWP_AT_BUFFER_BASE, (uintptr_t)ring, 8);
    put(control + PFB_LWP_AT_HEAD, start, 4);
    put(control + PFB_LWP_AT_TAIL, start, 4);
    put(control + leaf->event_offset, INTERVAL, 4);
}

static unsigned profile_32(void)
{
    unsigned lost = 0;
    for (uint32_t i = 0; i < LOOPS; i++) {
        if (i % INSERT_EVERY == 0)
            lost += __lwpins32(0xDEADBEEF, i, 0x01234567);
        __lwpval32(0x0BADF00D, i, 0xCAD00CAD);
    }
    return lost;
}

static unsigned profile_64(void)
{
    unsigned lost = 0;
    for (uint32_t i = 0; i < LOOPS; i++) {
        if (i % INSERT_EVERY == 0)
            lost += __lwpins64(UINT64_C(0xDEADBEEFDEADBEEF), i, 0x01234567);
        __lwpval64(UINT64_C(0x0BADF00D0BADF00D), i, 0xCAD00CAD);
    }
    return lost;
}

/* Reads the records between tail and head, and then moves the tail. */
static bool print_ring(const pfb_lwp_capabilities *leaf, uint8_t *control, const uint8_t *ring)
{
    pfb_lwp lwp;
    pfb_lwp_event event;
    unsigned values = 0;
    unsigned inserts = 0;
    if (!pfb_lwp_open(&lwp, leaf, control, leaf->control_bytes, ring, (size_t)SLOTS * leaf->event_bytes,
                      &(pfb_read_options){.is_strict = true})) {
        fprintf(stderr, "%s\n", pfb_code_text(lwp.error.code));
        return false;
    }
    while (pfb_lwp_next(&lwp, &event)) {
        values += event.id == PFB_LWP_EVENT_VALUE;
        inserts += event.id == PFB_LWP_EVENT_INSERTED;
    }
    printf("%" PRIu32 " entries in ring buffer\n", lwp.count);
    printf("%u LWPVAL instructions, %u LWPINS instructions\n", values, inserts);
    if (lwp.control.missed_events > 0)
        printf("%" PRIu64 " records were lost\n", lwp.control.missed_events);
    put(control + PFB_LWP_AT_TAIL, lwp.head, 4);
    return true;
}

static bool run(bool is_64_bit, const pfb_lwp_capabilities *leaf, uint8_t *control, uint8_t *ring)
{
    fill_control(control, leaf, ring);
    __llwpcb(control);
    if (__slwpcb() != control) {
        fprintf(stderr, "LWP is off: %s fault\n", pfb_lwp_fault_name(pfb_lwp_thread_fault()));
        return false;
    }
    unsigned lost = profile_32();
    if (is_64_bit)
        lost += profile_64();
    __slwpcb();
    bool is_read = print_ring(leaf, control, ring);
    __llwpcb(NULL); /* before the memory is freed */
    return is_read && lost == 0;
}

/* Applies an argument of the command line. Returns false if it is unknown. */
static bool apply_argument(const char *word, bool *is_64_bit)
{
    if (strcmp(word, "no-value") == 0) {
        pfb_lwp_capabilities leaf;
        pfb_lwp_capabilities_read(0xE000000D, 0x80032013, 0x00010200, 0xE000000F, &leaf);
        return pfb_lwp_thread_begin(&leaf, NULL);
    }
    *is_64_bit = strcmp(word, "64") == 0;
    return *is_64_bit || strcmp(word, "32") == 0;
}

int main(int argc, char **argv)
{
    bool is_64_bit = sizeof(void *) == 8;
    for (int i = 1; i < argc; i++) {
        if (!apply_argument(argv[i], &is_64_bit)) {
            fprintf(stderr, "usage: lwp_sample [32|64] [no-value]\n");
            return EXIT_FAILURE;
        }
    }
    const pfb_lwp_capabilities *leaf = &pfb_lwp_thread_model()->capabilities;
    pfb_lwp_refusal refusal = pfb_lwp_event_refusal(leaf, PFB_LWP_EVENT_VALUE);
    uint8_t *control = calloc(leaf->control_bytes, 1);
    uint8_t *ring = calloc(SLOTS, leaf->event_bytes);
    printf("%s-bit compiler\n", is_64_bit ? "64" : "32");
    if (refusal != PFB_LWP_USABLE)
        printf("%s\n", pfb_lwp_refusal_text(refusal));
    bool is_good = control && ring && run(is_64_bit, leaf, control, ring);
    free(ring);
    free(control);
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
