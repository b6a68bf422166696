/* SPDX-License-Identifier: MIT */
#include <perfblock/collect.h>
#include <perfblock/live.h>
#include <stdio.h>

static pfb_source *open_capture(const char *name, pfb_source_failure *failure)
{
    static unsigned char data[1 << 20]; /* of a longer file, only the first MiB is read */
    FILE *file = fopen(name, "rb");
    if (!file) {
        perror(name);
        return NULL;
    }
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    return pfb_source_open_capture(data, size, failure);
}

/* Collects up to four samples of this machine, or of a capture (.pfb), and prints the values of a counter. */
int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "\\Processor Information(*)\\% Processor Time";
    pfb_source_failure failure = {0};
    pfb_collected_value v;
    pfb_source *source = argc > 2 ? open_capture(argv[2], &failure) : pfb_source_open_live(&failure);
    pfb_collector *c = source ? pfb_collector_open(source, NULL, &failure) : NULL;
    bool is_added = c && pfb_collector_add(c, path, &failure);
    for (int n = 0; is_added && n < 4 && pfb_collector_collect(c, &failure); n++) /* live: waits a second in between */
        while (pfb_collector_next(c, &v))
            if (v.status == PFB_STATUS_OK) /* most values need two samples */
                printf("%s %s %.2f %s\n", v.instance, v.counter, v.value, v.unit);
    if (failure.sentence[0] != '\0')
        fprintf(stderr, "%s\n", failure.sentence);
    pfb_collector_close(c);
    pfb_source_close(source);
    return !is_added || failure.sentence[0] != '\0';
}
