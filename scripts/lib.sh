# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Functions of the other scripts: installing dependencies (Debian packages, NVIDIA's
# headers), configuring and building a preset. Sourced, not executed.
#
# Dependencies are tested by use (does the tool run, does pkg-config find the library?),
# not by package name. A second run therefore installs nothing, and libraries from other
# sources are accepted. All other output is written under build/.

VS_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VS_JOBS=${VS_JOBS:-$(nproc 2>/dev/null || echo 2)}
VS_TEST_JOBS=${VS_TEST_JOBS:-$((VS_JOBS * 3))} # tests often wait, for a process or for a kernel
VS_INSTALL=${VS_INSTALL:-yes} # "no": list missing packages instead of installing them
VS_CMAKE_ARGS=()              # set by vs_setup: location of the CUDA headers
VS_TARGETS=()                 # targets of vs_build; empty: all

# NVIDIA's header packages, used only if no CUDA headers are installed. All must be of one
# release of CUDA.
VS_CUDA_WHEELS=(nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88
                nvidia-cuda-cupti==13.0.85 nvidia-nvtx==13.0.85
                nvidia-cuda-profiler-api==13.0.85)
VS_CUDA_HEADERS_DIR=$VS_ROOT/build/cuda-headers

vs_say() { printf '%s\n' "==> $*"; }

vs_die() {
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    shift
    [ $# -eq 0 ] || printf '    %s\n' "$@" >&2
    exit 1
}

# --- Debian packages ---------------------------------------------------------

# vs_missing: prints the Debian packages of missing dependencies.
vs_missing() {
    local cc=${CC:-cc} module
    command -v "$cc" >/dev/null || echo gcc
    echo '#include <stdio.h>' | "$cc" -E -x c - >/dev/null 2>&1 || echo libc6-dev
    if ! cmake --version >/dev/null 2>&1; then echo cmake; fi
    if ! command -v ninja >/dev/null; then echo ninja-build; fi
    if ! command -v python3 >/dev/null; then echo python3; fi
    if ! command -v pkg-config >/dev/null; then echo pkg-config; fi
    # for the tests of docs/schema, which are skipped without; of use to Debian's python3 only
    if [ "$(command -v python3)" = /usr/bin/python3 ] && ! python3 -c 'import jsonschema' 2>/dev/null
    then echo python3-jsonschema; fi
    for module in libzstd:libzstd-dev libxxhash:libxxhash-dev libunwind:libunwind-dev \
        libdw:libdw-dev libelf:libelf-dev json-c:libjson-c-dev zlib:zlib1g-dev \
        sqlite3:libsqlite3-dev libmicrohttpd:libmicrohttpd-dev cmocka:libcmocka-dev \
        ncursesw:libncurses-dev tomlplusplus:libtomlplusplus-dev; do
        pkg-config --exists "${module%%:*}" 2>/dev/null || echo "${module##*:}"
    done
    command -v tmux >/dev/null || echo tmux # the tests of vramscope top
    # libiberty has no pkg-config file, and no shared library
    if ! printf 'int rust_demangle(); int main() { return rust_demangle(); }' |
        "$cc" -o /dev/null -x c - -liberty 2>/dev/null; then echo libiberty-dev; fi
    # toml++ and nvcc compile C++
    if ! command -v "${CXX:-c++}" >/dev/null; then echo g++; fi
    if ! vs_have_cuda_headers && ! vs_have_fetched_headers; then
        python3 -m pip --version >/dev/null 2>&1 || echo python3-pip
        [ -e /etc/ssl/certs/ca-certificates.crt ] || echo ca-certificates
    fi
}

# vs_apt_install PACKAGE...: installs as root or through sudo, after a message.
vs_apt_install() {
    local as_root=()
    command -v apt-get >/dev/null ||
        vs_die "these packages are missing, and there is no apt-get to install them:" "$*" \
            "The names are Debian's; install the equivalent packages and run the script again."
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            vs_die "these packages are missing, and installing them needs root or sudo:" "$*" \
                "As root: apt-get install --no-install-recommends $*"
        as_root=(sudo)
    fi
    vs_say "installing with ${as_root[*]:+sudo }apt-get: $*"
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
    # one failing repository may not matter; a missing package is an error below
    "${as_root[@]}" update || vs_say "apt-get update had errors; continuing"
    "${as_root[@]}" install --yes --no-install-recommends "$@" >/dev/null ||
        vs_die "apt-get could not install: $*" "See the message of apt-get above."
}

# vs_packages: installs missing packages, in two passes, because libraries can be tested
# only after pkg-config is installed.
vs_packages() {
    local missing
    mapfile -t missing < <(vs_missing | sort -u)
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$VS_INSTALL" = yes ] ||
        vs_die "these packages are missing, and --no-install was given:" "${missing[*]}"
    vs_apt_install "${missing[@]}"
    mapfile -t missing < <(vs_missing | sort -u)
    [ ${#missing[@]} -eq 0 ] ||
        vs_die "still missing after apt-get: ${missing[*]}" \
            "CC, PKG_CONFIG_PATH or PATH may refer to another installation."
}

# vs_mimalloc: installs the lower bound of the allocator's benchmark, which is optional.
vs_mimalloc() {
    local name
    for name in libmimalloc.so.3 libmimalloc.so.2 libmimalloc.so; do
        if python3 -c "import ctypes; ctypes.CDLL('$name')" 2>/dev/null; then return 0; fi
    done
    if [ "$VS_INSTALL" = yes ] && command -v apt-get >/dev/null; then
        (vs_apt_install libmimalloc2.0) || vs_say "continuing without mimalloc"
    fi
}

# vs_browser: installs what the tests of the HTML page need: Chromium, and Playwright in
# build/browser. They are skipped without it.
vs_browser() {
    [ "$VS_INSTALL" = yes ] || return 0
    if ! command -v "${VS_CHROMIUM:-chromium}" >/dev/null && command -v apt-get >/dev/null; then
        (vs_apt_install chromium) || vs_say "continuing without Chromium"
    fi
    command -v "${VS_CHROMIUM:-chromium}" >/dev/null || return 0
    if ! python3 -c 'import ensurepip' 2>/dev/null && command -v apt-get >/dev/null; then
        (vs_apt_install python3-venv) || true
    fi
    python3 "$VS_ROOT/tests/page/browser.py" fetch ||
        vs_say "Playwright could not be installed; the tests of the HTML page are skipped"
}

# vs_pprof: puts pprof into build/pprof, for the test of exported profiles. Debian has it as a part of
# the Go compiler (450 MB with its sources); only this program is taken out of the package.
vs_pprof() {
    local dir=$VS_ROOT/build/pprof package
    [ "$VS_INSTALL" = yes ] && ! [ -x "$dir/pprof" ] || return 0
    ! command -v pprof >/dev/null && ! command -v go >/dev/null || return 0
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 0
    # a machine that has all other packages may have no lists of packages
    apt-cache show golang-go >/dev/null 2>&1 || [ "$(id -u)" -ne 0 ] || apt-get -qq update || true
    package=$(apt-cache depends golang-go 2>/dev/null | sed -n 's/^ *Depends: \(golang-[0-9.]*-go\)$/\1/p')
    vs_say "taking pprof out of Debian's package ${package:-golang-go}"
    rm -rf "$dir" && mkdir -p "$dir"
    if [ -n "$package" ] && (cd "$dir" && apt-get -qq download "$package") >/dev/null 2>&1 &&
        dpkg-deb --fsys-tarfile "$dir"/golang-*.deb |
            tar -x -C "$dir" --wildcards --transform 's,.*/,,' './usr/lib/go-*/pkg/tool/*/pprof' &&
        "$dir/pprof" -h >/dev/null 2>&1; then
        rm "$dir"/golang-*.deb
    else
        rm -rf "$dir"
        vs_say "pprof is not available; the test that opens profiles with it is skipped"
    fi
}

# vs_parsers: installs the parsers by which the formats of vramscope check are tested, in
# build/parsers, and DuckDB, in build/duckdb. These tests are skipped without them.
vs_parsers() {
    [ "$VS_INSTALL" = yes ] || return 0
    python3 "$VS_ROOT/tests/check/format_parsers.py" fetch ||
        vs_say "the parsers or DuckDB could not be installed; tests of formats and tables are skipped"
    python3 "$VS_ROOT/tests/exports/read_ui.py" fetch ||
        vs_say "Perfetto's UI could not be installed; the test that opens timelines in it is skipped"
}

# vs_pytest: installs pytest and pytest-xdist, for the tests of the pytest plugin, in build/pytest.
# These tests are skipped without them.
vs_pytest() {
    [ "$VS_INSTALL" = yes ] || return 0
    python3 "$VS_ROOT/tests/plugin/pytest_environment.py" fetch ||
        vs_say "pytest could not be installed; the tests of the pytest plugin are skipped"
}

# vs_package_tools: installs pandas and HolisticTraceAnalysis, for the tests of tables of allocations and of timelines,
# in build/pandas, and mypy, for that of types, in build/types. The tests are skipped without them.
vs_package_tools() {
    [ "$VS_INSTALL" = yes ] || return 0
    python3 "$VS_ROOT/tests/package/pandas_environment.py" fetch ||
        vs_say "pandas could not be installed; the tests of tables of allocations and of HolisticTraceAnalysis are skipped"
    python3 "$VS_ROOT/tests/package/type_checker.py" fetch ||
        vs_say "mypy could not be installed; the test of the package's types is skipped"
}

# vs_test_programs: installs what some tests need and are skipped without.
vs_test_programs() {
    vs_browser
    vs_parsers
    vs_pytest
    vs_package_tools
    vs_pprof
}

# --- CUDA headers ------------------------------------------------------------

# vs_headers_in DIR...: true if the directories together contain all headers that the
# build needs.
vs_headers_in() {
    local header dir found
    for header in cuda_runtime_api.h cupti.h nvtx3/nvToolsExt.h crt/host_defines.h cudaProfiler.h; do
        found=
        for dir in "$@"; do
            if [ -e "$dir/$header" ]; then found=1 && break; fi
        done
        [ -n "$found" ] || return 1
    done
}

# vs_have_cuda_headers: true if there is a toolkit, or NVIDIA's wheels in Python's path;
# the same places as in cmake/VsCuda.cmake.
vs_have_cuda_headers() {
    local root nvcc dirs=()
    nvcc=$(command -v nvcc 2>/dev/null) && nvcc=$(readlink -f "$nvcc")
    for root in "${CUDA_PATH:-}" "${nvcc:+${nvcc%/*}/..}" /usr/local/cuda /usr/local/cuda-*; do
        [ -z "$root" ] ||
            dirs+=("$root/include" "$root/extras/CUPTI/include" "$root"/targets/*/include)
    done
    if command -v python3 >/dev/null; then
        while IFS= read -r root; do dirs+=("$root"); done < <(python3 -c '
import glob, os, sys
for p in sys.path:
    print(*glob.glob(os.path.join(p or ".", "nvidia", "*", "include")), sep="\n")')
    fi
    vs_headers_in "${dirs[@]}" /usr/include
}

vs_have_fetched_headers() { vs_headers_in "$VS_CUDA_HEADERS_DIR/nvidia/cu13/include"; }

# vs_fetch_cuda_headers: extracts the header files and their licence from NVIDIA's wheels.
# The result is complete or absent.
vs_fetch_cuda_headers() {
    local work=$VS_CUDA_HEADERS_DIR.part
    vs_say "no CUDA headers found; downloading NVIDIA's (13 MB) with pip to build/cuda-headers:"
    vs_say "    ${VS_CUDA_WHEELS[*]}"
    rm -rf "$work" "$VS_CUDA_HEADERS_DIR"
    mkdir -p "$work"
    if python3 -m pip download --quiet --disable-pip-version-check --retries 2 --no-deps \
        --only-binary=:all: --dest "$work/wheels" "${VS_CUDA_WHEELS[@]}" &&
        python3 - "$work" <<'PYTHON' && vs_headers_in "$work/nvidia/cu13/include"; then
import glob, sys, zipfile
for wheel in glob.glob(sys.argv[1] + "/wheels/*.whl"):
    with zipfile.ZipFile(wheel) as z:
        for name in z.namelist():
            if "/include/" in name or "licen" in name.lower():
                z.extract(name, sys.argv[1])
PYTHON
        rm -rf "$work/wheels"
        mv "$work" "$VS_CUDA_HEADERS_DIR"
        return 0
    fi
    rm -rf "$work"
    return 1
}

# vs_cuda: sets VS_CMAKE_ARGS so that cmake finds the headers.
vs_cuda() {
    VS_CMAKE_ARGS=()
    if vs_have_cuda_headers; then return 0; fi
    if ! vs_have_fetched_headers; then
        if [ "$VS_INSTALL" != yes ] || ! vs_fetch_cuda_headers; then
            vs_say "continuing without CUDA headers: only the verbs that read traces are built;" \
                "recording (run), the simulated GPU and the examples are not"
            return 0
        fi
    fi
    # An nvcc with incomplete headers must not be combined with another release's headers.
    VS_CMAKE_ARGS=("-DCUDA_PATH=$VS_CUDA_HEADERS_DIR/nvidia/cu13" -DVRAMSCOPE_NVCC=OFF)
}

# --- entry points ------------------------------------------------------------

# vs_setup: installs everything that a build needs. Silent if nothing is missing.
vs_setup() {
    vs_packages
    vs_cuda
}

# vs_build PRESET [CMAKE-ARG...]: configures and builds build/PRESET. The output of the
# configuration is shown only if it fails.
vs_build() {
    local preset=$1 log cache
    shift
    log=$VS_ROOT/build/configure-$preset.log
    cache=$VS_ROOT/build/$preset/CMakeCache.txt
    mkdir -p "$VS_ROOT/build"
    # a toolkit has been installed since: do not use the downloaded headers
    if [ ${#VS_CMAKE_ARGS[@]} -eq 0 ] && grep -qs "=$VS_CUDA_HEADERS_DIR" "$cache"; then
        rm -f "$cache"
    fi
    vs_say "configuring and building build/$preset"
    (cd "$VS_ROOT" && cmake --preset "$preset" "${VS_CMAKE_ARGS[@]}" "$@") >"$log" 2>&1 ||
        { cat "$log" >&2 && vs_die "cmake could not configure the preset $preset (log: $log)"; }
    grep '^-- CUDA headers' "$log" || true
    cmake --build "$VS_ROOT/build/$preset" --parallel "$VS_JOBS" \
        ${VS_TARGETS[@]:+--target "${VS_TARGETS[@]}"} ||
        vs_die "the build in build/$preset failed; see the compiler's message above"
}

# vs_gpu_usable: true if the CUDA driver is installed and finds a device. The driver itself
# is queried, because in a container a device node may exist without a usable device.
vs_gpu_usable() {
    python3 - 2>/dev/null <<'PYTHON'
import ctypes, sys
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError:
    sys.exit(1)
count = ctypes.c_int(0)
ok = cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
sys.exit(0 if ok else 1)
PYTHON
}

# vs_reproducible: the same sources give the same bytes, wherever, whenever and by whomever they are built.
vs_reproducible() {
    umask 022
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$VS_ROOT" log -1 --format=%ct 2>/dev/null || echo 1577836800)}
    export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
    local language
    VS_CMAKE_ARGS+=(-DCMAKE_BUILD_RPATH_USE_ORIGIN=ON) # the length of another path stays in an installed program
    for language in C CXX ASM; do VS_CMAKE_ARGS+=("-DCMAKE_${language}_FLAGS=-ffile-prefix-map=$VS_ROOT=."); done
}
