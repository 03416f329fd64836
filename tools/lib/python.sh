# Provides the headers of Python, and the packages that build and test the Python module. To be sourced.

# The folder of build/deps that holds the packages; PYTHONPATH names it in tests.
PYTHON_PACKAGES=$DEPS/python

python_has_headers() {
  python3 -c 'import os, sysconfig; exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null
}

# The versions are pinned, so that builds can be reproduced.
python_packages() {
  printf '%s\n' 'nanobind==3.1.0' 'scikit-build-core==1.1.2' 'numpy>=2.0,<3' 'ml_dtypes==0.6.0' 'pytest==9.2.0' 'jsonschema==4.26.0' \
    'ruff==0.17.6'
}

# If the packages cannot be fetched, warns that the module is not built. The library does not need them.
provide_python() {
  [[ -e $PYTHON_PACKAGES/nanobind/cmake && -e $PYTHON_PACKAGES/numpy && -e $PYTHON_PACKAGES/pytest && -e $PYTHON_PACKAGES/jsonschema ]] && return 0
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
  local packages
  mapfile -t packages < <(python_packages)
  step python-packages "fetch ${packages[*]%%[=>]*} into build/deps/python" python3 -m pip install --quiet \
    --only-binary=:all: --disable-pip-version-check --target "$PYTHON_PACKAGES" "${packages[@]}" ||
    warn "Python's packages could not be fetched: the Python module is not built"
}
