/* SPDX-License-Identifier: MIT */
/* perfblock: finds the command and runs it. docs/perfblock.md describes the program. */
#include "commands.h"
#include "help/help.h"
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/replacement.h"
#include "output/stream.h"
#include "output/time_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run_command(const command *c, int argc, char **argv)
{
    options o;
    if (options_parse(&o, c, argc, argv)) {
        diagnostics_quiet(o.is_quiet);
        time_text_show(o.shown);
        if (o.wants_help)
            help_command(c);
        else if (o.wants_version)
            help_version();
        else
            c->run(&o);
    }
    options_free(&o);
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static void run(int argc, char **argv)
{
    size_t word_count = 0;
    const char *first = argc > 1 ? argv[1] : NULL;
    const command *c = first ? command_find((size_t)argc - 1, argv + 1, &word_count) : NULL;
    const command_group *group = first ? command_group_find(first) : NULL;
    if (c)
        run_command(c, argc - (int)word_count, argv + word_count);
    else if (!first)
        diagnostics_say(STATUS_USAGE, "perfblock", "expected a command; perfblock help lists them");
    else if (is_help(first))
        help_overview();
    else if (strcmp(first, "--version") == 0)
        help_version();
    else if (group && argc > 2 && is_help(argv[2]))
        help_group(group);
    else
        command_refuse((size_t)argc - 1, argv + 1);
}

/* Called when memory is exhausted. Writes the buffered output, or removes the incomplete file of -o, before it ends the
 * program. */
static void end_without_memory(void)
{
    stream_flush();
    replacement_close(false);
    fputs("perfblock: out of memory\n", stderr);
    exit(STATUS_IMPOSSIBLE);
}

int main(int argc, char **argv)
{
    memory_at_exhaustion(end_without_memory);
    system_prepare();
    argv = system_arguments(argc, argv, &argc);
    run(argc, argv);
    return (int)diagnostics_status();
}
