"""Pairs: the prompts of one step, one for each condition, and the checks that make them comparable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from activations.prompts import EncodedPrompt, Prompt, PromptError, encode


@dataclass(frozen=True)
class Pair:
    """The prompts of one step.

    Parameters
    ----------
    step_id, episode_id
        Which step, and the episode (or other group) it belongs to.
    prompts
        Condition → chat messages or string.
    """

    step_id: str
    episode_id: str
    prompts: Mapping[str, Prompt]


def encode_pair(
    processor: Any, pair: Pair, conditions: Sequence[str], **chat_template_kwargs: Any
) -> list[EncodedPrompt]:
    """Encode the prompts of a step and check that their last tokens can be compared.

    Parameters
    ----------
    processor
        A transformers processor or tokenizer.
    pair
        Needs a prompt for each of `conditions`.
    conditions
        In the order of the result.
    **chat_template_kwargs
        Passed to the chat template.

    Raises
    ------
    PromptError
        Naming the step and the condition.
    """
    encoded = []
    for condition in conditions:
        if condition not in pair.prompts:
            raise PromptError(
                f"step {pair.step_id!r} has no prompt for condition {condition!r}, "
                f"only {', '.join(pair.prompts)}"
            )
        try:
            encoded.append(encode(processor, pair.prompts[condition], **chat_template_kwargs))
        except PromptError as error:
            raise PromptError(f"step {pair.step_id!r}, condition {condition!r}: {error}") from error
    check_final_tokens(pair.step_id, dict(zip(conditions, encoded)))
    return encoded


def check_final_tokens(step_id: str, encoded: Mapping[str, EncodedPrompt]) -> None:
    """Refuse prompts of one step that do not end in the same tokens.

    Raises
    ------
    PromptError
        Naming the step, the two conditions and the ids.
    """
    (first, reference), *others = encoded.items()
    for condition, prompt in others:
        if prompt.final_token_ids != reference.final_token_ids:
            raise PromptError(
                f"step {step_id!r}: the prompts end in different tokens, "
                f"{first!r} in {list(reference.final_token_ids)}, "
                f"{condition!r} in {list(prompt.final_token_ids)}; their last hidden states cannot be "
                "compared. Use one chat template and one question at the end for all conditions"
            )
