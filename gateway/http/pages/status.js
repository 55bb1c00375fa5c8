// Shows which parts are up, once a second, from the same answer that a load balancer gets.
const LOOK_EVERY_MS = 1000;
const ANSWER_WITHIN_MS = 3000;

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function row(part) {
  const made = document.createElement("li");
  made.className = part.up ? "up" : "down";
  made.append(element("b", part.name), element("span", part.up ? "● up" : "○ down"), element("small", part.up ? part.does : part.problem));
  return made;
}

// A process of a game: it comes and goes, and others take its tables over.
function process(replica) {
  const state = replica.draining ? "is about to stop" : `runs ${replica.placements} tables`;
  const problem = replica.failing ? "alive, but its tables do not open" : "";
  return { name: replica.game, does: `${state} (process ${replica.replica_id})`, up: !problem, problem };
}

async function look() {
  const gateway = { name: "gateway", does: "answers this page", up: true, problem: "does not answer" };
  let parts = [];
  try {
    const answer = await fetch("/readyz", { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    const said = await answer.json();
    parts = [...said.parts, ...said.replicas.map(process)];
  } catch {
    gateway.up = false;
  }
  const all = [gateway, ...parts];
  const down = all.filter((part) => !part.up);
  document.getElementById("summary").textContent = down.length ? `Down: ${down.map((part) => part.name).join(", ")}` : "Everything is up";
  document.getElementById("parts").replaceChildren(...all.map(row));
  setTimeout(look, LOOK_EVERY_MS);
}

look();
