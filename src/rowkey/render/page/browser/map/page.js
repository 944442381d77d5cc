/* Draws all maps of the page. */

/* Opens the designs around the place that the address names, and all of them for a printer. */
const openTarget = () => {
  const id = decodeURIComponent(location.hash.slice(1).split("?")[0]);
  const target = document.getElementById(id);
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  target?.scrollIntoView();
};
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details.one").forEach((one) => { one.open = true; });
});

const drawMaps = async () => {
  if (location.hash) openTarget();
  const payload = document.getElementById("payload"), { source } = payload.dataset;
  const { language, words, maps } = source
    ? await readSource(source) : JSON.parse(payload.textContent);
  window.addEventListener("hashchange", openTarget);
  payload.dataset.count = maps.length; // for a script of the page that runs later
  document.dispatchEvent(new CustomEvent("map-ready"));
  if (!maps.length) return;
  const control = new MapControl(words, maps);
  for (const given of maps) {
    const place = document.getElementById(`map-${given.id}`);
    place.heatMap = new HeatMap({ ...given, language }, control, place);
    control.maps.push(place.heatMap);
  }
  document.querySelectorAll(".legend").forEach((place) => drawLegend(place, control, language));
  const common = document.getElementById("map-tools");
  const [first] = control.maps;
  if (common) {
    common.append(buildTools(control, "all", language, { reset: () => first.reset() }));
    const scale = document.getElementById("map-scale-all");
    control.watchers.push(() => {
      scale.textContent = control.scale === "fair" ? words.scale
        : fill(words[nameCapacity(first.given)], { rate: formatRate(first.given.capacity, language) });
    });
    control.tell();
  }
  await control.readLink(location.hash);
  window.addEventListener("hashchange", () => control.readLink(location.hash));
  for (const map of control.maps) {
    const small = document.querySelector(`[data-small="${map.given.id}"]`);
    try {
      if (typeof DecompressionStream === "undefined") throw new TypeError("no DecompressionStream");
      if (small) {
        await map.fetchView("server");
        new SmallMap(map, small);
      }
      if (map.isInPage) await map.start();
      else map.startWhenShown();
    } catch (problem) {
      map.fail(problem);
    }
  }
};
drawMaps();
