#!/usr/bin/env bash
# Tunes on one node of a type: a task of submit.sh's array, or a pod of node-type.yaml.
#
#     sbatch --array=3 OPTIONS tune.sh TYPE     the third of its nodes
#
#SBATCH --nodes=1
#SBATCH --ntasks=1
# The whole node: another job's copies would be in our figures.
#SBATCH --exclusive
#SBATCH --mem=0
# When the node dies, the task goes to another one and on from its log.
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail
# It starts in the folder for the results. Pods have the settings elsewhere.
# shellcheck source=fleet.conf
source "${CONFIG:-.}/fleet.conf"

name=${1:?which type of node?}
number=${SLURM_ARRAY_TASK_ID:-$((${JOB_COMPLETION_INDEX:?which of its nodes?} + 1))}
tries=3 # of Slurm in all, where asterope-tune fails while running

nodes=0
for line in "${types[@]}"; do
    read -r type count _ <<<"$line"
    [[ $type != "$name" ]] || nodes=$count
done
if ((number > nodes)); then
    printf 'tune: fleet.conf has %s nodes of %s, but this is number %s\n' "$nodes" "$name" "$number" >&2
    exit 2
fi

part=tasks/$name/node-$number
if [[ -e $part.json ]]; then
    printf '%s is there already: remove it and %s to have it tuned again\n' "$part.json" "$part.trials"
    exit
fi

tune() {
    printf '== %s: %s, node %s of %s%s\n' "${SLURMD_NODENAME:-${NODE_NAME:-$HOSTNAME}}" \
        "$name" "$number" "$nodes" "${SLURM_JOB_ID:+, job $SLURM_JOB_ID}"
    # The routine is rendered once, from all profiles. The log lies on the shared folder: finish.sh
    # merges the logs of a type's nodes, and an equal node can go on with it, even where this one is
    # killed in the middle of a line.
    local arguments=(-o "$part.json" --log "$part.trials" --no-generate)
    [[ ! -e $part.trials ]] || arguments+=(--resume)
    # No srun: it would bind us to the one CPU of one task, and copies over threads need them all.
    "$bin/asterope-tune" "${arguments[@]}" "${options[@]}"
}

if [[ -z ${SLURM_JOB_ID:-} ]]; then
    mkdir -p "tasks/$name"
    tune 2>&1 | tee -a "$part.txt" # a pod's output goes with it, so it is kept as well
    exit
fi

status=0
tune || status=$?
# 1: something failed while running, and may not the next time. 2: it would say the same again.
if ((status == 1 && ${SLURM_RESTART_COUNT:-0} + 1 < tries)); then
    printf 'failed: back into the queue\n'
    scontrol requeue "$SLURM_JOB_ID" || true
fi
exit "$status"
