# Installs a Redis server, with which the tests of the fleet's store work. To be sourced.

# The server is optional: if it cannot be installed, warns that its tests are skipped. Does not ask for sudo's password.
provide_redis() {
  have redis-server && return 0
  if can_install && { [[ $(id -u) == 0 ]] || sudo -n true 2>/dev/null; } && apt_update && apt_install redis redis-server; then
    return 0
  fi
  warn "no Redis server could be installed (package redis-server): the tests of the fleet's store with Redis are skipped"
}
