/* What all maps of a page show alike: rows, load, scale, brightness and, where they are of one
   time, a stretch of it. The address of the page holds it, so that a view can be shared. */
const KINDS = ["region", "server", "prefix"];
const MIN_BRIGHTNESS = -4, MAX_BRIGHTNESS = 20;
const LINK_DELAY_MS = 250;

class MapControl {
  constructor(words, maps) {
    Object.assign(this, { words, kind: "region", load: "writes", scale: "fair", brightness: 0 });
    this.maps = [];
    this.watchers = [];
    this.kinds = KINDS.filter((kind) => maps.some((given) => kind in given.views));
    this.hasReads = maps.some((given) => given.read_rate !== null);
    if (maps.length && maps.every((given) => given.is_capacity_declared)) this.scale = "capacity";
    this.defaults = this.settings;
  }

  get settings() {
    const { kind, load, scale, brightness } = this;
    return { kind, load, scale, brightness };
  }

  get palette() {
    if (this.painted !== this.brightness) {
      this.painted = this.brightness;
      this.colours = buildPalette(this.brightness);
    }
    return this.colours;
  }

  set(name, value) {
    if (this[name] === value || (name === "load" && !this.hasReads)) return;
    this[name] = value;
    for (const map of this.maps) map.change(name);
    this.tell();
  }

  /* The next of some values, as a key turns them. */
  turn(name, values) {
    this.set(name, values[(values.indexOf(this[name]) + 1) % values.length]);
  }

  brighten(steps) {
    this.set("brightness", clamp(this.brightness + steps, MIN_BRIGHTNESS, MAX_BRIGHTNESS));
  }

  /* Show a part of a map; maps of the same time show the same part of it. */
  showSpan(map, span) {
    for (const other of this.maps) {
      const isSame = ["start_s", "width_s", "columns"].every((n) => other.given[n] === map.given[n]);
      if (other === map || !isSame) continue;
      const isWhole = span[2] === 0 && span[3] === map.wholeRows[1];
      other.show([span[0], span[1], ...(isWhole ? other.wholeRows : other.span.slice(2))]);
    }
    map.show(span);
    this.last = map;
    this.tell();
  }

  tell() {
    for (const watch of this.watchers) watch();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.writeLink(), LINK_DELAY_MS);
  }

  /* The address of what is shown: `#d1-heat?kind=server&columns=10-40`. */
  writeLink() {
    const map = this.last ?? this.maps[0], values = new URLSearchParams();
    for (const [name, value] of Object.entries(this.settings)) {
      if (value !== this.defaults[name]) values.set(name, value);
    }
    const [c0, c1, r0, r1] = map.span, rows = map.wholeRows;
    if (c0 > 0 || c1 < map.columns) values.set("columns", `${c0}-${c1}`);
    if (r0 > rows[0] || r1 < rows[1]) values.set("rows", `${r0}-${r1}`);
    const [place, old] = location.hash.slice(1).split("?");
    if (!values.size && old === undefined) return;
    const target = values.size ? `${map.given.id}-heat?${values}` : place;
    history.replaceState(null, "", `#${target}`);
  }

  /* Show what an address holds; values that no map has are left out. */
  readLink(hash) {
    const [place, query] = hash.slice(1).split("?");
    if (query === undefined) return;
    const values = new URLSearchParams(query);
    const allowed = { kind: this.kinds, load: LOADS, scale: SCALES };
    for (const [name, some] of Object.entries(allowed)) {
      const value = values.get(name) ?? this.defaults[name];
      if (some.includes(value)) this.set(name, value);
    }
    this.brighten((parseInt(values.get("brightness"), 10) || 0) - this.brightness);
    const map = this.maps.find((one) => place === `${one.given.id}-heat`) ?? this.maps[0];
    if (!map) return;
    const range = (name, least, most) => {
      const [from, to] = (values.get(name) ?? "").split("-").map((text) => parseInt(text, 10));
      return from >= least && to > from && to <= most ? [from, to] : [least, most];
    };
    this.showSpan(map, [...range("columns", 0, map.columns), ...range("rows", ...map.wholeRows)]);
  }
}
