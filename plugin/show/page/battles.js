"use strict";
/* Win rates against one model, and the battles themselves: searched, opened, both responses side by side. */
{
  const { battles, order, charts, units } = podium.data;
  const { element } = podium;
  const share = (value) => (value === null ? "–" : `${(100 * value).toFixed(1)}%`);
  const group = (name, content, attributes) => element("div", content, { tabindex: "0", role: "group", "aria-label": name, ...attributes });
  const addOptions = (select, names) => select.append(...names.map((name) => element("option", name, { value: name })));

  podium.openBattles = () => {};
  if (charts.beats) {
    const rows = podium.chartRows("beats");
    const anchor = by("anchor");
    const names = [...new Set(rows.map((row) => row.against))];
    const columns = { model: "", "win rate": "r", interval: "r", battles: "r", [units]: "r" };
    const line = (row) => {
      const ends = row.low === null ? "–" : `${share(row.low)} … ${share(row.high)}`;
      const cells = [share(row.share), ends, row.battles.toLocaleString("en"), row.items.toLocaleString("en")];
      const open = element("button", "battles", { type: "button", "aria-label": `battles of ${row.model} against ${row.against}` });
      open.addEventListener("click", () => podium.openBattles(row.model, row.against));
      const figures = cells.map((words) => element("td", words, { class: "r" }));
      return [element("th", element("bdi", row.model), { scope: "row" }), ...figures, ...(battles ? [element("td", open)] : [])];
    };
    const show = () => {
      const table = element("table");
      const heads = Object.entries(columns).map(([name, side]) => element("th", name, { scope: "col", class: side }));
      table.createTHead().insertRow().append(...heads, ...(battles ? [element("td")] : []));
      const body = table.createTBody();
      for (const row of rows.filter((each) => each.against === anchor.value)) body.insertRow().append(...line(row));
      by("against").replaceChildren(group("win rates", table, { class: "wide" }));
      podium.sortable(table);
    };
    addOptions(anchor, names);
    anchor.addEventListener("change", show);
    anchor.value = names.includes(order[0]) ? order[0] : names[0];
    show();
  }

  if (battles) {
    const PAGE = 25;
    const { pool } = battles;
    const listed = podium.unpack(battles.rows);
    /* One text, or the names and texts of the pieces of a transcript. */
    const text = (code) => [pool[code]].flat(2).join("\n");
    const haystacks = new Map();
    const haystack = (battle) => {
      if (!haystacks.has(battle)) {
        const texts = [battle.instruction, battle.first, battle.second, ...battle.words.map(([, , code]) => code)].map(text);
        haystacks.set(battle, [battle.item, battle.a, battle.b, battle.category, ...texts].filter(Boolean).join("\n").toLowerCase());
      }
      return haystacks.get(battle);
    };
    const TURNS = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/;
    /* A name that is written from the right, or turns what follows, stands in the middle of a line. */
    const inside = (model) => (TURNS.test(model) ? `\u2068${model.replace(/[\u202a-\u202e\u2066-\u2069]/g, "")}\u2069` : model);
    const verdict = (battle, credit) => {
      if (credit === null) return "unparsed";
      if (credit === 0.5) return "tie";
      const winner = inside(credit > 0.5 ? battle.a : battle.b);
      return credit === 0 || credit === 1 ? `${winner} wins` : `${winner} ahead, ${Math.max(credit, 1 - credit)}`;
    };
    const shownFirst = (battle, shown) => ({ ab: `${inside(battle.a)} shown first`, ba: `${inside(battle.b)} shown first` })[shown];

    const box = (name, words) => group(name, words, { class: "text", dir: "auto" });
    const block = (title, words) => [element("h3", title), box(title, words)];
    const fold = (kind, title, content) => element("details", [element("summary", title), ...content], { class: kind });
    const piece = ([name, words]) => {
      const kind = /^(result|error)/.test(name) ? "piece result" : "piece";
      return fold(kind, `${name}: ${words.slice(0, 80)}`, [box(name, words)]);
    };
    const transcript = (pieces) => {
      const work = pieces.filter(([name]) => name !== "answer");
      const answer = pieces.filter(([name]) => name === "answer").map(([name, words]) => box(name, words));
      const turns = Map.groupBy(work, ([name]) => name.replace(/^[a-z]+ (\d+)[\d.]*$/, "turn $1"));
      const folded = [...turns].map(([turn, own]) => fold("turn", `${turn} · ${own.length} ${own.length === 1 ? "piece" : "pieces"}`, own.map(piece)));
      /* Turns that are left out count, too. */
      const numbers = pieces.map(([name]) => Number((/^(?:turns 1 to|turn|call|result|error) (\d+)/.exec(name) || [0, 0])[1]));
      const outer = folded.length ? [fold("turns", `${Math.max(...numbers)} turns`, folded)] : [];
      return [...outer, ...(answer.length ? answer : [element("p", "no final answer", { class: "note" })])];
    };
    const side = (model, code, won) => {
      const title = `${inside(model)}${won ? " · won" : ""}`;
      const pieces = Array.isArray(pool[code]);
      const shown = pieces ? [element("h3", title), ...transcript(pool[code])] : block(title, text(code) || "no text");
      return element("div", shown, { class: won ? "side won" : "side" });
    };
    const evidence = (battle) => {
      const sides = [side(battle.a, battle.first, battle.credit > 0.5), side(battle.b, battle.second, battle.credit !== null && battle.credit < 0.5)];
      const notes = battle.orders.map(([shown, earned, reason]) => {
        return `${shownFirst(battle, shown) || "both orders"}: ${verdict(battle, earned)}${reason ? ` (${reason})` : ""}`;
      });
      if (battle.human !== null) notes.push(`human: ${verdict(battle, battle.human)}`);
      if (battle.reason) notes.push(`unparsed: ${battle.reason}`);
      const words = battle.words.filter(([, , code]) => text(code)).flatMap(([shown, judge, code]) => {
        const leader = shownFirst(battle, shown);
        return block(`the judge's words${leader ? `, ${leader}` : ""}${judge ? ` (${judge})` : ""}`, text(code));
      });
      return [
        ...(text(battle.instruction) ? block("instruction", text(battle.instruction)) : []),
        ...(pool.length ? [element("div", sides, { class: "sides" })] : []),
        ...notes.map((line) => element("p", line, { class: "note" })),
        ...words,
      ];
    };
    const entry = (battle) => {
      const head = [element("bdi", battle.a), " against ", element("bdi", battle.b), `: ${verdict(battle, battle.credit)}`];
      if (battle.item) head.push(element("span", battle.item, { class: "item" }));
      if (battle.why) head.push(element("span", battle.why, { class: "tag" }));
      const details = fold("battle", head, []);
      const fill = () => { if (details.childElementCount === 1) details.append(...evidence(battle)); };
      for (const event of ["click", "toggle"]) details.addEventListener(event, fill);
      return details;
    };
    let matches = listed;
    let shown = 0;
    const more = () => {
      by("list").append(...matches.slice(shown, shown + PAGE).map(entry));
      shown = Math.min(shown + PAGE, matches.length);
      by("more").hidden = shown >= matches.length;
      by("matches").textContent = `${matches.length.toLocaleString("en")} battles match; ${shown.toLocaleString("en")} are below.`;
    };
    const search = () => {
      const wanted = by("search").value.toLowerCase();
      const pair = [by("model").value, by("other").value].filter(Boolean);
      const only = by("disagreeing").checked;
      matches = listed.filter((battle) => {
        if (new Set(pair).size < pair.length || !pair.every((model) => model === battle.a || model === battle.b)) return false;
        return (!only || battle.why) && (!wanted || haystack(battle).includes(wanted));
      });
      by("list").replaceChildren();
      shown = 0;
      more();
    };
    podium.openBattles = (model, other) => {
      by("filters").reset();
      [by("model").value, by("other").value] = [model, other];
      search();
      by("battles").scrollIntoView();
      by("search").focus({ preventScroll: true });
    };
    for (const id of ["model", "other"]) addOptions(by(id), order);
    by("filters").addEventListener("input", search);
    by("more").addEventListener("click", more);
    search();
  }
}
