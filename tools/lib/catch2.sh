# Provides Catch2 3, which is a package of Ubuntu 24.04, but of Debian 12 only in the backports. To be sourced.

# catch_all.hpp is new in version 3.
have_catch2() {
  [[ -n ${Catch2_DIR:-} || -e $DEPS/usr/include/catch2/catch_all.hpp || -e /usr/include/catch2/catch_all.hpp ||
    -e /usr/local/include/catch2/catch_all.hpp ]]
}

# Writes an apt source for the release's backports to folder $1: a copy of the machine's entry for the release, with
# its mirror, options and key, but with the backports as its suite.
write_backports_source() {
  local folder=$1 codename file
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [[ -n $codename ]] || return 1
  file=$(apt-get indextargets --format '$(SOURCESENTRY)|$(RELEASE)|$(COMPONENT)|$(CREATED_BY)' |
    awk -F'|' -v release="$codename" '$2 == release && $3 == "main" && $4 == "Packages" { print $1; exit }')
  file=${file%:*}
  [[ -e $file ]] || return 1
  case $file in
    *.sources)  # each paragraph is an entry
      awk -v RS= -v suite="$codename" '$0 ~ "(^|\n)Suites:[^\n]*[ \t]" suite "([ \t\n]|$)" {
        gsub(/(^|\n)Suites:[^\n]*/, "\nSuites: " suite "-backports"); sub(/^\n/, ""); print; exit }' \
        "$file" >"$folder/backports.sources" ;;
    *)  # each line is an entry
      awk -v suite="$codename" '$1 == "deb" {
        for (i = 2; i <= NF; ++i) if ($i == suite) { $i = suite "-backports"; print; exit } }' \
        "$file" >"$folder/backports.list" ;;
  esac
}

# Unpacks the backport into build/deps. Uses its own lists, sources and cache, and does not change the machine's apt.
catch2_from_backports() {
  local apt=$DEPS/apt
  rm -rf "$apt"
  mkdir -p "$apt"/{lists/partial,sources,cache/archives/partial}
  write_backports_source "$apt/sources" || {
    echo "no entry of this machine's apt sources is for its own release"
    return 1
  }
  cat "$apt"/sources/*
  local options=(-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/sources"
    -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)")
  apt-get "${options[@]}" update || return 1
  (cd "$apt" && apt-get "${options[@]}" download libcatch2-dev) || return 1
  dpkg -x "$apt"/libcatch2-dev_*.deb "$DEPS" || return 1
  rm -rf "$apt"
}

provide_catch2() {
  have_catch2 && return 0
  have apt-get || die "Catch2 3 is missing: install it so that find_package(Catch2 3) finds it."
  if can_install; then apt_update || die "apt-get update failed; needed is: catch2 (version 3)"; fi
  # Do not pipe into grep -q: it would kill apt-cache by SIGPIPE, and pipefail makes that an error.
  local policy
  policy=$(apt-cache policy catch2 2>/dev/null || true)
  if [[ $policy == *$'\n  Candidate: 3.'* ]]; then
    install_packages catch2
  else
    step catch2 "unpack Catch2 3 from the release's backports into build/deps" catch2_from_backports ||
      die "Catch2 3 could not be fetched; install it so that find_package(Catch2 3) finds it."
  fi
  have_catch2 || die "Catch2 3 was installed, but catch2/catch_all.hpp is not where it should be."
}
