/* SPDX-License-Identifier: MIT */
/* The countersets TCPv4, UDPv4 and UDPv6 of the live source of Linux. */
#include <criterion/criterion.h>

#include "machine.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

static void make_protocol_machine(void)
{
    make_machine();
    put_file("/proc/stat", STAT);
}

TestSuite(protocols, .init = make_protocol_machine, .fini = remove_machine);

/* The order of the columns differs from that of the kernel. */
#define SNMP                                                                                                           \
    "Ip: Forwarding InReceives\nIp: 1 2\n"                                                                             \
    "Tcp: RtoMin MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab OutSegs InSegs RetransSegs New\n" \
    "Tcp: 200 -1 11 22 33 44 55 4294967297 77 88 99\n"                                                                 \
    "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: 101 202 303 404 505\n"                          \
    "UdpLite: InDatagrams NoPorts InErrors OutDatagrams\nUdpLite: 1 1 1 1\n"
#define SNMP6                                                                                                          \
    "Ip6InReceives                   \t7\nUdp6InDatagrams                 \t5\nUdp6NoPorts \t6\nUdp6InErrors \t7\n"    \
    "Udp6OutDatagrams \t8\nUdpLite6InDatagrams \t9\n"

static void put_protocols(void)
{
    put_file("/proc/net/snmp", SNMP);
    put_file("/proc/net/snmp6", SNMP6);
}

Test(protocols, numbers_are_those_of_the_files)
{
    static const struct {
        const pfb_guid *set;
        const char *data;
    } cases[] = {{&tcp4_guid, "2 0 { 0=78/4 1=55/4 2=11/4 3=22/4 4=33/4 5=44/4 6=77/4 7=1/4 8=88/4}\n"},
                 {&udp4_guid, "2 0 { 0=505/4 1=101/4 2=202/4 3=303/4 4=404/4}\n"},
                 {&udp6_guid, "2 0 { 0=13/4 1=5/4 2=6/4 3=7/4 4=8/4}\n"}};
    put_protocols();
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        use_counterset(cases[i].set);
        cr_expect_str_eq(ask(source, NULL, PFB_NO_ID, PFB_NO_ID), cases[i].data, "case %zu", i);
    }
    pfb_source_close(source);
}

Test(protocols, counters_are_those_of_windows)
{
    static const known_counter tcp[] = {{.type = "PERF_COUNTER_COUNTER", .name = "Segments/sec"},
                                        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Connections Established"},
                                        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Connections Active"},
                                        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Connections Passive"},
                                        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Connection Failures"},
                                        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Connections Reset"},
                                        {.type = "PERF_COUNTER_COUNTER", .name = "Segments Received/sec"},
                                        {.type = "PERF_COUNTER_COUNTER", .name = "Segments Sent/sec"},
                                        {.type = "PERF_COUNTER_COUNTER", .name = "Segments Retransmitted/sec"}};
    static const known_counter udp[] = {{.type = "PERF_COUNTER_COUNTER", .name = "Datagrams/sec"},
                                        {.type = "PERF_COUNTER_COUNTER", .name = "Datagrams Received/sec"},
                                        {.type = "PERF_COUNTER_COUNTER", .name = "Datagrams No Port/sec"},
                                        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Datagrams Received Errors"},
                                        {.type = "PERF_COUNTER_COUNTER", .name = "Datagrams Sent/sec"}};
    put_protocols();
    pfb_source *source = open_machine();
    use_counterset(&tcp4_guid);
    expect_counters(source, 0, tcp, sizeof tcp / sizeof tcp[0]);
    use_counterset(&udp4_guid);
    expect_counters(source, 0, udp, sizeof udp / sizeof udp[0]);
    use_counterset(&udp6_guid);
    expect_counters(source, 0, udp, sizeof udp / sizeof udp[0]);
    pfb_source_close(source);
}

/* A null expectation: the machine has no counterset. */
Test(protocols, counters_are_offered_if_the_kernel_has_their_numbers)
{
    static const struct {
        const char *text;
        const char *offered;
    } cases[] = {{"Tcp: InSegs OutSegs\nTcp: 1 2\n", "0 6 7 "},
                 {"Tcp: InSegs OutSegs\nUdp: 5 5\nTcp: 1 2\n", "0 6 7 "},
                 {"Tcp: InSegs OutSegs\nTcp: 1\n", "6 "},
                 {"Tcp: InSegs\nTcp: 1 2 3\n", "6 "},
                 {"Tcp: InSegs CurrEstab\nTcp: -1 2x\n", NULL},
                 {"Tcp: InSegsX XInSegs\nTcp: 1 2\n", NULL},
                 {"Tcp: InSegs\n", NULL},
                 {"Tcp:\nTcp:", NULL},
                 {" Tcp: InSegs\n Tcp: 1\n", NULL},
                 {"", NULL}};
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    use_counterset(&tcp4_guid);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_file("/proc/net/snmp", cases[i].text);
        pfb_source *source = open_machine();
        if (cases[i].offered)
            cr_expect_str_eq(offered_by(source), cases[i].offered, "case %zu", i);
        else
            cr_expect_not(pfb_source_registration(source, &tcp4_guid, 1, 0, &reply, &failure), "case %zu", i);
        pfb_source_close(source);
    }
    pfb_bytes_free(&reply);
}

Test(protocols, only_queries_for_a_missing_number_fail)
{
    put_protocols();
    pfb_source *source = open_machine();
    use_counterset(&udp4_guid);
    put_file("/proc/net/snmp", "Udp: InDatagrams\nUdp: 9\n");
    cr_expect_str_eq(ask(source, NULL, 1, PFB_NO_ID), "1 0 { 9/4}\n");
    cr_expect_str_eq(ask(source, NULL, 0, PFB_NO_ID), "0 1069\n");
    pfb_source_close(source);
}
