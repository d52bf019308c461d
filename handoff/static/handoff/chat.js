/**
 * `<handoff-chat ticket-url="…">`: one conversation with a bot, and with whom it hands over to.
 *
 *     <script type="module" src="https://desk.example.org/static/handoff/chat.js"></script>
 *     <handoff-chat ticket-url="/my-own/ticket" heading="Shop assistant"></handoff-chat>
 *
 * `ticket-url` is an address of the page's own backend. It answers a POST with what
 * `POST /api/v1/conversations/{id}/tickets` of the desk said for the role `subscriber`.
 * docs/chat-widget.md tells its attributes, properties, events, slots, parts and colours.
 */
import { cleaned, Composer, excess } from "./chat-composer.js";
import { CLOSED, Connection, STATES } from "./chat-connection.js";
import { Files, filesSheet } from "./chat-files.js";
import { Header, hide } from "./chat-header.js";
import { Log } from "./chat-log.js";
import { Outbox } from "./chat-outbox.js";
import { makeParts } from "./chat-parts.js";
import { Relays } from "./chat-relays.js";
import { sheet } from "./chat-style.js";
import { phrase, wordsFor } from "./chat-texts.js";
import { askForTicket } from "./chat-ticket.js";

const TOO_FAST_MS = 2_000;
const NEAR_END_PX = 80;
/** Why a connection is not there -> the text that says it, when that is more than its state. */
const REASONS = Object.freeze({
  [CLOSED.TICKET]: { [STATES.LOST]: "stale" },
  [CLOSED.NOT_YOURS]: { [STATES.REFUSED]: "notHere" },
  [CLOSED.SWITCHED_OFF]: { [STATES.REFUSED]: "switchedOff" },
  [CLOSED.NO_PONG]: { [STATES.LOST]: "quiet" },
  [CLOSED.TOO_FAST]: { [STATES.LOST]: "tooFast" },
  [CLOSED.UNAVAILABLE]: { [STATES.LOST]: "unreached" },
});
const STATE_TEXTS = Object.freeze({
  [STATES.CONNECTING]: "connecting",
  [STATES.OPEN]: "connected",
  [STATES.LOST]: "reconnecting",
  [STATES.OFFLINE]: "offline",
  [STATES.REFUSED]: "refused",
  [STATES.GONE]: "gone",
});
/** What the desk refuses for now, not for what the line says. */
const PASSING = new Set(["too_fast", "desk_unavailable"]);

class HandoffChat extends HTMLElement {
  #getTicket = null;
  #texts;
  #parts = null;
  #log;
  #relays;
  #header;
  #files;
  #connection = null;
  #outbox = new Outbox();
  #onItsWay = null;
  #state = STATES.CONNECTING;
  #caughtUpAt = 0;

  async connectedCallback() {
    if (Object.hasOwn(this, "getTicket")) {
      // set before this script was here
      const { getTicket } = this;
      delete this.getTicket;
      this.#getTicket = getTicket;
    }
    if (!this.#parts) {
      const words = await wordsFor(this);
      if (!this.#parts) this.#build(words);
    }
    this.#begin();
  }

  disconnectedCallback() {
    this.#connection?.stop();
    this.#connection = null;
  }

  /** The page's own way to a ticket: `async (signal) => ({url})`, instead of `ticket-url`. */
  get getTicket() {
    return this.#getTicket;
  }

  set getTicket(ask) {
    this.#getTicket = ask;
    this.#begin();
  }

  /** Say something as the visitor; kept until the desk has it. False when it cannot be said. */
  say(text) {
    return this.#say(text, []);
  }

  #say(text, files) {
    const said = cleaned(text);
    if (!said || excess(said) > 0) return false;
    this.#outbox.add(said, files);
    if (!this.#parts) return true;
    this.#showUnsent();
    this.#toEnd();
    this.#flush();
    return true;
  }

  focus(options) {
    this.#parts?.input.focus(options);
  }

  #build(words) {
    this.#texts = words.texts;
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet, filesSheet];
    const heading = this.getAttribute("heading");
    this.#parts = makeParts(root, words, heading);
    this.#header = new Header(this.#parts, this.#texts, heading);
    this.#log = new Log(this.#parts.list, words);
    this.#files = new Files(this.#parts, this.#texts, (signal) => this.#ticket(signal));
    this.#log.openFile = (file) => this.#files.open(file);
    this.#relays = new Relays(this.#log, this.#texts);
    const { back, retry, newer, scroller } = this.#parts;
    const composer = new Composer(this.#parts, this.#texts);
    composer.addEventListener("say", ({ detail }) => this.#say(detail, this.#files.take()));
    composer.addEventListener("typing", ({ detail }) => {
      this.#connection?.send("typing", { on: detail });
    });
    back.addEventListener("click", () => this.#onBack());
    retry.addEventListener("click", () => this.#connection?.retry());
    newer.addEventListener("click", () => this.#toEnd());
    scroller.addEventListener("scroll", () => {
      if (this.#isNearEnd()) hide(newer, scroller);
    });
    this.addEventListener("click", (event) => {
      const words = event.target.closest("[data-say]")?.dataset.say;
      if (words && this.say(words)) this.focus();
    });
  }

  #begin() {
    const way = this.#getTicket ?? this.getAttribute("ticket-url");
    if (!way || !this.#parts || !this.isConnected || this.#connection) return;
    this.#connection = new Connection((signal) => this.#ticket(signal));
    this.#connection.addEventListener("state", ({ detail }) => this.#onState(detail));
    this.#connection.addEventListener("hello", ({ detail }) => this.#onHello(detail));
    this.#connection.addEventListener("reset", () => this.#onReset());
    this.#connection.addEventListener("frame", ({ detail }) => this.#onFrame(detail));
    this.#onReset();
    this.#connection.start();
  }

  #ticket(signal) {
    if (this.#getTicket) return this.#getTicket(signal);
    const headers = {};
    const csrf = cookie(this.getAttribute("csrf-cookie"));
    if (csrf) headers["X-CSRFToken"] = csrf;
    const credentials = this.getAttribute("credentials") ?? "same-origin";
    const address = this.getAttribute("ticket-url");
    return askForTicket(address, { headers, credentials, signal });
  }

  // --- what the connection tells ------------------------------------------------------------

  #onState({ state, code }) {
    const { status, statusWords, retry, input } = this.#parts;
    this.#state = state;
    const first = state === STATES.LOST && !this.#connection?.begun ? "unreached" : null;
    const key = REASONS[code]?.[state] ?? first ?? STATE_TEXTS[state];
    status.dataset.state = state;
    if (statusWords.textContent !== this.#texts[key]) statusWords.textContent = this.#texts[key];
    if (state === STATES.REFUSED) retry.hidden = false;
    else hide(retry, input);
    this.#tell("state", { state, code: Math.abs(code) });
    if (state !== STATES.OPEN) this.#header.asked = false;
    this.#showWho();
    if (state === STATES.OPEN) return;
    if (code === CLOSED.BAD_FRAME || code === CLOSED.TOO_BIG) this.#refuse(this.#texts.badText);
    this.#onItsWay = null;
    this.#header.typing(false);
    this.#showUnsent();
  }

  #onHello(frame) {
    const { latest_event_id: latest, resumed_from: from } = frame.data;
    // who comes back has not heard what was said meanwhile; who comes first has history to read
    this.#caughtUpAt = from || latest || 0;
    if (this.#outbox.openFor(frame.conversation)) this.#onReset();
    this.#showWelcome();
    this.#showUnsent();
    this.#flush();
  }

  #onReset() {
    this.#log.clear();
    this.#relays.clear();
    this.#header.handoff = null;
    hide(this.#parts.newer, this.#parts.scroller);
    this.#showUnsent();
    this.#showWho();
    this.#showWelcome();
  }

  #onFrame(frame) {
    const stay = this.#isNearEnd();
    const isNew = frame.id > this.#caughtUpAt;
    // a screen reader hears what is new, not the whole history again
    if (frame.id) this.#parts.scroller.setAttribute("aria-live", isNew ? "polite" : "off");
    this.#show(frame, isNew);
    this.#showWelcome();
    if (stay) this.#toEnd();
    else if (frame.id) this.#parts.newer.hidden = false;
  }

  #show({ type, at, data }, isNew) {
    const handoff = data.handoff;
    const channel = handoff?.channel_label ?? "";
    const say = (key, values, kind) => this.#log.event(phrase(this.#texts[key], values), at, kind);
    switch (type) {
      case "message.created":
        this.#onMessage(data.message, isNew);
        break;
      case "message.routed":
        this.#relays.delivered(data.message);
        this.#showWho();
        break;
      case "message.relay_failed":
        if (this.#relays.failed(data.message) && this.#header.handoff) {
          say("failingNow", { channel: this.#header.handoff.channel_label }, "trouble");
        }
        this.#showWho();
        break;
      case "participant.joined":
        say("joined", { name: data.name }, "joined");
        break;
      case "participant.left":
        say("left", { name: data.name }, "left");
        break;
      case "handoff.started":
        this.#onStarted(handoff, at);
        this.#tell("handoff", { state: "started", channel, history: !isNew });
        break;
      case "handoff.failed":
        say("failed", {}, "end");
        this.#tell("handoff", { state: "failed", channel, history: !isNew });
        break;
      case "handoff.released":
        this.#log.ended(handoff, at);
        this.#onEnded(handoff, isNew);
        break;
      case "handoff.cancelled":
        say("cancelled", { channel }, "end");
        this.#onEnded(handoff, isNew);
        break;
      case "handoff.late_return":
        say("late", { channel }, "end");
        break;
      case "typing":
        this.#header.typing(data.on);
        break;
      case "error":
        this.#onError(data);
        break;
    }
  }

  #onMessage(message, isNew) {
    if (message.author === "subscriber") {
      if (this.#onItsWay === message.client_id) this.#onItsWay = null;
    } else {
      this.#header.typing(false);
    }
    this.#log.message(message);
    if (message.author === "subscriber") {
      this.#outbox.remove(message.client_id);
      this.#relays.stored(message);
    }
    const { author, name, text, at } = message;
    this.#tell("line", { author, name, text, at, history: !isNew });
    this.#flush();
  }

  #onStarted(handoff, at) {
    const words = phrase(this.#texts.started, { channel: handoff.channel_label });
    const when = handoff.estimated_response;
    if (when) words.push(" ", ...phrase(this.#texts.usually, { when }));
    this.#log.event(words, at, "start");
    this.#relays.began(handoff);
    // a replay tells of handoffs that are over already
    if (handoff.status === "active") this.#header.handoff = handoff;
    this.#showWho();
  }

  #onEnded(handoff, isNew) {
    this.#relays.ended(handoff);
    const channel = handoff.channel_label;
    this.#tell("handoff", { state: "ended", channel, history: !isNew });
    if (this.#header.handoff?.id === handoff.id) this.#header.handoff = null;
    this.#showWho();
  }

  /** A refusal belongs to the line on its way, unless it is about the handoff. */
  #onError({ code, error }) {
    if (code === "already_released") {
      this.#header.asked = false;
      return this.#showWho();
    }
    const later = PASSING.has(code);
    if (!later) this.#refuse(code === "invalid_arguments" ? this.#texts.badText : error);
    this.#onItsWay = null;
    this.#showUnsent(later ? this.#texts.soon : undefined);
    if (later) setTimeout(() => this.#flush(), TOO_FAST_MS);
    else this.#flush();
  }

  #refuse(reason) {
    const entry = this.#outbox.entries.find((one) => one.clientId === this.#onItsWay);
    if (entry) this.#outbox.refuse(entry, reason);
  }

  #onBack() {
    const { back, input } = this.#parts;
    if (back.getAttribute("aria-disabled") === "true") return;
    if (!this.#connection?.send("conversation.resume_bot")) return;
    this.#header.asked = true;
    this.#showWho();
    input.focus();
  }

  // --- what is on its way and what is shown -------------------------------------------------

  #flush() {
    const entry = this.#outbox.next;
    if (this.#onItsWay || !entry) return;
    const files = (entry.files ?? []).map(({ id }) => id);
    const line = { client_id: entry.clientId, text: entry.text, files };
    if (this.#connection?.send("message.send", line)) this.#onItsWay = entry.clientId;
    this.#showUnsent();
  }

  #showUnsent(fate) {
    const { again, remove, notSent, sending, waiting, gone } = this.#texts;
    const over = this.#state === STATES.GONE ? gone : "";
    for (const entry of this.#outbox.entries) {
      const reason = entry.refused || over;
      const actions = [{ label: remove, act: () => this.#giveUp(entry) }];
      if (!over) actions.unshift({ label: again, act: () => this.#again(entry) });
      if (reason) this.#log.unsent(entry, notSent.replace("{reason}", reason), actions);
      else this.#log.unsent(entry, fate ?? (this.#state === STATES.OPEN ? sending : waiting));
    }
    this.#showWelcome();
  }

  #again(entry) {
    this.#outbox.retry(entry);
    this.#showUnsent();
    this.#flush();
    this.focus();
  }

  #giveUp(entry) {
    this.#outbox.remove(entry.clientId);
    this.#log.forget(entry.clientId);
    this.#showWelcome();
    this.focus();
  }

  #showWelcome() {
    this.#parts.welcome.hidden = !this.#log.empty;
  }

  #showWho() {
    this.#header.show({
      open: this.#state === STATES.OPEN,
      over: [STATES.REFUSED, STATES.GONE].includes(this.#state),
      failing: this.#relays.failing,
    });
  }

  #isNearEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.#parts.scroller;
    return scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  }

  #toEnd() {
    const { scroller, newer } = this.#parts;
    scroller.scrollTop = scroller.scrollHeight;
    hide(newer, scroller);
  }

  /** An event of the element, `handoff-chat-…`, for the page. */
  #tell(name, detail) {
    const how = { detail, bubbles: true, composed: true };
    this.dispatchEvent(new CustomEvent(`handoff-chat-${name}`, how));
  }
}

/** The value of a cookie that scripts may read; "" when it is absent or not asked for. */
function cookie(name) {
  const pairs = document.cookie.split("; ").map((pair) => pair.split("="));
  const value = name && pairs.find(([key]) => key === name)?.[1];
  return value ? decodeURIComponent(value) : "";
}

customElements.define("handoff-chat", HandoffChat);
