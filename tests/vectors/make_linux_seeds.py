#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target linux: `make_linux_seeds.py CORPUS`.

Each one has files of the kernel (fuzz/linux_fuzzer.c). Their formats are those
of proc(5) and of the kernel's documentation of sysfs. Every run writes the same
bytes.
"""

import sys

from seed_files import write_seeds

CPU = "/sys/devices/system/cpu/cpu"
NODE = "/sys/devices/system/node/node"
STAT = ("cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 100 10 20 1000 5 1 2 0 0 0\n"
        "cpu1 200 20 40 2000 6 2 4 0 0 0\nintr 50 1\nctxt 900\nbtime 1700000000\n"
        "processes 77\nprocs_running 2\nprocs_blocked 1\n")
LATER = STAT.replace("1000 5", "1090 6").replace("ctxt 900", "ctxt 950")
DISKS = ("   8       0 sda 10 1 200 30 40 2 500 60 1 70 90\n"
         "   8       1 sda1 9 1 150 20 40 2 500 60 0 60 80\n"
         " 253       0 dm-0 1 0 2 3 4 0 5 6 0 7 9\n 104 0 cciss/c0d0 7 0 0 0 0 0 0 0 0 0 0\n")
DEV = ("Inter-|   Receive                                                |  Transmit\n"
       " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo"
       " colls carrier compressed\n"
       "    lo: 5 6 0 0 0 0 0 0 5 6 0 0 0 0 0 0\n  eth0: 1000 20 1 2 0 0 0 3 4000 50 6 7 0 0 0 0\n")
PROCESS = "%d (%s) S 1 1 1 0 -1 4194560 3000 0 5 0 12 34 0 0 20 0 3 0 500 9000000 200 18446744073709551615\n"
IO = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 0\n"
MEMINFO = ("MemTotal:  16000 kB\nMemFree:  4000 kB\nMemAvailable:  9000 kB\nBuffers:  10 kB\nCached:  3000 kB\n"
           "SwapCached:  0 kB\nActive:  1 kB\nInactive:  2 kB\nSwapTotal:  100 kB\nSwapFree:  50 kB\nSlab:  7 kB\n"
           "SReclaimable:  3 kB\nSUnreclaim:  4 kB\nCommitLimit:  8100 kB\nCommitted_AS:  700 kB\n")
VMSTAT = "nr_free_pages 5\npgpgin 1\npgpgout 2\npswpin 3\npswpout 4\npgfault 500\npgmajfault 6\n"

MOUNTS = ("22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n23 22 0:21 / /proc rw - proc proc rw\n"
          "24 22 0:40 /@home /home rw master:1 propagate_from:2 - btrfs /dev/sdb1 rw\n"
          "25 22 8:33 / /mnt/a\\040b rw - xfs /dev/sdc1 rw\n26 22 0:50 / /tank rw - zfs tank rw\n"
          "27 22 8:1 /srv /srv rw - ext4 /dev/sda1 rw\n28 22 7:0 / /snap/x ro - squashfs /dev/loop0 ro\n"
          "29 22 8:33 / /z rw - xfs /dev/sdc1 rw\n30 22 8:34 / /tank rw - ext4 /dev/sdc2 rw\n")
SWAPS = ("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
         "/dev/dm-1                               partition\t8388604\t\t1024\t\t-2\n/swap\\040file file 99 9 -3\n")
SNMP = ("Ip: Forwarding DefaultTTL\nIp: 1 64\n"
        "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs"
        " OutSegs RetransSegs InErrs OutRsts InCsumErrors\nTcp: 1 200 120000 -1 415 10 172 1 2 16020 9413 3 0 180 0\n"
        "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: 822 4 5 827 0\n")
SNMP6 = "Udp6InDatagrams                 \t5\nUdp6NoPorts \t6\nUdp6InErrors \t7\nUdp6OutDatagrams \t8\n"
STATUS = "Name:\tx\nThreads:\t3\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t8\n"


def machine(*files):
    """The text of files, each a name and its contents."""
    return "".join("@%s\n%s" % file for file in files)


def states(cpu):
    """The files of the idle states of a CPU."""
    for number, name in enumerate(("POLL", "C1_ACPI", "C2", "C3", "C6")):
        folder = "%s%d/cpuidle/state%d/" % (CPU, cpu, number)
        yield folder + "name", name + "\n"
        yield folder + "time", "%d\n" % (1000 * number)
        yield folder + "usage", "%d\n" % (number + cpu)


PROCESSOR = (
    ("/proc/stat", STAT), ("/proc/stat", LATER),
    ("/proc/interrupts", "     CPU0 CPU1\n 1: 4294967295 20 timer\nLOC: 7 8 Local\nERR: 5\n"),
    (NODE + "0/cpulist", "0\n"), (NODE + "3/cpulist", "1,7-9\n"),
    (CPU + "0/cpufreq/scaling_cur_freq", "1500000\n"), (CPU + "0/cpufreq/cpuinfo_max_freq", "2000000\n"),
    ("/proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 1500.250\n\nprocessor\t: 1\ncpu MHz\t\t: 800.000\n"))

SEEDS = (
    ("processor", machine(*PROCESSOR, *states(0), ("?", "0,_Total\n"))),
    ("processor_appears", machine(("/proc/stat", STAT[:STAT.index("cpu1")]), ("/proc/stat", STAT))),
    ("system", machine(("/proc/stat", STAT), ("/proc/loadavg", "0.10 0.20 0.30 2/300 999\n"),
                       ("/proc/uptime", "12345.67 23456.78\n"), ("/proc/1/stat", PROCESS % (1, "init")))),
    ("memory", machine(("/proc/stat", STAT), ("/proc/meminfo", MEMINFO), ("/proc/vmstat", VMSTAT),
                       ("/proc/meminfo", MEMINFO.replace("4000", "3900")))),
    ("disks", machine(("/proc/diskstats", DISKS), ("/sys/block/sda/device/model", "A\n"),
                      ("/sys/block/sda/size", "1000\n"), ("/sys/block/dm-0/size", "1\n"),
                      ("/sys/block/cciss!c0d0/device/model", "C\n"), ("/proc/diskstats", DISKS.replace("10 1", "12 1")),
                      ("?", "sd?\n"))),
    ("network", machine(("/proc/net/dev", DEV), ("/sys/class/net/lo/ifindex", "1\n"),
                        ("/sys/class/net/eth0/ifindex", "7\n"), ("/sys/class/net/eth0/speed", "2500\n"))),
    ("processes", machine(("/proc/uptime", "100.00 50.00\n"), ("/proc/7/stat", PROCESS % (7, "a b) S")),
                          ("/proc/7/io", IO), ("/proc/8/stat", PROCESS % (8, "sh")), ("/proc/7/stat!d", ""),
                          ("/proc/stat", STAT))),
    ("threads", machine(("/proc/7/task/7/stat", PROCESS % (7, "a b) S")), ("/proc/7/task/7/status", STATUS),
                        ("/proc/7/task/9/stat", PROCESS % (9, "w")), ("/proc/7/task/9/status", STATUS),
                        ("/proc/7/task/8/stat!d", ""), ("/proc/3/task/3/stat", PROCESS % (3, "x")),
                        ("/proc/stat", STAT), ("?", "a b) S/1\n"))),
    ("mounts", machine(("/proc/self/mountinfo", MOUNTS), ("/", "4096 256000 128000\n"), ("/home", "4096 99 9\n"),
                       ("/mnt/a b", "1048576 4294967297 4294967296\n"), ("/tank!b", ""), ("/z", "512 1 1\n"),
                       ("/proc/diskstats", DISKS + "   8      17 sdb1 1 0 8 7 2 0 16 9 0 11 16\n"),
                       ("/sys/class/block/sdb1/dev", "8:17\n"), ("/proc/self/mountinfo", MOUNTS[56:]), ("?", "/*\n"))),
    ("swaps", machine(("/proc/swaps", SWAPS), ("/proc/swaps", SWAPS[:120]), ("?", "/swap file\n"))),
    ("protocols", machine(("/proc/net/snmp", SNMP), ("/proc/net/snmp6", SNMP6),
                          ("/proc/net/snmp", SNMP.replace("16020", "16030")))),
    ("errors", machine(("/proc/stat!E", STAT[:40]), ("/proc/stat", STAT), ("/proc/net/dev!b", ""),
                       ("/proc/meminfo!c", ""), ("/proc/diskstats!f", ""), ("/sys/block/!c", ""))),
)

if __name__ == "__main__":
    sys.exit(write_seeds(__doc__, {"linux": SEEDS}))
