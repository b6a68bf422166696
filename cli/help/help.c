/* SPDX-License-Identifier: MIT */
#include "help/help.h"

#include "help/completion.h"
#include "help/manual.h"
#include "help/meaning.h"
#include "output/diagnostics.h"
#include "perfblock/version.h"

#include <string.h>

enum { WIDTH = 80, OPTION_COLUMN = 28 };

/* Prints a text and frees it. */
static void print(buffer *text)
{
    output out;
    output_open(&out, OUTPUT_TEXT, false);
    output_raw(&out, text->data, text->size);
    output_close(&out);
    buffer_free(text);
}

/* Appends a text and a line feed. The text starts at `column` of the line, and is wrapped between words at WIDTH. The
 * lines after the first are indented by `indent`. */
static void put_wrapped(buffer *out, const char *text, size_t column, size_t indent)
{
    bool is_first = true;
    while (*text != '\0') {
        size_t size = strcspn(text, " ");
        if (!is_first && column + 1 + size > WIDTH) {
            buffer_string(out, "\n");
            buffer_spaces(out, indent);
            column = indent;
        } else if (!is_first) {
            buffer_string(out, " ");
            column++;
        }
        buffer_bytes(out, text, size);
        column += size;
        text += size;
        text += *text == ' ';
        is_first = false;
    }
    buffer_string(out, "\n");
}

/* ---- Lists of commands ----------------------------------------------------------------------------------- */

/* Appends a line for each command of a group, or for every command if `group` is null. */
static void put_commands(buffer *out, const command_group *group)
{
    enum { SUMMARY_COLUMN = 28 };
    const command *c = NULL;
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        if (group && !command_is_in(c, group))
            continue;
        size_t start = out->size;
        buffer_format(out, "  %s %s", c->name, c->arguments);
        buffer_spaces(out, SUMMARY_COLUMN - (out->size - start));
        put_wrapped(out, c->summary, SUMMARY_COLUMN, SUMMARY_COLUMN);
    }
}

void help_overview(void)
{
    buffer text = {0};
    buffer_string(&text, "Usage: perfblock COMMAND [OPTION...] [FILE...]\n");
    put_wrapped(&text, "Reads Windows performance data on any system and computes what its counters display.", 0, 0);
    buffer_string(&text, "\nCommands:\n");
    put_commands(&text, NULL);
    buffer_string(&text, "\nOptions:\n"
                         "  -h, --help   print this help; after a command, the command's help\n"
                         "  --version    print the program's version\n\n"
                         "A FILE named - is standard input.\n\n"
                         "Exit status:\n");
    for (size_t i = 0; meaning_of_status[i]; i++) {
        buffer_format(&text, "  %zu  ", i);
        put_wrapped(&text, meaning_of_status[i], 5, 5);
    }
    print(&text);
}

void help_group(const command_group *group)
{
    buffer text = {0};
    buffer_format(&text, "Usage: perfblock %s COMMAND [OPTION...]\n%s.\n\nCommands:\n", group->name, group->summary);
    put_commands(&text, group);
    print(&text);
}

/* ---- A command ------------------------------------------------------------------------------------------- */

static void put_option(buffer *out, const command_option *option, const command *c)
{
    size_t start = out->size;
    buffer meaning = {0};
    if (option->letter != 0)
        buffer_format(out, "  -%c, ", option->letter);
    else
        buffer_spaces(out, 6);
    buffer_format(out, "--%s%s%s", option->name, option->argument ? " " : "", option->argument ? option->argument : "");
    if (out->size - start >= OPTION_COLUMN) {
        buffer_string(out, "\n");
        start = out->size;
    }
    buffer_spaces(out, OPTION_COLUMN - (out->size - start));
    meaning_put_option(&meaning, option, c);
    put_wrapped(out, meaning.data, OPTION_COLUMN, OPTION_COLUMN);
    buffer_free(&meaning);
}

void help_command(const command *c)
{
    const command_option *option = NULL;
    buffer text = {0};
    buffer_format(&text, "Usage: perfblock %s [OPTION...]%s%s\n", c->name, *c->arguments ? " " : "", c->arguments);
    put_wrapped(&text, c->description, 0, 0);
    buffer_string(&text, "\nOptions:\n");
    for (size_t i = 0; (option = option_at(i)) != NULL; i++) {
        if (option_applies(option, c))
            put_option(&text, option, c);
    }
    buffer_string(&text, "\nExamples:\n");
    for (size_t i = 0; i < COMMAND_EXAMPLES && c->examples[i].line; i++)
        buffer_format(&text, "  %s\n      %s\n", c->examples[i].line, c->examples[i].meaning);
    print(&text);
}

/* ---- The program ----------------------------------------------------------------------------------------- */

void help_version(void)
{
    buffer text = {0};
    buffer_format(&text, "perfblock %s\n", pfb_version());
    print(&text);
}

/* Prints a man page or a completion script (--generate). */
static void generate(const options *o, const command *c)
{
    buffer text = {0};
    if (strcmp(o->generated, "man") != 0)
        completion_put(&text, o->generated);
    else if (c)
        manual_put_command(&text, c);
    else
        manual_put_program(&text);
    print(&text);
}

void command_help(const options *o)
{
    size_t word_count = 0;
    const command *c = o->file_count > 0 ? command_find(o->file_count, o->files, &word_count) : NULL;
    const command_group *group = o->file_count == 1 ? command_group_find(o->files[0]) : NULL;
    if (c && word_count < o->file_count)
        diagnostics_say(STATUS_USAGE, "perfblock", "help: %s: expected one COMMAND", o->files[word_count]);
    else if (o->file_count > 0 && !c && !group)
        command_refuse(o->file_count, o->files);
    else if (o->generated)
        generate(o, c);
    else if (group)
        help_group(group);
    else if (c)
        help_command(c);
    else
        help_overview();
}
