/* SPDX-License-Identifier: MIT */
/* The table that converts handles of the CPI facility to instances. */
#include "cpi/cpi_table.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

/* Pointers to instances, which the table never dereferences. */
static struct pfb_cpi_instance *instance(uintptr_t number)
{
    struct pfb_cpi_instance *pointer;
    number *= 16;
    memcpy(&pointer, &number, sizeof pointer);
    return pointer;
}

Test(cpi_table, a_handle_identifies_its_instance_until_removal)
{
    pfb_cpi_table table = {.max_generation = PFB_CPI_MAX_GENERATION};
    void *first = pfb_cpi_table_add(&table, instance(1));
    void *second = pfb_cpi_table_add(&table, instance(2));
    cr_assert(first && second && first != second);
    cr_expect_eq(pfb_cpi_table_find(&table, first), instance(1));
    cr_expect_eq(pfb_cpi_table_find(&table, second), instance(2));
    cr_expect_eq(table.live_count, 2);
    cr_expect_eq(pfb_cpi_table_remove(&table, first), instance(1));
    cr_expect_null(pfb_cpi_table_find(&table, first));
    cr_expect_null(pfb_cpi_table_remove(&table, first), "a handle can be removed only once");
    cr_expect_eq(table.live_count, 1);
    cr_expect(pfb_cpi_table_knows(&table, first) && pfb_cpi_table_knows(&table, second));
    free(table.slots);
}

Test(cpi_table, values_that_were_never_handles_are_unknown)
{
    pfb_cpi_table table = {.max_generation = PFB_CPI_MAX_GENERATION};
    int word = 0;
    cr_expect_not(pfb_cpi_table_knows(&table, NULL), "an empty table has no handles");
    char *handle = pfb_cpi_table_add(&table, instance(1));
    uintptr_t number = (uintptr_t)handle;
    cr_expect_eq(number & 1, 1);
    cr_expect_not(pfb_cpi_table_knows(&table, NULL));
    cr_expect_not(pfb_cpi_table_knows(&table, &word), "a pointer that is not a handle");
    for (unsigned bit = 0; bit < sizeof number * 8; bit++) {
        uintptr_t other = number ^ (uintptr_t)1 << bit;
        void *invalid;
        memcpy(&invalid, &other, sizeof invalid);
        cr_expect_not(pfb_cpi_table_knows(&table, invalid), "handle with bit %u inverted", bit);
        cr_expect_null(pfb_cpi_table_find(&table, invalid), "handle with bit %u inverted", bit);
        cr_expect_null(pfb_cpi_table_remove(&table, invalid), "handle with bit %u inverted", bit);
    }
    cr_expect_eq(pfb_cpi_table_find(&table, handle), instance(1));
    free(table.slots);
}

/* Returns the part of a handle that is the same for all handles of a slot: the lower half of the bits. */
static uintptr_t slot_of(const void *handle)
{
    return (uintptr_t)handle & PFB_CPI_MAX_GENERATION;
}

Test(cpi_table, the_slot_free_for_the_longest_time_is_used_first)
{
    pfb_cpi_table table = {.max_generation = PFB_CPI_MAX_GENERATION};
    void *handles[5];
    static const int order[] = {3, 0, 4, 1};
    for (uintptr_t i = 0; i < 5; i++)
        handles[i] = pfb_cpi_table_add(&table, instance(i + 1));
    for (int i = 0; i < 4; i++)
        pfb_cpi_table_remove(&table, handles[order[i]]);
    for (int i = 0; i < 4; i++) {
        void *new_handle = pfb_cpi_table_add(&table, instance(9));
        cr_expect_eq(slot_of(new_handle), slot_of(handles[order[i]]), "handle %d", order[i]);
        cr_expect_neq(new_handle, handles[order[i]], "handle %d", order[i]);
        cr_expect_null(pfb_cpi_table_find(&table, handles[order[i]]), "handle %d", order[i]);
    }
    cr_expect_eq(table.slot_count, 5);
    free(table.slots);
}

Test(cpi_table, a_slot_whose_handles_would_repeat_is_not_used_again)
{
    enum { MAX_GENERATION = 3, ADDED = 20 };
    pfb_cpi_table table = {.max_generation = MAX_GENERATION};
    void *handles[ADDED];
    for (int i = 0; i < ADDED; i++) {
        handles[i] = pfb_cpi_table_add(&table, instance(1));
        cr_assert_eq(pfb_cpi_table_remove(&table, handles[i]), instance(1));
        for (int k = 0; k < i; k++)
            cr_expect_neq(handles[k], handles[i], "%d and %d", k, i);
    }
    cr_expect_eq(table.slot_count, 7, "20 handles need 7 slots if each slot has 3");
    for (int i = 0; i < ADDED; i++)
        cr_expect(pfb_cpi_table_knows(&table, handles[i]) && !pfb_cpi_table_find(&table, handles[i]), "handle %d", i);
    free(table.slots);
}

/* With pointers of 32 bits there are 32768 slots. With longer pointers, memory is exhausted before handles are. */
Test(cpi_table, a_full_table_returns_no_handle)
{
    if (sizeof(uintptr_t) > 4)
        cr_skip_test("filling all slots takes too much memory");
    pfb_cpi_table table = {.max_generation = PFB_CPI_MAX_GENERATION};
    void *latest = NULL;
    for (size_t i = 0; i < PFB_CPI_MAX_SLOTS; i++)
        cr_assert_not_null(latest = pfb_cpi_table_add(&table, instance(1)));
    cr_expect_null(pfb_cpi_table_add(&table, instance(2)));
    pfb_cpi_table_remove(&table, latest);
    cr_expect_not_null(pfb_cpi_table_add(&table, instance(2)));
    free(table.slots);
}
