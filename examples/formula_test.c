/* SPDX-License-Identifier: MIT */
/* A unit test of an agent's own formulas: compares them with the exact values of the library. The agent computes
 * percentages in floating point without checks; the test shows where the results differ. */
#include <math.h>
#include <perfblock/perfblock.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The agent's formulas ---------------------------------------------------------------------------------------- */

/* PERF_100NSEC_TIMER_INV: "% Processor Time". */
static double busy_percent(uint64_t value0, uint64_t value1, int64_t time0, int64_t time1)
{
    return 100.0 * (1.0 - (double)(value1 - value0) / (double)(time1 - time0));
}

/* ---- The test of the formulas ------------------------------------------------------------------------------------ */

typedef struct sample_pair {
    const char *what;
    uint64_t value0, value1;
    int64_t time0, time1;
    pfb_status status; /* the status that the library must return */
} sample_pair;

static const sample_pair pairs[] = {
    {"half busy", 0, 5000000, 133000000000000000, 133000000010000000, PFB_STATUS_OK},
    {"idle clock ahead", 0, 10000007, 133000000000000000, 133000000010000000, PFB_STATUS_OK},
    {"after a restart", 5000000, 0, 133000000000000000, 133000000010000000, PFB_STATUS_NEGATIVE_DELTA},
    {"no time passed", 0, 5000000, 133000000000000000, 133000000000000000, PFB_STATUS_ZERO_DENOMINATOR},
};

static bool check(const sample_pair *p)
{
    static const uint32_t has = PFB_HAS_VALUE | PFB_HAS_PERF_TIME_100NS;
    static const uint32_t type = 0x21510500; /* PERF_100NSEC_TIMER_INV */
    const pfb_raw_value older = {.type = type, .has = has, .value = p->value0, .perf_time_100ns = p->time0};
    const pfb_raw_value newer = {.type = type, .has = has, .value = p->value1, .perf_time_100ns = p->time1};
    pfb_formula_result exact = pfb_formula_evaluate(&older, &newer, NULL);
    double agent = busy_percent(p->value0, p->value1, p->time0, p->time1);
    bool is_same = exact.status == PFB_STATUS_OK && fabs(agent - exact.value) <= 1e-9;
    printf("%s: agent %g, exact ", p->what, agent);
    if (exact.status == PFB_STATUS_OK)
        printf("%g", exact.value);
    else
        printf("%s", pfb_status_name(exact.status));
    printf(": %s\n", is_same ? "same" : "DIFFERENT");
    return exact.status == p->status && is_same == (p->status == PFB_STATUS_OK);
}

int main(void)
{
    bool is_right = true;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        is_right = check(&pairs[i]) && is_right;
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
