/* SPDX-License-Identifier: MIT */
#include "perfblock/lwp/cpuid.h"

#include "bytes/memory.h"

#define LEAF_EXTENDED_STATE UINT32_C(0x0000000D)
#define FIRST_EXTENDED UINT32_C(0x80000000)
#define LEAF_FEATURES UINT32_C(0x80000001)
#define LEAF_NAME UINT32_C(0x80000002)
#define LEAF_LWP UINT32_C(0x8000001C)

static bool has_bit(uint32_t bits, unsigned bit)
{
    return (bits >> bit & 1) != 0;
}

bool pfb_cpuid_find(const pfb_cpuid *cpuid, uint32_t leaf, uint32_t subleaf, pfb_cpuid_leaf *found)
{
    for (size_t i = 0; i < cpuid->count; i++) {
        if (cpuid->leaves[i].leaf == leaf && cpuid->leaves[i].subleaf == subleaf) {
            *found = cpuid->leaves[i];
            return true;
        }
    }
    return false;
}

/* ---- Identity ------------------------------------------------------------------------------------------------ */

/* Writes the four characters of a register. NUL stays NUL; other bytes that are not printable ASCII become '?'. */
static void put_characters(uint32_t bits, char *out)
{
    for (unsigned i = 0; i < 4; i++) {
        unsigned c = bits >> 8 * i & 0xFF;
        out[i] = c == 0 || (c >= ' ' && c <= '~') ? (char)c : '?';
    }
}

/* Sets vendor, is_amd and highest_leaf. Compares the registers with "AuthenticAMD", not the text, which a NUL in a
 * register would end early. */
static void identify_vendor(const pfb_cpuid *cpuid, pfb_cpuid_identity *identity)
{
    pfb_cpuid_leaf leaf;
    if (!pfb_cpuid_find(cpuid, 0, 0, &leaf))
        return;
    identity->highest_leaf = leaf.eax;
    put_characters(leaf.ebx, identity->vendor);
    put_characters(leaf.edx, identity->vendor + 4);
    put_characters(leaf.ecx, identity->vendor + 8);
    identity->is_amd = leaf.ebx == 0x68747541 && leaf.edx == 0x69746E65 && leaf.ecx == 0x444D4163;
}

static void identify_name(const pfb_cpuid *cpuid, pfb_cpuid_identity *identity)
{
    char text[48] = {0};
    pfb_cpuid_leaf leaf;
    for (uint32_t i = 0; i < 3; i++) {
        if (!pfb_cpuid_find(cpuid, LEAF_NAME + i, 0, &leaf))
            return;
        char *part = text + (size_t)16 * i;
        put_characters(leaf.eax, part);
        put_characters(leaf.ebx, part + 4);
        put_characters(leaf.ecx, part + 8);
        put_characters(leaf.edx, part + 12);
    }
    size_t begin = 0;
    size_t end = 0;
    while (end < sizeof text && text[end] != '\0')
        end++;
    while (begin < end && text[begin] == ' ')
        begin++;
    while (end > begin && text[end - 1] == ' ')
        end--;
    memcpy(identity->name, text + begin, end - begin);
}

/* The extended family applies only if the base family is 15. The extended model applies to the base family 15 and, for
 * vendors other than AMD, to family 6. */
static void identify_model(const pfb_cpuid *cpuid, pfb_cpuid_identity *identity)
{
    pfb_cpuid_leaf leaf;
    if (!pfb_cpuid_find(cpuid, 1, 0, &leaf))
        return;
    uint32_t family = leaf.eax >> 8 & 0xF;
    bool is_extended = family == 0xF || (family == 6 && !identity->is_amd);
    identity->family = family == 0xF ? family + (leaf.eax >> 20 & 0xFF) : family;
    identity->model = (leaf.eax >> 4 & 0xF) | (is_extended ? leaf.eax >> 12 & 0xF0 : 0);
    identity->stepping = leaf.eax & 0xF;
    identity->has_xsave = has_bit(leaf.ecx, 26);
    identity->has_osxsave = has_bit(leaf.ecx, 27);
}

static void identify_state(const pfb_cpuid *cpuid, pfb_cpuid_identity *identity)
{
    pfb_cpuid_leaf leaf;
    if (!pfb_cpuid_find(cpuid, LEAF_EXTENDED_STATE, 0, &leaf))
        return;
    identity->components = (uint64_t)leaf.edx << 32 | leaf.eax;
    identity->enabled_area_bytes = leaf.ebx;
    identity->largest_area_bytes = leaf.ecx;
    identity->has_lwp_component = has_bit(leaf.edx, PFB_CPUID_LWP_COMPONENT - 32);
    if (!identity->has_lwp_component || !pfb_cpuid_find(cpuid, LEAF_EXTENDED_STATE, PFB_CPUID_LWP_COMPONENT, &leaf))
        return;
    identity->lwp_component_bytes = leaf.eax;
    identity->lwp_component_offset = leaf.ebx;
}

void pfb_cpuid_identify(const pfb_cpuid *cpuid, pfb_cpuid_identity *identity)
{
    pfb_cpuid_leaf leaf;
    *identity = (pfb_cpuid_identity){0};
    identify_vendor(cpuid, identity);
    if (pfb_cpuid_find(cpuid, FIRST_EXTENDED, 0, &leaf) && leaf.eax >= FIRST_EXTENDED)
        identity->highest_extended = leaf.eax;
    identify_model(cpuid, identity);
    identify_name(cpuid, identity);
    identify_state(cpuid, identity);
}

/* ---- Lightweight Profiling -------------------------------------------------------------------------------------- */

void pfb_lwp_capabilities_read(uint32_t eax, uint32_t ebx, uint32_t ecx, uint32_t edx,
                               pfb_lwp_capabilities *capabilities)
{
    uint32_t event_bytes = ebx >> 8 & 0xFF;
    *capabilities = (pfb_lwp_capabilities){.eax = eax,
                                           .ebx = ebx,
                                           .ecx = ecx,
                                           .edx = edx,
                                           .enabled = eax,
                                           .hardware = edx,
                                           .control_bytes = 8 * (ebx & 0xFF),
                                           .event_bytes = event_bytes,
                                           .max_events = ebx >> 16 & 0xFF,
                                           .event_offset = ebx >> 24,
                                           .latency_bits = ecx & 0x1F,
                                           .latency_rounding = ecx >> 6 & 7,
                                           .version = ecx >> 9 & 0x7F,
                                           .min_buffer_bytes = 32 * event_bytes * (ecx >> 16 & 0xFF),
                                           .has_data_address = has_bit(ecx, 5),
                                           .has_branch_prediction = has_bit(ecx, 28),
                                           .has_ip_filtering = has_bit(ecx, 29),
                                           .has_cache_levels = has_bit(ecx, 30),
                                           .has_cache_latency = has_bit(ecx, 31)};
}

typedef struct refusal_row {
    char name[12];
    char text[76];
} refusal_row;

static const refusal_row refusals[PFB_LWP_REFUSAL_COUNT] = {
    [PFB_LWP_USABLE] = {"usable", "LWP can be used"},
    [PFB_LWP_NOT_X86] = {"not_x86", "LWP needs an x86 processor; this build has none"},
    [PFB_LWP_NOT_AMD] = {"not_amd", "LWP is not supported by this hardware (vendor is not AuthenticAMD)"},
    [PFB_LWP_NO_LEAF] = {"no_leaf", "LWP is not supported by this hardware (CPUID leaf 8000001C is absent)"},
    [PFB_LWP_NO_LWP] = {"no_lwp", "LWP is not supported by this hardware"},
    [PFB_LWP_PARTIAL] = {"partial", "the processors of this machine differ in LWP; pin the thread"},
    [PFB_LWP_NO_XSTATE] = {"no_xstate", "OS has not made LWP available (XCR0 bit 62 is clear)"},
    [PFB_LWP_NOT_ENABLED] = {"not_enabled", "OS has not made LWP available"},
    [PFB_LWP_NO_VAL_HW] = {"no_val_hw", "LWPVAL instruction not supported by the hardware"},
    [PFB_LWP_NO_VAL_OS] = {"no_val_os", "LWPVAL instruction not enabled"},
    [PFB_LWP_NO_EVENT] = {"no_event", "event N is not available"},
    [PFB_LWP_BAD_CB] = {"bad_cb", "the control block is refused"},
};

const char *pfb_lwp_refusal_name(pfb_lwp_refusal refusal)
{
    return (unsigned)refusal < PFB_LWP_REFUSAL_COUNT ? refusals[refusal].name : "unknown_refusal";
}

const char *pfb_lwp_refusal_text(pfb_lwp_refusal refusal)
{
    return (unsigned)refusal < PFB_LWP_REFUSAL_COUNT ? refusals[refusal].text : "a refusal this version does not know";
}

bool pfb_lwp_is_supported(pfb_lwp_refusal refusal)
{
    return refusal == PFB_LWP_USABLE || (refusal > PFB_LWP_NO_LWP && refusal < PFB_LWP_REFUSAL_COUNT);
}

/* Returns true unless leaf 1 or XCR0 shows that the operating system has not enabled the LWP state. Either may be
 * missing. */
static bool has_state(const pfb_cpuid *cpuid, const pfb_cpuid_identity *identity, pfb_cpuid_xcr0 xcr0)
{
    pfb_cpuid_leaf leaf;
    bool has_leaf_1 = pfb_cpuid_find(cpuid, 1, 0, &leaf);
    if (has_leaf_1 && !(identity->has_xsave && identity->has_osxsave))
        return false;
    return !xcr0.is_known || (xcr0.value >> PFB_CPUID_LWP_COMPONENT & 1) != 0;
}

pfb_lwp_refusal pfb_cpuid_lwp(const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0, pfb_lwp_capabilities *capabilities)
{
    pfb_cpuid_identity identity;
    pfb_cpuid_leaf leaf;
    pfb_cpuid_identify(cpuid, &identity);
    *capabilities = (pfb_lwp_capabilities){0};
    if (!identity.is_amd)
        return PFB_LWP_NOT_AMD;
    if (identity.highest_extended < LEAF_LWP || !pfb_cpuid_find(cpuid, LEAF_LWP, 0, &leaf))
        return PFB_LWP_NO_LEAF;
    pfb_lwp_capabilities_read(leaf.eax, leaf.ebx, leaf.ecx, leaf.edx, capabilities);
    capabilities->is_refused = !pfb_cpuid_find(cpuid, LEAF_FEATURES, 0, &leaf) || !has_bit(leaf.ecx, 15);
    if (capabilities->is_refused)
        return PFB_LWP_NO_LWP;
    if (!has_state(cpuid, &identity, xcr0))
        return PFB_LWP_NO_XSTATE;
    return capabilities->enabled & PFB_LWP_AVAILABLE ? PFB_LWP_USABLE : PFB_LWP_NOT_ENABLED;
}

/* Returns true if the leaves that decide this refusal are present. */
static bool has_deciding_leaves(const pfb_cpuid *cpuid, pfb_lwp_refusal refusal)
{
    pfb_cpuid_leaf leaf;
    if (refusal == PFB_LWP_NOT_AMD)
        return pfb_cpuid_find(cpuid, 0, 0, &leaf);
    if (refusal == PFB_LWP_NO_LEAF)
        return pfb_cpuid_find(cpuid, FIRST_EXTENDED, 0, &leaf) && leaf.eax < LEAF_LWP;
    return refusal != PFB_LWP_NO_LWP || pfb_cpuid_find(cpuid, LEAF_FEATURES, 0, &leaf);
}

pfb_lwp_answer pfb_cpuid_lwp_answer(const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0)
{
    pfb_lwp_answer answer;
    answer.refusal = pfb_cpuid_lwp(cpuid, xcr0, &answer.capabilities);
    answer.is_known = has_deciding_leaves(cpuid, answer.refusal);
    return answer;
}

static bool is_same_leaf(const pfb_lwp_capabilities *a, const pfb_lwp_capabilities *b)
{
    return a->eax == b->eax && a->ebx == b->ebx && a->ecx == b->ecx && a->edx == b->edx;
}

/* A machine without an answer yet is all zero: PFB_LWP_USABLE, which is never the unknown answer of a CPU. The answer
 * of a single CPU is never PFB_LWP_PARTIAL. Once the machine's answer is PFB_LWP_PARTIAL, it differs from the answer of
 * every further CPU and remains PFB_LWP_PARTIAL. */
void pfb_lwp_answer_join(pfb_lwp_answer *machine, const pfb_lwp_answer *cpu)
{
    if (!machine->is_known && (cpu->is_known || machine->refusal == PFB_LWP_USABLE))
        *machine = *cpu;
    bool has_lwp = pfb_lwp_is_supported(machine->refusal);
    bool is_same = machine->refusal == cpu->refusal && is_same_leaf(&machine->capabilities, &cpu->capabilities);
    if (!cpu->is_known || is_same || (!has_lwp && !pfb_lwp_is_supported(cpu->refusal)))
        return;
    if (!has_lwp)
        machine->capabilities = cpu->capabilities;
    machine->refusal = PFB_LWP_PARTIAL;
}

pfb_lwp_refusal pfb_lwp_event_refusal(const pfb_lwp_capabilities *capabilities, uint32_t event_id)
{
    if (event_id == PFB_LWP_EVENT_INSERTED)
        return PFB_LWP_USABLE;
    /* From bit 29 on, the bits of the leaf are modes instead of events. */
    bool is_event = event_id >= 1 && event_id <= capabilities->max_events && event_id < 29;
    bool is_in_hardware = is_event && has_bit(capabilities->hardware, event_id);
    if (event_id == PFB_LWP_EVENT_VALUE && !is_in_hardware)
        return PFB_LWP_NO_VAL_HW;
    if (is_in_hardware && has_bit(capabilities->enabled, event_id))
        return PFB_LWP_USABLE;
    return event_id == PFB_LWP_EVENT_VALUE ? PFB_LWP_NO_VAL_OS : PFB_LWP_NO_EVENT;
}

const char *pfb_lwp_bit_name(unsigned bit)
{
    static const char names[32][6] = {[0] = "avail", [1] = "val", [2] = "ire",   [3] = "bre",   [4] = "dme",
                                      [5] = "cnh",   [6] = "rnh", [29] = "cont", [30] = "ptsc", [31] = "int"};
    return bit < 32 ? names[bit] : "";
}
