"""How well a pocket actor answers: greedy score by task and condition, held-out beside training steps.

`python -m actor.pocket.evaluate` prints the tables of docs/pocket-actor.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import torch
from transformers import AutoModelForImageTextToText, AutoProcessor

from actor.dialects import AnswerError
from actor.dialects.pocket import DIALECT
from actor.pocket.batches import collate
from actor.pocket.drills import OPTIONS, Question, answer_of
from episodes import Step, bundled_steps, get_scorer
from memory import MemoryBank, Query, Retriever, get_representation, get_retriever, make_queries

BATCH = 24


@torch.no_grad()
def greedy(model, tokenizer, questions: Sequence[Question], max_new_tokens: int = 24) -> list[str]:
    """The model's greedy answers."""
    answers: list[str] = []
    for start in range(0, len(questions), BATCH):
        batch = collate(questions[start : start + BATCH], tokenizer, answers=False)
        tokens = model.generate(**batch, max_new_tokens=max_new_tokens, do_sample=False)
        new = tokens[:, batch["input_ids"].shape[1] :]
        answers += tokenizer.batch_decode(new, skip_special_tokens=True)
    return answers


def score_queries(
    model, tokenizer, queries: Sequence[Query], conditions: Sequence[str]
) -> pd.DataFrame:
    """A row per query and condition: app, kind, condition, answer, score by the `element` rule."""
    score = get_scorer("element")
    rows = []
    for condition in conditions:
        form = get_representation(condition, OPTIONS)
        questions = [
            Question(
                DIALECT.messages(q.step, q.instruction, form(q.memory, DIALECT)), answer_of(q.step)
            )
            for q in queries
        ]
        for query, question, answer in zip(queries, questions, greedy(model, tokenizer, questions)):
            try:
                value = score(DIALECT.parse(answer, query.step), query.step)
            except (AnswerError, ValueError):
                value = 0.0
            rows.append(
                {
                    "step_id": query.step.step_id,
                    "app": query.step.app,
                    "action": query.step.action.kind,
                    "kind": query.kind,
                    "condition": condition,
                    "wanted": question.answer,
                    "answer": answer,
                    "score": value,
                }
            )
    return pd.DataFrame(rows)


def evaluation_queries(
    steps: Sequence[Step], retriever: Retriever, n: int, *, recall_share: float = 1.0, seed: int = 0
) -> list[Query]:
    """`n` queries spread evenly over the steps."""
    chosen = [steps[round(i * len(steps) / n)] for i in range(min(n, len(steps)))] if n else []
    return make_queries(chosen, retriever, recall_share=recall_share, seed=seed)


def main() -> None:
    """Prints a table per kind of query: task by condition, held out (and on training steps)."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "--checkpoint", type=Path, default=Path(__file__).parent / "checkpoint",
        help="folder of the checkpoint (default: the bundled one)",
    )  # fmt: skip
    parser.add_argument("--steps", type=int, default=500, help="steps of each set (default 500)")
    options = parser.parse_args()
    model = AutoModelForImageTextToText.from_pretrained(options.checkpoint).eval()
    tokenizer = AutoProcessor.from_pretrained(options.checkpoint).tokenizer
    steps = list(bundled_steps("train"))
    retriever = get_retriever("tfidf").fit(MemoryBank(steps))
    conditions = ("none", "text", "image", "both")
    tables = {}
    for name, asked in (("held out", list(bundled_steps("query"))), ("training", steps)):
        for share in (1.0, 0.0):
            queries = evaluation_queries(asked, retriever, options.steps, recall_share=share)
            kind = "recall" if share else "full"
            queries = [query for query in queries if query.kind == kind]
            tables[kind, name] = score_queries(model, tokenizer, queries, conditions)
    for kind in ("recall", "full"):
        print(f"\n{kind} queries, {options.steps} steps of each set: held out (training)\n")
        print(_markdown(tables[kind, "held out"], tables[kind, "training"], conditions))


def _markdown(held_out: pd.DataFrame, training: pd.DataFrame, conditions: Sequence[str]) -> str:
    """Mean scores by task and kind of action, the training ones in brackets."""
    lines = [
        "| task | action | steps | " + " | ".join(conditions) + " |",
        "|---|---|---|" + "---|" * len(conditions),
    ]
    tasks = sorted(set(zip(held_out["app"], held_out["action"])))
    for app, action in [*tasks, ("all", "")]:
        rows, same = (_of(scores, app, action) for scores in (held_out, training))
        cells = [f"{_mean(rows, condition)} ({_mean(same, condition)})" for condition in conditions]
        steps = rows["step_id"].nunique()
        lines.append(f"| {app} | {action} | {steps} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _of(scores: pd.DataFrame, app: str, action: str) -> pd.DataFrame:
    """The rows of one task and kind of action; all rows for the task "all"."""
    chosen = (scores["app"] == app) & (scores["action"] == action)
    return scores if app == "all" else pd.DataFrame(scores[chosen])


def _mean(rows: pd.DataFrame, condition: str) -> str:
    scores = rows.loc[rows["condition"] == condition, "score"]
    return f"{scores.mean():.2f}" if len(scores) else "–"


if __name__ == "__main__":
    main()
