// Suggestions while a design is typed: options, values, fields and functions of keys. A list next
// to the caret; Down or Ctrl+Space goes into it, Enter or Tab takes the marked one, Escape closes.

const MAX_SHOWN = 8;
const NOTATION_KEYS = new Set(["key", "where", "order", "time", "of", "join"]);
const area = document.querySelector("textarea[data-completions]");

if (area) {
  const { tables, lists, transforms } = await (await fetch(area.dataset.completions)).json();
  const list = document.createElement("ul");
  list.id = "completions";
  list.className = "completions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", area.dataset.completionsLabel);
  area.after(list);
  area.setAttribute("aria-autocomplete", "list");
  area.setAttribute("aria-controls", list.id);
  const status = document.createElement("p");
  status.className = "unseen";
  status.setAttribute("role", "status");
  list.after(status);
  const pen = document.createElement("canvas").getContext("2d");
  let choices = [];
  let marked = -1;
  let word = "";

  // The options of the table with a dotted name, of which the design may have chosen parts.
  const findOptions = (path) => {
    const names = path.filter(Boolean);
    let found = [""];
    for (const name of names) {
      found = found.flatMap((at) => [name, "*"].map((one) => (at ? `${at}.${one}` : one)))
        .filter((at) => Object.keys(tables).some((one) => one === at || one.startsWith(`${at}.`)));
    }
    return found.flatMap((at) => Object.entries(tables[at] ?? {}));
  };

  const listFields = () => {
    const names = [];
    let isFields = false;
    for (const line of area.value.split("\n")) {
      const header = line.match(/^\s*\[+\s*([^\]]*?)\s*\]+/);
      if (header) {
        isFields = header[1] === "fields";
        if (header[1].startsWith("fields.")) names.push(header[1].slice(7).replaceAll('"', ""));
      } else if (isFields) {
        const option = line.match(/^\s*([\w-]+)\s*=/);
        if (option) names.push(option[1]);
      }
    }
    return names;
  };

  const findTable = (lines) => {
    for (const line of lines.toReversed()) {
      const header = line.match(/^\s*\[+\s*([^\]]*?)\s*\]+/);
      if (header) return header[1].replaceAll('"', "").split(".");
    }
    return [];
  };

  const suggest = () => {
    const before = area.value.slice(0, area.selectionStart).split("\n");
    const line = before.pop();
    const path = findTable(before);
    const header = line.match(/^\s*(\[{1,2})([\w.]*)$/);
    if (header) {
      const names = Object.keys(tables).filter((one) => one && !one.includes("*") && !one.includes("."));
      return [header[1] + header[2], names.map((one) => (lists.includes(one) ? `[[${one}]]` : `[${one}]`))
        .map((text) => ({ text, hint: tables[""][text.replace(/[[\]]/g, "")]?.hint ?? "" }))];
    }
    let rest = line.replace(/"(?:[^"\\]|\\.)*"/g, (text) => text.replace(/[{},=#]/g, "_"));
    if (/(^|\s)#/.test(rest.replace(/"[^"]*$/, ""))) return ["", []];
    const opened = [];
    for (let at = rest.indexOf("{"); at >= 0; at = rest.indexOf("{")) {
      opened.push(rest.slice(0, at).match(/([\w-]+)\s*=\s*(?:\[\s*)?(?:\{[^}]*\}\s*,\s*)*$/)?.[1] ?? "");
      rest = rest.slice(at + 1);
      if (rest.includes("}") && !rest.slice(0, rest.indexOf("}")).includes("{")) {
        opened.pop();
        rest = rest.slice(rest.indexOf("}") + 1);
      }
    }
    path.push(...opened);
    const piece = opened.length ? rest.slice(rest.lastIndexOf(",") + 1) : rest;
    const options = findOptions(path);
    const name = piece.match(/^\s*([\w-]*)$/);
    if (name) {
      const used = new Set([...area.value.matchAll(/^\s*([\w-]+)\s*=/gm)].map((one) => one[1]));
      return [name[1], options.filter(([one]) => one !== "*" && (path.length || !used.has(one) || one === name[1]))
        .map(([one, { hint }]) => ({ text: one, hint, after: " = " }))];
    }
    const value = piece.match(/^\s*([\w-]+)\s*=\s*(.*)$/);
    if (!value) return ["", []];
    const [, key, partial] = value;
    if (NOTATION_KEYS.has(key) && partial.startsWith('"')) {
      const last = partial.match(/\w*$/)[0];
      const words = listFields().map((text) => ({ text, hint: "" }));
      if (key === "key") words.push(...transforms.map((text) => ({ text: `${text}(`, hint: "" })));
      return [last, last ? words : []];
    }
    const found = options.filter(([one]) => one === key || one === "*").flatMap(([, one]) => one.values);
    return [partial, [...new Set(found)].map((text) => ({ text, hint: "" }))];
  };

  const close = () => {
    list.hidden = true;
    choices = [];
    marked = -1;
    area.removeAttribute("aria-activedescendant");
  };

  const mark = (number) => {
    marked = number;
    [...list.children].forEach((one, at) => one.setAttribute("aria-selected", String(at === marked)));
    area.setAttribute("aria-activedescendant", list.children[marked].id);
  };

  const place = () => {
    const style = getComputedStyle(area);
    const before = area.value.slice(0, area.selectionStart - word.length).split("\n");
    pen.font = style.font;
    const left = pen.measureText(before.at(-1).replaceAll("\t", "    ")).width + parseFloat(style.paddingLeft);
    const height = parseFloat(style.lineHeight);
    const bottom = before.length * height + parseFloat(style.paddingTop) - area.scrollTop;
    const top = Math.min(bottom, area.clientHeight) + 4;
    const isBelow = area.getBoundingClientRect().top + top + list.offsetHeight <= innerHeight;
    const widest = area.clientWidth - list.offsetWidth;
    list.style.left = `${area.offsetLeft + Math.max(0, Math.min(left - area.scrollLeft, widest))}px`;
    list.style.top = `${area.offsetTop + (isBelow ? top : top - height - list.offsetHeight - 8)}px`;
  };

  const open = (isAsked) => {
    close();
    if (area.readOnly || area.selectionStart !== area.selectionEnd) return;
    let found;
    [word, found] = suggest();
    if (!word && !isAsked) return;
    const wanted = word.toLowerCase().replace(/^"/, "");
    const rank = ({ text }) => text.toLowerCase().replace(/^"/, "").indexOf(wanted);
    found = found.filter((one) => rank(one) >= 0 && one.text !== word);
    found.sort((one, other) => Math.min(rank(one), 1) - Math.min(rank(other), 1));
    choices = found.slice(0, MAX_SHOWN);
    if (!choices.length) return;
    list.replaceChildren(...choices.map(({ text, hint }, number) => {
      const item = document.createElement("li");
      item.id = `completion-${number}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      const code = document.createElement("code");
      code.textContent = text;
      item.append(code);
      if (hint) {
        const note = document.createElement("small");
        note.lang = "en";
        note.textContent = hint;
        item.append(note);
      }
      item.addEventListener("mousedown", (event) => {
        event.preventDefault();
        take(number);
      });
      return item;
    }));
    list.hidden = false;
    status.textContent = area.dataset.completionsCount.replace("{count}", choices.length);
    place();
    if (isAsked) mark(0);
  };

  const take = (number) => {
    const { text, after = "" } = choices[number];
    const end = area.selectionStart;
    const next = area.value[end];
    const isClosed = text.endsWith('"') && next === '"';
    const isAssigned = /^\s*=/.test(area.value.slice(end).split("\n")[0]);
    area.setSelectionRange(end - word.length, end + (isClosed ? 1 : 0));
    const inserted = text + (isAssigned ? "" : after);
    if (!document.execCommand("insertText", false, inserted)) {
      area.setRangeText(inserted, area.selectionStart, area.selectionEnd, "end");
      area.dispatchEvent(new Event("input"));
    }
    close();
  };

  area.addEventListener("input", (event) => {
    if (event.inputType === "insertText" || event.inputType?.startsWith("delete")) open(false);
    else close();
  });
  area.addEventListener("blur", close);
  area.addEventListener("click", close);
  area.addEventListener("scroll", () => {
    if (!list.hidden) place();
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      open(true);
    } else if (list.hidden || event.isComposing) {
      return;
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      mark((Math.max(marked, step < 0 ? 0 : -1) + step + choices.length) % choices.length);
    } else if ((event.key === "Enter" || event.key === "Tab") && marked >= 0) {
      event.preventDefault();
      take(marked);
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    } else if (!["Shift", "Control", "Alt", "Meta"].includes(event.key) && event.key.length > 1 && event.key !== "Backspace") {
      close();
    }
  });
}
