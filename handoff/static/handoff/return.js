// Comfort for the return form; everything works without it. It never sends the form by itself.
"use strict";

(() => {
  const TOLD_EVERY_MS = 60_000;
  const SETTLED_MS = 700;
  const NEARLY_FULL = 0.9;

  const form = document.getElementById("answer");

  const later = (act) => {
    let timer;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(act, SETTLED_MS);
    };
  };

  // A person is here: the first touch, key or scroll says so, typing keeps saying so.
  const tellOpened = (address) => {
    let told = -Infinity;
    return () => {
      const now = performance.now();
      if (now - told < TOLD_EVERY_MS) return;
      told = now;
      fetch(address, { method: "POST", keepalive: true }).catch(() => {
        told = -Infinity;
      });
    };
  };

  const watchPerson = () => {
    const address = form.dataset.opened;
    if (!address) return;
    const tell = tellOpened(address);
    for (const sign of ["pointerdown", "pointermove", "keydown", "scroll", "touchstart"]) {
      addEventListener(sign, (event) => event.isTrusted && tell(), { once: true, passive: true });
    }
    form.addEventListener("input", tell);
  };

  const growing = (area) => {
    if (CSS.supports("field-sizing", "content")) return;
    const grow = () => {
      area.style.blockSize = "auto";
      area.style.blockSize = `${area.scrollHeight + 2}px`;
    };
    area.addEventListener("input", grow);
    grow();
  };

  // Says how much is left only when the limit is near, and only when typing pauses.
  const counting = (area) => {
    const limit = Number(area.dataset.limit);
    const status = document.createElement("p");
    status.className = "hint";
    status.setAttribute("role", "status");
    area.after(status);
    const say = later(() => {
      const length = [...area.value.trim()].length;
      status.textContent = length < limit * NEARLY_FULL ? "" : `${length} / ${limit}`;
    });
    area.addEventListener("input", say);
  };

  const countAnswers = () => {
    const status = document.getElementById("answered-count");
    if (!status) return;
    const say = later(() => {
      const filled = new Set();
      for (const input of form.querySelectorAll("[data-question]")) {
        const counts = input.type === "radio" ? input.checked && input.value : input.value.trim();
        if (counts) filled.add(input.name);
      }
      const words = status.dataset.words.replace("{answered}", filled.size);
      if (status.textContent !== words) status.textContent = words;
    });
    form.addEventListener("input", say);
    addEventListener("pageshow", say);
  };

  const warnBeforeLeaving = () => {
    let touched = document.getElementById("problems") !== null;
    form.addEventListener("input", () => {
      touched = true;
    });
    form.addEventListener("submit", () => {
      touched = false;
    });
    addEventListener("beforeunload", (event) => {
      if (touched) event.preventDefault();
    });
  };

  const focusProblems = () => {
    const problems = document.getElementById("problems");
    if (!problems) return;
    problems.focus();
    for (const link of problems.querySelectorAll("a")) {
      link.addEventListener("click", (event) => {
        const target = document.getElementById(link.hash.slice(1));
        if (!target) return;
        event.preventDefault();
        target.focus({ preventScroll: true });
        (target.closest(".field, .notice") || target).scrollIntoView({ block: "start" });
      });
    }
  };

  const buttons = () => {
    for (const button of document.querySelectorAll("[data-print]")) {
      button.hidden = false;
      button.addEventListener("click", () => print());
    }
    for (const button of document.querySelectorAll("[data-copy]")) {
      const area = document.getElementById(button.dataset.copy);
      const status = document.getElementById("copy-status");
      if (!area || !navigator.clipboard) continue;
      button.hidden = false;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(area.value);
        status.textContent = button.dataset.done;
      });
    }
  };

  if (form) {
    watchPerson();
    for (const area of form.querySelectorAll("textarea")) growing(area);
    for (const area of form.querySelectorAll("textarea[data-limit]")) counting(area);
    countAnswers();
    warnBeforeLeaving();
    focusProblems();
  }
  buttons();
  // What was sent is shown after a POST: loading it again must ask, not send.
  if (document.querySelector("[data-sent]")) history.replaceState(null, "", location.href);
})();
