// Sends a chosen or dropped file as the body of one request, which the portal streams to disk.

const form = document.getElementById("upload");
if (form) {
  const status = document.getElementById("upload-status");
  form.hidden = false;

  const send = async (file) => {
    status.textContent = `${form.dataset.uploading}: ${file.name}`;
    if (file.size > Number(form.dataset.maxMegabytes) * 2 ** 20) {
      status.textContent = `${file.name}: > ${form.dataset.maxMegabytes} MB`;
      return;
    }
    const query = new URLSearchParams({ name: file.name });
    try {
      const answer = await fetch(`${form.dataset.action}?${query}`, {
        method: "POST",
        body: file,
        headers: { "content-type": "application/octet-stream", accept: "application/json" },
      });
      if (answer.ok) location.assign(answer.url);
      else status.textContent = (await answer.json()).message;
    } catch (problem) {
      status.textContent = problem.message;
    }
  };

  form.file.addEventListener("change", () => {
    if (form.file.files.length) send(form.file.files[0]);
  });
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
}
