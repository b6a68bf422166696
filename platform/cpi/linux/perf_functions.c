/* SPDX-License-Identifier: MIT */
#include "cpi/linux/perf_events.h"
#include "lwp/cpu_private.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The system calls that pfb_perf_live uses. glibc has no wrapper for perf_event_open, and one for gettid only since
 * 2.30. */

static int open_event(const struct perf_event_attr *attributes, int thread, int cpu, int group, unsigned long flags)
{
    long descriptor = syscall(SYS_perf_event_open, attributes, thread, cpu, group, flags);
    return descriptor < 0 ? -errno : (int)descriptor;
}

static long read_event(int descriptor, void *out, size_t size)
{
    ssize_t length = read(descriptor, out, size);
    return length < 0 ? -errno : (long)length;
}

static void close_event(int descriptor)
{
    close(descriptor);
}

static uint64_t monotonic_raw(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint32_t thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

const pfb_perf_functions pfb_perf_live = {.open = open_event,
                                          .read = read_event,
                                          .close = close_event,
                                          .has_time_stamp = pfb_cpu_has_constant_time_stamp,
                                          .time_stamp = pfb_cpu_time_stamp,
                                          .monotonic_raw = monotonic_raw,
                                          .is_virtual = pfb_cpu_has_hypervisor,
                                          .thread_id = thread_id};
