# Provides the three parts of CUDA that tmajit uses: headers, NVRTC and nvdisasm. To be sourced.
# The Python registry's CUDA wheels provide the parts that no installed toolkit has.

# Runs the search of the CMake build, so that set-up and build find the same parts. Sets CUDA_ROOT and NVDISASM, each
# empty if not found.
find_cuda() {
  local name value
  CUDA_ROOT='' NVDISASM=''
  while IFS='=' read -r name value; do
    case $name in
      root) CUDA_ROOT=$value ;;
      nvdisasm) NVDISASM=$value ;;
    esac
  done < <(cmake -DTMAJIT_DEPS="$DEPS" -P "$ROOT/cmake/FindCudaParts.cmake" 2>&1)
}

# unpack_wheels NAME==VERSION…: unpacks the folders include, lib and bin of wheels into build/deps/cuda.
unpack_wheels() {
  local wheels=$DEPS/wheels
  rm -rf "$wheels"
  mkdir -p "$wheels" "$DEPS/cuda"
  python3 -m pip download --no-deps --only-binary=:all: --disable-pip-version-check -d "$wheels" "$@" || return 1
  python3 "$ROOT/tools/lib/unpack_wheels.py" "$DEPS/cuda" "$wheels"/*.whl || return 1
  rm -rf "$wheels"
}

provide_cuda() {
  find_cuda
  local wheels=()
  # Use NVRTC 13.0, not the newest: the drivers of Hopper machines can load its PTX.
  [[ -n $CUDA_ROOT ]] || wheels+=('nvidia-cuda-nvrtc==13.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-crt==13.0.*')
  # There is no wheel of the disassembler before 13.2, which also reads older cubins.
  [[ -n $NVDISASM ]] || wheels+=('nvidia-cuda-nvdisasm==13.2.*')
  ((${#wheels[@]})) || return 0

  [[ $(uname -m) == x86_64 || -n $CUDA_ROOT ]] ||
    die "no CUDA toolkit (12.4 or later) found; the wheels that would replace it are fetched on x86-64 only."
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
  if ! step cuda-wheels "unpack ${wheels[*]%%==*} into build/deps/cuda" unpack_wheels "${wheels[@]}"; then
    [[ -n $CUDA_ROOT ]] ||
      die "CUDA's headers and NVRTC could not be fetched; install a CUDA toolkit (12.4 or later) and set CUDA_HOME."
    warn "nvdisasm could not be fetched: jitc sass will not work"
  fi
  find_cuda
  [[ -n $CUDA_ROOT ]] || die "CUDA was unpacked into build/deps/cuda, but cuda.h, nvrtc.h or libnvrtc is not there."
}
