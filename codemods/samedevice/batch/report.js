"use strict";

const table = document.getElementById("table");
const body = table.tBodies[0];
const search = document.getElementById("search");
const proof = document.getElementById("proof");
const clear = document.getElementById("clear");
const shown = document.getElementById("shown");
const heads = [...table.tHead.rows[0].cells];
const rows = [...body.rows].map((row) => ({
  row,
  text: row.cells[0].textContent.toLowerCase(),
  outcome: row.dataset.o,
  proof: row.dataset.p,
  rules: new Set(row.dataset.r.split(" ")),
  values: [...row.cells].map((cell, column) =>
    cell.dataset.v !== undefined ? Number(cell.dataset.v)
      : (column ? cell : cell.querySelector(".open")).textContent.toLowerCase()),
  detail: null,
}));
const outcomes = new Set();
const rules = new Set();
let order = { column: -1, down: false };

// what is shown, and in which order

function fits(one) {
  return (!outcomes.size || outcomes.has(one.outcome))
    && (!rules.size || [...rules].some((rule) => one.rules.has(rule)))
    && (!proof.value || one.proof === proof.value)
    && search.value.toLowerCase().split(/\s+/).every((word) => one.text.includes(word));
}

function filter() {
  let count = 0;
  for (const one of rows) {
    const seen = fits(one);
    count += seen;
    one.row.hidden = !seen;
    if (one.detail) one.detail.hidden = !seen || !isOpen(one);
  }
  const all = rows.length;
  const number = new Intl.NumberFormat("en");
  shown.textContent = count === all
    ? `${number.format(all)} shown`
    : `${number.format(count)} of ${number.format(all)} shown`;
  document.getElementById("none").hidden = count > 0 || all === 0;
  clear.hidden = !(outcomes.size || rules.size || proof.value || search.value);
  for (const button of document.querySelectorAll("[data-outcome]")) {
    button.setAttribute("aria-pressed", outcomes.has(button.dataset.outcome));
  }
  for (const button of document.querySelectorAll("[data-rule]")) {
    button.setAttribute("aria-pressed", rules.has(button.dataset.rule));
  }
}

function sort(column) {
  const numbers = heads[column].classList.contains("n");
  const down = order.column === column ? !order.down : numbers; // the largest first
  order = { column, down };
  const sign = down ? -1 : 1;
  const compare = numbers
    ? (a, b) => a.values[column] - b.values[column]
    : (a, b) => (a.values[column] < b.values[column] ? -1 : +(a.values[column] > b.values[column]));
  rows.sort((a, b) => sign * compare(a, b));
  const sorted = document.createDocumentFragment();
  for (const one of rows) {
    sorted.append(one.row);
    if (one.detail) sorted.append(one.detail);
  }
  body.append(sorted);
  heads.forEach((head, index) => head.setAttribute(
    "aria-sort", index !== column ? "none" : down ? "descending" : "ascending"));
}

function toggle(set, value) {
  if (!set.delete(value)) set.add(value);
  filter();
}

for (const button of document.querySelectorAll("[data-outcome]")) {
  button.addEventListener("click", () => toggle(outcomes, button.dataset.outcome));
}
for (const button of document.querySelectorAll("[data-rule]")) {
  button.addEventListener("click", () => toggle(rules, button.dataset.rule));
}
heads.forEach((head, column) =>
  head.firstElementChild.addEventListener("click", () => sort(column)));
search.addEventListener("input", filter);
proof.addEventListener("change", filter);
clear.addEventListener("click", () => {
  outcomes.clear();
  rules.clear();
  search.value = proof.value = "";
  filter();
  search.focus();
});

// one repository, when it is asked for

function isOpen(one) {
  return one.row.classList.contains("is-open");
}

body.addEventListener("click", (event) => {
  const button = event.target.closest("button.open");
  const row = event.target.closest("tr[data-i]");
  if (!row || event.target.closest("a") || (!button && String(getSelection()))) return;
  open(rows.find((one) => one.row === row));
});

async function open(one) {
  const opening = !isOpen(one);
  one.row.classList.toggle("is-open", opening);
  const button = one.row.querySelector(".open");
  button.setAttribute("aria-expanded", opening);
  if (!one.detail) {
    const id = `detail-${one.row.dataset.i}`;
    const cell = make("td", { colSpan: heads.length });
    one.detail = make("tr", { className: "detail", id }, cell);
    button.setAttribute("aria-controls", id);
    one.row.after(one.detail);
    const inner = make("div", { className: "inner" });
    cell.append(inner);
    try {
      inner.append(...details(await unpacked(`d${one.row.dataset.i}`)));
    } catch (error) {
      inner.append(make("p", { className: "error" },
        `This browser cannot unfold the details (${error}); report.json has them.`));
    }
  }
  one.detail.hidden = !opening;
}

async function unpacked(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

function make(name, properties, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

// Somebody's text, with what is not seen, or turns what is seen around, in a frame of its own.
function plain(text) {
  const out = document.createDocumentFragment();
  let at = 0;
  for (const match of text.matchAll(UNSEEN)) {
    const code = match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    out.append(text.slice(at, match.index), make("i", { className: "unseen" }, `U+${code}`));
    at = match.index + match[0].length;
  }
  out.append(text.slice(at));
  return out;
}

function* details(data) {
  if (data.error) yield make("p", { className: "error" }, plain(data.error));
  if (data.reason) yield make("p", {}, plain(data.reason));
  for (const note of data.notes) yield make("p", { className: "more" }, plain(note));
  const left = make("div", {}, make("h3", {}, "Facts"), facts(data));
  const right = make("div", {});
  if (data.rules.length) {
    right.append(make("h3", {}, "Findings"),
      grid(["rule", "found", "fixed", "left"], data.rules, [1, 2, 3]));
  }
  if (data.proof) right.append(...proofOf(data.proof));
  yield make("div", { className: "two" }, left, right);
  if (data.map) {
    yield make("p", { className: "more" },
      make("a", { href: address(data.map) }, "Where every tensor lives, before and after"));
  }
  if (data.diff !== null && data.diff) {
    yield make("h3", {}, "Changes");
    yield* changes(data);
  } else if (data.patch) {
    yield make("h3", {}, "Changes");
    yield make("p", { className: "more" }, link(data.patch));
  }
  if (data.left.length) {
    yield make("h3", {}, "Seen and not changed");
    yield grid(["place", "rule", "code", "why not"], data.left.map(
      ([path, line, where, rule, code, why]) =>
        [onMap(data, path, line, where) || where, rule, code, why]), [], [0, 2]);
    yield* more(data.cut.not_fixed);
  }
  if (data.problems.length) {
    yield make("h3", {}, "Files that could not be worked on");
    yield grid(["place", "what is wrong"], data.problems.map(
      ([where, message]) => [where, message]), [], [0]);
    yield* more(data.cut.problems);
  }
}

function* more(count) {
  if (count) yield make("p", { className: "more" }, `${count} more are not listed.`);
}

function address(path) {
  return path.split("/").map(encodeURIComponent).join("/");
}

function link(path) {
  return make("a", { href: address(path) }, plain(path));
}

// A link to a line of a file on the map, to the file without one; null where it is not on it.
function onMap(data, path, line, where) {
  if (!data.map || !Object.hasOwn(data.mapped, path)) return null;
  const href = `${address(data.map)}#${data.mapped[path]}${line ? `:${line}` : ""}`;
  return make("a", { href }, line ? plain(where) : "on the map");
}

function facts(data) {
  const list = make("dl", { className: "facts" });
  const times = Object.entries(data.seconds)
    .map(([phase, seconds]) => `${phase} ${seconds.toFixed(1)} s`).join(", ");
  for (const [name, value] of [...data.facts, ["Times", times]]) {
    if (value) list.append(make("dt", {}, name), make("dd", {}, plain(value)));
  }
  return list;
}

function shownAs(value) {
  return value instanceof Node ? value : plain(String(value));
}

function grid(names, lines, numbers, code = []) {
  const cell = (kind, content, index) =>
    make(kind, { className: numbers.includes(index) ? "n" : "" }, content);
  return make("table", { className: "small" },
    make("thead", {}, make("tr", {}, ...names.map((name, index) => cell("th", name, index)))),
    make("tbody", {}, ...lines.map((line) => make("tr", {}, ...line.map((value, index) => cell(
      "td", code.includes(index) ? make("code", {}, shownAs(value)) : shownAs(value), index))))));
}

function* proofOf(proof) {
  yield make("h3", {}, "Proof");
  const word = proof.passed ? "passed"
    : proof.broken ? "fails after the change, and passed before"
      : "does not pass, and did not before the change: it shows nothing";
  yield make("p", {}, make("code", {}, plain(proof.command)), ` ${word}`);
  const runs = [["before", proof.before], ["after", proof.after]].filter(([, run]) => run);
  if (runs.length) {
    yield grid(["", "run", "exit code", "seconds"], runs.map(([when, run]) =>
      [when, run.status, run.code === null ? "" : run.code, run.seconds.toFixed(1)]), [2, 3]);
  }
  for (const line of proof.detail) yield make("div", { className: "more" }, plain(line));
  for (const [when, run] of runs) {
    if (!run.tail) continue;
    yield make("details", { open: proof.broken && when === "after" },
      make("summary", {}, `output ${when}`), make("pre", {}, plain(run.tail)));
  }
  if (proof.limits.length) {
    yield make("p", { className: "more" }, plain(`held: ${proof.limits.join(", ")}`));
  }
}

// the diff

function* changes(data) {
  const why = new Map();
  for (const [path, line, rule, reason] of data.changes) {
    if (!why.has(path)) why.set(path, new Map());
    why.get(path).set(`${line} ${rule} ${reason}`, [line, rule, reason]);
  }
  const files = parsed(data.diff);
  const many = files.length > 20;
  for (const file of files) {
    const box = make("details", { open: !many }, make("summary", {},
      make("code", {}, plain(file.path)), " ",
      make("span", { className: "plus" }, `+${file.added}`), " ",
      make("span", { className: "minus" }, `−${file.removed}`)));
    const fill = () => {
      if (box.open && box.children.length === 1) {
        const map = onMap(data, file.path);
        if (map) box.append(make("p", { className: "more" }, map));
        box.append(...reasons(why.get(file.path)), rendered(file));
      }
    };
    box.addEventListener("toggle", fill);
    fill();
    yield box;
  }
  yield* more(data.cut.changes);
  if (data.longer) {
    yield make("p", { className: "more" }, "The rest of the diff is in ", link(data.patch), ".");
  }
}

function* reasons(known) {
  if (!known) return;
  yield make("ul", { className: "reasons" }, ...[...known.values()].map(([line, rule, reason]) =>
    make("li", {}, `line ${line} `, make("b", {}, plain(rule)), " ", ...sentence(reason))));
}

// A message of ours, in which code stands between backticks.
function sentence(message) {
  return message.split(/(`[^`\n]*`)/).map((part) =>
    part.length > 1 && part[0] === "`" && part.at(-1) === "`"
      ? make("code", {}, plain(part.slice(1, -1))) : plain(part));
}

function parsed(diff) {
  const files = [];
  let file = null;
  let head = true;
  for (const line of diff.split("\n")) {
    if (line.startsWith("diff --git ")) {
      head = true;
      file = { path: line.replace(/^diff --git .* "?b\//, "").replace(/"$/, ""), lines: [],
        added: 0, removed: 0 };
      files.push(file);
    } else if (file && line.startsWith("@@ ")) {
      head = false;
      file.lines.push(line);
    } else if (file && head && line.startsWith("+++ b/")) {
      file.path = line.slice(6).replace(/\t$/, "");
    } else if (file && !head && line) {
      file.lines.push(line);
      file.added += line[0] === "+";
      file.removed += line[0] === "-";
    }
  }
  return files;
}

function rendered(file) {
  const out = make("tbody", {});
  let left = 0;
  let right = 0;
  for (let at = 0; at < file.lines.length;) {
    const line = file.lines[at];
    if (line.startsWith("@@")) {
      [, left, right] = line.match(/^@@ -(\d+)(?:,\d+)? \+(\d+)/).map(Number);
      out.append(make("tr", { className: "hunk" }, make("td", { colSpan: 4 }, plain(line))));
      at += 1;
    } else if (line[0] === "-" || line[0] === "+") {
      const old = taken(file.lines, at, "-");
      const now = taken(file.lines, at + old.length, "+");
      const paired = old.length === now.length;
      old.forEach((text, index) => out.append(
        row(left++, "", "-", "old", text, paired ? now[index] : null)));
      now.forEach((text, index) => out.append(
        row("", right++, "+", "new", text, paired ? old[index] : null)));
      at += old.length + now.length;
    } else {
      if (line[0] === " ") out.append(row(left++, right++, "", "", line.slice(1), null));
      else out.append(make("tr", { className: "hunk" }, make("td", { colSpan: 4 }, plain(line))));
      at += 1;
    }
  }
  return make("div", { className: "diff code", tabIndex: 0 }, make("table", {}, out));
}

function taken(lines, at, sign) {
  const found = [];
  while (at < lines.length && lines[at][0] === sign) found.push(lines[at++].slice(1));
  return found;
}

function row(left, right, sign, kind, text, other) {
  const cell = make("td", { className: kind });
  if (other === null || text.length > 2000) {
    cell.append(coloured(text));
  } else {
    const [start, end] = differing(text, other);
    cell.append(coloured(text.slice(0, start)));
    if (end > start) cell.append(make("mark", {}, coloured(text.slice(start, end))));
    cell.append(coloured(text.slice(end)));
  }
  return make("tr", {}, make("td", { className: `no ${kind}` }, String(left)),
    make("td", { className: `no ${kind}` }, String(right)),
    make("td", { className: `sign ${kind}` }, sign), cell);
}

// The part of a line that its other version has not, by whole words.
function differing(text, other) {
  let start = 0;
  while (start < text.length && text[start] === other[start]) start += 1;
  let end = 0;
  const most = Math.min(text.length, other.length) - start;
  while (end < most && text[text.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  let stop = text.length - end;
  const word = (letter) => letter !== undefined && /\w/.test(letter);
  while (start > 0 && word(text[start]) && word(text[start - 1])) start -= 1;
  while (stop < text.length && stop > start && word(text[stop]) && word(text[stop - 1])) stop += 1;
  return [start, stop];
}

const TOKEN = /(#.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)\b|\b(\d[\w.]*)/g;

// Python as it looks on one line; a text over several lines is not followed.
function coloured(text) {
  if (text.length > 2000) return plain(text);
  const out = document.createDocumentFragment();
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const kind = match[1] ? "c" : match[2] ? "s" : match[3] ? "k" : "d";
    out.append(plain(text.slice(at, match.index)),
      make("span", { className: kind }, plain(match[0])));
    at = match.index + match[0].length;
  }
  out.append(plain(text.slice(at)));
  return out;
}

// report.html#group/project opens that repository

function follow() {
  let name = location.hash.slice(1);
  try {
    name = decodeURIComponent(name);
  } catch { /* not ours */ }
  const one = name && rows.find(({ row }) => row.querySelector(".open").textContent === name);
  if (!one) return;
  if (one.row.hidden) clear.click();
  if (!isOpen(one)) open(one);
  one.row.scrollIntoView();
}

addEventListener("hashchange", follow);
filter();
follow();
