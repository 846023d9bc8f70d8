const byId = (id) => document.getElementById(id);
// No name of an experiment is the id of another element of the page.
const idOf = (experiment) => `experiment-${experiment}`;
const all = (selector, place = document) => [...place.querySelectorAll(selector)];
const experiments = all(".experiment");
const papers = all(".document");
const claims = all("tr.claim");
const texts = new Map();

// A step that fails is reported, and spares the others.
function attempt(step) {
  try { return step(); } catch (error) { reportError(error); }
}

// Figures and files are decompressed when they are first asked for. Figures are shown as images, in which nothing can
// run; their letters, and the lists of features of several files, are on the page once.
const once = (make) => { let made; return () => (made ??= make()); };
const letters = once(() => new Map(unpack(byId("shapes").dataset.shapes).map(
  ([sign, id, shape, advance]) => [sign, { id, shape, advance }])));
const shared = once(() => unpack(byId("shapes").dataset.shared));
// In a stream of their own, which a search decompresses in some 20 ms; all streams take seconds.
const searched = once(() => new Map(Object.entries(unpack(byId("shapes").dataset.searched)).map(
  ([experiment, text]) => [idOf(experiment), text])));
const compressed = all("[data-stream]");
const streams = new Map();
function part(place) {
  const [stream, number] = place.split(":").map(Number);
  if (!streams.has(stream)) streams.set(stream, unpack(compressed[stream].dataset.stream));
  return streams.get(stream)[number];
}

function drawn(svg) {
  const known = letters();
  const used = new Map();
  const whole = svg.replace(/<t>([^<]*)<\/t>/g, (_, line) => {
    let x = 0;
    let uses = "";
    for (const [token] of line.matchAll(/-?[\d.]+ |./gsu)) {
      const letter = known.get(token);
      if (!letter) { x = parseFloat(token); continue; }
      used.set(letter.id, letter);
      uses += `<use xlink:href="#${letter.id}"${x ? ` transform="translate(${x.toFixed(2)} 0)"` : ""}/>`;
      x += letter.advance;
    }
    return uses;
  });
  const shapes = [...used.values()].map(({ id, shape }) => `<path id="${id}" d="${shape}" transform="scale(0.015625)"/>`);
  return whole.replace("<defs>", () => `<defs>${shapes.join("")}`);
}
const sources = new WeakMap();
const begun = new WeakMap();
async function begin(image) {
  const svg = drawn(part(image.dataset.picture));
  image.removeAttribute("data-picture");
  sources.set(image, svg);
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode().catch(() => undefined);
}
function show(image) {
  if (!begun.has(image)) begun.set(image, begin(image).catch(reportError));
  return begun.get(image);
}
const showAll = (place) => Promise.all(all("figure img", place).map(show));

function save(name, text, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const unpacked = new WeakMap();
function filesOf(place) {
  return new Map(Object.entries(part(place.dataset.files)).map(
    ([name, text]) => [name, text.replace(/\0\w+\0/g, (key) => shared()[key])]));
}
function files(place) {
  if (!unpacked.has(place)) unpacked.set(place, filesOf(place));
  return unpacked.get(place);
}

const button = (text, action, label) => {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", action);
  return made;
};
const large = byId("large");
large.querySelector(".close").addEventListener("click", () => large.close());
function enlarge(image) {
  const copy = large.querySelector("img");
  copy.src = image.src;
  copy.alt = image.alt;
  large.showModal();
}
// What an experiment needs to be worked with: made when it is first opened.
const equipped = new WeakMap();
function equip(experiment) {
  if (!equipped.has(experiment)) equipped.set(experiment, make(experiment));
  return equipped.get(experiment);
}
function equipFigure(figure) {
  const [image, caption] = [figure.querySelector("img"), figure.querySelector("figcaption")];
  const name = figure.id.split(":").pop();
  caption.append(
    " ", button("Enlarge", () => enlarge(image), `Enlarge ${image.alt}`),
    " ", button("SVG", () => save(`${name}.svg`, sources.get(image), "image/svg+xml"), `Save ${image.alt} as SVG`));
}
function equipFiles(experiment, place) {
  for (const each of all("button", place)) {
    each.addEventListener("click", () => save(each.textContent, files(place).get(each.textContent)));
  }
  const curves = part(place.dataset.files)["curves.csv"];
  if (curves) explore(experiment, curves);
}
async function make(experiment) {
  const drawing = showAll(experiment);
  for (const figure of all("figure[id]", experiment)) attempt(() => equipFigure(figure));
  for (const place of all(".files", experiment)) attempt(() => equipFiles(experiment, place));
  for (const place of all("[data-html]", experiment)) {
    attempt(() => { place.innerHTML = part(place.dataset.html); });
    place.removeAttribute("data-html");
  }
  for (const table of all("table.numbers", experiment)) attempt(() => equipTable(table));
  await drawing;
}
for (const experiment of experiments) {
  experiment.addEventListener("toggle", () => { if (experiment.open) equip(experiment); });
}

// Values under the pointer and the arrow keys: curves drawn from the table of the experiment.
function rowsOf(csv) {
  const lines = csv.trim().split("\n").map((line) => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => (quoted === undefined ? plain : quoted.replaceAll('""', '"'))));
  const [names, ...rows] = lines;
  return rows.map((row) => Object.fromEntries(names.map((name, number) => [name, row[number]])));
}
const SVG = "http://www.w3.org/2000/svg";
function element(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
function explore(experiment, csv) {
  const rows = rowsOf(csv).filter((row) => row.mean !== "" && Number.isFinite(+row.mean));
  const kinds = [...new Set(rows.filter((row) => row.part === "test").map((row) => row.metric))];
  const sizes = [...new Set(rows.map((row) => +row.n_features))];
  if (!kinds.length || sizes.length < 2) return;
  const place = document.createElement("div");
  place.className = "explore";
  const heading = document.createElement("h4");
  heading.textContent = "Values by the number of features";
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", `Figure of merit, ${experiment.id}`);
  const trainSizes = [...new Set(rows.map((row) => row.train_size))];
  for (const kind of kinds) {
    for (const size of trainSizes) choice.add(new Option(trainSizes.length > 1 ? `${kind}, ${size} training rows` : kind, `${kind}|${size}`));
  }
  const says = document.createElement("p");
  says.setAttribute("role", "status");
  const chart = element("svg", { viewBox: "0 0 640 280", tabindex: "0", role: "group", "aria-label": "Curves: arrow keys go along a curve, and to another one" });
  place.append(heading, choice, chart, says);
  const [left, right, top, bottom] = [48, 632, 8, 250];
  let series = [];
  let at = [0, 0];
  const isLog = Math.max(...sizes) > 30 * Math.min(...sizes.filter((size) => size > 0));
  const scale = (number) => (isLog ? Math.log(Math.max(number, 1)) : number);
  function draw() {
    const [kind, trainSize] = choice.value.split("|");
    const shown = rows.filter((row) => row.part === "test" && row.metric === kind && row.train_size === trainSize);
    const values = shown.flatMap((row) => [+row.mean, +(row.ci_low || row.mean), +(row.ci_high || row.mean)]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const [first, last] = [scale(Math.min(...sizes)), scale(Math.max(...sizes))];
    const x = (number) => left + ((right - left) * (scale(number) - first)) / (last - first);
    const y = (number) => bottom - ((bottom - top) * (number - low)) / (high - low || 1);
    series = [...new Set(shown.map((row) => row.ranking))].map((name) => ({
      name,
      points: shown.filter((row) => row.ranking === name).sort((a, b) => a.n_features - b.n_features).map(
        (row) => ({ row, x: x(+row.n_features), y: y(+row.mean) })),
    }));
    at = [0, 0];
    chart.replaceChildren();
    for (let tick = 0; tick <= 4; tick += 1) {
      const value = low + ((high - low) * tick) / 4;
      chart.append(
        element("path", { class: "line", d: `M${left} ${y(value)}H${right}` }),
        element("text", { x: left - 4, y: y(value) + 4, "text-anchor": "end" }, (100 * value).toFixed(1)));
    }
    const ticks = [];
    for (const size of [...sizes].sort((a, b) => a - b)) {
      if (!ticks.length || x(size) - x(ticks.at(-1)) > 40) ticks.push(size);
    }
    for (const size of ticks) chart.append(element("text", { x: x(size), y: bottom + 14, "text-anchor": "middle" }, `${size}`));
    chart.append(element("text", { x: (left + right) / 2, y: bottom + 28, "text-anchor": "middle" }, `number of features${isLog ? " (logarithmic)" : ""}`));
    for (const each of series) {
      each.path = element("path", { class: "curve", d: each.points.map(({ x: px, y: py }, number) => `${number ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`).join("") });
      chart.append(each.path);
    }
    chart.append(element("circle", { class: "here", r: 4, cx: -9, cy: -9 }));
    tell();
  }
  function tell() {
    const each = series[at[0]];
    if (!each) return;
    const { row, x, y } = each.points[at[1]];
    for (const other of series) other.path.classList.toggle("current", other === each);
    chart.append(each.path);
    const here = chart.querySelector(".here");
    chart.append(here);
    here.setAttribute("cx", x);
    here.setAttribute("cy", y);
    const percent = (number) => (100 * number).toFixed(2);
    const interval = row.ci_low ? ` (95 % interval ${percent(row.ci_low)} to ${percent(row.ci_high)})` : "";
    says.textContent = `${each.name}, ${row.n_features} feature${row.n_features === "1" ? "" : "s"}: test ${row.metric} ${percent(row.mean)} %${interval}, ${row.n_trials} trials`;
  }
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const [px, py] = [((event.clientX - box.left) * 640) / box.width, ((event.clientY - box.top) * 280) / box.height];
    let nearest = Infinity;
    series.forEach((each, line) => each.points.forEach((point, number) => {
      const distance = (point.x - px) ** 2 + (point.y - py) ** 2;
      if (distance < nearest) { nearest = distance; at = [line, number]; }
    }));
    tell();
  });
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    const line = Math.min(Math.max(at[0] + step[0], 0), series.length - 1);
    at = [line, Math.min(Math.max(at[1] + step[1], 0), series[line].points.length - 1)];
    tell();
  });
  choice.addEventListener("change", draw);
  const before = experiment.querySelector(".pictures");
  if (before) before.after(place); else experiment.append(place);
  draw();
}

// The links of the page are encoded; what somebody has typed may be a bare name, of which a % is part.
function decoded(hash) {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}

// A link leads into an experiment or a document: it opens, whatever the filters hide.
const fields = ["words", "verdict", "document", "dataset", "method"].map(byId);
function follow() {
  for (const each of all(".target")) each.classList.remove("target");
  const hash = location.hash.slice(1);
  let id = decoded(hash);
  if (hash.startsWith("?")) {
    const wanted = new URLSearchParams(hash.slice(1));
    for (const field of fields) field.value = wanted.get(field.id) ?? "";
    filter();
    id = wanted.get("at");
  }
  const place = id && (byId(id) || byId(id.split(":")[0]));
  if (!place) return;
  for (let around = place.closest("details"); around; around = around.parentElement.closest("details")) {
    around.hidden = false;
    around.open = true;
  }
  place.hidden = false;
  if (place.matches("tr, figure, .method")) {
    place.classList.add("target");
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
  }
  place.scrollIntoView({ block: "start" });
  // The claims of an experiment are made when it is opened.
  if (place.id !== id && place.matches(".experiment")) equip(place).then(() => { if (location.hash.slice(1) === hash && byId(id)) follow(); });
}
addEventListener("hashchange", follow);

// Filters, which the address keeps. Words of a question that say nothing of what it is about are left out.
const EMPTY = new Set("a an and are be can did do does for from has have how i in is it my of on or should the there to was were what which who with you".split(" "));
const ASKS = [
  [/^(why|explain\w*|reasons?)$/, "why"],
  [/^(reproduc\w*|holds?|held|replicat\w*)$/, "experiment document"],
  [/^(use|choose|best|recommend\w*)$/, "guide method"],
];
const SAYS_LITTLE = /^(differs?|different|methods?|papers?|miss(ed)?)$/;
function textOf(element) {
  if (!texts.has(element)) {
    texts.set(element, `${element.textContent} ${searched().get(element.id) ?? ""}`.toLowerCase());
  }
  return texts.get(element);
}
function understood(question) {
  const typed = question.toLowerCase().split(/\s+/).map((word) => word.replace(/[?!.,;:“”"]+$/, "")).filter(Boolean);
  const isQuestion = typed.some((word) => EMPTY.has(word) || ASKS.some(([pattern]) => pattern.test(word)));
  const kinds = ASKS.filter(([pattern]) => typed.some((word) => pattern.test(word))).map(([, kind]) => kind).join(" ").split(" ");
  const words = typed.filter((word) => !EMPTY.has(word) && !(isQuestion && (SAYS_LITTLE.test(word) || ASKS.some(([pattern]) => pattern.test(word)))));
  return { words, kinds: kinds.filter(Boolean) };
}
const MOST_ANSWERS = 5;
const answers = all("#answers li");
function answer({ words, kinds }) {
  const ranked = [];
  for (const each of answers) {
    each.hidden = true;
    const { kind, name } = each.dataset;
    if (!words.length ? !kinds.includes(kind) || (kinds.includes("guide") && kind !== "guide") : !words.every((word) => textOf(each).includes(word))) continue;
    const isNamed = words.some((word) => name.toLowerCase() === word) + words.some((word) => name.toLowerCase().includes(word));
    ranked.push({ each, points: 4 * kinds.includes(kind) + 2 * isNamed + (kind === "document" || kind === "guide") });
  }
  ranked.sort((a, b) => b.points - a.points);
  for (const { each } of ranked.slice(0, MOST_ANSWERS)) { each.hidden = false; byId("answers").append(each); }
  byId("answers").hidden = !ranked.length;
}
function filter() {
  const [question, verdict, paper, dataset, method] = fields.map((field) => field.value);
  const asked = understood(question);
  const holds = (element) => asked.words.every((word) => textOf(element).includes(word));
  const left = new Set();
  let nExperiments = 0;
  for (const each of experiments) {
    const { document: its, dataset: data, methods, verdicts } = each.dataset;
    const fits = (!paper || its === paper) && (!dataset || data === dataset) && (!method || methods.split(" ").includes(method));
    if (!fits) left.add(each.id);
    each.hidden = !(fits && (!verdict || verdicts.split("|").includes(verdict)) && holds(each));
    nExperiments += !each.hidden;
  }
  let nClaims = 0;
  for (const each of claims) {
    const { document: its, verdict: own, experiment } = each.dataset;
    const fits = experiment.split("; ").some((name) => !left.has(idOf(name))) && !((dataset || method) && !byId(idOf(experiment.split("; ")[0])));
    each.hidden = !(fits && (!paper || its === paper) && (!verdict || own === verdict) && holds(each));
    nClaims += !each.hidden;
  }
  const isFiltered = fields.some((field) => field.value);
  for (const each of papers) {
    each.hidden = isFiltered && !all("tr.claim:not([hidden])", each).length;
    for (const body of all("tbody", each)) body.hidden = !all("tr.claim:not([hidden])", body).length;
    if (verdict || paper) each.open = !each.hidden;
  }
  const parts = [`${nExperiments} of ${experiments.length} experiments`];
  if (claims.length) parts.push(`${nClaims} of ${claims.length} published claims`);
  byId("shown").textContent = `${parts.join(", ")} shown`;
  if (question) answer(asked); else byId("answers").hidden = true;
}
function remember() {
  const wanted = new URLSearchParams(fields.filter((field) => field.value).map((field) => [field.id, field.value]));
  history.replaceState(null, "", wanted.size ? `#?${wanted}` : "#");
}
byId("filters").addEventListener("input", () => { filter(); remember(); });
byId("filters").addEventListener("reset", () => setTimeout(() => { filter(); remember(); for (const each of papers) each.open = false; }));
byId("filters").addEventListener("submit", (event) => {
  event.preventDefault();
  const first = document.querySelector("#answers:not([hidden]) li:not([hidden]) a");
  if (first) first.click();
});
addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input, select, textarea")) { event.preventDefault(); byId("words").focus(); }
});

// Sorting: numbers as numbers, and before words.
const collator = new Intl.Collator("en", { numeric: true });
function key(row, column) {
  const text = row.cells[column].textContent.trim().replace(/^(these data )?[✓✗≈?–•] /u, "");
  const number = parseFloat(text);
  return { number: Number.isNaN(number) || !/^[-−+\d.]/.test(text) ? Infinity : number, text };
}
function sort(heading, rows, body) {
  const turn = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const each of heading.parentElement.cells) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", turn === 1 ? "ascending" : "descending");
  const keyed = rows.map((row) => ({ row, ...key(row, heading.cellIndex) }));
  keyed.sort((a, b) => turn * (a.number - b.number || collator.compare(a.text, b.text) || 0));
  body.append(...keyed.map(({ row }) => row));
}
// Sorted claims stand in no order of places: the headings of these go.
for (const each of all(".document .sort")) {
  each.addEventListener("click", () => {
    const table = each.closest("table");
    for (const place of all(".apart", table)) place.hidden = true;
    const rows = all("tr.claim", table);
    table.tBodies[0].hidden = false;
    sort(each.closest("th"), rows, table.tBodies[0]);
  });
}
function equipTable(table) {
  const cellsOf = (row) => [...row.cells].map((cell) => `"${cell.textContent.trim().replaceAll('"', '""')}"`).join(",");
  const caption = table.caption.textContent;
  for (const heading of all("thead th", table)) {
    const made = button(heading.textContent, () => sort(heading, all("tbody tr", table), table.tBodies[0]));
    made.className = "sort";
    made.dir = "auto";
    heading.replaceChildren(made);
  }
  table.caption.append(" ", button("CSV", () => save("table.csv", `${[...table.rows].map(cellsOf).join("\n")}\n`, "text/csv"), `Save ${caption} as CSV`));
}

// On paper: what is open. A button opens all that is shown, and waits for its figures.
byId("print").addEventListener("click", async () => {
  const shown = experiments.filter((each) => !each.hidden);
  for (const each of [...shown, ...papers.filter((paper) => !paper.hidden)]) each.open = true;
  await Promise.all(shown.map(equip));
  print();
});
let closed = [];
addEventListener("beforeprint", () => {
  closed = papers.filter((each) => !each.hidden && !each.open);
  for (const each of closed) each.open = true;
});
addEventListener("afterprint", () => { for (const each of closed) each.open = false; });

// Light or dark: as the system has it, until somebody says otherwise.
const theme = byId("theme");
const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
theme.setAttribute("aria-pressed", isDark());
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  theme.setAttribute("aria-pressed", isDark());
});

// What starts the page comes last: it may use all that is above.
const begins = [
  filter,
  ...experiments.filter((each) => each.open).map((each) => () => equip(each)),
  ...all("#head, #own, #leak, .recommendation").map((section) => () => showAll(section)),
  ...all("#own table.numbers, #leak table.numbers").map((table) => () => equipTable(table)),
  follow,
];
for (const step of begins) attempt(step);
