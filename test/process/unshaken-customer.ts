/** A customer of a service that keeps breaking: random changes, and a record of those it acknowledged. */
import assert from 'node:assert/strict';
import { type Answer, postSandbox, postSession } from '../support/answers.ts';
import { Random } from '../support/random.ts';
import { PASSWORD, SessionClient } from '../support/session-client.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import type { WebhookReceiver } from '../support/webhook-receiver.ts';
import type { Definite, ShakenService } from './unshaken-world.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
const SERVERS_MAX = 5;
const VOLUMES_MAX = 8;
/** More than any coin requires. */
const BLOCKS = 30;

interface ServerRecord {
  readonly id: string;
  readonly name: string;
  /** By the last acknowledged operation. */
  status: 'running' | 'stopped';
  isDeleted: boolean;
}

interface VolumeRecord {
  readonly id: string;
  readonly name: string;
  server: ServerRecord | null;
  isDeleted: boolean;
}

export interface TopupRecord {
  readonly id: string;
  readonly amountUsd: number;
  readonly payment: { readonly coin: string; readonly address: string; readonly amount: string };
  /** `unknown`: the process died before it answered, or said that it does not know. */
  paid: 'no' | 'unknown' | 'yes';
}

export class ShakenCustomer {
  readonly hookPath: string;
  readonly servers: ServerRecord[] = [];
  readonly volumes: VolumeRecord[] = [];
  readonly topups: TopupRecord[] = [];
  /** The accounts that this person opened. */
  readonly emails: string[] = [];
  readonly #name: string;
  readonly #service: ShakenService;
  readonly #random: Random;
  #token = '';
  #cookie = '';
  #order: object = {};
  #keyCount = 0;

  constructor(service: ShakenService, name: string, seed: number) {
    this.#service = service;
    this.#name = name;
    this.#random = new Random(`${seed} ${name}`);
    this.hookPath = `/${name}`;
  }

  /** Signs up, and creates what the changes need. The service still works. */
  async prepare(receiver: WebhookReceiver): Promise<void> {
    const session = SessionClient.forUrl(this.#service.url);
    assert.equal((await session.signUp()).status, 200);
    this.emails.push(session.email);
    this.#cookie = session.cookie ?? '';
    this.#token = await createApiToken(session);
    const hook = { url: receiver.url(this.hookPath), events: ['*'] };
    assert.equal((await this.change('POST', '/webhooks', hook)).status, 201);
    const key = await this.change('POST', '/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY });
    const [image] = (await this.read('/images?family=debian')).body.data;
    this.#order = { plan: 's1', region: 'par', image: image.id, ssh_keys: [key.body.id] };
    await this.#topUp(99);
  }

  /** Makes random changes, one after another. */
  async work(end: AbortSignal): Promise<void> {
    const actions = [
      () => this.#deploy(),
      () => this.#deploy(),
      () => this.#power(),
      () => this.#power(),
      () => this.#power(),
      () => this.#topUp(30 + this.#random.below(70)),
      () => this.#createVolume(),
      () => this.#moveVolume(),
      () => this.#moveVolume(),
      () => this.#look(),
      () => this.#look(),
      () => this.#signUpAgain(),
      () => this.#deleteServer(),
    ];
    while (!end.aborted) await this.#random.pick(actions)?.();
  }

  async read(path: string): Promise<Answer> {
    const { answer } = await this.#ask('GET', path);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer;
  }

  /** Makes a change under a key of its own. */
  async change(method: 'POST' | 'DELETE', path: string, body?: object): Promise<Answer> {
    this.#keyCount += 1;
    const key = `${this.#name}-${this.#keyCount}`;
    const { answer, mayBeRepeated } = await this.#ask(method, path, body, key);
    const isReplay = answer.status < 300 && answer.headers.get('idempotent-replayed') === 'true';
    assert.ok(mayBeRepeated || !isReplay, `${method} ${path} was refused, but the change was made`);
    return answer;
  }

  async pay(topup: TopupRecord): Promise<void> {
    const send = (url: string) => postSandbox(url, 'payments', topup.payment);
    const answer = await this.#service.attempt('a payment', send);
    topup.paid = answer?.status === 200 ? 'yes' : 'unknown';
  }

  #ask(method: string, path: string, body?: object, key?: string): Promise<Definite> {
    return this.#service.ask(`${method} ${path}`, (url) =>
      V1Client.forUrl(url, this.#token).call(method, path, body, key === undefined ? {} : { key }),
    );
  }

  get #liveServers(): ServerRecord[] {
    return this.servers.filter(({ isDeleted }) => !isDeleted);
  }

  async #deploy(): Promise<void> {
    if (this.#liveServers.length >= SERVERS_MAX) return await this.#deleteServer();
    const name = `s-${this.servers.length}-${this.#keyCount}`;
    const { status, body } = await this.change('POST', '/servers', { name, ...this.#order });
    if (status === 201) this.servers.push({ id: body.id, name, status: 'running', isDeleted: false });
  }

  async #deleteServer(): Promise<void> {
    const server = this.#random.pick(this.#liveServers);
    if (!server) return;
    const { answer, mayBeRepeated } = await this.#ask('DELETE', `/servers/${server.id}`);
    assert.ok(answer.status === 202 || (mayBeRepeated && answer.status === 404), answer.text);
    server.isDeleted = true;
    for (const volume of this.volumes) if (volume.server === server) volume.server = null;
  }

  async #power(): Promise<void> {
    const server = this.#random.pick(this.#liveServers);
    const action = this.#random.pick(['start', 'stop', 'reboot']);
    if (!server) return;
    const { status } = await this.change('POST', `/servers/${server.id}/${action}`);
    if (status === 202) server.status = action === 'stop' ? 'stopped' : 'running';
  }

  async #topUp(amountUsd: number): Promise<void> {
    const { status, body } = await this.change('POST', '/billing/topup', {
      coin: 'LTC',
      amount_usd: amountUsd,
    });
    if (status !== 201) return;
    const payment = { coin: 'LTC', address: body.deposit_address, amount: body.deposit_amount };
    const topup: TopupRecord = { id: body.id, amountUsd, payment, paid: 'no' };
    this.topups.push(topup);
    if (this.#random.below(5) === 0) return;
    await this.pay(topup);
    await mine(this.#service);
  }

  async #createVolume(): Promise<void> {
    if (this.volumes.filter(({ isDeleted }) => !isDeleted).length >= VOLUMES_MAX) return;
    const name = `v-${this.volumes.length}-${this.#keyCount}`;
    const { status, body } = await this.change('POST', '/volumes', { name, size_gb: 10, region: 'par' });
    if (status === 201) this.volumes.push({ id: body.id, name, server: null, isDeleted: false });
  }

  /** Attaches a volume, detaches it, or deletes it. */
  async #moveVolume(): Promise<void> {
    const volume = this.#random.pick(this.volumes.filter(({ isDeleted }) => !isDeleted));
    if (!volume) return;
    const path = `/volumes/${volume.id}`;
    if (volume.server !== null) {
      if ((await this.change('POST', `${path}/detach`)).status === 200) volume.server = null;
    } else if (this.#random.below(3) === 0) {
      const { answer, mayBeRepeated } = await this.#ask('DELETE', path);
      volume.isDeleted = answer.status === 204 || (mayBeRepeated && answer.status === 404);
    } else {
      const server = this.#random.pick(this.#liveServers);
      if (!server) return;
      const { status } = await this.change('POST', `${path}/attach`, { server: server.id });
      if (status === 200) volume.server = server;
    }
  }

  /** Reads from all three surfaces. */
  async #look(): Promise<void> {
    await this.read('/billing/balance');
    const server = this.#random.pick(this.#liveServers);
    if (server) await this.read(`/servers/${server.id}`);
    const topup = this.#random.pick(this.topups);
    if (topup) await this.read(`/billing/topup/${topup.id}`);
    const session = (url: string) => Object.assign(SessionClient.forUrl(url), { cookie: this.#cookie });
    const me = await this.#service.ask('/me.php', (url) => session(url).get('/me.php'));
    assert.equal(me.answer.body.email, this.emails[0], me.answer.text);
    const page = await this.#service.ask('a page', (url) => getPage(session(url), '/servers'));
    assert.equal(page.answer.status, 200, page.answer.text);
  }

  async #signUpAgain(): Promise<void> {
    const email = `${this.#name}-${this.emails.length}@example.org`;
    const { answer, mayBeRepeated } = await this.#service.ask('a sign-up', async (url) => {
      const session = SessionClient.forUrl(url);
      session.email = email;
      return await postSession(session, { action: 'signup', email, password_confirm: PASSWORD });
    });
    const isTaken = answer.body.error === 'email_taken';
    assert.ok(answer.body.ok === true || (mayBeRepeated && isTaken), `${email}: ${answer.text}`);
    this.emails.push(email);
  }
}

/** Gets a page. A refusal is a page too. */
async function getPage(session: SessionClient, path: string): Promise<Answer> {
  const { status, headers, text } = await session.get(path, { accept: 'text/html' });
  const context = `${path}: ${status} ${text.slice(0, 500)}`;
  assert.match(headers.get('content-type') ?? '', /^text\/html/, context);
  assert.match(text, /<\/html>\s*$/, context);
  return { status, headers, text, body: { ok: status === 200, error: 'page', msg: 'a page' } };
}

/** Mines so many blocks that every payment before them is confirmed. */
export async function mine(service: ShakenService): Promise<void> {
  const block = { coin: 'LTC', count: BLOCKS };
  const { answer } = await service.ask('blocks', (url) => postSandbox(url, 'blocks', block));
  assert.equal(answer.status, 200, answer.text);
}
