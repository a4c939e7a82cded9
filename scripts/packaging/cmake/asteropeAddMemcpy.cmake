# asterope_add_memcpy: builds the copy routine of a profile into a target. The guide integrating.md
# explains its arguments.
#
#   asterope_add_memcpy(TARGET app [PROFILE profile.json...] [PREFIX name] [REPLACE_LIBC] [THREADS])
#
# The routine is rendered when the target is built, and again when the profile or a template is
# newer. It is compiled apart from the target, with flags of its own, and its object file becomes a
# part of the target, which finds the header as "asterope_memcpy.h".
#
# Three global properties tell where the generator is. They are set by asteropeConfig.cmake or, where
# this is a subdirectory of a project, by asterope's CMakeLists.txt:
# ASTEROPE_GENERATE        the command asterope-generate, a list
# ASTEROPE_PYTHON_DIR      the folder of the Python package, which the command is run in
# ASTEROPE_TEMPLATES_DIR   the templates

# The same places in the same order as those of asterope-generate, known here so that the routine can
# be rendered again when the profile changes.
function(_asterope_profile result)
  set(places /etc/asterope/profile.json)
  if(IS_ABSOLUTE "$ENV{XDG_CONFIG_HOME}")
    list(PREPEND places "$ENV{XDG_CONFIG_HOME}/asterope/profile.json")
  elseif(IS_ABSOLUTE "$ENV{HOME}")
    list(PREPEND places "$ENV{HOME}/.config/asterope/profile.json")
  endif()
  foreach(place IN LISTS places)
    if(EXISTS "${place}" OR IS_SYMLINK "${place}")
      set(${result} "${place}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  list(JOIN places " nor " places)
  message(FATAL_ERROR "asterope_add_memcpy: no PROFILE is given and there is no ${places}: "
                      "name one, or run asterope-tune --system")
endfunction()

function(asterope_add_memcpy)
  cmake_parse_arguments(PARSE_ARGV 0 given "REPLACE_LIBC;THREADS" "TARGET;PREFIX" "PROFILE")
  set(usage "asterope_add_memcpy(TARGET app [PROFILE profile.json...] [PREFIX name] [REPLACE_LIBC] [THREADS])")
  if(given_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "asterope_add_memcpy: unknown: ${given_UNPARSED_ARGUMENTS}: use ${usage}")
  elseif(given_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "asterope_add_memcpy: nothing follows ${given_KEYWORDS_MISSING_VALUES}: use ${usage}")
  elseif(NOT TARGET "${given_TARGET}")
    message(FATAL_ERROR "asterope_add_memcpy: no target ${given_TARGET}: use ${usage} after add_executable or add_library")
  elseif(NOT CMAKE_C_COMPILER_LOADED)
    message(FATAL_ERROR "asterope_add_memcpy: the routine is C: add C to the LANGUAGES of project()")
  endif()
  get_target_property(type "${given_TARGET}" TYPE)
  get_target_property(imported "${given_TARGET}" IMPORTED)
  get_target_property(real "${given_TARGET}" ALIASED_TARGET)
  if(imported OR NOT type MATCHES "^(EXECUTABLE|(STATIC|SHARED|MODULE)_LIBRARY)$")
    message(FATAL_ERROR "asterope_add_memcpy: ${given_TARGET} is no executable, shared or static library that is built here")
  elseif(real)
    set(given_TARGET "${real}")
  endif()

  if(NOT DEFINED given_PREFIX)
    set(given_PREFIX asterope)
  endif()
  set(own "${given_TARGET}_${given_PREFIX}_memcpy")
  if(TARGET "${own}")
    message(FATAL_ERROR "asterope_add_memcpy: ${given_TARGET} has ${given_PREFIX}_memcpy already: give this one another PREFIX")
  endif()
  if(NOT DEFINED given_PROFILE)
    _asterope_profile(given_PROFILE)
  endif()
  set(profiles "")
  foreach(profile IN LISTS given_PROFILE)
    get_filename_component(profile "${profile}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    if(NOT EXISTS "${profile}")
      message(FATAL_ERROR "asterope_add_memcpy: ${profile}: no such profile: asterope-tune -o writes one")
    endif()
    list(APPEND profiles "${profile}")
  endforeach()
  list(LENGTH profiles count)
  set(dispatch "")
  if(count GREATER 1)
    set(dispatch --dispatch)
  endif()

  # New templates render again; removed ones must not fail the build.
  get_property(generate GLOBAL PROPERTY ASTEROPE_GENERATE)
  get_property(python GLOBAL PROPERTY ASTEROPE_PYTHON_DIR)
  get_property(templates GLOBAL PROPERTY ASTEROPE_TEMPLATES_DIR)
  file(GLOB_RECURSE renderers CONFIGURE_DEPENDS "${templates}/*.j2" "${python}/asterope/*.py"
       "${python}/asterope/*.json")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/asterope/${given_TARGET}")
  set(routine "${folder}/${given_PREFIX}_memcpy.c")
  add_custom_command(
    OUTPUT "${routine}" "${folder}/${given_PREFIX}_memcpy.h"
    COMMAND ${generate} ${dispatch} ${profiles} -o "${folder}" --prefix "${given_PREFIX}"
    WORKING_DIRECTORY "${python}"
    DEPENDS ${profiles} ${renderers}
    COMMENT "Rendering ${given_PREFIX}_memcpy.c for ${given_TARGET}"
    VERBATIM)

  if(given_REPLACE_LIBC)
    get_target_property(replaced "${given_TARGET}" ASTEROPE_REPLACES_LIBC)
    if(replaced)
      message(FATAL_ERROR "asterope_add_memcpy: ${given_TARGET} has another memcpy in libc's place already: give one of them no REPLACE_LIBC")
    endif()
    set_target_properties("${given_TARGET}" PROPERTIES ASTEROPE_REPLACES_LIBC ON)
    # It includes the routine. A file of the target's own, so that no other one's routine is
    # waited for.
    set(source "${folder}/${given_PREFIX}_replace_libc.c")
    file(GENERATE OUTPUT "${source}" CONTENT
"/* The routine of ${given_TARGET} under libc's names; written by asterope_add_memcpy. */
#define ASTEROPE_PREFIX ${given_PREFIX}
#define ASTEROPE_ROUTINE \"${routine}\"
#include \"${templates}/replace_libc.c\"
")
    set_source_files_properties("${routine}" PROPERTIES HEADER_FILE_ONLY ON)
    add_library(${own} OBJECT "${source}" "${routine}")
    target_compile_options(${own} PRIVATE -fno-builtin)
    if(type MATCHES "SHARED|MODULE")
      target_compile_definitions(${own} PRIVATE ASTEROPE_NAMES_HIDDEN)
    endif()
  else()
    add_library(${own} OBJECT "${routine}")
  endif()
  set_target_properties(${own} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    C_STANDARD 99
    # The routine is the target's own: a library's must not become that of the program.
    C_VISIBILITY_PRESET hidden
    UNITY_BUILD OFF)
  # Nothing is to be gained from optimizing assembly at link time, and it finds memcpy hard.
  target_compile_options(${own} PRIVATE -fno-lto)

  # Not target_link_libraries: its two signatures do not mix, and the project may use either.
  target_sources("${given_TARGET}" PRIVATE "$<TARGET_OBJECTS:${own}>")
  target_include_directories("${given_TARGET}" PRIVATE "${folder}")
  if(given_THREADS)
    foreach(target IN ITEMS ${own} "${given_TARGET}")
      target_compile_definitions(${target} PRIVATE ASTEROPE_THREADS)
    endforeach()
    target_compile_options(${own} PRIVATE -pthread)
    target_link_options("${given_TARGET}" PUBLIC -pthread)
  endif()
endfunction()
