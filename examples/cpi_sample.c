/* SPDX-License-Identifier: MIT */
/* Measures cycles per instruction around some work: the sample program of the documentation of Performance Inspector's
 * CPI facility, with the function names of that facility. The work is 500 rounds of many getenv calls, each round
 * followed by a sleep of 10 ms, with a star printed every tenth round. Then the program prints the figures of the
 * system and of each CPU.
 *
 * Usage: cpi_sample [ROUNDS] [FILE]
 *
 * FILE contains snapshots (docs/cpi.md) to use instead of this machine's counters. It needs three: the facility
 * reads when it is initialised, at the start and at the end. Exit status: 4 if the facility returns an error, 3 if
 * standard output cannot be written, 1 if FILE cannot be used.
 *
 * Except on Windows it is built for POSIX: _POSIX_C_SOURCE=200809L. */
#include <perfblock/perfutil.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <time.h>
#endif

enum { ROUNDS = 500, CALLS = 2000, STAR_EVERY = 10, SLEEP_MILLISECONDS = 10, STATUS_OUTPUT = 3, STATUS_REFUSED = 4 };

/* ---- The work ---------------------------------------------------------------------------------------------------- */

static void sleep_some(void)
{
#if defined(_WIN32)
    Sleep(SLEEP_MILLISECONDS);
#else
    nanosleep(&(struct timespec){.tv_nsec = SLEEP_MILLISECONDS * 1000000L}, NULL);
#endif
}

static void work(unsigned long rounds)
{
    static const char *volatile answer; /* volatile, so that the compiler keeps the calls */
    for (unsigned long round = 1; round <= rounds; round++) {
        for (int i = 0; i < CALLS; i++)
            answer = getenv("PATH");
        (void)answer;
        sleep_some();
        if (round % STAR_EVERY == 0) {
            putchar('*');
            fflush(stdout);
        }
    }
    putchar('\n');
    fflush(stdout);
}

/* ---- The figures ------------------------------------------------------------------------------------------------- */

/* One figure of the system and of each CPU. CPI_DATA has 0.0 for an undefined figure; it is undefined if its
 * denominator in the counts is 0. */
typedef struct row {
    const char *name;
    double system;
    const double *cpus;
    bool is_share;   /* a share of the busy clock rather than a value per instruction */
    bool is_inverse; /* 100 minus the figure */
} row;

static void print_cell(const row *r, double figure, const pfb_cpi_figures *counts)
{
    if (r->is_share ? counts->elapsed > 0 : counts->instr > 0)
        printf(" %6.2f", r->is_inverse ? 100.0 - figure : figure);
    else
        printf(" %6s", "n/a");
}

static void print_table(const CPI_DATA *cd, const pfb_cpi_details *details)
{
    const row rows[] = {{"cpi", cd->raw_sys_cpi, cd->raw_cpi, false, false},
                        {"cpi_wb", cd->scaled_sys_cpi, cd->scaled_cpi, false, false},
                        {"idle%", cd->sys_busy, cd->cpu_busy, true, true},
                        {"busy%", cd->sys_busy, cd->cpu_busy, true, false}};
    char heading[16];
    printf("%-6s %6s", "", "System");
    for (int i = 0; i < cd->num_cpus; i++) {
        snprintf(heading, sizeof heading, "CPU%" PRIu32, details->cpus[i].cpu);
        printf(" %6s", heading);
    }
    putchar('\n');
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("%-6s", rows[i].name);
        print_cell(&rows[i], rows[i].system, &details->result.system);
        for (int cpu = 0; cpu < cd->num_cpus; cpu++)
            print_cell(&rows[i], rows[i].cpus[cpu], &details->cpus[cpu]);
        putchar('\n');
    }
}

static void print_figures(void *handle, const CPI_DATA *cd)
{
    pfb_cpi_details details;
    if (pfb_cpi_get_details(handle, &details) != PU_SUCCESS)
        return;
    if (details.result.system.instr > 0)
        printf("cpi: %5.2f  cpi_wb: %5.2f  idle: %5.2f%%  busy: %5.2f%%\n", cd->raw_sys_cpi, cd->scaled_sys_cpi,
               100.0 - cd->sys_busy, cd->sys_busy);
    print_table(cd, &details);
}

/* ---- The measurement --------------------------------------------------------------------------------------------- */

/* Prints the name of an error code and its reason. */
static bool is_success(int rc)
{
    if (rc != PU_SUCCESS)
        fprintf(stderr, "%s: %s\n", RcToString(rc), pfb_cpi_last_error_text());
    return rc == PU_SUCCESS;
}

/* Prints the figures, and then the error if there is one: there may be figures even if the system executed nothing. */
static bool get_and_print(void *handle)
{
    const CPI_DATA *cd;
    char reason[256];
    int rc = CpiGet(handle, &cd);
    snprintf(reason, sizeof reason, "%s", pfb_cpi_last_error_text()); /* overwritten by the next call */
    if (cd)
        print_figures(handle, cd);
    fflush(stdout);
    if (rc != PU_SUCCESS)
        fprintf(stderr, "%s: %s\n", RcToString(rc), reason);
    return rc == PU_SUCCESS;
}

static bool measure(unsigned long rounds)
{
    void *handle;
    if (!is_success(CpiInit(CPI_TYPE_RAW | CPI_TYPE_SCALED, &handle)))
        return false;
    bool is_measured = is_success(CpiStart(handle));
    if (is_measured) {
        work(rounds);
        is_measured = get_and_print(handle);
    }
    CpiTerminate(handle);
    return is_measured;
}

/* Reads a file. Returns false if it cannot be read, is empty, or does not fit. */
static bool read_file(const char *path, char *bytes, size_t capacity, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    *size = fread(bytes, 1, capacity, file);
    bool is_read = !ferror(file) && *size > 0 && *size < capacity;
    fclose(file);
    return is_read;
}

/* Makes the facility read the snapshots of a file. */
static bool use_file(const char *path)
{
    enum { MAX_BYTES = 1 << 20 };
    pfb_cpi_failure failure = {0};
    pfb_cpi_source *source = NULL;
    size_t size = 0;
    char *bytes = malloc(MAX_BYTES);
    if (!bytes || !read_file(path, bytes, MAX_BYTES, &size))
        fprintf(stderr, "%s: cannot be read\n", path);
    else if (!(source = pfb_cpi_source_open_fixture(bytes, size, &failure)))
        fprintf(stderr, "%s: %s: %s\n", path, RcToString(failure.code), failure.sentence);
    free(bytes);
    if (!source)
        return false;
    bool is_used = is_success(pfb_cpi_use_source(source));
    if (!is_used)
        pfb_cpi_source_close(source);
    return is_used;
}

/* Returns false if the text is not a number or is too large. */
static bool read_rounds(const char *text, unsigned long *rounds)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno == ERANGE)
        return false;
    *rounds = number;
    return true;
}

/* Returns false if the output could not be written, for instance on a full disk. */
static bool is_printed(void)
{
    bool is_fine = fflush(stdout) == 0 && !ferror(stdout);
    if (!is_fine)
        fprintf(stderr, "standard output cannot be written\n");
    return is_fine;
}

int main(int argc, char **argv)
{
    unsigned long rounds = ROUNDS;
    for (int i = 1; i < argc; i++) {
        if (!read_rounds(argv[i], &rounds) && !use_file(argv[i]))
            return EXIT_FAILURE;
    }
    bool is_measured = measure(rounds);
    pfb_cpi_use_source(NULL);
    if (!is_printed())
        return STATUS_OUTPUT;
    return is_measured ? EXIT_SUCCESS : STATUS_REFUSED;
}
