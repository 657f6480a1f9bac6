/**
 * A client of the session API as SPEC describes it: it fetches /csrf.php once, keeps that cookie and token,
 * and follows Set-Cookie. It works over the network (`SessionClient.forUrl`) or directly on the app
 * (`.forApp`).
 */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

export interface SessionResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The response's JSON object; empty if the body is not one. */
  readonly body: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, string | number>>;
type SendRequest = (request: {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}) => Promise<{ status: number; headers: Headers; text: string }>;

export const PASSWORD = 'a long enough password';

export class SessionClient {
  cookie: string | undefined;
  csrf: string | undefined;
  email = `u${randomBytes(6).toString('hex')}@example.org`;
  recoveryCode = '';
  readonly #send: SendRequest;

  constructor(send: SendRequest) {
    this.#send = send;
  }

  static forUrl(baseUrl: string): SessionClient {
    return new SessionClient(async ({ method, path, headers, body }) => {
      const init = { method, headers, redirect: 'manual' as const, ...(body === undefined ? {} : { body }) };
      const response = await fetch(new URL(path, baseUrl), init);
      return { status: response.status, headers: response.headers, text: await response.text() };
    });
  }

  static forApp(app: FastifyInstance): SessionClient {
    return new SessionClient(async ({ method, path, headers, body }) => {
      const options = { method, url: path, headers, ...(body === undefined ? {} : { payload: body }) };
      const response = await app.inject(options);
      const headerEntries = Object.entries(response.headers).flatMap(([name, value]) =>
        [value].flat().map((single): [string, string] => [name, String(single)]),
      );
      return { status: response.statusCode, headers: new Headers(headerEntries), text: response.body };
    });
  }

  /** Signs up with a new address. */
  async signUp(fields: Fields = {}): Promise<SessionResponse> {
    const response = await this.post('/auth-api.php', {
      action: 'signup',
      email: this.email,
      password: PASSWORD,
      password_confirm: PASSWORD,
      ...fields,
    });
    this.recoveryCode = String(response.body.recovery_code ?? '');
    return response;
  }

  async signIn(email = this.email, password = PASSWORD): Promise<SessionResponse> {
    return await this.post('/auth-api.php', { action: 'signin', email, password });
  }

  async signOut(): Promise<SessionResponse> {
    return await this.post('/auth-api.php', { action: 'signout' });
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<SessionResponse> {
    return await this.#exchange({ method: 'GET', path, headers });
  }

  /** A null `token` sends no CSRF token; undefined sends the stored one. */
  async post(
    path: string,
    fields: Fields,
    options: { headers?: Record<string, string>; token?: string | null } = {},
  ): Promise<SessionResponse> {
    if (this.csrf === undefined && options.token === undefined) await this.fetchCsrf();
    const token = options.token === undefined ? this.csrf : options.token;
    const texts = Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]);
    const form = new URLSearchParams(token == null ? texts : [...texts, ['_token', token]]);
    return await this.postRaw(path, form.toString(), options.headers);
  }

  /** Posts a body that is already encoded. */
  async postRaw(path: string, body: string, headers: Record<string, string> = {}): Promise<SessionResponse> {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return await this.#exchange({ method: 'POST', path, headers: { ...type, ...headers }, body });
  }

  async fetchCsrf(): Promise<string> {
    const response = await this.get('/csrf.php');
    this.csrf = String(response.body.csrf);
    return this.csrf;
  }

  async #exchange(request: Parameters<SendRequest>[0]): Promise<SessionResponse> {
    const cookie = this.cookie === undefined ? {} : { cookie: `PHPSESSID=${this.cookie}` };
    const { status, headers, text } = await this.#send({
      ...request,
      headers: { ...cookie, ...request.headers },
    });
    for (const line of headers.getSetCookie()) {
      this.cookie = /^PHPSESSID=([^;]*)/.exec(line)?.[1] ?? this.cookie;
    }
    return { status, headers, text, body: parseObject(text) };
  }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
