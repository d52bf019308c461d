/** The skeleton of the chat. The names in `part` are for the page's own styles. */
import { button, element } from "./chat-elements.js";

/** Builds it into a shadow root; returns the elements that change, by name. */
export function makeParts(root, { texts, language, direction }, heading) {
  const chat = element("section", "chat");
  chat.setAttribute("part", "chat");
  chat.setAttribute("aria-labelledby", "title");
  chat.lang = language;
  chat.dir = direction;
  const header = makeHeader(texts, heading);
  const status = makeStatus(texts);
  const middle = makeMiddle(texts);
  const typing = element("p", "typing");
  typing.setAttribute("role", "status");
  const form = makeForm(texts);
  chat.append(header.header, status.status, middle.middle, typing, form.form);
  root.append(chat);
  return { chat, ...header, ...status, ...middle, typing, ...form };
}

function makeHeader(texts, heading) {
  const header = element("header", "header");
  header.setAttribute("part", "header");
  const title = element("h2", "title");
  title.append(element("bdi", "", heading || texts.heading));
  title.id = "title";
  title.setAttribute("part", "title");
  const who = element("p", "with", texts.withBot);
  who.setAttribute("role", "status");
  const back = button("back", texts.back);
  back.setAttribute("part", "button back");
  back.hidden = true;
  const names = element("div", "names");
  names.append(title, who);
  header.append(names, back);
  return { header, who, back };
}

function makeStatus(texts) {
  const status = element("div", "status");
  status.setAttribute("part", "status");
  status.setAttribute("role", "status");
  const statusWords = element("span", "words");
  const retry = button("small", texts.again);
  retry.setAttribute("part", "button");
  retry.hidden = true;
  status.append(statusWords, retry);
  return { status, statusWords, retry };
}

function makeMiddle(texts) {
  const middle = element("div", "middle");
  const welcome = element("div", "welcome");
  const slot = element("slot");
  slot.name = "welcome";
  welcome.append(slot);
  const list = element("ol", "lines");
  const scroller = element("div", "scroller");
  scroller.setAttribute("part", "log");
  scroller.setAttribute("role", "log");
  scroller.setAttribute("aria-label", texts.log);
  scroller.tabIndex = 0;
  scroller.append(welcome, list);
  const newer = button("newer", texts.newLines);
  newer.setAttribute("part", "button");
  newer.hidden = true;
  middle.append(scroller, newer);
  return { middle, scroller, list, welcome, newer };
}

/** `tools` stands between the box and Send, and is empty: buttons of the box belong into it. */
function makeForm(texts) {
  const form = element("form", "form");
  form.setAttribute("part", "form");
  const input = element("textarea", "input");
  input.id = "input";
  input.rows = 1;
  input.dir = "auto";
  input.placeholder = texts.write;
  input.enterKeyHint = "send";
  input.setAttribute("part", "input");
  input.setAttribute("aria-label", texts.write);
  input.setAttribute("aria-describedby", "limit hint");
  const tools = element("div", "tools");
  const send = button("send", texts.send);
  send.type = "submit";
  send.setAttribute("part", "button send");
  const limit = element("p", "limit");
  limit.id = "limit";
  limit.setAttribute("role", "status");
  const hint = element("p", "hint", texts.hint);
  hint.id = "hint";
  const entry = element("div", "entry");
  entry.append(input, tools, send);
  form.append(limit, entry, hint);
  return { form, input, tools, send, limit };
}
