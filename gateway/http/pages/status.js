// Shows what is up, once a second, from the same answer that a load balancer gets.
const REFRESH_EVERY_MS = 1000;
const ANSWER_WITHIN_MS = 3000;

function element(name, text) {
  const node = document.createElement(name);
  node.textContent = text;
  return node;
}

function row(part) {
  const item = document.createElement("li");
  item.className = part.up ? "up" : "down";
  item.append(element("b", part.name), element("span", part.up ? "● up" : "○ down"), element("small", part.up ? part.purpose : part.problem));
  return item;
}

// A process of a game may come and go: others take its tables over.
function replicaPart(replica) {
  const state = replica.draining ? "is about to stop" : `runs ${replica.placements} tables`;
  const unheard = replica.unheard ? "what happens at its tables cannot be published" : "";
  const problem = replica.failing ? "alive, but its tables do not open" : unheard;
  return { name: replica.game, purpose: `${state} (process ${replica.replica_id})`, up: !problem, problem };
}

async function refresh() {
  const gateway = { name: "gateway", purpose: "answers this page", up: true, problem: "does not answer" };
  let parts = [];
  try {
    const answer = await fetch("/readyz", { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    const readiness = await answer.json();
    parts = [...readiness.dependencies, ...readiness.replicas.map(replicaPart)];
  } catch {
    gateway.up = false;
  }
  const all = [gateway, ...parts];
  const down = all.filter((part) => !part.up);
  document.getElementById("summary").textContent = down.length ? `Down: ${down.map((part) => part.name).join(", ")}` : "Everything is up";
  document.getElementById("parts").replaceChildren(...all.map(row));
  setTimeout(refresh, REFRESH_EVERY_MS);
}

refresh();
