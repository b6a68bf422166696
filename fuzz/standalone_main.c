/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target on files, without an engine. Usage: <program> [--stable] FILE|DIRECTORY... A directory means the
 * regular files directly in it. The exit status is 1 if there was no file, so that a moved corpus is noticed, and 3 if
 * a file cannot be read. A target that finds a defect aborts, as with an engine.
 *
 * --stable runs each file three times, and aborts if its paths differ: engines that run many inputs in a process need
 * targets that keep no state. The program must be compiled with -fsanitize-coverage=inline-8bit-counters. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(3);
}

/* Loads a file into memory of exactly its size, so that a sanitizer detects reads past the end. */
static uint8_t *load(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        die(path, "cannot be opened");
    uint8_t *data = malloc(size);
    if (!data && size > 0)
        die(path, "is too large");
    if (size > 0 && fread(data, 1, size, file) != size)
        die(path, "cannot be read whole");
    fclose(file);
    return data;
}

/* ---- Stability ----------------------------------------------------------------------------------------- */

enum { MAX_MODULES = 16, STABLE_RUNS = 3 };

/* How often each edge was taken, by module. */
static struct {
    uint8_t *begin, *first; /* of the current run, and of the first one */
    size_t size;
} modules[MAX_MODULES];

static size_t module_count;
static bool is_stable_run;

/* Called by the code that -fsanitize-coverage=inline-8bit-counters adds to each module. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the compiler has chosen the name */
void __sanitizer_cov_8bit_counters_init(uint8_t *begin, const uint8_t *end);

void __sanitizer_cov_8bit_counters_init(uint8_t *begin, const uint8_t *end)
{
    for (size_t i = 0; i < module_count; i++) {
        if (modules[i].begin == begin)
            return;
    }
    if (begin == end || module_count == MAX_MODULES)
        return;
    modules[module_count].begin = begin;
    modules[module_count++].size = (size_t)(end - begin);
}

static void replay_repeatedly(const char *path, const uint8_t *data, size_t size)
{
    if (module_count == 0)
        die(path, "is not run: the program counts no edges");
    for (int run = 0; run < STABLE_RUNS; run++) {
        for (size_t i = 0; i < module_count; i++)
            memset(modules[i].begin, 0, modules[i].size);
        LLVMFuzzerTestOneInput(data, size);
        for (size_t i = 0; i < module_count; i++) {
            if (!modules[i].first && !(modules[i].first = malloc(modules[i].size)))
                die(path, "is not run: out of memory");
            if (run == 0)
                memcpy(modules[i].first, modules[i].begin, modules[i].size);
            if (memcmp(modules[i].first, modules[i].begin, modules[i].size) == 0)
                continue;
            fprintf(stderr, "%s: run %d takes other paths than run 1\n", path, run + 1);
            abort();
        }
    }
}

/* ---- Files --------------------------------------------------------------------------------------------- */

static void replay_file(const char *path, size_t size)
{
    uint8_t *data = load(path, size);
    /* After a crash the last line is the file that caused it. */
    printf("%s\n", path);
    fflush(stdout);
    if (is_stable_run)
        replay_repeatedly(path, data, size);
    else
        LLVMFuzzerTestOneInput(data, size);
    free(data);
}

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + 1 + strlen(name) + 1;
    char *path = malloc(size);
    if (!path)
        die(folder, "out of memory");
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* Replays `path` if it is a regular file. Returns the number of files replayed, 0 or 1. */
static unsigned long replay_if_file(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        die(path, "does not exist");
    if (!S_ISREG(status.st_mode))
        return 0;
    replay_file(path, (size_t)status.st_size);
    return 1;
}

static unsigned long replay_directory(DIR *directory, const char *folder)
{
    unsigned long count = 0;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        char *path = join(folder, entry->d_name);
        count += replay_if_file(path);
        free(path);
    }
    return count;
}

int main(int argc, char **argv)
{
    unsigned long count = 0;
    is_stable_run = argc > 1 && strcmp(argv[1], "--stable") == 0;
    for (int i = is_stable_run ? 2 : 1; i < argc; i++) {
        DIR *directory = opendir(argv[i]);
        if (directory) {
            count += replay_directory(directory, argv[i]);
            closedir(directory);
        } else {
            count += replay_if_file(argv[i]);
        }
    }
    printf("%lu files replayed\n", count);
    return count == 0;
}
