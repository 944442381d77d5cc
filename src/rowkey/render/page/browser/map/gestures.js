/* How a map is used with a mouse, a pen, fingers and keys. */
const ZOOM_DELTA = 300;

/* In which direction a box is drawn that begins at a place: along the edges it takes whole rows or
   whole columns, and so it does with a finger, which moves the page up and down. */
const findBoxKind = (map, x, y, isTouch) => {
  const [left, top, width, height] = map.area;
  if (x < left || x >= left + width) return y >= top && y < top + height ? "rows" : null;
  return y < top || y >= top + height || isTouch ? "columns" : "cells";
};

const followPointer = (map) => {
  const { canvas } = map;
  const locate = (event) => {
    const frame = canvas.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };
  let start = null;
  const drawBox = (cell) => {
    const [c0, c1, r0, r1] = map.span, [[a, b], [c, d]] = [start.cell, cell];
    if (start.kind === "columns") return [[a, r0], [c, r1 - 1]];
    return start.kind === "rows" ? [[c0, b], [c1 - 1, d]] : [[a, b], [c, d]];
  };
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = locate(event), cell = map.cellAt(x, y, start !== null);
    if (!cell) return;
    if (start && Math.hypot(x - start.x, y - start.y) > 3) map.box = drawBox(cell);
    map.point(cell);
  });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button || !event.isPrimary) return;
    const [x, y] = locate(event), kind = findBoxKind(map, x, y, event.pointerType === "touch");
    start = kind && { x, y, kind, cell: map.cellAt(x, y, true), isInside: map.cellAt(x, y) !== null };
    if (start && event.pointerType !== "touch") canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", (event) => {
    const old = start, { box } = map;
    start = null;
    if (!old) return;
    if (box || old.isInside) {
      map.cursor = map.cellAt(...locate(event), true);
      map.choose();
    }
  });
  canvas.addEventListener("pointercancel", () => {
    start = map.box = null;
    map.refresh();
  });
  canvas.addEventListener("dblclick", () => map.reset());
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey) {
      event.preventDefault();
      const cell = map.cellAt(...locate(event), true);
      map.zoom(2 ** clamp(event.deltaY / ZOOM_DELTA, -1, 1), cell);
    } else if (map.isZoomed && Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      map.pan(event.deltaX / map.area[2]);
    }
  }, { passive: false });
};

const followKeys = (map) => {
  const { canvas, control } = map;
  const act = {
    "+": () => map.zoom(0.5), "=": () => map.zoom(0.5), "-": () => map.zoom(2),
    "−": () => map.zoom(2), 0: () => map.reset(), Enter: () => map.choose(),
    " ": () => map.choose(), Escape: () => { map.box = null; map.refresh(); },
    s: () => control.turn("kind", control.kinds), l: () => control.turn("load", LOADS),
    a: () => control.turn("scale", SCALES), b: () => control.brighten(1),
    B: () => control.brighten(-1), c: () => map.copyKey(),
  };
  const press = (key, shift) => {
    const [c0, c1, r0] = map.span;
    const moves = {
      ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
      PageUp: [0, -10], PageDown: [0, 10], Home: [c0 - c1, 0], End: [c1 - c0, 0],
    };
    if (key in moves) {
      const [column, row] = map.cursor ?? [c0, r0];
      const cell = [
        clamp(column + moves[key][0], 0, map.columns - 1),
        clamp(row + moves[key][1], 0, map.view.rows.length - 1),
      ];
      map.box = shift ? [map.box?.[0] ?? [column, row], cell] : null;
      map.follow(cell);
      map.point(cell);
      return true;
    }
    const found = act[key] ?? act[key.toLowerCase()];
    found?.();
    return found !== undefined;
  };
  canvas.addEventListener("focus", () => map.point(map.cursor ?? [map.span[0], map.span[2]]));
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (press(event.key, event.shiftKey)) event.preventDefault();
  });
};
