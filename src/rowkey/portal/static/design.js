// Findings while typing, for the page of a design file; without this the buttons do the same.

const PAUSE_MS = 400;
const LIVE_PARTS = ["findings", "key", "reads"];

const area = document.getElementById("text");
if (area) {
  const form = area.form;
  const saved = "unsaved" in area.dataset ? null : area.defaultValue;
  let timer = 0;
  let running = null;
  let isSending = false;

  const check = async () => {
    running?.abort();
    running = new AbortController();
    const fields = new URLSearchParams({ text: area.value, etag: form.etag.value, check: "1" });
    try {
      const answer = await fetch(form.action, {
        method: "POST", body: fields, signal: running.signal,
      });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const id of LIVE_PARTS) {
        const now = document.getElementById(id);
        const next = page.getElementById(id);
        if (now && next) now.replaceWith(document.adoptNode(next));
      }
      document.title = page.title;
      document.querySelector("h1").replaceWith(document.adoptNode(page.querySelector("h1")));
    } catch (problem) {
      if (problem.name !== "AbortError") throw problem;
    }
  };

  const selectLine = (number) => {
    const lines = area.value.split("\n");
    const start = lines.slice(0, number - 1).reduce((sum, line) => sum + line.length + 1, 0);
    area.focus();
    area.setSelectionRange(start, start + (lines[number - 1] ?? "").length);
  };

  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE_MS);
  });
  if (area.value !== area.defaultValue) check(); // typed before this script was there
  form.addEventListener("submit", () => { isSending = true; });
  addEventListener("beforeunload", (event) => {
    if (!isSending && area.value !== saved) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#L"]');
    if (!link) return;
    event.preventDefault();
    selectLine(Number(link.hash.slice(2)));
  });
  area.addEventListener("keydown", (event) => {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.querySelector('[name="save"]').click();
  });
}
