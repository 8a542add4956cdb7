# Has CMake call compilers and linkers through Fathom, so that every function gets hooks. It is a toolchain file:
#
#   cmake -S . -B out --toolchain /usr/lib/fathom/cmake/fathom.cmake
#
# presets.json beside it has a preset `fathom`. Beside a toolchain file of your own,
# -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=/usr/lib/fathom/cmake/fathom.cmake does the same (CMake 3.24).
# It needs CMake 3.21, and Makefiles or Ninja, because it makes Fathom the compilers' launcher.

get_filename_component(_fathom_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_fathom "${_fathom_prefix}/bin/fathom")
if(NOT EXISTS "${_fathom}")
  find_program(_fathom_in_path fathom NO_CACHE)
  if(NOT _fathom_in_path)
    message(FATAL_ERROR "fathom.cmake: there is no fathom in ${_fathom_prefix}/bin, and none in PATH")
  endif()
  set(_fathom "${_fathom_in_path}")
endif()

foreach(_fathom_language C CXX OBJC OBJCXX)
  # A launcher that is there already runs Fathom as it runs the compiler, but Fathom knows how to run ccache.
  set(_fathom_launcher "${CMAKE_${_fathom_language}_COMPILER_LAUNCHER}")
  if(NOT _fathom_launcher)
    set(_fathom_launcher "$ENV{CMAKE_${_fathom_language}_COMPILER_LAUNCHER}")
  endif()
  string(REGEX REPLACE ";?[^;]*fathom;cc" "" _fathom_launcher "${_fathom_launcher}")
  if(_fathom_launcher MATCHES "^([^;]*/)?ccache(;|$)")
    list(PREPEND _fathom_launcher "${_fathom}" cc)
  else()
    list(APPEND _fathom_launcher "${_fathom}" cc)
  endif()
  set(CMAKE_${_fathom_language}_COMPILER_LAUNCHER "${_fathom_launcher}"
    CACHE STRING "What the compiler is called through" FORCE)
  set(CMAKE_${_fathom_language}_LINKER_LAUNCHER "${_fathom};cc" CACHE STRING "What the linker is called through" FORCE)
endforeach()

# CMake calls no compiler of Swift through a launcher.
set(_fathom_swiftc "${_fathom_prefix}/lib/fathom/compilers/swift/swiftc")
if(NOT CMAKE_Swift_COMPILER AND EXISTS "${_fathom_swiftc}")
  find_program(_fathom_real_swiftc swiftc NO_CACHE)
  if(_fathom_real_swiftc)
    set(CMAKE_Swift_COMPILER "${_fathom_swiftc}" CACHE FILEPATH "Swift's compiler")
  endif()
endif()
