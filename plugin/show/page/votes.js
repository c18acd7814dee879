"use strict";
/* A battle at a time: left, right, level or skip by key or button; progress is kept in the browser, votes saved as CSV. */
{
  const rows = podium.data;
  let digest = 5381;
  for (const row of rows) for (const sign of row.battle) digest = ((digest * 33) ^ sign.codePointAt(0)) >>> 0;
  const key = `podium votes ${digest} ${rows.length}`;
  let state = { votes: {}, at: 0 };
  try {
    state = { ...state, ...JSON.parse(localStorage.getItem(key) || "{}") };
  } catch { /* A browser that keeps nothing still lets humans vote. */ }

  const verdicts = Object.entries({ "choose-1": "1", "choose-2": "2", "choose-tie": "tie", "choose-skip": "" });
  const show = () => {
    const row = rows[state.at];
    const judged = Object.values(state.votes).filter((vote) => vote !== "").length;
    const skipped = Object.keys(state.votes).length - judged;
    by("progress").textContent = `${row ? `Battle ${state.at + 1} of ${rows.length}` : `All ${rows.length} seen`}: ${judged} judged, ${skipped} skipped`;
    by("bar").value = state.at;
    by("battle").hidden = !row;
    by("end").hidden = Boolean(row);
    for (const [id, verdict] of verdicts) {
      by(id).disabled = !row;
      if (verdict) by(id).setAttribute("aria-pressed", String(state.votes[state.at] === verdict));
    }
    by("back").disabled = state.at === 0;
    if (!row) return;
    const texts = { instruction: row.instruction || row.item, left: row.response_1, right: row.response_2 };
    for (const [id, text] of Object.entries(texts)) [by(id).textContent, by(id).scrollTop] = [text, 0];
  };
  const move = (to) => {
    state.at = to;
    try {
      localStorage.setItem(key, JSON.stringify(state));
    } catch {
      by("kept").textContent = "This browser keeps nothing: save the votes before you close the page.";
    }
    show();
    scrollTo(0, 0);
  };

  for (const [id, verdict] of verdicts) {
    by(id).addEventListener("click", () => {
      state.votes[state.at] = verdict;
      move(state.at + 1);
    });
  }
  by("back").addEventListener("click", () => move(state.at - 1));
  by("save").addEventListener("click", () => {
    const header = ["item", "instruction", "response_1", "response_2", "verdict", "battle"];
    const votes = rows.map((row, k) => [row.item, row.instruction, "", "", state.votes[k] || "", row.battle]);
    podium.save([header, ...votes], "votes.csv");
  });
  /* A disabled button takes no click, by key either. */
  const buttons = { ArrowLeft: "choose-1", ArrowRight: "choose-2", " ": "choose-tie", s: "choose-skip", z: "back" };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !buttons[event.key]) return;
    if (event.key === " " && event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    by(buttons[event.key]).click();
  });
  show();
}
