// The parts of a page that modules need when they load; to be imported before them.
import { vi } from "vitest";

vi.stubGlobal("document", { documentElement: {} });
