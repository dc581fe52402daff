from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.numpy import load_file, save_file
from safetensors.torch import save_file as save_bfloat16

from probes import PreferenceEstimator, auroc, fit_final, label_targets, sweep_layers
from probes.folder import HfApi


@pytest.fixture(scope="session")
def final(planted):
    return fit_final(planted.store, planted.preferences, n_bootstrap=100)


@pytest.fixture
def folder(final, tmp_path):
    return final.save_pretrained(tmp_path / "estimator")


def test_is_fitted_on_the_last_block_and_knows_its_origin(planted, final):
    shifts = planted.store.shift("block.4")
    plain = PreferenceEstimator().fit(shifts, planted.labels)
    np.testing.assert_array_equal(final.decision_function(shifts), plain.decision_function(shifts))
    config = final.config
    assert (config.site, config.width, config.sign) == ("block.4", 12, "image - text")
    assert (config.model, config.revision) == ("tiny", "abc")
    assert config.counts["fitted_image"] == planted.labels.sum()
    scores = final.decision_function(shifts)
    assert config.metrics["in_fold_auroc"] == pytest.approx(auroc(scores, planted.labels))


def test_out_of_fold_metric_is_that_of_the_sweep(planted, final):
    row = sweep_layers(
        planted.store, planted.preferences, n_bootstrap=100, n_shuffles=1, progress=False,
        sites=["block.4"], analysis_set="non_tied",
    ).final  # fmt: skip
    metrics = final.config.metrics
    assert metrics["out_of_fold_auroc"] == row["auroc"]
    assert metrics["out_of_fold_low"] == row["low"]
    assert metrics["in_fold_auroc"] > metrics["out_of_fold_auroc"]


def test_site_and_analysis_set_are_parameters(planted):
    preferences = type(planted.preferences)(
        planted.preferences.table.assign(stable=[i < 400 for i in range(600)]),
        *("image", "text", 7, 5),
    )
    fitted = fit_final(
        planted.store, preferences, site="block.2", analysis_set="stable", n_bootstrap=10
    )
    assert fitted.config.site == "block.2"
    assert fitted.config.counts["fitted_image"] + fitted.config.counts["fitted_text"] == 400
    with pytest.raises(ValueError, match=r"site 'block\.7'"):
        fit_final(planted.store, preferences, site="block.7")


def test_loaded_estimator_equals_the_saved_one(planted, final, folder):
    loaded = PreferenceEstimator.from_pretrained(folder)
    shifts = planted.store.shift("block.4")
    np.testing.assert_array_equal(loaded.decision_function(shifts), final.decision_function(shifts))
    np.testing.assert_array_equal(loaded.predict(shifts), final.predict(shifts))
    assert loaded.config == final.config
    tensors = load_file(folder / "model.safetensors")
    folded = shifts @ tensors["folded.vector"] + tensors["folded.bias"]
    np.testing.assert_allclose(folded, final.decision_function(shifts), atol=1e-5)


def test_equal_fits_give_equal_bytes(planted, folder, tmp_path):
    again = fit_final(planted.store, planted.preferences, n_bootstrap=100)
    again.save_pretrained(tmp_path / "again")
    names = sorted(p.name for p in folder.iterdir())
    assert names == ["README.md", "config.json", "model.safetensors"]
    for name in names:
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_plain_fit_cannot_be_saved(planted, tmp_path):
    plain = PreferenceEstimator().fit(planted.store.shift("block.4"), planted.labels)
    with pytest.raises(ValueError, match="fit it with probes"):
        plain.save_pretrained(tmp_path / "x")
    assert not (tmp_path / "x").exists()


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
    save_file({k: np.array(v) for k, v in tensors.items()}, path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "config.json").write_text("{"), r"config\.json: the file: Invalid JSON"),
        (lambda f: (f / "config.json").unlink(), r"no file .*config\.json"),
        (lambda f: _change_config(f, format="other"), r"config\.json: format: Input should be"),
        (lambda f: _change_config(f, width="12"), r"config\.json: width: Input should be"),
        (lambda f: _change_config(f, positive="text"), r"sign: .*'text - text' after positive"),
        (lambda f: _change_config(f, sign="text - image"), r"sign: .*'text - image', expected"),
        (lambda f: _change_config(f, extra=1), r"config\.json: extra: Extra inputs"),
        (lambda f: _change_config(f, width=13), r"scaler\.mean is float64 \(12,\), expected"),
        (lambda f: (f / "model.safetensors").write_bytes(b"x" * 40), "no readable safetensors"),
        (lambda f: (f / "model.safetensors").unlink(), r"no file .*model\.safetensors"),
        (
            lambda f: (f / "model.safetensors").write_bytes(
                (f / "model.safetensors").read_bytes()[:-9]
            ),
            "no readable safetensors",
        ),
        (lambda f: _change_tensor(f, "pca.mean", None), r"lacks the tensors \['pca.mean'\]"),
        (lambda f: _change_tensor(f, "logistic.coef", lambda t: t[:-1]), "pca.components is"),
        (
            lambda f: _change_tensor(f, "logistic.coef", lambda t: t[0]),
            r"logistic\.coef is float64 \(\), expected float64 \(1,\)",
        ),
        (
            lambda f: _change_tensor(f, "logistic.coef", lambda t: t[None]),
            r"logistic\.coef is float64 \(1, 12\), expected float64 \(12,\)",
        ),
        (
            lambda f: _change_tensor(f, "logistic.intercept", lambda t: t[0]),
            r"logistic\.intercept is float64 \(\), expected float64 \(1,\)",
        ),
        (
            lambda f: save_bfloat16(
                {"pca.mean": torch.ones(12).bfloat16()}, f / "model.safetensors"
            ),
            "no readable safetensors file: data type 'bfloat16'",
        ),
        (
            lambda f: _change_tensor(f, "pca.components", lambda t: t[0, 0]),
            r"pca\.components is float64 \(\), expected float64 \(12, 12\)",
        ),
        (lambda f: _change_tensor(f, "scaler.mean", lambda t: t.astype("f4")), "is float32"),
        (lambda f: _change_tensor(f, "pca.mean", lambda t: t * np.nan), "not finite"),
        (lambda f: _change_tensor(f, "scaler.scale", lambda t: t * 0), "not above 0"),
        (lambda f: _change_tensor(f, "scaler.mean", lambda t: t + 1), "disagree"),
        (lambda f: _change_tensor(f, "folded.bias", lambda t: t + 1), "disagree"),
    ],
)
def test_malformed_folders_are_refused_by_name(folder, spoil, message):
    spoil(folder)
    with pytest.raises(ValueError, match=message):
        PreferenceEstimator.from_pretrained(folder)


def test_targets_have_a_row_per_step_of_the_store(planted, final, folder):
    loaded = PreferenceEstimator.from_pretrained(folder)
    targets = label_targets(planted.store, loaded)
    assert targets.columns.tolist() == ["step_id", "episode_id", "target", "form"]
    assert targets["step_id"].tolist() == planted.store.step_ids
    expected = final.target(planted.store.shift("block.4"), "signed")
    np.testing.assert_allclose(targets["target"], expected)
    probability = label_targets(planted.store, loaded, form="probability")
    np.testing.assert_allclose(2 * probability["target"] - 1, targets["target"], atol=1e-12)
    assert set(probability["form"]) == {"probability"}


def test_exported_form_is_the_default_form(planted):
    fitted = fit_final(planted.store, planted.preferences, target_form="logit", n_bootstrap=10)
    assert set(label_targets(planted.store, fitted)["form"]) == {"logit"}


@pytest.mark.parametrize(
    ("layout", "width", "message"),
    [
        ({"sites": ["embed", "block.0"]}, 12, r"site 'block\.4' is not in the store"),
        ({}, 13, "width is 13 in the store, 12 in the estimator"),
        ({"positive": "text", "negative": "image"}, 12, "sign is 'text - image' in the store"),
        ({"fingerprint": {"model": "large"}}, 12, "model is 'large'"),
        ({"fingerprint": {"revision": "def"}}, 12, "revision is 'def'"),
        (
            {"fingerprint": {"weights_sha256": "ff"}},
            12,
            "weights_sha256 is 'ff' in the store, '0f' in",
        ),
        ({"fingerprint": {"dtype": "float32"}}, 12, "dtype is 'float32'"),
        ({"fingerprint": {"dialect": "qwen3-vl"}}, 12, "dialect is 'qwen3-vl'"),
        ({"fingerprint": {"template_sha256": "ff"}}, 12, "template_sha256 is 'ff'"),
        ({"fingerprint": {"processor_sha256": "ff"}}, 12, "processor_sha256 is 'ff'"),
    ],
)
def test_other_stores_are_refused_naming_what_differs(make_world, final, layout, width, message):
    fingerprint = final.config.fingerprint | layout.get("fingerprint", {})
    options = {"sites": ["embed", "block.4"], **layout, "fingerprint": fingerprint}
    other = make_world(
        np.zeros((2, 4, width)), np.array([0, 1, 0, 1]), np.arange(4), name="other", **options
    )
    with pytest.raises(ValueError, match=message):
        label_targets(other.store, final)


def test_store_of_another_engine_and_library_version_is_accepted(make_world, final):
    other = make_world(
        np.zeros((2, 4, 12)), np.array([0, 1, 0, 1]), np.arange(4), name="other",
        sites=["embed", "block.4"],
        fingerprint=final.config.fingerprint | {"engine": "hooks", "version.torch": "3"},
    )  # fmt: skip
    assert len(label_targets(other.store, final)) == 4


def test_push_uploads_the_saved_folder(final, folder, monkeypatch):
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
    assert final.push_to_hub("me/estimator", private=True) == "https://hub/commit"
    assert calls["create"] == ("me/estimator", {"private": True, "exist_ok": True})
    assert calls["files"] == {p.name: p.read_bytes() for p in folder.iterdir()}


def test_hub_repositories_are_downloaded_and_unknown_names_refused(folder, monkeypatch):
    asked = []

    def download(repo_id, *, revision, token, allow_patterns):
        asked.append((repo_id, revision, sorted(allow_patterns)))
        return str(folder)

    monkeypatch.setattr("probes.folder.snapshot_download", download)
    loaded = PreferenceEstimator.from_pretrained("me/estimator", revision="v1")
    assert loaded.config.site == "block.4"
    assert asked == [("me/estimator", "v1", ["README.md", "config.json", "model.safetensors"])]
    monkeypatch.undo()
    with pytest.raises(ValueError, match="neither a folder here nor an estimator"):
        PreferenceEstimator.from_pretrained("./no/such/folder")


def test_targets_can_be_written_as_parquet(planted, final, tmp_path):
    targets = label_targets(planted.store, final)
    targets.to_parquet(tmp_path / "targets.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "targets.parquet"), targets)
