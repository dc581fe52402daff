import numpy as np
import xarray
from activation_samples import CONDITIONS, SITES, fill, make_store

from activations import ActivationStore


def test_dataset_has_labels_and_decoded_states(tmp_path):
    states = fill(make_store(tmp_path / "a.zarr")).float().numpy()
    dataset = ActivationStore.open(tmp_path / "a.zarr").to_xarray()
    assert dataset.states.dims == ("step", "condition", "site", "feature")
    assert np.array_equal(dataset.states, states)
    picked = dataset.states.sel(site="block.0", condition="image", step=["step-7", "step-2"])
    assert np.array_equal(picked, states[[7, 2], 1, 1])
    episode = dataset.where(dataset.episode_id == "episode-3", drop=True)
    assert list(episode.step.values) == ["step-6", "step-7"]
    assert dataset.attrs["positive"] == "image"
    assert dataset.attrs["fingerprint.revision"] == "1"


def test_steps_that_are_not_done_are_nan(tmp_path):
    fill(make_store(tmp_path / "a.zarr"), [1])
    dataset = ActivationStore.open(tmp_path / "a.zarr").to_xarray()
    finite = np.isfinite(dataset.states).all(["condition", "site", "feature"])
    assert np.array_equal(finite, dataset.done)
    assert dataset.done.values.sum() == 4


def test_plain_xarray_opens_the_folder(tmp_path):
    fill(make_store(tmp_path / "a.zarr", dtype="float32"))
    dataset = xarray.open_zarr(tmp_path / "a.zarr", consolidated=False, chunks=None)
    assert dataset.states.dims == ("step", "condition", "site", "feature")
    assert tuple(dataset.condition.values) == CONDITIONS
    assert tuple(dataset.site.values) == SITES
    assert dataset.attrs["encoding-type"] == "mnemoscope-activations"
