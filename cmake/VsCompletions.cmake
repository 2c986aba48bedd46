# SPDX-License-Identifier: Apache-2.0
# Completions for shells, from the help and the options of the command itself.
if(NOT CMAKE_CROSSCOMPILING AND NOT VRAMSCOPE_SANITIZE) # the build runs the command
  set(VS_COMPLETIONS_DIR ${CMAKE_BINARY_DIR}/completions CACHE INTERNAL "")
  set(completions ${VS_COMPLETIONS_DIR}/vramscope ${VS_COMPLETIONS_DIR}/_vramscope ${VS_COMPLETIONS_DIR}/vramscope.fish)
  add_custom_command(OUTPUT ${completions}
    COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/cmake/completions.py $<TARGET_FILE:vramscope> ${VS_COMPLETIONS_DIR}
    DEPENDS vramscope ${PROJECT_SOURCE_DIR}/cmake/completions.py
    COMMENT "Writing the completions for shells"
    VERBATIM)
  add_custom_target(vs_completions ALL DEPENDS ${completions})
  install(FILES ${VS_COMPLETIONS_DIR}/vramscope DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  set(zsh site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr") # Debian's folder of packages
    set(zsh vendor-completions)
  endif()
  install(FILES ${VS_COMPLETIONS_DIR}/_vramscope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh})
  install(FILES ${VS_COMPLETIONS_DIR}/vramscope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
