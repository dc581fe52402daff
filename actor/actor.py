"""The actor: a vision-language model that is asked for actions, with its hidden states read.

Convention: one prefill per prompt gives both the hidden states at the last prompt token and the
cache from which all answers are sampled.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForImageTextToText, AutoProcessor, PreTrainedModel

from activations import (
    EncodedPrompt,
    Sites,
    check_sites,
    encode,
    make_engine,
    model_fingerprint,
    prefill,
    resolve_sites,
)
from actor.decoding import decode
from actor.dialects import Dialect, Message, get_dialect
from actor.response import Response
from actor.sampling import Sampling

POCKET = "pocket"
_POCKET_CHECKPOINT = Path(__file__).parent / "pocket" / "checkpoint"
_EMPTY_THINKING = "<think>\n\n</think>\n\n"
_TAIL_TOKENS = 32
_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")


class Actor:
    """A model, its processor and its dialect.

    Parameters
    ----------
    model
        A transformers image-text-to-text model in eval mode.
    processor
        Its processor, with a chat template.
    dialect
        How it is asked and answers, or the name of a registered dialect.
    engine
        What reads the hidden states, "nnsight" or "hooks".
    sites
        Where they are read; all that `resolve_sites` finds by default.
    name
        What the model is called in the fingerprint; by default its name on the Hub, or that of its
        folder.

    Raises
    ------
    ValueError
        When the processor has no chat template, or takes no pictures, or a stop token of the
        dialect is not in its vocabulary.
    SiteError
        When one forward shows that a site is not what its name says.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        processor: Any,
        dialect: Dialect | str,
        *,
        engine: str = "nnsight",
        sites: Sites | None = None,
        name: str | None = None,
    ) -> None:
        self.model = model
        self.name = name or _name(model)
        self.processor = processor
        self.dialect = get_dialect(dialect) if isinstance(dialect, str) else dialect
        self.engine = engine
        self._template = _chat_template(processor, self.name)
        # transformers warns at each prompt of what a template does not know.
        self._template_kwargs = {
            k: v for k, v in self.dialect.chat_template_kwargs.items() if k in self._template
        }
        self._sites = sites or resolve_sites(model)
        self._stop_ids = _stop_ids(model, processor.tokenizer, self.dialect, self.name)
        # Families with rotary positions in three dimensions keep there by how much those of the
        # text after a picture differ from the number of tokens.
        self._rope = next((m for m in model.modules() if hasattr(m, "rope_deltas")), None)
        greeting = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]
        check_sites(model, self._encoded(greeting).inputs, self._sites)
        self._engine = make_engine(model, self._sites, engine)
        self._fingerprint: dict[str, str] | None = None

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path,
        dialect: Dialect | str | None = None,
        dtype: str | torch.dtype = "auto",
        device_map: str | dict[str, Any] | None = None,
        engine: str = "nnsight",
        revision: str | None = None,
        trust_remote_code: bool = False,
    ) -> Actor:
        """Load any transformers image-text-to-text checkpoint.

        Parameters
        ----------
        name_or_path
            "pocket" for the bundled checkpoint, a folder, or a model's name on the Hub.
        dialect
            How the model is asked and answers. None takes "pocket" for the bundled one, "ui-tars"
            for a name that says so, and "qwen" for the other models of the Qwen-VL family.
        dtype
            Of the weights; "auto" is as they are stored.
        device_map
            Where the weights go, as in transformers; None is the first GPU, or the CPU.
        engine
            "nnsight" or "hooks".
        revision
            Commit, tag or branch on the Hub.
        trust_remote_code
            Whether code that comes with the checkpoint may be run.

        Raises
        ------
        ValueError
            When there is no such folder, or the checkpoint is no image-text-to-text model, lacks a
            processor, chat template or weights in safetensors format (pickled ones are never read),
            or is of a family without a dialect of its own.
        """
        path = _POCKET_CHECKPOINT if str(name_or_path) == POCKET else name_or_path
        _check_is_there(path)
        hub: dict[str, Any] = {"revision": revision, "trust_remote_code": trust_remote_code}
        # The processor first: it is small, and what it lacks shows before the weights are loaded.
        processor = AutoProcessor.from_pretrained(path, **hub)
        _chat_template(processor, str(name_or_path))
        try:
            model = AutoModelForImageTextToText.from_pretrained(
                path,
                dtype=dtype,
                device_map=device_map or _one_device(),
                use_safetensors=True,
                **hub,
            ).eval()
        except OSError as error:
            raise ValueError(
                f"{name_or_path}: weights are read from safetensors files only, never from pickled "
                f"ones (pytorch_model.bin): {error}"
            ) from error
        return cls(
            model,
            processor,
            dialect or _dialect_of(str(name_or_path), model.config.model_type),
            engine=engine,
            name=POCKET if path == _POCKET_CHECKPOINT else None,
        )

    @property
    def sites(self) -> tuple[str, ...]:
        """Names of the sites at which hidden states are read, in forward order."""
        return self._sites.names

    @property
    def width(self) -> int:
        """Length d of a hidden state."""
        return self.model.config.get_text_config().hidden_size

    def respond(
        self,
        prompt: Sequence[Message],
        samples: int = 7,
        *,
        seeds: Sequence[int] | None = None,
        sampling: Sampling | None = None,
    ) -> Response:
        """Hidden states at the last prompt token, and `samples` answers, from one prefill.

        Parameters
        ----------
        prompt
            Chat messages, as the dialect's `messages` makes them.
        samples
            Number of answers; 0 for the hidden states alone.
        seeds
            One per answer (see `sample_seed`); 0, 1, … by default. Answer k depends on `seeds[k]`
            and the prompt alone.
        sampling
            Settings; `Sampling()` by default.

        Raises
        ------
        PromptError
            When pictures and placeholders of the prompt do not fit together.
        ValueError
            When the number of seeds is not that of the samples, the rendered prompt leaves the
            model thinking, or prompt and answer may be longer than the model's context.
        """
        sampling = sampling or Sampling()
        seeds = range(samples) if seeds is None else seeds
        if len(seeds) != samples:
            raise ValueError(f"{samples} samples need as many seeds, found {len(seeds)}")
        encoded = self._encoded(prompt)
        self._check_length(encoded.prompt_tokens, sampling.max_new_tokens if samples else 0)
        first = prefill(
            self.model, encoded.inputs, self._sites, self._engine, use_cache=samples > 0
        )
        answers = []
        if samples:
            answers = decode(
                self.model,
                first.logits,
                first.cache,
                position=encoded.prompt_tokens + self._rope_delta(encoded),
                seeds=seeds,
                sampling=sampling,
                stop_ids=self._stop_ids,
            )
        return Response(
            states=first.states[0],
            sites=self.sites,
            texts=tuple(self._text(answer) for answer in answers),
            prompt_tokens=encoded.prompt_tokens,
            image_tokens=encoded.image_tokens,
            last_token_id=encoded.last_token_id,
            prompt_sha256=encoded.prompt_sha256,
        )

    def fingerprint(self) -> dict[str, str]:
        """What this actor's hidden states depend on beside the prompts, as flat text."""
        if self._fingerprint is None:
            self._fingerprint = model_fingerprint(
                self.model,
                self.processor,
                self._sites,
                self.engine,
                self._template_kwargs,
            ) | {"model": self.name, "dialect": self.dialect.name}
        return dict(self._fingerprint)

    def __repr__(self) -> str:
        blocks, dtype = len(self._sites.blocks), str(self.model.dtype).removeprefix("torch.")
        return (
            f"Actor({self.name!r}, {type(self.model).__name__}, {blocks} blocks of width "
            f"{self.width}, {dtype} on {self.model.device}, dialect {self.dialect.name!r}, "
            f"engine {self.engine!r})"
        )

    def _encoded(self, prompt: Sequence[Message]) -> EncodedPrompt:
        encoded = encode(self.processor, prompt, **self._template_kwargs)
        ids = encoded.inputs["input_ids"][0, -_TAIL_TOKENS:]
        _check_thinking_is_off(self.processor.tokenizer.decode(ids), self._template)
        return encoded

    def _check_length(self, prompt_tokens: int, new_tokens: int) -> None:
        allowed = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        if allowed is not None and prompt_tokens + new_tokens > allowed:
            raise ValueError(
                f"the prompt has {prompt_tokens} tokens and its answer up to {new_tokens} "
                f"(max_new_tokens), but {self.name} takes {allowed} in all; show smaller pictures or "
                "fewer elements, or lower max_new_tokens"
            )

    def _rope_delta(self, prompt: EncodedPrompt) -> int:
        # Without pictures the model keeps the delta of an earlier prompt, which is not ours.
        if self._rope is None or "image_grid_thw" not in prompt.inputs:
            return 0
        return int(self._rope.rope_deltas[0, 0])  # type: ignore[index]

    def _text(self, ids: Sequence[int]) -> str:
        # Special tokens stay: those around UI-TARS's boxes belong to the answer.
        return self.processor.tokenizer.decode(
            ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )


def _check_is_there(path: str | Path) -> None:
    if not Path(path).is_dir() and not _HUB_NAME.fullmatch(str(path)):
        raise ValueError(
            f"{path}: found no such folder; expected 'pocket', the folder of a checkpoint, or a "
            "model's name on the Hub (owner/name)"
        )


def _chat_template(processor: Any, name: str) -> str:
    if getattr(processor, "image_processor", None) is None:
        raise ValueError(
            f"{name}: its processor is a {type(processor).__name__}, which takes no pictures; an "
            "actor needs the files of an image-text-to-text processor (preprocessor_config.json, "
            "tokenizer, chat template) beside the weights"
        )
    template = getattr(processor, "chat_template", None) or processor.tokenizer.chat_template
    if not template:
        raise ValueError(
            f"{name}: its processor has no chat template, expected one in chat_template.jinja; take "
            "an instruction-tuned checkpoint, or set processor.chat_template and pass model and "
            "processor to Actor(...)"
        )
    return str(template)


def _stop_ids(
    model: PreTrainedModel, tokenizer: Any, dialect: Dialect, name: str
) -> frozenset[int]:
    """End tokens of the checkpoint and of the dialect."""
    ends: Any = model.generation_config.eos_token_id if model.generation_config else None
    ids = set([ends] if isinstance(ends, int) else ends or ())
    vocabulary = tokenizer.get_vocab()
    for token in dialect.stop_tokens:
        if token not in vocabulary:
            raise ValueError(
                f"{name}: its tokenizer has no token {token!r}, which ends an answer in the "
                f"dialect {dialect.name!r}; is this the model's dialect?"
            )
        ids.add(vocabulary[token])
    return frozenset(ids)


def _check_thinking_is_off(tail: str, template: str) -> None:
    """Refuse a rendered prompt, given by its end, from which the model would begin by thinking."""
    if "enable_thinking" in template and not tail.endswith(_EMPTY_THINKING):
        raise ValueError(
            f"the chat template knows enable_thinking, but the prompt ends in {tail[-40:]!r} and "
            f"not in the empty think block {_EMPTY_THINKING!r}; the dialect must pass "
            '{"enable_thinking": False} in chat_template_kwargs'
        )
    if tail.rstrip().endswith("<think>"):
        raise ValueError(
            f"the prompt ends in an open think block, {tail[-40:]!r}, so the hidden state is not "
            "the one that the action is generated from; take a checkpoint that does not think"
        )


def _dialect_of(name: str, model_type: str) -> str:
    if name == POCKET:
        return POCKET
    if "ui-tars" in name.lower():
        return "ui-tars"
    if model_type.startswith("qwen"):
        return "qwen"
    raise ValueError(
        f"{name}: models of type {model_type!r} have no dialect of their own; name the one in which "
        "the model was trained to answer: dialect=..."
    )


def _one_device() -> str:
    return "cuda:0" if torch.cuda.is_available() else "cpu"


def _name(model: PreTrainedModel) -> str:
    path = str(model.config.name_or_path)
    return Path(path).name if Path(path).is_dir() else path
