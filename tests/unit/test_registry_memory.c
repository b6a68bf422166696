/* SPDX-License-Identifier: MIT */
/* The registry functions when an allocation fails: each of them in turn. This program has its own copy of what they
 * call. */
#include <criterion/criterion.h>

#include "perfblock/registry.h"
#include "support_allocations.h"

#include <stdlib.h>

#define FIXTURE(name) PERFBLOCK_SOURCE_DIR "/fixtures/" name

static BYTE buffer[1 << 20];

/* Returns true if the call succeeded; otherwise it says that memory is exhausted. */
static bool is_done(LSTATUS code)
{
    cr_assert(code == 0 || code == 14, "%d", code);
    return code == 0;
}

static bool query(HKEY key, const WCHAR *name)
{
    DWORD size = sizeof buffer;
    return is_done(RegQueryValueExW(key, name, NULL, NULL, buffer, &size));
}

/* Reads a source from the beginning. Returns false if a call failed; what was open is closed. */
static bool read_all(void)
{
    HKEY key = NULL;
    HKEY remote = NULL;
    FILETIME time;
    cr_assert_eq(pfb_pdh_use(NULL, NULL), 0);
    bool done =
        is_done(RegOpenKeyExA(HKEY_LOCAL_MACHINE, "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\009", 0,
                              KEY_READ, &key)) &&
        query(key, u"Counter") && query(HKEY_PERFORMANCE_DATA, u"Help 009") &&
        is_done(RegQueryInfoKeyA(key, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &time)) &&
        query(HKEY_PERFORMANCE_DATA, u"2") && query(HKEY_PERFORMANCE_DATA, u"236") &&
        query(HKEY_PERFORMANCE_DATA, u"7") && query(HKEY_PERFORMANCE_DATA, u"Global") &&
        is_done(RegConnectRegistryA(NULL, HKEY_PERFORMANCE_DATA, &remote));
    if (key)
        cr_expect_eq(RegCloseKey(key), 0);
    if (remote)
        cr_expect_eq(RegCloseKey(remote), 0);
    return done;
}

/* Lets each allocation fail that reading a file needs. */
static void fail_each(const char *path)
{
    bool done = false;
    cr_assert_eq(setenv("PERFBLOCK_CAPTURE", path, 1), 0);
    failing_allocation = 0;
    cr_assert(read_all());
    for (size_t number = 1; !done; number++) {
        allocations = 0;
        failing_allocation = number;
        done = read_all();
        cr_assert(done || allocations >= number, "allocation %zu", number);
        done = allocations < number;
    }
    cr_expect_gt(failing_allocation, 100);
    failing_allocation = 0;
    cr_expect(read_all());
}

Test(registry_memory, v1)
{
    fail_each(FIXTURE("machine_german_v1.pfb"));
}

Test(registry_memory, v2)
{
    fail_each(FIXTURE("processor_information.pfb"));
}

Test(registry_memory, log)
{
    fail_each(FIXTURE("machine.blg"));
}
