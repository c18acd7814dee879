"use strict";
/* Charts are Vega-Lite's; here their rows are unpacked, their colours follow light and dark, and their data are saved. */
{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const { charts, themes } = podium.data;

  podium.rows = (columns) => {
    const names = Object.keys(columns);
    const lists = names.map((name) => {
      const column = columns[name];
      return Array.isArray(column) ? column : column.codes.map((code) => column.names[code]);
    });
    return (lists[0] || []).map((_, k) => Object.fromEntries(names.map((name, j) => [name, lists[j][k]])));
  };

  const unpacked = (part, found) => {
    if (Array.isArray(part)) return part.map((inner) => unpacked(inner, found));
    if (part === null || typeof part !== "object") return part;
    return Object.fromEntries(Object.entries(part).map(([name, value]) => {
      if (name !== "data" || !value || !value.columns) return [name, unpacked(value, found)];
      const values = podium.rows(value.columns);
      if (values.length > found.rows.length) found.rows = values;
      return [name, { values }];
    }));
  };

  const table = (rows) => {
    const names = Object.keys(rows[0] || {});
    return [names, ...rows.map((row) => names.map((name) => row[name]))];
  };

  const drawn = new Map();
  const draw = async (figure, force, theme) => {
    const name = figure.dataset.chart;
    if (drawn.has(name) && !force) return;
    const known = podium.chart(name);
    const small = known.rows.length <= 2000;
    drawn.set(name, true);
    const config = { ...(theme || themes[dark.matches ? "dark" : "light"]), aria: false };
    const box = figure.querySelector(".chart");
    const specification = { ...known.specification, width: box.clientWidth };
    const result = await vegaEmbed(box, specification, {
      actions: false, ast: true, config, defaultStyle: false, logLevel: 1, renderer: small ? "svg" : "canvas", tooltip: { theme: dark.matches ? "dark" : "light" },
    });
    // The figure is named and captioned; its marks are not read one by one.
    for (const part of box.children) part.setAttribute("aria-hidden", "true");
    if (name === "beats") {
      result.view.addEventListener("click", (_, mark) => {
        if (mark && mark.datum && mark.datum.against) podium.openBattles(mark.datum.model, mark.datum.against);
      });
    }
  };

  const known = {};
  podium.chart = (name) => {
    if (!known[name]) {
      const found = { rows: [] };
      known[name] = { specification: unpacked(charts[name], found), rows: found.rows };
    }
    return known[name];
  };

  const figures = [...document.querySelectorAll("figure[data-chart]")];
  for (const figure of figures) {
    const name = figure.dataset.chart;
    const button = podium.element("button", "data (CSV)", { type: "button", "aria-label": `data of the chart ${name} as CSV` });
    button.addEventListener("click", () => podium.save(table(podium.chart(name).rows), `${name}.csv`));
    figure.querySelector("figcaption").append(button);
  }
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
  }, { rootMargin: "600px" });
  for (const figure of figures) near.observe(figure);
  const redraw = (theme) => { for (const figure of figures) draw(figure, true, theme); };
  dark.addEventListener("change", () => redraw());
  let waiting = null;
  let width = innerWidth;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    if (innerWidth !== width) waiting = setTimeout(() => { width = innerWidth; redraw(); }, 200);
  });
  addEventListener("beforeprint", () => redraw(themes.light));
  addEventListener("afterprint", () => redraw());
  const rest = window.requestIdleCallback || ((then) => setTimeout(then, 500));
  rest(() => { for (const figure of figures) if (charts[figure.dataset.chart]) draw(figure); });
}
