/* The heat map of one design: what it shows, and which part of that. Its scales are absolute:
   1 is one server's fair share of a moment, or what one server can take, whatever other cells hold. */
const MAX_KEPT_LEVELS = 4;

class HeatMap {
  constructor(given, control, place) {
    Object.assign(this, { given, control, place, words: control.words, columns: given.columns });
    this.isMarked = true;
    this.kind = control.kind;
    this.cursor = this.box = null;
    this.common = this.width = 0;
    this.counts = {};
    this.loading = {};
    this.loads = {};
    this.kept = new Map();
    this.image = document.createElement("canvas");
    this.base = document.createElement("canvas");
    this.span = [0, this.columns, ...this.wholeRows];
  }

  get load() { return this.control.load; }

  get hasReads() { return this.given.read_rate !== null; }

  get isInPage() { return Object.values(this.given.views).every((view) => !view.source); }

  get isZoomed() { return this.span[1] - this.span[0] < this.columns; }

  get wholeRows() {
    const view = this.given.views[this.kind];
    return [0, view.rows?.length ?? view.row_count];
  }

  get view() { return this.viewOf(this.kind, this.load); }

  /* One load of the rows of one kind, computed when it is first asked for. */
  viewOf(kind, load) {
    this.loads[`${kind} ${load}`] ??=
      sumLoad(this.given, this.given.views[kind].rows, this.counts[kind], load);
    return this.loads[`${kind} ${load}`];
  }

  /* The levels of its cells on a scale; only a few are kept, as they are large. */
  levelsOf(kind, load, scale) {
    const name = `${kind} ${load} ${scale}`;
    if (!this.kept.has(name)) {
      const levels = levelCells(this.given, this.viewOf(kind, load), scale);
      if (this.kept.size === MAX_KEPT_LEVELS) this.kept.delete(this.kept.keys().next().value);
      this.kept.set(name, levels);
    }
    return this.kept.get(name);
  }

  /* The mean and the highest load of each row that is shown. */
  get rowLoads() {
    const { kind, load, span, control: { scale } } = this, name = [kind, load, scale, span].join();
    if (this.summary?.name !== name) {
      this.summary = { name, ...summarizeRows(this.given, this.view, scale, span) };
    }
    return this.summary;
  }

  /* Fetch and unpack the counts of one kind of rows. */
  fetchView(kind) {
    this.loading[kind] ??= this.unpack(kind).catch((problem) => {
      delete this.loading[kind];  // it may be there the next time
      throw problem;
    });
    return this.loading[kind];
  }

  async unpack(kind) {
    const view = this.given.views[kind];
    if (view.source) Object.assign(view, await readSource(view.source));
    if (view.counts_of) {
      await this.fetchView(view.counts_of);
      this.counts[kind] = this.counts[view.counts_of];
    } else this.counts[kind] = await unpackCounts(view.counts, this.columns * view.rows.length);
  }

  async start() {
    while (!this.counts[this.kind]) await this.fetchView(this.kind);  // it may change meanwhile
    this.build();
    this.describeScale();
    new ResizeObserver(() => this.size()).observe(this.stage);
    this.size();
    this.place.dataset.kind = this.kind;
    this.place.dataset.ready = "true";
  }

  /* Show newer counts of the same table, unless a part of the map or a cell of it is held. The old
     ones are shown until the new ones are unpacked. */
  async update(given) {
    if (!this.stage) return; // it was not shown yet
    const { kind } = this, { counts, rows } = given.views[kind];
    const unpacked = await unpackCounts(counts, given.columns * rows.length);
    const [c0, c1, r0, r1] = this.span, [, last] = this.wholeRows;
    const isWhole = c0 === 0 && c1 === this.columns && r0 === 0 && r1 === last;
    if (!isWhole || this.pins.pins.length || this.box || kind !== this.kind) return;
    Object.assign(this.given, given);
    Object.assign(this, { columns: given.columns, loads: {}, cursor: null,
      counts: { [kind]: unpacked }, loading: { [kind]: Promise.resolve() } });
    this.kept.clear();
    this.span = [0, this.columns, ...this.wholeRows];
    this.describeScale();
    this.size();
    this.tabulate();
  }

  startWhenShown() {
    const watch = new ResizeObserver(() => {
      if (!this.place.clientWidth) return;
      watch.disconnect();
      this.start().catch((problem) => this.fail(problem));
    });
    watch.observe(this.place);
  }

  fail(problem) {
    const { too_old: tooOld, not_loaded: notLoaded } = this.words;
    const text = typeof DecompressionStream === "undefined" ? tooOld : notLoaded;
    this.place.append(make("p", { class: "none", role: "alert", text }));
    this.place.dataset.ready = "true";
    console.error(problem);
  }

  build() {
    const { words, given } = this;
    this.causes = make("input", { type: "checkbox", checked: true });
    this.causes.addEventListener("change", () => {
      this.isMarked = this.causes.checked;
      this.refresh(true);
    });
    this.tools = buildTools(this.control, given.id, given.language, {
      zoom: (by) => this.zoom(by), reset: () => this.reset(),
      extra: [make("label", {}, this.causes, words.show_causes)],
    });
    this.canvas = make("canvas", {
      tabindex: "0", role: "application",
      "aria-describedby": `map-help-${given.id} map-scale-${given.id}`,
      "aria-label": fill(words.title, { name: given.name }),
    });
    this.stage = make("div", { class: "stage" }, this.canvas);
    this.readout = make("p", { class: "readout", role: "status", text: words.idle });
    this.pins = new Pins(this);
    this.table = make("details", {}, make("summary", { text: words.table }));
    this.table.addEventListener("toggle", () => this.tabulate());
    this.place.append(this.tools, this.stage, this.readout, this.pins.list, this.table);
    followPointer(this);
    followKeys(this);
  }

  /* Show rows of another kind, once they are loaded. */
  async changeKind() {
    const { kind } = this.control;
    if (this.stage) await this.fetchView(kind);
    if (kind !== this.control.kind) return;
    this.kind = kind;
    this.cursor = this.box = null;
    this.span = [this.span[0], this.span[1], ...this.wholeRows];
    this.size();
    this.place.dataset.kind = kind;
  }

  /* Follow a change of what all maps show. */
  async change(name) {
    try {
      if (name === "kind") await this.changeKind();
    } catch (problem) {
      this.fail(problem);
      return;
    }
    if (!this.stage) return;
    this.causes.disabled = this.load === "reads";
    this.describeScale();
    this.readout.textContent = this.cursor
      ? this.describe(this.kind, this.load, this.cursor) : this.words.idle;
    this.refresh(true);
    this.tabulate();
  }

  /* What a shade means, and how many operations a second are 1. */
  describeScale() {
    const { words, given, control: { scale } } = this;
    const [name, rate] = scale === "capacity"
      ? [nameCapacity(given), given.capacity]
      : [`scale_${this.load}`, this.view.all / this.columns / given.servers];
    document.getElementById(`map-scale-${given.id}`).textContent =
      fill(words[name], { rate: formatRate(rate, given.language) });
  }

  /* Pin the cell, or zoom into the box that was drawn. */
  choose() {
    if (!this.box) {
      if (this.cursor) this.pins.toggle(this.cursor);
      return;
    }
    const [[a, b], [c, d]] = this.box;
    this.box = null;
    this.control.showSpan(this,
      [Math.min(a, c), Math.max(a, c) + 1, Math.min(b, d), Math.max(b, d) + 1]);
  }

  /* Show so many times as many columns and rows around a cell. */
  zoom(by, cell = this.cursor) {
    const [c0, c1, r0, r1] = this.span;
    const [column, row] = cell ?? [(c0 + c1) / 2, (r0 + r1) / 2];
    const scale = (low, high, at, most) => {
      let length = Math.round((high - low) * by);
      if (length === high - low) length += Math.sign(by - 1);
      length = clamp(length, 1, most);
      const start = Math.round(at - ((at - low) / (high - low)) * length);
      return [clamp(start, 0, most - length), clamp(start, 0, most - length) + length];
    };
    this.control.showSpan(this,
      [...scale(c0, c1, column, this.columns), ...scale(r0, r1, row, this.wholeRows[1])]);
  }

  /* Move over the time by a part of what is shown. */
  pan(part) {
    const [c0, c1, r0, r1] = this.span;
    this.rest = (this.rest ?? 0) + part * (c1 - c0);
    const step = clamp(Math.trunc(this.rest), -c0, this.columns - c1);
    this.rest -= Math.trunc(this.rest);
    if (step) this.control.showSpan(this, [c0 + step, c1 + step, r0, r1]);
  }

  reset() {
    this.box = null;
    this.control.showSpan(this, [0, this.columns, ...this.wholeRows]);
  }

  show(span) {
    this.span = span;
    this.refresh(true);
    this.tabulate();
  }

  follow([column, row]) {
    const [c0, c1, r0, r1] = this.span;
    const shift = (low, high, at) => (at < low ? at - low : at >= high ? at - high + 1 : 0);
    const [right, down] = [shift(c0, c1, column), shift(r0, r1, row)];
    if (right || down) {
      this.control.showSpan(this, [c0 + right, c1 + right, r0 + down, r1 + down]);
    }
  }

  size() {
    if (!this.stage || !this.counts[this.kind]) return;
    const width = this.stage.clientWidth, rows = this.wholeRows[1];
    const height = clamp(rows * 20, 160, 460) + TOP + BOTTOM;
    const ratio = window.devicePixelRatio || 1;
    const most = width < 420 ? 108 : Math.min(width * 0.32, 240);
    this.common = 0;
    if (width < 420 && this.measureLabels() + 12 > most) this.common = this.countCommon();
    this.left = clamp(this.measureLabels() + 12, 64, most);
    Object.assign(this, { width, height, ratio });
    for (const canvas of [this.canvas, this.base]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    this.canvas.style.height = `${height}px`;
    this.paint();
  }

  /* How broad the broadest label of a row is: its number, and what it begins with. */
  measureLabels() {
    const context = this.canvas.getContext("2d");
    context.font = this.font;
    const labels = this.given.views[this.kind].rows.map((row) => this.rowLabel(row));
    const [numbers, texts] = [0, 1].map((n) => labels.reduce(
      (most, label) => Math.max(most, context.measureText(label[n]).width), 0));
    this.numbers = numbers;
    return numbers + texts;
  }

  /* How many characters all labels of rows have in common, whole words only. */
  countCommon() {
    const starts = this.given.views[this.kind].rows.flatMap((row) => row.start ?? []);
    if (starts.length < 2) return 0;
    const [low, high] = [
      starts.reduce((a, b) => (a < b ? a : b)), starts.reduce((a, b) => (a > b ? a : b)),
    ];
    let length = 0;
    while (length < low.length && low[length] === high[length]) length += 1;
    return low.slice(0, length).search(/[^\p{L}\p{N}][\p{L}\p{N}]*$/u) + 1;
  }

  get font() { return `12px ${getComputedStyle(document.body).fontFamily}`; }

  /* The number of a row, and what it begins with. */
  rowLabel(row) {
    const number = row.first === row.last ? `${row.first}` : `${row.first}–${row.last}`;
    if (this.kind === "server") return ["", fill(this.words.server_row, { number })];
    const start = row.start?.slice(this.common) ?? this.words.first_row;
    return this.kind === "prefix" ? ["", start] : [`${number}  `, start];
  }

  /* The place of the cells: left, top, width and height in pixels of the page. */
  get area() {
    return [this.left, TOP, this.width - this.left - RIGHT, this.height - TOP - BOTTOM];
  }

  /* The cell at a place; outside of the map the nearest one, or none. */
  cellAt(x, y, isNearest = false) {
    const [left, top, width, height] = this.area, [c0, c1, r0, r1] = this.span;
    const column = c0 + Math.floor(((x - left) / width) * (c1 - c0));
    const row = r0 + Math.floor(((y - top) / height) * (r1 - r0));
    if (!isNearest && (column < c0 || column >= c1 || row < r0 || row >= r1)) return null;
    return [clamp(column, c0, c1 - 1), clamp(row, r0, r1 - 1)];
  }

  placeOf(column, row) {
    const [left, top, width, height] = this.area, [c0, c1, r0, r1] = this.span;
    return [left + ((column - c0) / (c1 - c0)) * width, top + ((row - r0) / (r1 - r0)) * height];
  }

  /* Draw with the next frame; `isChanged` tells whether more than the cursor has changed. */
  refresh(isChanged = false) {
    this.isStale ||= isChanged;
    this.waiting ??= requestAnimationFrame(() => {
      if (this.isStale) this.paint();
      else this.draw();
    });
  }

  /* Draw the cells and all around them, which stay until something changes. */
  paint() {
    if (!this.width || !this.counts[this.kind]) return;
    const { base, ratio, area, control } = this, context = base.getContext("2d");
    const levels = this.levelsOf(this.kind, this.load, control.scale);
    paintCells(this.image, levels, this.columns, this.span,
      [area[2] * ratio, area[3] * ratio], control.palette);
    const style = getComputedStyle(document.body);
    for (const name of ["ink", "soft", "poor"]) this[name] = style.getPropertyValue(`--${name}`);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.image, ...area);
    hatchUnknown(this, context);
    context.font = this.font;
    drawAxes(this, context);
    context.save();
    context.beginPath();
    context.rect(...area);
    context.clip();
    if (this.isMarked && this.load !== "reads") {
      this.given.views[this.kind].marks.forEach((mark) => drawCause(this, context, mark));
    }
    context.restore();
    this.isStale = false;
    this.draw();
  }

  /* Draw what was painted, with the cursor, the box and the pins. */
  draw() {
    cancelAnimationFrame(this.waiting);
    this.waiting = null;
    if (!this.width) return;
    const context = this.canvas.getContext("2d"), { ratio } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.base, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = this.font;
    context.save();
    context.beginPath();
    context.rect(...this.area);
    context.clip();
    if (this.cursor) this.drawFrame(context, this.cursor, this.cursor, []);
    if (this.box) this.drawFrame(context, ...this.box, [6, 4]);
    for (const { cell, letter } of this.pins.shown) this.drawPin(context, cell, letter);
    context.restore();
  }

  /* A pinned cell, and its letter next to it. */
  drawPin(context, cell, letter) {
    const [c0, c1, r0, r1] = this.span, [left, top, width, height] = this.area;
    if (cell[0] < c0 || cell[0] >= c1 || cell[1] < r0 || cell[1] >= r1) return;
    this.drawFrame(context, cell, cell, [2, 2]);
    const [right, y] = this.placeOf(cell[0] + 1, cell[1] + 0.5), x = right + 11;
    const place = x < left + width - 9 ? x : this.placeOf(cell[0], 0)[0] - 11;
    drawBadge(context, place, clamp(y, top + 9, top + height - 9), 8, letter);
  }

  drawFrame(context, [a, b], [c, d], dashes) {
    const [x, y] = this.placeOf(Math.min(a, c), Math.min(b, d));
    const [right, low] = this.placeOf(Math.max(a, c) + 1, Math.max(b, d) + 1);
    for (const [colour, broad] of [["#0c101d", 4], ["#fff", 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = broad;
      context.setLineDash(broad === 2 ? dashes : []);
      context.strokeRect(x, y, Math.max(right - x, 3), Math.max(low - y, 3));
    }
    context.setLineDash([]);
  }

  point(cell) {
    this.cursor = cell;
    this.readout.textContent = this.describe(this.kind, this.load, cell);
    this.refresh();
  }

  describe(kind, load, cell) { return describeCell(this, kind, load, cell); }

  copyKey() {
    const { hex } = this.cursor ? this.view.rows[this.cursor[1]] : {};
    if (hex) this.copy(formatShellKey(hex));
  }

  /* Copy a key, also where a browser gives no clipboard: on a page without encryption. */
  async copy(key) {
    try {
      await navigator.clipboard.writeText(key);
    } catch {
      const field = make("textarea", { text: key, class: "skip" });
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    this.readout.textContent = fill(this.words.copied, { key });
  }

  tabulate() {
    if (this.table?.open) {
      this.table.replaceChildren(this.table.firstElementChild, buildTable(this));
    }
  }
}
