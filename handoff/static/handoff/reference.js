// Adds a button to each sample that copies it. Without this file the samples are text to select.

const SHOWN_MS = 2000;

function addButton(sample) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button button-small copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => copy(sample.querySelector("pre"), button));
  sample.append(button);
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(text);
    button.textContent = "Selected";
  }
  setTimeout(() => {
    button.textContent = "Copy";
  }, SHOWN_MS);
}

document.querySelectorAll(".sample").forEach(addButton);

// On a small screen the list of operations would fill it.
if (matchMedia("(max-width: 64rem)").matches) {
  document.querySelectorAll(".contents-group").forEach((group) => {
    group.open = false;
  });
}
