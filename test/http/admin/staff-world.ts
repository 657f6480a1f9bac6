/** The operator's listener on a real database, with a person of each role. */
import assert from 'node:assert/strict';
import { inviteStaff, requireStaff } from '../../../src/domain/staff/people.ts';
import { readInvitation } from '../../../src/domain/staff/sign-in.ts';
import { createStaffToken } from '../../../src/domain/staff/tokens.ts';
import type { StaffRole } from '../../../src/spec/staff/roles.ts';
import { type FormInput, PanelClient, type PanelResponse } from '../../support/panel-client.ts';
import { totpAt } from '../../support/totp.ts';
import { startWorld, type World } from '../../support/world.ts';

export const PASSWORD = 'correct horse battery staple';

export interface Person {
  readonly email: string;
  readonly secret: string;
  readonly browser: PanelClient;
  readonly token: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface StaffWorld extends World {
  readonly console: string;
  /** Invites a person, who joins in a browser and creates a token. */
  person(role: StaffRole, email?: string): Promise<Person>;
  /** Returns a one-time code. A code works once: the test forgets that it was used. */
  code(person: Person): Promise<string>;
  stranger(): PanelClient;
  api(
    token: string,
    method: string,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ApiAnswer>;
}

export async function startStaffWorld(settings: Readonly<Record<string, string>> = {}): Promise<StaffWorld> {
  const world = await startWorld({ SKERRY_ADMIN_PORT: '0', ...settings });
  const url = world.consoleUrl ?? assert.fail('the console has no port');
  const stranger = () => Object.assign(PanelClient.forUrl(url), { cookieName: 'skerry_staff' });
  return {
    ...world,
    console: url,
    stranger,
    code: async ({ email, secret }) => {
      await world.opened.service.db.run('update staff set totp_last_step = 0 where email = $1', [email]);
      return totpAt(secret);
    },
    api: (token, method, path, body, headers) => callApi(url, token, { method, path, body, headers }),
    person: async (role, email = `${role.replace('_', '-')}@host.example`) => {
      const { service } = world.opened;
      const { code } = await inviteStaff(service, { email, name: `A person (${role})`, role });
      const { secret } = await readInvitation(service, code);
      const browser = stranger();
      await join(browser, code, secret);
      const { token } = await createStaffToken(service, await requireStaff(service, email), { name: 'test' });
      return { email, secret, browser, token };
    },
  };
}

/** Opens a page, and submits one of its forms. */
export async function fill(
  browser: PanelClient,
  path: string,
  form: string,
  input: FormInput,
): Promise<PanelResponse> {
  return await browser.submit(await browser.get(path), form, input);
}

async function join(browser: PanelClient, code: string, secret: string): Promise<void> {
  const joined = await fill(browser, `/join?code=${code}`, 'join', {
    password: PASSWORD,
    password_confirm: PASSWORD,
    code: totpAt(secret),
  });
  assert.equal(joined.location, '/', joined.text);
}

async function callApi(
  url: string,
  token: string,
  request: {
    readonly method: string;
    readonly path: string;
    readonly body: object | undefined;
    readonly headers: Readonly<Record<string, string>> | undefined;
  },
): Promise<ApiAnswer> {
  const { method, path, body, headers = {} } = request;
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: {
      ...headers,
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}
