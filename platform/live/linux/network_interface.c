/* SPDX-License-Identifier: MIT */
#include "live/linux/counterset.h"

#include <stdlib.h>
#include <string.h>

/* The counterset Network Interface, from /proc/net/dev and /sys/class/net. docs/linux.md lists the sources
 * of each counter. */

/* Fields of an interface in /proc/net/dev, in this order. */
enum {
    RECEIVED_BYTES,
    RECEIVED_PACKETS,
    RECEIVED_ERRORS,
    RECEIVED_DROPPED,
    RECEIVED_FIFO,
    RECEIVED_FRAME,
    RECEIVED_COMPRESSED,
    RECEIVED_MULTICAST,
    SENT_BYTES,
    SENT_PACKETS,
    SENT_ERRORS,
    SENT_DROPPED,
    FIELDS
};

enum { NAME_BYTES = 64 }; /* names with more bytes are skipped; the kernel's have fewer than 16 */

typedef struct interface {
    uint32_t id; /* the kernel's ifindex; 0 if unknown */
    size_t name_size;
    char name[NAME_BYTES + 1]; /* also the name of its directory in /sys/class/net */
    uint64_t fields[FIELDS];
    uint64_t bits_per_second;
} interface;

typedef struct interfaces {
    pfb_kernel_reader *reader;
    interface *list; /* in file order */
    size_t count, capacity;
} interfaces;

/* ---- Counters ------------------------------------------------------------------------------------------- */

/* Counter ids. */
enum {
    TOTAL_BYTES_RATE,
    TOTAL_PACKETS_RATE,
    RECEIVED_PACKETS_RATE,
    SENT_PACKETS_RATE,
    BANDWIDTH,
    RECEIVED_BYTES_RATE,
    PACKETS_RECEIVED_DISCARDED,
    PACKETS_RECEIVED_ERRORS,
    SENT_BYTES_RATE,
    PACKETS_SENT_DISCARDED,
    PACKETS_SENT_ERRORS,
    COUNTERS
};

/* Bits of `needs`: /proc/net/dev, and the files with the speed. */
enum { STATISTICS = 1, SPEED = 2 };

#define SUM PFB_AGGREGATE_SUM
#define NOVICE PFB_DETAIL_NOVICE
#define ADVANCED PFB_DETAIL_ADVANCED

#define COUNTER(id, type, needs, level, name, help)                                                                    \
    {                                                                                                                  \
        id, type, STATISTICS | (needs), 0, 0, 0, SUM, level, 0, name, help                                             \
    }

static const pfb_set_counter counters[COUNTERS] = {
    COUNTER(TOTAL_BYTES_RATE, PERF_COUNTER_BULK_COUNT, 0, NOVICE, "Bytes Total/sec", "Bytes received and sent"),
    COUNTER(TOTAL_PACKETS_RATE, PERF_COUNTER_BULK_COUNT, 0, NOVICE, "Packets/sec", "Packets received and sent"),
    COUNTER(RECEIVED_PACKETS_RATE, PERF_COUNTER_BULK_COUNT, 0, NOVICE, "Packets Received/sec", "Packets received"),
    COUNTER(SENT_PACKETS_RATE, PERF_COUNTER_BULK_COUNT, 0, NOVICE, "Packets Sent/sec", "Packets sent"),
    COUNTER(BANDWIDTH, PERF_COUNTER_LARGE_RAWCOUNT, SPEED, NOVICE, "Current Bandwidth",
            "Speed of the link in bits per second; 0 if the kernel reports none"),
    COUNTER(RECEIVED_BYTES_RATE, PERF_COUNTER_BULK_COUNT, 0, NOVICE, "Bytes Received/sec", "Bytes received"),
    COUNTER(PACKETS_RECEIVED_DISCARDED, PERF_COUNTER_LARGE_RAWCOUNT, 0, ADVANCED, "Packets Received Discarded",
            "Packets received and dropped, for lack of buffer space or of a receiver"),
    COUNTER(PACKETS_RECEIVED_ERRORS, PERF_COUNTER_LARGE_RAWCOUNT, 0, ADVANCED, "Packets Received Errors",
            "Packets received with errors"),
    COUNTER(SENT_BYTES_RATE, PERF_COUNTER_BULK_COUNT, 0, NOVICE, "Bytes Sent/sec", "Bytes sent"),
    COUNTER(PACKETS_SENT_DISCARDED, PERF_COUNTER_LARGE_RAWCOUNT, 0, ADVANCED, "Packets Outbound Discarded",
            "Packets dropped instead of sent"),
    COUNTER(PACKETS_SENT_ERRORS, PERF_COUNTER_LARGE_RAWCOUNT, 0, ADVANCED, "Packets Outbound Errors",
            "Packets that could not be sent"),
};

/* Sums wrap around, as the kernel's counts do. */
static uint64_t value(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter)
{
    const interfaces *set = context;
    const uint64_t *fields = set->list[i].fields;
    (void)needs;
    switch (counter->id) {
    case TOTAL_BYTES_RATE:
        return fields[RECEIVED_BYTES] + fields[SENT_BYTES];
    case TOTAL_PACKETS_RATE:
        return fields[RECEIVED_PACKETS] + fields[SENT_PACKETS];
    case RECEIVED_PACKETS_RATE:
        return fields[RECEIVED_PACKETS];
    case SENT_PACKETS_RATE:
        return fields[SENT_PACKETS];
    case BANDWIDTH:
        return set->list[i].bits_per_second;
    case RECEIVED_BYTES_RATE:
        return fields[RECEIVED_BYTES];
    case PACKETS_RECEIVED_DISCARDED:
        return fields[RECEIVED_DROPPED];
    case PACKETS_RECEIVED_ERRORS:
        return fields[RECEIVED_ERRORS];
    case SENT_BYTES_RATE:
        return fields[SENT_BYTES];
    case PACKETS_SENT_DISCARDED:
        return fields[SENT_DROPPED];
    default: /* PACKETS_SENT_ERRORS */
        return fields[SENT_ERRORS];
    }
}

/* ---- Files ------------------------------------------------------------------------------------------------- */

/* Parses the name: everything before the last colon of the line, because names may contain colons and numbers do not.
 */
static bool parse_name(pfb_kernel_span *line, interface *parsed)
{
    pfb_kernel_skip_blanks(line);
    const char *colon = line->end;
    while (colon > line->at && colon[-1] != ':')
        colon--;
    if (colon == line->at)
        return false;
    size_t size = (size_t)(colon - line->at) - 1;
    if (size == 0 || size > NAME_BYTES || memchr(line->at, '/', size))
        return false;
    memcpy(parsed->name, line->at, size);
    parsed->name[size] = '\0';
    parsed->name_size = size;
    line->at = colon;
    return true;
}

/* Parses "  eth0: 1 2 3", or "eth0:1 2 3" from older kernels. */
static bool parse_interface(pfb_kernel_span *line, interface *parsed)
{
    *parsed = (interface){0};
    if (!parse_name(line, parsed))
        return false;
    for (unsigned i = 0; i < FIELDS; i++) {
        if (!pfb_kernel_take_field(line, &parsed->fields[i]))
            return false;
    }
    return true;
}

static bool read_statistics(interfaces *set, pfb_kernel_text text)
{
    interface parsed;
    pfb_kernel_span line;
    set->count = 0;
    while (pfb_kernel_take_line(&text, &line)) {
        if (!parse_interface(&line, &parsed))
            continue;
        interface *list = pfb_source_grow(set->list, &set->capacity, set->count + 1, sizeof *list);
        if (!list)
            return false;
        set->list = list;
        list[set->count++] = parsed;
    }
    return true;
}

static void read_index(pfb_kernel_reader *reader, interface *target)
{
    uint64_t number;
    if (pfb_kernel_file_number(reader, &number, "/sys/class/net/%s/ifindex", target->name) && number <= INT32_MAX)
        target->id = (uint32_t)number;
}

/* Reads the speed, which the file gives in Mbit/s. For links that are down and most virtual interfaces, the file
 * cannot be read or contains -1, which some kernels print as 4294967295; the speed then stays 0. */
static void read_speed(pfb_kernel_reader *reader, interface *target)
{
    uint64_t number;
    if (pfb_kernel_file_number(reader, &number, "/sys/class/net/%s/speed", target->name) && number < UINT32_MAX)
        target->bits_per_second = number * 1000000;
}

/* ---- Operations ----------------------------------------------------------------------------------------------- */

static bool sample(void *context, uint32_t needs, pfb_source_failure *failure)
{
    interfaces *set = context;
    pfb_kernel_text text;
    if (!pfb_kernel_need_file(set->reader, "/proc/net/dev", &text, failure))
        return false;
    pfb_kernel_clock(set->reader);
    if (!read_statistics(set, text))
        return pfb_source_fail_memory(failure);
    for (size_t i = 0; i < set->count; i++) {
        read_index(set->reader, &set->list[i]);
        if (needs & SPEED)
            read_speed(set->reader, &set->list[i]);
    }
    return true;
}

static void close_interfaces(void *context)
{
    interfaces *set = context;
    free(set->list);
    free(set);
}

/* The speed is offered if /sys/class/net has at least one of the interfaces. */
static uint32_t find_offered(const interfaces *set)
{
    uint32_t offered = STATISTICS;
    for (size_t i = 0; i < set->count; i++)
        offered |= set->list[i].id != 0 ? SPEED : 0;
    return offered;
}

/* The set is not available if /proc/net/dev does not exist, may not be read or lists no interface. */
static void *open_interfaces(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    interfaces *set = malloc(sizeof *set);
    if (!set) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *set = (interfaces){.reader = reader};
    if (sample(set, STATISTICS, failure)) {
        *offered = find_offered(set);
        if (set->count > 0)
            return set;
        pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "/proc/net/dev names no interface");
    }
    close_interfaces(set);
    return NULL;
}

static size_t instance_count(const void *context)
{
    const interfaces *set = context;
    return set->count;
}

static bool instance(const void *context, size_t i, uint32_t needs, pfb_set_instance *found)
{
    const interfaces *set = context;
    (void)needs; /* every interface with a line has all values */
    *found = (pfb_set_instance){set->list[i].id, pfb_utf8_name(set->list[i].name, set->list[i].name_size)};
    return true;
}

/* 45021bbd-22b8-4c30-a177-284f5af0fb14, chosen at random */
const pfb_counterset pfb_network_interface_set = {
    .guid = {{0xbd, 0x1b, 0x02, 0x45, 0xb8, 0x22, 0x30, 0x4c, 0xa1, 0x77, 0x28, 0x4f, 0x5a, 0xf0, 0xfb, 0x14}},
    .name = "Network Interface",
    .help = "Network interfaces of this machine, from the statistics of the Linux kernel",
    .instance_type = PFB_INSTANCES_MULTIPLE,
    .counters = counters,
    .counter_count = COUNTERS,
    .open = open_interfaces,
    .close = close_interfaces,
    .sample = sample,
    .instance_count = instance_count,
    .instance = instance,
    .value = value,
};
