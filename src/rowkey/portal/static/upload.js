// Sends a chosen or dropped file as the body of one request, which the portal streams to disk.

const form = document.getElementById("upload");
if (form) {
  const status = document.getElementById("upload-status");
  const bar = form.querySelector("progress");
  const cancel = form.querySelector("button");
  let sending = null;
  form.hidden = false;

  const say = (name, values = {}) => {
    const sentence = form.dataset[name] ?? name;
    status.textContent = sentence.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
  };
  const toMegabytes = (bytes) => (bytes / 2 ** 20).toLocaleString(document.documentElement.lang,
    { maximumFractionDigits: 1 });
  const show = (isSending) => {
    bar.hidden = cancel.hidden = !isSending;
    form.file.disabled = isSending;
  };

  // What the portal would refuse anyway is told before anything is sent.
  const findRefusal = (file) => {
    const name = file.name.toLowerCase();
    if (!file.size) return "empty";
    const { maxMegabytes, suffixes } = form.dataset;
    if (file.size > Number(maxMegabytes) * 2 ** 20) return "tooLarge";
    return suffixes.split(" ").some((suffix) => name.includes(suffix)) ? "" : "unknown";
  };

  const send = (file) => {
    const values = { name: file.name, size: toMegabytes(file.size) };
    const refusal = findRefusal(file);
    if (refusal) {
      say(refusal, values);
      return;
    }
    sending = new XMLHttpRequest();
    sending.open("POST", `${form.dataset.action}?${new URLSearchParams({ name: file.name })}`);
    sending.setRequestHeader("content-type", "application/octet-stream");
    sending.setRequestHeader("accept", "application/json");
    bar.removeAttribute("value");
    sending.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.max = total;
      bar.value = loaded;
      const percent = Math.floor((100 * loaded) / total);
      // A screen reader hears each tenth.
      if (bar.dataset.told !== String(Math.floor(percent / 10))) {
        bar.dataset.told = String(Math.floor(percent / 10));
        say("uploading", { ...values, percent });
      }
    });
    const end = () => {
      sending = null;
      show(false);
      form.reset();
    };
    sending.addEventListener("load", ({ target }) => {
      end();
      if (target.status < 300) {
        // The page that the portal shows next names the file; a page with a form offers it, too.
        const { searchParams } = new URL(target.responseURL);
        const query = new URLSearchParams(location.search);
        query.set("sample", searchParams.get("sample"));
        location.assign(`${form.dataset.page ?? location.pathname}?${query}`);
        return;
      }
      try {
        say(JSON.parse(target.responseText).message);
      } catch {
        say("failed", values);
      }
    });
    sending.addEventListener("error", () => { end(); say("failed", values); });
    sending.addEventListener("abort", () => { end(); say("cancelled", values); });
    say("uploading", { ...values, percent: 0 });
    show(true);
    sending.send(file);
  };

  cancel.addEventListener("click", () => sending?.abort());
  form.addEventListener("submit", (event) => event.preventDefault());
  form.file.addEventListener("change", () => {
    if (form.file.files.length) send(form.file.files[0]);
  });
  // A file that is dropped next to the field would replace the page.
  for (const kind of ["dragover", "drop"]) {
    window.addEventListener(kind, (event) => event.preventDefault());
  }
  const mark = (isOver) => form.classList.toggle("over", isOver);
  form.addEventListener("dragover", () => mark(true));
  form.addEventListener("dragleave", () => mark(false));
  form.addEventListener("drop", (event) => {
    mark(false);
    if (sending === null && event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
}
