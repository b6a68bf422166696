# SPDX-License-Identifier: MIT
# 64-bit RISC-V, with the cross compiler of Debian and Ubuntu (gcc-riscv64-linux-gnu,
# libc6-dev-riscv64-cross). Programs are linked statically and run under qemu's user mode (qemu-user-static).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-riscv64-static)
