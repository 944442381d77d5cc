/* The cells of a part of a map as an image: of cells that share a pixel, the hottest shows. */
const paintCells = (canvas, levels, columns, [c0, c1, r0, r1], [mostWide, mostTall], palette) => {
  const width = clamp(Math.floor(mostWide), 1, c1 - c0);
  const height = clamp(Math.floor(mostTall), 1, r1 - r0);
  const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer);
  const places = Uint32Array.from({ length: c1 - c0 }, (_, n) => Math.floor((n * width) / (c1 - c0)));
  const line = new Uint16Array(width);
  let row = r0;
  for (let y = 0; y < height; y += 1) {
    const end = r0 + Math.ceil(((y + 1) * (r1 - r0)) / height);
    line.fill(0);
    for (; row < end; row += 1) {
      const from = row * columns + c0;
      if (width === places.length) {
        for (let x = 0; x < width; x += 1) {
          const level = levels[from + x];
          if (level > line[x]) line[x] = level;
        }
      } else {
        for (let n = 0; n < places.length; n += 1) {
          const level = levels[from + n], x = places[n];
          if (level > line[x]) line[x] = level;
        }
      }
    }
    for (let x = 0, at = y * width; x < width; x += 1, at += 1) pixels[at] = palette[line[x]];
  }
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d").putImageData(image, 0, 0);
};

/* What of many values shows where they share a few pixels: the greatest of each. */
const poolGreatest = (values, start, stop, most) => {
  const count = clamp(Math.floor(most), 1, stop - start);
  const greatest = new Float64Array(count);
  for (let at = start; at < stop; at += 1) {
    const place = Math.floor(((at - start) * count) / (stop - start));
    if (values[at] > greatest[place]) greatest[place] = values[at];
  }
  return greatest;
};
