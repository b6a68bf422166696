/* SPDX-License-Identifier: MIT */
#include <perfblock/collect.h>
#include <stdio.h>

static unsigned char data[1 << 24]; /* a longer file is reported as truncated */

static size_t load(const char *name)
{
    FILE *file = fopen(name, "rb"); /* binary: on Windows, text ends at the first byte 0x1A */
    size_t size = file ? fread(data, 1, sizeof data, file) : 0;
    if (!file)
        perror(name);
    else
        fclose(file);
    return size;
}

/* Prints the displayed values of two V1 blocks, with the names of a name table. */
int main(int argc, char **argv)
{
    pfb_source_failure failure = {0};
    pfb_collected_value v;
    if (argc != 4) {
        fprintf(stderr, "usage: %s NAMES OLDER NEWER\n", argv[0]);
        return 2;
    }
    pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
    bool is_done = c && pfb_collector_put_names(c, data, load(argv[1]), NULL, &failure) &&
                   pfb_collector_put_sample(c, 0, data, load(argv[2]), &failure) &&
                   pfb_collector_put_sample(c, 0, data, load(argv[3]), &failure);
    while (is_done && pfb_collector_next(c, &v)) {
        printf("%s(%s)\\%s: ", v.counterset, v.instance, v.counter);
        if (v.status == PFB_STATUS_OK)
            printf("%g %s\n", v.value, v.unit);
        else
            printf("%s\n", pfb_status_name(v.status));
    }
    pfb_error error = is_done ? pfb_collector_reply(c).error : (pfb_error){PFB_OK, 0};
    if (!is_done)
        fprintf(stderr, "%s\n", failure.sentence);
    else if (error.code != PFB_OK)
        fprintf(stderr, "offset %zu: %s\n", error.offset, pfb_code_text(error.code));
    pfb_collector_close(c);
    return !is_done || error.code != PFB_OK;
}
