"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const body = document.body;
  const card = document.getElementById("card");
  const arrows = document.getElementById("arrows");
  const $ = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const remember = (key, value) => { try { localStorage.setItem("samedevice-" + key, value); } catch { /* a file:// page may have no storage */ } };
  const recall = (key) => { try { return localStorage.getItem("samedevice-" + key); } catch { return null; } };

  const WORDS = data.words;
  const NAMES = data.names;
  const path = (file) => data.files[file][0];
  const id = (file, line) => data.files[file][1] + ":" + line;
  const lineOf = (file, line) => $(id(file, line));
  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // -- the card: what a value is, and the sites behind its place ------------------------------

  let pinned = null;
  let shown = null;

  function sentence(kind, place, device, varies, before) {
    if (kind === "device") return ["device", varies ? "which one depends on the caller" : place === "c" ? "the project’s device" : place === "h" ? "the CPU" : device || WORDS[place]];
    if (kind === "read") return ["read", "a value that is " + WORDS[before] + " is copied to the CPU: Python waits for it"];
    if (varies) return [kind, "its callers differ: it is where what they hand in is"];
    const where = device ? "on " + device : WORDS[place];
    if (kind === "moved") return ["moved", (before && before !== place ? "from " + NAMES[before] + " " : "") + "to " + NAMES[place] + (device ? " (" + device + ")" : "")];
    return [kind, where];
  }

  function fill(mark) {
    const [kind, place, wanted, device, varies, before, chain] = data.infos[mark.dataset.i];
    const [head, words] = sentence(kind, place, device, varies, before);
    card.replaceChildren();
    const first = element("p");
    const name = element("span", "v " + place, NAMES[place]);
    first.append(name, " ", element("b", "", mark.textContent), " ", element("span", "kind", head + ", " + words));
    card.append(first);
    if (wanted) card.append(element("p", "want", "⚡ It has to be " + WORDS[wanted] + "."));
    if (chain.length) {
      const list = element("ol");
      for (const [what, where, file, line, label, code] of chain) {
        const step = element("li", where);
        const after = mark.closest(".pane.a") ? "after:" : "";
        const link = element("a", "at", path(file) + ":" + label);
        link.href = "#" + after + id(file, line);
        step.append(element("span", "", what + " "), link, element("code", "", code));
        list.append(step);
      }
      card.append(list);
    }
  }

  function open(mark) {
    if (shown === mark) return;
    close();
    shown = mark;
    fill(mark);
    mark.classList.add("on");
    mark.setAttribute("aria-describedby", "card");
    card.hidden = false;
    const box = mark.getBoundingClientRect();
    const width = card.offsetWidth;
    const height = card.offsetHeight;
    const left = Math.max(8, Math.min(box.left, root.clientWidth - width - 8));
    const below = box.bottom + height + 10 < innerHeight || box.top < height + 70;
    card.style.left = left + scrollX + "px";
    card.style.top = (below ? box.bottom + 6 : box.top - height - 6) + scrollY + "px";
  }

  function close() {
    if (!shown) return;
    shown.classList.remove("on");
    shown.removeAttribute("aria-describedby");
    card.hidden = true;
    shown = pinned = null;
  }

  let leaving = 0;
  document.addEventListener("mouseover", (event) => {
    const mark = event.target.closest?.("[data-i]");
    if (mark || event.target.closest?.("#card")) clearTimeout(leaving);
    if (mark && !pinned) open(mark);
  });
  document.addEventListener("mouseout", (event) => {
    if (!pinned && event.target.closest?.("[data-i], #card")) {
      clearTimeout(leaving);
      leaving = setTimeout(() => { if (!pinned) close(); }, 250);
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target.matches?.(".n")) location.hash = event.target.parentElement.id;
    const mark = event.target.closest?.("[data-i]");
    if (mark) {
      clearTimeout(leaving);
      open(mark);
      pinned = mark;
    } else if (!event.target.closest?.("#card") || event.target.closest("a")) {
      close();
    }
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.matches?.("[data-i]")) open(event.target);
    else if (!event.target.closest?.("#card")) close();
  });

  // -- the keyboard: Tab goes from file to file, arrows from value to value -------------------

  const marksOf = (pane) => all("[data-i]", pane).filter((mark) => mark.offsetParent !== null || !mark.closest(".only"));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const on = document.activeElement;
    if (event.key === "Escape" && shown) {
      const back = shown;
      const inside = card.contains(on);
      if (inside) back.focus(); // which opens it again
      close();
      return;
    }
    if (on?.matches("[data-i]")) {
      const marks = marksOf(on.closest(".pane"));
      const at = marks.indexOf(on);
      let to = null;
      if (event.key === "ArrowRight") to = marks[at + 1];
      else if (event.key === "ArrowLeft") to = marks[at - 1];
      else if (event.key === "ArrowDown") to = marks.slice(at).find((mark) => mark.parentElement !== on.parentElement);
      else if (event.key === "ArrowUp") to = marks.slice(0, at).reverse().find((mark) => mark.parentElement !== on.parentElement);
      else if (event.key === "Home") to = marks[0];
      else if (event.key === "End") to = marks[marks.length - 1];
      else if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        open(on);
        pinned = on;
        card.querySelector("a")?.focus();
        return;
      }
      if (to) {
        event.preventDefault();
        to.focus({ preventScroll: true });
        to.scrollIntoView({ block: "nearest", inline: "nearest" });
        close();
        open(to);
      }
      return;
    }
    if (on?.matches(".pane") && (event.key === "Enter" || event.key === "ArrowDown")) {
      const mark = all("[data-i]", on)[0];
      if (mark) {
        event.preventDefault();
        mark.focus();
      }
      return;
    }
    if (on?.matches("input, select, textarea")) return;
    if (event.key === "n") step(1);
    else if (event.key === "p") step(-1);
  });

  // -- the bar --------------------------------------------------------------------------------

  function press(button, on) {
    button.setAttribute("aria-pressed", on);
  }
  all(".key").forEach((key) => key.addEventListener("click", () => {
    const hidden = body.classList.toggle("no-" + key.dataset.place);
    press(key, !hidden);
  }));
  function only(on) {
    press($("only"), body.classList.toggle("only", on));
    draw();
  }
  $("only").addEventListener("click", () => only(!body.classList.contains("only")));
  $("all")?.addEventListener("click", () => {
    only(false);
    document.querySelector(".others .path a").focus();
  });
  // What is left out comes back where somebody asks for it, on both sides.
  document.addEventListener("click", (event) => {
    const asked = event.target.closest?.(".sep");
    if (!asked) return;
    const [start, end] = asked.dataset.rows.split(" ");
    for (const pane of all(".pane", asked.closest(".file"))) {
      all(".l", pane).slice(Number(start), Number(end)).forEach((line) => line.classList.add("nr"));
      all(".sep", pane).filter((other) => other.dataset.rows === asked.dataset.rows).forEach((other) => other.remove());
    }
    draw();
  });
  $("letters").addEventListener("click", (event) => {
    press(event.currentTarget, body.classList.toggle("letters"));
    draw();
  });
  all(".sides input").forEach((input) => input.addEventListener("change", () => {
    body.classList.toggle("before-only", input.value === "before");
    body.classList.toggle("after-only", input.value === "after");
    draw();
  }));
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = (value) => {
    if (value) root.dataset.theme = value;
    $("theme").textContent = dark() ? "light" : "dark";
    $("theme").setAttribute("aria-label", "Switch to " + $("theme").textContent + " colours");
  };
  theme(recall("theme"));
  $("theme").addEventListener("click", () => {
    const value = dark() ? "light" : "dark";
    theme(value);
    remember("theme", value);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme());

  // -- the drawing of files: what a box or an arrow is joined to stands out -----------------------

  const drawing = document.querySelector(".graph svg");
  function follow(item) {
    drawing.classList.toggle("following", Boolean(item));
    all(".on", drawing).forEach((other) => other.classList.remove("on"));
    if (!item) return;
    const key = item.dataset.key;
    const edges = key === undefined ? [item] : all(".edge", drawing).filter((edge) => edge.dataset.from === key || edge.dataset.to === key);
    const keys = new Set([key, ...edges.flatMap((edge) => [edge.dataset.from, edge.dataset.to])]);
    [...edges, ...all(".box", drawing).filter((box) => keys.has(box.dataset.key))].forEach((part) => part.classList.add("on"));
  }
  // Programs that the window has no room for side by side stand one below the other.
  function arrange() {
    const [edge, apart, down] = [6, 40, 20];
    const room = drawing.parentElement.clientWidth;
    const fits = Number(drawing.dataset.width) <= room;
    let [x, y, shelf, wide] = [edge, edge, 0, 0];
    for (const program of all(".program", drawing)) {
      const [left, top, width, height] = ["x", "y", "width", "height"].map((name) => Number(program.dataset[name]));
      if (x > edge && x + width > room - edge) [x, y, shelf] = [edge, y + shelf + down, 0];
      if (fits) program.removeAttribute("transform");
      else program.setAttribute("transform", `translate(${x - left} ${y - top})`);
      wide = Math.max(wide, x + width + edge);
      x += width + apart;
      shelf = Math.max(shelf, height);
    }
    const size = fits ? [drawing.dataset.width, drawing.dataset.height] : [wide, y + shelf + edge];
    drawing.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    drawing.setAttribute("width", size[0]);
    drawing.setAttribute("height", size[1]);
  }
  if (drawing) {
    drawing.dataset.width = drawing.getAttribute("width");
    drawing.dataset.height = drawing.getAttribute("height");
    arrange();
    addEventListener("resize", arrange);
    const part = (event) => event.target.closest?.(".box, .edge");
    drawing.addEventListener("mouseover", (event) => follow(part(event)));
    drawing.addEventListener("mouseleave", () => follow(null));
    drawing.addEventListener("focusin", (event) => follow(part(event)));
    drawing.addEventListener("focusout", () => follow(null));
  }

  // -- the picture: the same findings as an image, made by `samedevice map --image`, too ----------

  function picture(scheme) {
    const svg = $("picture").content.querySelector("svg").cloneNode(true);
    const night = svg.querySelector("style.dark");
    if (scheme) night.setAttribute("media", scheme === "dark" ? "all" : "not all");
    return new XMLSerializer().serializeToString(svg);
  }
  function save(address, ending) {
    const link = element("a");
    link.href = address;
    link.download = (document.querySelector("h1").textContent.trim() || "map") + ending;
    link.click();
  }
  $("svg").addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([picture()], { type: "image/svg+xml" }));
    save(address, ".svg");
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  });
  $("png").addEventListener("click", async () => {
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(picture(dark() ? "dark" : "light"));
    await image.decode();
    const canvas = element("canvas");
    canvas.width = 2 * image.width; // twice, so that it is sharp where it is shown smaller
    canvas.height = 2 * image.height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    save(canvas.toDataURL("image/png"), ".png");
  });

  // -- findings: steps from one to the next, and their arrows ----------------------------------

  let current = -1;

  function go(number) {
    current = number;
    all("li.on, .at-end").forEach((item) => item.classList.remove("on", "at-end"));
    const clash = data.clashes[number];
    const item = $("finding-" + (number + 1));
    item?.classList.add("on");
    const more = item?.closest("details");
    if (more) more.open = true;
    for (const end of [...clash.ends, clash.at || clash.line]) lineOf(end[0], end[1])?.classList.add("at-end");
    const line = lineOf(...clash.line);
    line?.scrollIntoView({ block: "center" });
    draw();
    return line;
  }
  function step(by) {
    const count = data.clashes.length;
    if (count) go((current + by + count) % count);
  }
  $("next")?.addEventListener("click", () => step(1));
  $("previous")?.addEventListener("click", () => step(-1));
  all(".findings .show").forEach((button) => button.addEventListener("click", () => {
    const line = go(Number(button.closest("li").dataset.clash));
    line?.querySelector(".flag, [data-i]")?.focus({ preventScroll: true });
  }));

  // Only clashes with an end in view are drawn, in the margin of the code: from the lines where the
  // two places were decided to the line where the values meet.
  const SVG = "http://www.w3.org/2000/svg";
  const near = new Set();
  const touched = new Map();
  data.clashes.forEach((clash, number) => {
    if (!clash.at) return;
    for (const [file, line] of [...clash.ends, clash.at]) {
      const item = lineOf(file, line);
      if (!item) continue;
      if (!touched.has(item)) touched.set(item, []);
      touched.get(item).push(number);
    }
  });
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      for (const number of touched.get(entry.target)) {
        if (entry.isIntersecting) near.add(number + ":" + entry.target.id);
        else near.delete(number + ":" + entry.target.id);
      }
    }
    draw();
  }, { rootMargin: "300px" });
  touched.forEach((_, item) => observer.observe(item));

  function point(end) {
    const line = lineOf(end[0], end[1]);
    if (!line || line.getClientRects().length === 0) return null;
    const box = line.getBoundingClientRect();
    return { x: box.left + scrollX, y: box.top + box.height / 2 + scrollY };
  }
  function shape(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }
  // The lane of an arrow is the first one in which it meets no other.
  function free(lanes, top, bottom) {
    let lane = lanes.findIndex((taken) => taken.every(([a, b]) => bottom < a || top > b));
    if (lane < 0) lane = lanes.length < 5 ? lanes.push([]) - 1 : 4;
    lanes[lane].push([top, bottom]);
    return lane;
  }
  // Arrows of the finding under the mouse stand out, those of others are dim.
  let hovered = new Set();
  document.addEventListener("mouseover", (event) => {
    const line = event.target.closest?.(".l");
    const item = event.target.closest?.(".findings > li");
    const numbers = item ? [Number(item.dataset.clash)] : (line && touched.get(line)) || [];
    if (String(numbers) === String([...hovered])) return;
    hovered = new Set(numbers);
    draw();
  });
  function paint() {
    scheduled = false;
    const wanted = new Set([...near].map((key) => Number(key.split(":")[0])));
    if (current >= 0) wanted.add(current);
    arrows.replaceChildren();
    const lanes = [];
    for (const number of [...wanted].sort((a, b) => a - b)) {
      const clash = data.clashes[number];
      const to = clash.at && point(clash.at);
      if (!to) continue;
      const followed = hovered.size ? hovered : current >= 0 ? new Set([current]) : wanted;
      const group = shape("g", { "data-clash": number, class: !followed.has(number) ? "dim" : followed === wanted ? "" : "on" });
      const drawn = new Set();
      for (const end of clash.ends) {
        const from = point(end);
        if (!from || drawn.has(end[1] + ":" + end[0])) continue;
        drawn.add(end[1] + ":" + end[0]);
        const depth = 9 + 4 * free(lanes, Math.min(from.y, to.y), Math.max(from.y, to.y));
        const x = from.x + 24;
        const place = end[3];
        if (Math.abs(from.y - to.y) < 4) {
          group.append(shape("circle", { class: place, cx: x + 4, cy: from.y, r: 3 }));
          continue;
        }
        const turn = Math.min(10, Math.abs(to.y - from.y) / 2) * Math.sign(to.y - from.y);
        const left = x - depth + 2;
        group.append(shape("circle", { class: place, cx: x, cy: from.y, r: 3 }));
        group.append(shape("path", { class: place, d: `M${x} ${from.y}Q${left} ${from.y} ${left} ${from.y + turn}V${to.y - turn}Q${left} ${to.y} ${to.x + 15} ${to.y}` }));
        group.append(shape("path", { class: "tip " + place, d: `M${to.x + 22} ${to.y}l-8 -4v8z` }));
      }
      arrows.append(group);
    }
  }
  let scheduled = false;
  function draw() {
    if (!scheduled) requestAnimationFrame(paint);
    scheduled = true;
  }
  const bar = document.querySelector("header");
  new ResizeObserver(() => root.style.setProperty("--bar", bar.offsetHeight + "px")).observe(bar);
  addEventListener("resize", draw);
  document.addEventListener("scroll", (event) => { if (event.target !== document) draw(); }, true);
  new ResizeObserver(draw).observe($("main"));
  draw();

  // -- deep links: a line that is linked to is shown even where only findings are --------------

  function arrive() {
    const target = location.hash && $(location.hash.slice(1));
    if (!target) return;
    const number = /^finding-(\d+)$/.exec(target.id);
    if (number) current = Number(number[1]) - 1;
    if (target.getClientRects().length === 0) only(false);
    target.scrollIntoView({ block: target.matches(".l") ? "center" : "start" });
    draw();
  }
  only(data.clashes.length > 0);
  addEventListener("hashchange", arrive);
  if (location.hash) arrive();
})();
