// Keeps the typed text of a design file in the browser until it is saved, and offers it again after
// a lost session, a closed tab, or a portal that could not be reached. The server keeps nothing.

const PREFIX = "rowkey text ";
const MAX_BACKUPS = 20;

const list = () => Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));

const read = (key) => {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null; // another version wrote it
  }
};

const write = (key, backup) => {
  const others = list().filter((one) => one !== key);
  others.sort((one, other) => (read(one)?.at ?? 0) - (read(other)?.at ?? 0));
  for (const old of others.slice(0, Math.max(others.length - MAX_BACKUPS + 1, 0))) {
    localStorage.removeItem(old);
  }
  try {
    localStorage.setItem(key, JSON.stringify(backup));
  } catch { // the browser has no room, or keeps nothing: the page still asks before it is left
    localStorage.removeItem(key);
  }
};

const watch = (area, offer) => {
  const form = area.form;
  const path = new URL(form.action).pathname;
  const key = `${PREFIX}${path} ${area.dataset.user}`;
  const isSaved = () => !("unsaved" in area.dataset) && area.value === area.defaultValue;
  const store = () => {
    if (isSaved()) localStorage.removeItem(key);
    else write(key, { text: area.value, etag: form.etag.value, at: Date.now() });
  };
  const [take, discard] = offer.querySelectorAll("button");

  const showChanges = async (backup) => {
    const fields = { text: backup.text, etag: backup.etag, check: "1", compare: "1" };
    try {
      const answer = await fetch(path, { method: "POST", body: new URLSearchParams(fields) });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const changes = page.getElementById("comparison");
      if (changes) offer.querySelector("#comparison").replaceWith(document.adoptNode(changes));
    } catch {
      // The text can be taken or discarded without seeing its changes.
    }
  };

  // What is typed now would take the place of the text that is offered.
  const setOffered = (isOffered) => {
    offer.hidden = !isOffered;
    area.readOnly = isOffered;
  };

  const backup = read(key);
  if (!backup || backup.text === area.defaultValue) {
    store();
  } else {
    const time = offer.querySelector("time");
    time.dateTime = new Date(backup.at).toISOString();
    time.textContent = new Date(backup.at).toLocaleString(document.documentElement.lang);
    offer.querySelector(".changed").hidden = backup.etag === form.etag.value;
    setOffered(true);
    showChanges(backup);
  }

  area.addEventListener("input", store);
  take.addEventListener("click", () => {
    setOffered(false);
    area.value = backup.text;
    form.etag.value = backup.etag; // if the file has changed, saving shows the differences first
    area.dispatchEvent(new Event("input"));
    area.focus();
  });
  discard.addEventListener("click", () => {
    setOffered(false);
    store();
    area.focus();
  });
};

const area = document.getElementById("text");
const offer = document.getElementById("backup");
if (area && offer) watch(area, offer);

// The login form of a page whose text is kept says so.
const hint = document.getElementById("backup-hint");
if (hint) hint.hidden = !list().some((key) => key.startsWith(`${PREFIX}${hint.dataset.path} `));
