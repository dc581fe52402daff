"""The router's folder: whole, equal, checked."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file

from probes.folder import HfApi
from router import PairwiseRouter, train_router


@pytest.fixture
def folder(quick, tmp_path):
    return quick.save_pretrained(tmp_path / "router")


def test_loaded_router_equals_the_saved_one(planted, quick, folder):
    loaded = PairwiseRouter.from_pretrained(folder)
    inputs = planted.steps("test").inputs["hidden"]
    np.testing.assert_array_equal(loaded.relative_scores(inputs), quick.relative_scores(inputs))
    assert loaded.config == quick.config
    assert loaded.curve.tau == quick.threshold == loaded.threshold
    pd.testing.assert_frame_equal(loaded.curve.table, quick.curve.table)
    pd.testing.assert_frame_equal(loaded.history, quick.history)


def test_equal_routers_give_equal_bytes_and_three_files(planted, quick, folder, tmp_path):
    train, held = planted.steps("train"), planted.steps("calibration")
    again = train_router(
        train.inputs["hidden"], planted.targets("train"), quick.config.options, progress=False
    ).calibrated(held.inputs["hidden"], held.utility("text"), held.utility("image"))
    again.save_pretrained(tmp_path / "again")
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["README.md", "config.json", "model.safetensors"]
    for name in names:
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_uncalibrated_router_decides_by_the_sign(planted, quick, tmp_path):
    plain = train_router(
        planted.steps("train").inputs["hidden"],
        planted.targets("train"),
        quick.config.options,
        progress=False,
    )
    loaded = PairwiseRouter.from_pretrained(plain.save_pretrained(tmp_path / "plain"))
    assert loaded.curve is None
    assert loaded.decide([0.0, -1e-9]).tolist() == ["image", "text"]


def test_card_says_what_it_is_and_how_it_decides(quick, folder):
    card = (folder / "README.md").read_text()
    for words in ("block.3", "`tiny`", "hidden state at block.3", f"{quick.threshold:.6g}"):
        assert words in card


def _change_config(folder, **fields):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def _change_tensor(folder, name, value):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    if value is None:
        del tensors[name]
    else:
        tensors[name] = value(tensors[name])
    save_file({k: np.ascontiguousarray(v) for k, v in tensors.items()}, path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "config.json").write_text("{"), r"config\.json: the file: Invalid JSON"),
        (lambda f: (f / "config.json").unlink(), r"no file .*config\.json: a router folder"),
        (lambda f: _change_config(f, format="other"), r"config\.json: format: Input should be"),
        (lambda f: _change_config(f, extra=1), r"config\.json: extra: Extra inputs"),
        (lambda f: _change_config(f, state_components=3), r"state\.matrix is float32 \(8, 24\)"),
        (lambda f: _change_config(f, threshold=9.0), "curve does not give the threshold 9.0"),
        (lambda f: (f / "model.safetensors").write_bytes(b"x" * 40), "no readable safetensors"),
        (lambda f: _change_tensor(f, "hidden.bias", None), r"lacks the tensors \['hidden.bias'\]"),
        (lambda f: _change_tensor(f, "hidden.bias", lambda t: t.astype("f8")), "is float64"),
        (lambda f: _change_tensor(f, "output.weight", lambda t: t * np.nan), "not finite"),
        (lambda f: _change_tensor(f, "curve.tau", None), r"lacks the tensors \['curve.tau'\]"),
        (lambda f: _change_tensor(f, "curve.tau", lambda t: t[1:]), r"curve\.utility is float64"),
        (lambda f: _change_tensor(f, "history.train_loss", None), "lacks the tensors"),
    ],
)
def test_malformed_folders_are_refused_by_name(folder, spoil, message):
    spoil(folder)
    with pytest.raises(ValueError, match=message):
        PairwiseRouter.from_pretrained(folder)


def test_threshold_without_a_curve_is_refused(folder):
    for name in ("tau", "utility", "positive_rate"):
        _change_tensor(folder, f"curve.{name}", None)
    _change_config(folder, threshold=0.25)
    with pytest.raises(ValueError, match=r"no calibration curve, but .* threshold 0\.25"):
        PairwiseRouter.from_pretrained(folder)


def test_push_uploads_the_saved_folder(quick, folder, monkeypatch):
    calls = {}

    class Commit:
        commit_url = "https://hub/commit"

    def create_repo(self, repo_id, **options):
        calls["create"] = (repo_id, options)

    def upload_folder(self, *, repo_id, folder_path, commit_message):
        calls["files"] = {p.name: p.read_bytes() for p in Path(folder_path).iterdir()}
        return Commit()

    monkeypatch.setattr(HfApi, "create_repo", create_repo)
    monkeypatch.setattr(HfApi, "upload_folder", upload_folder)
    assert quick.push_to_hub("me/router", private=True) == "https://hub/commit"
    assert calls["create"] == ("me/router", {"private": True, "exist_ok": True})
    assert calls["files"] == {p.name: p.read_bytes() for p in folder.iterdir()}


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="neither a folder here nor a router"):
        PairwiseRouter.from_pretrained("./no/such/folder")
