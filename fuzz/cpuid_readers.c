/* SPDX-License-Identifier: MIT */
#include "cpuid_readers.h"

#include "perfblock/lwp/cpuid_text.h"
#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What the leaves of a CPU say ------------------------------------------------------------------------- */

/* Finds the leaf in another way: the last match in a backward search is the first one. Returns NULL if there is none.
 */
static const pfb_cpuid_leaf *find_slowly(const pfb_cpuid *cpuid, uint32_t leaf, uint32_t subleaf)
{
    const pfb_cpuid_leaf *found = NULL;
    for (size_t i = cpuid->count; i > 0; i--) {
        if (cpuid->leaves[i - 1].leaf == leaf && cpuid->leaves[i - 1].subleaf == subleaf)
            found = &cpuid->leaves[i - 1];
    }
    return found;
}

static bool is_same_leaf(const pfb_cpuid_leaf *a, const pfb_cpuid_leaf *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* six numbers and nothing between */
}

/* Text within `capacity` bytes: printable ASCII and a NUL. */
static void check_text(walk *w, const char *text, size_t capacity)
{
    const char *end = memchr(text, '\0', capacity);
    if (!end) {
        promise(w, false, "a text of a CPU ends");
        return;
    }
    for (const char *c = text; c < end; c++) {
        promise(w, *c >= ' ' && *c <= '~', "a text of a CPU is printable");
        add(w, (unsigned char)*c);
    }
}

/* Returns true if the vendor is AuthenticAMD, compared character by character. */
static bool is_amd(const pfb_cpuid *cpuid)
{
    const pfb_cpuid_leaf *leaf = find_slowly(cpuid, 0, 0);
    if (!leaf)
        return false;
    const uint32_t registers[] = {leaf->ebx, leaf->edx, leaf->ecx};
    for (size_t i = 0; i < 12; i++) {
        if ((registers[i / 4] >> 8 * (i % 4) & 0xFF) != (unsigned char)"AuthenticAMD"[i])
            return false;
    }
    return true;
}

static void check_identity(walk *w, const pfb_cpuid *cpuid)
{
    pfb_cpuid_identity identity;
    memset(&identity, 0xA5, sizeof identity);
    pfb_cpuid_identify(cpuid, &identity);
    check_text(w, identity.vendor, sizeof identity.vendor);
    check_text(w, identity.name, sizeof identity.name);
    if (w->out.broken)
        return;
    size_t size = strlen(identity.name);
    promise(w, size == 0 || (identity.name[0] != ' ' && identity.name[size - 1] != ' '),
            "a name has no leading or trailing blanks");
    promise(w, identity.is_amd == is_amd(cpuid), "AMD's vendor is AuthenticAMD");
    promise(w, !identity.is_amd || strcmp(identity.vendor, "AuthenticAMD") == 0, "and is reported as such");
    promise(w, identity.highest_extended == 0 || identity.highest_extended >= 0x80000000, "extended leaves are high");
    promise(w, identity.family <= 15 + 255 && identity.model <= 255 && identity.stepping <= 15,
            "family, model and stepping are as wide as their fields");
    promise(w, identity.has_lwp_component == (identity.components >> 62 & 1), "component 62 is bit 62");
    promise(w, identity.has_lwp_component || (identity.lwp_component_bytes == 0 && identity.lwp_component_offset == 0),
            "a missing item has no size");
    add(w, (uint64_t)identity.family << 32 | identity.model << 8 | identity.stepping);
    add(w, identity.components + identity.enabled_area_bytes + identity.largest_area_bytes);
}

/* Expected result: the checks of docs/cpuid.md in their order. */
static pfb_lwp_refusal judge(const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0)
{
    const pfb_cpuid_leaf *basic = find_slowly(cpuid, 1, 0);
    const pfb_cpuid_leaf *highest = find_slowly(cpuid, 0x80000000, 0);
    const pfb_cpuid_leaf *features = find_slowly(cpuid, 0x80000001, 0);
    const pfb_cpuid_leaf *lwp = find_slowly(cpuid, 0x8000001C, 0);
    if (!is_amd(cpuid))
        return PFB_LWP_NOT_AMD;
    if (!highest || highest->eax < 0x8000001C || !lwp)
        return PFB_LWP_NO_LEAF;
    if (!features || (features->ecx & 0x8000) == 0)
        return PFB_LWP_NO_LWP;
    if ((basic && (basic->ecx & 0x0C000000) != 0x0C000000) || (xcr0.is_known && (xcr0.value & UINT64_C(1) << 62) == 0))
        return PFB_LWP_NO_XSTATE;
    return lwp->eax & 1 ? PFB_LWP_USABLE : PFB_LWP_NOT_ENABLED;
}

/* Checks that the parts of the leaf give its registers, except for reserved bits. */
static void check_parts(walk *w, const pfb_lwp_capabilities *c)
{
    uint32_t ebx = c->control_bytes / 8 | c->event_bytes << 8 | c->max_events << 16 | c->event_offset << 24;
    uint32_t ecx = c->latency_bits | (uint32_t)c->has_data_address << 5 | c->latency_rounding << 6 | c->version << 9 |
                   (uint32_t)c->has_branch_prediction << 28 | (uint32_t)c->has_ip_filtering << 29 |
                   (uint32_t)c->has_cache_levels << 30 | (uint32_t)c->has_cache_latency << 31;
    promise(w, c->enabled == c->eax && ebx == c->ebx && ecx == (c->ecx & 0xF000FFFF) && c->hardware == c->edx,
            "the leaf is taken apart without loss");
    promise(w, c->min_buffer_bytes == (c->ecx >> 16 & 0xFF) * 32 * c->event_bytes,
            "the smallest ring is a whole number of records");
}

static void check_events(walk *w, const pfb_lwp_capabilities *capabilities)
{
    for (uint32_t id = 0; id < 260; id += id == 40 ? 200 : 1) { /* nothing changes between 32 and 255 */
        pfb_lwp_refusal refusal = pfb_lwp_event_refusal(capabilities, id);
        uint32_t bit = id >= 1 && id < 29 ? UINT32_C(1) << id : 0;
        bool is_offered = id <= capabilities->max_events && (capabilities->eax & capabilities->edx & bit) != 0;
        promise(w, (refusal == PFB_LWP_USABLE) == (id == 255 || is_offered),
                "events are there when both registers say");
        bool is_sample = refusal == PFB_LWP_NO_VAL_HW || refusal == PFB_LWP_NO_VAL_OS;
        promise(w, refusal == PFB_LWP_USABLE || is_sample == (id == 1), "value samples have refusals of their own");
        promise(w, is_sample || refusal == PFB_LWP_USABLE || refusal == PFB_LWP_NO_EVENT, "others have one");
    }
}

static void check_lwp(walk *w, const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0)
{
    pfb_lwp_capabilities capabilities;
    memset(&capabilities, 0xA5, sizeof capabilities);
    pfb_lwp_refusal refusal = pfb_cpuid_lwp(cpuid, xcr0, &capabilities);
    promise(w, refusal == judge(cpuid, xcr0), "LWP is refused for the first reason there is");
    promise(w, capabilities.is_refused == (refusal == PFB_LWP_NO_LWP), "a leaf is refused where the CPU has no LWP");
    check_parts(w, &capabilities);
    check_events(w, &capabilities);
    if (refusal == PFB_LWP_NOT_AMD || refusal == PFB_LWP_NO_LEAF)
        promise(w, (capabilities.eax | capabilities.ebx | capabilities.ecx | capabilities.edx) == 0,
                "a leaf that may not be interpreted is not handed out");
    promise(w, pfb_lwp_is_supported(refusal) == (refusal == PFB_LWP_USABLE || refusal > PFB_LWP_NO_LWP),
            "a CPU has LWP or has not");
    add(w, (uint64_t)refusal << 32 ^ capabilities.ebx ^ (uint64_t)capabilities.ecx << 16);
}

static void check_cpu(walk *w, const pfb_cpuid_leaf *leaves, size_t count)
{
    pfb_cpuid cpuid = {leaves, count};
    check_identity(w, &cpuid);
    check_lwp(w, &cpuid, (pfb_cpuid_xcr0){.is_known = false});
    check_lwp(w, &cpuid, (pfb_cpuid_xcr0){.is_known = true, .value = 7});
    check_lwp(w, &cpuid, (pfb_cpuid_xcr0){.is_known = true, .value = UINT64_C(1) << 62 | 7});
}

/* ---- A dump --------------------------------------------------------------------------------------------------- */

enum { LEAST_LINE = 12 }; /* the shortest leaf, "0x0:0 0 0 0" with its line end */

/* Where the walk is in a dump. */
typedef struct place {
    size_t counted;         /* lines that end before this offset were counted */
    uint32_t lines;         /* number of those lines */
    size_t rows;            /* rows so far */
    size_t offset;          /* of the last one */
    uint32_t cpu;           /* of the latest row */
    pfb_cpuid_leaf *leaves; /* of the current CPU */
    size_t count;
} place;

/* Lines that end before `offset`. */
static uint32_t count_lines(const walk *w, place *at, size_t offset)
{
    for (; at->counted < offset; at->counted++)
        at->lines += w->data[at->counted] == '\n';
    return at->lines;
}

static bool is_line_start(const walk *w, size_t offset)
{
    return offset == 0 || w->data[offset - 1] == '\n';
}

static void check_row(walk *w, place *at, const pfb_cpuid_row *row)
{
    promise(w, row->offset < w->size && w->size - row->offset >= LEAST_LINE - 1, "a leaf's line lies inside the input");
    promise(w, at->rows == 0 || row->offset >= at->offset + LEAST_LINE,
            "leaves are returned in the order of their lines");
    promise(w, at->rows == 0 ? row->cpu == 0 : row->cpu == at->cpu || row->cpu == at->cpu + 1, "CPUs are counted");
    if (w->out.broken)
        return;
    if (!w->writable) {
        promise(w, is_line_start(w, row->offset), "a leaf is where its line begins");
        promise(w, row->line == count_lines(w, at, row->offset) + 1, "lines are counted");
    }
    add(w, row->offset);
    add(w, (uint64_t)row->line << 32 | row->cpu);
    add(w, (uint64_t)row->leaf.leaf << 32 | row->leaf.subleaf);
    add(w, (uint64_t)row->leaf.eax << 32 | row->leaf.ebx);
    add(w, (uint64_t)row->leaf.ecx << 32 | row->leaf.edx);
}

static void check_end(walk *w, place *at, pfb_cpuid_text *text)
{
    pfb_cpuid_row row;
    pfb_error error = text->error;
    promise(w, !pfb_cpuid_text_next(text, &row) && is_same_error(error, text->error),
            "no item is returned after the end");
    promise(w, error.code == PFB_OK || error.code == PFB_BAD_CPUID_LINE, "a dump has no other failure");
    keep_verdict(w, error, 0);
    if (w->out.broken || w->writable)
        return;
    bool is_fine = error.code == PFB_OK;
    bool has_rest = is_fine && w->size > 0 && !is_line_start(w, w->size);
    promise(w, text->lines == count_lines(w, at, is_fine ? w->size : error.offset) + (!is_fine || has_rest),
            "every line up to the end was read");
    promise(w, is_fine || is_line_start(w, error.offset), "a broken line is blamed where it begins");
    promise(w, is_fine || at->rows == 0 || error.offset > at->offset, "and lies after all leaves");
}

static void walk_rows(walk *w, place *at)
{
    pfb_cpuid_text text;
    pfb_cpuid_row row;
    pfb_cpuid_text_open(&text, w->data, w->size);
    while (!w->out.broken && pfb_cpuid_text_next(&text, &row)) {
        check_row(w, at, &row);
        if (at->rows > 0 && row.cpu != at->cpu) {
            check_cpu(w, at->leaves, at->count);
            at->count = 0;
        }
        if (!w->out.broken) /* otherwise the count may exceed the capacity */
            at->leaves[at->count++] = row.leaf;
        at->rows++;
        at->offset = row.offset;
        at->cpu = row.cpu;
        disturb(w, row.offset);
    }
    w->out.items = at->rows;
    check_cpu(w, at->leaves, at->count);
    if (!w->out.broken)
        check_end(w, at, &text);
}

static void walk_dump(walk *w)
{
    place at = {.leaves = malloc((w->size / LEAST_LINE + 1) * sizeof *at.leaves)};
    if (at.leaves)
        walk_rows(w, &at);
    free(at.leaves);
}

/* ---- Other ways to read the same bytes -------------------------------------------------------------------- */

/* The bytes as registers, little-endian. */
static const char *check_registers(const uint8_t *data, size_t size)
{
    walk w = {.data = data, .size = size};
    size_t count = size / 24;
    pfb_cpuid_leaf *leaves = malloc((count + 1) * sizeof *leaves);
    for (size_t i = 0; leaves && i < count; i++) {
        uint32_t numbers[6] = {0};
        for (size_t byte = 0; byte < 24; byte++)
            numbers[byte / 4] |= (uint32_t)data[24 * i + byte] << 8 * (byte % 4);
        leaves[i] = (pfb_cpuid_leaf){numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    }
    if (leaves)
        check_cpu(&w, leaves, count);
    free(leaves);
    return w.out.broken;
}

/* Writes a heading and the leaf in every layout that can hold it. Returns the number of lines. */
static uint32_t write_layouts(const pfb_cpuid_leaf *l, char *out, size_t capacity)
{
    uint32_t count = 3;
    size_t size = (size_t)snprintf(
        out, capacity,
        "CPU 0:\nCPUID %08" PRIX32 ": %08" PRIX32 "-%08" PRIX32 "-%08" PRIX32 "-%08" PRIX32 " [SL %02" PRIX32 "]\n"
        "%08" PRIX32 " %08" PRIX32 " %08" PRIX32 " %08" PRIX32 " %08" PRIX32 " %08" PRIX32 "\n"
        "0x%" PRIx32 " 0x%" PRIx32 ": ebx=0x%" PRIx32 " eax=0x%" PRIx32 " edx=0x%" PRIx32 " ecx=0x%" PRIx32 "\n",
        l->leaf, l->eax, l->ebx, l->ecx, l->edx, l->subleaf, l->leaf, l->subleaf, l->eax, l->ebx, l->ecx, l->edx,
        l->leaf, l->subleaf, l->ebx, l->eax, l->edx, l->ecx);
    if (l->subleaf <= INT32_MAX) {
        size += (size_t)snprintf(out + size, capacity - size,
                                 "amd_fn%" PRIx32 "h[%" PRIu32 "]=%" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32 "\n",
                                 l->leaf, l->subleaf, l->eax, l->ebx, l->ecx, l->edx);
        count++;
    }
    if (l->subleaf == 0) {
        snprintf(out + size, capacity - size, "%s_cpuid[%" PRIu32 "]=%" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32,
                 l->leaf >> 31 ? "ext" : "basic", l->leaf & INT32_MAX, l->eax, l->ebx, l->ecx, l->edx);
        count++;
    }
    return count;
}

static void check_rewritten(walk *w, const pfb_cpuid_leaf *leaf)
{
    char out[512]; /* five lines of 85 characters at most */
    pfb_cpuid_text text;
    pfb_cpuid_row row;
    uint32_t count = write_layouts(leaf, out, sizeof out);
    pfb_cpuid_text_open(&text, out, strlen(out));
    for (uint32_t i = 0; i < count; i++)
        promise(w,
                pfb_cpuid_text_next(&text, &row) && row.cpu == 0 && row.line == i + 2 && is_same_leaf(&row.leaf, leaf),
                "a leaf that is written anew reads as before");
    promise(w, !pfb_cpuid_text_next(&text, &row) && text.error.code == PFB_OK, "nothing else was written");
}

static const char *check_layouts(const uint8_t *data, size_t size)
{
    walk w = {.data = data, .size = size};
    pfb_cpuid_text text;
    pfb_cpuid_row row;
    pfb_cpuid_text_open(&text, data, size);
    while (pfb_cpuid_text_next(&text, &row))
        check_rewritten(&w, &row.leaf);
    return w.out.broken;
}

static const char *compare_case(const reading *whole, const uint8_t *data, size_t size)
{
    uint8_t *copy = copy_input(data, size);
    for (size_t i = 0; copy && i < size; i++) {
        uint8_t lower = copy[i] | 0x20;
        copy[i] ^= lower >= 'a' && lower <= 'z' ? 0x20 : 0;
    }
    reading swapped = copy ? read_cpuid_text(copy, size) : *whole;
    free(copy);
    return is_same_reading(whole, &swapped) ? NULL : "the case of letters does not matter";
}

/* ---- What others call --------------------------------------------------------------------------------------- */

reading read_cpuid_text(const uint8_t *data, size_t size)
{
    walk w = {.data = data, .size = size};
    walk_dump(&w);
    return w.out;
}

reading examine_cpuid_text(const uint8_t *data, size_t size)
{
    reading whole = read_cpuid_text(data, size);
    reading again = read_cpuid_text(data, size);
    const char *broken = whole.broken;
    if (!broken && !is_same_reading(&whole, &again))
        broken = "the same bytes read the same twice";
    if (!broken && whole.error.code != PFB_OK) {
        reading before = read_cpuid_text(data, whole.error.offset);
        if (before.error.code != PFB_OK || before.sum != whole.sum)
            broken = "what precedes a broken line does not depend on it";
    }
    if (!broken)
        broken = compare_case(&whole, data, size);
    if (!broken)
        broken = check_layouts(data, size);
    if (!broken)
        broken = check_registers(data, size);
    whole.broken = broken;
    return whole;
}

reading disturb_cpuid_text(uint8_t *data, size_t size, uint64_t seed)
{
    walk w = {.data = data, .size = size};
    w.writable = data;
    w.random = seed | 1;
    walk_dump(&w);
    return w.out;
}

void fuzz_cpuid_text(const uint8_t *data, size_t size)
{
    uint64_t seed = hash(data, size);
    for (uint64_t round = 0; round < 3; round++) {
        uint8_t *copy = copy_input(data, size);
        if (!copy)
            return;
        end_round(copy,
                  round == 0 ? examine_cpuid_text(copy, size) : disturb_cpuid_text(copy, size, seed * (2 * round + 1)));
    }
}
