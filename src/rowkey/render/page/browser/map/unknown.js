/* Cells of running tables whose counts nobody knows: boxes of columns and rows. */
const isUnknown = (view, column, row) => (view.unknown ?? []).some(
  ([c0, c1, r0, r1]) => column >= c0 && column < c1 && row >= r0 && row < r1);

const hatchUnknown = (map, context) => {
  const { unknown = [] } = map.given.views[map.kind];
  if (!unknown.length) return;
  const tile = make("canvas", { width: 6, height: 6 }), pen = tile.getContext("2d");
  pen.strokeStyle = "rgba(160,168,190,.55)";
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift, 6);
    pen.lineTo(shift + 6, 0);
  }
  pen.stroke();
  context.save();
  context.beginPath();
  context.rect(...map.area);
  context.clip();
  context.fillStyle = context.createPattern(tile, "repeat");
  for (const [c0, c1, r0, r1] of unknown) {
    const [x, y] = map.placeOf(c0, r0), [right, low] = map.placeOf(c1, r1);
    context.fillRect(x, y, right - x, low - y);
  }
  context.restore();
};
