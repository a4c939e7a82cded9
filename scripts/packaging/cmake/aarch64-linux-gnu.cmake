# A CMake toolchain file: builds for AArch64 on another machine with Debian's cross compilers, and runs
# the programs in qemu's user mode.
#
#     cmake -S . -B build-aarch64 --toolchain scripts/packaging/cmake/aarch64-linux-gnu.cmake
#
# ASTEROPE_AARCH64_ROOT, a variable of CMake or of the environment: the folder under which the target's
# libraries lie (usr/include, usr/lib). Without it, CMake fetches the sources of missing libraries.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

if(NOT DEFINED ASTEROPE_AARCH64_ROOT)
  set(ASTEROPE_AARCH64_ROOT "$ENV{ASTEROPE_AARCH64_ROOT}")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ASTEROPE_AARCH64_ROOT)
set(CMAKE_FIND_ROOT_PATH ${ASTEROPE_AARCH64_ROOT} /usr/aarch64-linux-gnu)
if(ASTEROPE_AARCH64_ROOT)
  set(CMAKE_BUILD_RPATH "${ASTEROPE_AARCH64_ROOT}/lib/aarch64-linux-gnu") # CMake takes it for the system's own
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
