"""Calls the windtunnel command for the notebooks, and keeps their charts alike."""

import io
import json
import os
import shlex
import subprocess

import matplotlib
import matplotlib.pyplot as plt
import polars as pl

PROGRAM = os.environ.get("WINDTUNNEL", "windtunnel")

# Okabe and Ito's colours, which the colour-blind tell apart.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]

matplotlib.rcParams.update({
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.figsize": (7.2, 3.2),
    "figure.dpi": 80,
    "font.size": 9,
    "legend.frameon": False,
})

pl.Config.set_tbl_hide_dataframe_shape(True)
pl.Config.set_tbl_hide_column_data_types(True)
pl.Config.set_fmt_str_lengths(80)
pl.Config.set_tbl_width_chars(110)
pl.Config.set_tbl_rows(20)
pl.Config.set_float_precision(3)


def windtunnel(command: str) -> str:
    """What `windtunnel COMMAND` prints. A failed gate (exit code 1) or an undecided one (3) is an
    answer; anything else that is no success is raised with the program's own message."""
    done = subprocess.run([PROGRAM, *shlex.split(command)], capture_output=True, text=True)
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return done.stdout


def windtunnel_json(command: str) -> dict:
    """The report of `windtunnel COMMAND --format json`."""
    return json.loads(windtunnel(f"{command} --format json"))


def reproduce(report: dict) -> str:
    """The line that names a report, so that anybody can make it again."""
    run = report["windtunnel"]
    return f"windtunnel {run['version']}, seed {run['seed']}, scenario {run['scenario_hash'][:12]}"


def plus_minus(measure: dict) -> tuple[float, float]:
    """A measure's value and the half of its 95 % interval."""
    low, high = measure["ci95"]
    return measure["value"], (high - low) / 2
