/** Sign-ins and looks at a payment, as customers make them, while other requests are refused. */
import { setTimeout } from 'node:timers/promises';
import { SessionClient } from '../test/support/session-client.ts';
import { createApiToken, V1Client } from '../test/support/v1-client.ts';
import { type Figure, percentile } from './figure.ts';

const LOAD_S = 6;
/** When the burst is over, and reads are refused. */
const STARTS_AT_MS = 1_000;
const SIGN_IN_INTERVAL_MS = 500;
const VIEW_INTERVAL_MS = 20;

interface Calls {
  answered: number;
  readonly latenciesMs: number[];
}

export interface FirstClassCalls {
  readonly signIns: Calls;
  readonly views: Calls;
}

/** `load` overloads the service for some seconds. */
export async function callFirstClass(
  url: string,
  load: (seconds: number) => Promise<void>,
): Promise<FirstClassCalls> {
  const customer = SessionClient.forUrl(url);
  await customer.signUp();
  const api = V1Client.forUrl(url, await createApiToken(customer));
  const { id } = (await api.post('/billing/topup', { coin: 'LTC', amount_usd: 30 })).body;
  const isLoaded = { until: performance.now() + LOAD_S * 1_000 };
  const loading = load(LOAD_S);
  await setTimeout(STARTS_AT_MS);
  const [signIns, views] = await Promise.all([
    repeat(SIGN_IN_INTERVAL_MS, isLoaded, async () => {
      const { body } = await SessionClient.forUrl(url).signIn(customer.email);
      return body.ok === true;
    }),
    repeat(VIEW_INTERVAL_MS, isLoaded, async () => (await api.get(`/billing/topup/${id}`)).status === 200),
  ]);
  await loading;
  return { signIns, views };
}

export function firstClassFigures(calls: FirstClassCalls): Figure[] {
  return [['sign-ins', calls.signIns] as const, ['payment views', calls.views] as const].flatMap(
    ([name, { answered, latenciesMs }]): Figure[] => [
      {
        name: `${name} answered while reads are refused`,
        ...{ value: answered / latenciesMs.length, unit: '×', limit: 1, goal: 1, bound: 'min' },
      },
      {
        name: `${name} while reads are refused, 99th percentile`,
        ...{ value: percentile(latenciesMs, 0.99), unit: 'ms', limit: 1_000, goal: 500, bound: 'max' },
      },
    ],
  );
}

/** Calls at each interval, whether the last call was answered or not. */
async function repeat(
  intervalMs: number,
  { until }: { readonly until: number },
  call: () => Promise<boolean>,
): Promise<Calls> {
  const calls: Calls = { answered: 0, latenciesMs: [] };
  const pending: Promise<void>[] = [];
  const callOnce = async () => {
    const startedAt = performance.now();
    const isAnswered = await call().catch(() => false);
    calls.latenciesMs.push(performance.now() - startedAt);
    if (isAnswered) calls.answered += 1;
  };
  for (; performance.now() < until; await setTimeout(intervalMs)) pending.push(callOnce());
  await Promise.all(pending);
  return calls;
}
