/**
 * The time limit of each request. Its statements fail when the time is over, and the transaction is rolled
 * back. A handler that waits for anything else is answered a little later.
 */
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { Deadline, DeadlineExceeded, OutcomeUnknown, runWithin } from '../../kernel/faults/deadline.ts';
import { TimeLimits } from '../../kernel/faults/time-limits.ts';
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

export function addDeadlines(app: FastifyInstance, timeouts: Timeouts): void {
  const limits = new TimeLimits();
  const newDeadline = ({ method, raw }: FastifyRequest) => {
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(method);
    const timeoutMs = changes ? timeouts.writeMs : timeouts.readMs;
    return new Deadline(timeoutMs, changes, (isWaiting) => setWaiting(raw, isWaiting));
  };
  app.decorateRequest('deadline', null);
  app.addHook('onRoute', (route) => {
    route.handler = answerInTime(route.handler, limits);
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

function answerInTime(handler: RouteHandlerMethod, limits: TimeLimits): RouteHandlerMethod {
  return function (request, reply) {
    const answer: unknown = handler.call(this, request, reply);
    const { deadline } = request;
    return deadline && answer instanceof Promise ? withinDeadline(limits, deadline, answer) : answer;
  };
}

/** The answer may still come, or fail, after its time. It has no effect then. */
function withinDeadline<T>(limits: TimeLimits, deadline: Deadline, answer: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const forget = limits.add(
      () => deadline.remainingMs + GRACE_MS,
      () => reject(deadline.changes ? new OutcomeUnknown() : new DeadlineExceeded()),
    );
    answer.then(
      (value) => {
        forget();
        resolve(value);
      },
      (error: Error) => {
        forget();
        reject(error);
      },
    );
  });
}
