# SPDX-License-Identifier: MIT
# Writes a C header with the bytes of a script or a style sheet, and with the hash by which a Content-Security-Policy
# allows it. Called as
#     cmake -D INPUT=FILE -D OUTPUT=HEADER -D NAME=PREFIX -P perfblock_embed.cmake
# The header defines PREFIX_bytes, an array that ends in NUL, and PREFIX_HASH (PREFIX in upper case), "sha256-" and the
# hash in base64. Line ends become LF, because a browser converts them before it computes the hash.

file(READ "${INPUT}" text)
string(REPLACE "\r\n" "\n" text "${text}")
string(SHA256 hash "${text}")
string(HEX "${text}" bytes)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}") # one line of the header per source line

# Three bytes make four characters. The 32 bytes of the hash are padded with one zero byte, whose character is "=".
set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
set(base64 "")
foreach(at RANGE 0 60 6)
    string(SUBSTRING "${hash}00" ${at} 6 group)
    foreach(shift IN ITEMS 18 12 6 0)
        math(EXPR position "(0x${group} >> ${shift}) & 63")
        string(SUBSTRING "${alphabet}" ${position} 1 character)
        string(APPEND base64 "${character}")
    endforeach()
endforeach()
string(SUBSTRING "${base64}" 0 43 base64)

string(TOUPPER "${NAME}" upper)
file(WRITE "${OUTPUT}" "/* Made from the source of the same name. */
#define ${upper}_HASH \"sha256-${base64}=\"
static const char ${NAME}_bytes[] = {
${bytes}0};
")
