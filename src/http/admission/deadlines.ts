/**
 * The time limit of each request. Its statements fail when the time is over, and the transaction is rolled
 * back. A handler that waits for anything else is answered a little later.
 */
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { Deadline, DeadlineExceeded, OutcomeUnknown, runWithin } from '../../kernel/faults/deadline.ts';
import { setWaiting } from './overload.ts';

export interface Timeouts {
  readonly readMs: number;
  readonly writeMs: number;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It may take any time: streams, uploads, and the controls of a sandbox. */
    readonly untimed?: true;
  }
  interface FastifyRequest {
    deadline: Deadline | null;
  }
}

/** The failed statement knows whether something was changed, so it answers first. */
const GRACE_MS = 500;
const CHECK_MS = 100;

export function addDeadlines(app: FastifyInstance, timeouts: Timeouts): void {
  const watch = new LateWatch();
  const newDeadline = ({ method, raw }: FastifyRequest) => {
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(method);
    const timeoutMs = changes ? timeouts.writeMs : timeouts.readMs;
    return new Deadline(timeoutMs, changes, (isWaiting) => setWaiting(raw, isWaiting));
  };
  app.decorateRequest('deadline', null);
  app.addHook('onRoute', (route) => {
    route.handler = answerInTime(route.handler, watch);
  });
  app.addHook('onRequest', (request, _reply, done) => {
    const { config } = request.routeOptions;
    if (config.untimed || config.slowBody) return done();
    request.deadline = newDeadline(request);
    runWithin(request.deadline, done);
  });
  // The client took its time for the body, and the parser has left the context of the request.
  app.addHook('preValidation', (request, _reply, done) => {
    if (!request.deadline?.changes) return done();
    request.deadline = newDeadline(request);
    runWithin(request.deadline, done);
  });
}

function answerInTime(handler: RouteHandlerMethod, watch: LateWatch): RouteHandlerMethod {
  return function (request, reply) {
    const answer: unknown = handler.call(this, request, reply);
    const { deadline } = request;
    return deadline && answer instanceof Promise ? watch.within(deadline, answer) : answer;
  };
}

interface Waiting {
  readonly deadline: Deadline;
  readonly reject: (error: Error) => void;
}

/** Ends requests that are late, with one timer for all: a timer for each would cost more than the check. */
class LateWatch {
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  within<T>(deadline: Deadline, answer: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = { deadline, reject };
      this.#waiting.add(waiting);
      this.#timer ??= setTimeout(() => this.#check(), CHECK_MS).unref();
      const settle =
        <Value>(end: (value: Value) => void) =>
        (value: Value) => {
          this.#waiting.delete(waiting);
          end(value);
        };
      answer.then(settle(resolve), settle(reject));
    });
  }

  #check(): void {
    for (const waiting of this.#waiting) {
      const { deadline, reject } = waiting;
      if (deadline.remainingMs + GRACE_MS > 0) continue;
      // The answer may still come, or fail. It has no effect then.
      this.#waiting.delete(waiting);
      reject(deadline.changes ? new OutcomeUnknown() : new DeadlineExceeded());
    }
    this.#timer = this.#waiting.size > 0 ? setTimeout(() => this.#check(), CHECK_MS).unref() : undefined;
  }
}
