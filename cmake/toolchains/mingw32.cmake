# SPDX-License-Identifier: MIT
# 32-bit Windows with the cross compiler of Debian and Ubuntu (gcc-mingw-w64-i686). Programs and DLLs are linked statically, so
# that they need no library of the compiler. They are not run, because a Wine without 32-bit support ends them at once
# with exit status 0, as if they had succeeded.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR X86)
set(CMAKE_C_COMPILER i686-w64-mingw32-gcc)
set(CMAKE_RC_COMPILER i686-w64-mingw32-windres)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static-libgcc)
