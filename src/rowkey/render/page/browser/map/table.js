/* What is shown of a map as a table. */
const SLICES = 6;

const buildTable = (map) => {
  const { words, given, view, span: [c0, c1, r0, r1], load, kind, control: { scale } } = map;
  // Reads are constant: slices of time would repeat their total.
  const count = load === "reads" ? 0 : Math.min(SLICES, c1 - c0), edges = [];
  for (let slice = 0; slice <= count; slice += 1) {
    edges.push(c0 + Math.floor(((c1 - c0) * slice) / Math.max(count, 1)));
  }
  const time = (column) => instant(given.start_s + column * given.width_s);
  const loads = map.hasReads ? LOADS : [load];
  const head = make("tr", {}, make("th", { scope: "col", text: words[kind] }),
    ...loads.map((one) => make("th", {
      scope: "col", text: map.hasReads ? words[one] : words.total,
    })),
    ...edges.slice(0, -1).map((edge) => make("th", {
      scope: "col", title: time(edge),
      text: shortInstant(given.start_s + edge * given.width_s, ((c1 - c0) * given.width_s) / count),
    })));
  const mean = (shown, from, to, row) => {
    let rate = 0, total = 0;
    for (let column = from; column < to; column += 1) {
      rate += shown.rateAt(column, row);
      total += shown.totals[column];
    }
    if (!total) return "–";
    const value = scale === "capacity" ? rate / (to - from) / given.capacity : (rate * given.servers) / total;
    return formatValue(value, scale, given.language);
  };
  const views = loads.map((one) => map.viewOf(kind, one));
  const body = make("tbody");
  for (let row = r0; row < r1; row += 1) {
    body.append(make("tr", {},
      make("th", { scope: "row", text: nameRow(words, kind, view.rows[row], true) }),
      ...views.map((one) => make("td", { text: mean(one, c0, c1, row) })),
      ...edges.slice(0, -1).map((edge, at) =>
        make("td", { text: mean(view, edge, edges[at + 1], row) }))));
  }
  const caption = fill(words[`table_caption_${load}`], {
    name: given.name, unit: words[`unit_${scale}`], from: time(c0), to: time(c1),
  });
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    make("table", {}, make("caption", { text: caption }), make("thead", {}, head), body));
};
