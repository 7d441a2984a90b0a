#!/usr/bin/env bash
# training_smoke_gpt.sh MODEL RUN: one node's part of a training, as such scripts are often written. It reads
# NNODES, NODE_RANK, NPROC_PER_NODE, MASTER_ADDR, MASTER_PORT and ZERO_STAGE, which mtlaunch sets on every node.
set -euo pipefail
model=$1 run=$2

case $model in
gpt_small) shape="--num-layers 2 --hidden-size 256 --num-attention-heads 4 --seq-length 256 --max-position-embeddings 256" ;;
*) echo "unknown model '$model'" >&2 && exit 2 ;;
esac

zero=
if [ "$ZERO_STAGE" -ge 1 ]; then
    zero=--use-distributed-optimizer
fi

echo "node $NODE_RANK of $NNODES: $model, run $run, zero stage $ZERO_STAGE"
# exec: signals reach torchrun itself. The lists are divided at blanks on purpose.
# shellcheck disable=SC2086
exec python3 -m torch.distributed.run \
    --nnodes="$NNODES" --nproc_per_node="$NPROC_PER_NODE" --node_rank="$NODE_RANK" \
    --master_addr="$MASTER_ADDR" --master_port="$MASTER_PORT" \
    pretrain_gpt.py $shape $zero ${TRAIN_ARGS-} \
    --mock-data --tokenizer-type NullTokenizer --vocab-size 1023 --lr 1e-4 --bf16 --log-interval 1
