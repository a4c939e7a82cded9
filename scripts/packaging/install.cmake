# The places of all parts under `cmake --install` and pip. Each is found relative to the programs, so
# that an installed tree can be moved. So the folders have fixed names: GNUInstallDirs would let each
# be chosen.

# --- Man pages, completion ---

set(share "${PROJECT_BINARY_DIR}/share")
file(GLOB manual_sources CONFIGURE_DEPENDS
  "scripts/packaging/man/*" "scripts/packaging/completion/*" "scripts/packaging/*.py")
file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS "scripts/asterope/*.py")
add_custom_command(
  OUTPUT "${share}/manual.stamp"
  COMMAND "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/scripts/packaging/manual.py"
          "${PROJECT_BINARY_DIR}" "${share}" ${CMAKE_CROSSCOMPILING_EMULATOR}
  COMMAND "${CMAKE_COMMAND}" -E touch "${share}/manual.stamp"
  DEPENDS asterope-tune asterope-bench ${manual_sources} ${command_sources}
  COMMENT "Writing man pages and completion")
add_custom_target(asterope_manual ALL DEPENDS "${share}/manual.stamp")

if(SKBUILD)
  # pip install: the programs go beside asterope-generate, the templates into the package.
  install(TARGETS asterope-tune asterope-bench DESTINATION "${SKBUILD_SCRIPTS_DIR}")
  install(TARGETS asterope_record DESTINATION asterope)
  install(DIRECTORY templates DESTINATION asterope)
  install(FILES tuner/timing/workloads/workloads.json DESTINATION asterope)
  install(DIRECTORY "${share}/man" "${share}/bash-completion"
          DESTINATION "${SKBUILD_DATA_DIR}/share")
  return()
endif()

# --- The installed tree ---

install(TARGETS asterope-tune asterope-bench DESTINATION bin)
install(TARGETS asterope_record DESTINATION lib/asterope)
# The Python of this build has the modules that the commands need; the first one on the PATH may be that
# of somebody's virtual environment. The checkout's own environment goes with the checkout.
set(ASTEROPE_PYTHON "" CACHE STRING
    "Installed Python commands run with it (their line #!); empty: the Python of this build, where it can stay")
set(python "${ASTEROPE_PYTHON}")
if(NOT python)
  set(python "${Python3_EXECUTABLE}")
  string(FIND "${python}" "${PROJECT_SOURCE_DIR}/" in_checkout)
  if(CMAKE_CROSSCOMPILING)
    set(python "/usr/bin/env python3")
  elseif(in_checkout EQUAL 0 OR python MATCHES "[ \t]")
    include(scripts/packaging/installed_python.cmake)
    asterope_find_installed_python(python)
  endif()
endif()
if(python MATCHES "^/usr/bin/env ")
  install(CODE "message(STATUS \"The Python commands run with the first python3 on the PATH, which \"
    \"needs jinja2, jsonschema and pyelftools: -DASTEROPE_PYTHON=FILE names another one\")")
endif()
foreach(command generate prove record report placement)
  configure_file(scripts/packaging/launcher.in "installed/asterope-${command}" @ONLY)
  install(PROGRAMS "${PROJECT_BINARY_DIR}/installed/asterope-${command}" DESTINATION bin)
endforeach()
install(DIRECTORY scripts/asterope DESTINATION share/asterope/python
        PATTERN __pycache__ EXCLUDE)
install(DIRECTORY templates DESTINATION share/asterope)
install(FILES tuner/timing/workloads/workloads.json DESTINATION share/asterope/python/asterope)
# After a build of some targets alone, these are installed, and the others are named.
install(CODE "
  foreach(part man bash-completion)
    if(NOT EXISTS \"${share}/\${part}\")
      message(STATUS \"Not built, so not installed: share/\${part}; cmake --build '${PROJECT_BINARY_DIR}' builds it\")
    endif()
  endforeach()")
install(DIRECTORY "${share}/man" "${share}/bash-completion" DESTINATION share OPTIONAL)
# The guides, the examples, and the files that they link to lie as in the checkout: so the links hold.
file(GLOB schemas RELATIVE "${PROJECT_SOURCE_DIR}" "scripts/asterope/*.schema.json")
foreach(part IN ITEMS README.md CONTRIBUTING.md LICENSE scripts/docs scripts/fleet tests/examples
        tuner/bench/README.md generated/pictures generated/reference/example-routine ${schemas}
        scripts/experiments/mpi/messages.c)
  get_filename_component(folder "share/doc/asterope/${part}" DIRECTORY)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${part}")
    install(DIRECTORY "${part}" DESTINATION "${folder}" USE_SOURCE_PERMISSIONS
            PATTERN __pycache__ EXCLUDE PATTERN build EXCLUDE PATTERN target EXCLUDE)
  else()
    install(FILES "${part}" DESTINATION "${folder}")
  endif()
endforeach()
install(PROGRAMS findings/new-huge-pages-want-their-ends-first.sh DESTINATION share/doc/asterope/findings)
# systemd wants the program's absolute path, which only `cmake --install --prefix` and cpack know.
install(CODE "
  get_filename_component(ASTEROPE_BINDIR \"\${CMAKE_INSTALL_PREFIX}/bin\" ABSOLUTE)
  configure_file(\"${PROJECT_SOURCE_DIR}/scripts/packaging/systemd/asterope-tune.service.in\"
                 \"${PROJECT_BINARY_DIR}/systemd/asterope-tune.service\" @ONLY)")
install(FILES "${PROJECT_BINARY_DIR}/systemd/asterope-tune.service"
              scripts/packaging/systemd/asterope-tune.timer
        DESTINATION lib/systemd/system)

include(scripts/packaging/package.cmake)
