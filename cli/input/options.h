/* SPDX-License-Identifier: MIT */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "input/input.h"
#include "output/output.h"

/* The command line. One table says which options there are and which commands take them; parsing, refusals and help all
 * follow from it. */

/* Commands as bits. */
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
    COMMAND_LWP_MODEL = 1024,
    COMMAND_CPI_SHOW = 2048,
    COMMAND_CPI_RUN = 4096,
    COMMAND_ALL = 8191
} command_bit;

typedef enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_choice;

typedef struct options {
    output_format format;
    color_choice color;
    input_kind kind;
    uint32_t request; /* 0: not given */
    uint32_t reader;  /* PFB_STRICT */
    const char **sets;
    size_t set_count;
    const char **counters;
    size_t counter_count;
    const char *instance; /* null: not given */
    const char *source;   /* null: live */
    const char *capture;  /* of --file; null: not given */
    const char *names;    /* of --names; null: not given */
    const char *recording;
    const char *label; /* of --label; null: not given */
    uint32_t minor;    /* of --minor */
    unsigned sample;   /* of --sample: 32 or 64 bits */
    uint64_t interval; /* nanoseconds */
    uint64_t count;    /* 0: until interrupted */
    uint64_t rotation; /* bytes of --rotate; 0: not given */
    bool wants_help;
    bool wants_version;
    char *const *files; /* null behind the last; of FILES_COMMAND the command and its arguments */
    size_t file_count;
} options;

/* What a command does with the names of files. */
typedef enum file_use {
    FILES_NONE,
    FILES_ONE,    /* one or none, which then means standard input or this machine */
    FILES_ANY,    /* none means this machine, or standard input */
    FILES_MANY,   /* at least one */
    FILES_COMMAND /* no files: a command with its arguments; options end where it begins */
} file_use;

/* The formats a command writes, as bits; the first one that it has is its default. */
enum {
    WRITES_TEXT = 1 << OUTPUT_TEXT,
    WRITES_JSON = 1 << OUTPUT_JSON,
    WRITES_CSV = 1 << OUTPUT_CSV,
    WRITES_PROMETHEUS = 1 << OUTPUT_PROMETHEUS,
    WRITES_ALL = WRITES_TEXT | WRITES_JSON | WRITES_CSV
};

typedef struct command {
    const char *name;
    command_bit bit;
    const char *arguments; /* as the help shows them */
    file_use files;
    unsigned formats; /* WRITES_ bits */
    const char *summary;
    const char *description;
    void (*run)(const options *o); /* the exit status is what was raised (diagnostics.h) */
} command;

/* Reads the arguments behind the command's name (argv[0]). False after a sentence on standard error. */
bool options_parse(options *o, const command *c, int argc, char **argv);
void options_free(options *o);

/* Whether text may be emphasised. */
bool options_color(const options *o);

/* Appends the options of a command for its help. */
void options_describe(buffer *out, const command *c);

#endif
