/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target on files, without an engine. Usage: <program> FILE|DIRECTORY... A directory means the regular
 * files directly in it. The exit status is 1 if there was no file, so that a moved corpus is noticed, and 3 if a file
 * cannot be read. A target that finds a defect aborts, as with an engine. */
#include <dirent.h>
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

static void replay_file(const char *path, size_t size)
{
    uint8_t *data = load(path, size);
    /* After a crash the last line is the file that caused it. */
    printf("%s\n", path);
    fflush(stdout);
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
    for (int i = 1; i < argc; i++) {
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
