/* SPDX-License-Identifier: MIT */
/* Calls the function of Microsoft's page of counter types, which prints the displayed value of two samples. Reads lines
 * of seven decimal numbers: type, two raw values, two times or bases, frequency, and multi count. The second sample is
 * missing if the second raw value is "-". */
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct raw_data {
    DWORD type;
    DWORD multi;
    ULONGLONG data;
    LONGLONG time;
    LONGLONG frequency;
} raw_data;

BOOL DisplayCalculatedValue(raw_data *older, raw_data *newer);

int main(void)
{
    enum { NUMBERS = 7 };
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        ULONGLONG numbers[NUMBERS] = {0};
        BOOL has_newer = TRUE;
        char *at = line;
        for (int i = 0; i < NUMBERS; i++) {
            char *end;
            numbers[i] = strtoull(at, &end, 10);
            if (end == at) { /* the word "-" */
                has_newer = FALSE;
                end = strchr(at, '-') + 1;
            }
            at = end;
        }
        raw_data older = {(DWORD)numbers[0], (DWORD)numbers[6], numbers[1], (LONGLONG)numbers[3], (LONGLONG)numbers[5]};
        raw_data newer = {(DWORD)numbers[0], (DWORD)numbers[6], numbers[2], (LONGLONG)numbers[4], (LONGLONG)numbers[5]};
        printf("%d\n", DisplayCalculatedValue(&older, has_newer ? &newer : NULL));
    }
    return 0;
}
