/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "names/names.h"
#include "os/system.h"
#include "output/table.h"
#include "perfblock/formula.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns the number of bytes of the raw value, as text. */
static const char *size_text(const pfb_counter_type *type)
{
    static const char *const words[] = {
        [PFB_RAW_DWORD] = "4", [PFB_RAW_LARGE] = "8", [PFB_RAW_ZERO] = "0", [PFB_RAW_VARIABLE] = "variable"};
    return words[type->raw_size];
}

static const char *base_name(const pfb_counter_type *type)
{
    const pfb_counter_type *base = type->base != 0 ? pfb_counter_type_find(type->base) : NULL;
    return base ? base->name : NULL;
}

/* Finds other names and values that the library accepts for the type. Returns their number. */
static size_t find_aliases(const pfb_counter_type *type, const char *aliases[2])
{
    static const struct {
        const char *name;
        uint32_t value; /* 0: the alias is a name */
    } known_aliases[] = {{"PERF_PRECISION_TIMESTAMP", 0}, {"0x40030503", 0x40030503}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof known_aliases / sizeof known_aliases[0]; i++) {
        const pfb_counter_type *found =
            known_aliases[i].value != 0 ? pfb_counter_type_find(known_aliases[i].value)
                                        : pfb_counter_type_named(known_aliases[i].name, strlen(known_aliases[i].name));
        if (found == type)
            aliases[count++] = known_aliases[i].name;
    }
    return count;
}

static void write_record(output *out, const pfb_counter_type *type)
{
    char hex[16];
    const char *aliases[2];
    snprintf(hex, sizeof hex, "0x%08" PRIX32, type->value);
    output_begin(out, NULL, 0);
    output_string(out, "name", type->name);
    output_unsigned(out, "value", type->value);
    output_string(out, "hex", hex);
    if (type->raw_size == PFB_RAW_VARIABLE)
        output_null(out, "size");
    else
        output_unsigned(out, "size", type->raw_size == PFB_RAW_LARGE ? 8 : type->raw_size == PFB_RAW_DWORD ? 4 : 0);
    output_unsigned(out, "samples", type->samples);
    output_string(out, "clock", names_of_clock(type->clock));
    output_string(out, "unit", pfb_unit_text((pfb_unit)type->unit));
    if (base_name(type))
        output_string(out, "base", base_name(type));
    else
        output_null(out, "base");
    output_string(out, "formula", type->formula);
    output_names(out, "aliases", aliases, find_aliases(type, aliases));
    output_end(out);
}

/* Returns the name of the base without the common prefix, which makes the table narrower. */
static const char *short_base(const pfb_counter_type *type)
{
    static const char prefix[] = "PERF_";
    const char *name = base_name(type);
    if (!name)
        return "";
    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

static void put_cell(table *t, const char *text)
{
    const char *shown = *text != '\0' ? text : "-";
    table_cell(t, shown, strlen(shown));
}

static void print_table(output *out)
{
    static const char *const headings[] = {"name", "value", "bytes", "samples", "clock", "unit", "formula", "base"};
    const pfb_counter_type *type;
    table t;
    table_open(&t, sizeof headings / sizeof headings[0], true);
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        put_cell(&t, headings[i]);
    for (size_t i = 0; (type = pfb_counter_type_at(i)) != NULL; i++) {
        char hex[16];
        char samples[16] = "";
        snprintf(hex, sizeof hex, "0x%08" PRIX32, type->value);
        if (type->samples > 0)
            snprintf(samples, sizeof samples, "%u", type->samples);
        put_cell(&t, type->name);
        put_cell(&t, hex);
        put_cell(&t, size_text(type));
        put_cell(&t, samples);
        put_cell(&t, names_of_clock(type->clock));
        put_cell(&t, pfb_unit_text((pfb_unit)type->unit));
        put_cell(&t, type->formula);
        put_cell(&t, short_base(type));
    }
    table_print(&t, out, system_columns());
}

void command_types(const options *o)
{
    output out;
    const pfb_counter_type *type;
    output_open(&out, o->format, options_color(o));
    if (o->format == OUTPUT_TEXT)
        print_table(&out);
    for (size_t i = 0; o->format != OUTPUT_TEXT && (type = pfb_counter_type_at(i)) != NULL; i++)
        write_record(&out, type);
    output_close(&out);
}
