/**
 * Where the visitor types. Events: `say` (detail: the text), `typing` (detail: whether they are).
 */
import { fill } from "./chat-texts.js";

const LONGEST_TEXT = 8000;
const TYPING_EVERY_MS = 3_000;
const TYPING_ENDS_MS = 4_000;
/** What the desk refuses in a text, for it means nothing to a reader. */
const UNKEPT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]/g;

/** The text as the desk keeps it; "" when nothing is left. */
export function cleaned(text) {
  return text
    .replace(/\r\n?|[\u000b\u000c\u0085]/g, "\n")
    .replace(UNKEPT, "")
    .toWellFormed()
    .normalize("NFC")
    .trim();
}

/** By how many characters a text is too long; 0 or less when it is not. */
export function excess(text) {
  return [...text].length - LONGEST_TEXT;
}

export class Composer extends EventTarget {
  #parts;
  #texts;
  #typingSaid = 0;
  #typingEnds = 0;

  constructor(parts, texts) {
    super();
    this.#parts = parts;
    this.#texts = texts;
    parts.form.addEventListener("submit", (event) => this.#onSubmit(event));
    parts.input.addEventListener("keydown", (event) => this.#onKey(event));
    parts.input.addEventListener("input", () => this.#onInput());
  }

  #onSubmit(event) {
    event.preventDefault();
    const { input } = this.#parts;
    const text = cleaned(input.value);
    input.focus();
    if (!text || excess(text) > 0) return;
    input.value = "";
    this.#stopTyping();
    this.#tell("say", text);
  }

  #onKey(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#parts.form.requestSubmit();
  }

  #onInput() {
    const { input, limit } = this.#parts;
    const over = excess(cleaned(input.value));
    limit.textContent = over > 0 ? fill(this.#texts.tooLong, { count: over }) : "";
    input.setAttribute("aria-invalid", String(over > 0));
    clearTimeout(this.#typingEnds);
    this.#typingEnds = setTimeout(() => this.#stopTyping(), TYPING_ENDS_MS);
    if (!input.value.trim()) return this.#stopTyping();
    if (performance.now() - this.#typingSaid < TYPING_EVERY_MS && this.#typingSaid) return;
    this.#typingSaid = performance.now();
    this.#tell("typing", true);
  }

  #stopTyping() {
    clearTimeout(this.#typingEnds);
    if (this.#typingSaid) this.#tell("typing", false);
    this.#typingSaid = 0;
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
