for (const sift of document.querySelectorAll("form.sift")) {
  const items = [...document.querySelectorAll(".item")];
  const groups = [...document.querySelectorAll("section.group")];
  const select = sift.querySelector("select");
  const told = sift.querySelector("output");

  function update() {
    const outcomes = [...sift.querySelectorAll("input:checked")].map((box) => box.dataset.outcome);
    for (const item of items) {
      const isNamed = !select.value || item.dataset.group === select.value;
      item.hidden = !isNamed || !outcomes.includes(item.dataset.outcome);
    }
    for (const group of groups) group.hidden = !group.querySelector(".item:not([hidden])");
    const count = items.filter((item) => !item.hidden).length;
    told.textContent = count === items.length ? `${count} items` : `${count} of ${items.length} items`;
  }

  sift.addEventListener("change", update);
  sift.addEventListener("submit", (event) => event.preventDefault());
  sift.hidden = false;
  update(); // a browser that goes back keeps what was chosen
}
