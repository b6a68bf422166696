/* SPDX-License-Identifier: MIT */
/* The table of the commands. docs/perfblock.md describes them. */
#include "commands.h"

#include "input/suggest.h"
#include "output/diagnostics.h"

#include <string.h>

/* In the order in which help lists them. */
static const command commands[] = {
    {.name = "show",
     .bit = COMMAND_SHOW,
     .arguments = "FILE...",
     .files = FILES_MANY,
     .formats = WRITES_TEXT | WRITES_JSON | WRITES_HTML,
     .summary = "structure with byte offsets; as html every byte beside its field",
     .description =
         "Prints a record for each structure of each file, with its offset in the file. With --format html it writes a "
         "page with every byte beside the field that it belongs to, and errors at their offsets. Recordings, logs, V1 "
         "blocks and V2 data are recognised; metadata replies need --kind.",
     .examples = {{"perfblock show recording.pfb", "every chunk with its content"},
                  {"perfblock show --format json --kind data reply.bin", "a V2 reply, one JSON object per line"},
                  {"perfblock show --format html reply.bin -o reply.html", "the bytes of a V2 reply as a page"}},
     .run = command_show},
    {.name = "check",
     .bit = COMMAND_CHECK,
     .arguments = "FILE...",
     .files = FILES_MANY,
     .formats = WRITES_ALL,
     .summary = "verdict per file",
     .description =
         "Reads every block and chunk of each file and prints one verdict per file. The verdict of a "
         "malformed file names the first error and its offset. The exit status is 1 if any file is malformed.",
     .examples = {{"perfblock check recording.pfb reply.bin", "a line for each of the files"},
                  {"perfblock check --strict --format csv reply.bin",
                   "also reject the deviations that real providers are known for"}},
     .run = command_check},
    {.name = "cook",
     .bit = COMMAND_COOK,
     .arguments = "[INPUT...]",
     .files = FILES_ANY,
     .formats = WRITES_ALL | WRITES_PDH | WRITES_PROMETHEUS | WRITES_SQLITE,
     .summary = "displayed values from consecutive samples",
     .description =
         "Computes the values that the counters display, from each sample and the one before it. The samples "
         "of several files are merged by time, so rotated recordings may be given in any order. The INPUT live is this "
         "machine, as with the command live; without INPUT its values are printed once. With -o, the name of "
         "the file gives the format unless --format does: .txt, .json, .jsonl, .csv, .pdh.csv, .tsv, .prom or .sqlite. "
         "The metrics of --format prometheus are OpenMetrics, for files.",
     .examples = {{"perfblock cook recording.pfb", "a table per sample and counterset"},
                  {"perfblock cook --format csv recording.pfb.1 recording.pfb", "two files of one rotation as CSV"},
                  {"perfblock cook recording.pfb -o log.pdh.csv", "a log that perfmon opens"}},
     .run = command_cook},
    {.name = "convert",
     .bit = COMMAND_CONVERT,
     .arguments = "FILE... -o FILE",
     .files = FILES_MANY,
     .formats = WRITES_CAPTURE,
     .summary = "the raw data of files as one recording, filtered",
     .description =
         "Writes the samples of files to one recording (.pfb). It has only what --path, --set, --counter and "
         "--instance choose, what their formulas need, and the samples that --from, --to and --every choose. cook "
         "-o FILE writes displayed values.",
     .examples = {{"perfblock convert day.pfb -o cpu.pfb --set \"Processor Information\"",
                   "the part of a recording that belongs to one counterset"},
                  {"perfblock convert --names names.txt block1.bin block2.bin -o blocks.pfb",
                   "V1 blocks with their names"}},
     .run = command_convert},
    {.name = "report",
     .bit = COMMAND_REPORT,
     .arguments = "INPUT...",
     .files = FILES_MANY,
     .formats = WRITES_TEXT,
     .summary = "charts of displayed values, as a web page",
     .description =
         "Computes the displayed values as cook does and writes a page of charts and tables. The page is one "
         "file and needs no network. The INPUT live is this machine.",
     .examples = {{"perfblock report recording.pfb -o page.html", "a page of charts"},
                  {"perfblock report day.pfb.1 day.pfb -o day.html --open", "two files, and a browser to read them"},
                  {"perfblock report live --duration 60 -o now.html", "a minute of this machine"}},
     .run = command_report},
    {.name = "eval",
     .bit = COMMAND_EVAL,
     .arguments = "[FILE]",
     .files = FILES_ONE,
     .formats = WRITES_CSV,
     .summary = "formulas: CSV in, CSV out (standard input without FILE)",
     .description = "Evaluates the formula of a counter type for each row of a CSV file. The header names the columns: "
                    "id, type, mode, and the raw values and clocks of two samples (value0, time0, value1, time1 and "
                    "others). Results are compared with the columns whose names begin with expected_, except "
                    "expected_exact.",
     .examples = {{"perfblock eval samples.csv", "a result for each row"}},
     .run = command_eval},
    {.name = "types",
     .bit = COMMAND_TYPES,
     .arguments = "",
     .files = FILES_NONE,
     .formats = WRITES_ALL,
     .summary = "the counter types",
     .description = "Lists the counter types with their values, clocks, units and formulas.",
     .examples = {{"perfblock types", "a table"}, {"perfblock types --format json", "a JSON object per type"}},
     .run = command_types},
    {.name = "live",
     .bit = COMMAND_LIVE,
     .arguments = "[PATH...]",
     .files = FILES_PATHS,
     .formats = WRITES_ALL | WRITES_PDH | WRITES_PROMETHEUS | WRITES_SQLITE,
     .summary = "collect from this machine and show displayed values",
     .description = "Collects samples at an interval and prints the displayed values of each sample after the first, "
                    "or with --format prometheus the metrics of each sample. On a terminal each table replaces the one "
                    "before it. Counters are chosen by path, or by --set, --counter and --instance; default: Processor "
                    "Information.",
     .examples = {{"perfblock live --interval 5 \"\\Memory\\*\"", "the memory counters every five seconds"},
                  {"perfblock live --set Process --counter \"% Processor Time\" --count 1",
                   "one table: the processor time of each process"},
                  {"perfblock live --set \"Physical*\" --format prometheus -i 15 -o /var/lib/node_exporter/disks.prom",
                   "metrics for Prometheus, replaced every 15 seconds"}},
     .run = command_cook},
    {.name = "record",
     .bit = COMMAND_RECORD,
     .arguments = "-o FILE [PATH...]",
     .files = FILES_PATHS,
     .formats = WRITES_TEXT,
     .summary = "collect and store raw bytes",
     .description =
         "Collects samples at an interval and appends the raw bytes and their metadata to a recording, until "
         "interrupted, --duration is over or --count samples are stored. convert copies a part of a recording.",
     .examples = {{"perfblock record -o day.pfb --interval 10 --rotate 100M",
                   "a sample every ten seconds, in files of 100 MiB"},
                  {"perfblock record -o disk.pfb --duration 60 \"\\PhysicalDisk(*)\\*\"",
                   "a minute of the counters of one counterset"}},
     .run = command_record},
    {.name = "countersets",
     .bit = COMMAND_COUNTERSETS,
     .arguments = "[NAME...]",
     .files = FILES_SETS,
     .formats = WRITES_TEXT | WRITES_JSON,
     .summary = "what this machine (or --source INPUT) offers",
     .description = "Lists countersets with their counters; with names only those that match, also with help texts and "
                    "instances. Names may contain * and ?.",
     .examples = {{"perfblock countersets", "what this machine offers"},
                  {"perfblock countersets Memory \"Network*\"", "countersets by name, with help texts and instances"},
                  {"perfblock countersets --source recording.pfb --format json", "what a recording contains"}},
     .run = command_countersets},
    {.name = "cpuid",
     .bit = COMMAND_CPUID,
     .arguments = "[DUMP]",
     .files = FILES_ONE,
     .formats = WRITES_TEXT | WRITES_JSON,
     .summary = "features of this CPU, or of a saved text dump",
     .description = "Prints what CPUID reports for each CPU, and whether Lightweight Profiling can be used there.",
     .examples = {{"perfblock cpuid", "the CPUs of this machine"},
                  {"perfblock cpuid --format json dump.txt", "the CPUs of a saved dump"}},
     .run = command_cpuid},
    {.name = "lwp show",
     .bit = COMMAND_LWP_SHOW,
     .arguments = "[FILE...]",
     .files = FILES_ANY,
     .formats = WRITES_TEXT | WRITES_JSON,
     .summary = "LWP control block and ring of a recording, or of this CPU",
     .description = "Prints the control block and the unread records of Lightweight Profiling snapshots. Without FILE "
                    "it asks the CPUs of this machine; where they have LWP, it records some events and prints them.",
     .examples = {{"perfblock lwp show recording.pfb", "the snapshots of a recording"}},
     .run = command_lwp_show},
    {.name = "cpi show",
     .bit = COMMAND_CPI_SHOW,
     .arguments = "[FILE...]",
     .files = FILES_ANY,
     .formats = WRITES_TEXT | WRITES_JSON,
     .summary = "CPI hooks of a recording (standard input without FILE)",
     .description =
         "Prints the groups of CPI (cycles per instruction) hooks that recordings contain. Any other file is "
         "read as a stream of hooks.",
     .examples = {{"perfblock cpi show run.pfb", "the hooks that cpi run stored"}},
     .run = command_cpi_show},
    {.name = "cpi run",
     .bit = COMMAND_CPI_RUN,
     .arguments = "-- COMMAND...",
     .files = FILES_COMMAND,
     .formats = WRITES_TEXT | WRITES_JSON,
     .summary = "cycles per instruction while a command runs",
     .description =
         "Runs COMMAND with its arguments and prints the cycles per instruction (CPI) of this machine during "
         "the run, for all CPUs together and for each CPU. If the counters cannot be used, the command is "
         "not run. With --format json the command's standard output goes to standard error.",
     .examples = {{"perfblock cpi run -- make all", "CPI while make runs"},
                  {"perfblock cpi run -o run.pfb --label build -- make all", "the same, stored with a label"}},
     .run = command_cpi_run},
    {.name = "help",
     .bit = COMMAND_HELP,
     .arguments = "[COMMAND]",
     .files = FILES_NAME,
     .formats = WRITES_TEXT,
     .summary = "the same as COMMAND --help; also for lwp and cpi",
     .description = "Prints the help of a command or of a group of commands; without COMMAND the list of the commands.",
     .examples = {{"perfblock help cook", "the options of cook"},
                  {"perfblock help lwp", "the commands of a group"},
                  {"perfblock help --generate man cook", "the man page of cook"}},
     .run = command_help},
};

static const command_group groups[] = {
    {"lwp", "Lightweight Profiling of AMD processors"},
    {"cpi", "cycles per instruction"},
};

const command *command_at(size_t i)
{
    return i < sizeof commands / sizeof commands[0] ? &commands[i] : NULL;
}

const command_group *command_group_at(size_t i)
{
    return i < sizeof groups / sizeof groups[0] ? &groups[i] : NULL;
}

const command_group *command_group_find(const char *name)
{
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (strcmp(groups[i].name, name) == 0)
            return &groups[i];
    }
    return NULL;
}

bool command_is_in(const command *c, const command_group *group)
{
    size_t size = strlen(group->name);
    return strncmp(c->name, group->name, size) == 0 && c->name[size] == ' ';
}

const command *command_find(size_t count, char *const *words, size_t *word_count)
{
    const command *c = NULL;
    for (size_t i = 0; count > 0 && (c = command_at(i)) != NULL; i++) {
        size_t first_size = strcspn(c->name, " ");
        *word_count = c->name[first_size] == '\0' ? 1 : 2;
        if (count < *word_count || strlen(words[0]) != first_size || strncmp(words[0], c->name, first_size) != 0)
            continue;
        if (*word_count == 1 || strcmp(words[1], c->name + first_size + 1) == 0)
            return c;
    }
    return NULL;
}

/* Reports that a group was given without one of its commands. */
static void refuse_group(const command_group *group)
{
    const command *c = NULL;
    buffer names = {0};
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        if (command_is_in(c, group))
            buffer_format(&names, "%s%s", names.size > 0 ? " or " : "", c->name);
    }
    diagnostics_say(STATUS_USAGE, "perfblock", "%s: expected %s", group->name, names.data);
    buffer_free(&names);
}

void command_refuse(size_t count, char *const *words)
{
    const command_group *group = command_group_find(words[0]);
    const command *c = NULL;
    if (group && count < 2) {
        refuse_group(group);
        return;
    }
    if (words[0][0] == '-') {
        diagnostics_say(STATUS_USAGE, "perfblock", "expected a command before %s; perfblock help lists them", words[0]);
        return;
    }
    buffer typed = {0};
    buffer sentence = {0};
    suggestion similar;
    buffer_format(&typed, "%s%s%s", words[0], group ? " " : "", group ? words[1] : "");
    suggest_begin(&similar, typed.data);
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        suggest_name(&similar, c->name, strlen(c->name));
    buffer_format(&sentence, "unknown command %s", typed.data);
    suggest_put(&similar, &sentence, "; perfblock help lists the commands");
    diagnostics_say(STATUS_USAGE, "perfblock", "%s", sentence.data);
    suggest_end(&similar);
    buffer_free(&typed);
    buffer_free(&sentence);
}
