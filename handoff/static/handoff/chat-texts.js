/**
 * The words of the chat: English ones, the way to those of six more languages, and how a blank in
 * them is filled. A page changes any of them by the attribute `texts`: a JSON object with some of
 * these keys. `{name}` is a blank.
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
  soon: "Will be sent in a moment.",
  notSent: "Not sent: {reason}",
  badText: "the desk does not take this text.",
  again: "Try again",
  remove: "Remove",
  delivered: "Delivered to {channel}",
  slow: "Not delivered to {channel} yet. Still trying…",
  undelivered: "Not delivered to {channel}",
  failing: "Your messages are not reaching {channel} at the moment.",
  failingNow:
    "Your last message could not be delivered to {channel}. You can write again or go back to the bot.",
  tooLong: "Too long by {count} characters.",
  connecting: "Connecting…",
  connected: "Connected",
  reconnecting: "The connection was lost. Trying again…",
  unreached: "The chat cannot be reached at the moment. Trying again…",
  stale: "The pass for this chat has run out. Getting a new one…",
  quiet: "Nothing was heard from this page for a while. Connecting again…",
  tooFast: "Too much at once, or this chat is open too often. Trying again shortly…",
  offline: "You are offline. The chat goes on when the network is back.",
  refused: "The chat could not be opened. Reload the page or try again.",
  notHere: "This website is not allowed to show this chat.",
  switchedOff: "This chat is switched off at the moment.",
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
  attach: "Attach files",
  fileOnItsWay: "{name}: on its way…",
  fileRemove: "Remove {name}",
  fileTooBig: "{name} is too large: at most 10 MB.",
  filesTooMany: "At most 5 files at once.",
  fileNotTaken: "{name} can’t be sent: this kind of file is not taken.",
  fileFailed: "{name} could not be sent. Please try again.",
  fileWait: "One moment: a file is still on its way.",
  fileGone: "{name} is no longer there.",
});

/** Literal addresses: collecting static files puts the hashed names in their place. */
const WORDS = Object.freeze({
  ar: () => import("./chat-words-ar.js"),
  de: () => import("./chat-words-de.js"),
  es: () => import("./chat-words-es.js"),
  fr: () => import("./chat-words-fr.js"),
  ja: () => import("./chat-words-ja.js"),
  pt: () => import("./chat-words-pt.js"),
});
const RIGHT_TO_LEFT = new Set(["ar", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"]);

/**
 * `{texts, language, direction}` for a chat element: the first language that we know of its own
 * `lang`, the page's, the browser's, else English. Words that do not load are English ones.
 */
export async function wordsFor(element) {
  const given = ownTexts(element.getAttribute("texts"));
  const wished = [
    element.lang,
    element.parentElement?.closest("[lang]")?.lang,
    document.documentElement.lang,
    ...(navigator.languages ?? []),
  ].filter(Boolean);
  // a page that brings its words may speak a language that we do not
  const known = (tag) => primary(tag) === "en" || Object.hasOwn(WORDS, primary(tag));
  const language = (given && wished[0]) || wished.find(known) || "en";
  let words = TEXTS;
  try {
    words = (await WORDS[primary(language)]?.())?.default ?? TEXTS;
  } catch (problem) {
    console.warn("handoff-chat: its words did not load", problem);
  }
  return {
    texts: { ...TEXTS, ...words, ...given },
    language: language.replaceAll("_", "-"),
    direction: RIGHT_TO_LEFT.has(primary(language)) ? "rtl" : "ltr",
  };
}

function primary(tag) {
  return tag.toLowerCase().split(/[-_]/)[0];
}

/** What the page gives instead of our words; null when that is nothing. */
function ownTexts(json) {
  if (!json) return null;
  try {
    return Object.fromEntries(
      Object.entries(JSON.parse(json)).filter(
        ([key, text]) => Object.hasOwn(TEXTS, key) && typeof text === "string",
      ),
    );
  } catch {
    console.warn("handoff-chat: the attribute texts is not a JSON object");
    return null;
  }
}

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

/** The same as nodes: what fills a blank cannot turn the words around it. */
export function phrase(template, values) {
  return template.split(/(\{\w+\})/).map((piece) => {
    const value = values[/^\{(\w+)\}$/.exec(piece)?.[1]];
    if (value === undefined) return piece;
    const isolated = document.createElement("bdi");
    isolated.textContent = visible(`${value}`);
    return isolated;
  });
}
