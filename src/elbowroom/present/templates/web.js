"use strict";
// The page of the server. Words from outside go into the page as text, never as markup.
(function () {
  const token = new URLSearchParams(location.search).get("token") || "";
  const $ = (id) => document.getElementById(id);
  const address = (path) => path + (token ? "?token=" + encodeURIComponent(token) : "");
  const headers = token ? { "X-Elbowroom-Token": token } : {};
  let about = null, running = null, events = null;

  // What would act on the reader instead of being read (controls, marks of direction, no width) is shown as its escape.
  const visible = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (c) => "\\u" + c.codePointAt(0).toString(16).padStart(4, "0"));
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null) element.setAttribute(name, name.startsWith("aria-") ? visible(value) : value);
    }
    element.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
    return element;
  }
  async function ask(path, question) {
    const options = question === undefined ? { headers } : { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(question) };
    const response = await fetch(path, options), told = await response.json();
    if (!response.ok) throw new Error(told.error || response.statusText);
    return told;
  }
  function say(text, bad) {
    $("progress").textContent = visible(text);
    $("progress").className = bad ? "bad" : "";
  }
  const short = (x) => (x === null || x === undefined ? "none yet" : Number(x.toPrecision(5)).toString());
  function number(id, what) {
    const text = $(id).value.trim();
    if (text === "") return null;
    const value = Number(text);
    if (!Number.isFinite(value)) throw new Error(`${what}: ${text} is not a number`);
    return value;
  }

  // ---- the form -----------------------------------------------------------------------------------------------------------
  function columnBox(column, i) {
    const value = column.categories
      ? make("select", { id: `value-${i}` }, ...column.categories.map((label, k) => make("option", { value: k }, label === null ? "missing" : String(label))))
      : make("input", { id: `value-${i}`, inputmode: "decimal", autocomplete: "off" });
    const may = make("div", { class: "may" }, make("label", {}, make("input", { type: "checkbox", id: `freeze-${i}`, checked: column.immutable, disabled: column.immutable }), " freeze"));
    if (!column.immutable && !column.categories && column.kind !== "yes or no") {
      const way = make("select", { id: `way-${i}`, "aria-label": `${column.name}: which way` }, ...[["", "both ways"], ["increasing", "only rises"], ["decreasing", "only falls"]].filter(([v]) => column.direction === "any" || v === column.direction).map(([v, t]) => make("option", { value: v, selected: v === column.direction }, t)));
      may.append(way, make("label", {}, "from ", make("input", { id: `low-${i}`, inputmode: "decimal", placeholder: column.lower ?? "open" })), make("label", {}, "to ", make("input", { id: `high-${i}`, inputmode: "decimal", placeholder: column.upper ?? "open" })));
    }
    may.addEventListener("change", () => { // what is frozen goes nowhere
      const frozen = may.querySelector("input[type=checkbox]").checked;
      may.querySelectorAll("select, input[inputmode]").forEach((part) => { part.disabled = frozen; });
    });
    return make("div", { class: "column" }, make("label", { for: `value-${i}` }, make("span", { class: "name" }, column.name + (column.unit ? ` (${column.unit})` : ""))), value, may);
  }
  function roomMeans() { // what the radius is in the units of a few columns
    const radius = Number($("radius").value.trim() || NaN);
    const some = about.columns.filter((column) => !column.immutable && column.scale && column.kind !== "yes or no").slice(0, 3);
    const words = some.map((column) => `${column.name} ± ${short(radius * column.scale)}${column.unit ? " " + column.unit : ""}`);
    $("room-means").textContent = radius >= 0 && words.length ? visible("That is, for example, " + words.join(", ") + ".") : "";
  }
  function fill(row) {
    about.columns.forEach((column, i) => {
      const value = row[column.name];
      if (column.categories) $(`value-${i}`).value = column.categories.findIndex((label) => label === value || (label === null && value === null));
      else $(`value-${i}`).value = value === null || value === undefined ? "" : value === true ? 1 : value === false ? 0 : value;
    });
  }
  function question() {
    const asked = { row: {}, immutable: [], increasing: [], decreasing: [], bounds: {} };
    about.columns.forEach((column, i) => {
      asked.row[column.name] = column.categories ? column.categories[Number($(`value-${i}`).value)] ?? null : number(`value-${i}`, column.name);
      const frozen = $(`freeze-${i}`).checked, way = $(`way-${i}`);
      if (frozen && !column.immutable) asked.immutable.push(column.name);
      if (frozen || !way) return;
      if (way.value && way.value !== column.direction) asked[way.value].push(column.name);
      const low = number(`low-${i}`, `${column.name}, from`), high = number(`high-${i}`, `${column.name}, to`);
      if (low !== null || high !== null) asked.bounds[column.name] = [low, high];
    });
    if (about.regressor) Object.assign(asked, { at_least: number("least", "at least"), at_most: number("most", "at most") });
    else if ($("target").value) asked.target = $("target").value;
    asked.shape = $("shape").value;
    asked.distance = $("distance").value;
    asked.time_limit = number("seconds", "seconds");
    return asked;
  }

  // ---- asking -------------------------------------------------------------------------------------------------------------
  function busy(on) {
    $("ask").disabled = $("frontier").disabled = on;
    $("stop").hidden = $("bar").hidden = !on;
  }
  function show(id) {
    $("page").src = address(`/jobs/${id}/page`);
    $("page").hidden = false;
    $("chart").replaceChildren();
    for (const [name, path] of [["html", "answer.html"], ["json", "answer.json"], ["csv", "table.csv"]]) $(name).href = address(`/jobs/${id}/${path}`);
    $("exports").hidden = false;
    seen();
  }
  function seen() { // on a phone the answer stands below the form
    if ($("answer").getBoundingClientRect().top > innerHeight / 2) $("answer").scrollIntoView();
  }
  async function showFrontier(id) {
    const found = await ask(`/jobs/${id}`);
    say("What more room costs: the distance of the closest region for every radius.");
    $("page").hidden = $("exports").hidden = true;
    draw(found.points);
    seen();
  }
  function follow(id, limit, end) {
    running = id;
    busy(true);
    events = new EventSource(address(`/jobs/${id}/events`));
    events.addEventListener("step", (event) => {
      const step = JSON.parse(event.data);
      $("bar").value = Math.min(1, step.seconds / limit);
      say(`${step.seconds.toFixed(1)} s: best region at ${short(step.distance)}, none closer than ${short(step.lower_bound)}`);
    });
    events.addEventListener("end", async (event) => {
      const ended = JSON.parse(event.data);
      events.close();
      busy(false);
      running = null;
      if (ended.state !== "done") say(ended.error, true);
      else await end(ended);
      history();
    });
    events.onerror = () => { if (running === id && events.readyState === EventSource.CLOSED) { busy(false); say("the connection was lost", true); } };
  }
  async function send(path, asked, end) {
    try {
      say("asking ...");
      const job = await ask(path, { ...asked, wait: false });
      follow(job.id, asked.time_limit, end);
    } catch (error) { say(error.message, true); }
  }
  async function history() {
    const jobs = await ask("/jobs");
    $("past").hidden = !jobs.length;
    $("history").replaceChildren(...jobs.map((job) => {
      const drawn = job.kind === "frontier", what = drawn ? "What more room costs" : job.kind;
      const words = `${job.case ? job.case + ": " : ""}${job.sentence || job.error || what + (job.state === "done" ? "" : ", " + job.state)}`;
      const button = make("button", { type: "button" }, words);
      button.disabled = job.state !== "done" || !(drawn || job.kind === "explain");
      button.addEventListener("click", () => {
        if (drawn) return showFrontier(job.id);
        say(job.sentence || "");
        show(job.id);
      });
      return make("li", {}, button);
    }));
  }
  function draw(points) { // distance over radius
    const known = points.filter((p) => p.distance !== null), space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg"), add = (tag, attributes, text) => {
      const e = document.createElementNS(space, tag);
      for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
      if (text !== undefined) e.textContent = text;
      svg.append(e);
    };
    svg.setAttribute("viewBox", "0 0 400 200");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "Distance over radius: " + points.map((p) => `${p.radius}: ${p.distance === null ? p.status : short(p.distance)}`).join(", "));
    const right = Math.max(...points.map((p) => p.radius)) || 1, top = Math.max(...known.map((p) => p.distance), 1e-12);
    const x = (r) => 45 + 330 * (r / right), y = (d) => 165 - 145 * (d / top);
    add("path", { d: "M 45 15 V 165 H 380", class: "axis", fill: "none" });
    add("path", { d: known.map((p, i) => `${i ? "L" : "M"} ${x(p.radius)} ${y(p.distance)}`).join(" "), class: "path" });
    known.forEach((p) => add("circle", { cx: x(p.radius), cy: y(p.distance), r: 3.5 }));
    add("text", { x: 45, y: 190 }, "radius 0");
    add("text", { x: 380, y: 190, "text-anchor": "end" }, short(right));
    add("text", { x: 4, y: 22 }, short(top));
    add("text", { x: 60, y: 12 }, "distance");
    const gone = points.filter((p) => p.distance === null);
    if (gone.length) add("text", { x: 380, y: 12, "text-anchor": "end" }, `none from radius ${gone[0].radius} on`);
    $("chart").replaceChildren(svg);
  }

  $("question").addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      const asked = question();
      Object.assign(asked, { radius: number("radius", "radius"), menu: $("menu").checked, widen: $("widen").checked, case: $("case").value });
      const changes = number("changes", "changes at most");
      if (changes !== null) asked.most_changes = changes;
      send("/explain", asked, (ended) => { say(ended.sentence); show(ended.id); });
    } catch (error) { say(error.message, true); }
  });
  $("frontier").addEventListener("click", () => {
    try {
      const asked = question(), largest = number("radius", "radius") || 0.05;
      asked.radii = [0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4].map((k) => Number((k * largest).toPrecision(6)));
      send("/frontier", asked, (ended) => showFrontier(ended.id));
    } catch (error) { say(error.message, true); }
  });
  $("stop").addEventListener("click", async () => { if (running) { say("stopping ..."); await ask(`/jobs/${running}/stop`, {}); } });
  $("radius").addEventListener("input", () => { if (about) roomMeans(); });
  $("load").addEventListener("click", async () => {
    const row = $("number").value || 0;
    try { fill(await ask(`/rows/${encodeURIComponent(row)}`)); say(`Row ${row} of the table. Say what may change, and ask.`); } catch (error) { say(error.message, true); }
  });

  ask("/space").then((told) => {
    about = told;
    $("about").textContent = visible(`${told.model}: ${told.source}`);
    $("rows").textContent = `of ${told.rows.toLocaleString("en-US")} rows in the reference table`;
    $("columns").append(...told.columns.map(columnBox));
    const other = told.classes.length === 2 ? [make("option", { value: "" }, "the other one")] : [];
    $("target").append(...other, ...told.classes.map((name) => make("option", { value: name }, told.labels[name] || name)));
    $("for-target").hidden = told.regressor;
    $("for-least").hidden = $("for-most").hidden = !told.regressor;
    if (told.first.length) fill(told.first[0]);
    roomMeans();
    say("Load a row of the table, or type its values; say what may change, and ask.");
    busy(false);
    history();
  }).catch((error) => { $("about").textContent = visible(error.message); $("about").className = "bad"; });
})();
