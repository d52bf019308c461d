// Who waits: the count in the title, and notifications of the browser for owners who asked for
// them. And says that somebody has a handoff before them, at their first touch, key or scroll.

const KEPT = "handoff.notify";
const SIGNS = ["pointerdown", "pointermove", "keydown", "scroll", "touchstart"];

const place = document.querySelector("#alerts");
const button = place?.querySelector("button");
const known = new Set(waitingIn(document));

function waitingIn(page) {
  const ids = page.querySelector("#alerts")?.dataset.waiting ?? "";
  return ids.split(" ").filter(Boolean);
}

/** Take the count of a page that was read again, and notify of what is new in it. */
export function takeNews(page) {
  document.title = page.title;
  const waiting = waitingIn(page);
  const news = waiting.filter((id) => !known.has(id));
  known.clear();
  for (const id of waiting) known.add(id);
  if (wants() && !document.hasFocus()) news.forEach(notify);
}

/** The same words each time, whoever waits: what people wrote stays in the desk. */
function notify(id) {
  const { title, body, list } = place.dataset;
  try {
    const { lang, dir } = document.documentElement;
    // several pages of the inbox show one notification, as it has one tag
    const shown = new Notification(title, { body, lang, dir, tag: id });
    shown.addEventListener("click", () => {
      window.focus();
      location.assign(list);
      shown.close();
    });
  } catch {
    // a browser that notifies by service workers only: the title still counts
  }
}

/* --- the opt-in ---------------------------------------------------------------------------- */

function wants() {
  return isKept() && Notification.permission === "granted";
}

function isKept() {
  try {
    return localStorage.getItem(KEPT) === "1";
  } catch {
    return false;
  }
}

function keep(on) {
  try {
    if (on) localStorage.setItem(KEPT, "1");
    else localStorage.removeItem(KEPT);
  } catch {
    // nothing is kept in this browser
  }
}

function showChoice() {
  button.setAttribute("aria-pressed", String(wants()));
  const words = place.querySelector("[role=status]");
  words.textContent = Notification.permission === "denied" ? words.dataset.denied : "";
}

function offerNotifications() {
  if (!place || !("Notification" in window)) return;
  place.hidden = false;
  showChoice();
  button.addEventListener("click", async () => {
    const on = !wants();
    if (on && Notification.permission === "default") await Notification.requestPermission();
    keep(on);
    showChoice();
  });
}

/* --- having it before them ----------------------------------------------------------------- */

const told = new Set();

function tellSeen(event) {
  if (!event.isTrusted || document.visibilityState !== "visible") return;
  for (const form of document.querySelectorAll("form[data-seen]")) {
    if (told.has(form.action)) continue;
    told.add(form.action);
    fetch(form.action, { method: "POST", body: new FormData(form), keepalive: true }).catch(() => {
      told.delete(form.action);
    });
  }
}

offerNotifications();
for (const sign of SIGNS) addEventListener(sign, tellSeen, { passive: true, capture: true });
