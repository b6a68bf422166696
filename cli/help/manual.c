/* SPDX-License-Identifier: MIT */
#include "help/manual.h"

#include "help/meaning.h"
#include "perfblock/version.h"

#include <string.h>

/* ---- Text ------------------------------------------------------------------------------------------------ */

/* Appends text with troff's special characters escaped. "-" becomes a minus sign, which can be copied from the page as
 * part of an option; troff prints a bare "-" as a hyphen. */
static void put_text(buffer *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        bool is_line_start = out->size == 0 || out->data[out->size - 1] == '\n';
        if (is_line_start && (*c == '.' || *c == '\''))
            buffer_string(out, "\\&");
        if (*c == '-')
            buffer_string(out, "\\-");
        else if (*c == '\\')
            buffer_string(out, "\\e");
        else if (*c == '\'')
            buffer_string(out, "\\(aq");
        else
            buffer_bytes(out, c, 1);
    }
}

/* Appends text in a font: "B" is bold, "I" italic. */
static void put_styled(buffer *out, const char *font, const char *text)
{
    buffer_format(out, "\\f%s", font);
    put_text(out, text);
    buffer_string(out, "\\fR");
}

/* Appends the name of a command's page: "perfblock-lwp-show". */
static void put_page_name(buffer *out, const command *c)
{
    put_text(out, "perfblock-");
    for (const char *at = c->name; *at != '\0'; at++)
        put_text(out, *at == ' ' ? "-" : (char[]){*at, '\0'});
}

/* Appends the title and the NAME section of a page; `c` is null for the page of the program. */
static void put_head(buffer *out, const command *c, const char *summary)
{
    buffer_string(out, ".TH \"");
    buffer name = {0};
    if (c)
        put_page_name(&name, c);
    else
        put_text(&name, "perfblock");
    for (size_t i = 0; i < name.size; i++) {
        char upper = (char)(name.data[i] >= 'a' && name.data[i] <= 'z' ? name.data[i] - 'a' + 'A' : name.data[i]);
        buffer_bytes(out, &upper, 1);
    }
    buffer_format(out, "\" \"1\" \"\" \"perfblock %s\" \"perfblock\"\n.nh\n.SH NAME\n%s \\- ", pfb_version(),
                  name.data);
    put_text(out, summary);
    buffer_string(out, "\n");
    buffer_free(&name);
}

/* Appends a reference to a command's page: "perfblock-cook(1)". */
static void put_reference(buffer *out, const command *c, const char *end)
{
    buffer_string(out, "\\fB");
    put_page_name(out, c);
    buffer_format(out, "\\fR(1)%s\n", end);
}

/* ---- Pages ----------------------------------------------------------------------------------------------- */

static void put_option(buffer *out, const command_option *option, const command *c)
{
    buffer meaning = {0};
    buffer name = {0};
    buffer_string(out, ".TP\n");
    if (option->letter != 0)
        buffer_format(out, "\\fB\\-%c\\fR, ", option->letter);
    buffer_format(&name, "--%s", option->name);
    put_styled(out, "B", name.data);
    if (option->argument) {
        buffer_string(out, " ");
        put_styled(out, "I", option->argument);
    }
    buffer_string(out, "\n");
    meaning_put_option(&meaning, option, c);
    put_text(out, meaning.data);
    if (option->example) {
        buffer_string(out, ". Example: ");
        put_text(out, name.data);
        buffer_string(out, " ");
        put_text(out, option->example);
    }
    buffer_string(out, "\n");
    buffer_free(&meaning);
    buffer_free(&name);
}

static void put_statuses(buffer *out)
{
    buffer_string(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; meaning_of_status[i]; i++) {
        buffer_format(out, ".TP\n\\fB%zu\\fR\n", i);
        put_text(out, meaning_of_status[i]);
        buffer_string(out, "\n");
    }
}

void manual_put_command(buffer *out, const command *c)
{
    const command_option *option = NULL;
    put_head(out, c, c->summary);
    buffer_string(out, ".SH SYNOPSIS\n\\fBperfblock ");
    put_text(out, c->name);
    buffer_string(out, "\\fR [\\fIOPTION\\fR...] ");
    put_styled(out, "I", c->arguments);
    buffer_string(out, "\n.SH DESCRIPTION\n");
    put_text(out, c->description);
    buffer_string(out, "\n.SH OPTIONS\n");
    for (size_t i = 0; (option = option_at(i)) != NULL; i++) {
        if (option_applies(option, c))
            put_option(out, option, c);
    }
    put_statuses(out);
    buffer_string(out, ".SH EXAMPLES\n");
    for (size_t i = 0; i < COMMAND_EXAMPLES && c->examples[i].line; i++) {
        buffer_string(out, ".TP\n");
        put_styled(out, "B", c->examples[i].line);
        buffer_string(out, "\n");
        put_text(out, c->examples[i].meaning);
        buffer_string(out, "\n");
    }
    buffer_string(out, ".SH SEE ALSO\n\\fBperfblock\\fR(1)\n");
}

void manual_put_program(buffer *out)
{
    const command *c = NULL;
    put_head(out, NULL, "read Windows performance data and compute what its counters display");
    buffer_string(out, ".SH SYNOPSIS\n"
                       "\\fBperfblock\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n"
                       ".SH DESCRIPTION\n"
                       "Shows and checks files of Windows performance data, computes the values that their counters "
                       "display, and collects and records counters of the machine it runs on.\n"
                       "A \\fIFILE\\fR named \\- is standard input.\n"
                       "Malformed input is reported on standard error as \\(lqFILE: offset N: code: sentence\\(rq.\n"
                       ".SH COMMANDS\n");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        buffer_string(out, ".TP\n");
        put_reference(out, c, "");
        put_text(out, c->summary);
        buffer_string(out, "\n");
    }
    buffer_string(out, ".SH OPTIONS\n"
                       ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"
                       "print help; after a command, the command\\(aqs help\n"
                       ".TP\n\\fB\\-\\-version\\fR\nprint the program\\(aqs version\n");
    put_statuses(out);
    buffer_string(out, ".SH ENVIRONMENT\n"
                       ".TP\n\\fBCOLUMNS\\fR\nwidth of tables, if it is a number from 20 to 10000\n"
                       ".TP\n\\fBNO_COLOR\\fR\nif it is set and not empty, only \\-\\-color always emphasises text\n"
                       ".SH SEE ALSO\n");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        put_reference(out, c, command_at(i + 1) ? "," : "");
}
