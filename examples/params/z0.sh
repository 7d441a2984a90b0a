# shellcheck shell=sh
# Every GPU holds the whole optimizer.
export TRAIN_ARGS="--micro-batch-size 2 --global-batch-size 32 --train-iters 20"
