"use strict";
for (const figure of document.querySelectorAll("figure.timeline")) {
  const picture = figure.querySelector("svg.picture");
  const cursor = picture.querySelector(".cursor");
  const detail = figure.querySelector(".detail");
  const filters = figure.querySelector(".filters");
  const lanes = [...picture.querySelectorAll(".lane")];
  const reach = 32;
  let chosen = [];

  const isShown = (lane) => lane.style.display !== "none";

  function stack() {
    let top = Number(picture.dataset.head);
    for (const lane of lanes.filter(isShown)) {
      lane.setAttribute("transform", `translate(0 ${top})`);
      top += Number(lane.dataset.height);
    }
    picture.setAttribute("height", top);
  }

  function told(mark) {
    const [moment, ...rest] = mark.dataset.detail.split("\n");
    const heading = document.createElement("b");
    heading.textContent = `${mark.closest(".lane").dataset.label} · ${moment}`;
    return [heading, document.createElement("br"), rest.join("\n")];
  }

  function choose(marks) {
    for (const mark of chosen) mark.classList.remove("chosen");
    for (const mark of marks) mark.classList.add("chosen");
    chosen = marks;
    detail.replaceChildren(...marks.flatMap((mark, at) => (at ? ["\n", ...told(mark)] : told(mark))));
    const box = marks[0].getBoundingClientRect();
    const place = box.left + box.width / 2 - picture.getBoundingClientRect().left;
    cursor.setAttribute("x1", place);
    cursor.setAttribute("x2", place);
    cursor.classList.add("chosen");
  }

  // Marks of a lane may cover one another: all that are as near as the nearest.
  function nearest(event) {
    const lane = lanes.filter(isShown).find((lane) => {
      const box = lane.getBoundingClientRect();
      return event.clientY >= box.top - 4 && event.clientY <= box.bottom + 4;
    });
    const found = [...(lane?.querySelectorAll(".mark") ?? [])].map((mark) => {
      const box = mark.getBoundingClientRect();
      return { mark, distance: Math.max(box.left - event.clientX, event.clientX - box.right, 0) };
    });
    const least = Math.min(reach, ...found.map((one) => one.distance));
    return found.filter((one) => one.distance <= least && least < reach).map((one) => one.mark);
  }

  function point(event) {
    const marks = nearest(event);
    if (marks.length && (marks.length !== chosen.length || marks.some((mark, at) => mark !== chosen[at]))) choose(marks);
  }

  function step(event) {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    const marks = lanes.filter(isShown).flatMap((lane) => [...lane.querySelectorAll(".mark")]);
    const mark = marks[Math.max(0, marks.indexOf(chosen[0]) + direction)];
    if (mark) choose([mark]);
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
