# Takes copies out of libraries that have them on x86-64 alone: folly's and DPDK's.

# folly's own copy needs AVX2: in a library built for less, the same name only calls libc's memmove.
add_library_peer(folly ASTEROPE_PEER_FOLLY libfolly.a "(memcpy[.]S|FollyMemcpy[.]cpp)[.]o"
  __folly_memcpy avx2 "folly's memcpy" "libfolly.a, built with AVX2" "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}"
  /usr/lib /usr/local/lib)

# DPDK's copy is a header that is compiled with its users. It is built here in each of its three ways. No user
# gets the last one by -march alone, as DPDK asks for RTE_MEMCPY_AVX512 beside it.
option(ASTEROPE_PEER_DPDK "Compare with DPDK's rte_memcpy" ON)
find_path(ASTEROPE_PEER_DPDK_INCLUDE rte_common.h PATH_SUFFIXES dpdk)
find_path(ASTEROPE_PEER_DPDK_CONFIG rte_config.h PATH_SUFFIXES dpdk)
mark_as_advanced(ASTEROPE_PEER_DPDK_INCLUDE ASTEROPE_PEER_DPDK_CONFIG)
foreach(way IN ITEMS sse:sse4_2:-msse4.2:SSE avx2:avx2:-mavx2:AVX2
                     "avx512:avx512f:-mavx512f -DRTE_MEMCPY_AVX512:AVX-512")
  string(REPLACE ":" ";" way "${way}")
  list(GET way 0 suffix)
  list(GET way 1 needs)
  list(GET way 2 flags)
  list(GET way 3 extension)
  set(name dpdk_${suffix})
  set(object_library asterope_peer_${name})
  if(NOT ASTEROPE_PEER_DPDK)
    missing(${name} "switched off by ASTEROPE_PEER_DPDK")
    continue()
  elseif(NOT ASTEROPE_PEER_DPDK_INCLUDE OR NOT ASTEROPE_PEER_DPDK_CONFIG)
    missing(${name} "not installed (Debian's libdpdk-dev)")
    continue()
  endif()
  set(CMAKE_REQUIRED_FLAGS "${flags}")
  set(CMAKE_REQUIRED_INCLUDES "${ASTEROPE_PEER_DPDK_INCLUDE}" "${ASTEROPE_PEER_DPDK_CONFIG}")
  set(CMAKE_REQUIRED_QUIET ON)
  unset(${object_library}_COMPILES CACHE)
  check_c_source_compiles("
    #include <rte_memcpy.h>
    int main(int argc, char **argv) { char to[64]; rte_memcpy(to, argv[0], argc); return to[0]; }
  " ${object_library}_COMPILES)
  if(NOT ${object_library}_COMPILES)
    missing(${name} "rte_memcpy.h does not compile with ${flags}")
    continue()
  endif()
  separate_arguments(flags)
  add_library(${object_library} OBJECT x86_64/dpdk.c)
  target_compile_options(${object_library} PRIVATE ${flags})
  target_compile_definitions(${object_library} PRIVATE NAME=${object_library})
  target_include_directories(${object_library} SYSTEM PRIVATE ${CMAKE_REQUIRED_INCLUDES})
  target_sources(asterope_peers PRIVATE $<TARGET_OBJECTS:${object_library}>)
  found(${name} ${object_library} "${needs}" "DPDK's rte_memcpy, compiled for ${extension}")
endforeach()
