/* SPDX-License-Identifier: MIT */
/* Tests the CPI facility with many threads. 64 threads create, use and terminate a thousand instances in random order,
 * and figures are compared with those expected for their instance. Then all threads use one instance, which one of them
 * terminates. Usage: cpi_threads [SEED]. Meant to run with ThreadSanitizer, with AddressSanitizer and without a
 * sanitizer. */
#include "perfblock/cpi_facility.h"

#include "workers.h"

#include <stdlib.h>
#include <string.h>

enum { INSTANCES = 1000, ITERATIONS = 1500, CPUS = 2, BUFFER_BYTES = 600 };

/* ---- Snapshots ----------------------------------------------------------------------------------------- */

/* In reading n of a reader, from 0, CPU c has 16 (c + 1) n^2 instructions in 1000 n cycles, half of them busy; the
 * thread has 3 n^2 in 7 n. So the figures of an interval show at which two readings it began and ended. */
typedef struct counting_reader {
    atomic_flag is_used;
    uint32_t mode;
    unsigned thread;
    uint64_t next;
} counting_reader;

static atomic_size_t open_readers;
static atomic_bool source_is_closed;

static void close_source(void *context)
{
    (void)context;
    source_is_closed = true;
}

static void *open_reader(void *context, uint32_t mode, pfb_cpi_failure *failure)
{
    (void)context;
    (void)failure;
    counting_reader *reader = malloc(sizeof *reader);
    CHECK(reader != NULL);
    *reader = (counting_reader){.is_used = ATOMIC_FLAG_INIT, .mode = mode, .thread = this_thread};
    open_readers++;
    return reader;
}

static void close_reader(void *reader)
{
    CHECK(!atomic_flag_test_and_set(&((counting_reader *)reader)->is_used));
    open_readers--;
    free(reader);
}

static bool read_counts(void *context, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity,
                        pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    (void)moment;
    (void)failure;
    counting_reader *reader = context;
    CHECK(!atomic_flag_test_and_set(&reader->is_used)); /* no two threads use a reader at the same time */
    CHECK(!(reader->mode & PFB_CPI_ON_THREAD) || reader->thread == this_thread);
    CHECK(capacity >= CPUS);
    uint64_t n = reader->next++;
    for (uint32_t c = 0; c < CPUS; c++)
        cpus[c] = (pfb_cpi_cpu){c, 16 * (c + 1) * n * n, 1000 * n, 500 * n, 1000 * n};
    reading->snapshot.clock = 1000 * n;
    reading->snapshot.cpu_count = CPUS;
    reading->snapshot.has_thread = true;
    reading->snapshot.thread = (pfb_cpi_thread){reader->thread, 3 * n * n, 7 * n};
    reading->widths = (pfb_cpi_widths){64, 64};
    atomic_flag_clear(&reader->is_used);
    return true;
}

static bool no_unhalted(const void *reader, size_t position, uint64_t *cycles)
{
    (void)reader;
    (void)position;
    (void)cycles;
    return false;
}

static const pfb_cpi_source_operations operations = {close_source, open_reader, close_reader, read_counts, no_unhalted};

/* ---- Instances ----------------------------------------------------------------------------------------- */

/* One instance and its expected state. The lock serializes the calls on the instance, which the facility requires of
 * its callers. */
typedef struct box {
    pthread_mutex_t lock;
    void *handle;     /* null: there is no instance */
    void *terminated; /* handle of the previous instance, which was terminated; null if there was none */
    uint32_t mode;
    unsigned owner;
    uint64_t start, next; /* numbers of readings */
    uint64_t groups;
    uint8_t buffer[BUFFER_BYTES];
} box;

static box boxes[INSTANCES];

static bool is_foreign(const box *b)
{
    return (b->mode & PFB_CPI_ON_THREAD) && b->owner != this_thread;
}

static void make(box *b, uint64_t *random)
{
    static const uint32_t modes[] = {PFB_CPI_RAW, PFB_CPI_RAW | PFB_CPI_SCALED, PFB_CPI_ON_THREAD,
                                     PFB_CPI_SCALED | PFB_CPI_ON_THREAD};
    b->mode = modes[next_random(random) % 4] | PFB_CPI_RAW;
    b->owner = this_thread;
    b->start = 0;
    b->next = 1;
    b->groups = 0;
    CHECK(pfb_cpi_init(b->mode, &b->handle) == PFB_PU_SUCCESS);
    CHECK(b->handle != NULL && b->handle != b->terminated);
    CHECK(pfb_cpi_attach_trace_buffer(b->handle, b->buffer, sizeof b->buffer) == PFB_PU_SUCCESS);
}

static void end(box *b)
{
    CHECK(pfb_cpi_terminate(b->handle) == PFB_PU_SUCCESS);
    b->terminated = b->handle;
    b->handle = NULL;
}

static void start(box *b)
{
    if (is_foreign(b)) {
        CHECK(pfb_cpi_start(b->handle) == PFB_PU_ERROR_INVALID_THREAD);
        return;
    }
    CHECK(pfb_cpi_start(b->handle) == PFB_PU_SUCCESS);
    b->start = b->next++;
}

/* Compares the bytes of two doubles in memory, because x87 registers have a higher precision than a double. */
static bool is_same(double value, double expected)
{
    return memcmp(&value, &expected, sizeof value) == 0;
}

/* Checks the figures of the interval that ends with the latest reading. */
static void check_data(const box *b, const pfb_cpi_data *data)
{
    uint64_t last = b->next - 1;
    double steps = (double)(last - b->start);
    double squares = (double)(last * last - b->start * b->start);
    bool is_scaled = b->mode & PFB_CPI_SCALED;
    CHECK(data->num_cpus == CPUS && data->tid == b->owner && data->elapsed_cycles == 1000 * (last - b->start));
    for (int c = 0; c < CPUS; c++) {
        CHECK(is_same(data->raw_cpi[c], 1000 * steps / (16 * (c + 1) * squares)));
        CHECK(is_same(data->scaled_cpi[c], (is_scaled ? 500 * steps / (16 * (c + 1) * squares) : 0.0)));
        CHECK(is_same(data->cpu_busy[c], (is_scaled ? 50.0 : 0.0)));
    }
    CHECK(is_same(data->raw_sys_cpi, 2000 * steps / (48 * squares)));
    CHECK(is_same(data->thread_cpi, (b->mode & PFB_CPI_ON_THREAD ? 7 * steps / (3 * squares) : 0.0)));
}

static void get(box *b)
{
    const pfb_cpi_data *data;
    pfb_cpi_details details;
    int code = pfb_cpi_get(b->handle, &data);
    if (is_foreign(b)) {
        CHECK(code == PFB_PU_ERROR_INVALID_THREAD && !data);
        return;
    }
    CHECK(code == PFB_PU_SUCCESS);
    b->next++;
    check_data(b, data);
    CHECK(pfb_cpi_get_details(b->handle, &details) == PFB_PU_SUCCESS);
    CHECK(details.result.cpu_count == CPUS && details.cpus[1].raw_cpi == data->raw_cpi[1]);
}

/* Checks that the hooks in the buffer can be read and that there are as many groups as were written. */
static void check_hooks(const box *b, size_t used)
{
    pfb_cpi_hooks hooks;
    pfb_cpi_hooks_open(&hooks, b->buffer, used, NULL);
    CHECK(pfb_cpi_hooks_finish(&hooks).code == PFB_OK);
    CHECK(hooks.group_count == b->groups);
}

static void get_and_trace(box *b, uint64_t *random)
{
    const pfb_cpi_data *data;
    size_t used;
    size_t needed;
    uint32_t forms = next_random(random) % 4 << 5;
    int code = pfb_cpi_get_and_trace(b->handle, (int)(next_random(random) % 256), forms, "label", &data);
    if (is_foreign(b)) {
        CHECK(code == PFB_PU_ERROR_INVALID_THREAD && !data);
        return;
    }
    b->next++;
    CHECK(pfb_cpi_get_trace_size(b->handle, &used, &needed) == PFB_PU_SUCCESS && used <= BUFFER_BYTES);
    if (code == PFB_PU_SUCCESS) {
        check_data(b, data);
        b->groups++;
    } else {
        CHECK(code == PFB_PU_ERROR_BUFFER_FULL && !data && needed > BUFFER_BYTES - used);
    }
    check_hooks(b, used);
    if (code == PFB_PU_SUCCESS)
        return;
    b->groups = 0;
    CHECK(pfb_cpi_attach_trace_buffer(b->handle, b->buffer, sizeof b->buffer) == PFB_PU_SUCCESS);
}

/* Uses a handle that was terminated, possibly by another thread, and one that never existed. */
static void use_terminated(const box *b)
{
    const pfb_cpi_data *data;
    int object;
    if (b->terminated) {
        CHECK(pfb_cpi_start(b->terminated) == PFB_PU_ERROR_INVALID_SIGNATURE);
        CHECK(pfb_cpi_get(b->terminated, &data) == PFB_PU_ERROR_INVALID_SIGNATURE && !data);
        CHECK(pfb_cpi_terminate(b->terminated) == PFB_PU_ERROR_INVALID_SIGNATURE);
        CHECK(pfb_cpi_get_current_mode(b->terminated) == 0);
    }
    int code = pfb_cpi_terminate(&object);
    CHECK(code == PFB_PU_ERROR_INVALID_SIGNATURE || code == PFB_PU_ERR_NOT_INITIALIZED);
}

static void use_box(box *b, uint64_t *random)
{
    uint32_t choice = next_random(random) % 16;
    if (choice == 0)
        use_terminated(b);
    else if (!b->handle)
        make(b, random);
    else if (choice == 1)
        end(b);
    else if (choice < 5)
        start(b);
    else if (choice < 11)
        get(b);
    else if (choice < 14)
        get_and_trace(b, random);
    else if (choice == 14)
        CHECK(pfb_cpi_set_trace_hook_id(b->handle, 1, "other") == PFB_PU_SUCCESS);
    else
        CHECK(pfb_cpi_get_current_mode(b->handle) == b->mode &&
              pfb_cpi_use_source(NULL) == PFB_PU_ERROR_INCORRECT_STATE);
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

/* About half of the iterations use one of the boxes that belong to this thread, and the others any box. */
static void *use_boxes(void *context)
{
    worker *w = begin_worker(context);
    for (int i = 0; i < ITERATIONS; i++) {
        unsigned at = next_random(&w->random) % INSTANCES;
        if (next_random(&w->random) % 2 == 0)
            at = at / THREADS * THREADS + w->number - 1;
        box *b = &boxes[at < INSTANCES ? at : w->number - 1];
        pthread_mutex_lock(&b->lock);
        use_box(b, &w->random);
        pthread_mutex_unlock(&b->lock);
    }
    return NULL;
}

/* One instance that all threads call without a lock, although the facility requires ordered calls. Each call still
 * completes, or fails because the instance was terminated or the trace buffer is full. The buffer is freed after the
 * termination. */
static struct shared {
    void *handle;
    uint8_t *buffer;
    atomic_uint calls;
} shared;

static void expect_completed_or_terminated(int code)
{
    CHECK(code == PFB_PU_SUCCESS || code == PFB_PU_ERROR_INVALID_SIGNATURE || code == PFB_PU_ERROR_BUFFER_FULL);
}

static void *share_one(void *context)
{
    enum { CALLS = 20, TERMINATED_AT = THREADS * CALLS / 2 };
    worker *w = begin_worker(context);
    const pfb_cpi_data *data;
    pfb_cpi_details details;
    for (int i = 0; i < CALLS; i++) {
        if (shared.calls++ == TERMINATED_AT) {
            CHECK(pfb_cpi_terminate(shared.handle) == PFB_PU_SUCCESS);
            free(shared.buffer);
        }
        switch (next_random(&w->random) % 4) {
        case 0:
            expect_completed_or_terminated(pfb_cpi_start(shared.handle));
            break;
        case 1:
            expect_completed_or_terminated(pfb_cpi_get(shared.handle, &data));
            break;
        case 2:
            expect_completed_or_terminated(pfb_cpi_get_and_trace(shared.handle, 3, 0, NULL, &data));
            break;
        default:
            if (pfb_cpi_get_details(shared.handle, &details) == PFB_PU_SUCCESS)
                CHECK(details.result.cpu_count == CPUS);
        }
    }
    return NULL;
}

static void share_often(void)
{
    for (int round = 0; round < 10; round++) {
        shared.calls = 0;
        shared.buffer = malloc(BUFFER_BYTES);
        CHECK(shared.buffer && pfb_cpi_init(PFB_CPI_RAW, &shared.handle) == PFB_PU_SUCCESS);
        CHECK(pfb_cpi_attach_trace_buffer(shared.handle, shared.buffer, BUFFER_BYTES) == PFB_PU_SUCCESS);
        run_workers(share_one);
        CHECK(pfb_cpi_terminate(shared.handle) == PFB_PU_ERROR_INVALID_SIGNATURE);
    }
}

int main(int argc, char **argv)
{
    pfb_cpi_failure failure;
    seed_workers(argc, argv);
    CHECK(pfb_cpi_use_source(pfb_cpi_source_make(&operations, NULL, &failure)) == PFB_PU_SUCCESS);
    for (unsigned i = 0; i < INSTANCES; i++)
        CHECK(pthread_mutex_init(&boxes[i].lock, NULL) == 0);
    run_workers(use_boxes);
    size_t live = 0;
    for (unsigned i = 0; i < INSTANCES; i++) {
        live += boxes[i].handle != NULL;
        if (boxes[i].handle)
            end(&boxes[i]);
    }
    share_often();
    CHECK(open_readers == 0 && !source_is_closed);
    CHECK(pfb_cpi_use_source(NULL) == PFB_PU_SUCCESS && source_is_closed);
    printf("%zu instances at the end\n", live);
    return finish_checks();
}
