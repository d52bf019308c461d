/**
 * Files of a chat: chosen beside the box, uploaded at once, sent with the next line.
 *
 * A ticket opens one upload or the address of one file, so a new one is asked for each time.
 */
import { button, element, icon } from "./chat-elements.js";
import { fill } from "./chat-texts.js";
import { socketAddress } from "./chat-ticket.js";

const MOST = 5;
const MOST_BYTES = 10 * 1024 * 1024;
const PATIENCE_MS = 120_000;
/** Statuses of an upload -> the text that says it. */
const REFUSED = Object.freeze({ 400: "fileNotTaken", 413: "fileTooBig" });

export const filesSheet = new CSSStyleSheet();
filesSheet.replaceSync(`
.clip {
  display: grid;
  place-items: center;
  inline-size: 2.75rem;
  block-size: 2.75rem;
  padding: 0;
  border: 1px solid var(--edge);
  border-radius: 0.6rem;
  background: var(--sheet);
}
.clip:hover { border-color: var(--accent); }
.clip .icon { inline-size: 1.25rem; block-size: 1.25rem; }
.chosen, .files { margin: 0; padding: 0; list-style: none; }
.chosen:not(:empty) { display: flex; flex-wrap: wrap; gap: 0.35rem; margin-block-end: 0.5rem; }
.chosen li {
  display: flex;
  align-items: center;
  gap: 0.4rem;
  max-inline-size: 100%;
  padding-inline: 0.7rem 0.3rem;
  border: 1px solid var(--line);
  border-radius: 1rem;
  background: var(--sunken);
  font-size: 0.8125rem;
}
.chosen li.busy { color: var(--quiet); }
.chosen .off {
  min-inline-size: 1.75rem;
  min-block-size: 1.75rem;
  padding: 0;
  border: 0;
  border-radius: 50%;
  background: none;
}
.chosen .off:hover { color: var(--bad); }
.files { display: flex; flex-direction: column; gap: 0.25rem; margin-block-start: 0.3rem; }
.you .files { align-items: end; }
.file {
  max-inline-size: 100%;
  min-block-size: 1.75rem;
  padding: 0.15rem 0.65rem;
  border: 1px solid var(--edge);
  border-radius: 0.5rem;
  background: var(--sheet);
  font-size: 0.875rem;
  text-align: start;
}
button.file { color: var(--accent); text-decoration: underline; }
.file-fate { font-size: 0.75rem; }
.file-fate:not(:empty) { margin-block-end: 0.35rem; color: var(--bad); font-weight: 600; }
`);

export class Files {
  #parts;
  #texts;
  #getTicket;
  #list = element("ul", "chosen");
  #fate = element("p", "file-fate");
  #chosen = [];

  /** `getTicket(signal)` is that of the connection. */
  constructor(parts, texts, getTicket) {
    this.#parts = parts;
    this.#texts = texts;
    this.#getTicket = getTicket;
    const picker = element("input");
    picker.type = "file";
    picker.multiple = true;
    picker.hidden = true;
    const clip = button("clip", "");
    clip.append(icon("clip"));
    clip.setAttribute("aria-label", texts.attach);
    clip.setAttribute("part", "button attach");
    clip.title = texts.attach;
    clip.addEventListener("click", () => picker.click());
    picker.addEventListener("change", () => {
      for (const file of picker.files) this.#choose(file);
      picker.value = "";
    });
    this.#fate.setAttribute("role", "status");
    parts.tools.append(clip, picker);
    parts.form.querySelector(".entry").before(this.#fate, this.#list);
    parts.form.addEventListener("submit", (event) => this.#onSubmit(event), { capture: true });
  }

  /** What goes with the line that is said now: `{id, name, size}` each; then none is chosen. */
  take() {
    const taken = this.#chosen.map(({ told }) => told);
    this.#chosen = [];
    this.#list.replaceChildren();
    return taken;
  }

  /** Save one that was said; the page stays where it is. */
  async open({ id, name }) {
    this.#say("");
    try {
      const answer = await this.#post(`${encodeURIComponent(id)}/link/`, {});
      if (!answer.ok) throw new Error(`${answer.status}`);
      const link = element("a");
      link.href = (await answer.json()).url;
      link.download = "";
      link.rel = "noopener";
      link.click();
    } catch {
      this.#say("fileGone", name);
    }
  }

  /** Files need words beside them in the desk: their names, when nothing was typed. */
  #onSubmit(event) {
    const { input } = this.#parts;
    if (this.#chosen.some(({ told }) => !told)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      this.#say("fileWait");
    } else if (this.#chosen.length && !input.value.trim()) {
      input.value = this.#chosen.map(({ told }) => told.name).join(", ");
    }
  }

  async #choose(file) {
    this.#say("");
    if (this.#chosen.length >= MOST) return this.#say("filesTooMany");
    if (file.size > MOST_BYTES) return this.#say("fileTooBig", file.name);
    const chosen = { told: null, item: element("li", "busy") };
    this.#chosen.push(chosen);
    this.#show(chosen, fill(this.#texts.fileOnItsWay, { name: file.name }), file.name);
    try {
      const headers = { "Content-Type": file.type || "application/octet-stream" };
      const answer = await this.#post("", { body: file, headers, name: file.name });
      if (!answer.ok) return this.#drop(chosen, REFUSED[answer.status] ?? "fileFailed", file.name);
      chosen.told = await answer.json();
      chosen.item.classList.remove("busy");
      this.#show(chosen, chosen.told.name, chosen.told.name);
    } catch {
      this.#drop(chosen, "fileFailed", file.name);
    }
  }

  #show(chosen, words, name) {
    const label = element("bdi", "", words);
    const off = button("off", "✕");
    off.setAttribute("aria-label", fill(this.#texts.fileRemove, { name }));
    off.addEventListener("click", () => {
      this.#drop(chosen);
      this.#parts.input.focus();
    });
    chosen.item.replaceChildren(label, off);
    if (!chosen.item.isConnected) this.#list.append(chosen.item);
  }

  #drop(chosen, why = "", name = "") {
    const still = this.#chosen.includes(chosen);
    this.#chosen = this.#chosen.filter((one) => one !== chosen);
    chosen.item.remove();
    if (still) this.#say(why, name);
  }

  async #post(path, { name, ...how }) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const address = socketAddress(await this.#getTicket(signal), 0);
    const ticket = address.searchParams.get("ticket");
    address.protocol = address.protocol.replace(/^ws/, "http");
    address.pathname = address.pathname.replace(/ws\/chat\/?$/, `files/${path}`);
    address.search = new URLSearchParams(name ? { ticket, name } : { ticket });
    return fetch(address, { method: "POST", credentials: "omit", cache: "no-store", signal, ...how });
  }

  #say(key, name = "") {
    this.#fate.textContent = key ? fill(this.#texts[key], { name }) : "";
  }
}

/** The files that came with a line; `open(file)` is called for the one that is pressed. */
export function filesOf(files, open) {
  const list = element("ul", "files");
  for (const file of files) {
    const item = element("li");
    const kept = file.kept !== false;
    const shown = kept ? button("file", "") : element("span", "file");
    shown.append(element("bdi", "", file.name));
    if (kept) shown.addEventListener("click", () => open(file));
    item.append(shown);
    list.append(item);
  }
  return list;
}
