"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const ZOOMS = [0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
  const make = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.filter((one) => one !== null && one !== undefined));
    return node;
  };
  const shown = (ranges) => ranges.map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`)).join(", ");
  const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

  class Viewer {
    constructor(card, view) {
      this.card = card;
      this.view = view;
      this.at = 0;
      // A small step is not to be seen by sliding: then the difference comes first.
      this.mode = Math.max(...view.moves.map((move) => move.step)) > 12 ? "slide" : "difference";
      this.split = 50;
      this.zoom = null; // null: chosen to fit what moved
      this.build(card.querySelector(".viewer"));
      this.strip();
      this.show(this.worst());
    }

    worst() {
      // An alarm first, then what moved most; of equals the earliest.
      const { moves } = this.view;
      const weight = (move) => (move.alarm ? 1e12 : 0) + move.pixels;
      return moves.reduce((best, move, index) => (weight(move) > weight(moves[best]) ? index : best), 0);
    }

    build(place) {
      const modes = [["slide", "Slider"], ["before", "Before"], ["after", "After"], ["difference", "Difference"]];
      const group = `mode-${this.card.id}`;
      this.radios = {};
      const choices = modes.map(([mode, text]) => {
        const radio = make("input", { type: "radio", name: group, value: mode, onchange: () => this.setMode(mode) });
        this.radios[mode] = radio;
        return make("label", {}, radio, text);
      });
      this.previous = make("button", { type: "button", title: "previous moved picture (←)", "aria-label": "previous moved picture", onclick: () => this.step(-1) }, "←");
      this.next = make("button", { type: "button", title: "next moved picture (→)", "aria-label": "next moved picture", onclick: () => this.step(1) }, "→");
      this.where = make("span", { class: "where", "aria-live": "polite" });
      this.range = make("input", { type: "range", min: 0, max: 100, step: 0.5, value: 50, "aria-label": "how much of the frame before is shown", oninput: () => this.setSplit(Number(this.range.value)) });
      this.out = make("button", { type: "button", title: "smaller (−)", "aria-label": "smaller", onclick: () => this.magnify(-1) }, "−");
      this.into = make("button", { type: "button", title: "larger (+)", "aria-label": "larger", onclick: () => this.magnify(1) }, "+");
      this.fit = make("button", { type: "button", title: "the whole frame (0)", onclick: () => this.whole() }, "Whole");
      this.focus = make("button", { type: "button", title: "what moved (m)", onclick: () => this.magnified() }, "Moved");
      this.scale = make("span", { class: "mono" });
      this.tools = make("div", { class: "tools" },
        make("span", {}, this.previous, " ", this.next), this.where,
        make("span", { class: "group", role: "radiogroup", "aria-label": "what is shown" }, ...choices), this.range,
        make("span", {}, this.out, " ", this.into, " ", this.scale), this.fit, this.focus);
      this.stage = make("div", { class: "stage", tabindex: 0, role: "group", "aria-label": "frame, magnified" });
      this.side = make("div", { class: "side" });
      place.append(this.tools, make("div", { class: "view" }, this.stage, this.side));
    }

    get move() { return this.view.moves[this.at]; }

    strip() {
      const { frames, moved, regressed, moves, rate } = this.view;
      const svg = this.card.querySelector(".strip svg");
      svg.addEventListener("click", (event) => {
        const box = svg.getBoundingClientRect();
        const frame = ((event.clientX - box.left) / box.width) * frames;
        let best = 0, far = Infinity;
        moves.forEach((move, index) => move.frames.forEach(([a, b]) => {
          const away = frame < a ? a - frame : frame > b + 1 ? frame - b - 1 : 0;
          if (away < far) { far = away; best = index; }
        }));
        this.show(best);
      });
      svg.addEventListener("keydown", (event) => {
        if (event.key === "Home") this.show(0);
        else if (event.key === "End") this.show(moves.length - 1);
        else return;
        event.preventDefault();
      });
      this.svg = svg;
    }

    show(index) {
      this.at = Math.max(0, Math.min(this.view.moves.length - 1, index));
      const move = this.move, first = move.frames[0][0];
      const seconds = (first / this.view.rate).toFixed(3);
      this.where.textContent = `${move.frames.length > 1 || move.frames[0][0] !== move.frames[0][1] ? "frames" : "frame"} ${shown(move.frames.slice(0, 3))}${move.frames.length > 3 ? ", …" : ""} · ${seconds} s · ${this.at + 1} of ${this.view.moves.length}`;
      this.previous.disabled = this.at === 0;
      this.next.disabled = this.at === this.view.moves.length - 1;
      this.svg.querySelectorAll(".here").forEach((one) => one.remove());
      for (const [a, b] of move.frames) {
        const here = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        const wide = Math.max(b - a + 1, this.view.frames / 300);
        const set = { class: "here", x: Math.min(a, this.view.frames - wide), width: wide, y: 26, height: 8 };
        for (const [key, value] of Object.entries(set)) here.setAttribute(key, value);
        this.svg.append(here);
      }
      this.svg.setAttribute("aria-valuenow", first);
      this.svg.setAttribute("aria-valuetext", this.where.textContent);
      this.sheet(move);
      this.facts(move);
      this.setMode(this.mode);
    }

    sheet(move) {
      const picture = (source, name, text) => source ? make("img", { src: source, class: name, alt: text, draggable: "false" }) : null;
      this.box = move.box;
      const whole = picture(move.whole, "whole after", "the frame as it is drawn now, reduced");
      const wholeBefore = picture(move.wholeBefore || move.whole, "whole before", "the frame as it was recorded, reduced");
      this.page = make("div", { class: "sheet" }, wholeBefore, whole);
      if (move.box) {
        this.handle = make("div", { class: "handle" });
        this.after = make("div", { class: "blank" }, picture(move.after, "after", "what moved, as it is drawn now"));
        this.crop = make("div", { class: "crop" },
          make("div", { class: "blank" }), picture(move.before, "before", "what moved, as it was recorded"),
          this.after, picture(move.heat, "heat", "what differs: yellow a little, red much"), this.handle);
        const drag = (event) => {
          if (this.mode !== "slide" || !(event.buttons & 1)) return;
          const box = this.crop.getBoundingClientRect();
          this.setSplit(Math.max(0, Math.min(100, ((event.clientX - box.left) / box.width) * 100)));
          event.preventDefault();
        };
        this.crop.addEventListener("pointerdown", (event) => { this.crop.setPointerCapture(event.pointerId); drag(event); });
        this.crop.addEventListener("pointermove", drag);
        this.page.append(this.crop);
      } else {
        this.crop = null;
      }
      this.stage.replaceChildren(this.page);
      this.lay();
    }

    facts(move) {
      const rows = [];
      const fact = (name, value) => rows.push(make("dt", {}, name), make("dd", {}, value));
      const side = [];
      if (move.whole) {
        const map = make("div", { class: "map" }, make("img", { src: move.whole, alt: "" }));
        if (move.moved) {
          const [l, t, r, b] = move.moved, { width, height } = this.view;
          map.append(make("i", { style: `left:${(l / width) * 100}%;top:${(t / height) * 100}%;width:${((r - l) / width) * 100}%;height:${((b - t) / height) * 100}%` }));
        }
        side.push(map);
      }
      if (move.moved) {
        const [l, t, r, b] = move.moved;
        fact("moved", counted(move.pixels, "pixel"));
        fact("by at most", `${move.step}/255`);
        fact("within", `${r - l} × ${b - t} at ${l}, ${t}`);
      }
      fact("canvas", `${this.view.width} × ${this.view.height}`);
      fact("in", counted(move.frames.reduce((sum, [a, b]) => sum + b - a + 1, 0), "frame"));
      side.push(make("dl", {}, ...rows));
      if (move.heat) {
        side.push(make("h3", {}, "difference"), make("div", { class: "legend" }),
          make("div", { class: "legend-text" }, make("span", {}, "one step or unseen"), make("span", {}, "64 and more")));
      }
      if (move.box) side.push(make("p", { class: "note" }, "inside the dashed box every pixel is as it is; around it the frame is reduced"));
      if (move.note) side.push(make("p", { class: "note" }, move.note));
      this.side.replaceChildren(...side);
      const both = Boolean(move.before && move.after);
      this.radios.slide.disabled = !both;
      this.radios.difference.disabled = !move.heat;
      this.radios.before.disabled = !move.before && !move.wholeBefore;
      this.radios.after.disabled = !move.after && !move.whole;
    }

    lay() {
      const { width, height } = this.view;
      const wide = this.stage.clientWidth - 2, high = this.stage.clientHeight - 2;
      const all = Math.min(wide / width, high / height);
      let zoom = this.zoom;
      if (zoom === null) {
        zoom = all;
        if (this.box) {
          const [l, t, r, b] = this.box;
          const most = Math.min(wide / (r - l), high / (b - t));
          zoom = Math.max(all, ...ZOOMS.filter((one) => one <= most && one >= all && one <= 32));
        }
      } else if (zoom === 0) zoom = all;
      this.scaled = zoom;
      this.all = all;
      this.page.style.width = `${width * zoom}px`;
      this.page.style.height = `${height * zoom}px`;
      this.scale.textContent = zoom >= 1 ? `${Number(zoom.toFixed(2))}×` : `${Math.round(zoom * 100)} %`;
      if (!this.box) return;
      const [l, t, r, b] = this.box;
      Object.assign(this.crop.style, { left: `${l * zoom}px`, top: `${t * zoom}px`, width: `${(r - l) * zoom}px`, height: `${(b - t) * zoom}px` });
      this.stage.scrollLeft = ((l + r) / 2) * zoom - wide / 2;
      this.stage.scrollTop = ((t + b) / 2) * zoom - high / 2;
    }

    setMode(mode) {
      if (this.radios[mode].disabled) mode = ["slide", "after", "before"].find((one) => !this.radios[one].disabled) || "after";
      else this.mode = mode;
      this.radios[mode].checked = true;
      this.page.className = `sheet ${mode}`;
      this.range.disabled = mode !== "slide";
      if (this.crop) {
        this.after.style.display = mode === "before" ? "none" : "";
        this.after.style.clipPath = mode === "slide" ? `inset(0 0 0 ${this.split}%)` : "";
        this.handle.style.left = `${this.split}%`;
      }
    }

    setSplit(value) {
      this.split = value;
      this.range.value = value;
      this.setMode("slide");
    }

    step(by) { this.show(this.at + by); }

    magnify(by) {
      const list = by > 0 ? ZOOMS : [...ZOOMS].reverse();
      const next = list.find((one) => (by > 0 ? one > this.scaled * 1.01 : one < this.scaled * 0.99));
      if (next === undefined) return;
      this.zoom = next <= this.all ? 0 : next;
      this.lay();
    }

    whole() { this.zoom = 0; this.lay(); }
    magnified() { this.zoom = null; this.lay(); }
    flip() { this.setMode(this.mode === "before" ? "after" : "before"); }
  }

  const cards = [...document.querySelectorAll("section.card[id]")];
  const viewers = new Map();
  let current = null;
  const enter = (card, scroll) => {
    if (current) current.classList.remove("current");
    current = card;
    card.classList.add("current");
    if (scroll) {
      card.scrollIntoView({ block: "start" });
      card.focus({ preventScroll: true });
    }
  };
  for (const card of cards) {
    const view = data.views[card.id];
    card.addEventListener("focusin", () => enter(card, false));
    card.addEventListener("pointerdown", () => enter(card, false));
    if (view && view.moves.length) viewers.set(card, null);
  }
  // Pictures are unpacked when their composition comes near the screen.
  const wake = (card) => {
    if (viewers.has(card) && viewers.get(card) === null) viewers.set(card, new Viewer(card, data.views[card.id]));
    return viewers.get(card);
  };
  const watcher = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) wake(one.target);
  }, { rootMargin: "600px" });
  for (const card of viewers.keys()) watcher.observe(card);
  addEventListener("resize", () => { for (const viewer of viewers.values()) if (viewer) viewer.lay(); });

  const help = document.getElementById("help");
  document.getElementById("keys").addEventListener("click", () => help.showModal());
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const kind = event.target instanceof Element ? event.target.closest("input[type=range], select, textarea") : null;
    const arrows = event.key === "ArrowLeft" || event.key === "ArrowRight";
    if (kind && arrows) return;
    const radio = event.target instanceof HTMLInputElement && event.target.type === "radio";
    if (radio && arrows) return;
    const index = current ? cards.indexOf(current) : -1;
    if (event.key === "j" && cards[index + 1]) enter(cards[index + 1], true);
    else if (event.key === "k" && index > 0) enter(cards[index - 1], true);
    else if (event.key === "?") help.showModal();
    else if (event.key === "t") document.getElementById("theme").click();
    else {
      const viewer = wake(current || [...viewers.keys()][0]);
      if (!viewer) return;
      const modes = { 1: "slide", 2: "before", 3: "after", 4: "difference" };
      if (event.key === "ArrowLeft") viewer.step(-1);
      else if (event.key === "ArrowRight") viewer.step(1);
      else if (event.key === "[" || event.key === "]") viewer.setSplit(Math.max(0, Math.min(100, viewer.split + (event.key === "[" ? -5 : 5))));
      else if (modes[event.key]) viewer.setMode(modes[event.key]);
      else if (event.key === "f") viewer.flip();
      else if (event.key === "+" || event.key === "=") viewer.magnify(1);
      else if (event.key === "-") viewer.magnify(-1);
      else if (event.key === "0") viewer.whole();
      else if (event.key === "m") viewer.magnified();
      else return;
    }
    event.preventDefault();
  });
})();
