"use strict";
/* Draws the heat maps of a report. The scale is absolute: 1 is one server's fair share of a column
   of time, whatever the other cells hold. It asks nothing of any network. */
(() => {
  const DARKEST = 1 / 32, OCTAVES = 9, LEVELS = 254;
  const STOPS = [
    [1 / 32, 0x1a, 0x25, 0x49], [1 / 8, 0x24, 0x40, 0x70], [1 / 2, 0x3a, 0x68, 0x8c],
    [1, 0x2e, 0xa8, 0x84], [2, 0xcf, 0x8e, 0x3c], [4, 0xf2, 0xae, 0x3e],
    [8, 0xff, 0xd6, 0x72], [16, 0xff, 0xf8, 0xdc],
  ];
  const NOTHING = [0x0c, 0x10, 0x1d];
  const SLICES = 6, PINS = 5, TOP = 34, BOTTOM = 24;

  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [label, value] of Object.entries(attributes)) {
      if (label === "text") element.textContent = value;
      else if (value !== false) element.setAttribute(label, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  };
  const fill = (said, values) => said.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const factor = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(1));

  /* The colour of a load: by its logarithm, so that a doubling is the same step everywhere. */
  const levelOf = (value) =>
    value > 0 ? 1 + Math.round(LEVELS * clamp(Math.log2(value / DARKEST) / OCTAVES, 0, 1)) : 0;
  const colourOf = (value) => {
    if (!(value > 0)) return NOTHING;
    const at = STOPS.findIndex((stop) => stop[0] >= value);
    if (at === 0) return STOPS[0].slice(1);
    if (at < 0) return STOPS[STOPS.length - 1].slice(1);
    const [low, high] = [STOPS[at - 1], STOPS[at]];
    const part = Math.log2(value / low[0]) / Math.log2(high[0] / low[0]);
    return [1, 2, 3].map((n) => Math.round(low[n] + part * (high[n] - low[n])));
  };
  const PALETTE = new Uint32Array(LEVELS + 2);
  for (let level = 0; level < PALETTE.length; level += 1) {
    const value = level ? DARKEST * 2 ** (((level - 1) * OCTAVES) / LEVELS) : 0;
    const [red, green, blue] = colourOf(value);
    PALETTE[level] = (255 << 24) | (blue << 16) | (green << 8) | red;
  }

  const unpack = async (packed, size) => {
    const bytes = Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const said = new Uint8Array(await new Response(stream).arrayBuffer());
    const counts = new Float64Array(size);
    let at = 0, place = 0;
    const number = () => {
      let value = 0, scale = 1, byte;
      do {
        byte = said[at];
        at += 1;
        value += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127);
      return value;
    };
    while (at < said.length) {
      const count = number();
      if (count) {
        counts[place] = count;
        place += 1;
      } else place += number() + 1;
    }
    return counts;
  };

  const LOADS = ["writes", "reads", "both"];

  /* One way to look at a map: its rows, and the load of each cell, column by column, in
     operations a second. Reads have one rate over all time. */
  const viewed = (given, counts, kind, show) => {
    const { columns, servers } = given, { rows: named } = given.views[kind], rows = named.length;
    const totals = new Float64Array(columns), sums = new Float64Array(rows);
    const levels = new Uint8Array(columns * rows);
    const each = show === "reads" ? 0 : given.event_rate;
    const reads = named.map((row) =>
      (show === "writes" ? 0 : (row.reads ?? 0) * (given.read_rate ?? 0)));
    const rateAt = (column, row) => counts[column * rows + row] * each + reads[row];
    for (let column = 0; column < columns; column += 1) {
      for (let row = 0; row < rows; row += 1) {
        const rate = rateAt(column, row);
        totals[column] += rate;
        sums[row] += rate;
      }
      const scale = totals[column] ? servers / totals[column] : 0;
      for (let row = 0; row < rows; row += 1) {
        levels[column * rows + row] = levelOf(rateAt(column, row) * scale);
      }
    }
    const all = totals.reduce((sum, one) => sum + one, 0);
    const busiest = totals.reduce((most, one) => Math.max(most, one), 0) || 1;
    return { ...given.views[kind], show, counts, rateAt, totals, sums, levels, all, busiest };
  };

  /* Instants in UTC, as ISO 8601 has them; beyond what a calendar has, seconds. */
  const instant = (seconds) => {
    const time = new Date(seconds * 1000);
    return Number.isNaN(time.valueOf())
      ? `${seconds} s` : time.toISOString().slice(0, 19).replace("T", " ");
  };

  /* An instant as short as it may be where the next one shown is so many seconds later. */
  const brief = (seconds, step) => {
    const said = instant(seconds);
    return step > 2 * 86400 ? said.slice(0, 10) : step > 120 ? said.slice(5, 16) : said.slice(11, 19);
  };

  class HeatMap {
    constructor(given, words, place, others) {
      Object.assign(this, { given, words, place, others });
      this.columns = given.columns;
      this.kind = "region";
      this.load = "writes";
      this.marked = true;
      this.cursor = null;
      this.box = null;
      this.pins = [];
      this.common = 0;
      this.scratch = document.createElement("canvas");
    }

    async start() {
      await this.take(this.given);
      this.build();
      this.describeScale();
      this.whole();
      new ResizeObserver(() => this.size()).observe(this.stage);
      this.size();
    }

    /* Take the counts of a document. */
    async take(given) {
      const counts = {};
      for (const [kind, view] of Object.entries(given.views)) {
        counts[kind] = await unpack(view.counts, given.columns * view.rows.length);
      }
      Object.assign(this, { given: { ...this.given, ...given }, counts, columns: given.columns, views: {} });
    }

    /* Show newer counts of the same table, unless a part of the map or a cell of it is held. */
    async update(given) {
      const [c0, c1, r0, r1] = this.span;
      const isWhole = c0 === 0 && c1 === this.columns && r0 === 0 && r1 === this.view.rows.length;
      if (!isWhole || this.pins.length || this.box) return;
      await this.take(given);
      this.cursor = null;
      this.describeScale();
      this.whole();
      this.size();
      this.tabulate();
    }

    get view() { return this.viewOf(this.kind, this.load); }

    /* The cells of one view of one load, computed when they are first asked for. */
    viewOf(kind, load) {
      this.views[`${kind} ${load}`] ??= viewed(this.given, this.counts[kind], kind, load);
      return this.views[`${kind} ${load}`];
    }

    get hasReads() { return this.given.read_rate !== null; }

    build() {
      const { words, given } = this;
      const choices = (name, values, chosen, act) => make("fieldset", { "data-choice": name },
        make("legend", { text: words[name] }),
        ...values.map((value) => {
          const input = make("input", {
            type: "radio", name: `${name}-${given.id}`, value, checked: value === chosen,
          });
          input.addEventListener("change", () => this.others.forEach((one) => one[act](value)));
          return make("label", {}, input, words[value]);
        }));
      const button = (said, act, sign) => {
        const made = make("button", { type: "button", text: sign, title: said, "aria-label": said });
        made.addEventListener("click", act);
        return made;
      };
      this.causes = make("input", { type: "checkbox", checked: true });
      this.causes.addEventListener("change", () => { this.marked = this.causes.checked; this.draw(); });
      this.tools = make("div", { class: "tools" },
        ...(this.hasReads ? [choices("shown", LOADS, this.load, "turnLoad")] : []),
        choices("by", ["region", "server"], this.kind, "turn"),
        make("label", {}, this.causes, words.show_causes),
        make("span", { class: "zooms" },
          button(words.zoom_in, () => this.zoom(0.5), "+"),
          button(words.zoom_out, () => this.zoom(2), "−"),
          button(words.reset, () => this.reset(), words.reset)));
      this.canvas = make("canvas", {
        tabindex: "0", role: "application",
        "aria-describedby": `map-help-${given.id} map-scale-${given.id}`,
        "aria-label": fill(words.title, { name: given.name }),
      });
      this.stage = make("div", { class: "stage" }, this.canvas);
      this.readout = make("p", { class: "readout", role: "status", text: words.idle });
      this.pinned = make("ul", { class: "pins" });
      this.table = make("details", {}, make("summary", { text: words.table }));
      this.table.addEventListener("toggle", () => this.tabulate());
      this.place.append(this.tools, this.stage, this.readout, this.pinned, this.table);
      this.listen();
    }

    listen() {
      const at = (event) => {
        const frame = this.canvas.getBoundingClientRect();
        return this.cellAt(event.clientX - frame.left, event.clientY - frame.top);
      };
      this.canvas.addEventListener("pointermove", (event) => {
        const cell = at(event);
        if (this.from && cell) this.box = [this.from, cell];
        if (cell) this.point(cell);
      });
      this.canvas.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        this.from = at(event);
        if (this.from && event.pointerType === "mouse") this.canvas.setPointerCapture(event.pointerId);
      });
      this.canvas.addEventListener("pointerup", (event) => {
        const cell = at(event) ?? this.cursor;
        if (this.from && cell) {
          const far = Math.abs(cell[0] - this.from[0]) + Math.abs(cell[1] - this.from[1]) > 0;
          this.box = far ? [this.from, cell] : null;
          this.choose();
        }
        this.from = null;
      });
      this.canvas.addEventListener("pointercancel", () => { this.from = this.box = null; });
      this.canvas.addEventListener("dblclick", () => this.reset());
      this.canvas.addEventListener("focus", () => this.point(this.cursor ?? [this.span[0], this.span[2]]));
      this.canvas.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (this.key(event.key, event.shiftKey)) event.preventDefault();
      });
    }

    key(key, shift) {
      const [c0, c1, r0, r1] = this.span;
      const moves = {
        ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
        PageUp: [0, -10], PageDown: [0, 10], Home: [c0 - c1, 0], End: [c1 - c0, 0],
      };
      const acts = {
        "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
        "−": () => this.zoom(2), 0: () => this.reset(), Enter: () => this.choose(),
        " ": () => this.choose(), Escape: () => { this.box = null; this.draw(); },
        s: () => this.others.forEach((one) => one.turn(this.next)),
        S: () => this.others.forEach((one) => one.turn(this.next)),
        l: () => this.others.forEach((one) => one.turnLoad(this.nextLoad)),
        L: () => this.others.forEach((one) => one.turnLoad(this.nextLoad)),
      };
      if (key in moves) {
        const [column, row] = this.cursor ?? [c0, r0];
        const cell = [
          clamp(column + moves[key][0], 0, this.columns - 1),
          clamp(row + moves[key][1], 0, this.view.rows.length - 1),
        ];
        if (shift) this.box = [this.box?.[0] ?? [column, row], cell];
        else this.box = null;
        this.follow(cell);
        this.point(cell);
      } else if (key in acts) acts[key]();
      return key in moves || key in acts;
    }

    get next() { return this.kind === "region" ? "server" : "region"; }

    get nextLoad() {
      return this.hasReads ? LOADS[(LOADS.indexOf(this.load) + 1) % LOADS.length] : this.load;
    }

    check(name, value) {
      this.place.querySelectorAll(`[data-choice=${name}] input`).forEach((one) => {
        one.checked = one.value === value;
      });
    }

    turn(kind) {
      if (!this.views || kind === this.kind) return;
      this.kind = kind;
      this.cursor = this.box = null;
      this.check("by", kind);
      this.show([this.span[0], this.span[1], 0, this.view.rows.length]);
      this.size();
    }

    /* Another load on the same cells: colours, bars, scale and words change, the cursor stays. */
    turnLoad(load) {
      if (!this.views || load === this.load || !this.hasReads) return;
      this.load = load;
      this.check("shown", load);
      this.causes.disabled = load === "reads";
      this.describeScale();
      this.readout.textContent = this.cursor
        ? this.told(this.kind, load, this.cursor) : this.words.idle;
      this.show(this.span);
    }

    /* What a shade means, and how many operations a second a fair share is. */
    describeScale() {
      const { words, given, view } = this;
      document.getElementById(`map-scale-${given.id}`).textContent = fill(
        words[`scale_${this.load}`], { rate: this.rate(view.all / this.columns / given.servers) });
    }

    /* Operations a second with three digits. */
    rate(value) {
      return value.toLocaleString(this.given.language, { maximumSignificantDigits: 3 });
    }

    /* Pin the cell, or zoom into the box that was drawn. */
    choose() {
      if (!this.box) { this.pin(); return; }
      const [[a, b], [c, d]] = this.box;
      this.box = null;
      this.share([Math.min(a, c), Math.max(a, c) + 1, Math.min(b, d), Math.max(b, d) + 1]);
    }

    zoom(by) {
      const [c0, c1, r0, r1] = this.span;
      const [column, row] = this.cursor ?? [(c0 + c1) / 2, (r0 + r1) / 2];
      const cut = (low, high, at, most) => {
        const length = clamp(Math.round((high - low) * by), 1, most);
        const start = clamp(Math.round(at - ((at - low) / (high - low)) * length), 0, most - length);
        return [start, start + length];
      };
      this.share([...cut(c0, c1, column, this.columns), ...cut(r0, r1, row, this.view.rows.length)]);
    }

    reset() {
      this.box = null;
      this.share([0, this.columns, 0, this.view.rows.length]);
    }

    whole() { this.span = [0, this.columns, 0, this.view.rows.length]; }

    /* Maps of the same stretch of time show the same part of it. */
    share(span) {
      for (const other of this.others) {
        if (other === this || !other.views) continue;
        const same = ["start_s", "width_s", "columns"].every((n) => other.given[n] === this.given[n]);
        const all = other.view.rows.length;
        if (same && span[2] === 0 && span[3] === this.view.rows.length) {
          other.show([span[0], span[1], 0, all]);
        } else if (same) other.show([span[0], span[1], other.span[2], other.span[3]]);
      }
      this.show(span);
    }

    show(span) {
      this.span = span;
      this.paint();
      this.tabulate();
    }

    follow([column, row]) {
      let [c0, c1, r0, r1] = this.span;
      const shift = (low, high, at) => (at < low ? at - low : at >= high ? at - high + 1 : 0);
      const [right, down] = [shift(c0, c1, column), shift(r0, r1, row)];
      if (right || down) this.show([c0 + right, c1 + right, r0 + down, r1 + down]);
    }

    size() {
      if (!this.views) return;
      const width = this.stage.clientWidth, rows = this.view.rows.length;
      const height = clamp(rows * 20, 160, 460) + TOP + BOTTOM;
      const ratio = window.devicePixelRatio || 1;
      const most = width < 420 ? 108 : Math.min(width * 0.32, 240);
      this.common = 0;
      if (width < 420 && this.broadest() + 12 > most) this.common = this.shared();
      this.left = Math.min(this.broadest() + 12, most);
      this.right = 58;
      Object.assign(this, { width, height, ratio });
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.height = `${height}px`;
      this.paint();
    }

    /* How broad the broadest label of a row is: its number, and what it begins with. */
    broadest() {
      const context = this.canvas.getContext("2d");
      context.font = this.font;
      const labels = this.view.rows.map((row) => this.rowLabel(row));
      const [numbers, said] = [0, 1].map((n) => labels.reduce(
        (most, label) => Math.max(most, context.measureText(label[n]).width), 0));
      this.numbers = numbers;
      return numbers + said;
    }

    /* How many characters all labels of rows begin with alike, whole words only. */
    shared() {
      const starts = this.view.rows.flatMap((row) => row.start ?? []);
      if (starts.length < 2) return 0;
      const [low, high] = [starts.reduce((a, b) => (a < b ? a : b)), starts.reduce((a, b) => (a > b ? a : b))];
      let length = 0;
      while (length < low.length && low[length] === high[length]) length += 1;
      return low.slice(0, length).search(/[^\p{L}\p{N}][\p{L}\p{N}]*$/u) + 1;
    }

    get font() { return `12px ${getComputedStyle(document.body).fontFamily}`; }

    /* The number of a row, and what it begins with. */
    rowLabel(row) {
      const number = row.first === row.last ? `${row.first}` : `${row.first}–${row.last}`;
      if (this.kind === "server") return ["", fill(this.words.server_row, { number })];
      return [`${number}  `, row.start?.slice(this.common) ?? this.words.first_row];
    }

    get area() {
      return [this.left, TOP, this.width - this.left - this.right, this.height - TOP - BOTTOM];
    }

    cellAt(x, y) {
      const [left, top, width, height] = this.area, [c0, c1, r0, r1] = this.span;
      const column = c0 + Math.floor(((x - left) / width) * (c1 - c0));
      const row = r0 + Math.floor(((y - top) / height) * (r1 - r0));
      if (!this.from && (column < c0 || column >= c1 || row < r0 || row >= r1)) return null;
      return [clamp(column, c0, c1 - 1), clamp(row, r0, r1 - 1)];
    }

    placeOf(column, row) {
      const [left, top, width, height] = this.area, [c0, c1, r0, r1] = this.span;
      return [left + ((column - c0) / (c1 - c0)) * width, top + ((row - r0) / (r1 - r0)) * height];
    }

    /* The cells as an image: of cells that share a pixel, the hottest shows. */
    paint() {
      if (!this.width) return;
      const { view, span: [c0, c1, r0, r1] } = this;
      const rows = view.rows.length;
      const width = clamp(Math.floor(this.area[2] * this.ratio), 1, c1 - c0);
      const height = clamp(Math.floor(this.area[3] * this.ratio), 1, r1 - r0);
      const hottest = new Uint8Array(width * height);
      const lines = new Uint32Array(r1 - r0);
      for (let row = 0; row < lines.length; row += 1) {
        lines[row] = Math.floor((row * height) / lines.length) * width;
      }
      for (let column = c0; column < c1; column += 1) {
        const x = Math.floor(((column - c0) * width) / (c1 - c0));
        const from = column * rows + r0;
        for (let row = 0; row < lines.length; row += 1) {
          const level = view.levels[from + row], at = lines[row] + x;
          if (level > hottest[at]) hottest[at] = level;
        }
      }
      const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer);
      for (let at = 0; at < pixels.length; at += 1) pixels[at] = PALETTE[hottest[at]];
      this.scratch.width = width;
      this.scratch.height = height;
      this.scratch.getContext("2d").putImageData(image, 0, 0);
      this.draw();
    }

    draw() {
      if (!this.width) return;
      const context = this.canvas.getContext("2d"), style = getComputedStyle(document.body);
      this.ink = style.getPropertyValue("--ink");
      this.soft = style.getPropertyValue("--soft");
      this.accent = style.getPropertyValue("--accent");
      context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      context.clearRect(0, 0, this.width, this.height);
      context.imageSmoothingEnabled = false;
      context.drawImage(this.scratch, ...this.area);
      this.drawUnknown(context);
      context.font = this.font;
      this.drawRows(context);
      this.drawTimes(context);
      context.save();
      context.beginPath();
      context.rect(...this.area);
      context.clip();
      if (this.marked && this.load !== "reads") this.view.marks.forEach((mark) => this.drawMark(context, mark));
      this.drawCursor(context);
      context.restore();
    }

    /* Hatches the cells of running tables whose counts nobody knows. */
    drawUnknown(context) {
      if (!this.view.unknown?.length) return;
      const tile = make("canvas", { width: 6, height: 6 }), pen = tile.getContext("2d");
      pen.strokeStyle = "rgba(160,168,190,.55)";
      for (const shift of [-6, 0, 6]) {
        pen.moveTo(shift, 6);
        pen.lineTo(shift + 6, 0);
      }
      pen.stroke();
      context.save();
      context.beginPath();
      context.rect(...this.area);
      context.clip();
      context.fillStyle = context.createPattern(tile, "repeat");
      for (const [c0, c1, r0, r1] of this.view.unknown) {
        const [x, y] = this.placeOf(c0, r0), [right, low] = this.placeOf(c1, r1);
        context.fillRect(x, y, right - x, low - y);
      }
      context.restore();
    }

    /* Labels at the left, lines between few rows, and the load of each row over all time. */
    drawRows(context) {
      const { view, words, span: [, , r0, r1] } = this, [left, top, width, height] = this.area;
      const each = height / (r1 - r0), step = Math.max(Math.ceil(15 / each), 1);
      const scale = this.given.servers / (view.all || 1);
      context.textBaseline = "middle";
      for (let row = r0; row < r1; row += step) {
        this.label(context, view.rows[row], this.placeOf(0, row)[1] + each / 2);
      }
      this.drawBars(context, left + width + 6, words[this.load], (row) => view.sums[row] * scale);
      if (each >= 9) {
        context.strokeStyle = "rgba(255,255,255,.16)";
        context.lineWidth = 1;
        for (let row = r0 + 1; row < r1; row += 1) {
          const y = Math.round(this.placeOf(0, row)[1]) + 0.5;
          context.beginPath();
          context.moveTo(left, y);
          context.lineTo(left + width, y);
          context.stroke();
        }
      }
    }

    /* The load of each row as a bar; the dotted line is one server's fair share. */
    drawBars(context, x, name, loadOf) {
      const { span: [, , r0, r1] } = this, [, top, , height] = this.area;
      const each = height / (r1 - r0), broad = 46;
      for (let row = r0; row < r1; row += 1) {
        const value = loadOf(row), [red, green, blue] = colourOf(value);
        context.fillStyle = `rgb(${red},${green},${blue})`;
        const long = Math.max(clamp(value / 2, 0, 1) * broad, value ? 1 : 0);
        context.fillRect(x, this.placeOf(0, row)[1], long, Math.max(each - 1, 0.5));
      }
      context.strokeStyle = this.soft;
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(x + broad / 2, top);
      context.lineTo(x + broad / 2, top + height);
      context.stroke();
      context.setLineDash([]);
      context.fillStyle = this.soft;
      context.textAlign = "center";
      context.fillText("1×", x + broad / 2, top + height + 13);
      context.fillText(name, x + broad / 2, top - 10);
      context.textAlign = "left";
    }

    label(context, row, y) {
      let [number, said] = this.rowLabel(row);
      const from = this.numbers, room = this.left - 8 - from;
      context.fillStyle = this.soft;
      context.textAlign = "right";
      context.fillText(number, from, y);
      context.textAlign = "left";
      if (context.measureText(said).width > room) {
        while (said.length > 1 && context.measureText(`${said}…`).width > room) {
          said = said.slice(0, -1);
        }
        said = `${said}…`;
      }
      context.fillStyle = this.ink;
      context.fillText(said, from, y);
    }

    /* How much came in each moment above the map, and the times below it. */
    drawTimes(context) {
      const { view, span: [c0, c1] } = this, [left, top, width, height] = this.area;
      const each = width / (c1 - c0);
      context.fillStyle = this.soft;
      for (let column = c0; column < c1; column += 1) {
        const tall = (view.totals[column] / view.busiest) * (TOP - 10);
        const [from, to] = [column - c0, column - c0 + 1].map((n) => Math.round(left + n * each));
        context.fillRect(from, top - 4 - tall, Math.max(to - from - (each < 6 ? 0 : 1), 0.5), tall);
      }
      const { start_s: start, width_s: step } = this.given;
      const length = (c1 - c0) * step, count = clamp(Math.floor(width / 150), 1, 6);
      context.textBaseline = "middle";
      for (let tick = 0; tick <= count; tick += 1) {
        const at = Math.round(start + c0 * step + (length * tick) / count);
        const shown = brief(at, length / count);
        // Below a narrow map the first time begins under the labels, so that both are legible.
        const isNarrow = 2 * context.measureText(shown).width + 12 > (width / count);
        context.textAlign = tick === 0 && !isNarrow ? "left" : tick === count ? "right" : "center";
        context.fillText(shown, left + (width * tick) / count, top + height + 13);
      }
      context.textAlign = "left";
    }

    drawMark(context, mark) {
      const stroke = (colour, broad) => {
        context.strokeStyle = colour;
        context.lineWidth = broad;
        context.stroke();
      };
      let anchor = null;
      if (mark.line.length) {
        context.beginPath();
        mark.line.forEach(([column, row], number) => {
          const [x, y] = this.placeOf(column, row + 0.5);
          if (number) context.lineTo(x, this.placeOf(0, mark.line[number - 1][1] + 0.5)[1]);
          context[number ? "lineTo" : "moveTo"](x, y);
        });
        context.lineJoin = "round";
        stroke("rgba(12,16,29,.85)", 4);
        stroke("#fff", 1.5);
        anchor = this.placeOf(mark.line[0][0], mark.line[0][1] + 0.5);
      }
      for (const [c0, c1, r0, r1] of mark.boxes) {
        const [x, y] = this.placeOf(c0, r0), [right, low] = this.placeOf(c1, r1);
        const broad = Math.max(right - x, 8), tall = Math.max(low - y, 8);
        const [at, up] = [(x + right - broad) / 2, (y + low - tall) / 2];
        context.beginPath();
        context.rect(at + 1.5, up + 1.5, broad - 3, tall - 3);
        stroke("rgba(12,16,29,.85)", 4);
        context.setLineDash([5, 3]);
        stroke("#fff", 1.5);
        context.setLineDash([]);
        anchor ??= [broad < 40 ? at + broad + 14 : at + broad, up + tall / 2];
      }
      const [left, top, width, height] = this.area;
      const x = clamp(anchor[0], left + 12, left + width - 12);
      const y = clamp(anchor[1], top + 12, top + height - 12);
      context.beginPath();
      context.arc(x, y, 10, 0, 2 * Math.PI);
      context.fillStyle = "#0c101d";
      context.fill();
      stroke("#fff", 1.5);
      context.fillStyle = "#fff";
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillText(String(mark.cause + 1), x, y + 0.5);
      context.textAlign = "left";
    }

    drawCursor(context) {
      const frame = ([a, b], [c, d], dashes) => {
        const [x, y] = this.placeOf(Math.min(a, c), Math.min(b, d));
        const [right, low] = this.placeOf(Math.max(a, c) + 1, Math.max(b, d) + 1);
        for (const [colour, broad] of [["#0c101d", 4], ["#fff", 2]]) {
          context.strokeStyle = colour;
          context.lineWidth = broad;
          context.setLineDash(broad === 2 ? dashes : []);
          context.strokeRect(x, y, Math.max(right - x, 3), Math.max(low - y, 3));
        }
        context.setLineDash([]);
      };
      this.pins.filter((pin) => pin.kind === this.kind && pin.load === this.load)
        .forEach((pin) => frame(pin.cell, pin.cell, [2, 2]));
      if (this.cursor) frame(this.cursor, this.cursor, []);
      if (this.box) frame(...this.box, [6, 4]);
    }

    point(cell) {
      this.cursor = cell;
      this.readout.textContent = this.told(this.kind, this.load, cell);
      if (!this.waiting) {
        this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
      }
    }

    rowName(kind, row, more) {
      const { words } = this, number = row.first === row.last ? row.first : `${row.first}–${row.last}`;
      if (kind === "server") return fill(words.server_row, { number });
      const said = [fill(row.first === row.last ? words.region_row : words.regions_row, { number })];
      if (more && row.server !== undefined) said.push(fill(words.on_server, { number: row.server }));
      if (more) said.push(fill(words.begins, { key: row.start ?? words.first_row }));
      return said.join(words.comma);
    }

    /* A cell in words, as a screen reader says it. */
    told(kind, load, [column, row]) {
      const { words, given } = this, view = this.viewOf(kind, load);
      const count = view.counts[column * view.rows.length + row], rate = view.rateAt(column, row);
      const from = given.start_s + column * given.width_s;
      const percent = (part) => part.toLocaleString(given.language, { style: "percent" });
      const { reads } = view.rows[row];
      const said = [
        this.rowName(kind, view.rows[row], true),
        ...(reads === undefined || load !== "writes"
          ? [] : [fill(words.reads_share, { share: percent(reads) })]),
        load === "reads"
          ? words.constant : fill(words.at, { from: instant(from), to: instant(from + given.width_s) }),
      ];
      if (!rate) {
        if (view.unknown?.some(([c0, c1, r0, r1]) => column >= c0 && column < c1 && row >= r0 && row < r1)) {
          return [...said, words.unknown].join(words.semicolon);
        }
        const idle = { writes: "nothing", reads: "no_reads", both: "no_load" };
        return [...said, words[idle[load]]].join(words.semicolon);
      }
      if (load === "writes") {
        said.push(fill(words.count, { count: count.toLocaleString(given.language) }));
      } else if (load === "both") {
        said.push(fill(words.sum, {
          both: this.rate(rate), writes: this.rate(count * given.event_rate),
          reads: this.rate(reads * given.read_rate),
        }));
      } else said.push(fill(words.rate, { rate: this.rate(rate) }));
      said.push(fill(words.load, { load: factor((rate * given.servers) / view.totals[column]) }));
      said.push(fill(words[load === "reads" ? "share_reads" : "share"],
        { share: percent(rate / view.totals[column]) }));
      return said.join(words.semicolon);
    }

    pin() {
      if (!this.cursor) return;
      const held = this.pins.find(({ kind, load, cell }) =>
        kind === this.kind && load === this.load && cell[0] === this.cursor[0] && cell[1] === this.cursor[1]);
      if (held) this.pins.splice(this.pins.indexOf(held), 1);
      else this.pins = [...this.pins, { kind: this.kind, load: this.load, cell: this.cursor }].slice(-PINS);
      this.pinned.replaceChildren(...this.pins.map((pin) => this.pinItem(pin)));
      this.draw();
    }

    pinItem(pin) {
      const { words } = this, row = this.given.views[pin.kind].rows[pin.cell[1]];
      const gone = make("button", { type: "button", text: words.unpin });
      gone.addEventListener("click", () => {
        this.pins.splice(this.pins.indexOf(pin), 1);
        this.pinned.replaceChildren(...this.pins.map((one) => this.pinItem(one)));
        this.canvas.focus();
        this.draw();
      });
      const item = make("li", {}, make("span", { text: this.told(pin.kind, pin.load, pin.cell) }));
      if (row.hex) item.append(make("code", { text: row.hex, title: words.copy_key }));
      item.append(gone);
      return item;
    }

    /* What is shown of the map as a table, made when it is opened. */
    tabulate() {
      if (!this.table?.open) return;
      const { words, given, view, span: [c0, c1, r0, r1] } = this;
      // Reads are constant: slices of time would repeat their total.
      const many = this.load === "reads" ? 0 : Math.min(SLICES, c1 - c0), edges = [];
      for (let slice = 0; slice <= many; slice += 1) {
        edges.push(c0 + Math.floor(((c1 - c0) * slice) / Math.max(many, 1)));
      }
      const time = (column) => instant(given.start_s + column * given.width_s);
      const loads = this.hasReads ? LOADS : [this.load];
      const head = make("tr", {}, make("th", { scope: "col", text: words[this.kind] }),
        ...loads.map((one) => make("th", {
          scope: "col", text: this.hasReads ? words[one] : words.total,
        })),
        ...edges.slice(0, -1).map((edge) => make("th", {
          scope: "col", title: time(edge),
          text: brief(given.start_s + edge * given.width_s, ((c1 - c0) * given.width_s) / many),
        })));
      const sum = (shown, from, to, row) => {
        let mine = 0, all = 0;
        for (let column = from; column < to; column += 1) {
          mine += shown.rateAt(column, row);
          all += shown.totals[column];
        }
        return all ? `${factor((mine * given.servers) / all)}×` : "–";
      };
      const totals = loads.map((one) => this.viewOf(this.kind, one));
      const body = make("tbody");
      for (let row = r0; row < r1; row += 1) {
        body.append(make("tr", {},
          make("th", { scope: "row", text: this.rowName(this.kind, view.rows[row], true) }),
          ...totals.map((one) => make("td", { text: sum(one, c0, c1, row) })),
          ...edges.slice(0, -1).map((edge, at) =>
            make("td", { text: sum(view, edge, edges[at + 1], row) }))));
      }
      const said = fill(words[`table_caption_${this.load}`],
        { name: given.name, from: time(c0), to: time(c1) });
      const inner = make("table", {}, make("caption", { text: said }), make("thead", {}, head), body);
      const outer = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": said }, inner);
      this.table.replaceChildren(this.table.firstElementChild, outer);
    }
  }

  /* The servers of a map in a few pixels, to be compared by eye with those of others. */
  const sketch = (map, place) => {
    const { columns, words, given } = map, { levels, rows } = map.viewOf("server", "writes");
    const width = Math.min(columns, 640), height = rows.length;
    const hottest = new Uint8Array(width * height);
    for (let column = 0; column < columns; column += 1) {
      const x = Math.floor((column * width) / columns);
      for (let row = 0; row < height; row += 1) {
        const at = row * width + x, level = levels[column * height + row];
        if (level > hottest[at]) hottest[at] = level;
      }
    }
    const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    hottest.forEach((level, at) => { pixels[at] = PALETTE[level]; });
    const said = fill(words.small, { name: given.name, skew: given.skew });
    const canvas = make("canvas", { width, height, role: "img", "aria-label": said });
    canvas.getContext("2d").putImageData(image, 0, 0);
    place.append(canvas);
  };

  /* The scale in the pixels of the screen; it is drawn again where the window changes. */
  const legend = (place, words) => {
    const canvas = make("canvas"), context = canvas.getContext("2d");
    const draw = () => {
      const wide = place.clientWidth, ratio = window.devicePixelRatio || 1;
      if (!wide) return;
      const left = wide * 0.11, right = wide * 0.87, style = getComputedStyle(document.body);
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(40 * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      for (let x = Math.floor(left); x < right; x += 1) {
        const [red, green, blue] = colourOf(DARKEST * 2 ** ((OCTAVES * (x - left)) / (right - left)));
        context.fillStyle = `rgb(${red},${green},${blue})`;
        context.fillRect(x, 2, 1, 16);
      }
      context.fillStyle = `rgb(${NOTHING.join(",")})`;
      context.fillRect(0, 2, left - 8, 16);
      context.strokeStyle = style.getPropertyValue("--soft");
      context.strokeRect(0.5, 2.5, left - 9, 15);
      context.fillStyle = style.getPropertyValue("--ink");
      context.font = `12px ${style.fontFamily}`;
      context.textAlign = "center";
      const said = [[1 / 8, "⅛×"], [1 / 2, "½×"], [1, "1×"], [2, "2×"], [4, "4×"], [8, "8×"]];
      if (right - left < 28 * OCTAVES) said.pop();
      for (const [value, text] of said) {
        const x = left + ((right - left) * Math.log2(value / DARKEST)) / OCTAVES;
        context.fillRect(x - 0.5, 18, 1, 4);
        context.fillText(text, x, 35);
      }
      context.fillText("0", (left - 8) / 2, 35);
      context.fillText("≥16×", right + 4, 35);
    };
    place.append(canvas);
    new ResizeObserver(draw).observe(place);
    draw();
  };

  /* Opens the designs around the place that the address names, and all of them for a printer. */
  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    target?.scrollIntoView();
  };
  window.addEventListener("hashchange", openTarget);
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details.one").forEach((one) => { one.open = true; });
  });
  if (location.hash) openTarget();

  const begin = async () => {
    const payload = document.getElementById("payload"), { source } = payload.dataset;
    const { language, words, maps } = source
      ? await (await fetch(source)).json() : JSON.parse(payload.textContent);
    document.dispatchEvent(new CustomEvent("map-ready", { detail: maps?.length ?? 0 }));
    if (!maps?.length) return;
    document.querySelectorAll(".legend").forEach((place) => legend(place, words));
    const drawn = [];
    for (const given of maps) {
      const place = document.getElementById(`map-${given.id}`);
      const map = new HeatMap({ ...given, language }, words, place, drawn);
      drawn.push(map);
      place.heatMap = map;
      try {
        if (typeof DecompressionStream === "undefined") throw new TypeError("no DecompressionStream");
        await map.start();
        const small = document.querySelector(`[data-small="${given.id}"]`);
        if (small) sketch(map, small);
      } catch (problem) {
        place.append(make("p", { class: "none", text: words.too_old }));
        console.error(problem);
      }
      place.dataset.ready = "true";
    }
  };
  begin();
})();
