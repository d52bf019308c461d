/**
 * One conversation over `handoff.v1`: tickets, reconnects, replay without a gap, heartbeat.
 *
 * Knows nothing of the page. Events: `state` (detail: one of STATES), `hello`, `reset`, `frame`
 * (detail: a frame whose number has not been seen before, or one without a number).
 */
export const STATES = Object.freeze({
  CONNECTING: "connecting",
  OPEN: "open",
  LOST: "lost",
  OFFLINE: "offline",
  REFUSED: "refused",
  GONE: "gone",
});

const VERSION = 1;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const PAUSE_WHEN_TOO_FAST_MS = 10_000;
const TICKET_MS = 15_000;
const OPENING_MS = 15_000;
const ACK_MS = 1_000;
const STABLE_MS = 5_000;
/** Heartbeats that may be missed before the socket counts as dead. */
const PATIENCE = 2.2;
const CLOSED = Object.freeze({ NOT_YOURS: 4403, GONE: 4410, TOO_FAST: 4429 });

export class Connection extends EventTarget {
  #ticketUrl;
  #headers;
  #socket = null;
  #ticketFetch = null;
  #lastEventId = 0;
  #acknowledged = 0;
  #failures = 0;
  #silenceMs = 0;
  #timers = new Map();
  #running = false;

  /** `headers` is called for each ticket, so that a token in them is never stale. */
  constructor(ticketUrl, headers = () => ({})) {
    super();
    this.#ticketUrl = ticketUrl;
    this.#headers = headers;
  }

  start() {
    if (this.#running) return;
    this.#running = true;
    globalThis.addEventListener("online", this.#wake);
    globalThis.addEventListener("offline", this.#sleep);
    document.addEventListener("visibilitychange", this.#look);
    this.#open();
  }

  stop() {
    this.#running = false;
    globalThis.removeEventListener("online", this.#wake);
    globalThis.removeEventListener("offline", this.#sleep);
    document.removeEventListener("visibilitychange", this.#look);
    this.#dropSocket();
  }

  /** After REFUSED: begin again at once. */
  retry() {
    this.stop();
    this.#failures = 0;
    this.start();
  }

  /** Send one frame; false when there is no open socket to take it. */
  send(type, data = {}) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify({ v: VERSION, type, data }));
    return true;
  }

  #wake = () => {
    if (this.#running && this.#socket === null) this.#open();
  };

  #sleep = () => {
    this.#dropSocket();
    this.#say(STATES.OFFLINE);
  };

  #look = () => {
    if (document.visibilityState === "visible" && this.#timers.has("reconnect")) this.#open();
  };

  async #open() {
    this.#dropSocket();
    this.#say(this.#failures || this.#lastEventId ? STATES.LOST : STATES.CONNECTING);
    const fetching = new AbortController();
    this.#ticketFetch = fetching;
    this.#after("ticket", TICKET_MS, () => fetching.abort());
    let address;
    try {
      address = await this.#ticket(fetching.signal);
    } catch (problem) {
      if (this.#ticketFetch !== fetching) return;
      if (problem instanceof Refused) this.#end(STATES.REFUSED);
      else this.#later();
      return;
    }
    if (this.#ticketFetch === fetching) this.#connect(address);
  }

  async #ticket(signal) {
    const answer = await fetch(this.#ticketUrl, {
      method: "POST",
      headers: { Accept: "application/json", ...this.#headers() },
      credentials: "same-origin",
      cache: "no-store",
      signal,
    });
    if (answer.status >= 400 && answer.status < 500 && ![408, 425, 429].includes(answer.status)) {
      throw new Refused(`no ticket: ${answer.status}`);
    }
    if (!answer.ok) throw new Error(`no ticket: ${answer.status}`);
    const address = new URL((await answer.json()).url, document.baseURI);
    address.protocol = address.protocol.replace(/^http/, "ws");
    address.searchParams.set("last_event_id", String(this.#lastEventId));
    return address;
  }

  #connect(address) {
    this.#cancel("ticket");
    const socket = new WebSocket(address, "handoff.v1");
    this.#socket = socket;
    this.#after("silence", OPENING_MS, () => this.#lost(socket, 0));
    socket.addEventListener("message", (event) => {
      if (socket === this.#socket) this.#take(event.data);
    });
    socket.addEventListener("close", (event) => this.#lost(socket, event.code));
  }

  #take(text) {
    const frame = JSON.parse(text);
    this.#heard();
    if (frame.type === "hello") {
      this.#silenceMs = frame.data.heartbeat_s * 1000 * PATIENCE;
      this.#heard();
      this.#after("stable", STABLE_MS, () => (this.#failures = 0));
      this.#say(STATES.OPEN);
      this.#tell("hello", frame);
    } else if (frame.type === "heartbeat") {
      this.send("pong");
    } else if (frame.type === "reset") {
      this.#lastEventId = 0;
      this.#acknowledged = 0;
      this.#tell("reset", frame);
    } else if (frame.id === undefined || frame.id === null) {
      this.#tell("frame", frame);
    } else if (frame.id > this.#lastEventId) {
      this.#lastEventId = frame.id;
      this.#after("ack", ACK_MS, () => this.#acknowledge());
      this.#tell("frame", frame);
    }
  }

  #heard() {
    if (this.#silenceMs) {
      const socket = this.#socket;
      this.#after("silence", this.#silenceMs, () => this.#lost(socket, 0));
    }
  }

  #acknowledge() {
    const last = this.#lastEventId;
    if (last > this.#acknowledged && this.send("ack", { last_event_id: last })) {
      this.#acknowledged = last;
    }
  }

  #lost(socket, code) {
    if (socket !== this.#socket) return;
    this.#dropSocket();
    if (!this.#running) return;
    if (code === CLOSED.GONE) this.#end(STATES.GONE);
    else if (code === CLOSED.NOT_YOURS) this.#end(STATES.REFUSED);
    else this.#later(code === CLOSED.TOO_FAST ? PAUSE_WHEN_TOO_FAST_MS : 0);
  }

  #later(least = 0) {
    this.#ticketFetch = null;
    if (navigator.onLine === false) return this.#say(STATES.OFFLINE);
    const ceiling = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#say(STATES.LOST);
    this.#after("reconnect", Math.max(least, ceiling * (0.5 + Math.random() / 2)), () =>
      this.#open(),
    );
  }

  #end(state) {
    this.stop();
    this.#say(state);
  }

  #dropSocket() {
    const socket = this.#socket;
    this.#socket = null;
    this.#silenceMs = 0;
    this.#ticketFetch?.abort();
    this.#ticketFetch = null;
    for (const name of [...this.#timers.keys()]) this.#cancel(name);
    socket?.close();
  }

  #after(name, ms, act) {
    this.#cancel(name);
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      act();
    }, ms);
    this.#timers.set(name, timer);
  }

  #cancel(name) {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  #say(state) {
    this.#tell("state", state);
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

class Refused extends Error {}
