/* SPDX-License-Identifier: MIT */
/* The registry functions with 64 threads: each queries data and tables, and opens, uses and closes keys, also those of
 * other threads and ones that are closed. Usage: registry_threads [SEED]. Meant to run with ThreadSanitizer, with
 * AddressSanitizer and without a sanitizer. */
#include "perfblock/registry.h"

#include "workers.h"

#include <stdlib.h>

enum { SHARED = 8, ITERATIONS = 40, BUFFER = 1 << 16, INVALID_HANDLE_CODE = 6, MORE_DATA = 234, NO_MORE_ITEMS = 259 };

/* Keys that all threads use, in any state. */
static _Atomic(HKEY) keys[SHARED];

/* Checks the code of a call for a key that another thread may have closed. */
static void check_code(LSTATUS code)
{
    CHECK(code == 0 || code == INVALID_HANDLE_CODE || code == MORE_DATA || code == NO_MORE_ITEMS);
}

static void query(HKEY key, const char *name, BYTE *buffer)
{
    DWORD size = BUFFER;
    check_code(RegQueryValueExA(key, name, NULL, NULL, buffer, &size));
}

static void replace_key(unsigned place)
{
    HKEY key = NULL;
    CHECK(RegOpenKeyA(HKEY_LOCAL_MACHINE, "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\009", &key) == 0);
    HKEY old = atomic_exchange(&keys[place], key);
    if (old)
        check_code(RegCloseKey(old));
}

static void *run(void *context)
{
    worker *self = begin_worker(context);
    BYTE *buffer = malloc(BUFFER);
    FILETIME time;
    CHECK(buffer != NULL);
    for (int i = 0; buffer && i < ITERATIONS; i++) {
        unsigned place = next_random(&self->random) % SHARED;
        switch (next_random(&self->random) % 6) {
        case 0:
            replace_key(place);
            break;
        case 1:
            query(keys[place], "Counter", buffer);
            break;
        case 2:
            query(HKEY_PERFORMANCE_DATA, place % 2 == 0 ? "230" : "Global", buffer);
            break;
        case 3:
            check_code(
                RegQueryInfoKeyA(keys[place], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &time));
            break;
        case 4:
            CHECK(RegCloseKey(HKEY_PERFORMANCE_DATA) == 0);
            break;
        default:
            CHECK(pfb_pdh_use(NULL, NULL) == 0); /* begins again */
        }
    }
    free(buffer);
    return NULL;
}

int main(int argc, char **argv)
{
    CHECK(setenv("PERFBLOCK_CAPTURE", PERFBLOCK_SOURCE_DIR "/fixtures/machine_names_v1.pfb", 1) == 0);
    seed_workers(argc, argv);
    run_workers(run);
    for (unsigned i = 0; i < SHARED; i++)
        if (keys[i])
            CHECK(RegCloseKey(keys[i]) == 0);
    return finish_checks();
}
