# Writes the header commit.hpp: which commit the sources in SOURCE are. Run by each build:
#   cmake -DSOURCE=FOLDER -DHEADER=FILE -P commit.cmake
# A commit read when the build is configured would be that of weeks ago in a developer's build folder.
# file(CONFIGURE) touches the header only where it changes, so that nothing is compiled in vain.

set(commit unknown)
find_program(GIT git)
if(GIT)
  # A Git hook that builds has these set, for a repository that may be another one.
  foreach(variable IN ITEMS GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE)
    unset(ENV{${variable}})
  endforeach()
  # Sources unpacked somewhere inside another project's checkout are none of its commits.
  execute_process(COMMAND "${GIT}" -C "${SOURCE}" rev-parse --show-toplevel
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  get_filename_component(source "${SOURCE}" REALPATH)
  if(top STREQUAL source)
    execute_process(COMMAND "${GIT}" -C "${SOURCE}" --no-optional-locks
                            describe --always --dirty --exclude=*
                    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(described)
    set(commit "${described}")
  endif()
endif()

file(CONFIGURE OUTPUT "${HEADER}" CONTENT "// The commit that was built; written by scripts/packaging/commit.cmake.
#pragma once

namespace asterope {
inline constexpr char kCommit[] = \"${commit}\";
} // namespace asterope
")
