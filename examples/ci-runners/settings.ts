/** Settings from the environment. */
import { readFileSync } from 'node:fs';
import type { Limits } from './plan.ts';

export interface Settings extends Limits {
  readonly baseUrl: string;
  readonly token: string;
  readonly queueUrls: readonly string[];
  /** `Name: value`, for the queue's token. */
  readonly queueHeaders: Readonly<Record<string, string>>;
  readonly jobsPerRunner: number;
  readonly plan: string;
  readonly region: string;
  /** Image ID, and below the IDs of SSH keys. */
  readonly image: string;
  readonly sshKeys: readonly string[];
  readonly userData: Buffer;
  /** Command for `sh -c` that makes a runner accept no more jobs. */
  readonly drainCommand: string | null;
  readonly demandWindowMs: number;
  readonly intervalMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

export function readSettings(env: Environment): Settings {
  const text = (name: string, fallback?: string): string => {
    const value = env[name] || fallback;
    if (!value) throw new Error(`set ${name}`);
    return value;
  };
  const number = (name: string, fallback: number): number => {
    const value = Number(env[name] || fallback);
    if (!Number.isFinite(value) || value < 0) throw new Error(`${name} must be a number, 0 or more`);
    return value;
  };
  const [headerName, headerValue] = (env.QUEUE_HEADER ?? '').split(/:\s*(.*)/);
  return {
    baseUrl: text('SKERRY_API_URL'),
    token: text('SKERRY_TOKEN'),
    queueUrls: splitWords(text('QUEUE_URLS')),
    queueHeaders: headerName && headerValue ? { [headerName]: headerValue } : {},
    jobsPerRunner: Math.max(1, number('JOBS_PER_RUNNER', 4)),
    fleet: text('FLEET', 'ci'),
    plan: text('PLAN', 's3'),
    region: text('REGION', 'par'),
    image: text('IMAGE'),
    sshKeys: splitWords(text('SSH_KEYS')),
    userData: readFileSync(text('USER_DATA_FILE', 'runner.yaml')),
    drainCommand: env.DRAIN_COMMAND || null,
    min: number('MIN_RUNNERS', 0),
    max: number('MAX_RUNNERS', 5),
    budgetUsd: number('BUDGET_USD', 100),
    reserveUsd: number('RESERVE_USD', 0),
    decideMs: number('DECIDE_MINUTES', 180) * MINUTE_MS,
    demandWindowMs: number('PATIENCE_MINUTES', 15) * MINUTE_MS,
    intervalMs: Math.max(1, number('EVERY_S', 60)) * SECOND_MS,
  };
}

function splitWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
