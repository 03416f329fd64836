# Installs a headless browser, in which the test view.browser opens pages of `jitc view`. To be sourced.

have_browser() {
  PYTHONPATH=$ROOT/tests/view python3 -B -c 'import browser; exit(browser.find_browser() is None)'
}

# Prints the first package with a browser that apt knows. Ubuntu's chromium-browser is not one: it needs snap.
browser_package() {
  local name
  for name in chromium-headless-shell chromium; do
    if [[ -n $(apt-cache madison "$name" 2>/dev/null) ]]; then
      echo "$name"
      return
    fi
  done
}

# The browser is optional: if it cannot be installed, warns that its test is skipped. Does not ask for sudo's password.
provide_browser() {
  have_browser && return 0
  local package=''
  if can_install && { [[ $(id -u) == 0 ]] || sudo -n true 2>/dev/null; }; then
    # A fresh container has no lists of packages.
    [[ -n $(apt-cache madison apt 2>/dev/null) ]] || apt_update || true
    package=$(browser_package)
  fi
  if [[ -n $package ]] && apt_update && apt_install browser "$package"; then return 0; fi
  warn "no browser could be installed${package:+ (package $package)}: the test view.browser is skipped"
}
