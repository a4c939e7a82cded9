#!/usr/bin/env bash
# Submits the tuning of a fleet to Slurm: an array of tasks for each type of node, then the job that
# gathers their profiles. Run it again after a failure: it submits only the tasks without a profile.
set -euo pipefail
# The folder of this file is the one that the nodes share: jobs start in it and write into it.
# -P: as Slurm names it, without symbolic links.
cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")"

fail() {
    printf 'submit.sh: %s\n' "$*" >&2
    exit 2
}

[[ -r fleet.conf ]] || fail "no fleet.conf beside it: copy the whole folder"
source ./fleet.conf
# The settings of finish.sh are checked as well: after hours would be late.
for setting in bin types everywhere options limit others; do
    declare -p "$setting" >/dev/null 2>&1 || fail "fleet.conf does not set $setting"
done
for profile in "${others[@]}"; do
    [[ -r $profile ]] || fail "fleet.conf: others: $profile cannot be read"
done
((${#types[@]})) || fail "fleet.conf names no types of nodes"

# All lines are checked before the first job goes off: half a fleet is of little use.
names=' '
for line in "${types[@]}"; do
    read -r name nodes where <<<"$line"
    [[ $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$ && $name != fallback ]] ||
        fail "fleet.conf: '$name' is not a name for a type: letters, digits, points, _ and -"
    [[ $nodes =~ ^[1-9][0-9]{0,3}$ ]] ||
        fail "fleet.conf: $name: '$nodes' is not a number of nodes"
    symbol=${name//[^A-Za-z0-9]/_} # its name in the C file
    [[ $names != *" $symbol "* ]] || fail "fleet.conf: $name is there twice, but for its punctuation"
    names+="$symbol "
done

# Two tasks on one log would spoil it. By folder, not by name: another fleet may use the same names.
queue=$(squeue --noheader --user="$(id -un)" --format='%A %Z')
busy=$(awk -v folder="$PWD" 'substr($0, index($0, " ") + 1) == folder { print $1 }' <<<"$queue" |
    sort -nu | tr '\n' ' ')
[[ -z $busy ]] || fail "jobs of this folder are still there: ${busy% }; wait for them, or scancel them"

waits_for=()
for line in "${types[@]}"; do
    read -r name nodes where <<<"$line"
    read -ra where <<<"$where"
    mkdir -p -- "tasks/$name"
    missing=''
    for ((number = 1; number <= nodes; ++number)); do
        [[ -e tasks/$name/node-$number.json ]] || missing+=,$number
    done
    if [[ -z $missing ]]; then
        printf '%s: all there\n' "$name"
        continue
    fi
    # One array: the tasks run at the same time where nodes are free, and fail one by one.
    job=$(sbatch --parsable --job-name="asterope-$name" --array="${missing#,}" --time="$limit" \
        --output="tasks/$name/node-%a.txt" \
        "${everywhere[@]}" "${where[@]}" tune.sh "$name") || {
        ((${#waits_for[@]} == 0)) || scancel "${waits_for[@]}"
        fail "$name: sbatch does not take its job, so the others were cancelled"
    }
    waits_for+=("${job%%;*}") # federated clusters append their name
    printf '%s: job %s, nodes %s of %s\n' "$name" "${job%%;*}" "${missing#,}" "$nodes"
done

# afterany, not afterok: where a task failed the job says so, instead of waiting for ever.
depends=()
if ((${#waits_for[@]})); then
    printf -v list ':%s' "${waits_for[@]}"
    depends=(--dependency="afterany$list")
fi
job=$(sbatch --parsable "${everywhere[@]}" "${depends[@]}" finish.sh)
printf 'finish: job %s; it writes %s\n' "${job%%;*}" "$PWD/finish.txt, profiles/ and routine/"
