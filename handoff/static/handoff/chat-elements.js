/** Makes the elements of the chat. All text goes in as text, never as markup. */
import { visible } from "./chat-texts.js";

const SVG = "http://www.w3.org/2000/svg";
const ICONS = Object.freeze({
  bot: "M9 3h2v3h4a3 3 0 0 1 3 3v6a3 3 0 0 1-3 3H5a3 3 0 0 1-3-3V9a3 3 0 0 1 3-3h4zM7 10.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3m6 0a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3",
  clip: "M14.6 6v7.4a4.6 4.6 0 0 1-9.2 0V5.2a3.2 3.2 0 0 1 6.4 0v7.9a1.8 1.8 0 0 1-3.6 0V6h1.4v7.1a.4.4 0 0 0 .8 0V5.2a1.8 1.8 0 0 0-3.6 0v8.2a3.2 3.2 0 0 0 6.4 0V6z",
  person: "M10 2.5a4 4 0 1 1 0 8 4 4 0 0 1 0-8M10 12c4.4 0 7.5 2.2 7.5 5.5h-15C2.5 14.2 5.6 12 10 12",
});

export function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = visible(text);
  return made;
}

export function button(className, label) {
  const made = element("button", className, label);
  made.type = "button";
  return made;
}

/** `name` is one of ICONS; hidden from screen readers, as words stand beside it. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}
