/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <errno.h>
#include <stdio.h>

static int failure; /* errno */

static void keep_failure(bool is_fine)
{
    if (!is_fine && failure == 0)
        failure = errno != 0 ? errno : EIO;
}

void stream_write(const void *bytes, size_t size)
{
    if (failure != 0)
        return;
    errno = 0;
    keep_failure(fwrite(bytes, 1, size, stdout) == size);
}

void stream_flush(void)
{
    if (failure != 0)
        return;
    errno = 0;
    keep_failure(fflush(stdout) == 0);
}

bool stream_failed(void)
{
    return failure != 0;
}

int stream_error(void)
{
    return failure;
}
