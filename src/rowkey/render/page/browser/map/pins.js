/* Pinned cells: each stays marked on the map, with its words and its key below. */
const MAX_PINS = 5;

class Pins {
  constructor(map) {
    this.map = map;
    this.pins = [];
    this.list = make("ul", { class: "pins" });
  }

  /* The pins of what the map shows, each with its letter. */
  get shown() {
    const { kind, load } = this.map;
    return this.pins.filter((pin) => pin.kind === kind && pin.load === load);
  }

  /* Pin a cell, or unpin it. */
  toggle(cell) {
    const { kind, load } = this.map;
    const old = this.shown.find((pin) => pin.cell[0] === cell[0] && pin.cell[1] === cell[1]);
    if (old) this.remove(old);
    else {
      const letters = this.pins.map((pin) => pin.letter);
      const letter = [..."abcdef"].find((one) => !letters.includes(one));
      const row = this.map.given.views[kind].rows[cell[1]];
      const text = this.map.describe(kind, load, cell);
      this.pins = [...this.pins, { kind, load, cell, letter, row, text }].slice(-MAX_PINS);
      this.build();
    }
  }

  remove(pin) {
    this.pins = this.pins.filter((one) => one !== pin);
    this.build();
  }

  build() {
    this.list.replaceChildren(...this.pins.map((pin) => this.buildItem(pin)));
    this.map.refresh();
  }

  buildItem(pin) {
    const { words } = this.map;
    const item = make("li", {}, make("b", { text: pin.letter }), make("span", { text: pin.text }));
    if (pin.row.hex) {
      const key = formatShellKey(pin.row.hex);
      item.append(make("code", { text: key, title: words.copy_key }),
        makeButton(words.copy, () => this.map.copy(key)));
    }
    item.append(makeButton(words.unpin, () => {
      this.remove(pin);
      this.map.canvas.focus();
    }));
    return item;
  }
}
