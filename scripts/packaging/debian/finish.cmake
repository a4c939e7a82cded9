# Makes the installed tree what Debian's policy asks for; cpack runs it before it packs.

set(usr "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr")
set(doc "${usr}/share/doc/asterope")
file(COPY "${CPACK_ASTEROPE_DEBIAN}/copyright" DESTINATION "${doc}")
file(REMOVE "${doc}/LICENSE") # it is in /usr/share/common-licenses
file(COPY "${CPACK_ASTEROPE_DEBIAN}/changelog" DESTINATION "${doc}")
file(GLOB pages "${usr}/share/man/man1/*.1")
execute_process(COMMAND gzip -9n ${pages} "${doc}/changelog" RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "gzip failed")
endif()

# The dependencies are of Debian's Python: another one that comes first on a PATH lacks them.
file(GLOB commands "${usr}/bin/*")
foreach(command IN LISTS commands)
  file(READ "${command}" start LIMIT 2)
  if(start MATCHES "^#!")
    execute_process(COMMAND sed -i "1s|^#!.*|#!/usr/bin/python3|" "${command}" RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "sed failed")
    endif()
  endif()
endforeach()
