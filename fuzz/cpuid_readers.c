/* SPDX-License-Identifier: MIT */
#include "cpuid_readers.h"

#include "perfblock/lwp/cpuid_text.h"
#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Identity and LWP ------------------------------------------------------------------------- */

/* Finds the leaf in another way than the library: searches backward, so that the match found last is the first in the
 * list. Returns NULL if there is none. */
static const pfb_cpuid_leaf *find_backward(const pfb_cpuid *cpuid, uint32_t leaf, uint32_t subleaf)
{
    const pfb_cpuid_leaf *match = NULL;
    for (size_t i = cpuid->count; i > 0; i--) {
        if (cpuid->leaves[i - 1].leaf == leaf && cpuid->leaves[i - 1].subleaf == subleaf)
            match = &cpuid->leaves[i - 1];
    }
    return match;
}

static bool is_same_leaf(const pfb_cpuid_leaf *a, const pfb_cpuid_leaf *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* six 32-bit numbers: there is no padding */
}

/* Checks a text in memory of `capacity` bytes: printable ASCII and a NUL. */
static void check_text(walk *w, const char *text, size_t capacity)
{
    const char *end = memchr(text, '\0', capacity);
    if (!end) {
        expect(w, false, "a text of a CPU ends with a NUL");
        return;
    }
    for (const char *c = text; c < end; c++) {
        expect(w, *c >= ' ' && *c <= '~', "a text of a CPU is printable");
        add(w, (unsigned char)*c);
    }
}

/* Returns true if the vendor is AuthenticAMD, compared character by character. */
static bool is_amd(const pfb_cpuid *cpuid)
{
    const pfb_cpuid_leaf *leaf = find_backward(cpuid, 0, 0);
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
    expect(w, size == 0 || (identity.name[0] != ' ' && identity.name[size - 1] != ' '),
           "a name has no leading or trailing blanks");
    expect(w, identity.is_amd == is_amd(cpuid), "is_amd is set for the vendor AuthenticAMD only");
    expect(w, !identity.is_amd || strcmp(identity.vendor, "AuthenticAMD") == 0,
           "the vendor of an AMD CPU is returned as text");
    expect(w, identity.highest_extended == 0 || identity.highest_extended >= 0x80000000,
           "the highest extended leaf is at least 80000000");
    expect(w, identity.family <= 15 + 255 && identity.model <= 255 && identity.stepping <= 15,
           "family, model and stepping are as wide as their fields");
    expect(w, identity.has_lwp_component == (identity.components >> 62 & 1), "the LWP component is bit 62");
    expect(w, identity.has_lwp_component || (identity.lwp_component_bytes == 0 && identity.lwp_component_offset == 0),
           "a missing component has no size and no offset");
    add(w, (uint64_t)identity.family << 32 | identity.model << 8 | identity.stepping);
    add(w, identity.components + identity.enabled_area_bytes + identity.largest_area_bytes);
}

/* Returns the expected refusal by the questions of docs/cpuid.md, in their order. */
static pfb_lwp_refusal expected_refusal(const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0)
{
    const pfb_cpuid_leaf *basic = find_backward(cpuid, 1, 0);
    const pfb_cpuid_leaf *highest = find_backward(cpuid, 0x80000000, 0);
    const pfb_cpuid_leaf *features = find_backward(cpuid, 0x80000001, 0);
    const pfb_cpuid_leaf *lwp = find_backward(cpuid, 0x8000001C, 0);
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

/* Checks that the decoded fields together contain all bits of the registers, except for reserved bits. */
static void check_parts(walk *w, const pfb_lwp_capabilities *c)
{
    uint32_t ebx = c->control_bytes / 8 | c->event_bytes << 8 | c->max_events << 16 | c->event_offset << 24;
    uint32_t ecx = c->latency_bits | (uint32_t)c->has_data_address << 5 | c->latency_rounding << 6 | c->version << 9 |
                   (uint32_t)c->has_branch_prediction << 28 | (uint32_t)c->has_ip_filtering << 29 |
                   (uint32_t)c->has_cache_levels << 30 | (uint32_t)c->has_cache_latency << 31;
    expect(w, c->enabled == c->eax && ebx == c->ebx && ecx == (c->ecx & 0xF000FFFF) && c->hardware == c->edx,
           "the decoded fields contain all bits of the registers");
    expect(w, c->min_buffer_bytes == (c->ecx >> 16 & 0xFF) * 32 * c->event_bytes,
           "the smallest ring is a multiple of 32 records");
}

static void check_events(walk *w, const pfb_lwp_capabilities *capabilities)
{
    for (uint32_t id = 0; id < 260;
         id += id == 40 ? 200 : 1) { /* ids from 29 to 254 are all refused: most are skipped */
        pfb_lwp_refusal refusal = pfb_lwp_event_refusal(capabilities, id);
        uint32_t bit = id >= 1 && id < 29 ? UINT32_C(1) << id : 0;
        bool is_offered = id <= capabilities->max_events && (capabilities->eax & capabilities->edx & bit) != 0;
        expect(w, (refusal == PFB_LWP_USABLE) == (id == 255 || is_offered),
               "only event 255 and those that the leaf offers are usable");
        bool is_sample = refusal == PFB_LWP_NO_VAL_HW || refusal == PFB_LWP_NO_VAL_OS;
        expect(w, refusal == PFB_LWP_USABLE || is_sample == (id == 1),
               "the refusals of LWPVAL are used for EventId 1 only");
        expect(w, is_sample || refusal == PFB_LWP_USABLE || refusal == PFB_LWP_NO_EVENT,
               "all other events have the refusal no_event");
    }
}

static void check_lwp(walk *w, const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0)
{
    pfb_lwp_capabilities capabilities;
    memset(&capabilities, 0xA5, sizeof capabilities);
    pfb_lwp_refusal refusal = pfb_cpuid_lwp(cpuid, xcr0, &capabilities);
    expect(w, refusal == expected_refusal(cpuid, xcr0), "the refusal is the first reason that applies");
    expect(w, capabilities.is_refused == (refusal == PFB_LWP_NO_LWP), "the leaf is refused if the CPU has no LWP");
    check_parts(w, &capabilities);
    check_events(w, &capabilities);
    if (refusal == PFB_LWP_NOT_AMD || refusal == PFB_LWP_NO_LEAF)
        expect(w, (capabilities.eax | capabilities.ebx | capabilities.ecx | capabilities.edx) == 0,
               "a leaf that must not be interpreted is not returned");
    expect(w, pfb_lwp_is_supported(refusal) == (refusal == PFB_LWP_USABLE || refusal > PFB_LWP_NO_LWP),
           "is_supported is true for the refusals of a CPU with LWP");
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

enum { MIN_LINE_BYTES = 12 }; /* a lower bound; the shortest leaf is "cpuid0:0 0 0 0" */

/* The position of the walk in a dump. */
typedef struct progress {
    size_t counted;         /* lines that end before this offset were counted */
    uint32_t lines;         /* number of those lines */
    size_t rows;            /* returned so far */
    size_t offset;          /* of the last row */
    uint32_t cpu;           /* of the last row */
    pfb_cpuid_leaf *leaves; /* of the current CPU */
    size_t count;           /* number of leaves */
} progress;

/* Returns the number of lines that end before `offset`. */
static uint32_t count_lines(const walk *w, progress *at, size_t offset)
{
    for (; at->counted < offset; at->counted++)
        at->lines += w->data[at->counted] == '\n';
    return at->lines;
}

static bool is_line_start(const walk *w, size_t offset)
{
    return offset == 0 || w->data[offset - 1] == '\n';
}

static void check_row(walk *w, progress *at, const pfb_cpuid_row *row)
{
    expect(w, row->offset < w->size && w->size - row->offset >= MIN_LINE_BYTES - 1,
           "a leaf's line lies inside the input");
    expect(w, at->rows == 0 || row->offset >= at->offset + MIN_LINE_BYTES,
           "leaves are returned in the order of their lines");
    expect(w, at->rows == 0 ? row->cpu == 0 : row->cpu == at->cpu || row->cpu == at->cpu + 1, "CPUs are numbered");
    if (w->out.broken)
        return;
    if (!w->writable) {
        expect(w, is_line_start(w, row->offset), "the offset of a leaf is the start of its line");
        expect(w, row->line == count_lines(w, at, row->offset) + 1, "the line number of an item is that of its offset");
    }
    add(w, row->offset);
    add(w, (uint64_t)row->line << 32 | row->cpu);
    add(w, (uint64_t)row->leaf.leaf << 32 | row->leaf.subleaf);
    add(w, (uint64_t)row->leaf.eax << 32 | row->leaf.ebx);
    add(w, (uint64_t)row->leaf.ecx << 32 | row->leaf.edx);
}

static void check_end(walk *w, progress *at, pfb_cpuid_text *text)
{
    pfb_cpuid_row row;
    pfb_error error = text->error;
    expect(w, !pfb_cpuid_text_next(text, &row) && is_same_error(error, text->error),
           "no item is returned after the end");
    expect(w, error.code == PFB_OK || error.code == PFB_BAD_CPUID_LINE, "a dump has no other error");
    record_error(w, error, 0);
    if (w->out.broken || w->writable)
        return;
    bool is_valid = error.code == PFB_OK;
    bool has_unended_line = is_valid && w->size > 0 && !is_line_start(w, w->size);
    expect(w, text->lines == count_lines(w, at, is_valid ? w->size : error.offset) + (!is_valid || has_unended_line),
           "every line up to the end was read");
    expect(w, is_valid || is_line_start(w, error.offset), "the offset of an error is the start of its line");
    expect(w, is_valid || at->rows == 0 || error.offset > at->offset,
           "a malformed line lies after all returned leaves");
}

static void walk_rows(walk *w, progress *at)
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
        change_byte(w, row.offset);
    }
    w->out.items = at->rows;
    check_cpu(w, at->leaves, at->count);
    if (!w->out.broken)
        check_end(w, at, &text);
}

static void walk_dump(walk *w)
{
    progress at = {.leaves = malloc((w->size / MIN_LINE_BYTES + 1) * sizeof *at.leaves)};
    if (at.leaves)
        walk_rows(w, &at);
    free(at.leaves);
}

/* ---- Other ways to read the same bytes -------------------------------------------------------------------- */

/* Identifies a CPU whose leaves are the bytes of the input, 24 for each leaf, little-endian. */
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

/* Writes a heading, and the leaf in three to five layouts. Returns the number of lines with the leaf. */
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
    char out[512]; /* six lines of 85 characters at most */
    pfb_cpuid_text text;
    pfb_cpuid_row row;
    uint32_t count = write_layouts(leaf, out, sizeof out);
    pfb_cpuid_text_open(&text, out, strlen(out));
    for (uint32_t i = 0; i < count; i++)
        expect(w,
               pfb_cpuid_text_next(&text, &row) && row.cpu == 0 && row.line == i + 2 && is_same_leaf(&row.leaf, leaf),
               "a leaf that is written in another layout reads as before");
    expect(w, !pfb_cpuid_text_next(&text, &row) && text.error.code == PFB_OK, "nothing else was written");
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

/* ---- Entry points --------------------------------------------------------------------------------------- */

reading read_cpuid_text(const uint8_t *data, size_t size)
{
    walk w = {.data = data, .size = size};
    walk_dump(&w);
    return w.out;
}

reading verify_cpuid_text(const uint8_t *data, size_t size)
{
    reading whole = read_cpuid_text(data, size);
    reading repeated = read_cpuid_text(data, size);
    const char *broken = whole.broken;
    if (!broken && !is_same_reading(&whole, &repeated))
        broken = "reading the same bytes twice gives the same result";
    if (!broken && whole.error.code != PFB_OK) {
        reading before = read_cpuid_text(data, whole.error.offset);
        if (before.error.code != PFB_OK || before.sum != whole.sum)
            broken = "the lines before a malformed one read the same without it";
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

reading read_changing_cpuid_text(uint8_t *data, size_t size, uint64_t seed)
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
        end_round(copy, round == 0 ? verify_cpuid_text(copy, size)
                                   : read_changing_cpuid_text(copy, size, seed * (2 * round + 1)));
    }
}
