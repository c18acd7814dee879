"use strict";
/* The data of a page, and what all its scripts use. Tables sort by a click on a column, and filter where they are long. */
const podium = { data: JSON.parse(document.getElementById("data").textContent) };

podium.element = (tag, content = [], attributes = {}) => {
  const made = document.createElement(tag);
  made.append(...[content].flat());
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

// As in printable.py: what a spreadsheet would run gets an apostrophe; a cell that is a number as a whole is no formula.
const formula = /^(?:[\t\r]|\s*(?:[=@＝＠]|[+＋－-](?!(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$)))/;
podium.cell = (value) => {
  const words = String(value ?? "");
  const safe = formula.test(words) ? `'${words}` : words;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
};

podium.save = (rows, name) => {
  const text = rows.map((row) => row.map(podium.cell).join(",") + "\n").join("");
  const link = podium.element("a", "", { download: name, href: URL.createObjectURL(new Blob([text], { type: "text/csv" })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

podium.sortable = (table) => {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  rows.forEach((row, k) => { row.dataset.place = k; });
  const value = (row, column) => {
    const words = row.cells[column].textContent.trim();
    const figure = parseFloat(words.replace(/,/g, "").replace(/^[$~<>±]/, ""));
    return Number.isNaN(figure) ? words.toLowerCase() : figure;
  };
  const compare = (a, b) => {
    if (a === "–" || b === "–") return (a === "–") - (b === "–") || 0;
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1;
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (head.classList.contains("ends") || !head.textContent) return;
    const button = podium.element("button", head.textContent, { type: "button" });
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const next = { none: "descending", descending: "ascending", ascending: "none" }[head.getAttribute("aria-sort") || "none"];
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      if (next !== "none") head.setAttribute("aria-sort", next);
      table.classList.toggle("sorted", next !== "none");
      const sign = next === "ascending" ? 1 : -1;
      const ordered = [...rows].sort((a, b) => {
        const [x, y] = [value(a, column), value(b, column)];
        const order = next === "none" ? 0 : x === "–" || y === "–" ? compare(x, y) : sign * compare(x, y);
        return order || a.dataset.place - b.dataset.place;
      });
      body.append(...ordered);
    });
  });
  if (rows.length <= 12) return;
  const input = podium.element("input", [], { type: "search", autocomplete: "off" });
  table.closest(".wide").before(podium.element("p", podium.element("label", ["filter ", input]), { class: "filter note" }));
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
};

for (const table of document.querySelectorAll(".wide table")) if (table.tHead) podium.sortable(table);
