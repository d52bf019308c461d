/**
 * Every word of the chat in English. A page translates them by the attribute `texts`: a JSON object
 * with some or all of these keys. `{name}` is a blank to be filled.
 */
export const TEXTS = Object.freeze({
  heading: "Chat",
  log: "Conversation",
  write: "Write a message",
  send: "Send",
  hint: "Enter sends, Shift and Enter starts a new line.",
  you: "You",
  bot: "Bot",
  person: "Person",
  sibling: "Other bot",
  system: "Notice",
  withBot: "You are talking to the bot.",
  withPeople: "You are talking to {channel}.",
  back: "Back to the bot",
  backAsked: "Going back…",
  newLines: "New messages",
  sending: "Sending…",
  waiting: "Will be sent when the connection is back.",
  notSent: "Not sent: {reason}",
  again: "Try again",
  remove: "Remove",
  delivered: "Delivered to {channel}",
  tooLong: "Too long by {count} characters.",
  connecting: "Connecting…",
  connected: "Connected",
  reconnecting: "The connection was lost. Trying again…",
  offline: "You are offline. The chat goes on when the network is back.",
  refused: "The chat could not be opened. Reload the page or try again.",
  gone: "This conversation is no longer here.",
  typing: "{name} is writing…",
  joined: "{name} joined",
  left: "{name} left",
  started: "You are now with {channel}. Your messages go to them.",
  usually: "They usually reply {when}.",
  failed: "Nobody could be reached. You are still with the bot.",
  answered: "{channel} has answered. You are back with the bot.",
  released: "{channel} has handed back. You are with the bot again.",
  asked: "You are back with the bot.",
  idle: "Nothing was heard from {channel} for a while. You are back with the bot.",
  unreachable: "{channel} could not be reached after all. You are back with the bot.",
  cancelled: "The handoff to {channel} was cancelled. You are back with the bot.",
  late: "{channel} has answered after all.",
});

/**
 * What somebody wrote, for display: bidirectional overrides and isolates show as `\u202e`. They
 * could make a line read as something else; the desk's own pages do the same.
 */
export function visible(text) {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (found) => {
    return `\\u${found.charCodeAt(0).toString(16)}`;
  });
}

/** `template` with each `{name}` replaced by `values.name`. */
export function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (blank, name) => visible(`${values[name] ?? blank}`));
}

/** The texts of one chat: the English ones, and what the page gives instead. */
export function textsFrom(json) {
  if (!json) return TEXTS;
  try {
    const given = JSON.parse(json);
    const known = Object.entries(given).filter(
      ([key, text]) => key in TEXTS && typeof text === "string",
    );
    return { ...TEXTS, ...Object.fromEntries(known) };
  } catch {
    return TEXTS;
  }
}
