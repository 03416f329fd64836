# Rules for `cmake --install`, and the files by which other projects find tmajit: for find_package(tmajit) and pkg-config.
# The components are runtime and development for tmajit itself, sim for all parts of tmajit::sim, c for those of tmajit::c, and tools
# for jitc. Package.cmake makes a Debian package of each.
include(CMakePackageConfigHelpers)

set(headers ${PROJECT_SOURCE_DIR}/include/tmajit)
set(sim_headers ${headers}/finding.hpp ${headers}/lint.hpp ${headers}/sim.hpp ${headers}/sim_module.hpp)
install(TARGETS tmajit EXPORT tmajitTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.hpp" REGEX "/(finding|lint|sim|sim_module)\\.hpp$" EXCLUDE REGEX "/(launch|machine|report|view)$" EXCLUDE)
# The library contains these texts, too. The installed templates are for reading, the device headers for editors and nvcc -I.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/templates DESTINATION ${CMAKE_INSTALL_DATADIR}/tmajit
        COMPONENT development FILES_MATCHING PATTERN "*.cuh" PATTERN "*.cu")
install(DIRECTORY ${TMAJIT_DEVICE_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tmajit COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

# The libraries find libtmajit.so in their own folder, so that the prefix can be moved.
set(sim_libraries tmajit_simulator)
if(TARGET tmajit_cudart_sim)
  list(APPEND sim_libraries tmajit_cudart_sim)
endif()
set_target_properties(${sim_libraries} PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS ${sim_libraries} EXPORT tmajitSimTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sim ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sim)
install(FILES ${sim_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tmajit COMPONENT sim)
install(DIRECTORY ${headers}/launch ${headers}/machine ${headers}/report ${headers}/view DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tmajit COMPONENT sim)

# The C interface needs both libraries.
set_target_properties(tmajit_c_interface PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS tmajit_c_interface EXPORT tmajitCTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c)
install(FILES ${headers}/c.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tmajit COMPONENT c)
install(DIRECTORY ${headers}/c DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tmajit COMPONENT c)

if(TARGET jitc)
  # The path is relative to the program, so that the prefix can be moved.
  file(RELATIVE_PATH to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(jitc PROPERTIES INSTALL_RPATH "$ORIGIN/${to_lib}")
  install(TARGETS jitc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)

  # install_printed(<folder> <file> <argument>…): installs a text that jitc prints, below ${CMAKE_INSTALL_DATADIR}: its
  # completions, its manual page, and the schema of launch files.
  function(install_printed folder file)
    set(path ${CMAKE_CURRENT_BINARY_DIR}/share/${folder}/${file})
    add_custom_command(OUTPUT ${path} COMMAND jitc ${ARGN} -o ${path} DEPENDS jitc VERBATIM)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/share/${folder})
    set_property(GLOBAL APPEND PROPERTY TMAJIT_PRINTED ${path})
    install(FILES ${path} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT tools)
  endfunction()
  install_printed(bash-completion/completions jitc completions bash)
  install_printed(zsh/site-functions _jitc completions zsh)
  install_printed(fish/vendor_completions.d jitc.fish completions fish)
  install_printed(man/man1 jitc.1 man)
  install_printed(tmajit launch.schema.json launch-file --schema)
  get_property(printed GLOBAL PROPERTY TMAJIT_PRINTED)
  add_custom_target(tmajit_printed ALL DEPENDS ${printed})
endif()

# The package has no dependencies: consumers do not need LLVM, spdlog or CUDA.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tmajit)
install(EXPORT tmajitTargets NAMESPACE tmajit:: DESTINATION ${package_dir} COMPONENT development)
install(EXPORT tmajitSimTargets NAMESPACE tmajit:: DESTINATION ${package_dir} COMPONENT sim)
install(EXPORT tmajitCTargets NAMESPACE tmajit:: DESTINATION ${package_dir} COMPONENT c)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tmajitConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/tmajitConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tmajitConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tmajitConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/tmajitConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)

# pkg-config computes the prefix from the folder of the .pc file.
cmake_path(SET pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH TMAJIT_PC_TO_PREFIX ${pc_dir} ${CMAKE_INSTALL_PREFIX})
cmake_path(SET TMAJIT_PC_TO_PREFIX NORMALIZE "${TMAJIT_PC_TO_PREFIX}")
string(REGEX REPLACE "/$" "" TMAJIT_PC_TO_PREFIX "${TMAJIT_PC_TO_PREFIX}")
# The lines that `pkg-config --static` needs for archives.
if(NOT BUILD_SHARED_LIBS)
  list(TRANSFORM TMAJIT_CXX_LIBRARIES PREPEND -l OUTPUT_VARIABLE cxx_libraries)
  list(JOIN cxx_libraries " " cxx_libraries)
  set(TMAJIT_PC_PRIVATE "Libs.private: ${cxx_libraries} -l${CMAKE_DL_LIBS} ${CMAKE_THREAD_LIBS_INIT}")
  set(TMAJIT_PC_C_PRIVATE "Requires.private: tmajit-sim = ${PROJECT_VERSION}")
endif()
foreach(file tmajit.pc tmajit-sim.pc tmajit-c.pc)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${file}.in ${CMAKE_CURRENT_BINARY_DIR}/${file} @ONLY)
endforeach()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tmajit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tmajit-sim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT sim)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tmajit-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT c)
