/* SPDX-License-Identifier: MIT */
#ifndef PFB_BENCH_BUILDING_H
#define PFB_BENCH_BUILDING_H

/* Makes the input of the benchmarks with the library's own writer. */
#include "perfblock/write.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace bench
{

/* Ends the program if the input cannot be made. */
inline void require(bool is_true, const char *what)
{
    if (!is_true) {
        std::fprintf(stderr, "cannot make the input: %s\n", what);
        std::exit(1);
    }
}

inline std::u16string widen(const std::string &ascii)
{
    return std::u16string(ascii.begin(), ascii.end());
}

inline std::vector<uint8_t> utf16le(const std::u16string &text)
{
    std::vector<uint8_t> bytes;
    for (char16_t unit : text) {
        bytes.push_back(static_cast<uint8_t>(unit & 0xFF));
        bytes.push_back(static_cast<uint8_t>(unit >> 8));
    }
    return bytes;
}

/* Calls `write` twice: first without a buffer, to get the size, then with one. */
template <class Write> std::vector<uint8_t> build(Write write)
{
    pfb_writer builder;
    pfb_write_init(&builder, nullptr, 0);
    write(&builder);
    std::vector<uint8_t> bytes(builder.size_bytes);
    pfb_write_init(&builder, bytes.data(), bytes.size());
    write(&builder);
    require(builder.error.code == PFB_OK, "the writer reports an error");
    return bytes;
}

} // namespace bench

#endif
