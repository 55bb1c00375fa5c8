// The complaints of all of a player's accounts as one list: of each account newest first, one account after the other.
import type { Complaint } from "../api/messages";
import { call } from "../api/platform";
import type { PageOf } from "./pages";

const PAGE = 20;

/** `token` says which account, and where in it. */
export async function readComplaints(accounts: readonly string[], token: string): Promise<PageOf<Complaint>> {
  const [at, ...rest] = token ? token.split("|") : ["0"];
  const index = Number(at);
  const account_id = accounts[index];
  if (!account_id) return { items: [], next: "" };
  const page_token = rest.join("|");
  const found = await call("ComplaintService.ListComplaints", {
    account_id,
    page_size: PAGE,
    ...(page_token ? { page_token } : {}),
  });
  if (found.next_page_token) return { items: found.complaints, next: `${index}|${found.next_page_token}` };
  if (index + 1 >= accounts.length) return { items: found.complaints, next: "" };
  // A page that is not full goes on with the next account.
  const more = await readComplaints(accounts, `${index + 1}`);
  return { items: [...found.complaints, ...more.items], next: more.next };
}
