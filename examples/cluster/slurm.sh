#!/bin/sh
#SBATCH --job-name=podium
#SBATCH --array=1-4
#SBATCH --cpus-per-task=2
#SBATCH --time=04:00:00
#SBATCH --requeue
# Each task of the array plays one shard. All logs are in one folder that every node can read.
# A restarted task continues with its own log. Further arguments of this script are passed to `inspect eval`.
set -eu
TOURNAMENT=${TOURNAMENT:-podium/round_robin}
RESPONSES=${RESPONSES:-examples/tournament}
JUDGE=${JUDGE:-podium/offline}
LOGS=${LOGS:-logs}
SHARD=${SLURM_ARRAY_TASK_ID:-$((JOB_COMPLETION_INDEX + 1))}
SHARDS=${SHARDS:-$SLURM_ARRAY_TASK_COUNT}
OWN="$LOGS/shard-$SHARD"

LAST=$(ls -t "$OWN"/*.eval 2>/dev/null | head -n 1)
if [ -n "$LAST" ]; then
    exec inspect eval-retry "$LAST" --log-dir "$OWN" --display plain
fi
exec inspect eval "$TOURNAMENT" -T "responses=$RESPONSES" -T "shard=$SHARD/$SHARDS" \
    --model-role "judge=$JUDGE" --log-dir "$OWN" --display plain "$@"
