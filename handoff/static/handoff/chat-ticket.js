/**
 * Gets the ticket of one socket. A ticket is used once and is good for a minute, so there is a new
 * one for each connection.
 */

/** Asking again would not help; the message says why, for developers. */
export class TicketRefused extends Error {}

/** Asking again may help, after `pauseMs`. */
export class TicketLate extends Error {
  constructor(message, pauseMs = 0) {
    super(message);
    this.pauseMs = pauseMs;
  }
}

const MAY_PASS = new Set([408, 425, 429]);
const LONGEST_PAUSE_MS = 60_000;

/**
 * POST to the page's own backend. Resolves to what it answered, `{url}` at least; raises
 * TicketRefused, TicketLate, or what `fetch` raises without a network.
 */
export async function askForTicket(address, { headers, credentials, signal }) {
  const answer = await fetch(address, {
    method: "POST",
    headers: { Accept: "application/json", ...headers },
    credentials,
    cache: "no-store",
    signal,
  });
  if (answer.status >= 400 && answer.status < 500 && !MAY_PASS.has(answer.status)) {
    throw new TicketRefused(`the ticket URL answered ${answer.status}`);
  }
  if (!answer.ok) {
    const seconds = Number(answer.headers.get("Retry-After")) || 0;
    const pause = Math.min(LONGEST_PAUSE_MS, seconds * 1000);
    throw new TicketLate(`the ticket URL answered ${answer.status}`, pause);
  }
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new TicketRefused("the ticket URL did not answer with JSON");
  }
}

/**
 * The address of the socket: absolute, or seen from the desk that served this script, since a desk
 * without a public address gives a path alone. Raises TicketRefused.
 */
export function socketAddress(answer, lastEventId) {
  const given = typeof answer === "string" ? answer : answer?.url;
  let address;
  try {
    address = new URL(given, import.meta.url);
  } catch {
    throw new TicketRefused("the ticket has no usable url");
  }
  address.protocol = address.protocol.replace(/^http/, "ws");
  if (!given || !/^wss?:$/.test(address.protocol)) {
    throw new TicketRefused("the ticket has no usable url");
  }
  address.searchParams.set("last_event_id", String(lastEventId));
  return address;
}
