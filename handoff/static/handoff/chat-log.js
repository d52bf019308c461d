/**
 * The lines of one conversation. All text goes in as text: nothing that somebody wrote is ever
 * read as markup, or turns the direction of what stands beside it.
 */
import { fill, visible } from "./chat-texts.js";

const SVG = "http://www.w3.org/2000/svg";
const ICONS = Object.freeze({
  bot: "M9 3h2v3h4a3 3 0 0 1 3 3v6a3 3 0 0 1-3 3H5a3 3 0 0 1-3-3V9a3 3 0 0 1 3-3h4zM7 10.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3m6 0a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3",
  person: "M10 2.5a4 4 0 1 1 0 8 4 4 0 0 1 0-8M10 12c4.4 0 7.5 2.2 7.5 5.5h-15C2.5 14.2 5.6 12 10 12",
});
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

  constructor(list, texts, language) {
    this.#list = list;
    this.#texts = texts;
    this.#clock = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" });
    this.#day = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  }

  get empty() {
    return this.#list.childElementCount === 0;
  }

  clear() {
    this.#list.replaceChildren();
    this.#mine.clear();
    this.#last = null;
  }

  /** One line of the conversation (M of the contract). */
  message(message) {
    const role = ROLES[message.author] ?? "system";
    if (role === "system") return this.#notice(message);
    const line = this.#line(role, message.author === "subscriber" ? "" : message.name, message.at);
    line.bubble.textContent = visible(message.text);
    line.item.dataset.message = message.id;
    this.#put(line.item);
    return line.item;
  }

  /** The message reached the people it was routed to. */
  delivered(message, channel) {
    const item = this.#list.querySelector(`[data-message="${CSS.escape(message.id)}"]`);
    if (!item || item.querySelector(".fate")) return;
    item.append(element("p", "fate", fill(this.#texts.delivered, { channel })));
  }

  /** A line of the chat itself: who joined, who is there now. */
  event(text, at, kind) {
    const item = element("li", `event ${kind}`);
    item.append(element("span", "what", text), this.#time(at));
    this.#last = null;
    this.#put(item);
  }

  ended(handoff, at) {
    const key = ENDINGS[handoff.release] ?? "answered";
    this.event(fill(this.#texts[key], { channel: handoff.channel_label }), at, "end");
  }

  /** What was typed here and is not confirmed yet. `fate` says where it is in words. */
  unsent(entry, fate, actions = []) {
    let item = this.#mine.get(entry.clientId);
    if (!item) {
      const before = this.#last;
      const line = this.#line("you", "", entry.at);
      this.#last = before;
      line.bubble.textContent = visible(entry.text);
      item = line.item;
      item.append(element("p", "fate"));
      this.#mine.set(entry.clientId, item);
    }
    item.classList.add("unsent");
    item.classList.toggle("failed", actions.length > 0);
    const words = item.querySelector(".fate");
    words.textContent = fate;
    for (const { label, act } of actions) {
      const button = element("button", "small", label);
      button.type = "button";
      button.addEventListener("click", act);
      words.append(" ", button);
    }
    this.#list.append(item);
  }

  forget(clientId) {
    this.#mine.get(clientId)?.remove();
    this.#mine.delete(clientId);
  }

  #notice(message) {
    const [first, ...rest] = visible(message.text).split("\n");
    const isNote = /^\[(Bot resumed|Late return) —/.test(first);
    const item = element("li", isNote ? "notice note" : "notice");
    item.dataset.message = message.id;
    const head = element("p", "who");
    head.append(element("span", "name", this.#texts.system), this.#time(message.at));
    const text = element("div", "text");
    text.append(element("span", "first", first));
    if (rest.length) text.append(`\n${rest.join("\n")}`);
    item.append(head, text);
    this.#last = null;
    this.#put(item);
    return item;
  }

  #line(role, name, at) {
    const item = element("li", `line ${role}`);
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
    const bubble = element("div", "bubble");
    item.append(head, bubble);
    return { item, bubble };
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

export function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = visible(text);
  return made;
}

function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}
