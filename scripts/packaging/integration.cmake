# Installs the CMake package and the pkg-config file, by which other builds find asterope.
include(CMakePackageConfigHelpers)

set(packaging "${PROJECT_SOURCE_DIR}/scripts/packaging")
set(written "${PROJECT_BINARY_DIR}/packaging")
configure_package_config_file(
  "${packaging}/cmake/asteropeConfig.cmake.in" "${written}/asteropeConfig.cmake"
  INSTALL_DESTINATION lib/cmake/asterope NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(
  "${written}/asteropeConfigVersion.cmake" COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
configure_file("${packaging}/asterope.pc.in" "${written}/asterope.pc" @ONLY)

install(FILES "${written}/asteropeConfig.cmake" "${written}/asteropeConfigVersion.cmake"
              "${packaging}/cmake/asteropeAddMemcpy.cmake"
        DESTINATION lib/cmake/asterope)
install(FILES "${written}/asterope.pc" DESTINATION lib/pkgconfig)
