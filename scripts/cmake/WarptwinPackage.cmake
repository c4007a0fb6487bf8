# What cpack makes: a Debian package of all that is installed, and a tarball of the sources.

set(CPACK_PACKAGE_NAME warptwin)
set(CPACK_PACKAGE_VENDOR warptwin)
# Who builds a package for others says who answers for it.
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "warptwin maintainers <maintainers@warptwin.invalid>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "digital twin of warp-specialised GPU kernels")
set(CPACK_PACKAGE_DESCRIPTION
    "warptwin proves, checks and times kernels for Hopper and Blackwell GPUs on
a CPU. The package has the command, and the CMake package with which another
repository builds such a command over scenarios of its own.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
file(STRINGS ${PROJECT_SOURCE_DIR}/scripts/debian/changelog newest LIMIT_COUNT 1)
if(NOT newest MATCHES "^warptwin \\(${PROJECT_VERSION}\\) ")
  message(FATAL_ERROR "scripts/debian/changelog begins with '${newest}': add ${PROJECT_VERSION}")
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# The command needs what it is linked with. A project that uses the CMake package needs what the
# libraries are compiled with: of Boost, whose libraries are static, the same version.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(boost_version ${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR})
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "g++" "cmake (>= 3.25)" "nlohmann-json3-dev" "libsystemc-dev"
    "libboost-context${boost_version}-dev"
    "libboost-program-options${boost_version}-dev" "liblz4-dev" "libzstd-dev" "libmuparser-dev"
    "zlib1g-dev")
if(mimalloc_FOUND)
  list(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS "libmimalloc-dev")
endif()
list(JOIN CPACK_DEBIAN_PACKAGE_RECOMMENDS ", " CPACK_DEBIAN_PACKAGE_RECOMMENDS)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS bash-completion)

# What a build makes stays out of the tarball, and what a version control or an editor keeps.
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME warptwin-${PROJECT_VERSION})
string(REGEX REPLACE "([][+.*()^$?|])" "[\\1]" top ${PROJECT_SOURCE_DIR})
string(REPLACE "[^]" "\\^" top ${top})
set(CPACK_SOURCE_IGNORE_FILES "^${top}/build" "^${top}/[.]git(/|$)" "/__pycache__/"
                              "/[.][^/]*[.]swp$" "~$")
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
