/* SPDX-License-Identifier: MIT */
#include "stepper.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAP_FLAG = 0x100 }; /* of EFLAGS: trap after the next instruction */

static struct {
    uint8_t *pages; /* inaccessible from stepper_begin to stepper_end; one page that is always inaccessible follows */
    size_t pages_size;
    uint8_t *memory; /* the last bytes of the pages */
    stepper_callback *callback;
    void *context;
    uint64_t accesses;
    struct sigaction previous_segv, previous_trap;
} stepper;

static void on_access(int number, siginfo_t *info, void *machine)
{
    ucontext_t *context = machine;
    uintptr_t at = (uintptr_t)info->si_addr;
    uintptr_t end = (uintptr_t)stepper.pages + stepper.pages_size;
    (void)number;
    if (at < (uintptr_t)stepper.memory || at >= end) {
        /* Another fault, such as an access outside the input: the instruction is executed again and ends the program,
         * or calls a sanitizer's handler. */
        sigaction(SIGSEGV, &stepper.previous_segv, NULL);
        return;
    }
    mprotect(stepper.pages, stepper.pages_size, PROT_READ | PROT_WRITE);
    stepper.callback(stepper.context, (size_t)(at - (uintptr_t)stepper.memory), stepper.accesses++);
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int number, siginfo_t *info, void *machine)
{
    ucontext_t *context = machine;
    (void)number;
    (void)info;
    mprotect(stepper.pages, stepper.pages_size, PROT_NONE);
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

uint8_t *stepper_make(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    stepper.pages_size = (size / page + 1) * page;
    void *pages = mmap(NULL, stepper.pages_size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages, stepper.pages_size, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    stepper.pages = pages;
    stepper.memory = stepper.pages + stepper.pages_size - size;
    return stepper.memory;
}

void stepper_begin(stepper_callback *callback, void *context)
{
    struct sigaction access = {.sa_sigaction = on_access, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    stepper.callback = callback;
    stepper.context = context;
    stepper.accesses = 0;
    sigaction(SIGSEGV, &access, &stepper.previous_segv);
    sigaction(SIGTRAP, &step, &stepper.previous_trap);
    mprotect(stepper.pages, stepper.pages_size, PROT_NONE);
}

uint64_t stepper_end(void)
{
    mprotect(stepper.pages, stepper.pages_size, PROT_READ | PROT_WRITE);
    sigaction(SIGSEGV, &stepper.previous_segv, NULL);
    sigaction(SIGTRAP, &stepper.previous_trap, NULL);
    return stepper.accesses;
}

void stepper_free(void)
{
    munmap(stepper.pages, stepper.pages_size + (size_t)sysconf(_SC_PAGESIZE));
}
