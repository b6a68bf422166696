/* SPDX-License-Identifier: MIT */
#ifndef PFB_PROCESS_STAT_H
#define PFB_PROCESS_STAT_H

/* The file stat of a process or thread, which the countersets Process and Thread read. */
#include "live/linux/counterset.h"

/* Fields of /proc/PID/stat with their numbers in proc(5). Negative values are stored modulo 2^64. */
enum {
    PFB_STAT_PARENT = 4,
    PFB_STAT_FLAGS = 9,
    PFB_STAT_MINOR_FAULTS = 10,
    PFB_STAT_MAJOR_FAULTS = 12,
    PFB_STAT_USER_TICKS = 14,
    PFB_STAT_SYSTEM_TICKS = 15,
    PFB_STAT_PRIORITY = 18,
    PFB_STAT_NICE = 19,
    PFB_STAT_THREADS = 20,
    PFB_STAT_START_TICKS = 22, /* since boot */
    PFB_STAT_VIRTUAL_BYTES = 23,
    PFB_STAT_RESIDENT_PAGES = 24,
    PFB_STAT_FIELDS
};

enum { PFB_PROCESS_NAME_BYTES = 64 }; /* the kernel's names are shorter; processes with longer names are skipped */

typedef struct pfb_process_stat {
    size_t name_size;
    char name[PFB_PROCESS_NAME_BYTES]; /* of kernel workers without the name of their work */
    char state;                        /* a letter */
    uint64_t fields[PFB_STAT_FIELDS];  /* from PFB_STAT_PARENT on */
} pfb_process_stat;

/* Parses the file. Returns false if it is empty or has another format. */
bool pfb_process_stat_parse(pfb_kernel_text text, pfb_process_stat *p);

/* Converts a time since boot to a time since one second before boot, the origin of start times and of the clock they
 * are compared with. Without this shift, a process that started at boot would have the start time 0, which means that
 * there is none. */
uint64_t pfb_process_since_origin(uint64_t boottime_100ns);

#endif
