"use strict";
// Without this script the document is complete; with it, charts answer questions: values under the
// pointer or the arrow keys, names switched on and off, a closer look at a stretch of time.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SIDE = 10000, MARGIN = 150, BAND_ROOM = 0.3;
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const draw = (tag, attributes, text) => {
    const element = document.createElementNS(SVG, tag);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // Light or dark: as the system has it, until the reader says otherwise.
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (prefersDark.matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });
  prefersDark.addEventListener("change", nameTheme);
  theme.setAttribute("title", "Light or dark colours");
  theme.hidden = false;
  nameTheme();

  // What is folded is printed all the same.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details.folded:not([open])");
    opened.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));

  // Numbers and times, as the program writes them.
  const decimalsOf = (step) => Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const figure = (value, decimals, axis) => {
    const text = Math.abs(value).toFixed(decimals);
    const sign = value < 0 && Number(text) !== 0 ? "−" : "";
    return sign + axis.before + text + axis.after;
  };
  const roundStep = (least) => {
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].find((step) => step * power >= least * (1 - 1e-9)) * power;
  };
  const TIMES = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
    86400, 172800, 604800, 2419200];
  const timeStep = (least) => TIMES.find((step) => step >= least) || roundStep(least / 86400) * 86400;
  const two = (n) => String(n).padStart(2, "0");
  const clock = (seconds, longest, step) => {
    const whole = Math.round(seconds);
    const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    if (longest < 3600) return Math.floor(whole / 60) + ":" + two(s);
    return step < 60 ? h + ":" + two(m) + ":" + two(s) : h + ":" + two(m);
  };
  const multiples = (lo, hi, step) => {
    const list = [];
    for (let n = Math.ceil(lo / step - 1e-9); n * step <= hi + step * 1e-9; n += 1) list.push(n * step);
    return list;
  };

  const legend = all("[data-switch]");
  const names = legend.map((button) => button.textContent);
  const isOff = (of) => legend[of] !== undefined && legend[of].getAttribute("aria-pressed") === "false";
  const nameOf = (of) => names[of] || "";

  const plots = all(".plot[data-chart]").map((plot) => {
    const chart = { plot, data: JSON.parse(plot.dataset.chart), at: -1 };
    chart.figure = plot.closest("figure");
    chart.ink = plot.querySelector(".ink");
    chart.tip = plot.appendChild(make("div", "tip"));
    chart.tip.setAttribute("role", "status");
    chart.tip.hidden = true;
    plot.tabIndex = 0;
    return chart;
  });
  const times = plots.filter((chart) => chart.data.kind === "time");
  const scatters = plots.filter((chart) => chart.data.kind === "scatter");
  const lines = plots.filter((chart) => chart.data.kind !== "scatter");

  // One stretch of time for all charts of time, in seconds.
  const whole = times.length > 0 && (() => {
    const { from, step, n } = times[0].data;
    return [from, from + step * n];
  })();
  let span = whole;

  lines.forEach((chart) => {
    chart.view = chart.ink.querySelector(".drawing");
    chart.grid = chart.ink.querySelector(".grid");
    chart.left = chart.figure.querySelector(".y-axis");
    chart.below = chart.plot.querySelector(".x-axis");
    chart.strips = all(".strip", chart.plot);
    chart.height = chart.ink.height.baseVal.value;
    chart.cursor = chart.ink.appendChild(draw("line", { class: "cursor", y1: 0, y2: chart.height, visibility: "hidden" }));
    const { from, step, n } = chart.data;
    chart.places = chart.data.at || Array.from({ length: n }, (_, i) => ((i + 0.5) / n) * SIDE);
    chart.window = () => {
      if (chart.data.kind !== "time") return [0, SIDE];
      return span.map((at) => ((at - from) / (step * n)) * SIDE);
    };
  });

  // Stretches a drawing to what is in sight, and writes its axes anew.
  const refit = (chart) => {
    const { y } = chart.data;
    const [left, right] = chart.window();
    const shown = chart.data.lines.filter((line) => !isOff(line.of));
    const inside = chart.places.map((_, i) => i).filter((i) => chart.places[i] >= left && chart.places[i] <= right);
    const known = (list) => inside.map((i) => list[i]).filter((v) => v !== null && v !== undefined);
    const values = shown.flatMap((line) => known(line.v));
    let [lo, hi] = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
    const most = (hi - lo) * BAND_ROOM, bounds = shown.flatMap((line) => known(line.b));
    [lo, hi] = bounds.reduce(([a, b], [from, to]) => [Math.min(a, Math.max(from, lo - most)), Math.max(b, Math.min(to, hi + most))], [lo, hi]);
    const untouched = y.log || lo > hi || (chart.data.kind !== "time" || span === whole) && !legend.some((_, of) => isOff(of));
    if (untouched) {
      [lo, hi] = [y.lo, y.hi];
    } else {
      const room = hi === lo ? (hi === 0 ? 0.5 : Math.abs(hi) * 0.001) : (hi - lo) * 0.06;
      const floor = y.least === null ? -Infinity : y.least, roof = y.most === null ? Infinity : y.most;
      [lo, hi] = [lo - floor < 0.5 * (hi - lo) ? floor : Math.max(lo - room, floor), Math.min(hi + room, roof)];
    }
    const log = (v) => (y.log ? Math.log(v) : v);
    const down = (v) => (1 - (log(v) - log(y.lo)) / (log(y.hi) - log(y.lo))) * SIDE;
    const [top, bottom] = [down(hi), down(lo)];
    const margin = ((bottom - top) * MARGIN) / SIDE;
    const view = [left, top - margin, right - left, bottom - top + 2 * margin];
    chart.view.setAttribute("viewBox", view.join(" "));
    chart.strips.forEach((strip) => strip.setAttribute("viewBox", [left, 0, right - left, 1].join(" ")));
    chart.pixel = (v) => ((down(v) - view[1]) / view[3]) * chart.height;
    if (!y.log) {
      const step = roundStep((hi - lo) / 4);
      chart.decimals = decimalsOf(step);
      chart.grid.replaceChildren();
      chart.left.replaceChildren();
      multiples(lo, hi, step).forEach((v) => {
        const at = chart.pixel(v);
        chart.grid.append(draw("line", { x1: 0, x2: "100%", y1: at, y2: at }));
        chart.left.append(draw("text", { x: 56, y: at, dy: "0.32em", "text-anchor": "end" }, figure(v, chart.decimals, y)));
      });
    } else {
      chart.decimals = decimalsOf(y.lo);
    }
    if (chart.data.kind === "time") timeAxis(chart);
  };
  const timeAxis = (chart) => {
    const [from, to] = span;
    const wanted = Math.max(2, Math.floor(chart.plot.clientWidth / 84));
    const step = timeStep((to - from) / wanted);
    chart.below.replaceChildren();
    multiples(from, to, step).forEach((at) => {
      const place = (at - from) / (to - from);
      const anchor = place > 0.97 ? "end" : "middle";
      chart.below.append(draw("text", { x: place * 100 + "%", y: 16, "text-anchor": anchor }, clock(at, whole[1], step)));
    });
  };

  // What is shown of a position: its time or parameter, and a row for each name.
  const headOf = (chart, i) => {
    const { kind, from, step, shown, label } = chart.data;
    if (kind !== "time") return label + ": " + shown[i];
    const fine = step < 60 ? 1 : 60;
    return clock(from + i * step, whole[1], fine) + " – " + clock(from + (i + 1) * step, whole[1], fine);
  };
  const more = (chart) => chart.decimals + 2;
  const valueOf = (chart, line, i) => {
    const { y } = chart.data;
    if (line.v[i] === null || line.v[i] === undefined) return "–";
    const value = figure(line.v[i], more(chart), y);
    const band = line.b[i];
    return band ? value + " (" + band.map((v) => v.toFixed(more(chart))).join(" – ") + ")" : value;
  };
  const place = (chart, share) => {
    const width = chart.plot.clientWidth, own = chart.tip.offsetWidth;
    const x = share * width;
    chart.tip.style.left = Math.max(0, Math.min(width - own, x > width / 2 ? x - own - 12 : x + 12)) + "px";
  };
  const row = (of, value) => {
    const line = make("div");
    const sample = legend[of] && legend[of].querySelector("svg");
    if (sample) line.append(sample.cloneNode(true));
    if (nameOf(of)) line.append(make("span", "", nameOf(of)));
    line.append(make("span", "", value));
    return line;
  };
  const pointAt = (chart, i, loud) => {
    const [left, right] = chart.window();
    chart.at = i;
    const share = (chart.places[i] - left) / (right - left);
    chart.cursor.setAttribute("x1", share * 100 + "%");
    chart.cursor.setAttribute("x2", share * 100 + "%");
    chart.cursor.setAttribute("visibility", "visible");
    chart.tip.hidden = !loud;
    if (!loud) return;
    const rows = chart.data.lines.filter((line) => !isOff(line.of)).map((line) => row(line.of, valueOf(chart, line, i)));
    chart.tip.replaceChildren(make("b", "", headOf(chart, i)), ...rows);
    place(chart, share);
  };
  const leave = (chart) => {
    if (!chart.cursor) { chart.tip.hidden = true; return; }
    const group = chart.data.kind === "time" ? times : [chart];
    group.forEach((other) => {
      other.cursor.setAttribute("visibility", "hidden");
      other.tip.hidden = true;
    });
  };
  // Charts of time point together; the others of them quietly.
  const point = (chart, i) => {
    const at = chart.places[i];
    pointAt(chart, i, true);
    if (chart.data.kind !== "time") return;
    times.filter((other) => other !== chart).forEach((other) => pointAt(other, nearest(other, at), false));
  };
  const nearest = (chart, at) => {
    let best = 0;
    chart.places.forEach((p, i) => { if (Math.abs(p - at) < Math.abs(chart.places[best] - at)) best = i; });
    return best;
  };
  const atPointer = (chart, event) => {
    const box = chart.ink.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    const [left, right] = chart.window();
    return left + share * (right - left);
  };
  const inSight = (chart) => {
    const [left, right] = chart.window();
    return chart.places.map((p, i) => i).filter((i) => chart.places[i] >= left && chart.places[i] <= right);
  };

  const show = (from, to) => {
    const { step } = times[0].data;
    const long = Math.min(Math.max(to - from, 4 * step), whole[1] - whole[0]);
    const start = Math.min(Math.max((from + to - long) / 2, whole[0]), whole[1] - long);
    span = long >= whole[1] - whole[0] ? whole : [start, start + long];
    times.forEach((chart) => { leave(chart); refit(chart); });
    zoomed();
  };
  const scale = (factor) => {
    const middle = (span[0] + span[1]) / 2, half = ((span[1] - span[0]) / 2) * factor;
    show(middle - half, middle + half);
  };
  const shift = (share) => {
    const by = (span[1] - span[0]) * share;
    show(span[0] + by, span[1] + by);
  };
  let zoomed = () => {};
  if (whole) {
    const bar = make("div", "zoom");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Time shown");
    const button = (text, label, act) => {
      const element = make("button", "button", text);
      element.type = "button";
      element.setAttribute("aria-label", label);
      element.addEventListener("click", act);
      bar.append(element);
      return element;
    };
    const closer = button("+", "Zoom in", () => scale(0.5));
    const wider = button("−", "Zoom out", () => scale(2));
    const earlier = button("‹", "Earlier", () => shift(-0.5));
    const later = button("›", "Later", () => shift(0.5));
    const reset = button("All", "The whole time", () => show(...whole));
    const words = bar.appendChild(make("span"));
    words.setAttribute("role", "status");
    zoomed = () => {
      const isWhole = span === whole;
      wider.disabled = isWhole;
      reset.disabled = isWhole;
      earlier.disabled = span[0] <= whole[0];
      later.disabled = span[1] >= whole[1];
      closer.disabled = span[1] - span[0] <= 4 * times[0].data.step * 1.001;
      const [from, to] = span.map((at) => clock(at, whole[1], times[0].data.step < 60 ? 1 : 60));
      words.textContent = isWhole ? "Drag across a chart to zoom." : "Showing " + from + " – " + to + ".";
    };
    times[0].figure.before(bar);
    zoomed();
  }

  lines.forEach((chart) => {
    const isTime = chart.data.kind === "time";
    let start = null, brush = null;
    const stop = () => {
      if (brush) brush.remove();
      [start, brush] = [null, null];
    };
    chart.plot.addEventListener("pointerdown", (event) => {
      if (!isTime || event.button !== 0 || event.pointerType === "touch") return;
      start = event.clientX;
      chart.plot.setPointerCapture(event.pointerId);
    });
    chart.plot.addEventListener("pointermove", (event) => {
      point(chart, nearest(chart, atPointer(chart, event)));
      if (start === null || Math.abs(event.clientX - start) < 6) return;
      const box = chart.ink.getBoundingClientRect();
      brush = brush || chart.ink.appendChild(draw("rect", { class: "brush", y: 0, height: chart.height }));
      const ends = [start, event.clientX].map((x) => Math.max(0, Math.min(box.width, x - box.left))).sort((a, b) => a - b);
      brush.setAttribute("x", ends[0]);
      brush.setAttribute("width", ends[1] - ends[0]);
    });
    chart.plot.addEventListener("pointerup", () => {
      if (brush) {
        const width = chart.ink.getBoundingClientRect().width;
        const ends = [brush.x.baseVal.value, brush.x.baseVal.value + brush.width.baseVal.value];
        const [from, to] = ends.map((x) => span[0] + (x / width) * (span[1] - span[0]));
        stop();
        show(from, to);
      }
      stop();
    });
    chart.plot.addEventListener("pointercancel", stop);
    chart.plot.addEventListener("pointerleave", () => { if (start === null) leave(chart); });
    chart.plot.addEventListener("blur", () => leave(chart));
    chart.plot.addEventListener("keydown", (event) => {
      const sight = inSight(chart);
      const here = sight.indexOf(chart.at);
      const go = { ArrowLeft: here - 1, ArrowRight: here + 1, PageUp: here - 10, PageDown: here + 10, Home: 0, End: sight.length - 1 }[event.key];
      if (go !== undefined && sight.length > 0) point(chart, sight[Math.max(0, Math.min(sight.length - 1, go))]);
      else if (isTime && (event.key === "+" || event.key === "=")) scale(0.5);
      else if (isTime && event.key === "-") scale(2);
      else if (isTime && event.key === "0") show(...whole);
      else if (event.key === "Escape") leave(chart);
      else return;
      event.preventDefault();
    });
    const hint = "Left and right arrow keys read values" + (isTime ? ", plus and minus zoom, 0 shows all." : ".");
    chart.plot.setAttribute("aria-description", hint);
    refit(chart);
  });

  scatters.forEach((chart) => {
    const { dots, x, y } = chart.data;
    // For the arrow keys, from left to right.
    const order = dots.map((_, i) => i).sort((a, b) => dots[a][1] - dots[b][1]);
    const digits = (k) => {
      const values = dots.map((dot) => dot[k]);
      const range = Math.max(...values) - Math.min(...values);
      return range > 0 ? decimalsOf(range / 1000) : 3;
    };
    const [dx, dy] = [digits(3), digits(4)];
    const tell = (i) => {
      const [of, share, , vx, vy, label] = dots[i];
      chart.at = i;
      chart.tip.hidden = false;
      const line = (axis, text) => {
        const element = make("div");
        element.append(make("span", "", axis.label), make("span", "", text));
        return element;
      };
      chart.tip.replaceChildren(make("b", "", label), row(of, ""), line(x, figure(vx, dx, x)), line(y, figure(vy, dy, y)));
      place(chart, share);
    };
    chart.plot.addEventListener("pointermove", (event) => {
      const box = chart.ink.getBoundingClientRect();
      let best = -1, least = 24 * 24;
      dots.forEach((dot, i) => {
        if (isOff(dot[0])) return;
        const away = (dot[1] * box.width - event.clientX + box.left) ** 2 + (dot[2] * box.height - event.clientY + box.top) ** 2;
        if (away < least) [best, least] = [i, away];
      });
      if (best < 0) leave(chart); else tell(best);
    });
    chart.plot.addEventListener("pointerleave", () => leave(chart));
    chart.plot.addEventListener("blur", () => leave(chart));
    chart.plot.addEventListener("keydown", (event) => {
      const seen = order.filter((i) => !isOff(dots[i][0]));
      const here = seen.indexOf(chart.at);
      const go = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: seen.length - 1 }[event.key];
      if (event.key === "Escape") leave(chart);
      if (go === undefined || seen.length === 0) return;
      tell(seen[Math.max(0, Math.min(seen.length - 1, go))]);
      event.preventDefault();
    });
    chart.plot.setAttribute("aria-description", "Left and right arrow keys read points.");
  });

  // Tables of what charts show, made when somebody asks.
  const table = (caption, heads, rows) => {
    const frame = make("div", "scroll");
    frame.tabIndex = 0;
    const element = frame.appendChild(make("table"));
    element.append(make("caption", "", caption));
    const cells = (tag, texts) => {
      const line = make("tr");
      texts.forEach((text, i) => {
        const cell = line.appendChild(make(i === 0 ? "th" : tag, i === 0 ? "" : "number", text));
        if (cell.tagName === "TH") cell.scope = tag === "th" ? "col" : "row";
      });
      return line;
    };
    element.appendChild(make("thead")).append(cells("th", heads));
    element.appendChild(make("tbody")).append(...rows.map((texts) => cells("td", texts)));
    return frame;
  };
  plots.forEach((chart) => {
    const details = chart.figure.querySelector("details.data");
    details.hidden = false;
    details.addEventListener("toggle", () => {
      if (!details.open || details.querySelector("table")) return;
      const { kind, lines: of, dots, x, y, n } = chart.data;
      if (kind === "scatter") {
        const rows = dots.map((dot) => [dot[5], nameOf(dot[0]), String(dot[3]), String(dot[4])]);
        details.append(table(x.label + ", " + y.label, ["", "kind", x.label, y.label], rows));
        return;
      }
      const rows = Array.from({ length: n }, (_, i) => [headOf(chart, i), ...of.map((line) => valueOf(chart, line, i))]);
      details.append(table(y.label, [kind === "time" ? "time" : chart.data.label, ...of.map((line) => nameOf(line.of) || "value")], rows));
    });
  });

  legend.forEach((button, of) => button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(isOff(of)));
    all('[data-of="' + of + '"]').forEach((element) => {
      if (isOff(of)) element.setAttribute("hidden", ""); else element.removeAttribute("hidden");
      if (element.namespaceURI === SVG) element.setAttribute("display", isOff(of) ? "none" : "inline");
    });
    plots.forEach((chart) => leave(chart));
    lines.forEach(refit);
  }));
  let pending = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(() => times.forEach(timeAxis));
  });
})();
