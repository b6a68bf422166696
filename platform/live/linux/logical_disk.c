/* SPDX-License-Identifier: MIT */
#include "live/linux/disk_statistics.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* The counterset LogicalDisk, from /proc/self/mountinfo, statvfs() and /proc/diskstats. docs/linux.md lists the sources
 * of each counter. */

enum { NAME_BYTES = 255 }; /* mount points with longer names are skipped */

/* A mounted file system. */
typedef struct volume {
    uint32_t id; /* device number of the file system, as in pfb_disk_statistics */
    size_t order;
    size_t name_size;
    char name[NAME_BYTES + 1];            /* mount point, with NUL */
    char device[PFB_DISK_NAME_BYTES + 1]; /* with an anonymous device number: X of a source "/dev/X"; else empty */
    uint32_t known;                       /* bits of `needs`: which of the following members this sample has */
    pfb_disk_statistics statistics;
    uint64_t free_mib, total_mib;
} volume;

typedef struct volumes {
    pfb_kernel_reader *reader;
    volume *list; /* in file order */
    size_t count, capacity;
    pfb_disk_statistics *disks; /* ascending by id */
    size_t disk_count, disk_capacity;
    uint64_t now_100ns; /* when /proc/diskstats was read, by CLOCK_MONOTONIC */
} volumes;

/* ---- Values ---------------------------------------------------------------------------------------------- */

static uint64_t volume_value(const volumes *set, const volume *v, uint32_t id)
{
    switch (id) {
    case PFB_DISK_FREE_SPACE:
    case PFB_DISK_FREE_MEGABYTES:
        return v->free_mib;
    case PFB_DISK_FREE_SPACE_BASE:
        return v->total_mib;
    default:
        return pfb_disk_value(set->reader, set->now_100ns, &v->statistics, id);
    }
}

/* The total is the sum of the values, including the bases. Space is counted in 4 bytes, from 4 PiB on as the largest
 * number. */
static uint64_t value(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter)
{
    const volumes *set = context;
    uint64_t sum = 0;
    if (i < set->count)
        sum = volume_value(set, &set->list[i], counter->id);
    for (size_t n = 0; i == set->count && n < set->count; n++)
        sum += (set->list[n].known & needs) == needs ? volume_value(set, &set->list[n], counter->id) : 0;
    return counter->needs == PFB_DISK_SPACE && sum > UINT32_MAX ? UINT32_MAX : sum;
}

/* ---- /proc/self/mountinfo -------------------------------------------------------------------------------------- */

/* Returns true for the types of images that cannot be written to and have no free space. */
static bool is_image(pfb_kernel_span type)
{
    return pfb_kernel_is_word(type, "squashfs") || pfb_kernel_is_word(type, "iso9660") ||
           pfb_kernel_is_word(type, "erofs");
}

/* Decides by the device number, by the source after "/dev/", which is empty if it has another beginning, and by the
 * type whether a file system is on a disk of this machine. The root is always listed. */
static bool is_local(const volume *v, bool is_anonymous, pfb_kernel_span source, pfb_kernel_span type)
{
    return !is_anonymous || source.at < source.end || pfb_kernel_is_word(type, "zfs") || strcmp(v->name, "/") == 0;
}

/* Copies the name of a block device. A source like "/dev/mapper/x" is not one: its device is unknown. */
static void copy_device(pfb_kernel_span source, volume *v)
{
    size_t size = (size_t)(source.end - source.at);
    if (size > PFB_DISK_NAME_BYTES || memchr(source.at, '/', size) || memchr(source.at, '\0', size))
        return;
    memcpy(v->device, source.at, size);
}

/* Parses "36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/sda1 rw", where zero or more words precede the hyphen.
 * Returns false for a file system that is not listed. */
static bool parse_mount(pfb_kernel_span line, volume *v)
{
    uint64_t major;
    uint64_t minor;
    *v = (volume){0};
    pfb_kernel_next_word(&line);
    pfb_kernel_next_word(&line);
    if (!pfb_kernel_take_field(&line, &major) || !pfb_kernel_take_word(&line, ":") ||
        !pfb_kernel_take_number(&line, &minor) || !pfb_disk_id(major, minor, &v->id))
        return false;
    pfb_kernel_next_word(&line); /* folder of the file system */
    v->name_size = pfb_kernel_take_name(&line, v->name, sizeof v->name);
    if (v->name[0] != '/')
        return false;
    pfb_kernel_span word;
    do
        word = pfb_kernel_next_word(&line);
    while (word.at < word.end && !pfb_kernel_is_word(word, "-"));
    pfb_kernel_span type = pfb_kernel_next_word(&line);
    pfb_kernel_span source = pfb_kernel_next_word(&line);
    if (!pfb_kernel_take_word(&source, "/dev/"))
        source.at = source.end;
    if (is_image(type) || !is_local(v, major == 0, source, type))
        return false;
    if (major == 0)
        copy_device(source, v);
    return true;
}

static int compare_order(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_order(const void *left, const void *right)
{
    return compare_order(((const volume *)left)->order, ((const volume *)right)->order);
}

/* By name; the mount that hides the others is last. */
static int by_name(const void *left, const void *right)
{
    const volume *a = left;
    const volume *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : compare_order(a->order, b->order);
}

/* By device; the mount point that is nearest to the root is first. */
static int by_device(const void *left, const void *right)
{
    const volume *a = left;
    const volume *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->name_size != b->name_size ? compare_order(a->name_size, b->name_size) : compare_order(a->order, b->order);
}

/* Removes mounts that later ones hide, and all but one of each file system. */
static void remove_duplicates(volumes *set)
{
    size_t kept = 0;
    qsort(set->list, set->count, sizeof *set->list, by_name);
    for (size_t i = 0; i < set->count; i++) {
        if (i + 1 == set->count || strcmp(set->list[i].name, set->list[i + 1].name) != 0)
            set->list[kept++] = set->list[i];
    }
    set->count = kept;
    qsort(set->list, set->count, sizeof *set->list, by_device);
    kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (kept == 0 || set->list[kept - 1].id != set->list[i].id)
            set->list[kept++] = set->list[i];
    }
    set->count = kept;
    qsort(set->list, set->count, sizeof *set->list, by_order);
}

static bool read_mounts(volumes *set, pfb_kernel_text text)
{
    volume parsed;
    pfb_kernel_span line;
    set->count = 0;
    while (pfb_kernel_take_line(&text, &line)) {
        if (!parse_mount(line, &parsed))
            continue;
        volume *list = pfb_source_grow(set->list, &set->capacity, set->count + 1, sizeof *list);
        if (!list)
            return false;
        set->list = list;
        parsed.order = set->count;
        list[set->count++] = parsed;
    }
    if (set->count > 0)
        remove_duplicates(set);
    return true;
}

/* ---- /proc/diskstats ------------------------------------------------------------------------------------------ */

static int by_id(const void *left, const void *right)
{
    const pfb_disk_statistics *a = left;
    const pfb_disk_statistics *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool read_disks(volumes *set)
{
    pfb_disk_statistics parsed = {0};
    pfb_kernel_span line;
    pfb_kernel_span name;
    pfb_kernel_text text = pfb_kernel_file(set->reader, "/proc/diskstats");
    set->now_100ns = pfb_kernel_now(CLOCK_MONOTONIC);
    pfb_kernel_clock(set->reader);
    set->disk_count = 0;
    while (pfb_kernel_take_line(&text, &line)) {
        if (!pfb_disk_parse(&line, &parsed, &name))
            continue;
        pfb_disk_statistics *disks =
            pfb_source_grow(set->disks, &set->disk_capacity, set->disk_count + 1, sizeof *disks);
        if (!disks)
            return false;
        set->disks = disks;
        disks[set->disk_count++] = parsed;
    }
    if (set->disk_count > 0)
        qsort(set->disks, set->disk_count, sizeof *set->disks, by_id);
    return true;
}

/* Sets the number of the device that has the file system: that of the file system, or if it is anonymous, that of its
 * source. Returns false if it is unknown. */
static bool find_device(pfb_kernel_reader *reader, const volume *v, uint32_t *id)
{
    uint64_t major;
    uint64_t minor;
    *id = v->id;
    if (v->device[0] == '\0')
        return true;
    pfb_kernel_text text = pfb_kernel_file(reader, "/sys/class/block/%s/dev", v->device);
    pfb_kernel_span line = {text.text, text.text + text.size};
    return pfb_kernel_take_number(&line, &major) && pfb_kernel_take_word(&line, ":") &&
           pfb_kernel_take_number(&line, &minor) && pfb_disk_id(major, minor, id);
}

static void find_statistics(volumes *set, volume *v)
{
    pfb_disk_statistics wanted;
    if (set->disk_count == 0 || !find_device(set->reader, v, &wanted.id))
        return;
    const pfb_disk_statistics *found = bsearch(&wanted, set->disks, set->disk_count, sizeof *set->disks, by_id);
    if (!found)
        return;
    v->statistics = *found;
    v->known |= PFB_DISK_STATISTICS;
}

/* ---- Space -------------------------------------------------------------------------------------------------- */

/* Reads the size and the space that users may still allocate, as df does. File systems without a size have no space. */
static void read_space(pfb_kernel_reader *reader, volume *v)
{
    struct statvfs space;
    if (statvfs(pfb_kernel_path(reader, "%s", v->name), &space) != 0 || space.f_blocks == 0 || space.f_frsize == 0 ||
        space.f_frsize > UINT32_MAX)
        return;
    v->free_mib = pfb_kernel_scale(space.f_bavail, space.f_frsize, 1 << 20);
    v->total_mib = pfb_kernel_scale(space.f_blocks, space.f_frsize, 1 << 20);
    v->known |= PFB_DISK_SPACE;
}

/* ---- Operations ----------------------------------------------------------------------------------------------- */

static bool sample(void *context, uint32_t needs, pfb_source_failure *failure)
{
    volumes *set = context;
    pfb_kernel_text text;
    if (!pfb_kernel_need_file(set->reader, "/proc/self/mountinfo", &text, failure))
        return false;
    if (!read_mounts(set, text) || ((needs & PFB_DISK_STATISTICS) && !read_disks(set)))
        return pfb_source_fail_memory(failure);
    pfb_kernel_clock(set->reader);
    for (size_t i = 0; i < set->count; i++) {
        if (needs & PFB_DISK_STATISTICS)
            find_statistics(set, &set->list[i]);
        if (needs & PFB_DISK_SPACE)
            read_space(set->reader, &set->list[i]);
    }
    return true;
}

static void close_volumes(void *context)
{
    volumes *set = context;
    free(set->list);
    free(set->disks);
    free(set);
}

/* Returns the bits of `needs` that at least half of the file systems have. A query for all counters returns only those
 * that have all of them. */
static uint32_t find_offered(const volumes *set)
{
    uint32_t offered = 0;
    for (uint32_t bit = PFB_DISK_STATISTICS; bit <= PFB_DISK_SPACE; bit *= 2) {
        size_t count = 0;
        for (size_t i = 0; i < set->count; i++)
            count += (set->list[i].known & bit) != 0;
        offered |= count > 0 && count >= set->count - count ? bit : 0;
    }
    return offered;
}

/* The set is not available if there are no file systems of which anything is known. */
static void *open_volumes(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    volumes *set = malloc(sizeof *set);
    if (!set) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *set = (volumes){.reader = reader};
    if (sample(set, PFB_DISK_STATISTICS | PFB_DISK_SPACE, failure)) {
        *offered = find_offered(set);
        if (*offered != 0)
            return set;
        pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "/proc/self/mountinfo names no file system on a disk");
    }
    close_volumes(set);
    return NULL;
}

static size_t instance_count(const void *context)
{
    const volumes *set = context;
    return set->count + 1;
}

/* The file systems, then their total. */
static bool instance(const void *context, size_t i, uint32_t needs, pfb_set_instance *found)
{
    const volumes *set = context;
    if (i == set->count) {
        *found = pfb_set_total();
        return true;
    }
    *found = (pfb_set_instance){set->list[i].id, pfb_utf8_name(set->list[i].name, set->list[i].name_size)};
    return (set->list[i].known & needs) == needs;
}

/* 32d66880-17a1-4688-b265-caec846a2992, chosen at random */
const pfb_counterset pfb_logical_disk_set = {
    .guid = {{0x80, 0x68, 0xd6, 0x32, 0xa1, 0x17, 0x88, 0x46, 0xb2, 0x65, 0xca, 0xec, 0x84, 0x6a, 0x29, 0x92}},
    .name = "LogicalDisk",
    .help = "File systems on the disks of this machine, and the statistics of their devices",
    .instance_type = PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE,
    .counters = pfb_disk_counters,
    .counter_count = PFB_DISK_COUNTERS,
    .open = open_volumes,
    .close = close_volumes,
    .sample = sample,
    .instance_count = instance_count,
    .instance = instance,
    .value = value,
};
