/* SPDX-License-Identifier: MIT */
#include "source/chosen.h"

#include "source/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const variables[] = {
    [PFB_CHOSEN_CAPTURE] = "PERFBLOCK_CAPTURE", [PFB_CHOSEN_CPI_SNAPSHOTS] = "PERFBLOCK_CPI_SNAPSHOTS"};

const char *pfb_chosen_path(pfb_chosen_file file)
{
    const char *path = getenv(variables[file]);
    return path && *path ? path : NULL;
}

bool pfb_chosen_is_on(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value != '\0' && strcmp(value, "0") != 0;
}

bool pfb_chosen_skips_sleep(void)
{
    return pfb_chosen_is_on("PERFBLOCK_NO_SLEEP") &&
           (pfb_chosen_path(PFB_CHOSEN_CAPTURE) || pfb_chosen_path(PFB_CHOSEN_CPI_SNAPSHOTS));
}

void pfb_chosen_report(pfb_chosen_file file, const char *path, const char *sentence)
{
    static pfb_lock lock = PFB_LOCK_INIT;
    static bool is_reported[sizeof variables / sizeof variables[0]]; /* protected by `lock` */
    pfb_lock_acquire(&lock);
    bool is_first = !is_reported[file];
    is_reported[file] = true;
    pfb_lock_release(&lock);
    if (is_first)
        fprintf(stderr, "perfblock: %s=%s: %s\n", variables[file], path, sentence);
}
