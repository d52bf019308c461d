// “Copy link” puts the link on the clipboard without leaving the page. It is asked for only then.

async function copy(form) {
  const answer = await fetch(form.action, {
    method: "POST",
    body: new FormData(form),
    credentials: "same-origin",
  }).catch(() => null);
  const place = document.getElementById(form.dataset.link);
  const text = answer && !answer.redirected ? await answer.text() : "";
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.getElementById(form.dataset.link);
  const field = fresh?.querySelector("input");
  if (!place || !field) {
    form.submit(); // the page that comes says why there is none
    return;
  }
  place.replaceChildren(...fresh.childNodes);
  await write(place);
}

async function write(place) {
  const field = place.querySelector("input");
  const words = place.querySelector("[role=status]");
  field.focus();
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    words.textContent = words.dataset.done;
  } catch {
    // it stands there, selected
  }
}

/** Have the forms with `data-link` copy; the others go as they would. */
export function copyLinks() {
  document.addEventListener("submit", (event) => {
    if (!event.target.dataset.link) return;
    event.preventDefault();
    copy(event.target);
  });
}
