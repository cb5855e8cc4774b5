"use strict";
for (const figure of document.querySelectorAll("figure.timeline")) {
  const picture = figure.querySelector("svg.picture");
  const cursor = picture.querySelector(".cursor");
  const detail = figure.querySelector(".detail");
  const filters = figure.querySelector(".filters");
  const lanes = [...picture.querySelectorAll(".lane")];
  let chosen = null;

  const isShown = (lane) => lane.style.display !== "none";

  function stack() {
    let top = Number(picture.dataset.head);
    for (const lane of lanes.filter(isShown)) {
      lane.setAttribute("transform", `translate(0 ${top})`);
      top += Number(lane.dataset.height);
    }
    picture.setAttribute("height", top);
  }

  function choose(mark) {
    chosen?.classList.remove("chosen");
    chosen = mark;
    mark.classList.add("chosen");
    const [moment, ...rest] = mark.dataset.detail.split("\n");
    const lane = mark.closest(".lane");
    const heading = document.createElement("b");
    heading.textContent = `${lane.dataset.label} · ${moment}`;
    detail.replaceChildren(heading, document.createElement("br"), rest.join("\n"));
    const box = mark.getBoundingClientRect();
    const place = box.left + box.width / 2 - picture.getBoundingClientRect().left;
    cursor.setAttribute("x1", place);
    cursor.setAttribute("x2", place);
    cursor.classList.add("chosen");
  }

  function nearest(event) {
    const lane = lanes.filter(isShown).find((lane) => {
      const box = lane.getBoundingClientRect();
      return event.clientY >= box.top - 4 && event.clientY <= box.bottom + 4;
    });
    let best = null;
    let least = 32;
    for (const mark of lane?.querySelectorAll(".mark") ?? []) {
      const box = mark.getBoundingClientRect();
      const distance = Math.max(box.left - event.clientX, event.clientX - box.right, 0);
      if (distance < least) [best, least] = [mark, distance];
    }
    return best;
  }

  function point(event) {
    const mark = nearest(event);
    if (mark && mark !== chosen) choose(mark);
  }

  function step(event) {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    const marks = lanes.filter(isShown).flatMap((lane) => [...lane.querySelectorAll(".mark")]);
    const mark = marks[Math.max(0, marks.indexOf(chosen) + direction)];
    if (mark) choose(mark);
  }

  filters.addEventListener("change", (event) => {
    for (const lane of lanes.filter((lane) => lane.dataset.kind === event.target.dataset.kind)) {
      lane.style.display = event.target.checked ? "" : "none";
    }
    stack();
  });
  picture.addEventListener("pointermove", point);
  picture.addEventListener("pointerdown", point);
  picture.addEventListener("keydown", step);
  filters.hidden = detail.hidden = false;
}
