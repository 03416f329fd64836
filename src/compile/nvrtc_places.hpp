#pragma once

#include <tmajit/version.hpp>

#include <string>
#include <vector>

TMAJIT_BEGIN

/// Where NVRTC may be, in the order in which it is looked for; file names as for dlopen.
///
/// `$TMAJIT_NVRTC` (a file) is the only place if it is set: who names a file means that file. Otherwise the
/// folder that the build knew of, the loader's own search (LD_LIBRARY_PATH, ldconfig), `$CUDA_HOME` and
/// `$CUDA_PATH` (lib64), /usr/local/cuda, and the folder that holds libtmajit.
[[nodiscard]] std::vector<std::string> nvrtc_places();

TMAJIT_END
