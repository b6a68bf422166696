/* SPDX-License-Identifier: MIT */
/* Decoding of CPUID registers: the vendor and model of a CPU, and its Lightweight Profiling (LWP) capabilities. */
#include <criterion/criterion.h>

#include "perfblock/lwp/cpuid.h"

#include <string.h>

/* Registers of real machines, from public dumps of libcpuid and VirtualBox. */

typedef struct machine {
    const char *name;
    uint32_t signature, highest_extended, features; /* leaf 1 EAX, 80000000 EAX, 80000001 ECX */
    uint32_t lwp[4];                                /* leaf 8000001C, EAX to EDX */
    uint32_t family, model, stepping;
    pfb_lwp_refusal refusal;
} machine;

static const machine machines[] = {
    {"FX-8150",
     0x00600F12,
     0x8000001E,
     0x01C9BFFF,
     {0, 0x80032013, 0x00010200, 0x8000000F},
     0x15,
     0x01,
     2,
     PFB_LWP_NOT_ENABLED},
    {"FX-8350",
     0x00600F20,
     0x8000001E,
     0x01EBBFFF,
     {0, 0x80032013, 0x00010200, 0x8000000F},
     0x15,
     0x02,
     0,
     PFB_LWP_NOT_ENABLED},
    {"A10-5800K",
     0x00610F01,
     0x8000001E,
     0x01EBBFFF,
     {0, 0x80032013, 0x00010200, 0x8000000F},
     0x15,
     0x10,
     1,
     PFB_LWP_NOT_ENABLED},
    {"A10-6800K",
     0x00610F31,
     0x8000001E,
     0x01EBBFFF,
     {0, 0x80032013, 0x00010200, 0x8000000F},
     0x15,
     0x13,
     1,
     PFB_LWP_NOT_ENABLED},
    {"A10-7850K",
     0x00630F01,
     0x8000001E,
     0x0FEBBFFF,
     {0, 0x80032013, 0x00010200, 0xE000000F},
     0x15,
     0x30,
     1,
     PFB_LWP_NOT_ENABLED},
    {"A10-7890K",
     0x00630F81,
     0x8000001E,
     0x0FEBBFFF,
     {0, 0x80032013, 0x00010200, 0xE000000F},
     0x15,
     0x38,
     1,
     PFB_LWP_NOT_ENABLED},
    {"A12-9800",
     0x00660F51,
     0x8000001E,
     0x2FABBFFF,
     {0, 0x80032013, 0x00010200, 0xE000000F},
     0x15,
     0x65,
     1,
     PFB_LWP_NOT_ENABLED},
    {"A9-9410",
     0x00670F00,
     0x8000001E,
     0x2FABBFFF,
     {0, 0x80032013, 0x00010200, 0xE000000F},
     0x15,
     0x70,
     0,
     PFB_LWP_NOT_ENABLED},
    {"4700S",
     0x00840F70,
     0x80000020,
     0xF5C2B7FF,
     {0, 0x80082018, 0xD0010430, 0xE000019F},
     0x17,
     0x47,
     0,
     PFB_LWP_NOT_ENABLED},
    {"Opteron 6380, even CPU",
     0x00600F20,
     0x8000001E,
     0x01EB3FFF,
     {0, 0x80032013, 0x00010200, 0x8000000F},
     0x15,
     0x02,
     0,
     PFB_LWP_NO_LWP},
    {"Phenom II X6", 0x00100FA0, 0x8000001B, 0x000037FF, {0, 0, 0, 0}, 0x10, 0x0A, 0, PFB_LWP_NO_LEAF},
    {"A4-5000", 0x00700F01, 0x8000001E, 0x154037FF, {0, 0, 0, 0}, 0x16, 0x00, 1, PFB_LWP_NO_LWP},
    {"Ryzen 7 1800X", 0x00800F11, 0x8000001F, 0x35C233FF, {0, 0, 0, 0}, 0x17, 0x01, 1, PFB_LWP_NO_LWP},
    {"Ryzen 5 3600", 0x00870F10, 0x80000020, 0x75C237FF, {0, 0, 0, 0}, 0x17, 0x71, 0, PFB_LWP_NO_LWP},
    {"4800S", 0x00880F40, 0x80000020, 0x75C237FF, {0, 0, 0, 0}, 0x17, 0x84, 0, PFB_LWP_NO_LWP},
};

enum { MACHINES = sizeof machines / sizeof machines[0], LEAVES = 5 };

static pfb_cpuid make_cpuid(const machine *m, pfb_cpuid_leaf leaves[LEAVES])
{
    leaves[0] = (pfb_cpuid_leaf){0, 0, 0x0D, 0x68747541, 0x444D4163, 0x69746E65};
    leaves[1] = (pfb_cpuid_leaf){1, 0, m->signature, 0x00080800, 0x1E98220B, 0x178BFBFF};
    leaves[2] = (pfb_cpuid_leaf){0x80000000, 0, m->highest_extended, 0, 0, 0};
    leaves[3] = (pfb_cpuid_leaf){0x80000001, 0, m->signature, 0, m->features, 0};
    leaves[4] = (pfb_cpuid_leaf){0x8000001C, 0, m->lwp[0], m->lwp[1], m->lwp[2], m->lwp[3]};
    return (pfb_cpuid){leaves, LEAVES};
}

static const pfb_cpuid_xcr0 unknown;
static const pfb_cpuid_xcr0 with_lwp = {true, UINT64_C(0x4000000000000007)};
static const pfb_cpuid_xcr0 without_lwp = {true, 7};

/* ---- Identity ---------------------------------------------------------------------------------------------------- */

Test(cpuid, real_machines_are_identified)
{
    for (size_t i = 0; i < MACHINES; i++) {
        const machine *m = &machines[i];
        pfb_cpuid_leaf leaves[LEAVES];
        pfb_cpuid cpuid = make_cpuid(m, leaves);
        pfb_cpuid_identity identity;
        pfb_cpuid_identify(&cpuid, &identity);
        cr_expect_str_eq(identity.vendor, "AuthenticAMD", "%s", m->name);
        cr_expect(identity.is_amd, "%s", m->name);
        cr_expect_eq(identity.family, m->family, "%s: family %u", m->name, identity.family);
        cr_expect_eq(identity.model, m->model, "%s: model %u", m->name, identity.model);
        cr_expect_eq(identity.stepping, m->stepping, "%s", m->name);
        cr_expect_eq(identity.highest_leaf, 0x0D, "%s", m->name);
        cr_expect_eq(identity.highest_extended, m->highest_extended, "%s", m->name);
        cr_expect(identity.has_xsave && identity.has_osxsave, "%s", m->name);
    }
}

/* The extended family is added for family 15 only, the extended model for family 15 and, except for AMD, family 6. */
Test(cpuid, extended_families_and_models_are_added_as_documented)
{
    static const struct {
        uint32_t signature;
        bool is_amd;
        uint32_t family, model, stepping;
    } rows[] = {
        {0x000906ED, false, 6, 0x9E, 13},    {0x000906ED, true, 6, 0x0E, 13}, {0x00200F31, true, 0x11, 0x03, 1},
        {0x0FFF0FFF, false, 0x10E, 255, 15}, {0x0FFF05F0, false, 5, 0x0F, 0}, {0x01000EF0, true, 14, 0x0F, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_cpuid_leaf leaves[LEAVES];
        pfb_cpuid_identity identity;
        pfb_cpuid cpuid = make_cpuid(&machines[0], leaves);
        leaves[0].ebx ^= !rows[i].is_amd;
        leaves[1].eax = rows[i].signature;
        pfb_cpuid_identify(&cpuid, &identity);
        cr_expect_eq(identity.family, rows[i].family, "row %zu: %u", i, identity.family);
        cr_expect_eq(identity.model, rows[i].model, "row %zu: %u", i, identity.model);
        cr_expect_eq(identity.stepping, rows[i].stepping, "row %zu", i);
    }
}

/* A CPU without extended leaves returns arbitrary data for leaf 80000000. */
Test(cpuid, the_highest_extended_leaf_is_0_without_extended_leaves)
{
    static const uint32_t rows[][2] = {{0, 0}, {0x7FFFFFFF, 0}, {0x80000000, 0x80000000}, {UINT32_MAX, UINT32_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_cpuid_leaf leaf = {0x80000000, 0, rows[i][0], 0, 0, 0};
        pfb_cpuid cpuid = {&leaf, 1};
        pfb_cpuid_identity identity;
        pfb_cpuid_identify(&cpuid, &identity);
        cr_expect_eq(identity.highest_extended, rows[i][1], "EAX %x", rows[i][0]);
    }
}

Test(cpuid, the_state_component_of_lwp_is_read)
{
    const pfb_cpuid_leaf bulldozer[] = {{0x0D, 0, 0x00000007, 0x340, 0x3C0, 0x40000000},
                                        {0x0D, 62, 0x00000080, 0x340, 0, 0}};
    const pfb_cpuid_leaf console[] = {{0x0D, 0, 0x00000207, 0x340, 0x400, 0x40000000},
                                      {0x0D, 62, 0x00000080, 0x380, 0, 0}};
    const pfb_cpuid_leaf empty[] = {{0x0D, 0, 0x00000007, 0x340, 0x3C0, 0x40000000}, {0x0D, 62, 0, 0, 0, 0}};
    const pfb_cpuid_leaf none[] = {{0x0D, 0, 0x00000007, 0x340, 0x340, 0}, {0x0D, 62, 0x80, 0x340, 0, 0}};
    static const struct {
        uint64_t components;
        uint32_t enabled, largest, bytes, offset;
        bool has;
    } expected[] = {{UINT64_C(0x4000000000000007), 832, 960, 128, 832, true},
                    {UINT64_C(0x4000000000000207), 832, 1024, 128, 896, true},
                    {UINT64_C(0x4000000000000007), 832, 960, 0, 0, true},
                    {7, 832, 832, 0, 0, false}};
    const pfb_cpuid_leaf *const rows[] = {bulldozer, console, empty, none};
    for (size_t i = 0; i < 4; i++) {
        pfb_cpuid cpuid = {rows[i], 2};
        pfb_cpuid_identity identity;
        pfb_cpuid_identify(&cpuid, &identity);
        cr_expect_eq(identity.components, expected[i].components, "row %zu", i);
        cr_expect_eq(identity.enabled_area_bytes, expected[i].enabled, "row %zu", i);
        cr_expect_eq(identity.largest_area_bytes, expected[i].largest, "row %zu", i);
        cr_expect_eq(identity.has_lwp_component, expected[i].has, "row %zu", i);
        cr_expect_eq(identity.lwp_component_bytes, expected[i].bytes, "row %zu", i);
        cr_expect_eq(identity.lwp_component_offset, expected[i].offset, "row %zu", i);
    }
}

/* "  AMD FX(tm)-8150 ..." in three leaves of 16 characters; unprintable characters are replaced. */
Test(cpuid, the_name_of_a_cpu_is_read_from_three_leaves)
{
    static const char text[48] = "  AMD FX(tm)-8150 Eight-Core Processor\x1B\xFF   ";
    pfb_cpuid_leaf leaves[3];
    pfb_cpuid cpuid = {leaves, 3};
    pfb_cpuid_identity identity;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t r[4] = {0};
        for (unsigned n = 0; n < 16; n++)
            r[n / 4] |= (uint32_t)(unsigned char)text[16 * i + n] << 8 * (n % 4);
        leaves[i] = (pfb_cpuid_leaf){0x80000002 + i, 0, r[0], r[1], r[2], r[3]};
    }
    pfb_cpuid_identify(&cpuid, &identity);
    cr_expect_str_eq(identity.name, "AMD FX(tm)-8150 Eight-Core Processor??");
    cr_expect_str_eq(identity.vendor, "");
    cpuid.count = 2; /* a partial name is ignored */
    pfb_cpuid_identify(&cpuid, &identity);
    cr_expect_str_eq(identity.name, "");
    memset(leaves, '~', sizeof leaves); /* 48 characters without NUL */
    for (uint32_t i = 0; i < 3; i++) {
        leaves[i].leaf = 0x80000002 + i;
        leaves[i].subleaf = 0;
    }
    cpuid.count = 3;
    pfb_cpuid_identify(&cpuid, &identity);
    cr_expect(strlen(identity.name) == 48 && identity.name[0] == '~');
}

Test(cpuid, without_leaves_nothing_is_known)
{
    pfb_cpuid cpuid = {NULL, 0};
    pfb_cpuid_identity identity;
    pfb_lwp_capabilities capabilities;
    pfb_cpuid_identify(&cpuid, &identity);
    cr_expect_str_eq(identity.vendor, "");
    cr_expect_eq(identity.family, 0);
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, unknown, &capabilities), PFB_LWP_NOT_AMD);
    cr_expect_eq(capabilities.ebx, 0);
}

/* ---- The leaf of LWP --------------------------------------------------------------------------------------------- */

Test(cpuid, leaves_of_real_machines_are_decoded)
{
    static const struct {
        uint32_t ebx, ecx, edx;
        uint32_t control, event, max, offset, latency, rounding, version, min_buffer;
        bool address, prediction, ip, levels, cache_latency;
    } rows[] = {
        {0x80032013, 0x00010200, 0x8000000F, 152, 32, 3, 128, 0, 0, 1, 1024, false, false, false, false, false},
        {0x80032013, 0x00010200, 0xE000000F, 152, 32, 3, 128, 0, 0, 1, 1024, false, false, false, false, false},
        {0x80082018, 0xD0010430, 0xE000019F, 192, 32, 8, 128, 16, 0, 2, 1024, true, true, false, true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_lwp_capabilities c;
        pfb_lwp_capabilities_read(0, rows[i].ebx, rows[i].ecx, rows[i].edx, &c);
        cr_expect_eq(c.control_bytes, rows[i].control, "row %zu", i);
        cr_expect_eq(c.event_bytes, rows[i].event, "row %zu", i);
        cr_expect_eq(c.max_events, rows[i].max, "row %zu", i);
        cr_expect_eq(c.event_offset, rows[i].offset, "row %zu", i);
        cr_expect_eq(c.event_offset + 8 * c.max_events, c.control_bytes, "row %zu", i);
        cr_expect_eq(c.latency_bits, rows[i].latency, "row %zu", i);
        cr_expect_eq(c.latency_rounding, rows[i].rounding, "row %zu", i);
        cr_expect_eq(c.version, rows[i].version, "row %zu", i);
        cr_expect_eq(c.min_buffer_bytes, rows[i].min_buffer, "row %zu", i);
        cr_expect_eq(c.has_data_address, rows[i].address, "row %zu", i);
        cr_expect_eq(c.has_branch_prediction, rows[i].prediction, "row %zu", i);
        cr_expect_eq(c.has_ip_filtering, rows[i].ip, "row %zu", i);
        cr_expect_eq(c.has_cache_levels, rows[i].levels, "row %zu", i);
        cr_expect_eq(c.has_cache_latency, rows[i].cache_latency, "row %zu", i);
        cr_expect_eq(c.hardware, rows[i].edx, "row %zu", i);
        cr_expect_eq(c.enabled, 0, "row %zu", i);
    }
}

/* Each row sets bits of one field, or reserved bits. The minimum of the ring is a multiple of the record size, so rows
 * that expect one set bits of both fields. */
Test(cpuid, each_field_has_its_bits)
{
    static const struct {
        uint32_t ebx, ecx;
        uint32_t control, event, max, offset, latency, rounding, version, min_buffer;
    } rows[] = {{0x000000FF, 0, 2040, 0, 0, 0, 0, 0, 0, 0}, {0x0000FF00, 0, 0, 255, 0, 0, 0, 0, 0, 0},
                {0x00FF0000, 0, 0, 0, 255, 0, 0, 0, 0, 0},  {0xFF000000, 0, 0, 0, 0, 255, 0, 0, 0, 0},
                {0, 0x0000001F, 0, 0, 0, 0, 31, 0, 0, 0},   {0, 0x000001C0, 0, 0, 0, 0, 0, 7, 0, 0},
                {0, 0x0000FE00, 0, 0, 0, 0, 0, 0, 127, 0},  {0x0000FF00, 0x00FF0000, 0, 255, 0, 0, 0, 0, 0, 2080800},
                {0, 0x0F000000, 0, 0, 0, 0, 0, 0, 0, 0},    {0x00002000, 0x00020000, 0, 32, 0, 0, 0, 0, 0, 2048}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_lwp_capabilities c;
        pfb_lwp_capabilities_read(0, rows[i].ebx, rows[i].ecx, 0, &c);
        cr_expect(c.control_bytes == rows[i].control && c.event_bytes == rows[i].event && c.max_events == rows[i].max &&
                      c.event_offset == rows[i].offset,
                  "row %zu", i);
        cr_expect(c.latency_bits == rows[i].latency && c.latency_rounding == rows[i].rounding &&
                      c.version == rows[i].version && c.min_buffer_bytes == rows[i].min_buffer,
                  "row %zu", i);
        cr_expect(!c.has_data_address && !c.has_branch_prediction && !c.has_ip_filtering && !c.has_cache_levels &&
                      !c.has_cache_latency,
                  "row %zu", i);
    }
}

/* The one-bit fields of ECX. */
Test(cpuid, each_flag_has_its_bit)
{
    for (unsigned bit = 0; bit < 32; bit++) {
        pfb_lwp_capabilities c;
        pfb_lwp_capabilities_read(0, 0, UINT32_C(1) << bit, 0, &c);
        cr_expect_eq(c.has_data_address, bit == 5, "bit %u", bit);
        cr_expect_eq(c.has_branch_prediction, bit == 28, "bit %u", bit);
        cr_expect_eq(c.has_ip_filtering, bit == 29, "bit %u", bit);
        cr_expect_eq(c.has_cache_levels, bit == 30, "bit %u", bit);
        cr_expect_eq(c.has_cache_latency, bit == 31, "bit %u", bit);
    }
}

/* ---- Whether LWP can be used ------------------------------------------------------------------------------------- */

Test(cpuid, real_machines_are_refused_for_their_reason)
{
    for (size_t i = 0; i < MACHINES; i++) {
        const machine *m = &machines[i];
        pfb_cpuid_leaf leaves[LEAVES];
        pfb_cpuid cpuid = make_cpuid(m, leaves);
        pfb_lwp_capabilities c;
        cr_expect_eq(pfb_cpuid_lwp(&cpuid, unknown, &c), m->refusal, "%s", m->name);
        bool has_leaf = m->refusal != PFB_LWP_NO_LEAF;
        cr_expect_eq(c.ebx, has_leaf ? m->lwp[1] : 0, "%s", m->name);
        cr_expect_eq(c.is_refused, m->refusal == PFB_LWP_NO_LWP, "%s", m->name);
    }
}

/* A CPU on which LWP can be used. */
static pfb_cpuid make_usable(pfb_cpuid_leaf leaves[LEAVES])
{
    pfb_cpuid cpuid = make_cpuid(&machines[4], leaves);
    leaves[4].eax = 0x80000003;
    return cpuid;
}

/* Makes one check after the other fail on a usable CPU, from the last check to the first. Each failure hides those of
 * later checks. */
Test(cpuid, the_first_failed_check_is_the_reason)
{
    pfb_cpuid_leaf leaves[LEAVES];
    pfb_lwp_capabilities c;
    pfb_cpuid cpuid = make_usable(leaves);
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, with_lwp, &c), PFB_LWP_USABLE);
    cr_expect_eq(c.enabled, 0x80000003);
    leaves[4].eax = 0x80000002; /* only bit 0 matters */
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, with_lwp, &c), PFB_LWP_NOT_ENABLED);
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, without_lwp, &c), PFB_LWP_NO_XSTATE);
    leaves[3].ecx &= ~(UINT32_C(1) << 15);
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, without_lwp, &c), PFB_LWP_NO_LWP);
    cr_expect(c.is_refused);
    leaves[2].eax = 0x8000001B; /* a virtual CPU that has the leaf, but reports a lower highest leaf */
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, without_lwp, &c), PFB_LWP_NO_LEAF);
    cr_expect_eq(c.ebx, 0);
    leaves[0].ecx ^= 1;
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, without_lwp, &c), PFB_LWP_NOT_AMD);
}

/* A usable CPU with one bit changed in one register. */
Test(cpuid, each_check_depends_on_its_bits_only)
{
    static const struct {
        unsigned leaf, reg, bit; /* position of the leaf; EAX to EDX */
        pfb_lwp_refusal refusal;
    } rows[] = {
        {0, 1, 0, PFB_LWP_NOT_AMD},    {0, 1, 31, PFB_LWP_NOT_AMD},    {0, 2, 0, PFB_LWP_NOT_AMD},
        {0, 2, 31, PFB_LWP_NOT_AMD},   {0, 3, 0, PFB_LWP_NOT_AMD},     {0, 3, 31, PFB_LWP_NOT_AMD},
        {2, 0, 4, PFB_LWP_NO_LEAF},    {2, 0, 31, PFB_LWP_NO_LEAF},    {2, 0, 0, PFB_LWP_USABLE},
        {3, 2, 15, PFB_LWP_NO_LWP},    {3, 2, 14, PFB_LWP_USABLE},     {3, 2, 16, PFB_LWP_USABLE},
        {1, 2, 26, PFB_LWP_NO_XSTATE}, {1, 2, 27, PFB_LWP_NO_XSTATE},  {1, 2, 25, PFB_LWP_USABLE},
        {1, 2, 28, PFB_LWP_USABLE},    {4, 0, 0, PFB_LWP_NOT_ENABLED}, {4, 0, 1, PFB_LWP_USABLE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_cpuid_leaf leaves[LEAVES];
        pfb_lwp_capabilities c;
        pfb_cpuid cpuid = make_usable(leaves);
        pfb_cpuid_leaf *leaf = &leaves[rows[i].leaf];
        uint32_t *const registers[] = {&leaf->eax, &leaf->ebx, &leaf->ecx, &leaf->edx};
        *registers[rows[i].reg] ^= UINT32_C(1) << rows[i].bit;
        pfb_lwp_refusal refusal = pfb_cpuid_lwp(&cpuid, with_lwp, &c);
        cr_expect_eq(refusal, rows[i].refusal, "row %zu: %s", i, pfb_lwp_refusal_name(refusal));
    }
    pfb_cpuid_leaf leaves[LEAVES];
    pfb_lwp_capabilities c;
    pfb_cpuid cpuid = make_usable(leaves);
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, without_lwp, &c), PFB_LWP_NO_XSTATE, "bit 62 of XCR0 is clear");
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, unknown, &c), PFB_LWP_USABLE, "XCR0 is unknown, but leaf 1 has OSXSAVE");
}

/* Old Intel CPUs return garbage for leaves that they do not have, in which bit 0 of EAX or of EDX may be set. */
Test(cpuid, the_leaf_is_ignored_on_cpus_of_intel)
{
    static const uint32_t garbage[][4] = {{0x07280202, 0, 0, 0x503}, {7, 0x340, 0x340, 0}};
    for (size_t i = 0; i < 2; i++) {
        pfb_cpuid_leaf leaves[LEAVES];
        pfb_lwp_capabilities c;
        pfb_cpuid cpuid = make_cpuid(&machines[0], leaves);
        leaves[0] = (pfb_cpuid_leaf){0, 0, 0x0D, 0x756E6547, 0x6C65746E, 0x49656E69};
        leaves[2].eax = 0x80000008;
        leaves[4] = (pfb_cpuid_leaf){0x8000001C, 0, garbage[i][0], garbage[i][1], garbage[i][2], garbage[i][3]};
        cr_expect_eq(pfb_cpuid_lwp(&cpuid, with_lwp, &c), PFB_LWP_NOT_AMD, "row %zu", i);
        cr_expect(c.eax == 0 && c.enabled == 0 && c.hardware == 0, "row %zu", i);
    }
}

Test(cpuid, missing_leaves_are_a_reason)
{
    pfb_cpuid_leaf leaves[LEAVES];
    pfb_lwp_capabilities c;
    pfb_cpuid cpuid = make_cpuid(&machines[0], leaves);
    cpuid.count = 4;
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, unknown, &c), PFB_LWP_NO_LEAF);
    leaves[3] = leaves[4]; /* without 80000001 */
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, unknown, &c), PFB_LWP_NO_LWP);
    cpuid = make_cpuid(&machines[0], leaves);
    leaves[1] = leaves[0]; /* without leaf 1, OSXSAVE is unknown */
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, unknown, &c), PFB_LWP_NOT_ENABLED);
    cr_expect_eq(pfb_cpuid_lwp(&cpuid, without_lwp, &c), PFB_LWP_NO_XSTATE);
}

/* ---- Several CPUs ------------------------------------------------------------------------------------------------ */

/* Returns the answer of a kind of CPU, which is a letter: U usable, V usable with a different leaf 8000001C, E LWP not
 * enabled, X no LWP state in XCR0, L without LWP, I another vendor, B highest leaf too low, ? without leaf 80000001, 0
 * without leaf 0. */
static pfb_lwp_answer ask(char letter)
{
    pfb_cpuid_leaf leaves[LEAVES];
    pfb_cpuid cpuid = make_usable(leaves);
    if (letter == 'V')
        leaves[4].edx ^= 1 << 3;
    if (letter == 'E')
        leaves[4].eax = 0;
    if (letter == 'L')
        leaves[3].ecx = 0;
    if (letter == 'I')
        leaves[0].ebx ^= 1;
    if (letter == 'B')
        leaves[2].eax = 0x80000008;
    if (letter == '?')
        leaves[3] = leaves[4];
    if (letter == '0')
        leaves[0] = leaves[4];
    return pfb_cpuid_lwp_answer(&cpuid, letter == 'X' ? without_lwp : with_lwp);
}

Test(cpuid, answers_of_all_cpus_are_joined)
{
    static const struct {
        const char *cpus;
        pfb_lwp_refusal refusal;
    } rows[] = {
        {"U", PFB_LWP_USABLE},     {"UUUU", PFB_LWP_USABLE},  {"EE", PFB_LWP_NOT_ENABLED},
        {"XX", PFB_LWP_NO_XSTATE}, {"LL", PFB_LWP_NO_LWP},    {"LU", PFB_LWP_PARTIAL},
        {"UL", PFB_LWP_PARTIAL},   {"UUUL", PFB_LWP_PARTIAL}, {"LLLU", PFB_LWP_PARTIAL},
        {"ULUU", PFB_LWP_PARTIAL}, {"UV", PFB_LWP_PARTIAL},   {"UE", PFB_LWP_PARTIAL},
        {"EX", PFB_LWP_PARTIAL},   {"LI", PFB_LWP_NO_LWP},    {"IL", PFB_LWP_NOT_AMD},
        {"BL", PFB_LWP_NO_LEAF},   {"IU", PFB_LWP_PARTIAL},   {"BE", PFB_LWP_PARTIAL},
        {"U?", PFB_LWP_USABLE},    {"?U", PFB_LWP_USABLE},    {"?E?E", PFB_LWP_NOT_ENABLED},
        {"?LU", PFB_LWP_PARTIAL},  {"?", PFB_LWP_NO_LWP},     {"?0", PFB_LWP_NO_LWP},
        {"0?", PFB_LWP_NOT_AMD},   {"?0L", PFB_LWP_NO_LWP},   {"?0I", PFB_LWP_NOT_AMD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_lwp_answer joined = {0};
        for (const char *letter = rows[i].cpus; *letter != '\0'; letter++) {
            pfb_lwp_answer cpu = ask(*letter);
            pfb_lwp_answer_join(&joined, &cpu);
        }
        cr_expect_eq(joined.refusal, rows[i].refusal, "%s: %s", rows[i].cpus, pfb_lwp_refusal_name(joined.refusal));
        if (rows[i].refusal == PFB_LWP_PARTIAL)
            cr_expect(!joined.capabilities.is_refused && joined.capabilities.event_bytes == 32,
                      "%s: the capabilities are those of a CPU that has LWP", rows[i].cpus);
    }
}

/* CPUs whose leaves 8000001C differ in one register are different, although both can use LWP. */
Test(cpuid, leaves_that_differ_in_one_register_make_the_answer_partial)
{
    for (unsigned changed = 0; changed < 5; changed++) {
        pfb_lwp_answer joined = ask('U');
        pfb_lwp_answer other = ask('U');
        uint32_t *const registers[] = {&other.capabilities.eax, &other.capabilities.ebx, &other.capabilities.ecx,
                                       &other.capabilities.edx};
        if (changed < 4)
            *registers[changed] ^= 1u << 20;
        pfb_lwp_answer_join(&joined, &other);
        cr_expect_eq(joined.refusal, changed < 4 ? PFB_LWP_PARTIAL : PFB_LWP_USABLE, "register %u", changed);
    }
}

Test(cpuid, an_answer_needs_the_leaves_that_decide_it)
{
    static const bool is_needed[LEAVES] = {true, false, true, true, true};
    pfb_cpuid_leaf leaves[LEAVES];
    for (size_t missing = 0; missing < LEAVES; missing++) {
        pfb_cpuid cpuid = make_usable(leaves);
        leaves[missing].leaf = 0x12345678;
        cr_expect_eq(pfb_cpuid_lwp_answer(&cpuid, with_lwp).is_known, !is_needed[missing], "leaf %zu", missing);
    }
    pfb_cpuid cpuid = make_usable(leaves);
    leaves[2].eax = 0x80000008;
    cpuid.count = 3; /* a leaf above the highest one is not missing */
    cr_expect(pfb_cpuid_lwp_answer(&cpuid, with_lwp).is_known);
    leaves[2].eax = 0x8000001C; /* the highest one is missing */
    cr_expect_not(pfb_cpuid_lwp_answer(&cpuid, with_lwp).is_known);
    leaves[0].ebx ^= 1;
    cpuid.count = 1;
    cr_expect(pfb_cpuid_lwp_answer(&cpuid, with_lwp).is_known, "a CPU of another vendor needs leaf 0 only");
}

Test(cpuid, an_event_needs_hardware_and_operating_system)
{
    pfb_lwp_capabilities c;
    pfb_lwp_capabilities_read(0x80000005, 0x80032013, 0x00010200, 0x8000000F, &c);
    cr_expect_eq(pfb_lwp_event_refusal(&c, 1), PFB_LWP_NO_VAL_OS);
    cr_expect_eq(pfb_lwp_event_refusal(&c, 2), PFB_LWP_USABLE);
    cr_expect_eq(pfb_lwp_event_refusal(&c, 3), PFB_LWP_NO_EVENT);
    cr_expect_eq(pfb_lwp_event_refusal(&c, 0), PFB_LWP_NO_EVENT);
    cr_expect_eq(pfb_lwp_event_refusal(&c, 4), PFB_LWP_NO_EVENT, "an event above the largest EventId");
    cr_expect_eq(pfb_lwp_event_refusal(&c, 255), PFB_LWP_USABLE);
    cr_expect_eq(pfb_lwp_event_refusal(&c, 254), PFB_LWP_NO_EVENT);
    cr_expect_eq(pfb_lwp_event_refusal(&c, UINT32_MAX), PFB_LWP_NO_EVENT);
    pfb_lwp_capabilities_read(0x80000007, 0x80032013, 0x00010200, 0x8000000D, &c);
    cr_expect_eq(pfb_lwp_event_refusal(&c, 1), PFB_LWP_NO_VAL_HW);
    pfb_lwp_capabilities_read(0xFFFFFFFF, 0x80FF2013, 0x00010200, 0xFFFFFFFF, &c);
    cr_expect_eq(pfb_lwp_event_refusal(&c, 29), PFB_LWP_NO_EVENT, "bits 29 to 31 are modes");
    cr_expect_eq(pfb_lwp_event_refusal(&c, 28), PFB_LWP_USABLE);
}

Test(cpuid, bits_and_refusals_have_names)
{
    static const struct {
        unsigned bit;
        const char *name;
    } bits[] = {{0, "avail"}, {1, "val"}, {2, "ire"}, {3, "bre"},   {4, "dme"},   {5, "cnh"},  {6, "rnh"},
                {7, ""},      {8, ""},    {28, ""},   {29, "cont"}, {30, "ptsc"}, {31, "int"}, {32, ""}};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        cr_expect_str_eq(pfb_lwp_bit_name(bits[i].bit), bits[i].name, "bit %u", bits[i].bit);
    static const struct {
        pfb_lwp_refusal refusal;
        const char *name, *text;
    } refusals[] = {
        {PFB_LWP_NOT_X86, "not_x86", "LWP needs an x86 processor; this build has none"},
        {PFB_LWP_NOT_AMD, "not_amd", "LWP is not supported by this hardware (vendor is not AuthenticAMD)"},
        {PFB_LWP_NO_LEAF, "no_leaf", "LWP is not supported by this hardware (CPUID leaf 8000001C is absent)"},
        {PFB_LWP_NO_LWP, "no_lwp", "LWP is not supported by this hardware"},
        {PFB_LWP_PARTIAL, "partial", "the processors of this machine differ in LWP; pin the thread"},
        {PFB_LWP_NO_XSTATE, "no_xstate", "OS has not made LWP available (XCR0 bit 62 is clear)"},
        {PFB_LWP_NOT_ENABLED, "not_enabled", "OS has not made LWP available"},
        {PFB_LWP_NO_VAL_HW, "no_val_hw", "LWPVAL instruction not supported by the hardware"},
        {PFB_LWP_NO_VAL_OS, "no_val_os", "LWPVAL instruction not enabled"},
        {PFB_LWP_NO_EVENT, "no_event", "event N is not available"},
        {PFB_LWP_BAD_CB, "bad_cb", "the control block is refused"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        cr_expect_str_eq(pfb_lwp_refusal_name(refusals[i].refusal), refusals[i].name);
        cr_expect_str_eq(pfb_lwp_refusal_text(refusals[i].refusal), refusals[i].text);
        bool is_supported = i >= 4; /* from "partial" on, the CPU has LWP */
        cr_expect_eq(pfb_lwp_is_supported(refusals[i].refusal), is_supported, "%s", refusals[i].name);
    }
    cr_expect_str_eq(pfb_lwp_refusal_name(PFB_LWP_REFUSAL_COUNT), "unknown_refusal");
    cr_expect_str_eq(pfb_lwp_refusal_text(PFB_LWP_REFUSAL_COUNT), "a refusal this version does not know");
    cr_expect(pfb_lwp_is_supported(PFB_LWP_USABLE) && !pfb_lwp_is_supported(PFB_LWP_REFUSAL_COUNT));
}
