/* SPDX-License-Identifier: MIT */
/* Runs calls of the CPI facility on snapshots of the input, and compares the results with those of a simple model of
 * its state. The model computes figures and hooks with perfblock::cpi, which has fuzz targets of its own.
 *
 * Input: { width of instructions u8, of cycles u8, number of steps u8 modulo 16 }, then the steps: { kind u8 with the
 * bits 1 has a thread, 2 is refused, 4 user mode only; clock u16, thread instructions u16, cycles u16, number of CPUs
 * u8 modulo 4 } with their CPUs { number u8, shift u8 modulo 64, instructions, cycles, busy and elapsed u8, each
 * shifted }. Then calls up to the end: { function u8 modulo 12, handle u8 modulo 10, of init modulo 8 } and the
 * operands in the list below. Handles: 0 to 7 one of eight handles, 8 a pointer that is no handle, 9 a number { u32 }.
 *
 *       0  init { mode u32 }, if the handle is free    1  terminate    2  start    3  get
 *       4  get and trace { minor i16, forms u8, label u16 }    5  set hook identity { minor i16, label u16 }
 *       6  attach { capacity u16 modulo 8192; 0: none }    7  trace size    8  details    9  mode
 *       10  if there are instances: replace the source, which is refused    11  unhalted { position u8 }
 *
 * The u16 of a label, modulo 300, is its size in bytes; 0: no label. Little-endian; missing bytes are 0. */
#include "checks.h"
#include "perfblock/cpi_facility.h"
#include "support_cpi_source.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_STEPS = 16, MAX_CPUS = 4, SLOTS = 8, MAX_BUFFER = 8192, MAX_LABEL = 300, UNHALTED = 2 };

#define FORMS (PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED)

/* One of the eight handles, and the expected state of its instance. */
typedef struct slot {
    void *handle; /* null: none yet */
    bool is_live, has_start, has_data;
    uint32_t mode;
    size_t next, start, end; /* numbers of the next step, and of those at the start and the end of the interval */
    uint32_t minor;
    size_t label_size_bytes;
    uint8_t *buffer;               /* of exactly its capacity */
    size_t capacity, used, needed; /* bytes; `needed` as in pfb_cpi_get_trace_size */
    uint64_t groups;               /* number of groups that were written to the buffer */
} slot;

typedef struct machine {
    const uint8_t *data;
    size_t left;
    canned_source source;
    canned_step steps[MAX_STEPS];
    pfb_cpi_cpu cpus[MAX_STEPS][MAX_CPUS];
    size_t live_count;
    slot slots[SLOTS];
} machine;

static char label[MAX_LABEL + 1];

/* ---- The input ----------------------------------------------------------------------------------------- */

static uint32_t take(machine *m, size_t bytes)
{
    uint32_t value = 0;
    for (size_t i = 0; i < bytes && m->left > 0; i++, m->left--)
        value |= (uint32_t)*m->data++ << 8 * i;
    return value;
}

static uint64_t take_shifted(machine *m, uint32_t shift)
{
    return (uint64_t)take(m, 1) << shift % 64;
}

static void take_step(machine *m, size_t at, pfb_cpi_widths widths)
{
    pfb_cpi_cpu *cpus = m->cpus[at];
    uint32_t kind = take(m, 1);
    pfb_cpi_reading reading = {.widths = widths, .is_user_only = (kind & 4) != 0};
    reading.snapshot.clock = take(m, 2);
    reading.snapshot.has_thread = (kind & 1) != 0;
    reading.snapshot.thread.instr = take(m, 2);
    reading.snapshot.thread.cycles = take(m, 2);
    reading.snapshot.cpu_count = take(m, 1) % MAX_CPUS;
    reading.snapshot.cpus = cpus;
    for (size_t i = 0; i < reading.snapshot.cpu_count; i++) {
        cpus[i].cpu = take(m, 1);
        uint32_t shift = take(m, 1);
        cpus[i].instr = take_shifted(m, shift);
        cpus[i].cycles = take_shifted(m, shift);
        cpus[i].busy = take_shifted(m, shift);
        cpus[i].elapsed = take_shifted(m, shift);
    }
    m->steps[at] = (canned_step){.reading = reading, .refusal = kind & 2 ? PFB_PU_ERROR_ACCESS_DENIED : 0};
}

static void begin(machine *m)
{
    pfb_cpi_widths widths;
    widths.instr = take(m, 1);
    widths.cycles = take(m, 1);
    m->source.steps = m->steps;
    m->source.step_count = take(m, 1) % MAX_STEPS;
    m->source.unhalted = UNHALTED;
    for (size_t i = 0; i < m->source.step_count; i++)
        take_step(m, i, widths);
    memset(label, 'x', MAX_LABEL);
    require(pfb_cpi_use_source(canned_open(&m->source)) == PFB_PU_SUCCESS,
            "without instances the source can be changed");
}

/* Makes a label of `size` bytes; NULL if 0. */
static const char *make_label(size_t size)
{
    return size > 0 ? label + MAX_LABEL - size : NULL;
}

/* ---- The model ----------------------------------------------------------------------------------------- */

/* Moves to the next step, as a reading does, and returns the code of the reading. */
static int read_step(const machine *m, slot *p, size_t *step)
{
    if (p->next >= m->source.step_count)
        return PFB_PU_ERROR_READ_PERFORMANCE_DATA;
    *step = p->next++;
    return m->steps[*step].refusal;
}

/* Returns the expected code of pfb_cpi_init for a mode, if the source can be read. */
static int mode_code(uint32_t mode)
{
    if (mode & ~(PFB_CPI_ALL | PFB_CPI_THREAD_ONLY))
        return PFB_PU_ERROR_INVALID_PARAMETER;
    bool is_incompatible = mode & PFB_CPI_THREAD_ONLY && mode & (PFB_CPI_SCALED | PFB_CPI_FORM_SUMMARY);
    return is_incompatible ? PFB_PU_ERROR_INCOMPATIBLE_OPTIONS : PFB_PU_SUCCESS;
}

/* Expects a group to be appended to the buffer, byte for byte. */
static int expect_group(slot *p, const pfb_cpi_result *result, const pfb_cpi_figures *figures,
                        const pfb_cpi_identity *identity)
{
    static uint8_t group[MAX_BUFFER];
    size_t size;
    pfb_code code = pfb_cpi_hooks_write(result, figures, identity, group, sizeof group, &size);
    p->needed = 0;
    if (code != PFB_OK)
        return PFB_PU_ERROR_INVALID_CPI_DATA;
    if (size > p->capacity - p->used) {
        p->needed = size;
        return PFB_PU_ERROR_BUFFER_FULL;
    }
    require(memcmp(p->buffer + p->used, group, size) == 0, "a group is appended");
    p->used += size;
    p->groups++;
    return PFB_PU_SUCCESS;
}

static void check_data(const pfb_cpi_data *data, const pfb_cpi_result *result, const pfb_cpi_figures *figures)
{
    require(data->num_cpus == (int)result->cpu_count && data->tid == 0, "the CPUs are the same as at the start");
    require(data->elapsed_cycles == result->elapsed_cycles, "the elapsed cycles are those of the interval");
    require(bits_of(data->raw_sys_cpi) == bits_of(result->system.raw_cpi), "the system has the computed raw CPI");
    require(bits_of(data->scaled_sys_cpi) == bits_of(result->system.scaled_cpi),
            "the system has the computed scaled CPI");
    require(bits_of(data->sys_busy) == bits_of(result->system.busy_percent), "the system has the computed busy share");
    require(bits_of(data->thread_cpi) == bits_of(result->thread.raw_cpi), "the thread has the computed CPI");
    for (size_t i = 0; i < MAX_CPUS; i++) {
        pfb_cpi_figures f = i < result->cpu_count ? figures[i] : (pfb_cpi_figures){.raw_cpi = 0.0};
        require(bits_of(data->raw_cpi[i]) == bits_of(f.raw_cpi), "a CPU has the computed raw CPI, or 0");
        require(bits_of(data->scaled_cpi[i]) == bits_of(f.scaled_cpi), "a CPU has the computed scaled CPI, or 0");
        require(bits_of(data->cpu_busy[i]) == bits_of(f.busy_percent), "a CPU has the computed busy share, or 0");
    }
}

/* Returns the expected code of a get, which writes a group of hooks if `identity` is not NULL. Checks the data. */
static int expect_get(machine *m, slot *p, const pfb_cpi_identity *identity, const pfb_cpi_data *data)
{
    pfb_cpi_figures figures[MAX_CPUS];
    pfb_cpi_result result;
    if (identity && !p->buffer)
        return PFB_PU_ERROR_NO_BUFFER;
    if (!p->has_start)
        return PFB_PU_ERROR_INCORRECT_STATE;
    p->has_data = false;
    int code = read_step(m, p, &p->end);
    if (code != PFB_PU_SUCCESS)
        return code;
    const pfb_cpi_reading *start = &m->steps[p->start].reading;
    const pfb_cpi_reading *end = &m->steps[p->end].reading;
    uint32_t figures_mode = p->mode & (PFB_CPI_RAW | PFB_CPI_SCALED | PFB_CPI_ON_THREAD | PFB_CPI_THREAD_ONLY);
    pfb_cpi_verdict verdict =
        pfb_cpi_compute(&start->snapshot, &end->snapshot, &start->widths, figures_mode, figures, &result);
    if (verdict == PFB_CPI_BAD_ARGUMENT)
        return PFB_PU_ERROR_INTERNAL_ERROR;
    if (verdict == PFB_CPI_CLOCK_BACKWARD)
        return PFB_PU_ERROR_INVALID_CPI_DATA;
    code = verdict == PFB_CPI_NO_DATA ? PFB_PU_ERROR_INVALID_CPI_DATA : PFB_PU_SUCCESS;
    if (identity && code == PFB_PU_SUCCESS)
        code = expect_group(p, &result, figures, identity);
    p->has_data = code != PFB_PU_ERROR_BUFFER_FULL;
    if (p->has_data && data)
        check_data(data, &result, figures);
    return code;
}

static void check_get(machine *m, slot *p, const pfb_cpi_identity *identity, int code, const pfb_cpi_data *data)
{
    bool had_data = p->has_data;
    require(code == expect_get(m, p, identity, data), "a get returns the expected code");
    bool is_refused = code == PFB_PU_ERROR_NO_BUFFER || code == PFB_PU_ERROR_INCORRECT_STATE;
    require(!is_refused || p->has_data == had_data, "a rejected call changes nothing");
    require((data != NULL) == (p->has_data && !is_refused), "a get returns data if there are any");
}

/* ---- Calls --------------------------------------------------------------------------------------------- */

/* The handle that is passed to a call, and the expectations of the call. */
typedef struct target {
    void *handle;
    slot *slot;        /* NULL: the handle is not live */
    int code;          /* the expected code if the handle is not live */
    bool may_be_stale; /* a random number, which may be the handle of an instance of an earlier input */
} target;

static target take_target(machine *m)
{
    static int object;
    uint32_t which = take(m, 1) % (SLOTS + 2);
    int code_if_unknown = m->live_count > 0 ? PFB_PU_ERROR_INVALID_SIGNATURE : PFB_PU_ERR_NOT_INITIALIZED;
    if (which < SLOTS) {
        slot *p = &m->slots[which];
        int code_if_dead = p->handle ? PFB_PU_ERROR_INVALID_SIGNATURE : PFB_PU_ERR_NULL_PTR;
        return (target){p->handle, p->is_live ? p : NULL, code_if_dead, false};
    }
    if (which == SLOTS)
        return (target){&object, NULL, code_if_unknown, false};
    uintptr_t number = take(m, 4) | 1;
    target number_handle = {NULL, NULL, code_if_unknown, true};
    memcpy(&number_handle.handle, &number, sizeof number);
    for (size_t i = 0; i < SLOTS; i++) {
        if (m->slots[i].handle == number_handle.handle)
            number_handle = (target){NULL, NULL, PFB_PU_ERR_NULL_PTR, false};
    }
    return number_handle;
}

static void check_code(const target *t, int code, int expected)
{
    if (t->may_be_stale && code == PFB_PU_ERROR_INVALID_SIGNATURE)
        return;
    require(code == (t->slot ? expected : t->code), "a call returns the expected code");
    require((pfb_cpi_last_error_text()[0] != '\0') == (code != PFB_PU_SUCCESS),
            "a failure has a text, a success has none");
}

static void call_init(machine *m)
{
    slot *p = &m->slots[take(m, 1) % SLOTS];
    uint32_t mode = take(m, 4);
    if (p->is_live)
        return;
    void *handle = m;
    uint32_t implied = mode & PFB_CPI_THREAD_ONLY ? PFB_CPI_RAW | PFB_CPI_ON_THREAD : PFB_CPI_RAW;
    slot made = {.mode = mode | implied, .minor = 1};
    int expected = mode_code(mode);
    if (expected == PFB_PU_SUCCESS)
        expected = read_step(m, &made, &made.start);
    require(pfb_cpi_init(mode, &handle) == expected, "an init returns the expected code");
    require((handle != NULL) == (expected == PFB_PU_SUCCESS), "a successful init returns a handle");
    if (!handle)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        require(m->slots[i].handle != handle, "a new handle differs from all others");
    made.handle = handle;
    made.is_live = true;
    made.has_start = true;
    *p = made;
    m->live_count++;
}

/* Checks that the hooks in the instance's buffer can be read, and that they have no more groups than were written. */
static void check_hooks(const slot *p)
{
    pfb_cpi_hooks hooks;
    pfb_cpi_hooks_open(&hooks, p->buffer, p->used, NULL);
    require(pfb_cpi_hooks_finish(&hooks).code == PFB_OK, "written hooks can be read");
    require(hooks.group_count == p->groups || p->groups > 1,
            "a single group is read as one"); /* hooks of consecutive groups may be read as one group */
    require(hooks.group_count <= p->groups, "no more groups are read than were written");
}

static void release_buffer(slot *p)
{
    check_hooks(p);
    free(p->buffer);
    p->buffer = NULL;
    p->capacity = p->used = p->needed = 0;
    p->groups = 0;
}

static void call_terminate(machine *m, const target *t)
{
    check_code(t, pfb_cpi_terminate(t->handle), PFB_PU_SUCCESS);
    if (!t->slot)
        return;
    release_buffer(t->slot);
    t->slot->is_live = false;
    m->live_count--;
}

static void call_start(machine *m, const target *t)
{
    int code = pfb_cpi_start(t->handle);
    int expected = t->slot ? read_step(m, t->slot, &t->slot->start) : 0;
    if (t->slot)
        t->slot->has_start = expected == PFB_PU_SUCCESS;
    check_code(t, code, expected);
}

static void call_get(machine *m, const target *t)
{
    const pfb_cpi_data *data = (const pfb_cpi_data *)m;
    int code = pfb_cpi_get(t->handle, &data);
    if (t->slot) {
        slot *p = t->slot;
        pfb_cpi_identity identity = {.minor = p->minor,
                                     .forms = p->mode & FORMS,
                                     .label = make_label(p->label_size_bytes),
                                     .label_size_bytes = p->label_size_bytes};
        check_get(m, p, p->mode & PFB_CPI_TRACE_ON_GET ? &identity : NULL, code, data);
    } else {
        check_code(t, code, 0);
        require(!data, "without an instance there is no data");
    }
}

static int16_t take_minor(machine *m)
{
    uint32_t minor = take(m, 2);
    return (int16_t)(minor < 0x8000 ? (int32_t)minor : (int32_t)minor - 0x10000);
}

static bool is_identity(int minor, size_t label_size)
{
    return minor >= 0 && minor <= 255 && label_size <= 255;
}

static void call_trace(machine *m, const target *t)
{
    const pfb_cpi_data *data = (const pfb_cpi_data *)m;
    int minor = take_minor(m);
    uint32_t forms = take(m, 1);
    size_t size = take(m, 2) % MAX_LABEL;
    int code = pfb_cpi_get_and_trace(t->handle, minor, forms, make_label(size), &data);
    bool is_form = (forms & ~FORMS) == 0;
    bool is_compatible = !(t->slot && t->slot->mode & PFB_CPI_THREAD_ONLY && forms & PFB_CPI_FORM_SUMMARY);
    if (t->slot && is_form && is_compatible && is_identity(minor, size)) {
        pfb_cpi_identity identity = {.minor = (uint32_t)minor,
                                     .forms = forms ? forms : t->slot->mode & FORMS,
                                     .label = make_label(size),
                                     .label_size_bytes = size};
        check_get(m, t->slot, &identity, code, data);
        return;
    }
    check_code(t, code, is_form && !is_compatible ? PFB_PU_ERROR_INCOMPATIBLE_OPTIONS : PFB_PU_ERROR_INVALID_PARAMETER);
    require(!data, "a rejected call returns no data");
}

static void call_identity(machine *m, const target *t)
{
    int minor = take_minor(m);
    size_t size = take(m, 2) % MAX_LABEL;
    int code = pfb_cpi_set_trace_hook_id(t->handle, minor, make_label(size));
    check_code(t, code, is_identity(minor, size) ? PFB_PU_SUCCESS : PFB_PU_ERROR_INVALID_PARAMETER);
    if (!t->slot || code != PFB_PU_SUCCESS)
        return;
    t->slot->minor = (uint32_t)minor;
    t->slot->label_size_bytes = size;
}

static void call_attach(machine *m, const target *t)
{
    size_t capacity = take(m, 2) % MAX_BUFFER;
    uint8_t *buffer = capacity > 0 && t->slot ? malloc(capacity) : NULL;
    check_code(t, pfb_cpi_attach_trace_buffer(t->handle, buffer, capacity), PFB_PU_SUCCESS);
    if (!t->slot)
        return;
    release_buffer(t->slot);
    t->slot->buffer = buffer;
    t->slot->capacity = buffer ? capacity : 0;
}

static void call_size(const target *t)
{
    size_t used = 1;
    size_t needed = 1;
    check_code(t, pfb_cpi_get_trace_size(t->handle, &used, &needed), PFB_PU_SUCCESS);
    require(!t->slot || (used == t->slot->used && needed == t->slot->needed),
            "the trace sizes are those of the buffer");
}

static void call_details(const machine *m, const target *t)
{
    pfb_cpi_details details;
    int code = pfb_cpi_get_details(t->handle, &details);
    check_code(t, code, t->slot && t->slot->has_data ? PFB_PU_SUCCESS : PFB_PU_ERROR_INCORRECT_STATE);
    if (!t->slot || code != PFB_PU_SUCCESS)
        return;
    for (size_t i = 0; i < details.result.cpu_count; i++)
        require(details.cpus[i].status < PFB_CPI_STATUS_COUNT, "each CPU has a status");
    bool is_user_only = m->steps[t->slot->end].reading.is_user_only;
    require(!is_user_only || details.is_user_only, "user mode is reported");
}

static void call_unhalted(machine *m, const target *t)
{
    uint64_t cycles = 0;
    size_t position = take(m, 1);
    int code = pfb_cpi_get_unhalted(t->handle, position, &cycles);
    if (!t->slot || !t->slot->has_data)
        check_code(t, code, PFB_PU_ERROR_INCORRECT_STATE);
    else
        require(code != PFB_PU_SUCCESS || (position < UNHALTED && cycles == 1000 * (position + 1)),
                "unhalted cycles are those of the source");
}

static void call_other_source(const machine *m)
{
    if (m->live_count == 0)
        return;
    require(pfb_cpi_use_source(NULL) == PFB_PU_ERROR_INCORRECT_STATE, "a source with instances cannot be replaced");
    require(!m->source.is_closed, "the source of instances stays open");
}

static void call(machine *m)
{
    uint32_t which = take(m, 1) % 12;
    if (which == 0) {
        call_init(m);
        return;
    }
    const target t = take_target(m);
    switch (which) {
    case 1:
        call_terminate(m, &t);
        break;
    case 2:
        call_start(m, &t);
        break;
    case 3:
        call_get(m, &t);
        break;
    case 4:
        call_trace(m, &t);
        break;
    case 5:
        call_identity(m, &t);
        break;
    case 6:
        call_attach(m, &t);
        break;
    case 7:
        call_size(&t);
        break;
    case 8:
        call_details(m, &t);
        break;
    case 9:
        require(pfb_cpi_get_current_mode(t.handle) == (t.slot ? t.slot->mode : 0),
                "the mode has the requested bits and those they imply");
        break;
    case 10:
        call_other_source(m);
        break;
    default:
        call_unhalted(m, &t);
        break;
    }
}

/* The facility keeps a table of all handles, which grows with the number of live instances, and numbers threads. Makes
 * the table as large as it can become before the first input, so that an input takes the same path in each run. */
__attribute__((constructor)) static void fill_table(void)
{
    static canned_step steps[SLOTS];
    canned_source source = {.steps = steps, .step_count = SLOTS};
    void *handles[SLOTS];
    require(pfb_cpi_use_source(canned_open(&source)) == PFB_PU_SUCCESS, "a source can be set");
    for (size_t i = 0; i < SLOTS; i++)
        require(pfb_cpi_init(PFB_CPI_RAW, &handles[i]) == PFB_PU_SUCCESS, "the table has all handles");
    for (size_t i = 0; i < SLOTS; i++)
        require(pfb_cpi_terminate(handles[i]) == PFB_PU_SUCCESS, "an instance can be terminated");
    require(pfb_cpi_use_source(NULL) == PFB_PU_SUCCESS && source.is_closed, "the source is closed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static machine m;
    m = (machine){.data = data, .left = size};
    begin(&m);
    while (m.left > 0)
        call(&m);
    for (size_t i = 0; i < SLOTS; i++) {
        slot *p = &m.slots[i];
        if (p->is_live)
            require(pfb_cpi_terminate(p->handle) == PFB_PU_SUCCESS, "an instance can be terminated");
        release_buffer(p);
    }
    require(m.source.opened == m.source.closed && !m.source.is_closed, "readers are closed with their instances");
    require(pfb_cpi_use_source(NULL) == PFB_PU_SUCCESS && m.source.is_closed, "a source is closed when it is replaced");
    return 0;
}
