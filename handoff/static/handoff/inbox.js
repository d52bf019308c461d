// Keeps an inbox page live: a nudge on /ws/inbox has the page fetched again, and the regions that
// changed are put in place without losing what is typed. Without this script nothing is missing
// but that; the page says itself that it is not live.
import { takeNews } from "./inbox-alerts.js";
import { keepLines, putLines, readEarlier } from "./inbox-lines.js";
import { copyLinks } from "./inbox-link.js";

const live = document.querySelector("#live");
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30000;
const CLOCKS_EVERY = 60000;
// A new line of a subscriber has every open page read itself again: soon, but not for each of many.
const LIST_EVERY = 3000;
const PAGE_EVERY = 1000;
const REGIONS = "[data-region]";

/** What the server last sent for each region, so that only real changes touch the page. */
const sent = new Map();

/* --- the regions --------------------------------------------------------------------------- */

/** What can have the focus and has, by its tag, name and words, the same as `one`. */
function alike(region, one) {
  const key = ({ tagName, name, textContent }) => `${tagName} ${name} ${textContent.trim()}`;
  const all = region.querySelectorAll("a[href], button, input, select, textarea, summary");
  return [...all].filter((other) => key(other) === key(one));
}

/** Gives a function that finds again what has the focus in a region. */
function followFocus(region) {
  const active = document.activeElement;
  if (!region.contains(active) || active === region) return () => null;
  const index = alike(region, active).indexOf(active);
  return () => document.getElementById(active.id) ?? alike(region, active)[index] ?? null;
}

/** What somebody did in a region: texts, choices, opened parts, the focus. */
function remember(region) {
  const typed = "textarea[id], input[id]:not([type=file]), select[id]";
  const fields = [...region.querySelectorAll(typed)];
  const active = region.contains(document.activeElement) ? document.activeElement : null;
  return {
    fields: fields.map(({ id, type, value, checked }) => ({ id, type, value, checked })),
    names: [...region.querySelectorAll("input[name=client_id]")].map((field) => field.value),
    kept: [...region.querySelectorAll("[data-keep]")],
    files: [...region.querySelectorAll("input[type=file][id]")],
    open: [...region.querySelectorAll("details[id]")].map(({ id, open }) => ({ id, open })),
    active,
    findActive: followFocus(region),
    unsent: (region.querySelector("[data-unsent]")?.value ?? "").trim(),
  };
}

function restore(region, kept) {
  for (const { id, type, value, checked } of kept.fields) {
    const field = document.getElementById(id);
    if (!field) continue;
    if (type === "radio") field.checked = checked;
    else if (value) field.value = value;
  }
  region.querySelectorAll("input[name=client_id]").forEach((field, index) => {
    field.value = kept.names[index] ?? field.value;
  });
  for (const { id, open } of kept.open) {
    const part = document.getElementById(id);
    if (part) part.open = open;
  }
  // no script can set what files were chosen: the field itself goes on
  for (const field of kept.files) document.getElementById(field.id)?.replaceWith(field);
  for (const part of kept.kept) {
    const fresh = document.getElementById(part.id);
    if (fresh && !fresh.childElementCount) fresh.replaceChildren(...part.childNodes);
  }
  const { active } = kept;
  const focus = kept.findActive();
  focus?.focus({ preventScroll: true });
  if (focus?.matches("textarea")) {
    focus.setSelectionRange(active.selectionStart, active.selectionEnd);
  }
  keepUnsent(region, kept.unsent);
}

/** The reply box is gone because the handoff ended: what was typed stands there to be copied. */
function keepUnsent(region, text) {
  const place = region.querySelector("#unsent");
  if (!text || !place) return;
  place.hidden = false;
  place.querySelector("textarea").value = text;
}

/** A region as it was sent, without the hidden fields, which differ each time. */
function written(region) {
  const copy = region.cloneNode(true);
  for (const field of copy.querySelectorAll("input[type=hidden]")) field.remove();
  return copy.innerHTML;
}

function put(region, fresh, page) {
  const news = written(fresh);
  if (sent.get(region.id) === news) return;
  sent.set(region.id, news);
  if (region.dataset.region === "lines") {
    putLines(region, fresh, page);
    return;
  }
  const unsent = region.querySelector("#unsent:not([hidden]) textarea")?.value ?? "";
  const kept = remember(region);
  region.replaceChildren(...fresh.childNodes);
  restore(region, { ...kept, unsent: kept.unsent || unsent });
}

/** Times in the reader's own zone, without the date when it is today's. */
function localTimes() {
  const today = new Date().toDateString();
  for (const time of document.querySelectorAll("time[data-local]")) {
    const at = new Date(time.dateTime);
    const dateStyle = at.toDateString() === today ? undefined : "medium";
    time.title = time.title || time.textContent;
    time.textContent = at.toLocaleString(document.documentElement.lang, {
      dateStyle,
      timeStyle: "short",
    });
  }
}

/* --- reading again ------------------------------------------------------------------------- */

let reading = false;
let wanted = false;

/** Fetch the page and put in what changed; calls in between become one more reading. */
async function read() {
  wanted = true;
  if (reading) return;
  reading = true;
  try {
    while (wanted) {
      wanted = false;
      await readOnce();
      await pause();
    }
  } finally {
    reading = false;
  }
}

/** Until the page may be read again; the first nudge after a quiet time is followed at once. */
function pause() {
  const { conversation, handoff } = live.dataset;
  const wait = conversation || handoff ? PAGE_EVERY : LIST_EVERY;
  return new Promise((done) => setTimeout(done, wait));
}

async function readOnce() {
  // a search is not made again: only who waits is read
  const address = live.dataset.alerts || document.querySelector("#live a").href;
  const answer = await fetch(address, { credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok || answer.redirected) {
    say(false);
    return;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const region of document.querySelectorAll(REGIONS)) {
    const news = fresh.getElementById(region.id);
    if (news) put(region, news, fresh);
  }
  takeNews(fresh);
  localTimes();
}

/* --- the socket ---------------------------------------------------------------------------- */

function say(isLive) {
  const words = live.querySelector("[role=status]");
  const text = isLive ? words.dataset.live : words.dataset.off;
  if (words.textContent !== text) words.textContent = text;
  live.classList.toggle("is-live", isLive && !live.dataset.alerts);
}

/** Is a nudge about what this page shows? The list shows everything. */
function concerns({ conversation, handoff }) {
  const mine = live.dataset;
  if (mine.conversation) return !conversation || conversation === mine.conversation;
  if (mine.handoff) return !handoff || handoff === mine.handoff;
  return true;
}

function hear(socket, frame) {
  if (frame.type === "hello") {
    say(true);
    read();
  } else if (frame.type === "heartbeat") {
    socket.send(JSON.stringify({ v: 1, type: "pong", data: {} }));
  } else if (frame.type !== "error" && concerns(frame.data ?? frame)) {
    read();
  }
}

function connect(wait = FIRST_WAIT) {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}/ws/inbox`);
  let next = Math.min(wait * 2, LONGEST_WAIT);
  socket.addEventListener("message", (message) => {
    const frame = JSON.parse(message.data);
    if (frame.type === "hello") next = FIRST_WAIT;
    hear(socket, frame);
  });
  socket.addEventListener("close", () => {
    say(false);
    setTimeout(connect, wait * (0.75 + Math.random() / 2), next);
  });
}

/* --- start --------------------------------------------------------------------------------- */

for (const region of document.querySelectorAll(REGIONS)) {
  sent.set(region.id, written(region));
  if (region.dataset.region === "lines") keepLines(region);
}
localTimes();
readEarlier(localTimes);
copyLinks();
document.querySelector("#problem")?.focus();

// Ctrl+Enter sends what is typed, as in a chat; Enter alone is a new line.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.target.closest?.("form")?.requestSubmit();
  }
});

if (live) {
  connect();
  setInterval(read, CLOCKS_EVERY);
}
