"""Stage `report`: the figures of a finished run and its page.

Convention: every figure is drawn from what the stages before left in the run folder, so they can be
drawn again on another day, and is written as PNG and SVG under one name.
"""

from __future__ import annotations

import json

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import figures
from actor import get_dialect
from episodes import Action
from memory import Query
from workbench.atomic import write_file, write_folder
from workbench.pairs import read_pairs, representations
from workbench.report import render_report
from workbench.results import Results, read_results
from workbench.run import Run
from workbench.summary import facts

FIGURES: dict[str, tuple[str, str]] = {
    "layer_curve": (
        "Where the preference can be read",
        "AUROC of a probe on the shift at each layer, out of fold, with its 95 % interval over "
        "episodes; beside it the same with shuffled labels, and from the prompts' token counts alone.",
    ),
    "layer_curves": (
        "By episode and across tasks",
        "Folds that keep episodes whole, against folds that keep tasks whole: the second asks whether "
        "the direction carries over to tasks that were not seen.",
    ),
    "auroc_within_task": (
        "Inside each task",
        "Pooled over tasks, the task alone may explain a high AUROC; inside one it cannot.",
    ),
    "auroc_within_query": ("Inside each kind of query", ""),
    "funnel": ("Label funnel", ""),
    "utility_by_task": ("Utility of both conditions, by task", ""),
    "shift_norm": ("Length of the shift, by layer", ""),
    "shifts_umap": ("Shifts of the last block, UMAP", ""),
    "shifts_pca": ("Shifts of the last block, PCA", ""),
}
"""Name of a figure's files → its title and caption in the report, in the report's order; examples of
single steps (`example_<condition>`) come last."""


def report(run: Run) -> None:
    """Make `figures/` and `report.html`."""
    results = read_results(run)
    if not run.has("figures"):
        drawn = draw_figures(results)
        write_folder(
            run.path("figures"),
            lambda folder: [figures.save_figure(d, folder, name) for name, d in drawn.items()],
        )
    page = report_page(results)
    write_file(run.path("report.html"), lambda path: path.write_text(page, encoding="utf-8"))


def report_page(results: Results) -> str:
    """The HTML of `report.html`, with the figures that lie in the run folder."""
    run = results.run
    examples = {
        f"example_{side}": (f"A step that prefers {side.capitalize()}", "")
        for side in (results.preferences.negative, results.preferences.positive)
    }
    titles = {
        name: title
        for name, title in (FIGURES | examples).items()
        if run.has(f"figures/{name}.png")
    }
    return render_report(
        run.config.run.name,
        summary=facts(results),
        funnel=results.preferences.funnel,
        figures={
            title: run.path(f"figures/{name}.png").read_bytes()
            for name, (title, _) in titles.items()
        },
        tables={
            "AUROC by layer": results.curve.table,
            "Utility by task": figures.utility_by_task(results.preferences),
        },
        configuration=run.config.to_toml(),
        versions=json.loads(run.path("versions.json").read_text()),
        captions={title: caption for title, caption in titles.values() if caption},
    )


def draw_figures(results: Results) -> dict[str, Axes | Figure]:
    """Every figure of a run, by name."""
    preferences, curve = results.preferences, results.curve
    curves = {"by episode": curve}
    if results.across_tasks is not None:
        curves["across tasks"] = results.across_tasks
    drawn: dict[str, Axes | Figure] = {
        "layer_curve": figures.plot_layer_curve(curve),
        "layer_curves": figures.plot_layer_curves(curves),
        "funnel": figures.plot_funnel(preferences),
        "utility_by_task": figures.plot_utility_by_task(preferences),
        "shift_norm": figures.plot_shift_norm(figures.shift_norms(results.store), preferences),
    }
    for column, table in results.within.items():
        drawn[f"auroc_within_{column}"] = figures.plot_auroc_within(
            table, curve, site=str(curve.peak["site"])
        )
    return drawn | _projections(results) | _examples(results)


def _projections(results: Results) -> dict[str, Axes | Figure]:
    """Shifts of the non-tied steps at the last block, in the plane."""
    labels = results.preferences.labels("non_tied")
    rows = [row for row, step in enumerate(results.store.step_ids) if step in labels.index]
    shifts = results.store.shift(str(results.curve.final["site"]), rows)
    preferred = labels.loc[[results.store.step_ids[row] for row in rows]]
    seed = results.run.config.run.seed
    return {
        f"shifts_{method}": figures.plot_projection(
            figures.project_shifts(shifts, method, seed=seed),
            preferred,
            negative=results.preferences.negative,
            positive=results.preferences.positive,
            method=method,
        )
        for method in ("umap", "pca")
    }


def _examples(results: Results) -> dict[str, Axes | Figure]:
    """One step that prefers each side: the stable one with the largest difference."""
    preferences, queries = results.preferences, read_pairs(results.run)
    by_id = {query.step.step_id: query for query in queries}
    differences = preferences.table.set_index("step_id")["difference"].abs()
    drawn = {}
    for side, labels in preferences.labels("stable").groupby(preferences.labels("stable")):
        best = differences.loc[labels.index].idxmax()
        drawn[f"example_{side}"] = draw_example(results, by_id[str(best)])
    return drawn


def draw_example(results: Results, query: Query) -> Figure:
    """A query: its screen, its memory in both forms, and what the actor answered to each."""
    preferences, config = results.preferences, results.run.config
    dialect = get_dialect(results.store.fingerprint["dialect"])
    shown = representations(config.memory, ("text", "image"))
    text = "\n".join(part["text"] for part in shown["text"](query.memory, dialect))
    image = next(p["image"] for p in shown["image"](query.memory, dialect) if "image" in p)
    samples = results.samples.loc[results.samples["step_id"] == query.step.step_id]
    of_side = {
        side: samples.loc[samples["condition"] == side].sort_values("k")
        for side in (preferences.negative, preferences.positive)
    }
    return figures.show_pair(
        query.step.image,
        image,
        text,
        instruction=query.instruction,
        answers={
            side: [_printable(text) for text in rows["text"]] for side, rows in of_side.items()
        },
        scores={side: rows["score"].tolist() for side, rows in of_side.items()},
        clicks={side: [_point(a) for a in rows["action"]] for side, rows in of_side.items()},
        target=query.step.target,
        negative=preferences.negative,
        positive=preferences.positive,
    )


def _point(action: str | None) -> tuple[float, float] | None:
    return Action.from_json(action).point if isinstance(action, str) else None


def _printable(text: str) -> str:
    """An answer without control characters, which no font has and no SVG may hold."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
