/* SPDX-License-Identifier: MIT */
#include "input/options.h"

#include "input/suggest.h"
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "perfblock/cpi/hooks.h"
#include "perfblock/pdh_text.h"

#include <getopt.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ------------------------------------------------------------------------------------------- */

enum {
    WRITES_PAGE = COMMAND_REPORT | COMMAND_SHOW,
    READS_FILES = COMMAND_CHECK | COMMAND_COOK | COMMAND_CONVERT | WRITES_PAGE,
    COLLECTS = COMMAND_LIVE | COMMAND_RECORD,
    QUERIES = COLLECTS | COMMAND_COUNTERSETS,
    EVALUATES = COMMAND_COOK | COMMAND_LIVE | COMMAND_REPORT,
    MAY_COLLECT = COMMAND_RECORD | EVALUATES,
    MAY_BE_LIVE = COMMAND_COOK | COMMAND_REPORT | COMMAND_COUNTERSETS, /* the word live is an input */
    HAS_METADATA = COMMAND_COOK | COMMAND_CONVERT | COMMAND_REPORT,
    CHOOSES = COLLECTS | HAS_METADATA,
    HAS_NAMES = HAS_METADATA | COMMAND_SHOW | COMMAND_COUNTERSETS,
    WRITES_FILE = COLLECTS | COMMAND_COOK | COMMAND_CONVERT | COMMAND_CPI_RUN | WRITES_PAGE,
    PRINTS = COMMAND_ALL & ~(COMMAND_RECORD | COMMAND_HELP | COMMAND_REPORT),
    PRINTS_TABLES = COMMAND_COOK | COMMAND_LIVE | COMMAND_TYPES,
    /* Commands that print notes or progress on standard error. */
    HAS_NOTES = READS_FILES | COMMAND_EVAL | QUERIES | COMMAND_LWP_SHOW | COMMAND_CPI_SHOW | COMMAND_CPI_RUN
};

/* In the order of output_format, from OUTPUT_TEXT on. default_format() returns the default. */
static const char *const format_words[] = {"text",       "json", "csv",  "pdh-csv", "pdh-tsv",
                                           "prometheus", "pfb",  "html", NULL};

static const char *const date_order_words[] = {"mdy", "dmy", "ymd", NULL}; /* in the order of PFB_DATE_MDY, from 1 on */
static const char *const decimal_words[] = {",", ".", NULL};
static const char *const code_page_words[] = {"874",  "932",  "936",  "949",  "950",  "1250", "1251",  "1252",
                                              "1253", "1254", "1255", "1256", "1257", "1258", "65001", NULL};
static const char *const language_words[] = {"local", "english", NULL};
static const char *const color_words[] = {"auto", "always", "never", NULL}; /* in the order of color_choice */
static const char *const identity_words[] = {"process", "windows", NULL};   /* in that of PFB_IDENTITY_ */
static const char *const group_words[] = {"sum", "max", "avg", NULL};       /* in that of PFB_GROUP_, from 1 on */
static const char *const time_words[] = {"log", "local", "utc", NULL};      /* in the order of shown_times */
static const char *const generate_words[] = {"man", "options", NULL};       /* in that of generated_text, from 1 on */

/* The initialisers of the members `type`, `member` and so on. The offset of a member whose C type is not the one that
 * the option's type needs does not compile. */
#define MEMBER(m, c_type)                                                                                              \
    _Generic(((options *)NULL)->m, c_type : offsetof(options, m)) /* NOLINT(bugprone-macro-parentheses): a type */
#define WORD(m, list, first)                                                                                           \
    .type = OPTION_WORD, .member = offsetof(options, m), .size = sizeof((options *)NULL)->m, .words = (list),          \
    .first_word = (first)
#define NUMBER(m, c_type, smallest, largest)                                                                           \
    .type = OPTION_NUMBER, .member = MEMBER(m, c_type), .size = sizeof(c_type), .min = (smallest), .max = (largest)
#define COUNT(m) NUMBER(m, uint64_t, 1, NO_LIMIT)
#define FLAG(m) .type = OPTION_FLAG, .member = MEMBER(m, bool)
#define SECONDS(m) .type = OPTION_SECONDS, .member = MEMBER(m, uint64_t)
#define BYTES(m) .type = OPTION_BYTES, .member = MEMBER(m, uint64_t)
#define BIAS(m) .type = OPTION_BIAS, .member = MEMBER(m, bias_option)
#define TIME(m) .type = OPTION_TIME, .member = MEMBER(m, time_option)
#define TEXT(m, smallest, largest)                                                                                     \
    .type = OPTION_TEXT, .member = MEMBER(m, const char *), .min = (smallest), .max = (largest)
#define TEXTS(m, n) .type = OPTION_TEXTS, .member = MEMBER(m, const char **), .count = MEMBER(n, size_t)
#define SOURCE_FILE(m) .type = OPTION_FILE, .member = MEMBER(m, const char *)
#define SOURCE_FILES(m, n) .type = OPTION_FILES, .member = MEMBER(m, const char **), .count = MEMBER(n, size_t)
#define TARGET_FILE(m) .type = OPTION_OUTPUT, .member = MEMBER(m, const char *)

#define NO_LIMIT (UINT64_MAX - 1)

/* WORD() and store_number() */
_Static_assert(sizeof(output_format) == sizeof(uint32_t) && sizeof(input_kind) == sizeof(uint32_t) &&
                   sizeof(color_choice) == sizeof(uint32_t) && sizeof(shown_times) == sizeof(uint32_t) &&
                   sizeof(generated_text) == sizeof(uint32_t),
               "enumerations have 32 bits");

/* In the order in which help lists them. */
/* clang-format off */
static const command_option table[] = {
    {.name = "format", .letter = 'f', .argument = "FORMAT", WORD(format, format_words, OUTPUT_TEXT), .has_default = true,
     .commands = PRINTS,
     .meaning = "output format"},
    {.name = "kind", .argument = "KIND", WORD(kind, input_kind_names, INPUT_AUTO), .has_default = true,
     .commands = READS_FILES,
     .meaning = "what the files contain"},
    {.name = "request", .argument = "N", NUMBER(request, uint32_t, 1, 10),
     .commands = COMMAND_SHOW | COMMAND_CHECK,
     .meaning = "with --kind registration: the request code, 1 to 10, that the reply answers", .example = "1"},
    {.name = "strict", FLAG(reader.is_strict),
     .commands = READS_FILES | QUERIES | COMMAND_LWP_SHOW,
     .meaning = "reject everything that the format forbids, including what real providers write"},
    {.name = "date-order", .argument = "ORDER", WORD(reader.date_order, date_order_words, PFB_DATE_MDY),
     .commands = READS_FILES | COMMAND_COUNTERSETS,
     .meaning = "text logs: the order of month, day and year in their times; default: as the log shows"},
    {.name = "decimal", .argument = "SIGN", WORD(decimal, decimal_words, 1),
     .commands = READS_FILES | COMMAND_COUNTERSETS,
     .meaning = "text logs: the decimal sign; the other one separates thousands; default: as the log shows"},
    {.name = "code-page", .argument = "N", WORD(code_page, code_page_words, 1),
     .commands = READS_FILES | COMMAND_COUNTERSETS,
     .meaning = "text logs, and V1 objects whose names are not UTF-16: the code page of the names; default: as the log "
                "and the objects show"},
    {.name = "names", .argument = "[LANG:]FILE", .type = OPTION_NAMES,
     .commands = HAS_NAMES,
     .meaning = "name table for V1 objects and counters: the registry's multi-string, or text with an index and a name "
                "per line; LANG is its language as in the registry, 009 for English; repeatable with LANG: names of "
                "logs are then translated, too",
     .example = "009:english.txt"},
    {.name = "language", .argument = "WHICH", WORD(language, language_words, 0), .has_default = true,
     .commands = EVALUATES | COMMAND_SHOW | COMMAND_COUNTERSETS,
     .meaning = "print names of countersets, objects and counters in the language of the data or in English, where "
                "both are known"},
    {.name = "registration", .argument = "[CODE:]FILE", .type = OPTION_REGISTRATION,
     .commands = HAS_METADATA,
     .meaning = "for V2 replies without metadata: the reply to a registration request; CODE is the request code, 1 by "
                "default; give replies of other codes after the reply of code 1 of their counterset; repeatable",
     .example = "5:names.bin"},
    {.name = "query-info", .argument = "FILE", SOURCE_FILE(query_info), .is_single = true,
     .commands = HAS_METADATA,
     .meaning = "for V2 replies without metadata: the reply of PerfQueryCounterInfo"},
    {.name = "path", .argument = "PATH", TEXTS(paths, path_count),
     .commands = CHOOSES,
     .meaning = "counter path, in which names may contain * and ?; repeatable",
     .example = "\"\\Processor Information(*)\\% Processor Time\""},
    {.name = "paths", .argument = "FILE", SOURCE_FILES(path_files, path_file_count),
     .commands = CHOOSES,
     .meaning = "file with a counter path per line; repeatable"},
    {.name = "set", .argument = "NAME|GUID", TEXTS(sets, set_count),
     .commands = CHOOSES,
     .meaning = "counterset; a name may contain * and ?; repeatable; default: all for files, Processor "
                "Information for this machine",
     .example = "\"Network Interface\""},
    {.name = "instance", .argument = "PATTERN", TEXTS(instances, instance_count),
     .commands = CHOOSES,
     .meaning = "instances by name, which may contain * and ?; repeatable; default: all", .example = "\"0,*\""},
    {.name = "counter", .argument = "NAME|ID", TEXTS(counters, counter_count),
     .commands = CHOOSES,
     .meaning = "counter; a name may contain * and ?; repeatable; default: all", .example = "\"% Processor Time\""},
    {.name = "from", .argument = "TIME", TIME(range.from), .is_single = true,
     .commands = HAS_METADATA,
     .meaning = "leave out the samples of a recording before this time: RFC 3339 with Z or an offset, the same without "
                "them for local time, or only a time of day, which is on the day of the first sample",
     .example = "2026-11-23T04:05:00"},
    {.name = "to", .argument = "TIME", TIME(range.to), .is_single = true,
     .commands = HAS_METADATA,
     .meaning = "leave out the samples of a recording after this time", .example = "04:15"},
    {.name = "every", .argument = "N", COUNT(range.every), .is_single = true,
     .commands = HAS_METADATA,
     .meaning = "use only the first sample of a recording and every N-th after it; rates are then averages over N "
                "intervals",
     .example = "10"},
    {.name = "follow", FLAG(is_followed),
     .commands = COMMAND_COOK | COMMAND_SHOW,
     .meaning = "keep reading a file that is being written, until its recorder ends or the program is interrupted"},
    {.name = "source", .argument = "live|FILE", SOURCE_FILES(sources, source_count),
     .commands = COMMAND_COUNTERSETS | COMMAND_CPI_RUN,
     .meaning = "this machine, which is the default, or a file; countersets: repeatable"},
    {.name = "machine", .argument = "NAME", TEXT(machine, 1, NO_LIMIT), .is_single = true,
     .commands = QUERIES | EVALUATES,
     .meaning = "Windows: another machine", .example = "server1"},
    {.name = "v1", FLAG(is_v1),
     .commands = QUERIES | EVALUATES,
     .meaning = "Windows: V1 data (HKEY_PERFORMANCE_DATA), which is also used where there is no V2 data"},
    {.name = "interval", .letter = 'i', .argument = "SECONDS", SECONDS(interval),
     .commands = MAY_COLLECT,
     .meaning = "time between samples, 0.01 or more; default: 1", .example = "0.5"},
    {.name = "count", .letter = 'n', .argument = "N", COUNT(count),
     .commands = MAY_COLLECT,
     .meaning = "number of samples to print, before which one more is collected if values need two, or to record; "
                "default: until interrupted; 1 for cook without INPUT, and for live as prometheus without -o and "
                "--duration",
     .example = "60"},
    {.name = "duration", .argument = "SECONDS", SECONDS(duration),
     .commands = MAY_COLLECT,
     .meaning = "end after this time, from the first sample on; default: until interrupted", .example = "3600"},
    {.name = "minor", .argument = "N", NUMBER(minor, uint32_t, 0, 255),
     .commands = COMMAND_CPI_RUN,
     .meaning = "minor code of the hooks, 0 to 255; default: 1"},
    {.name = "label", .argument = "TEXT", TEXT(label, 1, PFB_CPI_MAX_LABEL_BYTES),
     .commands = COMMAND_CPI_RUN,
     .meaning = "label of the hooks, 1 to 255 bytes; default: none"},
    {.name = "output", .letter = 'o', .argument = "FILE", TARGET_FILE(output_path), .is_single = true,
     .commands = WRITES_FILE,
     .meaning = "file to write; record and cpi run continue an existing recording; the other commands replace the file; "
                "live replaces it at each interval if it writes metrics; default of live, report and show: standard "
                "output"},
    {.name = "rotate", .argument = "SIZE", BYTES(rotation),
     .commands = COMMAND_RECORD,
     .meaning = "largest size of a file, in bytes or with K, M or G in KiB, MiB or GiB; a full file becomes FILE.1, "
                "FILE.2 and so on",
     .example = "100M"},
    {.name = "force", FLAG(is_forced),
     .commands = WRITES_FILE,
     .meaning = "replace FILE of -o if it exists; record and cpi run otherwise continue a recording and refuse other "
                "files; the other commands need no --force"},
    {.name = "open", FLAG(opens_page),
     .commands = WRITES_PAGE,
     .meaning = "open the page in a browser; needs -o"},
    {.name = "sort", .argument = "COUNTER", TEXT(sort, 1, NO_LIMIT),
     .commands = COMMAND_COOK | COMMAND_LIVE,
     .meaning = "text: order instances by this counter, largest first", .example = "\"% Processor Time\""},
    {.name = "top", .argument = "N", COUNT(top),
     .commands = COMMAND_COOK | COMMAND_LIVE | COMMAND_REPORT,
     .meaning = "text: show the N largest instances of each counterset, by the counter of --sort or else by the first; "
                "report: in each chart the N instances with the largest averages",
     .example = "10"},
    {.name = "nonzero", FLAG(is_nonzero),
     .commands = COMMAND_COOK | COMMAND_LIVE,
     .meaning = "text: leave out instances whose values are all zero or missing"},
    {.name = "summary", FLAG(is_summary),
     .commands = COMMAND_COOK,
     .meaning = "text, json and csv: count, minimum, average, maximum and last value per counter and instance instead "
                "of every value"},
    {.name = "wrap32", FLAG(formula.wrap32),
     .commands = EVALUATES,
     .meaning = "a 4-byte counter that decreased has wrapped at 2^32, instead of giving no value"},
    {.name = "cap-100", FLAG(formula.cap_100),
     .commands = EVALUATES,
     .meaning = "percentages above 100 become 100"},
    {.name = "clamp-0", FLAG(formula.clamp_0),
     .commands = EVALUATES,
     .meaning = "values below 0 become 0"},
    {.name = "group", .argument = "PATTERN", TEXT(group, 1, PFB_GROUP_PATTERN_BYTES), .is_single = true,
     .commands = EVALUATES,
     .meaning = "add the values of the instances whose names match and share the text that (*) marks; * matches any "
                "text and ? one character; other instances stay as they are",
     .example = "\"pid_(*)_*engtype_3D\""},
    {.name = "group-by", .argument = "HOW", WORD(group_by, group_words, 1), .has_default = true,
     .commands = EVALUATES,
     .meaning = "the value of a group: the sum, the largest or the average of those of its instances"},
    {.name = "identity", .argument = "HOW", WORD(identity, identity_words, PFB_IDENTITY_PROCESS), .has_default = true,
     .commands = EVALUATES,
     .meaning = "how V1 data and .blg show that an instance is the same as before: by the ids of its process and thread "
                "where the data has them, or by name and position only, as Performance Monitor does"},
    {.name = "time", .argument = "WHICH", WORD(shown, time_words, TIMES_OF_LOG), .has_default = true,
     .commands = CHOOSES,
     .meaning = "times of text, pages, pdh-csv and pdh-tsv, and those of --from and --to: in the time zone of a log, "
                "where it has one, else local time; local time of this machine; or UTC"},
    {.name = "utc", FLAG(is_utc),
     .commands = CHOOSES,
     .meaning = "the same as --time utc"},
    {.name = "bias", .argument = "MINUTES", BIAS(bias), .is_single = true,
     .commands = HAS_METADATA,
     .meaning = "logs: UTC minus local time at their first sample, in place of what their headers say", .example = "-60"},
    {.name = "color", .argument = "WHEN", WORD(color, color_words, COLOR_AUTO), .has_default = true,
     .commands = PRINTS_TABLES,
     .meaning = "emphasis in text; auto means on a terminal unless NO_COLOR is set"},
    {.name = "generate", .argument = "WHAT", WORD(generated, generate_words, GENERATED_MANUAL),
     .commands = COMMAND_HELP,
     .meaning = "print a man page, or the options for the completion of a shell"},
    {.name = "quiet", .letter = 'q', FLAG(is_quiet),
     .commands = HAS_NOTES,
     .meaning = "on standard error print only errors: no notes, no progress"},
    {.name = "help", .letter = 'h', FLAG(wants_help), .commands = COMMAND_ALL, .meaning = "print this help"},
    {.name = "version", FLAG(wants_version), .commands = COMMAND_ALL, .meaning = "print the program's version"},
};
/* clang-format on */

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

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* Finds a word that the command accepts as the value of the option. */
static bool find_word(const command_option *option, const command *c, const char *value, size_t *word)
{
    for (*word = 0; option->words[*word]; ++*word) {
        if (strcmp(value, option->words[*word]) == 0)
            return option_allows(option, c, *word);
    }
    return false;
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

/* Reads a number of seconds as nanoseconds. */
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

/* Reads a number of bytes, or of KiB, MiB or GiB with the suffix K, M or G. */
static bool read_bytes(const char *value, uint64_t *bytes)
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
    *bytes = number << shift;
    return true;
}

/* Reads a number of minutes, which may have a sign. */
static bool read_bias(const char *value, bias_option *bias)
{
    uint64_t minutes = 0;
    bool is_negative = *value == '-';
    bool is_valid = read_number(value + (is_negative || *value == '+'), 0, UINT64_C(24) * 60, &minutes);
    *bias = (bias_option){.is_given = true, .minutes = is_negative ? -(int32_t)minutes : (int32_t)minutes};
    return is_valid;
}

/* Reads a file, or a request code of 1 or 2 digits, a colon and a file. A path that begins with a drive, such as "C:",
 * has no code. */
static bool read_registration(const char *value, registration_option *registration)
{
    size_t digits = strspn(value, "0123456789");
    bool has_code = digits > 0 && value[digits] == ':';
    *registration = (registration_option){.request = 1, .path = has_code ? value + digits + 1 : value};
    if (has_code)
        registration->request = digits > 2 ? 0 : (uint32_t)strtoul(value, NULL, 10);
    return registration->request >= 1 && registration->request <= 10 && *registration->path != '\0';
}

/* Reads a file, or a language of 3 or 4 hexadecimal digits, a colon and a file. */
static bool read_names(const char *value, names_option *names)
{
    size_t digits = strspn(value, "0123456789abcdefABCDEF");
    bool has_language = (digits == 3 || digits == 4) && value[digits] == ':';
    *names = (names_option){.path = has_language ? value + digits + 1 : value};
    if (has_language)
        names->language = (uint32_t)strtoul(value, NULL, 16);
    return *names->path != '\0' && (!has_language || names->language != 0);
}

static void store_number(void *member, size_t size, uint64_t number)
{
    uint32_t low = (uint32_t)number;
    if (size == sizeof low)
        memcpy(member, &low, sizeof low);
    else
        memcpy(member, &number, sizeof number);
}

/* Stores the value of an option; null for a flag. False if it is invalid. */
static bool store(options *o, const command_option *option, const command *c, char *value)
{
    void *member = (char *)o + option->member;
    void *count = (char *)o + option->count;
    uint64_t number = 0;
    size_t word = 0;
    bool is_valid = true;
    switch (option->type) {
    case OPTION_FLAG:
        *(bool *)member = true;
        break;
    case OPTION_WORD:
        is_valid = find_word(option, c, value, &word);
        store_number(member, option->size, option->first_word + word);
        break;
    case OPTION_NUMBER:
        is_valid = read_number(value, option->min, option->max, &number);
        store_number(member, option->size, number);
        break;
    case OPTION_SECONDS:
        return read_seconds(value, member);
    case OPTION_BYTES:
        return read_bytes(value, member);
    case OPTION_TIME:
        return time_option_read(value, member);
    case OPTION_BIAS:
        return read_bias(value, member);
    case OPTION_TEXT:
        is_valid = strlen(value) >= option->min && strlen(value) <= option->max;
        *(const char **)member = value;
        break;
    case OPTION_FILE:
        *(const char **)member = value;
        break;
    case OPTION_OUTPUT:
        is_valid = strcmp(value, "-") != 0;
        *(const char **)member = value;
        break;
    case OPTION_TEXTS:
    case OPTION_FILES:
        (*(const char ***)member)[(*(size_t *)count)++] = value;
        break;
    case OPTION_NAMES:
        return read_names(value, &o->names[o->names_count++]);
    case OPTION_REGISTRATION:
        return read_registration(value, &o->registrations[o->registration_count++]);
    }
    return is_valid;
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

/* Appends "a, b or c": the words that the option accepts for the command. */
static void put_words(buffer *out, const command_option *option, const command *c)
{
    const char *last = NULL;
    const char *separator = "";
    for (size_t i = 0; option->words[i]; i++) {
        if (!option_allows(option, c, i))
            continue;
        if (last) {
            buffer_format(out, "%s%s", separator, last);
            separator = ", ";
        }
        last = option->words[i];
    }
    buffer_format(out, "%s%s", *separator != '\0' ? " or " : "", last ? last : "");
}

/* Appends what the option expects as its value. */
static void put_expected(buffer *out, const command_option *option, const command *c)
{
    static const char *const expected[] = {
        [OPTION_SECONDS] = "a number of seconds from 0.01 to 10000000",
        [OPTION_BYTES] = "a number of bytes from 1 up, or a number followed by K, M or G",
        [OPTION_TIME] = (TIME_EXPECTED),
        [OPTION_BIAS] = "a number of minutes from -1440 to 1440",
        [OPTION_OUTPUT] = "the name of a file, not standard output",
        [OPTION_NAMES] = "a file, after a language of 3 or 4 hexadecimal digits and a colon or alone",
        [OPTION_REGISTRATION] = "a file, after a request code from 1 to 10 and a colon or alone",
    };
    bool has_max = option->max < NO_LIMIT;
    if (option->type == OPTION_WORD)
        put_words(out, option, c);
    else if (option->type == OPTION_NUMBER && has_max)
        buffer_format(out, "a number from %" PRIu64 " to %" PRIu64, option->min, option->max);
    else if (option->type == OPTION_NUMBER)
        buffer_format(out, "a number from %" PRIu64 " up", option->min);
    else if (option->type == OPTION_TEXT && has_max)
        buffer_format(out, "%" PRIu64 " to %" PRIu64 " bytes", option->min, option->max);
    else if (option->type == OPTION_TEXT)
        buffer_format(out, "a %s", option->argument);
    else
        buffer_string(out, expected[option->type]);
}

static bool refuse_value(const command *c, const command_option *option, const char *value)
{
    buffer sentence = {0};
    suggestion similar;
    suggest_begin(&similar, value);
    for (size_t i = 0; option->words && option->words[i]; i++) {
        if (option_allows(option, c, i))
            suggest_name(&similar, option->words[i], strlen(option->words[i]));
    }
    buffer_format(&sentence, "--%s %s: expected ", option->name, value);
    put_expected(&sentence, option, c);
    suggest_put(&similar, &sentence, "");
    suggest_end(&similar);
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
    return store(o, option, c, optarg) || refuse_value(c, option, optarg);
}

/* ---- Combinations of options and arguments --------------------------------------------------------------- */

#define DEFAULT_INTERVAL UINT64_C(1000000000) /* nanoseconds */

static bool is_standard_input(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* The number of times that standard input is one of the files to read. */
static size_t count_standard_input(const options *o, const command *c)
{
    bool has_files = c->files == FILES_ONE || c->files == FILES_ANY || c->files == FILES_MANY;
    size_t count = is_standard_input(o->query_info);
    for (size_t i = 0; i < o->names_count; i++)
        count += is_standard_input(o->names[i].path);
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
    if (o->is_live)
        return true;
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

/* Whether --from is after --to, if that can be told without a sample. */
static bool is_empty_range(const sample_range *range)
{
    return range->from.kind != TIME_NONE && range->from.kind == range->to.kind &&
           range->from.clock >= range->to.clock + range->to.unit;
}

typedef struct option_rule {
    bool is_broken;
    const char *sentence;
} option_rule;

static bool keeps_rules(const command *c, const option_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rules[i].is_broken)
            return refuse(c, "%s", rules[i].sentence);
    }
    return true;
}

/* Checks which samples and counters are chosen, and where from. */
static bool check_choice(const options *o, const command *c)
{
    const bool has_paths = o->path_count > 0 || o->path_file_count > 0;
    const option_rule rules[] = {
        {has_paths && o->set_count == 0 && (o->counter_count > 0 || o->instance_count > 0),
         "--counter and --instance apply to --set; a path names its own counter and instance"},
        {o->is_live && sample_range_is_given(&o->range), "--from, --to and --every choose samples of files"},
        {is_empty_range(&o->range), "--from is after --to"},
        {o->is_utc && o->shown == TIMES_LOCAL, "--utc is --time utc"},
        {o->source_count > 1 && c->bit == COMMAND_CPI_RUN, "--source may be given only once"},
        {o->duration > 0 && o->duration < (o->interval > 0 ? o->interval : DEFAULT_INTERVAL),
         "--duration is shorter than --interval"},
    };
    return keeps_rules(c, rules, sizeof rules / sizeof rules[0]);
}

/* Whether one of several name tables has no language. */
static bool lacks_language(const options *o)
{
    bool is_lacking = false;
    for (size_t i = 0; i < o->names_count; i++)
        is_lacking = is_lacking || (o->names_count > 1 && o->names[i].language == 0);
    return is_lacking;
}

/* Checks the options that say what an input is, and those that only live data or only files have. */
static bool check_metadata(const options *o, const command *c)
{
    const bool has_metadata = o->names_count > 0 || o->kind != INPUT_AUTO || o->registration_count > 0 || o->query_info;
    const bool is_collecting = o->interval > 0 || o->count > 0 || o->duration > 0 || o->machine || o->is_v1;
    const option_rule rules[] = {
        {!o->is_live && is_collecting,
         "--interval, --count, --duration, --machine and --v1 apply to live data, not to files"},
        {o->is_live && cooks(c) && has_metadata, "--names, --registration, --query-info and --kind apply to files"},
        {lacks_language(o), "each --names of several needs its language, such as 009: before the FILE"},
        {o->is_live && o->is_followed, "--follow applies to files"},
        {o->is_live && o->bias.is_given, "--bias applies to files"},
        {o->kind == INPUT_REGISTRATION && o->request == 0 && !cooks(c), "--kind registration needs --request"},
        {o->request != 0 && o->kind != INPUT_REGISTRATION, "--request needs --kind registration"},
    };
    return keeps_rules(c, rules, sizeof rules / sizeof rules[0]);
}

/* Checks what is written, and where to. */
static bool check_output(const options *o, const command *c)
{
    const bool is_text = o->format == OUTPUT_TEXT;
    const option_rule rules[] = {
        {o->is_summary && (WRITES_ALL >> o->format & 1) == 0, "--summary applies to --format text, json and csv"},
        {o->is_nonzero && !is_text, "--nonzero applies to --format text"},
        {o->sort && !is_text, "--sort applies to --format text"},
        {o->top > 0 && !is_text, "--top applies to --format text"},
        {o->is_summary && o->sort, "--sort does not apply to --summary"},
        {o->is_summary && o->top > 0, "--top does not apply to --summary"},
        {c->bit == COMMAND_RECORD && !o->output_path, "expected -o FILE, the recording to write"},
        {c->bit == COMMAND_CONVERT && !o->output_path, "expected -o FILE, the file to write"},
        {o->group_by > 0 && !o->group, "--group-by needs --group"},
        {o->is_forced && !o->output_path, "--force applies to the file of --output"},
        {o->opens_page && !o->output_path, "--open needs -o, the page to open"},
    };
    return keeps_rules(c, rules, sizeof rules / sizeof rules[0]);
}

static bool check_combination(const options *o, const command *c)
{
    return check_files(o, c) && check_choice(o, c) && check_metadata(o, c) && check_output(o, c);
}

/* ---- The command line ------------------------------------------------------------------------------------ */

/* The first format that the command writes, in the order of the WRITES_ bits. */
static output_format default_format(const command *c)
{
    unsigned format = OUTPUT_TEXT;
    while ((c->formats >> format & 1) == 0)
        format++;
    return (output_format)format;
}

/* Returns true if the name of a file has this ending, in any case; not if it is only the ending. */
static bool ends_with(const char *path, const char *ending)
{
    size_t size = strlen(path);
    size_t length = strlen(ending);
    bool is_equal = size > length;
    for (size_t i = 0; i < length && is_equal; i++) {
        char c = path[size - length + i];
        is_equal = (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == ending[i];
    }
    return is_equal;
}

/* The format of an output file by the ending of its name; OUTPUT_NONE if that is unknown. */
static output_format format_of_file(const char *path)
{
    static const struct {
        const char *ending;
        output_format format;
    } rows[] = {{".txt", OUTPUT_TEXT},        {".json", OUTPUT_JSON},     {".jsonl", OUTPUT_JSON},
                {".pdh.csv", OUTPUT_PDH_CSV}, {".csv", OUTPUT_CSV},       {".tsv", OUTPUT_PDH_TSV},
                {".prom", OUTPUT_PROMETHEUS}, {".sqlite", OUTPUT_SQLITE}, {".pfb", OUTPUT_CAPTURE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (ends_with(path, rows[i].ending))
            return rows[i].format;
    }
    return OUTPUT_NONE;
}

/* Without --format, the name of the file that cook, live or convert writes gives the format. */
static bool choose_format(options *o, const command *c)
{
    bool has_file = o->output_path && (c->bit & (COMMAND_COOK | COMMAND_LIVE | COMMAND_CONVERT)) != 0;
    if (o->has_format)
        return true;
    o->format = has_file ? format_of_file(o->output_path) : default_format(c);
    if (o->format != OUTPUT_NONE && (c->formats >> o->format & 1) != 0)
        return true;
    if (c->bit == COMMAND_CONVERT)
        return refuse(c, "%s: expected a name that ends in .pfb, or --format pfb; perfblock cook -o FILE writes values",
                      o->output_path);
    return refuse(c,
                  "%s: unknown ending: expected .txt, .json, .jsonl, .csv, .pdh.csv, .tsv, .prom or .sqlite, or "
                  "--format; perfblock "
                  "convert writes recordings",
                  o->output_path);
}

/* The list that an option of the type OPTION_TEXTS or OPTION_FILES stores; null for other types. */
static const char ***list_of(options *o, const command_option *option)
{
    void *member = (char *)o + option->member;
    return option->type == OPTION_TEXTS || option->type == OPTION_FILES ? member : NULL;
}

/* Finds out whether the input is a machine: where the word live is an input, and without inputs except of report. False
 * after a message. */
static bool choose_input(options *o, const command *c)
{
    bool has_list = c->bit == COMMAND_COUNTERSETS;
    const char *const *inputs = has_list ? o->sources : (const char *const *)o->files;
    size_t count = has_list ? o->source_count : c->files == FILES_PATHS ? 0 : o->file_count;
    o->is_live = count == 0 && (c->bit & (QUERIES | COMMAND_COOK)) != 0;
    for (size_t i = 0; (c->bit & MAY_BE_LIVE) != 0 && i < count; i++)
        o->is_live = o->is_live || strcmp(inputs[i], INPUT_LIVE) == 0;
    bool is_once = (c->bit == COMMAND_COOK && count == 0) || (o->format == OUTPUT_PROMETHEUS && !o->output_path);
    if (o->is_live && is_once && o->count == 0 && o->duration == 0)
        o->count = 1; /* also because a program that reads metrics from a pipe expects them once */
    if (!o->is_live || has_list)
        return true;
    if (count > 1)
        return refuse(c, INPUT_LIVE " cannot be combined with other inputs; ./" INPUT_LIVE " is a file");
    o->file_count = 0;
    return true;
}

bool options_parse(options *o, const command *c, int argc, char **argv)
{
    struct option long_options[OPTION_COUNT + 1];
    char short_options[2 * OPTION_COUNT + 3];
    bool given[OPTION_COUNT] = {false};
    *o = (options){.format = OUTPUT_NONE, .minor = 1};
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char ***list = list_of(o, &table[i]);
        if (list)
            *list = memory_get((size_t)argc, sizeof **list);
    }
    o->names = memory_get((size_t)argc, sizeof *o->names);
    o->registrations = memory_get((size_t)argc, sizeof *o->registrations);
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
    o->has_format = o->format != OUTPUT_NONE;
    if (!o->wants_help && !o->wants_version && !choose_format(o, c))
        return false;
    o->files = argv + optind;
    o->file_count = (size_t)(argc - optind);
    for (size_t i = 0; c->files == FILES_PATHS && i < o->file_count; i++)
        o->paths[o->path_count++] = o->files[i];
    if (o->code_page != 0)
        o->reader.code_page = (uint32_t)strtoul(code_page_words[o->code_page - 1], NULL, 10);
    o->reader.decimal = o->decimal == 0 ? 0 : (uint32_t)*decimal_words[o->decimal - 1];
    if (!o->wants_help && !o->wants_version && !(choose_input(o, c) && check_combination(o, c)))
        return false;
    if (o->is_utc)
        o->shown = TIMES_UTC;
    if (o->interval == 0)
        o->interval = DEFAULT_INTERVAL;
    return true;
}

void options_free(options *o)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char ***list = list_of(o, &table[i]);
        if (list)
            free(*list);
    }
    free(o->names);
    free(o->registrations);
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
