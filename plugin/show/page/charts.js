"use strict";
/* Charts are Vega-Lite's; here their rows are unpacked, their colours follow light and dark, and their data are saved. */
{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const { charts, themes } = podium.data;
  const figures = [...document.querySelectorAll("figure[data-chart]")];

  for (const { datasets } of Object.values(charts)) {
    for (const [name, columns] of Object.entries(datasets)) datasets[name] = podium.unpack(columns);
  }
  /* Of several tables the longest has the data: the others are lines to guide the eye. */
  podium.chartRows = (name) => Object.values(charts[name].datasets).sort((a, b) => b.length - a.length)[0];

  const draw = async (figure, theme) => {
    const name = figure.dataset.chart;
    const box = figure.querySelector(".chart");
    const renderer = podium.chartRows(name).length <= 2000 ? "svg" : "canvas";
    const mode = dark.matches ? "dark" : "light";
    const { view } = await vegaEmbed(box, { ...charts[name], width: box.clientWidth }, {
      actions: false, ast: true, config: { ...(theme || themes[mode]), aria: false }, defaultStyle: false, logLevel: 1, renderer, tooltip: { theme: mode },
    });
    // The figure is named and captioned; its marks are not read one by one.
    for (const part of box.children) part.setAttribute("aria-hidden", "true");
    if (name !== "beats") return;
    view.addEventListener("click", (_, mark) => {
      if (mark && mark.datum && mark.datum.against) podium.openBattles(mark.datum.model, mark.datum.against);
    });
  };
  const drawAll = (theme) => { for (const figure of figures) draw(figure, theme); };

  for (const figure of figures) {
    const rows = podium.chartRows(figure.dataset.chart);
    const names = Object.keys(rows[0] || {});
    const table = () => [names, ...rows.map((row) => names.map((name) => row[name]))];
    figure.querySelector("button").addEventListener("click", () => podium.save(table(), `${figure.dataset.chart}.csv`));
  }
  dark.addEventListener("change", () => drawAll());
  let waiting = null;
  let width = innerWidth;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    if (innerWidth !== width) waiting = setTimeout(() => { width = innerWidth; drawAll(); }, 200);
  });
  addEventListener("beforeprint", () => drawAll(themes.light));
  addEventListener("afterprint", () => drawAll());
  addEventListener("load", () => drawAll());
}
