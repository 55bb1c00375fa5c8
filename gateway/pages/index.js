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

async function look() {
  const gateway = { name: "gateway", does: "answers this page", up: true, problem: "does not answer" };
  let parts = [];
  try {
    const answer = await fetch("/readyz", { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    parts = (await answer.json()).parts;
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
