/* SPDX-License-Identifier: MIT */
#include "lwp/cpu_private.h"
#include "source/source_private.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

enum { INITIAL_CPUS = 1024, MAX_CPUS = 1 << 20 }; /* the first and the largest size of a set, in CPUs */

struct pfb_cpus {
    cpu_set_t *all; /* the thread's CPUs when this was opened */
    cpu_set_t *one; /* memory in which pfb_cpus_pin makes a set with one CPU */
    size_t set_bytes;
    size_t count;
    uint32_t numbers[]; /* of the CPUs in `all`, ascending */
};

static bool fail(const char *call, pfb_source_failure *failure)
{
    return pfb_source_fail(failure, errno == EPERM ? PFB_WIN32_ACCESS_DENIED : 0, "%s failed with error %d", call,
                           errno);
}

/* Reads the thread's CPUs into a set that is large enough for this machine; the kernel returns EINVAL for a smaller
 * one. */
static cpu_set_t *read_affinity(size_t *set_bytes, size_t *bits, pfb_source_failure *failure)
{
    for (size_t cpus = INITIAL_CPUS; cpus <= MAX_CPUS; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set) {
            pfb_source_fail_memory(failure);
            return NULL;
        }
        *set_bytes = CPU_ALLOC_SIZE(cpus);
        *bits = cpus;
        if (sched_getaffinity(0, *set_bytes, set) == 0)
            return set;
        int code = errno; /* CPU_FREE may change it */
        CPU_FREE(set);
        errno = code;
        if (code != EINVAL)
            break;
    }
    fail("sched_getaffinity", failure);
    return NULL;
}

pfb_cpus *pfb_cpus_open(pfb_source_failure *failure)
{
    size_t set_bytes;
    size_t bits;
    cpu_set_t *all = read_affinity(&set_bytes, &bits, failure);
    if (!all)
        return NULL;
    size_t count = (size_t)CPU_COUNT_S(set_bytes, all);
    pfb_cpus *cpus = malloc(sizeof *cpus + count * sizeof cpus->numbers[0]);
    cpu_set_t *one = CPU_ALLOC(bits);
    if (!cpus || !one) {
        CPU_FREE(all);
        CPU_FREE(one);
        free(cpus);
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *cpus = (pfb_cpus){.all = all, .one = one, .set_bytes = set_bytes};
    for (size_t i = 0; i < bits && cpus->count < count; i++) {
        if (CPU_ISSET_S(i, set_bytes, all))
            cpus->numbers[cpus->count++] = (uint32_t)i;
    }
    return cpus;
}

void pfb_cpus_close(pfb_cpus *cpus)
{
    if (!cpus)
        return;
    sched_setaffinity(0, cpus->set_bytes, cpus->all);
    CPU_FREE(cpus->all);
    CPU_FREE(cpus->one);
    free(cpus);
}

size_t pfb_cpus_count(const pfb_cpus *cpus)
{
    return cpus->count;
}

uint32_t pfb_cpus_number(const pfb_cpus *cpus, size_t position)
{
    return position < cpus->count ? cpus->numbers[position] : 0;
}

bool pfb_cpus_pin(pfb_cpus *cpus, size_t position, pfb_source_failure *failure)
{
    if (position >= cpus->count)
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "there is no CPU at position %zu", position);
    CPU_ZERO_S(cpus->set_bytes, cpus->one);
    CPU_SET_S(cpus->numbers[position], cpus->set_bytes, cpus->one);
    return sched_setaffinity(0, cpus->set_bytes, cpus->one) == 0 || fail("sched_setaffinity", failure);
}
