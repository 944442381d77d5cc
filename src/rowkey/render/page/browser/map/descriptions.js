/* The sentence about what one server can take. */
const nameCapacity = (given) =>
  (given.is_capacity_declared ? "scale_capacity" : "scale_assumed_capacity");

/* Cells and rows in words, as a screen reader says them. */
const nameRow = (words, kind, row, more) => {
  const number = row.first === row.last ? row.first : `${row.first}–${row.last}`;
  if (kind === "server") return fill(words.server_row, { number });
  const regions = fill(row.first === row.last ? words.region_row : words.regions_row, { number });
  const start = row.start ?? words.first_row;
  if (kind === "prefix") return `${start} (${regions})`;
  const text = [regions];
  if (more && row.server !== undefined) text.push(fill(words.on_server, { number: row.server }));
  if (more) text.push(fill(words.begins, { key: start }));
  return text.join(words.comma);
};

const describeCell = (map, kind, load, [column, row]) => {
  const { words, given } = map, { language } = given, view = map.viewOf(kind, load);
  const count = view.counts[column * view.rows.length + row], rate = view.rateAt(column, row);
  const from = given.start_s + column * given.width_s;
  const percent = (part) => part.toLocaleString(language, { style: "percent" });
  const { reads } = view.rows[row];
  const text = [
    nameRow(words, kind, view.rows[row], true),
    ...(reads === undefined || load !== "writes"
      ? [] : [fill(words.reads_share, { share: percent(reads) })]),
    load === "reads"
      ? words.constant : fill(words.at, { from: instant(from), to: instant(from + given.width_s) }),
  ];
  if (!rate) {
    if (isUnknown(given.views[kind], column, row)) {
      return [...text, words.unknown].join(words.semicolon);
    }
    const idle = { writes: "nothing", reads: "no_reads", both: "no_load" };
    return [...text, words[idle[load]]].join(words.semicolon);
  }
  if (load === "writes") {
    text.push(fill(words.count, { count: count.toLocaleString(language) }));
  } else if (load === "both") {
    text.push(fill(words.sum, {
      both: formatRate(rate, language), writes: formatRate(count * given.event_rate, language),
      reads: formatRate(reads * given.read_rate, language),
    }));
  } else text.push(fill(words.rate, { rate: formatRate(rate, language) }));
  const total = view.totals[column];
  text.push(fill(words.load, { load: formatFactor((rate * given.servers) / total) }));
  text.push(fill(words[given.is_capacity_declared ? "of_capacity" : "of_assumed_capacity"],
    { share: formatShare(rate / given.capacity, language) }));
  text.push(fill(words[load === "reads" ? "share_reads" : "share"], { share: percent(rate / total) }));
  return text.join(words.semicolon);
};
