# SPDX-License-Identifier: Apache-2.0
# The Python part of simulated runs (python/startup, and values, ranks, changes and pools of python/vramscope), copied to
# where the command looks for it and installed there.
set(VS_PYTHON_DIR "${CMAKE_BINARY_DIR}/lib/vramscope/python")
file(GLOB vs_python_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python
  ${PROJECT_SOURCE_DIR}/python/startup/*.py ${PROJECT_SOURCE_DIR}/python/vramscope/values/*.py
  ${PROJECT_SOURCE_DIR}/python/vramscope/ranks/*.py ${PROJECT_SOURCE_DIR}/python/vramscope/changes/*.py
  ${PROJECT_SOURCE_DIR}/python/vramscope/pools/*.py)
foreach(file IN LISTS vs_python_files)
  add_custom_command(OUTPUT ${VS_PYTHON_DIR}/${file}
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/python/${file} ${VS_PYTHON_DIR}/${file}
    DEPENDS ${PROJECT_SOURCE_DIR}/python/${file}
    VERBATIM)
  list(APPEND vs_python_copies ${VS_PYTHON_DIR}/${file})
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES python/${file} DESTINATION lib/vramscope/python/${folder})
endforeach()
add_custom_target(vs_python ALL DEPENDS ${vs_python_copies})
