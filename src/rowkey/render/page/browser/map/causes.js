/* The causes of hot spots on the map: a line along a front, boxes, and the number of the cause. */
const drawCause = (map, context, mark) => {
  const stroke = (colour, broad) => {
    context.strokeStyle = colour;
    context.lineWidth = broad;
    context.stroke();
  };
  let anchor = null;
  if (mark.line.length) {
    context.beginPath();
    mark.line.forEach(([column, row], number) => {
      const [x, y] = map.placeOf(column, row + 0.5);
      if (number) context.lineTo(x, map.placeOf(0, mark.line[number - 1][1] + 0.5)[1]);
      context[number ? "lineTo" : "moveTo"](x, y);
    });
    context.lineJoin = "round";
    stroke("rgba(12,16,29,.85)", 4);
    stroke("#fff", 1.5);
    anchor = map.placeOf(mark.line[0][0], mark.line[0][1] + 0.5);
  }
  for (const [c0, c1, r0, r1] of mark.boxes) {
    const [x, y] = map.placeOf(c0, r0), [right, low] = map.placeOf(c1, r1);
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
  const [left, top, width, height] = map.area;
  const x = clamp(anchor[0], left + 12, left + width - 12);
  const y = clamp(anchor[1], top + 12, top + height - 12);
  drawBadge(context, x, y, 10, String(mark.cause + 1));
};

/* A round sign with a number or a letter. */
const drawBadge = (context, x, y, radius, sign) => {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = "#0c101d";
  context.fill();
  context.strokeStyle = "#fff";
  context.lineWidth = 1.5;
  context.stroke();
  context.fillStyle = "#fff";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(sign, x, y + 0.5);
  context.textAlign = "left";
};
