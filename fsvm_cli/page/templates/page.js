"use strict";
const byId = (id) => document.getElementById(id);
// No name of an experiment is the id of another element of the page.
const idOf = (experiment) => `experiment-${experiment}`;
const experiments = [...document.querySelectorAll(".experiment")];
const claims = [...document.querySelectorAll("#claims tbody tr")];

// Figures: decompressed when an experiment is first opened, and shown as images, in which nothing can run. The letters of
// all figures have the same shapes, which the page holds once.
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}
let shapes;
async function show(image) {
  const packed = image.dataset.picture;
  image.removeAttribute("data-picture");
  shapes ??= unpack(byId("shapes").dataset.shapes).then(JSON.parse);
  const [svg, known] = await Promise.all([unpack(packed), shapes]);
  const used = [...new Set(svg.match(/DejaVu[\w-]*-[0-9a-f]+/g))].filter((id) => id in known);
  const letters = used.map((id) => `<path id="${id}" d="${known[id]}" transform="scale(0.015625)"/>`).join("");
  const whole = svg.replace("<defs>", () => `<defs>${letters}`);
  image.src = URL.createObjectURL(new Blob([whole], { type: "image/svg+xml" }));
}
const showAll = (place) => { for (const image of place.querySelectorAll("img[data-picture]")) show(image); };
for (const experiment of experiments) {
  experiment.addEventListener("toggle", () => { if (experiment.open) showAll(experiment); });
  if (experiment.open) showAll(experiment);
}
for (const section of [byId("findings"), byId("ranks")]) if (section) showAll(section);
addEventListener("beforeprint", () => { for (const each of experiments) if (!each.hidden) { each.open = true; showAll(each); } });

// The links of the page are encoded; what somebody has typed may be a bare name, of which a % is part.
function decoded(hash) {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}

// A link leads into an experiment: it opens, whatever the filters hide.
function follow() {
  for (const each of document.querySelectorAll("tr.target")) each.classList.remove("target");
  const id = decoded(location.hash.slice(1));
  const place = id && (byId(id) || byId(id.split(":")[0]));
  const experiment = place && place.closest(".experiment");
  if (!experiment) return;
  experiment.hidden = false;
  experiment.open = true;
  if (place !== experiment) { place.classList.add("target"); place.focus({ preventScroll: true }); }
  place.scrollIntoView({ block: "start" });
}
addEventListener("hashchange", follow);

// Filters.
const fields = ["words", "verdict", "document", "dataset", "method"].map(byId);
const texts = new Map();
function textOf(element) {
  if (!texts.has(element)) texts.set(element, element.textContent.toLowerCase());
  return texts.get(element);
}
function filter() {
  const [words, verdict, paper, dataset, method] = fields.map((field) => field.value);
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (element) => wanted.every((word) => textOf(element).includes(word));
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
  const parts = [`${nExperiments} of ${experiments.length} experiments`];
  if (claims.length) parts.push(`${nClaims} of ${claims.length} published claims`);
  byId("shown").textContent = `${parts.join(", ")} shown`;
}
byId("filters").addEventListener("input", filter);
byId("filters").addEventListener("reset", () => setTimeout(filter));
byId("filters").addEventListener("submit", (event) => event.preventDefault());

// Sorting: numbers as numbers, and before words.
const collator = new Intl.Collator("en", { numeric: true });
function key(row, column) {
  const text = row.cells[column].textContent.trim();
  const number = parseFloat(text);
  return { number: Number.isNaN(number) || !/^[-−+\d.]/.test(text) ? Infinity : number, text };
}
for (const button of document.querySelectorAll(".sort")) {
  button.addEventListener("click", () => {
    const heading = button.closest("th");
    const turn = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const each of heading.parentElement.cells) each.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", turn === 1 ? "ascending" : "descending");
    const column = heading.cellIndex;
    const keyed = claims.map((row) => ({ row, ...key(row, column) }));
    keyed.sort((a, b) => turn * (a.number - b.number || collator.compare(a.text, b.text) || 0));
    byId("claims").tBodies[0].append(...keyed.map(({ row }) => row));
  });
}

// Light or dark: as the system has it, until somebody says otherwise.
const theme = byId("theme");
const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
theme.setAttribute("aria-pressed", isDark());
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  theme.setAttribute("aria-pressed", isDark());
});

filter();
follow();
