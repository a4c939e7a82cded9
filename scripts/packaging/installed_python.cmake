# The Python that the installed commands run with, where that of this build lies in the checkout, or
# its path has a blank.

# A virtual environment may go, too, and so it does not count.
set(_asterope_is_suitable [=[
import sys
from importlib.metadata import version
import elftools, jinja2, jsonschema
known = tuple(map(int, version("jsonschema").split(".")[:2]))
if sys.version_info < (3, 9) or sys.prefix != sys.base_prefix or known < (4, 10):
    sys.exit(1)
print(sys.executable)
]=])

# The first one on the PATH that has the modules of the commands; else the first one on the PATH
# wherever a command runs.
function(asterope_find_installed_python result)
  string(REPLACE ":" ";" folders "$ENV{PATH}")
  foreach(folder IN LISTS folders)
    execute_process(COMMAND "${folder}/python3" -c "${_asterope_is_suitable}"
                    RESULT_VARIABLE failed OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
                    ERROR_QUIET)
    if(failed EQUAL 0 AND found MATCHES "^/[^ \t\n]+$")
      set(${result} "${found}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "/usr/bin/env python3" PARENT_SCOPE)
endfunction()
