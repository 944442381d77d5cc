/* The load of every cell, in operations a second and on a scale. */
const LOADS = ["writes", "reads", "both"];
const SCALES = ["fair", "capacity"];

/* One load of the rows of a map. Reads have one rate over all time. */
const sumLoad = (given, rows, counts, load) => {
  const { columns } = given, eachWrite = load === "reads" ? 0 : given.event_rate;
  const totals = new Float64Array(columns);
  const reads = Float64Array.from(rows, (row) =>
    (load === "writes" ? 0 : (row.reads ?? 0) * (given.read_rate ?? 0)));
  const rateAt = (column, row) => counts[column * rows.length + row] * eachWrite + reads[row];
  for (let column = 0; column < columns; column += 1) {
    let total = 0;
    for (let row = 0; row < rows.length; row += 1) total += rateAt(column, row);
    totals[column] = total;
  }
  const all = totals.reduce((sum, one) => sum + one, 0);
  const busiest = totals.reduce((most, one) => Math.max(most, one), 0) || 1;
  return { rows, counts, rateAt, totals, all, busiest };
};

/* By what rates of a column are multiplied: 1 is then one server's fair share of the moment, or
   what one server can take. */
const scaleOf = (given, scale, total) =>
  (scale === "capacity" ? 1 / given.capacity : total ? given.servers / total : 0);

/* The levels of the cells on a scale, row by row. */
const levelCells = (given, load, scale) => {
  const { columns } = given, { rows, rateAt, totals } = load;
  const levels = new Uint16Array(columns * rows.length);
  for (let column = 0; column < columns; column += 1) {
    const factor = scaleOf(given, scale, totals[column]);
    for (let row = 0; row < rows.length; row += 1) {
      levels[row * columns + column] = levelOf(rateAt(column, row) * factor);
    }
  }
  return levels;
};

/* The mean and the highest value of each row on a scale, of the rows and columns that are shown. */
const summarizeRows = (given, load, scale, [c0, c1, r0, r1]) => {
  const { rateAt, totals } = load, means = new Float64Array(r1 - r0), peaks = new Float64Array(r1 - r0);
  let total = 0;
  for (let column = c0; column < c1; column += 1) {
    const factor = scaleOf(given, scale, totals[column]);
    total += totals[column];
    for (let row = r0; row < r1; row += 1) {
      const rate = rateAt(column, row), value = rate * factor;
      means[row - r0] += rate;
      if (value > peaks[row - r0]) peaks[row - r0] = value;
    }
  }
  const mean = scaleOf(given, scale, total) / (scale === "capacity" ? c1 - c0 : 1);
  for (let row = 0; row < means.length; row += 1) means[row] *= mean;
  return { means, peaks };
};
