// Reads the complaints of all the player's accounts as one list: account by account, newest first.
import type { Complaint } from "../api/messages";
import { call } from "../api/platform";
import { type PageOf, pageRequest } from "../paging/pages";

const PAGE = 20;

/** `token` holds the account's position and the page within it. */
export async function readComplaints(accounts: readonly string[], token: string): Promise<PageOf<Complaint>> {
  const [at, ...rest] = token ? token.split("|") : ["0"];
  const index = Number(at);
  const account_id = accounts[index];
  if (!account_id) return { items: [], next: "" };
  const page_token = rest.join("|");
  const found = await call("ComplaintService.ListComplaints", {
    account_id,
    ...pageRequest(PAGE, page_token),
  });
  if (found.next_page_token) return { items: found.complaints, next: `${index}|${found.next_page_token}` };
  if (index + 1 >= accounts.length) return { items: found.complaints, next: "" };
  // A page that is not full continues with the next account.
  const more = await readComplaints(accounts, `${index + 1}`);
  return { items: [...found.complaints, ...more.items], next: more.next };
}
