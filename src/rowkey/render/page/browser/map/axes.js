/* What is drawn around the cells: labels and loads of rows, loads and times of columns. */
const TOP = 40, BOTTOM = 24, RIGHT = 62, BAR = 48;

const drawAxes = (map, context) => {
  const line = (x0, y0, x1, y1) => {
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
  };
  drawRows(map, context, line);
  drawRowLoads(map, context, line);
  drawColumnLoads(map, context, line);
  drawTimes(map, context);
};

/* Labels at the left, and lines between few rows. */
const drawRows = (map, context, line) => {
  const { view, span: [, , r0, r1], area: [left, , width, height] } = map;
  const each = height / (r1 - r0), step = Math.max(Math.ceil(15 / each), 1);
  context.textBaseline = "middle";
  for (let row = r0; row < r1; row += step) {
    drawLabel(map, context, view.rows[row], map.placeOf(0, row)[1] + each / 2);
  }
  if (each < 9) return;
  context.strokeStyle = "rgba(255,255,255,.16)";
  context.lineWidth = 1;
  for (let row = r0 + 1; row < r1; row += 1) {
    const y = Math.round(map.placeOf(0, row)[1]) + 0.5;
    line(left, y, left + width, y);
  }
};

const drawLabel = (map, context, row, y) => {
  let [number, text] = map.rowLabel(row);
  const from = map.numbers, room = map.left - 8 - from;
  context.fillStyle = map.soft;
  context.textAlign = "right";
  context.fillText(number, from, y);
  context.textAlign = "left";
  if (context.measureText(text).width > room) {
    while (text.length > 1 && context.measureText(`${text}…`).width > room) {
      text = text.slice(0, -1);
    }
    text = `${text}…`;
  }
  context.fillStyle = map.ink;
  context.fillText(text, from, y);
};

/* The mean load of each row as a bar, and its highest as a tick. The dotted line is half of the
   scale, which the brightness stretches; the solid line is what one server can take. */
const drawRowLoads = (map, context, line) => {
  const { view, span: [, , r0, r1], area: [left, top, width, height], control } = map;
  const { scale, brightness } = control, { language } = map.given;
  const x = left + width + 7, half = 2 ** -brightness;
  const factor = scale === "capacity" ? 1 / (map.columns * map.given.capacity)
    : map.given.servers / (view.all || 1);
  const place = (value) => x + clamp(value / half / 2, 0, 1) * BAR;
  const means = poolGreatest(view.sums, r0, r1, height), { peaks } = map.cells;
  const each = height / means.length, highest = poolGreatest(peaks, r0, r1, height);
  for (let at = 0; at < means.length; at += 1) {
    const value = means[at] * factor, [red, green, blue] = colourOf(value / half);
    const y = top + at * each, tall = Math.max(each - (each > 3 ? 1 : 0), 1);
    context.fillStyle = `rgb(${red},${green},${blue})`;
    context.fillRect(x, y, Math.max(place(value) - x, value ? 1 : 0), tall);
    if (!highest[at]) continue;
    context.fillStyle = map.soft;
    context.fillRect(place(highest[at]) - 1, y, 1, tall);
  }
  context.strokeStyle = context.fillStyle = map.soft;
  context.setLineDash([2, 3]);
  line(x + BAR / 2, top, x + BAR / 2, top + height);
  context.setLineDash([]);
  context.textAlign = "center";
  context.fillText(formatTick(-brightness, scale, language), x + BAR / 2, top + height + 13);
  context.fillText(map.words[control.load], x + BAR / 2, top - 10);
  if (scale === "capacity" && half >= 0.5) {
    context.strokeStyle = map.poor;
    context.lineWidth = 2;
    line(place(1), top - 3, place(1), top + height + 3);
    context.lineWidth = 1;
  }
  context.textAlign = "left";
};

/* How much came in each moment, above the map; the line is what all servers can take together. */
const drawColumnLoads = (map, context, line) => {
  const { view, span: [c0, c1], area: [left, top, width], given } = map;
  const room = TOP - 16, loads = poolGreatest(view.totals, c0, c1, width);
  const each = width / loads.length;
  context.fillStyle = map.soft;
  for (let at = 0; at < loads.length; at += 1) {
    const tall = (loads[at] / view.busiest) * room;
    const [from, to] = [at, at + 1].map((n) => Math.round(left + n * each));
    context.fillRect(from, top - 4 - tall, Math.max(to - from - (each < 6 ? 0 : 1), 0.5), tall);
  }
  context.textAlign = "right";
  context.fillText(`${formatRate(view.busiest, given.language)}/s`, left - 6, top - 4 - room + 4);
  const all = given.capacity * given.servers;
  if (map.control.scale === "capacity" && all <= view.busiest) {
    context.strokeStyle = map.poor;
    const y = Math.round(top - 4 - (all / view.busiest) * room) + 0.5;
    line(left, y, left + width, y);
  }
  context.textAlign = "left";
};

/* The times below the map. */
const drawTimes = (map, context) => {
  const { span: [c0, c1], area: [left, top, width, height] } = map;
  const { start_s: start, width_s: step } = map.given;
  const length = (c1 - c0) * step, count = clamp(Math.floor(width / 150), 1, 6);
  context.fillStyle = map.soft;
  for (let tick = 0; tick <= count; tick += 1) {
    const at = Math.round(start + c0 * step + (length * tick) / count);
    const text = shortInstant(at, length / count);
    // Below a narrow map the first time begins under the labels, so that both are legible.
    const isNarrow = 2 * context.measureText(text).width + 12 > (width / count);
    context.textAlign = tick === 0 && !isNarrow ? "left" : tick === count ? "right" : "center";
    context.fillText(text, left + (width * tick) / count, top + height + 13);
  }
  context.textAlign = "left";
};
