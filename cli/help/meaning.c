/* SPDX-License-Identifier: MIT */
#include "help/meaning.h"

#include <string.h>

void meaning_put_option(buffer *out, const command_option *option, const command *c)
{
    const char *separator = ": ";
    size_t count = 0;
    buffer_string(out, option->meaning);
    for (size_t i = 0; option->words && option->words[i]; i++)
        count += option_allows(option, c, i);
    for (size_t i = 0; option->words && option->words[i]; i++) {
        if (!option_allows(option, c, i))
            continue;
        buffer_format(out, "%s%s", separator, option->words[i]);
        if (option_has_default(option, c) && count > 1 && strcmp(separator, ": ") == 0)
            buffer_string(out, " (default)");
        separator = ", ";
    }
}

const char *const meaning_of_status[] = {
    "success",
    "an input is malformed, or a result differs from the expected one",
    "wrong usage, or a counterset, counter or instance that does not exist",
    "a file cannot be read or written",
    "this machine cannot do it; the reason is printed",
    NULL,
};
