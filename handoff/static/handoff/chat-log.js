/**
 * The lines of one conversation. All text goes in as text: nothing that somebody wrote is ever
 * read as markup, or turns the direction of what stands beside it.
 */
import { button, element, icon } from "./chat-elements.js";
import { filesOf } from "./chat-files.js";
import { phrase, visible } from "./chat-texts.js";

const ROLES = Object.freeze({
  subscriber: "you",
  agent: "bot",
  person: "person",
  sibling: "sibling",
  system: "system",
});
/** Release kind -> the text that says it; other kinds were an answer. */
const ENDINGS = Object.freeze({
  owner: "released",
  subscriber: "asked",
  idle_timeout: "idle",
  expired: "idle",
  undeliverable: "unreachable",
  lost: "unreachable",
});
const GROUP_MS = 5 * 60 * 1000;

export class Log {
  #list;
  #texts;
  #clock;
  #day;
  #last = null;
  #mine = new Map();
  #said = new Map();
  /** Called with a file of a line that somebody wants. */
  openFile = () => {};

  constructor(list, { texts, language }) {
    this.#list = list;
    this.#texts = texts;
    this.#clock = timeFormat(language, { hour: "numeric", minute: "2-digit" });
    this.#day = timeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  }

  get empty() {
    return this.#list.childElementCount === 0;
  }

  clear() {
    this.#list.replaceChildren();
    this.#mine.clear();
    this.#said.clear();
    this.#last = null;
  }

  /** One line of the conversation (M of the contract). */
  message(message) {
    const role = ROLES[message.author] ?? "system";
    const item =
      role === "system" ? this.#notice(message) : (this.#confirmed(message) ?? this.#spoken(message));
    item.dataset.message = message.id;
    this.#said.set(message.id, item);
    return item;
  }

  /** What became of a line on its way to people: the words stand below it. */
  fate(messageId, kind, words) {
    const item = this.#said.get(messageId);
    if (!item) return;
    item.dataset.fate = kind;
    this.#fateOf(item, kind === "undelivered").replaceChildren(...words);
  }

  /** A line of the chat itself: who joined, who is there now. */
  event(words, at, kind) {
    const item = element("li", `event ${kind}`);
    const what = element("span", "what");
    what.append(...words);
    item.append(what, this.#time(at));
    this.#last = null;
    this.#put(item);
  }

  ended(handoff, at) {
    const key = ENDINGS[handoff.release] ?? "answered";
    this.event(phrase(this.#texts[key], { channel: handoff.channel_label }), at, "end");
  }

  /** What was typed here and is not confirmed yet. `fate` says where it is in words. */
  unsent(entry, fate, actions = []) {
    let item = this.#mine.get(entry.clientId);
    if (!item) {
      const before = this.#last;
      item = this.#line("you", "", entry);
      this.#last = before;
      this.#mine.set(entry.clientId, item);
      this.#list.append(item);
    }
    item.classList.add("unsent");
    item.classList.toggle("failed", actions.length > 0);
    const words = this.#fateOf(item, actions.length > 0);
    if (words.firstChild?.textContent === fate) return; // a button in it may have the focus
    words.replaceChildren(fate);
    for (const { label, act } of actions) {
      const made = button("small", label);
      made.addEventListener("click", act);
      words.append(" ", made);
    }
  }

  forget(clientId) {
    this.#mine.get(clientId)?.remove();
    this.#mine.delete(clientId);
  }

  /** The line stays where it is, so that a screen reader does not say it twice. */
  #confirmed(message) {
    const item = message.author === "subscriber" && this.#mine.get(message.client_id);
    if (!item) return null;
    const first = this.#mine.keys().next().value === message.client_id;
    this.#mine.delete(message.client_id);
    item.classList.remove("unsent", "failed");
    item.querySelector(".fate").remove();
    item.querySelector(".who").replaceWith(this.#head("you", "", message.at));
    if (!first) this.#put(item);
    return item;
  }

  #spoken(message) {
    const role = ROLES[message.author];
    const item = this.#line(role, role === "you" ? "" : message.name, message);
    this.#put(item);
    return item;
  }

  #notice(message) {
    const [first, ...rest] = visible(message.text).split("\n");
    const isNote = /^\[(Bot resumed|Late return) —/.test(first);
    const item = element("li", isNote ? "notice note" : "notice");
    const head = element("p", "who");
    head.append(element("span", "name", this.#texts.system), this.#time(message.at));
    const text = element("div", "text");
    const begins = element("span", "first", first);
    if (isNote) begins.lang = "en";
    text.append(begins);
    if (rest.length) text.append(`\n${rest.join("\n")}`);
    item.append(head, text);
    this.#last = null;
    this.#put(item);
    return item;
  }

  #line(role, name, { text, at, files }) {
    const item = element("li", `line ${role}`);
    const bubble = element("div", "bubble", text);
    bubble.setAttribute("part", `bubble bubble-${role}`);
    item.append(this.#head(role, name, at), bubble);
    if (files?.length) item.append(filesOf(files, (file) => this.openFile(file)));
    return item;
  }

  #head(role, name, at) {
    const who = `${role} ${name}`;
    const when = new Date(at);
    const follows = this.#last?.who === who && when - this.#last.when < GROUP_MS;
    this.#last = { who, when };
    const head = element("p", follows ? "who follows" : "who");
    if (role === "you") head.append(element("span", "name", this.#texts.you));
    else {
      const label = element("span", "name", name || this.#texts[role]);
      label.dir = "auto";
      head.append(icon(role === "person" ? "person" : "bot"), label);
      if (name) head.append(element("span", "role", this.#texts[role]));
    }
    head.append(this.#time(at));
    return head;
  }

  /** Trouble is announced; that all goes well is only shown. */
  #fateOf(item, announced) {
    let words = item.querySelector(".fate");
    if (!words) item.append((words = element("p", "fate")));
    words.setAttribute("aria-live", announced ? "polite" : "off");
    return words;
  }

  /** Confirmed lines stand before what is still unsent. */
  #put(item) {
    const firstUnsent = this.#mine.values().next().value ?? null;
    this.#list.insertBefore(item, firstUnsent);
  }

  #time(at) {
    const when = new Date(at);
    const today = when.toDateString() === new Date().toDateString();
    const time = element("time", "", (today ? this.#clock : this.#day).format(when));
    time.dateTime = when.toISOString();
    return time;
  }
}

/** In the reader's language, or in the browser's when the page names one that is none. */
function timeFormat(language, how) {
  try {
    return new Intl.DateTimeFormat(language, how);
  } catch {
    return new Intl.DateTimeFormat(undefined, how);
  }
}
