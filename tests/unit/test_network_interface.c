/* SPDX-License-Identifier: MIT */
/* The counterset Network Interface of the live source of Linux. */
#include <criterion/criterion.h>

#include "machine.h"

#include <stdio.h>
#include <string.h>

static void make_network_machine(void)
{
    make_machine();
    put_file("/proc/stat", STAT);
    use_counterset(&interface_guid);
}

TestSuite(network_interface, .init = make_network_machine, .fini = remove_machine);

#define HEAD                                                                                                           \
    "Inter-|   Receive                                                |  Transmit\n"                                   \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier " \
    "compressed\n"
#define LO "    lo: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n"
#define ETH0 "  eth0: 5000 50 3 4 5 6 7 8 600 60 11 12 13 14 15 16\n"

static void put_interfaces(void)
{
    put_file("/proc/net/dev", HEAD LO ETH0);
    put_file("/sys/class/net/lo/ifindex", "1\n");
    put_file("/sys/class/net/eth0/ifindex", "7\n");
    put_file("/sys/class/net/eth0/speed", "2500\n");
}

/* ---- Instances and counters ------------------------------------------------------------------------- */

Test(network_interface, interfaces_are_instances_without_a_total)
{
    put_interfaces();
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 6 7 8 9 10 ");
    cr_expect_str_eq(instances_of(source), "lo#1 eth0#7 ");
    pfb_source_close(source);
}

Test(network_interface, counters_are_those_of_windows)
{
    static const known_counter known[] = {
        {.type = "PERF_COUNTER_BULK_COUNT",
         .aggregate = 1,
         .name = "Bytes Total/sec",
         .help = "Bytes received and sent"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "Packets/sec"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "Packets Received/sec"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "Packets Sent/sec"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .aggregate = 1, .name = "Current Bandwidth"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "Bytes Received/sec"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .aggregate = 1, .name = "Packets Received Discarded"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .aggregate = 1, .name = "Packets Received Errors"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "Bytes Sent/sec"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .aggregate = 1, .name = "Packets Outbound Discarded"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .aggregate = 1, .name = "Packets Outbound Errors"}};
    put_interfaces();
    pfb_source *source = open_machine();
    expect_counters(source, PFB_INSTANCES_MULTIPLE, known, sizeof known / sizeof known[0]);
    pfb_source_close(source);
}

Test(network_interface, without_sys_there_is_no_bandwidth_and_no_index)
{
    put_file("/proc/net/dev", HEAD LO ETH0);
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 3 5 6 7 8 9 10 ");
    cr_expect_str_eq(instances_of(source), "lo#0 eth0#0 ");
    pfb_source_close(source);
}

Test(network_interface, a_machine_without_interfaces_has_no_counterset)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    for (int i = 0; i < 2; i++) {
        pfb_source *source = open_machine();
        cr_expect_not(pfb_source_instances(source, &interface_guid, &reply, &failure));
        cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
        pfb_source_close(source);
        put_file("/proc/net/dev", HEAD);
    }
    pfb_bytes_free(&reply);
}

/* ---- Values --------------------------------------------------------------------------------------------------- */

Test(network_interface, every_counter_has_its_value)
{
    put_interfaces();
    pfb_source *source = open_machine();
    cr_expect_str_eq(ask(source, "*", PFB_NO_ID, PFB_NO_ID),
                     "6 0"
                     " {lo#1 0=2000/8 1=20/8 2=10/8 3=10/8 4=0/8 5=1000/8 6=0/8 7=0/8 8=1000/8 9=0/8 10=0/8}"
                     " {eth0#7 0=5600/8 1=110/8 2=50/8 3=60/8 4=2500000000/8 5=5000/8 6=4/8 7=3/8 8=600/8 9=12/8"
                     " 10=11/8}\n");
    cr_expect_str_eq(ask(source, "eth0", 5, PFB_NO_ID), "1 0 { 5000/8}\n");
    cr_expect_str_eq(ask(source, "ETH0", 8, 7), "1 0 { 600/8}\n");
    cr_expect_str_eq(ask(source, "eth0", 8, 1), "0 1069\n");
    cr_expect_str_eq(ask(source, "_Total", 5, PFB_NO_ID), "0 1069\n");
    pfb_source_close(source);
}

Test(network_interface, an_unknown_speed_is_0)
{
    static const struct {
        const char *speed;
        const char *data;
    } cases[] = {
        {"10\n", "1 0 { 10000000/8}\n"}, {"4294967294\n", "1 0 { 4294967294000000/8}\n"},
        {"-1\n", "1 0 { 0/8}\n"},        {"4294967295\n", "1 0 { 0/8}\n"}, /* -1 as an unsigned 32-bit number */
        {"fast\n", "1 0 { 0/8}\n"},      {"", "1 0 { 0/8}\n"}};
    put_interfaces();
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_file("/sys/class/net/eth0/speed", cases[i].speed);
        cr_expect_str_eq(ask(source, "eth0", 4, PFB_NO_ID), cases[i].data, "%s", cases[i].speed);
    }
    remove_file("/sys/class/net/eth0/speed");
    cr_expect_str_eq(ask(source, "eth0", 4, PFB_NO_ID), "1 0 { 0/8}\n");
    put_file("/sys/class/net/eth0/speed/file", "");
    cr_expect_str_eq(ask(source, "eth0", 4, PFB_NO_ID), "1 0 { 0/8}\n", "a speed that cannot be read is 0");
    pfb_source_close(source);
}

#define LARGEST "18446744073709551615"

Test(network_interface, large_numbers_wrap_or_become_the_maximum)
{
    put_file("/proc/net/dev", "lo: " LARGEST " " LARGEST " 0 99999999999999999999 0 0 0 0 3 1 " LARGEST " 0\n");
    pfb_source *source = open_machine();
    cr_expect_str_eq(ask(source, "lo", PFB_NO_ID, PFB_NO_ID),
                     "2 0 { 0=2/8 1=0/8 2=" LARGEST "/8 3=1/8 5=" LARGEST "/8 6=" LARGEST "/8 7=0/8 8=3/8 9=0/8"
                     " 10=" LARGEST "/8}\n");
    pfb_source_close(source);
}

/* ---- Names, malformed lines, changing interfaces ---------------------------------------------------- */

#define TWELVE "1 2 3 4 5 6 7 8 9 10 11 12"

Test(network_interface, every_form_of_a_name_is_read)
{
    static const struct {
        const char *line;
        const char *instances;
    } cases[] = {{"eth0:" TWELVE "\n", "eth0#0 "}, /* older kernels write no blank */
                 {"\t eth0: " TWELVE, "eth0#0 "},
                 {"eth0:1: " TWELVE "\n", "eth0:1#0 "},
                 {"enp0s31f6.4094: " TWELVE "\n", "enp0s31f6.4094#0 "},
                 {"a b: " TWELVE "\n", "a b#0 "},
                 {"b\xc3\xbc\xff: " TWELVE "\n", "b\xc3\xbc\xef\xbf\xbd#0 "},
                 {"........................................................12345678: " TWELVE "\n",
                  "........................................................12345678#0 "}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_file("/proc/net/dev", cases[i].line);
        pfb_source *source = open_machine();
        cr_expect_str_eq(instances_of(source), cases[i].instances, "%s", cases[i].line);
        cr_expect_str_eq(ask(source, "*", 9, PFB_NO_ID) + strlen("4 0 {") + strlen(cases[i].instances), "12/8}\n", "%s",
                         cases[i].line);
        pfb_source_close(source);
    }
}

Test(network_interface, malformed_lines_are_skipped)
{
    put_file("/proc/net/dev", "\n:\n: " TWELVE "\neth1: 1 2 3 4 5 6 7 8 9 10 11\neth2: 1 2 3 4 5 6 7 8 9 10 11 x\n"
                              "eth3 " TWELVE "\n../lo: " TWELVE "\neth4: -1 2 3 4 5 6 7 8 9 10 11 12\n"
                              "........................................................123456789: " TWELVE "\n" LO);
    pfb_source *source = open_machine();
    cr_expect_str_eq(instances_of(source), "lo#0 ");
    pfb_source_close(source);
}

Test(network_interface, interfaces_are_added_and_removed)
{
    put_interfaces();
    pfb_source *source = open_machine();
    put_file("/proc/net/dev", HEAD ETH0 "wlan0: " TWELVE "\n");
    put_file("/sys/class/net/eth0/ifindex", "9\n"); /* another interface with the same name */
    cr_expect_str_eq(instances_of(source), "eth0#9 wlan0#0 ");
    put_file("/sys/class/net/wlan0/ifindex", "2147483648\n");
    cr_expect_str_eq(instances_of(source), "eth0#9 wlan0#0 ", "an index above 2^31 - 1 is read as 0");
    put_file("/proc/net/dev", HEAD);
    cr_expect_str_eq(instances_of(source), "");
    remove_file("/proc/net/dev");
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_expect_not(pfb_source_instances(source, &interface_guid, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_FILE_NOT_FOUND);
    put_file("/proc/net/dev", HEAD ETH0);
    cr_expect_str_eq(ask(source, "*", 3, PFB_NO_ID), "4 0 {eth0#9 60/8}\n");
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}
