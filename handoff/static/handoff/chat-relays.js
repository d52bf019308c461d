/**
 * What became of the visitor's lines that went to people: delivered, late, or not delivered. The
 * desk says that a line failed, and never why.
 */
import { phrase } from "./chat-texts.js";

const SLOW_MS = 8_000;
/** A replay brings the line first and its fate in the same breath. */
const REPLAY_MS = 1_000;

export class Relays {
  #log;
  #texts;
  #channels = new Map();
  #waiting = new Map();
  #lost = new Set();

  constructor(log, texts) {
    this.#log = log;
    this.#texts = texts;
  }

  /** Whether the newest lines do not arrive. */
  failing = false;

  clear() {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    this.#channels.clear();
    this.#lost.clear();
    this.failing = false;
  }

  began(handoff) {
    this.#channels.set(handoff.id, handoff.channel_label);
    this.failing = false;
  }

  /** Nothing is on its way any more; `handoff.undelivered` names what never arrived. */
  ended(handoff) {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    for (const id of handoff.undelivered ?? []) this.#show(id, "undelivered", handoff.id);
    this.failing = false;
  }

  /** A line of the visitor's was stored. */
  stored(message) {
    if (message.routed_to !== "recipient") return;
    const left = Date.parse(message.at) + SLOW_MS - Date.now();
    const timer = setTimeout(
      () => this.#show(message.id, "slow", message.handoff),
      Math.min(SLOW_MS, Math.max(REPLAY_MS, left)),
    );
    this.#waiting.set(message.id, timer);
  }

  delivered(message) {
    this.#show(message.id, "delivered", message.handoff);
    this.failing = false;
  }

  /** True when it is the first that fails, and the visitor has to be told. */
  failed(message) {
    this.#show(message.id, "undelivered", message.handoff);
    const news = !this.failing && !this.#lost.has(message.id);
    this.#lost.add(message.id);
    this.failing = true;
    return news;
  }

  #show(id, kind, handoff) {
    clearTimeout(this.#waiting.get(id));
    this.#waiting.delete(id);
    const channel = this.#channels.get(handoff) ?? "";
    this.#log.fate(id, kind, phrase(this.#texts[kind], { channel }));
  }
}
