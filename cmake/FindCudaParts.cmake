# Finds the parts of CUDA that tmajit uses. Sets
#   TMAJIT_CUDA_ROOT      the toolkit, or build/deps/cuda, where tools/setup.sh unpacks the wheels
#   TMAJIT_CUDA_INCLUDE   its folder with cuda.h and nvrtc.h
#   TMAJIT_NVRTC_HINT     its folder with libnvrtc
#   TMAJIT_NVDISASM_HINT  the program nvdisasm, or empty
# The first three are empty if no toolkit of CUDA 12.4 or later has headers and NVRTC. -DTMAJIT_CUDA_HOME=<folder> names
# the only toolkit to use. With TMAJIT_NO_SYSTEM_CUDA=1 in the environment only the wheels are used.
#
# Run as a script (cmake -DTMAJIT_DEPS=<folder> -P …) it prints its results, for tools/setup.sh.

# Older toolkits have cuTensorMapEncodeTiled and sm_90a, too, but 12.4 is the oldest that was tested.
set(TMAJIT_CUDA_OLDEST 12040)

function(_tmajit_look_for_cuda root)
  foreach(include include targets/x86_64-linux/include targets/sbsa-linux/include)
    if(EXISTS ${root}/${include}/cuda.h AND EXISTS ${root}/${include}/nvrtc.h)
      file(STRINGS ${root}/${include}/cuda.h line REGEX "^#define CUDA_VERSION [0-9]+" LIMIT_COUNT 1)
      string(REGEX MATCH "[0-9]+" version "${line}")
      if(version LESS TMAJIT_CUDA_OLDEST)
        continue()
      endif()
      foreach(lib lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib lib/x86_64-linux-gnu lib/aarch64-linux-gnu)
        file(GLOB nvrtc ${root}/${lib}/libnvrtc.so*)
        if(nvrtc)
          set(TMAJIT_CUDA_ROOT ${root} PARENT_SCOPE)
          set(TMAJIT_CUDA_INCLUDE ${root}/${include} PARENT_SCOPE)
          set(TMAJIT_NVRTC_HINT ${root}/${lib} PARENT_SCOPE)
          return()
        endif()
      endforeach()
    endif()
  endforeach()
endfunction()

unset(TMAJIT_CUDA_INCLUDE CACHE)  # old build folders have it in their cache
set(TMAJIT_CUDA_ROOT)
set(TMAJIT_CUDA_INCLUDE)
set(TMAJIT_NVRTC_HINT)
set(TMAJIT_NVDISASM_HINT)

set(_roots ${TMAJIT_DEPS}/cuda)
set(_programs ${TMAJIT_DEPS}/cuda/bin)
if(TMAJIT_CUDA_HOME)
  set(_roots ${TMAJIT_CUDA_HOME})
  list(APPEND _programs ${TMAJIT_CUDA_HOME}/bin)
elseif(NOT "$ENV{TMAJIT_NO_SYSTEM_CUDA}")
  find_program(_nvcc nvcc NO_CACHE)
  if(_nvcc)
    file(REAL_PATH ${_nvcc} _nvcc)
    cmake_path(GET _nvcc PARENT_PATH _bin)
    cmake_path(GET _bin PARENT_PATH _nvcc_root)
  endif()
  list(APPEND _roots $ENV{CUDA_HOME} $ENV{CUDA_PATH} ${_nvcc_root} /usr/local/cuda /usr)
  list(TRANSFORM _roots APPEND /bin OUTPUT_VARIABLE _bins)
  list(APPEND _programs ${_bins} $ENV{PATH})
endif()

foreach(_root IN LISTS _roots)
  _tmajit_look_for_cuda(${_root})
  if(TMAJIT_CUDA_ROOT)
    break()
  endif()
endforeach()
string(REPLACE ":" ";" _programs "${_programs}")
foreach(_folder IN LISTS _programs)
  if(EXISTS ${_folder}/nvdisasm)
    set(TMAJIT_NVDISASM_HINT ${_folder}/nvdisasm)
    break()
  endif()
endforeach()

if(CMAKE_SCRIPT_MODE_FILE)
  message("root=${TMAJIT_CUDA_ROOT}\nnvdisasm=${TMAJIT_NVDISASM_HINT}")
endif()
