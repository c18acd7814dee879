"use strict";
/* The data of a page, and what all its scripts use. Tables sort by a click on a column, and filter where they are long. */
const podium = { data: JSON.parse(document.getElementById("data").textContent) };
const by = (id) => document.getElementById(id);

podium.element = (tag, content = [], attributes = {}) => {
  const made = document.createElement(tag);
  made.append(...[content].flat());
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

/* Rows from columns, as `pack_columns` of packing.py made them. */
podium.unpack = (columns) => {
  const lists = Object.values(columns).map((column) => (column.codes ? column.codes.map((code) => column.names[code]) : column));
  return (lists[0] || []).map((_, k) => Object.fromEntries(Object.keys(columns).map((name, j) => [name, lists[j][k]])));
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
  const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  podium.element("a", [], { download: name, href }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
};

podium.sortable = (table) => {
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => {
    const words = row.cells[column].textContent.trim();
    const figure = parseFloat(words.replace(/,/g, "").replace(/^[$~<>±]/, ""));
    return Number.isNaN(figure) ? words.toLowerCase() : figure;
  };
  const compare = (a, b) => {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : Number(a > b);
  };
  heads.forEach((head, column) => {
    if (!head.textContent) return;
    const button = podium.element("button", head.textContent, { type: "button" });
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const next = { descending: "ascending", ascending: "" }[head.getAttribute("aria-sort")] ?? "descending";
      for (const other of heads) other.removeAttribute("aria-sort");
      if (next) head.setAttribute("aria-sort", next);
      table.classList.toggle("sorted", Boolean(next));
      const sign = next === "ascending" ? 1 : -1;
      const ordered = rows.map((row) => [row, value(row, column)]);
      if (next) ordered.sort(([, a], [, b]) => (a === "–") - (b === "–") || sign * compare(a, b));
      table.tBodies[0].append(...ordered.map(([row]) => row));
    });
  });
  if (rows.length <= 12) return;
  const input = podium.element("input", [], { type: "search", autocomplete: "off" });
  table.closest(".wide").before(podium.element("p", podium.element("label", ["filter ", input]), { class: "filter note" }));
  input.addEventListener("input", () => {
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(input.value.toLowerCase());
  });
};

for (const table of document.querySelectorAll(".wide table")) if (table.tHead) podium.sortable(table);
