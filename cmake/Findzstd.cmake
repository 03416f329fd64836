# Zstandard: its header and library, and its archive in preference to a shared library. Sets zstd_INCLUDE_DIR and zstd_LIBRARY.
find_path(zstd_INCLUDE_DIR zstd.h DOC "The folder of Zstandard's header")
find_library(zstd_LIBRARY NAMES libzstd.a zstd DOC "Zstandard's library")
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(zstd REQUIRED_VARS zstd_LIBRARY zstd_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Run tools/setup.sh, which installs it, or install libzstd-dev.")
mark_as_advanced(zstd_INCLUDE_DIR zstd_LIBRARY)
