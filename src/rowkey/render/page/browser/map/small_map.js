/* The servers of a map in a few pixels, to be compared by eye with those of others. It shows what
   the large map shows of time, load, scale and brightness; a box on it zooms all into a time. */
const SMALL_WIDTH = 640;

class SmallMap {
  constructor(map, place) {
    Object.assign(this, { map, place });
    this.canvas = make("canvas", { role: "img" });
    this.mark = make("div", { class: "brush", hidden: true });
    place.append(this.canvas, this.mark);
    this.follow();
    map.control.watchers.push(() => this.refresh());
    this.refresh();
  }

  refresh() {
    this.waiting ??= requestAnimationFrame(() => { this.waiting = null; this.draw(); });
  }

  draw() {
    const { map, canvas } = this, { words, given, columns, control } = map, [c0, c1] = map.span;
    const { rows, levels } = map.levelsOf("server", control.load, control.scale);
    canvas.setAttribute("aria-label", fill(words.small, {
      name: given.name, skew: given.skew,
      from: instant(given.start_s + c0 * given.width_s),
      to: instant(given.start_s + c1 * given.width_s),
    }));
    paintCells(canvas, levels, columns, [c0, c1, 0, rows], [SMALL_WIDTH, rows], control.palette);
  }

  follow() {
    const { map, place, mark } = this;
    const locate = (event) => {
      const frame = place.getBoundingClientRect(), [c0, c1] = map.span;
      const part = clamp((event.clientX - frame.left) / frame.width, 0, 0.9999);
      return c0 + Math.floor(part * (c1 - c0));
    };
    let start = null;
    const end = () => { start = null; mark.hidden = true; };
    place.addEventListener("pointerdown", (event) => {
      if (event.button || !event.isPrimary) return;
      start = locate(event);
      if (event.pointerType !== "touch") place.setPointerCapture(event.pointerId);
    });
    place.addEventListener("pointermove", (event) => {
      if (start === null) return;
      const [c0, c1] = map.span, at = locate(event);
      const [from, to] = [Math.min(start, at), Math.max(start, at) + 1]
        .map((column) => (100 * (column - c0)) / (c1 - c0));
      Object.assign(mark.style, { left: `${from}%`, width: `${to - from}%` });
      mark.hidden = false;
    });
    place.addEventListener("pointerup", (event) => {
      const [from, at] = [start, locate(event)];
      end();
      if (from === null || from === at) return;
      map.control.showSpan(map, [Math.min(from, at), Math.max(from, at) + 1, ...map.wholeRows]);
    });
    place.addEventListener("pointercancel", end);
    place.addEventListener("dblclick", () => map.reset());
  }
}
