/* SPDX-License-Identifier: MIT */
/* Which CPUs the live CPI source of Linux has counters for, who may read them, and concurrent readers. */
#include <criterion/criterion.h>

#include "support_linux_cpi.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

TestSuite(linux_cpi_cpus, .init = begin_linux_cpi, .fini = end_linux_cpi);

/* ---- Refusals --------------------------------------------------------------------------------------------------- */

Test(linux_cpi_cpus, a_kernel_without_events_is_detected_by_its_files)
{
    remove_file(PARANOID);
    expect_refused(PFB_CPI_RAW, PFB_PU_ERROR_REQUIRED_APIS_MISSING, "perf_event_paranoid");
    expect_refused(PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_REQUIRED_APIS_MISSING, "perf_event_paranoid");
    put_file(PARANOID, "none\n");
    expect_refused(PFB_CPI_RAW, PFB_PU_ERROR_INTERNAL_ERROR, "perf_event_paranoid has no level");
    put_file(PARANOID, "");
    expect_refused(PFB_CPI_RAW, PFB_PU_ERROR_INTERNAL_ERROR, "perf_event_paranoid has no level");
    put_file(PARANOID, "-\n");
    expect_refused(PFB_CPI_RAW, PFB_PU_ERROR_INTERNAL_ERROR, "perf_event_paranoid has no level");
    put_file(PARANOID, "-1\n");
    pfb_cpi_reader_close(open_reader(PFB_CPI_RAW));
    cr_expect_eq(fake->opened, 2);
}

Test(linux_cpi_cpus, the_paranoid_level_is_part_of_the_sentence)
{
    static const struct {
        const char *level;
        const char *sentence;
    } levels[] = {{"3\n", "is 3; 0 or"},
                  {"2\n", "is 2; 0 or"},
                  {"1\n", "is 1; 0 or"},
                  {"0\n", "is 0 and allows"},
                  {"-1\n", "is -1 and allows"}};
    add_rule(EACCES, false, ANY, ANY, ANY);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        put_file(PARANOID, levels[i].level);
        expect_refused(PFB_CPI_RAW, PFB_PU_ERROR_ACCESS_DENIED, levels[i].sentence);
        expect_refused(PFB_CPI_RAW, PFB_PU_ERROR_ACCESS_DENIED,
                       "instructions on CPU 0 cannot be counted: EACCES (Permission denied); ");
    }
}

Test(linux_cpi_cpus, if_no_cpu_has_counters_the_first_error_is_reported)
{
    add_rule(EOPNOTSUPP, false, 0, ANY, ANY);
    add_rule(ENOENT, false, 1, ANY, ANY);
    expect_refused(PFB_CPI_RAW, PFB_PU_ERROR_NOT_SUPPORTED, "instructions on CPU 0 cannot be counted: EOPNOTSUPP");
    fake->is_virtual = true;
    expect_refused(PFB_CPI_RAW, PFB_PU_ERROR_NOT_VALID_IN_VM, "instructions on CPU 0 cannot be counted: EOPNOTSUPP");
}

/* Opening leaves out a CPU only if the error means that it has no such counter. Any other error fails the reader. */
Test(linux_cpi_cpus, an_error_on_one_cpu_fails_the_reader)
{
    static const struct {
        int error;
        int code;
    } refusals[] = {{EACCES, PFB_PU_ERROR_ACCESS_DENIED},          {EBUSY, PFB_PU_ERROR_FACILITY_BUSY},
                    {EINVAL, PFB_PU_ERROR_EVENT_NOT_SUPPORTED},    {ENOMEM, PFB_PU_ERROR_NOT_ENOUGH_MEMORY},
                    {ENFILE, PFB_PU_ERROR_INSUFFICIENT_RESOURCES}, {ECHILD, PFB_PU_FAILURE}};
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        fake->rule_count = 0;
        add_rule(refusals[i].error, false, 1, CYCLES, ANY);
        expect_refused(PFB_CPI_RAW, refusals[i].code, "unhalted cycles on CPU 1 cannot be counted");
    }
}

Test(linux_cpi_cpus, running_out_of_descriptors_leaves_none_open)
{
    put_file(ONLINE, "0-2\n");
    for (size_t descriptors = 0; descriptors < 8; descriptors++) {
        char sentence[80];
        if (descriptors < 6)
            snprintf(sentence, sizeof sentence, "%s on CPU %zu cannot be counted: EMFILE (Too many open files)",
                     descriptors & 1 ? "unhalted cycles" : "instructions", descriptors / 2);
        else
            snprintf(sentence, sizeof sentence, "%s of this thread cannot be counted: EMFILE (Too many open files)",
                     descriptors & 1 ? "unhalted cycles" : "instructions");
        fake->max_descriptors = descriptors;
        expect_refused(PFB_CPI_RAW | PFB_CPI_ON_THREAD, PFB_PU_ERROR_INSUFFICIENT_RESOURCES, sentence);
        cr_expect_eq(fake->open_descriptors, 0);
    }
    fake->max_descriptors = 8;
    pfb_cpi_reader_close(open_reader(PFB_CPI_RAW | PFB_CPI_ON_THREAD));
}

/* ---- Which CPUs ------------------------------------------------------------------------------------------------- */

Test(linux_cpi_cpus, an_invalid_list_of_cpus_is_refused)
{
    static const struct {
        const char *list;
        int code;
        const char *sentence;
    } lists[] = {{"", PFB_PU_ERROR_INTERNAL_ERROR, "no list"},
                 {"\n", PFB_PU_ERROR_INTERNAL_ERROR, "no list"},
                 {"x\n", PFB_PU_ERROR_INTERNAL_ERROR, "no list"},
                 {"0-1,x\n", PFB_PU_ERROR_INTERNAL_ERROR, "no list"},
                 {"1-0\n", PFB_PU_ERROR_INTERNAL_ERROR, "no list"},
                 {"0,0\n", PFB_PU_ERROR_INTERNAL_ERROR, "no list"},
                 {"2,0-1\n", PFB_PU_ERROR_INTERNAL_ERROR, "no list"},
                 {"0-99999999999\n", PFB_PU_ERROR_INTERNAL_ERROR, "no list"},
                 {"0-1024\n", PFB_PU_ERROR_INSUFFICIENT_RESOURCES, "more than 1024"},
                 {"0-1023,1025\n", PFB_PU_ERROR_INSUFFICIENT_RESOURCES, "more than 1024"},
                 {"0-2147483647\n", PFB_PU_ERROR_INSUFFICIENT_RESOURCES, "more than 1024"}};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        start(reader);
        put_file(ONLINE, lists[i].list);
        expect_read_failure(reader, PFB_CPI_AT_END, PFB_CPI_CPU_LIMIT, lists[i].code, lists[i].sentence);
        expect_read_failure(reader, PFB_CPI_AT_START, PFB_CPI_CPU_LIMIT, lists[i].code, lists[i].sentence);
        put_file(ONLINE, "0-1\n");
    }
    pfb_cpi_reader_close(reader);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        put_file(ONLINE, lists[i].list);
        expect_refused(PFB_CPI_RAW, lists[i].code, lists[i].sentence);
    }
    remove_file(ONLINE);
    expect_refused(PFB_CPI_RAW, PFB_PU_ERROR_REQUIRED_APIS_MISSING, ONLINE);
}

Test(linux_cpi_cpus, the_largest_number_of_cpus_is_read)
{
    put_file(ONLINE, "0-1023\n");
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    start(reader);
    cr_expect(at_start.reading.snapshot.cpu_count == 1024 && at_start.cpus[1023].cpu == 1023);
    cr_expect_eq(fake->open_descriptors, 2048);
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi_cpus, more_cpus_than_fit_are_a_failure)
{
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    expect_read_failure(reader, PFB_CPI_AT_START, 1, PFB_PU_ERROR_INSUFFICIENT_RESOURCES,
                        "there are 2 CPUs, but only 1 fit");
    expect_read_failure(reader, PFB_CPI_AT_END, 2, PFB_PU_ERROR_INCORRECT_STATE, "no interval was begun");
    start(reader);
    expect_read_failure(reader, PFB_CPI_AT_END, 1, PFB_PU_ERROR_INSUFFICIENT_RESOURCES,
                        "there are 2 CPUs, but only 1 fit");
    put_file(ONLINE, "0-2\n");
    expect_read_failure(reader, PFB_CPI_AT_END, 2, PFB_PU_ERROR_INSUFFICIENT_RESOURCES,
                        "there are 3 CPUs, but only 2 fit");
    put_file(ONLINE, "1\n");
    cr_expect(pfb_cpi_reader_read(reader, PFB_CPI_AT_END, at_end.cpus, 1, &at_end.reading, NULL));
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi_cpus, cpus_may_go_online_and_offline)
{
    static const pfb_cpi_status both[] = {PFB_CPI_OK, PFB_CPI_OK};
    static const pfb_cpi_status three[] = {PFB_CPI_OK, PFB_CPI_OFFLINE, PFB_CPI_OK};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    start(reader);
    put_file(ONLINE, "0-2\n"); /* CPU 2 goes online */
    run_cpus();
    finish(reader);
    cr_expect(at_end.reading.snapshot.cpu_count == 3 && at_end.cpus[2].cpu == 2 && fake->opened == 2);
    expect_statuses(PFB_CPI_RAW, both, 2);
    cr_expect(result.cpus_changed);
    start(reader); /* opens a group for CPU 2 */
    cr_expect(fake->opened == 3 && fake->open_descriptors == 6);
    run_cpus();
    finish(reader);
    expect_unhalted(reader, 1, true, 1);
    put_file(ONLINE, "0,2\n"); /* CPU 1 goes offline */
    run_cpus();
    finish(reader);
    expect_statuses(PFB_CPI_RAW, three, 3);
    cr_expect(figures[0].instr == 2000 && figures[2].instr == 6000 && result.cpus_changed);
    expect_unhalted(reader, 1, false, 0);
    expect_unhalted(reader, 2, true, 2);
    start(reader); /* closes the group of CPU 1 */
    cr_expect(fake->open_descriptors == 4 && at_start.reading.snapshot.cpu_count == 2 && at_start.cpus[1].cpu == 2);
    pfb_cpi_reader_close(reader);
}

/* Another reader noticed that the CPU was offline and opened its group again: counts of the two groups cannot be
 * compared. */
Test(linux_cpi_cpus, a_cpu_that_was_offline_in_between_has_no_count)
{
    static const pfb_cpi_status statuses[] = {PFB_CPI_OK, PFB_CPI_INVALID};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    pfb_cpi_reader *other = open_reader(PFB_CPI_RAW);
    cpi_reading ignored;
    start(reader);
    put_file(ONLINE, "0\n");
    take_reading(other, PFB_CPI_AT_START, &ignored);
    cr_expect_eq(fake->open_descriptors, 2);
    put_file(ONLINE, "0-1\n");
    take_reading(other, PFB_CPI_AT_START, &ignored);
    cr_expect(fake->opened == 3 && fake->open_descriptors == 4);
    run_cpus();
    finish(reader);
    expect_statuses(PFB_CPI_RAW, statuses, 2);
    expect_unhalted(reader, 1, false, 0);
    pfb_cpi_reader_close(reader);
    pfb_cpi_reader_close(other);
}

Test(linux_cpi_cpus, a_new_cpu_that_cannot_be_opened_is_tried_again)
{
    static const pfb_cpi_status refused[] = {PFB_CPI_OK, PFB_CPI_OK, PFB_CPI_INVALID};
    static const pfb_cpi_status all[] = {PFB_CPI_OK, PFB_CPI_OK, PFB_CPI_OK};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    put_file(ONLINE, "0-2\n");
    fake->max_descriptors = 5;
    start(reader);
    cr_expect(at_start.cpus[2].instr == UINT64_MAX && fake->open_descriptors == 4);
    run_cpus();
    finish(reader);
    expect_statuses(PFB_CPI_RAW, refused, 3);
    fake->max_descriptors = 6;
    start(reader);
    run_cpus();
    finish(reader);
    expect_statuses(PFB_CPI_RAW, all, 3);
    cr_expect_eq(figures[2].instr, 3000);
    pfb_cpi_reader_close(reader);
}

/* ---- Hybrid machines -------------------------------------------------------------------------------------------- */

Test(linux_cpi_cpus, cores_of_another_type_that_have_no_counter_are_invalid)
{
    static const pfb_cpi_status statuses[] = {PFB_CPI_OK, PFB_CPI_OK, PFB_CPI_INVALID, PFB_CPI_INVALID};
    put_file(ONLINE, "0-3\n");
    fake->core_type[2] = fake->core_type[3] = 10;
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    start(reader);
    run_cpus();
    finish(reader);
    expect_statuses(PFB_CPI_RAW, statuses, 4);
    cr_expect_eq(result.system.instr, 3000);
    pfb_cpi_reader_close(reader);
}

/* A PMU (a folder of /sys/bus/event_source/devices) and the contents of its file cpus; null: there is no such file. Its
 * type number is its position plus 4. */
typedef struct pmu {
    const char *name, *cpus;
} pmu;

enum { PMUS = 4 };

static void name_file(char *path, size_t size, const char *device, const char *file)
{
    snprintf(path, size, DEVICES "/%s/%s", device, file);
}

static void put_pmus(const pmu *pmus)
{
    char path[128];
    char number[8];
    for (unsigned i = 0; i < PMUS && pmus[i].name; i++) {
        name_file(path, sizeof path, pmus[i].name, "type");
        snprintf(number, sizeof number, "%u\n", 4 + i);
        put_file(path, number);
        name_file(path, sizeof path, pmus[i].name, "cpus");
        if (pmus[i].cpus)
            put_file(path, pmus[i].cpus);
    }
}

static void remove_pmus(const pmu *pmus)
{
    char path[128];
    for (unsigned i = 0; i < PMUS && pmus[i].name; i++) {
        name_file(path, sizeof path, pmus[i].name, "type");
        remove_file(path);
        name_file(path, sizeof path, pmus[i].name, "cpus");
        if (pmus[i].cpus)
            remove_file(path);
    }
}

/* CPUs 0 to 3 as kernels show them: hybrids of x86 and of ARM. */
static const struct {
    pmu pmus[PMUS];
    uint32_t types[4]; /* type of each CPU, which accepts no events of other types */
} hybrids[] = {
    {{{"cpu_core", "0-1\n"}, {"cpu_atom", "2-3\n"}}, {4, 4, 5, 5}},
    {{{"cpu_atom", "2\n"}, {"cpu_core", "0-1\n"}, {"cpu_lowpower", "3\n"}}, {5, 5, 4, 6}},
    {{{"armv8_cortex_a53", "0-2\n"}, {"armv8_cortex_a72", "3\n"}}, {4, 4, 4, 5}},
    {{{"armv7_cortex_a15", "0,2\n"}, {"armv7_cortex_a7", "1,3\n"}}, {4, 5, 4, 5}},
};

Test(linux_cpi_cpus, each_core_type_is_counted_by_its_own_counters)
{
    static const pfb_cpi_status statuses[] = {PFB_CPI_OK, PFB_CPI_OK, PFB_CPI_OK, PFB_CPI_OK};
    put_file(ONLINE, "0-3\n");
    remove_file(DEVICES "/cpu/type");
    put_file(DEVICES "/uncore_imc_0/cpumask", "0\n"); /* not a core type */
    put_file(DEVICES "/uncore_imc_0/type", "20\n");
    for (size_t i = 0; i < sizeof hybrids / sizeof hybrids[0]; i++) {
        put_pmus(hybrids[i].pmus);
        memcpy(fake->core_type, hybrids[i].types, sizeof hybrids[i].types);
        pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
        start(reader);
        run_cpus();
        finish(reader);
        expect_statuses(PFB_CPI_RAW, statuses, 4);
        cr_expect_eq(result.system.instr, 10000);
        pfb_cpi_reader_close(reader);
        remove_pmus(hybrids[i].pmus);
    }
}

/* The PMU of an ARM machine lists its CPUs also if there is one core type. */
Test(linux_cpi_cpus, one_core_type_is_counted_without_its_number)
{
    static const pfb_cpi_status statuses[] = {PFB_CPI_OK, PFB_CPI_OK};
    static const pmu arm[PMUS] = {{"armv8_pmuv3_0", "0-1\n"}};
    put_file(ONLINE, "0-1\n");
    put_file(POSSIBLE, "0-1\n");
    remove_file(DEVICES "/cpu/type");
    put_pmus(arm);
    fake->refuses_core_types = true;
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    start(reader);
    run_cpus();
    finish(reader);
    expect_statuses(PFB_CPI_RAW, statuses, 2);
    pfb_cpi_reader_close(reader);
}

/* Checks the reading of a thread that was counted half of the time. */
static void expect_scaled(bool is_scaled, const char *what)
{
    pfb_cpi_failure failure = {0};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_THREAD_ONLY);
    start(reader);
    count(&fake->thread, 1000, 1000, 7, 9);
    finish(reader);
    uint64_t before = at_start.reading.snapshot.thread.instr;
    cr_expect_eq(at_end.reading.snapshot.thread.instr - before, 7,
                 "%s: a thread that was counted all the time is not scaled", what);
    start(reader);
    count(&fake->thread, 1000, 500, 7, 9);
    before = at_start.reading.snapshot.thread.instr;
    bool is_read = pfb_cpi_reader_read(reader, PFB_CPI_AT_END, at_end.cpus, 0, &at_end.reading, &failure);
    cr_expect_eq(is_read, is_scaled, "%s: %s", what, failure.sentence);
    if (is_scaled)
        cr_expect_eq(at_end.reading.snapshot.thread.instr - before, 14, "%s", what);
    else
        cr_expect(failure.code == PFB_PU_ERROR_READ_PERFORMANCE_DATA &&
                      strstr(failure.sentence, "cores of one type only"),
                  "%s: %d: %s", what, failure.code, failure.sentence);
    pfb_cpi_reader_close(reader);
}

/* The thread may have run on cores of another type, where nothing is counted, so its counts cannot be scaled. */
Test(linux_cpi_cpus, a_thread_on_a_hybrid_machine_is_never_scaled)
{
    put_file(ONLINE, "0-3\n");
    put_file(POSSIBLE, "0-3\n");
    remove_file(DEVICES "/cpu/type");
    for (size_t i = 0; i < sizeof hybrids / sizeof hybrids[0]; i++) {
        put_pmus(hybrids[i].pmus);
        expect_scaled(false, hybrids[i].pmus[0].name);
        remove_pmus(hybrids[i].pmus);
    }
}

/* The counts of a thread are scaled only if the files show that there is one core type. */
Test(linux_cpi_cpus, a_thread_is_scaled_where_one_pmu_covers_all_cpus)
{
    static const struct {
        const char *what, *possible;
        pmu pmus[PMUS];
        bool is_scaled;
    } rows[] = {
        {"x86, POWER and others list no CPUs", "0-3\n", {{"cpu", NULL}, {"power", NULL}}, true},
        {"s390 lists no CPUs", "0-3\n", {{"cpum_cf", NULL}, {"cpum_sf", NULL}}, true},
        {"an ARM server lists all CPUs", "0-3\n", {{"armv8_pmuv3_0", "0-3\n"}}, true},
        {"the list contains CPUs that are not possible", "0-1,3\n", {{"armv8_pmuv3_0", "0-255\n"}}, true},
        {"the list has several ranges", "0-3\n", {{"armv8_pmuv3_0", "0-1,2,3\n"}}, true},
        {"one CPU is not in the list", "0-3\n", {{"armv8_cortex_a53", "0-2\n"}}, false},
        {"one CPU in the middle is not in the list", "0-3\n", {{"armv8_cortex_a53", "0-1,3\n"}}, false},
        {"a possible CPU that is offline is not in the list", "0-1,4\n", {{"cpu_core", "0-3\n"}}, false},
        {"the list is invalid", "0-3\n", {{"armv8_cortex_a53", "all\n"}}, false},
        {"the list of possible CPUs is empty", "", {{"armv8_pmuv3_0", "0-3\n"}}, false},
        {"the list of possible CPUs is invalid", "0-3,x\n", {{"armv8_pmuv3_0", "0-255\n"}}, false},
        {"kernels before 4.10 list no CPUs on ARM", "0-3\n", {{"armv8_cortex_a53", NULL}}, false},
        {"a PMU without a list and a PMU with one", "0-3\n", {{"cpu", NULL}, {"cpu_atom", "2-3\n"}}, false},
        {"there is no PMU of a core", "0-3\n", {{"software", NULL}}, false},
    };
    put_file(ONLINE, "0-1\n");
    remove_file(DEVICES "/cpu/type");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put_file(POSSIBLE, rows[i].possible);
        put_pmus(rows[i].pmus);
        expect_scaled(rows[i].is_scaled, rows[i].what);
        remove_pmus(rows[i].pmus);
    }
    remove_file(POSSIBLE);
    put_pmus(rows[2].pmus);
    expect_scaled(false, "no list of possible CPUs");
}

Test(linux_cpi_cpus, a_thread_is_not_scaled_where_devices_cannot_be_listed)
{
    remove_file(DEVICES "/cpu/type");
    remove_file(DEVICES "/cpu");
    remove_file(DEVICES);
    expect_scaled(false, "devices cannot be listed");
}

/* ---- Wrong reads ------------------------------------------------------------------------------------------------ */

static void break_reads(size_t number, long size, uint64_t events)
{
    fake->bad_cpu = 1;
    fake->bad_reads = number;
    fake->bad_size = size;
    fake->bad_events = events;
}

Test(linux_cpi_cpus, wrong_reads_fail_at_the_end_and_after_reopening)
{
    static const struct {
        long size;
        uint64_t events;
        int code;
    } reads[] = {{0, 2, PFB_PU_ERROR_READ_PERFORMANCE_DATA},    /* no bytes */
                 {32, 1, PFB_PU_ERROR_READ_PERFORMANCE_DATA},   /* one event instead of two */
                 {-EIO, 2, PFB_PU_ERROR_READ_PERFORMANCE_DATA}, /* an error */
                 {40, 3, PFB_PU_ERROR_INTERNAL_ERROR}};         /* three events */
    static const pfb_cpi_status statuses[] = {PFB_CPI_OK, PFB_CPI_OK};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        start(reader);
        break_reads(1, reads[i].size, reads[i].events);
        expect_read_failure(reader, PFB_CPI_AT_END, 2, reads[i].code, "instructions on CPU 1 cannot be read");
        expect_unhalted(reader, 1, false, 0);
        break_reads(2, reads[i].size, reads[i].events);
        expect_read_failure(reader, PFB_CPI_AT_START, 2, reads[i].code, "instructions on CPU 1 cannot be read");
        expect_read_failure(reader, PFB_CPI_AT_END, 2, PFB_PU_ERROR_INCORRECT_STATE, "no interval was begun");
        break_reads(1, reads[i].size, reads[i].events); /* the read fails, and the start opens a new group */
        size_t opened = fake->opened;
        start(reader);
        cr_expect(fake->opened == opened + 1 && fake->open_descriptors == 4);
        run_cpus();
        finish(reader);
        expect_statuses(PFB_CPI_RAW, statuses, 2);
    }
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi_cpus, a_broken_group_that_cannot_be_opened_again_has_no_count)
{
    static const pfb_cpi_status statuses[] = {PFB_CPI_OK, PFB_CPI_INVALID};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    break_reads(1, 32, 1);
    add_rule(EBUSY, false, 1, CYCLES, ANY);
    start(reader);
    cr_expect_eq(fake->open_descriptors, 2);
    run_cpus();
    finish(reader);
    expect_statuses(PFB_CPI_RAW, statuses, 2);
    pfb_cpi_reader_close(reader);
}

/* ---- Several readers ------------------------------------------------------------------------------------------- */

Test(linux_cpi_cpus, readers_share_groups_and_have_their_own_intervals)
{
    pfb_cpi_reader *one = open_reader(PFB_CPI_RAW);
    start(one);
    run_cpus();
    pfb_cpi_reader *two = open_reader(PFB_CPI_RAW | PFB_CPI_SCALED);
    cpi_reading start_of_two;
    take_reading(two, PFB_CPI_AT_START, &start_of_two);
    cr_expect(fake->opened == 2 && fake->open_descriptors == 4);
    run_cpus();
    finish(one);
    compute(PFB_CPI_RAW);
    cr_expect(figures[0].instr == 2000 && figures[1].instr == 4000 && result.elapsed_cycles == 2000);
    pfb_cpi_reader_close(one);
    cr_expect_eq(fake->open_descriptors, 4);
    run_cpus();
    finish(two);
    at_start.reading = start_of_two.reading;
    compute(PFB_CPI_RAW);
    cr_expect(figures[0].instr == 2000 && figures[1].instr == 4000 && result.elapsed_cycles == 2000);
    pfb_cpi_reader_close(two);
    cr_expect_eq(fake->open_descriptors, 0);
    two = open_reader(PFB_CPI_RAW); /* the groups are opened again */
    cr_expect(fake->opened == 4 && fake->open_descriptors == 4);
    pfb_cpi_reader_close(two);
}

/* A reading in another thread, which begins while the first reader is reading. */
static struct {
    pthread_t thread;
    pfb_cpi_reader *reader;
    pfb_cpi_moment moment;
    cpi_reading end_reading;
    atomic_bool is_begun, has_read_thread, is_done;
} second;

static void *read_second(void *context)
{
    (void)context;
    take_reading(second.reader, second.moment, &second.end_reading);
    second.is_done = true;
    return NULL;
}

/* Waits with a time-out, so that a test fails instead of hanging. */
static bool wait_for(atomic_bool *flag)
{
    const struct timespec short_time = {.tv_nsec = 1000000};
    for (int i = 0; i < 5000 && !*flag; i++)
        nanosleep(&short_time, NULL);
    return *flag;
}

static void begin_second(void)
{
    second.is_begun = true;
    cr_assert_eq(pthread_create(&second.thread, NULL, read_second, NULL), 0);
}

/* Called at each read. When the first reader is at its first CPU, the second reader begins. It waits for the lock, but
 * its interval must end at the time of its call. */
static void read_second_meanwhile(int cpu)
{
    if (cpu == ANY)
        second.has_read_thread = true;
    if (cpu != 0 || second.is_begun)
        return;
    begin_second();
    wait_for(&second.has_read_thread);
    fake->time_stamp += 1000000;
    count(&fake->thread, 9, 9, 5555, 7777);
}

Test(linux_cpi_cpus, a_reading_does_not_extend_the_interval_of_another_reader)
{
    pfb_cpi_reader *first = open_reader(PFB_CPI_RAW);
    second.reader = open_reader(PFB_CPI_RAW | PFB_CPI_ON_THREAD);
    second.moment = PFB_CPI_AT_END;
    cpi_reading start_of_second;
    start(first);
    take_reading(second.reader, PFB_CPI_AT_START, &start_of_second);
    run_cpus();
    count(&fake->thread, 10, 10, 400, 800);
    fake->on_read = read_second_meanwhile;
    finish(first);
    cr_assert_eq(pthread_join(second.thread, NULL), 0);
    cr_expect_eq(second.end_reading.reading.snapshot.clock - start_of_second.reading.snapshot.clock, 1000);
    cr_expect_eq(second.end_reading.reading.snapshot.thread.instr - start_of_second.reading.snapshot.thread.instr, 400);
    cr_expect_eq(second.end_reading.reading.snapshot.thread.cycles - start_of_second.reading.snapshot.thread.cycles,
                 800);
    pfb_cpi_reader_close(first);
    pfb_cpi_reader_close(second.reader);
}

/* Called during a reading by the first reader. While the first reader reads its thread, the second reader reads its
 * CPUs and must succeed before the first one continues. */
static void read_second_completely(int cpu)
{
    if (cpu != ANY || second.is_begun)
        return;
    begin_second();
    wait_for(&second.is_done);
}

Test(linux_cpi_cpus, reading_a_thread_does_not_block_other_readers)
{
    static const pfb_cpi_moment moments[] = {PFB_CPI_AT_START, PFB_CPI_AT_END};
    pfb_cpi_reader *first = open_reader(PFB_CPI_RAW | PFB_CPI_ON_THREAD);
    second.reader = open_reader(PFB_CPI_RAW);
    second.moment = PFB_CPI_AT_START;
    for (size_t i = 0; i < 2; i++) {
        second.is_begun = second.is_done = false;
        fake->on_read = read_second_completely;
        run_cpus();
        count(&fake->thread, 10, 10, 400, 800);
        uint64_t before = fake->time_stamp;
        take_reading(first, moments[i], &at_start);
        cr_expect(second.is_done, "the second snapshot is complete before the first one, moment %zu", i);
        cr_assert_eq(pthread_join(second.thread, NULL), 0);
        cr_expect_eq(at_start.reading.snapshot.clock, before);
    }
    pfb_cpi_reader_close(first);
    pfb_cpi_reader_close(second.reader);
}

enum { ROUNDS = 200 };

/* Opens, reads and closes repeatedly. Returns null on success. */
static void *use_source(void *argument)
{
    const uint32_t mode = *(const uint32_t *)argument;
    static const char wrong[] = "a reader failed";
    for (int i = 0; i < ROUNDS; i++) {
        cpi_reading first;
        cpi_reading last;
        pfb_cpi_reader *reader = pfb_cpi_reader_open(source, mode, NULL);
        if (!reader)
            return (void *)wrong;
        bool is_read = pfb_cpi_reader_read(reader, PFB_CPI_AT_START, first.cpus, 2, &first.reading, NULL) &&
                       pfb_cpi_reader_read(reader, PFB_CPI_AT_END, last.cpus, 2, &last.reading, NULL) &&
                       first.reading.snapshot.cpu_count == 2 && last.reading.snapshot.cpu_count == 2 &&
                       first.cpus[1].instr == 2000 && first.cpus[1].cpu == 1;
        pfb_cpi_reader_close(reader);
        if (!is_read)
            return (void *)wrong;
    }
    return NULL;
}

Test(linux_cpi_cpus, two_threads_may_use_readers_at_once)
{
    uint32_t modes[] = {PFB_CPI_RAW, PFB_CPI_RAW | PFB_CPI_SCALED};
    pthread_t threads[2];
    run_cpus();
    for (size_t i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, use_source, &modes[i]), 0);
    for (size_t i = 0; i < 2; i++) {
        void *wrong = NULL;
        cr_assert_eq(pthread_join(threads[i], &wrong), 0);
        cr_expect_null(wrong, "%s", (const char *)wrong);
    }
}
