#!/usr/bin/env bash
# run.sh STEP BUILD WORK COMPILER: one step of the consumer test; see CMakeLists.txt beside this file.
set -euo pipefail
step=$1 build=$2 work=$3 compiler=$4
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
project=$here/project
prefix=$work/prefix  # everything
core=$work/core      # without the components sim and c
export TMAJIT_CACHE_DIR=$work/cache
fail() { echo "$*"; exit 1; }
# number NAME: the number TMAJIT_VERSION_NAME in the installed version.hpp.
number() { sed -n "s/^#define TMAJIT_VERSION_$1 //p" "$prefix/include/tmajit/version.hpp"; }
# version: MAJOR.MINOR, as in sonames and find_package().
version() { echo "$(number MAJOR).$(number MINOR)"; }

case $step in
  install)
    rm -rf "$prefix" "$work/staged" "$core"
    cmake --install "$build" --prefix "$work/staged" >/dev/null
    # The installed folder is moved, so no file in it may depend on the original path.
    mv "$work/staged" "$prefix"
    find "$prefix" -name '*.so*' -o -name '*.pc' -o -name '*.cmake' | sed "s|$prefix/||"
    if grep -rIl -e "$work/staged" -e "$build" "$prefix"; then
      fail "the files above name the folder they were built or installed in"
    fi
    for component in runtime development tools; do
      cmake --install "$build" --prefix "$core" --component "$component" >/dev/null
    done
    if find "$core" | grep -e sim -e lint -e finding -e '/c\.h$' -e '/c/' -e tmajit_c | grep -v /share/; then
      fail "the files above are of the components sim and c"
    fi
    ;;
  cmake)
    rm -rf "$work/cmake"
    cmake -G Ninja -S "$project" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
      -DCMAKE_BUILD_TYPE=Release "-DWANTED_VERSION=$(version)"
    cmake --build "$work/cmake"
    "$work/cmake/consumer"
    "$work/cmake/consumer_sim"
    if [[ -e $work/cmake/whole_program ]]; then
      rm -f "$work/reports.json"
      TMAJIT_PTX=$project/whole_program.ptx TMAJIT_REPORTS=$work/reports.json "$work/cmake/whole_program"
    fi
    ;;
  pkg_config)
    command -v pkg-config >/dev/null || { echo "SKIP: no pkg-config"; exit 77; }
    pc=$(find "$prefix" -name tmajit.pc)
    export PKG_CONFIG_PATH=${pc%/*}
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir tmajit)
    export LD_LIBRARY_PATH
    # $(pkg-config …) is unquoted to split into words. The step cmake compiled the programs' other files.
    "$compiler" -std=c++20 "$project/main.cpp" "$work/cmake/CMakeFiles/consumer.dir"/{describe,operations,plans,kernels}.cpp.o \
      -o "$work/consumer-pc" $(pkg-config --cflags --libs "tmajit >= $(version)")
    "$work/consumer-pc"
    "$compiler" -std=c++20 -DMODULE_PTX="\"$project/whole_program.ptx\"" "$project/simulate.cpp" "$work/cmake/CMakeFiles/consumer_sim.dir"/{launches,modules,reports}.cpp.o \
      -o "$work/consumer-sim-pc" $(pkg-config --cflags --libs "tmajit-sim >= $(version)")
    "$work/consumer-sim-pc"
    ;;
  c)
    rm -rf "$work/c"
    cmake -G Ninja -S "$here/../c/consumer" -B "$work/c" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release "-DWANTED_VERSION=$(version)"
    cmake --build "$work/c"
    "$work/c/c_consumer"
    # A program that needs nothing of C++ itself.
    if readelf -d "$work/c/c_consumer" | grep NEEDED | grep -F libstdc++; then fail "the C program needs the library above"; fi
    command -v pkg-config >/dev/null || exit 0
    pc=$(find "$prefix" -name tmajit-c.pc)
    export PKG_CONFIG_PATH=${pc%/*}
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir tmajit-c)
    export LD_LIBRARY_PATH
    # $(pkg-config …) is unquoted to split into words.
    cc -std=c99 -pedantic -Werror "$here/../c/consumer"/*.c -o "$work/c-consumer-pc" $(pkg-config --cflags --libs "tmajit-c >= $(version)")
    "$work/c-consumer-pc"
    ;;
  symbols)
    exec "$here/symbols.sh" "$prefix" "$work/cmake/consumer" "$work/cmake/consumer_sim"
    ;;
  libraries)
    version=$(version)
    for library in libtmajit libtmajit_sim; do
      file=$(find "$prefix" -name "$library.so.$version")
      [[ -n $file ]] || fail "there is no $library.so.$version"
      readelf -d "$file" | grep SONAME | grep -F "[$library.so.$version]" || fail "$file has another soname"
    done
    file=$(find "$prefix" -name "libtmajit_c.so.$(number MAJOR)")
    [[ -n $file ]] || fail "there is no libtmajit_c.so.$(number MAJOR)"
    readelf -d "$file" | grep SONAME | grep -F "[libtmajit_c.so.$(number MAJOR)]" || fail "$file has another soname"
    # The libraries may need only those of tmajit and those of any C++ program at run time.
    allowed='libtmajit(_sim)?\.so\.[0-9.]*|libstdc\+\+\.so\.6|libgcc_s\.so\.1|lib(c|m|dl|pthread|rt)\.so\.[0-9]+|ld-linux.*'
    for file in "$prefix"/lib*/libtmajit*.so "$prefix"/lib*/*/libtmajit*.so "$prefix/bin/jitc"; do
      [[ -e $file ]] || continue
      needed=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
      echo "$file needs" $needed
      if grep -vxE "$allowed" <<<"$needed"; then fail "$file needs the libraries above, too"; fi
    done
    ;;
  components)
    # expect FOUND PREFIX WORDS TEXT: configures with find_package(tmajit <version> CONFIG WORDS) and looks for TEXT.
    expect() {
      local found=0 said
      rm -rf "$work/components"
      said=$(cmake -S "$here/components" -B "$work/components" -DCMAKE_PREFIX_PATH="$2" "-DWANTED=$3" "-DWANTED_VERSION=$(version)" 2>&1) || found=1
      # CMake may break lines anywhere in its messages.
      [[ $found -eq $1 ]] && tr -s ' \n' ' ' <<<"$said" | grep -qF "$4" || fail "$3 in $2: exit $found" "$said"
    }
    expect 0 "$prefix" 'REQUIRED' 'sim: not found'  # not requested
    expect 0 "$prefix" 'REQUIRED;COMPONENTS;sim' 'sim: found'
    expect 0 "$core" 'REQUIRED' 'sim: not found'
    expect 0 "$core" 'REQUIRED;OPTIONAL_COMPONENTS;sim' 'sim: not found'
    expect 1 "$core" 'REQUIRED;COMPONENTS;sim' "the simulated device and lint, is not installed"
    expect 0 "$prefix" 'REQUIRED;COMPONENTS;c' 'c: found'
    expect 1 "$core" 'REQUIRED;COMPONENTS;c' "the C interface, is not installed"
    expect 1 "$prefix" 'REQUIRED;COMPONENTS;simulator' 'tmajit has no component "simulator": its components are sim and c.'
    ;;
  language)
    for header in "$prefix"/include/tmajit/{,launch/,machine/,report/}*.hpp; do
      name=${header#"$prefix/include/"}
      if said=$("$compiler" -std=c++17 -fsyntax-only -Wfatal-errors -I"$prefix/include" -include "$name" -xc++ /dev/null 2>&1); then
        fail "$name is taken as C++17"
      fi
      # The header's own #error must come first, before errors of a standard library that lacks <span>.
      grep -m1 'error:' <<<"$said" | grep -F 'compile with -std=c++20' >/dev/null || fail "$name as C++17:" "$said"
    done
    ;;
  jitc)
    [[ -e $prefix/bin/jitc ]] || { echo "SKIP: jitc was not built"; exit 77; }
    # Without LD_LIBRARY_PATH the installed program finds the installed library, which holds the simulated device.
    for jitc in "$prefix/bin/jitc" "$core/bin/jitc"; do
      "$jitc" --version
      "$jitc" run copy --shape 64x64 --device sim --check
      ldd "$jitc" | grep -F "${jitc%/bin/jitc}" | grep libtmajit
    done
    ;;
  deb)
    for tool in cpack dpkg-deb dpkg-shlibdeps pkg-config; do
      command -v $tool >/dev/null || { echo "SKIP: no $tool"; exit 77; }
    done
    if grep -q '^TMAJIT_PACKS:.*=none$' "$build/CMakeCache.txt"; then echo "SKIP: TMAJIT_PACKS is none"; exit 77; fi
    rm -rf "$work/deb" && mkdir "$work/deb"
    (cd "$build" && cpack -G DEB -B "$work/deb" >"$work/deb/log" 2>&1) || fail "$(tail -n 20 "$work/deb/log")"
    declare -A depends files
    for file in "$work"/deb/*.deb; do
      depends[$(dpkg-deb -f "$file" Package)]=$(dpkg-deb -f "$file" Depends)
      files[$(dpkg-deb -f "$file" Package)]=$file
      dpkg-deb -x "$file" "$work/deb/root"
    done
    library=libtmajit$(version)
    # needs PACKAGE OTHER…: the package depends on the others, in this order.
    needs() {
      local pattern='*' other
      for other in "${@:2}"; do pattern+="$other *"; done
      [[ "${depends[$1]-} " == $pattern ]] || fail "$1 depends on \"${depends[$1]-}\""
    }
    needs "$library" libc6 libstdc++6
    needs libtmajit-dev "$library"
    needs libtmajit-sim libtmajit-dev libc6
    needs libtmajit-c libtmajit-sim libc6
    needs tmajit-tools "$library" libc6
    needs "$library-packs"
    [[ ${#depends[@]} -eq 6 ]] || fail "other packages than expected: ${!depends[*]}"
    root=$work/deb/root/usr
    "$root/bin/jitc" run copy --shape 64x64 --device sim --check
    export PKG_CONFIG_PATH=$root/lib/pkgconfig LD_LIBRARY_PATH=$root/lib
    # $(pkg-config …) is unquoted to split into words.
    cc -std=c99 "$here/../c/consumer"/*.c -o "$work/deb/consumer" $(pkg-config --cflags --libs "tmajit-c >= $(version)")
    "$work/deb/consumer"

    # A release needs full packs, which this build does not make.
    if grep -q '^TMAJIT_PACKS:.*=small$' "$build/CMakeCache.txt"; then grep -F 'TMAJIT_PACKS=full' "$work/deb/log"; fi
    # The library recommends its packs, whose kernels need no NVRTC.
    [[ $(dpkg-deb -f "${files[$library]}" Recommends) == "$library-packs (= "* ]] || fail "$library does not recommend its packs"
    [[ $(dpkg-deb -f "${files[$library-packs]}" Architecture) == all ]] || fail "the packs are not for every architecture"
    # The packs' dictionaries are not compressed, so a path that kernels hold is found there.
    if grep -rla "$source" "$root/share/tmajit"; then fail "the files above name the folder they were built in"; fi
    export TMAJIT_NVRTC=/none TMAJIT_CACHE_DIR=$work/deb/empty
    "$root/bin/jitc" cubin concat --shape 64x128 --axis 0 --dtype f32 -o "$work/deb/concat.cubin" 2>"$work/deb/cubin"
    grep -F 'from a pack' "$work/deb/cubin"
    "$root/bin/jitc" run concat --shape 64x128 --axis 0 --dtype f32 --device sim --check 2>&1 | tee "$work/deb/run"
    grep -E 'cubin +none; the PTX is from a pack' "$work/deb/run"
    "$compiler" -std=c++20 "$here/packaged/first_call.cpp" -o "$work/deb/first_call" $(pkg-config --cflags --libs "tmajit-sim >= $(version)")
    "$work/deb/first_call"
    # Without the recommended package, the error says that no level has the kernel.
    rm -r "$root/share/tmajit/$(version)"
    if "$work/deb/first_call" 2>"$work/deb/error"; then fail "a kernel came from nowhere"; fi
    grep -F 'no NVRTC' "$work/deb/error"
    ;;
  fetched)
    rm -rf "$work/fetched" "$work/fetched-make"
    # Both builds use the same fmt, so its check, which takes 10 s, need not run again.
    mapfile -t fmt < <(sed -nE 's/^(TMAJIT_FMT_[A-Z]+):[A-Z]+=/-D\1=/p' "$build/CMakeCache.txt")
    cmake "${fmt[@]}" -G Ninja -S "$here/fetched" -B "$work/fetched" -DFETCHCONTENT_SOURCE_DIR_TMAJIT="$source" -DCMAKE_CXX_COMPILER="$compiler"
    # Only the libraries that the project links are built with it.
    if ninja -C "$work/fetched" -t inputs all | grep -E 'tmajit-build/.*(test|tool|jitc|example|python|conformance|reference|planning|cudart)'; then
      fail "the project builds the files above"
    fi
    # Ninja finds the rule of every file, make only in the file's own target, so there an archive must wait for the rooms' targets.
    cmake "${fmt[@]}" -G 'Unix Makefiles' -S "$here/fetched" -B "$work/fetched-make" -DBUILD_SHARED_LIBS=OFF \
      -DFETCHCONTENT_SOURCE_DIR_TMAJIT="$source" -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
    grep -q '/src/CMakeFiles/tmajit\.dir/all: .*/tmajit_files\.dir/all' "$work/fetched-make/CMakeFiles/Makefile2" ||
      fail "make links libtmajit.a before it compiles the objects"
    # Compiling the libraries again takes minutes, so link the project's own object with the libraries of this build.
    object=$(ninja -C "$work/fetched" -t inputs fetched | grep '/start\.cpp\.o$')
    ninja -C "$work/fetched" "$object"
    "$compiler" "$work/fetched/$object" -o "$work/fetched/start" -L"$build/bin" -ltmajit_sim -ltmajit -Wl,-rpath,"$build/bin"
    "$work/fetched/start"
    ;;
  archives)
    cmake -DBUILD_SHARED_LIBS=OFF -DTMAJIT_INSTALL=ON "$work/fetched"
    # Put archives of this build's objects where that build would put its own, because compiling the objects again takes minutes.
    there=$work/fetched/_deps/tmajit-build
    for pair in tmajit:tmajit tmajit_simulator:tmajit_sim tmajit_cudart_sim:tmajit_cudart tmajit_c_interface:tmajit_c; do
      [[ ! -e $build/src/lib${pair%:*}_archive.a ]] || cp "$build/src/lib${pair%:*}_archive.a" "$there/src/lib${pair#*:}.a"
    done
    rm -rf "$there/include" "$work/archives" "$work/archives-build"
    cp -r "$build/include" "$there/"
    cmake --install "$work/fetched" --prefix "$work/archives" 2>&1 >/dev/null | tee "$work/archives-said"
    # This build makes no packs.
    grep -F 'TMAJIT_PACKS=full' "$work/archives-said"
    if find "$work/archives" -name '*.so*' | grep .; then fail "the shared libraries above are installed"; fi
    for archive in "$work"/archives/lib*/*.a; do
      # libzstd calls its tracing functions only if the program defines them.
      if nm -g "$archive" | grep -E ' w [^_]' | grep -vE ' w ZSTD_trace_(de)?compress_(begin|end)$'; then fail "$archive may lack the functions above, because it links without them"; fi
      if nm -Cg --defined-only "$archive" | grep -E '^[0-9a-f]+ . ' | grep -vE ' ((vtable|typeinfo|typeinfo name) for )?(tmajit::v[0-9]|tmajit_|(__)?cu(da)?[A-Z])'; then
        fail "$archive defines the symbols above, which may clash with a program's"
      fi
    done
    # The steps cmake and c compiled the programs.
    cmake -G Ninja -S "$here/archives" -B "$work/archives-build" -DCMAKE_PREFIX_PATH="$work/archives" -DCMAKE_CXX_COMPILER="$compiler" \
      -DOBJECTS="$work/cmake/CMakeFiles" -DC_OBJECTS="$work/c/CMakeFiles/c_consumer.dir"
    ninja -C "$work/archives-build"
    "$work/archives-build/consumer"
    "$work/archives-build/consumer_sim"
    "$work/archives-build/c_consumer"
    if [[ -e $work/archives-build/whole_program ]]; then
      rm -f "$work/archives-build/reports.json"
      TMAJIT_PTX=$project/whole_program.ptx TMAJIT_REPORTS=$work/archives-build/reports.json "$work/archives-build/whole_program"
    fi
    command -v pkg-config >/dev/null || exit 0
    pc=$(find "$work/archives" -name tmajit.pc)
    export PKG_CONFIG_PATH=${pc%/*}
    # $(pkg-config …) is unquoted to split into words.
    cc "$work/c/CMakeFiles/c_consumer.dir"/*.o -o "$work/archives-build/c-consumer-pc" $(pkg-config --static --libs tmajit-c)
    "$work/archives-build/c-consumer-pc"
    ;;
  device_headers)
    nvcc=$(PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin command -v nvcc) || { echo "SKIP: no nvcc"; exit 77; }
    mkdir -p "$work/device"
    # A source that includes every installed device header, with a kernel that uses some of them.
    {
      for header in "$core"/include/tmajit/device/tmajit/*.cuh; do echo "#include \"tmajit/${header##*/}\""; done
      echo '__global__ void leads(int* x) { if (tmajit::ptx::elect()) *x = 1; }'
    } >"$work/device/all.cu"
    cat "$work/device/all.cu"
    "$nvcc" -std=c++20 -arch=sm_90a -I"$core/include/tmajit/device" -cubin -o "$work/device/all.cubin" "$work/device/all.cu"
    if [[ -e $core/bin/jitc ]]; then
      [[ $("$core/bin/jitc" headers) -ef $core/include/tmajit/device ]] || fail "jitc headers names another folder"
    fi
    ;;
  *) fail "no such step: $step" ;;
esac
