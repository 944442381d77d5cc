// Follows a job by server-sent events; without this the page loads itself again.

const place = document.getElementById("progress");
if (place) {
  const bar = place.querySelector("progress");
  const text = document.getElementById("progress-text");
  const events = new EventSource(place.dataset.events);
  events.addEventListener("message", ({ data }) => {
    const progress = JSON.parse(data);
    if (progress.is_final) {
      events.close();
      location.reload();
      return;
    }
    text.textContent = progress.text;
    if (progress.total) {
      bar.max = progress.total;
      bar.value = Math.min(progress.count, progress.total);
    } else {
      bar.removeAttribute("value");
    }
  });
}
