# Finds and installs missing packages of the distribution that a build needs. To be sourced.

# version_at_least HAVE WANT
version_at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

# The compiler that CMake will use: $CXX, or c++.
compiler() { echo "${CXX:-c++}"; }

# Prints the packages of missing headers. Asks the compiler by __has_include, because headers may be installed without
# the package manager.
missing_headers() {
  while read -r header package; do
    printf '#if !__has_include(<%s>)\n%s\n#endif\n' "$header" "$package"
  done <<'END' | "$(compiler)" -x c++ -std=c++20 -E -P - | grep -E '^lib|^nlohmann|^zlib' || true
spdlog/spdlog.h libspdlog-dev
fmt/format.h libfmt-dev
CLI/CLI.hpp libcli11-dev
nlohmann/json.hpp nlohmann-json3-dev
benchmark/benchmark.h libbenchmark-dev
zlib.h zlib1g-dev
hiredis/hiredis.h libhiredis-dev
zstd.h libzstd-dev
END
}

# Whether LLVM 14 or later is installed with its static libraries, or LLVM_DIR is set.
have_llvm() {
  [[ -n ${LLVM_DIR:-} ]] && return 0
  local library version
  for library in /usr/lib/llvm-*/lib/libLLVMSupport.a /usr/lib/libLLVMSupport.a /usr/lib64/libLLVMSupport.a \
    /usr/local/lib/libLLVMSupport.a; do
    [[ -e $library ]] || continue
    version=$(sed -nE 's|.*/llvm-([0-9]+)/.*|\1|p' <<<"$library")
    ((${version:-14} >= 14)) && return 0
  done
  return 1
}

# Prints the names of missing packages, one in each line.
missing_packages() {
  local compiler_version
  compiler_version=$("$(compiler)" -dumpversion 2>/dev/null || echo 0)
  if version_at_least "$compiler_version" 12; then missing_headers; else
    echo g++
    printf '%s\n' libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev libbenchmark-dev zlib1g-dev libhiredis-dev libzstd-dev
  fi
  version_at_least "$(cmake --version 2>/dev/null | awk 'NR == 1 { print $3 }')" 3.25 || echo cmake
  have ninja || echo ninja-build
  have pkg-config || echo pkg-config
  have python3 || echo python3
  python_has_headers || echo python3-dev
  have_llvm || echo llvm-dev
}

# as_root COMMAND…
as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

can_install() { have apt-get && { [[ $(id -u) == 0 ]] || have sudo; }; }

apt_update() {
  # Runs at most once in a set-up, and only if a package has to be installed.
  [[ -z ${APT_UPDATED:-} ]] || return 0
  step apt-update "apt-get update" as_root apt-get update -q || return 1
  APT_UPDATED=1
}

# apt_install STEP NAME…: installs packages without those that they only recommend.
apt_install() {
  local step=$1
  shift
  step "$step" "install $*" as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "$@"
}

# install_packages NAME…: installs required packages, or ends the set-up.
install_packages() {
  can_install || die "this machine lacks packages that tmajit is built with, and setup.sh cannot install them
  (no apt-get, or neither root nor sudo). In Debian's and Ubuntu's names they are:
    $*
  Install them and run this again."
  # sudo may ask for a password. A step has no terminal for that, so let sudo ask before.
  if [[ $(id -u) != 0 ]]; then sudo -v; fi
  apt_update || die "apt-get update failed; needed are: $*"
  apt_install apt-install "$@" || die "apt-get could not install: $*"
}
