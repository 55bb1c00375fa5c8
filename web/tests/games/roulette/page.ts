// So much of a page as parts need that are tested without one; to be imported before them.
import { vi } from "vitest";

vi.stubGlobal("document", { documentElement: {} });
