"use strict";
/* Win rates against one model, and the battles themselves: searched, opened, both responses side by side. */
{
  const { battles, order, charts } = podium.data;
  const { element } = podium;
  const share = (value) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)}%`);
  const by = (id) => document.getElementById(id);

  podium.openBattles = () => {};
  if (charts.beats) {
    const rows = podium.chart("beats").rows;
    const anchor = by("anchor");
    const names = [...new Set(rows.map((row) => row.against))];
    for (const name of names) anchor.append(element("option", name, { value: name }));
    const columns = [["model", ""], ["win rate", "r"], ["interval", "r"], ["battles", "r"], ["items", "r"]];
    const show = () => {
      const table = element("table");
      const head = table.createTHead().insertRow();
      head.append(...columns.map(([name, side]) => element("th", name, { scope: "col", class: side })));
      if (battles) head.append(element("td"));
      const body = table.createTBody();
      for (const row of rows.filter((each) => each.against === anchor.value)) {
        const ends = row.low === null ? "–" : `${share(row.low)} … ${share(row.high)}`;
        const cells = [share(row.share), ends, row.battles.toLocaleString("en"), row.items.toLocaleString("en")];
        const line = body.insertRow();
        line.append(element("th", element("bdi", row.model), { scope: "row" }), ...cells.map((words) => element("td", words, { class: "r" })));
        if (!battles) continue;
        const open = element("button", "battles", { type: "button", "aria-label": `battles of ${row.model} against ${row.against}` });
        open.addEventListener("click", () => podium.openBattles(row.model, row.against));
        line.append(element("td", open));
      }
      by("against").replaceChildren(element("div", table, { class: "wide", tabindex: "0", role: "group", "aria-label": "win rates" }));
      podium.sortable(table);
    };
    anchor.addEventListener("change", show);
    anchor.value = names.includes(order[0]) ? order[0] : names[0];
    show();
  }

  if (battles) {
    const PAGE = 25;
    const { models, pool = [] } = battles;
    const numbers = battles.a.map((_, k) => k);
    const name = (code) => models[code];
    const entry = (code) => (code >= 0 ? pool[code] : null);
    /* The name and text of each piece of a transcript, or one text. */
    const text = (code) => (Array.isArray(entry(code)) ? entry(code).flat().join("\n") : entry(code));
    for (const select of [by("model"), by("other")]) {
      for (const model of order) if (models.includes(model)) select.append(element("option", model, { value: model }));
    }
    const haystacks = new Map();
    const haystack = (k) => {
      if (!haystacks.has(k)) {
        const [asked, first, second, words] = textsOf(k);
        const parts = [battles.item[k], name(battles.a[k]), name(battles.b[k]), battles.category[k], text(asked), text(first), text(second)];
        haystacks.set(k, [...parts, ...words.map((each) => text(each[2]))].filter(Boolean).join("\n").toLowerCase());
      }
      return haystacks.get(k);
    };
    const TURNS = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/;
    /* A name that is written from the right, or turns what follows, stands in the middle of a line. */
    const inside = (model) => (TURNS.test(name(model)) ? `\u2068${name(model).replace(/[\u202a-\u202e\u2066-\u2069]/g, "")}\u2069` : name(model));
    const verdict = (k, credit) => {
      if (credit === null) return "unparsed";
      if (credit === 0.5) return "tie";
      const winner = inside(credit > 0.5 ? battles.a[k] : battles.b[k]);
      return credit === 0 || credit === 1 ? `${winner} wins` : `${winner} ahead, ${Math.max(credit, 1 - credit)}`;
    };
    const textsOf = (k) => (battles.texts ? battles.texts[k] : [-1, -1, -1, []]);
    const orderOf = { ab: (k) => `${inside(battles.a[k])} shown first`, ba: (k) => `${inside(battles.b[k])} shown first` };
    const fill = (details, k) => {
      if (details.dataset.full) return;
      details.dataset.full = "yes";
      const [asked, first, second, words] = textsOf(k);
      const box = (title, words) => element("div", words, { class: "text", dir: "auto", tabindex: "0", role: "group", "aria-label": title });
      const block = (title, words) => [element("h3", title), box(title, words)];
      const piece = ([name, words]) => element("details", [element("summary", `${name.replace(/^turn \d+ /, "")}: ${words.slice(0, 80)}`), box(name, words)], { class: /(result|error)$/.test(name) ? "piece result" : "piece" });
      const transcript = (pieces) => {
        const turns = new Map();
        for (const own of pieces.filter(([name]) => name !== "final answer")) {
          const turn = own[0].endsWith(" left out") ? own[0] : own[0].split(" ").slice(0, 2).join(" ");
          turns.set(turn, [...(turns.get(turn) || []), own]);
        }
        const folded = [...turns].map(([turn, own]) => element("details", [element("summary", `${turn} · ${own.length} ${own.length === 1 ? "piece" : "pieces"}`), ...own.map(piece)], { class: "turn" }));
        const answer = pieces.filter(([name]) => name === "final answer").map(([name, words]) => box(name, words));
        /* Turns that are left out count, too. */
        const numbers = pieces.map(([name]) => /^turns? (?:1 to )?(\d+)\b(?! user)/.exec(name)).filter(Boolean);
        const number = Math.max(0, ...numbers.map((found) => Number(found[1])));
        const outer = element("details", [element("summary", `${number} turns`), ...folded], { class: "turns" });
        return [...(folded.length ? [outer] : []), ...(answer.length ? answer : [element("p", "no final answer", { class: "note" })])];
      };
      if (text(asked)) details.append(...block("instruction", text(asked)));
      const side = (model, code, won) => {
        const title = `${inside(model)}${won ? " · won" : ""}`;
        const shown = Array.isArray(entry(code)) ? [element("h3", title), ...transcript(entry(code))] : block(title, text(code) || "no text");
        return element("div", shown, { class: won ? "side won" : "side" });
      };
      const credit = battles.credit[k];
      const sides = [side(battles.a[k], first, credit > 0.5), side(battles.b[k], second, credit !== null && credit < 0.5)];
      if (pool.length) details.append(element("div", sides, { class: "sides" }));
      const notes = battles.orders[k].map(([shown, earned, reason]) => {
        const leader = orderOf[shown] ? orderOf[shown](k) : "both orders";
        return `${leader}: ${verdict(k, earned)}${reason ? ` (${reason})` : ""}`;
      });
      if (battles.human.length && battles.human[k] !== null) notes.push(`human: ${verdict(k, battles.human[k])}`);
      if (battles.reason[k]) notes.push(`unparsed: ${battles.reason[k]}`);
      details.append(...notes.map((line) => element("p", line, { class: "note" })));
      for (const [shown, judge, code] of words) {
        const leader = orderOf[shown] ? `, ${orderOf[shown](k)}` : "";
        if (text(code)) details.append(...block(`the judge's words${leader}${judge ? ` (${judge})` : ""}`, text(code)));
      }
    };
    const row = (k) => {
      const pair = [element("bdi", name(battles.a[k])), " against ", element("bdi", name(battles.b[k])), `: ${verdict(k, battles.credit[k])}`];
      if (battles.item[k]) pair.push(element("span", battles.item[k], { class: "item" }));
      if (battles.why[k]) pair.push(element("span", battles.why[k], { class: "tag" }));
      const details = element("details", element("summary", pair), { class: "battle" });
      for (const event of ["click", "toggle"]) details.addEventListener(event, () => fill(details, k));
      return details;
    };
    let matches = numbers;
    let shown = 0;
    const more = () => {
      by("list").append(...matches.slice(shown, shown + PAGE).map(row));
      shown = Math.min(shown + PAGE, matches.length);
      by("more").hidden = shown >= matches.length;
      by("matches").textContent = `${matches.length.toLocaleString("en")} battles match; ${shown.toLocaleString("en")} are below.`;
    };
    const search = () => {
      const wanted = by("search").value.toLowerCase();
      const [model, other] = [by("model").value, by("other").value];
      const only = by("disagreeing").checked;
      matches = numbers.filter((k) => {
        const pair = [name(battles.a[k]), name(battles.b[k])];
        if ((model && !pair.includes(model)) || (other && !pair.includes(other)) || (model && model === other)) return false;
        return (!only || battles.why[k]) && (!wanted || haystack(k).includes(wanted));
      });
      by("list").replaceChildren();
      shown = 0;
      more();
    };
    podium.openBattles = (model, other) => {
      by("search").value = "";
      by("disagreeing").checked = false;
      [by("model").value, by("other").value] = [model, other];
      search();
      by("battles").scrollIntoView();
      by("search").focus({ preventScroll: true });
    };
    for (const id of ["search", "model", "other", "disagreeing"]) by(id).addEventListener("input", search);
    document.querySelector("form[role=search]").addEventListener("submit", (event) => event.preventDefault());
    by("more").addEventListener("click", more);
    search();
  }
}
