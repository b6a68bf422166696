/* SPDX-License-Identifier: MIT */
#include "live/linux/process_stat.h"

#include <string.h>

enum { WORKER = 0x20 }; /* bit of PFB_STAT_FLAGS, PF_WQ_WORKER: a kernel thread that runs the work of work queues */

uint64_t pfb_process_since_origin(uint64_t boottime_100ns)
{
    return pfb_kernel_add(boottime_100ns, PFB_KERNEL_100NS);
}

/* Skips blanks, then parses a number that may be negative. */
static bool parse_signed(pfb_kernel_span *text, uint64_t *number)
{
    pfb_kernel_skip_blanks(text);
    bool is_negative = pfb_kernel_take_word(text, "-");
    if (!pfb_kernel_take_number(text, number))
        return false;
    *number = is_negative ? 0 - *number : *number;
    return true;
}

/* Shortens "kworker/0:1-events" to "kworker/0:1". After a minus or plus sign the kernel appends the name of the queue
 * of the worker's last or current work, which changes all the time. "kworker/R-NAME" is not shortened: it is the worker
 * of a single queue. */
static void drop_work_name(pfb_process_stat *p)
{
    static const char prefix[] = "kworker/";
    const size_t size = sizeof prefix - 1;
    if (!(p->fields[PFB_STAT_FLAGS] & WORKER) || p->name_size <= size || memcmp(p->name, prefix, size) != 0 ||
        p->name[size] == 'R')
        return;
    for (size_t i = size; i < p->name_size; i++) {
        if (p->name[i] == '-' || p->name[i] == '+')
            p->name_size = i;
    }
}

/* Parses "42 (name) S 1 ...". The name may contain any bytes, including parentheses and newlines. The rest has no
 * parentheses, so the name ends at the last one. */
bool pfb_process_stat_parse(pfb_kernel_text text, pfb_process_stat *p)
{
    const char *end = text.text + text.size;
    const char *open = memchr(text.text, '(', text.size);
    if (!open)
        return false;
    const char *close = end - 1;
    while (close > open && *close != ')')
        close--;
    size_t size = (size_t)(close - open);
    if (size == 0 || size - 1 > PFB_PROCESS_NAME_BYTES)
        return false;
    p->name_size = size - 1;
    memcpy(p->name, open + 1, p->name_size);
    pfb_kernel_span rest = {close + 1, end};
    pfb_kernel_skip_blanks(&rest);
    if (rest.at == end)
        return false;
    p->state = *rest.at++;
    for (unsigned i = PFB_STAT_PARENT; i < PFB_STAT_FIELDS; i++) {
        if (!parse_signed(&rest, &p->fields[i]))
            return false;
    }
    drop_work_name(p);
    return true;
}
