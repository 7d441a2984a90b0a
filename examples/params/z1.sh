# shellcheck shell=sh
# The optimizer's state is divided among the GPUs, which leaves room for a larger micro batch.
export TRAIN_ARGS="--micro-batch-size 4 --global-batch-size 32 --train-iters 20"
