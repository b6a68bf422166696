# SPDX-License-Identifier: MIT
# IBM Z, a big-endian machine, with the cross compiler of Debian and Ubuntu (gcc-s390x-linux-gnu,
# libc6-dev-s390x-cross). Programs are linked statically and run under qemu's user mode (qemu-user-static).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x-static)
