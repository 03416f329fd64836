#!/usr/bin/env bash
# Builds the site of the documentation, build/site, and fails if it has a dead link. Installs MkDocs into build/deps/docs, and
# Doxygen by the system's package manager.
#
#   tools/docs.sh            build/site/index.html is the first page
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$ROOT/tools/lib/packages.sh"

cd "$ROOT"
export PYTHONPATH=$DEPS/docs PYTHONDONTWRITEBYTECODE=1 DISABLE_MKDOCS_2_WARNING=true NO_MKDOCS_2_WARNING=true
heading "Documentation"
have doxygen || install_packages doxygen
if [[ ! -e $DEPS/docs/mkdocstrings_handlers ]]; then
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
  step docs-packages "fetch MkDocs into build/deps/docs" python3 -m pip install --quiet --disable-pip-version-check \
    --target "$DEPS/docs" 'mkdocs==1.6.1' 'mkdocs-material==9.8.2' 'mkdocstrings==1.0.8' 'mkdocstrings-python==2.0.11'
fi
pages=$ROOT/build/site-pages
rm -rf "$pages" "$ROOT/build/site"
mkdir -p "$pages"
step docs-pages "copy the pages" python3 docs/site/stage.py "$pages"
step docs-headers "doxygen over the headers" doxygen docs/site/Doxyfile
step docs-site "mkdocs" python3 -m mkdocs build --config-file docs/site/mkdocs.yml
step docs-links "links of the site" python3 docs/site/check_links.py "$ROOT/build/site"
note "$(tail -n 1 "$LOGS/docs-links.log")"
note "build/site/index.html"
