/* SPDX-License-Identifier: MIT */
#include "input/options.h"

#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "perfblock/cpi/hooks.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* Each takes the argument into the options and returns null, or says what is wrong with it. */
typedef const char *take_value(options *o, const char *value);

static const char *const format_names[] = {[OUTPUT_NONE] = "",
                                           [OUTPUT_TEXT] = "text",
                                           [OUTPUT_JSON] = "json",
                                           [OUTPUT_CSV] = "csv",
                                           [OUTPUT_PROMETHEUS] = "prometheus"};

enum { FORMAT_COUNT = sizeof format_names / sizeof format_names[0] };

static const char *take_format(options *o, const char *value)
{
    for (size_t i = OUTPUT_TEXT; i < FORMAT_COUNT; i++) {
        if (strcmp(value, format_names[i]) == 0) {
            o->format = (output_format)i;
            return NULL;
        }
    }
    return "expected text, json, csv or prometheus";
}

static const char *take_kind(options *o, const char *value)
{
    if (input_kind_named(value, &o->kind))
        return NULL;
    return "expected auto, data, registration, strings, identifiers, instances, guids, v1, names, lwp, cpi or capture";
}

/* A decimal number from `least` to `most`. */
static bool read_number(const char *value, uint64_t least, uint64_t most, uint64_t *number)
{
    uint64_t read = 0;
    for (const char *c = value; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || read > (UINT64_MAX - 9) / 10)
            return false;
        read = read * 10 + (uint64_t)(*c - '0');
    }
    *number = read;
    return *value != '\0' && read >= least && read <= most;
}

static const char *take_request(options *o, const char *value)
{
    uint64_t number = 0;
    if (!read_number(value, 1, 10, &number))
        return "expected a request code from 1 to 10";
    o->request = (uint32_t)number;
    return NULL;
}

static const char *take_strict(options *o, const char *value)
{
    (void)value;
    o->reader |= PFB_STRICT;
    return NULL;
}

static const char *take_names(options *o, const char *value)
{
    o->names = value;
    return NULL;
}

static const char *take_color(options *o, const char *value)
{
    if (strcmp(value, "auto") == 0)
        o->color = COLOR_AUTO;
    else if (strcmp(value, "always") == 0)
        o->color = COLOR_ALWAYS;
    else if (strcmp(value, "never") == 0)
        o->color = COLOR_NEVER;
    else
        return "expected auto, always or never";
    return NULL;
}

static const char *take_set(options *o, const char *value)
{
    o->sets[o->set_count++] = value;
    return NULL;
}

static const char *take_counter(options *o, const char *value)
{
    o->counters[o->counter_count++] = value;
    return NULL;
}

static const char *take_instance(options *o, const char *value)
{
    o->instance = value;
    return NULL;
}

static const char *take_interval(options *o, const char *value)
{
    const double least = 0.01;
    const double most = 1e7;
    char *end = NULL;
    /* No sign, space or word, and no hexadecimal fraction. */
    bool is_number = *value >= '.' && *value <= '9' && !strpbrk(value, "xX");
    double seconds = is_number ? strtod(value, &end) : 0;
    if (!is_number || *end != '\0' || !(seconds >= least && seconds <= most))
        return "expected seconds, from 0.01 to 10000000";
    o->interval = (uint64_t)(seconds * 1e9);
    return NULL;
}

static const char *take_count(options *o, const char *value)
{
    return read_number(value, 1, UINT64_MAX - 1, &o->count) ? NULL : "expected a number from 1 up";
}

static const char *take_source(options *o, const char *value)
{
    o->source = strcmp(value, "live") == 0 ? NULL : value;
    return NULL;
}

static const char *take_file(options *o, const char *value)
{
    o->capture = value;
    return NULL;
}

static const char *take_recording(options *o, const char *value)
{
    if (strcmp(value, "-") == 0)
        return "a capture is appended to a file, not to standard output";
    o->recording = value;
    return NULL;
}

/* Bytes, or KiB, MiB and GiB by their letters. */
static const char *take_rotation(options *o, const char *value)
{
    static const char letters[] = "KMG";
    char digits[24];
    size_t size = strlen(value);
    const char *letter = size > 0 ? strchr(letters, value[size - 1]) : NULL;
    unsigned shift = letter ? 10 * (unsigned)(letter - letters + 1) : 0;
    size_t count = letter ? size - 1 : size;
    uint64_t number = 0;
    if (count < sizeof digits)
        snprintf(digits, sizeof digits, "%.*s", (int)count, value);
    if (count >= sizeof digits || !read_number(digits, 1, INT64_MAX >> shift, &number))
        return "expected a number of bytes from 1 up, or one that ends in K, M or G";
    o->rotation = number << shift;
    return NULL;
}

static const char *take_sample(options *o, const char *value)
{
    uint64_t bits = 0;
    if (!read_number(value, 1, 64, &bits) || (bits != 32 && bits != 64))
        return "expected 32 or 64";
    o->sample = (unsigned)bits;
    return NULL;
}

static const char *take_minor(options *o, const char *value)
{
    uint64_t number = 0;
    if (!read_number(value, 0, 255, &number))
        return "expected a code from 0 to 255";
    o->minor = (uint32_t)number;
    return NULL;
}

static const char *take_label(options *o, const char *value)
{
    size_t size = strlen(value);
    if (size < 1 || size > PFB_CPI_MOST_LABEL_BYTES)
        return "expected 1 to 255 bytes";
    o->label = value;
    return NULL;
}

static const char *take_help(options *o, const char *value)
{
    (void)value;
    o->wants_help = true;
    return NULL;
}

static const char *take_version(options *o, const char *value)
{
    (void)value;
    o->wants_version = true;
    return NULL;
}

/* ---- The table ------------------------------------------------------------------------------------------- */

typedef struct option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* null: takes none */
    uint32_t commands;
    const char *help; /* null: not listed */
    take_value *take;
} option_row;

enum {
    READS_FILES = COMMAND_SHOW | COMMAND_CHECK | COMMAND_COOK,
    COLLECTS = COMMAND_LIVE | COMMAND_RECORD,
    PRINTS = COMMAND_ALL & ~COMMAND_RECORD
};

static const option_row rows[] = {
    {"format", 0, "FORMAT", PRINTS, "of the output: ", take_format},
    {"kind", 0, "KIND", READS_FILES,
     "what the files hold: auto (default), data, registration, strings,\nidentifiers, instances, guids, v1, names, "
     "lwp,\n"
     "cpi, capture",
     take_kind},
    {"request", 0, "N", COMMAND_SHOW | COMMAND_CHECK, "the request code (1-10) that a registration answers",
     take_request},
    {"strict", 0, NULL, READS_FILES | COMMAND_LWP_SHOW,
     "refuse whatever the format forbids, also what providers are known to do", take_strict},
    {"names", 0, "FILE", COMMAND_SHOW | COMMAND_COOK | COMMAND_COUNTERSETS,
     "name table of V1 objects and counters: a multi-string in UTF-16,\nor text with an index and a name per line",
     take_names},
    {"set", 0, "PATTERN|GUID", COLLECTS,
     "counterset by name, with * and ?; may be repeated\n(default: Processor Information)", take_set},
    {"instance", 0, "PATTERN", COLLECTS, "instances by name, with * and ? (default: all)", take_instance},
    {"counter", 0, "PATTERN|ID", COLLECTS, "counter by name, with * and ?; may be repeated (default: all)",
     take_counter},
    {"interval", 0, "SECONDS", COLLECTS, "between samples (default: 1)", take_interval},
    {"count", 0, "N", COLLECTS, "how many (default: until interrupted)", take_count},
    {"source", 0, "live|FILE", COLLECTS | COMMAND_CPI_RUN, "this machine (default), or a recording to replay",
     take_source},
    {"file", 0, "FILE", COMMAND_COUNTERSETS, "what a capture or V1 blocks offer instead of this machine", take_file},
    {"sample", 0, "32|64", COMMAND_LWP_MODEL, "the documented sample program, as a build of so many bits", take_sample},
    {"minor", 0, "N", COMMAND_CPI_RUN, "the code (0-255) that the hooks carry (default: 1)", take_minor},
    {"label", 0, "TEXT", COMMAND_CPI_RUN, "what the hooks begin and end with: 1 to 255 bytes (default: nothing)",
     take_label},
    {"output", 'o', "FILE", COMMAND_RECORD | COMMAND_LWP_MODEL | COMMAND_CPI_RUN, "the capture to write or to continue",
     take_recording},
    {"rotate", 0, "SIZE", COMMAND_RECORD,
     "when the file would grow beyond so many bytes (K, M, G: KiB and so on),\nit becomes FILE.1, FILE.2 and so on",
     take_rotation},
    {"color", 0, "WHEN", COMMAND_ALL, "auto (default), always or never", take_color},
    {"help", 'h', NULL, COMMAND_ALL, "this text", take_help},
    {"version", 0, NULL, COMMAND_ALL, "the version of the program", take_version},
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* ---- Parsing --------------------------------------------------------------------------------------------- */

/* Both forms getopt_long wants; every option of every command, so that a misplaced one can be told from a wrong one. */
static void fill_getopt(const command *c, struct option long_options[ROW_COUNT + 1],
                        char short_options[2 * ROW_COUNT + 4])
{
    size_t at = 0;
    if (c->files == FILES_COMMAND)
        short_options[at++] = '+'; /* what stands behind the command is its own */
    short_options[at++] = ':';
    for (size_t i = 0; i < ROW_COUNT; i++) {
        int has_argument = rows[i].argument ? required_argument : no_argument;
        long_options[i] = (struct option){.name = rows[i].name, .has_arg = has_argument, .val = (int)(256 + i)};
        if (rows[i].letter != 0) {
            short_options[at++] = rows[i].letter;
            if (rows[i].argument)
                short_options[at++] = ':';
        }
    }
    short_options[at] = '\0';
    long_options[ROW_COUNT] = (struct option){.name = NULL};
}

/* The row of what getopt_long returned, or null. */
static const option_row *find_row(int found)
{
    if (found >= 256)
        return &rows[found - 256];
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].letter != 0 && rows[i].letter == found)
            return &rows[i];
    }
    return NULL;
}

static bool refuse(const command *c, const char *argument, const char *sentence)
{
    diagnostics_say(STATUS_USAGE, "perfblock", "%s: %s: %s (perfblock %s --help)", c->name, argument, sentence,
                    c->name);
    return false;
}

static bool take_option(options *o, const command *c, int found, const char *argument)
{
    const option_row *row = find_row(found);
    char name[32];
    if (!row)
        return refuse(c, argument, found == ':' ? "needs a value" : "there is no such option");
    snprintf(name, sizeof name, "--%s", row->name);
    if (!(row->commands & (uint32_t)c->bit))
        return refuse(c, name, "is not for this command");
    const char *wrong = row->take(o, optarg);
    if (wrong)
        diagnostics_say(STATUS_USAGE, "perfblock", "%s: %s %s: %s", c->name, name, optarg, wrong);
    return !wrong;
}

/* The first format that the command writes. */
static output_format default_format(const command *c)
{
    return c->formats & WRITES_TEXT ? OUTPUT_TEXT : c->formats & WRITES_JSON ? OUTPUT_JSON : OUTPUT_CSV;
}

static bool check_files(const options *o, const command *c)
{
    if (c->files == FILES_MANY && o->file_count == 0)
        return refuse(c, "FILE", "none was given (- is standard input)");
    if (c->files == FILES_COMMAND && o->file_count == 0)
        return refuse(c, "COMMAND", "is missing: what is to be measured");
    if (c->files == FILES_NONE && o->file_count > 0)
        return refuse(c, o->files[0], "this command takes no files");
    if (c->files == FILES_ONE && o->file_count > 1)
        return refuse(c, o->files[1], "this command takes one file");
    return true;
}

static bool check_format(const options *o, const command *c)
{
    char name[32];
    snprintf(name, sizeof name, "--format %s", format_names[o->format]);
    return c->formats & 1u << o->format || refuse(c, name, "makes no sense for this command");
}

static bool is_cookable(input_kind kind)
{
    return kind == INPUT_AUTO || kind == INPUT_DATA || kind == INPUT_V1 || kind == INPUT_CAPTURE;
}

/* What only the whole line tells. */
static bool check_whole(const options *o, const command *c)
{
    if (o->wants_help || o->wants_version)
        return true;
    if (!check_files(o, c) || !check_format(o, c))
        return false;
    if (o->kind == INPUT_REGISTRATION && o->request == 0 && c->bit != COMMAND_COOK)
        return refuse(c, "--kind registration", "needs --request as well");
    if (o->request != 0 && o->kind != INPUT_REGISTRATION)
        return refuse(c, "--request", "goes with --kind registration");
    if (c->bit == COMMAND_COOK && !is_cookable(o->kind))
        return refuse(c, "--kind", "only data, v1 and captures can be cooked");
    if (o->format == OUTPUT_PROMETHEUS && o->count > 1)
        return refuse(c, "--count", "metrics are those of one sample");
    if (c->bit == COMMAND_LWP_MODEL && o->sample == 0)
        return refuse(c, "--sample", "is missing: 32 or 64");
    if (c->bit == COMMAND_RECORD && !o->recording)
        return refuse(c, "-o", "the file to write is missing");
    return true;
}

bool options_parse(options *o, const command *c, int argc, char **argv)
{
    struct option long_options[ROW_COUNT + 1];
    char short_options[2 * ROW_COUNT + 4];
    *o = (options){.format = default_format(c), .interval = UINT64_C(1000000000), .minor = 1};
    o->sets = memory_get((size_t)argc, sizeof *o->sets);
    o->counters = memory_get((size_t)argc, sizeof *o->counters);
    fill_getopt(c, long_options, short_options);
    opterr = 0;
    int found = 0;
    while (true) {
        int at = optind;
        found = getopt_long(argc, argv, short_options, long_options, NULL);
        if (found == -1)
            break;
        const char *argument = optind > at && optind <= argc ? argv[optind - 1] : argv[at];
        if (!take_option(o, c, found, argument))
            return false;
    }
    o->files = argv + optind;
    o->file_count = (size_t)(argc - optind);
    if (o->format == OUTPUT_PROMETHEUS && o->count == 0)
        o->count = 1;
    return check_whole(o, c);
}

void options_free(options *o)
{
    free(o->sets);
    free(o->counters);
}

bool options_color(const options *o)
{
    return o->color == COLOR_ALWAYS || (o->color == COLOR_AUTO && system_is_terminal(SYSTEM_OUTPUT));
}

/* ---- Help ------------------------------------------------------------------------------------------------ */

/* The formats of a command, its default marked where there is a choice. */
static void describe_formats(buffer *out, const command *c)
{
    const char *separator = "";
    for (size_t i = OUTPUT_TEXT; i < FORMAT_COUNT; i++) {
        if (!(c->formats & 1u << i))
            continue;
        bool is_choice = c->formats != 1u << i;
        buffer_format(out, "%s%s%s", separator, format_names[i],
                      i == default_format(c) && is_choice ? " (default)" : "");
        separator = ", ";
    }
}

void options_describe(buffer *out, const command *c)
{
    enum { HELP_COLUMN = 24 };
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const option_row *row = &rows[i];
        if (!(row->commands & (uint32_t)c->bit) || !row->help)
            continue;
        size_t start = out->size;
        buffer_string(out, "  ");
        if (row->letter != 0)
            buffer_format(out, "-%c, ", row->letter);
        buffer_format(out, "--%s%s%s", row->name, row->argument ? " " : "", row->argument ? row->argument : "");
        size_t used = out->size - start;
        buffer_spaces(out, used < HELP_COLUMN ? HELP_COLUMN - used : 1);
        for (const char *text = row->help; *text != '\0'; text++) {
            buffer_bytes(out, text, 1);
            if (*text == '\n')
                buffer_spaces(out, HELP_COLUMN);
        }
        if (row->take == take_format)
            describe_formats(out, c);
        buffer_string(out, "\n");
    }
}
