/* SPDX-License-Identifier: MIT */
#include "input/options.h"

#include "input/suggest.h"
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "perfblock/cpi/hooks.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* The words that options accept, and the functions for the member `store` of command_option. */

/* In the order of output_format, from OUTPUT_TEXT on. default_format() returns the default. */
static const char *const format_words[] = {"text",       "json", "csv",  "pdh-csv", "pdh-tsv",
                                           "prometheus", "pfb",  "html", NULL};

static const char *const color_words[] = {"auto", "always", "never", NULL}; /* in the order of color_choice */
static const char *const sample_words[] = {"32", "64", NULL};
static const char *const generate_words[] = {"man", "bash", "zsh", "fish", NULL};

/* Finds a word in a list. False if the list does not have it. */
static bool find_word(const char *const *words, const char *value, size_t *index)
{
    for (size_t i = 0; words[i]; i++) {
        if (strcmp(value, words[i]) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

static bool store_format(options *o, const char *value)
{
    size_t i = 0;
    bool is_word = find_word(format_words, value, &i);
    o->format = (output_format)(OUTPUT_TEXT + i);
    o->has_format = true;
    return is_word;
}

static bool store_kind(options *o, const char *value)
{
    size_t i = 0;
    bool is_word = find_word(input_kind_names, value, &i);
    o->kind = (input_kind)i;
    return is_word;
}

/* Reads a decimal number from `min` to `max`. */
static bool read_number(const char *value, uint64_t min, uint64_t max, uint64_t *number)
{
    uint64_t read = 0;
    for (const char *c = value; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || read > (UINT64_MAX - 9) / 10)
            return false;
        read = read * 10 + (uint64_t)(*c - '0');
    }
    *number = read;
    return *value != '\0' && read >= min && read <= max;
}

static bool store_request(options *o, const char *value)
{
    uint64_t number = 0;
    bool is_code = read_number(value, 1, 10, &number);
    o->request = (uint32_t)number;
    return is_code;
}

static bool store_strict(options *o, const char *value)
{
    (void)value;
    o->reader.is_strict = true;
    return true;
}

static bool store_names(options *o, const char *value)
{
    o->names = value;
    return true;
}

/* The argument is a file, or a request code of 1 or 2 digits, a colon and a file. A path that begins with a drive, such
 * as "C:", has no code. */
static bool store_registration(options *o, const char *value)
{
    size_t digits = strspn(value, "0123456789");
    bool has_code = digits > 0 && value[digits] == ':';
    registration_option *registration = &o->registrations[o->registration_count++];
    *registration = (registration_option){.request = 1, .path = has_code ? value + digits + 1 : value};
    if (has_code)
        registration->request = digits > 2 ? 0 : (uint32_t)strtoul(value, NULL, 10);
    return registration->request >= 1 && registration->request <= 10 && *registration->path != '\0';
}

static bool store_query_info(options *o, const char *value)
{
    o->query_info = value;
    return true;
}

static bool store_color(options *o, const char *value)
{
    size_t i = 0;
    bool is_word = find_word(color_words, value, &i);
    o->color = (color_choice)i;
    return is_word;
}

static bool store_set(options *o, const char *value)
{
    o->sets[o->set_count++] = value;
    return true;
}

static bool store_counter(options *o, const char *value)
{
    o->counters[o->counter_count++] = value;
    return true;
}

static bool store_instance(options *o, const char *value)
{
    o->instances[o->instance_count++] = value;
    return true;
}

static bool store_path(options *o, const char *value)
{
    o->paths[o->path_count++] = value;
    return true;
}

static bool store_path_file(options *o, const char *value)
{
    o->path_files[o->path_file_count++] = value;
    return true;
}

/* Reads a number of seconds, which is stored as nanoseconds. */
static bool read_seconds(const char *value, uint64_t *nanoseconds)
{
    const double min = 0.01;
    const double max = 1e7;
    char *end = NULL;
    /* strtod() also accepts signs, white space, words and hexadecimal. */
    bool is_number = *value >= '.' && *value <= '9' && !strpbrk(value, "xX");
    double seconds = is_number ? strtod(value, &end) : 0;
    if (!is_number || *end != '\0' || !(seconds >= min && seconds <= max))
        return false;
    *nanoseconds = (uint64_t)(seconds * 1e9);
    return true;
}

#define DEFAULT_INTERVAL UINT64_C(1000000000) /* nanoseconds */

static bool store_interval(options *o, const char *value)
{
    o->has_interval = true;
    return read_seconds(value, &o->interval);
}

static bool store_duration(options *o, const char *value)
{
    return read_seconds(value, &o->duration);
}

static bool store_count(options *o, const char *value)
{
    return read_number(value, 1, UINT64_MAX - 1, &o->count);
}

static bool store_from(options *o, const char *value)
{
    return time_option_read(value, &o->range.from);
}

static bool store_to(options *o, const char *value)
{
    return time_option_read(value, &o->range.to);
}

static bool store_every(options *o, const char *value)
{
    return read_number(value, 1, UINT64_MAX - 1, &o->range.every);
}

static bool store_source(options *o, const char *value)
{
    if (strcmp(value, "live") == 0) {
        o->is_live = true;
        return true;
    }
    if (!o->source)
        o->source = value;
    char *source = memory_get(strlen(value) + 1, 1);
    memcpy(source, value, strlen(value) + 1);
    o->sources[o->source_count++] = source;
    return true;
}

static bool store_machine(options *o, const char *value)
{
    o->machine = value;
    return *value != '\0';
}

static bool store_v1(options *o, const char *value)
{
    (void)value;
    o->is_v1 = true;
    return true;
}

static bool store_output(options *o, const char *value)
{
    o->output_path = value;
    return strcmp(value, "-") != 0;
}

/* Reads a number of bytes, or of KiB, MiB or GiB with the suffix K, M or G. */
static bool store_rotate(options *o, const char *value)
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
        return false;
    o->rotation = number << shift;
    return true;
}

static bool store_sample(options *o, const char *value)
{
    uint64_t bits = 0;
    bool is_number = read_number(value, 32, 64, &bits);
    o->sample_bits = (unsigned)bits;
    return is_number && (bits == 32 || bits == 64);
}

static bool store_minor(options *o, const char *value)
{
    uint64_t number = 0;
    bool is_code = read_number(value, 0, 255, &number);
    o->minor = (uint32_t)number;
    return is_code;
}

static bool store_label(options *o, const char *value)
{
    size_t size = strlen(value);
    o->label = value;
    return size >= 1 && size <= PFB_CPI_MAX_LABEL_BYTES;
}

static bool store_generate(options *o, const char *value)
{
    size_t i = 0;
    o->generated = value;
    return find_word(generate_words, value, &i);
}

static bool store_quiet(options *o, const char *value)
{
    (void)value;
    o->is_quiet = true;
    return true;
}

static bool store_nonzero(options *o, const char *value)
{
    (void)value;
    o->is_nonzero = true;
    return true;
}

static bool store_summary(options *o, const char *value)
{
    (void)value;
    o->is_summary = true;
    return true;
}

static bool store_sort(options *o, const char *value)
{
    o->sort = value;
    return *value != '\0';
}

static bool store_top(options *o, const char *value)
{
    return read_number(value, 1, UINT64_MAX - 1, &o->top);
}

static bool store_utc(options *o, const char *value)
{
    (void)value;
    o->is_utc = true;
    o->range.is_utc = true;
    return true;
}

static bool store_follow(options *o, const char *value)
{
    (void)value;
    o->is_followed = true;
    return true;
}

static bool store_force(options *o, const char *value)
{
    (void)value;
    o->is_forced = true;
    return true;
}

static bool store_open(options *o, const char *value)
{
    (void)value;
    o->opens_page = true;
    return true;
}

static bool store_help(options *o, const char *value)
{
    (void)value;
    o->wants_help = true;
    return true;
}

static bool store_version(options *o, const char *value)
{
    (void)value;
    o->wants_version = true;
    return true;
}

/* ---- The table ------------------------------------------------------------------------------------------- */

enum {
    WRITES_PAGE = COMMAND_REPORT | COMMAND_SHOW,
    READS_FILES = COMMAND_CHECK | COMMAND_COOK | COMMAND_CONVERT | WRITES_PAGE,
    COLLECTS = COMMAND_LIVE | COMMAND_RECORD,
    QUERIES = COLLECTS | COMMAND_COUNTERSETS,
    MAY_COLLECT = COLLECTS | COMMAND_REPORT, /* report collects only with --source live */
    CHOOSES = COLLECTS | COMMAND_COOK | COMMAND_CONVERT | COMMAND_REPORT,
    PRINTS = COMMAND_ALL & ~(COMMAND_RECORD | COMMAND_HELP | COMMAND_REPORT),
    PRINTS_TABLES = COMMAND_COOK | COMMAND_LIVE | COMMAND_TYPES,
    /* Commands that print notes or progress on standard error. */
    HAS_NOTES =
        READS_FILES | COMMAND_EVAL | QUERIES | COMMAND_LWP_SHOW | COMMAND_LWP_MODEL | COMMAND_CPI_SHOW | COMMAND_CPI_RUN
};

/* In the order in which help lists them. */
static const command_option table[] = {
    {.name = "format",
     .letter = 'f',
     .argument = "FORMAT",
     .commands = PRINTS,
     .meaning = "output format",
     .words = format_words,
     .has_default = true,
     .store = store_format},
    {.name = "kind",
     .argument = "KIND",
     .commands = READS_FILES | COLLECTS,
     .meaning = "what the files contain",
     .words = input_kind_names,
     .has_default = true,
     .store = store_kind},
    {.name = "request",
     .argument = "N",
     .commands = COMMAND_SHOW | COMMAND_CHECK,
     .meaning = "with --kind registration: the request code, 1 to 10, that the reply answers",
     .expected = "a request code from 1 to 10",
     .example = "1",
     .store = store_request},
    {.name = "strict",
     .commands = READS_FILES | QUERIES | COMMAND_LWP_SHOW,
     .meaning = "reject everything that the format forbids, including what real providers write",
     .store = store_strict},
    {.name = "names",
     .argument = "FILE",
     .commands = COMMAND_COOK | COMMAND_CONVERT | COLLECTS | COMMAND_COUNTERSETS | WRITES_PAGE,
     .meaning = "name table for V1 objects and counters: the registry's multi-string, or text with an index and a name "
                "per line",
     .takes_file = true,
     .is_single = true,
     .store = store_names},
    {.name = "registration",
     .argument = "[CODE:]FILE",
     .commands = COMMAND_COOK | COMMAND_CONVERT | COMMAND_REPORT | COLLECTS,
     .meaning = "for V2 replies without metadata: the reply to a registration request; CODE is the request code, 1 by "
                "default; give replies of other codes after the reply of code 1 of their counterset; repeatable",
     .expected = "a file, after a request code from 1 to 10 and a colon or alone",
     .example = "5:names.bin",
     .takes_file = true,
     .store = store_registration},
    {.name = "query-info",
     .argument = "FILE",
     .commands = COMMAND_COOK | COMMAND_CONVERT | COMMAND_REPORT | COLLECTS,
     .meaning = "for V2 replies without metadata: the reply of PerfQueryCounterInfo",
     .takes_file = true,
     .is_single = true,
     .store = store_query_info},
    {.name = "path",
     .argument = "PATH",
     .commands = CHOOSES,
     .meaning = "counter path, in which names may contain * and ?; repeatable",
     .example = "\"\\Processor Information(*)\\% Processor Time\"",
     .store = store_path},
    {.name = "paths",
     .argument = "FILE",
     .commands = CHOOSES,
     .meaning = "file with a counter path per line; repeatable",
     .takes_file = true,
     .store = store_path_file},
    {.name = "set",
     .argument = "NAME|GUID",
     .commands = CHOOSES,
     .meaning = "counterset; a name may contain * and ?; repeatable; default: all for files that cook, convert and "
                "report read, otherwise Processor Information",
     .example = "\"Network Interface\"",
     .store = store_set},
    {.name = "instance",
     .argument = "PATTERN",
     .commands = CHOOSES,
     .meaning = "instances by name, which may contain * and ?; repeatable; default: all",
     .example = "\"0,*\"",
     .store = store_instance},
    {.name = "counter",
     .argument = "NAME|ID",
     .commands = CHOOSES,
     .meaning = "counter; a name may contain * and ?; repeatable; default: all",
     .example = "\"% Processor Time\"",
     .store = store_counter},
    {.name = "from",
     .argument = "TIME",
     .commands = CHOOSES,
     .meaning = "leave out the samples of a recording before this time: RFC 3339 with Z or an offset, the same without "
                "them for local time, or only a time of day, which is on the day of the first sample",
     .expected = TIME_EXPECTED,
     .example = "2026-11-23T04:05:00",
     .is_single = true,
     .store = store_from},
    {.name = "to",
     .argument = "TIME",
     .commands = CHOOSES,
     .meaning = "leave out the samples of a recording after this time",
     .expected = TIME_EXPECTED,
     .example = "04:15",
     .is_single = true,
     .store = store_to},
    {.name = "every",
     .argument = "N",
     .commands = CHOOSES,
     .meaning =
         "use only the first sample of a recording and every N-th after it; rates are then averages over N intervals",
     .expected = "a number from 1 up",
     .example = "10",
     .is_single = true,
     .store = store_every},
    {.name = "interval",
     .letter = 'i',
     .argument = "SECONDS",
     .commands = MAY_COLLECT,
     .meaning = "time between samples, 0.01 or more; default: 1; a recording is read without waiting",
     .expected = "a number of seconds from 0.01 to 10000000",
     .example = "0.5",
     .store = store_interval},
    {.name = "count",
     .letter = 'n',
     .argument = "N",
     .commands = MAY_COLLECT,
     .meaning = "number of samples; default: until interrupted; 1 for live as prometheus without -o and --duration",
     .expected = "a number from 1 up",
     .example = "60",
     .store = store_count},
    {.name = "duration",
     .argument = "SECONDS",
     .commands = MAY_COLLECT,
     .meaning = "end after this time, from the first sample on; default: until interrupted",
     .expected = "a number of seconds from 0.01 to 10000000",
     .example = "3600",
     .store = store_duration},
    {.name = "source",
     .argument = "live|FILE",
     .commands = QUERIES | COMMAND_REPORT | COMMAND_CPI_RUN,
     .meaning = "this machine, which is the default except for report, or a file to replay; repeatable: several files "
                "are one series",
     .takes_file = true,
     .store = store_source},
    {.name = "machine",
     .argument = "NAME",
     .commands = QUERIES | COMMAND_REPORT,
     .meaning = "Windows: another machine",
     .expected = "the name of a machine",
     .example = "server1",
     .is_single = true,
     .store = store_machine},
    {.name = "v1",
     .commands = QUERIES | COMMAND_REPORT,
     .meaning = "Windows: V1 data (HKEY_PERFORMANCE_DATA), which is also used where there is no V2 data",
     .store = store_v1},
    {.name = "file",
     .argument = "FILE",
     .commands = COMMAND_COUNTERSETS,
     .meaning = "old name of --source",
     .takes_file = true,
     .store = store_source},
    {.name = "sample",
     .argument = "BITS",
     .commands = COMMAND_LWP_MODEL,
     .meaning = "which build of the documented sample program; required",
     .words = sample_words,
     .store = store_sample},
    {.name = "minor",
     .argument = "N",
     .commands = COMMAND_CPI_RUN,
     .meaning = "minor code of the hooks, 0 to 255; default: 1",
     .expected = "a code from 0 to 255",
     .store = store_minor},
    {.name = "label",
     .argument = "TEXT",
     .commands = COMMAND_CPI_RUN,
     .meaning = "label of the hooks, 1 to 255 bytes; default: none",
     .expected = "1 to 255 bytes",
     .store = store_label},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .commands = COLLECTS | COMMAND_CONVERT | COMMAND_LWP_MODEL | COMMAND_CPI_RUN | WRITES_PAGE,
     .meaning =
         "file to write; record, lwp model and cpi run continue an existing recording; the other commands replace the "
         "file; live replaces it at each interval if it writes metrics; default of live, report and show: standard "
         "output",
     .expected = "the name of a file, not standard output",
     .takes_file = true,
     .is_single = true,
     .store = store_output},
    {.name = "rotate",
     .argument = "SIZE",
     .commands = COMMAND_RECORD,
     .meaning = "largest size of a file, in bytes or with K, M or G in KiB, MiB or GiB; a full file becomes FILE.1, "
                "FILE.2 and so on",
     .expected = "a number of bytes from 1 up, or a number followed by K, M or G",
     .example = "100M",
     .store = store_rotate},
    {.name = "force",
     .commands = COLLECTS | COMMAND_CONVERT | COMMAND_LWP_MODEL | COMMAND_CPI_RUN | WRITES_PAGE,
     .meaning =
         "replace FILE of -o if it exists; record, lwp model and cpi run otherwise continue a recording and refuse "
         "other files; the other commands need no --force",
     .store = store_force},
    {.name = "color",
     .argument = "WHEN",
     .commands = PRINTS_TABLES,
     .meaning = "emphasis in text; auto means on a terminal unless NO_COLOR is set",
     .words = color_words,
     .has_default = true,
     .store = store_color},
    {.name = "generate",
     .argument = "WHAT",
     .commands = COMMAND_HELP,
     .meaning = "print a man page or the completions of a shell instead",
     .words = generate_words,
     .store = store_generate},
    {.name = "sort",
     .argument = "COUNTER",
     .commands = COMMAND_COOK | COMMAND_LIVE,
     .meaning = "text: order instances by this counter, largest first",
     .expected = "the name of a counter",
     .example = "\"% Processor Time\"",
     .store = store_sort},
    {.name = "top",
     .argument = "N",
     .commands = COMMAND_COOK | COMMAND_LIVE | COMMAND_REPORT,
     .meaning = "text: show the N largest instances of each counterset, by the counter of --sort or else by the first; "
                "report: in each chart the N instances with the largest averages",
     .expected = "a number from 1 up",
     .example = "10",
     .store = store_top},
    {.name = "nonzero",
     .commands = COMMAND_COOK | COMMAND_LIVE,
     .meaning = "text: leave out instances whose values are all zero or missing",
     .store = store_nonzero},
    {.name = "summary",
     .commands = COMMAND_COOK,
     .meaning =
         "text, json and csv: count, minimum, average, maximum and last value per counter and instance instead of "
         "every value",
     .store = store_summary},
    {.name = "utc",
     .commands = CHOOSES,
     .meaning = "times of text, pages, pdh-csv and pdh-tsv, and those of --from and --to, in UTC instead of local time",
     .store = store_utc},
    {.name = "follow",
     .commands = COMMAND_COOK | COMMAND_SHOW,
     .meaning = "keep reading a file that is being written, until its recorder ends or the program is interrupted",
     .store = store_follow},
    {.name = "open", .commands = WRITES_PAGE, .meaning = "open the page in a browser; needs -o", .store = store_open},
    {.name = "quiet",
     .letter = 'q',
     .commands = HAS_NOTES,
     .meaning = "on standard error print only errors: no notes, no progress",
     .store = store_quiet},
    {.name = "help", .letter = 'h', .commands = COMMAND_ALL, .meaning = "print this help", .store = store_help},
    {.name = "version", .commands = COMMAND_ALL, .meaning = "print the program's version", .store = store_version},
};

enum { OPTION_COUNT = sizeof table / sizeof table[0] };

const command_option *option_at(size_t i)
{
    return i < OPTION_COUNT ? &table[i] : NULL;
}

bool option_applies(const command_option *option, const command *c)
{
    return (option->commands & (uint32_t)c->bit) != 0;
}

/* Whether the command reads files only for their samples. */
static bool cooks(const command *c)
{
    return (c->bit & CHOOSES) != 0;
}

/* Whether files of this kind contain samples. */
static bool is_cookable(input_kind kind)
{
    return kind == INPUT_AUTO || kind == INPUT_DATA || kind == INPUT_V1 || kind == INPUT_CAPTURE || kind == INPUT_LOG;
}

bool option_allows(const command_option *option, const command *c, size_t word)
{
    if (option->words == format_words)
        return (c->formats >> (OUTPUT_TEXT + word) & 1) != 0;
    return option->words != input_kind_names || !cooks(c) || is_cookable((input_kind)word);
}

bool option_has_default(const command_option *option, const command *c)
{
    return option->has_default && (option->words != format_words || c->bit != COMMAND_CONVERT);
}

/* ---- Errors ---------------------------------------------------------------------------------------------- */

/* Prints "perfblock: COMMAND: SENTENCE" and frees the sentence. Returns false. */
static bool refuse_sentence(const command *c, buffer *sentence)
{
    diagnostics_say(STATUS_USAGE, "perfblock", "%s: %s", c->name, sentence->data);
    buffer_free(sentence);
    return false;
}

static bool refuse(const command *c, const char *format, ...) TEXT_PRINTF(2, 3);

static bool refuse(const command *c, const char *format, ...)
{
    buffer sentence = {0};
    va_list arguments;
    va_start(arguments, format);
    buffer_format_list(&sentence, format, arguments);
    va_end(arguments);
    return refuse_sentence(c, &sentence);
}

/* Reports an unknown option. `name` is what was typed, with its dashes. */
static bool refuse_unknown(const command *c, const char *name)
{
    suggestion similar;
    buffer sentence = {0};
    buffer otherwise = {0};
    suggest_begin(&similar, name);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char option_name[32];
        int size = snprintf(option_name, sizeof option_name, "--%s", table[i].name);
        if (option_applies(&table[i], c))
            suggest_name(&similar, option_name, (size_t)size);
    }
    buffer_format(&sentence, "unknown option %s", name);
    buffer_format(&otherwise, "; perfblock help %s lists the options", c->name);
    suggest_put(&similar, &sentence, otherwise.data);
    suggest_end(&similar);
    buffer_free(&otherwise);
    return refuse_sentence(c, &sentence);
}

/* "a, b or c": the words that the option accepts for the command. */
static void put_words(buffer *out, const command_option *option, const command *c)
{
    const char *last = NULL;
    for (size_t i = 0; option->words[i]; i++) {
        if (!option_allows(option, c, i))
            continue;
        if (last)
            buffer_format(out, "%s%s", out->size > 0 ? ", " : "", last);
        last = option->words[i];
    }
    buffer_format(out, "%s%s", out->size > 0 ? " or " : "", last ? last : "");
}

static bool refuse_value(const command *c, const command_option *option, const char *value)
{
    buffer sentence = {0};
    buffer words = {0};
    suggestion similar;
    suggest_begin(&similar, value);
    for (size_t i = 0; option->words && option->words[i]; i++) {
        if (option_allows(option, c, i))
            suggest_name(&similar, option->words[i], strlen(option->words[i]));
    }
    if (option->words)
        put_words(&words, option, c);
    buffer_format(&sentence, "--%s %s: expected %s", option->name, value,
                  option->words ? words.data : option->expected);
    suggest_put(&similar, &sentence, "");
    suggest_end(&similar);
    buffer_free(&words);
    return refuse_sentence(c, &sentence);
}

/* ---- Parsing --------------------------------------------------------------------------------------------- */

enum { LONG_OPTION = 256 }; /* getopt_long() returns this plus the index of a long option in the table, or a letter */

/* Fills the tables of getopt_long(). They have the options of all commands, so that an option of another command is
 * reported as one that does not apply instead of an unknown one. */
static void fill_getopt(const command *c, struct option long_options[OPTION_COUNT + 1],
                        char short_options[2 * OPTION_COUNT + 3])
{
    size_t at = 0;
    if (c->files == FILES_COMMAND)
        short_options[at++] = '+'; /* stop at the first argument that is not an option */
    short_options[at++] = ':';
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        int has_argument = table[i].argument ? required_argument : no_argument;
        long_options[i] =
            (struct option){.name = table[i].name, .has_arg = has_argument, .val = (int)(LONG_OPTION + i)};
        if (table[i].letter != 0) {
            short_options[at++] = table[i].letter;
            if (table[i].argument)
                short_options[at++] = ':';
        }
    }
    short_options[at] = '\0';
    long_options[OPTION_COUNT] = (struct option){.name = NULL};
}

/* The option that getopt_long() returned, or null. */
static const command_option *find_option(int found)
{
    if (found >= LONG_OPTION)
        return &table[found - LONG_OPTION];
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (table[i].letter != 0 && table[i].letter == found)
            return &table[i];
    }
    return NULL;
}

/* Reports an argument that getopt_long() did not accept. `found` is what it returned: '?' or ':'. */
static bool refuse_argument(const command *c, const char *argument, int found)
{
    char letter[] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt < LONG_OPTION && strncmp(argument, "--", 2) != 0;
    buffer name = {0};
    buffer_bytes(&name, argument, strcspn(argument, "="));
    const char *shown = is_letter ? letter : name.data;
    /* ':' means that a value is missing. But for a long option MinGW's getopt_long() also returns it for a value that
     * the option does not take, so for long options the table decides. */
    bool is_long = optopt >= LONG_OPTION;
    if (is_long ? table[optopt - LONG_OPTION].argument != NULL : found == ':')
        refuse(c, "%s needs a value", shown);
    else if (is_long)
        refuse(c, "%s takes no value", shown);
    else
        refuse_unknown(c, shown);
    buffer_free(&name);
    return false;
}

/* Whether the value is one of the words of the option, but not one that the command accepts. */
static bool is_unsupported_word(const command_option *option, const command *c, const char *value)
{
    size_t word = 0;
    return option->words && find_word(option->words, value, &word) && !option_allows(option, c, word);
}

static bool handle_option(options *o, const command *c, int found, const char *argument, bool given[OPTION_COUNT])
{
    const command_option *option = find_option(found);
    if (!option)
        return refuse_argument(c, argument, found);
    if (!option_applies(option, c))
        return refuse(c, "--%s does not apply; perfblock help %s lists the options", option->name, c->name);
    if (option->is_single && given[option - table])
        return refuse(c, "--%s may be given only once", option->name);
    given[option - table] = true;
    if (is_unsupported_word(option, c, optarg) || !option->store(o, optarg))
        return refuse_value(c, option, optarg);
    return true;
}

/* The first format that the command writes, in the order of the WRITES_ bits. */
static output_format default_format(const command *c)
{
    return c->formats & WRITES_JSON && !(c->formats & WRITES_TEXT) ? OUTPUT_JSON
           : c->formats & WRITES_TEXT                              ? OUTPUT_TEXT
                                                                   : OUTPUT_CSV;
}

static bool is_standard_input(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* The number of times that standard input is one of the files to read. */
static size_t count_standard_input(const options *o, const command *c)
{
    bool has_files = c->files == FILES_ONE || c->files == FILES_ANY || c->files == FILES_MANY;
    size_t count = (size_t)is_standard_input(o->names) + is_standard_input(o->query_info);
    for (size_t i = 0; has_files && i < o->file_count; i++)
        count += is_standard_input(o->files[i]);
    for (size_t i = 0; i < o->source_count; i++)
        count += is_standard_input(o->sources[i]);
    for (size_t i = 0; i < o->path_file_count; i++)
        count += is_standard_input(o->path_files[i]);
    for (size_t i = 0; i < o->registration_count; i++)
        count += is_standard_input(o->registrations[i].path);
    return count;
}

static bool check_files(const options *o, const command *c)
{
    if (count_standard_input(o, c) > 1)
        return refuse(c, "- may be given only once: standard input can be read only once");
    if (c->bit == COMMAND_REPORT && (o->is_live || o->source))
        return o->file_count == 0 || refuse(c, "%s: expected no FILE with --source", o->files[0]);
    if (c->files == FILES_MANY && o->file_count == 0)
        return refuse(c, "expected a FILE (- is standard input)");
    if (c->files == FILES_COMMAND && o->file_count == 0)
        return refuse(c, "expected a COMMAND to run");
    if (c->files == FILES_NONE && o->file_count > 0)
        return refuse(c, "%s: expected no argument", o->files[0]);
    if (c->files == FILES_ONE && o->file_count > 1)
        return refuse(c, "%s: expected one FILE", o->files[1]);
    return true;
}

/* Checks the options that choose samples, counters and instances. */
static bool check_selection(const options *o, const command *c)
{
    bool has_paths = o->path_count > 0 || o->path_file_count > 0;
    if (has_paths && o->set_count == 0 && (o->counter_count > 0 || o->instance_count > 0))
        return refuse(c, "--counter and --instance apply to --set; a path names its own counter and instance");
    if ((c->bit & COLLECTS || o->is_live) && !o->source && sample_range_is_given(&o->range))
        return refuse(c, "--from, --to and --every choose samples of a recording: add --source FILE");
    if (o->range.from.kind != TIME_NONE && o->range.from.kind == o->range.to.kind &&
        o->range.from.clock >= o->range.to.clock + o->range.to.unit)
        return refuse(c, "--from is after --to");
    if (o->is_summary && (WRITES_ALL >> o->format & 1) == 0)
        return refuse(c, "--summary applies to --format text, json and csv");
    if ((o->is_nonzero || o->sort || o->top > 0) && o->format != OUTPUT_TEXT)
        return refuse(c, "--%s applies to --format text", o->is_nonzero ? "nonzero" : o->sort ? "sort" : "top");
    if (o->is_summary && (o->sort || o->top > 0))
        return refuse(c, "--%s does not apply to --summary", o->sort ? "sort" : "top");
    return true;
}

/* Whether an option was given that report accepts only with --source live. */
static bool is_collecting(const options *o)
{
    return o->has_interval || o->count > 0 || o->duration > 0 || o->machine || o->is_v1;
}

/* Whether an option describes the contents of the files. */
static bool describes_files(const options *o)
{
    return o->kind != INPUT_AUTO || o->registration_count > 0 || o->query_info;
}

/* Checks the options for the source of the samples and for the duration of collecting. */
static bool check_source(const options *o, const command *c)
{
    if (o->is_live && o->source)
        return refuse(c, "--source live cannot be combined with --source FILE");
    if (o->source_count > 1 && c->bit == COMMAND_CPI_RUN)
        return refuse(c, "--source may be given only once");
    if (o->source_count > 1 && c->bit == COMMAND_RECORD && (o->count > 0 || o->rotation > 0))
        return refuse(c, "--count and --rotate do not apply to several --source files");
    if (o->duration > 0 && o->source)
        return refuse(c, "--duration applies to this machine, not to a recording");
    if ((o->machine || o->is_v1) && o->source)
        return refuse(c, "--%s applies to live data, not to a file", o->machine ? "machine" : "v1");
    if (c->bit & COLLECTS && !o->source && (o->names || describes_files(o)))
        return refuse(c, "--names, --registration, --query-info and --kind apply to --source FILE");
    if (c->bit == COMMAND_REPORT && !o->is_live && is_collecting(o))
        return refuse(c, "--interval, --count, --duration, --machine and --v1 apply to --source live");
    if (c->bit == COMMAND_REPORT && o->is_live && (o->names || describes_files(o)))
        return refuse(c, "--names, --registration, --query-info and --kind apply to files");
    if (o->duration > 0 && o->duration < o->interval)
        return refuse(c, "--duration is shorter than --interval");
    return true;
}

/* Checks the combination of options and arguments. */
static bool check_options(const options *o, const command *c)
{
    if (o->wants_help || o->wants_version)
        return true;
    if (!check_files(o, c))
        return false;
    if (!check_selection(o, c) || !check_source(o, c))
        return false;
    if (o->kind == INPUT_REGISTRATION && o->request == 0 && !cooks(c))
        return refuse(c, "--kind registration needs --request");
    if (o->request != 0 && o->kind != INPUT_REGISTRATION)
        return refuse(c, "--request needs --kind registration");
    if (c->bit == COMMAND_LWP_MODEL && o->sample_bits == 0)
        return refuse(c, "expected --sample 32 or --sample 64");
    if (c->bit == COMMAND_RECORD && !o->output_path)
        return refuse(c, "expected -o FILE, the recording to write");
    if (c->bit == COMMAND_CONVERT && !o->output_path)
        return refuse(c, "expected -o FILE, the file to write");
    if (o->is_forced && !o->output_path)
        return refuse(c, "--force applies to the file of --output");
    if (o->opens_page && !o->output_path)
        return refuse(c, "--open needs -o, the page to open");
    return true;
}

bool options_parse(options *o, const command *c, int argc, char **argv)
{
    struct option long_options[OPTION_COUNT + 1];
    char short_options[2 * OPTION_COUNT + 3];
    bool given[OPTION_COUNT] = {false};
    *o = (options){.format = default_format(c), .interval = DEFAULT_INTERVAL, .minor = 1};
    o->sets = memory_get((size_t)argc, sizeof *o->sets);
    o->sources = memory_get((size_t)argc, sizeof *o->sources);
    o->counters = memory_get((size_t)argc, sizeof *o->counters);
    o->instances = memory_get((size_t)argc, sizeof *o->instances);
    o->path_files = memory_get((size_t)argc, sizeof *o->path_files);
    o->registrations = memory_get((size_t)argc, sizeof *o->registrations);
    o->paths = memory_get((size_t)argc, sizeof *o->paths);
    fill_getopt(c, long_options, short_options);
    opterr = 0;
    while (true) {
        int at = optind;
        int found = getopt_long(argc, argv, short_options, long_options, NULL);
        if (found == -1)
            break;
        const char *argument = optind > at && optind <= argc ? argv[optind - 1] : argv[at];
        if (!handle_option(o, c, found, argument, given))
            return false;
    }
    o->files = argv + optind;
    o->file_count = (size_t)(argc - optind);
    for (size_t i = 0; c->files == FILES_PATHS && i < o->file_count; i++)
        store_path(o, o->files[i]);
    if (o->format == OUTPUT_PROMETHEUS && o->count == 0 && o->duration == 0 && !o->output_path)
        o->count = 1; /* a program that reads the metrics from a pipe expects them once */
    return check_options(o, c);
}

options options_with_files(const options *o)
{
    options result = *o;
    if (o->source_count > 0) {
        result.files = o->sources;
        result.file_count = o->source_count;
    }
    return result;
}

void options_free(options *o)
{
    free(o->sets);
    for (size_t i = 0; i < o->source_count; i++)
        free(o->sources[i]);
    free(o->sources);
    free(o->registrations);
    free(o->counters);
    free(o->instances);
    free(o->path_files);
    free(o->paths);
}

/* NO_COLOR has an effect if it is set and not empty: https://no-color.org */
static bool is_no_color_set(void)
{
    const char *value = getenv("NO_COLOR");
    return value && *value != '\0';
}

bool options_color(const options *o)
{
    return o->color == COLOR_ALWAYS ||
           (o->color == COLOR_AUTO && system_is_terminal(SYSTEM_OUTPUT) && !is_no_color_set());
}
