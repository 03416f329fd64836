#!/usr/bin/env bash
# Uses the built jitc to lint and run sm_90a kernels of other compilers and libraries: Triton, Numba, CUTLASS and CuTe,
# FlashInfer, CUB, libcu++, cooperative groups, and kernels of public projects. Packages come from the Python registry, projects
# from GitHub. All are stored in build/foreign, none of them in the repository. docs/check.md shows the table of results.
#
#   tools/foreign.sh                      all kernels; needs 8 GB of disk, 12 GB of memory, and some ten minutes the first time
#   tools/foreign.sh --group cuda         one group: cuda (needs only CUDA's headers), triton, newer_triton, numba, cutlass,
#                                         serving, samples or public
#   tools/foreign.sh --only 'triton.*'    some kernels; --list names them
#   tools/foreign.sh --markdown FILE      writes the table for a document
#   tools/foreign.sh --mutants            the mistakes and variants of tests/mutants/table in these kernels; also with --group, --only
#   tools/foreign.sh --figures            as --mutants; prints how many mistakes each mode and seed finds, and how many first reports name the cause
#
# The exit code is 0 if every kernel is parsed, has only true findings, and computes the right numbers; else 1.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$ROOT/tools/lib/packages.sh"
. "$ROOT/tools/lib/cuda.sh"

mutants=false
figures=()
words=()
for word in "$@"; do
  case $word in
    --mutants) mutants=true ;;
    --figures) mutants=true figures=(--figures) ;;
    -h | --help)
      sed -n '2,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) words+=("$word") ;;
  esac
done
set -- ${words[@]+"${words[@]}"}

folder=$ROOT/build/foreign
site=$folder/site
mkdir -p "$site"

# fetch_wheels NAME TEXT PACKAGE…: fetches the packages once, and unpacks them into a folder that most compilers share.
fetch_wheels() {
  local name=$1 text=$2
  shift 2
  local lock
  # Tests that run this script at the same time share the folder.
  exec {lock}>"$folder/$name.lock"
  flock "$lock"
  if [[ ! -e $folder/$name.done ]]; then
    step "foreign-$name" "$text" unpack_packages "$folder/$name" "$site" "$@" || return 1
    : >"$folder/$name.done"
  fi
  exec {lock}>&-
}
# fetch_compiler NAME TEXT PACKAGE…: as fetch_wheels, but into a separate folder, for a compiler that needs other versions of
# CUDA's parts.
fetch_compiler() {
  local site=$folder/site-$1
  mkdir -p "$site"
  fetch_wheels "$@"
}
unpack_packages() {
  local wheels=$1 site=$2
  shift 2
  rm -rf "$wheels"
  python3 -m pip download --no-deps --only-binary=:all: --disable-pip-version-check -d "$wheels" "$@" || return 1
  local wheel
  for wheel in "$wheels"/*.whl; do python3 -m zipfile -e "$wheel" "$site" || return 1; done
  rm -rf "$wheels"
  # Python's zipfile does not set the executable bit of programs.
  find "$site" -path '*/bin/*' -type f -exec chmod +x {} +
}

fetch_samples() {
  local archive=$folder/samples.tar.gz
  curl -fsSL -o "$archive" https://github.com/NVIDIA/cuda-samples/archive/refs/tags/v13.0.tar.gz || return 1
  mkdir -p "$site/cuda-samples"
  tar -xzf "$archive" -C "$site/cuda-samples" --strip-components=1 --wildcards '*/Common/*' '*/Samples/0_Introduction/*' || return 1
  rm -f "$archive"
}

# skip REASON: ends the script with the exit status of a skipped test, because packages cannot be fetched.
skip() {
  warn "SKIP: $*"
  exit 77
}
jitc=${TMAJIT_JITC:-$ROOT/build/release/bin/jitc}
[[ -x $jitc ]] || die "$jitc is not built; ./tools/demo.sh builds it, or set TMAJIT_JITC"
# corpus OPTION…: runs tests/foreign/corpus.py, which compiles, lints and runs the kernels.
corpus() {
  PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1 TRITON_CACHE_DIR=$folder/triton-cache \
    python3 "$ROOT/tests/foreign/corpus.py" --jitc "$jitc" --site "$site" --work "$folder/kernels" "$@"
}

heading "Packages"
python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
find_cuda
[[ -n $CUDA_ROOT ]] || die "CUDA's headers are not here; ./tools/setup.sh fetches them"
fetch_wheels numpy "fetch NumPy" numpy || skip "NumPy cannot be fetched, and nothing can be compared without it"
headers=$CUDA_ROOT/include/cccl
if [[ ! -d $headers/cub ]]; then
  fetch_wheels cccl "fetch CCCL's headers" 'nvidia-cuda-cccl==13.0.*' || skip "CCCL's headers cannot be fetched"
  headers=$site/nvidia/cu13/include/cccl
fi
include=(--headers "$headers")
if [[ ! -f $CUDA_ROOT/include/crt/mma.h ]]; then
  fetch_wheels crt "fetch mma.h" 'nvidia-cuda-crt==13.0.*' || skip "mma.h cannot be fetched"
  include+=(--headers "$site/nvidia/cu13/include")
fi
names=$(corpus --list "$@") || exit
if grep -q '^triton\.' <<<"$names"; then
  fetch_wheels triton "fetch Triton (170 MB)" 'triton==3.5.*' || warn "Triton cannot be fetched"
fi
if grep -q '^numba\.' <<<"$names"; then
  fetch_compiler numba "fetch Numba (110 MB)" numpy 'numba-cuda==0.30.4' 'numba==0.68.1' 'llvmlite==0.50.0' 'cuda-bindings==13.5.0' \
    'cuda-core==1.2.2' 'cuda-pathfinder==1.9.0' 'nvidia-nvvm==13.5.37' packaging || warn "Numba cannot be fetched"
fi
if grep -q '^newer_triton\.' <<<"$names"; then
  fetch_compiler newer_triton "fetch a newer Triton (170 MB)" numpy 'triton==3.9.0' || warn "the newer Triton cannot be fetched"
fi
nvcc=()
if grep -qvE '^(cub|libcudacxx|groups|wmma|atomics|calls|triton|newer_triton|numba)\.' <<<"$names"; then
  fetch_wheels cutlass "fetch CUTLASS and nvcc (90 MB)" 'nvidia-cutlass==4.2.0.0' 'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*' \
    'nvidia-cuda-crt==13.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-curand==10.4.*' || warn "CUTLASS cannot be fetched"
  [[ -x $site/nvidia/cu13/bin/nvcc ]] && nvcc=(--nvcc "$site/nvidia/cu13/bin/nvcc")
fi
if grep -qE '^(llm_c|fast_cu)\.' <<<"$names"; then
  fetch_wheels cublas "fetch cuBLAS, whose headers public projects include (420 MB)" 'nvidia-cublas==13.0.*' || warn "cuBLAS cannot be fetched"
fi
if grep -q '^samples\.' <<<"$names" && [[ ! -d $site/cuda-samples ]]; then
  step foreign-samples "fetch cuda-samples (120 MB)" fetch_samples || warn "cuda-samples cannot be fetched"
fi
if grep -q '^serving\.' <<<"$names"; then
  fetch_wheels flashinfer "fetch FlashInfer (60 MB)" 'flashinfer-python==0.7.2.post1' || warn "FlashInfer cannot be fetched"
fi

if $mutants; then
  heading "Mistakes in other projects' kernels"
  [[ " $* " == *" --group "* ]] || set -- "$@" --group cuda --group triton --group cutlass --group public
  PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1 TRITON_CACHE_DIR=$folder/triton-cache \
    exec python3 "$ROOT/tests/mutants/walk.py" --jitc "$jitc" --site "$site" --work "$folder/mutants" \
    ${nvcc[@]+"${nvcc[@]}"} --headers "$headers" ${figures[@]+"${figures[@]}"} "$@"
fi
heading "Other projects' kernels"
corpus ${nvcc[@]+"${nvcc[@]}"} "${include[@]}" "$@"
