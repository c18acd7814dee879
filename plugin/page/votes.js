"use strict";
/* A battle at a time: left, right, level or skip by key or button; progress is kept in the browser, votes saved as CSV. */
{
  const rows = podium.data;
  const by = (id) => document.getElementById(id);
  let digest = 5381;
  for (const row of rows) for (const sign of row.battle) digest = ((digest * 33) ^ sign.codePointAt(0)) >>> 0;
  const key = `podium votes ${digest} ${rows.length}`;
  let state = { votes: {}, at: 0 };
  try {
    state = { ...state, ...JSON.parse(localStorage.getItem(key) || "{}") };
  } catch { /* A browser that keeps nothing still lets human vote. */ }

  const keep = () => {
    try {
      localStorage.setItem(key, JSON.stringify(state));
    } catch {
      by("kept").textContent = "This browser keeps nothing: save the votes before you close the page.";
    }
  };
  const show = () => {
    const row = rows[state.at];
    const judged = Object.values(state.votes).filter((vote) => vote !== "").length;
    const skipped = Object.keys(state.votes).length - judged;
    by("progress").textContent = `${row ? `Battle ${state.at + 1} of ${rows.length}` : `All ${rows.length} seen`}: ${judged} judged, ${skipped} skipped`;
    by("bar").value = state.at;
    by("battle").hidden = !row;
    by("end").hidden = Boolean(row);
    for (const id of ["choose-1", "choose-2", "choose-tie", "choose-skip"]) by(id).disabled = !row;
    by("back").disabled = state.at === 0;
    if (!row) return;
    by("instruction").textContent = row.instruction || row.item;
    by("left").textContent = row.response_1;
    by("right").textContent = row.response_2;
    for (const id of ["instruction", "left", "right"]) by(id).scrollTop = 0;
    const vote = state.votes[state.at];
    for (const name of ["1", "2", "tie"]) by(`choose-${name}`).setAttribute("aria-pressed", String(vote === name));
  };
  const move = (to) => {
    state.at = Math.max(0, Math.min(rows.length, to));
    keep();
    show();
    scrollTo(0, 0);
  };
  const vote = (verdict) => {
    if (state.at >= rows.length) return;
    state.votes[state.at] = verdict;
    move(state.at + 1);
  };
  const save = () => {
    const header = ["item", "instruction", "response_1", "response_2", "verdict", "battle"];
    const votes = rows.map((row, k) => [row.item, row.instruction, "", "", state.votes[k] || "", row.battle]);
    podium.save([header, ...votes], "votes.csv");
  };

  for (const name of ["1", "2", "tie"]) by(`choose-${name}`).addEventListener("click", () => vote(name));
  by("choose-skip").addEventListener("click", () => vote(""));
  by("back").addEventListener("click", () => move(state.at - 1));
  by("save").addEventListener("click", save);
  const keys = { ArrowLeft: () => vote("1"), ArrowRight: () => vote("2"), " ": () => vote("tie"), s: () => vote(""), z: () => move(state.at - 1) };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    if (event.key === " " && event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    keys[event.key]();
  });
  show();
}
