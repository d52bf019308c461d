/**
 * The look of the chat.
 *
 * A constructed sheet works under the strictest Content-Security-Policy, on any site, without a
 * second request. The page's `color-scheme` decides between light and dark, or the attribute
 * `scheme`. A page may set the properties that begin with `--handoff-chat-`, and style the parts.
 */
export const sheet = new CSSStyleSheet();
sheet.replaceSync(`
:host {
  --sheet: var(--handoff-chat-sheet, light-dark(#ffffff, #1a2129));
  --sunken: var(--handoff-chat-sunken, light-dark(#f5f7fa, #141a20));
  --ink: var(--handoff-chat-ink, light-dark(#18222d, #e7ebf0));
  --quiet: var(--handoff-chat-quiet, light-dark(#50606f, #a8b4c0));
  --line: var(--handoff-chat-line, light-dark(#d3dbe3, #333e49));
  --edge: var(--handoff-chat-edge, light-dark(#74828f, #8391a0));
  --accent: var(--handoff-chat-accent, light-dark(#14548f, #82b7ee));
  --on-accent: var(--handoff-chat-on-accent, light-dark(#ffffff, #0c1a29));
  --person: var(--handoff-chat-person, light-dark(#17633e, #83d3a7));
  --person-soft: var(--handoff-chat-person-soft, light-dark(#e2f3e9, #17311f));
  --note-soft: var(--handoff-chat-note-soft, light-dark(#fcf1da, #36290f));
  --note: var(--handoff-chat-note, light-dark(#744700, #f0c26f));
  --bad: var(--handoff-chat-bad, light-dark(#a1261b, #ff9f93));
  --round: var(--handoff-chat-round, 0.875rem);
  --code: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  display: block;
  block-size: 34rem;
  min-inline-size: 0;
  color: var(--ink);
  line-height: 1.45;
  overflow-wrap: anywhere;
}
:host([scheme="light"]) { color-scheme: light; }
:host([scheme="dark"]) { color-scheme: dark; }
:host([scheme="auto"]) { color-scheme: light dark; }
:host([hidden]), [hidden] { display: none !important; }
*, *::before, *::after { box-sizing: border-box; }
p, h2, ol { margin: 0; padding: 0; }
button, textarea { font: inherit; color: inherit; }
button { cursor: pointer; }
button[aria-disabled="true"] { cursor: default; opacity: 0.6; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }

.chat {
  position: relative;
  container-type: inline-size;
  display: flex;
  flex-direction: column;
  block-size: 100%;
  border: 1px solid var(--line);
  border-radius: var(--round);
  background: var(--sheet);
  overflow: hidden;
}
.header {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.5rem 1rem;
  padding: 0.75rem 1rem;
  border-block-end: 1px solid var(--line);
}
.names { flex: 1 1 10rem; min-inline-size: 0; }
.title { font-size: 1.0625rem; font-weight: 660; line-height: 1.3; }
.with { color: var(--quiet); font-size: 0.875rem; }
.with:empty { display: none; }
.with::before {
  content: "";
  display: inline-block;
  inline-size: 0.55em;
  block-size: 0.55em;
  margin-inline-end: 0.45em;
  border-radius: 50%;
  background: var(--accent);
}
[data-with="people"] .with { color: var(--person); font-weight: 600; }
[data-with="people"] .with::before { background: var(--person); }
[data-with="failing"] .with { color: var(--bad); font-weight: 600; }
[data-with="failing"] .with::before { background: var(--bad); }
.back, .small, .newer {
  min-block-size: 2.25rem;
  padding: 0.25rem 0.85rem;
  border: 1px solid var(--edge);
  border-radius: 0.5rem;
  background: var(--sheet);
  font-size: 0.875rem;
  font-weight: 600;
}
.back:not([aria-disabled="true"]):hover, .small:hover, .newer:hover { border-color: var(--accent); color: var(--accent); }
.small { min-block-size: 1.75rem; padding: 0.1rem 0.6rem; color: var(--ink); }

.status {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.5rem;
  padding: 0.5rem 1rem;
  background: var(--note-soft);
  color: var(--note);
  font-size: 0.875rem;
}
.status[data-state="open"], .status[data-state="connecting"], .status:not([data-state]) {
  position: absolute;
  inline-size: 1px;
  block-size: 1px;
  padding: 0;
  overflow: hidden;
  clip-path: inset(50%);
}

.middle { position: relative; flex: 1; min-block-size: 0; }
.scroller {
  position: relative;
  block-size: 100%;
  padding: 1rem;
  overflow-y: auto;
  overscroll-behavior: contain;
  background: var(--sunken);
}
.scroller:focus-visible { outline-offset: -3px; }
.lines { display: flex; flex-direction: column; gap: 0.75rem; list-style: none; }
.newer {
  position: absolute;
  inset-block-end: 0.75rem;
  inset-inline: 0;
  inline-size: max-content;
  margin-inline: auto;
  border-radius: 2rem;
  box-shadow: 0 2px 8px rgb(0 0 0 / 20%);
}
.welcome { display: flex; flex-direction: column; align-items: start; gap: 0.5rem; }

.line { max-inline-size: min(85%, 34rem); align-self: start; }
.line.you { align-self: end; }
.line:has(> .follows) { margin-block-start: -0.45rem; }
.who {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0 0.4rem;
  margin-block-end: 0.2rem;
  color: var(--quiet);
  font-size: 0.8125rem;
}
.you .who { justify-content: end; }
.follows, .you .name {
  position: absolute;
  inline-size: 1px;
  block-size: 1px;
  overflow: hidden;
  clip-path: inset(50%);
}
.name { color: var(--ink); font-weight: 640; }
.role { padding: 0 0.45em; border: 1px solid var(--line); border-radius: 1em; font-size: 0.75rem; }
.icon { inline-size: 1.05rem; block-size: 1.05rem; fill: var(--accent); }
.person .icon { fill: var(--person); }
.bubble {
  inline-size: fit-content;
  max-inline-size: 100%;
  padding: 0.55rem 0.85rem;
  border: 1px solid var(--line);
  border-radius: 1rem;
  border-start-start-radius: 0.3rem;
  background: var(--sheet);
  white-space: pre-wrap;
  unicode-bidi: plaintext;
}
.person .bubble { border-color: transparent; background: var(--person-soft); }
.sibling .bubble { border-style: dashed; }
.you .bubble {
  margin-inline-start: auto;
  border-color: transparent;
  border-radius: 1rem;
  border-end-end-radius: 0.3rem;
  background: var(--accent);
  color: var(--on-accent);
}
.unsent .bubble { background: color-mix(in srgb, var(--accent) 85%, var(--sheet)); }
.failed .bubble { border: 2px solid var(--bad); background: var(--sheet); color: var(--ink); }
.fate { margin-block-start: 0.2rem; color: var(--quiet); font-size: 0.8125rem; text-align: end; }
:is(.failed, [data-fate="undelivered"]) .fate { color: var(--bad); font-weight: 600; }
[data-fate="undelivered"] .bubble { outline: 2px solid var(--bad); }

.event {
  display: flex;
  align-items: center;
  gap: 0.75rem;
  color: var(--quiet);
  font-size: 0.8125rem;
  text-align: center;
}
.event::before, .event::after { content: ""; flex: 1 0 0.75rem; block-size: 1px; background: var(--line); }
.event time { display: none; }
.event.start, .event.joined { color: var(--person); }
.event.trouble { color: var(--bad); font-weight: 600; }

.notice {
  padding: 0.65rem 0.9rem;
  border: 1px solid var(--line);
  border-radius: 0.6rem;
  background: var(--sheet);
}
.note { border-color: color-mix(in srgb, var(--note) 45%, transparent); background: var(--note-soft); }
.notice .who { justify-content: space-between; }
.note .name { color: var(--note); }
.notice .text { white-space: pre-wrap; unicode-bidi: plaintext; }
.note .text { font: 0.875rem/1.55 var(--code); }
.note .first { font-weight: 600; }

.typing {
  min-block-size: 1.5rem;
  padding: 0 1rem;
  background: var(--sunken);
  color: var(--quiet);
  font-size: 0.8125rem;
}
.form { padding: 0.75rem 1rem; border-block-start: 1px solid var(--line); }
.entry { display: flex; align-items: end; gap: 0.5rem; }
.input {
  flex: 1;
  min-inline-size: 0;
  min-block-size: 2.75rem;
  max-block-size: 9rem;
  padding: 0.55rem 0.75rem;
  border: 1px solid var(--edge);
  border-radius: 0.6rem;
  background: var(--sheet);
  font-size: max(1rem, 16px);
  resize: none;
  field-sizing: content;
}
.input::placeholder { color: var(--quiet); opacity: 1; }
.input:focus-visible { outline-offset: 0; }
.input[aria-invalid="true"] { border-color: var(--bad); }
.tools { display: flex; gap: 0.25rem; }
.tools:empty { display: none; }
.send {
  min-block-size: 2.75rem;
  padding: 0.5rem 1.1rem;
  border: 1px solid var(--accent);
  border-radius: 0.6rem;
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 640;
}
.send:hover { filter: brightness(1.1); }
.hint, .limit { color: var(--quiet); font-size: 0.75rem; }
.hint { margin-block-start: 0.35rem; }
.limit:not(:empty) { margin-block-end: 0.35rem; color: var(--bad); font-weight: 600; }

@container (max-width: 26rem) {
  .scroller, .form, .header, .status, .typing { padding-inline: 0.75rem; }
  .line { max-inline-size: 92%; }
  .send { padding-inline: 0.8rem; }
}
@media (hover: none) { .hint { display: none; } }
@media (prefers-reduced-motion: no-preference) {
  .lines > li { animation: appear 0.16s ease-out; }
  @keyframes appear { from { opacity: 0; translate: 0 0.35rem; } }
}
@media (forced-colors: active) {
  .bubble, .notice { border: 1px solid CanvasText; }
  .failed .bubble { border-style: dashed; }
  .icon { fill: CanvasText; }
  .with::before { forced-color-adjust: none; background: CanvasText; }
  .event::before, .event::after { background: CanvasText; }
  .send { border-color: ButtonText; }
}
`);
