# Builds the routines of the paper's profiles, from the templates of this version: peers on x86-64 alone,
# which renderings.inc lists.
file(GLOB renderer CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/scripts/asterope/*.py")
file(GLOB templates CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/templates/*.j2" "${PROJECT_SOURCE_DIR}/templates/${ASTEROPE_ARCHITECTURE}/*.j2")
macro(add_paper_peer name file)
  set(profile "${PROJECT_SOURCE_DIR}/generated/reference/${file}.json")
  set(rendered "${CMAKE_CURRENT_BINARY_DIR}/asterope_paper_${name}_memcpy.c")
  add_custom_command(
    OUTPUT "${rendered}"
    COMMAND "${Python3_EXECUTABLE}" -B -m asterope.generate "${profile}"
            --prefix asterope_paper_${name} -o "${CMAKE_CURRENT_BINARY_DIR}" > /dev/null
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}/scripts"
    DEPENDS "${profile}" ${templates} ${renderer}
    COMMENT "Rendering the paper's profile ${file}")
  target_sources(asterope_peers PRIVATE "${rendered}")
endmacro()

add_paper_peer(xeon xeon-gold-5218)
add_paper_peer(opteron opteron-6378)
add_paper_peer(example example-routine)
