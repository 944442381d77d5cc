// Follows long work by server-sent events; without this the page loads itself again.

const showPage = async () => {
  const answer = await fetch(location.href);
  if (!answer.ok) {
    location.reload();
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.querySelector("main").replaceWith(document.adoptNode(page.querySelector("main")));
  follow();
};

const follow = () => {
  const place = document.getElementById("progress");
  if (!place) return;
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
    if (![undefined, progress.phase].includes(place.dataset.phase)) { // the page then offers other things
      events.close();
      showPage();
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
};

follow();
