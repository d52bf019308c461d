/**
 * `<handoff-chat ticket-url="…">`: one conversation with a bot, and with whom it hands over to.
 *
 *     <script type="module" src="https://desk.example.org/static/handoff/chat.js"></script>
 *     <handoff-chat ticket-url="/my-own/ticket" heading="Shop assistant"></handoff-chat>
 *
 * `ticket-url` is an address of the page's own site. It answers a POST with what
 * `POST /api/v1/conversations/{id}/tickets` of the desk said for the role `subscriber`.
 * Other attributes: `heading`; `csrf-cookie`, the cookie whose value goes along as `X-CSRFToken`;
 * `texts`, translations as JSON (see chat-texts.js). Slots: `welcome`, shown while nothing was
 * said; a button with the attribute `data-say` in it says that. Colours: `--handoff-chat-accent`
 * and the other properties at the top of chat-style.js.
 */
import { Connection, STATES } from "./chat-connection.js";
import { Log } from "./chat-log.js";
import { Outbox } from "./chat-outbox.js";
import { makeParts, sheet } from "./chat-style.js";
import { fill, textsFrom } from "./chat-texts.js";

const LONGEST_TEXT = 8000;
const TYPING_EVERY_MS = 3_000;
const TYPING_ENDS_MS = 4_000;
const TYPING_SHOWN_MS = 8_000;
const NEAR_END_PX = 80;

class HandoffChat extends HTMLElement {
  #texts;
  #parts;
  #log;
  #connection = null;
  #outbox = new Outbox();
  #onItsWay = null;
  #handoff = null;
  #caughtUpAt = 0;
  #typingSaid = 0;
  #typingEnds = 0;
  #typingShown = 0;

  connectedCallback() {
    if (!this.#parts) this.#build();
    this.#connection = new Connection(this.getAttribute("ticket-url") ?? "", () => this.#headers());
    this.#connection.addEventListener("state", ({ detail }) => this.#onState(detail));
    this.#connection.addEventListener("hello", ({ detail }) => this.#onHello(detail));
    this.#connection.addEventListener("reset", () => this.#onReset());
    this.#connection.addEventListener("frame", ({ detail }) => this.#onFrame(detail));
    this.#onReset();
    this.#connection.start();
  }

  disconnectedCallback() {
    this.#connection?.stop();
    this.#connection = null;
  }

  /** Say something as the visitor; kept until the desk has it. */
  say(text) {
    const cleaned = text.replace(/\r\n?/g, "\n").trim();
    if (!cleaned || [...cleaned].length > LONGEST_TEXT) return;
    this.#outbox.add(cleaned);
    this.#showUnsent();
    this.#toEnd();
    this.#flush();
  }

  #build() {
    this.#texts = textsFrom(this.getAttribute("texts"));
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet];
    this.#parts = makeParts(root, this.#texts, this.getAttribute("heading"));
    const language = this.closest("[lang]")?.lang || undefined;
    this.#log = new Log(this.#parts.list, this.#texts, language);
    const { form, input, back, retry, newer, scroller } = this.#parts;
    form.addEventListener("submit", (event) => this.#onSubmit(event));
    input.addEventListener("keydown", (event) => this.#onKey(event));
    input.addEventListener("input", () => this.#onInput());
    back.addEventListener("click", () => this.#onBack());
    retry.addEventListener("click", () => this.#connection?.retry());
    newer.addEventListener("click", () => this.#toEnd());
    scroller.addEventListener("scroll", () => (newer.hidden ||= this.#isNearEnd()));
    this.addEventListener("click", (event) => {
      const words = event.target.closest("[data-say]")?.dataset.say;
      if (words) this.say(words);
      if (words) input.focus();
    });
  }

  #headers() {
    const name = this.getAttribute("csrf-cookie");
    const pairs = document.cookie.split("; ").map((pair) => pair.split("="));
    const token = pairs.find(([key]) => name && key === name)?.[1];
    return token ? { "X-CSRFToken": decodeURIComponent(token) } : {};
  }

  // --- what the connection tells ------------------------------------------------------------

  #onState(state) {
    const { status, statusWords, retry } = this.#parts;
    const words = {
      [STATES.CONNECTING]: this.#texts.connecting,
      [STATES.OPEN]: this.#texts.connected,
      [STATES.LOST]: this.#texts.reconnecting,
      [STATES.OFFLINE]: this.#texts.offline,
      [STATES.REFUSED]: this.#texts.refused,
      [STATES.GONE]: this.#texts.gone,
    };
    status.dataset.state = state;
    statusWords.textContent = words[state];
    retry.hidden = state !== STATES.REFUSED;
    this.#parts.back.disabled = state !== STATES.OPEN;
    if (state === STATES.OPEN) return;
    this.#onItsWay = null;
    this.#showTyping("");
    this.#showUnsent();
  }

  #onHello(frame) {
    this.#caughtUpAt = frame.data.latest_event_id ?? 0;
    this.#outbox.openFor(frame.conversation);
    this.#showWelcome();
    this.#showUnsent();
    this.#flush();
  }

  #onReset() {
    this.#log.clear();
    this.#handoff = null;
    this.#parts.newer.hidden = true;
    this.#showUnsent();
    this.#showWho();
    this.#showWelcome();
  }

  #onFrame(frame) {
    const stay = this.#isNearEnd();
    const isNew = frame.id > this.#caughtUpAt;
    // a screen reader hears what is new, not the whole history again
    this.#parts.scroller.setAttribute("aria-live", isNew ? "polite" : "off");
    this.#show(frame);
    this.#showWelcome();
    if (stay) this.#toEnd();
    else if (frame.id) this.#parts.newer.hidden = false;
  }

  #show({ type, at, data }) {
    const handoff = data.handoff;
    const channel = handoff?.channel_label ?? "";
    switch (type) {
      case "message.created":
        this.#onMessage(data.message);
        break;
      case "message.routed":
        this.#log.delivered(data.message, this.#handoff?.channel_label ?? "");
        break;
      case "participant.joined":
        this.#log.event(fill(this.#texts.joined, { name: data.name }), at, "joined");
        break;
      case "participant.left":
        this.#log.event(fill(this.#texts.left, { name: data.name }), at, "left");
        break;
      case "handoff.started":
        this.#onStarted(handoff, at);
        break;
      case "handoff.failed":
        this.#log.event(this.#texts.failed, at, "end");
        break;
      case "handoff.released":
        this.#log.ended(handoff, at);
        this.#onEnded(handoff);
        break;
      case "handoff.cancelled":
        this.#log.event(fill(this.#texts.cancelled, { channel }), at, "end");
        this.#onEnded(handoff);
        break;
      case "handoff.late_return":
        this.#log.event(fill(this.#texts.late, { channel }), at, "end");
        break;
      case "typing":
        this.#showTyping(data.on ? this.#talkingTo() : "");
        break;
      case "error":
        this.#onError(data);
        break;
    }
  }

  #onMessage(message) {
    if (message.author === "subscriber") {
      if (this.#outbox.remove(message.client_id)) this.#log.forget(message.client_id);
      if (this.#onItsWay === message.client_id) this.#onItsWay = null;
    } else {
      this.#showTyping("");
    }
    this.#log.message(message);
    this.#flush();
  }

  #onStarted(handoff, at) {
    const when = handoff.estimated_response;
    const words = fill(this.#texts.started, { channel: handoff.channel_label });
    const usually = when ? ` ${fill(this.#texts.usually, { when })}` : "";
    this.#log.event(words + usually, at, "start");
    this.#handoff = handoff;
    this.#showWho();
  }

  #onEnded(handoff) {
    if (this.#handoff?.id !== handoff.id) return;
    this.#handoff = null;
    this.#showTyping("");
    this.#showWho();
  }

  /**
   * A number is a close code: the line on its way stays and is sent again after the reconnect.
   * A word leaves the socket open and belongs to that line, unless it is about the handoff.
   */
  #onError({ code, error }) {
    if (typeof code === "number") return;
    if (code === "already_released") return this.#showWho();
    const entry = this.#outbox.entries.find((one) => one.clientId === this.#onItsWay);
    this.#onItsWay = null;
    if (!entry) return;
    this.#outbox.refuse(entry, error);
    this.#showUnsent();
    this.#flush();
  }

  // --- what the visitor does ----------------------------------------------------------------

  #onSubmit(event) {
    event.preventDefault();
    const { input } = this.#parts;
    if (this.#tooLong() > 0) return;
    const text = input.value;
    input.value = "";
    this.#stopTyping();
    this.say(text);
    input.focus();
  }

  #onKey(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#parts.form.requestSubmit();
  }

  #onInput() {
    const { input, limit } = this.#parts;
    const over = this.#tooLong();
    limit.textContent = over > 0 ? fill(this.#texts.tooLong, { count: over }) : "";
    input.setAttribute("aria-invalid", String(over > 0));
    clearTimeout(this.#typingEnds);
    this.#typingEnds = setTimeout(() => this.#stopTyping(), TYPING_ENDS_MS);
    if (!input.value.trim()) return this.#stopTyping();
    if (performance.now() - this.#typingSaid < TYPING_EVERY_MS && this.#typingSaid) return;
    if (this.#connection?.send("typing", { on: true })) this.#typingSaid = performance.now();
  }

  #tooLong() {
    return [...this.#parts.input.value.trim()].length - LONGEST_TEXT;
  }

  #stopTyping() {
    clearTimeout(this.#typingEnds);
    if (this.#typingSaid) this.#connection?.send("typing", { on: false });
    this.#typingSaid = 0;
  }

  #onBack() {
    const { back } = this.#parts;
    if (!this.#connection?.send("conversation.resume_bot")) return;
    back.disabled = true;
    back.textContent = this.#texts.backAsked;
    this.#parts.input.focus();
  }

  // --- what is on its way and what is shown -------------------------------------------------

  #flush() {
    const entry = this.#outbox.next;
    if (this.#onItsWay || !entry) return;
    const { clientId: client_id, text } = entry;
    if (this.#connection?.send("message.send", { client_id, text })) this.#onItsWay = client_id;
    this.#showUnsent();
  }

  #showUnsent() {
    const open = this.#parts.status.dataset.state === STATES.OPEN;
    for (const entry of this.#outbox.entries) {
      if (entry.refused) {
        this.#log.unsent(entry, fill(this.#texts.notSent, { reason: entry.refused }), [
          { label: this.#texts.again, act: () => this.#again(entry) },
          { label: this.#texts.remove, act: () => this.#giveUp(entry) },
        ]);
      } else {
        this.#log.unsent(entry, open ? this.#texts.sending : this.#texts.waiting);
      }
    }
    this.#showWelcome();
  }

  #again(entry) {
    this.#outbox.retry(entry);
    this.#showUnsent();
    this.#flush();
    this.#parts.input.focus();
  }

  #giveUp(entry) {
    this.#outbox.remove(entry.clientId);
    this.#log.forget(entry.clientId);
    this.#showWelcome();
    this.#parts.input.focus();
  }

  #showWelcome() {
    this.#parts.welcome.hidden = !this.#log.empty;
  }

  #showWho() {
    const { who, back, chat } = this.#parts;
    const channel = this.#handoff?.channel_label;
    who.textContent = channel ? fill(this.#texts.withPeople, { channel }) : this.#texts.withBot;
    chat.dataset.with = channel ? "people" : "bot";
    back.hidden = !channel;
    back.disabled = this.#parts.status.dataset.state !== STATES.OPEN;
    back.textContent = this.#texts.back;
  }

  #talkingTo() {
    return this.#handoff?.channel_label || this.getAttribute("heading") || this.#texts.bot;
  }

  #showTyping(name) {
    clearTimeout(this.#typingShown);
    this.#parts.typing.textContent = name ? fill(this.#texts.typing, { name }) : "";
    if (name) this.#typingShown = setTimeout(() => this.#showTyping(""), TYPING_SHOWN_MS);
  }

  #isNearEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.#parts.scroller;
    return scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  }

  #toEnd() {
    const { scroller, newer } = this.#parts;
    scroller.scrollTop = scroller.scrollHeight;
    newer.hidden = true;
  }
}

customElements.define("handoff-chat", HandoffChat);
