"""The pocket actor's training: it learns, resumes where it was stopped, and averages over processes."""

import argparse
import json
from functools import partial

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForImageTextToText, AutoProcessor

from actor.pocket import train as training
from episodes import bundled_steps, read_episodes_of, write_steps


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("steps")
    for split, every in (("train", 60), ("query", 120)):
        steps = bundled_steps(split)
        episodes = list(steps.frame["episode_id"].unique())[::every]
        rows = steps.frame.index[steps.frame["episode_id"].isin(episodes)]
        write_steps(folder / f"miniwob-{split}.parquet", read_episodes_of(steps.take(rows)))
    return folder


def options(tables, out):
    return argparse.Namespace(
        out=out, updates=8, rate=1e-3, every=5, seed=0, device="cpu", steps=tables
    )


@pytest.mark.slow
def test_interrupted_training_ends_in_the_same_weights(tables, tmp_path, monkeypatch):
    # One drill of every kind is enough here; the tables are too small for some of the others.
    monkeypatch.setattr(training, "MIX", {"plain": 0.5, "lookup": 0.5})
    monkeypatch.setattr(training, "ALONE", 0)
    monkeypatch.setattr(training, "RAMP", 4)
    monkeypatch.setattr(training, "BATCH", 4)
    few = partial(training.evaluation_queries, n=6)
    monkeypatch.setattr(training, "evaluation_queries", lambda steps, found, n: few(steps, found))
    training.train(options(tables, tmp_path / "whole"))
    save = training._save

    def save_then_stop(*arguments):
        save(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "_save", save_then_stop)
    with pytest.raises(KeyboardInterrupt):
        training.train(options(tables, tmp_path / "parts"))
    monkeypatch.setattr(training, "_save", save)
    training.train(options(tables, tmp_path / "parts"))

    whole, parts = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "parts"))
    for name, weight in whole.items():
        torch.testing.assert_close(parts[name], weight, rtol=0, atol=0)
    log = [json.loads(line) for line in (tmp_path / "parts" / "log.jsonl").read_text().splitlines()]
    assert [line["update"] for line in log] == [5, 8]
    assert {"held out", "training"} <= set(log[0])
    AutoModelForImageTextToText.from_pretrained(tmp_path / "parts")
    AutoProcessor.from_pretrained(tmp_path / "parts")


def test_patches_by_matrix_equal_the_convolution():
    from actor.pocket.model import build_model
    from actor.pocket.vocabulary import build_tokenizer

    model = build_model(build_tokenizer(["OK"]))
    embed = model.model.visual.patch_embed
    pixels = torch.randn(8, 3 * 2 * 16 * 16)
    before = embed(pixels)
    training._cut_patches_by_matrix(model)
    torch.testing.assert_close(embed(pixels), before, rtol=1e-5, atol=1e-5)
