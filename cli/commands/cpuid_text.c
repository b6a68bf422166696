/* SPDX-License-Identifier: MIT */
#include "commands/cpuid_text.h"

#include "memory/memory.h"
#include "os/system.h"
#include "output/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT_COLUMNS = 2, LABEL_COLUMNS = 13, MAX_COMPARED = 16 };

/* ---- Lines ----------------------------------------------------------------------------------------------- */

/* Appends a label and a text in ASCII, wrapped between words at the width of the terminal. The label "" continues the
 * previous field. */
static void put_field(buffer *out, const char *label, const char *text)
{
    size_t columns = system_columns();
    size_t column = INDENT_COLUMNS + LABEL_COLUMNS;
    buffer_spaces(out, INDENT_COLUMNS);
    buffer_string(out, label);
    buffer_spaces(out, LABEL_COLUMNS - strlen(label));
    for (size_t at = 0; text[at] != '\0';) {
        size_t blanks = strspn(text + at, " ");
        size_t size = strcspn(text + at + blanks, " ");
        if (column > INDENT_COLUMNS + LABEL_COLUMNS && column + blanks + size > columns) {
            buffer_string(out, "\n");
            column = INDENT_COLUMNS + LABEL_COLUMNS;
            buffer_spaces(out, column);
            at += blanks;
            blanks = 0;
        }
        buffer_bytes(out, text + at, blanks + size);
        column += blanks + size;
        at += blanks + size;
    }
    buffer_string(out, "\n");
}

static void put_line(buffer *out, const char *label, const char *format, ...) TEXT_PRINTF(3, 4);

static void put_line(buffer *out, const char *label, const char *format, ...)
{
    buffer line = {0};
    va_list arguments;
    va_start(arguments, format);
    buffer_format_list(&line, format, arguments);
    va_end(arguments);
    put_field(out, label, line.data);
    buffer_free(&line);
}

/* ---- Identity -------------------------------------------------------------------------------------------- */

typedef struct bit_name {
    unsigned bit;
    const char *name;
} bit_name;

/* State components of the XSAVE area, which are bits of XCR0. */
static const bit_name components[] = {
    {0, "x87"},
    {1, "SSE"},
    {2, "AVX"},
    {3, "MPX bounds"},
    {4, "MPX configuration"},
    {5, "AVX-512 masks"},
    {6, "AVX-512 ZMM"},
    {7, "AVX-512 ZMM16-31"},
    {9, "PKRU"},
    {62, "LWP"},
};

static void put_components(buffer *out, const char *label, uint64_t bits)
{
    buffer line = {0};
    buffer_format(&line, "0x%" PRIX64, bits);
    const char *separator = ": ";
    for (size_t i = 0; i < sizeof components / sizeof components[0]; i++) {
        if ((bits >> components[i].bit & 1) == 0)
            continue;
        buffer_format(&line, "%s%s", separator, components[i].name);
        separator = ", ";
    }
    put_field(out, label, line.data);
    buffer_free(&line);
}

static void put_identity(buffer *out, const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0)
{
    pfb_cpuid_identity identity;
    pfb_cpuid_leaf leaf;
    pfb_cpuid_identify(cpuid, &identity);
    put_field(out, "vendor", *identity.vendor != '\0' ? identity.vendor : "unknown: leaf 0 is missing or empty");
    if (pfb_cpuid_find(cpuid, 1, 0, &leaf)) {
        put_line(out, "model", "family %" PRIu32 ", model %" PRIu32 ", stepping %" PRIu32, identity.family,
                 identity.model, identity.stepping);
        put_field(out, "XSAVE",
                  identity.has_osxsave ? "enabled by the system"
                  : identity.has_xsave ? "supported, not enabled by the system"
                                       : "not supported");
    } else {
        put_field(out, "model", "unknown: leaf 1 is missing");
    }
    if (pfb_cpuid_find(cpuid, 0x0D, 0, &leaf))
        put_components(out, "XSAVE state", identity.components);
    if (xcr0.is_known)
        put_components(out, "XCR0", xcr0.value);
    if (identity.lwp_component_bytes > 0)
        put_line(out, "LWP state", "%" PRIu32 " bytes at offset %" PRIu32 " of the XSAVE area",
                 identity.lwp_component_bytes, identity.lwp_component_offset);
    put_line(out, "leaves", "to %08" PRIX32 ", extended ones to %08" PRIX32, identity.highest_leaf,
             identity.highest_extended);
}

/* ---- LWP ------------------------------------------------------------------------------------------------- */

static const char *meaning_of(unsigned bit)
{
    static const bit_name meanings[] = {
        {1, "programmed values (LWPVAL)"}, {2, "instructions retired"}, {3, "branches retired"},
        {4, "data-cache misses"},          {5, "clocks not halted"},    {6, "reference clocks not halted"},
        {29, "continuous mode"},           {30, "time stamps"},         {31, "threshold interrupt"},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].bit == bit)
            return meanings[i].name;
    }
    return "unknown";
}

/* Appends a line for each feature that is implemented or enabled. */
static void put_features(buffer *out, const pfb_lwp_capabilities *lwp)
{
    const char *label = "features";
    for (unsigned bit = 1; bit < 32; bit++) {
        char number[16];
        const char *name = pfb_lwp_bit_name(bit);
        bool is_enabled = lwp->enabled >> bit & 1;
        bool exists = lwp->hardware >> bit & 1;
        if (!is_enabled && !exists)
            continue;
        snprintf(number, sizeof number, "bit%u", bit);
        put_line(out, label, "%-5s %s%s", *name != '\0' ? name : number, meaning_of(bit),
                 is_enabled && exists ? "; enabled"
                 : exists             ? ""
                                      : "; enabled, but not implemented");
        label = "";
    }
    if (*label != '\0')
        put_field(out, label, "none");
}

static void put_filters(buffer *out, const pfb_lwp_capabilities *lwp)
{
    buffer line = {0};
    buffer_clear(&line);
    buffer_string(&line, lwp->has_branch_prediction ? ", branch prediction" : "");
    buffer_string(&line, lwp->has_ip_filtering ? ", instruction address" : "");
    buffer_string(&line, lwp->has_cache_levels ? ", cache level" : "");
    buffer_string(&line, lwp->has_cache_latency ? ", cache latency" : "");
    put_field(out, "filters", line.size > 0 ? line.data + 2 : "none");
    buffer_free(&line);
}

static void put_cache_misses(buffer *out, const pfb_lwp_capabilities *lwp)
{
    buffer line = {0};
    if (lwp->latency_bits > 0)
        buffer_format(&line, ", latency of %" PRIu32 " bits", lwp->latency_bits);
    if (lwp->latency_bits > 0 && lwp->latency_rounding > 0)
        buffer_format(&line, ", the lowest %" PRIu32 " rounded off", lwp->latency_rounding);
    buffer_string(&line, lwp->has_data_address ? ", address of the data" : "");
    if (line.size > 0)
        put_field(out, "cache misses", line.data + 2);
    buffer_free(&line);
}

static void put_leaf(buffer *out, const pfb_lwp_capabilities *lwp)
{
    put_line(out, "LWP version", "%" PRIu32, lwp->version);
    put_features(out, lwp);
    put_filters(out, lwp);
    put_line(out, "LWP memory",
             "control block of %" PRIu32 " bytes, intervals of %" PRIu32 " events from offset %" PRIu32
             "; records of %" PRIu32 " bytes in a ring of at least %" PRIu32 " bytes",
             lwp->control_bytes, lwp->max_events, lwp->event_offset, lwp->event_bytes, lwp->min_buffer_bytes);
    put_cache_misses(out, lwp);
    put_line(out, "8000001C", "EAX %08" PRIX32 ", EBX %08" PRIX32 ", ECX %08" PRIX32 ", EDX %08" PRIX32, lwp->eax,
             lwp->ebx, lwp->ecx, lwp->edx);
}

static void put_lwp(buffer *out, pfb_lwp_refusal refusal, const pfb_lwp_capabilities *lwp)
{
    bool has_leaf = (lwp->eax | lwp->ebx | lwp->ecx | lwp->edx) != 0;
    if (refusal == PFB_LWP_USABLE)
        put_field(out, "LWP", "supported and available");
    else
        put_line(out, "LWP", "%s: %s (%s)",
                 pfb_lwp_is_supported(refusal) ? "supported, not available" : "not supported",
                 pfb_lwp_refusal_text(refusal), pfb_lwp_refusal_name(refusal));
    if (has_leaf && refusal != PFB_LWP_NOT_AMD && refusal != PFB_LWP_NO_LEAF)
        put_leaf(out, lwp);
}

/* ---- Groups ---------------------------------------------------------------------------------------------- */

static bool is_same(const buffer *left, const buffer *right)
{
    return left->size == right->size && memcmp(left->data, right->data, left->size) == 0;
}

/* Returns the group with this name and description, and creates it if necessary. Compares only the last MAX_COMPARED
 * groups, so that the work is linear in the number of CPUs. If an equal group precedes them, a second group with the
 * same content is created. Takes ownership of both buffers. */
static cpuid_group *find_group(cpuid_text *text, buffer *name, buffer *description)
{
    for (size_t i = text->count; i > 0 && text->count - i < MAX_COMPARED; i--) {
        cpuid_group *group = &text->groups[i - 1];
        if (!is_same(&group->name, name) || !is_same(&group->description, description))
            continue;
        buffer_free(name);
        buffer_free(description);
        return group;
    }
    text->groups = memory_grow(text->groups, &text->capacity, text->count + 1, sizeof *text->groups);
    text->groups[text->count] = (cpuid_group){.name = *name, .description = *description};
    return &text->groups[text->count++];
}

void cpuid_text_add(cpuid_text *text, uint32_t number, const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0,
                    pfb_lwp_refusal refusal, const pfb_lwp_capabilities *lwp)
{
    pfb_cpuid_identity identity;
    buffer name = {0};
    buffer description = {0};
    pfb_cpuid_identify(cpuid, &identity);
    buffer_clear(&name);
    text_safe(&name, identity.name, strlen(identity.name));
    put_identity(&description, cpuid, xcr0);
    put_lwp(&description, refusal, lwp);
    cpuid_group *group = find_group(text, &name, &description);
    group->numbers = memory_grow(group->numbers, &group->capacity, group->count + 1, sizeof *group->numbers);
    group->numbers[group->count++] = number;
}

/* Appends the numbers of the CPUs of a group as ranges: "0-3, 6". */
static void put_numbers(buffer *out, const cpuid_group *group)
{
    for (size_t i = 0; i < group->count;) {
        size_t end = i + 1;
        while (end < group->count && group->numbers[end] == group->numbers[end - 1] + 1)
            end++;
        buffer_format(out, "%s%" PRIu32, i > 0 ? ", " : "", group->numbers[i]);
        if (end - i > 1)
            buffer_format(out, "-%" PRIu32, group->numbers[end - 1]);
        i = end;
    }
}

void cpuid_text_print(cpuid_text *text, output *out)
{
    for (size_t i = 0; i < text->count; i++) {
        cpuid_group *group = &text->groups[i];
        buffer line = {0};
        buffer_string(&line, i > 0 ? "\n" : "");
        buffer_string(&line, group->count > 1 ? "CPUs " : "CPU ");
        put_numbers(&line, group);
        buffer_format(&line, "%s%s\n", group->name.size > 0 ? ": " : "", group->name.data);
        output_raw(out, line.data, line.size);
        output_raw(out, group->description.data, group->description.size);
        buffer_free(&line);
        buffer_free(&group->name);
        buffer_free(&group->description);
        free(group->numbers);
    }
    free(text->groups);
    *text = (cpuid_text){0};
}
