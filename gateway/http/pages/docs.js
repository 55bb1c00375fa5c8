// Shows the API that /openapi.json describes: to read, to search, and to try.
const KEY_HEADER = "Idempotency-Key";
let api;

function element(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

// The little Markdown that comments in protos use: paragraphs, lists, `code`, **stress** and [links](to).
function inline(text) {
  const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/);
  return parts.filter(Boolean).map((part) => {
    if (part.startsWith("`")) return element("code", { textContent: part.slice(1, -1) });
    if (part.startsWith("**")) return element("strong", { textContent: part.slice(2, -2) });
    const link = part.match(/^\[([^\]]+)\]\(([^)]+)\)$/);
    return link ? element("a", { href: link[2], textContent: link[1] }) : part;
  });
}

function prose(text) {
  const node = element("div", { className: "words" });
  for (const block of (text ?? "").split(/\n\s*\n/)) {
    const lines = block.split("\n").map((line) => line.trim()).filter(Boolean);
    const plain = lines.filter((line) => !line.startsWith("* ")).join(" ");
    const items = lines.filter((line) => line.startsWith("* ")).map((line) => element("li", {}, ...inline(line.slice(2))));
    if (plain) node.append(element("p", {}, ...inline(plain)));
    if (items.length) node.append(element("ul", {}, ...items));
  }
  return node;
}

function resolved(node) {
  let found = node;
  while (found && found.$ref) found = found.$ref.slice(2).split("/").reduce((at, part) => at[part.replaceAll("~1", "/").replaceAll("~0", "~")], api);
  return found ?? {};
}

const nameOf = (schema) => schema.$ref?.split("/").pop();

// A short description of a type; a named type is a link to its schema.
function typeOf(schema) {
  if (!schema) return "anything";
  if (schema.$ref) return element("a", { href: `#schema-${nameOf(schema)}`, textContent: nameOf(schema) });
  if (schema.allOf) return typeOf(schema.allOf[0]);
  if (schema.const !== undefined) return String(schema.const);
  if (schema.anyOf ?? schema.oneOf) {
    const known = (schema.anyOf ?? schema.oneOf).filter((one) => one.type !== "null");
    return element("span", {}, ...known.flatMap((one, place) => (place ? [" or ", typeOf(one)] : [typeOf(one)])));
  }
  const type = [].concat(schema.type ?? "anything").filter((one) => one !== "null").join(" or ");
  if (type === "array") return element("span", {}, "list of ", typeOf(schema.items));
  return schema.format ? `${type} (${schema.format})` : type;
}

function rows(properties, required = []) {
  return element("table", {}, ...Object.entries(properties ?? {}).map(([name, schema]) => element("tr", {},
    element("td", {}, element("code", { textContent: name }), required.includes(name) ? "" : element("small", { className: "quiet", textContent: " optional" })),
    element("td", {}, typeOf(schema)),
    element("td", {}, prose(schema.description)))));
}

// An object to start from: every field with its simplest value.
function example(schema, depth = 0) {
  const at = resolved(schema);
  if (schema?.examples) return schema.examples[0];
  if (at.enum) return at.enum[1] ?? at.enum[0];
  if (at.const !== undefined) return at.const;
  if (at.anyOf ?? at.oneOf) return example((at.anyOf ?? at.oneOf)[0], depth);
  const type = [].concat(at.type)[0];
  if (type === "object") return depth > 4 ? {} : Object.fromEntries(Object.entries(at.properties ?? {}).map(([name, one]) => [name, example(one, depth + 1)]));
  if (type === "array") return depth > 3 ? [] : [example(at.items, depth + 1)];
  if (type === "integer" || type === "number") return Math.max(0, at.minimum ?? 0);
  if (type === "boolean") return false;
  return at.format === "date-time" ? new Date().toISOString() : "";
}

const EVERY_REASON = "#/components/schemas/Problem";
const WORDLESS = new Set(["pattern", "type", "format", "contentEncoding", "tags", "security"]);

// The texts of a part of the document that somebody may search for: names of fields, values, sentences. What it refers
// to is read once, if `seen` is given, and the list of all reasons is left out: every refusal refers to it.
function textsOf(part, seen) {
  if (typeof part === "string") return [part];
  if (part === null || typeof part !== "object") return [];
  if (part.$ref) {
    if (!seen) return [nameOf(part)];
    if (seen.has(part.$ref)) return [];
    seen.add(part.$ref);
    return [nameOf(part), ...textsOf(resolved(part), seen)];
  }
  const named = Array.isArray(part) ? [] : Object.keys(part.properties ?? part.facts ?? {});
  return [...named, ...Object.entries(part).flatMap(([key, value]) => (WORDLESS.has(key) ? [] : textsOf(value, seen)))];
}

const wordsOf = (part, seen) => textsOf(part, seen).join(" ").toLowerCase();

function tryOut(path, verb, operation) {
  const parameters = (operation.parameters ?? []).map(resolved);
  const inputs = new Map();
  const form = element("form");
  for (const parameter of parameters) {
    const choices = resolved(parameter.schema).enum;
    const input = choices ? element("select", {}, element("option", { value: "" }), ...choices.map((one) => element("option", { textContent: one }))) : element("input");
    input.required = parameter.required ?? false;
    inputs.set(parameter, input);
    form.append(element("label", {}, element("code", { textContent: parameter.name }), input));
  }
  const content = operation.requestBody?.content["application/json"];
  const body = content && element("textarea", { rows: 8, value: JSON.stringify(example(content.schema), null, 2) });
  if (body) form.append(body);
  const answer = element("pre", { hidden: true });
  const key = [...inputs].find(([parameter]) => parameter.name === KEY_HEADER)?.[1];
  // A new try is a new command under a new key; a command is repeated on purpose, under the key it had.
  const repeat = key && element("button", { name: "repeat", textContent: "Repeat with the same key", disabled: true });
  let sent = "";
  if (key) key.value = crypto.randomUUID();
  form.append(element("div", {}, element("button", { textContent: "Try it" }), ...(repeat ? [" ", repeat] : [])), answer);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (key) {
      if (event.submitter === repeat) key.value = sent;
      else if (key.value === sent) key.value = crypto.randomUUID();
      sent = key.value;
      repeat.disabled = false;
    }
    const query = new URLSearchParams();
    const headers = {};
    let address = path;
    for (const [parameter, input] of inputs) {
      if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
      else if (input.value && parameter.in === "query") query.append(parameter.name, input.value);
      else if (input.value) headers[parameter.name] = input.value;
    }
    const token = document.getElementById("token").value.trim();
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers["Content-Type"] = "application/json";
    answer.hidden = false;
    answer.textContent = "…";
    try {
      const response = await fetch(address + (query.size ? `?${query}` : ""), { method: verb.toUpperCase(), headers, body: body?.value });
      const text = await response.text();
      let shown = text;
      try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* Not JSON: shown as it is. */ }
      answer.textContent = `${response.status} ${response.statusText}\n\n${shown}`;
    } catch (failed) {
      answer.textContent = String(failed);
    }
  });
  return form;
}

function operationOf(path, verb, operation) {
  const node = element("details", { id: operation.operationId },
    element("summary", {}, element("b", { className: verb, textContent: verb.toUpperCase() }), element("code", { textContent: path }), element("br"), element("small", { textContent: operation.summary })));
  node.dataset.words = `${verb} ${path} ${wordsOf(operation, new Set([EVERY_REASON]))}`;
  node.addEventListener("toggle", () => {
    if (!node.open || node.dataset.filled) return;
    node.dataset.filled = "yes";
    const parameters = (operation.parameters ?? []).map(resolved);
    node.append(prose(operation.description));
    if (parameters.length) node.append(rows(Object.fromEntries(parameters.map((one) => [one.name, { ...one.schema, description: `${one.in}. ${one.description ?? ""}` }])), parameters.filter((one) => one.required).map((one) => one.name)));
    const body = operation.requestBody?.content["application/json"].schema;
    if (body) node.append(element("h3", {}, "Body: ", typeOf(body)), rows(resolved(body).properties, resolved(body).required));
    node.append(element("h3", { textContent: "Answers" }), element("table", {}, ...Object.entries(operation.responses).map(([status, response]) => {
      const content = Object.values(resolved(response).content ?? {})[0];
      return element("tr", {}, element("td", { textContent: status }), element("td", {}, content ? typeOf(content.schema) : ""), element("td", {}, prose(resolved(response).description)));
    })), element("h3", { textContent: "Try it" }), tryOut(path, verb, operation));
  });
  return node;
}

function schemaOf(name, schema) {
  const node = element("details", { id: `schema-${name}` }, element("summary", {}, element("code", { textContent: name })));
  node.dataset.words = `${name.toLowerCase()} ${wordsOf(schema)}`;
  node.append(prose(schema.description));
  if (schema.properties) node.append(rows(schema.properties, schema.required));
  else node.append(element("p", {}, typeOf(schema)));
  return node;
}

function find() {
  const words = document.getElementById("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const one of document.querySelectorAll("details[data-words]")) one.hidden = !words.every((word) => one.dataset.words.includes(word));
  for (const service of document.querySelectorAll(".service")) service.parentElement.hidden = !service.parentElement.querySelector(":scope > details:not([hidden])");
}

function open() {
  const chosen = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!chosen) return;
  // A link leads to its target although the search does not find it.
  if (chosen.tagName === "DETAILS") {
    chosen.hidden = false;
    chosen.open = true;
  }
  const within = chosen.closest("[hidden]");
  if (within) within.hidden = false;
  chosen.scrollIntoView();
}

async function show() {
  const operations = document.getElementById("operations");
  try {
    api = await (await fetch("/openapi.json")).json();
  } catch (failed) {
    operations.textContent = `The document cannot be read: ${failed}`;
    return;
  }
  document.getElementById("welcome").append(prose(api.info.description));
  const all = Object.entries(api.paths).flatMap(([path, verbs]) => Object.entries(verbs).map(([verb, operation]) => ({ path, verb, operation })));
  document.getElementById("services").append(...api.tags.map((tag) => element("a", { href: `#${tag.name}`, textContent: tag.name })));
  operations.replaceChildren(...api.tags.map((tag) => element("div", {},
    element("h2", { className: "service", id: tag.name, textContent: tag.name }), element("p", { className: "quiet", textContent: tag.description }),
    ...all.filter(({ operation }) => operation.tags.includes(tag.name)).map(({ path, verb, operation }) => operationOf(path, verb, operation)))));
  document.getElementById("schemas").append(...Object.entries(api.components.schemas).sort().map(([name, schema]) => schemaOf(name, schema)));
  document.getElementById("find").addEventListener("input", find);
  document.getElementById("tools").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", open);
  // A second click on a link changes no address.
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("a[href^='#']")?.hash === location.hash) open();
  });
  open();
}

show();
