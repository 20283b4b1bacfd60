#!/usr/bin/env python3
"""How the figures of the model cards were computed.

Reads the data sets named below from ../../shared/data (or the directory given as argument) and
prints the tables the cards quote: quantiles of time to headers, time to first token and pace per
model, the slope of the first token over the prompt's length, and list prices. It is a record,
not a part of the program: nothing reads its output. Python 3.8 or later, nothing else.

    thefastest_samples.csv      fixie-ai/thefastest.ai, MIT, 2024-04 to 2024-05
    llmperf_samples.csv         ray-project/llmperf-leaderboard, Apache-2.0, 2023-12 to 2024-01
    bedrock_claude_instant.csv  ssong1/llmperf-bedrock, Apache-2.0 as declared there, 2024
    epoch_ttft_vs_input.csv     epoch-research/ttft-latency-scaling, MIT, 2026
    burstgpt1_first400.csv,
    burstgpt3_first400.csv      HPMLL/BurstGPT, CC-BY-4.0, 2023 to 2024
    prices.json                 litellm 1.110.2, MIT
"""

import csv
import json
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "..", "shared", "data")
Z95 = statistics.NormalDist().inv_cdf(0.95)


def rows(name):
    """All rows of a data set."""
    with open(os.path.join(DATA, name), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def numbers(table, column):
    """The positive figures of a column; a duration of zero was not measured."""
    found = [float(r[column]) for r in table if r[column] not in ("", None)]
    return [v for v in found if v > 0]


def quantile(values, p):
    """Linear interpolation between order statistics."""
    ordered = sorted(values)
    at = p * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def lognormal(values):
    """Maximum likelihood: median and sigma."""
    logs = [math.log(v) for v in values if v > 0]
    return math.exp(statistics.fmean(logs)), statistics.pstdev(logs)


def line(label, values, scale=1000.0):
    """One row of a table, in milliseconds unless `scale` says otherwise."""
    cells = [f"{quantile(values, p) * scale:8.1f}" for p in (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)]
    median, sigma = lognormal(values)
    print(f"{label:44}{len(values):5}" + "".join(cells) + f"   LN({median * scale:.1f}, {sigma:.2f})")


def heading(text):
    print(f"\n## {text}")
    print(f"{'':44}{'n':>5}" + "".join(f"{p:>8}" for p in ("p5", "p25", "p50", "p75", "p95", "p99")))


FASTEST = {
    "openai gpt-4-1106": ["openai/gpt-4-1106-preview", "gpt-4-1106-preview"],
    "openai gpt-4-turbo": ["openai/gpt-4-turbo", "gpt-4-turbo"],
    "azure eastus2 gpt-4-1106": [
        "azure.eastus2/gpt-4-1106-preview", "fixie-eastus2.azure/gpt-4-1106-preview"],
    "azure swedencentral gpt-4-1106": [
        "azure.secentral/gpt-4-1106-preview", "fixie-secentral.azure/gpt-4-1106-preview"],
    "anthropic claude-3-sonnet": ["anthropic/claude-3-sonnet-20240229", "claude-3-sonnet-20240229"],
    "groq llama-3-70b": ["groq.com/llama-3-70b-chat", "groq.com/llama3-70b-8192"],
    "google gemini-pro": ["google/gemini-pro"],
}


def thefastest():
    """Medians per region and pooled. A run calls from Seattle (sea), Virginia (iad), Paris (cdg)."""
    table = [r for r in rows("thefastest_samples.csv") if not r["error"]]
    medians = {}
    for region in ("iad", "sea", "cdg", None):
        heading(f"thefastest.ai, ms, {region or 'three regions pooled'}")
        for label, names in FASTEST.items():
            mine = [r for r in table if r["model"] in names and region in (None, r["region"])]
            headers, first = numbers(mine, "ttr_s"), numbers(mine, "ttft_s")
            # 999 tokens/s is the site's cap: the answer came in one chunk.
            pace = [1 / v for v in numbers(mine, "tps") if 0 < v < 999]
            line(f"{label}: headers", headers)
            line(f"{label}: first token", first)
            line(f"{label}: per output token", pace)
            medians[label, region] = (quantile(first, 0.5), quantile(pace, 0.5))
            share = [float(r["ttr_s"]) / float(r["ttft_s"]) for r in mine
                     if float(r["ttft_s"]) > 0]
            print(f"{label + ': headers / first token':44}{len(share):5}{'':16}{quantile(share, .5):8.2f}")
    print("\n## Azure against OpenAI, the same model (gpt-4-1106), ratio of medians")
    for azure, region in (("azure eastus2 gpt-4-1106", "iad"), ("azure swedencentral gpt-4-1106", "cdg")):
        (first, pace), (openai_first, openai_pace) = medians[azure, region], medians["openai gpt-4-1106", region]
        print(f"{azure} from {region}: first token {first / openai_first:.2f}, "
              f"per output token {pace / openai_pace:.2f}")


def llmperf():
    heading("llmperf, ms: 550 tokens in, 150 out, us-west-2")
    table = [r for r in rows("llmperf_samples.csv") if not r["error_code"]]
    for provider, model in (("groq", "llama-2-70b"), ("bedrock", "llama-2-70b"), ("together", "llama-2-70b")):
        mine = [r for r in table if (r["provider"], r["model"]) == (provider, model)]
        line(f"{provider} {model}: first token", numbers(mine, "ttft_s"))
        line(f"{provider} {model}: per output token", numbers(mine, "decode_s_per_token"))


def bedrock():
    heading("Bedrock, Claude Instant, ms (the _dm runs do not stream: first token only)")
    table = rows("bedrock_claude_instant.csv")
    for run in sorted({r["run_id"] for r in table}):
        mine = [r for r in table if r["run_id"] == run]
        label = run.replace("bedrock_claude_instant_v1_", "")
        line(f"{label}: first token", numbers(mine, "ttft_s"))
        if "_dm" not in run:
            line(f"{label}: per output token", numbers(mine, "decode_s_per_token"))


def prompt_slope():
    """Theil-Sen (median of pairwise slopes) beside least squares, prompts up to 200,000 tokens."""
    print("\n## First token over prompt length, prompts up to 200,000 tokens (Epoch)")
    table = rows("epoch_ttft_vs_input.csv")
    for model in sorted({r["model"] for r in table}):
        for limit in (200_000, 1_000_000):
            points = [(float(r["input_tokens"]), float(r["ttft_s"])) for r in table
                      if r["model"] == model and float(r["input_tokens"]) <= limit]
            if len(points) < 10:
                continue
            slopes = [(y2 - y1) / (x2 - x1) for i, (x1, y1) in enumerate(points)
                      for x2, y2 in points[i + 1:] if x1 != x2]
            mx, my = (statistics.fmean(c) for c in zip(*points))
            ols = (sum((x - mx) * (y - my) for x, y in points)
                   / sum((x - mx) ** 2 for x, _ in points))
            print(f"{model:20} up to {limit:>8}: n {len(points):3}, "
                  f"Theil-Sen {statistics.median(slopes) * 1e6:6.2f} µs, "
                  f"least squares {ols * 1e6:6.2f} µs per prompt token")


def burstgpt():
    print("\n## BurstGPT: answers of 0 tokens are failures")
    for name in ("burstgpt1_first400.csv", "burstgpt3_first400.csv"):
        table = rows(name)
        failed = sum(1 for r in table if float(r["Response tokens"]) == 0)
        print(f"{name}: {failed} of {len(table)}")
    with_failures, without = 1_429.7, 1_404.3  # thousands of rows, from the data set's README
    print(f"whole first file: {(with_failures - without) / with_failures:.2%}")


def prices():
    print("\n## Prices, $ per million tokens (litellm 1.110.2)")
    wanted = {"gpt-4o", "gpt-4o-mini", "gpt-4.1", "azure/gpt-4o", "claude-sonnet-4-5",
              "anthropic.claude-sonnet-4-5-20250929-v1:0", "gemini/gemini-2.5-flash",
              "groq/openai/gpt-oss-120b"}
    with open(os.path.join(DATA, "prices.json"), encoding="utf-8") as f:
        for m in json.load(f)["models"]:
            if m["model"] in wanted:
                print(f"{m['model']:44} in {m['usd_per_m_input']}, out {m['usd_per_m_output']}, "
                      f"cached {m['usd_per_m_cached_input']}, context {m['max_input_tokens']}, "
                      f"output {m['max_output_tokens']}")


if __name__ == "__main__":
    thefastest()
    llmperf()
    bedrock()
    prompt_slope()
    burstgpt()
    prices()
