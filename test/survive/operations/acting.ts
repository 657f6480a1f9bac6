/** A customer who takes a step: the requests of all three surfaces, with the key of the step. */
import type { Answer } from '../../support/answers.ts';
import { PanelClient } from '../../support/panel-client.ts';
import { SessionClient } from '../../support/session-client.ts';
import { V1Client } from '../../support/v1-client.ts';
import type { OperationStep } from '../history.ts';
import type { Model, ModelCustomer } from '../model/model.ts';
import type { World } from '../world/world.ts';
import type { Definite } from './ask.ts';
import { openSession } from './session.ts';

/** The clock may jump again meanwhile. */
const SIGN_INS_MAX = 3;

export class Acting {
  readonly world: World;
  readonly model: Model;
  readonly customer: ModelCustomer;
  readonly step: OperationStep;
  readonly #seed: number;

  constructor(parts: Pick<Acting, 'world' | 'model' | 'customer' | 'step'> & { readonly seed: number }) {
    this.world = parts.world;
    this.model = parts.model;
    this.customer = parts.customer;
    this.step = parts.step;
    this.#seed = parts.seed;
  }

  /** Unique among all steps, and the same when the history runs again. */
  get name(): string {
    return `n${this.#seed}-${this.step.number}`;
  }

  /** A change through the REST API. `allowed` are the refusals that the model cannot exclude. */
  async change(
    method: string,
    path: string,
    body: unknown,
    allowed: readonly number[],
  ): Promise<Definite | null> {
    const what = `${this.name} ${method} ${path}`;
    const key = method === 'POST' ? { key: `${this.name}${path}` } : {};
    const answer = await this.world.asker.ask(what, this.step.via, (url) =>
      V1Client.forUrl(url, this.customer.token).call(method, path, body, key),
    );
    return this.#expect(what, answer, allowed);
  }

  async read(path: string): Promise<Answer> {
    const answer = await this.change('GET', path, undefined, []);
    if (answer === null) throw new Error(`GET ${path} was not answered`);
    return answer;
  }

  /** A change through a form of the session surface. */
  async form(path: string, fields: Readonly<Record<string, string | number>>): Promise<Definite | null> {
    const what = `${this.name} form ${path}`;
    const headers = { 'idempotency-key': `${this.name}${path}` };
    const answer = await this.signedIn(
      (session) => session.post(path, fields, { headers }),
      ({ status }) => status === 401,
      what,
    );
    return this.#expect(what, answer, []);
  }

  /** Asks with a session. An expired one, as after a jump of the clock, is opened again. */
  async signedIn(
    send: (session: SessionClient) => Promise<Answer>,
    isExpired: (answer: Answer) => boolean,
    what: string,
  ): Promise<Definite | null> {
    const ask = () => this.world.asker.ask(what, this.step.via, (url) => send(this.session(url)));
    for (let attempt = 0; ; attempt++) {
      const answer = await ask();
      if (answer === null || !isExpired(answer) || attempt === SIGN_INS_MAX) return answer;
      await openSession(this, 'signin');
    }
  }

  session(url: string): SessionClient {
    const { email, cookie, csrf } = this.customer;
    return Object.assign(SessionClient.forUrl(url), { email, cookie, csrf });
  }

  panel(url: string): PanelClient {
    return PanelClient.forUrl(url, { cookie: this.customer.cookie });
  }

  #expect(what: string, answer: Definite | null, allowed: readonly number[]): Definite | null {
    if (answer !== null && answer.status >= 400 && !allowed.includes(answer.status))
      this.world.asker.unexpected.push(`${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer;
  }
}
