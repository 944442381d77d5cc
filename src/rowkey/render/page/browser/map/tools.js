/* The tools above a map, or above several that they change alike. */
const buildTools = (control, id, language, { zoom, reset, extra = [] }) => {
  const { words } = control;
  const choose = (name, title, values) => {
    const group = make("fieldset", { "data-choice": name }, make("legend", { text: title }));
    for (const value of values) {
      const input = make("input", { type: "radio", name: `${name}-${id}`, value });
      input.addEventListener("change", () => control.set(name, value));
      const text = name === "scale" ? words[`scale_name_${value}`] : words[value];
      group.append(make("label", {}, input, text));
    }
    const show = () => group.querySelectorAll("input").forEach((input) => {
      input.checked = input.value === String(control[name]);
    });
    control.watchers.push(show);
    show();
    return group;
  };
  const slider = make("input", {
    type: "range", min: MIN_BRIGHTNESS, max: MAX_BRIGHTNESS, step: 1, "aria-label": words.brightness,
  });
  const factor = make("output");
  const showBrightness = () => {
    const { brightness } = control;
    slider.value = brightness;
    factor.textContent = brightness < 0 ? `÷${2 ** -brightness}`
      : `×${(2 ** brightness).toLocaleString(language)}`;
    slider.setAttribute("aria-valuetext", factor.textContent);
  };
  slider.addEventListener("input", () => control.set("brightness", Number(slider.value)));
  control.watchers.push(showBrightness);
  showBrightness();
  return make("div", { class: "tools" },
    ...(control.hasReads ? [choose("load", words.shown, LOADS)] : []),
    ...(zoom ? [choose("kind", words.by, control.kinds)] : []),
    choose("scale", words.scale_name, SCALES),
    make("label", { class: "brightness" }, words.brightness, slider, factor),
    ...extra,
    make("span", { class: "zooms" },
      ...(zoom ? [makeButton(words.zoom_in, () => zoom(0.5), "+"),
        makeButton(words.zoom_out, () => zoom(2), "−")] : []),
      makeButton(words.reset, reset)));
};
