"""A small Llama on made-up data, trained by accelerate's own loop or by Hugging Face's Trainer; nothing is downloaded."""
import argparse
import json
import os
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM

VOCABULARY = 4096


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["accelerate", "trainer"])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--fail-at", type=int, help="rank 1 raises at this step")
    parser.add_argument("--output", default="/tmp/gpu/trainer")
    return parser.parse_args()


def model(args):
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(vocab_size=VOCABULARY, hidden_size=args.hidden, intermediate_size=3 * args.hidden,
                                        num_hidden_layers=args.layers, num_attention_heads=8, num_key_value_heads=8))


class Counting(torch.utils.data.Dataset):
    """Sequences that count upwards from a random number: a model learns them within a few steps."""

    def __init__(self, args, world):
        self.size, self.length = args.steps * args.batch * world, args.length

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if index >= self.size:
            raise IndexError(index)
        first = torch.randint(VOCABULARY, (1,), generator=torch.Generator().manual_seed(index))
        words = (first + torch.arange(self.length)) % VOCABULARY
        return {"input_ids": words, "labels": words.clone()}


def fail_when_told(args, rank, step):
    if rank == 1 and step == args.fail_at:
        raise ValueError(f"rank 1 fails at step {step} as it was told")


def with_accelerate(args):
    from accelerate import Accelerator
    accelerator = Accelerator(mixed_precision="bf16", cpu=not torch.cuda.is_available())
    data = torch.utils.data.DataLoader(Counting(args, accelerator.num_processes), args.batch)
    net = model(args)
    net, optimizer, data = accelerator.prepare(net, torch.optim.AdamW(net.parameters(), 3e-4), data)
    begin = time.monotonic()
    for step, batch in enumerate(data, 1):
        fail_when_told(args, accelerator.process_index, step)
        loss = net(**batch).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        value, now = loss.item(), time.monotonic()
        if accelerator.is_main_process:
            print(f"step {step}/{args.steps} loss: {value:.4f} step_time: {now - begin:.4f}", flush=True)
        begin = now
    return accelerator.num_processes, accelerator.process_index


def with_trainer(args):
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Fail(TrainerCallback):
        def on_step_end(self, arguments, state, control, **_more):
            fail_when_told(args, arguments.process_index, state.global_step)

    options = TrainingArguments(output_dir=args.output, max_steps=args.steps, per_device_train_batch_size=args.batch,
                                learning_rate=3e-4, bf16=torch.cuda.is_available(), use_cpu=not torch.cuda.is_available(),
                                logging_steps=5, save_strategy="no", report_to="none", include_num_input_tokens_seen="all")
    Trainer(model=model(args), args=options, train_dataset=Counting(args, options.world_size), callbacks=[Fail()]).train()
    return options.world_size, options.process_index


def main():
    args = parse()
    world, rank = {"accelerate": with_accelerate, "trainer": with_trainer}[args.kind](args)
    peak = torch.cuda.max_memory_allocated() >> 20 if torch.cuda.is_available() else 0
    print("trained " + json.dumps({"rank": rank, "world": world, "host": os.environ.get("MTLAUNCH_HOST"), "peak_mib": peak}),
          flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
