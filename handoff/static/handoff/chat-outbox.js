/**
 * What the visitor typed and the desk has not confirmed yet, in order, one on its way at a time.
 *
 * It survives a reconnect, and a reload of the page for as long as the tab lives. The desk knows
 * each line by its client id, so sending one again never says it twice.
 */
const PREFIX = "handoff-chat:";

export class Outbox {
  #entries = [];
  #conversation = null;

  get entries() {
    return this.#entries;
  }

  /** The line that may be sent now: the first that was not refused. */
  get next() {
    return this.#entries.find((entry) => !entry.refused) ?? null;
  }

  /**
   * Called when the conversation is known: brings back what an earlier page left unsent. What was
   * typed for another conversation stays with that one; true when there was such.
   */
  openFor(conversation) {
    if (this.#conversation === conversation) return false;
    const another = this.#conversation !== null;
    if (another) this.#entries = [];
    this.#conversation = conversation;
    const known = new Set(this.#entries.map((entry) => entry.clientId));
    this.#entries.unshift(...this.#stored().filter((entry) => !known.has(entry.clientId)));
    this.#store();
    return another;
  }

  /** `files` were uploaded before: `{id, name, …}` each. */
  add(text, files = []) {
    const entry = { clientId: newId(), text, files, at: new Date().toISOString(), refused: "" };
    this.#entries.push(entry);
    this.#store();
    return entry;
  }

  refuse(entry, reason) {
    entry.refused = reason;
    this.#store();
  }

  retry(entry) {
    entry.refused = "";
    this.#store();
  }

  /** Confirmed or given up; false when this page never had it. */
  remove(clientId) {
    const index = this.#entries.findIndex((entry) => entry.clientId === clientId);
    if (index < 0) return false;
    this.#entries.splice(index, 1);
    this.#store();
    return true;
  }

  #stored() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(PREFIX + this.#conversation) ?? "[]");
      return kept.filter((entry) => typeof entry.clientId === "string" && entry.text);
    } catch {
      return [];
    }
  }

  #store() {
    if (!this.#conversation) return;
    try {
      if (this.#entries.length) {
        sessionStorage.setItem(PREFIX + this.#conversation, JSON.stringify(this.#entries));
      } else {
        sessionStorage.removeItem(PREFIX + this.#conversation);
      }
    } catch {
      // no storage here (a full or a forbidden one): the lines live as long as the page
    }
  }
}

/** 128 random bits. `crypto.randomUUID` is absent on plain http. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
