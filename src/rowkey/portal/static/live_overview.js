// Keeps the list of running tables up to date while it is visible.

const overview = document.getElementById("overview");

const refresh = async () => {
  if (document.hidden || overview.contains(document.activeElement)) return;
  const answer = await fetch(location.href).catch(() => null); // the portal may be stopped
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of ["overview", "live-condition"]) {
    const [shown, next] = [document.getElementById(id), page.getElementById(id)];
    if (next && shown.innerHTML !== next.innerHTML) shown.replaceChildren(...next.childNodes);
  }
};

setInterval(refresh, 1000 * Number(overview.dataset.refreshS));
