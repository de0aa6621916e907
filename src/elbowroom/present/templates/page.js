"use strict";
// The page of an answer: controls that say "certified" exactly where the region is, tabs, and the download.
// What decides is exact. Ends are compared as the floats they are; a budget is added up in whole numbers of any size where
// rounding could matter, as Body.contains does. Words go into the page as text, never as markup.
(function () {
  const ROUNDING = 1e-13;
  const STOPS = 200;

  // ---- exact arithmetic -------------------------------------------------------------------------------------------------
  function binary(x) { // x = mantissa * 2^exponent
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, x);
    const bits = view.getBigUint64(0), power = Number((bits >> 52n) & 2047n), fraction = bits & ((1n << 52n) - 1n);
    const sign = bits >> 63n ? -1n : 1n;
    return power === 0 ? [sign * fraction, -1074] : [sign * (fraction | (1n << 52n)), power - 1075];
  }
  function ratio(x, center, axis) { // |x - center| / axis as numerator and denominator
    const all = [x, center, axis].map(binary), least = Math.min(...all.map((part) => part[1]));
    const [a, b, c] = all.map(([mantissa, exponent]) => mantissa << BigInt(exponent - least));
    return [a < b ? b - a : a - b, c];
  }
  function spentExactly(shape, ratios) { // is the sum of phi at most 1?
    let top = 0n, bottom = 1n;
    for (const [n, d] of ratios) {
      const [over, under] = shape === "ball" ? [n * n, d * d] : [n, d];
      top = top * under + over * bottom;
      bottom *= under;
    }
    return top <= bottom;
  }
  const phi = (shape, t) => (shape === "ball" ? t * t : Math.abs(t));
  const gapFor = (shape, used) => (shape === "ball" ? Math.sqrt(used) : used);

  // ---- membership -------------------------------------------------------------------------------------------------------
  const isNumber = (control) => control.axis !== undefined;
  function sideHolds(control, side, value) {
    if (!isNumber(control)) return side.includes(value);
    return value !== null && side[0] <= value && value <= side[1] && (!control.whole || Number.isInteger(value));
  }
  function budget(set, controls, values, without) { // what is used of a ball or diamond; 0 in a box
    let used = 0;
    set.sides.forEach((side, i) => {
      if (i !== without && isNumber(controls[i]) && side[3] !== null && values[i] !== null) used += phi(set.shape, (values[i] - side[2]) / side[3]);
    });
    return used;
  }
  function holds(set, controls, values) {
    if (!controls.every((control, i) => sideHolds(control, set.sides[i], values[i]))) return false;
    if (set.shape === "box") return true;
    const shared = set.sides.map((side, i) => [side, i]).filter(([side, i]) => isNumber(controls[i]) && side[3] !== null);
    const used = budget(set, controls, values, -1);
    if (Math.abs(used - 1) > ROUNDING * (shared.length + 4)) return used < 1;
    return spentExactly(set.shape, shared.map(([side, i]) => ratio(values[i], side[2], side[3])));
  }

  // ---- numbers as they are read -----------------------------------------------------------------------------------------
  function show(x) {
    const size = Math.abs(x);
    if (size !== 0 && (size >= 1e15 || size < 1e-7)) return x.toExponential().replace("e+", "e");
    let text = String(x), tail = "";
    if (text.includes("e")) text = x.toFixed(20).replace(/0+$/, "");
    [text, tail] = text.split(".");
    return text.replace(/\B(?=(\d{3})+(?!\d))/g, ",") + (tail ? "." + tail : "");
  }
  function read(text) {
    const plain = text.replace(/[,\s\u2009\u202f']/g, "").replace("\u2212", "-");
    return plain === "" ? NaN : Number(plain);
  }
  function stopsOf(control, side) { // the values that arrows and dragging stop at: a grid, and every end itself
    const [low, high] = control.axis, rough = (high - low) / STOPS, ten = 10 ** Math.floor(Math.log10(rough));
    let step = [1, 2, 5, 10].map((k) => k * ten).find((s) => s >= rough * 0.999999) || rough;
    if (control.whole) step = Math.max(1, Math.round(step));
    else if (control.decimals !== undefined) step = Math.max(step, 10 ** -control.decimals);
    const found = new Set();
    for (let k = Math.ceil(low / step); k <= Math.floor(high / step) && found.size < 5 * STOPS; k++) found.add(Number((k * step).toPrecision(12)));
    for (const value of [low, high, side[0], side[1], control.now, control.rest]) {
      if (value !== null && low <= value && value <= high) found.add(value);
    }
    return [...found].filter((v) => !control.whole || Number.isInteger(v)).sort((a, b) => a - b);
  }

  // ---- bars that the page does not hold -----------------------------------------------------------------------------------
  function made(name, attributes, ...children) {
    const picture = ["svg", "rect", "circle", "path"].includes(name) && document.querySelector("svg"); // the page holds the first bars
    const element = picture ? document.createElementNS(picture.namespaceURI, name) : document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    element.append(...children);
    return element;
  }
  function drawn(control, set, side, name, unit) { // what a page with fewer features holds as markup
    const [low, high] = control.axis, at = (value) => 100 * Math.min(1, Math.max(0, (value - low) / (high - low))) + "%";
    const band = (kind) => made("rect", { x: at(side[0]), y: 19, width: Math.max(parseFloat(at(side[1])) - parseFloat(at(side[0])), 0.6) + "%", height: 20, rx: 3, class: kind });
    const picture = made("svg", { "aria-hidden": "true" }, made("rect", { x: 0, y: 26, width: "100%", height: 6, rx: 3, class: "track" }));
    if (set.shape !== "box" && side[3] !== null) picture.append(band("reach"));
    picture.append(band("room"));
    if (control.now !== null) picture.append(made("circle", { cx: at(control.now), cy: 29, r: 5, class: "factual" }));
    picture.append(made("svg", { x: at(control.center), overflow: "visible" }, made("path", { d: "M 0 24 l 5 5 l -5 5 l -5 -5 z", class: "center" })));
    const slider = made("input", { type: "range", min: 0, max: 1, step: "any", "aria-label": name });
    const field = made("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", size: 10 });
    const label = made("label", {}, "try ", made("span", { class: "away" }, name + " "), field);
    return made("div", {}, made("div", { class: "bar" }, picture, slider), made("div", { class: "try" }, label, " " + (unit || "")));
  }

  // ---- one answer -------------------------------------------------------------------------------------------------------
  function explore(root) {
    const data = JSON.parse(root.querySelector(".region-data").textContent);
    const controls = data.controls, shown = data.sets[0];
    if (!controls.length) return;
    controls.forEach((control, i) => { if (isNumber(control)) control.center = shown.sides[i][2]; });
    const rows = new Array(controls.length);
    root.querySelectorAll("[data-control]").forEach((row) => { rows[Number(row.dataset.control)] = row; });
    rows.forEach((row, i) => { if (row.classList.contains("brief")) row.append(drawn(controls[i], shown, shown.sides[i], data.names[i], data.units[i])); });
    const parts = rows.map((row) => ({ slider: row.querySelector("input[type=range]"), field: row.querySelector("input[type=text]"), select: row.querySelector("select"), room: row.querySelector(".room"), reach: row.querySelector(".reach") }));
    const rests = readable(), last = [];
    const stops = controls.map((control, i) => (isNumber(control) ? stopsOf(control, shown.sides[i]) : []));
    const verdict = root.querySelector(".verdict"), word = verdict.querySelector(".word"), why = verdict.querySelector(".why");
    const button = (name) => verdict.querySelector(`[data-go="${name}"]`);
    const said = (i, value) => (value === null ? "missing" : show(value) + (data.units[i] ? " " + data.units[i] : ""));
    let values = [...rests], offered = null;

    function readable() { // the centre as the texts tell it, if that is certified as well; else to the last digit
      const exact = controls.map((control) => control.center);
      const told = controls.map((c) => (!isNumber(c) || c.center === null || c.center === c.now ? c.center : Number(c.decimals === undefined ? c.center.toPrecision(6) : c.center.toFixed(Math.min(c.decimals, 20)))));
      const rest = holds(shown, controls, told) ? told : exact;
      controls.forEach((c, i) => { if (isNumber(c)) c.rest = rest[i]; });
      return rest;
    }
    function beyond(i) { // why a value is not in the region shown, in words; empty if it is
      const control = controls[i], value = values[i], side = shown.sides[i], name = data.names[i];
      if (sideHolds(control, side, value)) return "";
      if (!isNumber(control)) return `${name} is another one`;
      if (value === null) return `${name} is missing`;
      if (value < control.floor || value > control.ceiling) return `${name} ${control.direction || "has no such value"}`;
      if (control.whole && !Number.isInteger(value)) return `${name} is a whole number`;
      return value < side[0] ? `${name} is below ${said(i, side[0])}` : `${name} is above ${said(i, side[1])}`;
    }
    function witness() { // a known point of another outcome beyond the end that was left
      return data.witnesses.find((w) => (w.side < 0 ? values[w.control] < w.end : values[w.control] > w.end)) || null;
    }
    const same = (point) => point.every((value, i) => value === values[i]);
    function judge() {
      const set = data.sets.find((each) => holds(each, controls, values)), out = controls.map((_, i) => beyond(i));
      const broken = out.filter(Boolean), known = witness();
      const used = shown.shape === "box" ? "" : `Together they use ${Math.round(100 * budget(shown, controls, values, -1))} % of the ${shown.shape}.`;
      if (set) return { state: "certified", mark: "\u2713", word: `Certified: ${data.promise}.`, why: set.name ? `This point lies in ${set.name}.` : used, out };
      if (same(controls.map((control) => control.now))) return { state: "now", mark: "\u2022", word: `As it is now: the model says ${data.said}.`, why: "", out };
      if (known && same(known.point)) return { state: "refuted", mark: "\u2717", word: known.said ? `Refuted: here the model says ${known.said}.` : "Here the promise fails, or hangs on rounding.", why: "", out };
      const reasons = broken.length ? broken.slice(0, 3).join("; ") + (broken.length > 3 ? ` and ${broken.length - 3} more` : "") + "." : used;
      const beyondIt = known ? ` Beyond ${said(known.control, known.end)} a point is known ${known.said ? "at which the model says " + known.said : "at which the promise fails or hangs on rounding"}: ${data.names[known.control]} at ${said(known.control, known.point[known.control])}.` : "";
      return { state: "open", mark: "?", word: "Not proven.", why: reasons.charAt(0).toUpperCase() + reasons.slice(1) + beyondIt, out, known };
    }
    function place(i, value) { // the share of the axis at which a value stands
      const [low, high] = controls[i].axis;
      return Math.min(1, Math.max(0, (value - low) / (high - low)));
    }
    function drawBand(i) { // of a ball or diamond: what the others leave to this one
      const side = shown.sides[i], room = parts[i].room;
      if (shown.shape === "box" || side[3] === null) return;
      const left = Math.max(0, 1 - budget(shown, controls, values, i)), reach = side[3] * gapFor(shown.shape, left);
      const from = place(i, Math.max(side[0], side[2] - reach)), to = place(i, Math.min(side[1], side[2] + reach));
      room.setAttribute("x", 100 * from + "%");
      room.setAttribute("width", 100 * Math.max(to - from, 0.002) + "%");
    }
    function draw(editing) {
      const found = judge();
      const budgetBroken = found.state === "open" && !found.out.some(Boolean);
      controls.forEach((control, i) => {
        const { slider, field, select } = parts[i];
        const outside = found.state !== "certified" && (found.out[i] !== "" || (budgetBroken && isNumber(control) && shown.sides[i][3] !== null));
        rows[i].dataset.state = outside ? "out" : "in";
        if (select) { select.value = String(values[i]); return; }
        const value = values[i], key = [value, found.state, outside].join();
        drawBand(i);
        if (key === last[i] && field !== editing) return; // nothing to tell anew
        last[i] = key;
        slider.value = value === null ? 0 : place(i, value);
        slider.setAttribute("aria-valuetext", said(i, value) + (found.state === "certified" ? ", certified" : outside ? ", outside" : ""));
        if (field !== editing) { field.value = value === null ? "" : show(value); field.removeAttribute("aria-invalid"); }
      });
      verdict.dataset.state = found.state;
      word.dataset.mark = found.mark;
      word.textContent = found.word;
      why.textContent = found.why;
      offered = found.known || null;
      button("witness").hidden = !offered;
    }
    function snap(i, value) { // to the nearest stop; ends, centre and now draw from a little farther away
      const [low, high] = controls[i].axis, side = shown.sides[i];
      const special = [side[0], side[1], controls[i].now, controls[i].rest].filter((v) => v !== null && stops[i].includes(v));
      const near = (all) => all.reduce((best, v) => (Math.abs(v - value) < Math.abs(best - value) ? v : best), all[0]);
      const magnet = near(special);
      return magnet !== undefined && Math.abs(magnet - value) <= 0.008 * (high - low) ? magnet : near(stops[i]);
    }
    function step(i, by) { // so many stops on, or back, from where it is
      const all = stops[i], value = values[i] === null ? controls[i].axis[0] : values[i];
      const rest = by > 0 ? all.filter((v) => v > value) : all.filter((v) => v < value).reverse();
      return rest.length ? rest[Math.min(Math.abs(by), rest.length) - 1] : value;
    }
    const KEYS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
    controls.forEach((control, i) => {
      const { slider, field, select } = parts[i];
      rows[i].querySelector(".try").hidden = false;
      if (select) { select.addEventListener("change", () => { values[i] = Number(select.value); draw(); }); return; }
      slider.hidden = false;
      slider.addEventListener("input", () => { const [low, high] = control.axis; last[i] = ""; values[i] = snap(i, low + Number(slider.value) * (high - low)); draw(); });
      slider.addEventListener("keydown", (event) => {
        const all = stops[i];
        if (event.key === "Home") values[i] = all[0];
        else if (event.key === "End") values[i] = all[all.length - 1];
        else if (KEYS[event.key]) values[i] = step(i, KEYS[event.key]);
        else return;
        event.preventDefault();
        draw();
      });
      const take = (editing) => {
        const value = read(field.value);
        last[i] = ""; // what stands in the field is not what was told
        if (!Number.isFinite(value)) { field.setAttribute("aria-invalid", "true"); return; }
        field.removeAttribute("aria-invalid");
        values[i] = value;
        draw(editing);
      };
      field.addEventListener("input", () => take(field));
      field.addEventListener("change", () => take(null));
    });
    button("center").addEventListener("click", () => { values = [...rests]; draw(); });
    button("now").addEventListener("click", () => { values = controls.map((control) => control.now); draw(); });
    button("witness").addEventListener("click", () => { if (offered) { values = [...offered.point]; draw(); button("center").focus(); } });
    verdict.hidden = false;
    draw();
  }

  // ---- several answers --------------------------------------------------------------------------------------------------
  function tabs(list) {
    const all = [...list.querySelectorAll("[role=tab]")], panels = all.map((tab) => document.getElementById(tab.getAttribute("aria-controls")));
    function choose(chosen, focus) {
      all.forEach((tab, i) => {
        tab.setAttribute("aria-selected", String(i === chosen));
        tab.tabIndex = i === chosen ? 0 : -1;
        panels[i].hidden = i !== chosen;
        const title = panels[i].querySelector(".turn");
        if (title) title.hidden = true;
      });
      if (focus) all[chosen].focus();
    }
    all.forEach((tab, i) => {
      tab.addEventListener("click", () => choose(i, false));
      tab.addEventListener("keydown", (event) => {
        const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: all.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        choose((to + all.length) % all.length, true);
      });
    });
    list.hidden = false;
    choose(Math.max(0, all.findIndex((tab) => tab.getAttribute("aria-selected") === "true")), false);
  }

  // ---- the file ---------------------------------------------------------------------------------------------------------
  function unpacked(text) { // a long answer is gzip in base64
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }
  function saving(panel) {
    const button = panel.querySelector(".save"), text = panel.querySelector(".answer-json").textContent;
    if (text === "null") return;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const content = text.startsWith('"') ? await unpacked(JSON.parse(text)) : text;
      const link = document.createElement("a"), address = URL.createObjectURL(new Blob([content], { type: "application/json" }));
      link.href = address;
      link.download = button.dataset.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 1000);
    });
  }

  document.querySelectorAll(".explore").forEach(explore);
  document.querySelectorAll(".tabs").forEach(tabs);
  document.querySelectorAll(".panel").forEach(saving);
})();
