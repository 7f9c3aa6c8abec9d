# SPDX-License-Identifier: Apache-2.0
# Shared by the programs in tools/: messages, packages of the distribution, building. To be sourced by bash.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# What building kagent takes, and what using it takes beside that.
build_packages=(build-essential cmake ninja-build pkg-config git ca-certificates
  libgit2-dev libcurl4-openssl-dev nlohmann-json3-dev libcli11-dev libfmt-dev libspdlog-dev libsqlite3-dev
  libsqlitecpp-dev libssl-dev libseccomp-dev bubblewrap)
test_packages=(libgtest-dev libgmock-dev python3 python3-numpy python3-jsonschema clang-format clang-tidy-16)

say() { printf '\n== %s\n' "$*"; }

# die MESSAGE FIX
die() {
  printf '%s: %s\n  fix: %s\n' "$(basename "$0")" "$1" "$2" >&2
  exit 2
}

# Packages among the arguments that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

# install_packages yes|no PACKAGE...: installs what is missing, or says what that is and ends where it may not.
install_packages() {
  local may_install=$1 missing
  shift
  command -v dpkg-query >/dev/null || die "this system has no Debian packages, which this program would install" \
    "install what corresponds to: $*; then configure with 'cmake --preset dev'"
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  local command="${as_root[*]:+${as_root[*]} }apt-get install --no-install-recommends ${missing[*]}"
  [ "$may_install" = yes ] || die "missing packages: ${missing[*]}" "$command"
  if [ ${#as_root[@]} -gt 0 ] && ! command -v sudo >/dev/null; then
    die "missing packages: ${missing[*]} (and neither root nor sudo to install them)" "as root: ${command#sudo }"
  fi
  say "Installing packages that building and testing need: ${missing[*]}"
  [ ${#as_root[@]} -eq 0 ] || echo "(with sudo, since packages belong to the system)"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -q update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -q install -y \
    --no-install-recommends "${missing[@]}"
}

# configure_and_build PRESET FOLDER [TARGET...]: with ccache where it is installed.
configure_and_build() {
  local preset=$1 folder=$2 launcher=() targets=()
  shift 2
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  [ $# -eq 0 ] || targets=(--target "$@")
  say "Configuring $folder"
  cmake -S "$repository" --preset "$preset" -B "$folder" "${launcher[@]}"
  say "Building $folder"
  cmake --build "$folder" "${targets[@]}"
}
