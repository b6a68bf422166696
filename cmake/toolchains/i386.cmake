# SPDX-License-Identifier: MIT
# 32-bit x86 with the cross compiler of Debian and Ubuntu (gcc-i686-linux-gnu, libc6-dev-i386-cross).
# Programs are linked statically and run under qemu's user mode (qemu-user-static), because some 64-bit kernels do not
# run 32-bit programs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
if(NOT DEFINED CMAKE_CROSSCOMPILING_EMULATOR) # the preset i386-asan has none, because sanitizers are slow under qemu
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-i386-static)
endif()
