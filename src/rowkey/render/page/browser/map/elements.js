/* Makes elements, and fills the sentences of the page's language. */
const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [label, value] of Object.entries(attributes)) {
    if (label === "text") element.textContent = value;
    else if (value !== false) element.setAttribute(label, value === true ? "" : value);
  }
  element.append(...children);
  return element;
};

const makeButton = (name, act, sign = name) => {
  const button = make("button", { type: "button", text: sign, title: name, "aria-label": name });
  button.addEventListener("click", act);
  return button;
};

const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
