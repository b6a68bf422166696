# shellcheck shell=bash
# Common functions of the scripts: installing missing packages, and running commands, CMake presets and other scripts.

# ---- Packages ---------------------------------------------------------------------------------------

missing=()

# need PACKAGE PROBE [ARGUMENT...]: adds PACKAGE (its name in Debian and Ubuntu) to the missing ones if the command PROBE
# fails. A probe looks for a tool and not for the package, so that tools from other sources are accepted.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

has_command() { command -v "$1"; }

# has_cmake VERSION: succeeds if CMake is this version or newer.
has_cmake() {
    local version
    version=$(cmake --version | sed -n '1s/^cmake version //p')
    [[ $(printf '%s\n' "$1" "$version" | sort -V | head -n 1) == "$1" ]]
}

# builds COMPILER [OPTION...]: succeeds if an empty program can be built.
builds() { echo 'int main(void) { return 0; }' | "$@" -x c - -o /dev/null; }

# provide FUNCTION: calls FUNCTION, which calls `need` for each tool of a script, and installs the missing packages.
provide() {
    missing=()
    "$1"
    [[ ${#missing[@]} -gt 0 ]] || return 0
    if ! command -v apt-get >/dev/null; then
        printf 'Missing here, by their names in Debian and Ubuntu: %s\n' "${missing[*]}" >&2
        echo 'Please install them and run this again.' >&2
        exit 1
    fi
    echo "Installing: ${missing[*]}"
    quietly install_packages "${missing[@]}"
    missing=()
    "$1"
    if [[ ${#missing[@]} -gt 0 ]]; then
        echo "Still missing or too old after installing: ${missing[*]} (CMake 3.25 for presets, else 3.18)" >&2
        exit 1
    fi
}

install_packages() {
    local root=()
    if [[ $(id -u) -ne 0 ]]; then
        command -v sudo >/dev/null || { echo 'Run this as root, or install sudo.' && return 1; }
        root=(sudo)
    fi
    "${root[@]}" apt-get update
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# ---- Commands ---------------------------------------------------------------------------------------

# quietly COMMAND...: runs the command and shows its output only if it fails.
quietly() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    [[ $status -eq 0 ]] || cat "$log" >&2
    rm -f "$log"
    return "$status"
}

# ---- Presets ----------------------------------------------------------------------------------------

# The tools that build and run the tests.
build_needs() {
    need gcc has_command gcc
    need libc6-dev builds gcc
    need cmake has_cmake 3.25
    need ninja-build has_command ninja
    need python3 has_command python3
    need libsqlite3-dev builds gcc -include sqlite3.h
}

sanitizer_needs() {
    need clang has_command clang
    # Debian packages the libraries of the sanitizers separately.
    need libclang-rt-dev builds clang -fsanitize=address,undefined
    need libclang-rt-dev builds clang -fsanitize=thread
}

fuzz_needs() {
    need cmake has_cmake 3.25
    need ninja-build has_command ninja
    need python3 has_command python3
    need clang has_command clang
    need libc6-dev builds clang
    need libclang-rt-dev builds clang -fsanitize=address,undefined
    need afl++ has_command afl-fuzz
    need zip has_command zip
}

# Ends the script on other processors than x86-64, because the tests of object files read only those of x86.
require_x86_64() {
    [[ $(uname -m) == x86_64 ]] || {
        echo "$0 needs an x86-64 machine; name presets to run those that do not." >&2
        exit 1
    }
}

# with_few_random_bits COMMAND...: runs the command. If the kernel randomises more than 28 bits of addresses, it runs
# without address randomisation, because AddressSanitizer of clang 14 and older would fail at random.
with_few_random_bits() {
    local bits
    bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)
    if [[ $bits -gt 28 ]] && setarch "$(uname -m)" -R true 2>/dev/null; then
        setarch "$(uname -m)" -R "$@"
    else
        "$@"
    fi
}

# run_presets PRESET...: runs all these workflow presets, even if one fails. The last line names those that passed or
# failed, and the tests that were skipped because something is missing here.
run_presets() {
    local preset log failed=() skipped=()
    export CTEST_PARALLEL_LEVEL="${CTEST_PARALLEL_LEVEL:-$(nproc)}"
    log=$(mktemp)
    for preset in "$@"; do
        printf '==== %s\n' "$preset"
        with_few_random_bits cmake --workflow --preset "$preset" 2>&1 | tee "$log" || failed+=("$preset")
        mapfile -t -O "${#skipped[@]}" skipped < <(sed -n "s/^.*- \\([^ ]*\\) (Skipped)\$/$preset:\\1/p" "$log")
    done
    rm -f "$log"
    local note="; nothing was skipped"
    [[ ${#skipped[@]} -eq 0 ]] || note="; skipped: ${skipped[*]}"
    if [[ ${#failed[@]} -gt 0 ]]; then
        echo "FAILED: ${failed[*]}$note"
        return 1
    fi
    echo "PASSED: $*$note"
}

# ---- Scripts ----------------------------------------------------------------------------------------

# Without these variables, captured data and documented samples in a folder next to the checkout are used.
use_captured_data() {
    if [[ -z ${PERFBLOCK_REAL_DATA:-} && -d $PWD/../shared/real ]]; then
        export PERFBLOCK_REAL_DATA="$PWD/../shared/real"
    fi
    if [[ -z ${PERFBLOCK_SAMPLES:-} && -d $PWD/../shared/samples ]]; then
        export PERFBLOCK_SAMPLES="$PWD/../shared/samples"
    fi
}

# run_scripts TITLE SCRIPT...: runs all these scripts, each named with its arguments, even if one fails. The last line has
# the title, the scripts that passed or failed, and the time that each took.
run_scripts() {
    local title=$1 script command start summary failed=() times=()
    shift
    use_captured_data
    for script in "$@"; do
        printf '######## scripts/%s\n' "$script"
        start=$SECONDS
        read -ra command <<<"scripts/$script"
        "${command[@]}" || failed+=("$script")
        times+=("$script $((SECONDS - start)) s")
    done
    printf -v summary '%s, ' "${times[@]}"
    if [[ ${#failed[@]} -gt 0 ]]; then
        printf -v script '%s, ' "${failed[@]}"
        echo "$title FAILED: ${script%, } (${summary%, })"
        return 1
    fi
    echo "$title PASSED: ${summary%, }"
}
