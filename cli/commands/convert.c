/* SPDX-License-Identifier: MIT */
#include "commands/convert_files.h"

#include "commands.h"
#include "commands/cook.h"
#include "commands/output_file.h"
#include "output/diagnostics.h"

#include <string.h>

/* The format of an output file by the ending of its name. */
static const struct {
    const char *ending;
    output_format format;
} endings[] = {{".pfb", OUTPUT_CAPTURE}, {".json", OUTPUT_JSON},   {".jsonl", OUTPUT_JSON},
               {".csv", OUTPUT_PDH_CSV}, {".tsv", OUTPUT_PDH_TSV}, {NULL, OUTPUT_NONE}};

/* Ignores the case of `a`; `b` is in lower case. */
static bool is_letter_equal(char a, char b)
{
    return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
}

static bool ends_with(const char *path, const char *ending)
{
    size_t size = strlen(path);
    size_t length = strlen(ending);
    bool is_equal = size > length;
    for (size_t i = 0; i < length && is_equal; i++)
        is_equal = is_letter_equal(path[size - length + i], ending[i]);
    return is_equal;
}

/* The format of --format, or without it the format that the ending of the output's name selects; OUTPUT_NONE if the
 * ending is unknown. */
static output_format choose_format(const options *o)
{
    if (o->has_format)
        return o->format;
    size_t i = 0;
    while (endings[i].ending && !ends_with(o->output_path, endings[i].ending))
        i++;
    return endings[i].format;
}

/* Writes displayed values, as cook does. */
static void convert_values(const options *o, output_format format)
{
    output out;
    output_open(&out, format, false);
    if (output_file_open(o))
        cook_files(o, &out);
    output_file_close(o, &out);
}

void command_convert(const options *o)
{
    output_format format = choose_format(o);
    if (format == OUTPUT_NONE)
        diagnostics_say(STATUS_USAGE, o->output_path,
                        "unknown ending: expected .pfb, .json, .jsonl, .csv or .tsv, or --format");
    else if (format == OUTPUT_CAPTURE)
        convert_files(o);
    else
        convert_values(o, format);
}
