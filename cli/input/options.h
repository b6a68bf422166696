/* SPDX-License-Identifier: MIT */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "input/input.h"
#include "input/sample_range.h"
#include "output/output.h"

/* The command line. The parser, usage errors, help, man pages and completions read two tables: that of the options
 * (option_at) and that of the commands (command_at). */

#define INPUT_LIVE "live" /* the input that is this machine; also the subject of messages about it */

/* ---- Commands -------------------------------------------------------------------------------------------- */

/* A bit for each command, so that sets of commands can be stored. */
typedef enum command_bit {
    COMMAND_SHOW = 1,
    COMMAND_CHECK = 2,
    COMMAND_COOK = 4,
    COMMAND_TYPES = 8,
    COMMAND_LIVE = 16,
    COMMAND_RECORD = 32,
    COMMAND_COUNTERSETS = 64,
    COMMAND_EVAL = 128,
    COMMAND_CPUID = 256,
    COMMAND_LWP_SHOW = 512,
    COMMAND_CPI_SHOW = 1024,
    COMMAND_CPI_RUN = 2048,
    COMMAND_HELP = 4096,
    COMMAND_REPORT = 8192,
    COMMAND_CONVERT = 16384,
    COMMAND_ALL = 32767
} command_bit;

/* What the arguments of a command are. Options are not counted as arguments. */
typedef enum file_use {
    FILES_NONE,
    FILES_ONE,     /* at most one file; without one, standard input or this machine */
    FILES_ANY,     /* any number of files; without one, standard input or this machine */
    FILES_MANY,    /* at least one file */
    FILES_PATHS,   /* no files: counter paths */
    FILES_COMMAND, /* no files: a command to run, and its arguments, which are not parsed as options of perfblock */
    FILES_SETS,    /* no files: names of countersets */
    FILES_NAME     /* no files: the name of a command or group, or nothing */
} file_use;

/* The formats that a command can write, as bits. The default of a command is the first format in this order that it can
 * write; that of convert depends on the name of the output. */
enum {
    WRITES_TEXT = 1 << OUTPUT_TEXT,
    WRITES_JSON = 1 << OUTPUT_JSON,
    WRITES_CSV = 1 << OUTPUT_CSV,
    WRITES_PDH = 1 << OUTPUT_PDH_CSV | 1 << OUTPUT_PDH_TSV,
    WRITES_PROMETHEUS = 1 << OUTPUT_PROMETHEUS,
    WRITES_CAPTURE = 1 << OUTPUT_CAPTURE,
    WRITES_HTML = 1 << OUTPUT_HTML,
    WRITES_SQLITE = 1 << OUTPUT_SQLITE, /* --format has no word for it, because it needs a file */
    WRITES_ALL = WRITES_TEXT | WRITES_JSON | WRITES_CSV
};

enum { COMMAND_EXAMPLES = 3 };

/* A command line and what it does. */
typedef struct command_example {
    const char *line;
    const char *meaning;
} command_example;

typedef struct options options;

typedef struct command {
    const char *name; /* for a command of a group: "GROUP NAME" */
    command_bit bit;
    const char *arguments; /* as help prints them */
    file_use files;
    unsigned formats;    /* WRITES_ bits */
    const char *summary; /* a line, for lists of commands */
    const char *description;
    command_example examples[COMMAND_EXAMPLES]; /* at least one; unused ones are null */
    void (*run)(const options *o);              /* reports errors, which set the exit status (diagnostics.h) */
} command;

/* ---- Options --------------------------------------------------------------------------------------------- */

typedef enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_choice;
typedef enum generated_text { GENERATED_NONE, GENERATED_MANUAL, GENERATED_ROWS } generated_text;

/* --registration [CODE:]FILE */
typedef struct registration_option {
    uint32_t request;
    const char *path;
} registration_option;

/* --bias MINUTES */
typedef struct bias_option {
    bool is_given;
    int32_t minutes;
} bias_option;

/* --names [LANG:]FILE */
typedef struct names_option {
    uint32_t language; /* as Windows numbers it; 0: not given */
    const char *path;
} names_option;

struct options {
    output_format format;
    bool has_format; /* --format is given */
    color_choice color;
    input_kind kind;
    uint32_t request; /* 0: not given */
    pfb_read_options reader;
    uint32_t decimal;            /* --decimal: 1 a comma, 2 a point; 0: not given */
    uint32_t code_page;          /* --code-page: position in the list of its words, from 1; 0: not given */
    uint32_t identity;           /* PFB_IDENTITY_ */
    pfb_formula_options formula; /* --wrap32, --cap-100, --clamp-0 */
    const char *group;           /* --group; null: not given */
    uint32_t group_by;           /* --group-by: 1 + PFB_GROUP_; 0: not given */
    const char **sets;
    size_t set_count;
    const char **counters;
    size_t counter_count;
    names_option *names;
    size_t names_count;
    uint32_t language; /* --language: 0 local, 1 English */
    registration_option *registrations;
    size_t registration_count;
    const char *query_info; /* --query-info; null: not given */
    const char **instances;
    size_t instance_count;
    const char **paths; /* --path, and the arguments of live and record */
    size_t path_count;
    const char **path_files; /* --paths */
    size_t path_file_count;
    bool is_live;         /* the input is this machine or that of --machine, and there are no files */
    const char **sources; /* --source */
    size_t source_count;
    const char *machine;     /* --machine; null: this one */
    bool is_v1;              /* --v1 */
    const char *output_path; /* --output; null: not given */
    const char *label;       /* --label; null: not given */
    generated_text generated;
    uint32_t minor;     /* --minor */
    uint64_t interval;  /* nanoseconds */
    uint64_t duration;  /* nanoseconds; 0: not given */
    uint64_t count;     /* --count; 0: not given */
    uint64_t rotation;  /* --rotate, in bytes; 0: not given */
    bool is_forced;     /* --force */
    sample_range range; /* --from, --to, --every */
    const char *sort;   /* --sort; null: not given */
    uint64_t top;       /* --top; 0: not given */
    bool is_nonzero;
    bool is_summary;
    bool is_quiet;
    bool is_utc;       /* --utc */
    shown_times shown; /* --time; 0: TIMES_OF_LOG */
    bias_option bias;  /* --bias */
    bool is_followed;  /* --follow */
    bool opens_page;   /* --open */
    bool wants_help;
    bool wants_version;
    char *const *files; /* the arguments except counter paths; a null follows the last; for FILES_COMMAND the command
                           and its arguments */
    size_t file_count;
};

/* The type of an option, which says how its value is read and what its member of struct options is. */
typedef enum option_type {
    OPTION_FLAG,        /* bool; the option has no value */
    OPTION_WORD,        /* an enumeration; one of `words` */
    OPTION_NUMBER,      /* uint32_t or uint64_t; decimal, from `min` to `max` */
    OPTION_SECONDS,     /* uint64_t: nanoseconds; 0.01 to 10000000 seconds */
    OPTION_BYTES,       /* uint64_t; bytes, or with the suffix K, M or G units of 2^10, 2^20 or 2^30 bytes */
    OPTION_TIME,        /* time_option */
    OPTION_BIAS,        /* bias_option; minutes from -1440 to 1440 */
    OPTION_TEXT,        /* const char *; `min` to `max` bytes */
    OPTION_TEXTS,       /* const char ** and its number of elements, `count`: each value is appended */
    OPTION_FILE,        /* const char *; a file to read */
    OPTION_FILES,       /* the same as OPTION_TEXTS, of files to read */
    OPTION_OUTPUT,      /* const char *; a file to write, not standard output */
    OPTION_NAMES,       /* `names` */
    OPTION_REGISTRATION /* `registrations` */
} option_type;

typedef struct command_option {
    const char *name; /* without dashes */
    char letter;      /* short form; 0: none */
    bool is_single;   /* may be given once only: a second one would cancel the first */
    bool has_default; /* the first of `words` that a command accepts is its default */
    option_type type;
    size_t member, count;     /* offsets in struct options */
    size_t size;              /* of the member, in bytes */
    uint64_t min, max;        /* of OPTION_NUMBER and OPTION_TEXT */
    const char *const *words; /* OPTION_WORD: all values that are accepted, then a null */
    unsigned first_word;      /* the value of the first word; the others follow it */
    uint32_t commands;        /* the commands that accept the option: COMMAND_ bits */
    const char *argument;     /* the value in help; null for OPTION_FLAG */
    const char *meaning;      /* for help, which appends `words` */
    const char *example;      /* an example of the value, for man pages; null: none */
} command_option;

/* The option at an index of the table, in the order of help; null past the last. */
const command_option *option_at(size_t i);

/* Whether the command accepts the option. */
bool option_applies(const command_option *option, const command *c);

/* Whether the command accepts words[word] as the value of the option: not every command writes every --format or
 * reads every --kind. */
bool option_allows(const command_option *option, const command *c, size_t word);

/* Whether the first word that the command accepts is the default. It is not for --format of convert, whose default
 * depends on the name of the output. */
bool option_has_default(const command_option *option, const command *c);

/* Parses the command line. argv[0] is the name of the command. False after an error message. Call options_free() in
 * both cases. */
bool options_parse(options *o, const command *c, int argc, char **argv);
void options_free(options *o);

/* Whether text may be emphasised. */
bool options_color(const options *o);

#endif
