# SPDX-License-Identifier: Apache-2.0
# Shared by tools/demo and tools/test. Sourced, not run.
# shellcheck shell=bash disable=SC2034

# Packages of Debian 12, each with the reason why it is needed. A package counts as there if dpkg has it, or, where a command
# is named, if that command is found.
kagent_build_packages=(
  "g++|g++|the C++ compiler, for kagent and for the kernels"
  "cmake|cmake|configures"
  "ninja-build|ninja|builds"
  "git|git|holds the variants"
  "pkg-config|pkg-config|finds libraries"
  "nlohmann-json3-dev||JSON"
  "libcurl4-openssl-dev||HTTP, for language models"
  "libgit2-dev||variants as git branches"
  "libcli11-dev||the command line"
  "libfmt-dev||formatting"
  "libspdlog-dev||logging"
  "libsqlitecpp-dev||the record of trials"
  "libsqlite3-dev||the record of trials"
  "libssl-dev||SHA-256"
  "libseccomp-dev||forbids system calls to candidates"
  "bubblewrap|bwrap|keeps candidates apart from the machine"
)
kagent_test_packages=(
  "libgtest-dev||the tests"
  "libgmock-dev||the tests"
  "clang-format|clang-format|the style check"
  "clang-tidy-16|clang-tidy-16|the style check"
  "python3|python3|the style checks, golden data"
  "python3-numpy||golden data"
  "python3-jsonschema||the schema check"
)

say() { printf '%s\n' "$*"; }

# fail MESSAGE [FIX]: one line each, then exit 2.
fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  [ $# -lt 2 ] || printf '  fix: %s\n' "$2" >&2
  exit 2
}

# package_is_there PACKAGE COMMAND: COMMAND may be empty.
package_is_there() {
  if [ -n "$2" ] && command -v "$2" >/dev/null 2>&1; then return 0; fi
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# install_missing ALLOWED ENTRY...: installs the packages that are not there; with ALLOWED other than yes it names them and
# stops.
install_missing() {
  local allowed=$1 entry package command why
  local missing=() reasons=()
  shift
  if ! command -v dpkg-query >/dev/null 2>&1; then
    say "This is not Debian: nothing is installed, and the configure step says what is missing."
    return 0
  fi
  for entry in "$@"; do
    IFS='|' read -r package command why <<<"$entry"
    if ! package_is_there "$package" "$command"; then
      missing+=("$package")
      reasons+=("  $package: $why")
    fi
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  local installation=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}")
  say "Packages of the distribution that are missing:"
  printf '%s\n' "${reasons[@]}"
  [ "$allowed" = yes ] || fail "packages are missing: ${missing[*]}" "${as_root[*]:+${as_root[*]} }apt-get install ${missing[*]}"
  if [ ${#as_root[@]} -gt 0 ] && ! command -v sudo >/dev/null 2>&1; then
    fail "installing packages needs root, and sudo is not there" "as root: apt-get install ${missing[*]}"
  fi
  say "Installing them: ${installation[*]}"
  # A fresh machine has no package lists yet, so a first failure may only mean that.
  if ! "${installation[@]}" </dev/null; then
    "${as_root[@]}" apt-get update </dev/null || fail "apt-get update failed" "see its output above"
    "${installation[@]}" </dev/null || fail "apt-get could not install ${missing[*]}" "see its output above"
  fi
}

# Whether bubblewrap is installed and may be used here: in containers user namespaces are often forbidden.
bubblewrap_works() {
  bwrap --unshare-all --die-with-parent --ro-bind / / true >/dev/null 2>&1
}
