#!/usr/bin/env bash
# vmtouch reports pages as evicted that are all still in memory.
#
# Version: vmtouch 1.3.1-2 (Debian 12), Linux.
# Expected: https://manpages.debian.org/bookworm/vmtouch/vmtouch.8.en.html says that -e evicts the
#   pages and is the inverse of -t. It warns of pages that come back afterwards, not of pages that
#   stay. The report "Evicted Pages: 4096 (16M)" seems to count what was evicted.
# Seen: it counts the pages of the file. For a file in tmpfs, and for one on disk that a process has
#   mapped and touched, it says that 4,096 pages are evicted, and the next vmtouch says that 4,096
#   of 4,096 are resident. The exit code is 0. A benchmark of a cold cache that trusts it reads from
#   memory. Once the process has ended, the same command does its work.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq vmtouch=1.3.1-2 2>/dev/null &&
    dpkg -x ./*.deb root
) || { echo "cannot install the package" >&2; exit 2; }
if [[ $(stat -f -c %T "$work") == tmpfs ]]; then
    echo "the folder of temporary files is a tmpfs" >&2
    exit 2
fi
shared=$(mktemp -d -p /dev/shm) || { echo "there is no tmpfs here" >&2; exit 2; }
trap 'rm -rf -- "$work" "$shared"' EXIT

vmtouch() { "$work/root/usr/bin/vmtouch" "$@"; }
resident() { vmtouch "$1" | sed -n 's/.*Resident Pages: \([0-9/]*\).*/\1/p'; }
evicted() { vmtouch -e "$1" | sed -n 's/.*Evicted Pages: \([0-9]*\).*/\1/p'; }
changed=()
try() { # NAME STATED FILE
    local seen
    seen="$(evicted "$3") evicted, $(resident "$3") resident"
    echo "$1: $seen"
    [[ $seen == "$2" ]] || changed+=("$1")
}

head -c 16M /dev/zero >"$shared/file"
try "in tmpfs" "4096 evicted, 4096/4096 resident" "$shared/file"
head -c 16M /dev/zero >"$work/file"
sync "$work/file"
cat >"$work/hold.py" <<'PYTHON'
import mmap
import sys

with open(sys.argv[1], "r+b") as file:
    memory = mmap.mmap(file.fileno(), 0)
    total = sum(memory[page] for page in range(0, len(memory), 4096))
    print("touched", flush=True)
    sys.stdin.read()
PYTHON
coproc holder { python3 "$work/hold.py" "$work/file"; }
# shellcheck disable=SC2154 # coproc sets it
holder_id=$holder_PID
exec {hold}>&"${holder[1]}"
read -r _ <&"${holder[0]}"
eval "exec ${holder[1]}>&-"
try "mapped and touched" "4096 evicted, 4096/4096 resident" "$work/file"
exec {hold}>&-
wait "$holder_id"
try "on disk" "4096 evicted, 0/4096 resident" "$work/file"
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
