/** Answers of all surfaces in one form, and requests that return them. */
import { PASSWORD, type SessionClient } from './session-client.ts';
import type { JsonBody } from './v1-client.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: JsonBody;
}

/** Posts a form of /auth-api.php with a password. If there is no CSRF token, returns that response. */
export async function postSession(
  session: SessionClient,
  fields: Readonly<Record<string, string>>,
): Promise<Answer> {
  const csrf = await session.get('/csrf.php');
  if (csrf.status !== 200) return csrf;
  session.csrf = String(csrf.body.csrf);
  return await session.post('/auth-api.php', { ...fields, password: PASSWORD });
}

export async function postSandbox(
  url: string,
  name: string,
  body: object = {},
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await fetch(`${url}/sandbox/${name}`, {
    method: 'POST',
    ...(signal ? { signal } : {}),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { status, headers } = response;
  const text = await response.text();
  return { status, headers, text, body: JSON.parse(text) };
}
