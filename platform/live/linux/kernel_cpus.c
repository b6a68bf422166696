/* SPDX-License-Identifier: MIT */
#include "live/linux/kernel_cpus.h"

#include <stdlib.h>
#include <string.h>

/* ---- Nodes and C-states ------------------------------------------------------------------------------------- */

static pfb_kernel_cpu *find_cpu(const pfb_kernel *kernel, uint32_t cpu)
{
    size_t low = 0;
    size_t high = kernel->cpu_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kernel->cpus[middle].times.cpu < cpu)
            low = middle + 1;
        else
            high = middle;
    }
    return low < kernel->cpu_count && kernel->cpus[low].times.cpu == cpu ? &kernel->cpus[low] : NULL;
}

/* Assigns the CPUs in a node's cpulist to the node. A CPU that several nodes list is assigned to the lowest of them. */
static void read_node(pfb_kernel *kernel, uint32_t node)
{
    pfb_kernel_text list = pfb_kernel_file(kernel->reader, "/sys/devices/system/node/node%u/cpulist", (unsigned)node);
    uint32_t first;
    uint32_t last;
    while (pfb_kernel_next_range(&list, &first, &last)) {
        for (size_t i = 0; i < kernel->cpu_count; i++) { /* loop over the CPUs: a range may have billions of numbers */
            pfb_kernel_cpu *cpu = &kernel->cpus[i];
            if (cpu->times.cpu >= first && cpu->times.cpu <= last && (!cpu->has_node || node < cpu->node)) {
                cpu->has_node = true;
                cpu->node = node;
            }
        }
    }
}

/* Reads the nodes of all CPUs. Without the directory the kernel has no nodes, and all CPUs are in node 0. */
static void read_nodes(pfb_kernel *kernel)
{
    kernel->nodes_are_known = true;
    for (size_t i = 0; i < kernel->cpu_count; i++) {
        kernel->cpus[i].has_node = false;
        kernel->cpus[i].node = 0;
    }
    static const pfb_kernel_folders nodes = {"/sys/devices/system/node", "node", 0, PFB_KERNEL_NODE_MAX};
    uint32_t node;
    DIR *folder = pfb_kernel_open_folders(kernel->reader, &nodes);
    if (!folder)
        return;
    while (pfb_kernel_next_folder(kernel->reader, folder, &nodes, &node))
        read_node(kernel, node);
    closedir(folder);
    /* A CPU may come online before its node lists it. Then the next sample reads the nodes again. */
    for (size_t i = 0; i < kernel->cpu_count; i++)
        kernel->nodes_are_known = kernel->nodes_are_known && kernel->cpus[i].has_node;
}

/* Finds the cpuidle directory of each C-state of a CPU. If several directories have the name of a state, the first one
 * is used. */
static void find_c_states(pfb_kernel *kernel, pfb_kernel_cpu *cpu)
{
    memset(cpu->state_folder, PFB_KERNEL_NO_FOLDER, sizeof cpu->state_folder);
    for (unsigned folder = 0; folder < PFB_KERNEL_NO_FOLDER; folder++) {
        pfb_kernel_text name = pfb_kernel_file(kernel->reader, "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/name",
                                               (unsigned)cpu->times.cpu, folder);
        if (name.size == 0)
            return;
        unsigned state = pfb_kernel_c_state(name.text, name.size);
        if (state > 0 && cpu->state_folder[state - 1] == PFB_KERNEL_NO_FOLDER)
            cpu->state_folder[state - 1] = (uint8_t)folder;
    }
}

/* ---- The parts of a sample ----------------------------------------------------------------------------------- */

/* Updates the times of the known CPUs. Returns false if the text has other CPUs. */
static bool update_times(pfb_kernel *kernel, pfb_kernel_text text)
{
    size_t count = 0;
    pfb_kernel_times times;
    while (pfb_kernel_next_times(&text, &times)) {
        if (count == kernel->cpu_count || kernel->cpus[count].times.cpu != times.cpu)
            return false;
        kernel->cpus[count].times = times;
        kernel->cpus[count++].known = PFB_KERNEL_TIMES;
    }
    return count == kernel->cpu_count;
}

/* Replaces the CPUs by those in the text. Returns false when memory is exhausted. */
static bool replace_cpus(pfb_kernel *kernel, pfb_kernel_text text)
{
    pfb_kernel_times times;
    kernel->cpu_count = 0;
    kernel->nodes_are_known = false;
    while (pfb_kernel_next_times(&text, &times)) {
        pfb_kernel_cpu *cpus =
            pfb_source_grow(kernel->cpus, &kernel->cpu_capacity, kernel->cpu_count + 1, sizeof *cpus);
        if (!cpus)
            return false;
        kernel->cpus = cpus;
        cpus[kernel->cpu_count++] = (pfb_kernel_cpu){.times = times, .known = PFB_KERNEL_TIMES};
    }
    for (size_t i = 0; i < kernel->cpu_count; i++)
        find_c_states(kernel, &kernel->cpus[i]);
    return true;
}

/* Reads /proc/stat. If the CPUs changed, finds their C-states and nodes. Reads the nodes again until all are known. */
static bool read_times(pfb_kernel *kernel, pfb_source_failure *failure)
{
    pfb_kernel_text text;
    if (!pfb_kernel_stat(kernel->reader, &text, failure))
        return false;
    pfb_kernel_clock(kernel->reader);
    if (!update_times(kernel, text) && !replace_cpus(kernel, text))
        return pfb_source_fail_memory(failure);
    if (kernel->cpu_count == 0)
        return pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "%.160s has no line with the times of a CPU",
                               pfb_kernel_path(kernel->reader, "/proc/stat"));
    if (!kernel->nodes_are_known) {
        read_nodes(kernel);
        kernel->generation++;
    }
    return true;
}

/* Reads /proc/interrupts. Returns false when memory is exhausted. */
static bool read_interrupts(pfb_kernel *kernel)
{
    bool has_clock = false;
    pfb_kernel_text text = pfb_kernel_file(kernel->reader, "/proc/interrupts");
    size_t count = pfb_kernel_interrupts(text.text, text.size, kernel->columns, kernel->column_capacity, &has_clock);
    if (count > kernel->column_capacity) {
        pfb_kernel_column *columns = pfb_source_grow(kernel->columns, &kernel->column_capacity, count, sizeof *columns);
        if (!columns)
            return false;
        kernel->columns = columns;
        count = pfb_kernel_interrupts(text.text, text.size, columns, kernel->column_capacity, &has_clock);
    }
    for (size_t i = 0; i < count; i++) {
        pfb_kernel_cpu *cpu = find_cpu(kernel, kernel->columns[i].cpu);
        if (!cpu)
            continue;
        cpu->interrupts = kernel->columns[i].all;
        cpu->clock_interrupts = kernel->columns[i].clock;
        cpu->known |= PFB_KERNEL_INTERRUPTS | (has_clock ? PFB_KERNEL_CLOCK_INTERRUPTS : 0);
    }
    return true;
}

/* Reads a frequency in kHz from a CPU's cpufreq directory. Returns false if the frequency is unknown: the file cannot
 * be read, or does not contain a number from 1 to UINT32_MAX. */
static bool read_khz(pfb_kernel *kernel, uint32_t cpu, const char *name, uint64_t *khz)
{
    return pfb_kernel_file_number(kernel->reader, khz, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", (unsigned)cpu,
                                  name) &&
           *khz > 0 && *khz <= UINT32_MAX;
}

static void read_cpufreq(pfb_kernel *kernel, pfb_kernel_cpu *cpu, uint32_t groups)
{
    uint64_t now;
    uint64_t max;
    if (!read_khz(kernel, cpu->times.cpu, "scaling_cur_freq", &now))
        return;
    cpu->mhz = (uint32_t)(now / 1000);
    cpu->known |= PFB_KERNEL_FREQUENCY;
    if (!(groups & PFB_KERNEL_MAX_FREQUENCY) || !read_khz(kernel, cpu->times.cpu, "cpuinfo_max_freq", &max))
        return;
    uint64_t percent = now * 100 / max;
    cpu->percent_of_max = percent < UINT32_MAX ? (uint32_t)percent : UINT32_MAX;
    cpu->known |= PFB_KERNEL_MAX_FREQUENCY;
}

static void read_cpuinfo(pfb_kernel *kernel)
{
    pfb_kernel_text text = pfb_kernel_file(kernel->reader, "/proc/cpuinfo");
    uint32_t number;
    uint32_t mhz;
    while (pfb_kernel_next_clock(&text, &number, &mhz)) {
        pfb_kernel_cpu *cpu = find_cpu(kernel, number);
        if (!cpu)
            continue;
        cpu->mhz = mhz;
        cpu->known |= PFB_KERNEL_FREQUENCY;
    }
}

static void read_frequencies(pfb_kernel *kernel, uint32_t groups)
{
    if (kernel->clock_from_cpuinfo) {
        read_cpuinfo(kernel);
        return;
    }
    for (size_t i = 0; i < kernel->cpu_count; i++)
        read_cpufreq(kernel, &kernel->cpus[i], groups);
}

/* Reads time and entries of a C-state, numbered from 1, of a CPU. */
static void read_c_state(pfb_kernel *kernel, pfb_kernel_cpu *cpu, unsigned state)
{
    unsigned folder = cpu->state_folder[state - 1];
    if (folder == PFB_KERNEL_NO_FOLDER)
        return;
    unsigned number = (unsigned)cpu->times.cpu;
    if (pfb_kernel_file_number(kernel->reader, &cpu->state_us[state - 1],
                               "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/time", number, folder) &&
        pfb_kernel_file_number(kernel->reader, &cpu->state_entries[state - 1],
                               "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/usage", number, folder))
        cpu->known |= PFB_KERNEL_C_STATE(state);
}

bool pfb_kernel_sample(pfb_kernel *kernel, uint32_t groups, pfb_source_failure *failure)
{
    if (!read_times(kernel, failure))
        return false;
    if (groups & (PFB_KERNEL_INTERRUPTS | PFB_KERNEL_CLOCK_INTERRUPTS) && !read_interrupts(kernel))
        return pfb_source_fail_memory(failure);
    if (groups & (PFB_KERNEL_FREQUENCY | PFB_KERNEL_MAX_FREQUENCY))
        read_frequencies(kernel, groups);
    for (unsigned state = 1; state <= PFB_KERNEL_C_STATES; state++) {
        if (!(groups & PFB_KERNEL_C_STATE(state)))
            continue;
        for (size_t i = 0; i < kernel->cpu_count; i++)
            read_c_state(kernel, &kernel->cpus[i], state);
    }
    return true;
}

/* ---- Opening ------------------------------------------------------------------------------------------------- */

static uint32_t known_of_every_cpu(const pfb_kernel *kernel)
{
    uint32_t known = PFB_KERNEL_ALL;
    for (size_t i = 0; i < kernel->cpu_count; i++)
        known &= kernel->cpus[i].known;
    return known;
}

/* Chooses the source of frequencies: cpufreq if it has the frequency of every CPU, because cpufreq also has the
 * maximum; otherwise /proc/cpuinfo for all CPUs. */
static void choose_clock(pfb_kernel *kernel)
{
    const uint32_t clocks = PFB_KERNEL_FREQUENCY | PFB_KERNEL_MAX_FREQUENCY;
    if (known_of_every_cpu(kernel) & PFB_KERNEL_FREQUENCY)
        return;
    kernel->clock_from_cpuinfo = true;
    for (size_t i = 0; i < kernel->cpu_count; i++)
        kernel->cpus[i].known &= ~clocks;
    read_cpuinfo(kernel);
}

bool pfb_kernel_open(pfb_kernel *kernel, pfb_kernel_reader *reader, uint32_t groups, pfb_source_failure *failure)
{
    *kernel = (pfb_kernel){.reader = reader};
    if (!pfb_kernel_sample(kernel, groups, failure)) {
        pfb_kernel_close(kernel);
        return false;
    }
    if (groups & PFB_KERNEL_FREQUENCY)
        choose_clock(kernel);
    kernel->offered = known_of_every_cpu(kernel);
    return true;
}

void pfb_kernel_close(pfb_kernel *kernel)
{
    free(kernel->cpus);
    free(kernel->columns);
    *kernel = (pfb_kernel){0};
}
