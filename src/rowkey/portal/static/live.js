// Keeps the page of a running table up to date by server-sent events, while it is visible.

const place = document.getElementById("live");
const payload = document.getElementById("payload");
const parts = ["condition", "verdicts", "tables"].map((name) => [name, document.getElementById(`live-${name}`)]);
let events = null;
let minute = 0;
let isEmpty = false; // the history had no column when the page was opened

// Replaces a part of the page; what was scrolled stays where it is.
const replace = (part, html) => {
  const regions = () => [...part.querySelectorAll(".scroll")];
  const before = regions().map((one) => [one.scrollLeft, one.scrollTop]);
  const focused = regions().indexOf(document.activeElement);
  if (part.innerHTML === html) return; // an alert that stays is not read out again
  part.innerHTML = html;
  regions().forEach((one, number) => {
    if (before[number]) [one.scrollLeft, one.scrollTop] = before[number];
  });
  if (focused >= 0) regions()[focused]?.focus({ preventScroll: true });
};

const map = () => document.getElementById("map-live").heatMap;

// The map of the history, which changes each minute; one that is zoomed or pinned stays.
const updateMap = async () => {
  const response = await fetch(payload.dataset.source);
  if (!response.ok) return;
  const { maps } = await response.json();
  if (!maps.length) return;
  if (isEmpty) location.reload(); // the first column is there
  else await map()?.update(maps[0]);
};

const receive = ({ data }) => {
  const event = JSON.parse(data);
  for (const [name, part] of parts) replace(part, event[name]);
  const isNew = minute && event.minute !== minute;
  minute = event.minute;
  if (isNew || isEmpty) updateMap();
};

const follow = () => {
  if (document.hidden) {
    events?.close();
    events = null;
  } else if (!events) {
    events = new EventSource(place.dataset.events);
    events.addEventListener("message", receive);
  }
};

if (place) {
  const showFirstMap = () => {
    isEmpty = payload.dataset.count === "0";
    document.getElementById("live-map").hidden = isEmpty;
    document.getElementById("live-no-map").hidden = !isEmpty;
  };
  if ("count" in payload.dataset) showFirstMap(); // the script of the map was faster
  else document.addEventListener("map-ready", showFirstMap);
  document.addEventListener("visibilitychange", follow);
  follow();
}
