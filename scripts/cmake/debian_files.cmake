# What a Debian package has beside the files of an installation: compressed pages of the manual, the
# changelog, and the copyright in Debian's form. Run by cpack before it packs.

set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
if(CPACK_GENERATOR STREQUAL "DEB" AND EXISTS ${share})
  set(docs ${share}/doc/warptwin)
  file(MAKE_DIRECTORY ${docs})
  file(COPY ${CMAKE_CURRENT_LIST_DIR}/../debian/copyright
            ${CMAKE_CURRENT_LIST_DIR}/../debian/changelog DESTINATION ${docs})
  file(GLOB pages ${share}/man/man1/*.1)
  execute_process(COMMAND gzip -9n ${pages} ${docs}/changelog COMMAND_ERROR_IS_FATAL ANY)
endif()
