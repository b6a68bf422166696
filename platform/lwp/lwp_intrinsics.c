/* SPDX-License-Identifier: MIT */
#include "perfblock/lwp_intrinsics.h"

#include <string.h>

/* Return address of the call; 0 if the compiler cannot provide it. */
#if defined(_MSC_VER)
#define CALLER ((uint64_t)(uintptr_t)_ReturnAddress())
#elif defined(__GNUC__)
#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0))
#else
#define CALLER UINT64_C(0)
#endif

/* The model of a thread. */
typedef struct thread_state {
    bool is_begun;
    pfb_lwp_fault fault;
    pfb_lwp_model model;
} thread_state;

static thread_state *this_thread(void)
{
    static _Thread_local thread_state state;
    if (!state.is_begun) {
        static const pfb_lwp_model_options options = {.is_32_bit = sizeof(void *) == 4};
        pfb_lwp_capabilities family_15h;
        /* EAX, EBX, ECX and EDX of leaf 8000001C on a Family 15h CPU, with all its events enabled. */
        pfb_lwp_capabilities_read(0xE000000F, 0x80032013, 0x00010200, 0xE000000F, &family_15h);
        state.is_begun = pfb_lwp_model_init(&state.model, &family_15h, &options);
    }
    return &state;
}

pfb_lwp_model *pfb_lwp_thread_model(void)
{
    return &this_thread()->model;
}

bool pfb_lwp_thread_begin(const pfb_lwp_capabilities *capabilities, const pfb_lwp_model_options *options)
{
    pfb_lwp_model model;
    pfb_lwp_model_options adjusted = {0};
    if (options)
        adjusted = *options;
    adjusted.is_32_bit = sizeof(void *) == 4;
    if (!pfb_lwp_model_init(&model, capabilities, &adjusted))
        return false;
    this_thread()->model = model;
    this_thread()->fault = PFB_LWP_FAULT_NONE;
    return true;
}

pfb_lwp_fault pfb_lwp_thread_fault(void)
{
    return this_thread()->fault;
}

/* Reads a little-endian number. */
static uint64_t load(const uint8_t *field, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)field[i] << 8 * i;
    return value;
}

/* Gives the model access to the control block and its ring. pfb_lwp_model_add_memory refuses a ring that cannot be
 * valid; loading the block then faults. */
static void add_block_memory(pfb_lwp_model *model, uint8_t *control)
{
    size_t ring_bytes = (size_t)load(control + PFB_LWP_AT_BUFFER_SIZE, 4) & 0x0FFFFFFF; /* the field has 28 bits */
    uintptr_t base = (uintptr_t)load(control + PFB_LWP_AT_BUFFER_BASE, 8);
    uint8_t *ring;
    memcpy(&ring, &base, sizeof ring);
    pfb_lwp_model_add_memory(model, (pfb_lwp_memory){control, model->capabilities.control_bytes, (uintptr_t)control});
    pfb_lwp_model_add_memory(model, (pfb_lwp_memory){ring, ring_bytes, base});
}

/* Disables the model first: this writes the current block back, which needs the memory that was added for that
 * block. */
void pfb_lwp_thread_load(void *control)
{
    thread_state *state = this_thread();
    state->fault = pfb_lwp_model_load(&state->model, 0);
    if (state->fault != PFB_LWP_FAULT_NONE || !control)
        return;
    pfb_lwp_model_forget_memory(&state->model);
    add_block_memory(&state->model, control);
    state->fault = pfb_lwp_model_load(&state->model, (uintptr_t)control);
}

void *pfb_lwp_thread_store(void)
{
    thread_state *state = this_thread();
    uint64_t address;
    void *control;
    state->fault = pfb_lwp_model_store(&state->model, &address);
    uintptr_t number = (uintptr_t)address;
    memcpy(&control, &number, sizeof control);
    return control;
}

void pfb_lwp_thread_value(uint64_t data2, uint32_t data1, uint32_t flags)
{
    thread_state *state = this_thread();
    pfb_lwp_operands operands = {.data2 = data2, .data1 = data1, .flags = flags, .address = CALLER};
    state->fault = pfb_lwp_model_value(&state->model, &operands);
}

unsigned char pfb_lwp_thread_insert(uint64_t data2, uint32_t data1, uint32_t flags)
{
    thread_state *state = this_thread();
    pfb_lwp_operands operands = {.data2 = data2, .data1 = data1, .flags = flags, .address = CALLER};
    bool is_full;
    state->fault = pfb_lwp_model_insert(&state->model, &operands, &is_full);
    return is_full;
}
