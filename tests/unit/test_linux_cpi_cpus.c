/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "support_linux_cpi.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Which CPUs the live CPI source of Linux has counters of, who may have them, and several readers of them. */

#define DEVICES "/sys/bus/event_source/devices/"

TestSuite(linux_cpi_cpus, .init = begin_linux_cpi, .fini = end_linux_cpi);

/* ---- Refusals --------------------------------------------------------------------------------------------------- */

Test(linux_cpi_cpus, a_kernel_without_events_is_told_by_its_files)
{
    remove_file(PARANOID);
    expect_refused(PFB_CPI_RAW, -260, "perf_event_paranoid");
    expect_refused(PFB_CPI_THREAD_ONLY, -260, "perf_event_paranoid");
    put_file(PARANOID, "none\n");
    expect_refused(PFB_CPI_RAW, -200, "perf_event_paranoid has no level");
    put_file(PARANOID, "");
    expect_refused(PFB_CPI_RAW, -200, "perf_event_paranoid has no level");
    put_file(PARANOID, "-\n");
    expect_refused(PFB_CPI_RAW, -200, "perf_event_paranoid has no level");
    put_file(PARANOID, "-1\n");
    pfb_cpi_reader_close(open_reader(PFB_CPI_RAW));
    cr_expect_eq(fake->opened, 2);
}

Test(linux_cpi_cpus, the_level_is_part_of_the_sentence)
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
        expect_refused(PFB_CPI_RAW, -5, levels[i].sentence);
        expect_refused(PFB_CPI_RAW, -5, "instructions on CPU 0 cannot be counted: EACCES (Permission denied); ");
    }
}

Test(linux_cpi_cpus, where_no_cpu_has_counters_the_first_refusal_is_told)
{
    add_rule(EOPNOTSUPP, false, 0, ANY, ANY);
    add_rule(ENOENT, false, 1, ANY, ANY);
    expect_refused(PFB_CPI_RAW, -210, "instructions on CPU 0 cannot be counted: EOPNOTSUPP");
    fake->is_virtual = true;
    expect_refused(PFB_CPI_RAW, -234, "instructions on CPU 0 cannot be counted: EOPNOTSUPP");
}

/* Whatever says nothing of the processor is no reason to leave a CPU out. */
Test(linux_cpi_cpus, one_cpu_that_is_refused_refuses_all)
{
    static const struct {
        int error;
        int code;
    } refusals[] = {{EACCES, -5}, {EBUSY, -211}, {EINVAL, -213}, {ENOMEM, -8}, {ENFILE, -241}, {ECHILD, -1}};
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        fake->rule_count = 0;
        add_rule(refusals[i].error, false, 1, CYCLES, ANY);
        expect_refused(PFB_CPI_RAW, refusals[i].code, "unhalted cycles on CPU 1 cannot be counted");
    }
}

Test(linux_cpi_cpus, descriptors_that_run_out_anywhere_leave_none_open)
{
    put_file(ONLINE, "0-2\n");
    for (size_t most = 0; most < 8; most++) {
        char sentence[80];
        if (most < 6)
            snprintf(sentence, sizeof sentence, "%s on CPU %zu cannot be counted: EMFILE (Too many open files)",
                     most & 1 ? "unhalted cycles" : "instructions", most / 2);
        else
            snprintf(sentence, sizeof sentence, "%s of this thread cannot be counted: EMFILE (Too many open files)",
                     most & 1 ? "unhalted cycles" : "instructions");
        fake->most_descriptors = most;
        expect_refused(PFB_CPI_RAW | PFB_CPI_ON_THREAD, -241, sentence);
        cr_expect_eq(fake->open_descriptors, 0);
    }
    fake->most_descriptors = 8;
    pfb_cpi_reader_close(open_reader(PFB_CPI_RAW | PFB_CPI_ON_THREAD));
}

/* ---- Which CPUs ------------------------------------------------------------------------------------------------- */

Test(linux_cpi_cpus, a_list_of_cpus_is_believed_whole_or_not_at_all)
{
    static const struct {
        const char *list;
        int code;
        const char *sentence;
    } lists[] = {{"", -200, "no list"},
                 {"\n", -200, "no list"},
                 {"x\n", -200, "no list"},
                 {"0-1,x\n", -200, "no list"},
                 {"1-0\n", -200, "no list"},
                 {"0,0\n", -200, "no list"},
                 {"2,0-1\n", -200, "no list"},

                 {"0-99999999999\n", -200, "no list"},
                 {"0-1024\n", -241, "more than 1024"},
                 {"0-1023,1025\n", -241, "more than 1024"},
                 {"0-2147483647\n", -241, "more than 1024"}};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        start(reader);
        put_file(ONLINE, lists[i].list);
        expect_unread(reader, PFB_CPI_AT_END, PFB_CPI_MOST_CPUS, lists[i].code, lists[i].sentence);
        expect_unread(reader, PFB_CPI_AT_START, PFB_CPI_MOST_CPUS, lists[i].code, lists[i].sentence);
        put_file(ONLINE, "0-1\n");
    }
    pfb_cpi_reader_close(reader);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        put_file(ONLINE, lists[i].list);
        expect_refused(PFB_CPI_RAW, lists[i].code, lists[i].sentence);
    }
    remove_file(ONLINE);
    expect_refused(PFB_CPI_RAW, -260, ONLINE);
}

Test(linux_cpi_cpus, there_are_as_many_cpus_as_the_core_takes)
{
    put_file(ONLINE, "0-1023\n");
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    start(reader);
    cr_expect(at_start.reading.snapshot.cpu_count == 1024 && at_start.cpus[1023].cpu == 1023);
    cr_expect_eq(fake->open_descriptors, 2048);
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi_cpus, more_cpus_than_room_are_a_failure)
{
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    expect_unread(reader, PFB_CPI_AT_START, 1, -241, "there are 2 CPUs, and room for 1");
    expect_unread(reader, PFB_CPI_AT_END, 2, -201, "no interval was begun");
    start(reader);
    expect_unread(reader, PFB_CPI_AT_END, 1, -241, "there are 2 CPUs, and room for 1");
    put_file(ONLINE, "0-2\n");
    expect_unread(reader, PFB_CPI_AT_END, 2, -241, "there are 3 CPUs, and room for 2");
    put_file(ONLINE, "1\n");
    cr_expect(pfb_cpi_reader_read(reader, PFB_CPI_AT_END, at_end.cpus, 1, &at_end.reading, NULL));
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi_cpus, cpus_come_and_go)
{
    static const pfb_cpi_status both[] = {PFB_CPI_OK, PFB_CPI_OK};
    static const pfb_cpi_status three[] = {PFB_CPI_OK, PFB_CPI_OFFLINE, PFB_CPI_OK};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    start(reader);
    put_file(ONLINE, "0-2\n"); /* came */
    run_cpus();
    finish(reader);
    cr_expect(at_end.reading.snapshot.cpu_count == 3 && at_end.cpus[2].cpu == 2 && fake->opened == 2);
    expect_statuses(PFB_CPI_RAW, both, 2);
    cr_expect(result.cpus_changed);
    start(reader); /* now it has a group */
    cr_expect(fake->opened == 3 && fake->open_descriptors == 6);
    run_cpus();
    finish(reader);
    expect_unhalted(reader, 1, true, 1);
    put_file(ONLINE, "0,2\n"); /* went */
    run_cpus();
    finish(reader);
    expect_statuses(PFB_CPI_RAW, three, 3);
    cr_expect(figures[0].instr == 2000 && figures[2].instr == 6000 && result.cpus_changed);
    expect_unhalted(reader, 1, false, 0);
    expect_unhalted(reader, 2, true, 2);
    start(reader); /* lets go of it */
    cr_expect(fake->open_descriptors == 4 && at_start.reading.snapshot.cpu_count == 2 && at_start.cpus[1].cpu == 2);
    pfb_cpi_reader_close(reader);
}

/* Another reader saw it gone and opened its group anew: the counts of both groups have nothing to do with each other.
 */
Test(linux_cpi_cpus, a_cpu_that_went_and_came_back_has_no_count)
{
    static const pfb_cpi_status statuses[] = {PFB_CPI_OK, PFB_CPI_INVALID};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    pfb_cpi_reader *other = open_reader(PFB_CPI_RAW);
    taken ignored;
    start(reader);
    put_file(ONLINE, "0\n");
    take(other, PFB_CPI_AT_START, &ignored);
    cr_expect_eq(fake->open_descriptors, 2);
    put_file(ONLINE, "0-1\n");
    take(other, PFB_CPI_AT_START, &ignored);
    cr_expect(fake->opened == 3 && fake->open_descriptors == 4);
    run_cpus();
    finish(reader);
    expect_statuses(PFB_CPI_RAW, statuses, 2);
    expect_unhalted(reader, 1, false, 0);
    pfb_cpi_reader_close(reader);
    pfb_cpi_reader_close(other);
}

Test(linux_cpi_cpus, a_cpu_that_came_and_cannot_be_opened_is_tried_again)
{
    static const pfb_cpi_status refused[] = {PFB_CPI_OK, PFB_CPI_OK, PFB_CPI_INVALID};
    static const pfb_cpi_status all[] = {PFB_CPI_OK, PFB_CPI_OK, PFB_CPI_OK};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    put_file(ONLINE, "0-2\n");
    fake->most_descriptors = 5;
    start(reader);
    cr_expect(at_start.cpus[2].instr == UINT64_MAX && fake->open_descriptors == 4);
    run_cpus();
    finish(reader);
    expect_statuses(PFB_CPI_RAW, refused, 3);
    fake->most_descriptors = 6;
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

static void put_core_types(void)
{
    put_file(ONLINE, "0-3\n");
    put_file(DEVICES "cpu_core/cpus", "0-1\n");
    put_file(DEVICES "cpu_core/type", "4\n");
    put_file(DEVICES "cpu_atom/cpus", "2-3\n");
    put_file(DEVICES "cpu_atom/type", "10\n");
}

Test(linux_cpi_cpus, each_core_type_is_counted_by_its_own_counters)
{
    static const pfb_cpi_status statuses[] = {PFB_CPI_OK, PFB_CPI_OK, PFB_CPI_OK, PFB_CPI_OK};
    put_core_types();
    fake->core_type[0] = fake->core_type[1] = 4;
    fake->core_type[2] = fake->core_type[3] = 10;
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    start(reader);
    run_cpus();
    finish(reader);
    expect_statuses(PFB_CPI_RAW, statuses, 4);
    cr_expect_eq(result.system.instr, 10000);
    pfb_cpi_reader_close(reader);
}

/* What a thread did on cores that its group does not count cannot be made up for. */
Test(linux_cpi_cpus, a_thread_on_a_hybrid_machine_is_never_scaled)
{
    put_core_types();
    pfb_cpi_reader *reader = open_reader(PFB_CPI_THREAD_ONLY);
    start(reader);
    count(&fake->thread, 1000, 1000, 7, 9);
    finish(reader);
    cr_expect(at_end.reading.snapshot.thread.instr == 7 && at_end.reading.snapshot.thread.cycles == 9);
    count(&fake->thread, 1000, 999, 7, 9);
    expect_unread(reader, PFB_CPI_AT_END, 0, -257, "cores of one type only");
    pfb_cpi_reader_close(reader);
}

/* ---- Wrong reads ------------------------------------------------------------------------------------------------ */

static void break_reads(size_t number, long size, uint64_t events)
{
    fake->bad_cpu = 1;
    fake->bad_reads = number;
    fake->bad_size = size;
    fake->bad_events = events;
}

Test(linux_cpi_cpus, a_wrong_read_is_no_number)
{
    static const struct {
        long size;
        uint64_t events;
        int code;
    } reads[] = {{0, 2, -257}, {32, 1, -257}, {-EIO, 2, -257}, {40, 3, -200}};
    static const pfb_cpi_status statuses[] = {PFB_CPI_OK, PFB_CPI_OK};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        start(reader);
        break_reads(1, reads[i].size, reads[i].events);
        expect_unread(reader, PFB_CPI_AT_END, 2, reads[i].code, "instructions on CPU 1 cannot be read");
        expect_unhalted(reader, 1, false, 0);
        break_reads(2, reads[i].size, reads[i].events);
        expect_unread(reader, PFB_CPI_AT_START, 2, reads[i].code, "instructions on CPU 1 cannot be read");
        expect_unread(reader, PFB_CPI_AT_END, 2, -201, "no interval was begun");
        break_reads(1, reads[i].size, reads[i].events); /* a group in pieces: the next start has a new one */
        size_t opened = fake->opened;
        start(reader);
        cr_expect(fake->opened == opened + 1 && fake->open_descriptors == 4);
        run_cpus();
        finish(reader);
        expect_statuses(PFB_CPI_RAW, statuses, 2);
    }
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi_cpus, a_group_in_pieces_that_cannot_be_opened_again_has_no_count)
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

/* ---- Several readers
 * -------------------------------------------------------------------------------------------------- */

Test(linux_cpi_cpus, readers_share_groups_and_have_intervals_of_their_own)
{
    pfb_cpi_reader *one = open_reader(PFB_CPI_RAW);
    start(one);
    run_cpus();
    pfb_cpi_reader *two = open_reader(PFB_CPI_RAW | PFB_CPI_SCALED);
    taken start_of_two;
    take(two, PFB_CPI_AT_START, &start_of_two);
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
    two = open_reader(PFB_CPI_RAW); /* and from the beginning */
    cr_expect(fake->opened == 4 && fake->open_descriptors == 4);
    pfb_cpi_reader_close(two);
}

enum { ROUNDS = 200 };

/* Opens, reads and closes over and over. Returns null when all was well. */
static void *use_source(void *argument)
{
    const uint32_t mode = *(const uint32_t *)argument;
    static const char wrong[] = "a reader failed";
    for (int i = 0; i < ROUNDS; i++) {
        taken first;
        taken last;
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

Test(linux_cpi_cpus, readers_are_used_from_two_threads)
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
