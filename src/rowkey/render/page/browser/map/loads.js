/* The load of every cell, in operations a second and on a scale. */
const LOADS = ["writes", "reads", "both"];
const SCALES = ["fair", "capacity"];

/* One load of the rows of a map. Reads have one rate over all time. */
const sumLoad = (given, rows, counts, load) => {
  const { columns } = given, eachWrite = load === "reads" ? 0 : given.event_rate;
  const totals = new Float64Array(columns), sums = new Float64Array(rows.length);
  const reads = Float64Array.from(rows, (row) =>
    (load === "writes" ? 0 : (row.reads ?? 0) * (given.read_rate ?? 0)));
  const rateAt = (column, row) => counts[column * rows.length + row] * eachWrite + reads[row];
  for (let column = 0; column < columns; column += 1) {
    let total = 0;
    for (let row = 0; row < rows.length; row += 1) {
      const rate = rateAt(column, row);
      total += rate;
      sums[row] += rate;
    }
    totals[column] = total;
  }
  const all = totals.reduce((sum, one) => sum + one, 0);
  const busiest = totals.reduce((most, one) => Math.max(most, one), 0) || 1;
  return { rows, counts, rateAt, totals, sums, all, busiest };
};

/* By what rates of a column are multiplied: 1 is then one server's fair share of the moment, or
   what one server can take. */
const scaleOf = (given, scale, total) =>
  (scale === "capacity" ? 1 / given.capacity : total ? given.servers / total : 0);

/* The levels of the cells on a scale, row by row, and the highest value of each row. */
const levelCells = (given, load, scale) => {
  const { columns } = given, { rows, rateAt, totals } = load;
  const levels = new Uint16Array(columns * rows.length), peaks = new Float64Array(rows.length);
  for (let column = 0; column < columns; column += 1) {
    const factor = scaleOf(given, scale, totals[column]);
    for (let row = 0; row < rows.length; row += 1) {
      const value = rateAt(column, row) * factor;
      levels[row * columns + column] = levelOf(value);
      if (value > peaks[row]) peaks[row] = value;
    }
  }
  return { levels, peaks };
};
