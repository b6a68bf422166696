/* SPDX-License-Identifier: MIT */
#include "output/replacement.h"

#include "os/system.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static buffer target_path; /* after following symbolic links */
static buffer path;        /* of the file, or of the last one */
static bool exists;        /* there is a file, which replacement_close() has to replace or remove */

/* Makes the path of a file beside the target. The name of the target is cut if the system would refuse a longer one. */
static void make_path(uint32_t number)
{
    enum { MAX_NAME = 230 }; /* most file systems accept 255 bytes, or UTF-16 units */
    size_t start = target_path.size;
    while (start > 0 && !strchr("/\\", target_path.data[start - 1]))
        start--;
    size_t size = target_path.size - start < MAX_NAME ? target_path.size : start + MAX_NAME;
    buffer_clear(&path);
    buffer_bytes(&path, target_path.data, size);
    buffer_format(&path, ".%" PRIu32 ".new", number);
}

bool replacement_is_possible(const char *target)
{
    return system_find_target(target, &target_path);
}

int replacement_open(const char *target)
{
    enum { MAX_TRIES = 100 };
    int file = -1;
    if (!system_find_target(target, &target_path)) {
        errno = EINVAL;
        return -1;
    }
    /* The number of the process may be taken: another machine or container may write to the same folder, and a killed
     * process leaves its file. */
    errno = EEXIST;
    for (uint32_t i = 0; i < MAX_TRIES && file < 0 && errno == EEXIST; i++) {
        make_path(system_process() + i);
        file = system_create(path.data, target_path.data);
    }
    exists = file >= 0;
    return file;
}

const char *replacement_path(void)
{
    return path.data;
}

bool replacement_close(bool is_complete)
{
    bool is_replaced = true;
    if (!exists)
        return true;
    if (is_complete)
        is_replaced = system_replace(path.data, target_path.data);
    int reason = errno;
    if (!is_complete || !is_replaced)
        system_remove(path.data);
    system_remove_at_signal(NULL);
    exists = false;
    errno = reason;
    return is_replaced;
}
