/* SPDX-License-Identifier: MIT */
#include "cpi/linux/perf_cpus.h"

#include "live/linux/kernel_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Files of the kernel ---------------------------------------------------------------------------------- */

bool pfb_perf_fail_file(const pfb_source_failure *reason, pfb_cpi_failure *failure)
{
    static const struct {
        uint32_t win32;
        int code;
    } known[] = {{PFB_WIN32_FILE_NOT_FOUND, PFB_PU_ERROR_REQUIRED_APIS_MISSING},
                 {PFB_WIN32_ACCESS_DENIED, PFB_PU_ERROR_ACCESS_DENIED},
                 {PFB_WIN32_NOT_ENOUGH_MEMORY, PFB_PU_ERROR_NOT_ENOUGH_MEMORY},
                 {PFB_WIN32_TOO_MANY_OPEN_FILES, PFB_PU_ERROR_INSUFFICIENT_RESOURCES}};
    int code = PFB_PU_ERROR_READ_PERFORMANCE_DATA;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].win32 == reason->code)
            code = known[i].code;
    }
    return pfb_cpi_fail(failure, code, "%s", reason->sentence);
}

/* Parses the level of kernel.perf_event_paranoid, which may be negative: at -1 the kernel allows everything. */
static bool parse_level(pfb_kernel_text text, int64_t *level)
{
    uint64_t number;
    bool is_negative = text.size > 0 && text.text[0] == '-';
    size_t sign = is_negative ? 1 : 0;
    if (!pfb_kernel_number(text.text + sign, text.size - sign, &number) || number > INT32_MAX)
        return false;
    *level = is_negative ? -(int64_t)number : (int64_t)number;
    return true;
}

bool pfb_perf_read_paranoid(pfb_perf_machine *machine, pfb_cpi_failure *failure)
{
    static const char name[] = "/proc/sys/kernel/perf_event_paranoid";
    pfb_kernel_text text;
    pfb_source_failure reason;
    if (!pfb_kernel_need_file(machine->kernel, name, &text, &reason))
        return pfb_perf_fail_file(&reason, failure);
    return parse_level(text, &machine->paranoid) ||
           pfb_cpi_fail(failure, PFB_PU_ERROR_INTERNAL_ERROR, "%.160s has no level",
                        pfb_kernel_path(machine->kernel, "%s", name));
}

/* Adds a range. Returns false if it is not ascending. Sets *has_too_many if the capacity is exceeded. */
static bool add_range(pfb_perf_online *online, uint32_t first, uint32_t last, bool *has_too_many)
{
    if (last < first || (online->count > 0 && first <= online->cpus[online->count - 1]))
        return false;
    *has_too_many = last - first >= PFB_CPI_CPU_LIMIT - online->count; /* a range may have billions of numbers */
    for (uint32_t i = 0; !*has_too_many && i <= last - first; i++)
        online->cpus[online->count++] = first + i;
    return true;
}

bool pfb_perf_read_online(const pfb_perf_machine *machine, pfb_perf_online *online, pfb_cpi_failure *failure)
{
    static const char name[] = "/sys/devices/system/cpu/online";
    pfb_kernel_text list;
    pfb_source_failure reason;
    online->count = 0;
    if (!pfb_kernel_need_file(machine->kernel, name, &list, &reason))
        return pfb_perf_fail_file(&reason, failure);
    uint32_t first;
    uint32_t last;
    bool is_list = true;
    bool has_too_many = false;
    while (is_list && !has_too_many && pfb_kernel_next_range(&list, &first, &last))
        is_list = add_range(online, first, last, &has_too_many);
    if (is_list && has_too_many)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INSUFFICIENT_RESOURCES, "there are more than %d CPUs",
                            (int)PFB_CPI_CPU_LIMIT);
    bool is_at_end = list.at == list.size || list.text[list.at] == '\n';
    if (!is_list || !is_at_end || online->count == 0)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INTERNAL_ERROR, "%.160s has no list of CPUs",
                            pfb_kernel_path(machine->kernel, "%s", name));
    return true;
}

/* ---- Core types ------------------------------------------------------------------------------------------- */

/* Each directory is one PMU (performance monitoring unit). The PMU of a core type has a file `cpus` with its CPUs if
 * the machine has several core types, and always on ARM. Other PMUs have no such file. */
#define DEVICES "/sys/bus/event_source/devices"

/* The PMUs of CPUs on machines with one core type, which have no file `cpus`. */
static const char *const single_type_names[] = {"cpu", "cpum_cf"};

/* Returns true if an ascending list has all CPUs of a range. */
static bool covers(pfb_kernel_text list, uint32_t first, uint32_t last)
{
    uint32_t listed_first;
    uint32_t listed_last;
    uint64_t next = first;
    while (next <= last && pfb_kernel_next_range(&list, &listed_first, &listed_last)) {
        if (listed_first <= next && next <= listed_last)
            next = (uint64_t)listed_last + 1;
    }
    return next > last;
}

static pfb_kernel_text core_type_cpus(const pfb_perf_machine *machine, const pfb_perf_core_type *type)
{
    return pfb_kernel_file(machine->kernel, DEVICES "/%s/cpus", type->name);
}

/* Returns the type number of the PMU that lists the CPU; 0 if there is none, or if all CPUs are of one core type:
 * older kernels refuse events with a type number on ARM. */
static uint32_t find_core_type(const pfb_perf_machine *machine, uint32_t cpu)
{
    if (machine->is_uniform)
        return 0;
    for (size_t i = 0; i < machine->core_type_count; i++) {
        if (covers(core_type_cpus(machine, &machine->core_types[i]), cpu, cpu))
            return machine->core_types[i].number;
    }
    return 0;
}

/* Adds a PMU if it lists its CPUs. Returns false if it may be a core type that cannot be added. */
static bool add_core_type(pfb_perf_machine *machine, const char *name)
{
    uint64_t number;
    size_t size = strlen(name) + 1;
    if (size > PFB_PERF_NAME_BYTES) /* the paths made from a longer name would be truncated */
        return false;
    if (!pfb_kernel_exists(machine->kernel, DEVICES "/%s/cpus", name))
        return true;
    if (machine->core_type_count == PFB_PERF_CORE_TYPES ||
        !pfb_kernel_file_number(machine->kernel, &number, DEVICES "/%s/type", name) || number > UINT32_MAX)
        return false;
    pfb_perf_core_type *type = &machine->core_types[machine->core_type_count++];
    memcpy(type->name, name, size);
    type->number = (uint32_t)number;
    return true;
}

/* Lists the core types. Returns false if the list may be incomplete. */
static bool list_core_types(pfb_perf_machine *machine)
{
    DIR *devices = opendir(pfb_kernel_path(machine->kernel, DEVICES));
    const struct dirent *entry;
    if (!devices)
        return false;
    bool is_complete = true;
    errno = 0;
    while ((entry = readdir(devices))) {
        if (entry->d_name[0] != '.' && !add_core_type(machine, entry->d_name))
            is_complete = false;
        errno = 0;
    }
    is_complete = is_complete && errno == 0;
    closedir(devices);
    return is_complete;
}

/* Returns true if the machine has one of the PMUs in single_type_names. */
static bool has_single_type(const pfb_perf_machine *machine)
{
    for (size_t i = 0; i < sizeof single_type_names / sizeof single_type_names[0]; i++) {
        if (pfb_kernel_exists(machine->kernel, DEVICES "/%s/type", single_type_names[i]) &&
            !pfb_kernel_exists(machine->kernel, DEVICES "/%s/cpus", single_type_names[i]))
            return true;
    }
    return false;
}

/* Returns true if the only core type covers every CPU that may ever be online. */
static bool covers_possible_cpus(const pfb_perf_machine *machine)
{
    char text[256]; /* a copy, because the kernel reader holds one file at a time. Longer lists count as not covered */
    pfb_kernel_text possible = pfb_kernel_file(machine->kernel, "/sys/devices/system/cpu/possible");
    uint32_t first;
    uint32_t last;
    bool is_covered = true;
    size_t ranges = 0;
    if (possible.size > sizeof text)
        return false;
    memcpy(text, possible.text, possible.size);
    possible.text = text;
    pfb_kernel_text cpus = core_type_cpus(machine, &machine->core_types[0]);
    for (; is_covered && pfb_kernel_next_range(&possible, &first, &last); ranges++)
        is_covered = first <= last && covers(cpus, first, last);
    bool is_at_end = possible.at == possible.size || possible.text[possible.at] == '\n';
    return is_covered && is_at_end && ranges > 0;
}

void pfb_perf_read_core_types(pfb_perf_machine *machine)
{
    machine->core_type_count = 0;
    bool is_complete = list_core_types(machine);
    bool is_single_type = has_single_type(machine);
    machine->is_uniform =
        is_complete && ((is_single_type && machine->core_type_count == 0) ||
                        (!is_single_type && machine->core_type_count == 1 && covers_possible_cpus(machine)));
}

/* ---- Groups ----------------------------------------------------------------------------------------------- */

/* Opens the group of a CPU that has none. Returns 0 or errno. */
static int open_cpu(pfb_perf_cpus *cpus, pfb_perf_cpu *cpu, const pfb_perf_machine *machine, pfb_cpi_failure *failure)
{
    const pfb_perf_target target = {.cpu = cpu->cpu, .core_type = find_core_type(machine, cpu->cpu)};
    int error = pfb_perf_group_open(machine->functions, &target, machine->paranoid, &cpu->group, failure);
    if (error == 0)
        cpu->serial = ++cpus->last_serial;
    return error;
}

static void close_cpu(pfb_perf_cpu *cpu, const pfb_perf_machine *machine)
{
    if (cpu->serial != 0)
        pfb_perf_group_close(machine->functions, &cpu->group);
    cpu->serial = 0;
}

/* Removes the CPUs that are not online, and closes their groups. */
static void remove_offline(pfb_perf_cpus *cpus, const pfb_perf_online *online, const pfb_perf_machine *machine)
{
    size_t count = 0;
    size_t at = 0;
    for (size_t i = 0; i < cpus->count; i++) {
        while (at < online->count && online->cpus[at] < cpus->cpus[i].cpu)
            at++;
        if (at < online->count && online->cpus[at] == cpus->cpus[i].cpu)
            cpus->cpus[count++] = cpus->cpus[i];
        else
            close_cpu(&cpus->cpus[i], machine);
    }
    cpus->count = count;
}

/* Inserts the CPUs that came online. The others are a subset of `online`, so they only move to higher positions;
 * working from the end overwrites none. */
static void add_online(pfb_perf_cpus *cpus, const pfb_perf_online *online)
{
    size_t remaining = cpus->count;
    for (size_t i = online->count; i-- > 0;) {
        if (remaining > 0 && cpus->cpus[remaining - 1].cpu == online->cpus[i])
            cpus->cpus[i] = cpus->cpus[--remaining];
        else
            cpus->cpus[i] = (pfb_perf_cpu){.cpu = online->cpus[i]};
    }
    cpus->count = online->count;
}

void pfb_perf_cpus_reopen(pfb_perf_cpus *cpus, size_t position, const pfb_perf_machine *machine)
{
    close_cpu(&cpus->cpus[position], machine);
    open_cpu(cpus, &cpus->cpus[position], machine, NULL);
}

/* Updates `cpus` to the CPUs that are online now. New ones have no group yet. */
static bool match_online(pfb_perf_cpus *cpus, const pfb_perf_machine *machine, pfb_cpi_failure *failure)
{
    pfb_perf_online online;
    if (!pfb_perf_read_online(machine, &online, failure))
        return false;
    remove_offline(cpus, &online, machine);
    add_online(cpus, &online);
    return true;
}

bool pfb_perf_cpus_update(pfb_perf_cpus *cpus, const pfb_perf_machine *machine, pfb_cpi_failure *failure)
{
    if (!match_online(cpus, machine, failure))
        return false;
    for (size_t i = 0; i < cpus->count; i++) {
        if (cpus->cpus[i].serial == 0)
            open_cpu(cpus, &cpus->cpus[i], machine, NULL);
    }
    return true;
}

/* Opens the groups of all CPUs; none is open yet. */
static bool open_all(pfb_perf_cpus *cpus, const pfb_perf_machine *machine, pfb_cpi_failure *failure)
{
    size_t opened = 0;
    pfb_cpi_failure first = {0};
    for (size_t i = 0; i < cpus->count; i++) {
        pfb_cpi_failure reason = {0};
        int error = open_cpu(cpus, &cpus->cpus[i], machine, &reason);
        if (error == 0)
            opened++;
        else if (!pfb_perf_is_absence(error))
            return pfb_cpi_fail(failure, reason.code, "%s", reason.sentence);
        else if (first.code == PFB_PU_SUCCESS)
            first = reason;
    }
    return opened > 0 || pfb_cpi_fail(failure, first.code, "%s", first.sentence);
}

bool pfb_perf_cpus_open(pfb_perf_cpus *cpus, const pfb_perf_machine *machine, pfb_cpi_failure *failure)
{
    if (match_online(cpus, machine, failure) && open_all(cpus, machine, failure))
        return true;
    pfb_perf_cpus_close(cpus, machine);
    return false;
}

void pfb_perf_cpus_close(pfb_perf_cpus *cpus, const pfb_perf_machine *machine)
{
    for (size_t i = 0; i < cpus->count; i++)
        close_cpu(&cpus->cpus[i], machine);
    cpus->count = 0;
}

static int compare(const void *key, const void *element)
{
    uint32_t wanted = *(const uint32_t *)key;
    uint32_t cpu = ((const pfb_perf_cpu *)element)->cpu;
    return (wanted > cpu) - (wanted < cpu);
}

const pfb_perf_cpu *pfb_perf_cpus_find(const pfb_perf_cpus *cpus, uint32_t cpu)
{
    return bsearch(&cpu, cpus->cpus, cpus->count, sizeof cpus->cpus[0], compare);
}
