/**
 * A browser without scripts, as small as the panel's own HTML allows: it looks at pages, fills in the forms that stand on
 * them and sends them with everything that they hold. Over the network (`PanelClient.over`) or straight into the app
 * (`.into`), with the cookie of a SessionClient or one that it is given.
 */
import type { FastifyInstance } from 'fastify';
import { controlsOf, decodeEntities, findForm } from './panel-html.ts';

export { problemOf, textOf } from './panel-html.ts';

export interface PanelResponse {
  /** Where it was asked for, the query included. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it leads; null: nowhere. */
  readonly location: string | null;
}

/** What is typed into a form: null leaves the field out, as an empty box that was ticked. */
export type FormInput = Readonly<Record<string, string | Blob | null>>;

interface PanelRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: Buffer;
}
type SendRequest = (sent: PanelRequest) => Promise<{ status: number; headers: Headers; text: string }>;

export class PanelClient {
  cookie: string | undefined;
  readonly #send: SendRequest;

  constructor(send: SendRequest, cookie?: string) {
    this.#send = send;
    this.cookie = cookie;
  }

  static forUrl(baseUrl: string, { cookie }: { readonly cookie?: string | undefined } = {}): PanelClient {
    return new PanelClient(async ({ method, path, headers, body }) => {
      const init = { method, headers, redirect: 'manual' as const };
      const request = body === undefined ? init : { ...init, body: new Uint8Array(body) };
      const response = await fetch(new URL(path, baseUrl), request);
      return { status: response.status, headers: response.headers, text: await response.text() };
    }, cookie);
  }

  static forApp(
    app: FastifyInstance,
    { cookie }: { readonly cookie?: string | undefined } = {},
  ): PanelClient {
    return new PanelClient(async ({ method, path, headers, body }) => {
      const options = { method, url: path, headers, ...(body === undefined ? {} : { payload: body }) };
      const response = await app.inject(options);
      const headerEntries = Object.entries(response.headers).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, String(one)]),
      );
      return { status: response.statusCode, headers: new Headers(headerEntries), text: response.body };
    }, cookie);
  }

  async get(path: string): Promise<PanelResponse> {
    return await this.#exchange({ method: 'GET', path, headers: {} });
  }

  /** The page that stands at the end of all redirections. */
  async open(path: string): Promise<PanelResponse> {
    return await this.followRedirects(await this.get(path));
  }

  async followRedirects(answer: PanelResponse): Promise<PanelResponse> {
    let current = answer;
    for (let redirects = 0; current.location !== null && redirects < 5; redirects += 1)
      current = await this.get(current.location);
    return current;
  }

  /** Sends a form of the page as a browser does, with `fields` typed into it. The answer is not followed. */
  async submit(
    page: PanelResponse,
    name: string,
    fields: FormInput = {},
    options: {
      readonly key?: string;
      readonly button?: readonly [name: string, value: string];
      /** Where the pressed button sends it, when elsewhere. */
      readonly action?: string;
    } = {},
  ): Promise<PanelResponse> {
    const form = findForm(page.text, name, options.key);
    const { button } = options;
    const buttonHtml = button && `name="${button[0]}" value="${button[1]}"`;
    if (buttonHtml && !form.content.includes(buttonHtml))
      throw new Error(`the form ${name} has no button ${buttonHtml}`);
    const entries: [string, string | Blob][] = [];
    const remaining = new Map(Object.entries(fields));
    for (const control of controlsOf(form.content)) {
      const typed = remaining.get(control.name);
      remaining.delete(control.name);
      if (typed !== undefined && typed !== null) entries.push([control.name, typed]);
      else if (typed === undefined && control.value !== null && !(control.name in fields))
        entries.push([control.name, control.value]);
    }
    const [unknown] = remaining.keys();
    if (unknown !== undefined) throw new Error(`the form ${name} has no field ${unknown}`);
    if (button) entries.push([...button]);
    const action = options.action ?? decodeEntities(form.attributes.action ?? page.path);
    return await this.post(action, entries, form.attributes.enctype === 'multipart/form-data');
  }

  /** Sends fields that stand on no page. */
  async post(
    path: string,
    entries: readonly (readonly [string, string | Blob])[],
    multipart = false,
  ): Promise<PanelResponse> {
    const body = multipart ? new FormData() : new URLSearchParams();
    for (const [name, value] of entries) body.append(name, value as string);
    const encoded = new Response(body);
    const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
    return await this.#exchange({
      ...{ method: 'POST', path, headers },
      body: Buffer.from(await encoded.arrayBuffer()),
    });
  }

  async #exchange(sent: PanelRequest): Promise<PanelResponse> {
    const cookie = this.cookie === undefined ? {} : { cookie: `PHPSESSID=${this.cookie}` };
    const answer = await this.#send({ ...sent, headers: { ...cookie, ...sent.headers } });
    for (const line of answer.headers.getSetCookie()) this.cookie = /^PHPSESSID=([^;]*)/.exec(line)?.[1];
    return { ...answer, path: sent.path, location: answer.headers.get('location') };
  }
}
