// Where the page begins.
import { render } from "preact";
import "./design/tokens.css";
import "./design/base.css";
import { begin } from "./api/platform";
import { App } from "./app";

const place = document.getElementById("app");
if (place) render(<App />, place);
void begin();
