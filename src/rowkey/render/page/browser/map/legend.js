/* The scale in the pixels of the screen; it is drawn again where the window or the scale changes. */
const drawLegend = (place, control, language) => {
  const canvas = make("canvas"), context = canvas.getContext("2d");
  const draw = () => {
    const wide = place.clientWidth, ratio = window.devicePixelRatio || 1;
    if (!wide) return;
    const { scale, brightness } = control;
    const left = wide * 0.1, right = wide * 0.84, style = getComputedStyle(document.body);
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(40 * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (let x = Math.floor(left); x < right; x += 1) {
      const [red, green, blue] = colourOf(DARKEST * 2 ** ((OCTAVES * (x - left)) / (right - left)));
      context.fillStyle = `rgb(${red},${green},${blue})`;
      context.fillRect(x, 2, 1, 16);
    }
    context.fillStyle = `rgb(${NO_LOAD.join(",")})`;
    context.fillRect(0, 2, left - 8, 16);
    context.strokeStyle = style.getPropertyValue("--soft");
    context.strokeRect(0.5, 2.5, left - 9, 15);
    context.fillStyle = style.getPropertyValue("--ink");
    context.font = `12px ${style.fontFamily}`;
    context.textAlign = "center";
    const each = (right - left) / OCTAVES;
    const widest = Math.max(...Array.from({ length: 8 }, (_, n) =>
      context.measureText(formatTick(n - 4 - brightness, scale, language)).width));
    const step = Math.ceil((widest + 8) / each);
    for (let exponent = -4; exponent < 4; exponent += 1) {
      const value = exponent - brightness, x = left + ((right - left) * (exponent + 5)) / OCTAVES;
      const isOne = value === 0;
      context.fillStyle = style.getPropertyValue(isOne && scale === "capacity" ? "--poor" : "--ink");
      context.fillRect(x - (isOne ? 1 : 0.5), isOne ? 0 : 18, isOne ? 2 : 1, isOne ? 22 : 4);
      context.fillStyle = style.getPropertyValue("--ink");
      if (value % step === 0) context.fillText(formatTick(value, scale, language), x, 35);
    }
    context.fillText("0", (left - 8) / 2, 35);
    context.textAlign = "right";
    context.fillText(`≥ ${formatTick(4 - brightness, scale, language)}`, wide, 35);
  };
  place.append(canvas);
  control.watchers.push(draw);
  new ResizeObserver(draw).observe(place);
  draw();
};
