/** Who the visitor talks to, who is typing, and the way back to the bot. */
import { phrase } from "./chat-texts.js";

const TYPING_SHOWN_MS = 8_000;

/** Hide a control; the focus goes on to the next best place instead of nowhere. */
export function hide(control, next) {
  const focused = control.getRootNode().activeElement === control;
  control.hidden = true;
  if (focused) next.focus();
}

export class Header {
  #parts;
  #texts;
  #name;
  #handoff = null;
  #asked = false;
  #timer = 0;

  /** `name` is what the bot is called. */
  constructor(parts, texts, name) {
    this.#parts = parts;
    this.#texts = texts;
    this.#name = name || texts.bot;
  }

  /** The handoff that is active now, or null while the bot answers. */
  get handoff() {
    return this.#handoff;
  }

  set handoff(handoff) {
    this.#handoff = handoff;
    this.#asked = false;
    this.typing(false);
  }

  /** The visitor asked to go back, and it was not decided yet. */
  set asked(asked) {
    this.#asked = asked;
  }

  /**
   * `open`: whether there is a connection; `over`: whether there will be none, so that nobody is
   * talked to; `failing`: whether lines do not reach the people.
   */
  show({ open, over, failing }) {
    const { who, back, chat, input } = this.#parts;
    const channel = this.#handoff?.channel_label;
    const text = failing ? this.#texts.failing : this.#texts.withPeople;
    const someone = channel ? phrase(text, { channel }) : [this.#texts.withBot];
    const words = over ? [] : someone;
    const said = words.map((word) => word.textContent ?? word).join("");
    // the same words again would be announced again
    if (who.textContent !== said) who.replaceChildren(...words);
    chat.dataset.with = channel ? (failing ? "failing" : "people") : "bot";
    if (channel) back.hidden = false;
    else hide(back, input);
    back.setAttribute("aria-disabled", String(!open || this.#asked));
    back.textContent = this.#asked ? this.#texts.backAsked : this.#texts.back;
  }

  /** Whoever answers is typing, or no longer is. */
  typing(on) {
    clearTimeout(this.#timer);
    const name = this.#handoff?.channel_label || this.#name;
    this.#parts.typing.replaceChildren(...(on ? phrase(this.#texts.typing, { name }) : []));
    if (on) this.#timer = setTimeout(() => this.typing(false), TYPING_SHOWN_MS);
  }
}
