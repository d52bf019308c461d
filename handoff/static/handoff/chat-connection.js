/**
 * One conversation over `handoff.v1`: tickets, reconnects, replay without a gap, heartbeat.
 *
 * Knows nothing of the page. Events: `state` (detail: `{state, code}`, one of STATES and why, a close
 * code of CLOSED or 0), `hello`, `reset`, `frame` (detail: a frame whose number has not been seen
 * before, or one without a number).
 */
import { socketAddress, TicketLate, TicketRefused } from "./chat-ticket.js";

export const STATES = Object.freeze({
  CONNECTING: "connecting",
  OPEN: "open",
  LOST: "lost",
  OFFLINE: "offline",
  REFUSED: "refused",
  GONE: "gone",
});

/** Close codes of the desk. `SWITCHED_OFF` is `NOT_YOURS` on a socket that was let in before. */
export const CLOSED = Object.freeze({
  TOO_BIG: 1009,
  BAD_FRAME: 4400,
  TICKET: 4401,
  NOT_YOURS: 4403,
  NO_PONG: 4408,
  GONE: 4410,
  TOO_FAST: 4429,
  UNAVAILABLE: 4503,
  SWITCHED_OFF: -4403,
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

export class Connection extends EventTarget {
  #getTicket;
  #socket = null;
  #ticketFetch = null;
  #conversation = null;
  #welcomed = false;
  #why = 0;
  #lastEventId = 0;
  #acknowledged = 0;
  #failures = 0;
  #silenceMs = 0;
  #timers = new Map();
  #running = false;

  /** `getTicket(signal)` is asked before each connection; see chat-ticket.js for its answer. */
  constructor(getTicket) {
    super();
    this.#getTicket = getTicket;
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

  /** Whether a conversation was ever open here. */
  get begun() {
    return this.#conversation !== null;
  }

  /** After REFUSED: begin again at once. */
  retry() {
    this.stop();
    this.#failures = 0;
    this.#why = 0;
    this.start();
  }

  /** Send one frame; false when no socket has said hello that could take it. */
  send(type, data = {}) {
    if (!this.#welcomed || this.#socket?.readyState !== WebSocket.OPEN) return false;
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
    this.#say(this.#failures || this.#conversation ? STATES.LOST : STATES.CONNECTING);
    const fetching = new AbortController();
    this.#ticketFetch = fetching;
    this.#after("ticket", TICKET_MS, () => {
      this.#later();
      fetching.abort();
    });
    try {
      const ticket = await this.#getTicket(fetching.signal);
      if (this.#ticketFetch === fetching) this.#connect(socketAddress(ticket, this.#lastEventId));
    } catch (problem) {
      if (this.#ticketFetch !== fetching) return;
      if (problem instanceof TicketRefused) {
        console.warn("handoff-chat:", problem.message);
        this.#end(STATES.REFUSED, CLOSED.TICKET);
      } else this.#later(problem instanceof TicketLate ? problem.pauseMs : 0);
    }
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
      this.#hello(frame);
    } else if (frame.type === "heartbeat") {
      this.send("pong");
    } else if (frame.type === "reset") {
      this.#forget(frame);
    } else if (frame.id === undefined || frame.id === null) {
      if (typeof frame.data.code === "number") console.warn("handoff-chat:", frame.data.error);
      else this.#tell("frame", frame);
    } else if (frame.id > this.#lastEventId) {
      this.#lastEventId = frame.id;
      this.#after("ack", ACK_MS, () => this.#acknowledge());
      this.#tell("frame", frame);
    }
  }

  #hello(frame) {
    const another = this.#conversation !== null && this.#conversation !== frame.conversation;
    this.#conversation = frame.conversation;
    if (another && this.#lastEventId) {
      // the page's visitor is somebody else now: nothing of the old conversation belongs here
      this.#forget(frame);
      this.#open();
      return;
    }
    this.#welcomed = true;
    this.#why = 0;
    this.#silenceMs = frame.data.heartbeat_s * 1000 * PATIENCE;
    this.#heard();
    this.#after("stable", STABLE_MS, () => (this.#failures = 0));
    this.#say(STATES.OPEN);
    this.#tell("hello", frame);
  }

  #forget(frame) {
    this.#lastEventId = 0;
    this.#acknowledged = 0;
    this.#tell("reset", frame);
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
    const welcomed = this.#welcomed;
    this.#dropSocket();
    if (!this.#running) return;
    this.#why = code;
    if (code === CLOSED.GONE) this.#end(STATES.GONE, code);
    else if (code === CLOSED.NOT_YOURS) {
      this.#end(STATES.REFUSED, welcomed ? CLOSED.SWITCHED_OFF : code);
    } else this.#later(code === CLOSED.TOO_FAST ? PAUSE_WHEN_TOO_FAST_MS : 0);
  }

  #later(least = 0) {
    this.#ticketFetch = null;
    this.#cancel("ticket");
    if (navigator.onLine === false) return this.#say(STATES.OFFLINE);
    const ceiling = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#say(STATES.LOST);
    this.#after("reconnect", Math.max(least, ceiling * (0.5 + Math.random() / 2)), () =>
      this.#open(),
    );
  }

  #end(state, code) {
    this.stop();
    this.#why = code;
    this.#say(state);
  }

  #dropSocket() {
    const socket = this.#socket;
    this.#socket = null;
    this.#silenceMs = 0;
    this.#welcomed = false;
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
    this.#tell("state", { state, code: this.#why });
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
