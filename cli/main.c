/* SPDX-License-Identifier: MIT */
/* perfblock: the table of its commands, and the way to them. docs/perfblock.md describes the program. */
#include "commands.h"
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"
#include "perfblock/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const command commands[] = {
    {"show", COMMAND_SHOW, "FILE...", FILES_MANY, WRITES_TEXT | WRITES_JSON, "structure with byte offsets",
     "Prints what the files hold, part by part, each with its offset in the file.", command_show},
    {"check", COMMAND_CHECK, "FILE...", FILES_MANY, WRITES_ALL, "verdict per file",
     "Reads every byte the files' structure leads to and prints one verdict per file.", command_check},
    {"cook", COMMAND_COOK, "FILE...", FILES_MANY, WRITES_ALL, "displayed values from consecutive samples",
     "Computes what the counters display, for each sample and the one before it.", command_cook},
    {"eval", COMMAND_EVAL, "[FILE]", FILES_ONE, WRITES_CSV, "formulas: CSV in, CSV out (standard input without FILE)",
     "Evaluates a formula for each row of a CSV file; columns that begin with expected_ are held against the results.",
     command_eval},
    {"types", COMMAND_TYPES, "", FILES_NONE, WRITES_ALL, "the counter types",
     "Lists the counter types with what their formulas are made of.", command_types},
    {"live", COMMAND_LIVE, "", FILES_NONE, WRITES_ALL | WRITES_PROMETHEUS,
     "collect from this machine and show displayed values",
     "Collects at an interval and prints the displayed values of each sample after the first.", command_live},
    {"record", COMMAND_RECORD, "-o FILE", FILES_NONE, WRITES_TEXT, "collect and store raw bytes",
     "Collects at an interval and appends the raw bytes, with their metadata, to a capture.", command_record},
    {"countersets", COMMAND_COUNTERSETS, "", FILES_NONE, WRITES_TEXT | WRITES_JSON,
     "what this machine (or --file CAPTURE) offers", "Lists countersets and their counters.", command_countersets},
    {"cpuid", COMMAND_CPUID, "[DUMP]", FILES_ONE, WRITES_TEXT | WRITES_JSON,
     "features of this CPU, or of a saved text dump",
     "Tells what each CPU says of itself, and whether Lightweight Profiling can be used there.", command_cpuid},
    {"lwp show", COMMAND_LWP_SHOW, "[FILE...]", FILES_ANY, WRITES_TEXT | WRITES_JSON,
     "LWP control block and ring of a recording, or of this CPU",
     "Prints the control block and the unread records of Lightweight Profiling snapshots. Without FILE it asks the\n"
     "CPUs of this machine, and on one that has LWP records some events of its own.",
     command_lwp_show},
    {"lwp model", COMMAND_LWP_MODEL, "", FILES_NONE, WRITES_TEXT | WRITES_JSON,
     "run the documented sample program on a software model",
     "Runs the documented sample program on a software model of Lightweight Profiling and prints what it finds.",
     command_lwp_model},
    {"cpi show", COMMAND_CPI_SHOW, "[FILE...]", FILES_ANY, WRITES_TEXT | WRITES_JSON,
     "CPI hooks of a recording (standard input without FILE)",
     "Prints the groups of CPI (cycles per instruction) hooks that captures hold, or files that are streams of hooks.",
     command_cpi_show},
    {"cpi run", COMMAND_CPI_RUN, "-- COMMAND", FILES_COMMAND, WRITES_TEXT | WRITES_JSON,
     "cycles per instruction while a command runs",
     "Runs COMMAND with the arguments behind it and prints the cycles per instruction (CPI) of this machine "
     "meanwhile,\n"
     "of all CPUs together and of each. Where the counters are refused the command is not run. Under --format json "
     "what\nit prints goes to standard error.",
     command_cpi_run},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

/* The command that the first words of the line name: one, or two for those of a group ("lwp show"). */
static const command *find_command(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < COMMAND_COUNT; i++) {
        const char *name = commands[i].name;
        size_t first = strcspn(name, " ");
        if (strlen(argv[1]) != first || strncmp(argv[1], name, first) != 0)
            continue;
        if (name[first] == '\0' || (argc > 2 && strcmp(argv[2], name + first + 1) == 0))
            return &commands[i];
    }
    return NULL;
}

/* True when commands of this group exist. */
static bool is_group(const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; size > 0 && i < COMMAND_COUNT; i++) {
        if (strncmp(commands[i].name, name, size) == 0 && commands[i].name[size] == ' ')
            return true;
    }
    return false;
}

/* Prints a text of the program's own and frees it. */
static void print(buffer *text)
{
    output out;
    output_open(&out, OUTPUT_TEXT, false);
    output_raw(&out, text->data, text->size);
    output_close(&out);
    buffer_free(text);
}

static void print_overview(void)
{
    buffer text = {0};
    buffer_string(&text, "Usage: perfblock COMMAND [OPTION...]\n"
                         "Reads Windows performance data on any system and computes what its counters display.\n\n"
                         "Commands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        buffer_format(&text, "  %-11s  %-10s  %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
    buffer_string(&text, "\nOptions:\n"
                         "  --help       this text; behind a command, its own\n"
                         "  --version    the version of the program\n\n"
                         "- as FILE is standard input. Exit status: 0 fine, 1 an input is malformed or a\n"
                         "result not the expected one, 2 wrong usage, 3 a file cannot be read or written,\n"
                         "4 this machine cannot do it.\n");
    print(&text);
}

static void print_help(const command *c)
{
    buffer text = {0};
    buffer_format(&text, "Usage: perfblock %s [OPTION...]%s%s\n%s\n\nOptions:\n", c->name, *c->arguments ? " " : "",
                  c->arguments, c->description);
    options_describe(&text, c);
    print(&text);
}

static void print_version(void)
{
    buffer text = {0};
    buffer_format(&text, "perfblock %s\n", pfb_version());
    print(&text);
}

static void run_command(const command *c, int argc, char **argv)
{
    options o;
    if (options_parse(&o, c, argc, argv)) {
        if (o.wants_help)
            print_help(c);
        else if (o.wants_version)
            print_version();
        else
            c->run(&o);
    }
    options_free(&o);
}

static void end_without_memory(void)
{
    stream_flush();
    fputs("perfblock: out of memory\n", stderr);
    exit(STATUS_IMPOSSIBLE);
}

int main(int argc, char **argv)
{
    memory_at_exhaustion(end_without_memory);
    system_prepare();
    argv = system_arguments(argc, argv, &argc);
    const char *name = argc > 1 ? argv[1] : "";
    const command *c = find_command(argc, argv);
    int words = c && strchr(c->name, ' ') ? 2 : 1;
    if (c)
        run_command(c, argc - words, argv + words);
    else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        print_overview();
    else if (strcmp(name, "--version") == 0)
        print_version();
    else if (argc <= 1)
        diagnostics_say(STATUS_USAGE, "perfblock", "no command was given (perfblock --help lists them)");
    else if (is_group(name))
        diagnostics_say(STATUS_USAGE, "perfblock", "%s: needs to be told what to do (perfblock --help lists it)", name);
    else
        diagnostics_say(STATUS_USAGE, "perfblock", "%s: there is no such command (perfblock --help lists them)", name);
    return (int)diagnostics_status();
}
