#!/usr/bin/env bash
# Finds the program for the action: the one that is given, a release whose hash this commit knows, or a build of this
# commit's own source. Bash 3.2, curl, tar and a tool for SHA-256 are all that it needs; a build needs cargo.
#
#   install.sh resolve   where it comes from: outputs source, dir and key
#   install.sh get       puts it there: outputs path, version and built
#   install.sh digest    prints the digest of the source
#   install.sh manifest VERSION REPOSITORY FOLDER   prints release.json for the archives in a folder
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname -- "$here")
manifest=$here/release.json

# Only fixed text is ever shown: nothing that was given can be a command of the runner. To stderr, which the runner reads
# as well, so that a function whose output is taken can fail.
fail() {
  printf '::error title=checkfu::%s\n' "$1" >&2
  exit 1
}

notice() { printf '::notice title=checkfu::%s\n' "$1" >&2; }

# A path as every shell of the runner reads it; on Windows with a drive and forward slashes.
native() { if command -v cygpath >/dev/null; then cygpath -m -- "$1"; else printf '%s\n' "$1"; fi; }

output() { printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; }

sha256() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

sum_of() { sha256 <"$1" | cut -c 1-64; }

# What the program is built from. All files have the same line ends everywhere: see .gitattributes. A tool for SHA-256
# marks binary files in its own way on each system.
source_digest() (
  cd -- "$root"
  files=()
  while IFS= read -r file; do files+=("$file"); done < <(
    for file in Cargo.toml Cargo.lock rust-toolchain.toml build.rs src; do
      if [ -e "$file" ]; then find "$file" -type f; fi
    done | LC_ALL=C sort
  )
  if [ "${#files[@]}" -gt 0 ]; then sha256 -- "${files[@]}"; fi | sed 's/^\([0-9a-f]\{64\}\) [ *]/\1  /' | sha256 | cut -c 1-64
)

# A text of release.json. Its form is fixed: one `"key": "text"` a line, one target a line.
field() { sed -n "s/^  \"$1\": \"\([^\"]*\)\",\{0,1\}\$/\1/p" "$manifest" | head -n 1; }

# FILE HASH of a target; nothing where release.json has no such target.
row() {
  local line found
  line=$(grep -F "\"$1\":" "$manifest" | head -n 1) || return 0
  found=$(printf '%s\n' "$line" |
    sed -n 's/^ *"[a-z0-9_-]*": {"file": "\([A-Za-z0-9._-]*\)", "sha256": "\([0-9a-f]\{64\}\)"},\{0,1\}$/\1 \2/p')
  [ -n "$found" ] || fail "action/release.json has no SHA-256 for this system; nothing is downloaded without one"
  printf '%s\n' "$found"
}

# The target that runs on this runner: empty where there are no releases for it.
target() {
  case "${RUNNER_OS:-}-${RUNNER_ARCH:-}" in
    Linux-X64) echo x86_64-unknown-linux-musl ;;
    Linux-ARM64) echo aarch64-unknown-linux-musl ;;
    macOS-ARM64) echo aarch64-apple-darwin ;;
    macOS-X64) echo x86_64-apple-darwin ;;
    Windows-X64) echo x86_64-pc-windows-msvc ;;
  esac
}

is() { printf '%s\n' "$1" | grep -Eq "^($2)\$" && [ "$(printf '%s\n' "$1" | wc -l)" -eq 1 ]; }

inputs() {
  version=${CHECKFU_CI_VERSION:-} checksum=${CHECKFU_CI_CHECKSUM:-} given=${CHECKFU_CI_CHECKFU_PATH:-}
  verify=${CHECKFU_CI_VERIFY:-auto} cache=${CHECKFU_CI_CACHE:-true}
  case $verify in auto | checksum | attestation) ;; *) fail "verify is auto, checksum or attestation" ;; esac
  case $cache in true | false) ;; *) fail "cache is true or false" ;; esac
  [ -z "$version" ] || is "$version" '[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?' || fail "version is one version, such as 1.2.3"
  [ -z "$checksum" ] || is "$checksum" '[0-9a-f]{64}' || fail "checksum is 64 hexadecimal digits"
  [ -z "$checksum" ] || [ -n "$version" ] || fail "checksum belongs to version; give both"
}

# Which release: sets wanted, file, hash, repository. Fails where none can be trusted; 1 where none is for this commit.
release() {
  local on known='' of=''
  on=$(target) file='' hash='' repository='' wanted=$version
  if [ -f "$manifest" ]; then known=$(field version) repository=$(field repository); fi
  if [ -z "$wanted" ]; then
    # A commit between two releases is not the one that was released: it is built.
    if [ -z "$known" ] || [ -z "$on" ] || [ "$(field source)" != "$(source_digest)" ]; then return 1; fi
    of=$(row "$on") || exit 1
    if [ -z "$of" ]; then return 1; fi
    wanted=$known
  else
    [ -n "$on" ] || fail "there are no releases for this system; leave version empty to build from source, or give checkfu-path"
    if [ "$wanted" = "$known" ]; then of=$(row "$on") || exit 1; fi
    if [ -z "$of" ]; then
      [ -n "$checksum" ] || fail "the hash of this version is not known here; give checksum, or leave version empty"
      of="checkfu-$wanted-$on.tar.gz $checksum"
    fi
  fi
  file=${of% *} hash=${of#* }
  [ -z "$checksum" ] || [ "$checksum" = "$hash" ] || fail "checksum is not that of this version"
}

resolve() {
  inputs
  local temp=${RUNNER_TEMP:?} compiler key
  temp=$(native "$temp")
  if [ -n "$given" ]; then
    [ -f "$given" ] || fail "checkfu-path is no file"
    [ -x "$given" ] || fail "checkfu-path cannot be run; it is not executable"
    [ -z "$version" ] || fail "checkfu-path and version exclude each other"
    [ "$verify" != attestation ] || fail "verify: attestation is for releases, and checkfu-path is none"
    output source path
  elif release; then
    output source release
    output dir "$temp/checkfu-release/$wanted"
  else
    [ "$verify" != attestation ] || fail "this commit is no release, so nothing attests it; pin a release, or build with verify: auto"
    command -v cargo >/dev/null ||
      fail "this commit is no release, so it is built, and there is no cargo; install Rust before this step, or give checkfu-path"
    compiler=$(rustc -vV) || fail "rustc cannot be run; install Rust before this step, or give checkfu-path"
    key=$(printf '%s\n' "$(source_digest)" "$compiler" | sha256 | cut -c 1-32)
    key="checkfu-${RUNNER_OS:-}-${RUNNER_ARCH:-}-$key"
    output source build
    output dir "$temp/checkfu-build/$key"
    output key "$key"
  fi
}

fits() { [ -f "$1" ] && [ "$(sum_of "$1")" = "$hash" ]; }

# The archive in the runner's tool cache, from there or from the network. Sets `archive`. It is the archive that is kept,
# not the program: each use checks its hash again, so that whoever can write there cannot put another one in.
fetch() {
  local shelf place base scheme part
  shelf=${RUNNER_TOOL_CACHE:-$RUNNER_TEMP}
  if command -v cygpath >/dev/null; then shelf=$(cygpath -u -- "$shelf"); fi
  place=$shelf/checkfu/$wanted/$(target)
  archive=$place/$file
  if [ -f "$place.complete" ] && fits "$archive"; then return 0; fi
  base=${CHECKFU_RELEASES:-}
  if [ -z "$base" ]; then
    [ -n "$repository" ] || fail "this commit does not know where releases are; leave version empty, or set CHECKFU_RELEASES"
    base=$repository/releases/download
  fi
  # A mirror on the runner itself may do without TLS.
  case $base in
    https://*) scheme='=https' ;;
    http://127.0.0.1:* | http://localhost:* | "http://[::1]:"*) scheme='=http,https' ;;
    *) fail "releases come by https" ;;
  esac
  mkdir -p -- "$place" || fail "the runner's tool cache cannot be written to"
  part=$(mktemp "$place/part.XXXXXX")
  # shellcheck disable=SC2064 # the name as it is now
  trap "rm -f -- '$part'" EXIT
  curl --proto "$scheme" --proto-redir '=https' --tlsv1.2 --fail --silent --show-error --location --retry 5 \
    --connect-timeout 20 --max-time 600 --output "$part" "$base/v$wanted/$file" ||
    fail "the release cannot be downloaded; give checkfu-path where the runner has no network"
  fits "$part" || fail "the archive is not the one that this commit knows: its SHA-256 is another. Nothing of it was run"
  # Two jobs may do this at once: each has its own part, and both move the same bytes.
  mv -f -- "$part" "$archive"
  : >"$place.complete"
}

# Who built the archive, by GitHub's attestation. Its hash was checked already.
attested() {
  [ "$verify" != checksum ] || return 0
  local name=${repository#https://github.com/}
  if [ -n "${CHECKFU_GITHUB_TOKEN:-}" ] && command -v gh >/dev/null && gh attestation verify --help >/dev/null 2>&1 &&
    is "$name" '[A-Za-z0-9._-]+/[A-Za-z0-9._-]+'; then
    if GH_TOKEN=$CHECKFU_GITHUB_TOKEN gh attestation verify "$archive" --repo "$name" \
      --signer-workflow "$name/.github/workflows/release.yml" >/dev/null 2>&1; then
      return 0
    fi
    [ "$verify" = auto ] || fail "the attestation of the archive does not hold, or cannot be read. Nothing of it was run"
    notice "the attestation of the release could not be checked; its SHA-256 is the one that this commit knows"
  else
    [ "$verify" = auto ] || fail "verify: attestation needs gh 2.49 or newer, github-token, and a release of github.com"
  fi
}

# Moves a program to where it stays, once it says that it is the right one.
place() {
  local program=$1 to=$2 says
  says=$("$program" --version) || fail "the program cannot be run on this system"
  [ -z "${wanted:-}" ] || [ "$says" = "checkfu $wanted" ] || fail "the program is not the version that it should be"
  mkdir -p -- "$(dirname -- "$to")"
  mv -f -- "$program" "$to"
}

get() {
  inputs
  local dir=${CHECKFU_DIR:-} temp path name=checkfu built=false says wanted=''
  [ "${RUNNER_OS:-}" != Windows ] || name=checkfu.exe
  temp=$(mktemp -d "$(native "${RUNNER_TEMP:?}")/checkfu-get.XXXXXX")
  case ${CHECKFU_SOURCE:?} in
    path)
      path=$(cd -- "$(dirname -- "$given")" && pwd)/$(basename -- "$given")
      ;;
    release)
      release || fail "action/release.json changed while this ran"
      fetch
      attested
      # By a relative name: what stands before a colon would be a host for tar.
      cp -- "$archive" "$temp/archive.tar.gz"
      (cd -- "$temp" && tar -xzf archive.tar.gz "$name") || fail "the archive cannot be unpacked, or holds no checkfu"
      place "$temp/$name" "$dir/$name"
      path=$dir/$name
      ;;
    build)
      path=$dir/$name
      if ! { [ -x "$path" ] && "$path" --version >/dev/null 2>&1; }; then
        # In the action's own folder, so that no configuration of cargo in the user's repository has a say.
        (cd -- "$root" && CARGO_TARGET_DIR="$temp/target" cargo build --release --locked --quiet --bin checkfu) ||
          fail "the build failed; see the log above, or give checkfu-path"
        place "$temp/target/release/$name" "$path"
        built=true
      fi
      ;;
    *) fail "the step before this one did not say where the program comes from" ;;
  esac
  rm -rf -- "$temp"
  path=$(native "$path")
  says=$("$path" --version) || fail "the program cannot be run on this system"
  case $says in checkfu\ *) ;; *) fail "the program is not checkfu" ;; esac
  is "${says#checkfu }" '[0-9A-Za-z.+-]+' || fail "the program is not checkfu"
  if [ "${CHECKFU_CI_MODE:-}" = setup ]; then
    case ${path##*/} in checkfu | checkfu.exe) ;; *) fail "mode: setup needs a program whose file is named checkfu" ;; esac
    native "$(dirname -- "$path")" >>"$GITHUB_PATH"
  fi
  output path "$path"
  output version "${says#checkfu }"
  output built "$built"
}

print_manifest() {
  local wanted=$1 repository=$2 folder=$3 on archive comma=''
  printf '{\n  "version": "%s",\n  "repository": "%s",\n  "source": "%s",\n  "targets": {' "$wanted" "$repository" "$(source_digest)"
  for archive in "$folder/checkfu-$wanted-"*.tar.gz; do
    on=${archive##*/checkfu-"$wanted"-}
    printf '%s\n    "%s": {"file": "%s", "sha256": "%s"}' "$comma" "${on%.tar.gz}" "${archive##*/}" "$(sum_of "$archive")"
    comma=,
  done
  printf '\n  }\n}\n'
}

case ${1:-} in
  resolve) resolve ;;
  get) get ;;
  digest) source_digest ;;
  manifest) print_manifest "${2:?}" "${3:?}" "${4:?}" ;;
  *) fail "install.sh does resolve, get, digest and manifest" ;;
esac
