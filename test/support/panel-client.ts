/**
 * A browser without scripts, as small as the panel's own HTML allows: it looks at pages, fills in the forms that stand on
 * them and sends them with everything that they hold. Over the network (`PanelClient.over`) or straight into the app
 * (`.into`), with the cookie of a SessionClient or one that it is given.
 */
import type { FastifyInstance } from 'fastify';
import { controlsOf, decode, findForm } from './panel-html.ts';

export { problemOf, textOf } from './panel-html.ts';

export interface PanelAnswer {
  /** Where it was asked for, the query included. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it leads; null: nowhere. */
  readonly location: string | null;
}

/** What is typed into a form: null leaves the field out, as an empty box that was ticked. */
export type Typed = Readonly<Record<string, string | Blob | null>>;

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: Buffer;
}
type Send = (sent: Sent) => Promise<{ status: number; headers: Headers; text: string }>;

export class PanelClient {
  cookie: string | undefined;
  readonly #send: Send;

  constructor(send: Send, cookie?: string) {
    this.#send = send;
    this.cookie = cookie;
  }

  static over(baseUrl: string, { cookie }: { readonly cookie?: string | undefined } = {}): PanelClient {
    return new PanelClient(async ({ method, path, headers, body }) => {
      const init = { method, headers, redirect: 'manual' as const };
      const whole = body === undefined ? init : { ...init, body: new Uint8Array(body) };
      const response = await fetch(new URL(path, baseUrl), whole);
      return { status: response.status, headers: response.headers, text: await response.text() };
    }, cookie);
  }

  static into(app: FastifyInstance, { cookie }: { readonly cookie?: string | undefined } = {}): PanelClient {
    return new PanelClient(async ({ method, path, headers, body }) => {
      const options = { method, url: path, headers, ...(body === undefined ? {} : { payload: body }) };
      const response = await app.inject(options);
      const given = Object.entries(response.headers).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, String(one)]),
      );
      return { status: response.statusCode, headers: new Headers(given), text: response.body };
    }, cookie);
  }

  async get(path: string): Promise<PanelAnswer> {
    return await this.#exchange({ method: 'GET', path, headers: {} });
  }

  /** The page that stands at the end of all redirections. */
  async open(path: string): Promise<PanelAnswer> {
    return await this.follow(await this.get(path));
  }

  async follow(answer: PanelAnswer): Promise<PanelAnswer> {
    let at = answer;
    for (let steps = 0; at.location !== null && steps < 5; steps += 1) at = await this.get(at.location);
    return at;
  }

  /** Sends a form of the page as a browser does, with `fields` typed into it. The answer is not followed. */
  async submit(
    page: PanelAnswer,
    name: string,
    fields: Typed = {},
    options: {
      readonly key?: string;
      readonly button?: readonly [name: string, value: string];
      /** Where the pressed button sends it, when elsewhere. */
      readonly action?: string;
    } = {},
  ): Promise<PanelAnswer> {
    const form = findForm(page.text, name, options.key);
    const { button } = options;
    const pressed = button && `name="${button[0]}" value="${button[1]}"`;
    if (pressed && !form.content.includes(pressed))
      throw new Error(`the form ${name} has no button ${pressed}`);
    const entries: [string, string | Blob][] = [];
    const left = new Map(Object.entries(fields));
    for (const control of controlsOf(form.content)) {
      const typed = left.get(control.name);
      left.delete(control.name);
      if (typed !== undefined && typed !== null) entries.push([control.name, typed]);
      else if (typed === undefined && control.value !== null && !(control.name in fields))
        entries.push([control.name, control.value]);
    }
    const [unknown] = left.keys();
    if (unknown !== undefined) throw new Error(`the form ${name} has no field ${unknown}`);
    if (button) entries.push([...button]);
    const action = options.action ?? decode(form.attributes.action ?? page.path);
    return await this.post(action, entries, form.attributes.enctype === 'multipart/form-data');
  }

  /** Sends fields that stand on no page. */
  async post(
    path: string,
    entries: readonly (readonly [string, string | Blob])[],
    multipart = false,
  ): Promise<PanelAnswer> {
    const body = multipart ? new FormData() : new URLSearchParams();
    for (const [name, value] of entries) body.append(name, value as string);
    const written = new Response(body);
    const headers = { 'content-type': written.headers.get('content-type') ?? '' };
    return await this.#exchange({
      ...{ method: 'POST', path, headers },
      body: Buffer.from(await written.arrayBuffer()),
    });
  }

  async #exchange(sent: Sent): Promise<PanelAnswer> {
    const cookie = this.cookie === undefined ? {} : { cookie: `PHPSESSID=${this.cookie}` };
    const answer = await this.#send({ ...sent, headers: { ...cookie, ...sent.headers } });
    for (const line of answer.headers.getSetCookie()) this.cookie = /^PHPSESSID=([^;]*)/.exec(line)?.[1];
    return { ...answer, path: sent.path, location: answer.headers.get('location') };
  }
}
