# shellcheck shell=bash
# The common part of scripts/tune and scripts/test: installing packages, keeping .venv, building.
# Sourced, never run. Everything it says goes to stderr, so that stdout stays the tool's own.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
venv=$root/.venv
log=$build/setup.log
# The optional packages we once went on without: not asked for again while this build folder lives.
going_without=$build/.going-without

watcher='' # the process that shows the progress of a step, where there is one

# cmake and make may turn Ctrl-C into an exit code of their own; the contract says 130. A second one
# changes nothing: bash 5.2 dies of SIGSEGV now and then when its own handler is interrupted.
trap 'trap "" INT; end_progress; printf "\n" >&2; exit 130' INT

say() { printf '%s\n' "$*" >&2; }

# die STATUS MESSAGE...: the one line of an error, under the name of the script that was called.
die() {
    local status=$1
    shift
    say "scripts/${0##*/}: $*"
    exit "$status"
}

# Daemons lie in /usr/sbin, which is not on everybody's PATH.
have() { PATH=$PATH:/usr/sbin command -v -- "$1" >/dev/null; }

# step TITLE COMMAND...: runs the command with its output in the log and one line on the terminal,
# which moves while it runs. Returns the command's status; if that is not 0, it shows the end of the
# output first.
step() {
    local title=$1 started=$SECONDS status=0 before
    shift
    before=$(wc -l <"$log")
    printf '%s ... ' "$title" >&2
    if [[ -t 2 ]]; then
        # The command stays in the foreground: programs in the background ignore Ctrl-C.
        show_progress "$title" "$before" &
        watcher=$!
    fi
    "$@" >>"$log" 2>&1 </dev/null || status=$?
    if [[ -n $watcher ]]; then
        end_progress
        printf '\r\033[K%s ... ' "$title" >&2
    fi
    if ((status == 0)); then
        say "$((SECONDS - started)) s"
    else
        say "failed"
        # Git says it in a page, once for each repository that the build has fetched. No grep -q: it
        # stops early, and tail then fails of SIGPIPE.
        ! tail -n "+$((before + 1))" "$log" | grep 'detected dubious ownership' >/dev/null ||
            die 1 "git trusts no repository of another user, and $root belongs to" \
                "$(stat -c %U -- "$root"): run this as that user, or in a checkout of your own"
        tail -n "+$((before + 1))" "$log" | tail -n 40 | sed 's/^/    /' >&2
        say "    (all of it: $log)"
    fi
    return "$status"
}

# show_progress TITLE LINES: rewrites the step's line twice a second until it is killed, or until
# the script has ended. LINES: how many the log had before the step.
show_progress() {
    local started=$SECONDS width line
    width=$(stty size <&2 2>/dev/null) || width='24 80'
    width=${width#* }
    ((width > 0)) || width=80 # some terminals do not know theirs
    while kill -0 $$ 2>/dev/null; do
        line="$1 ... $(tail -n "+$(($2 + 1))" "$log" | progress_of $((SECONDS - started)))"
        # A line that wraps could not be rewritten.
        printf '\r\033[K%s' "${line:0:width - 1}" >&2
        sleep 0.5
    done
}

end_progress() {
    [[ -n $watcher ]] || return 0
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    watcher=''
}

# progress_of SECONDS: how far the build is whose output is read, SECONDS after it began:
# "[123/260], about 40 s left" of ninja's, "[ 45%], ..." of make's; else "SECONDS s".
progress_of() {
    local done_ all last
    last=$(grep -oE '^\[ *([0-9]+/[0-9]+|[0-9]+%)\]' | tail -n 1) || true
    if [[ $last =~ ([0-9]+)(/([0-9]+)|%) ]]; then
        done_=${BASH_REMATCH[1]} all=${BASH_REMATCH[3]:-100}
    fi
    if [[ -z $last ]]; then
        printf '%d s' "$1"
    elif (($1 < 2 || 20 * done_ < all)); then # too early to tell
        printf '%s' "$last"
    else
        printf '%s, about %d s left' "$last" $(($1 * (all - done_) / done_))
    fi
}

# --- System packages ---

# A header of a library, wherever the compiler would find it without help.
have_header() { [[ -e /usr/include/$1 || -e /usr/local/include/$1 ]]; }

# find_python MODULES [FIRST...]: prints the name of a Python that has these modules. The FIRST ones
# go before PATH (pyenv and the like are welcome), which goes before the one that apt repairs.
find_python() {
    local modules=$1 python
    shift
    for python in "$@" python3 /usr/bin/python3 python3.{14,13,12,11,10,9}; do
        if is_python "$python" "$modules"; then
            printf '%s\n' "$python"
            return
        fi
    done
    return 1
}

# -I, here and below: a json.py in the current folder is somebody else's.
is_python() { "$1" -I -c "import sys, $2; sys.exit(sys.version_info < (3, 9))" >/dev/null 2>&1; }

# One that can make .venv. Debian ships venv without ensurepip, and then fails only halfway through.
find_venv_python() { find_python "ensurepip, venv"; }

venv_works() { is_python "$venv/bin/python" pip; }

# Packages without which the build cannot start, one a line.
missing_packages() {
    local cxx=${CXX:-c++} cc=${CC:-cc}
    have cmake || printf 'cmake\n'
    # Only the first word: CXX="ccache g++" is a habit of many.
    have "${cxx%% *}" && have "${cc%% *}" || printf 'g++\n'
    have ninja || have make || printf 'ninja-build\n'
    venv_works || find_venv_python >/dev/null || printf 'python3\npython3-venv\n'
}

# Packages that are better had but not needed, one a line: CMake fetches an absent library from its
# project, and a test whose tool is absent is skipped and says so.
wanted_packages() {
    have_header nlohmann/json.hpp || printf 'nlohmann-json3-dev\n'
    have_header CLI/CLI.hpp || printf 'libcli11-dev\n'
    [[ $1 == test ]] || return 0
    have_header gtest/gtest.h || printf 'libgtest-dev\n'
    # The runtimes of clang's sanitizers and profiles, which Debian's clang only recommends.
    compgen -G "$(clang -print-runtime-dir 2>/dev/null)/libclang_rt.profile*" >/dev/null ||
        printf 'libclang-rt-dev\n'
    # PROGRAM:PACKAGE. Meson and pkg-config are builds of others, in which the examples are tried.
    # Slurm's programs are a cluster of our own for the job files of scripts/fleet, 3.5 MB to fetch.
    local pair pairs=(objdump:binutils clang:clang qemu-x86_64:qemu-user valgrind:valgrind
        meson:meson pkg-config:pkg-config musl-gcc:musl-tools slurmctld:slurmctld slurmd:slurmd
        munged:munge sbatch:slurm-client shellcheck:shellcheck)
    # AArch64's compilers, for other machines: their programs run in qemu there.
    [[ $(uname -m) == aarch64 ]] || pairs+=(aarch64-linux-gnu-{gcc:gcc,g++:g++}-aarch64-linux-gnu)
    for pair in "${pairs[@]}"; do
        have "${pair%%:*}" || printf '%s\n' "${pair#*:}"
    done
}

# Whether apt_get may work. Asks for the password here, where a person can see why.
become_root() {
    ((EUID == 0)) && return
    have sudo || return
    sudo -n true 2>/dev/null && return
    [[ -t 0 ]] || return
    say "installing packages needs your password: $*"
    sudo -v
}

# A machine that has just booted may be updating itself: wait for its lock instead of failing.
apt_get() {
    local sudo=()
    ((EUID == 0)) || sudo=(sudo)
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

apt_install() { apt_get install -y --no-install-recommends "$@"; }

# Optional packages that are absent and have not been given up yet, one a line.
open_wishes() { wanted_packages "$1" | grep -vxFf <(cat -- "$going_without" 2>/dev/null) || true; }

# all_missing tune|test: the packages that install_packages would install, one a line.
all_missing() { missing_packages; open_wishes "$1"; }

give_up() {
    printf '%s\n' "$@" >>"$going_without"
    say "going on without $*"
}

# install_packages tune|test: installs missing packages; nothing happens when all are there.
install_packages() {
    local required wanted available=() package updated=true
    mapfile -t required < <(missing_packages)
    mapfile -t wanted < <(open_wishes "$1")
    ((${#required[@]} + ${#wanted[@]})) || return 0

    local missing=("${required[@]}" "${wanted[@]}") remedy=''
    if ! have apt-get; then
        remedy="missing: ${required[*]} (Debian's names); install them, then run this again"
    elif ! become_root "${missing[*]}"; then
        remedy="packages are missing; install them, then run this again: "
        remedy+="sudo apt-get install -y --no-install-recommends ${missing[*]}"
    fi
    if [[ -n $remedy ]]; then
        ((${#required[@]} == 0)) || die 1 "$remedy"
        give_up "${wanted[@]}"
        return
    fi

    # One broken third-party source fails the update, yet the packages may well be there.
    step "updating the package lists" apt_get update || updated=false
    if ((${#required[@]})); then
        step "installing ${required[*]}" apt_install "${required[@]}" ||
            die 1 "apt-get could not install ${required[*]}"
    fi
    # Apart from the required ones: nothing here may keep those from being installed.
    for package in "${wanted[@]}"; do
        if apt-cache show "$package" >/dev/null 2>&1; then available+=("$package"); fi
    done
    if ((${#available[@]})); then
        step "installing ${available[*]}" apt_install "${available[@]}" || true
    fi
    mapfile -t wanted < <(open_wishes "$1")
    ((${#wanted[@]})) || return 0
    # Without fresh lists the package may be there next time.
    if $updated; then give_up "${wanted[@]}"; else say "going on without ${wanted[*]}"; fi
}

# --- Python ---

pip_install() {
    # No cache: nothing is written outside the checkout.
    "$venv/bin/python" -I -m pip install --quiet --no-cache-dir --disable-pip-version-check "$@"
}

# install_python tune|test: .venv with the requirements, touched only when these have changed.
install_python() {
    local python wanted stamp=$venv/.installed-for-$1 list=()
    if ! venv_works; then
        python=$(find_venv_python) ||
            die 1 "needs Python 3.9 or newer with venv; found only $(python3 --version 2>&1)"
        step "making .venv" "$python" -I -m venv --clear "$venv" || die 1 "$python could not make .venv"
    fi
    wanted=$("$venv/bin/python" -B "$root/scripts/asterope/tune_script/requirements.py" "$1") ||
        die 1 "cannot read the requirements in pyproject.toml"
    if [[ -e $stamp && $(<"$stamp") == "$wanted" ]]; then return; fi
    mapfile -t list <<<"$wanted"
    step "installing Python packages" pip_install "${list[@]}" ||
        die 1 "pip could not install the requirements in pyproject.toml"
    printf '%s\n' "$wanted" >"$stamp"
}

# --- Build ---

# configure [CMAKE-OPTION...]
configure() {
    local generator=()
    # A build folder that came along with a moved or copied checkout refuses to be used.
    if [[ -e $build/CMakeCache.txt ]] &&
        ! grep -qxF -- "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
        rm -rf -- "$build/CMakeCache.txt" "$build/CMakeFiles"
    fi
    if [[ ! -e $build/CMakeCache.txt && -z ${CMAKE_GENERATOR:-} ]] && have ninja; then
        generator=(-G Ninja)
    fi
    cmake -S "$root" -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release \
        -DPython3_EXECUTABLE="$venv/bin/python" "$@"
}

# build_targets TARGET... The number matters: a bare --parallel lets make start everything at once.
build_targets() {
    cmake --build "$build" --parallel "$(nproc)" --target "$@"
}

# The same as steps, whose failure ends the script: configure_step [CMAKE-OPTION...], build_step TITLE
# TARGET...
configure_step() {
    step "configuring" configure "$@" || die 1 "cmake could not configure the build"
}

build_step() { step "$1" build_targets "${@:2}" || die 1 "the build failed"; }

# routine_step ROUTINE FOLDER: compiles the C file into libasterope_memcpy.so there.
routine_step() {
    step "compiling the routine" build_routine "$@" || die 1 "$1 could not be compiled"
}

build_routine() {
    configure -DASTEROPE_ROUTINE="$1" -DASTEROPE_ROUTINE_FOLDER="$2" && build_targets asterope_memcpy
}

# Ends the script where something that it must write is somebody else's: a checkout of another user,
# or files that root once built in this one. Without this, each tool would complain in its own way.
require_writable_checkout() {
    local path foreign='' remedy=''
    for path in "$build" "$venv" "$root/generated"; do
        [[ -e $path ]] || path=$root
        [[ -n $foreign ]] || { [[ -w $path && -x $path ]] || foreign=$path; }
    done
    # Fetched repositories have read-only files of our own. `sudo cmake --install` leaves root's, which
    # no build writes.
    [[ -n $foreign ]] || foreign=$(find "$build" "$venv" "$root/generated" \
        \( -path "$build/install_manifest.txt" -o -path "$build/systemd" \) -prune -o \
        ! -user "$(id -u)" ! -type l ! -writable -print -quit 2>/dev/null) || true
    [[ -n $foreign ]] || return 0
    [[ ! -O $foreign ]] ||
        die 2 "$foreign cannot be written, though it is yours (a read-only file system?):" \
            "run this in a checkout that can be written"
    [[ ! -O $root ]] ||
        remedy=", or give it back: cd ${root@Q} && sudo chown -R $(id -un) build .venv generated"
    die 2 "$foreign cannot be written, it belongs to $(stat -c %U -- "$foreign"):" \
        "run this as that user, or in a checkout of your own$remedy"
}

# set_up tune|test: all that comes before the first build.
set_up() {
    mkdir -p -- "$build"
    : >"$log"
    install_packages "$1"
    local name
    for name in CXX CC; do # g++ is installed by now, which is no help for another one
        [[ -z ${!name:-} ]] || have "${!name%% *}" ||
            die 2 "$name names ${!name%% *}: there is no such compiler"
    done
    install_python "$1"
}
