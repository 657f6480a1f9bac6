/**
 * A minimal browser without scripts for the panel's own HTML: it opens pages, fills in their forms, and
 * submits them with every control that they contain. It works over the network (`PanelClient.forUrl`) or
 * directly on the app (`.forApp`), with the cookie of a SessionClient or any other.
 */
import type { FastifyInstance } from 'fastify';
import { controlsOf, decodeEntities, findForm } from './panel-html.ts';

export { problemOf, refreshOf, textOf } from './panel-html.ts';

export interface PanelResponse {
  /** The requested path, including the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The redirect target, or null. */
  readonly location: string | null;
}

/** Values to type into a form. Null leaves the field out, like unticking a checkbox. */
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
  /** The console of the operator has another one. */
  cookieName = 'PHPSESSID';
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
        [value].flat().map((single): [string, string] => [name, String(single)]),
      );
      return { status: response.statusCode, headers: new Headers(headerEntries), text: response.body };
    }, cookie);
  }

  async get(path: string): Promise<PanelResponse> {
    return await this.#exchange({ method: 'GET', path, headers: {} });
  }

  /** Returns the page at the end of all redirects. */
  async open(path: string): Promise<PanelResponse> {
    return await this.followRedirects(await this.get(path));
  }

  async followRedirects(response: PanelResponse): Promise<PanelResponse> {
    let current = response;
    for (let redirects = 0; current.location !== null && redirects < 5; redirects += 1)
      current = await this.get(current.location);
    return current;
  }

  /** Submits a form of the page as a browser does, with `fields` typed into it. Does not follow redirects. */
  async submit(
    page: PanelResponse,
    name: string,
    fields: FormInput = {},
    options: {
      readonly key?: string;
      readonly button?: readonly [name: string, value: string];
      /** The `formaction` of the pressed button, if it has one. */
      readonly action?: string;
    } = {},
  ): Promise<PanelResponse> {
    const form = findForm(page.text, name, options.key);
    const { button } = options;
    const buttonHtml = button && `name="${button[0]}" value="${button[1]}"`;
    // A button outside the form names it.
    const isOutside = page.text.includes(`form="${form.attributes.id}" ${buttonHtml}`);
    if (buttonHtml && !form.content.includes(buttonHtml) && !isOutside)
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

  /** Posts fields that are not on any page. */
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
    const cookie = this.cookie === undefined ? {} : { cookie: `${this.cookieName}=${this.cookie}` };
    const response = await this.#send({ ...sent, headers: { ...cookie, ...sent.headers } });
    for (const line of response.headers.getSetCookie()) {
      if (line.startsWith(`${this.cookieName}=`)) this.cookie = /=([^;]*)/.exec(line)?.[1] ?? this.cookie;
    }
    return { ...response, path: sent.path, location: response.headers.get('location') };
  }
}
