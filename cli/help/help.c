/* SPDX-License-Identifier: MIT */
#include "help/help.h"

#include "output/diagnostics.h"
#include "perfblock/version.h"

#include <string.h>

/* ---- Pages ----------------------------------------------------------------------------------------------- */

/* Help on a terminal, or a man page (man(7), section 1). Both have the same sections, from the same tables. */
typedef struct page {
    buffer text;
    bool is_man;
} page;

enum { WIDTH = 80, MEANING_COLUMN = 28, STATUS_COLUMN = 5, EXAMPLE_COLUMN = 6 };

/* Appends text with troff's special characters escaped. "-" becomes a minus sign, which can be copied from the page as
 * part of an option; troff prints a bare "-" as a hyphen. */
static void put_troff(buffer *out, const char *text)
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
    put_troff(out, text);
    buffer_string(out, "\\fR");
}

/* Appends a paragraph. In help it starts at a column of the line and is wrapped between words; the lines after the
 * first are indented by as many blanks. */
static void put_paragraph(page *p, const char *text, size_t indent)
{
    size_t column = indent;
    if (p->is_man)
        put_troff(&p->text, text);
    for (const char *at = text; !p->is_man && *at != '\0'; at += *at == ' ') {
        size_t size = strcspn(at, " ");
        bool is_first = at == text;
        if (!is_first && column + 1 + size > WIDTH) {
            buffer_string(&p->text, "\n");
            buffer_spaces(&p->text, indent);
            column = indent;
        } else if (!is_first) {
            buffer_string(&p->text, " ");
            column++;
        }
        buffer_bytes(&p->text, at, size);
        column += size;
        at += size;
    }
    buffer_string(&p->text, "\n");
}

static void put_upper(buffer *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        char upper = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
        buffer_bytes(out, &upper, 1);
    }
}

static void put_heading(page *p, const char *title)
{
    if (!p->is_man) {
        buffer_format(&p->text, "\n%s:\n", title);
        return;
    }
    buffer_string(&p->text, ".SH ");
    put_upper(&p->text, title);
    buffer_string(&p->text, "\n");
}

/* Appends a term, its argument, if any, and at a column their meaning. */
static void put_item(page *p, const char *term, const char *argument, size_t column, const char *meaning)
{
    size_t start = p->text.size;
    bool has_argument = argument && *argument != '\0';
    if (p->is_man) {
        buffer_string(&p->text, ".TP\n");
        put_styled(&p->text, "B", term + strspn(term, " "));
        buffer_string(&p->text, has_argument ? " " : "");
        if (has_argument)
            put_styled(&p->text, "I", argument);
        buffer_string(&p->text, "\n");
    } else {
        buffer_format(&p->text, "  %s%s%s", term, has_argument ? " " : "", has_argument ? argument : "");
        if (p->text.size - start >= column) {
            buffer_string(&p->text, "\n");
            start = p->text.size;
        }
        buffer_spaces(&p->text, column - (p->text.size - start));
    }
    put_paragraph(p, meaning, column);
}

/* Appends "perfblock" and the words of a command's name, if any, with a separator before each. */
static void put_name(buffer *out, const char *words, char separator)
{
    buffer_string(out, "perfblock");
    if (*words != '\0')
        buffer_bytes(out, &separator, 1);
    for (const char *c = words; *c != '\0'; c++)
        buffer_bytes(out, *c == ' ' ? &separator : c, 1);
}

/* Begins the page of a command, of a group, or of the program, whose name is empty. */
static void put_head(page *p, const char *words, const char *arguments, const char *summary, const char *description)
{
    buffer name = {0};
    put_name(&name, words, p->is_man ? '-' : ' ');
    if (p->is_man) {
        buffer_string(&p->text, ".TH ");
        put_upper(&p->text, name.data);
        buffer_format(&p->text, " 1 \"\" \"perfblock %s\" perfblock\n.nh\n", pfb_version());
        put_heading(p, "Name");
        put_troff(&p->text, name.data);
        buffer_string(&p->text, " \\- ");
        put_paragraph(p, summary, 0);
        buffer_clear(&name);
        put_name(&name, words, ' ');
        put_heading(p, "Synopsis");
        put_styled(&p->text, "B", name.data);
        buffer_string(&p->text, " ");
        put_styled(&p->text, "I", arguments);
        buffer_string(&p->text, "\n");
        put_heading(p, "Description");
    } else {
        buffer_format(&p->text, "Usage: %s %s\n", name.data, arguments);
    }
    put_paragraph(p, description, 0);
    buffer_free(&name);
}

static void put_statuses(page *p)
{
    static const char *const meanings[] = {
        "success",
        "an input is malformed, or a result differs from the expected one",
        "wrong usage, or a counterset, counter or instance that does not exist",
        "a file cannot be read or written",
        "this machine cannot do it; the reason is printed",
    };
    put_heading(p, "Exit status");
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        put_item(p, (char[]){(char)('0' + i), '\0'}, NULL, STATUS_COLUMN, meanings[i]);
}

/* Appends the commands of a group, or all commands if `group` is null. */
static void put_commands(page *p, const command_group *group)
{
    const command *c = NULL;
    put_heading(p, "Commands");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        buffer name = {0};
        put_name(&name, c->name, '-');
        buffer_string(&name, "(1)");
        if (!group || command_is_in(c, group))
            put_item(p, p->is_man ? name.data : c->name, p->is_man ? NULL : c->arguments, MEANING_COLUMN, c->summary);
        buffer_free(&name);
    }
}

/* Appends an option and the words that the command accepts as its value, with "(default)" after the first of several if
 * that is the default. */
static void put_option(page *p, const command_option *option, const command *c)
{
    const char *separator = ": ";
    size_t count = 0;
    buffer term = {0};
    buffer meaning = {0};
    buffer_format(&term, option->letter != 0 ? "-%c, --%s" : "%c   --%s", option->letter != 0 ? option->letter : ' ',
                  option->name);
    buffer_string(&meaning, option->meaning);
    for (size_t i = 0; option->words && option->words[i]; i++)
        count += option_allows(option, c, i);
    for (size_t i = 0; option->words && option->words[i]; i++) {
        if (!option_allows(option, c, i))
            continue;
        buffer_format(&meaning, "%s%s", separator, option->words[i]);
        if (option_has_default(option, c) && count > 1 && *separator == ':')
            buffer_string(&meaning, " (default)");
        separator = ", ";
    }
    if (p->is_man && option->example)
        buffer_format(&meaning, ". Example: --%s %s", option->name, option->example);
    put_item(p, term.data, option->argument, MEANING_COLUMN, meaning.data);
    buffer_free(&term);
    buffer_free(&meaning);
}

static void put_command(page *p, const command *c)
{
    const command_option *option = NULL;
    buffer arguments = {0};
    buffer_format(&arguments, "[OPTION...]%s%s", *c->arguments != '\0' ? " " : "", c->arguments);
    put_head(p, c->name, arguments.data, c->summary, c->description);
    put_heading(p, "Options");
    for (size_t i = 0; (option = option_at(i)) != NULL; i++) {
        if (option_applies(option, c))
            put_option(p, option, c);
    }
    if (p->is_man)
        put_statuses(p);
    put_heading(p, "Examples");
    for (size_t i = 0; i < COMMAND_EXAMPLES && c->examples[i].line; i++)
        put_item(p, c->examples[i].line, NULL, EXAMPLE_COLUMN, c->examples[i].meaning);
    if (p->is_man)
        buffer_string(&p->text, ".SH SEE ALSO\n\\fBperfblock\\fR(1)\n");
    buffer_free(&arguments);
}

static void put_program(page *p)
{
    put_head(p, "", "COMMAND [OPTION...] [FILE...]",
             "read Windows performance data and compute what its counters display",
             "Reads Windows performance data on any system and computes what its counters display. A FILE named - is "
             "standard input. Malformed input is reported on standard error as FILE: offset N: code: sentence.");
    put_commands(p, NULL);
    put_heading(p, "Options");
    put_item(p, "-h, --help", NULL, MEANING_COLUMN, "print this help; after a command, the command's help");
    put_item(p, "    --version", NULL, MEANING_COLUMN, "print the program's version");
    put_statuses(p);
    put_heading(p, "Environment");
    put_item(p, "COLUMNS", NULL, MEANING_COLUMN, "width of tables, if it is a number from 20 to 10000");
    put_item(p, "NO_COLOR", NULL, MEANING_COLUMN, "if it is set and not empty, only --color always emphasises text");
}

/* ---- Completion ------------------------------------------------------------------------------------------ */

/* Appends rows for the completion of a shell (perfblock.bash): "* commands" with the words that can follow the name of
 * a group, or that can begin a command line if `group` is null. */
static void put_next_words(buffer *out, const command_group *group)
{
    const command *c = NULL;
    const command_group *other = NULL;
    buffer_string(out, "* commands");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        const char *second = strchr(c->name, ' ');
        if (group ? command_is_in(c, group) : !second)
            buffer_format(out, " %s", group ? second + 1 : c->name);
    }
    for (size_t i = 0; !group && (other = command_group_at(i)) != NULL; i++)
        buffer_format(out, " %s", other->name);
    buffer_string(out, group ? "\n--help flag\n" : "\n--help flag\n--version flag\n");
}

/* Appends a row for each option of a command, with the kind of its value, and one for the other arguments. */
static void put_rows(buffer *out, const command *c)
{
    static const char *const kinds[] = {
        [OPTION_FLAG] = "flag",   [OPTION_WORD] = "words", [OPTION_FILE] = "file",        [OPTION_FILES] = "file",
        [OPTION_OUTPUT] = "file", [OPTION_NAMES] = "file", [OPTION_REGISTRATION] = "file"};
    bool takes_files = c->files == FILES_ONE || c->files == FILES_ANY || c->files == FILES_MANY;
    const command_option *option = NULL;
    for (size_t i = 0; (option = option_at(i)) != NULL; i++) {
        const char *kind = kinds[option->type] ? kinds[option->type] : "value";
        buffer words = {0};
        for (size_t k = 0; option->words && option->words[k]; k++) {
            if (option_allows(option, c, k))
                buffer_format(&words, " %s", option->words[k]);
        }
        buffer_string(&words, "\n");
        if (option_applies(option, c))
            buffer_format(out, "--%s %s%s", option->name, kind, words.data);
        if (option_applies(option, c) && option->letter != 0)
            buffer_format(out, "-%c %s%s", option->letter, kind, words.data);
        buffer_free(&words);
    }
    buffer_format(out, "* %s\n", takes_files ? "file" : c->files == FILES_COMMAND ? "program" : "value");
}

/* ---- Printing -------------------------------------------------------------------------------------------- */

/* Prints a text and frees it. */
static void print(buffer *text)
{
    output out;
    output_open(&out, OUTPUT_TEXT, false);
    output_raw(&out, text->data, text->size);
    output_close(&out);
    buffer_free(text);
}

void help_overview(void)
{
    page p = {.is_man = false};
    put_program(&p);
    print(&p.text);
}

void help_group(const command_group *group)
{
    page p = {.is_man = false};
    buffer sentence = {0};
    buffer_format(&sentence, "%s.", group->summary);
    put_head(&p, group->name, "COMMAND [OPTION...]", NULL, sentence.data);
    put_commands(&p, group);
    buffer_free(&sentence);
    print(&p.text);
}

void help_command(const command *c)
{
    page p = {.is_man = false};
    put_command(&p, c);
    print(&p.text);
}

void help_version(void)
{
    buffer text = {0};
    buffer_format(&text, "perfblock %s\n", pfb_version());
    print(&text);
}

/* Prints a man page or the rows for completion (--generate) of a command, of a group, or if both are null of the
 * program. A group has no man page; that of the program is printed. */
static void generate(generated_text what, const command *c, const command_group *group)
{
    page p = {.is_man = true};
    if (what == GENERATED_ROWS && c)
        put_rows(&p.text, c);
    else if (what == GENERATED_ROWS)
        put_next_words(&p.text, group);
    else if (c)
        put_command(&p, c);
    else
        put_program(&p);
    print(&p.text);
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
    else if (o->generated != GENERATED_NONE)
        generate(o->generated, c, group);
    else if (group)
        help_group(group);
    else if (c)
        help_command(c);
    else
        help_overview();
}
