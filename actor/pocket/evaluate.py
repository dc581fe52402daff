"""How well a pocket actor answers: greedy score by task and condition, held-out beside training steps."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import torch

from actor.dialects import AnswerError
from actor.dialects.pocket import DIALECT
from actor.pocket.batches import collate
from actor.pocket.drills import OPTIONS, Question, answer_of
from episodes import Step, get_scorer
from memory import Query, Retriever, get_representation, make_queries

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
