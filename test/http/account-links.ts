/** Account actions as form requests, and the links in mails. */
import { PASSWORD, type SessionClient, type SessionResponse } from '../support/session-client.ts';

export async function postAccountAction(
  client: SessionClient,
  fields: Record<string, string>,
): Promise<SessionResponse> {
  return await client.post('/account-api.php', { current_password: PASSWORD, ...fields });
}

export async function getAccount(client: SessionClient): Promise<SessionResponse['body']> {
  return (await postAccountAction(client, { action: 'get_account' })).body;
}

/** Opens the link in a browser without scripts and submits its form. */
export async function submitMailedLink(
  browser: SessionClient,
  path: string,
  typed: Record<string, string> = {},
): Promise<SessionResponse> {
  const { text } = await browser.get(path);
  const fields = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
  const hidden = Object.fromEntries(fields.map(([, name, value]) => [name ?? '', value ?? '']));
  return await browser.post(path.split('?')[0] ?? '', { ...hidden, ...typed }, { token: null });
}
