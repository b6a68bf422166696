/* SPDX-License-Identifier: MIT */
#include "live/linux/counterset.h"

#include <stdlib.h>

/* The countersets TCPv4, UDPv4 and UDPv6, from /proc/net/snmp and /proc/net/snmp6. docs/linux.md lists the sources of
 * each counter. */

enum { MAX_NUMBERS = 8 };

/* A protocol and its numbers in the kernel's file. `needs` has a bit for each number. */
typedef struct protocol {
    const char *file;
    const char *row; /* start of its two lines, the first of which has the keys; NULL if each line has a key */
    const char *keys[MAX_NUMBERS];
    unsigned count;
} protocol;

typedef struct protocol_numbers {
    pfb_single_set single; /* single.known: bits of the numbers that this sample has */
    const protocol *protocol;
    uint64_t numbers[MAX_NUMBERS];
} protocol_numbers;

#define BIT(number) (UINT32_C(1) << (number))
#define RATE PERF_COUNTER_COUNTER
#define RAW PERF_COUNTER_RAWCOUNT
#define NOVICE PFB_DETAIL_NOVICE

/* ---- TCP ------------------------------------------------------------------------------------------------------ */

enum { ACTIVE, PASSIVE, FAILED, RESET, ESTABLISHED, SEGMENTS_IN, SEGMENTS_OUT, RETRANSMITTED };

static const protocol tcp = {
    "/proc/net/snmp",
    "Tcp:",
    {"ActiveOpens", "PassiveOpens", "AttemptFails", "EstabResets", "CurrEstab", "InSegs", "OutSegs", "RetransSegs"},
    8};

static const pfb_set_counter tcp_counters[] = {
    {0, RATE, BIT(SEGMENTS_IN) | BIT(SEGMENTS_OUT), 0, 0, 0, 0, NOVICE, 0, "Segments/sec",
     "Segments received and sent: InSegs and OutSegs of /proc/net/snmp"},
    {1, RAW, BIT(ESTABLISHED), 0, 0, 0, 0, NOVICE, 0, "Connections Established",
     "Connections that are established or wait to be closed: CurrEstab of /proc/net/snmp"},
    {2, RAW, BIT(ACTIVE), 0, 0, 0, 0, NOVICE, 0, "Connections Active",
     "Connections that this machine began: ActiveOpens of /proc/net/snmp"},
    {3, RAW, BIT(PASSIVE), 0, 0, 0, 0, NOVICE, 0, "Connections Passive",
     "Connections that this machine accepted: PassiveOpens of /proc/net/snmp"},
    {4, RAW, BIT(FAILED), 0, 0, 0, 0, NOVICE, 0, "Connection Failures",
     "Connections that failed before they were established: AttemptFails of /proc/net/snmp"},
    {5, RAW, BIT(RESET), 0, 0, 0, 0, NOVICE, 0, "Connections Reset",
     "Established connections that were reset: EstabResets of /proc/net/snmp"},
    {6, RATE, BIT(SEGMENTS_IN), 0, 0, 0, 0, NOVICE, 0, "Segments Received/sec",
     "Segments received: InSegs of /proc/net/snmp"},
    {7, RATE, BIT(SEGMENTS_OUT), 0, 0, 0, 0, NOVICE, 0, "Segments Sent/sec",
     "Segments sent, without retransmissions: OutSegs of /proc/net/snmp"},
    {8, RATE, BIT(RETRANSMITTED), 0, 0, 0, 0, NOVICE, 0, "Segments Retransmitted/sec",
     "Segments retransmitted: RetransSegs of /proc/net/snmp"},
};

/* ---- UDP ------------------------------------------------------------------------------------------------------ */

enum { DATAGRAMS_IN, NO_PORT, ERRORS_IN, DATAGRAMS_OUT };

static const protocol udp4 = {"/proc/net/snmp", "Udp:", {"InDatagrams", "NoPorts", "InErrors", "OutDatagrams"}, 4};
static const protocol udp6 = {
    "/proc/net/snmp6", NULL, {"Udp6InDatagrams", "Udp6NoPorts", "Udp6InErrors", "Udp6OutDatagrams"}, 4};

/* Counters of UDPv4 and UDPv6, whose lists of numbers agree. */
static const pfb_set_counter udp_counters[] = {
    {0, RATE, BIT(DATAGRAMS_IN) | BIT(DATAGRAMS_OUT), 0, 0, 0, 0, NOVICE, 0, "Datagrams/sec",
     "Datagrams received and sent"},
    {1, RATE, BIT(DATAGRAMS_IN), 0, 0, 0, 0, NOVICE, 0, "Datagrams Received/sec", "Datagrams delivered to receivers"},
    {2, RATE, BIT(NO_PORT), 0, 0, 0, 0, NOVICE, 0, "Datagrams No Port/sec", "Datagrams for ports without a receiver"},
    {3, RAW, BIT(ERRORS_IN), 0, 0, 0, 0, NOVICE, 0, "Datagrams Received Errors",
     "Datagrams that were dropped for other reasons"},
    {4, RATE, BIT(DATAGRAMS_OUT), 0, 0, 0, 0, NOVICE, 0, "Datagrams Sent/sec", "Datagrams sent"},
};

/* ---- Values --------------------------------------------------------------------------------------------------- */

/* The value of a counter is the sum of the numbers that it needs. */
static uint64_t value(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter)
{
    const protocol_numbers *p = context;
    uint64_t sum = 0;
    (void)i;
    (void)needs;
    for (unsigned n = 0; n < p->protocol->count; n++)
        sum += counter->needs & BIT(n) ? p->numbers[n] : 0;
    return sum;
}

/* ---- Files ---------------------------------------------------------------------------------------------------- */

/* Parses "Tcp: MaxConn InSegs ..." and "Tcp: -1 12 ...". Returns the bits of the keys that have a number. */
static uint32_t take_columns(pfb_kernel_span titles, pfb_kernel_span line, protocol_numbers *p)
{
    uint32_t found = 0;
    for (pfb_kernel_span title = pfb_kernel_next_word(&titles); title.at < title.end;
         title = pfb_kernel_next_word(&titles)) {
        uint64_t number;
        pfb_kernel_span word = pfb_kernel_next_word(&line);
        if (!pfb_kernel_take_number(&word, &number) || word.at < word.end)
            continue;
        for (unsigned n = 0; n < p->protocol->count; n++) {
            if (!pfb_kernel_is_word(title, p->protocol->keys[n]))
                continue;
            p->numbers[n] = number;
            found |= BIT(n);
        }
    }
    return found;
}

/* Parses the first two lines that begin with the name of the row. */
static uint32_t take_row(pfb_kernel_text text, protocol_numbers *p)
{
    pfb_kernel_span titles = {NULL, NULL};
    pfb_kernel_span line;
    while (pfb_kernel_take_line(&text, &line)) {
        if (!pfb_kernel_take_word(&line, p->protocol->row))
            continue;
        if (titles.at)
            return take_columns(titles, line, p);
        titles = line;
    }
    return 0;
}

/* ---- Opening and sampling ----------------------------------------------------------------------------------- */

static bool sample(void *context, uint32_t needs, pfb_source_failure *failure)
{
    protocol_numbers *p = context;
    const protocol *wanted = p->protocol;
    (void)needs;
    (void)failure;
    pfb_kernel_text text = pfb_kernel_file(p->single.reader, "%s", wanted->file);
    pfb_kernel_clock(p->single.reader);
    p->single.known =
        wanted->row ? take_row(text, p) : pfb_kernel_take_keys(text, wanted->keys, wanted->count, p->numbers);
    return true;
}

static void *open_protocol(pfb_kernel_reader *reader, const protocol *wanted, uint32_t *offered,
                           pfb_source_failure *failure)
{
    protocol_numbers *p = calloc(1, sizeof *p);
    if (!p) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    p->single.reader = reader;
    p->protocol = wanted;
    sample(p, UINT32_MAX, failure);
    *offered = p->single.known;
    if (p->single.known != 0)
        return p;
    pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "%s has no numbers of the protocol", wanted->file);
    free(p);
    return NULL;
}

static void *open_tcp(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    return open_protocol(reader, &tcp, offered, failure);
}

static void *open_udp4(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    return open_protocol(reader, &udp4, offered, failure);
}

static void *open_udp6(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    return open_protocol(reader, &udp6, offered, failure);
}

/* 4b6a406f-2a1b-4a12-b73a-7caadf7b2e0b, chosen at random */
const pfb_counterset pfb_tcp4_set = {
    .guid = {{0x6f, 0x40, 0x6a, 0x4b, 0x1b, 0x2a, 0x12, 0x4a, 0xb7, 0x3a, 0x7c, 0xaa, 0xdf, 0x7b, 0x2e, 0x0b}},
    .name = "TCPv4",
    .help = "Connections and segments of TCP; Linux counts those of IPv4 and IPv6 together",
    .counters = tcp_counters,
    .counter_count = sizeof tcp_counters / sizeof tcp_counters[0],
    .open = open_tcp,
    .close = free,
    .sample = sample,
    .instance_count = pfb_single_set_count,
    .instance = pfb_single_set_instance,
    .value = value};

/* 9c8ab57f-ef30-4f37-8613-c8308f830195, chosen at random */
const pfb_counterset pfb_udp4_set = {
    .guid = {{0x7f, 0xb5, 0x8a, 0x9c, 0x30, 0xef, 0x37, 0x4f, 0x86, 0x13, 0xc8, 0x30, 0x8f, 0x83, 0x01, 0x95}},
    .name = "UDPv4",
    .help = "Datagrams of UDP over IPv4",
    .counters = udp_counters,
    .counter_count = sizeof udp_counters / sizeof udp_counters[0],
    .open = open_udp4,
    .close = free,
    .sample = sample,
    .instance_count = pfb_single_set_count,
    .instance = pfb_single_set_instance,
    .value = value};

/* 753ac24e-faf1-4bf7-9976-c1f96bc07d5d, chosen at random */
const pfb_counterset pfb_udp6_set = {
    .guid = {{0x4e, 0xc2, 0x3a, 0x75, 0xf1, 0xfa, 0xf7, 0x4b, 0x99, 0x76, 0xc1, 0xf9, 0x6b, 0xc0, 0x7d, 0x5d}},
    .name = "UDPv6",
    .help = "Datagrams of UDP over IPv6",
    .counters = udp_counters,
    .counter_count = sizeof udp_counters / sizeof udp_counters[0],
    .open = open_udp6,
    .close = free,
    .sample = sample,
    .instance_count = pfb_single_set_count,
    .instance = pfb_single_set_instance,
    .value = value};
