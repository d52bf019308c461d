// The lines of a conversation: they come and change one by one, so that a reader of the log hears
// only what is new, and earlier ones are put before them without moving what is being read.

/** What the server last sent for each line, by its id. */
const sent = new Map();

const pager = () => document.querySelector("#earlier")?.closest("p");

/** Remember the lines that the page came with. */
export function keepLines(list) {
  for (const line of list.children) sent.set(line.id, line.outerHTML);
}

/**
 * Put the lines of a page that was read again in place. Lines before its first one stay: the page
 * holds only the newest. Where none of ours is on it, there is a gap, and it takes their place.
 */
export function putLines(list, fresh, page) {
  const first = [...fresh.children].find((line) => document.getElementById(line.id));
  if (!first) {
    list.replaceChildren();
    takePager(page);
  }
  const wanted = new Set([...fresh.children].map((line) => line.id));
  let isOlder = Boolean(first);
  for (const line of [...list.children]) {
    if (line.id === first?.id) isOlder = false;
    if (!isOlder && !wanted.has(line.id)) line.remove();
  }
  for (const line of [...fresh.children]) {
    const known = document.getElementById(line.id);
    const news = line.outerHTML;
    if (!known) list.append(line);
    else if (sent.get(line.id) !== news) known.replaceWith(line.cloneNode(true));
    sent.set(line.id, news);
  }
}

/** The way to earlier lines, as a page that begins where ours begins has it. */
function takePager(page) {
  const theirs = page.querySelector("#earlier")?.closest("p");
  const mine = pager();
  if (mine && theirs) mine.replaceWith(theirs.cloneNode(true));
  else if (mine) mine.remove();
  else if (theirs) document.querySelector(".scroller").before(theirs.cloneNode(true));
}

/** A click on “earlier” brings them into the page; `shown` is called when they are there. */
export function readEarlier(shown) {
  const list = document.querySelector("#lines");
  if (!list) return;
  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.("#earlier");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.ariaBusy === "true") return;
    link.ariaBusy = "true";
    const answer = await fetch(link.href, { credentials: "same-origin" }).catch(() => null);
    if (!answer?.ok || answer.redirected) {
      location.assign(link.href);
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    prepend(list, page);
    shown();
  });
}

function prepend(list, page) {
  const log = list.closest("[role=log]");
  const earlier = page.querySelector("#lines");
  keepLines(earlier);
  log.ariaLive = "off"; // they are nothing new
  list.prepend(...earlier.children);
  takePager(page);
  (document.querySelector("#earlier") ?? log).focus({ preventScroll: true });
  setTimeout(() => log.removeAttribute("aria-live"), 1000);
}
