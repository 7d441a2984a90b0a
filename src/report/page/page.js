/* Reads values off the plots by keyboard, and opens all details for printing. Without it the page shows the same. */
"use strict";
for (const svg of document.querySelectorAll(".plot > svg")) {
  const places = [...svg.querySelectorAll(".at")];
  if (places.length === 0) continue;
  const said = document.createElement("p");
  said.className = "hidden";
  said.setAttribute("role", "status");
  svg.parentNode.append(said);
  let at = -1;
  const show = to => {
    if (at >= 0) places[at].classList.remove("on");
    at = to;
    if (at < 0) return;
    places[at].classList.add("on");
    said.textContent = [...places[at].querySelectorAll("text")].map(text => text.textContent).join(", ");
  };
  const moves = { ArrowLeft: () => at - 1, ArrowRight: () => at + 1, Home: () => 0, End: () => places.length - 1,
    PageUp: () => at - 10, PageDown: () => at + 10 };
  svg.tabIndex = 0;
  svg.addEventListener("focus", () => show(at < 0 ? places.length - 1 : at));
  svg.addEventListener("blur", () => show(-1));
  svg.addEventListener("keydown", event => {
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    show(Math.min(places.length - 1, Math.max(0, move())));
  });
}
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
