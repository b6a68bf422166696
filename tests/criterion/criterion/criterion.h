/* SPDX-License-Identifier: MIT */
#ifndef STAND_IN_CRITERION_H
#define STAND_IN_CRITERION_H

/* Replaces the library Criterion on Windows, under emulation, and in builds with the CMake option PERFBLOCK_STAND_IN.
 * It has the macros of Criterion that the unit tests use, so that the tests are compiled unchanged. There are two
 * differences: all tests of a program run in one process, so that a crash ends the whole program; and the time limit of
 * a test is ignored, so that only the limit of CTest applies. CTest recognises success by the last line of the output,
 * see tests/CMakeLists.txt. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* ---- Tests ------------------------------------------------------------------------------------------------ */

typedef struct stand_in_options {
    void (*init)(void); /* before each test; may be null */
    void (*fini)(void); /* after each test, even a failed one; may be null */
    double timeout;     /* in seconds; ignored here */
    bool is_last;       /* set by the macros Test and TestSuite, so that the initializer is never empty */
} stand_in_options;

typedef struct stand_in_entry {
    const char *suite, *name;
    void (*run)(void); /* null in the entry of a suite, which has only options */
    stand_in_options options;
    int line; /* tests run in the order of their lines; constructors run in any order */
    struct stand_in_entry *next;
} stand_in_entry;

void stand_in_register(stand_in_entry *entry);

#define STAND_IN_ENTRY(id, suite_name, test_name, function, ...)                                                       \
    static stand_in_entry id = {                                                                                       \
        .suite = (suite_name), .name = (test_name), .run = (function), .options = {__VA_ARGS__}, .line = __LINE__};    \
    __attribute__((constructor)) static void id##_register(void)                                                       \
    {                                                                                                                  \
        stand_in_register(&id);                                                                                        \
    }

#define STAND_IN_TEST(suite_name, test_name, ...)                                                                      \
    static void suite_name##_##test_name##_test(void);                                                                 \
    STAND_IN_ENTRY(suite_name##_##test_name##_entry, #suite_name, #test_name, suite_name##_##test_name##_test,         \
                   __VA_ARGS__)                                                                                        \
    static void suite_name##_##test_name##_test(void)

#define STAND_IN_SUITE(suite_name, ...)                                                                                \
    STAND_IN_ENTRY(suite_name##_suite, #suite_name, "", NULL, __VA_ARGS__)                                             \
    struct stand_in_entry /* completed by the semicolon after TestSuite(...) */

#define Test(...) STAND_IN_TEST(__VA_ARGS__, .is_last = true)
#define TestSuite(...) STAND_IN_SUITE(__VA_ARGS__, .is_last = true)

/* ---- Checks ----------------------------------------------------------------------------------------------- */

/* Prints a failed check, followed by its message unless `format` is null. A fatal failure ends the test. */
void stand_in_fail(bool is_fatal, const char *file, int line, const char *text, const char *format, ...);

/* Ends the test and counts it as skipped. */
void stand_in_skip(const char *format, ...);

/* The message is optional. Therefore the macros below append a NULL to the arguments, which is the format if there is
 * no message, and otherwise an argument that the format does not use. */
#define STAND_IN_CHECK(is_fatal, is_true, text, ...)                                                                   \
    ((is_true) ? (void)0 : stand_in_fail(is_fatal, __FILE__, __LINE__, text, __VA_ARGS__))
#define STAND_IN_TRUE(is_fatal, a, ...) STAND_IN_CHECK(is_fatal, a, #a, __VA_ARGS__)
#define STAND_IN_FALSE(is_fatal, a, ...) STAND_IN_CHECK(is_fatal, !(a), "not " #a, __VA_ARGS__)
#define STAND_IN_OP(is_fatal, op, a, b, ...) STAND_IN_CHECK(is_fatal, (a)op(b), #a " " #op " " #b, __VA_ARGS__)
#define STAND_IN_NULL(is_fatal, op, a, ...) STAND_IN_CHECK(is_fatal, (a)op NULL, #a " " #op " NULL", __VA_ARGS__)
#define STAND_IN_STRING(is_fatal, op, a, b, ...)                                                                       \
    STAND_IN_CHECK(is_fatal, strcmp(a, b) op 0, #a " " #op " " #b " as strings", __VA_ARGS__)
#define STAND_IN_BYTES(is_fatal, a, b, size, ...)                                                                      \
    STAND_IN_CHECK(is_fatal, memcmp(a, b, size) == 0, #a " == " #b " as bytes", __VA_ARGS__)
#define STAND_IN_NEAR(is_fatal, a, b, distance, ...)                                                                   \
    STAND_IN_CHECK(is_fatal, fabs((a) - (b)) <= (distance), #a " close to " #b, __VA_ARGS__)

#define cr_assert(...) STAND_IN_TRUE(true, __VA_ARGS__, NULL)
#define cr_assert_not(...) STAND_IN_FALSE(true, __VA_ARGS__, NULL)
#define cr_assert_eq(...) STAND_IN_OP(true, ==, __VA_ARGS__, NULL)
#define cr_assert_neq(...) STAND_IN_OP(true, !=, __VA_ARGS__, NULL)
#define cr_assert_lt(...) STAND_IN_OP(true, <, __VA_ARGS__, NULL)
#define cr_assert_leq(...) STAND_IN_OP(true, <=, __VA_ARGS__, NULL)
#define cr_assert_gt(...) STAND_IN_OP(true, >, __VA_ARGS__, NULL)
#define cr_assert_geq(...) STAND_IN_OP(true, >=, __VA_ARGS__, NULL)
#define cr_assert_null(...) STAND_IN_NULL(true, ==, __VA_ARGS__, NULL)
#define cr_assert_not_null(...) STAND_IN_NULL(true, !=, __VA_ARGS__, NULL)
#define cr_assert_str_eq(...) STAND_IN_STRING(true, ==, __VA_ARGS__, NULL)
#define cr_assert_fail(...) stand_in_fail(true, __FILE__, __LINE__, "never", __VA_ARGS__, NULL)

#define cr_expect(...) STAND_IN_TRUE(false, __VA_ARGS__, NULL)
#define cr_expect_not(...) STAND_IN_FALSE(false, __VA_ARGS__, NULL)
#define cr_expect_eq(...) STAND_IN_OP(false, ==, __VA_ARGS__, NULL)
#define cr_expect_neq(...) STAND_IN_OP(false, !=, __VA_ARGS__, NULL)
#define cr_expect_lt(...) STAND_IN_OP(false, <, __VA_ARGS__, NULL)
#define cr_expect_leq(...) STAND_IN_OP(false, <=, __VA_ARGS__, NULL)
#define cr_expect_gt(...) STAND_IN_OP(false, >, __VA_ARGS__, NULL)
#define cr_expect_geq(...) STAND_IN_OP(false, >=, __VA_ARGS__, NULL)
#define cr_expect_null(...) STAND_IN_NULL(false, ==, __VA_ARGS__, NULL)
#define cr_expect_not_null(...) STAND_IN_NULL(false, !=, __VA_ARGS__, NULL)
#define cr_expect_str_eq(...) STAND_IN_STRING(false, ==, __VA_ARGS__, NULL)
#define cr_expect_str_neq(...) STAND_IN_STRING(false, !=, __VA_ARGS__, NULL)
#define cr_expect_arr_eq(...) STAND_IN_BYTES(false, __VA_ARGS__, NULL)
#define cr_expect_float_eq(...) STAND_IN_NEAR(false, __VA_ARGS__, NULL)

#define cr_skip_test(...) stand_in_skip(__VA_ARGS__, NULL)

#endif
