/* SPDX-License-Identifier: MIT */
/* Codes of the CPI facility: their names and texts. */
#include <criterion/criterion.h>

#include "perfblock/cpi_code.h"

#include <limits.h>
#include <string.h>

/* The codes in the headers of the facility. */
static const struct {
    int code;
    const char *name;
} rows[] = {
    {0, "PU_SUCCESS"},
    {-1, "PU_FAILURE"},
    {-3, "PU_ERR_NULL_PTR"},
    {-5, "PU_ERROR_ACCESS_DENIED"},
    {-6, "PU_ERR_NOT_INITIALIZED"},
    {-8, "PU_ERROR_NOT_ENOUGH_MEMORY"},
    {-87, "PU_ERROR_INVALID_PARAMETER"},
    {-122, "PU_ERROR_INSUFFICIENT_BUFFER"},
    {-200, "PU_ERROR_INTERNAL_ERROR"},
    {-201, "PU_ERROR_INCORRECT_STATE"},
    {-202, "PU_ERROR_NO_BUFFER"},
    {-205, "PU_ERROR_BUFFER_FULL"},
    {-208, "PU_ERROR_HOOK_TOO_LONG"},
    {-209, "PU_ERROR_DRIVER_NOT_LOADED"},
    {-210, "PU_ERROR_NOT_SUPPORTED"},
    {-211, "PU_ERROR_FACILITY_BUSY"},
    {-213, "PU_ERROR_EVENT_NOT_SUPPORTED"},
    {-216, "PU_ERROR_INVALID_CPI_DATA"},
    {-234, "PU_ERROR_NOT_VALID_IN_VM"},
    {-241, "PU_ERROR_INSUFFICIENT_RESOURCES"},
    {-251, "PU_ERROR_INVALID_SIGNATURE"},
    {-255, "PU_ERROR_INVALID_THREAD"},
    {-256, "PU_ERROR_ENABLE_THREAD_PROFILING"},
    {-257, "PU_ERROR_READ_PERFORMANCE_DATA"},
    {-260, "PU_ERROR_REQUIRED_APIS_MISSING"},
    {-264, "PU_ERROR_INCOMPATIBLE_OPTIONS"},
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

Test(cpi_code, each_code_has_its_value_and_name)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const pfb_cpi_code *code = pfb_cpi_code_find(rows[i].code);
        cr_assert_not_null(code, "%s", rows[i].name);
        cr_expect_eq(code->code, rows[i].code, "%s is %d", rows[i].name, code->code);
        cr_expect_str_eq(code->name, rows[i].name, "code %d", rows[i].code);
        cr_expect_str_eq(pfb_cpi_rc_to_string(rows[i].code), rows[i].name, "code %d", rows[i].code);
    }
}

/* Compares the codes by the names of their constants, which finds wrong and exchanged values. */
Test(cpi_code, constants_have_the_values_of_their_names)
{
#define EXPECT_NAME(name) cr_expect_str_eq(pfb_cpi_rc_to_string(PFB_##name), #name)
    EXPECT_NAME(PU_SUCCESS);
    EXPECT_NAME(PU_FAILURE);
    EXPECT_NAME(PU_ERR_NULL_PTR);
    EXPECT_NAME(PU_ERROR_ACCESS_DENIED);
    EXPECT_NAME(PU_ERR_NOT_INITIALIZED);
    EXPECT_NAME(PU_ERROR_NOT_ENOUGH_MEMORY);
    EXPECT_NAME(PU_ERROR_INVALID_PARAMETER);
    EXPECT_NAME(PU_ERROR_INSUFFICIENT_BUFFER);
    EXPECT_NAME(PU_ERROR_INTERNAL_ERROR);
    EXPECT_NAME(PU_ERROR_INCORRECT_STATE);
    EXPECT_NAME(PU_ERROR_NO_BUFFER);
    EXPECT_NAME(PU_ERROR_BUFFER_FULL);
    EXPECT_NAME(PU_ERROR_HOOK_TOO_LONG);
    EXPECT_NAME(PU_ERROR_DRIVER_NOT_LOADED);
    EXPECT_NAME(PU_ERROR_NOT_SUPPORTED);
    EXPECT_NAME(PU_ERROR_FACILITY_BUSY);
    EXPECT_NAME(PU_ERROR_EVENT_NOT_SUPPORTED);
    EXPECT_NAME(PU_ERROR_INVALID_CPI_DATA);
    EXPECT_NAME(PU_ERROR_NOT_VALID_IN_VM);
    EXPECT_NAME(PU_ERROR_INSUFFICIENT_RESOURCES);
    EXPECT_NAME(PU_ERROR_INVALID_SIGNATURE);
    EXPECT_NAME(PU_ERROR_INVALID_THREAD);
    EXPECT_NAME(PU_ERROR_ENABLE_THREAD_PROFILING);
    EXPECT_NAME(PU_ERROR_READ_PERFORMANCE_DATA);
    EXPECT_NAME(PU_ERROR_REQUIRED_APIS_MISSING);
    EXPECT_NAME(PU_ERROR_INCOMPATIBLE_OPTIONS);
}

/* The program prints these texts after a name. */
Test(cpi_code, texts_differ_and_have_no_final_dot)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const char *text = pfb_cpi_code_find(rows[i].code)->text;
        cr_expect(strlen(text) > 10 && text[strlen(text) - 1] != '.', "%s", text);
        for (size_t k = 0; k < i; k++)
            cr_expect_str_neq(text, pfb_cpi_code_find(rows[k].code)->text, "%s and %s", rows[i].name, rows[k].name);
    }
}

/* Expects no such code, unless it is one of the rows. */
static void expect_unknown(int code)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].code == code)
            return;
    }
    cr_expect_null(pfb_cpi_code_find(code), "%d", code);
    cr_expect_str_eq(pfb_cpi_rc_to_string(code), "PU_UNKNOWN_CODE", "%d", code);
}

Test(cpi_code, other_values_are_unknown_codes)
{
    for (int code = -400; code <= 400; code++)
        expect_unknown(code);
    expect_unknown(INT_MAX);
    expect_unknown(INT_MIN);
}
