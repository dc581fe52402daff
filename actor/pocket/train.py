"""Trains the pocket actor on the bundled training steps: `python -m actor.pocket.train --out FOLDER`.

Runs on a CPU or a GPU. `torchrun --nproc-per-node 2 -m actor.pocket.train --out FOLDER` shares every
batch among two processes, which uses two cores better than two threads do. It prints the held-out
score beside the training one as it goes, writes a checkpoint every few minutes and goes on from it
when called again. What is kept is the running mean of the weights.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tqdm.auto import tqdm
from transformers import Qwen3VLForConditionalGeneration

from actor.pocket.batches import collate
from actor.pocket.drills import Drills, Question
from actor.pocket.evaluate import evaluation_queries, score_queries
from actor.pocket.model import build_model
from actor.pocket.vocabulary import build_processor, build_tokenizer, words_of
from episodes import bundled_steps, read_steps
from memory import MemoryBank, get_retriever

# Shares of the kinds of batches by phase, each up to an update. Looking a word up comes first and
# alone: nothing else is learnt without it, and pictures in the mix hold it up. Then everything grows
# in, then pictures get a phase of their own, with look-ups so that those are not forgotten.
MIX = {
    "lookup": 0.12,
    "look": 0.28,
    "words_told": 0.19,
    "looks_told": 0.19,
    "typing": 0.09,
    "plain": 0.13,
}
ALONE, RAMP, PICTURES = 1400, 1600, 1600
BATCH = 16
WARM_UP = 200
GROUP = 4  # batches drawn together and cut by length, which spares a fifth of the padding
DECAY = 0.999


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="folder of the checkpoint; goes on from it"
    )
    parser.add_argument(
        "--updates", type=int, default=10_000, help="updates in all (default 10000)"
    )
    parser.add_argument("--rate", type=float, default=1.5e-3, help="learning rate (default 0.0015)")
    parser.add_argument(
        "--every", type=int, default=1500, help="updates between evaluations (default 1500)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument(
        "--steps", type=Path, help="folder of tables miniwob-train and -query (default: bundled)"
    )
    train(parser.parse_args())


def train(options: argparse.Namespace) -> None:
    """Trains until `options.updates`, evaluating and saving every `options.every` updates."""
    read = (
        (lambda s: read_steps(options.steps / f"miniwob-{s}.parquet"))
        if options.steps
        else bundled_steps
    )
    steps, held_out = list(read("train")), list(read("query"))
    texts = [t for s in steps for t in (s.instruction, *(e.text for e in s.elements))]
    looks = [e.appearance for s in steps for e in s.elements]
    words = words_of([*texts, *(t.lower() for t in texts), *looks])
    tokenizer = build_tokenizer(words)
    renames = [w for w in words if w.isalpha() and len(w) > 2]
    drills = Drills(steps, renames)
    retriever = get_retriever("tfidf").fit(MemoryBank(steps))
    examined = {
        "held out": evaluation_queries(held_out, retriever, 240),
        "training": evaluation_queries(steps, retriever, 120),
    }
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        torch.distributed.init_process_group("gloo")
    model = build_model(tokenizer, options.seed).to(options.device)
    _cut_patches_by_matrix(model)
    mean = build_model(tokenizer, options.seed).to(options.device).eval()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=options.rate, weight_decay=0.02, betas=(0.9, 0.98)
    )
    options.out.mkdir(parents=True, exist_ok=True)
    done = _resume(options.out, model, mean, optimizer)
    bar = tqdm(total=options.updates, initial=done, unit="update", mininterval=5, disable=rank > 0)
    losses: dict[str, float] = {}
    kind, batches = "", []
    for update in range(done, options.updates):
        if update % GROUP == 0 or update == done:
            kind, batches = _group(drills, update // GROUP, options.seed)
        batch = collate(batches[update % GROUP][rank::world], tokenizer)
        for group in optimizer.param_groups:
            group["lr"] = options.rate * _schedule(update, options.updates)
        loss = _loss(model, {k: v.to(options.device) for k, v in batch.items()})
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        _average_gradients(model, world)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        _follow(mean, model, min(DECAY, (update + 1) / (update + 10)))
        losses[kind] = 0.98 * losses.get(kind, loss.item()) + 0.02 * loss.item()
        bar.update()
        bar.set_postfix({k: f"{v:.2f}" for k, v in losses.items()}, refresh=False)
        if rank == 0 and ((update + 1) % options.every == 0 or update + 1 == options.updates):
            _report(update + 1, losses, mean, tokenizer, examined, options.out)
            _save(options.out, update + 1, model, mean, optimizer, tokenizer)


def _group(drills: Drills, number: int, seed: int) -> tuple[str, list[list[Question]]]:
    """The `number`-th group of batches: drawn from its number alone, so a resumed training sees the same."""
    draw = random.Random(f"{seed}/{number}")
    kind = _kind(number * GROUP, draw)
    questions = sorted((getattr(drills, kind)(draw) for _ in range(GROUP * BATCH)), key=_length)
    batches = [questions[i * BATCH : (i + 1) * BATCH] for i in range(GROUP)]
    draw.shuffle(batches)
    return kind, batches


def _kind(update: int, draw: random.Random) -> str:
    ramp = min(max(update - ALONE, 0) / RAMP, 1.0)
    if draw.random() >= ramp:
        return "lookup"
    if ALONE + RAMP <= update < ALONE + RAMP + PICTURES:
        return "look" if draw.random() < 0.65 else "lookup"
    return draw.choices(list(MIX), list(MIX.values()))[0]


def _length(question: Question) -> int:
    return sum(len(part.get("text", "")) for part in question.messages[0]["content"])


def _schedule(update: int, updates: int) -> float:
    """Warm-up, plateau, and a linear fall over the last fifth."""
    return min(1.0, (update + 1) / WARM_UP, max(0.02, (updates - update) / (0.2 * updates)))


def _cut_patches_by_matrix(model: Qwen3VLForConditionalGeneration) -> None:
    """Patches enter by a matrix product: the same numbers as the 3-d convolution, faster on a CPU."""
    embed = model.model.visual.patch_embed

    def forward(pixels: torch.Tensor) -> torch.Tensor:
        weight = embed.proj.weight
        return torch.nn.functional.linear(pixels, weight.flatten(1), embed.proj.bias)

    embed.forward = forward


def _loss(model: Qwen3VLForConditionalGeneration, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Mean cross-entropy of the answer tokens; logits are made for those alone."""
    labels = batch.pop("labels")[:, 1:]
    states = model.model(**batch, use_cache=False).last_hidden_state[:, :-1]
    wanted = labels != -100
    return torch.nn.functional.cross_entropy(model.lm_head(states[wanted]), labels[wanted])


def _average_gradients(model: torch.nn.Module, world: int) -> None:
    """Gives every process the mean gradient; a batch's kind decides which parameters have one."""
    if world > 1:
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        together = torch.cat([g.flatten() for g in gradients])
        torch.distributed.all_reduce(together)
        for gradient, mean in zip(gradients, together.split([g.numel() for g in gradients])):
            gradient.copy_(mean.view_as(gradient) / world)


@torch.no_grad()
def _follow(mean: torch.nn.Module, model: torch.nn.Module, decay: float) -> None:
    for ours, theirs in zip(mean.parameters(), model.parameters()):
        ours.lerp_(theirs, 1 - decay)


def _report(update, losses, model, tokenizer, examined, out: Path) -> None:
    """Greedy scores of held-out and training queries, printed and appended to `log.jsonl`."""
    lines = {
        "update": update,
        "time": round(time.time()),
        "losses": {k: round(v, 3) for k, v in losses.items()},
    }
    for name, queries in examined.items():
        scores = score_queries(model, tokenizer, queries, ("text", "image"))
        recall = scores[scores["kind"] == "recall"]
        lines[name] = {
            c: round(float(recall.loc[recall["condition"] == c, "score"].mean()), 3)
            for c in ("text", "image")
        } | {"full": round(float(scores.loc[scores["kind"] == "full", "score"].mean()), 3)}
        if name == "held out":
            by_task = {"index": ["app", "action"], "columns": "condition", "values": "score"}
            wide = recall.pivot_table(**by_task, aggfunc="mean").round(2)
            wide["n"] = recall.pivot_table(**by_task, aggfunc="count")["text"]
            tqdm.write(wide.to_string())
    tqdm.write(json.dumps(lines))
    with open(out / "log.jsonl", "a", encoding="utf-8") as log:
        log.write(json.dumps(lines) + "\n")


def _save(out: Path, update: int, model, mean, optimizer, tokenizer) -> None:
    """The mean weights as a checkpoint, and beside it what training needs to go on."""
    mean.save_pretrained(out)
    build_processor(tokenizer).save_pretrained(out)
    state = {f"model.{k}": v for k, v in model.state_dict().items() if k != "lm_head.weight"}
    for number, slot in optimizer.state_dict()["state"].items():
        state |= {f"optimizer.{number}.{k}": v for k, v in slot.items()}
    temporary = out / "training.tmp"
    save_file({k: v.contiguous() for k, v in state.items()}, temporary, {"update": str(update)})
    os.replace(temporary, out / "training.safetensors")


def _resume(out: Path, model, mean, optimizer) -> int:
    """Loads a saved training, if there is one; returns the number of updates done."""
    path = out / "training.safetensors"
    if not path.exists():
        return 0
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        update = int(file.metadata()["update"])
    state = load_file(path)
    model.load_state_dict(
        {k.removeprefix("model."): v for k, v in state.items() if k.startswith("model.")},
        strict=False,
    )
    mean.load_state_dict(Qwen3VLForConditionalGeneration.from_pretrained(out).state_dict())
    slots: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in state.items():
        if name.startswith("optimizer."):
            _, number, key = name.split(".")
            slots.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict(
        {"state": slots, "param_groups": optimizer.state_dict()["param_groups"]}
    )
    return update


if __name__ == "__main__":
    main()
