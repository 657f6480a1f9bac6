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
/** During a wait that does not count against the request's time. */
const WAIT_POLL_MS = 1_000;

export function addDeadlines(app: FastifyInstance, timeouts: Timeouts): void {
  const newDeadline = ({ method, raw }: FastifyRequest) => {
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(method);
    const timeoutMs = changes ? timeouts.writeMs : timeouts.readMs;
    return new Deadline(timeoutMs, changes, (isWaiting) => setWaiting(raw, isWaiting));
  };
  app.decorateRequest('deadline', null);
  app.addHook('onRoute', (route) => {
    route.handler = answerInTime(route.handler);
  });
  app.addHook('onRequest', (request, _reply, done) => {
    const { config } = request.routeOptions;
    if (config.untimed || config.slowBody) return done();
    request.deadline = newDeadline(request);
    runWithin(request.deadline, done);
  });
  // The client took its time for the body, and the parser has left the context of the request.
  app.addHook('preValidation', (request, _reply, done) => {
    if (!request.deadline) return done();
    if (request.deadline.changes) request.deadline = newDeadline(request);
    runWithin(request.deadline, done);
  });
}

function answerInTime(handler: RouteHandlerMethod): RouteHandlerMethod {
  return async function (request, reply) {
    const { deadline } = request;
    const answer = handler.call(this, request, reply);
    return deadline ? await within(deadline, Promise.resolve(answer)) : await answer;
  };
}

async function within<T>(deadline: Deadline, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const check = () => {
      const leftMs = deadline.remainingMs + GRACE_MS;
      if (leftMs <= 0) reject(deadline.changes ? new OutcomeUnknown() : new DeadlineExceeded());
      else timer = setTimeout(check, Number.isFinite(leftMs) ? leftMs : WAIT_POLL_MS).unref();
    };
    check();
  });
  // It may fail after the response.
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
