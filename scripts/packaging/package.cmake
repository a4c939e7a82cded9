# The Debian package: `cpack -G DEB` in the build folder, with CMake 3.19 or newer.
if(CMAKE_VERSION VERSION_LESS 3.19)
  return() # without finish.cmake (below) the package would break rules
endif()

set(CPACK_PACKAGE_NAME asterope)
set(CPACK_PACKAGE_VENDOR "The Asterope authors")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "autotuner that generates the fastest memcpy for a machine")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"asterope-tune times thousands of ways to copy memory on the machine it runs
on, and finds the fastest for each size, for data in and out of the caches.
asterope-generate turns the winners into a memcpy in C, asterope-bench compares
it with libc's and others.")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS # under any umask
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR DEB)
set(CPACK_SOURCE_GENERATOR "") # git archive does that

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# Nobody reads mail at .invalid: whoever hands the package on gives an address.
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Asterope authors <nobody@asterope.invalid>" CACHE STRING
    "Who answers for the Debian package: Name <address>")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "python3 (>= 3.9), python3-jinja2 (>= 3), python3-jsonschema (>= 4.10), python3-pyelftools")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-matplotlib (>= 3.6)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gcc | clang, redis-server")
set(debian "${PROJECT_SOURCE_DIR}/scripts/packaging/debian")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${debian}/postinst;${debian}/prerm;${debian}/postrm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_ASTEROPE_DEBIAN "${debian}")
set(CPACK_PRE_BUILD_SCRIPTS "${debian}/finish.cmake")

include(CPack)
