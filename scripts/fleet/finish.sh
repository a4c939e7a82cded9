#!/usr/bin/env bash
# Gathers the profiles of the tasks: one profile for each type of node, one C file for all of them.
# Run by Slurm after the last task, in the pod of finish.yaml, or by hand in the folder of the
# results (bash finish.sh), as often as you like: it only reads the files of the tasks, and replaces
# its own.
#
#SBATCH --job-name=asterope-finish
#SBATCH --ntasks=1
#SBATCH --time=00:10:00
#SBATCH --output=finish.txt
set -euo pipefail
# shellcheck source=fleet.conf
source "${CONFIG:-.}/fleet.conf"

mkdir -p profiles
profiles=()
complete=true
for line in "${types[@]}"; do
    read -r name nodes _ <<<"$line"
    parts=()
    missing=false
    for ((number = 1; number <= nodes; ++number)); do
        part=tasks/$name/node-$number
        parts+=("$part.trials")
        [[ -e $part.json ]] && continue
        missing=true
        printf 'finish: %s: node %s of %s is missing; see %s, then submit it again\n' \
            "$name" "$number" "$nodes" "$part.txt" >&2
    done
    if $missing; then
        complete=false
    elif ((nodes == 1)); then
        # Renamed into place: whoever reads the profile finds the old one or the new one, whole.
        cp -- "$part.json" "profiles/.$name.json"
        mv -- "profiles/.$name.json" "profiles/$name.json"
    else
        "$bin/asterope-tune" merge "${parts[@]}" -o "profiles/$name.json" || complete=false
    fi
    profiles+=("profiles/$name.json")
done
# Without one of the types, its nodes would run the fallback, and nobody would notice.
$complete || exit 1

"$bin/asterope-generate" "${profiles[@]}" "${others[@]}" --dispatch -o routine
