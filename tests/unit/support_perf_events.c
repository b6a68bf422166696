/* SPDX-License-Identifier: MIT */
#include "support_perf_events.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

fake_machine *fake;

/* An event that was opened. */
typedef struct fake_event {
    bool is_open;
    int cpu; /* ANY: an event of the thread */
    int group;
} fake_event;

enum { FIRST_DESCRIPTOR = 100 };

static fake_event events[FAKE_DESCRIPTORS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void make_fake(void)
{
    fake = calloc(1, sizeof *fake);
    cr_assert(fake);
    memset(events, 0, sizeof events);
    fake->has_time_stamp = true;
    fake->max_descriptors = FAKE_DESCRIPTORS;
    fake->bad_cpu = NO_BAD_CPU;
}

void remove_fake(void)
{
    free(fake);
    fake = NULL;
}

void add_rule(int error, bool is_thread, int cpu, int event, int user_only)
{
    cr_assert_lt(fake->rule_count, (size_t)FAKE_RULES);
    fake->rules[fake->rule_count++] = (fake_rule){error, is_thread, cpu, event, user_only};
}

void count(pfb_perf_counts *counts, uint64_t enabled, uint64_t running, uint64_t instructions, uint64_t cycles)
{
    counts->enabled += enabled;
    counts->running += running;
    counts->instructions += instructions;
    counts->cycles += cycles;
}

static void log_word(const char *word)
{
    size_t used = strlen(fake->log);
    if (used + strlen(word) + 2 < sizeof fake->log)
        snprintf(fake->log + used, sizeof fake->log - used, "%s ", word);
}

/* ---- Opening ---------------------------------------------------------------------------------------------- */

static fake_event *find_event(int descriptor)
{
    if (descriptor < FIRST_DESCRIPTOR || descriptor >= FIRST_DESCRIPTOR + FAKE_DESCRIPTORS ||
        !events[descriptor - FIRST_DESCRIPTOR].is_open)
        return NULL;
    return &events[descriptor - FIRST_DESCRIPTOR];
}

/* Returns true if the arguments are those that the source must pass to perf_event_open(2): instructions lead a group,
 * cycles join one. */
static bool is_proper(const struct perf_event_attr *attributes, int thread, int cpu, int group, unsigned long flags)
{
    const uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    uint32_t event = (uint32_t)attributes->config;
    const fake_event *leader = find_event(group);
    bool is_leader = event == PERF_COUNT_HW_INSTRUCTIONS;
    return attributes->type == PERF_TYPE_HARDWARE && attributes->size >= PERF_ATTR_SIZE_VER0 &&
           attributes->read_format == format && !attributes->disabled && !attributes->inherit &&
           flags == PERF_FLAG_FD_CLOEXEC && (is_leader || event == PERF_COUNT_HW_CPU_CYCLES) &&
           ((thread == 0 && cpu == ANY) || (thread == -1 && cpu >= 0 && cpu < FAKE_CPUS)) &&
           (is_leader ? group == -1 : leader && leader->group == -1 && leader->cpu == cpu);
}

static bool matches(const fake_rule *rule, const struct perf_event_attr *attributes, int cpu)
{
    int event = (uint32_t)attributes->config == PERF_COUNT_HW_INSTRUCTIONS ? INSTRUCTIONS : CYCLES;
    return rule->is_thread == (cpu == ANY) && (rule->cpu == ANY || rule->is_thread || rule->cpu == cpu) &&
           (rule->event == ANY || rule->event == event) &&
           (rule->user_only == ANY || rule->user_only == (int)attributes->exclude_kernel);
}

static int refusal_of(const struct perf_event_attr *attributes, int cpu)
{
    for (size_t i = 0; i < fake->rule_count; i++) {
        if (matches(&fake->rules[i], attributes, cpu))
            return fake->rules[i].error;
    }
    if (cpu != ANY && fake->core_type[cpu] != attributes->config >> 32 && fake->core_type[cpu] != 0)
        return ENOENT;
    if (fake->refuses_core_types && attributes->config >> 32 != 0)
        return ENOENT;
    return fake->open_descriptors >= fake->max_descriptors ? EMFILE : 0;
}

static int fake_open(const struct perf_event_attr *attributes, int thread, int cpu, int group, unsigned long flags)
{
    pthread_mutex_lock(&lock);
    int result = -EINVAL;
    if (!is_proper(attributes, thread, cpu, group, flags)) {
        fake->mistakes++;
    } else {
        result = -refusal_of(attributes, cpu);
        if (result == 0) {
            size_t at = 0;
            while (events[at].is_open)
                at++;
            events[at] = (fake_event){.is_open = true, .cpu = cpu, .group = group};
            fake->open_descriptors++;
            fake->opened += group == -1;
            result = FIRST_DESCRIPTOR + (int)at;
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void fake_close(int descriptor)
{
    pthread_mutex_lock(&lock);
    fake_event *event = find_event(descriptor);
    if (event) {
        event->is_open = false;
        fake->open_descriptors--;
    } else {
        fake->mistakes++;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- Reading ---------------------------------------------------------------------------------------------- */

static long read_group(const fake_event *event, uint64_t words[5])
{
    const pfb_perf_counts *counts = event->cpu == ANY ? &fake->thread : &fake->cpus[event->cpu];
    char word[32];
    snprintf(word, sizeof word, event->cpu == ANY ? "thread" : "cpu%d", event->cpu);
    log_word(word);
    words[0] = 2;
    words[1] = counts->enabled;
    words[2] = counts->running;
    words[3] = counts->instructions;
    words[4] = counts->cycles;
    if (event->cpu != fake->bad_cpu || fake->bad_reads == 0)
        return 40;
    fake->bad_reads--;
    words[0] = fake->bad_events;
    return fake->bad_size;
}

static long fake_read(int descriptor, void *buffer, size_t size)
{
    uint64_t words[5];
    pthread_mutex_lock(&lock);
    const fake_event *event = find_event(descriptor);
    long actual = -EBADF;
    int cpu = event ? event->cpu : ANY;
    if (event && event->group == -1 && size >= sizeof words) {
        actual = read_group(event, words);
        memcpy(buffer, words, sizeof words);
    } else {
        fake->mistakes++;
    }
    pthread_mutex_unlock(&lock);
    if (fake->on_read)
        fake->on_read(cpu);
    return actual;
}

/* ---- Clocks and identity ---------------------------------------------------------------------------------- */

static bool fake_has_time_stamp(void)
{
    return fake->has_time_stamp;
}

static uint64_t tick(uint64_t *clock, const char *word)
{
    pthread_mutex_lock(&lock);
    uint64_t now = *clock;
    *clock += fake->step;
    log_word(word);
    pthread_mutex_unlock(&lock);
    return now;
}

static uint64_t fake_time_stamp(void)
{
    return tick(&fake->time_stamp, "stamp");
}

static uint64_t fake_monotonic_raw(void)
{
    pthread_mutex_lock(&lock);
    if (fake->pauses > 0) {
        fake->pauses--;
        fake->time_stamp += fake->pause_cycles;
        fake->ns += fake->pause_ns;
    }
    pthread_mutex_unlock(&lock);
    return tick(&fake->ns, "raw");
}

static bool fake_is_virtual(void)
{
    return fake->is_virtual;
}

static uint32_t fake_thread_id(void)
{
    return 4242;
}

const pfb_perf_functions fake_functions = {.open = fake_open,
                                           .read = fake_read,
                                           .close = fake_close,
                                           .has_time_stamp = fake_has_time_stamp,
                                           .time_stamp = fake_time_stamp,
                                           .monotonic_raw = fake_monotonic_raw,
                                           .is_virtual = fake_is_virtual,
                                           .thread_id = fake_thread_id};
